# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Code objects that Triton made, of which some waves miss a barrier or which the GPU cannot run."""

import struct
from collections.abc import Callable

import pytest
import torch
from wavetile.device import triton as software
from wavetile.errors import DeviceError

from tests.python.clients.foreign import CodeObject
from tests.python.clients.mutations import Compiled, Mutation, check, compiled, each_of

MISSED = "barrier that not every wave reaches"


def missed(skip: str, to_end: str, join: str, join_to_end: str, inside: str) -> dict[str, Mutation]:
    """grid_sum: all waves meet at a barrier, waves 1 to 3 skip (EXEC is 0 there) what wave 0 does,
    and meet it at a second barrier.

    Args:
        skip: the branch that skips
        to_end: one that goes to the end of the kernel instead
        join: what makes the lanes active where the waves meet again
        join_to_end: a branch from there to the end
        inside: an instruction that only wave 0 executes
    """
    texts = ("had met barriers before has ended",)
    second = ("s_barrier", 1)
    return {
        "branch to the end": Mutation(
            "grid_sum", (skip, 0), to_end, MISSED, second, (0, 0, None), texts
        ),
        "end where the waves join": Mutation(
            "grid_sum", (join, 0), join_to_end, MISSED, second, (0, 0, None), texts
        ),
        "end of one wave": Mutation(
            "grid_sum", (inside, 0), "s_endpgm", MISSED, second, (0, None, None), texts
        ),
    }


MUTATIONS = {
    "gfx950": missed(
        "s_cbranch_execz 26",
        "s_cbranch_execz 68",
        r"s_or_b64 exec, exec, s\[2:3\]",
        "s_cbranch_execz 41",
        r"s_or_b64 exec, exec, s\[6:7\]",
    ),
    "gfx1150": missed(
        "s_cbranch_execz 28",
        "s_cbranch_execz 77",
        "s_or_b32 exec_lo, exec_lo, s2",
        "s_cbranch_execz 48",
        "s_or_b32 exec_lo, exec_lo, s3",
    ),
}


@each_of(MUTATIONS)
def test_patched_barriers(
    device: software.SoftwareDriver, target: str, generator: torch.Generator, name: str
) -> None:
    check(MUTATIONS[target][name], device, target, generator)


# --- What is refused before anything runs ---


def too_much_lds(code: CodeObject) -> CodeObject:
    """The descriptor's first word is what the kernel itself has of LDS."""
    return code.with_bytes(code.descriptor_offset(), struct.pack("<I", 0x40000))


def other_target(code: CodeObject) -> CodeObject:
    """The low byte of the ELF header's flags is the GPU: gfx942."""
    return code.with_bytes(48, b"\x4c")


Launch = Callable[[software.SoftwareDriver, Compiled], torch.Tensor]
REFUSALS: dict[str, tuple[Launch, str, str]] = {
    "LDS over the limit": (
        lambda device, kernel: kernel.launch(device, too_much_lds(kernel.code)),
        "hipErrorLaunchOutOfResources",
        "asks for {lds} bytes of LDS (262144 static",
    ),
    "other target": (
        lambda device, kernel: kernel.launch(device, other_target(kernel.code)),
        "hipErrorNoBinaryForGpu",
        "gfx942",
    ),
    "workgroup over the limit": (
        lambda device, kernel: kernel.launch(device, kernel.code, waves=5),
        "hipErrorInvalidConfiguration",
        "but it was compiled for",
    ),
    "arguments missing": (
        lambda device, kernel: kernel.launch(device, kernel.code, left_out=("profile", "scratch")),
        "hipErrorInvalidValue",
        "bytes of arguments, but the launch gives",
    ),
}


@pytest.mark.parametrize("target", ["gfx950", "gfx1150"])
@pytest.mark.parametrize("case", ["vector_add", "row_softmax", "grid_sum"])
@pytest.mark.parametrize("name", REFUSALS)
def test_refused(
    device: software.SoftwareDriver, target: str, generator: torch.Generator, case: str, name: str
) -> None:
    kernel, expected = compiled(case, target, generator)
    assert torch.equal(kernel.launch(device, kernel.code), expected)
    launch, error, text = REFUSALS[name]
    with pytest.raises(DeviceError) as caught:
        launch(device, kernel)
    assert caught.value.hip_error == error, caught.value.report
    assert text.format(lds=0x40000 + kernel.lds) in caught.value.report, caught.value.report
