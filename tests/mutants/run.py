# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""`./dev test --mutants`: some test must fail for each pass and strategy that is left out.

Each mutant names two kinds of tests that should see it: of the IR (the pass's own file under
tests/lit) and of what kernels become (pytest). Both must fail with the mutant, and pass without it.
A pass of passes/Passes.td or a strategy of ir/TileTypes.td without a line here is a failure too.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Mutant:
    """A part of the compiler, and what should miss it.

    Attributes:
        name: a value of WAVETILE_MUTANT
        lit: a file of tests/lit/passes
        pytest: a file of tests/python, and which of its tests; None for a pass without which no
            kernel that we know of becomes another
    """

    name: str
    lit: str
    pytest: tuple[str, str] | None


ROWS = "select-reduction-strategy.mlir"
STRATEGIES = ("test_end_to_end_rows.py", "strategies_are_what_they_are_called and gfx950")
PASSES = "test_passes_in_kernels.py"
MUTANTS = (
    Mutant("tile-select-reduction-strategy", ROWS, STRATEGIES),
    Mutant("tile-bind-config", "bind-config.mlir", STRATEGIES),
    Mutant("tile-infer-bounds", "infer-bounds.mlir", STRATEGIES),
    Mutant("tile-peel-tails", "peel-tails.mlir", (PASSES, "peeled")),
    Mutant("tile-plan", "plan.mlir", STRATEGIES),
    Mutant("tile-stage-operands", "stage-operands.mlir", (PASSES, "staged")),
    Mutant("tile-assign-layouts", "assign-layouts.mlir", STRATEGIES),
    Mutant("tile-simplify-conversions", "simplify-conversions.mlir", None),
    Mutant(
        "tile-widen-dots",
        "widen-dots.mlir",
        ("test_language_products.py", "every_dtype and float8 and gfx1150"),
    ),
    Mutant("resident", ROWS, STRATEGIES),
    Mutant("looped", ROWS, STRATEGIES),
    Mutant("grid", ROWS, STRATEGIES),
    Mutant("row-waves", ROWS, STRATEGIES),
    Mutant("row-lanes", ROWS, STRATEGIES),
)


def parts() -> Iterator[str]:
    """Every pass and every strategy that there is."""
    passes = (ROOT / "passes" / "Passes.td").read_text()
    yield from re.findall(r': Pass<"([a-z-]+)"', passes)
    types = (ROOT / "ir" / "TileTypes.td").read_text()
    strategies = types[types.index("def Tile_RowStrategyAttr") :]
    yield from re.findall(
        r'I32EnumAttrCase<"\w+", \d+, "(\w+)">', strategies[: strategies.index("{")]
    )


def _lit(build: Path, file: str, mutant: str) -> subprocess.CompletedProcess[str]:
    command = ["lit", "-q", f"-Dtools={build}/tests/bin", f"-Dmutant={mutant}"]
    command.append(str(build / "tests" / "lit" / "passes" / file))
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def _pytest(build: Path, tests: tuple[str, str], mutant: str) -> subprocess.CompletedProcess[str]:
    file, chosen = tests
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(build / "python_tests"), str(ROOT)]),
        "WAVETILE_HIP": str(build / "lib" / "libamdhip64.so.7"),
        "WAVETILE_CACHE": "",
        "WAVETILE_MUTANT": mutant,
    }
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    command += [f"tests/python/{file}", "-k", chosen]
    return subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True)


def run(build: Path) -> tuple[int, int]:
    """Prints each mutant and what sees it; how many are seen, and how many complaints there are."""
    complaints = [
        f"no mutant leaves out {part}"
        for part in parts()
        if part not in {mutant.name for mutant in MUTANTS}
    ]
    for file in sorted({mutant.lit for mutant in MUTANTS}):
        if (done := _lit(build, file, "")).returncode:
            complaints.append(f"{file} fails without any mutant:\n{done.stdout}")
    for tests in sorted({mutant.pytest for mutant in MUTANTS if mutant.pytest}):
        if (done := _pytest(build, tests, "")).returncode:
            complaints.append(f"{tests} fails without any mutant:\n{done.stdout[-4000:]}")
    seen = 0
    for mutant in MUTANTS:
        start = time.monotonic()
        missed = []
        if _lit(build, mutant.lit, mutant.name).returncode == 0:
            missed.append(f"lit/passes/{mutant.lit}")
        # 1: tests ran, and some failed; below zero: one took the process down. Anything else is no
        # test that sees something.
        if mutant.pytest:
            status = _pytest(build, mutant.pytest, mutant.name).returncode
            if status != 1 and status >= 0:
                missed.append(f"{mutant.pytest} (status {status})")
        seen += not missed
        verdict = f"SURVIVES {' and '.join(missed)}" if missed else "seen"
        print(f"  {mutant.name:32} {verdict:8} {time.monotonic() - start:6.1f} s", flush=True)
        if missed:
            complaints.append(f"{mutant.name} survives {' and '.join(missed)}")
    if complaints:
        print("\n".join(complaints))
    return seen, len(complaints)
