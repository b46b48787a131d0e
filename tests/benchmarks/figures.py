# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What benchmarks share: tables, samples from fresh processes, arguments without storage.

Times are CPU milliseconds of a process with its children, which other work on the machine
changes far less than the clock on the wall. A figure is the median of several fresh processes.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TARGETS = ("gfx950", "gfx942", "gfx1150")

# Not specialised on, unlike a size that another size equals.
ROWS = 2048


def cpu_milliseconds() -> float:
    """CPU time of this process and of its children that have ended."""
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages) * 1e3


def sample(module: str, function: str, *arguments: Any) -> Any:
    """What a function of a benchmark returns in a fresh process, which must be JSON.

    Raises:
        RuntimeError: the process failed; its messages are on stderr
    """
    program = (
        f"import json, sys, tests.benchmarks.{module} as benchmark\n"
        f"result = benchmark.{function}(*json.loads(sys.argv[1]))\n"
        "print(json.dumps(result))"
    )
    command = [sys.executable, "-c", program, json.dumps(arguments)]
    # Code that was compiled before would be taken from the cache.
    environment = {**os.environ, "WAVETILE_CACHE": "off"}
    process = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=False
    )
    if process.returncode:
        raise RuntimeError(f"{module}.{function}{arguments} failed; its messages are above")
    return json.loads(process.stdout.splitlines()[-1])


def median(values: Sequence[float]) -> float:
    """The median."""
    return statistics.median(values)


def spread(values: Sequence[float]) -> str:
    """A median with what it is the median of."""
    return f"{median(values):.1f} ({min(values):.1f} to {max(values):.1f})"


def judge(value: float, goal: float) -> str:
    """Whether a figure meets a goal that it shall not exceed."""
    return "met" if value <= goal else "MISSED"


def print_table(title: str, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Prints a table with a heading, columns as wide as what they hold."""
    cells = [list(head), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    print(f"\n{title}")
    for number, row in enumerate(cells):
        padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print(("  " + "  ".join(padded)).rstrip())
        if number == 0:
            print("  " + "  ".join("-" * width for width in widths))


def row_arguments(kernel: str, columns: int) -> list[Any]:
    """Arguments of the row kernels `softmax` and `rms_norm` in bf16, without storage."""
    import torch

    def tensor(*sizes: int) -> torch.Tensor:
        return torch.empty(sizes, dtype=torch.bfloat16, device="meta")

    return [tensor(ROWS, columns), *([tensor(columns)] if kernel == "rms_norm" else [])]


def example(name: str) -> Any:
    """The kernel of examples/NAME.py."""
    import importlib

    return getattr(importlib.import_module(f"examples.{name}"), name)
