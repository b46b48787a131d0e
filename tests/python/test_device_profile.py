# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""`wavetile device profile` and `report`: what kernels executed, counted by the device."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy
import pytest

from .end_to_end import WAVE_SIZES
from .test_device_command import arrays, code_objects, command, run_scale

__all__ = ["code_objects"]  # A fixture of the other module.

ROOT = Path(__file__).parents[2]


def profile_scale(
    code_object: Path, target: str, folder: Path, *more: str, count: str = "1009"
) -> subprocess.CompletedProcess[str]:
    return run_scale(code_object, target, folder, *more, count=count, verb="profile")


def test_counts_follow_from_the_kernel(
    code_objects: dict[str, Path], target: str, tmp_path: Path
) -> None:
    arrays(tmp_path)
    result = profile_scale(code_objects[target], target, tmp_path, "--json")
    assert result.returncode == 0, result.stderr
    profile = json.loads(result.stdout)
    waves = 16 * 64 // WAVE_SIZES[target]
    assert profile["kernel"] == "scale"
    assert profile["target"] == target
    assert profile["waves"] == profile["hardware_counters"]["SQ_WAVES"] == waves
    # Each of 1009 elements: f32 and f64 loaded, f64 and i64 stored.
    memory = profile["memory"]
    assert memory["global"]["loaded_bytes"] == 1009 * 12
    assert memory["global"]["stored_bytes"] == 1009 * 16
    assert memory["unaligned_lanes"] == 0
    # Device memory begins on a line: those of 16 bytes a work-item, all but the last one whole.
    lines = [-(-1009 * size // 128) for size in (4, 8, 8, 8)]
    assert memory["global"]["loaded_lines"] == lines[0] + lines[1]
    assert memory["global"]["stored_lines"] == lines[2] + lines[3]
    assert memory["lds"] == {
        "loaded_bytes": 0, "stored_bytes": 0, "cycles": 0, "conflict_cycles": 0
    }  # fmt: skip
    instructions = profile["instructions"]
    executed = sum(instruction["executed"] for instruction in instructions)
    assert executed == sum(profile["kinds"].values()) == profile["hardware_counters"]["SQ_INSTS"]
    assert instructions[0]["executed"] == waves
    assert instructions[0]["offset"] == 0


def test_the_table_and_the_listing(
    code_objects: dict[str, Path], target: str, tmp_path: Path
) -> None:
    arrays(tmp_path)
    result = profile_scale(code_objects[target], target, tmp_path)
    assert result.returncode == 0, result.stderr
    waves = 16 * 64 // WAVE_SIZES[target]
    text = result.stdout
    assert text.startswith(f"scale on {target}: grid 16x1x1, workgroup 64x1x1, {waves} waves of")
    assert re.search(r"^occupancy: [\d.]+ of \d+ waves a SIMD, .* limited by ", text, re.M)
    assert re.search(rf"^SQ_WAVES +{waves} +1.00$", text, re.M)
    assert re.search(r"^global +12,108 +16,144 ", text, re.M)
    # Every instruction with its counts; the last one ends each wave.
    assert re.search(rf"^ +{waves} +[\d.]+ +[0-9a-f]+  s_endpgm$", text, re.M)
    assert re.search(
        rf"^ +{waves} +[\d.]+ +[0-9a-f]+  global_store_\w+ .* bytes, [\d.]+ lines$", text, re.M
    )
    table = profile_scale(code_objects[target], target, tmp_path, "--no-listing").stdout
    assert "SQ_WAVES" in table
    assert "s_endpgm" not in table
    numpy.testing.assert_array_equal(numpy.load(tmp_path / "count.npy"), numpy.arange(1009))


def test_a_launch_that_fails_has_counts_and_a_report(
    code_objects: dict[str, Path], tmp_path: Path
) -> None:
    arrays(tmp_path)
    result = profile_scale(code_objects["gfx950"], "gfx950", tmp_path, "--json", count="1010")
    assert result.returncode == 1
    assert "access out of bounds in kernel scale" in result.stderr
    profile = json.loads(result.stdout)
    assert profile["result"] == "hipErrorIllegalAddress"
    assert profile["hardware_counters"]["SQ_INSTS"] > 0


def test_any_program_writes_profiles(code_objects: dict[str, Path], tmp_path: Path) -> None:
    """A program that knows of nothing, and the report of what it did."""
    arrays(tmp_path)
    file = tmp_path / "profile-%p.jsonl"
    ran = run_scale(code_objects["gfx942"], "gfx942", tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert not list(tmp_path.glob("profile-*.jsonl"))
    ran = command(
        *("run", code_objects["gfx942"], "reverse", "--target", "gfx942", "--grid", "3"),
        *("--block", "61", "--lds", "244", "--arg", f"i32[61]:{tmp_path / 'out.npy'}"),
        *("--arg", "u32=0", "--arg", "i32=61"),
        WAVETILE_DEVICE_PROFILE=str(file),
        WAVETILE_DEVICE_CHECKS="none",
    )
    assert ran.returncode == 0, ran.stderr
    (written,) = tmp_path.glob("profile-*.jsonl")
    result = command("report", written, "--kernel", "reverse", "--json")
    assert result.returncode == 0, result.stderr
    profile = json.loads(result.stdout)
    assert profile["grid"] == [3, 1, 1]
    assert profile["kinds"]["LDS store"] == profile["kinds"]["LDS load"] == 3
    assert profile["memory"]["lds"]["loaded_bytes"] == 3 * 61 * 4
    assert profile["memory"]["lds"]["conflict_cycles"] == 0
    assert profile["kinds"]["barrier"] == 3
    assert "reverse on gfx942" in command("report", written).stdout
    other = command("report", written, "--kernel", "other")
    assert other.returncode == 1
    assert "reverse" in other.stderr
    wrong = command("report", tmp_path / "x.npy")
    assert wrong.returncode == 1


@pytest.mark.parametrize("workgroup", ["15,0,0", "16"])
def test_a_trace_has_all_that_one_workgroup_executed(
    code_objects: dict[str, Path], target: str, tmp_path: Path, workgroup: str
) -> None:
    arrays(tmp_path)
    file = tmp_path / "trace.jsonl"
    result = profile_scale(
        code_objects[target], target, tmp_path, "--json",
        *("--trace", str(file), "--trace-workgroup", workgroup),
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    head, *lines, end = map(json.loads, file.read_text().splitlines())
    assert head["wavetile_trace"] == 1
    assert (head["target"], head["kernel"]) == (target, "scale")
    events = [line for line in lines if isinstance(line, list)]
    assert end == {"events": len(events)}
    if workgroup == "16":  # There are 16.
        assert not lines
        return
    described = {line["i"]: line for line in lines if isinstance(line, dict)}
    waves = 64 // WAVE_SIZES[target]
    assert {event[0] for event in events} == set(range(waves))
    for wave in range(waves):
        texts = [described[event[1]]["text"] for event in events if event[0] == wave]
        assert texts[-1] == "s_endpgm"
    # 1009 - 15 * 64 elements are left for this workgroup.
    stored = sum(
        access["global"]
        for event in events
        if described[event[1]]["class"] == "vector store"
        for access in event[3]
    )
    assert stored == (1009 - 15 * 64) * 16


def test_settings_that_make_no_sense_are_refused(
    code_objects: dict[str, Path], tmp_path: Path
) -> None:
    arrays(tmp_path)
    place = profile_scale(
        code_objects["gfx950"], "gfx950", tmp_path,
        *("--trace", str(tmp_path / "trace"), "--trace-workgroup", "1,2,3,4"),
    )  # fmt: skip
    assert place.returncode == 2
    assert "'1,2,3,4'" in place.stderr
    folder = profile_scale(code_objects["gfx950"], "gfx950", tmp_path, "--trace", str(tmp_path))
    assert folder.returncode == 2
    assert f"cannot write {tmp_path}" in folder.stderr


MATMUL = """
import json
import sys
import torch
import wavetile
from examples.matmul import matmul
from tests.python.end_to_end import on

x = torch.ones(256, 512, dtype=torch.bfloat16)
y = torch.ones(512, 384, dtype=torch.bfloat16)
config = {"rows": 128, "cols": 128}
assert on(matmul, sys.argv[1], config)(x, y).eq(512).all()
(resources,) = matmul.bind(x, y, target=sys.argv[1], config=config).resources()
print(json.dumps(resources.instructions))
"""

#: Kinds of the device, and the classes in which the compiler counts the same instructions.
STATIC_CLASSES = {
    "matrix": "matrix",
    "LDS load": "ds_read",
    "LDS store": "ds_write",
    "vector load": "mem_load",
    "vector store": "mem_store",
    "scalar memory": "smem",
    "transcendental": "valu_trans",
    "barrier": "barrier",
    "wait": "wait",
}


def test_our_matmul_counts_as_the_compiler_says(target: str, tmp_path: Path) -> None:
    """No bank conflicts, as its layout algebra has it: test_staging_costs.py. And the listing has
    as many instructions of each kind as the compiler counts in its own.
    """
    file = tmp_path / "profile.jsonl"
    environment = {
        "WAVETILE_DEVICE_TARGET": target,
        "WAVETILE_DEVICE_PROFILE": str(file),
        "WAVETILE_DEVICE_CHECKS": "none",
    }
    ran = subprocess.run(
        [sys.executable, "-c", MATMUL, target],
        env=os.environ | environment | {"PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    (profile,) = map(json.loads, file.read_text().splitlines())
    assert profile["matrix_operations"] == 2 * 256 * 384 * 512
    lds = profile["memory"]["lds"]
    assert lds["loaded_bytes"] > 0
    assert lds["cycles"] > 0
    assert lds["conflict_cycles"] == 0
    listed = Counter(instruction["kind"] for instruction in profile["instructions"])
    static = json.loads(ran.stdout.splitlines()[-1])
    for kind, prefix in STATIC_CLASSES.items():
        expected = sum(count for name, count in static.items() if name.startswith(prefix))
        assert listed[kind] == expected, kind
    wide = [i for i in profile["instructions"] if i["kind"] in ("LDS load", "LDS store")]
    assert all("b128" in instruction["text"] for instruction in wide if instruction["executed"])


TABLE_ROW = re.compile(
    r"\{LdsGeneration::(\w+), LdsOperation::(\w+), (\d+), (\d+), \{([\d, ]+)\}, FactStatus::(\w+)\}"
)
GENERATIONS = {"Cdna3": "gfx942", "Cdna4": "gfx950", "Rdna3": "gfx11"}


def test_the_page_has_the_rows_of_the_table() -> None:
    rows: list[list[Any]] = [
        [GENERATIONS[generation], operation.lower(), bits, banks, lanes, status.lower()]
        for generation, operation, bits, banks, lanes, status in TABLE_ROW.findall(
            (ROOT / "runtime/LdsBankTable.h").read_text()
        )
    ]
    page = (ROOT / "docs/software-device-counters.md").read_text()
    assert len(rows) == 24
    assert [f"| {' | '.join(row)} |" for row in rows] == re.findall(
        r"^\| gfx\w+ \| (?:read|write) \|.*$", page, re.M
    )
