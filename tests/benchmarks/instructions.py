# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Vector instructions an element, registers and access widths of softmax and rms_norm.

Compiled in bf16 with the column count a run-time argument: a code object serves every multiple of
8 up to its capacity, which the second table shows by running one at several lengths.

Vector instructions are all static ones of the classes valu*: arithmetic, conversions, moves,
exp2, and exchanges between lanes; a packed or dual instruction is one. An element and lane has

    instructions / (rows of a block * capacity of a row / lanes of a workgroup)

of them: row kernels have no loop, so that the divisor is how many elements of the tile a lane
owns. A tile that lanes held copies of would have more accesses than that, which is checked.
A narrow access is one that only the last, partial vector of a row takes, behind a branch.

Triton's figures are Liger's kernels under Triton 3.8.0, per the same definition, from the record
of 2026-11-29. ISA_COUNTS may name a program that prints a JSON line with the counts of a code
object; the figures are then compared with its own.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.benchmarks.figures import (
    ROOT,
    TARGETS,
    example,
    judge,
    print_table,
    row_arguments,
    sample,
)

KERNELS = ("softmax", "rms_norm")
COLUMNS = (4096, 32000, 12345)
# What softmax and rms_norm shall not exceed on gfx950 at multiples of 8; elsewhere Triton's figure.
GOALS = {"softmax": 12.0, "rms_norm": 8.0}
TRITON = {
    ("softmax", 4096): (29.5, 34.8, 31.2),
    ("softmax", 32000): (23.7, 28.8, 29.4),
    ("softmax", 12345): (32.1, 35.2, 33.4),
    ("rms_norm", 4096): (12.8, 21.6, 20.4),
    ("rms_norm", 32000): (8.6, 17.2, 19.0),
    ("rms_norm", 12345): (21.3, 30.6, 29.6),
}
BITS = 16
WIDEST = 128
HEAD = (
    *("kernel", "target", "columns", "capacity", "elements", "vector", "goal", "Triton"),
    *("other count", "VGPRs", "scratch", "loads, bits", "stores, bits", "widths"),
)
# Lengths at which one code object of 4096 columns runs.
LENGTHS = (4096, 4088, 1000, 8)


def vector_instructions(instructions: Mapping[str, int]) -> int:
    """The sum of the classes valu*."""
    return sum(count for name, count in instructions.items() if name.startswith("valu"))


def elements_of_a_lane(config: Mapping[str, Any], plan: Mapping[str, Any]) -> float:
    """Elements of the tile for each lane of a workgroup."""
    (step,) = plan["steps"]
    lanes = 1
    for size in step["workgroup"]:
        lanes *= size
    return config["rows"] * config["n"] / lanes


def accesses(instructions: Mapping[str, int], kind: str) -> dict[int, int]:
    """How many global accesses of each width there are."""
    found = {}
    for name, count in instructions.items():
        if match := re.fullmatch(rf"mem_{kind}_(\d+)", name):
            found[int(match[1])] = count
    return found


def _independent_counts(code_object: bytes) -> dict[str, int] | None:
    """The counts of the program ISA_COUNTS, or of the one beside the repository."""
    beside = ROOT.parent / "shared" / "tools" / "isa_counts.py"
    program = os.environ.get("ISA_COUNTS") or (str(beside) if beside.exists() else None)
    if program is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.hsaco"
        path.write_bytes(code_object)
        command = [sys.executable, program, str(path)]
        text = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    counts: dict[str, int] = json.loads(text.splitlines()[0])["all"]
    return counts


def _measure(kernel: str, target: str, columns: int) -> dict[str, Any]:
    bound = example(kernel).bind(*row_arguments(kernel, columns), target=target)
    (resources,), (config,) = bound.resources(), bound.configs()
    elements = elements_of_a_lane(config, json.loads(bound.plan().json()))
    vectors = accesses(resources.instructions, "store").get(WIDEST, 0)
    counted = _independent_counts(bound.code_object())
    return {
        "capacity": config["n"],
        "elements": elements,
        "no_copies": vectors * WIDEST // BITS == elements,
        "vector": vector_instructions(resources.instructions),
        "counted": None if counted is None else vector_instructions(counted),
        "registers": resources.vector_registers,
        "scratch": resources.scratch_bytes,
        "lds": resources.lds_bytes,
        "loads": accesses(resources.instructions, "load"),
        "stores": accesses(resources.instructions, "store"),
        "partial": columns * BITS % WIDEST != 0,
    }


