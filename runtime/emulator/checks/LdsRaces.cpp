//===- LdsRaces.cpp - Races in LDS -----------------------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/checks/LdsRaces.h"

#include "runtime/emulator/Instruction.h"

#include <algorithm>

namespace wavetile::device::checks {

using Entry = LdsRaceEntry;

void LdsRaces::start(uint32_t ldsBytes, const Record *records) {
  size = ldsBytes;
  shadow.reset(ldsBytes);
  firstRecord = records;
  passes = &instructionTables()->ldsRaces;
}

/// Adds an access to an entry for its kind.
static void add(uint64_t &bits, uint64_t self) {
  Entry old(bits), entry(self);
  if (old.exists && old.barriers > entry.barriers)
    return;
  bool joins = old.exists && old.barriers == entry.barriers && old.isAtomic == entry.isAtomic &&
               old.wave != entry.wave;
  bits = joins ? Entry::make(entry.barriers, entry.isAtomic, Entry::many, entry.record) : self;
}

static void add(LdsRaceCell &cell, const RaceAccess &part, uint64_t self) {
  if (part.kind == RaceKind::Read)
    add(cell.read, self);
  // Several waves' writes race by themselves unless they are atomics.
  else if (part.kind == RaceKind::Atomic)
    add(cell.write, self);
  else
    cell.write = self;
}

static uint64_t entryOf(const Wave &wave, const RaceAccess &part, const Record *firstRecord) {
  return Entry::make(wave.barriersSignalled, part.kind == RaceKind::Atomic, wave.indexInWorkgroup,
                     static_cast<uint32_t>(part.record - firstRecord));
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
    uint64_t base = load.offsets[firstLane] - uint64_t(firstLane) * load.step;
    uint64_t loadEnd = base + uint64_t(maximumWaveSize) * load.step;
    instruction.forLanes([&](unsigned lane) {
      uint64_t begin = instruction.addressOf(lane), end = begin + instruction.bytes;
      if (begin >= loadEnd || end <= base)
        return;
      for (uint64_t byte = begin; byte < end && !conflict; ++byte) {
        uint64_t loadLane = (byte - base) / load.step;
        // Where lanes are further apart than what each writes, there is a gap behind it.
        if (byte < base || loadLane >= maximumWaveSize || !(load.lanes >> loadLane & 1) ||
            (byte - base) % load.step >= load.bytes)
          continue;
        conflict = RaceConflict{part.isLoadToLds ? static_cast<unsigned>(loadLane) : lane, byte,
                                other.kind != RaceKind::Read, std::nullopt, other.record};
      }
    });
  });
  return conflict;
}

/// The pass for a part of an access that is no atomic.
LdsRacePass LdsRaces::passOf(const Wave &wave, const RaceAccess &part, uint64_t self) {
  LdsRacePass pass;
  pass.cells = shadow.wholeCells().dwordCells();
  pass.blocks = shadow.wholeCells().blockCells();
  pass.ldsBytes = size;
  pass.offsets = part.isRun ? nullptr : part.offsets;
  pass.begin = part.offsets[0];
  pass.lanes = part.lanes;
  pass.dwords = part.bytes % 4 == 0 ? part.bytes / 4 : 0;
  pass.waveSize = wave.waveSize;
  pass.self = self;
  pass.passed = wave.barriersPassed;
  return pass;
}

bool LdsRaces::mark(const Wave &wave, const MemoryAccess &reported, const RaceAccess &part,
                    uint64_t self) {
  if (reported.placement != DataPlacement::Dwords || part.kind == RaceKind::Atomic)
    return false;
  LdsRacePass pass = passOf(wave, part, self);
  if (part.kind == RaceKind::Read)
    return passes->reads(pass);
  pass.lds = wave.workgroup->lds;
  if (part.isLoadToLds) {
    pass.addresses = reported.addresses;
    pass.known = reported.bytes == part.bytes ? reported.active : 0;
  } else if (reported.data.kind() == OperandKind::Vector) {
    pass.data = wave.row(reported.data);
  } else {
    return false;
  }
  return passes->writes(pass);
}

std::optional<RaceConflict> LdsRaces::access(const Wave &wave, const MemoryAccess &reported,
                                             const RaceAccess &part,
                                             const OutstandingAccesses &outstanding) {
  if (wave.barriersSignalled > Entry::mostBarriers)
    return std::nullopt;
  if (std::optional<RaceConflict> conflict = ownConflict(part, outstanding)) {
    conflict->wave = wave.indexInWorkgroup;
    return conflict;
  }
  uint64_t self = entryOf(wave, part, firstRecord);
  if (mark(wave, reported, part, self))
    return std::nullopt;
  std::optional<RaceConflict> conflict;
  uint32_t wanted = wave.indexInWorkgroup, passed = wave.barriersPassed;
  part.forLanes([&](unsigned lane) {
    uint64_t begin = part.addressOf(lane), end = begin + part.bytes;
    if (conflict || end > size)
      return;
    shadow.visit(begin, end, [&](LdsRaceCell &cell, uint32_t first, uint32_t count) {
      Entry write(cell.write), read(cell.read);
      bool meetsWrite =
          write.meets(wanted, passed) && !(write.isAtomic && part.kind != RaceKind::Write);
      bool meetsRead = part.kind == RaceKind::Write && read.meets(wanted, passed);
      if (part.kind == RaceKind::Write &&
          !changesBytes(wave, reported, part, lane, first - begin, count))
        return true;
      if (meetsWrite || meetsRead) {
        if (part.kind == RaceKind::Write && !changesMemory(wave, reported, part, first, count))
          return true;
        const Entry &other = meetsWrite ? write : read;
        conflict = RaceConflict{lane, first, meetsWrite,
                                other.isMany() ? std::nullopt : std::optional(other.wave),
                                firstRecord + other.record};
        return false;
      }
      add(cell, part, self);
      return true;
    });
  });
  return conflict;
}

void LdsRaces::arrived(const Wave &wave, const OutstandingAccesses &outstanding) {
  if (wave.barriersSignalled > Entry::mostBarriers)
    return;
  outstanding.forEach([&](const RaceAccess &part) {
    if (!part.isLds)
      return;
    uint64_t self = entryOf(wave, part, firstRecord);
    if (part.kind != RaceKind::Atomic) {
      LdsRacePass pass = passOf(wave, part, self);
      bool isRead = part.kind == RaceKind::Read;
      if (isRead ? passes->reads(pass) : passes->unfinishedWrites(pass))
        return;
    }
    part.forLanes([&](unsigned lane) {
      uint64_t begin = part.addressOf(lane), end = begin + part.bytes;
      if (end > size)
        return;
      shadow.visit(begin, end, [&](LdsRaceCell &cell, uint32_t, uint32_t) {
        // A write that changed nothing has left no mark.
        Entry write(cell.write);
        if (part.kind != RaceKind::Read &&
            !(write.exists && (write.isMany() || write.wave == wave.indexInWorkgroup)))
          return true;
        add(cell, part, self);
        return true;
      });
    });
  });
}

} // namespace wavetile::device::checks
