# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""clang-tidy has nothing to say. A file is looked at again only when it, a header that it
includes, its compile command or .clang-tidy has changed."""

import concurrent.futures
import hashlib
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.checks import sources

CLANG_TIDY = "clang-tidy-22"
FOLDERS = "(ir|passes|backend_rocm|runtime|frontend|tests)"


@dataclass(frozen=True)
class Unit:
    """A file to look at, and the hash of all that can change what clang-tidy says."""

    path: Path
    key: str


@cache
def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else "absent"


def _dependencies(build: Path) -> dict[str, list[Path]]:
    """For each object file of the build, those it was made from that are ours or generated."""
    log = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True)
    found: dict[str, list[Path]] = {}
    current: list[Path] = []
    for line in log.stdout.splitlines():
        if line.startswith("    "):
            path = (build / line.strip()).resolve()
            if path.is_relative_to(sources.ROOT) and path.suffix != ".pch":
                current.append(path)
        elif ": #deps" in line:
            current = found.setdefault(line.split(": #deps")[0], [])
    return found


def _units(build: Path) -> Iterator[Unit]:
    dependencies = _dependencies(build)
    settings = _digest(sources.ROOT / ".clang-tidy")
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = Path(entry["file"])
        if path.suffix != ".cpp" or path.is_relative_to(build):
            continue
        command = shlex.split(entry["command"])
        read = dependencies.get(command[command.index("-o") + 1], [])
        parts = [settings, entry["command"].replace(str(sources.ROOT), ".")]
        parts += [f"{sources.relative(file)} {_digest(file)}" for file in sorted({path, *read})]
        yield Unit(path, hashlib.sha256("\n".join(parts).encode()).hexdigest())


def _look(build: Path, unit: Unit) -> list[str]:
    done = subprocess.run(
        [
            CLANG_TIDY,
            "--quiet",
            "--warnings-as-errors=*",
            f"--header-filter=^{sources.ROOT}/{FOLDERS}/",
            "-p",
            build,
            unit.path,
        ],
        capture_output=True,
        text=True,
    )
    return done.stdout.splitlines() if done.returncode else []


def check(build: Path = sources.ROOT / "build") -> list[str]:
    clean = build / "clang-tidy"
    clean.mkdir(exist_ok=True)
    units = list(_units(build))
    for stale in {path.name for path in clean.iterdir()} - {unit.key for unit in units}:
        (clean / stale).unlink()

    complaints = []
    changed = [unit for unit in units if not (clean / unit.key).exists()]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for unit, said in zip(changed, pool.map(lambda one: _look(build, one), changed)):
            complaints += said
            if not said:
                (clean / unit.key).touch()
    return complaints


if __name__ == "__main__":
    said = check(Path(sys.argv[1]).resolve() if sys.argv[1:] else sources.ROOT / "build")
    print("\n".join(said), end="\n" if said else "")
    sys.exit(1 if said else 0)
