//===- program.hip - A HIP C++ program as anybody would write it ----------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Usage: program PART. Prints what it computed; every number is checked against a
// reference in double precision here, on the host. Ends with 0 if all is right.
//
//===----------------------------------------------------------------------===//

#include "hip.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

extern "C" __device__ int printf(const char *format, ...);
// What ROCm's compiler driver links in for the device libraries.
#define CONTROL extern "C" __device__ __constant__ __attribute__((visibility("hidden"), used)) const
#if defined(__gfx942__)
#define ISA_VERSION 9402
#define WAVE_SIZE_LOG2 6
#elif defined(__gfx950__)
#define ISA_VERSION 9500
#define WAVE_SIZE_LOG2 6
#else
#define ISA_VERSION 11500
#define WAVE_SIZE_LOG2 5
#endif
CONTROL int __oclc_ABI_version = 600;
CONTROL int __oclc_ISA_version = ISA_VERSION;
CONTROL bool __oclc_wavefrontsize64 = WAVE_SIZE_LOG2 == 6;
CONTROL int __oclc_wavefrontsize_log2 = WAVE_SIZE_LOG2;

#define CHECK(call)                                                                                \
  do {                                                                                             \
    if (hipError_t error = (call)) {                                                               \
      std::printf("%s:%d: %s gave %s\n", __FILE__, __LINE__, #call, hipGetErrorName(error));       \
      return 1;                                                                                    \
    }                                                                                              \
  } while (0)

__constant__ float coefficients[3];
__device__ int launches = 40;
__managed__ int managed = 5;

__global__ void polynomial(const float *x, float *y, int n) {
  int i = blockIdx_x * blockDim_x + threadIdx_x;
  if (i == 0)
    __scoped_atomic_fetch_add(&launches, 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  if (i < n)
    y[i] = coefficients[0] + x[i] * (coefficients[1] + x[i] * coefficients[2]);
}

template <int size> __global__ void sumBlocks(const float *x, float *sums, int n) {
  __shared__ float partial[size];
  int i = blockIdx_x * size + threadIdx_x;
  partial[threadIdx_x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int step = size / 2; step > 0; step /= 2) {
    if (threadIdx_x < step)
      partial[threadIdx_x] += partial[threadIdx_x + step];
    __syncthreads();
  }
  if (threadIdx_x == 0)
    sums[blockIdx_x] = partial[0];
}

__global__ void countManaged(int by) {
  if (threadIdx_x == 0)
    __scoped_atomic_fetch_add(&managed, by, __ATOMIC_RELAXED, __MEMORY_SCOPE_SYSTEM);
}

__global__ void hello(const char *who, int n, double value) {
  if (threadIdx_x < n)
    printf("hello %s from %d of %d: %5.2f %s %c %x %% %lld\n", who, (int)threadIdx_x, n,
           value * threadIdx_x, "text", 'c', 0xbeefu, 1ll << 40);
}

__global__ void mustBePositive(const int *x) {
  if (x[threadIdx_x] <= 0) {
    printf("%s:%d: Device-side assertion `%s' failed.\n", "program.hip", 42, "x > 0");
    __builtin_trap();
  }
}

extern "C" __device__ unsigned long __ockl_devmem_request(unsigned long address,
                                                          unsigned long bytes);

__global__ void allocate(unsigned long *out) { *out = __ockl_devmem_request(0, 4096); }

static float inputAt(int i) { return std::sin(0.37f * i) * 3.0f; }

/// Kernels, copies and events over two streams.
static int streams() {
  const int n = 10007, block = 128, blocks = (n + block - 1) / block;
  std::vector<float> x(n);
  for (int i = 0; i < n; ++i)
    x[i] = inputAt(i);
  float *y, *sums, *deviceX, *deviceY, *deviceSums;
  CHECK(hipHostMalloc((void **)&y, n * sizeof(float), 0));
  CHECK(hipHostMalloc((void **)&sums, blocks * sizeof(float), 0));
  CHECK(hipMalloc((void **)&deviceX, n * sizeof(float)));
  CHECK(hipMalloc((void **)&deviceY, n * sizeof(float)));
  hipStream_t first, second;
  hipEvent_t start, computed, stop;
  CHECK(hipStreamCreate(&first));
  CHECK(hipStreamCreate(&second));
  CHECK(hipEventCreate(&start));
  CHECK(hipEventCreate(&computed));
  CHECK(hipEventCreate(&stop));
  CHECK(hipMallocAsync((void **)&deviceSums, blocks * sizeof(float), second));

  const float c[3] = {0.5f, -1.25f, 2.0f};
  CHECK(hipMemcpyToSymbol(coefficients, c, sizeof(c), 0, hipMemcpyHostToDevice));
  CHECK(hipEventRecord(start, first));
  CHECK(hipMemcpyAsync(deviceX, x.data(), n * sizeof(float), hipMemcpyHostToDevice, first));
  polynomial<<<blocks, block, 0, first>>>(deviceX, deviceY, n);
  CHECK(hipGetLastError());
  CHECK(hipEventRecord(computed, first));
  CHECK(hipStreamWaitEvent(second, computed, 0));
  CHECK(hipMemsetAsync(deviceSums, 0xff, blocks * sizeof(float), second));
  sumBlocks<128><<<blocks, block, 0, second>>>(deviceY, deviceSums, n);
  CHECK(hipMemcpyAsync(sums, deviceSums, blocks * sizeof(float), hipMemcpyDeviceToHost, second));
  CHECK(hipFreeAsync(deviceSums, second));
  CHECK(hipMemcpyAsync(y, deviceY, n * sizeof(float), hipMemcpyDeviceToHost, first));
  CHECK(hipEventRecord(stop, second));
  CHECK(hipEventSynchronize(stop));
  CHECK(hipStreamSynchronize(first));
  float milliseconds = -1;
  CHECK(hipEventElapsedTime(&milliseconds, start, stop));
  if (milliseconds < 0)
    return std::printf("time runs backwards: %f\n", milliseconds), 1;

  for (int i = 0; i < n; ++i) {
    double expected = c[0] + (double)x[i] * (c[1] + (double)x[i] * c[2]);
    if (std::fabs(y[i] - expected) > 4e-7 * (1 + std::fabs(expected) + 9 * 2))
      return std::printf("y[%d] is %g, not %g\n", i, y[i], expected), 1;
  }
  for (int b = 0; b < blocks; ++b) {
    double expected = 0;
    for (int i = b * block; i < std::min(n, (b + 1) * block); ++i)
      expected += y[i];
    if (!(std::fabs(sums[b] - expected) <= 1e-4 * (1 + std::fabs(expected))))
      return std::printf("sums[%d] is %g, not %g\n", b, sums[b], expected), 1;
  }
  int count = 0;
  CHECK(hipMemcpyFromSymbol(&count, &launches, sizeof(count), 0, hipMemcpyDeviceToHost));
  if (count != 41)
    return std::printf("launches is %d, not 41\n", count), 1;

  hipFuncAttributes attributes;
  CHECK(hipFuncGetAttributes(&attributes, (const void *)sumBlocks<128>));
  int resident = 0;
  CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&resident, (const void *)sumBlocks<128>, 128,
                                                     0));
  std::printf("LDS %zu, resident %d\n", attributes.sharedSizeBytes, resident);
  CHECK(hipEventDestroy(start));
  CHECK(hipStreamDestroy(first));
  CHECK(hipStreamDestroy(second));
  CHECK(hipFree(deviceX));
  CHECK(hipFree(deviceY));
  CHECK(hipHostFree(y));
  CHECK(hipHostFree(sums));
  return 0;
}

