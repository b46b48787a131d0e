//===- ScratchPool.cpp - Device memory that plans use inside a launch -----===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/ScratchPool.h"

#include <utility>

using namespace wavetile;

ScratchPool::~ScratchPool() {
  for (const PerStream &entry : streams)
    for (const Buffer &buffer : entry.slots)
      if (buffer.pointer)
        hip.ignore(hip.release(buffer.pointer));
  for (const Buffer &buffer : retired)
    hip.ignore(hip.release(buffer.pointer));
}

std::vector<ScratchPool::Buffer> &ScratchPool::slotsOf(HipStream stream) {
  for (PerStream &entry : streams)
    if (entry.stream == stream)
      return entry.slots;
  return streams.emplace_back(PerStream{stream, {}}).slots;
}

Status ScratchPool::acquire(HipStream stream, size_t slot, size_t bytes, void *&pointer) {
  pointer = nullptr;
  if (bytes == 0)
    return Status::success();
  std::vector<Buffer> &slots = slotsOf(stream);
  if (slots.size() <= slot)
    slots.resize(slot + 1);
  Buffer &buffer = slots[slot];

  int capturing = 0; // hipStreamCaptureStatusNone
  if (hip.streamIsCapturing)
    if (HipError error = hip.streamIsCapturing(stream, &capturing))
      return hip.error(error, "hipStreamIsCapturing");
  if (buffer.bytes < bytes) {
    void *larger = nullptr;
    if (HipError error = hip.allocate(&larger, bytes))
      return hip.error(error, "hipMalloc of " + std::to_string(bytes) + " bytes of scratch");
    Buffer outgrown = std::exchange(buffer, {larger, bytes, false});
    if (outgrown.captured)
      retired.push_back(outgrown);
    else if (outgrown.pointer) // waits for the device, so that nothing uses it any more
      if (Status status = hip.check(hip.release(outgrown.pointer), "hipFree"))
        return status;
  }
  buffer.captured |= capturing != 0;
  pointer = buffer.pointer;
  return Status::success();
}

void ScratchPool::finish(HipStream stream) {
  if (!hip.isSoftwareDevice())
    return;
  std::vector<Buffer> &slots = slotsOf(stream);
  for (const Buffer &buffer : slots)
    if (buffer.pointer)
      hip.ignore(hip.release(buffer.pointer));
  slots.clear();
}

size_t ScratchPool::heldBytes() const {
  size_t total = 0;
  for (const PerStream &entry : streams)
    for (const Buffer &buffer : entry.slots)
      total += buffer.bytes;
  for (const Buffer &buffer : retired)
    total += buffer.bytes;
  return total;
}
