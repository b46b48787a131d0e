//===- DeviceHipGraphTest.cpp - Graphs, captured and made by hand ---------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceHipSupport.h"

#include <memory>
#include <set>

using namespace wavetile::test;

static const Hip &hip = Hip::get();

static const char *const kernels = R"(
#define id (__builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x())
kernel void scale(global int *x, int by, int n) {
  if (id < n)
    x[id] *= by;
}
kernel void add(global int *out, global const int *x, global const int *y, int n) {
  if (id < n)
    out[id] = x[id] + y[id];
}
)";

namespace {
constexpr int n = 131;

class DeviceHipGraph : public testing::TestWithParam<TargetCase> {
protected:
  void SetUp() override {
    ASSERT_EQ(hip.hipSetDevice(GetParam().ordinal), hipSuccess);
    module = std::make_unique<Module>(compileKernels(kernels, GetParam().name));
    ASSERT_EQ(module->error, hipSuccess) << lastReport();
    ASSERT_EQ(hip.hipStreamCreateWithFlags(&first, 1), hipSuccess);
    ASSERT_EQ(hip.hipStreamCreateWithFlags(&second, 1), hipSuccess);
    ASSERT_EQ(hip.hipEventCreate(&forked), hipSuccess);
    ASSERT_EQ(hip.hipEventCreate(&joined), hipSuccess);
  }
  void TearDown() override {
    hip.hipStreamDestroy(first);
    hip.hipStreamDestroy(second);
    hip.hipEventDestroy(forked);
    hip.hipEventDestroy(joined);
    module.reset();
    hip.hipSetDevice(0);
  }

  hipError_t scale(DeviceArray<int> &x, int by, hipStream_t stream) {
    int count = n;
    void *parameters[] = {&x.pointer, &by, &count};
    return hip.hipModuleLaunchKernel(module->function("scale"), 3, 1, 1, 64, 1, 1, 0, stream,
                                     parameters, nullptr);
  }
  hipError_t add(DeviceArray<int> &out, DeviceArray<int> &x, DeviceArray<int> &y,
                 hipStream_t stream) {
    int count = n;
    void *parameters[] = {&out.pointer, &x.pointer, &y.pointer, &count};
    return hip.hipModuleLaunchKernel(module->function("add"), 3, 1, 1, 64, 1, 1, 0, stream,
                                     parameters, nullptr);
  }

  std::vector<hipGraphNode_t> nodesOf(hipGraph_t graph) {
    size_t count = 0;
    EXPECT_EQ(hip.hipGraphGetNodes(graph, nullptr, &count), hipSuccess);
    std::vector<hipGraphNode_t> nodes(count);
    EXPECT_EQ(hip.hipGraphGetNodes(graph, nodes.data(), &count), hipSuccess);
    return nodes;
  }

  std::unique_ptr<Module> module;
  hipStream_t first = nullptr, second = nullptr;
  hipEvent_t forked = nullptr, joined = nullptr;
};
} // namespace

INSTANTIATE_TEST_SUITE_P(Targets, DeviceHipGraph, testing::ValuesIn(targetCases),
                         [](const auto &info) { return std::string(info.param.name); });

