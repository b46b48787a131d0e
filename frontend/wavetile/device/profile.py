# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Profiles of launches as text.

A profile is what the device writes of a launch into the file that WAVETILE_DEVICE_PROFILE names, a
line of JSON: `docs/software-device-counters.md` has its fields.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wavetile.errors import ArgumentError

#: Bytes of a cache line, in which accesses are counted.
LINE_BYTES = 128


def read_profiles(path: str | Path) -> list[dict[str, Any]]:
    """The profiles in a file, in the order in which the launches ended.

    Args:
        path: what `wavetile device profile --out` wrote

    Returns:
        a dictionary for each launch

    Raises:
        ArgumentError: there is no such file, or it holds something else

    Example:
        for launch in read_profiles("profile.jsonl"):
            print(table(launch))
    """
    try:
        lines = Path(path).read_text().splitlines()
        profiles = [json.loads(line) for line in lines]
    except OSError as error:
        raise ArgumentError(f"cannot read {path}: {error.strerror}") from None
    except json.JSONDecodeError:
        raise ArgumentError(f"{path} holds no profiles") from None
    for profile in profiles:
        if not isinstance(profile, dict) or "hardware_counters" not in profile:
            raise ArgumentError(f"{path} holds no profiles")
    return profiles


def _columns(rows: Sequence[Sequence[object]], left: Sequence[int]) -> list[str]:
    """Lines of aligned columns; those in `left` are text, the others numbers."""
    texts = [[cell if isinstance(cell, str) else _number(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    lines = []
    for row in texts:
        cells = [
            cell.ljust(width) if index in left else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def _number(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.2f}"
    return f"{value:,}"


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _size(extents: Sequence[int]) -> str:
    return "x".join(map(str, extents))


def _head(profile: dict[str, Any]) -> str:
    failed = "" if profile["result"] == "hipSuccess" else f", {profile['result']}"
    return (
        f"{profile['kernel']} on {profile['target']}: grid {_size(profile['grid'])}, workgroup"
        f" {_size(profile['workgroup_size'])}, {profile['waves']} waves of"
        f" {profile['wave_size']} lanes{failed}"
    )


def _occupancy(profile: dict[str, Any]) -> list[str]:
    fit = profile["occupancy"]
    rows = [
        ["wave slots", fit["workgroups_by_wave_slots"], f"{fit['wave_slots_per_simd']} a SIMD"],
        [
            "vector registers",
            fit["workgroups_by_vector_registers"],
            f"{fit['vector_registers']} a lane",
        ],
        ["LDS", fit["workgroups_by_lds"], f"{fit['lds_bytes']:,} bytes a workgroup"],
    ]
    return [
        f"occupancy: {fit['waves_per_simd']:g} of {fit['wave_slots_per_simd']} waves a SIMD,"
        f" {fit['workgroups_per_multiprocessor']} workgroups on each of"
        f" {fit['multiprocessors']} multiprocessors; limited by {fit['limited_by']}",
        *(f"  {line}" for line in _columns(rows, (0, 2))),
    ]


def _counters(profile: dict[str, Any]) -> list[str]:
    """Counts that a hardware counter has too, under its name, then those by kind."""
    waves = profile["waves"]
    rows: list[list[object]] = [["counter", "launch", "a wave"]]
    counters: dict[str, int] = profile["hardware_counters"]
    rows += [[name, count, _ratio(count, waves)] for name, count in sorted(counters.items())]
    rows += [["", "", ""], ["instructions by kind", "launch", "a wave"]]
    kinds: dict[str, int] = profile["kinds"]
    by_count = sorted(kinds.items(), key=lambda item: -item[1])
    rows += [[name, count, _ratio(count, waves)] for name, count in by_count if count]
    for name, count in sorted(profile["waits"].items()):
        rows.append([f"waits for {name}", count, _ratio(count, waves)])
    return _columns(rows, (0,))


def _memory(profile: dict[str, Any]) -> list[str]:
    memory = profile["memory"]
    rows: list[list[object]] = [
        ["memory", "bytes loaded", "stored", "lines loaded", "stored", "bytes used of a line"]
    ]
    for name in ("global", "scalar", "scratch"):
        part = memory[name]
        loaded, stored = part["loaded_bytes"], part["stored_bytes"]
        lines = part["loaded_lines"] + part["stored_lines"]
        if loaded or stored:
            rows.append(
                [
                    *(name, loaded, stored, part["loaded_lines"], part["stored_lines"]),
                    _ratio(loaded + stored, lines),
                ]
            )
    lds = memory["lds"]
    rows.append(["LDS", lds["loaded_bytes"], lds["stored_bytes"], None, None, None])
    lines_of_text = _columns(rows, (0,))
    lines_of_text.append(
        f"LDS: {lds['cycles']:,} cycles, of which {lds['conflict_cycles']:,} are bank conflicts"
    )
    if memory["unaligned_lanes"]:
        lines_of_text.append(f"unaligned accesses of lanes: {memory['unaligned_lanes']:,}")
    lanes = profile["vector_lanes"]
    if lanes["all"]:
        share = 100 * lanes["active"] / lanes["all"]
        lines_of_text.append(f"active lanes of vector ALU instructions: {share:.1f} %")
    return lines_of_text


def _matrix(profile: dict[str, Any]) -> list[str]:
    if not profile["matrix"]:
        return []
    rows: list[list[object]] = [["matrix instruction", "launch", "operations"]]
    rows += [
        [entry["instruction"], entry["executed"], entry["operations"]]
        for entry in profile["matrix"]
    ]
    return ["", *_columns(rows, (0,))]


def table(profile: dict[str, Any]) -> str:
    """What a launch executed, as a profiler shows it. Raises nothing.

    Args:
        profile: one of `read_profiles`

    Returns:
        a text of several lines: counts, bytes, and cycles that are estimates of a model

    Example:
        print(table(read_profiles("profile.jsonl")[0]))
    """
    return "\n".join(
        [
            _head(profile),
            *_occupancy(profile),
            "",
            *_counters(profile),
            "",
            *_memory(profile),
            *_matrix(profile),
        ]
    )


def _notes(instruction: dict[str, Any]) -> str:
    """What an instruction asked of memory, for each time that it was executed."""
    executed = instruction["executed"]

    def each(key: str) -> str:
        return f"{instruction[key] / executed:g}"

    notes = []
    for key, name in (
        ("global_bytes", "bytes"),
        ("scratch_bytes", "scratch bytes"),
        ("lds_bytes", "LDS bytes"),
        ("lines", "lines"),
        ("lds_cycles", "LDS cycles"),
        ("lds_conflict_cycles", "of them conflicts"),
        ("unaligned_lanes", "unaligned"),
    ):
        if instruction.get(key):
            notes.append(f"{each(key)} {name}")
    return ", ".join(notes)


def listing(profile: dict[str, Any]) -> str:
    """The kernel's instructions with what each execution of them asked of memory. Raises nothing.

    They stand with how often waves executed each, and how many lanes were active.

    Args:
        profile: one of `read_profiles`

    Returns:
        a line for each instruction

    Example:
        print(listing(read_profiles("profile.jsonl")[0]))
    """
    rows: list[list[object]] = [["executed", "lanes", "offset", "instruction", "each time"]]
    source = None
    for instruction in profile["instructions"]:
        executed = instruction["executed"]
        where = instruction.get("source")
        if where is not None and where != source:
            source = where
            rows.append(["", "", "", f"; {where}", ""])
        active = _ratio(instruction["active_lanes"], executed)
        rows.append(
            [
                executed,
                None if active is None else f"{active:g}",
                f"{instruction['offset']:x}",
                instruction["text"],
                _notes(instruction) if executed else "",
            ]
        )
    return "\n".join(_columns(rows, (3, 4)))
