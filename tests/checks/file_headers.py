"""Every source file names its licence, and none has grown too long.

`./dev format` adds a missing licence line.
"""

from pathlib import Path

from tests.checks import sources

LICENCE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
LONGEST = 800


def _comment(path: Path) -> str:
    return ("// " if path.suffix in (".cpp", ".h", ".td") else "# ") + LICENCE


def _sources() -> list[Path]:
    found = sources.files(*sources.CPP, *sources.TABLEGEN, *sources.PYTHON, *sources.CMAKE)
    return [path for path in found if path.stat().st_size > 0]


def check() -> list[str]:
    complaints = []
    for path in _sources():
        lines = path.read_text().splitlines()
        if not any(LICENCE in line for line in lines[:3]):
            complaints.append(f"{sources.relative(path)}: no licence line; run ./dev format")
        if len(lines) > LONGEST:
            complaints.append(f"{sources.relative(path)}: {len(lines)} lines, over {LONGEST}")
    return complaints


def fix() -> None:
    for path in _sources():
        lines = path.read_text().splitlines(keepends=True)
        if any(LICENCE in line for line in lines[:3]):
            continue
        at = 1 if lines[0].startswith("#!") else 0
        gap = [] if lines[at : at + 1] == ["\n"] else ["\n"]
        path.write_text("".join([*lines[:at], _comment(path) + "\n", *gap, *lines[at:]]))
