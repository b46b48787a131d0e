# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Code objects that Triton made, with one wait weakened."""

import torch
from wavetile.device import triton as software

from tests.python.clients.mutations import Mutation, check, each_of

EARLY = "use of a value before the wait for its load"
OVERWRITTEN = "write to a register that a load has yet to write"

# A wait for loads with one more outstanding than allowed: the youngest of them is used too early.
# Arithmetic on it is no fault; storing what comes of it is, and so is overwriting its register.
MUTATIONS = {
    "gfx950": {
        "the second of two loads": Mutation(
            "vector_add",
            (r"s_waitcnt vmcnt\(0\)", 0),
            "s_waitcnt vmcnt(1)",
            EARLY,
            ("buffer_store_dword", 0),
            (0, 0, 0),
            ("no wait covers the load", "buffer_load_dword v2"),
        ),
        "both loads": Mutation(
            "vector_add",
            (r"s_waitcnt vmcnt\(0\)", 0),
            "s_nop 0",
            OVERWRITTEN,
            ("v_add_f32", 0),
            (0, 0, 0),
            ("v1 has yet to be written by the load", "buffer_load_dword v1"),
        ),
        "the first of four loads": Mutation(
            "row_softmax",
            (r"s_waitcnt vmcnt\(3\)", 0),
            "s_waitcnt vmcnt(4)",
            EARLY,
            ("buffer_store_short", 0),
            (0, None, 0),
            ("no wait covers the load", "buffer_load_ushort v2"),
        ),
        "the second of four loads": Mutation(
            "row_softmax",
            (r"s_waitcnt vmcnt\(2\)", 0),
            "s_waitcnt vmcnt(3)",
            EARLY,
            ("buffer_store_short", 0),
            (0, None, 0),
            ("no wait covers the load", "buffer_load_ushort v3"),
        ),
        "the last of four loads": Mutation(
            "row_softmax",
            (r"s_waitcnt vmcnt\(0\)", 0),
            "s_waitcnt vmcnt(1)",
            OVERWRITTEN,
            ("v_max_f32", 0),
            (0, 0, 0),
            ("v4 has yet to be written by the load", "buffer_load_ushort v4"),
        ),
        "a read of LDS": Mutation(
            "row_softmax",
            (r"s_waitcnt lgkmcnt\(0\)", -1),
            "s_waitcnt lgkmcnt(1)",
            OVERWRITTEN,
            (r"v_add_f32_dpp .* quad_perm:\[2,3,0,1\]", 0),
            (0, None, 0),
            ("v4 has yet to be written by the load", "ds_read_b32 v4"),
        ),
    },
    "gfx1150": {
        "the last of four loads": Mutation(
            "vector_add",
            (r"s_waitcnt vmcnt\(0\)", 0),
            "s_waitcnt vmcnt(1)",
            EARLY,
            ("buffer_store_b32", 1),
            (0, 0, 0),
            ("no wait covers the load", "buffer_load_b32 v5"),
        ),
        "all four loads": Mutation(
            "vector_add",
            (r"s_waitcnt vmcnt\(0\)", 0),
            "s_nop 0",
            OVERWRITTEN,
            ("v_dual_add_f32", 0),
            (0, 0, 0),
            ("v2 has yet to be written by the load", "buffer_load_b32 v2"),
        ),
        "the first of eight loads": Mutation(
            "row_softmax",
            (r"s_waitcnt vmcnt\(7\)", 0),
            "s_waitcnt vmcnt(8)",
            OVERWRITTEN,
            ("v_lshlrev_b32_e32 v8, 16", 0),
            (0, 0, 0),
            ("v8 has yet to be written by the load", "buffer_load_u16 v8"),
        ),
        "the third of eight loads": Mutation(
            "row_softmax",
            (r"s_waitcnt vmcnt\(5\)", 0),
            "s_waitcnt vmcnt(6)",
            OVERWRITTEN,
            ("v_lshlrev_b32_e32 v10, 16", 0),
            (0, 0, 0),
            ("v10 has yet to be written by the load", "buffer_load_u16 v10"),
        ),
        "the last of eight loads": Mutation(
            "row_softmax",
            (r"s_waitcnt vmcnt\(0\)", 0),
            "s_waitcnt vmcnt(1)",
            OVERWRITTEN,
            ("v_lshlrev_b32_e32 v16, 16", 0),
            (0, 0, 0),
            ("v16 has yet to be written by the load", "buffer_load_u16 v16"),
        ),
        "a read of LDS": Mutation(
            "row_softmax",
            (r"s_waitcnt lgkmcnt\(0\)", -1),
            "s_waitcnt lgkmcnt(1)",
            OVERWRITTEN,
            (r"v_add_f32_dpp .* row_xmask:2", 0),
            (0, None, 0),
            ("v0 has yet to be written by the load", "ds_load_b32 v0"),
        ),
    },
}


@each_of(MUTATIONS)
def test_patched_waits(
    device: software.SoftwareDriver, target: str, generator: torch.Generator, name: str
) -> None:
    check(MUTATIONS[target][name], device, target, generator)
