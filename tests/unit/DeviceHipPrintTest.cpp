//===- DeviceHipPrintTest.cpp - printf by a buffer ------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// OpenCL's printf, lowered by LLVM. Expected text is the host's own printf. What
// HIP prints by hostcall is in tests/python/test_device_hip_program.py.
//
//===----------------------------------------------------------------------===//

#include "DeviceHipSupport.h"

#include <memory>

using namespace wavetile::test;

static const Hip &hip = Hip::get();

static const char *const kernels = R"(
// What ROCm's device library has: room in the buffer, or null if it is full.
global char *__printf_alloc(uint bytes) {
  global uint *buffer =
      (global uint *)((constant const ulong *)__builtin_amdgcn_implicitarg_ptr())[9];
  uint used = __scoped_atomic_load_n(buffer, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  do
    if (8 + used + bytes > buffer[1])
      return 0;
  while (!__scoped_atomic_compare_exchange_n(buffer, &used, used + bytes, 0, __ATOMIC_RELAXED,
                                             __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE));
  return (global char *)buffer + 8 + used;
}
kernel void numbers(int i, long l, float f, double d) {
  if (__builtin_amdgcn_workitem_id_x() == 0)
    printf("%d|%5i|%-6u|%x|%lld|%lu|%8.3f|%e|%g|%c|%s|%%|a:b\n", i, i, i, i, l, l, f, d, d, 'q',
           "text", 7);
}
kernel void vectors(int a, float f) {
  int4 v = (int4)(a, a + 1, a + 2, -a);
  float2 w = (float2)(f, -f);
  if (__builtin_amdgcn_workitem_id_x() == 0)
    printf("%v4d;%v2hlf;%#v4hlx\n", v, w, v);
}
kernel void lanes(int n) {
  int i = __builtin_amdgcn_workitem_id_x();
  if (i < n)
    printf("lane %d\n", i);
}
// Spoils everything in the buffer of hostcall that the host might rely on, then calls the host.
kernel void spoil(uint service, ulong descriptor) {
  global ulong *buffer =
      (global ulong *)((constant const ulong *)__builtin_amdgcn_implicitarg_ptr())[10];
  global ulong *header = (global ulong *)buffer[0], *payload = (global ulong *)buffer[1];
  ulong packets = buffer[5] + 1;
  for (int i = 0; i < 64 * 8; ++i)
    payload[i] = descriptor;
  header[0] = packets; // After packet 0 comes packet 0.
  header[1] = ~0ul;
  header[2] = 1ul << 32 | service;
  buffer[0] = 24;
  buffer[1] = 8;
  buffer[2] = 0;
  buffer[4] = packets;
  buffer[5] = ~0ul;
  __builtin_amdgcn_s_sendmsg(1, 0);
}
)";

namespace {
class DeviceHipPrint : public testing::TestWithParam<TargetCase> {
protected:
  void SetUp() override {
    ASSERT_EQ(hip.hipSetDevice(GetParam().ordinal), hipSuccess);
    module = std::make_unique<Module>(compileKernels(kernels, GetParam().name));
    ASSERT_EQ(module->error, hipSuccess) << lastReport();
  }
  void TearDown() override {
    module.reset();
    hip.hipDeviceSetLimit(printfBytes, 1 << 20);
    hip.hipSetDevice(0);
  }

  template <typename... Arguments> std::string printed(const char *kernel, Arguments... arguments) {
    hipFunction_t function = module->function(kernel);
    testing::internal::CaptureStdout();
    EXPECT_EQ(launch(function, {1, 1, 1}, {64, 1, 1}, 0, arguments...), hipSuccess) << lastReport();
    return testing::internal::GetCapturedStdout();
  }

  static constexpr int printfBytes = 1; ///< hipLimitPrintfFifoSize
  std::unique_ptr<Module> module;
};
} // namespace

INSTANTIATE_TEST_SUITE_P(Targets, DeviceHipPrint, testing::ValuesIn(targetCases),
                         [](const auto &info) { return std::string(info.param.name); });

TEST_P(DeviceHipPrint, PrintsNumbersAsTheHostDoes) {
  for (int i : {0, -1, 77, INT32_MIN}) {
    long l = static_cast<long>(static_cast<unsigned long>(i) * 1234567890123ul);
    float f = i * 0.5f;
    double d = i * 1e-9;
    char expected[512];
    std::snprintf(expected, sizeof(expected), "%d|%5i|%-6u|%x|%lld|%lu|%8.3f|%e|%g|%c|%s|%%|a:b\n",
                  i, i, unsigned(i), unsigned(i), static_cast<long long>(l),
                  static_cast<unsigned long>(l), f, d, d, 'q', "text");
    EXPECT_EQ(printed("numbers", i, l, f, d), expected);
  }
}

TEST_P(DeviceHipPrint, PrintsVectors) {
  EXPECT_EQ(printed("vectors", 5, 1.5f), "5,6,7,-5;1.500000,-1.500000;0x5,0x6,0x7,0xfffffffb\n");
}

TEST_P(DeviceHipPrint, EveryLanePrints) {
  std::string all = printed("lanes", 61);
  for (int i = 0; i < 61; ++i)
    EXPECT_NE(all.find("lane " + std::to_string(i) + "\n"), std::string::npos) << i;
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 61);
}

TEST_P(DeviceHipPrint, SpoiltHostcallsAreReports) {
  hipFunction_t spoil = module->function("spoil");
  struct Case {
    unsigned service;
    unsigned long descriptor;
    const char *reason;
  };
  const Case cases[] = {
      {2, 0, "a message to the host that it did not begin"},
      {2, ~0ul, "circle"},
      {2, 1, "circle"},
      {1, 0, "a call of a host function"},
      {77, 0, "service 77"},
  };
  for (const Case &c : cases) {
    EXPECT_EQ(launch(spoil, {1, 1, 1}, {1, 1, 1}, 0, c.service, c.descriptor),
              hipErrorLaunchFailure);
    EXPECT_NE(lastReport().find(c.reason), std::string::npos) << lastReport();
  }
}

TEST_P(DeviceHipPrint, WhatDoesNotFitIsLost) {
  size_t bytes = 0;
  ASSERT_EQ(hip.hipDeviceGetLimit(&bytes, printfBytes), hipSuccess);
  EXPECT_EQ(bytes, size_t(1) << 20);
  // A record has an identifier and one number.
  ASSERT_EQ(hip.hipDeviceSetLimit(printfBytes, 5 * 8), hipSuccess);
  std::string all = printed("lanes", 64);
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 5);
  EXPECT_EQ(hip.hipDeviceSetLimit(printfBytes, 0), hipErrorInvalidValue);
  EXPECT_EQ(hip.hipDeviceSetLimit(77, 1), hipErrorUnsupportedLimit);
}