def measure(kernel: str, target: str) -> list[dict[str, Any]]:
    """One kernel for one target, at all column counts."""
    return [_measure(kernel, target, columns) for columns in COLUMNS]


def _widths(found: Mapping[str, int]) -> str:
    return ", ".join(
        f"{count} of {bits}" for bits, count in sorted(found.items(), key=lambda e: -int(e[0]))
    )


def _accesses_judged(figures: Mapping[str, Any]) -> str:
    """Wide accesses only; with a partial vector, as many of each narrower width at most."""
    for found in (figures["loads"], figures["stores"]):
        wide = found.get(str(WIDEST), 0)
        narrow = {bits: count for bits, count in found.items() if int(bits) != WIDEST}
        if narrow and (not figures["partial"] or max(narrow.values()) > wide):
            return "MISSED"
    return "met"


def _row(kernel: str, target: str, columns: int, figures: Mapping[str, Any]) -> list[object]:
    each = figures["vector"] / figures["elements"]
    rival = TRITON[kernel, columns][TARGETS.index(target)]
    has_goal = target == TARGETS[0] and not figures["partial"]
    goal = GOALS[kernel] if has_goal else rival
    name = f"{goal:g}" if has_goal else "Triton"
    return [
        kernel,
        target,
        columns,
        figures["capacity"],
        f"{figures['elements']:g}" if figures["no_copies"] else f"{figures['elements']:g} copied",
        f"{each:.2f}",
        f"{name}: {judge(each, goal)}",
        rival,
        {None: "-", figures["vector"]: "equal"}.get(figures["counted"], figures["counted"]),
        figures["registers"],
        f"{figures['scratch']}: {judge(figures['scratch'], 0)}",
        _widths(figures["loads"]),
        _widths(figures["stores"]),
        _accesses_judged(figures),
    ]


def one_code_object(kernel: str) -> list[dict[str, Any]]:
    """Runs what is compiled at the first length at all of them, on the software device."""
    import torch
    from wavetile.testing import error_factor

    module = sys.modules[example(kernel).__module__]
    function = example(kernel)
    rows = []
    for columns in LENGTHS:
        generator = torch.Generator().manual_seed(columns)
        arguments = [
            torch.randn(value.shape, generator=generator).to(value.dtype)
            for value in row_arguments(kernel, columns)
        ]
        # Fewer rows, not divisible by those of a block.
        arguments[0] = arguments[0][:7]
        expected = getattr(module, f"{kernel}_reference")(*arguments)
        error = error_factor(function(*arguments), expected, columns)
        (launcher,) = function._launchers
        compiled = sum(len(launcher.variants(entry)) for entry in launcher.specialisations())
        rows.append({"columns": columns, "error": error, "compiled": compiled})
    return rows


def main() -> None:
    """Prints the tables."""
    measured = [
        _row(kernel, target, columns, figures)
        for kernel in KERNELS
        for target in TARGETS
        for columns, figures in zip(
            COLUMNS, sample("instructions", "measure", kernel, target), strict=True
        )
    ]
    print_table(
        "bf16, columns at run time: static vector instructions an element and lane",
        HEAD,
        measured,
    )
    rows = [
        [kernel, entry["columns"], entry["compiled"], f"{entry['error']:.2f}"]
        for kernel in KERNELS
        for entry in sample("instructions", "one_code_object", kernel)
    ]
    print_table(
        "One process, calls in turn: code objects compiled so far, and errors",
        ["kernel", "columns", "code objects", "error, eps sqrt(columns)"],
        rows,
    )
