//===- Recorder.h - What the allocator recorder tells the device ----------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libwavetile_recorder.so, preloaded by `wavetile device env`, stands before the C library's
// allocator and remembers the exact size of all that the process allocates. The device asks it for
// the bounds of host memory, such as CPU tensors', which nobody announced. It finds the recorder by
// the name of its one function; without a preload there is none.
//
// Promises: may be called from any thread, never allocates, and costs the process one lock and one
// search an allocation.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_RECORDER_RECORDER_H
#define WAVETILE_RUNTIME_EMULATOR_RECORDER_RECORDER_H

#include <cstdint>

namespace wavetile::device {

/// Live allocations around an address; begin and end are 0 where there is none.
struct RecordedBounds {
  /// The last one that begins at or before the address.
  uint64_t begin, end;
  /// It is from malloc and its like, not from mmap.
  bool isHeap;
  /// The first one that begins after the address.
  uint64_t nextBegin, nextEnd;
  bool nextIsHeap;
};

using RecorderFunction = void (*)(uint64_t address, RecordedBounds *bounds);
inline constexpr const char *recorderFunctionName = "wavetileRecorderFind";

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_RECORDER_RECORDER_H
