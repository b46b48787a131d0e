//===- LdsRaces.h - Races in LDS -------------------------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two accesses of different waves to one byte of LDS, one of them a write, race unless all of one
// lies behind a barrier that the other's wave arrived at when its access was over. What counts is
// how many barriers each wave has arrived at and gone past, never which instruction the barrier is.
// An access is over when a wait has covered it: one that is outstanding when its wave arrives at a
// barrier is there after the barrier too.
//
// Not reported: a write that changes no byte; an atomic and another atomic, or a plain read.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_CHECKS_LDSRACES_H
#define WAVETILE_RUNTIME_EMULATOR_CHECKS_LDSRACES_H

#include "runtime/emulator/checks/LdsRaceCell.h"
#include "runtime/emulator/checks/RaceAccess.h"
#include "runtime/emulator/checks/RaceShadow.h"

#include <optional>
#include <vector>

namespace wavetile::device::checks {

/// The other side of a race.
struct RaceConflict {
  unsigned lane = 0;    ///< Of the access that was checked.
  uint64_t address = 0; ///< The first byte.
  bool otherWrites = false;
  /// The wave of the other access; none if there were several.
  std::optional<uint32_t> wave;
  const Record *record = nullptr; ///< The other instruction, if it is known.
};

/// The cells of the dwords of a workgroup's LDS, as LdsRaceBlock has them.
class LdsRaceCells {
public:
  using Cell = LdsRaceCell;

  void reset(uint32_t dwords) {
    blocks.assign((dwords + LdsRaceBlock::dwords - 1) / LdsRaceBlock::dwords, Cell());
    if (cells.size() < size())
      cells.resize(size());
  }
  size_t size() const { return blocks.size() * LdsRaceBlock::dwords; }
  Cell get(uint32_t dword) const {
    const Cell &block = blocks[dword / LdsRaceBlock::dwords];
    return block.write == LdsRaceBlock::apart ? cells[dword] : block;
  }
  void set(uint32_t dword, const Cell &cell) {
    uint32_t index = dword / LdsRaceBlock::dwords;
    if (Cell &block = blocks[index]; block.write != LdsRaceBlock::apart) {
      if (block == cell)
        return;
      LdsRaceBlock::takeApart(block, &cells[index * LdsRaceBlock::dwords]);
    }
    cells[dword] = cell;
  }
  Cell *dwordCells() { return cells.data(); }
  Cell *blockCells() { return blocks.data(); }

private:
  std::vector<Cell> blocks;
  std::vector<Cell> cells; ///< Of blocks that are apart; of others they mean nothing.
};

/// The LDS of one workgroup.
class LdsRaces {
public:
  /// \p records are those of the program.
  void start(uint32_t ldsBytes, const Record *records);

  /// The wave issues an access. \p outstanding are its own that are not over.
  std::optional<RaceConflict> access(const Wave &wave, const MemoryAccess &reported,
                                     const RaceAccess &part,
                                     const OutstandingAccesses &outstanding);

  /// The wave has arrived at a barrier, with these accesses not over.
  void arrived(const Wave &wave, const OutstandingAccesses &outstanding);

private:
  std::optional<RaceConflict> ownConflict(const RaceAccess &part,
                                          const OutstandingAccesses &outstanding) const;
  LdsRacePass passOf(const Wave &wave, const RaceAccess &part, uint64_t self);
  /// The usual case of `access`. False: not so.
  bool mark(const Wave &wave, const MemoryAccess &reported, const RaceAccess &part, uint64_t self);

  RaceShadow<LdsRaceCells> shadow;
  const LdsRacePasses *passes = nullptr;
  const Record *firstRecord = nullptr;
  uint32_t size = 0;
};

} // namespace wavetile::device::checks

#endif // WAVETILE_RUNTIME_EMULATOR_CHECKS_LDSRACES_H
