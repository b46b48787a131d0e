# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""CPU time from Python to the `tile` module, for each example.

"Source" is what a kernel needs once: reading its syntax tree, finding its regions, making its
wrapper. "First" is the first region that a process traces, which builds the MLIR context and
whatever Python makes when first used. "Again" traces the same region once more.
"""

from __future__ import annotations

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

SAMPLES = 5
REPEATS = 50
EXAMPLES = ("softmax", "rms_norm", "matmul")
# What a later issue asks of softmax.
GOAL = 10.0


def matrix_arguments(m: int, n: int, k: int) -> list[Any]:
    """Arguments of a bf16 matmul, without storage."""
    import torch

    return [torch.empty(sizes, dtype=torch.bfloat16, device="meta") for sizes in ([m, k], [k, n])]


def trace_times(name: str) -> dict[str, float]:
    """CPU milliseconds of source, first and again in this process."""
    kernel = example(name)
    arguments = matrix_arguments(256, 384, 512) if name == "matmul" else row_arguments(name, 4096)
    begin = cpu_milliseconds()
    kernel.wrapper_source()
    source = cpu_milliseconds() - begin
    bound = kernel.bind(*arguments, target=TARGETS[0])
    (region,), (compiler,) = bound.regions, kernel._compilers
    begin = cpu_milliseconds()
    for _ in range(REPEATS):
        compiler.trace(region.specialisation, region.integers)
    again = (cpu_milliseconds() - begin) / REPEATS
    return {"source": source, "first": dict(bound.times())["trace"], "again": again}


def main() -> None:
    """Prints the table."""
    rows = []
    for name in EXAMPLES:
        samples = [sample("frontend", "trace_times", name) for _ in range(SAMPLES)]
        source, first, again = (
            [entry[figure] for entry in samples] for figure in ("source", "first", "again")
        )
        total = median(source) + min(first)
        goal = f"{GOAL:.0f}: {judge(total, GOAL)}" if name == "softmax" else ""
        rows.append([name, spread(source), f"{min(first):.1f}", spread(again), goal])
    print_table(
        f"Python to `tile`, ms, of {SAMPLES} fresh processes",
        ["kernel", "source, CPU", "first, wall, least", "again, CPU", "source + first, goal"],
        rows,
    )
