# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What makes other programs use the software device."""

from __future__ import annotations

import os
from pathlib import Path

from wavetile.device import library_path


def recorder_path() -> Path | None:
    """The library that tells the device of the host's own allocations.

    Returns:
        its file; None if it is not installed

    Raises:
        DeviceNotFoundError: Wavetile was built without the software device

    Example:
        recorder = recorder_path()
    """
    path = library_path().parent / "libwavetile_recorder.so"
    return path if path.exists() else None


def _prepend(value: str, variable: str) -> str:
    """`value` before what the variable holds now."""
    held = os.environ.get(variable, "")
    parts = [value, *(part for part in held.split(":") if part and part not in value.split(":"))]
    return ":".join(parts)


def variables(target: str | None = None) -> dict[str, str]:
    """The variables to set for a program that is to run its kernels on the software device.

    The library is preloaded, so that a program finds it however it looks for HIP: linked with it,
    opened by its name, or by Triton. The recorder comes first, for it replaces malloc.

    Args:
        target: the GPUs to pose as, separated by commas; the device's default if None

    Returns:
        their values by their names

    Raises:
        DeviceNotFoundError: Wavetile was built without the software device

    Example:
        subprocess.run(program, env={**os.environ, **variables("gfx950")})
    """
    library = library_path()
    recorder = recorder_path()
    preload = [str(path) for path in (recorder, library) if path is not None]
    result = {
        "LD_PRELOAD": _prepend(":".join(preload), "LD_PRELOAD"),
        "LD_LIBRARY_PATH": _prepend(str(library.parent), "LD_LIBRARY_PATH"),
        "TRITON_LIBHIP_PATH": str(library.with_name("libamdhip64.so")),
    }
    if target is not None:
        result["WAVETILE_DEVICE_TARGET"] = target
    return result