TEST_P(DeviceHipGraph, CapturesTwoStreamsAndRunsAgainWithOtherArguments) {
  DeviceArray<int> x(n), y(n, 0), out(n, -1), source(n);
  for (int i = 0; i < n; ++i)
    source[i] = i;
  hipGraph_t graph = nullptr;
  ASSERT_EQ(hip.hipStreamBeginCapture(first, hipStreamCaptureModeGlobal), hipSuccess);
  hipStreamCaptureStatus status;
  ASSERT_EQ(hip.hipStreamIsCapturing(first, &status), hipSuccess);
  EXPECT_EQ(status, hipStreamCaptureStatusActive);
  ASSERT_EQ(hip.hipStreamIsCapturing(second, &status), hipSuccess);
  EXPECT_EQ(status, hipStreamCaptureStatusNone);
  // x = source * 3 on one stream, y = 7 * 5 on the other, out = x + y on the first again.
  ASSERT_EQ(hip.hipMemcpyAsync(x.pointer, source.pointer, n * sizeof(int), hipMemcpyDefault, first),
            hipSuccess);
  ASSERT_EQ(hip.hipEventRecord(forked, first), hipSuccess);
  ASSERT_EQ(hip.hipStreamWaitEvent(second, forked, 0), hipSuccess);
  ASSERT_EQ(hip.hipStreamIsCapturing(second, &status), hipSuccess);
  EXPECT_EQ(status, hipStreamCaptureStatusActive);
  ASSERT_EQ(scale(x, 3, first), hipSuccess);
  ASSERT_EQ(hip.hipMemsetD32Async(y.pointer, 7, n, second), hipSuccess);
  ASSERT_EQ(scale(y, 5, second), hipSuccess);
  ASSERT_EQ(hip.hipEventRecord(joined, second), hipSuccess);
  ASSERT_EQ(hip.hipStreamWaitEvent(first, joined, 0), hipSuccess);
  ASSERT_EQ(add(out, x, y, first), hipSuccess);
  ASSERT_EQ(hip.hipStreamEndCapture(first, &graph), hipSuccess) << lastReport();
  ASSERT_EQ(hip.hipStreamIsCapturing(second, &status), hipSuccess);
  EXPECT_EQ(status, hipStreamCaptureStatusNone);
  // Nothing ran.
  EXPECT_EQ(out[0], -1);
  EXPECT_EQ(y[0], 0);

  std::vector<hipGraphNode_t> nodes = nodesOf(graph);
  ASSERT_EQ(nodes.size(), 5u);
  hipGraphNodeType expected[] = {hipGraphNodeTypeMemcpy, hipGraphNodeTypeKernel,
                                 hipGraphNodeTypeMemset, hipGraphNodeTypeKernel,
                                 hipGraphNodeTypeKernel};
  for (size_t i = 0; i < nodes.size(); ++i) {
    hipGraphNodeType type;
    ASSERT_EQ(hip.hipGraphNodeGetType(nodes[i], &type), hipSuccess);
    EXPECT_EQ(type, expected[i]) << i;
  }
  hipGraphNode_t before[4] = {};
  size_t count = 4;
  ASSERT_EQ(hip.hipGraphNodeGetDependencies(nodes[4], before, &count), hipSuccess);
  ASSERT_EQ(count, 2u);
  EXPECT_EQ((std::set<hipGraphNode_t>(before, before + 2)),
            (std::set<hipGraphNode_t>{nodes[1], nodes[3]}));

  hipGraphExec_t instance = nullptr;
  ASSERT_EQ(hip.hipGraphInstantiate(&instance, graph, nullptr, nullptr, 0), hipSuccess);
  for (int round = 0; round < 2; ++round) {
    std::fill_n(out.pointer, n, -1);
    ASSERT_EQ(hip.hipGraphLaunch(instance, second), hipSuccess) << lastReport();
    ASSERT_EQ(hip.hipStreamSynchronize(second), hipSuccess);
    for (int i = 0; i < n; ++i)
      ASSERT_EQ(out[i], 3 * i + 35) << i << " in round " << round;
  }
  // Another factor for the launch on the first stream: the graph itself keeps the old one.
  hipKernelNodeParams parameters = {};
  ASSERT_EQ(hip.hipGraphKernelNodeGetParams(nodes[1], &parameters), hipSuccess);
  EXPECT_EQ(parameters.gridDim.x, 3u);
  EXPECT_EQ(parameters.blockDim.x, 64u);
  EXPECT_EQ(*static_cast<int **>(parameters.kernelParams[0]), x.pointer);
  EXPECT_EQ(*static_cast<int *>(parameters.kernelParams[1]), 3);
  int by = -4;
  void *changed[] = {parameters.kernelParams[0], &by, parameters.kernelParams[2]};
  parameters.kernelParams = changed;
  ASSERT_EQ(hip.hipGraphExecKernelNodeSetParams(instance, nodes[1], &parameters), hipSuccess)
      << lastReport();
  ASSERT_EQ(hip.hipGraphLaunch(instance, first), hipSuccess);
  ASSERT_EQ(hip.hipStreamSynchronize(first), hipSuccess);
  for (int i = 0; i < n; ++i)
    ASSERT_EQ(out[i], -4 * i + 35) << i;
  // Updated by the whole graph it is as before.
  hipGraphNode_t wrong = nullptr;
  hipGraphExecUpdateResult result;
  ASSERT_EQ(hip.hipGraphExecUpdate(instance, graph, &wrong, &result), hipSuccess);
  ASSERT_EQ(hip.hipGraphLaunch(instance, first), hipSuccess);
  EXPECT_EQ(out[1], 3 + 35);
  EXPECT_EQ(hip.hipGraphExecDestroy(instance), hipSuccess);
  EXPECT_EQ(hip.hipGraphLaunch(instance, first), hipErrorInvalidValue);
  EXPECT_EQ(hip.hipGraphDestroy(graph), hipSuccess);
  hipGraphNodeType type;
  EXPECT_EQ(hip.hipGraphNodeGetType(nodes[0], &type), hipErrorInvalidValue);
}

