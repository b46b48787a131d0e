//===- GlobalRaces.h - Races in global memory ------------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two accesses of one launch to one byte, one of them a write, race unless one happens before the
// other:
//
//   - a wave's accesses are in order, and so are those of the waves of a workgroup with a barrier
//   in
//     between. On RDNA the waves of a workgroup have two caches unless it runs in CU mode: a store
//     must be over at the barrier there (a wait has covered it);
//   - a scoped access (device or system, see AccessScope) or an atomic releases what its workgroup
//     has done so far, but for stores of its own wave that no wait has covered; a scoped load or an
//     atomic that meets what was so released acquires it, with all that the releasing workgroup had
//     acquired. Where stores carry no scope (gfx11), one that a scoped access meets counts as one.
//
// Loads are taken for what they are good for in three cases: their raced bytes are undefined, which
// is reported if it decides something.
//
//   - Waves load one element by one instruction, and one of them stores it in place: copies that a
//     compiler made (LoadedCopies.h). Loads before the store are no race then.
//   - A scalar load may be wider than what is wanted of it.
//   - A load reads through caches that other workgroups' stores do not change, a scalar load
//   through
//     one that no store changes: what this launch stored is undefined unless the workgroup has
//     invalidated its caches since it acquired that, or the wave the scalar cache.
//
// A scoped access does not race with another, nor a plain read with a scoped write. A write that
// changes no byte is none. Two lanes of one store that write different values to one byte race by
// themselves. Whatever this cannot decide is not reported: of readers in many workgroups only the
// last is known, and the part of its past that a workgroup acquires is kept for a few others only.
//
// One thread runs the launch.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_CHECKS_GLOBALRACES_H
#define WAVETILE_RUNTIME_EMULATOR_CHECKS_GLOBALRACES_H

#include "runtime/emulator/Target.h"
#include "runtime/emulator/checks/GlobalRaceCell.h"
#include "runtime/emulator/checks/LoadedCopies.h"
#include "runtime/emulator/checks/RaceAccess.h"
#include "runtime/emulator/checks/RaceShadow.h"

#include <array>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace wavetile::device::checks {

/// The accesses of a wave between two events that order it with others: a segment. Segments are
/// numbered in the order in which they begin.
struct RaceSegment {
  uint64_t group = 0;
  uint32_t wave = 0;
  uint32_t barriers = 0; ///< At which the wave had arrived.
  /// What acquires from its store acquires all segments of the workgroup up to this one.
  uint32_t covers = 0;
  /// And of those the stores up to this one have been written back, for other workgroups to see.
  uint32_t writtenBack = 0;
  /// Holds stores that its wave had released something after, or had arrived at a barrier after,
  /// before a wait covered them.
  bool isUncovered = false;
};

/// What a wave keeps for these checks.
struct GlobalRaceWave {
  uint64_t group = 0; ///< The workgroup's linear index.
  uint32_t segment = 0;
  uint32_t generation = 0; ///< Of the workgroup, when the segment began.
  /// What it has acquired of its own workgroup: all segments up to this one.
  uint32_t ownPast = 0;
  /// The segment began with a release, and the wave has made nothing but scoped accesses since.
  bool onlyScoped = false;
  /// The last segment there was when the wave invalidated the scalar cache.
  uint32_t scalarCacheInvalidated = 0;
  /// The last segment there was when it began to write back its caches.
  uint32_t writingBack = 0;
};

/// Why a load may not find what was stored before it.
enum class StaleCache : uint8_t { None, Scalar, Vector, NotWrittenBack };

/// One end of a conflict in global memory.
struct GlobalRaceConflict {
  unsigned lane = 0;
  uint64_t address = 0;
  bool otherWrites = false;
  /// The other lane of the same store.
  std::optional<unsigned> otherLane;
  /// The other access, if it was another instruction.
  RaceSegment other;
  /// Of another workgroup, `other` being only the last of several.
  bool isOfOtherGroup = false;
  /// The two are in order, but the load may find what this cache had before.
  StaleCache stale = StaleCache::None;
  /// A load: what matters is whether its bytes decide anything. A store: nothing is wrong.
  bool mayBeHarmless = false;
};

/// Bytes of a load that are undefined because of another wave's store.
struct RacedBytes {
  uint64_t lanes = 0;
  uint64_t bytes[maximumWaveSize]; ///< A bit for each byte, of the lanes in `lanes`.
  GlobalRaceConflict conflict;     ///< Of the first of them.

  void add(const GlobalRaceConflict &found, uint32_t first, uint32_t count) {
    if (lanes == 0)
      conflict = found;
    uint64_t bit = uint64_t(1) << found.lane;
    uint64_t mask = ((uint64_t(1) << count) - 1) << first;
    bytes[found.lane] = lanes & bit ? bytes[found.lane] | mask : mask;
    lanes |= bit;
  }
};

class GlobalRaces {
public:
  /// \p workgroupSharesCache: what a wave stores the others of its workgroup see in order.
  GlobalRaces(const TargetDescription &target, bool workgroupSharesCache);

  /// The wave issues an access; `outstanding` are its own that are not over. Bytes that are
  /// undefined for a race are added to \p raced.
  std::optional<GlobalRaceConflict> access(const Wave &wave, GlobalRaceWave &state,
                                           const MemoryAccess &reported, RaceAccess &part,
                                           const OutstandingAccesses &outstanding,
                                           RacedBytes &raced);

  /// The wave has arrived at a barrier, or another of its workgroup has released something. If the
  /// waves of a workgroup do not share a cache, stores that no wait has covered are behind that.
  void arrived(const Wave &wave, GlobalRaceWave &state, const OutstandingAccesses &outstanding);

