# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Code objects that Triton made, with one instruction patched so that an access goes astray.

The report must name the instruction, the lane and the tensor; the binary as Triton made it runs
clean.
"""

import re
from dataclasses import dataclass

import pytest
import torch
from wavetile.device import triton as software
from wavetile.errors import DeviceError

from tests.python.clients import test_triton_rows as kernels
from tests.python.clients.foreign import Argument, CodeObject, launch


@dataclass(frozen=True)
class Mutation:
    """One patched instruction and what the device must find.

    Attributes:
        kernel: its name in `compiled`
        patch: a pattern of the instruction, and how many that match come before it
        replacement: what to assemble instead; {0} and on are the pattern's groups
        fault: a pattern of the instruction that the report names, and how many come before it
        place: the workgroup, wave and lane
        tensor: whose bounds are broken; None for an address 2 GiB away from all of them
    """

    kernel: str
    patch: tuple[str, int]
    replacement: str
    fault: tuple[str, int]
    place: tuple[int, int, int]
    tensor: str | None


# Element 1009 of 256 for each workgroup is the first one beyond vector_add's tensors. A wave of
# gfx1150 has two neighbouring elements a lane, and loads and stores the even ones first.
MUTATIONS = {
    "gfx950": {
        "num_records enlarged": Mutation(
            "vector_add",
            (r"s_mov_b32 (s\d+), 0x7ffffffe", 0),
            "s_mov_b32 {0}, 0xfffffffe",
            ("buffer_load", 0),
            (3, 3, 49),
            None,
        ),
        "mask one element too far": Mutation(
            "vector_add",
            (r"v_cmp_gt_i32_e32 vcc, (s\d+), (v\d+)", 0),
            "v_cmp_ge_i32_e32 vcc, {0}, {1}",
            ("buffer_load", 0),
            (3, 3, 49),
            "x_ptr",
        ),
        "elements twice as far apart": Mutation(
            "vector_add",
            (r"v_lshlrev_b32_e32 (v\d+), 2, (v\d+)", 0),
            "v_lshlrev_b32_e32 {0}, 3, {1}",
            ("buffer_load", 0),
            (1, 3, 57),
            "x_ptr",
        ),
        "store moved by an element": Mutation(
            "vector_add",
            (r"(buffer_store_dword .* offen)", 0),
            "{0} offset:4",
            ("buffer_store", 0),
            (3, 3, 48),
            "out_ptr",
        ),
        "rows too far apart": Mutation(
            "row_softmax",
            (r"s_mul_i32 (s\d+), s\d+, (s\d+)", 0),
            "s_lshl_b32 {0}, {1}, 10",
            ("buffer_load", 3),
            (2, 2, 56),
            "x_ptr",
        ),
        "last store of a row moved": Mutation(
            "row_softmax",
            (r"(buffer_store_short .* offen)", -1),
            "{0} offset:2",
            ("buffer_store", -1),
            (2, 3, 39),
            "out_ptr",
        ),
    },
    "gfx1150": {
        "num_records enlarged": Mutation(
            "vector_add",
            (r"s_mov_b32 (s\d+), 0x7ffffffe", 0),
            "s_mov_b32 {0}, 0xfffffffe",
            ("buffer_load", 0),
            (3, 3, 25),
            None,
        ),
        "mask one element too far": Mutation(
            "vector_add",
            (r"v_cmp_gt_i32_e32 vcc_lo, (s\d+), (v\d+)", 1),
            "v_cmp_ge_i32_e32 vcc_lo, {0}, {1}",
            ("buffer_load", 1),
            (3, 3, 24),
            "x_ptr",
        ),
        "elements twice as far apart": Mutation(
            "vector_add",
            (r"v_lshlrev_b32_e32 (v\d+), 2, (v1)", 0),
            "v_lshlrev_b32_e32 {0}, 3, {1}",
            ("buffer_load", 1),
            (1, 3, 28),
            "x_ptr",
        ),
        "store moved by an element": Mutation(
            "vector_add",
            (r"(buffer_store_b32 .* offen)", 0),
            "{0} offset:4",
            ("buffer_store", 0),
            (3, 3, 24),
            "out_ptr",
        ),
        "rows too far apart": Mutation(
            "row_softmax",
            (r"s_mul_i32 (s\d+), s\d+, (s\d+)", 0),
            "s_lshl_b32 {0}, {1}, 10",
            ("buffer_load", 7),
            (2, 1, 24),
            "x_ptr",
        ),
        "last store of a row moved": Mutation(
            "row_softmax",
            (r"(buffer_store_b16 .* offen)", -1),
            "{0} offset:2",
            ("buffer_store", -1),
            (2, 3, 7),
            "out_ptr",
        ),
    },
}


def compiled(
    name: str, generator: torch.Generator
) -> tuple[bytes, tuple[int, int, int], int, dict[str, Argument]]:
    """A code object by Triton, its grid, its LDS and its arguments; four waves of a workgroup."""
    if name == "vector_add":
        x, y = torch.randn(1009, generator=generator), torch.randn(1009, generator=generator)
        out = torch.empty(1009)
        made = kernels.vector_add[(4,)](x, y, out, 1009, 256)
        grid = (4, 1, 1)
        arguments: dict[str, Argument] = {"x_ptr": x, "y_ptr": y, "out_ptr": out, "n": 1009}
    else:
        x = torch.randn(3, 1000, generator=generator).bfloat16()
        out = torch.empty_like(x)
        made = kernels.row_softmax[(3,)](x, out, 1000, 1024)
        grid = (3, 1, 1)
        arguments = {"x_ptr": x, "out_ptr": out, "columns": 1000}
    # Triton's own last two arguments: scratch memory, which these kernels do not have.
    arguments |= {"scratch": None, "profile": None}
    return made.asm["hsaco"], grid, made.metadata.shared, arguments


@pytest.mark.parametrize(
    ("target", "name"), [(target, name) for target in MUTATIONS for name in MUTATIONS[target]]
)
def test_patched_bounds(
    device: software.SoftwareDriver, target: str, generator: torch.Generator, name: str
) -> None:
    mutation = MUTATIONS[target][name]
    image, grid, lds, arguments = compiled(mutation.kernel, generator)
    code = CodeObject(image, mutation.kernel, target)
    threads = 4 * device.get_current_target().warp_size
    expected = arguments["out_ptr"]
    assert isinstance(expected, torch.Tensor)
    expected = expected.clone()
    launch(device.library, code, grid, threads, lds, arguments)
    assert torch.equal(arguments["out_ptr"], expected)

    listing = code.listing()
    instruction = code.find(*mutation.patch, listing)
    match = re.match(mutation.patch[0], instruction.text)
    assert match is not None
    patched = code.patched(instruction, mutation.replacement.format(*match.groups()))
    with pytest.raises(DeviceError) as caught:
        launch(device.library, patched, grid, threads, lds, arguments)
    report = caught.value.report
    fault = code.find(*mutation.fault, listing)
    workgroup, wave, lane = mutation.place
    assert report.startswith(f"access out of bounds in kernel {mutation.kernel}"), report
    assert f"(+{fault.offset:#x} in the kernel): {fault.mnemonic} " in report, (fault, report)
    assert f"workgroup ({workgroup}, 0, 0), wave {wave}, lane {lane}\n" in report, report
    if mutation.tensor is not None:
        assert f"allocation '{mutation.tensor}'" in report, report
    else:
        assert "no memory is mapped there" in report or "no argument names" in report, report
