//===- DeviceHipAsyncTest.cpp - Streams with queues of their own ----------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// WAVETILE_DEVICE_ASYNC=1 is read once, so each test is a process of its own.
// Host functions that wait for the test show what runs, and what does not yet.
//
//===----------------------------------------------------------------------===//

#include "DeviceHipSupport.h"

#include <atomic>
#include <chrono>
#include <thread>

using namespace wavetile::test;

static const Hip &hip = Hip::get();

namespace {
/// A host function that waits until it is opened.
class Gate {
public:
  ~Gate() { open(); }

  void on(hipStream_t stream) {
    auto wait = [](void *data) {
      auto *gate = static_cast<Gate *>(data);
      gate->entered = true;
      while (!gate->opened)
        std::this_thread::yield();
    };
    check(hip.hipLaunchHostFunc(stream, wait, this), hipSuccess, "hipLaunchHostFunc");
  }
  void open() { opened = true; }
  bool isEntered() const { return entered; }
  /// Returns once the stream has come to the gate, however busy the machine is.
  void waitUntilEntered() const {
    while (!entered)
      std::this_thread::yield();
  }

  static void check(hipError_t actual, hipError_t expected, const char *what) {
    if (actual == expected)
      return;
    std::fprintf(stderr, "%s gave %s, not %s\n", what, hip.hipGetErrorName(actual),
                 hip.hipGetErrorName(expected));
    std::_Exit(1);
  }

private:
  std::atomic<bool> entered = false, opened = false;
};
} // namespace

