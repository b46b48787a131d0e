//===- GlobalRaces.cpp - Races in global memory ----------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/checks/GlobalRaces.h"

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

static constexpr uint64_t pageBytes = 4096;

/// Scopes from which on other waves may wait for an access.
static bool isScoped(const RaceAccess &part) {
  return part.kind == RaceKind::Atomic || part.scope >= AccessScope::Workgroup;
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
  if (auto other = groups.find(from); isNews && other != groups.end()) {
    Past past = other->second.past;
    group.past.everything = std::max(group.past.everything, past.everything);
    for (const auto &[known, last] : past.groups)
      if (known != state.group)
        group.past.add(known, last);
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

/// All accesses so far have lower numbers than those that follow; stores that no wait has covered
/// are moved behind.
void GlobalRaces::release(const Wave &wave, GlobalRaceWave &state,
                          const OutstandingAccesses &outstanding) {
  ++groups[state.group].generation;
  bool any = false;
  outstanding.forEach([&](const RaceAccess &part) {
    any |= !part.isLds && part.kind == RaceKind::Write && !isScoped(part);
  });
  if (!any)
    return;
  beginSegment(wave, state);
  segments[state.segment].isUncovered = true;
  outstanding.forEach([&](const RaceAccess &part) {
    if (!part.isLds && part.kind == RaceKind::Write && !isScoped(part))
      moveStore(wave, state, part);
  });
  ++groups[state.group].generation;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

template <typename Body> bool GlobalRaces::visit(uint64_t begin, uint64_t end, Body body) {
  while (begin < end) {
    uint64_t page = begin / pageBytes, pageBegin = page * pageBytes;
    if (page != lastPage) {
      std::unique_ptr<RaceShadow> &shadow = pages[page];
      if (!shadow) {
        shadow = std::make_unique<RaceShadow>();
        shadow->reset(pageBytes);
      }
      lastPage = page;
      lastShadow = shadow.get();
    }
    uint64_t stop = std::min(end, pageBegin + pageBytes);
    if (!lastShadow->visit(static_cast<uint32_t>(begin - pageBegin),
                           static_cast<uint32_t>(stop - pageBegin),
                           [&](RaceCell &cell, uint32_t first, uint32_t count) {
                             return body(cell, pageBegin + first, count);
                           }))
      return false;
    begin = stop;
  }
  return true;
}

void GlobalRaces::addRead(RaceCell &cell, uint32_t segment, bool isScoped, const Wave &wave,
                          const GlobalRaceWave &state) {
  uint32_t flags = isScoped ? scopedBit : 0;
  if (uint32_t last = cell.read & segmentMask; last != 0) {
    const RaceSegment &other = segments[last];
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
}

/// Puts a store that is still under way into the wave's present segment.
void GlobalRaces::moveStore(const Wave &wave, GlobalRaceWave &state, const RaceAccess &part) {
  uint32_t segment = currentSegment(wave, state);
  part.forLanes([&](unsigned lane) {
    uint64_t begin = part.addresses[lane];
    visit(begin, begin + part.bytes, [&](RaceCell &cell, uint64_t, uint32_t) {
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
    isAscending &= part.addresses[lane] >= last;
    last = part.addresses[lane] + part.bytes;
  });
  if (isAscending)
    return std::nullopt;
  unsigned order[maximumWaveSize], count = 0;
  part.forLanes([&](unsigned lane) { order[count++] = lane; });
  std::sort(order, order + count, [&](unsigned a, unsigned b) {
    return std::pair(part.addresses[a], a) < std::pair(part.addresses[b], b);
  });
  for (unsigned i = 1; i < count; ++i) {
    unsigned first = order[i - 1], second = order[i];
    // Only what is the same word in both; other overlaps are left to the writes' own order.
    if (part.addresses[first] != part.addresses[second])
      continue;
    for (unsigned j = 0; j < reported.registers; ++j) {
      const uint32_t *row = wave.row(reported.data) + j * wave.waveSize;
      if (row[first] != row[second])
        return GlobalRaceConflict{second, part.addresses[second] + 4 * j, true, first, {}};
    }
  }
  return std::nullopt;
}

std::optional<GlobalRaceConflict> GlobalRaces::access(const Wave &wave, GlobalRaceWave &state,
                                                      const MemoryAccess &reported,
                                                      RaceAccess &part,
                                                      const OutstandingAccesses &outstanding) {
  std::optional<GlobalRaceConflict> conflict = lanesConflict(wave, reported, part);
  if (conflict)
    return conflict;
  bool isScopedAccess = isScoped(part), isWrite = part.kind != RaceKind::Read;
  // What a scoped access meets is acquired before anything is compared.
  if (isScopedAccess && part.kind != RaceKind::Write)
    part.forLanes([&](unsigned lane) {
      uint64_t begin = part.addresses[lane];
      visit(begin, begin + part.bytes, [&](RaceCell &cell, uint64_t, uint32_t) {
        if (uint32_t last = cell.write & segmentMask;
            last != 0 && (cell.write & scopedBit || !storesCarryScope))
          acquire(last, wave, state);
        return true;
      });
    });
  // Everything before a release has a lower number.
  bool releases = isScopedAccess && isWrite;
  uint32_t segment;
  if (!releases) {
    if (part.kind == RaceKind::Write && !storesCarryScope)
      beginStore(wave, state, outstanding);
    segment = currentSegment(wave, state);
    state.onlyScoped &= isScopedAccess;
  } else {
    if (!state.onlyScoped || segments[state.segment].barriers != wave.barriersSignalled)
      beginSegment(wave, state);
    segment = state.segment;
    state.onlyScoped = true;
  }
  part.segment = segment;
  part.forLanes([&](unsigned lane) {
    uint64_t begin = part.addresses[lane];
    if (conflict)
      return;
    visit(begin, begin + part.bytes, [&](RaceCell &cell, uint64_t address, uint32_t count) {
      if (part.kind == RaceKind::Write &&
          !changesBytes(wave, reported, part, lane, static_cast<uint32_t>(address - begin), count))
        return true;
      uint32_t write = cell.write & segmentMask, read = cell.read & segmentMask;
      bool writeScoped = cell.write & scopedBit, readScoped = cell.read & scopedBit;
      bool scoped = isScopedAccess;
      // A store that scoped accesses meet counts as scoped where it cannot say so itself.
      if (!storesCarryScope) {
        scoped |= isWrite && (writeScoped || readScoped);
        writeScoped |= scoped;
      }
      bool meetsWrite =
          write != 0 && !isBefore(write, wave, state) && !(writeScoped && (scoped || !isWrite));
      bool meetsRead = part.kind == RaceKind::Write && read != 0 && !(readScoped && scoped) &&
                       !scoped && !isBefore(read, wave, state);
      // The last reader is no other, but there were others at the same time.
      if (part.kind == RaceKind::Write && !scoped && read != 0 && !meetsRead && !readScoped) {
        bool isOwn = read == segment;
        meetsRead =
            (cell.read & manyGroupsBit && !anyAcquired && segments[read].group == state.group) ||
            (cell.read & manyWavesBit && isOwn);
      }
      if (meetsWrite || meetsRead) {
        conflict = GlobalRaceConflict{lane, address, meetsWrite, std::nullopt,
                                      segments[meetsWrite ? write : read]};
        return false;
      }
      if (isWrite)
        cell.write = segment | (scoped ? scopedBit : 0);
      else
        addRead(cell, segment, isScopedAccess, wave, state);
      return true;
    });
  });
  if (releases && !conflict)
    release(wave, state, outstanding);
  return conflict;
}

} // namespace wavetile::device::checks
