//===- AccessedLines.h - The cache lines that an access touches -----------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lines are of 128 bytes, as those of the vector and second-level caches of all targets. A line's
// number is its address divided by that. Lines of scratch are numbered by the bytes of the wave's
// scratch as the hardware lays it out: dwords of all lanes alternate.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_COUNTERS_ACCESSEDLINES_H
#define WAVETILE_RUNTIME_EMULATOR_COUNTERS_ACCESSEDLINES_H

#include "runtime/emulator/AccessObserver.h"
#include "runtime/emulator/Wave.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace wavetile::device {

inline constexpr uint64_t lineBytes = 128;

class AccessedLines {
public:
  /// Finds the lines of an access to global memory or scratch.
  void find(const Wave &wave, const MemoryAccess &access);
  /// Their numbers, ascending.
  llvm::ArrayRef<uint64_t> numbers() const { return list; }

private:
  void add(uint64_t firstByte, uint64_t bytes);
  llvm::SmallVector<uint64_t, 256> list;
};

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_COUNTERS_ACCESSEDLINES_H
