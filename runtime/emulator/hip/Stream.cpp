//===- Stream.cpp - Streams and their queues ------------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/hip/Stream.h"

#include "runtime/emulator/hip/Capture.h"

#include <algorithm>
#include <deque>
#include <thread>

using namespace wavetile::device;

// Handles that every process has: the null stream's two, and the calling thread's own.
static constexpr uintptr_t legacyStream = 1;
static constexpr uintptr_t perThreadStream = 2;

ihipStream_t::ihipStream_t() = default;
ihipStream_t::~ihipStream_t() = default;

//===----------------------------------------------------------------------===//
// Queues
//===----------------------------------------------------------------------===//

/// One thread that does what it is given, in order.
class wavetile::device::StreamQueue {
public:
  struct Item {
    std::vector<CompletionPointer> dependencies;
    std::function<hipError_t()> body;
    CompletionPointer completion;
  };

  StreamQueue(Runtime &runtime, int device)
      : runtime(runtime), device(device), thread([this] { serve(); }) {}

  /// Does what is left, then ends.
  ~StreamQueue() {
    {
      std::lock_guard lock(mutex);
      isEnding = true;
    }
    changed.notify_one();
    thread.join();
  }

  void push(Item item) {
    {
      std::lock_guard lock(mutex);
      items.push_back(std::move(item));
    }
    changed.notify_one();
  }

private:
  void serve() {
    Runtime::currentOrdinal() = device;
    while (true) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return isEnding || !items.empty(); });
      if (items.empty())
        return;
      Item item = std::move(items.front());
      items.pop_front();
      lock.unlock();
      for (const CompletionPointer &dependency : item.dependencies)
        dependency->wait();
      clearReport();
      if (hipError_t error = item.body(); error != hipSuccess)
        runtime.lateErrors.add(error, lastReportOfThread());
      item.completion->finish();
    }
  }

  Runtime &runtime;
  int device;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Item> items;
  bool isEnding = false;
  std::thread thread;
};

/// Serialises submissions, so that what each waits for was submitted before it.
static std::mutex &submissionMutex() {
  static auto *mutex = new std::mutex;
  return *mutex;
}

/// The null stream of each device.
static std::shared_ptr<ihipStream_t> findLegacyStream(Runtime &runtime, int device) {
  static auto *streams = [&] {
    auto *made = new std::vector<std::shared_ptr<ihipStream_t>>;
    for (const Device &device : runtime.devices()) {
      auto stream = std::make_shared<ihipStream_t>();
      stream->device = device.ordinal;
      stream->isLegacy = true;
      runtime.streams.insert(stream);
      made->push_back(std::move(stream));
    }
    return made;
  }();
  return (*streams)[device];
}

namespace {
/// The default streams of one thread, a device each, until the thread ends.
struct ThreadStreams {
  std::vector<std::shared_ptr<ihipStream_t>> streams;

  ~ThreadStreams() {
    for (const auto &stream : streams)
      if (stream)
        Runtime::get().streams.remove(stream.get());
  }

  std::shared_ptr<ihipStream_t> find(Runtime &runtime, int device) {
    streams.resize(runtime.devices().size());
    auto &stream = streams[device];
    if (!stream) {
      stream = std::make_shared<ihipStream_t>();
      stream->device = device;
      runtime.streams.insert(stream);
    }
    return stream;
  }
};
} // namespace

std::shared_ptr<ihipStream_t> wavetile::device::findStream(Runtime &runtime, hipStream_t handle) {
  uintptr_t value = reinterpret_cast<uintptr_t>(handle);
  if (value == 0 || value == legacyStream)
    return findLegacyStream(runtime, Runtime::currentOrdinal());
  if (value == perThreadStream) {
    static thread_local ThreadStreams streams;
    return streams.find(runtime, Runtime::currentOrdinal());
  }
  return runtime.streams.find(handle);
}

CompletionPointer wavetile::device::enqueue(Runtime &runtime,
                                            const std::shared_ptr<ihipStream_t> &stream,
                                            std::vector<CompletionPointer> dependencies,
                                            std::function<hipError_t()> body) {
  auto completion = std::make_shared<Completion>();
  auto legacy = findLegacyStream(runtime, stream->device);
  std::lock_guard lock(submissionMutex());
  auto waitFor = [&](const ihipStream_t &other) {
    if (other.latest && !other.latest->isDone())
      dependencies.push_back(other.latest);
  };
  if (stream->isLegacy) {
    for (const auto &other : runtime.streams.all())
      if (other != stream && other->device == stream->device && !(other->flags & nonBlocking))
        waitFor(*other);
  } else if (!(stream->flags & nonBlocking)) {
    waitFor(*legacy);
  }
  if (!stream->queue)
    stream->queue = std::make_unique<StreamQueue>(runtime, stream->device);
  stream->latest = completion;
  stream->queue->push({std::move(dependencies), std::move(body), completion});
  return completion;
}

/// The latest submission to each stream of a device.
static std::vector<CompletionPointer> latestOf(Runtime &runtime, int device) {
  std::vector<CompletionPointer> all;
  std::lock_guard lock(submissionMutex());
  for (const auto &stream : runtime.streams.all())
    if ((device == allDevices || stream->device == device) && stream->latest)
      all.push_back(stream->latest);
  return all;
}

