# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What the tests of patched code objects share: mutations, and how one is tried."""

import copy
import re
from dataclasses import dataclass

import pytest
import torch
from wavetile.device import triton as software
from wavetile.errors import DeviceError

from tests.python.clients import test_triton_rows as kernels
from tests.python.clients.foreign import Argument, CodeObject, launch
from tests.python.clients.grid_sum import grid_sum


@dataclass(frozen=True)
class Mutation:
    """One patched instruction of a kernel that Triton made, and what the device must find.

    Attributes:
        case: a kernel with its arguments, see `compiled`
        patch: a pattern of the instruction, and how many that match come before it
        replacement: what to assemble instead; {0} and on are the pattern's groups
        kind: how the report begins
        fault: a pattern of the instruction that the report names, and how many come before it
        place: the workgroup, the wave (None: behind a barrier any may be first) and the lane
            (None: it is all of the wave's)
        texts: what else the report says: the tensor, the load or the register at fault
    """

    case: str
    patch: tuple[str, int]
    replacement: str
    kind: str
    fault: tuple[str, int]
    place: tuple[int, int | None, int | None]
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Compiled:
    """A code object by Triton, with all that a launch of four waves a workgroup takes."""

    code: CodeObject
    grid: tuple[int, int, int]
    lds: int
    arguments: dict[str, Argument]  #: As they are before a launch; one tensor may be two of them.

    def launch(
        self,
        device: software.SoftwareDriver,
        code: CodeObject,
        waves: int = 4,
        left_out: tuple[str, ...] = (),
    ) -> torch.Tensor:
        """What the kernel, or a patched one, leaves in `out_ptr`; some arguments may be missing."""
        arguments = copy.deepcopy(self.arguments)
        given = {name: value for name, value in arguments.items() if name not in left_out}
        threads = waves * device.get_current_target().warp_size
        launch(device.library, code, self.grid, threads, self.lds, given)
        out = arguments["out_ptr"]
        assert isinstance(out, torch.Tensor)
        return out


def compiled(case: str, target: str, generator: torch.Generator) -> tuple[Compiled, torch.Tensor]:
    """A kernel that Triton made, and what Triton's own launch of it gave.

    "vector_add" and "row_softmax" write a tensor of their own or change one "in place"; with
    "room" an element or a row more belongs to each tensor than they use. "grid_sum" has workgroups
    that wait for one another.
    """
    name = case.split()[0]
    room = "with room" in case
    arguments: dict[str, Argument]
    if name == "vector_add":
        x, y = (torch.randn(1009 + room, generator=generator) for _ in range(2))
        out = x if "in place" in case else torch.zeros(1009 + room)
        grid = (4, 1, 1)
        arguments = {"x_ptr": x, "y_ptr": y, "out_ptr": out, "n": 1009}
        kernel, constants = kernels.vector_add, (256,)
    elif name == "row_softmax":
        # No race hides by writing what was there: signs alternate, so that no two neighbours give
        # the same; and each 32 columns have a maximum of their own, so that waves do.
        x = torch.rand(3 + room, 1000, generator=generator) + 0.5
        x *= torch.tensor([1.0, -1.0]).repeat(500)
        x[:, ::32] = 2 + torch.arange(32) / 16
        x = x.bfloat16()
        out = x if "in place" in case else torch.zeros_like(x)
        grid = (3, 1, 1)
        arguments = {"x_ptr": x, "out_ptr": out, "columns": 1000}
        kernel, constants = kernels.row_softmax, (1024,)
    else:
        x, partial, out = (
            torch.randn(1273, generator=generator),
            torch.zeros(1280),
            torch.zeros(256),
        )
        count = torch.zeros(1, dtype=torch.int32)
        grid = (5, 1, 1)
        arguments = {"x_ptr": x, "partial_ptr": partial, "count_ptr": count, "out_ptr": out}
        arguments["n"] = 1273
        kernel, constants = grid_sum, (256, 5)
    launched = copy.deepcopy(arguments)
    made = kernel[grid](*launched.values(), *constants)
    expected = launched["out_ptr"]
    assert isinstance(expected, torch.Tensor)
    # Triton's own last two arguments: scratch memory, which these kernels do not have.
    arguments |= {"scratch": None, "profile": None}
    code = CodeObject(made.asm["hsaco"], name, target)
    return Compiled(code, grid, made.metadata.shared, arguments), expected


def each_of(mutations: dict[str, dict[str, Mutation]]) -> pytest.MarkDecorator:
    """Runs a test with `target` and `name` of every mutation of a table by target and name."""
    cases = [(target, name) for target, named in mutations.items() for name in named]
    return pytest.mark.parametrize(("target", "name"), cases)


def check(
    mutation: Mutation, device: software.SoftwareDriver, target: str, generator: torch.Generator
) -> None:
    """The binary as it was made runs clean and gives what Triton's launch gave; patched, it is
    found out."""
    kernel, expected = compiled(mutation.case, target, generator)
    code = kernel.code
    assert torch.equal(kernel.launch(device, code), expected)

    listing = code.listing()
    instruction = code.find(*mutation.patch, listing)
    match = re.match(mutation.patch[0], instruction.text)
    assert match is not None
    patched = code.patched(instruction, mutation.replacement.format(*match.groups()))
    with pytest.raises(DeviceError) as caught:
        kernel.launch(device, patched)
    report = caught.value.report
    fault = code.find(*mutation.fault, listing)
    workgroup, wave, lane = mutation.place
    assert report.startswith(f"{mutation.kind} in kernel {code.kernel}\n"), report
    assert re.search(rf"\(\+{fault.offset:#x} in the kernel\): {fault.mnemonic}\b", report), (
        fault,
        report,
    )
    waves = r"\d+" if wave is None else str(wave)
    lanes = "" if lane is None else f", lane {lane}"
    where = rf"workgroup \({workgroup}, 0, 0\), wave {waves}{lanes}\n"
    assert re.search(where, report), report
    for text in mutation.texts:
        assert text in report, report
