# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernels for benchmarks of the software device, in assembly language.

Each is a loop around a body whose wave instructions are counted, so that the time of a launch
divided by their number is the time of one. All take a pointer to `MEMORY` bytes of global memory.
"""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

CLANG = "/usr/lib/llvm-22/bin/clang"
TARGET = "gfx950"
LDS_BYTES = 4096
MEMORY = 1 << 20
WORKGROUP = 256
WAVES = WORKGROUP // 64

# s[4:5]: the memory. v2 and v3: 16 bytes a work-item in LDS and in memory, of which each workgroup
# has 4096. v4: a row of 4096 bytes
# for each lane. v10 to v63: 1.0, so that nothing is undefined. vcc: some lanes.
SETUP = [
    "s_load_dwordx2 s[4:5], s[0:1], 0x0",
    "s_waitcnt lgkmcnt(0)",
    "v_and_b32 v0, 0x3ff, v0",
    "v_lshlrev_b32 v2, 4, v0",
    "s_lshl_b32 s7, s2, 12",
    "v_lshl_or_b32 v3, v0, 4, s7",
    "v_and_b32 v4, 63, v0",
    "v_lshlrev_b32 v4, 12, v4",
    "v_lshl_or_b32 v4, v0, 4, v4",
    *(f"v_mov_b32 v{n}, 1.0" for n in range(10, 64)),
    "v_cmp_gt_u32 vcc, 100, v0",
    "ds_write_b128 v2, v[28:31]",
    "s_waitcnt lgkmcnt(0)",
    "s_barrier",
]

_VALU = [
    "v_fma_f32 v10, v11, v12, v10",
    "v_add_f32 v13, v11, v13",
    "v_mul_f32 v14, v11, v12",
    "v_add_u32 v15, v16, v17",
    "v_and_b32 v18, v19, v16",
    "v_lshlrev_b32 v19, 1, v16",
    "v_cndmask_b32 v20, v11, v12, vcc",
]
# 28 vector instructions, 4 of LDS and 3 of global memory with 128 bits a lane, 4 waits, 2 barriers;
# the loop adds 3 scalar ones.
MIXED = [
    *("ds_read_b128 v[24:27], v2", "global_load_dwordx4 v[40:43], v3, s[4:5]"),
    *(*_VALU, "s_waitcnt lgkmcnt(0)", "ds_write_b128 v2, v[28:31]"),
    *(*_VALU, "s_waitcnt vmcnt(0)", "s_barrier"),
    *("global_load_dwordx4 v[44:47], v3, s[4:5]", "ds_read_b128 v[32:35], v2"),
    *(*_VALU, "s_waitcnt lgkmcnt(0)"),
    *("ds_write_b128 v2, v[36:39]", "global_store_dwordx4 v3, v[48:51], s[4:5]"),
    *(*_VALU, "s_waitcnt vmcnt(0) lgkmcnt(0)", "s_barrier"),
]
_LOOP = 3

# One lane, another in each 64, is off from the first instruction of the loop to its end.
LANE_OFF = ["s_mov_b64 exec, 0xffffffffffffffdf"]


@dataclass(frozen=True)
class Loop:
    """A kernel: `body` is executed `loops` times by each wave, after `before`."""

    body: list[str]
    loops: int = 2000
    before: tuple[str, ...] = ()
    setup: bool = True

    @property
    def instructions(self) -> int:
        """Wave instructions of one wave in the loop."""
        return self.loops * (len(self.body) + _LOOP)

    def assemble(self) -> bytes:
        """The code object."""
        lines = [
            *(SETUP if self.setup else ()),
            *self.before,
            f"s_movk_i32 s6, {self.loops}",
            "again:",
            *self.body,
            "s_sub_u32 s6, s6, 1",
            "s_cmp_lg_u32 s6, 0",
            "s_cbranch_scc1 again",
            "s_endpgm",
        ]
        return assemble(lines)


def repeated(instruction: str, times: int = 32) -> list[str]:
    """A body of one vector instruction."""
    return [instruction] * times


def memory_loop(instruction: str, wait: str, times: int = 8) -> list[str]:
    """A body of memory instructions and one wait; `{n}` is the first of four data registers."""
    return [*(instruction.format(n=24 + 4 * i, last=27 + 4 * i) for i in range(times)), wait]


def assemble(lines: list[str]) -> bytes:
    """A code object whose kernel `kernel` consists of these instructions."""
    code = "\n".join(lines)
    source = f"""
.amdgcn_target "amdgcn-amd-amdhsa--{TARGET}"
.text
.globl kernel
.p2align 8
.type kernel,@function
kernel:
{code}
.rodata
.p2align 6
.amdhsa_kernel kernel
.amdhsa_next_free_vgpr 64
.amdhsa_next_free_sgpr 40
.amdhsa_accum_offset 64
.amdhsa_float_denorm_mode_32 3
.amdhsa_group_segment_fixed_size {LDS_BYTES}
.amdhsa_user_sgpr_kernarg_segment_ptr 1
.amdhsa_kernarg_size 8
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: kernel
    .symbol: kernel.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: {LDS_BYTES}
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 40
    .vgpr_count: 64
    .max_flat_workgroup_size: {WORKGROUP}
    .args:
      - .size: 8
        .offset: 0
        .value_kind: global_buffer
        .address_space: global
...
.end_amdgpu_metadata
"""
    with tempfile.TemporaryDirectory() as folder:
        path, result = Path(folder) / "kernel.s", Path(folder) / "kernel.hsaco"
        path.write_text(source)
        options = ["-target", "amdgcn-amd-amdhsa", f"-mcpu={TARGET}"]
        subprocess.run([CLANG, *options, str(path), "-o", str(result)], check=True)
        return result.read_bytes()
