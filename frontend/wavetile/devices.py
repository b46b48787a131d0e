# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The devices of this process.

`WAVETILE_DEVICE` chooses among "auto", "software" and "hip"; `WAVETILE_HIP` names the HIP library.
Both are read once, when the first kernel is bound or launched.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path

from wavetile import _C
from wavetile.errors import ConfigError


def software_device() -> Path | None:
    """The library of the software device, beside the extension module; None if not installed."""
    library = Path(_C.__file__).parent / "lib" / "libamdhip64.so.7"
    return library if library.exists() else None


@functools.cache
def devices() -> _C.Devices:
    """What can run kernels; nothing is loaded before it is needed.

    Raises:
        ConfigError: WAVETILE_DEVICE has no such choice
    """
    library = software_device()
    choice = os.environ.get("WAVETILE_DEVICE", "auto")
    try:
        return _C.Devices(
            choice=choice,
            software_device=None if library is None else str(library),
            hip=os.environ.get("WAVETILE_HIP"),
        )
    except ValueError as error:
        raise ConfigError(f"WAVETILE_DEVICE={choice}: {error}") from None