static int managedVariable() {
  managed += 2;
  countManaged<<<7, 64>>>(3);
  CHECK(hipDeviceSynchronize());
  std::printf("managed %d\n", managed);
  return managed == 5 + 2 + 7 * 3 ? 0 : 1;
}

static int printing() {
  char *who;
  CHECK(hipHostMalloc((void **)&who, 80, 0));
  std::strcpy(who, "a string longer than one packet of hostcall holds, of the host's");
  hello<<<1, 64>>>(who, 3, 1.25);
  CHECK(hipDeviceSynchronize());
  return 0;
}

static int assertion() {
  int *x;
  CHECK(hipHostMalloc((void **)&x, 32 * sizeof(int), 0));
  for (int i = 0; i < 32; ++i)
    x[i] = i - 1;
  mustBePositive<<<1, 32>>>(x);
  hipError_t error = hipDeviceSynchronize();
  if (error == 0)
    error = hipGetLastError();
  std::printf("error %s\n", hipGetErrorName(error));
  return error == 719 ? 0 : 1;
}

/// A service of the host that the device does not have.
static int refusal() {
  unsigned long *out;
  CHECK(hipMalloc((void **)&out, sizeof(*out)));
  allocate<<<1, 1>>>(out);
  hipError_t error = hipDeviceSynchronize();
  if (error == 0)
    error = hipGetLastError();
  std::printf("error %s\n", hipGetErrorName(error));
  return 0;
}

int main(int count, char **arguments) {
  const char *part = count > 1 ? arguments[1] : "";
  if (std::strcmp(part, "streams") == 0)
    return streams();
  if (std::strcmp(part, "managed") == 0)
    return managedVariable();
  if (std::strcmp(part, "printf") == 0)
    return printing();
  if (std::strcmp(part, "assert") == 0)
    return assertion();
  if (std::strcmp(part, "refusal") == 0)
    return refusal();
  std::printf("which part?\n");
  return 2;
}
