//===- LoadedCopies.h - Loads of one element by several waves --------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compilers give several waves of a workgroup copies of one element where there are more lanes than
// elements: one load instruction, executed by all of these waves, of which one stores the result in
// place. A wave that loads late gets what was stored already and drops what it makes of it. This
// type says, of a byte, which waves loaded it by which instruction, so that such loads can be told
// from those that a store takes by surprise.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_CHECKS_LOADEDCOPIES_H
#define WAVETILE_RUNTIME_EMULATOR_CHECKS_LOADEDCOPIES_H

#include "runtime/emulator/checks/RaceAccess.h"

#include "llvm/ADT/DenseMap.h"

#include <array>
#include <cstdint>
#include <vector>

namespace wavetile::device::checks {

/// Sets of pairs of a load instruction and a wave; each set has a number, and 0 is the empty one.
class LoadedCopies {
public:
  /// The set with one pair more.
  uint32_t with(uint32_t set, const Record *load, uint32_t wave);
  /// Whether every instruction by which another wave loaded was one of \p wave too.
  bool sharesAll(uint32_t set, uint32_t wave) const;
  /// A wave of the set other than \p wave, which is returned if there is none.
  uint32_t otherWave(uint32_t set, uint32_t wave) const;
  /// Whether \p wave loaded by this instruction.
  bool holds(uint32_t set, const Record *load, uint32_t wave) const;

private:
  uint32_t successor(uint32_t set, const Record *load, uint32_t wave);
  struct Load {
    const Record *record;
    uint32_t waves; ///< A bit each; a workgroup has 32 at the most.
  };
  /// Beyond so many sets all is said to be shared.
  static constexpr uint32_t most = 1 << 16;

  std::vector<std::vector<Load>> sets{1};
  llvm::DenseMap<std::pair<uint64_t, const Record *>, uint32_t> successors; ///< By set and wave.
  /// The last answers, each in a place that its load and wave say: those of a loop ask the same.
  struct Answer {
    const Record *load = nullptr;
    uint32_t set = ~0u, wave = 0, result = 0;
  };
  static constexpr size_t answers = 16;
  std::array<Answer, answers> last;
};

} // namespace wavetile::device::checks

#endif // WAVETILE_RUNTIME_EMULATOR_CHECKS_LOADEDCOPIES_H