#define CHECK_GIVES(call, error) Gate::check(call, error, #call)
#define CHECK_TRUE(condition)                                                                      \
  do                                                                                               \
    if (!(condition)) {                                                                            \
      std::fprintf(stderr, "not so: %s\n", #condition);                                            \
      std::_Exit(1);                                                                               \
    }                                                                                              \
  while (0)

/// Runs `body` in a new process whose streams have queues.
#define ASYNCHRONOUSLY(body)                                                                       \
  GTEST_FLAG_SET(death_test_style, "threadsafe");                                                  \
  EXPECT_EXIT(                                                                                     \
      {                                                                                            \
        setenv("WAVETILE_DEVICE_ASYNC", "1", 1);                                                   \
        body();                                                                                    \
        std::_Exit(0);                                                                             \
      },                                                                                           \
      testing::ExitedWithCode(0), "")

static void waitABit() { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }

static hipStream_t makeStream(unsigned flags) {
  hipStream_t stream = nullptr;
  CHECK_GIVES(hip.hipStreamCreateWithFlags(&stream, flags), hipSuccess);
  return stream;
}

static int *makeMemory(int count) {
  void *pointer = nullptr;
  CHECK_GIVES(hip.hipMalloc(&pointer, count * sizeof(int)), hipSuccess);
  return static_cast<int *>(pointer);
}

static void callsReturnBeforeTheirWork() {
  hipStream_t stream = makeStream(1);
  int *memory = makeMemory(4);
  CHECK_GIVES(hip.hipMemset(memory, 0, 16), hipSuccess);
  CHECK_TRUE(memory[3] == 0);
  Gate gate;
  gate.on(stream);
  CHECK_GIVES(hip.hipMemsetD32Async(memory, 5, 4, stream), hipSuccess);
  CHECK_GIVES(hip.hipStreamQuery(stream), hipErrorNotReady);
  gate.waitUntilEntered();
  waitABit();
  CHECK_TRUE(__atomic_load_n(&memory[3], __ATOMIC_ACQUIRE) == 0);
  gate.open();
  CHECK_GIVES(hip.hipStreamSynchronize(stream), hipSuccess);
  CHECK_TRUE(memory[3] == 5);
  CHECK_GIVES(hip.hipStreamQuery(stream), hipSuccess);
  CHECK_GIVES(hip.hipStreamDestroy(stream), hipSuccess);
  CHECK_GIVES(hip.hipFree(memory), hipSuccess);
}

TEST(DeviceHipAsync, CallsReturnBeforeTheirWork) { ASYNCHRONOUSLY(callsReturnBeforeTheirWork); }

static void streamsWaitForEventsOnly() {
  hipStream_t first = makeStream(1), second = makeStream(1), third = makeStream(1);
  int *memory = makeMemory(3);
  CHECK_GIVES(hip.hipMemset(memory, 0, 12), hipSuccess);
  hipEvent_t start = nullptr, event = nullptr;
  CHECK_GIVES(hip.hipEventCreate(&start), hipSuccess);
  CHECK_GIVES(hip.hipEventCreate(&event), hipSuccess);
  CHECK_GIVES(hip.hipEventQuery(event), hipSuccess);
  CHECK_GIVES(hip.hipEventRecord(start, first), hipSuccess);
  Gate gate;
  gate.on(first);
  gate.waitUntilEntered(); // and `start` has its time
  CHECK_GIVES(hip.hipMemsetD32Async(memory, 1, 1, first), hipSuccess);
  CHECK_GIVES(hip.hipEventRecord(event, first), hipSuccess);
  CHECK_GIVES(hip.hipStreamWaitEvent(second, event, 0), hipSuccess);
  // Copies what the first stream writes.
  CHECK_GIVES(hip.hipMemcpyAsync(memory + 1, memory, 4, 3, second), hipSuccess);
  CHECK_GIVES(hip.hipMemsetD32Async(memory + 2, 3, 1, third), hipSuccess);
  CHECK_GIVES(hip.hipStreamSynchronize(third), hipSuccess);
  CHECK_TRUE(memory[2] == 3);
  CHECK_GIVES(hip.hipEventQuery(event), hipErrorNotReady);
  float milliseconds = 0;
  CHECK_GIVES(hip.hipEventElapsedTime(&milliseconds, start, event), hipErrorNotReady);
  CHECK_GIVES(hip.hipStreamQuery(second), hipErrorNotReady);
  waitABit();
  gate.open();
  CHECK_GIVES(hip.hipEventSynchronize(event), hipSuccess);
  CHECK_TRUE(memory[0] == 1);
  CHECK_GIVES(hip.hipEventElapsedTime(&milliseconds, start, event), hipSuccess);
  CHECK_TRUE(milliseconds >= 29.0f);
  CHECK_GIVES(hip.hipStreamSynchronize(second), hipSuccess);
  CHECK_TRUE(memory[1] == 1);
}

TEST(DeviceHipAsync, StreamsWaitForEventsOnly) { ASYNCHRONOUSLY(streamsWaitForEventsOnly); }

static void theNullStreamWaitsForBlockingStreams() {
  const auto perThread = reinterpret_cast<hipStream_t>(2);
  for (hipStream_t blocking : {makeStream(0), perThread}) {
    hipStream_t free = makeStream(1);
    int *memory = makeMemory(3);
    CHECK_GIVES(hip.hipMemset(memory, 0, 12), hipSuccess);
    Gate gate;
    gate.on(blocking);
    CHECK_GIVES(hip.hipMemsetD32Async(memory, 1, 1, nullptr), hipSuccess);
    CHECK_GIVES(hip.hipMemsetD32Async(memory + 1, 2, 1, blocking), hipSuccess);
    CHECK_GIVES(hip.hipMemsetD32Async(memory + 2, 3, 1, free), hipSuccess);
    CHECK_GIVES(hip.hipStreamSynchronize(free), hipSuccess);
    CHECK_TRUE(memory[2] == 3);
    CHECK_GIVES(hip.hipStreamQuery(nullptr), hipErrorNotReady);
    waitABit();
    CHECK_TRUE(__atomic_load_n(&memory[0], __ATOMIC_ACQUIRE) == 0);
    gate.open();
    CHECK_GIVES(hip.hipStreamSynchronize(blocking), hipSuccess);
    // What came after the null stream's work on the blocking one waited for it.
    CHECK_TRUE(memory[0] == 1 && memory[1] == 2);
    // And the other way round.
    Gate second;
    second.on(nullptr);
    CHECK_GIVES(hip.hipMemsetD32Async(memory, 7, 1, blocking), hipSuccess);
    waitABit();
    CHECK_TRUE(__atomic_load_n(&memory[0], __ATOMIC_ACQUIRE) == 1);
    second.open();
    CHECK_GIVES(hip.hipDeviceSynchronize(), hipSuccess);
    CHECK_TRUE(memory[0] == 7);
  }
}

TEST(DeviceHipAsync, TheNullStreamWaitsForBlockingStreams) {
  ASYNCHRONOUSLY(theNullStreamWaitsForBlockingStreams);
}

static void errorsComeWithTheNextWait() {
  static const char *const source = "kernel void store(global int *out, int i) { out[i] = 7; }";
  Module module(compileKernels(source, "gfx950"));
  hipStream_t stream = makeStream(1);
  int *memory = makeMemory(4);
  auto launch = [&](int i) {
    void *parameters[] = {&memory, &i};
    return hip.hipModuleLaunchKernel(module.function("store"), 1, 1, 1, 1, 1, 1, 0, stream,
                                     parameters, nullptr);
  };
  Gate gate;
  gate.on(stream);
  CHECK_GIVES(launch(4), hipSuccess);
  gate.open();
  CHECK_GIVES(hip.hipStreamSynchronize(stream), hipErrorIllegalAddress);
  CHECK_TRUE(lastReport().find("out of bounds in kernel store") != std::string::npos);
  CHECK_GIVES(hip.hipStreamSynchronize(stream), hipSuccess);
  // What is wrong before the launch is told at once.
  CHECK_GIVES(hip.hipModuleLaunchKernel(module.function("store"), 1, 1, 1, 2000, 1, 1, 0, stream,
                                        nullptr, nullptr),
              hipErrorInvalidConfiguration);
  CHECK_GIVES(launch(3), hipSuccess);
  CHECK_GIVES(hip.hipDeviceSynchronize(), hipSuccess);
  CHECK_TRUE(memory[3] == 7);
}

TEST(DeviceHipAsync, ErrorsComeWithTheNextWait) { ASYNCHRONOUSLY(errorsComeWithTheNextWait); }

static void memoryIsFreedInOrder() {
  hipStream_t stream = makeStream(1);
  void *pointer = nullptr;
  CHECK_GIVES(hip.hipMallocAsync(&pointer, 64, stream), hipSuccess);
  Gate gate;
  gate.on(stream);
  CHECK_GIVES(hip.hipMemsetD32Async(pointer, 1, 16, stream), hipSuccess);
  CHECK_GIVES(hip.hipFreeAsync(pointer, stream), hipSuccess);
  gate.open();
  CHECK_GIVES(hip.hipStreamSynchronize(stream), hipSuccess);
  CHECK_GIVES(hip.hipMemsetD32Async(pointer, 1, 16, stream), hipErrorInvalidValue);
  // hipFree waits for all that was submitted.
  int *memory = makeMemory(16);
  Gate second;
  second.on(stream);
  CHECK_GIVES(hip.hipMemsetD32Async(memory, 1, 16, stream), hipSuccess);
  std::thread opener([&] {
    waitABit();
    second.open();
  });
  CHECK_GIVES(hip.hipFree(memory), hipSuccess);
  CHECK_TRUE(second.isEntered());
  CHECK_GIVES(hip.hipStreamSynchronize(stream), hipSuccess);
  opener.join();
}

TEST(DeviceHipAsync, MemoryIsFreedInOrder) { ASYNCHRONOUSLY(memoryIsFreedInOrder); }

static void pageableCopiesHaveFinished() {
  hipStream_t stream = makeStream(1);
  int *memory = makeMemory(1000);
  std::vector<int> host(1000, 3);
  CHECK_GIVES(hip.hipMemcpyAsync(memory, host.data(), 4000, 1, stream), hipSuccess);
  std::fill(host.begin(), host.end(), 4); // The host may reuse its memory at once.
  CHECK_GIVES(hip.hipMemcpyAsync(host.data(), memory, 4000, 2, stream), hipSuccess);
  CHECK_TRUE(host[999] == 3);
}

TEST(DeviceHipAsync, PageableCopiesHaveFinished) { ASYNCHRONOUSLY(pageableCopiesHaveFinished); }
