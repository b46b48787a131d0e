//===- Capture.h - Graphs made of what streams are given ------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// While a stream captures, launches, copies and fills become nodes of a graph
// instead of being done. A record of an event stands for the nodes before it, and
// a wait for that event makes its stream capture too, after them. Anything else
// is refused and spoils the capture, as HIP says.
//
// Promises: one lock for all captures, so streams may be captured from several
// threads.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_HIP_CAPTURE_H
#define WAVETILE_RUNTIME_EMULATOR_HIP_CAPTURE_H

#include "runtime/emulator/hip/Graph.h"
#include "runtime/emulator/hip/Stream.h"

#include <optional>

namespace wavetile::device {

/// If the stream captures, adds the work to its graph. Nothing: it does not. Also the error for
/// work that a capture elsewhere forbids.
std::optional<hipError_t> captureWork(ihipStream_t &stream, const Work &work, Wait wait);

/// If the stream captures, makes the event stand for its nodes so far.
bool captureRecord(ihipStream_t &stream, ihipEvent_t &event);

/// If the stream captures, adds a node to its graph.
bool captureNode(ihipStream_t &stream, NodeContent content);

/// If the event was recorded in a capture, the stream joins it. Nothing: neither captures.
std::optional<hipError_t> captureWait(const std::shared_ptr<ihipStream_t> &stream,
                                      ihipEvent_t &event);

/// Whether the event's latest record is part of a capture or graph.
bool isCaptured(ihipEvent_t &event);

/// hipSuccess if the stream does not capture; otherwise spoils the capture and says that `function`
/// is not possible then.
hipError_t refuseInCapture(ihipStream_t &stream, const char *function);

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_HIP_CAPTURE_H
