//===- InstructionProfile.h - What each instruction of a launch did -------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What this header promises: for each instruction of a program, how often waves executed it and
// what its accesses to memory came to. The loop that executes calls `begin` and `end` around each
// record, and memory instructions report to `observe`; a launch that is not profiled has none of
// these calls. One profile belongs to one thread; those of a launch are added up.
//
// Counts are of what instructions ask for, as a GPU's counters before its caches see it. No time is
// in them. docs/software-device-counters.md says what each counts.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_COUNTERS_INSTRUCTIONPROFILE_H
#define WAVETILE_RUNTIME_EMULATOR_COUNTERS_INSTRUCTIONPROFILE_H

#include "runtime/emulator/AccessObserver.h"
#include "runtime/emulator/Decoder.h"
#include "runtime/emulator/Wave.h"
#include "runtime/emulator/counters/LdsCost.h"
#include "runtime/emulator/counters/Trace.h"

#include <vector>

namespace wavetile::device {

/// Sums over all waves that executed one instruction.
struct InstructionCounts {
  uint64_t executed = 0;    ///< By a wave.
  uint64_t activeLanes = 0; ///< Lanes in EXEC.

  // Of memory instructions.
  uint64_t accessingLanes = 0; ///< Lanes whose access was made: in EXEC and in the buffer's range.
  uint64_t globalBytes = 0;    ///< Also of scalar loads.
  uint64_t ldsBytes = 0;       ///< Not of loads to LDS.
  uint64_t scratchBytes = 0;
  uint64_t lines = 0; ///< Different lines of 128 bytes that each access touches. Not of LDS.
  uint64_t unalignedLanes = 0;
  uint64_t ldsCycles = 0;
  uint64_t ldsConflictCycles = 0;

  InstructionCounts &operator+=(const InstructionCounts &other);
};

class InstructionProfile {
public:
  explicit InstructionProfile(const DecodedProgram &program);

  /// Before \p record is executed.
  WAVETILE_INLINE void begin(const Wave &wave, const Record *record) {
    InstructionCounts &counts = list[static_cast<size_t>(record - firstRecord)];
    ++counts.executed;
    counts.activeLanes += static_cast<uint64_t>(__builtin_popcountll(wave.exec()));
    if (__builtin_expect(wave.workgroup->trace != nullptr, 0))
      wave.workgroup->trace->begin(wave, record);
  }
  /// After it.
  WAVETILE_INLINE void end(const Wave &wave, const Record *record) {
    if (__builtin_expect(wave.workgroup->trace != nullptr, 0))
      wave.workgroup->trace->end(wave, record);
  }

  /// An AccessObserver's function; `self` is not used.
  static bool observe(void *self, Wave &wave, const MemoryAccess &access);

  /// Of the record that an instruction begins with; parts of instructions count for themselves.
  const InstructionCounts &of(const Record *record) const {
    return list[static_cast<size_t>(record - firstRecord)];
  }
  InstructionProfile &operator+=(const InstructionProfile &other);

private:
  void count(const Wave &wave, const MemoryAccess &access);

  const Record *firstRecord;
  LdsCostModel ldsModel;
  std::vector<InstructionCounts> list;
  AccessedLines lines; ///< Of the access at hand.
};

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_COUNTERS_INSTRUCTIONPROFILE_H
