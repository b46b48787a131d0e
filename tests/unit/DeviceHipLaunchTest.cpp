//===- DeviceHipLaunchTest.cpp - Launches through HIP ---------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels that clang compiles, run from end to end on each target, and the
// reports of kernels that go wrong.
//
//===----------------------------------------------------------------------===//

#include "DeviceHipSupport.h"

#include <elf.h>

#include <cstring>
#include <numeric>
#include <random>
#include <thread>

using namespace wavetile::test;

static const Hip &hip = Hip::get();

static const char *const kernels = R"(
#define lane_x __builtin_amdgcn_workitem_id_x()
#define group_x __builtin_amdgcn_workgroup_id_x()
kernel void add(global const float *x, global const float *y, global float *out, int n) {
  int i = group_x * 64 + lane_x;
  if (i < n)
    out[i] = x[i] + y[i];
}
kernel void hidden(global int *out) {
  constant const uint *implicit = (constant const uint *)__builtin_amdgcn_implicitarg_ptr();
  constant const ushort *halves = (constant const ushort *)implicit;
  for (int i = 0; i < 3; ++i)
    out[i] = implicit[i];
  for (int i = 0; i < 6; ++i)
    out[3 + i] = halves[6 + i];
  out[9] = halves[32];
}
kernel void exchange(global int *out, local int *shared, int n) {
  shared[lane_x] = out[lane_x];
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  out[lane_x] = shared[n - 1 - lane_x];
}
global int counter = 5;
global int *global pointer_to_counter = &counter;
kernel void count(int by) { *pointer_to_counter += by; }
constant int table[4] = {1, 2, 3, 4};
kernel void look(global int *out, int i) { out[0] = table[i]; }
kernel void store(global float *out, int i) {
  if (lane_x == 5)
    out[i] = 1.0f; // line 32
}
kernel void load(global const float *x, global float *out, int i) {
  out[lane_x] = x[i];
}
kernel void atomic(global int *out) {
  __scoped_atomic_fetch_add(out, 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}
kernel void partial(global int *out, global int *sizes) {
  constant const ushort *hidden =
      (constant const ushort *)__builtin_amdgcn_implicitarg_ptr();
  int x = group_x * 4 + lane_x;
  int y = __builtin_amdgcn_workgroup_id_y() * 3 + __builtin_amdgcn_workitem_id_y();
  int z = __builtin_amdgcn_workgroup_id_z() * 2 + __builtin_amdgcn_workitem_id_z();
  out[(z * 5 + y) * 7 + x] = (z * 5 + y) * 7 + x;
  if ((x | y | z) == 0) {
    for (int i = 0; i < 3; ++i)
      sizes[i] = ((constant const uint *)hidden)[i];
    for (int i = 0; i < 3; ++i)
      sizes[3 + i] = hidden[9 + i];
  }
}
// The barrier of ROCm's device libraries, in a few words: the low half counts, the high one rounds.
void wait_for_grid() {
  global char *sync =
      (global char *)((constant const ulong *)__builtin_amdgcn_implicitarg_ptr())[11];
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
  __builtin_amdgcn_s_barrier();
  if (lane_x == 0) {
    global uint *word = (global uint *)(sync + 32);
    uint members = *(global uint *)(sync + 40);
    uint old = __scoped_atomic_fetch_add(word, 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
    if ((old & 0xffff) == members - 1)
      __scoped_atomic_fetch_add(word, 0x10000 - members, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
    else
      do
        __builtin_amdgcn_s_sleep(1);
      while ((__scoped_atomic_load_n(word, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE) & ~0xffff) ==
             (old & ~0xffff));
  }
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
}
kernel void rounds(global int *counters, global int *out, uint groups) {
  int sum = 0;
  for (int i = 0; i < 3; ++i) {
    if (lane_x == 0)
      __scoped_atomic_fetch_add(&counters[i], 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
    wait_for_grid();
    if (lane_x == 0)
      sum += __scoped_atomic_load_n(&counters[i], __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  }
  if (lane_x == 0)
    out[group_x] = sum;
}
kernel void trap(int n) {
  if (n == 3)
    __builtin_trap();
}
)";

namespace {
class DeviceHipLaunch : public testing::TestWithParam<TargetCase> {
protected:
  void SetUp() override {
    ASSERT_EQ(hip.hipSetDevice(GetParam().ordinal), hipSuccess);
    module = std::make_unique<Module>(compileKernels(kernels, GetParam().name));
    ASSERT_EQ(module->error, hipSuccess) << lastReport();
  }
  void TearDown() override {
    module.reset();
    hip.hipSetDevice(0);
  }

  hipFunction_t function(const char *name) const { return module->function(name); }

  std::unique_ptr<Module> module;
};
} // namespace

INSTANTIATE_TEST_SUITE_P(Targets, DeviceHipLaunch, testing::ValuesIn(targetCases),
                         [](const auto &info) { return std::string(info.param.name); });

static void expectReport(std::initializer_list<std::string> parts) {
  std::string report = lastReport();
  for (const std::string &part : parts)
    EXPECT_NE(report.find(part), std::string::npos) << "no '" << part << "' in\n" << report;
}

//===----------------------------------------------------------------------===//
// Right launches
//===----------------------------------------------------------------------===//

TEST_P(DeviceHipLaunch, AddsVectors) {
  const int n = 1009;
  DeviceArray<float> x(n), y(n), out(n);
  for (int i = 0; i < n; ++i) {
    x[i] = i * 0.5f;
    y[i] = -3.0f * i;
  }
  ASSERT_EQ(
      launch(function("add"), {16, 1, 1}, {64, 1, 1}, 0, x.pointer, y.pointer, out.pointer, n),
      hipSuccess)
      << lastReport();
  for (int i = 0; i < n; ++i)
    ASSERT_EQ(out[i], x[i] + y[i]) << i;
}

TEST_P(DeviceHipLaunch, TakesArgumentsAsOneBuffer) {
  const int n = 100;
  DeviceArray<float> x(n, 1.0f), y(n, 2.0f), out(n);
  struct {
    float *x, *y, *out;
    int n;
  } arguments = {x.pointer, y.pointer, out.pointer, n};
  size_t bytes = 28;
  void *extra[] = {reinterpret_cast<void *>(1), &arguments, reinterpret_cast<void *>(2), &bytes,
                   reinterpret_cast<void *>(3)};
  auto run = [&] {
    return hip.hipModuleLaunchKernel(function("add"), 2, 1, 1, 64, 1, 1, 0, nullptr, nullptr,
                                     extra);
  };
  ASSERT_EQ(run(), hipSuccess) << lastReport();
  EXPECT_EQ(out[n - 1], 3.0f);
  bytes = 24;
  EXPECT_EQ(run(), hipErrorInvalidValue);
  expectReport({"add", "28 bytes of arguments", "gives 24"});
  bytes = 4096;
  EXPECT_EQ(run(), hipErrorInvalidValue);
}

TEST_P(DeviceHipLaunch, TheExtendedFormCountsWorkItems) {
  const int n = 128;
  DeviceArray<float> x(n, 1.0f), y(n, 2.0f), out(n, 0.0f);
  int count = n;
  void *parameters[] = {&x.pointer, &y.pointer, &out.pointer, &count};
  EXPECT_EQ(hip.hipExtModuleLaunchKernel(function("add"), n, 1, 1, 64, 1, 1, 0, nullptr, parameters,
                                         nullptr, nullptr, nullptr, 0),
            hipSuccess)
      << lastReport();
  EXPECT_EQ(out[n - 1], 3.0f);
}

TEST_P(DeviceHipLaunch, EveryFunctionLaunchesTheSame) {
  int n = 100;
  DeviceArray<float> x(n, 1.5f), y(n, 2.25f), out(n);
  hipFunction_t add = function("add");
  void *parameters[] = {&x.pointer, &y.pointer, &out.pointer, &n};
  struct {
    float *x, *y, *out;
    int n;
  } arguments = {x.pointer, y.pointer, out.pointer, n};
  size_t bytes = 28;
  void *extra[] = {reinterpret_cast<void *>(1), &arguments, reinterpret_cast<void *>(2), &bytes,
                   reinterpret_cast<void *>(3)};
  auto computes = [&](const char *what, hipError_t error) {
    EXPECT_EQ(error, hipSuccess) << what << ": " << lastReport();
    for (int i = 0; i < n; ++i)
      ASSERT_EQ(out[i], 3.75f) << what << " at " << i;
    std::fill_n(out.pointer, n, 0.0f);
  };
  const dim3 grid = {2, 1, 1}, block = {64, 1, 1};
  computes("hipLaunchKernel", hip.hipLaunchKernel(add, grid, block, parameters, 0, nullptr));
  hipEvent_t start, stop;
  ASSERT_EQ(hip.hipEventCreate(&start), hipSuccess);
  ASSERT_EQ(hip.hipEventCreate(&stop), hipSuccess);
  computes("hipExtLaunchKernel",
           hip.hipExtLaunchKernel(add, grid, block, parameters, 0, nullptr, start, stop, 0));
  float milliseconds = 0;
  EXPECT_EQ(hip.hipEventElapsedTime(&milliseconds, start, stop), hipSuccess);
  EXPECT_GT(milliseconds, 0.0f);
  hip.hipEventDestroy(start);
  hip.hipEventDestroy(stop);
  computes("hipLaunchCooperativeKernel",
           hip.hipLaunchCooperativeKernel(add, grid, block, parameters, 0, nullptr));
  hipLaunchAttribute attribute = {hipLaunchAttributeCooperative, 0, {}};
  attribute.value.cooperative = 1;
  hipLaunchConfig_t config = {grid, block, 0, nullptr, &attribute, 1};
  computes("hipLaunchKernelExC", hip.hipLaunchKernelExC(&config, add, parameters));
  config.gridDim.x = 1 << 20;
  EXPECT_EQ(hip.hipLaunchKernelExC(&config, add, parameters), hipErrorCooperativeLaunchTooLarge);
  HIP_LAUNCH_CONFIG driver = {2, 1, 1, 64, 1, 1, 0, nullptr, nullptr, 0};
  computes("hipDrvLaunchKernelEx", hip.hipDrvLaunchKernelEx(&driver, add, nullptr, extra));
  ASSERT_EQ(hip.hipConfigureCall(grid, block, 0, nullptr), hipSuccess);
  ASSERT_EQ(hip.hipSetupArgument(&y.pointer, 8, 8), hipSuccess);
  ASSERT_EQ(hip.hipSetupArgument(&x.pointer, 8, 0), hipSuccess);
  ASSERT_EQ(hip.hipSetupArgument(&out.pointer, 8, 16), hipSuccess);
  ASSERT_EQ(hip.hipSetupArgument(&n, 4, 24), hipSuccess);
  computes("hipLaunchByPtr", hip.hipLaunchByPtr(add));
  EXPECT_EQ(hip.hipLaunchByPtr(add), hipErrorMissingConfiguration);
  EXPECT_EQ(hip.hipLaunchKernel(this, grid, block, parameters, 0, nullptr),
            hipErrorInvalidDeviceFunction);
}

TEST_P(DeviceHipLaunch, EndsInAPartialWorkgroup) {
  // 7 x 5 x 3 work-items in workgroups of 4 x 3 x 2: the last along each axis is partial.
  const uint32_t global[3] = {7, 5, 3}, local[3] = {4, 3, 2};
  const int n = 7 * 5 * 3;
  DeviceArray<int> out(n, -1), sizes(6, -1);
  void *parameters[] = {&out.pointer, &sizes.pointer};
  ASSERT_EQ(hip.hipExtModuleLaunchKernel(function("partial"), global[0], global[1], global[2],
                                         local[0], local[1], local[2], 0, nullptr, parameters,
                                         nullptr, nullptr, nullptr, 0),
            hipSuccess)
      << lastReport();
  for (int i = 0; i < n; ++i)
    EXPECT_EQ(out[i], i);
  // Full workgroups and remainders, as the code object's hidden arguments tell them.
  const int expected[] = {1, 1, 1, 3, 2, 1};
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(sizes[i], expected[i]) << i;
}

TEST_P(DeviceHipLaunch, WorkgroupsOfACooperativeLaunchWaitForEachOther) {
  const unsigned groups = 13, rounds = 3;
  DeviceArray<int> counters(rounds, 0), out(groups, 0);
  DeviceArray<unsigned> barrier(1, 0);
  unsigned count = groups;
  void *parameters[] = {&counters.pointer, &out.pointer, &count};
  ASSERT_EQ(hip.hipModuleLaunchCooperativeKernel(function("rounds"), groups, 1, 1, 64, 1, 1, 0,
                                                 nullptr, parameters),
            hipSuccess)
      << lastReport();
  for (unsigned i = 0; i < groups; ++i)
    EXPECT_EQ(out[i], static_cast<int>(groups * rounds));
  // Without the cooperative launch there is no barrier to wait at.
  EXPECT_EQ(hip.hipModuleLaunchKernel(function("rounds"), groups, 1, 1, 64, 1, 1, 0, nullptr,
                                      parameters, nullptr),
            hipErrorIllegalAddress);
}

TEST_P(DeviceHipLaunch, RefusesMoreCooperativeWorkgroupsThanFit) {
  DeviceArray<int> counters(3, 0), out(1, 0);
  unsigned count = 1 << 20;
  void *parameters[] = {&counters.pointer, &out.pointer, &count};
  EXPECT_EQ(hip.hipModuleLaunchCooperativeKernel(function("rounds"), count, 1, 1, 64, 1, 1, 0,
                                                 nullptr, parameters),
            hipErrorCooperativeLaunchTooLarge);
  expectReport({"rounds", "1048576 workgroups", "at a time"});
}

TEST_P(DeviceHipLaunch, FillsHiddenArguments) {
  DeviceArray<int> out(10);
  ASSERT_EQ(launch(function("hidden"), {3, 2, 5}, {8, 4, 2}, 0, out.pointer), hipSuccess)
      << lastReport();
  const int expected[] = {3, 2, 5, 8, 4, 2, 0, 0, 0, 3};
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(out[i], expected[i]) << i;
}

TEST_P(DeviceHipLaunch, GivesLdsAtLaunch) {
  const int n = 256;
  DeviceArray<int> out(n);
  std::iota(out.pointer, out.pointer + n, 0);
  unsigned offset = 0;
  ASSERT_EQ(launch(function("exchange"), {1, 1, 1}, {n, 1, 1}, n * 4, out.pointer, offset, n),
            hipSuccess)
      << lastReport();
  for (int i = 0; i < n; ++i)
    ASSERT_EQ(out[i], n - 1 - i);
}

TEST_P(DeviceHipLaunch, SharesVariablesWithTheHost) {
  void *counter = nullptr;
  ASSERT_EQ(hip.hipModuleGetGlobal(&counter, nullptr, module->handle, "counter"), hipSuccess);
  ASSERT_EQ(launch(function("count"), {1, 1, 1}, {1, 1, 1}, 0, 37), hipSuccess) << lastReport();
  EXPECT_EQ(*static_cast<int *>(counter), 42);
  DeviceArray<int> out(1);
  ASSERT_EQ(launch(function("look"), {1, 1, 1}, {1, 1, 1}, 0, out.pointer, 2), hipSuccess);
  EXPECT_EQ(out[0], 3);
}

TEST_P(DeviceHipLaunch, PreloadsArguments) {
  if (GetParam().waveSize == 32)
    return; // CDNA only.
  Module preloading(
      compileKernels(kernels, GetParam().name, "-mllvm -amdgpu-kernarg-preload-count=7"));
  ASSERT_EQ(preloading.error, hipSuccess) << lastReport();
  const int n = 77;
  DeviceArray<float> x(n, 1.5f), y(n, 2.0f), out(n);
  ASSERT_EQ(launch(preloading.function("add"), {2, 1, 1}, {64, 1, 1}, 0, x.pointer, y.pointer,
                   out.pointer, n),
            hipSuccess)
      << lastReport();
  for (int i = 0; i < n; ++i)
    ASSERT_EQ(out[i], 3.5f);
}

TEST_P(DeviceHipLaunch, TensorsMayBeHostMemory) {
  std::vector<float> x(50, 1.0f), y(50, 2.0f), out(50);
  ASSERT_EQ(launch(function("add"), {1, 1, 1}, {64, 1, 1}, 0, x.data(), y.data(), out.data(), 50),
            hipSuccess)
      << lastReport();
  EXPECT_EQ(out[49], 3.0f);
}

TEST_P(DeviceHipLaunch, LogsWhatRan) {
  hip.wavetileDeviceClearLaunchLog();
  EXPECT_STREQ(hip.wavetileDeviceLaunchLog(), "[]");
  DeviceArray<float> x(100, 1.0f), out(100);
  ASSERT_EQ(
      launch(function("add"), {2, 1, 1}, {64, 1, 1}, 0, x.pointer, x.pointer, out.pointer, 100),
      hipSuccess);
  launch(function("store"), {1, 1, 1}, {64, 1, 1}, 0, out.pointer, 100);
  std::string log = hip.wavetileDeviceLaunchLog();
  size_t add = log.find("\"kernel\":\"add\""), store = log.find("\"kernel\":\"store\"");
  ASSERT_NE(add, std::string::npos) << log;
  ASSERT_NE(store, std::string::npos) << log;
  EXPECT_LT(add, store);
  int waves = 128 / GetParam().waveSize;
  EXPECT_NE(log.find("\"waves\":" + std::to_string(waves)), std::string::npos) << log;
  EXPECT_NE(log.find("\"target\":\"" + std::string(GetParam().name) + "\""), std::string::npos);
  EXPECT_NE(log.find("\"result\":\"hipSuccess\""), std::string::npos);
  EXPECT_NE(log.find("\"result\":\"hipErrorIllegalAddress\""), std::string::npos);
}

TEST_P(DeviceHipLaunch, ThreadsLaunchAtTheSameTime) {
  hipFunction_t add = function("add");
  const int target = GetParam().ordinal;
  auto work = [&](int seed) {
    const int n = 100 + seed;
    hip.hipSetDevice(target);
    DeviceArray<float> x(n), y(n, float(seed)), out(n);
    hipStream_t streams[4];
    for (hipStream_t &stream : streams)
      ASSERT_EQ(hip.hipStreamCreate(&stream), hipSuccess);
    for (int repeat = 0; repeat < 100; ++repeat) {
      std::iota(x.pointer, x.pointer + n, float(repeat));
      int count = n;
      void *parameters[] = {&x.pointer, &y.pointer, &out.pointer, &count};
      hipStream_t stream = streams[repeat % 4];
      EXPECT_EQ(hip.hipModuleLaunchKernel(add, 2, 1, 1, 64, 1, 1, 0, stream, parameters, nullptr),
                hipSuccess)
          << lastReport();
      EXPECT_EQ(hip.hipStreamSynchronize(stream), hipSuccess);
      for (int i = 0; i < n; ++i)
        ASSERT_EQ(out[i], float(repeat + i + seed));
    }
    for (hipStream_t stream : streams)
      EXPECT_EQ(hip.hipStreamDestroy(stream), hipSuccess);
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back(work, i);
  for (std::thread &thread : threads)
    thread.join();
}

//===----------------------------------------------------------------------===//
// Launches that the device refuses
//===----------------------------------------------------------------------===//

TEST_P(DeviceHipLaunch, RefusesShapesThatNoGpuRuns) {
  hipFunction_t store = function("store");
  float *none = nullptr;
  EXPECT_EQ(launch(store, {0, 1, 1}, {64, 1, 1}, 0, none, 0), hipErrorInvalidConfiguration);
  EXPECT_EQ(launch(store, {1, 1, 1}, {64, 0, 1}, 0, none, 0), hipErrorInvalidConfiguration);
  EXPECT_EQ(launch(store, {1, 1, 1}, {64, 32, 1}, 0, none, 0), hipErrorInvalidConfiguration);
  expectReport({"store", "2048 work-items"});
  EXPECT_EQ(launch(store, {1u << 31, 1, 1}, {64, 1, 1}, 0, none, 0), hipErrorInvalidConfiguration);
  EXPECT_EQ(launch(store, {1, 1, 1}, {64, 1, 1}, (160 << 10) + 1, none, 0),
            hipErrorLaunchOutOfResources);
  expectReport({"store", "163841 bytes of LDS", GetParam().name});
  EXPECT_EQ(hip.hipModuleLaunchKernel(store, 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr),
            hipErrorInvalidValue);
  expectReport({"store", "12 bytes of arguments", "gives none"});
  void *parameters[] = {&none, nullptr};
  EXPECT_EQ(hip.hipModuleLaunchKernel(store, 1, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr),
            hipErrorInvalidValue);
  expectReport({"argument 1 of kernel store is null"});
}

TEST_P(DeviceHipLaunch, RefusesInstructionsByNameAtLoad) {
  Module refused(compileKernels(
      "kernel void fine(global int *out) { out[0] = 1; }\n"
      "kernel void gws(global int *out) { __asm volatile(\"ds_gws_barrier v0 gds\"); out[0] = 1; }",
      GetParam().name));
  EXPECT_EQ(refused.error, hipErrorNotSupported);
  expectReport({"kernel gws", "ds_gws_barrier", GetParam().name});
  EXPECT_EQ(lastReport().find("fine"), std::string::npos) << lastReport();
}

//===----------------------------------------------------------------------===//
// Kernels that go wrong
//===----------------------------------------------------------------------===//

TEST_P(DeviceHipLaunch, ReportsStoresPastTheEndOfAnAllocation) {
  DeviceArray<float> out(2048, 0.0f);
  EXPECT_EQ(launch(function("store"), {1, 1, 1}, {64, 1, 1}, 0, out.pointer, 2048),
            hipErrorIllegalAddress);
  expectReport({"out of bounds in kernel store", "workgroup (0, 0, 0)", "lane 5",
                "store of 4 bytes", "ends 4 bytes past the end of allocation 'hipMalloc #",
                "of 8192 bytes", "kernels.cl:32", "store_"});
  // The process lives on, and so does the device.
  EXPECT_EQ(launch(function("store"), {1, 1, 1}, {64, 1, 1}, 0, out.pointer, 2047), hipSuccess);
  EXPECT_EQ(lastReport(), "");
  EXPECT_EQ(out[2047], 1.0f);
}

TEST_P(DeviceHipLaunch, ReportsLoadsBeforeTheBegin) {
  DeviceArray<float> x(100, 1.0f), out(64);
  EXPECT_EQ(launch(function("load"), {1, 1, 1}, {64, 1, 1}, 0, x.pointer, out.pointer, -2),
            hipErrorIllegalAddress);
  expectReport({"load of 4 bytes", "begins 8 bytes before the start of allocation 'hipMalloc #"});
}

TEST_P(DeviceHipLaunch, ReportsOverrunsOfRegisteredMemory) {
  std::vector<float> x(64);
  ASSERT_EQ(hip.hipHostRegister(x.data(), 63 * sizeof(float), 0), hipSuccess);
  hipFunction_t store = function("store");
  EXPECT_EQ(launch(store, {1, 1, 1}, {64, 1, 1}, 0, x.data(), 62), hipSuccess) << lastReport();
  EXPECT_EQ(launch(store, {1, 1, 1}, {64, 1, 1}, 0, x.data(), 63), hipErrorIllegalAddress);
  expectReport({"ends 4 bytes past the end of allocation 'registered host memory' of 252 bytes"});
  EXPECT_EQ(hip.hipHostUnregister(x.data()), hipSuccess);
  EXPECT_EQ(launch(store, {1, 1, 1}, {64, 1, 1}, 0, x.data(), 63), hipSuccess) << lastReport();
}

TEST_P(DeviceHipLaunch, ReportsOverrunsOfAnnouncedRanges) {
  std::vector<float> x(10000);
  hip.wavetileDeviceAnnounceRange(x.data(), 63 * sizeof(float), "x");
  hipFunction_t store = function("store");
  EXPECT_EQ(launch(store, {1, 1, 1}, {64, 1, 1}, 0, x.data(), 62), hipSuccess) << lastReport();
  EXPECT_EQ(launch(store, {1, 1, 1}, {64, 1, 1}, 0, x.data(), 63), hipErrorIllegalAddress);
  expectReport({"ends 4 bytes past the end of allocation 'x' of 252 bytes", "announced"});
  EXPECT_EQ(launch(store, {1, 1, 1}, {64, 1, 1}, 0, x.data(), 9000), hipErrorIllegalAddress);
  EXPECT_EQ(x[63], 0.0f);
  hip.wavetileDeviceRetractRange(x.data());
  EXPECT_EQ(launch(store, {1, 1, 1}, {64, 1, 1}, 0, x.data(), 63), hipSuccess) << lastReport();
}

TEST_P(DeviceHipLaunch, ReportsFreedMemory) {
  float *pointer = nullptr;
  ASSERT_EQ(hip.hipMalloc(reinterpret_cast<void **>(&pointer), 400), hipSuccess);
  ASSERT_EQ(hip.hipFree(pointer), hipSuccess);
  EXPECT_EQ(launch(function("store"), {1, 1, 1}, {64, 1, 1}, 0, pointer, 3),
            hipErrorIllegalAddress);
  expectReport({"12 bytes into allocation 'hipMalloc #", "which was freed"});
}

TEST_P(DeviceHipLaunch, ReportsNullAndUnmappedMemory) {
  hipFunction_t store = function("store");
  EXPECT_EQ(launch(store, {1, 1, 1}, {64, 1, 1}, 0, static_cast<float *>(nullptr), 0),
            hipErrorIllegalAddress);
  expectReport({"the address is null or nearly so"});
  EXPECT_EQ(launch(store, {1, 1, 1}, {64, 1, 1}, 0, reinterpret_cast<float *>(0x10000000), 0),
            hipErrorIllegalAddress);
  expectReport({"no memory is mapped there"});
}

TEST_P(DeviceHipLaunch, ReportsStoresToConstants) {
  void *table = nullptr;
  ASSERT_EQ(hip.hipModuleGetGlobal(&table, nullptr, module->handle, "table"), hipSuccess);
  EXPECT_EQ(launch(function("store"), {1, 1, 1}, {64, 1, 1}, 0, static_cast<float *>(table), 0),
            hipErrorIllegalAddress);
  expectReport({"read-only", "constants'"});
}

TEST_P(DeviceHipLaunch, ReportsMisalignedAtomics) {
  DeviceArray<int> out(4, 7);
  ASSERT_EQ(launch(function("atomic"), {1, 1, 1}, {1, 1, 1}, 0, out.pointer + 1), hipSuccess)
      << lastReport();
  EXPECT_EQ(out[1], 8);
  EXPECT_EQ(launch(function("atomic"), {1, 1, 1}, {1, 1, 1}, 0,
                   reinterpret_cast<char *>(out.pointer) + 2),
            hipErrorIllegalAddress);
  expectReport({"misaligned access in kernel atomic", "atomic_add", "access      atomic of 4 bytes",
                "2 bytes into allocation"});
}

TEST_P(DeviceHipLaunch, ReportsTraps) {
  EXPECT_EQ(launch(function("trap"), {1, 1, 1}, {64, 1, 1}, 0, 2), hipSuccess) << lastReport();
  EXPECT_EQ(launch(function("trap"), {1, 1, 1}, {64, 1, 1}, 0, 3), hipErrorLaunchFailure);
  expectReport({"in kernel trap", "s_trap", "kernels.cl:"});
}

//===----------------------------------------------------------------------===//
// Settings that are read once for the process
//===----------------------------------------------------------------------===//

TEST(DeviceHipSettings, StrictRefusesMemoryOfUnknownBounds) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("WAVETILE_DEVICE_STRICT", "1", 1);
        Module module(compileKernels(kernels, "gfx950"));
        static float local[16];
        hipError_t error = launch(module.function("store"), {1, 1, 1}, {64, 1, 1}, 0, &local[0], 3);
        std::exit(error == hipErrorIllegalAddress ? 0 : 1);
      },
      testing::ExitedWithCode(0), "in memory of this process that no argument names");
}

TEST(DeviceHipSettings, TheInstructionLimitStopsEndlessKernels) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("WAVETILE_DEVICE_INSTRUCTION_LIMIT", "100000", 1);
        Module module(compileKernels("kernel void spin(volatile global int *out) {\n"
                                     "  while (out[0] == 0) out[1] = 1;\n"
                                     "}",
                                     "gfx950"));
        DeviceArray<int> out(2, 0);
        hipError_t error = launch(module.function("spin"), {1, 1, 1}, {64, 1, 1}, 0, out.pointer);
        std::exit(error == hipErrorLaunchTimeOut ? 0 : 1);
      },
      testing::ExitedWithCode(0), "in kernel spin");
}

