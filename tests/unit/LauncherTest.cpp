//===- LauncherTest.cpp - From a call to HIP's calls ----------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On libraries that pose as HIP (FakeHip.cpp). Every call of HIP that a launch makes
// is made to fail in turn: there is an error that says which, nothing stays behind,
// and the next launch works.
//
//===----------------------------------------------------------------------===//

#include "runtime/Launcher.h"
#include "tests/unit/fake_hip/FakeHip.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace wavetile;
using Kind = ExpressionNode::Kind;

namespace {

Expression constant(int64_t value) { return Expression::constant(value); }
Expression integer(int64_t index) { return Expression::integer(index); }

/// Tensor parameter x[rows, cols] in f32, a float parameter; bound integers: rows, cols, strides.
class Call {
public:
  Call(int64_t rows, int64_t cols, const Device &device) : sizes{rows, cols}, strides{cols, 1} {
    arguments.addTensor(
        {reinterpret_cast<const void *>(0x11223344556677f0), {2, 32, 1}, 2, sizes, strides, "x"});
    arguments.addFloat(0.5);
    arguments.finish(device);
  }
  CallArguments arguments;

private:
  int64_t sizes[2], strides[2];
};

KernelLaunch rowKernel(std::string symbol) {
  KernelLaunch launch;
  launch.symbol = std::move(symbol);
  launch.grid = {integer(0), constant(1), constant(1)};
  launch.workgroup = {256, 1, 1};
  launch.arguments = {{KernelArgument::Kind::Pointer, 0, {}, 0},
                      {KernelArgument::Kind::Int32, 0, integer(1), 8},
                      {KernelArgument::Kind::Float32, 0, {}, 12}};
  launch.kernargBytes = 16;
  return launch;
}

LaunchPlan rowPlan(int64_t capacity, const std::string &symbol = "rows") {
  LaunchPlan plan;
  plan.target = "gfx950";
  plan.guards.push_back({integer(1), constant(capacity), "cols <= capacity"});
  plan.steps = {rowKernel(symbol)};
  return plan;
}

/// Two kernels with scratch of 4 bytes a row, filled first, and 8 bytes that are not.
LaunchPlan scratchPlan() {
  LaunchPlan plan;
  plan.target = "gfx950";
  plan.scratch = {{Expression::binary(Kind::Multiply, integer(0), constant(4))}, {constant(8)}};
  KernelLaunch first = rowKernel("first"), second = rowKernel("second");
  first.arguments.push_back({KernelArgument::Kind::Scratch, 0, {}, 16});
  first.arguments.push_back({KernelArgument::Kind::Scratch, 1, {}, 24});
  first.kernargBytes = 32;
  second.arguments = {{KernelArgument::Kind::Scratch, 0, {}, 0}};
  second.kernargBytes = 8;
  plan.steps = {ScratchFill{0, 255}, first, second};
  return plan;
}

std::shared_ptr<CompiledKernel> kernelOf(LaunchPlan plan, std::string code = "rows,first,second") {
  return std::make_shared<CompiledKernel>(std::move(plan), std::move(code));
}

std::shared_ptr<Device> deviceOf(FakeHip &fake, int ordinal = 0) {
  auto library = std::make_shared<HipLibrary>();
  EXPECT_FALSE(HipLibrary::open(fake.path, *library));
  HipDeviceProperties properties = {};
  EXPECT_EQ(library->getDeviceProperties(&properties, ordinal), 0);
  return std::make_shared<Device>(library, ordinal, properties);
}

HipStream streamNumber(size_t number) { return reinterpret_cast<HipStream>(number); }

/// Launches `kernel` as Python does. The error's message, or nothing.
std::string launch(const std::shared_ptr<CompiledKernel> &kernel,
                   const std::shared_ptr<Device> &device, const Call &call, size_t stream = 7) {
  Launcher launcher;
  if (Status status = launcher.add(call.arguments.key(), kernel))
    return status.get().message;
  PreparedLaunch prepared;
  std::shared_ptr<CompiledKernel> chosen;
  if (Status status = launcher.select(call.arguments, *device, prepared, chosen))
    return status.get().message;
  if (!chosen)
    return launcher.explain(call.arguments, *device);
  Status status = chosen->launch(device, streamNumber(stream), call.arguments, prepared);
  return status ? status.get().message : "";
}

/// The log's lines that begin so.
std::vector<std::string> lines(const std::string &log, const std::string &beginning) {
  std::vector<std::string> result;
  for (size_t begin = 0; begin < log.size();) {
    size_t end = log.find('\n', begin);
    if (log.compare(begin, beginning.size(), beginning) == 0)
      result.push_back(log.substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

void expectContains(const std::string &text, const std::string &part) {
  EXPECT_PRED_FORMAT2(testing::IsSubstring, part, text);
}

class LauncherTest : public testing::Test {
protected:
  void SetUp() override {
    fakeGpu().reset();
    fakeSoftwareDevice().reset(1);
  }
  void TearDown() override {
    EXPECT_EQ(fakeGpu().outstanding(), 0u);
    EXPECT_EQ(fakeSoftwareDevice().outstanding(), 0u);
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// What a launch gives to HIP
//===----------------------------------------------------------------------===//

TEST_F(LauncherTest, PacksArgumentsAtTheirOffsets) {
  std::shared_ptr<Device> device = deviceOf(fakeGpu());
  EXPECT_EQ(launch(kernelOf(rowPlan(4096)), device, Call(3, 1000, *device)), "");
  EXPECT_EQ(lines(fakeGpu().log(), "launch"),
            (std::vector<std::string>{
                "launch rows grid 3,1,1 workgroup 256,1,1 lds 0 stream 7 device 0 kernarg "
                "f0776655 44332211 e8030000 0000003f"}));
}

TEST_F(LauncherTest, PacksEveryKindOfArgument) {
  LaunchPlan plan = rowPlan(4096);
  auto &kernel = std::get<KernelLaunch>(plan.steps[0]);
  kernel.arguments = {{KernelArgument::Kind::Float64, 0, {}, 0},
                      {KernelArgument::Kind::Int64, 0,
                       Expression::binary(Kind::Subtract, integer(0), integer(1)), 8},
                      {KernelArgument::Kind::Int32, 0, constant(-2), 20}};
  kernel.kernargBytes = 24;
  kernel.ldsBytes = 4096;
  std::shared_ptr<Device> device = deviceOf(fakeGpu());
  EXPECT_EQ(launch(kernelOf(plan), device, Call(3, 4, *device)), "");
  // Bytes between arguments are zero.
  expectContains(fakeGpu().log(), "lds 4096 stream 7 device 0 kernarg "
                                  "00000000 0000e03f ffffffff ffffffff 00000000 feffffff");
}

TEST_F(LauncherTest, RunsStepsInOrderWithScratchBetween) {
  std::shared_ptr<Device> device = deviceOf(fakeGpu());
  EXPECT_EQ(launch(kernelOf(scratchPlan()), device, Call(3, 1000, *device)), "");
  std::string log = fakeGpu().log();
  size_t fill = log.find("hipMemsetAsync 255 12"), first = log.find("launch first"),
         second = log.find("launch second");
  EXPECT_LT(fill, first);
  EXPECT_LT(first, second);
  ASSERT_NE(second, std::string::npos);
  EXPECT_EQ(lines(log, "hipMalloc"), (std::vector<std::string>{"hipMalloc 12", "hipMalloc 8"}));
  // Both kernels got the address of scratch 0.
  std::string firstLine = lines(log, "launch first")[0],
              secondLine = lines(log, "launch second")[0];
  std::string address = secondLine.substr(secondLine.find("kernarg ") + 8);
  expectContains(firstLine, "kernarg f0776655 44332211 e8030000 0000003f " + address + " ");
}

TEST_F(LauncherTest, KeepsAndGrowsScratchPerStream) {
  std::shared_ptr<Device> device = deviceOf(fakeGpu());
  std::shared_ptr<CompiledKernel> kernel = kernelOf(scratchPlan());
  for (auto [rows, stream] : {std::pair<int64_t, size_t>{10, 7}, {6, 7}, {20, 7}, {5, 8}, {20, 7}})
    EXPECT_EQ(launch(kernel, device, Call(rows, 8, *device), stream), "");
  EXPECT_EQ(lines(fakeGpu().log(), "hipMalloc"),
            (std::vector<std::string>{"hipMalloc 40", "hipMalloc 8", "hipMalloc 80", "hipMalloc 20",
                                      "hipMalloc 8"}));
  EXPECT_EQ(lines(fakeGpu().log(), "hipFree").size(), 1u); // the 40 bytes
  EXPECT_EQ(device->scratch.heldBytes(), 80u + 8 + 20 + 8);
}

TEST_F(LauncherTest, KeepsScratchThatAGraphHasSeen) {
  std::shared_ptr<Device> device = deviceOf(fakeGpu());
  std::shared_ptr<CompiledKernel> kernel = kernelOf(scratchPlan());
  EXPECT_EQ(launch(kernel, device, Call(10, 8, *device)), "");
  fakeGpu().setCapturing(true);
  EXPECT_EQ(launch(kernel, device, Call(10, 8, *device)), "");
  fakeGpu().setCapturing(false);
  EXPECT_EQ(launch(kernel, device, Call(20, 8, *device)), "");
  EXPECT_EQ(lines(fakeGpu().log(), "hipFree").size(), 0u);
  EXPECT_EQ(device->scratch.heldBytes(), 80u + 8 + 40);
}

TEST_F(LauncherTest, LoadsOncePerDevice) {
  std::shared_ptr<CompiledKernel> kernel = kernelOf(rowPlan(4096));
  std::shared_ptr<Device> device = deviceOf(fakeGpu());
  for (int count = 0; count < 3; ++count)
    EXPECT_EQ(launch(kernel, device, Call(3, 8, *device)), "");
  EXPECT_EQ(lines(fakeGpu().log(), "hipModuleLoadData").size(), 1u);
  EXPECT_EQ(lines(fakeGpu().log(), "hipModuleGetFunction").size(), 1u);
  // Device 1 poses as gfx942.
  std::shared_ptr<Device> other = deviceOf(fakeGpu(), 1);
  expectContains(launch(kernel, other, Call(3, 8, *other)),
                 "code for gfx950 cannot serve a call on gfx942");
}

TEST_F(LauncherTest, MakesTheTensorsDeviceCurrentForTheLaunch) {
  LaunchPlan plan = rowPlan(4096);
  plan.target = "gfx942";
  std::shared_ptr<Device> device = deviceOf(fakeGpu(), 1);
  EXPECT_EQ(launch(kernelOf(plan), device, Call(3, 8, *device)), "");
  std::string log = fakeGpu().log();
  expectContains(log, "device 1 kernarg");
  // The second pair belongs to unloading.
  EXPECT_EQ(lines(log, "hipSetDevice"),
            (std::vector<std::string>{"hipSetDevice 1", "hipSetDevice 0", "hipSetDevice 1",
                                      "hipSetDevice 0"}));
}

TEST_F(LauncherTest, EmptyGridsLaunchNothing) {
  std::shared_ptr<Device> device = deviceOf(fakeGpu());
  EXPECT_EQ(launch(kernelOf(rowPlan(4096)), device, Call(0, 8, *device)), "");
  EXPECT_EQ(lines(fakeGpu().log(), "launch").size(), 0u);
  // Only the kernel whose grid is empty is left out.
  LaunchPlan plan = rowPlan(4096);
  plan.steps.push_back(rowKernel("second"));
  std::get<KernelLaunch>(plan.steps[1]).grid[0] = constant(2);
  EXPECT_EQ(launch(kernelOf(plan), device, Call(0, 8, *device)), "");
  EXPECT_EQ(lines(fakeGpu().log(), "launch").size(), 1u);
  expectContains(fakeGpu().log(), "launch second grid 2,1,1");
}

TEST_F(LauncherTest, SoftwareDeviceIsToldOfTensorsAndWaitedFor) {
  std::shared_ptr<Device> device = deviceOf(fakeSoftwareDevice());
  EXPECT_EQ(launch(kernelOf(scratchPlan()), device, Call(3, 10, *device)), "");
  std::string log = fakeSoftwareDevice().log();
  size_t announced = log.find("announce x 120"), launched = log.find("launch second"),
         waited = log.find("hipStreamSynchronize"), retracted = log.find("retract"),
         freed = log.find("hipFree");
  EXPECT_LT(announced, launched);
  EXPECT_LT(launched, waited);
  EXPECT_LT(waited, retracted);
  EXPECT_LT(retracted, freed);
  ASSERT_NE(freed, std::string::npos);
  // Scratch is new in each launch, so that nothing in it counts as written.
  EXPECT_EQ(device->scratch.heldBytes(), 0u);
}

TEST_F(LauncherTest, ErrorsOfTheSoftwareDeviceCarryItsReport) {
  std::shared_ptr<Device> device = deviceOf(fakeSoftwareDevice());
  Call call(3, 10, *device);
  std::shared_ptr<CompiledKernel> kernel = kernelOf(rowPlan(4096));
  EXPECT_EQ(launch(kernel, device, call), "");
  fakeSoftwareDevice().failCall(3); // hipGetDevice, launch, hipStreamSynchronize
  PreparedLaunch prepared;
  bool serves = false;
  ASSERT_FALSE(prepared.prepare(kernel->plan(), call.arguments, *device, serves, nullptr));
  Status status = kernel->launch(device, nullptr, call.arguments, prepared);
  ASSERT_TRUE(status);
  EXPECT_EQ(status.get().kind, ErrorKind::Device);
  EXPECT_EQ(status.get().hipError, "hipErrorOutOfMemory");
  EXPECT_EQ(status.get().report, "lane 3 reads beyond x");
  EXPECT_EQ(status.get().message, "rows on gfx950 (software device): hipErrorOutOfMemory: out of "
                                  "memory\nlane 3 reads beyond x");
}

//===----------------------------------------------------------------------===//
// Which variant serves
//===----------------------------------------------------------------------===//

TEST_F(LauncherTest, TheFirstVariantWhoseGuardsHoldServes) {
  std::shared_ptr<Device> device = deviceOf(fakeGpu());
  Launcher launcher;
  std::string key(Call(3, 8, *device).arguments.key());
  std::vector<std::shared_ptr<CompiledKernel>> variants;
  for (int64_t capacity : {64, 4096, 1024}) {
    variants.push_back(kernelOf(rowPlan(capacity)));
    ASSERT_FALSE(launcher.add(key, variants.back()));
  }
  EXPECT_EQ(launcher.variants(key), variants);
  auto chosen = [&](int64_t cols) {
    Call call(3, cols, *device);
    EXPECT_EQ(call.arguments.key(), key);
    PreparedLaunch prepared;
    std::shared_ptr<CompiledKernel> kernel;
    EXPECT_FALSE(launcher.select(call.arguments, *device, prepared, kernel));
    return std::find(variants.begin(), variants.end(), kernel) - variants.begin();
  };
  EXPECT_EQ(chosen(64), 0);
  EXPECT_EQ(chosen(68), 1);
  EXPECT_EQ(chosen(4096), 1);
  EXPECT_EQ(chosen(4100), 3); // none
  expectContains(launcher.explain(Call(3, 4100, *device).arguments, *device),
                 "rows does not serve: cols <= capacity fails: 4100 > 64\n");
}

TEST_F(LauncherTest, OtherKeysHaveOtherVariants) {
  std::shared_ptr<Device> device = deviceOf(fakeGpu());
  Launcher launcher;
  Call even(3, 8, *device), odd(3, 9, *device);
  ASSERT_FALSE(launcher.add(even.arguments.key(), kernelOf(rowPlan(64))));
  EXPECT_EQ(launcher.variants(even.arguments.key()).size(), 1u);
  EXPECT_EQ(launcher.variants(odd.arguments.key()).size(), 0u);
  ASSERT_FALSE(launcher.add(odd.arguments.key(), kernelOf(rowPlan(64))));
  EXPECT_EQ(launcher.keys().size(), 2u);
}

TEST_F(LauncherTest, A32BitArgumentThatDoesNotFitFailsTheGuard) {
  LaunchPlan plan = rowPlan(INT64_MAX);
  std::get<KernelLaunch>(plan.steps[0]).arguments[1].expression =
      Expression::binary(Kind::Multiply, integer(0), integer(1));
  std::shared_ptr<Device> device = deviceOf(fakeGpu());
  EXPECT_EQ(launch(kernelOf(plan), device, Call(1 << 16, (1 << 15) - 8, *device)), "");
  expectContains(launch(kernelOf(plan), device, Call(1 << 16, 1 << 15, *device)),
                 "i0 * i1 = 2147483648 does not fit 32 bits");
}

TEST_F(LauncherTest, AGuardThatCannotBeComputedFails) {
  LaunchPlan plan = rowPlan(64);
  plan.guards[0] = {Expression::binary(Kind::FloorDivide, constant(1), integer(0)), constant(9),
                    ""};
  std::shared_ptr<Device> device = deviceOf(fakeGpu());
  EXPECT_EQ(launch(kernelOf(plan), device, Call(3, 8, *device)), "");
  expectContains(launch(kernelOf(plan), device, Call(0, 8, *device)),
                 "floordiv(1, i0) <= 9 cannot be computed");
}

TEST_F(LauncherTest, MalformedPlansAreRefusedWhenAdded) {
  LaunchPlan plan = rowPlan(64);
  plan.guards[0].left = integer(4);
  std::shared_ptr<Device> device = deviceOf(fakeGpu());
  expectContains(launch(kernelOf(plan), device, Call(3, 8, *device)),
                 "malformed launch plan: a guard names integer 4 of 4");
}

//===----------------------------------------------------------------------===//
// Limits of the hardware
//===----------------------------------------------------------------------===//

TEST_F(LauncherTest, RefusesGridsAboveTheLimits) {
  std::shared_ptr<Device> device = deviceOf(fakeGpu());
  LaunchPlan plan = rowPlan(64);
  auto &kernel = std::get<KernelLaunch>(plan.steps[0]);
  // 2^32 - 1 work items, at 256 in a workgroup.
  constexpr int64_t limit = UINT32_MAX / 256;
  EXPECT_EQ(launch(kernelOf(plan), device, Call(limit, 8, *device)), "");
  expectContains(launch(kernelOf(plan), device, Call(limit + 1, 8, *device)),
                 "rows needs 16777216 workgroups along x; gfx950 launches 0 to 16777215 of 256");
  kernel.grid[1] = constant(65537);
  expectContains(launch(kernelOf(plan), device, Call(3, 8, *device)),
                 "65537 workgroups along y; gfx950 launches 0 to 65536");
  kernel.grid[1] = constant(-1);
  expectContains(launch(kernelOf(plan), device, Call(3, 8, *device)), "-1 workgroups along y");
  kernel.grid[1] = Expression::binary(Kind::FloorDivide, constant(1), constant(0));
  expectContains(launch(kernelOf(plan), device, Call(3, 8, *device)),
                 "the grid of rows cannot be computed");
}

TEST_F(LauncherTest, RefusesWorkgroupsAboveTheLimit) {
  std::shared_ptr<Device> device = deviceOf(fakeGpu());
  LaunchPlan plan = rowPlan(64);
  std::get<KernelLaunch>(plan.steps[0]).workgroup = {256, 4, 1};
  EXPECT_EQ(launch(kernelOf(plan), device, Call(3, 8, *device)), "");
  std::get<KernelLaunch>(plan.steps[0]).workgroup = {257, 4, 1};
  expectContains(launch(kernelOf(plan), device, Call(3, 8, *device)),
                 "workgroups of 1028 work items; gfx950 launches at most 1024");
}

TEST_F(LauncherTest, RefusesScratchOfNegativeSize) {
  std::shared_ptr<Device> device = deviceOf(fakeGpu());
  LaunchPlan plan = scratchPlan();
  plan.scratch[0].bytes = constant(-4);
  expectContains(launch(kernelOf(plan), device, Call(3, 8, *device)), "no number of bytes: -4");
}

TEST_F(LauncherTest, NamesTheKernelThatTheCodeLacks) {
  std::shared_ptr<Device> device = deviceOf(fakeGpu());
  expectContains(launch(kernelOf(rowPlan(64), "other"), device, Call(3, 8, *device)),
                 "hipModuleGetFunction of rows: hipErrorNotFound");
}

//===----------------------------------------------------------------------===//
// Failing calls
//===----------------------------------------------------------------------===//

/// The number of HIP calls that `plan`'s first launch makes, by making each fail in turn.
static int failEachCall(FakeHip &fake, const LaunchPlan &plan) {
  for (int call = 1;; ++call) {
    SCOPED_TRACE("call " + std::to_string(call));
    std::shared_ptr<Device> device = deviceOf(fake);
    std::shared_ptr<CompiledKernel> kernel = kernelOf(plan);
    Call values(5, 8, *device);
    fake.reset(1);
    fake.failCall(call);
    std::string message = launch(kernel, device, values);
    if (message.empty())
      return call - 1;
    EXPECT_PRED_FORMAT2(testing::IsSubstring, "hipErrorOutOfMemory", message);
    // What failed once works the next time.
    EXPECT_EQ(launch(kernel, device, values), "");
    kernel.reset();
    device.reset();
    EXPECT_EQ(fake.outstanding(), 0u);
    if (call > 100)
      return call;
  }
}

TEST_F(LauncherTest, EveryCallMayFailOnAGpu) {
  // hipGetDevice, load, two functions, two buffers (capture status and allocation each), fill, two
  // launches.
  EXPECT_EQ(failEachCall(fakeGpu(), scratchPlan()), 1 + 1 + 2 + 4 + 1 + 2);
}

TEST_F(LauncherTest, EveryCallMayFailOnTheSoftwareDevice) {
  // No capture status; one synchronisation.
  EXPECT_EQ(failEachCall(fakeSoftwareDevice(), scratchPlan()), 1 + 1 + 2 + 2 + 1 + 2 + 1);
}

TEST_F(LauncherTest, FailuresWhileGrowingScratchLeaveItUsable) {
  for (int call : {2, 3, 4}) { // hipGetDevice; capture status, allocation, free
    std::shared_ptr<Device> device = deviceOf(fakeGpu());
    std::shared_ptr<CompiledKernel> kernel = kernelOf(scratchPlan());
    EXPECT_EQ(launch(kernel, device, Call(5, 8, *device)), "");
    fakeGpu().failCall(call);
    EXPECT_NE(launch(kernel, device, Call(50, 8, *device)), "");
    EXPECT_EQ(launch(kernel, device, Call(50, 8, *device)), "");
    EXPECT_EQ(device->scratch.heldBytes(), 200u + 8);
  }
}

TEST_F(LauncherTest, FailuresWhileUnloadingAreSurvived) {
  for (int call : {1, 2, 3}) {
    std::shared_ptr<Device> device = deviceOf(fakeGpu());
    std::shared_ptr<CompiledKernel> kernel = kernelOf(rowPlan(64));
    EXPECT_EQ(launch(kernel, device, Call(5, 8, *device)), "");
    fakeGpu().failCall(call); // hipGetDevice, hipDeviceSynchronize, hipModuleUnload
    kernel.reset();
    EXPECT_EQ(fakeGpu().outstanding(), 0u) << call;
  }
}
