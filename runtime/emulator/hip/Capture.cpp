//===- Capture.cpp - Graphs made of what streams are given ----------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/hip/Capture.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <thread>
#include <unordered_map>

using namespace wavetile::device;

/// One capture, from its begin to its end.
class wavetile::device::Capture {
public:
  std::shared_ptr<ihipGraph> graph;
  /// The stream that began it and has to end it.
  ihipStream_t *origin = nullptr;
  hipStreamCaptureMode mode = hipStreamCaptureModeGlobal;
  std::thread::id thread;
  unsigned long long identifier = 0;
  bool isInvalid = false;
  /// For each stream that takes part, the nodes that its next one comes after.
  std::unordered_map<ihipStream_t *, std::vector<hipGraphNode_t>> latest;
  /// Keeps them alive.
  std::vector<std::shared_ptr<ihipStream_t>> streams;

  void join(const std::shared_ptr<ihipStream_t> &stream) {
    latest[stream.get()];
    streams.push_back(stream);
  }

  void add(ihipStream_t &stream, NodeContent content) {
    std::vector<hipGraphNode_t> &nodes = latest[&stream];
    nodes = {addNode(graph, nodes, std::move(content))};
  }
};

namespace {
/// All captures that have not ended.
struct Captures {
  std::recursive_mutex mutex;
  std::vector<std::shared_ptr<Capture>> active;
  unsigned long long count = 0;

  static Captures &get() {
    static auto *captures = new Captures;
    return *captures;
  }
};
} // namespace

/// How this thread wants calls treated that a capture of others forbids.
static thread_local hipStreamCaptureMode threadMode = hipStreamCaptureModeGlobal;

static hipError_t spoil(Capture &capture, const char *function) {
  capture.isInvalid = true;
  return fail(hipErrorStreamCaptureUnsupported,
              std::string(function) + " is not supported while a stream is captured");
}

/// Work on the null stream would have to wait for streams that only capture. Spoils such captures.
static std::optional<hipError_t> checkLegacy(const ihipStream_t &stream) {
  if (!stream.isLegacy || threadMode == hipStreamCaptureModeRelaxed)
    return std::nullopt;
  std::optional<hipError_t> error;
  for (const auto &capture : Captures::get().active) {
    bool concerns = capture->mode == hipStreamCaptureModeGlobal ||
                    (capture->mode == hipStreamCaptureModeThreadLocal &&
                     capture->thread == std::this_thread::get_id());
    bool isBlocking = llvm::any_of(
        capture->streams, [&](const auto &other) { return !(other->flags & nonBlocking); });
    if (!concerns || !isBlocking || capture->origin->device != stream.device)
      continue;
    capture->isInvalid = true;
    error = fail(hipErrorStreamCaptureImplicit,
                 "work on the null stream would wait for a stream that is captured");
  }
  return error;
}

std::optional<hipError_t> wavetile::device::captureWork(ihipStream_t &stream, const Work &work,
                                                        Wait wait) {
  Captures &captures = Captures::get();
  std::lock_guard lock(captures.mutex);
  if (!stream.capture)
    return checkLegacy(stream);
  Capture &capture = *stream.capture;
  if (capture.isInvalid)
    return hipErrorStreamCaptureInvalidated;
  if (const auto *host = std::get_if<HostWork>(&work))
    return spoil(capture, host->name);
  if (wait == Wait::Yes)
    return spoil(capture, "a call that waits for its work");
  if (const auto *kernel = std::get_if<KernelWork>(&work))
    capture.add(stream, KernelNode{*kernel, kernel->loaded.handle});
  else if (const auto *copy = std::get_if<CopyWork>(&work))
    capture.add(stream, copyNodeOf(*copy));
  else
    capture.add(stream, fillNodeOf(std::get<FillWork>(work)));
  return hipSuccess;
}

bool wavetile::device::captureRecord(ihipStream_t &stream, ihipEvent_t &event) {
  std::lock_guard lock(Captures::get().mutex);
  if (!stream.capture)
    return false;
  std::lock_guard eventLock(event.mutex);
  event.capture = stream.capture;
  event.capturedNodes = stream.capture->latest[&stream];
  return true;
}

