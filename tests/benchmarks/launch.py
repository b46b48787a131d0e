# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""CPU time of a call on the software device, and the launcher's share of it.

The device runs in the process, so that a call's time includes the execution of its machine code.
The launcher's share is what an empty tensor costs: the whole call but the launch itself. How fast
the launcher is on a GPU is another issue's: these figures have no goal.
"""

from __future__ import annotations

from tests.benchmarks.figures import cpu_milliseconds, example, print_table, sample

SIZES = ([0, 64], [1, 64], [16, 4096], [64, 12345])
REPEATS = 200


def call_times(sizes: list[int]) -> dict[str, float]:
    """CPU microseconds of a softmax of these sizes: of the first call, and of each later one."""
    import torch

    kernel = example("softmax")
    x = torch.zeros(sizes, dtype=torch.bfloat16)
    begin = cpu_milliseconds()
    kernel(x)
    first = cpu_milliseconds() - begin
    repeats = max(5, REPEATS * 1000 // max(1000, x.numel()))
    begin = cpu_milliseconds()
    for _ in range(repeats):
        torch.empty_like(x)
    allocation = (cpu_milliseconds() - begin) / repeats
    begin = cpu_milliseconds()
    for _ in range(repeats):
        kernel(x)
    later = (cpu_milliseconds() - begin) / repeats
    return {"first": first, "later": later * 1e3, "allocation": allocation * 1e3}


def main() -> None:
    """Prints the table."""
    rows = []
    for sizes in SIZES:
        times = sample("launch", "call_times", sizes)
        elements = sizes[0] * sizes[1]
        share = f"{times['later'] * 1e3 / elements:.1f}" if elements else "nothing is launched"
        rows.append(
            [
                "x".join(map(str, sizes)),
                f"{times['first']:.1f}",
                f"{times['later']:.1f}",
                f"{times['allocation']:.1f}",
                share,
            ]
        )
    print_table(
        "softmax, bf16, on the software device: CPU time",
        ["sizes", "first call, ms", "later call, us", "torch.empty, us", "ns an element"],
        rows,
    )