TEST_P(DeviceHipGraph, IsMadeByHand) {
  DeviceArray<int> x(n, 0), y(n, 0);
  hipGraph_t graph = nullptr;
  ASSERT_EQ(hip.hipGraphCreate(&graph, 0), hipSuccess);
  hipGraphNode_t fill, start, kernel, copy;
  ASSERT_EQ(hip.hipGraphAddEmptyNode(&start, graph, nullptr, 0), hipSuccess);
  int by = 3, count = n;
  void *arguments[] = {&x.pointer, &by, &count};
  hipKernelNodeParams launchParameters = {{64, 1, 1}, nullptr,   module->function("scale"),
                                          {3, 1, 1},  arguments, 0};
  // The launch is added before what it depends on.
  ASSERT_EQ(hip.hipGraphAddKernelNode(&kernel, graph, &start, 1, &launchParameters), hipSuccess)
      << lastReport();
  hipMemsetParams fillParameters = {x.pointer, 4, 1, 0, 14, n};
  ASSERT_EQ(hip.hipGraphAddMemsetNode(&fill, graph, &start, 1, &fillParameters), hipSuccess);
  ASSERT_EQ(hip.hipGraphAddDependencies(graph, &fill, &kernel, 1), hipSuccess);
  ASSERT_EQ(hip.hipGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, y.pointer, x.pointer,
                                        n * sizeof(int), hipMemcpyDefault),
            hipSuccess);
  size_t roots = 0;
  ASSERT_EQ(hip.hipGraphGetRootNodes(graph, nullptr, &roots), hipSuccess);
  EXPECT_EQ(roots, 1u);
  hipGraphExec_t instance = nullptr;
  ASSERT_EQ(hip.hipGraphInstantiate(&instance, graph, nullptr, nullptr, 0), hipSuccess);
  ASSERT_EQ(hip.hipGraphLaunch(instance, first), hipSuccess) << lastReport();
  ASSERT_EQ(hip.hipStreamSynchronize(first), hipSuccess);
  for (int i = 0; i < n; ++i)
    ASSERT_EQ(y[i], 42) << i;
  // A circle cannot be instantiated; a graph with another node cannot update the instance.
  ASSERT_EQ(hip.hipGraphAddDependencies(graph, &copy, &fill, 1), hipSuccess);
  hipGraphExec_t none = nullptr;
  EXPECT_EQ(hip.hipGraphInstantiate(&none, graph, nullptr, nullptr, 0), hipErrorInvalidValue);
  hipGraphNode_t extra, wrong;
  hipGraphExecUpdateResult result;
  EXPECT_EQ(hip.hipGraphExecUpdate(instance, graph, &wrong, &result),
            hipErrorGraphExecUpdateFailure);
  EXPECT_EQ(wrong, fill);
  ASSERT_EQ(hip.hipGraphAddEmptyNode(&extra, graph, nullptr, 0), hipSuccess);
  EXPECT_EQ(hip.hipGraphExecUpdate(instance, graph, &wrong, &result),
            hipErrorGraphExecUpdateFailure);
  EXPECT_EQ(result, hipGraphExecUpdateErrorTopologyChanged);
  hip.hipGraphExecDestroy(instance);
  hip.hipGraphDestroy(graph);
}

TEST_P(DeviceHipGraph, OtherWorkSpoilsACapture) {
  auto spoilt = [&](const char *name, hipError_t error, auto &&call) {
    SCOPED_TRACE(name);
    ASSERT_EQ(hip.hipStreamBeginCapture(first, hipStreamCaptureModeGlobal), hipSuccess);
    EXPECT_EQ(call(), error);
    EXPECT_NE(lastReport().find(name), std::string::npos) << lastReport();
    hipStreamCaptureStatus status;
    ASSERT_EQ(hip.hipStreamIsCapturing(first, &status), hipSuccess);
    EXPECT_EQ(status, hipStreamCaptureStatusInvalidated);
    DeviceArray<int> x(n);
    EXPECT_EQ(scale(x, 2, first), hipErrorStreamCaptureInvalidated);
    hipGraph_t graph = reinterpret_cast<hipGraph_t>(this);
    EXPECT_EQ(hip.hipStreamEndCapture(first, &graph), hipErrorStreamCaptureInvalidated);
    EXPECT_EQ(graph, nullptr);
  };
  DeviceArray<int> x(n);
  spoilt("hipLaunchHostFunc", hipErrorStreamCaptureUnsupported,
         [&] { return hip.hipLaunchHostFunc(first, [](void *) {}, nullptr); });
  spoilt("hipStreamSynchronize", hipErrorStreamCaptureUnsupported,
         [&] { return hip.hipStreamSynchronize(first); });
  void *pointer = nullptr;
  spoilt("hipMallocAsync", hipErrorStreamCaptureUnsupported,
         [&] { return hip.hipMallocAsync(&pointer, 16, first); });
  spoilt("hipFreeAsync", hipErrorStreamCaptureUnsupported,
         [&] { return hip.hipFreeAsync(x.pointer, first); });
  ASSERT_EQ(hip.hipEventRecord(forked, second), hipSuccess);
  spoilt("recorded outside", hipErrorStreamCaptureIsolation,
         [&] { return hip.hipStreamWaitEvent(first, forked, 0); });
}