bool wavetile::device::captureNode(ihipStream_t &stream, NodeContent content) {
  std::lock_guard lock(Captures::get().mutex);
  if (!stream.capture)
    return false;
  stream.capture->add(stream, std::move(content));
  return true;
}

std::optional<hipError_t> wavetile::device::captureWait(const std::shared_ptr<ihipStream_t> &stream,
                                                        ihipEvent_t &event) {
  std::lock_guard lock(Captures::get().mutex);
  std::lock_guard eventLock(event.mutex);
  std::shared_ptr<Capture> capture = event.capture.lock();
  bool isActive = capture && llvm::is_contained(Captures::get().active, capture);
  if (!isActive) {
    if (!stream->capture)
      return std::nullopt;
    stream->capture->isInvalid = true;
    return fail(hipErrorStreamCaptureIsolation,
                "a stream that is captured waits for an event that was recorded outside");
  }
  if (stream->isLegacy)
    return spoil(*capture, "a wait of the null stream for an event of a capture");
  if (stream->capture && stream->capture != capture) {
    stream->capture->isInvalid = capture->isInvalid = true;
    return fail(hipErrorStreamCaptureMerge, "a wait would join two captures");
  }
  if (!stream->capture) {
    stream->capture = capture;
    capture->join(stream);
  }
  std::vector<hipGraphNode_t> &nodes = capture->latest[stream.get()];
  for (hipGraphNode_t node : event.capturedNodes)
    if (!llvm::is_contained(nodes, node))
      nodes.push_back(node);
  return hipSuccess;
}

bool wavetile::device::isCaptured(ihipEvent_t &event) {
  std::lock_guard lock(Captures::get().mutex);
  std::lock_guard eventLock(event.mutex);
  return !event.capture.expired();
}

hipError_t wavetile::device::refuseInCapture(ihipStream_t &stream, const char *function) {
  std::lock_guard lock(Captures::get().mutex);
  return stream.capture ? spoil(*stream.capture, function) : hipSuccess;
}

//===----------------------------------------------------------------------===//
// HIP's functions
//===----------------------------------------------------------------------===//

WAVETILE_HIP_API hipError_t hipStreamBeginCapture(hipStream_t handle, hipStreamCaptureMode mode) {
  return withDevice([&](Runtime &runtime) {
    auto stream = findStream(runtime, handle);
    if (!stream)
      return hipErrorInvalidHandle;
    if (mode < hipStreamCaptureModeGlobal || mode > hipStreamCaptureModeRelaxed)
      return hipErrorInvalidValue;
    if (stream->isLegacy)
      return fail(hipErrorStreamCaptureUnsupported, "the null stream cannot be captured");
    Captures &captures = Captures::get();
    std::lock_guard lock(captures.mutex);
    if (stream->capture)
      return hipErrorIllegalState;
    auto capture = std::make_shared<Capture>();
    capture->graph = std::make_shared<ihipGraph>();
    capture->origin = stream.get();
    capture->mode = mode;
    capture->thread = std::this_thread::get_id();
    capture->identifier = ++captures.count;
    capture->join(stream);
    stream->capture = capture;
    captures.active.push_back(std::move(capture));
    return hipSuccess;
  });
}

/// Whether all nodes come before the origin's next one: no other stream has work of its own left.
static bool isJoined(Capture &capture) {
  const std::vector<hipGraphNode_t> &ends = capture.latest[capture.origin];
  std::vector<hipGraphNode_t> withFollower;
  for (const auto &node : capture.graph->nodes)
    withFollower.insert(withFollower.end(), node->dependencies.begin(), node->dependencies.end());
  return llvm::all_of(capture.graph->nodes, [&](const auto &node) {
    return llvm::is_contained(ends, node.get()) || llvm::is_contained(withFollower, node.get());
  });
}

