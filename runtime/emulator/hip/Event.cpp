//===- Event.cpp - Events -------------------------------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/hip/Capture.h"

using namespace wavetile::device;

/// All flags that HIP has: blocking sync, no timing, interprocess, and how memory is released.
static constexpr unsigned eventFlags = 0x7 | 0xe0000000;
static constexpr unsigned eventInterprocess = 4;

static CompletionPointer latestRecord(ihipEvent_t &event) {
  std::lock_guard lock(event.mutex);
  return event.recorded;
}

WAVETILE_HIP_API hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned flags) {
  return withDevice([&](Runtime &runtime) {
    if (!event || (flags & ~eventFlags))
      return hipErrorInvalidValue;
    if (flags & eventInterprocess)
      return fail(hipErrorNotSupported, "events between processes are not supported");
    auto created = std::make_shared<ihipEvent_t>();
    created->flags = flags;
    *event = runtime.events.insert(std::move(created));
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipEventCreate(hipEvent_t *event) {
  return hipEventCreateWithFlags(event, 0);
}

WAVETILE_HIP_API hipError_t hipEventDestroy(hipEvent_t event) {
  return withDevice([&](Runtime &runtime) {
    return runtime.events.remove(event) ? hipSuccess : hipErrorInvalidHandle;
  });
}

/// Flag of a record or a wait that in a capture becomes a node of its own.
static constexpr unsigned external = 1;

/// Calls `body(runtime, event, stream)` with what the handles stand for.
template <typename Body>
static hipError_t withEventAndStream(hipEvent_t event, hipStream_t handle, unsigned flags,
                                     Body body) {
  return withDevice([&](Runtime &runtime) {
    auto found = runtime.events.find(event);
    auto stream = findStream(runtime, handle);
    if (!found || !stream)
      return hipErrorInvalidHandle;
    return flags > external ? hipErrorInvalidValue : body(runtime, found, stream);
  });
}

WAVETILE_HIP_API hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t handle,
                                                    unsigned flags) {
  return withEventAndStream(event, handle, flags, [&](Runtime &runtime, auto &found, auto &stream) {
    if (flags == external ? captureNode(*stream, EventRecordNode{found})
                          : captureRecord(*stream, *found))
      return hipSuccess;
    CompletionPointer record;
    if (runtime.isAsynchronous()) {
      record = enqueue(runtime, stream, {}, [] { return hipSuccess; });
    } else {
      record = std::make_shared<Completion>();
      record->finish();
    }
    std::lock_guard lock(found->mutex);
    found->recorded = std::move(record);
    found->capture.reset();
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  return hipEventRecordWithFlags(event, stream, 0);
}

WAVETILE_HIP_API hipError_t hipStreamWaitEvent(hipStream_t handle, hipEvent_t event,
                                               unsigned flags) {
  return withEventAndStream(event, handle, flags, [&](Runtime &runtime, auto &found, auto &stream) {
    if (flags == external && captureNode(*stream, EventWaitNode{found}))
      return hipSuccess;
    if (std::optional<hipError_t> captured = captureWait(stream, *found))
      return *captured;
    // An event that was not recorded waits for nothing.
    CompletionPointer record = latestRecord(*found);
    if (record && !record->isDone())
      enqueue(runtime, stream, {record}, [] { return hipSuccess; });
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipEventSynchronize(hipEvent_t event) {
  return withDevice([&](Runtime &runtime) {
    auto found = runtime.events.find(event);
    if (!found)
      return hipErrorInvalidHandle;
    if (isCaptured(*found))
      return hipErrorCapturedEvent;
    if (CompletionPointer record = latestRecord(*found))
      record->wait();
    return runtime.lateErrors.take();
  });
}

WAVETILE_HIP_API hipError_t hipEventQuery(hipEvent_t event) {
  return withDevice([&](Runtime &runtime) {
    auto found = runtime.events.find(event);
    if (!found)
      return hipErrorInvalidHandle;
    if (isCaptured(*found))
      return hipErrorCapturedEvent;
    CompletionPointer record = latestRecord(*found);
    if (record && !record->isDone())
      return hipErrorNotReady;
    return runtime.lateErrors.take();
  });
}

WAVETILE_HIP_API hipError_t hipEventElapsedTime(float *milliseconds, hipEvent_t start,
                                                hipEvent_t stop) {
  return withDevice([&](Runtime &runtime) {
    auto first = runtime.events.find(start), second = runtime.events.find(stop);
    if (!milliseconds)
      return hipErrorInvalidValue;
    if (!first || !second || ((first->flags | second->flags) & eventDisableTiming))
      return hipErrorInvalidHandle;
    if (isCaptured(*first) || isCaptured(*second))
      return hipErrorCapturedEvent;
    CompletionPointer begin = latestRecord(*first), end = latestRecord(*second);
    if (!begin || !end)
      return hipErrorInvalidHandle;
    auto beginTime = begin->time(), endTime = end->time();
    if (!beginTime || !endTime)
      return hipErrorNotReady;
    *milliseconds = std::chrono::duration<float, std::milli>(*endTime - *beginTime).count();
    return hipSuccess;
  });
}
