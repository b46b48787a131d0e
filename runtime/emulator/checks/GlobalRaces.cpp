//===- GlobalRaces.cpp - Races in global memory ----------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/checks/GlobalRaces.h"

#include "runtime/emulator/Instruction.h"

#include <algorithm>
#include <cstring>

namespace wavetile::device::checks {

// An entry of a cell is a segment's number and these.
static constexpr uint32_t scopedBit = uint32_t(1) << 29;
/// Reads: another wave of the workgroup, or another workgroup, has read too, and neither happened
/// before the other.
static constexpr uint32_t manyWavesBit = uint32_t(1) << 30;
static constexpr uint32_t manyGroupsBit = uint32_t(1) << 31;
static constexpr uint32_t segmentMask = scopedBit - 1;

/// Like no cell that there is.
static constexpr GlobalRaceCell noCell = {~0u, ~0u, ~0u};

/// Scopes from which on other waves may wait for an access.
static bool isScoped(const RaceAccess &part) {
  return part.kind == RaceKind::Atomic || part.scope >= AccessScope::Workgroup;
}

bool GlobalRaces::releases(const RaceAccess &part) {
  return isScoped(part) && part.kind != RaceKind::Read;
}

//===----------------------------------------------------------------------===//
// What happened before what
//===----------------------------------------------------------------------===//

bool GlobalRaces::Past::covers(uint64_t group, uint32_t segment) const {
  if (segment <= everything)
    return true;
  for (const auto &[known, last] : groups)
    if (known == group)
      return segment <= last;
  return false;
}

/// Returns whether that was news.
bool GlobalRaces::Past::add(uint64_t group, uint32_t segment) {
  if (segment <= everything)
    return false;
  for (auto &[known, last] : groups)
    if (known == group) {
      bool isNews = last < segment;
      last = std::max(last, segment);
      return isNews;
    }
  groups.push_back({group, segment});
  if (groups.size() <= most)
    return true;
  // Too many to tell apart: nothing that any of these had done is reported any more.
  for (const auto &[known, last] : groups)
    everything = std::max(everything, last);
  groups.clear();
  return true;
}

/// \p other may be this, to which it adds nothing.
void GlobalRaces::Past::addAllBut(uint64_t group, const Past &other) {
  everything = std::max(everything, other.everything);
  for (const auto &[known, last] : other.groups)
    if (known != group)
      add(known, last);
}

void GlobalRaces::beginSegment(const Wave &wave, GlobalRaceWave &state) {
  // The numbers are used up: the last one is everybody's, and reports cease.
  if (segments.size() < segmentMask)
    segments.push_back({state.group, wave.indexInWorkgroup, wave.barriersSignalled});
  state.segment = static_cast<uint32_t>(segments.size() - 1);
  segments.back().covers = state.segment;
  auto group = groups.find(state.group);
  state.generation = group == groups.end() ? 0 : group->second.generation;
}

uint32_t GlobalRaces::currentSegment(const Wave &wave, GlobalRaceWave &state) {
  auto group = groups.find(state.group);
  uint32_t generation = group == groups.end() ? 0 : group->second.generation;
  if (state.segment == 0 || state.generation != generation ||
      segments[state.segment].barriers != wave.barriersSignalled)
    beginSegment(wave, state);
  return state.segment;
}

bool GlobalRaces::isBefore(uint32_t segment, const Wave &wave, const GlobalRaceWave &state) {
  if (segments.size() >= segmentMask)
    return true;
  const RaceSegment &other = segments[segment];
  if (other.group == state.group)
    return other.wave == wave.indexInWorkgroup || other.barriers < wave.barriersPassed ||
           segment <= state.ownPast;
  if (!anyAcquired)
    return false;
  auto group = groups.find(state.group);
  return group != groups.end() && group->second.past.covers(other.group, segment);
}

void GlobalRaces::acquire(uint32_t segment, const Wave &wave, GlobalRaceWave &state) {
  uint64_t from = segments[segment].group;
  bool isOwnWave = from == state.group && segments[segment].wave == wave.indexInWorkgroup;
  uint32_t met = segment;
  segment = segments[segment].covers;
  if (isOwnWave || (from == state.group && segment <= state.ownPast))
    return;
  if (from == state.group) {
    state.ownPast = segment;
    beginSegment(wave, state);
    state.onlyScoped = false;
    return;
  }
  anyAcquired = true;
  Group &group = groups[state.group];
  bool isNews = group.past.add(from, segment);
  group.written.add(from, segments[met].writtenBack);
  if (auto other = groups.find(from); isNews && other != groups.end()) {
    group.past.addAllBut(state.group, other->second.past);
    group.written.addAllBut(state.group, other->second.written);
  }
  if (isNews)
    ++group.generation;
}

/// Where stores carry no scope, each may turn out to be a release: it has a segment of its own,
/// which covers what came before the first store that no wait has covered.
void GlobalRaces::beginStore(const Wave &wave, GlobalRaceWave &state,
                             const OutstandingAccesses &outstanding) {
  beginSegment(wave, state);
  uint32_t &covers = segments[state.segment].covers;
  outstanding.forEach([&](const RaceAccess &part) {
    if (!part.isLds && part.kind == RaceKind::Write && part.segment != 0)
      covers = std::min(covers, part.segment - 1);
  });
}

/// Stores of the wave that no wait has covered are moved into a segment of their own. Returns
/// whether there are any.
bool GlobalRaces::moveUncovered(const Wave &wave, GlobalRaceWave &state,
                                const OutstandingAccesses &outstanding) {
  auto isUncovered = [](const RaceAccess &part) {
    return !part.isLds && part.kind == RaceKind::Write && !isScoped(part);
  };
  bool any = false;
  outstanding.forEach([&](const RaceAccess &part) { any |= isUncovered(part); });
  if (!any)
    return false;
  beginSegment(wave, state);
  segments[state.segment].isUncovered = true;
  outstanding.forEach([&](const RaceAccess &part) {
    if (isUncovered(part))
      moveStore(wave, state, part);
  });
  return true;
}

void GlobalRaces::beginWriteBack(GlobalRaceWave &state) {
  state.writingBack = static_cast<uint32_t>(segments.size() - 1);
  ++groups[state.group].generation;
  beginAnother(state);
}

void GlobalRaces::wroteBack(GlobalRaceWave &state) {
  uint32_t &writtenBack = groups[state.group].writtenBack;
  writtenBack = std::max(writtenBack, state.writingBack);
  beginAnother(state);
}

/// Whether another workgroup's store, which happened before, can be seen.
bool GlobalRaces::isWrittenBack(uint32_t segment, const GlobalRaceWave &state) const {
  if (!needsWriteBack || !anyAcquired || segments.size() >= segmentMask ||
      segments[segment].group == state.group)
    return true;
  auto group = groups.find(state.group);
  return group == groups.end() || segment <= group->second.past.everything ||
         group->second.written.covers(segments[segment].group, segment);
}

/// All accesses so far have lower numbers than those that follow, but for stores that no wait has
/// covered.
void GlobalRaces::release(const Wave &wave, GlobalRaceWave &state,
                          const OutstandingAccesses &outstanding) {
  ++groups[state.group].generation;
  uint32_t segment = state.segment;
  if (!moveUncovered(wave, state, outstanding))
    return;
  ++groups[state.group].generation;
  // One wait is missing for these stores and the write-back: they are what is reported.
  uint32_t &writtenBack = segments[segment].writtenBack;
  writtenBack = std::max(writtenBack, state.writingBack);
}

void GlobalRaces::arrived(const Wave &wave, GlobalRaceWave &state,
                          const OutstandingAccesses &outstanding) {
  if (!workgroupSharesCache && moveUncovered(wave, state, outstanding))
    state.segment = 0; // What follows is in another one.
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

GlobalRaces::GlobalRaces(const TargetDescription &target, bool workgroupSharesCache)
    : storesCarryScope(target.storesCarryScope()),
      needsWriteBack(target.devicesHaveSeveralL2Caches()),
      workgroupSharesCache(workgroupSharesCache), passes(&instructionTables()->globalRaces) {}

GlobalRaces::Shadow &GlobalRaces::shadowOf(uint64_t page) {
  KnownRacePage &known = knownPages[page % racePageSlots];
  Shadow *&knownShadow = knownShadows[page % racePageSlots];
  if (known.number == page)
    return *knownShadow;
  std::unique_ptr<Shadow> &shadow = pages[page];
  if (!shadow)
    shadow = std::make_unique_for_overwrite<Shadow>();
  known = {page, &shadow->wholeCells().data()};
  knownShadow = shadow.get();
  return *shadow;
}

template <typename Body> bool GlobalRaces::visit(uint64_t begin, uint64_t end, Body body) {
  while (begin < end) {
    uint64_t page = begin / racePageBytes, pageBegin = page * racePageBytes;
    Shadow &shadow = shadowOf(page);
    uint64_t stop = std::min(end, pageBegin + racePageBytes);
    if (!shadow.visit(static_cast<uint32_t>(begin - pageBegin),
                      static_cast<uint32_t>(stop - pageBegin),
                      [&](Cell &cell, uint32_t first, uint32_t count) {
                        return body(cell, pageBegin + first, count);
                      }))
      return false;
    begin = stop;
  }
  return true;
}

void GlobalRaces::addRead(Cell &cell, const RaceAccess &part, uint32_t segment, const Wave &wave,
                          const GlobalRaceWave &state) {
  uint32_t flags = isScoped(part) ? scopedBit : 0;
  bool joins = false;
  if (uint32_t last = cell.read & segmentMask; last != 0) {
    const RaceSegment &other = segments[last];
    joins = other.group == state.group && other.barriers >= wave.barriersPassed;
    if (last == segment)
      flags |= cell.read & ~segmentMask;
    else if (other.group != state.group && !isBefore(last, wave, state))
      flags |= manyGroupsBit;
    else if (other.group == state.group && !isBefore(last, wave, state))
      flags |= manyWavesBit | (cell.read & manyGroupsBit);
    else
      flags |= cell.read & manyGroupsBit;
  }
  cell.read = segment | flags;
  cell.loads = copies.with(joins ? cell.loads : 0, part.record, wave.indexInWorkgroup);
}

/// Puts a store that is still under way into the wave's present segment.
void GlobalRaces::moveStore(const Wave &wave, GlobalRaceWave &state, const RaceAccess &part) {
  uint32_t segment = currentSegment(wave, state);
  part.forLanes([&](unsigned lane) {
    uint64_t begin = part.addressOf(lane);
    visit(begin, begin + part.bytes, [&](Cell &cell, uint64_t, uint32_t) {
      // A write that changed nothing has left no mark.
      const RaceSegment &last = segments[cell.write & segmentMask];
      if ((cell.write & segmentMask) != 0 && last.group == state.group &&
          last.wave == wave.indexInWorkgroup)
        cell.write = segment | (cell.write & scopedBit);
      return true;
    });
  });
}

/// Two lanes of one store that write different values to one byte.
std::optional<GlobalRaceConflict> GlobalRaces::lanesConflict(const Wave &wave,
                                                             const MemoryAccess &reported,
                                                             const RaceAccess &part) const {
  if (part.kind != RaceKind::Write || reported.contiguous ||
      reported.placement != DataPlacement::Dwords || reported.data.kind() != OperandKind::Vector)
    return std::nullopt;
  bool isAscending = true;
  uint64_t last = 0;
  part.forLanes([&](unsigned lane) {
    isAscending &= part.addressOf(lane) >= last;
    last = part.addressOf(lane) + part.bytes;
  });
  if (isAscending)
    return std::nullopt;
  unsigned order[maximumWaveSize], count = 0;
  part.forLanes([&](unsigned lane) { order[count++] = lane; });
  std::sort(order, order + count, [&](unsigned a, unsigned b) {
    return std::pair(part.addressOf(a), a) < std::pair(part.addressOf(b), b);
  });
  for (unsigned i = 1; i < count; ++i) {
    unsigned first = order[i - 1], second = order[i];
    // Only what is the same word in both; other overlaps are left to the writes' own order.
    if (part.addressOf(first) != part.addressOf(second))
      continue;
    for (unsigned j = 0; j < reported.registers; ++j) {
      const uint32_t *row = wave.row(reported.data) + j * wave.waveSize;
      if (row[first] != row[second])
        return GlobalRaceConflict{second, part.addressOf(second) + 4 * j, true, first, {}};
    }
  }
  return std::nullopt;
}

/// The cache in which a load may find what was there before the stores of a segment.
StaleCache GlobalRaces::staleCache(uint32_t segment, bool isScalarLoad,
                                   const GlobalRaceWave &state) const {
  if (isScalarLoad)
    return segment > state.scalarCacheInvalidated ? StaleCache::Scalar : StaleCache::None;
  if (!anyAcquired || segments[segment].group == state.group)
    return StaleCache::None;
  auto group = groups.find(state.group);
  bool isVisible =
      group == groups.end() || group->second.visible.covers(segments[segment].group, segment);
  return isVisible ? StaleCache::None : StaleCache::Vector;
}

/// Whether an access conflicts with what the cell has. \p scoped says whether it is scoped, and is
/// set for a store that counts as such by what it meets.
bool GlobalRaces::conflicts(const Cell &cell, const RaceAccess &part, uint32_t segment,
                            bool isScalarLoad, bool &scoped, GlobalRaceConflict &found,
                            const Wave &wave, const GlobalRaceWave &state) {
  bool isRead = part.kind == RaceKind::Read, isStore = part.kind == RaceKind::Write;
  uint32_t write = cell.write & segmentMask, read = cell.read & segmentMask;
  bool writeScoped = cell.write & scopedBit, readScoped = cell.read & scopedBit;
  if (!storesCarryScope) {
    scoped |= !isRead && (writeScoped || readScoped);
    writeScoped |= scoped;
  }
  bool meetsWrite =
      write != 0 && !isBefore(write, wave, state) && !(writeScoped && (scoped || isRead));
  bool meetsRead = false, meetsOtherGroups = false;
  if (isStore && !scoped && read != 0) {
    const RaceSegment &last = segments[read];
    bool isGroups = last.group == state.group;
    meetsRead = !isBefore(read, wave, state);
    // The last reader is no other, but there were others at the same time.
    if (!meetsRead && !readScoped && isGroups) {
      bool isOwn = last.wave == wave.indexInWorkgroup && last.barriers >= wave.barriersPassed &&
                   state.ownPast == 0 && !anyAcquired;
      meetsOtherGroups = cell.read & manyGroupsBit && !anyAcquired;
      meetsRead = meetsOtherGroups || (cell.read & manyWavesBit && (isOwn || read == segment));
    }
  }
  // In order, but a cache may still have what was there before.
  if (isRead && !scoped && !meetsWrite && !writeScoped && write != 0)
    found.stale = staleCache(write, isScalarLoad, state);
  if (!meetsWrite && !writeScoped && write != 0 && !isWrittenBack(write, state))
    found.stale = StaleCache::NotWrittenBack;
  bool isStale = found.stale != StaleCache::None;
  if (!meetsWrite && !meetsRead && !isStale)
    return false;
  found.otherWrites = meetsWrite || isStale;
  found.other = segments[found.otherWrites ? write : read];
  // Who the others were is known of the own workgroup only.
  found.isOfOtherGroup = meetsOtherGroups && !found.otherWrites;
  if (!found.otherWrites && found.other.wave == wave.indexInWorkgroup)
    found.other.wave = copies.otherWave(cell.loads, wave.indexInWorkgroup);
  bool isCopy = false;
  if (found.other.group == state.group && !meetsOtherGroups)
    isCopy = isRead ? copies.holds(cell.loads, part.record, found.other.wave)
                    : !found.otherWrites && copies.sharesAll(cell.loads, wave.indexInWorkgroup);
  found.mayBeHarmless = isCopy || isScalarLoad || (isStale && isRead);
  return true;
}

/// One access, while the cells of its bytes are looked at.
struct GlobalRaces::Access {
  const Wave &wave;
  GlobalRaceWave &state;
  const MemoryAccess &reported;
  const RaceAccess &part;
  RacedBytes &raced;
  uint32_t segment;
  /// What became of the last cell, at first of one like none that there is. Cells like it become
  /// the same, and most are.
  GlobalRacePass pass = {};
  std::optional<GlobalRaceConflict> conflict = std::nullopt;

  bool changes(unsigned lane, uint64_t address, uint32_t count) const {
    if (part.kind != RaceKind::Write)
      return true;
    auto first = static_cast<uint32_t>(address - part.addressOf(lane));
    if (!pass.stored)
      return changesBytes(wave, reported, part, lane, first, count);
    return std::memcmp(reinterpret_cast<const void *>(address),
                       pass.stored + size_t(part.bytes) * lane + first, count) != 0;
  }
  /// Whether each dword of a line changes, which lanes from \p lane on store together.
  bool changesLine(unsigned lane, uint64_t address) const {
    if (!pass.stored)
      return part.kind != RaceKind::Write;
    const uint8_t *now = pass.stored + (address - part.addressOf(lane)) + size_t(part.bytes) * lane;
    const auto *old = reinterpret_cast<const uint8_t *>(address);
    for (unsigned i = 0; i < GlobalRaceLine::bytes; i += 4)
      if (std::memcmp(old + i, now + i, 4) == 0)
        return false;
    return true;
  }
};

/// Puts what a store writes into `stored`. False: that is not known.
bool GlobalRaces::layOut(const Wave &wave, const MemoryAccess &reported, const RaceAccess &part) {
  if (part.kind != RaceKind::Write || reported.data.kind() != OperandKind::Vector)
    return false;
  switch (reported.placement) {
  case DataPlacement::Dwords:
  case DataPlacement::ZeroExtend:
  case DataPlacement::HighHalf:
    break;
  default:
    return false;
  }
  bool isHigh = reported.placement == DataPlacement::HighHalf;
  passes->layOut(wave.row(reported.data), wave.waveSize, part.bytes, isHigh ? 16 : 0, stored);
  return true;
}

/// Looks at one cell and marks it. False: there is a conflict.
bool GlobalRaces::touch(Access &access, Cell &cell, unsigned lane, uint64_t address,
                        uint32_t count) {
  const RaceAccess &part = access.part;
  if (!access.changes(lane, address, count))
    return true;
  GlobalRacePass &pass = access.pass;
  if (cell == pass.before) {
    cell = pass.after;
    return true;
  }
  Cell before = cell;
  bool scoped = isScoped(part), isWrite = part.kind != RaceKind::Read, isRaced = false;
  GlobalRaceConflict found;
  if (conflicts(cell, part, access.segment, access.reported.space == AccessSpace::Constant, scoped,
                found, access.wave, access.state)) {
    found.lane = lane;
    found.address = address;
    if (!found.mayBeHarmless) {
      access.conflict = found;
      return false;
    }
    isRaced = true;
    if (!isWrite)
      access.raced.add(found, static_cast<uint32_t>(address - part.addressOf(lane)), count);
  }
  if (isWrite)
    cell.write = access.segment | (scoped ? scopedBit : 0);
  else
    addRead(cell, part, access.segment, access.wave, access.state);
  if (!isRaced)
    pass.before = before, pass.after = cell;
  return true;
}

/// Looks at a line that lanes from \p lane on access together, and marks it. False: its dwords want
/// a look each.
bool GlobalRaces::touchLine(Access &access, unsigned lane, uint64_t address) {
  uint64_t page = address / racePageBytes;
  GlobalRaceLine &line =
      shadowOf(page).wholeCells().data().lines[address % racePageBytes / GlobalRaceLine::bytes];
  const RaceAccess &part = access.part;
  if (line.apart)
    return false;
  if (part.kind == RaceKind::Write && !access.changesLine(lane, address))
    return false;
  Cell before = line.cell;
  bool scoped = isScoped(part);
  GlobalRaceConflict found;
  if (conflicts(before, part, access.segment, access.reported.space == AccessSpace::Constant,
                scoped, found, access.wave, access.state))
    return false;
  if (part.kind == RaceKind::Read)
    addRead(line.cell, part, access.segment, access.wave, access.state);
  else
    line.cell.write = access.segment | (scoped ? scopedBit : 0);
  access.pass.before = before, access.pass.after = line.cell;
  return true;
}

void GlobalRaces::touchLanes(Access &access) {
  const RaceAccess &part = access.part;
  GlobalRacePass &pass = access.pass;
  pass.addresses = part.addresses;
  pass.bytes = part.bytes;
  pass.lanes = part.lanes;
  while (true) {
    pass.lanes = passes->lanes(pass);
    if (pass.lanes == 0)
      return;
    auto lane = static_cast<unsigned>(__builtin_ctzll(pass.lanes));
    uint64_t begin = part.addresses[lane];
    uint64_t together =
        lanesOfLine(pass.addresses, pass.lanes, lane, pass.bytes, pass.stored != nullptr);
    if (together && touchLine(access, lane, begin)) {
      pass.lanes &= ~together;
      continue;
    }
    if (!visit(begin, begin + part.bytes, [&](Cell &cell, uint64_t address, uint32_t count) {
          return touch(access, cell, lane, address, count);
        }))
      return;
    pass.lanes &= pass.lanes - 1;
  }
}

/// The same of lanes whose bytes lie behind one another.
void GlobalRaces::touchRun(Access &access) {
  const RaceAccess &part = access.part;
  uint64_t begin = part.addresses[0], end = begin + uint64_t(part.bytes) * access.wave.waveSize;
  auto laneAt = [&](uint64_t address) {
    return static_cast<unsigned>((address - begin) / part.bytes);
  };
  auto touchLineAt = [&](uint64_t at) {
    return at % GlobalRaceLine::bytes == 0 && end - at >= GlobalRaceLine::bytes &&
           touchLine(access, laneAt(at), at);
  };
  const uint8_t *stores = access.pass.stored;
  // The first line says what becomes of the others.
  for (uint64_t at = touchLineAt(begin) ? begin + GlobalRaceLine::bytes : begin;;) {
    access.pass.stored = stores ? stores + (at - begin) : nullptr;
    at = passes->run(access.pass, at, end);
    access.pass.stored = stores;
    if (at >= end)
      return;
    if (touchLineAt(at)) {
      at += GlobalRaceLine::bytes;
      continue;
    }
    uint64_t stop = std::min(end, (at / GlobalRaceCells::bytes + 1) * GlobalRaceCells::bytes);
    if (!visit(at, stop, [&](Cell &cell, uint64_t address, uint32_t count) {
          return touch(access, cell, laneAt(address), address, count);
        }))
      return;
    at = stop;
  }
}

/// What a scoped access meets is acquired before anything is compared.
void GlobalRaces::acquireFrom(const RaceAccess &part, const Wave &wave, GlobalRaceWave &state) {
  part.forLanes([&](unsigned lane) {
    uint64_t begin = part.addressOf(lane);
    visit(begin, begin + part.bytes, [&](Cell &cell, uint64_t, uint32_t) {
      if (uint32_t last = cell.write & segmentMask;
          last != 0 && (cell.write & scopedBit || !storesCarryScope))
        acquire(last, wave, state);
      return true;
    });
  });
}

std::optional<GlobalRaceConflict>
GlobalRaces::access(const Wave &wave, GlobalRaceWave &state, const MemoryAccess &reported,
                    RaceAccess &part, const OutstandingAccesses &outstanding, RacedBytes &raced) {
  std::optional<GlobalRaceConflict> conflict = lanesConflict(wave, reported, part);
  if (conflict)
    return conflict;
  bool isScopedAccess = isScoped(part);
  if (isScopedAccess && part.kind != RaceKind::Write)
    acquireFrom(part, wave, state);
  // Everything before a release has a lower number.
  bool isRelease = releases(part);
  if (!isRelease) {
    if (part.kind == RaceKind::Write && !storesCarryScope)
      beginStore(wave, state, outstanding);
    part.segment = currentSegment(wave, state);
    state.onlyScoped &= isScopedAccess;
  } else {
    if (!state.onlyScoped || segments[state.segment].barriers != wave.barriersSignalled)
      beginSegment(wave, state);
    part.segment = state.segment;
    if (auto group = groups.find(state.group); group != groups.end())
      segments[part.segment].writtenBack = group->second.writtenBack;
    state.onlyScoped = true;
  }
  Access access{wave, state, reported, part, raced, part.segment};
  access.pass.pages = knownPages.data();
  access.pass.before = noCell;
  access.pass.after = noCell;
  if (layOut(wave, reported, part))
    access.pass.stored = stored;
  // Several lanes' bytes may be one dword; of dwords, whole ones only have one cell each.
  if (part.isRun && (part.bytes < 4 || part.addresses[0] % 4 == 0)) {
    touchRun(access);
  } else {
    part.spread();
    touchLanes(access);
  }
  if (isRelease && !access.conflict)
    release(wave, state, outstanding);
  return access.conflict;
}

} // namespace wavetile::device::checks
