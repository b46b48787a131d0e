# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`explain()`: what the compiler did with a region, on one screen."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wavetile import _C
    from wavetile.compiler import CompiledRegion

_ACCESS = re.compile(r"tile\.(?P<kind>load|store) .*?\{(?P<facts>[^}]*)\}.*?(?P<type>tensor<.*)")
_TYPE = re.compile(r'tensor<(?P<shape>[^,]+), #tile\.layout<"(?P<layout>[^"]*)">')
_MEMORY = re.compile(r"(buffer|global|flat|scratch|ds)_(load|store|read|write)\w*")
_STRATEGIES = {
    "resident": "the whole row is held in registers",
    "looped": "one block walks the row in chunks",
    "grid": "several blocks share the row and combine through scratch",
}


@dataclass
class _Line:
    """A Python line and the memory instructions that it became."""

    place: str
    text: str
    instructions: Counter[str] = field(default_factory=Counter)


def explain(region: CompiledRegion) -> str:
    """Config and why, layouts of loads and stores, the width of each access, resources."""
    plan = region.kernel.plan
    parts = [
        f"{region.name} for {region.target}",
        _section("Config", _config_lines(region)),
        _section("Serves launches with", [str(guard) for guard in plan.guards]),
        _section("Tiles in memory", _layout_lines(region.ir("final"))),
        _section("Memory instructions", _access_lines(region.isa(source=True))),
        *(_section(entry.symbol, _resource_lines(entry)) for entry in region.resources()),
        "Compiled in milliseconds: "
        + ", ".join(f"{step} {milliseconds:.1f}" for step, milliseconds in region.times),
    ]
    return "\n".join(part for part in parts if part) + "\n"


def _section(title: str, lines: list[str]) -> str:
    return "\n".join([f"\n{title}", *(f"  {line}" for line in lines)]) if lines else ""


def _config_lines(region: CompiledRegion) -> list[str]:
    lines = []
    for key, value in sorted(region.config.items()):
        if key in region.traced.block_sizes:
            why = "fixed by the kernel"
        elif key in region.given:
            why = "asked for"
        else:
            why = "chosen by the compiler"
        meaning = f": {_STRATEGIES[value]}" if value in _STRATEGIES else ""
        lines.append(f"{key} = {value}{meaning} ({why})")
    return lines


def _layout_lines(final: str) -> list[str]:
    """Each load and store of the planned module: facts that decide its width, and its layout."""
    lines = []
    for line in final.splitlines():
        access = _ACCESS.search(line)
        tile = _TYPE.search(access["type"]) if access else None
        if access and tile:
            facts = re.sub(r" : i64|array<i1: ([^>]*)>", r"\1", access["facts"])
            lines.append(f"{access['kind']} {tile['shape']}: {facts}")
            lines.append(f"  {tile['layout']}")
    return lines


def _access_lines(listing: str) -> list[str]:
    """The memory instructions of each Python line."""
    found: list[_Line] = []
    current = _Line("", "")
    for line in listing.splitlines():
        if line.startswith("; "):
            place, _, text = line[2:].partition("  ")
            current = next((entry for entry in found if entry.place == place), None) or _Line(
                place, text.strip()
            )
            if current not in found:
                found.append(current)
        elif match := _MEMORY.match(line.strip()):
            current.instructions[match[0]] += 1
    lines = []
    for entry in found:
        if entry.instructions:
            lines.append(f"{entry.place}  {entry.text}")
            lines.append(
                "  " + ", ".join(f"{name} x{count}" for name, count in entry.instructions.items())
            )
    return lines


def format_resources(entry: _C.KernelResources) -> str:
    """The resources of one GPU kernel, in a few lines."""
    counts = ", ".join(f"{name} {count}" for name, count in sorted(entry.instructions.items()))
    return (
        f"{entry.symbol}\n"
        f"  registers     {entry.vector_registers} vector"
        f" ({entry.accumulator_registers} of them accumulators), {entry.scalar_registers} scalar\n"
        f"  spilled       {entry.spilled_vector_registers} vector,"
        f" {entry.spilled_scalar_registers} scalar, {entry.scratch_bytes} bytes of scratch\n"
        f"  LDS           {entry.lds_bytes} bytes\n"
        f"  occupancy     {entry.waves_per_simd} waves a SIMD\n"
        f"  instructions  {counts}"
    )


def _resource_lines(entry: _C.KernelResources) -> list[str]:
    return [line.strip() for line in format_resources(entry).splitlines()[1:]]
