//===- grid.hip - Workgroups that wait for each other ---------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cooperative launch whose workgroups meet at the grid barrier of AMD's device
// libraries, and one of more workgroups than the GPU holds.
//
//===----------------------------------------------------------------------===//

#include "hip.h"

#include <algorithm>
#include <cstdio>

#define CHECK(call)                                                                                \
  do {                                                                                             \
    if (hipError_t error = (call)) {                                                               \
      std::printf("%s gave %s\n", #call, hipGetErrorName(error));                                  \
      return 1;                                                                                    \
    }                                                                                              \
  } while (0)

extern "C" __device__ void __ockl_grid_sync();

/// Every workgroup reads what all have counted, `rounds` times.
__global__ void countTogether(int *counters, int *sums, int rounds) {
  int sum = 0;
  for (int round = 0; round < rounds; ++round) {
    if (threadIdx_x == 0)
      __scoped_atomic_fetch_add(&counters[round], 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
    __ockl_grid_sync();
    sum += __scoped_atomic_load_n(&counters[round], __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  }
  if (threadIdx_x == 0)
    sums[blockIdx_x] = sum;
}

int main() {
  const int blocks = 29;
  int rounds = 5, *counters, *sums;
  CHECK(hipHostMalloc((void **)&counters, rounds * sizeof(int), 0));
  CHECK(hipHostMalloc((void **)&sums, blocks * sizeof(int), 0));
  std::fill_n(counters, rounds, 0);
  void *arguments[] = {&counters, &sums, &rounds};
  CHECK(hipLaunchCooperativeKernel((const void *)countTogether, dim3(blocks), dim3(192), arguments,
                                   0, nullptr));
  CHECK(hipDeviceSynchronize());
  for (int block = 0; block < blocks; ++block)
    if (sums[block] != rounds * blocks) {
      std::printf("sums[%d] is %d, not %d\n", block, sums[block], rounds * blocks);
      return 1;
    }
  hipError_t error = hipLaunchCooperativeKernel((const void *)countTogether, dim3(100000),
                                                dim3(192), arguments, 0, nullptr);
  std::printf("%s\n", hipGetErrorName(error));
  return 0;
}
