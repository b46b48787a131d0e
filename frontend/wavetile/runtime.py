# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What host code asks about devices, under Helion's names."""

from __future__ import annotations

import torch

from wavetile import _C
from wavetile.devices import devices
from wavetile.errors import DeviceNotFoundError

__all__ = ["get_num_sm"]


def _target_of(device: torch.device) -> str:
    """The target of the kernels that get tensors of a device.

    Raises:
        DeviceNotFoundError: no kernel runs there
    """
    if device.type in ("cpu", "meta"):
        return devices().default().target
    ordinal = torch.cuda.current_device() if device.index is None else device.index
    for found in devices().describe():
        if found.usable and found.kind == "hip" and found.ordinal == ordinal:
            return found.target
    raise DeviceNotFoundError(
        f"there is no GPU for tensors on {device}",
        remedy="`wavetile info` lists the devices and why they are used or not",
    )


def get_num_sm(device: torch.device | str, *, reserved_sms: int = 0) -> int:
    """The number of compute units of a device: as many blocks as a persistent kernel has.

    Args:
        device: where the tensors of the kernel are; a CPU tensor's kernels run on the default
            device
        reserved_sms: compute units that are left to others

    Returns:
        the compute units of the largest product of the device's target, less those reserved, and
        at least 1.

    Raises:
        DeviceNotFoundError: no kernel runs there

    Example:
        for worker in wl.grid(wavetile.runtime.get_num_sm(x.device)):
            ...
    """
    units: int = _C.target_facts(_target_of(torch.device(device))).compute_units
    return max(1, units - reserved_sms)
