//===- LdsCost.h - Cycles and bank conflicts of LDS accesses --------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What this header promises: the cycles that the LDS of a GPU takes to serve one access of a wave
// at known addresses, by the phases and banks of runtime/LdsBankTable.h. A phase takes as many
// cycles as its busiest bank has different words to serve; lanes that read the same word share it.
// What the table does not say is assumed: docs/software-device-counters.md lists it.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_COUNTERS_LDSCOST_H
#define WAVETILE_RUNTIME_EMULATOR_COUNTERS_LDSCOST_H

#include "runtime/LdsBankTable.h"
#include "runtime/emulator/AccessObserver.h"

#include "llvm/ADT/SmallVector.h"

namespace wavetile::device {

struct LdsCost {
  uint32_t cycles = 0;
  uint32_t minimum = 0; ///< Cycles if the same words were spread evenly over the banks.

  uint32_t conflicts() const { return cycles - minimum; }
  bool operator==(const LdsCost &) const = default;
};

class LdsCostModel {
public:
  LdsCostModel(LdsGeneration generation, uint32_t waveSize);

  /// Of an access to LDS as memory instructions report it.
  LdsCost of(const MemoryAccess &access) const;
  /// Of an instruction that moves a word of each lane to another one through the LDS' crossbar.
  LdsCost ofPermutation() const;

private:
  /// The lanes of each phase for one width.
  struct Phases {
    unsigned banks = 0;
    llvm::SmallVector<uint64_t, 8> lanes;
  };
  const Phases &phasesOf(const MemoryAccess &access) const;

  Phases table[2][4]; ///< By LdsOperation and dwords of a lane.
};

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_COUNTERS_LDSCOST_H
