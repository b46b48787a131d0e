//===- LdsRaces.cpp - Races in LDS -----------------------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/checks/LdsRaces.h"

#include <algorithm>

namespace wavetile::device::checks {

namespace {

/// An entry of a cell: barriers at which the wave had arrived, whether an atomic, the wave.
struct Entry {
  static constexpr uint32_t many = 63; ///< More than one wave, all after as many barriers.

  static constexpr uint32_t make(uint32_t barriers, bool isAtomic, uint32_t wave) {
    return barriers << 7 | uint32_t(isAtomic) << 6 | (wave + 1);
  }
  explicit Entry(uint32_t bits)
      : exists(bits != 0), barriers(bits >> 7), isAtomic(bits >> 6 & 1), wave((bits & 63) - 1) {}

  bool exists;
  uint32_t barriers;
  bool isAtomic;
  uint32_t wave;

  bool isMany() const { return wave == many - 1; }
  /// Whether it is of another wave and was not over when `passed` barriers had opened.
  bool meets(uint32_t otherWave, uint32_t passed) const {
    return exists && wave != otherWave && barriers >= passed;
  }
};

/// After so many barriers nothing is checked any more: they no longer fit an entry.
constexpr uint32_t mostBarriers = (uint32_t(1) << 25) - 2;

} // namespace

void LdsRaces::start(uint32_t ldsBytes) {
  size = ldsBytes;
  shadow.reset(ldsBytes);
  instructions.assign((ldsBytes + 3) / 4, Records());
}

/// Adds an access to an entry for its kind.
static void add(uint32_t &bits, uint32_t barriers, bool isAtomic, uint32_t wave) {
  Entry old(bits);
  if (old.exists && old.barriers > barriers)
    return;
  bool joins =
      old.exists && old.barriers == barriers && old.isAtomic == isAtomic && old.wave != wave;
  bits = Entry::make(barriers, isAtomic, joins ? Entry::many - 1 : wave);
}

static void add(RaceCell &cell, const RaceAccess &part, uint32_t barriers, uint32_t wave) {
  if (part.kind == RaceKind::Read) {
    add(cell.read, barriers, false, wave);
    return;
  }
  bool isAtomic = part.kind == RaceKind::Atomic;
  // Several waves' writes race by themselves unless they are atomics.
  if (isAtomic)
    add(cell.write, barriers, true, wave);
  else
    cell.write = Entry::make(barriers, false, wave);
}

/// Loads to LDS are in no order with the wave's own LDS instructions.
std::optional<RaceConflict> LdsRaces::ownConflict(const RaceAccess &part,
                                                  const OutstandingAccesses &outstanding) const {
  if (part.kind == RaceKind::Read)
    return std::nullopt;
  std::optional<RaceConflict> conflict;
  outstanding.forEach([&](const RaceAccess &other) {
    if (conflict || !other.isLds || other.isLoadToLds == part.isLoadToLds)
      return;
    const RaceAccess &load = part.isLoadToLds ? part : other;
    const RaceAccess &instruction = part.isLoadToLds ? other : part;
    unsigned firstLane = static_cast<unsigned>(__builtin_ctzll(load.lanes));
    uint64_t base = load.addresses[firstLane] - uint64_t(firstLane) * load.bytes;
    instruction.forLanes([&](unsigned lane) {
      for (uint64_t byte = instruction.addresses[lane], end = byte + instruction.bytes;
           byte < end && !conflict; ++byte) {
        uint64_t loadLane = (byte - base) / load.bytes;
        if (byte < base || loadLane >= maximumWaveSize || !(load.lanes >> loadLane & 1))
          continue;
        conflict = RaceConflict{part.isLoadToLds ? static_cast<unsigned>(loadLane) : lane, byte,
                                other.kind != RaceKind::Read, std::nullopt, other.record};
      }
    });
  });
  return conflict;
}

std::optional<RaceConflict> LdsRaces::access(const Wave &wave, const MemoryAccess &reported,
                                             const RaceAccess &part,
                                             const OutstandingAccesses &outstanding) {
  if (wave.barriersSignalled > mostBarriers)
    return std::nullopt;
  if (std::optional<RaceConflict> conflict = ownConflict(part, outstanding)) {
    conflict->wave = wave.indexInWorkgroup;
    return conflict;
  }
  std::optional<RaceConflict> conflict;
  uint32_t self = wave.indexInWorkgroup, passed = wave.barriersPassed;
  part.forLanes([&](unsigned lane) {
    uint64_t begin = part.addresses[lane], end = begin + part.bytes;
    if (conflict || end > size)
      return;
    shadow.visit(begin, end, [&](RaceCell &cell, uint32_t first, uint32_t count) {
      Entry write(cell.write), read(cell.read);
      bool meetsWrite =
          write.meets(self, passed) && !(write.isAtomic && part.kind != RaceKind::Write);
      bool meetsRead = part.kind == RaceKind::Write && read.meets(self, passed);
      if (part.kind == RaceKind::Write &&
          !changesBytes(wave, reported, part, lane, first - begin, count))
        return true;
      if (meetsWrite || meetsRead) {
        if (part.kind == RaceKind::Write && !changesMemory(wave, reported, part, first, count))
          return true;
        const Entry &other = meetsWrite ? write : read;
        const Records &known = instructions[first / 4];
        conflict = RaceConflict{lane, first, meetsWrite,
                                other.isMany() ? std::nullopt : std::optional(other.wave),
                                meetsWrite ? known.write : known.read};
        return false;
      }
      add(cell, part, wave.barriersSignalled, self);
      Records &records = instructions[first / 4];
      (part.kind == RaceKind::Read ? records.read : records.write) = part.record;
      return true;
    });
  });
  return conflict;
}

void LdsRaces::arrived(const Wave &wave, const OutstandingAccesses &outstanding) {
  if (wave.barriersSignalled > mostBarriers)
    return;
  outstanding.forEach([&](const RaceAccess &part) {
    if (!part.isLds)
      return;
    part.forLanes([&](unsigned lane) {
      uint64_t begin = part.addresses[lane], end = begin + part.bytes;
      if (end > size)
        return;
      shadow.visit(begin, end, [&](RaceCell &cell, uint32_t, uint32_t) {
        // A write that changed nothing has left no mark.
        Entry write(cell.write);
        if (part.kind != RaceKind::Read &&
            !(write.exists && (write.isMany() || write.wave == wave.indexInWorkgroup)))
          return true;
        add(cell, part, wave.barriersSignalled, wave.indexInWorkgroup);
        return true;
      });
    });
  });
}

} // namespace wavetile::device::checks
