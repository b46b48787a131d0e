//===- Stream.cpp - Streams and events ------------------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/hip/Stream.h"

using namespace wavetile::device;

// Handles that every process has: the null stream's two, and the calling thread's own.
static constexpr uintptr_t legacyStream = 1;
static constexpr uintptr_t perThreadStream = 2;

static constexpr unsigned eventDisableTiming = 2;

std::shared_ptr<ihipStream_t> wavetile::device::findStream(Runtime &runtime, hipStream_t handle) {
  uintptr_t value = reinterpret_cast<uintptr_t>(handle);
  if (value == 0 || value == legacyStream) {
    static const auto *stream = new std::shared_ptr<ihipStream_t>(std::make_shared<ihipStream_t>());
    return *stream;
  }
  if (value == perThreadStream) {
    static thread_local auto stream = std::make_shared<ihipStream_t>();
    return stream;
  }
  return runtime.streams.find(handle);
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

WAVETILE_HIP_API hipError_t hipStreamCreateWithPriority(hipStream_t *stream, unsigned flags,
                                                        int priority) {
  return withDevice([&](Runtime &runtime) {
    if (!stream || flags > 1)
      return hipErrorInvalidValue;
    auto created = std::make_shared<ihipStream_t>();
    created->device = Runtime::currentOrdinal();
    created->flags = flags;
    created->priority = priority;
    *stream = runtime.streams.insert(std::move(created));
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned flags) {
  return hipStreamCreateWithPriority(stream, flags, 0);
}

WAVETILE_HIP_API hipError_t hipStreamCreate(hipStream_t *stream) {
  return hipStreamCreateWithPriority(stream, 0, 0);
}

WAVETILE_HIP_API hipError_t hipStreamDestroy(hipStream_t stream) {
  return withDevice([&](Runtime &runtime) {
    return runtime.streams.remove(stream) ? hipSuccess : hipErrorInvalidHandle;
  });
}

/// What every function has to say that only asks whether the stream exists: all of its work is
/// done.
static hipError_t checkStream(hipStream_t handle) {
  return withDevice([&](Runtime &runtime) {
    return findStream(runtime, handle) ? hipSuccess : hipErrorInvalidHandle;
  });
}

WAVETILE_HIP_API hipError_t hipStreamSynchronize(hipStream_t stream) { return checkStream(stream); }

WAVETILE_HIP_API hipError_t hipStreamQuery(hipStream_t stream) { return checkStream(stream); }

WAVETILE_HIP_API hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned) {
  return withDevice([&](Runtime &runtime) {
    return findStream(runtime, stream) && runtime.events.find(event) ? hipSuccess
                                                                     : hipErrorInvalidHandle;
  });
}

template <typename T, typename Get>
static hipError_t streamProperty(hipStream_t handle, T *value, Get get) {
  return withDevice([&](Runtime &runtime) {
    auto stream = findStream(runtime, handle);
    if (!stream)
      return hipErrorInvalidHandle;
    if (!value)
      return hipErrorInvalidValue;
    *value = get(*stream);
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipStreamGetFlags(hipStream_t stream, unsigned *flags) {
  return streamProperty(stream, flags, [](ihipStream_t &s) { return s.flags; });
}

WAVETILE_HIP_API hipError_t hipStreamGetPriority(hipStream_t stream, int *priority) {
  return streamProperty(stream, priority, [](ihipStream_t &s) { return s.priority; });
}

WAVETILE_HIP_API hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t *device) {
  return streamProperty(stream, device, [](ihipStream_t &s) { return s.device; });
}

WAVETILE_HIP_API int hipGetStreamDeviceId(hipStream_t stream) {
  int device = -1;
  return hipStreamGetDevice(stream, &device) == hipSuccess ? device : -1;
}

WAVETILE_HIP_API hipError_t hipStreamIsCapturing(hipStream_t stream,
                                                 hipStreamCaptureStatus *status) {
  return streamProperty(stream, status, [](ihipStream_t &) { return hipStreamCaptureStatusNone; });
}

WAVETILE_HIP_API hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback,
                                                 void *data, unsigned) {
  if (!callback)
    return recorded(hipErrorInvalidValue);
  hipError_t error = checkStream(stream);
  if (error == hipSuccess)
    callback(stream, hipSuccess, data);
  return error;
}

WAVETILE_HIP_API hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function,
                                              void *data) {
  if (!function)
    return recorded(hipErrorInvalidValue);
  hipError_t error = checkStream(stream);
  if (error == hipSuccess)
    function(data);
  return error;
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

WAVETILE_HIP_API hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned flags) {
  return withDevice([&](Runtime &runtime) {
    if (!event)
      return hipErrorInvalidValue;
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

WAVETILE_HIP_API hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  return withDevice([&](Runtime &runtime) {
    auto found = runtime.events.find(event);
    if (!found || !findStream(runtime, stream))
      return hipErrorInvalidHandle;
    std::lock_guard lock(found->mutex);
    found->recorded = std::chrono::steady_clock::now();
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream,
                                                    unsigned) {
  return hipEventRecord(event, stream);
}

/// All work before a recorded event is done, and an event that was not recorded waits for nothing.
static hipError_t checkEvent(hipEvent_t event) {
  return withDevice([&](Runtime &runtime) {
    return runtime.events.find(event) ? hipSuccess : hipErrorInvalidHandle;
  });
}

WAVETILE_HIP_API hipError_t hipEventSynchronize(hipEvent_t event) { return checkEvent(event); }

WAVETILE_HIP_API hipError_t hipEventQuery(hipEvent_t event) { return checkEvent(event); }

WAVETILE_HIP_API hipError_t hipEventElapsedTime(float *milliseconds, hipEvent_t start,
                                                hipEvent_t stop) {
  return withDevice([&](Runtime &runtime) {
    auto first = runtime.events.find(start), second = runtime.events.find(stop);
    if (!milliseconds)
      return hipErrorInvalidValue;
    if (!first || !second || ((first->flags | second->flags) & eventDisableTiming))
      return hipErrorInvalidHandle;
    auto timeOf = [](ihipEvent_t &event) {
      std::lock_guard lock(event.mutex);
      return event.recorded;
    };
    auto begin = timeOf(*first), end = timeOf(*second);
    if (!begin || !end)
      return hipErrorInvalidHandle;
    *milliseconds = std::chrono::duration<float, std::milli>(*end - *begin).count();
    return hipSuccess;
  });
}
