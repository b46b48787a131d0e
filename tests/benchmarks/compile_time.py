# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""CPU time to compile softmax: first in a process, another Config, the largest row, by stage.

Each sample is a fresh process that has imported torch and wavetile, and compiles with `bind`
without running: Python to the linked code object, caches off. The other Config has twice
the waves of the first. The largest row is the largest power of two that the compiler holds in
registers by its own choice. Triton compiles the same work beside it where it is installed.
"""

from __future__ import annotations

import importlib.util
from typing import Any

from tests.benchmarks.figures import (
    TARGETS,
    cpu_milliseconds,
    example,
    judge,
    median,
    print_table,
    row_arguments,
    sample,
    spread,
)

COLUMNS = 4096
SAMPLES = 3
GOALS = {"first": 150.0, "other": 40.0, "largest": 500.0}
STAGE_GOALS = {"our passes": 10.0, "LLVM": 25.0}
# CPU milliseconds of Triton 3.8.0 on gfx950 as measured on 2026-11-29.
TRITON_ON_RECORD = {"first": 420.0, "other": 62.0}
# Stages that are not ours: translation into LLVM IR, LLVM's passes and lld.
LLVM_STAGES = ("translate", "optimise", "generate", "link")


def _bind(target: str, columns: int, **options: Any) -> tuple[Any, float]:
    kernel = example("softmax")
    arguments = row_arguments("softmax", columns)
    begin = cpu_milliseconds()
    bound = kernel.bind(*arguments, target=target, **options)
    return bound, cpu_milliseconds() - begin


def _other(waves: int) -> int:
    """Twice the waves, or half of them where there are no more."""
    return waves * 2 if waves < 16 else waves // 2


def compile_times(target: str, columns: int) -> dict[str, Any]:
    """The sample of one process: milliseconds, and the stages of both compilations."""
    bound, first = _bind(target, columns)
    (config,) = bound.configs()
    other, again = _bind(target, columns, config={"waves": _other(config["waves"])})
    return {
        "first": first,
        "other": again,
        "config": config,
        "first_stages": bound.times(),
        "other_stages": other.times(),
    }


def largest_resident_row(target: str) -> int:
    """The largest power of two of columns that one block holds in registers."""
    columns = COLUMNS
    while True:
        (config,) = _bind(target, 2 * columns)[0].configs()
        if config["n.strategy"] != "resident":
            return columns
        columns *= 2


def _group(stage: str) -> str:
    if stage == "trace":
        return "frontend"
    return "LLVM" if stage in LLVM_STAGES else "our passes"


def _stage_rows(samples: list[dict[str, Any]]) -> list[list[object]]:
    """The quietest sample of each stage: these are times on the wall."""
    rows: list[list[object]] = []
    sums: dict[str, list[float]] = {}
    for number, (stage, _) in enumerate(samples[0]["other_stages"]):
        first, other = (
            min(entry[name][number][1] for entry in samples)
            for name in ("first_stages", "other_stages")
        )
        rows.append([stage, _group(stage), f"{first:.2f}", f"{other:.2f}", ""])
        total = sums.setdefault(_group(stage), [0.0, 0.0])
        total[0] += first
        total[1] += other
    for group, (first, other) in sums.items():
        goal = STAGE_GOALS.get(group)
        judged = f"{goal:.0f}: {judge(other, goal)}" if goal else ""
        rows.append(["all", group, f"{first:.2f}", f"{other:.2f}", judged])
    return rows


def _triton(target: str, columns: int) -> list[dict[str, float]]:
    if importlib.util.find_spec("triton") is None:
        return []
    return [sample("triton_softmax", "compile_times", target, columns) for _ in range(SAMPLES)]


def _rival(samples: list[dict[str, float]], figure: str, on_record: bool) -> str:
    if samples:
        return spread([entry[figure] for entry in samples])
    return f"{TRITON_ON_RECORD[figure]:.0f} (on record)" if on_record else "-"


def _rows_of(target: str, usual: list[dict[str, Any]]) -> list[list[object]]:
    columns = sample("compile_time", "largest_resident_row", target)
    largest = [sample("compile_time", "compile_times", target, columns) for _ in range(SAMPLES)]
    triton, large_triton = _triton(target, COLUMNS), _triton(target, columns)
    rows: list[list[object]] = []
    for what, length, ours, theirs, figure, goal in (
        ("first in the process", COLUMNS, usual, triton, "first", GOALS["first"]),
        ("another Config", COLUMNS, usual, triton, "other", GOALS["other"]),
        ("largest row, first", columns, largest, large_triton, "first", GOALS["largest"]),
    ):
        values = [entry[figure] for entry in ours]
        judged = f"{goal:.0f}: {judge(median(values), goal)}"
        rival = _rival(theirs, figure, target == TARGETS[0] and length == COLUMNS)
        rows.append([target, what, length, spread(values), judged, rival])
    return rows


def main() -> None:
    """Prints the tables."""
    samples = {
        target: [sample("compile_time", "compile_times", target, COLUMNS) for _ in range(SAMPLES)]
        for target in TARGETS
    }
    rows = [row for target in TARGETS for row in _rows_of(target, samples[target])]
    print_table(
        f"softmax, bf16: CPU ms, median (least to most) of {SAMPLES} fresh processes",
        ["target", "compilation", "columns", "Wavetile", "goal", "Triton"],
        rows,
    )
    if not importlib.util.find_spec("triton"):
        print("  Triton is not installed: its figures are those on record for 3.8.0")
    print_table(
        f"{TARGETS[0]}, {COLUMNS} columns: ms on the wall, least of {SAMPLES} processes",
        ["stage", "of", "first in the process", "another Config", "goal"],
        _stage_rows(samples[TARGETS[0]]),
    )
