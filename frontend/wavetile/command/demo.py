# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`wavetile demo`: compiles kernels for three GPUs, runs and checks them, and shows the code.

Each target has a process of its own, because a software device poses as one GPU.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from wavetile.command.arguments import arguments_of, describe_argument, load_kernel
from wavetile.command.run import pose_as, reference_of, worst_factor
from wavetile.errors import ArgumentError
from wavetile.testing import LARGEST_FACTOR

TARGETS = ("gfx942", "gfx950", "gfx1150")
EXAMPLES = ("softmax.py:softmax", "rms_norm.py:rms_norm", "matmul.py:matmul")


@dataclass(frozen=True)
class Row:
    """What one kernel became for one target."""

    kernel: str
    target: str
    arguments: str
    error: float
    milliseconds: list[tuple[str, float]]
    vector_registers: int
    spilled: int
    accesses: dict[str, int]
    instructions: int
    hot_loop: str


def add_parser(commands: Any) -> None:
    """Adds the subcommand."""
    parser = commands.add_parser(
        "demo",
        help="compile, run and check the examples, and show what they became",
        description="Compiles kernels for gfx942, gfx950 and gfx1150, runs them on the software"
        " device at shapes that are no multiple of anything, compares with float64, and shows the"
        " hot loop of the last one with its Python lines. A kernel's file defines"
        " <kernel>_arguments(generator) and <kernel>_reference(*args).",
    )
    parser.add_argument(
        "kernels", nargs="*", metavar="FILE:KERNEL", help="other kernels than the examples"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers (%(default)s)")
    parser.add_argument("--one-target", help=argparse.SUPPRESS)
    parser.set_defaults(run=_run)


def example_folder() -> Path:
    """Where the examples lie.

    Raises:
        ArgumentError: this installation has none
    """
    here = Path(__file__).resolve()
    for parent in here.parents[1:4]:
        if (parent / "examples" / "softmax.py").exists():
            return parent / "examples"
    raise ArgumentError(
        "this installation has no examples", remedy="name a kernel: wavetile demo FILE:KERNEL"
    )


def hot_loop(listing: str) -> str:
    """The loop with the most work that holds no other; empty if there is none.

    Work is matrix instructions, then the widest accesses. Among equals the first is taken: what
    a loop leaves over is done after it, with as much of either and more to find its ends.
    """
    lines = listing.splitlines()
    labels = {line[:-1]: i for i, line in enumerate(lines) if re.fullmatch(r"\.L\w+:", line)}
    loops = []
    for end, line in enumerate(lines):
        found = re.match(r"\s+s_c?branch\w*\s+(\.L\w+)", line)
        if found and found[1] in labels and labels[found[1]] <= end:
            loops.append((labels[found[1]], end))
    inner = [
        loop
        for loop in loops
        if not any(o != loop and loop[0] <= o[0] and o[1] <= loop[1] for o in loops)
    ]
    if not inner:
        return ""

    def work(loop: tuple[int, int]) -> tuple[int, int]:
        body = [line.split() for line in lines[loop[0] : loop[1] + 1]]
        names = [words[0] for words in body if words]
        return (
            sum(name.startswith(("v_mfma", "v_wmma")) for name in names),
            sum(name.endswith(("dwordx4", "b128")) for name in names),
        )

    begin, end = max(inner, key=work)
    if not any(line.startswith(";") for line in lines[begin : begin + 2]):
        before = [line for line in lines[:begin] if line.startswith(";")]
        return "\n".join([*before[-1:], *lines[begin : end + 1]])
    return "\n".join(lines[begin : end + 1])


def _measure(text: str, target: str, seed: int) -> Row:
    module, kernel = load_kernel(text)
    values = arguments_of(module, kernel, [], seed)
    expected = reference_of(module, kernel)(*values)
    bound = kernel.bind(*values)
    result = kernel(*values)
    accesses: dict[str, int] = {}
    for entry in bound.resources():
        for name, count in entry.instructions.items():
            if name.startswith(("mem_", "ds_")):
                accesses[name] = accesses.get(name, 0) + count
    return Row(
        kernel.__name__,
        target,
        ", ".join(map(describe_argument, values)),
        worst_factor(result, expected, values),
        bound.times(),
        max(entry.vector_registers for entry in bound.resources()),
        sum(entry.spilled_vector_registers for entry in bound.resources()),
        accesses,
        sum(sum(entry.instructions.values()) for entry in bound.resources()),
        hot_loop(bound.isa(source=True)),
    )


def _rows_of(target: str, kernels: list[str], seed: int) -> list[Row]:
    command = [sys.executable, "-m", "wavetile.cli", "demo", *kernels]
    command += ["--seed", str(seed), "--one-target", target]
    environment = {**os.environ, "WAVETILE_DEVICE": "software", "WAVETILE_DEVICE_TARGET": target}
    process = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True)
    if process.returncode != 0:
        raise ArgumentError(f"the demo failed for {target}; its messages are above")
    return [Row(**entry) for entry in json.loads(process.stdout)]


def _print_row(row: Row) -> None:
    steps = [(step, ms) for step, ms in row.milliseconds if ms >= 1]
    times = ", ".join(f"{step} {ms:.0f}" for step, ms in steps)
    total = sum(milliseconds for _, milliseconds in row.milliseconds)
    accesses = ", ".join(f"{name} x{count}" for name, count in sorted(row.accesses.items()))
    mark = "ok " if row.error <= LARGEST_FACTOR else "BAD"
    print(
        f"  {row.target:<8} {mark} error {row.error:.2f} eps sqrt(n), {row.instructions}"
        f" instructions, {row.vector_registers} vector registers, {row.spilled} spilled"
    )
    print(f"           compiled in {total:.0f} ms: {times}")
    print(f"           accesses: {accesses}")


def _shortened(listing: str, most: int = 100) -> str:
    lines = listing.splitlines()
    if len(lines) <= most:
        return listing
    return "\n".join([*lines[:most], f"  ... and {len(lines) - most} more lines"])


def _run(options: argparse.Namespace) -> int:
    kernels = options.kernels or [str(example_folder() / name) for name in EXAMPLES]
    if options.one_target:
        pose_as(options.one_target)
        rows = [_measure(text, options.one_target, options.seed) for text in kernels]
        print(json.dumps([asdict(row) for row in rows]))
        return 0
    by_target = []
    for target in TARGETS:
        print(f"compiling and running for {target}", file=sys.stderr)
        by_target.append(_rows_of(target, kernels, options.seed))
    for same_kernel in zip(*by_target, strict=True):
        print(f"{same_kernel[0].kernel}({same_kernel[0].arguments})")
        for row in same_kernel:
            _print_row(row)
    # The loop of the kernel on the newest large GPU is what most readers want to see.
    for row in reversed(by_target[1]):
        if row.hot_loop:
            print(f"\nThe hot loop of {row.kernel} on {row.target}, with its Python lines:\n")
            print(_shortened(row.hot_loop))
            break
    good = all(row.error <= LARGEST_FACTOR for rows in by_target for row in rows)
    return 0 if good else 1
