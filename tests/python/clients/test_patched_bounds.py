# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Code objects that Triton made, with one instruction patched so that an access goes astray."""

import torch
from wavetile.device import triton as software

from tests.python.clients.mutations import Mutation, check, each_of

# Element 1009 of 256 for each workgroup is the first one beyond vector_add's tensors. A wave of
# gfx1150 has two neighbouring elements a lane, and loads and stores the even ones first.
BOUNDS = "access out of bounds"
MUTATIONS = {
    "gfx950": {
        "num_records enlarged": Mutation(
            "vector_add",
            (r"s_mov_b32 (s\d+), 0x7ffffffe", 0),
            "s_mov_b32 {0}, 0xfffffffe",
            BOUNDS,
            ("buffer_load", 0),
            (3, 3, 49),
            (),
        ),
        "mask one element too far": Mutation(
            "vector_add",
            (r"v_cmp_gt_i32_e32 vcc, (s\d+), (v\d+)", 0),
            "v_cmp_ge_i32_e32 vcc, {0}, {1}",
            BOUNDS,
            ("buffer_load", 0),
            (3, 3, 49),
            ("allocation 'x_ptr'",),
        ),
        "elements twice as far apart": Mutation(
            "vector_add",
            (r"v_lshlrev_b32_e32 (v\d+), 2, (v\d+)", 0),
            "v_lshlrev_b32_e32 {0}, 3, {1}",
            BOUNDS,
            ("buffer_load", 0),
            (1, 3, 57),
            ("allocation 'x_ptr'",),
        ),
        "store moved by an element": Mutation(
            "vector_add",
            (r"(buffer_store_dword .* offen)", 0),
            "{0} offset:4",
            BOUNDS,
            ("buffer_store", 0),
            (3, 3, 48),
            ("allocation 'out_ptr'",),
        ),
        "rows too far apart": Mutation(
            "row_softmax",
            (r"s_mul_i32 (s\d+), s\d+, (s\d+)", 0),
            "s_lshl_b32 {0}, {1}, 10",
            BOUNDS,
            ("buffer_load", 3),
            (2, 2, 56),
            ("allocation 'x_ptr'",),
        ),
        "last load of a row moved": Mutation(
            "row_softmax",
            (r"(buffer_load_ushort .* offen)", -1),
            "{0} offset:2",
            BOUNDS,
            ("buffer_load", -1),
            (2, 3, 39),
            ("allocation 'x_ptr'",),
        ),
    },
    "gfx1150": {
        "num_records enlarged": Mutation(
            "vector_add",
            (r"s_mov_b32 (s\d+), 0x7ffffffe", 0),
            "s_mov_b32 {0}, 0xfffffffe",
            BOUNDS,
            ("buffer_load", 0),
            (3, 3, 25),
            (),
        ),
        "mask one element too far": Mutation(
            "vector_add",
            (r"v_cmp_gt_i32_e32 vcc_lo, (s\d+), (v\d+)", 1),
            "v_cmp_ge_i32_e32 vcc_lo, {0}, {1}",
            BOUNDS,
            ("buffer_load", 1),
            (3, 3, 24),
            ("allocation 'x_ptr'",),
        ),
        "elements twice as far apart": Mutation(
            "vector_add",
            (r"v_lshlrev_b32_e32 (v\d+), 2, (v1)", 0),
            "v_lshlrev_b32_e32 {0}, 3, {1}",
            BOUNDS,
            ("buffer_load", 1),
            (1, 3, 28),
            ("allocation 'x_ptr'",),
        ),
        "store moved by an element": Mutation(
            "vector_add",
            (r"(buffer_store_b32 .* offen)", 0),
            "{0} offset:4",
            BOUNDS,
            ("buffer_store", 0),
            (3, 3, 24),
            ("allocation 'out_ptr'",),
        ),
        "rows too far apart": Mutation(
            "row_softmax",
            (r"s_mul_i32 (s\d+), s\d+, (s\d+)", 0),
            "s_lshl_b32 {0}, {1}, 10",
            BOUNDS,
            ("buffer_load", 7),
            (2, 1, 24),
            ("allocation 'x_ptr'",),
        ),
        "last load of a row moved": Mutation(
            "row_softmax",
            (r"(buffer_load_u16 .* offen)", -1),
            "{0} offset:2",
            BOUNDS,
            ("buffer_load", -1),
            (2, 3, 7),
            ("allocation 'x_ptr'",),
        ),
    },
}


@each_of(MUTATIONS)
def test_patched_bounds(
    device: software.SoftwareDriver, target: str, generator: torch.Generator, name: str
) -> None:
    check(MUTATIONS[target][name], device, target, generator)
