// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Kernels that do what no kernel should.

.text
.macro kernel name
  .globl \name
  .p2align 8
  .type \name,@function
\name:
.endm

kernel recursion        // Calls itself for ever.
  s_getpc_b64 s[4:5]
again:
  s_swappc_b64 s[6:7], s[4:5]
  s_endpgm
recursion_end:
  .size recursion, recursion_end-recursion

kernel outside          // Jumps to its arguments, which are data.
  s_setpc_b64 s[0:1]
outside_end:
  .size outside, outside_end-outside

kernel nowhere          // Jumps to address 0, between two instructions' words, past the end.
  s_mov_b64 s[4:5], 0
  s_cmp_eq_u32 s2, 0
  s_cbranch_scc1 zero
  s_getpc_b64 s[4:5]
  s_add_u32 s4, s4, 2
  s_addc_u32 s5, s5, 0
zero:
  s_setpc_b64 s[4:5]
nowhere_end:
  .size nowhere, nowhere_end-nowhere

kernel forever
  s_nop 0
  s_branch forever
forever_end:
  .size forever, forever_end-forever

.macro wait
.if .amdgcn.gfx_generation_number >= 12
  s_wait_kmcnt 0
  s_wait_loadcnt 0
.else
  s_waitcnt vmcnt(0) lgkmcnt(0)
.endif
.endm
kernel wild             // Loads and stores at what its arguments say, and far outside LDS.
  s_load_dwordx2 s[4:5], s[0:1], 0
  v_mov_b32 v0, 0
  v_mov_b32 v2, -16
  wait
  global_load_dword v1, v0, s[4:5]
  wait
  global_store_dword v0, v1, s[4:5]
  ds_write_b32 v2, v1
  ds_read_b32 v3, v2
.if .amdgcn.gfx_generation_number >= 12
  s_barrier_signal -1
  s_barrier_wait -1
.else
  s_barrier
.endif
  s_endpgm
wild_end:
  .size wild, wild_end-wild

.macro describe_with name, more
  .p2align 6
  .amdhsa_kernel \name
    .amdhsa_next_free_vgpr 32
    .amdhsa_next_free_sgpr 32
    .amdhsa_group_segment_fixed_size 256
    .amdhsa_private_segment_fixed_size 64
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_kernarg_size 16
    .amdhsa_system_sgpr_workgroup_id_x 1
    .amdhsa_enable_private_segment 1
    \more
  .end_amdhsa_kernel
.endm
.macro describe name
.if .amdgcn.gfx_generation_number == 9
  describe_with \name, ".amdhsa_accum_offset 32"
.else
  describe_with \name
.endif
.endm
.rodata
describe recursion
describe outside
describe nowhere
describe forever
describe wild

.amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: recursion
    .symbol: recursion.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 256
    .private_segment_fixed_size: 64
    .wavefront_size: 64
    .sgpr_count: 32
    .vgpr_count: 32
    .max_flat_workgroup_size: 256
    .args:
      - {.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.offset: 8, .size: 8, .value_kind: by_value}
  - .name: outside
    .symbol: outside.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 256
    .private_segment_fixed_size: 64
    .wavefront_size: 64
    .sgpr_count: 32
    .vgpr_count: 32
    .max_flat_workgroup_size: 256
    .args:
      - {.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.offset: 8, .size: 8, .value_kind: by_value}
  - .name: nowhere
    .symbol: nowhere.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 256
    .private_segment_fixed_size: 64
    .wavefront_size: 64
    .sgpr_count: 32
    .vgpr_count: 32
    .max_flat_workgroup_size: 256
    .args:
      - {.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.offset: 8, .size: 8, .value_kind: by_value}
  - .name: forever
    .symbol: forever.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 256
    .private_segment_fixed_size: 64
    .wavefront_size: 64
    .sgpr_count: 32
    .vgpr_count: 32
    .max_flat_workgroup_size: 256
    .args:
      - {.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.offset: 8, .size: 8, .value_kind: by_value}
  - .name: wild
    .symbol: wild.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 256
    .private_segment_fixed_size: 64
    .wavefront_size: 64
    .sgpr_count: 32
    .vgpr_count: 32
    .max_flat_workgroup_size: 256
    .args:
      - {.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.offset: 8, .size: 8, .value_kind: by_value}
.end_amdgpu_metadata
