# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`explain()`: what the compiler did with a region, on one screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wavetile.compiler import CompiledRegion


def explain(region: CompiledRegion) -> str:
    """Config, guards, launches, resources and access widths of a region."""
    lines = [f"{region.name} for {region.target}", "", "Config"]
    lines += [f"  {key} = {value}" for key, value in sorted(region.config.items())]
    plan = region.kernel.plan
    if plan.guards:
        lines += ["", "Serves launches with", *(f"  {guard}" for guard in plan.guards)]
    for entry in region.resources():
        lines += ["", entry.symbol]
        lines.append(
            f"  {entry.vector_registers} vector and {entry.scalar_registers} scalar registers,"
            f" {entry.lds_bytes} bytes of LDS, {entry.scratch_bytes} of scratch,"
            f" {entry.waves_per_simd} waves a SIMD"
        )
        lines += [
            f"  {name:<24}{count:>6}"
            for name, count in sorted(entry.instructions.items(), key=lambda item: -item[1])
        ]
    times = ", ".join(f"{step} {milliseconds:.1f}" for step, milliseconds in region.times)
    return "\n".join([*lines, "", f"Compiled in milliseconds: {times}"]) + "\n"
