# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What the tests of patched code objects share: mutations, and how one is tried."""

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
    """One patched instruction of a kernel that Triton made, and what the device must find.

    Attributes:
        kernel: "vector_add" or "row_softmax", see `compiled`
        patch: a pattern of the instruction, and how many that match come before it
        replacement: what to assemble instead; {0} and on are the pattern's groups
        kind: how the report begins
        fault: a pattern of the instruction that the report names, and how many come before it
        place: the workgroup, the wave (None: behind a barrier any may be first) and the lane
        texts: what else the report says: the tensor, the load or the register at fault
    """

    kernel: str
    patch: tuple[str, int]
    replacement: str
    kind: str
    fault: tuple[str, int]
    place: tuple[int, int | None, int]
    texts: tuple[str, ...]


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


def each_of(mutations: dict[str, dict[str, Mutation]]) -> pytest.MarkDecorator:
    """Runs a test with `target` and `name` of every mutation of a table by target and name."""
    cases = [(target, name) for target, named in mutations.items() for name in named]
    return pytest.mark.parametrize(("target", "name"), cases)


def check(
    mutation: Mutation, device: software.SoftwareDriver, target: str, generator: torch.Generator
) -> None:
    """The binary as it was made runs clean and gives what Triton's launch gave; patched, it is
    found out."""
    image, grid, lds, arguments = compiled(mutation.kernel, generator)
    code = CodeObject(image, mutation.kernel, target)
    threads = 4 * device.get_current_target().warp_size
    out = arguments["out_ptr"]
    assert isinstance(out, torch.Tensor)
    expected = out.clone()
    out.zero_()
    launch(device.library, code, grid, threads, lds, arguments)
    assert torch.equal(out, expected)

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
    assert report.startswith(f"{mutation.kind} in kernel {mutation.kernel}\n"), report
    assert f"(+{fault.offset:#x} in the kernel): {fault.mnemonic} " in report, (fault, report)
    waves = r"\d+" if wave is None else str(wave)
    assert re.search(rf"workgroup \({workgroup}, 0, 0\), wave {waves}, lane {lane}\n", report), (
        report
    )
    for text in mutation.texts:
        assert text in report, report
