//===- DeviceHipThreadsTest.cpp - Launches from several threads -----------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// To be run under ThreadSanitizer too: `./dev test --sanitize-threads`.
//
//===----------------------------------------------------------------------===//

#include "DeviceHipSupport.h"

#include <atomic>
#include <thread>

using namespace wavetile::test;

namespace {

class Threads : public testing::TestWithParam<TargetCase> {};
INSTANTIATE_TEST_SUITE_P(Targets, Threads, testing::ValuesIn(targetCases),
                         [](const auto &info) { return std::string(info.param.name); });

constexpr const char *source = R"(
#define ID (__builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x())
kernel void fill(global uint *to, uint seed, uint rounds, uint count) {
  uint x = ID + seed;
  for (uint i = 0; i < rounds; ++i)
    x = x * 1664525u + 1013904223u;
  if (ID < count)
    to[ID] = x;
}
kernel void count(global atomic_uint *total) {
  __opencl_atomic_fetch_add(total, 1u, __ATOMIC_RELAXED, 2);
}
kernel void outside(global uint *to) { to[ID + 10000000] = 1; }
)";

TEST_P(Threads, EightThreadsOfAHundredLaunchesOnFourStreams) {
  const Hip &hip = Hip::get();
  ASSERT_EQ(hip.hipSetDevice(GetParam().ordinal), hipSuccess);
  Module module(compileKernels(source, GetParam().name));
  ASSERT_EQ(module.error, hipSuccess) << lastReport();
  hipFunction_t fill = module.function("fill"), count = module.function("count"),
                outside = module.function("outside");
  constexpr unsigned threads = 8, launches = 100, items = 1000, groups = (items + 63) / 64;
  hipStream_t streams[4];
  for (hipStream_t &stream : streams)
    ASSERT_EQ(hip.hipStreamCreate(&stream), hipSuccess);
  DeviceArray<uint32_t> total(1);
  std::atomic<unsigned> counted{0}, wrong{0}, errors{0};
  auto work = [&](unsigned thread) {
    hip.hipSetDevice(GetParam().ordinal);
    DeviceArray<uint32_t> values(items);
    for (uint32_t i = 0; i < launches; ++i) {
      hipStream_t stream = streams[(thread + i) % 4];
      uint32_t seed = 1000 * thread + i, rounds = i % 7 == 0 ? 2000 : 3, size = items;
      void *fillArguments[] = {&values.pointer, &seed, &rounds, &size, nullptr};
      void *countArguments[] = {&total.pointer, nullptr};
      switch (i % 10) {
      case 4:
        errors += hip.hipModuleLaunchKernel(count, groups, 1, 1, 64, 1, 1, 0, stream,
                                            countArguments, nullptr) != hipSuccess;
        counted += groups * 64;
        break;
      case 9:
        errors += hip.hipModuleLaunchKernel(outside, 1, 1, 1, 64, 1, 1, 0, stream, fillArguments,
                                            nullptr) != hipErrorIllegalAddress;
        break;
      default:
        errors += hip.hipModuleLaunchKernel(fill, groups, 1, 1, 64, 1, 1, 0, stream, fillArguments,
                                            nullptr) != hipSuccess;
        for (uint32_t item = 0; item < items; ++item) {
          uint32_t x = item + seed;
          for (uint32_t round = 0; round < rounds; ++round)
            x = x * 1664525u + 1013904223u;
          wrong += values[item] != x;
        }
      }
    }
  };
  std::vector<std::thread> running;
  for (unsigned thread = 0; thread < threads; ++thread)
    running.emplace_back(work, thread);
  for (std::thread &thread : running)
    thread.join();
  EXPECT_EQ(errors, 0u);
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(total[0], counted);
  for (hipStream_t stream : streams)
    EXPECT_EQ(hip.hipStreamDestroy(stream), hipSuccess);
}

} // namespace
