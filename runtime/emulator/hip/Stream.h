//===- Stream.h - Streams, their queues, and events -----------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Work on a stream runs in the caller's thread and has ended when the call
// returns; work of two threads on one stream is one after the other. With
// WAVETILE_DEVICE_ASYNC=1 each stream has a thread of its own that does its work
// in order, and waits for other streams where HIP says so: for events, and
// between the null stream and every stream that is not `nonBlocking`.
//
// Promises: work waits only for work that was submitted before it, so queues
// never wait for each other in a circle.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_HIP_STREAM_H
#define WAVETILE_RUNTIME_EMULATOR_HIP_STREAM_H

#include "runtime/emulator/hip/Runtime.h"
#include "runtime/emulator/hip/Work.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace wavetile::device {

class Capture;
class StreamQueue;

/// Flags of hipStreamCreateWithFlags and hipEventCreateWithFlags.
inline constexpr unsigned nonBlocking = 1;
inline constexpr unsigned eventDisableTiming = 2;

/// Whether something submitted has been done.
class Completion {
public:
  using Time = std::chrono::steady_clock::time_point;

  void finish() {
    {
      std::lock_guard lock(mutex);
      finished = std::chrono::steady_clock::now();
    }
    changed.notify_all();
  }
  void wait() const {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return finished.has_value(); });
  }
  /// When it was done; nothing if it was not yet.
  std::optional<Time> time() const {
    std::lock_guard lock(mutex);
    return finished;
  }
  bool isDone() const { return time().has_value(); }

private:
  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  std::optional<Time> finished;
};
using CompletionPointer = std::shared_ptr<Completion>;

} // namespace wavetile::device

/// What hipStream_t points to.
struct ihipStream_t {
  ihipStream_t();
  ~ihipStream_t();

  int device = 0;
  unsigned flags = 0;
  int priority = 0;
  /// The device's null stream, which waits for the others.
  bool isLegacy = false;
  /// Held while work of the stream runs in a caller's thread. Recursive, for a callback may use its
  /// own stream.
  std::recursive_mutex busy;

  /// The latest thing submitted. Guarded by the lock of all submissions.
  wavetile::device::CompletionPointer latest;
  std::unique_ptr<wavetile::device::StreamQueue> queue;

  /// What the stream's work is captured into, or null. See Capture.h.
  std::shared_ptr<wavetile::device::Capture> capture;
};

/// What hipEvent_t points to.
struct ihipEvent_t {
  unsigned flags = 0;
  std::mutex mutex;
  /// The latest record; null if there was none.
  wavetile::device::CompletionPointer recorded;
  /// If the latest record was captured: by what, and the nodes that it stands for.
  std::weak_ptr<wavetile::device::Capture> capture;
  std::vector<hipGraphNode_t> capturedNodes;
};

namespace wavetile::device {

/// The stream of a handle, the default streams included. Null if it is none of ours.
std::shared_ptr<ihipStream_t> findStream(Runtime &runtime, hipStream_t handle);

/// Whether the call returns before the work has been done.
enum class Wait {
  No,
  Yes,
  /// Yes, but in a graph there is nothing to wait for: copies of pageable memory.
  UnlessCaptured
};

/// Does work on a stream, or puts it in the stream's queue or into the graph that the stream
/// captures. With Wait::Yes it has been done when this returns, whatever the mode.
hipError_t submit(Runtime &runtime, hipStream_t stream, Work work, Wait wait = Wait::No);

/// Puts `body` into the stream's queue, after `dependencies` and what HIP orders before it.
/// Only in asynchronous mode.
CompletionPointer enqueue(Runtime &runtime, const std::shared_ptr<ihipStream_t> &stream,
                          std::vector<CompletionPointer> dependencies,
                          std::function<hipError_t()> body);

inline constexpr int allDevices = -1;

/// Waits for everything submitted to streams of this device, or of `allDevices`.
void waitForStreams(Runtime &runtime, int device);

/// The body of a HIP function that does work on a stream.
hipError_t onStream(hipStream_t stream, Work work, Wait wait = Wait::No);

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_HIP_STREAM_H
