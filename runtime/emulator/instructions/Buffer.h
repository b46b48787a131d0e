//===- Buffer.h - Buffer resources and the addresses of buffer instructions ===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A buffer resource is four scalar registers: base address, stride, number of records and flags.
// Lanes outside its range load 0 and store nothing, before any other check: how compilers mask
// lanes. What is in range must still lie in an allocation.
//
// The rules are those of "Buffer Addressing" in AMD's CDNA3, RDNA3 and RDNA4 ISA documents. With
// index and offset of a lane, the latter without the scalar offset:
//
//   gfx9   A resource that adds lane numbers, without an index: no range. Structured (a stride, and
//          an index or swizzled): in range if index < num_records. Else raw: each dword of a vector
//          by itself, if its end, from the offset on, is not beyond num_records.
//   gfx11  OOB_SELECT of the resource. 0: index < num_records, and the bytes end within the stride;
//          1: index < num_records; 2: num_records is not 0; 3: as 0 if swizzled with a stride, else
//          if the bytes, scalar offset included, end within num_records. A vector is in range as a
//          whole: the document says each dword, but not all hardware that was tried agrees, and who
//          relies on it should hear of it.
//   gfx12  The same, each dword by itself.
//
// Format conversions and atomics are in range as a whole everywhere. Offsets do not wrap around:
// compilers give lanes that are off an offset of -1 and add constants to it.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_BUFFER_H
#define WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_BUFFER_H

#include "runtime/emulator/instructions/LaneMemory.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {

struct BufferResource {
  uint64_t base;
  uint32_t stride;
  uint32_t records;
  uint32_t outOfBoundsSelect = 0;
  uint32_t elementBytes = 0; ///< Of a swizzled resource; 0: it is linear.
  uint32_t indexStride;
  bool addsLane;

  BufferResource(const Wave &wave, const Record *record, bool isFormat);
};

/// How a lane's bytes may be cut by the range.
enum class RangeUnit : uint8_t { Whole, Dword };

/// Fills in the addresses of all active lanes, sorts them by range, checks and reports them.
/// `isFormat`: the resource's data format is not part of its stride. False: the wave has its fault.
bool bufferAddresses(Wave &wave, const Record *record, AccessForm form, RangeUnit unit,
                     bool isFormat, LaneAddresses &lanes);

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_BUFFER_H
