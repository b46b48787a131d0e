# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Code objects that Triton made, with one instruction that reads what nothing has written."""

import torch
from wavetile.device import triton as software

from tests.python.clients.mutations import Mutation, check, each_of

UNDEFINED = "use of an undefined value"
MUTATIONS = {
    "gfx950": {
        "address": Mutation(
            "vector_add",
            (r"v_lshlrev_b32_e32 (v\d+), 2, (v\d+)", 0),
            "v_lshlrev_b32_e32 {0}, 2, v77",
            UNDEFINED,
            ("buffer_load_dword", 0),
            (0, 0, 0),
            ("0xfffffffc of v0 decide an address", "v77 was never written"),
        ),
        "sum": Mutation(
            "vector_add",
            (r"v_add_f32_e32 (v\d+), (v\d+), (v\d+)", 0),
            "v_add_f32_e32 {0}, {1}, v50",
            UNDEFINED,
            ("buffer_store_dword", 0),
            (0, 0, 0),
            ("0xffffffff of v1 are stored to global memory", "v50 was never written"),
        ),
        "mask": Mutation(
            "vector_add",
            (r"v_cmp_gt_i32_e32 vcc, (s\d+), (v\d+)", 0),
            "v_cmp_gt_i32_e32 vcc, s60, {1}",
            UNDEFINED,
            ("buffer_load_dword", 0),
            (0, 0, 0),
            # Lane 0's offset is 0, or 0x80000000 if the mask is off.
            ("0x80000000 of v0 decide an address", "s60 was never written"),
        ),
        "maximum": Mutation(
            "row_softmax",
            (r"v_max3_f32 (v\d+), (v\d+), (v\d+), (v\d+)", 0),
            "v_max3_f32 {0}, {1}, {2}, v70",
            UNDEFINED,
            ("buffer_store_short", 0),
            (0, None, 0),
            ("0xffff of v0 are stored to global memory", "v70 was never written"),
        ),
        "LDS": Mutation(
            "row_softmax",
            (r"ds_write_b32 (v\d+), (v\d+)", 0),
            "s_nop 0",
            UNDEFINED,
            ("buffer_store_short", 0),
            (0, None, 0),
            ("loaded from LDS byte 0, which nothing has written", "ds_read_b32 v4"),
        ),
        "row": Mutation(
            "row_softmax",
            (r"s_mul_i32 (s\d+), (s\d+), (s\d+)", 0),
            "s_mul_i32 {0}, {1}, s70",
            UNDEFINED,
            ("buffer_load_ushort", 0),
            (0, 0, 0),
            # A multiple of 1000 elements of 2 bytes.
            ("0xfffffff0 of v6 decide an address", "s70 was never written"),
        ),
    },
    "gfx1150": {
        "address": Mutation(
            "vector_add",
            (r"v_lshlrev_b32_e32 (v\d+), 2, (v0)", 0),
            "v_lshlrev_b32_e32 {0}, 2, v77",
            UNDEFINED,
            ("buffer_load_b32", 0),
            (0, 0, 0),
            ("0xfffffffc of v0 decide an address", "v77 was never written"),
        ),
        "sum": Mutation(
            "vector_add",
            (r"v_dual_add_f32 v2, v2, v4 :: v_dual_add_f32 v3, v3, v5", 0),
            "v_dual_add_f32 v2, v2, v52 :: v_dual_add_f32 v3, v3, v5",
            UNDEFINED,
            ("buffer_store_b32", 0),
            (0, 0, 0),
            ("0xffffffff of v2 are stored to global memory", "v52 was never written"),
        ),
        "mask": Mutation(
            "vector_add",
            (r"v_cmp_gt_i32_e32 vcc_lo, (s\d+), (v\d+)", 0),
            "v_cmp_gt_i32_e32 vcc_lo, s60, {1}",
            UNDEFINED,
            ("buffer_load_b32", 0),
            (0, 0, 0),
            ("0x80000000 of v0 decide an address", "s60 was never written"),
        ),
        "maximum": Mutation(
            "row_softmax",
            (r"v_max3_f32 (v\d+), (v\d+), (v\d+), (v\d+)", 0),
            "v_max3_f32 {0}, {1}, {2}, v70",
            UNDEFINED,
            ("buffer_store_b16", 0),
            (0, None, 0),
            ("are stored to global memory", "v70 was never written"),
        ),
        "LDS": Mutation(
            "row_softmax",
            (r"ds_store_b32 (v\d+), (v\d+)", 0),
            "s_nop 0",
            UNDEFINED,
            ("buffer_store_b16", 0),
            (0, None, 0),
            ("loaded from LDS byte 0, which nothing has written", "ds_load_b32 v18"),
        ),
        "row": Mutation(
            "row_softmax",
            (r"s_mul_i32 (s\d+), (s\d+), (s\d+)", 0),
            "s_mul_i32 {0}, {1}, s70",
            UNDEFINED,
            ("buffer_load_u16", 0),
            (0, 0, 0),
            ("0xfffffff0 of v6 decide an address", "s70 was never written"),
        ),
    },
}


@each_of(MUTATIONS)
def test_patched_undefined(
    device: software.SoftwareDriver, target: str, generator: torch.Generator, name: str
) -> None:
    check(MUTATIONS[target][name], device, target, generator)
