# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Code objects that Triton made, with one instruction patched so that two waves race."""

import torch
from wavetile.device import triton as software

from tests.python.clients.mutations import Mutation, check, each_of

IN_LDS = "race in LDS"
IN_MEMORY = "race in global memory"


def lds_races(write: str, read: str, slots: str) -> dict[str, Mutation]:
    """row_softmax: each wave writes its maximum into a slot of its own, all waves meet and read the
    four slots (at address `slots`); they meet and do the same with their sums.

    The wave that arrives last at a barrier goes on first, then the others in turn: wave 3 behind
    the first barrier, wave 2 behind the second, wave 1 behind the third.
    """
    write_slot = (rf"{write} (v\d+), (v\d+)", 0)
    wait = r"s_waitcnt lgkmcnt\(0\)"
    return {
        "barrier after the maximum dropped": Mutation(
            "row_softmax",
            ("s_barrier", 0),
            "s_nop 0",
            IN_LDS,
            (write, 0),
            (0, 1, 0),
            ("this writes LDS byte 4, which wave 0 read", read),
        ),
        "barrier before the sum dropped": Mutation(
            "row_softmax",
            ("s_barrier", 1),
            "s_nop 0",
            IN_LDS,
            (read, 0),
            (0, 0, 3),
            ("this reads LDS byte 12, which wave 3 wrote", write),
        ),
        "barrier after the sum dropped": Mutation(
            "row_softmax",
            ("s_barrier", 2),
            "s_nop 0",
            IN_LDS,
            (write, 1),
            (0, 3, 0),
            ("this writes LDS byte 12, which wave 2 read", read),
        ),
        "wait before a barrier dropped": Mutation(
            "row_softmax",
            (wait, 1),
            "s_nop 0",
            IN_LDS,
            (read, 0),
            (0, 3, 0),
            ("this reads LDS byte 0, which wave 0 wrote", write),
        ),
        "wait for the sum before a barrier dropped": Mutation(
            "row_softmax",
            (wait, 3),
            "s_nop 0",
            IN_LDS,
            (read, 1),
            (0, 1, 0),
            ("this reads LDS byte 0, which wave 0 wrote", write),
        ),
        "all waves write all slots": Mutation(
            "row_softmax",
            write_slot,
            f"{write} {slots}, {{1}}",
            IN_LDS,
            (write, 0),
            (0, 1, 0),
            ("this writes LDS byte 0, which wave 0 wrote", write),
        ),
    }


# Workgroup 4 of grid_sum comes last and adds up what the others stored. Behind its second barrier
# wave 2 goes on first, wave 3 if the first one is dropped. On gfx950 the waves of a workgroup share
# a cache, so that only the wave which releases must have waited for its store.
MUTATIONS = {
    "gfx950": lds_races("ds_write_b32", "ds_read_b32", "v11")
    | {
        "wait before the release dropped": Mutation(
            "grid_sum",
            (r"s_waitcnt vmcnt\(0\)", 1),
            "s_nop 0",
            IN_MEMORY,
            ("buffer_load", 1),
            (4, 0, 0),
            ("wave 0 of workgroup (0, 0, 0) writes", "with no wait between", "partial_ptr"),
        ),
        "barrier before the release dropped": Mutation(
            "grid_sum",
            ("s_barrier", 0),
            "s_nop 0",
            IN_MEMORY,
            ("buffer_load", 1),
            (4, 3, 0),
            ("wave 3 of workgroup (0, 0, 0) writes", "partial_ptr"),
        ),
        "one workgroup too early": Mutation(
            "grid_sum",
            (r"v_cmp_ne_u32_e32 vcc, 4, (v\d+)", 0),
            "v_cmp_ne_u32_e32 vcc, 3, {0}",
            IN_MEMORY,
            ("buffer_store_dword", 0),
            (4, 0, 0),
            ("wave 0 of workgroup (3, 0, 0) reads", "partial_ptr"),
        ),
        "load of a neighbour in place": Mutation(
            "vector_add in place with room",
            (r"(buffer_load_dword .* offen)", 0),
            "{0} offset:4",
            IN_MEMORY,
            ("buffer_store_dword", 0),
            (0, 1, 0),
            ("wave 0 of workgroup (0, 0, 0) reads",),
        ),
        "load of the next row in place": Mutation(
            "row_softmax in place with room",
            (r"(buffer_load_ushort .* offen)", 0),
            "{0} offset:2000",
            IN_MEMORY,
            ("buffer_store_short", 0),
            (1, 1, 0),
            ("of workgroup (0, 0, 0) reads",),
        ),
        "store of a neighbour": Mutation(
            "row_softmax with room",
            (r"(buffer_store_short .* offen)", 0),
            "{0} offset:2",
            IN_MEMORY,
            ("buffer_store_short", 1),
            (0, 0, 0),
            ("wave 3 of workgroup (0, 0, 0) writes", "out_ptr"),
        ),
    },
    "gfx1150": lds_races("ds_store_b32", "ds_load_b32", "v0")
    | {
        "wait before the release dropped": Mutation(
            "grid_sum",
            (r"s_waitcnt_vscnt null, 0x0", 0),
            "s_nop 0",
            IN_MEMORY,
            ("buffer_load", 2),
            (4, 2, 0),
            ("wave 2 of workgroup (0, 0, 0) writes", "with no wait between", "partial_ptr"),
        ),
        "barrier before the release dropped": Mutation(
            "grid_sum",
            ("s_barrier", 0),
            "s_nop 0",
            IN_MEMORY,
            ("buffer_load", 2),
            (4, 3, 0),
            ("wave 3 of workgroup (0, 0, 0) writes", "partial_ptr"),
        ),
        "one workgroup too early": Mutation(
            "grid_sum",
            (r"v_cmp_ne_u32_e32 vcc_lo, 4, (v\d+)", 0),
            "v_cmp_ne_u32_e32 vcc_lo, 3, {0}",
            IN_MEMORY,
            ("buffer_store_b64", 0),
            (4, 0, 0),
            ("wave 0 of workgroup (3, 0, 0) reads", "partial_ptr"),
        ),
        "load of a neighbour in place": Mutation(
            "vector_add in place with room",
            (r"(buffer_load_b32 .* offen)", 1),
            "{0} offset:4",
            IN_MEMORY,
            ("buffer_store_b32", 0),
            (0, 1, 0),
            ("wave 0 of workgroup (0, 0, 0) reads",),
        ),
        "load of the next row in place": Mutation(
            "row_softmax in place with room",
            (r"(buffer_load_u16 .* offen)", 0),
            "{0} offset:2000",
            IN_MEMORY,
            ("buffer_store_b16", 0),
            (1, 1, 0),
            ("of workgroup (0, 0, 0) reads",),
        ),
        "store of a neighbour": Mutation(
            "row_softmax with room",
            (r"(buffer_store_b16 .* offen)", 0),
            "{0} offset:2",
            IN_MEMORY,
            ("buffer_store_b16", 1),
            (0, 0, 0),
            ("wave 3 of workgroup (0, 0, 0) writes", "out_ptr"),
        ),
    },
}


@each_of(MUTATIONS)
def test_patched_races(
    device: software.SoftwareDriver, target: str, generator: torch.Generator, name: str
) -> None:
    check(MUTATIONS[target][name], device, target, generator)
