# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The software HIP device for programs that Wavetile did not compile."""

from __future__ import annotations

from pathlib import Path

from wavetile.devices import software_device
from wavetile.errors import DeviceNotFoundError


def library_path() -> Path:
    """The HIP library of the software device, `libamdhip64.so.7`.

    Returns:
        its file

    Raises:
        DeviceNotFoundError: Wavetile was built without the software device

    Example:
        hip = ctypes.CDLL(str(wavetile.device.library_path()))
    """
    path = software_device()
    if path is None:
        raise DeviceNotFoundError("this build of Wavetile has no software device")
    return path
