//===- Stream.h - Streams and events --------------------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Work on a stream runs in the caller's thread and has ended when the call
// returns. Work of two threads on one stream is one after the other.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_HIP_STREAM_H
#define WAVETILE_RUNTIME_EMULATOR_HIP_STREAM_H

#include "runtime/emulator/hip/Runtime.h"

#include <chrono>
#include <mutex>
#include <optional>

/// What hipStream_t points to.
struct ihipStream_t {
  int device = 0;
  unsigned flags = 0;
  int priority = 0;
  /// Held while work of the stream runs.
  std::mutex busy;
};

/// What hipEvent_t points to.
struct ihipEvent_t {
  unsigned flags = 0;
  std::mutex mutex;
  std::optional<std::chrono::steady_clock::time_point> recorded;
};

namespace wavetile::device {

/// The stream of a handle, the default streams included. Null if it is none of ours.
std::shared_ptr<ihipStream_t> findStream(Runtime &runtime, hipStream_t handle);

/// The body of a HIP function that does work on a stream.
template <typename Body> hipError_t onStream(hipStream_t handle, Body &&body) {
  return withDevice([&](Runtime &runtime) {
    clearReport();
    std::shared_ptr<ihipStream_t> stream = findStream(runtime, handle);
    if (!stream)
      return hipErrorInvalidHandle;
    std::lock_guard order(stream->busy);
    std::shared_lock lock(runtime.activity);
    return body(runtime);
  });
}

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_HIP_STREAM_H