  /// Whether an access releases what its workgroup has done.
  static bool releases(const RaceAccess &part);

  /// The wave executes buffer_inv, buffer_gl0_inv or global_inv.
  void invalidateCaches(const GlobalRaceWave &state) {
    if (auto group = groups.find(state.group); group != groups.end())
      group->second.visible = group->second.past;
  }

  /// The wave executes s_dcache_inv.
  void invalidateScalarCache(GlobalRaceWave &state) const {
    state.scalarCacheInvalidated = static_cast<uint32_t>(segments.size() - 1);
    beginAnother(state);
  }

  /// The wave writes back its caches as far as the device: what its workgroup has stored so far.
  void beginWriteBack(GlobalRaceWave &state);
  /// A wait has covered that.
  void wroteBack(GlobalRaceWave &state);

private:
  /// What has happened before a workgroup: of a few others all up to a segment, and of all others
  /// up to `everything`.
  struct Past {
    static constexpr size_t most = 8;
    uint32_t everything = 0;
    std::vector<std::pair<uint64_t, uint32_t>> groups;

    bool covers(uint64_t group, uint32_t segment) const;
    bool add(uint64_t group, uint32_t segment);
    void addAllBut(uint64_t group, const Past &other);
  };
  using Cell = GlobalRaceCell;
  /// Those of a page.
  class PageCells {
  public:
    using Cell = GlobalRaceCell;
    static constexpr uint32_t dwords = racePageBytes / 4;

    size_t size() const { return dwords; }
    Cell get(uint32_t dword) const {
      const GlobalRaceLine &line = page.lines[dword / GlobalRaceLine::dwords];
      return line.apart
                 ? page.cells[dword / GlobalRaceCells::dwords].get(dword % GlobalRaceCells::dwords)
                 : line.cell;
    }
    void set(uint32_t dword, const Cell &cell) {
      uint32_t line = dword / GlobalRaceLine::dwords;
      if (!page.lines[line].apart && page.lines[line].cell == cell)
        return;
      page.takeApart(line);
      page.cells[dword / GlobalRaceCells::dwords].set(dword % GlobalRaceCells::dwords, cell);
    }
    GlobalRacePage &data() { return page; }

  private:
    GlobalRacePage page;
  };
  using Shadow = RaceShadow<PageCells>;
  struct Group {
    uint32_t generation = 0; ///< Counts its acquires and releases.
    Past past;
    Past visible;             ///< What was its past when it invalidated its caches.
    Past written;             ///< That part of its past of which the stores had been written back.
    uint32_t writtenBack = 0; ///< Of its own segments: up to this one.
  };

  std::optional<GlobalRaceConflict> lanesConflict(const Wave &wave, const MemoryAccess &reported,
                                                  const RaceAccess &part) const;
  uint32_t currentSegment(const Wave &wave, GlobalRaceWave &state);
  void beginSegment(const Wave &wave, GlobalRaceWave &state);
  /// What a wave does from now on is in a later segment than what it did.
  static void beginAnother(GlobalRaceWave &state) {
    state.segment = 0;
    state.onlyScoped = false;
  }
  bool isWrittenBack(uint32_t segment, const GlobalRaceWave &state) const;
  bool isBefore(uint32_t segment, const Wave &wave, const GlobalRaceWave &state);
  void acquire(uint32_t segment, const Wave &wave, GlobalRaceWave &state);
  void release(const Wave &wave, GlobalRaceWave &state, const OutstandingAccesses &outstanding);
  bool moveUncovered(const Wave &wave, GlobalRaceWave &state,
                     const OutstandingAccesses &outstanding);
  void beginStore(const Wave &wave, GlobalRaceWave &state, const OutstandingAccesses &outstanding);
  void moveStore(const Wave &wave, GlobalRaceWave &state, const RaceAccess &part);
  void addRead(Cell &cell, const RaceAccess &part, uint32_t segment, const Wave &wave,
               const GlobalRaceWave &state);
  StaleCache staleCache(uint32_t segment, bool isScalarLoad, const GlobalRaceWave &state) const;
  bool conflicts(const Cell &cell, const RaceAccess &part, uint32_t segment, bool isScalarLoad,
                 bool &scoped, GlobalRaceConflict &found, const Wave &wave,
                 const GlobalRaceWave &state);
  Shadow &shadowOf(uint64_t page);
  template <typename Body> bool visit(uint64_t begin, uint64_t end, Body body);
  struct Access;
  bool layOut(const Wave &wave, const MemoryAccess &reported, const RaceAccess &part);
  bool touch(Access &access, Cell &cell, unsigned lane, uint64_t address, uint32_t count);
  bool touchLine(Access &access, unsigned lane, uint64_t address);
  void touchLanes(Access &access);
  void touchRun(Access &access);
  void acquireFrom(const RaceAccess &part, const Wave &wave, GlobalRaceWave &state);

  const bool storesCarryScope, needsWriteBack, workgroupSharesCache;
  bool anyAcquired = false;
  std::vector<RaceSegment> segments{1};       ///< Number 0 is none.
  std::unordered_map<uint64_t, Group> groups; ///< Those that have acquired or released.
  LoadedCopies copies;
  std::unordered_map<uint64_t, std::unique_ptr<Shadow>> pages;
  std::array<KnownRacePage, racePageSlots> knownPages;
  std::array<Shadow *, racePageSlots> knownShadows;
  const GlobalRacePasses *passes;
  alignas(64) uint8_t stored[16 * maximumWaveSize]; ///< What the access writes.
};

} // namespace wavetile::device::checks

#endif // WAVETILE_RUNTIME_EMULATOR_CHECKS_GLOBALRACES_H
