# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What a code object says of itself, read by LLVM's own tools, agrees with what Wavetile says."""

import re
import subprocess
from pathlib import Path

import pytest
from wavetile.bound import BoundKernel
from wavetile.command.arguments import arguments_of, load_kernel

from tests.python.end_to_end import on

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))

every_example = pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)


def bind(path: Path, target: str, seed: int) -> BoundKernel:
    """The example at its own arguments, compiled for `target`."""
    module, kernel = load_kernel(str(path))
    return on(kernel, target).bind(*arguments_of(module, kernel, [], seed))


def run_on_object(code_object: bytes, folder: Path, *command: str) -> str:
    """The output of an LLVM tool given the code object."""
    file = folder / "kernel.co"
    file.write_bytes(code_object)
    return subprocess.run([*command, str(file)], check=True, capture_output=True, text=True).stdout


def instruction_lines(listing: str) -> list[tuple[str, str]]:
    """(position, instruction) of llvm-objdump -d -l, from where a wave enters to the padding.

    A position is "file:line", or "" where the line table has none.
    """
    found: list[tuple[str, str]] = []
    position, kernel_begin = "", 0
    for line in listing.splitlines():
        if re.match(r"[0-9a-f]+ <.*>:$", line):
            position, kernel_begin = "", len(found)
        elif marker := re.match(r"; (/.*):(\d+)$", line):
            position = "" if marker[2] == "0" else f"{Path(marker[1]).name}:{marker[2]}"
        elif line.startswith("\t"):
            found.append((position, line.split("//")[0].strip()))
            if found[-1][1].startswith("s_branch 58"):
                # Firmware that cannot preload arguments jumps from here over padding to the entry.
                del found[kernel_begin:]
    return [entry for entry in found if not entry[1].startswith(("s_nop 0", "s_code_end"))]


@every_example
def test_instructions_have_lines_of_their_kernel(
    path: Path, target: str, seed: int, tmp_path: Path
) -> None:
    bound = bind(path, target, seed)
    listing = run_on_object(
        bound.code_object(), tmp_path, "llvm-objdump", "-d", "-l", f"--mcpu={target}"
    )
    instructions = instruction_lines(listing)
    assert len(instructions) > 50
    with_line = [entry for entry in instructions if entry[0].startswith(path.name + ":")]
    assert len(with_line) >= 0.99 * len(instructions), (
        f"{len(with_line)} of {len(instructions)} instructions have a line; without: "
        f"{[entry for entry in instructions if entry not in with_line][:5]}"
    )


@every_example
def test_resources_are_those_of_the_metadata(
    path: Path, target: str, seed: int, tmp_path: Path
) -> None:
    bound = bind(path, target, seed)
    notes = run_on_object(bound.code_object(), tmp_path, "llvm-readelf", "--notes")

    def figures(name: str) -> list[int]:
        return [int(value) for value in re.findall(rf"\.{name}: +(\d+)", notes)]

    resources = bound.resources()
    assert resources
    for attribute, name in [
        ("vector_registers", "vgpr_count"),
        ("scalar_registers", "sgpr_count"),
        ("lds_bytes", "group_segment_fixed_size"),
        ("scratch_bytes", "private_segment_fixed_size"),
        ("spilled_vector_registers", "vgpr_spill_count"),
        ("spilled_scalar_registers", "sgpr_spill_count"),
    ]:
        ours = sorted(getattr(entry, attribute) for entry in resources)
        assert ours == sorted(figures(name)), attribute