TEST_P(DeviceHipGraph, RefusesWhatCannotEnd) {
  hipGraph_t graph = nullptr;
  EXPECT_EQ(hip.hipStreamEndCapture(first, &graph), hipErrorIllegalState);
  EXPECT_EQ(hip.hipStreamBeginCapture(nullptr, hipStreamCaptureModeGlobal),
            hipErrorStreamCaptureUnsupported);
  // Work of a stream that joined and was not waited for.
  DeviceArray<int> x(n);
  ASSERT_EQ(hip.hipStreamBeginCapture(first, hipStreamCaptureModeRelaxed), hipSuccess);
  EXPECT_EQ(hip.hipStreamBeginCapture(first, hipStreamCaptureModeRelaxed), hipErrorIllegalState);
  ASSERT_EQ(hip.hipEventRecord(forked, first), hipSuccess);
  EXPECT_EQ(hip.hipEventQuery(forked), hipErrorCapturedEvent);
  ASSERT_EQ(hip.hipStreamWaitEvent(second, forked, 0), hipSuccess);
  ASSERT_EQ(scale(x, 2, second), hipSuccess);
  EXPECT_EQ(hip.hipStreamEndCapture(second, &graph), hipErrorStreamCaptureUnmatched);
  EXPECT_EQ(hip.hipStreamEndCapture(first, &graph), hipErrorStreamCaptureUnjoined);
  // The null stream waits for every blocking stream, also for one that is captured.
  hipStream_t blocking = nullptr;
  ASSERT_EQ(hip.hipStreamCreate(&blocking), hipSuccess);
  ASSERT_EQ(hip.hipStreamBeginCapture(blocking, hipStreamCaptureModeGlobal), hipSuccess);
  EXPECT_EQ(scale(x, 2, nullptr), hipErrorStreamCaptureImplicit);
  EXPECT_EQ(hip.hipStreamEndCapture(blocking, &graph), hipErrorStreamCaptureInvalidated);
  ASSERT_EQ(hip.hipStreamDestroy(blocking), hipSuccess);
  EXPECT_EQ(scale(x, 2, nullptr), hipSuccess);
}

TEST_P(DeviceHipGraph, RecordsEvents) {
  DeviceArray<int> x(n, 1);
  hipGraph_t graph = nullptr;
  ASSERT_EQ(hip.hipStreamBeginCapture(first, hipStreamCaptureModeGlobal), hipSuccess);
  ASSERT_EQ(hip.hipEventRecordWithFlags(forked, first, 1), hipSuccess);
  ASSERT_EQ(scale(x, 2, first), hipSuccess);
  ASSERT_EQ(hip.hipEventRecordWithFlags(joined, first, 1), hipSuccess);
  ASSERT_EQ(hip.hipStreamEndCapture(first, &graph), hipSuccess);
  hipGraphExec_t instance = nullptr;
  ASSERT_EQ(hip.hipGraphInstantiate(&instance, graph, nullptr, nullptr, 0), hipSuccess);
  ASSERT_EQ(hip.hipGraphDestroy(graph), hipSuccess);
  float milliseconds = -1;
  EXPECT_EQ(hip.hipEventElapsedTime(&milliseconds, forked, joined), hipErrorInvalidHandle);
  ASSERT_EQ(hip.hipGraphLaunch(instance, first), hipSuccess);
  ASSERT_EQ(hip.hipEventSynchronize(joined), hipSuccess);
  EXPECT_EQ(x[n - 1], 2);
  ASSERT_EQ(hip.hipEventElapsedTime(&milliseconds, forked, joined), hipSuccess);
  EXPECT_GT(milliseconds, 0.0f);
  hip.hipGraphExecDestroy(instance);
}