void wavetile::device::waitForStreams(Runtime &runtime, int device) {
  if (!runtime.isAsynchronous())
    return;
  for (const CompletionPointer &completion : latestOf(runtime, device))
    completion->wait();
}

static CompletionPointer latestOf(ihipStream_t &stream) {
  std::lock_guard lock(submissionMutex());
  return stream.latest;
}

hipError_t wavetile::device::submit(Runtime &runtime, hipStream_t handle, Work work, Wait wait) {
  std::shared_ptr<ihipStream_t> stream = findStream(runtime, handle);
  if (!stream)
    return hipErrorInvalidHandle;
  if (std::optional<hipError_t> captured = captureWork(*stream, work, wait))
    return *captured;
  if (!runtime.isAsynchronous()) {
    std::lock_guard order(stream->busy);
    return perform(runtime, work);
  }
  auto shared = std::make_shared<Work>(std::move(work));
  CompletionPointer completion =
      enqueue(runtime, stream, {}, [&runtime, shared] { return perform(runtime, *shared); });
  if (wait == Wait::No)
    return hipSuccess;
  completion->wait();
  return runtime.lateErrors.take();
}

hipError_t wavetile::device::onStream(hipStream_t stream, Work work, Wait wait) {
  return withDevice([&](Runtime &runtime) {
    clearReport();
    return submit(runtime, stream, std::move(work), wait);
  });
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

WAVETILE_HIP_API hipError_t hipStreamCreateWithPriority(hipStream_t *stream, unsigned flags,
                                                        int priority) {
  return withDevice([&](Runtime &runtime) {
    if (!stream || flags > nonBlocking)
      return hipErrorInvalidValue;
    auto created = std::make_shared<ihipStream_t>();
    created->device = Runtime::currentOrdinal();
    created->flags = flags;
    created->priority = std::clamp(priority, greatestStreamPriority, leastStreamPriority);
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

WAVETILE_HIP_API hipError_t hipStreamDestroy(hipStream_t handle) {
  return withDevice([&](Runtime &runtime) {
    auto stream = runtime.streams.find(handle);
    if (!stream)
      return hipErrorInvalidHandle;
    if (CompletionPointer latest = latestOf(*stream))
      latest->wait();
    return runtime.streams.remove(handle) ? hipSuccess : hipErrorInvalidHandle;
  });
}

WAVETILE_HIP_API hipError_t hipStreamSynchronize(hipStream_t handle) {
  return withDevice([&](Runtime &runtime) {
    auto stream = findStream(runtime, handle);
    if (!stream)
      return hipErrorInvalidHandle;
    if (hipError_t error = refuseInCapture(*stream, "hipStreamSynchronize"))
      return error;
    if (stream->isLegacy)
      waitForStreams(runtime, stream->device);
    else if (CompletionPointer latest = latestOf(*stream))
      latest->wait();
    return runtime.lateErrors.take();
  });
}

WAVETILE_HIP_API hipError_t hipStreamQuery(hipStream_t handle) {
  return withDevice([&](Runtime &runtime) {
    auto stream = findStream(runtime, handle);
    if (!stream)
      return hipErrorInvalidHandle;
    if (hipError_t error = refuseInCapture(*stream, "hipStreamQuery"))
      return error;
    std::vector<CompletionPointer> all;
    if (stream->isLegacy)
      all = latestOf(runtime, stream->device);
    else if (CompletionPointer latest = latestOf(*stream))
      all.push_back(latest);
    for (const CompletionPointer &completion : all)
      if (!completion->isDone())
        return hipErrorNotReady;
    return runtime.lateErrors.take();
  });
}

WAVETILE_HIP_API hipError_t hipDeviceSynchronize() {
  return withDevice([](Runtime &runtime) {
    waitForStreams(runtime, Runtime::currentOrdinal());
    return runtime.lateErrors.take();
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

WAVETILE_HIP_API hipError_t hipStreamGetId(hipStream_t stream, unsigned long long *identifier) {
  return streamProperty(stream, identifier,
                        [](ihipStream_t &s) { return reinterpret_cast<uintptr_t>(&s); });
}

WAVETILE_HIP_API hipError_t hipDeviceGetStreamPriorityRange(int *least, int *greatest) {
  return withDevice([&](Runtime &) {
    if (least)
      *least = leastStreamPriority;
    if (greatest)
      *greatest = greatestStreamPriority;
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback,
                                                 void *data, unsigned) {
  if (!callback)
    return recorded(hipErrorInvalidValue);
  return onStream(stream, HostWork{"hipStreamAddCallback", [=](Runtime &) {
                                     callback(stream, hipSuccess, data);
                                     return hipSuccess;
                                   }});
}

WAVETILE_HIP_API hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function,
                                              void *data) {
  if (!function)
    return recorded(hipErrorInvalidValue);
  return onStream(stream, HostWork{"hipLaunchHostFunc", [=](Runtime &) {
                                     function(data);
                                     return hipSuccess;
                                   }});
}
