# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Every source file names its licence, guards are named after their files, no file is too long.

`./dev format` adds a missing licence line.
"""

import re
from pathlib import Path

from tests.checks import sources

LICENCE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
LONGEST = 800
NEAR_TOP = 6

GUARD = re.compile(r"^#ifndef (WAVETILE_\w+)$", re.MULTILINE)


def _comment(path: Path) -> str:
    return ("// " if path.suffix in (".cpp", ".h", ".td") else "# ") + LICENCE


def _sources() -> list[Path]:
    found = sources.files(*sources.CPP, *sources.TABLEGEN, *sources.PYTHON, *sources.CMAKE)
    return [path for path in found if path.stat().st_size > 0]


def _guard(path: Path) -> str:
    return "WAVETILE_" + re.sub(r"\W", "_", sources.relative(path)).upper()


def check() -> list[str]:
    complaints = []
    for path in _sources():
        lines = path.read_text().splitlines()
        if not any(LICENCE in line for line in lines[:NEAR_TOP]):
            complaints.append(f"{sources.relative(path)}: no licence line; run ./dev format")
        guard = GUARD.search("\n".join(lines))
        if path.suffix == ".h" and (guard is None or guard.group(1) != _guard(path)):
            complaints.append(f"{sources.relative(path)}: its guard is not {_guard(path)}")
        if len(lines) > LONGEST:
            complaints.append(f"{sources.relative(path)}: {len(lines)} lines, over {LONGEST}")
    return complaints


def fix() -> None:
    for path in _sources():
        lines = path.read_text().splitlines(keepends=True)
        if any(LICENCE in line for line in lines[:NEAR_TOP]):
            continue
        at = 1 if lines[0].startswith("#!") else 0
        gap = [] if lines[at : at + 1] == ["\n"] else ["\n"]
        path.write_text("".join([*lines[:at], _comment(path) + "\n", *gap, *lines[at:]]))
