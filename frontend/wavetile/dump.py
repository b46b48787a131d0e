# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`WAVETILE_DUMP=stage,...`: prints stages of every compilation on stderr as they are made."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from wavetile.errors import ConfigError

if TYPE_CHECKING:
    from wavetile.compiler import CompiledRegion

VARIABLE = "WAVETILE_DUMP"


def wanted_stages(known: list[str]) -> list[str]:
    """The stages that the environment asks for, read anew at each compilation.

    Raises:
        ConfigError: one that does not exist
    """
    stages = [stage for stage in os.environ.get(VARIABLE, "").split(",") if stage]
    for stage in stages:
        if stage not in known:
            raise ConfigError(
                f"{VARIABLE}: there is no stage {stage!r}", remedy=f"stages are {', '.join(known)}"
            )
    return stages


def dump(region: CompiledRegion, stages: list[str]) -> None:
    """Prints stages of a compiled region."""
    for stage in stages:
        print(f"// -- {region.name}, {region.target}: {stage}", file=sys.stderr)
        print(region.text(stage), file=sys.stderr)