/// 1 - 2^-30 by a matrix instruction of gfx942: its hardware cuts toward minus infinity.
static float matrixSum() {
  setenv("WAVETILE_DEVICE_TARGET", "gfx942", 1);
  Module module(compileKernels("#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
                               "kernel void sum(global float *out) {\n"
                               "  uint lane = __builtin_amdgcn_workitem_id_x();\n"
                               "  half4 a = (half4)(lane == 0, 0, 0, 0);\n"
                               "  float4 c = (float4)(-0x1p-30f);\n"
                               "  c = __builtin_amdgcn_mfma_f32_16x16x16f16(a, a, c, 0, 0, 0);\n"
                               "  if (lane == 0) out[0] = c.x;\n"
                               "}",
                               "gfx942"));
  DeviceArray<float> out(1, 0);
  if (launch(module.function("sum"), {1, 1, 1}, {64, 1, 1}, 0, out.pointer) != hipSuccess)
    std::exit(2);
  return out[0];
}
TEST(DeviceHipSettings, MatrixProductsRoundAsTheTargetOrTheSettingSays) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::exit(matrixSum() == 1 - 0x1p-24f ? 0 : 1), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(
      {
        setenv("WAVETILE_DEVICE_ROUNDING", "fma", 1);
        std::exit(matrixSum() == 1 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
  EXPECT_EXIT(
      {
        setenv("WAVETILE_DEVICE_ROUNDING", "nearest", 1);
        int count = 7;
        std::exit(hip.hipGetDeviceCount(&count) == hipErrorNoDevice && count == 0 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "'nearest', which is neither hw nor fma");
}

/// Where the executable segment of a code object lies in the file.
static std::pair<size_t, size_t> codeRange(const std::string &object) {
  Elf64_Ehdr header;
  std::memcpy(&header, object.data(), sizeof(header));
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, object.data() + header.e_phoff + i * sizeof(segment), sizeof(segment));
    if (segment.p_flags & PF_X)
      return {segment.p_offset, segment.p_offset + segment.p_filesz};
  }
  std::abort();
}

/// Launches kernels with bits of their code changed. What they do is their business; the process
/// must live on.
static void launchCorruptKernels(unsigned seed) {
  std::mt19937 random(seed);
  const std::string object = compileKernels(kernels, "gfx950");
  const std::pair<size_t, size_t> code = codeRange(object);
  DeviceArray<float> a(256, 1.0f), b(256, 2.0f), out(256);
  int ran = 0;
  for (int i = 0; i < 400; ++i) {
    std::string corrupt = object;
    for (unsigned n = 1 + random() % 3; n > 0; --n)
      corrupt[code.first + random() % (code.second - code.first)] ^= 1 << random() % 8;
    Module module(corrupt);
    if (module.error != hipSuccess)
      continue;
    for (const char *name : {"add", "load", "exchange"}) {
      hipFunction_t function = nullptr;
      if (hip.hipModuleGetFunction(&function, module.handle, name) != hipSuccess)
        continue;
      launch(function, {4, 1, 1}, {64, 1, 1}, 1024, a.pointer, b.pointer, out.pointer, 200);
      ++ran;
    }
  }
  std::fprintf(stderr, "ran %d corrupt kernels\n", ran);
  std::exit(ran > 0 ? 0 : 1);
}

TEST(DeviceHipSettings, CorruptCodeNeverCrashes) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const char *chosen = std::getenv("WAVETILE_TEST_SEED");
  unsigned seed = chosen ? std::strtoul(chosen, nullptr, 10) : std::random_device()();
  setenv("WAVETILE_TEST_SEED", std::to_string(seed).c_str(), 1);
  std::printf("WAVETILE_TEST_SEED=%u\n", seed);
  EXPECT_EXIT(
      {
        setenv("WAVETILE_DEVICE_INSTRUCTION_LIMIT", "20000", 1);
        setenv("WAVETILE_DEVICE_STRICT", "1", 1);
        launchCorruptKernels(seed);
      },
      testing::ExitedWithCode(0), "ran [0-9]+ corrupt kernels");
}
