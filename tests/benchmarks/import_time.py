# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What `import wavetile` adds to a process that has imported torch."""

from __future__ import annotations

import time

from tests.benchmarks.figures import cpu_milliseconds, judge, median, print_table, sample, spread

SAMPLES = 7
GOAL = 150.0


def import_times() -> dict[str, float]:
    """Milliseconds of CPU and on the wall of each import in turn."""
    marks = [(cpu_milliseconds(), time.perf_counter())]
    import torch  # noqa: F401

    marks.append((cpu_milliseconds(), time.perf_counter()))
    import wavetile  # noqa: F401

    marks.append((cpu_milliseconds(), time.perf_counter()))
    (cpu, wall), (torch_cpu, torch_wall), (own_cpu, own_wall) = marks
    return {
        "torch": torch_cpu - cpu,
        "torch_wall": (torch_wall - wall) * 1e3,
        "wavetile": own_cpu - torch_cpu,
        "wavetile_wall": (own_wall - torch_wall) * 1e3,
    }


def main() -> None:
    """Prints the table."""
    samples = [sample("import_time", "import_times") for _ in range(SAMPLES)]
    rows = []
    for module, goal in (("torch", None), ("wavetile", GOAL)):
        cpu = [entry[module] for entry in samples]
        wall = [entry[f"{module}_wall"] for entry in samples]
        judged = f"{goal:.0f}: {judge(median(cpu), goal)}" if goal else ""
        rows.append([module, spread(cpu), f"{min(wall):.1f}", judged])
    print_table(
        f"Imports, ms, of {SAMPLES} fresh processes",
        ["import", "CPU, median (least to most)", "wall, least", "goal"],
        rows,
    )
