// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the fuzzer of the software device starts from: each kind of memory, control flow and
// arithmetic once.

#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define LANE __builtin_amdgcn_workitem_id_x()
#define ID (__builtin_amdgcn_workgroup_id_x() * 64 + LANE)

constant float table[4] = {1.0f, 2.5f, -3.0f, 0.125f};

kernel void arithmetic(global float *f, global half *h, global double *d, int n) {
  for (int i = 0; i < (n & 7); ++i) {
    f[ID & 63] = f[ID & 63] * table[i & 3] + (float)h[ID & 31];
    h[ID & 63] = h[ID & 63] * (half)2 + (half)f[ID & 15];
    d[ID & 31] = d[ID & 31] / (1.0 + f[ID & 7]);
  }
}

kernel void workgroup(global int *out, local int *dynamic) {
  dynamic[LANE & 63] = out[ID & 63];
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  int sum = 0;
  for (int i = 0; i < 64; ++i)
    sum += dynamic[i] >> (LANE & 7);
  dynamic[LANE & 127] = sum;
  out[ID & 63] = sum + __builtin_amdgcn_ds_bpermute(LANE * 4, sum);
}

__attribute__((noinline)) int called(int *stack, int depth) {
  return stack[depth & 15] + depth;
}
kernel void calls(global int *out) {
  int stack[16];
  for (int i = 0; i < 16; ++i)
    stack[i] = out[i];
  int sum = 0;
  for (int i = 0; i < 5; ++i)
    sum += called(stack, i + out[ID & 63]);
  out[ID & 63] = sum;
}

kernel void atomics(global atomic_int *counter, global ulong *wide, ulong address) {
  int *any = (int *)address;
  int old = __opencl_atomic_fetch_add(counter, 1, memory_order_acq_rel, memory_scope_device);
  __opencl_atomic_fetch_max((global atomic_int *)(wide + (ID & 7)), old, memory_order_relaxed,
                            memory_scope_device);
  any[ID & 63] ^= old;
  if (old == 0x7fffffff)
    __builtin_trap();
}