WAVETILE_HIP_API hipError_t hipStreamEndCapture(hipStream_t handle, hipGraph_t *graph) {
  return withDevice([&](Runtime &runtime) {
    clearReport();
    auto stream = findStream(runtime, handle);
    if (!stream)
      return hipErrorInvalidHandle;
    if (!graph)
      return hipErrorInvalidValue;
    *graph = nullptr;
    Captures &captures = Captures::get();
    std::lock_guard lock(captures.mutex);
    std::shared_ptr<Capture> capture = stream->capture;
    if (!capture)
      return hipErrorIllegalState;
    if (capture->origin != stream.get())
      return hipErrorStreamCaptureUnmatched;
    if (capture->mode == hipStreamCaptureModeThreadLocal &&
        capture->thread != std::this_thread::get_id())
      return hipErrorStreamCaptureWrongThread;
    for (const auto &member : capture->streams)
      member->capture.reset();
    llvm::erase(captures.active, capture);
    hipError_t error = capture->isInvalid   ? hipErrorStreamCaptureInvalidated
                       : isJoined(*capture) ? hipSuccess
                                            : hipErrorStreamCaptureUnjoined;
    if (error != hipSuccess) {
      destroyGraph(*capture->graph);
      return error == hipErrorStreamCaptureUnjoined
                 ? fail(error, "the captured stream does not wait for all work of the streams that "
                               "waited for it")
                 : error;
    }
    *graph = Graphs::get().graphs.insert(capture->graph);
    return hipSuccess;
  });
}

static hipStreamCaptureStatus statusOf(const ihipStream_t &stream) {
  return !stream.capture             ? hipStreamCaptureStatusNone
         : stream.capture->isInvalid ? hipStreamCaptureStatusInvalidated
                                     : hipStreamCaptureStatusActive;
}

/// The body of a function that asks about a stream's capture.
template <typename Body> static hipError_t withCapture(hipStream_t handle, Body body) {
  return withDevice([&](Runtime &runtime) {
    auto stream = findStream(runtime, handle);
    if (!stream)
      return hipErrorInvalidHandle;
    std::lock_guard lock(Captures::get().mutex);
    return body(*stream);
  });
}

WAVETILE_HIP_API hipError_t hipStreamIsCapturing(hipStream_t handle,
                                                 hipStreamCaptureStatus *status) {
  return withCapture(handle, [&](ihipStream_t &stream) {
    if (!status)
      return hipErrorInvalidValue;
    *status = statusOf(stream);
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipStreamGetCaptureInfo(hipStream_t handle,
                                                    hipStreamCaptureStatus *status,
                                                    unsigned long long *identifier) {
  return withCapture(handle, [&](ihipStream_t &stream) {
    if (!status)
      return hipErrorInvalidValue;
    *status = statusOf(stream);
    if (identifier && stream.capture)
      *identifier = stream.capture->identifier;
    return hipSuccess;
  });
}

/// The list of dependencies is valid until the stream's next work.
WAVETILE_HIP_API hipError_t hipStreamGetCaptureInfo_v2(
    hipStream_t handle, hipStreamCaptureStatus *status, unsigned long long *identifier,
    hipGraph_t *graph, const hipGraphNode_t **dependencies, size_t *count) {
  return withCapture(handle, [&](ihipStream_t &stream) {
    if (!status)
      return hipErrorInvalidValue;
    *status = statusOf(stream);
    if (*status != hipStreamCaptureStatusActive)
      return hipSuccess;
    const std::vector<hipGraphNode_t> &nodes = stream.capture->latest[&stream];
    if (identifier)
      *identifier = stream.capture->identifier;
    if (graph)
      *graph = stream.capture->graph.get();
    if (dependencies)
      *dependencies = nodes.data();
    if (count)
      *count = nodes.size();
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode *mode) {
  return withDevice([&](Runtime &) {
    if (!mode || *mode < hipStreamCaptureModeGlobal || *mode > hipStreamCaptureModeRelaxed)
      return hipErrorInvalidValue;
    std::swap(*mode, threadMode);
    return hipSuccess;
  });
}
