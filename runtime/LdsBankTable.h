//===- LdsBankTable.h - How GPUs serve the lanes of an LDS access ---------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The facts that the compiler chooses LDS layouts by and that the software device counts bank
// conflicts by, in one place: both would otherwise be right about different hardware. The cost of
// an access is computed by each on its own.
//
// LDS has banks of 4-byte words, word w in bank w % banks. An access of a wave is served in phases,
// each for some of its lanes: lanes a and b are in one phase if and only if a ^ b is in the F2 span
// of `phaseLanes`. docs/software-device-counters.md has the same rows with their sources.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_LDSBANKTABLE_H
#define WAVETILE_RUNTIME_LDSBANKTABLE_H

#include <cstdint>

namespace wavetile {

/// GPUs whose LDS is built alike.
enum class LdsGeneration : uint8_t { Cdna3, Cdna4, Rdna3, Rdna4 };
enum class LdsOperation : uint8_t { Read, Write };
/// Public: measured by somebody on the hardware, or published by the vendor. Assumed: neither.
enum class FactStatus : uint8_t { Public, Assumed };

struct LdsPhases {
  LdsGeneration generation;
  LdsOperation operation;
  unsigned bits; ///< Of one lane's access; narrower ones than a word are as words.
  unsigned banks;
  unsigned phaseLanes[6]; ///< Up to the first 0.
  FactStatus status;

  constexpr unsigned phaseDimension() const {
    unsigned count = 0;
    while (count < 6 && phaseLanes[count] != 0)
      ++count;
    return count;
  }
};

inline constexpr LdsPhases ldsPhaseTable[] = {
    {LdsGeneration::Cdna3, LdsOperation::Read, 32, 32, {1, 2, 4, 8, 16}, FactStatus::Public},
    {LdsGeneration::Cdna3, LdsOperation::Read, 64, 32, {1, 2, 4, 8}, FactStatus::Public},
    {LdsGeneration::Cdna3, LdsOperation::Read, 96, 32, {1, 2, 20}, FactStatus::Assumed},
    {LdsGeneration::Cdna3, LdsOperation::Read, 128, 32, {1, 2, 20}, FactStatus::Public},
    {LdsGeneration::Cdna3, LdsOperation::Write, 32, 32, {1, 2, 4, 8, 16}, FactStatus::Assumed},
    {LdsGeneration::Cdna3, LdsOperation::Write, 64, 32, {1, 2, 4, 8}, FactStatus::Assumed},
    {LdsGeneration::Cdna3, LdsOperation::Write, 96, 32, {1, 2, 4}, FactStatus::Assumed},
    {LdsGeneration::Cdna3, LdsOperation::Write, 128, 32, {1, 2, 4}, FactStatus::Public},

    {LdsGeneration::Cdna4, LdsOperation::Read, 32, 64, {1, 2, 4, 8, 16, 32}, FactStatus::Public},
    {LdsGeneration::Cdna4, LdsOperation::Read, 64, 64, {1, 2, 4, 8, 16}, FactStatus::Public},
    // The banks are measured, the lanes of a phase are not.
    {LdsGeneration::Cdna4, LdsOperation::Read, 96, 32, {1, 2, 20}, FactStatus::Assumed},
    {LdsGeneration::Cdna4, LdsOperation::Read, 128, 64, {1, 2, 12, 20}, FactStatus::Public},
    {LdsGeneration::Cdna4, LdsOperation::Write, 32, 32, {1, 2, 4, 8, 16}, FactStatus::Assumed},
    {LdsGeneration::Cdna4, LdsOperation::Write, 64, 32, {1, 2, 4, 8}, FactStatus::Public},
    {LdsGeneration::Cdna4, LdsOperation::Write, 96, 32, {1, 2, 4}, FactStatus::Assumed},
    {LdsGeneration::Cdna4, LdsOperation::Write, 128, 32, {1, 2, 4}, FactStatus::Assumed},

    {LdsGeneration::Rdna3, LdsOperation::Read, 32, 32, {1, 2, 4, 8, 16}, FactStatus::Public},
    {LdsGeneration::Rdna3, LdsOperation::Read, 64, 32, {1, 2, 4, 8}, FactStatus::Public},
    {LdsGeneration::Rdna3, LdsOperation::Read, 96, 32, {1, 2, 20}, FactStatus::Assumed},
    {LdsGeneration::Rdna3, LdsOperation::Read, 128, 32, {1, 2, 20}, FactStatus::Public},
    {LdsGeneration::Rdna3, LdsOperation::Write, 32, 32, {1, 2, 4, 8, 16}, FactStatus::Assumed},
    {LdsGeneration::Rdna3, LdsOperation::Write, 64, 32, {1, 2, 4, 8}, FactStatus::Assumed},
    {LdsGeneration::Rdna3, LdsOperation::Write, 96, 32, {1, 2, 4}, FactStatus::Assumed},
    {LdsGeneration::Rdna3, LdsOperation::Write, 128, 32, {1, 2, 4}, FactStatus::Assumed},
};

/// The row of an access of 32, 64, 96 or 128 bits a lane. RDNA4's are taken to be RDNA3's.
constexpr LdsPhases ldsPhases(LdsGeneration generation, LdsOperation operation, unsigned bits) {
  LdsGeneration listed = generation == LdsGeneration::Rdna4 ? LdsGeneration::Rdna3 : generation;
  for (const LdsPhases &row : ldsPhaseTable) {
    if (row.generation != listed || row.operation != operation || row.bits != bits)
      continue;
    LdsPhases found = row;
    if (listed != generation)
      found.status = FactStatus::Assumed;
    found.generation = generation;
    return found;
  }
  return {generation, operation, 0, 0, {}, FactStatus::Assumed};
}

} // namespace wavetile

#endif // WAVETILE_RUNTIME_LDSBANKTABLE_H
