# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The scripts of docs/mistakes, one for each class of errors, and what they print."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "docs" / "mistakes"

_RUN = """
import runpy, sys, warnings
from wavetile.errors import WavetileError, WavetileWarning
warnings.simplefilter("ignore")
warnings.simplefilter("error", WavetileWarning)
for path in sys.argv[1:]:
    try:
        runpy.run_path(path)
        raised = "nothing", ""
    except (WavetileError, WavetileWarning) as error:
        raised = type(error).__name__, str(error)
    print("\\x1d".join((path, *raised)), end="\\x1e")
"""


@dataclass(frozen=True)
class Mistake:
    """A script and the error that ends it."""

    script: Path
    raised: str
    message: str

    @property
    def source(self) -> str:
        """The script without the licence's line."""
        return self.script.read_text().partition("\n")[2]


def scripts() -> list[Path]:
    """All scripts, by name."""
    return sorted(FOLDER.glob("*.py"))


def run(paths: list[Path]) -> list[Mistake]:
    """Runs scripts. Those that set the environment have a process of their own."""
    alone = [path for path in paths if "os.environ" in path.read_text()]
    together = [path for path in paths if path not in alone]
    mistakes: list[Mistake] = []
    for group in ([path] for path in alone):
        mistakes += _run(group)
    return sorted(mistakes + _run(together), key=lambda mistake: mistake.script)


def _run(paths: list[Path]) -> list[Mistake]:
    environment = {**os.environ, "WAVETILE_DEVICE_TARGET": "gfx950", "WAVETILE_CACHE": "off"}
    environment.pop("WAVETILE_INTERPRET", None)
    done = subprocess.run(
        [sys.executable, "-c", _RUN, *map(str, paths)],
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    mistakes = []
    for entry in done.stdout.split("\x1e")[:-1]:
        path, raised, message = entry.split("\x1d")
        # Neither folders nor addresses nor hashes of code are the same for everybody.
        message = message.replace(str(FOLDER) + os.sep, "")
        message = re.sub(r"0x[0-9a-f]{6,}", "0x7f0000000000", message)
        message = re.sub(r"\b(example)_[0-9a-f]{8}\b", r"\1", message)
        mistakes.append(Mistake(Path(path), raised, message))
    return mistakes
