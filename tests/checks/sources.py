# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The files that the checks look at: what git tracks or would track."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

CPP = (".cpp", ".h")
TABLEGEN = (".td",)
PYTHON = (".py", ".pyi")
CMAKE = (".cmake", "CMakeLists.txt")


def files(*endings: str, under: str = "") -> list[Path]:
    """Paths of the repository's files whose names end with one of `endings`."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", under or "."],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    paths = (ROOT / name for name in listing.split("\0") if name.endswith(endings))
    return sorted(path for path in paths if path.is_file())


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))
