# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""CPU time from Python to the `tile` module, for examples and for attention.

"Source" is what a kernel needs once: reading its syntax tree, finding its regions, making its
wrapper. "First" is the first region that a process traces, which builds the MLIR context and
whatever Python makes when first used. "Again" traces the same region once more.
The garbage collector is off, as timeit has it: a full collection of a process with torch takes
90 ms wherever it happens.
"""

from __future__ import annotations

import gc
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
EXAMPLES = ("softmax", "rms_norm", "matmul", "attention")
GOALS = {"softmax": 10.0, "attention": 40.0}


def matrix_arguments(m: int, n: int, k: int) -> list[Any]:
    """Arguments of a bf16 matmul, without storage."""
    import torch

    return [torch.empty(sizes, dtype=torch.bfloat16, device="meta") for sizes in ([m, k], [k, n])]


def _kernel(name: str) -> tuple[Any, list[Any]]:
    """A kernel and its arguments."""
    import torch

    if name == "matmul":
        return example(name), matrix_arguments(256, 384, 512)
    if name == "attention":
        from tests.benchmarks.attention import attention

        q, k, v = (torch.empty(8, 512, 64, dtype=torch.bfloat16, device="meta") for _ in range(3))
        return attention, [q, k, v, 0.125]
    return example(name), row_arguments(name, 4096)


def trace_times(name: str) -> dict[str, float]:
    """CPU milliseconds of source, first and again in this process."""
    kernel, arguments = _kernel(name)
    gc.disable()
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
        wanted = GOALS.get(name)
        goal = "" if wanted is None else f"{wanted:.0f}: {judge(total, wanted)}"
        rows.append([name, spread(source), f"{min(first):.1f}", spread(again), goal])
    print_table(
        f"Python to `tile`, ms, of {SAMPLES} fresh processes",
        ["kernel", "source, CPU", "first, wall, least", "again, CPU", "source + first, goal"],
        rows,
    )
