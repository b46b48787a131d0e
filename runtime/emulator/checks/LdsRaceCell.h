//===- LdsRaceCell.h - The last accesses of a dword of LDS -----------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How LdsRaces codes what it knows of a dword, and the usual case of an access as one pass over
// such cells, which is code built for each instruction set of the host: no library containers here.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_CHECKS_LDSRACECELL_H
#define WAVETILE_RUNTIME_EMULATOR_CHECKS_LDSRACECELL_H

#include <cstdint>

namespace wavetile::device::checks {

/// An access: at how many barriers its wave had arrived, whether it was an atomic, the wave, and
/// the number of the instruction. Those of a later barrier are greater; 0 is none.
struct LdsRaceEntry {
  static constexpr unsigned atomicBit = 38, barrierShift = 39;
  static constexpr uint64_t waveMask = uint64_t(63) << 32;
  /// More than one wave, all after as many barriers.
  static constexpr uint32_t many = 62;
  /// After so many nothing is checked any more: they no longer fit.
  static constexpr uint32_t mostBarriers = (uint32_t(1) << 24) - 2;

  static constexpr uint64_t make(uint32_t barriers, bool isAtomic, uint32_t wave, uint32_t record) {
    return uint64_t(barriers) << barrierShift | uint64_t(isAtomic) << atomicBit |
           uint64_t(wave + 1) << 32 | record;
  }
  explicit constexpr LdsRaceEntry(uint64_t bits)
      : exists(bits != 0), barriers(static_cast<uint32_t>(bits >> barrierShift)),
        isAtomic(bits >> atomicBit & 1), wave((static_cast<uint32_t>(bits >> 32) & 63) - 1),
        record(static_cast<uint32_t>(bits)) {}

  bool exists;
  uint32_t barriers;
  bool isAtomic;
  uint32_t wave;
  uint32_t record;

  constexpr bool isMany() const { return wave == many; }
  /// Whether it is of another wave and was not over when `passed` barriers had opened.
  constexpr bool meets(uint32_t otherWave, uint32_t passed) const {
    return exists && wave != otherWave && barriers >= passed;
  }
};

/// The last write and the last read of a dword.
struct LdsRaceCell {
  uint64_t write = 0;
  uint64_t read = 0;

  bool operator==(const LdsRaceCell &) const = default;
};

/// The dwords of 128 bytes of LDS: what half a wave accesses with a dword a lane. While they are
/// all alike, as they are where whole waves access runs of bytes, one cell stands for them.
struct LdsRaceBlock {
  static constexpr uint32_t dwords = 32, bytes = 4 * dwords;
  /// A block's `write`, which no cell has: its dwords have cells of their own, until the workgroup
  /// ends.
  static constexpr uint64_t apart = ~uint64_t(0) - 1;

  __attribute__((always_inline)) static void takeApart(LdsRaceCell &block, LdsRaceCell *cells) {
    for (uint32_t i = 0; i < dwords; ++i)
      cells[i] = block;
    block.write = apart;
  }
};

/// A load, or a store that is no atomic, of 1 to 4 dwords a lane.
struct LdsRacePass {
  LdsRaceCell *cells = nullptr;  ///< Of all dwords of the workgroup's LDS.
  LdsRaceCell *blocks = nullptr; ///< And of its blocks.
  uint32_t ldsBytes = 0;
  /// Of each lane, in bytes. Null: all lanes are there, without gaps and in order, from `begin` on.
  const uint32_t *offsets = nullptr;
  uint32_t begin = 0;
  uint64_t lanes = 0;
  uint32_t dwords = 0;
  uint32_t waveSize = 0;
  uint64_t self = 0;   ///< The entry of this access.
  uint32_t passed = 0; ///< Barriers that the wave has gone past.
  // Stores: the workgroup's LDS as it was before, and what is stored there. Either the row of the
  // first register, or what lies at the addresses of the lanes in `known`; the others may store
  // anything.
  const uint8_t *lds = nullptr;
  const uint32_t *data = nullptr;
  const uint64_t *addresses = nullptr;
  uint64_t known = 0;
};
/// Marks an access in the cells. False: a lane's bytes are not whole dwords of LDS, or a cell holds
/// an entry that wants a closer look. Some lanes may have been marked then, which marking them
/// again does not change.
using MarkLdsRaces = bool (*)(const LdsRacePass &pass);
/// One for each kind of access.
struct LdsRacePasses {
  MarkLdsRaces reads, writes;
  /// Writes that are not over when their wave arrives at a barrier: entries of this wave that they
  /// have left get its present barrier.
  MarkLdsRaces unfinishedWrites;
};

} // namespace wavetile::device::checks

#endif // WAVETILE_RUNTIME_EMULATOR_CHECKS_LDSRACECELL_H
