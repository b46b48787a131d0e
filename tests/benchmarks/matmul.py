# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Registers, access widths, LDS bank conflicts and the inner loop of a bf16 matmul, 128x128 tiles.

The inner loop is the innermost loop with the most matrix instructions; its counts are static and
those of one wave. Bank conflicts are cycles that a wave loses, by the layout algebra, in one step
of that loop: in stores and in loads of the staging buffers, as the target groups its lanes.
Triton's figures are those of 3.8.0 for the same tile, from the record of 2026-11-29.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from tests.benchmarks.figures import TARGETS, example, judge, print_table, sample
from tests.benchmarks.frontend import matrix_arguments

# m, n and k: whole tiles, and divisible by nothing.
SHAPES = ((2048, 3072, 4096), (2047, 3071, 4093))
TILE = {"rows": 128, "cols": 128}
WIDEST = 128
# Vector registers, scratch bytes, matrix instructions of a step, LDS reads and writes.
TRITON = {
    "gfx950": "146, 0, 32, 24, 0",
    "gfx942": "200, 0, 64, 23, 12",
    "gfx1150": "162, 0, 32, 48, 12",
}
HEAD = (
    *("target", "m x n x k", "waves", "VGPRs, AGPRs", "scratch", "LDS bytes"),
    *("global, bits", "LDS, bits", "bank conflicts"),
)
MATRIX = re.compile(r"v_(mfma|wmma|smfmac|swmmac)_")
KINDS = {
    "matrix": MATRIX,
    "LDS reads": re.compile(r"ds_(read|load)"),
    "LDS writes": re.compile(r"ds_(write|store)"),
    "global loads": re.compile(r"(buffer|global)_load"),
    "vector": re.compile(r"v_"),
    "barriers": re.compile(r"s_barrier"),
    "scratch": re.compile(r"scratch_"),
}


def inner_loops(listing: str) -> list[list[str]]:
    """The mnemonics of each loop of a listing that has no other in it."""
    lines = [line.split("//")[0].split(";")[0].strip() for line in listing.splitlines()]
    labels = {line[:-1]: number for number, line in enumerate(lines) if line.endswith(":")}
    loops = []
    for end, line in enumerate(lines):
        words = line.split()
        if words and re.match(r"s_c?branch", words[0]) and labels.get(words[-1], end) < end:
            loops.append((labels[words[-1]], end))
    inner = [
        (begin, end)
        for begin, end in loops
        if not any((b, e) != (begin, end) and begin <= b and e <= end for b, e in loops)
    ]
    return [
        [line.split()[0] for line in lines[begin : end + 1] if line and not line.endswith(":")]
        for begin, end in inner
    ]


def measure(target: str, shape: list[int]) -> dict[str, Any]:
    """One compilation of the matmul."""
    from wavetile import _C

    bound = example("matmul").bind(*matrix_arguments(*shape), target=target, config=TILE)
    (resources,), (config,) = bound.resources(), bound.configs()
    loops = inner_loops(bound.isa())
    loop = max(loops, key=lambda body: sum(1 for name in body if MATRIX.match(name)))
    counts: Counter[str] = Counter()
    for name in loop:
        kind = next((kind for kind, pattern in KINDS.items() if pattern.match(name)), "other")
        counts[kind] += 1
    costs = _C.staging_costs(bound.ir("final"), target)
    return {
        "waves": config["waves"],
        "registers": resources.vector_registers,
        "accumulators": resources.accumulator_registers,
        "scratch": resources.scratch_bytes,
        "lds": resources.lds_bytes,
        "instructions": resources.instructions,
        "loop": counts,
        # The first loop and its tail stage alike.
        "staging": sorted({(cost.is_store, cost.bits, cost.conflicts) for cost in costs}),
    }


def _widths(instructions: dict[str, int], pattern: str, partial: bool = False) -> str:
    """The accesses of each width. Where a row ends in a partial vector, each whole one may have
    one narrower access of each width beside it, in the branch of the lane with the end.
    """
    found: Counter[int] = Counter()
    for name, count in instructions.items():
        if match := re.fullmatch(pattern + r"_(\d+)", name):
            found[int(match[1])] += count
    narrow = [count for bits, count in found.items() if bits != WIDEST]
    good = not narrow or (partial and max(narrow) <= found[WIDEST])
    judged = "met" if good else "MISSED"
    widths = ", ".join(f"{count} of {bits}" for bits, count in sorted(found.items(), reverse=True))
    return f"{widths}: {judged}"


def _conflicts(figures: dict[str, Any]) -> str:
    total = sum(conflicts for _, _, conflicts in figures["staging"])
    return f"{total}: {judge(total, 0)}"


def main() -> None:
    """Prints the tables."""
    rows, loops = [], []
    for shape in SHAPES:
        for target in TARGETS:
            figures = sample("matmul", "measure", target, list(shape))
            instructions, loop = figures["instructions"], figures["loop"]
            size = "x".join(map(str, shape))
            rows.append(
                [
                    target,
                    size,
                    figures["waves"],
                    f"{figures['registers']}, {figures['accumulators']}",
                    f"{figures['scratch']}: {judge(figures['scratch'], 0)}",
                    figures["lds"],
                    _widths(instructions, "mem_(?:load|store)", shape != SHAPES[0]),
                    _widths(instructions, "ds_(?:read|write)"),
                    _conflicts(figures),
                ]
            )
            theirs = TRITON[target] if shape == SHAPES[0] else ""
            loops.append([target, size, *(loop.get(kind, 0) for kind in KINDS), theirs])
    print_table(
        "bf16 matmul, 128x128: the whole kernel",
        HEAD,
        rows,
    )
    print("  widths: 128 bits alone are the goal; narrower ones are those of last partial vectors")
    print_table(
        "One step of the inner loop, one wave",
        ["target", "m x n x k", *KINDS, "Triton: VGPRs, scratch, matrix, LDS reads, writes"],
        loops,
    )
