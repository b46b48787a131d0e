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
//     between at which the first was over (a wait has covered it);
//   - a scoped access (device or system, see AccessScope) or an atomic releases what its workgroup
//     has done so far, but for stores of its own wave that no wait has covered; a scoped load or an
//     atomic that meets what was so released acquires it, with all that the releasing workgroup had
//     acquired. Where stores carry no scope (gfx11), one that a scoped access meets counts as one.
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

#include "runtime/emulator/checks/LdsRaces.h"
#include "runtime/emulator/checks/RaceAccess.h"
#include "runtime/emulator/checks/RaceShadow.h"

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
  /// Holds stores that its wave had released something after, before a wait covered them.
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
};

/// One end of a conflict in global memory.
struct GlobalRaceConflict {
  unsigned lane = 0;
  uint64_t address = 0;
  bool otherWrites = false;
  /// The other lane of the same store.
  std::optional<unsigned> otherLane;
  /// The other access, if it was another instruction.
  RaceSegment other;
};

class GlobalRaces {
public:
  explicit GlobalRaces(bool storesCarryScope) : storesCarryScope(storesCarryScope) {}

  /// The wave issues an access; `outstanding` are its own that are not over.
  std::optional<GlobalRaceConflict> access(const Wave &wave, GlobalRaceWave &state,
                                           const MemoryAccess &reported, RaceAccess &part,
                                           const OutstandingAccesses &outstanding);

private:
  /// What has happened before a workgroup: of a few others all up to a segment, and of all others
  /// up to `everything`.
  struct Past {
    static constexpr size_t most = 8;
    uint32_t everything = 0;
    std::vector<std::pair<uint64_t, uint32_t>> groups;

    bool covers(uint64_t group, uint32_t segment) const;
    bool add(uint64_t group, uint32_t segment);
  };
  struct Group {
    uint32_t generation = 0; ///< Counts its acquires and releases.
    Past past;
  };

  std::optional<GlobalRaceConflict> lanesConflict(const Wave &wave, const MemoryAccess &reported,
                                                  const RaceAccess &part) const;
  uint32_t currentSegment(const Wave &wave, GlobalRaceWave &state);
  void beginSegment(const Wave &wave, GlobalRaceWave &state);
  bool isBefore(uint32_t segment, const Wave &wave, const GlobalRaceWave &state);
  void acquire(uint32_t segment, const Wave &wave, GlobalRaceWave &state);
  void release(const Wave &wave, GlobalRaceWave &state, const OutstandingAccesses &outstanding);
  void beginStore(const Wave &wave, GlobalRaceWave &state, const OutstandingAccesses &outstanding);
  void moveStore(const Wave &wave, GlobalRaceWave &state, const RaceAccess &part);
  void addRead(RaceCell &cell, uint32_t segment, bool isScoped, const Wave &wave,
               const GlobalRaceWave &state);
  template <typename Body> bool visit(uint64_t begin, uint64_t end, Body body);

  const bool storesCarryScope;
  bool anyAcquired = false;
  std::vector<RaceSegment> segments{1};       ///< Number 0 is none.
  std::unordered_map<uint64_t, Group> groups; ///< Those that have acquired or released.
  std::unordered_map<uint64_t, std::unique_ptr<RaceShadow>> pages;
  uint64_t lastPage = ~uint64_t(0);
  RaceShadow *lastShadow = nullptr;
};

} // namespace wavetile::device::checks

#endif // WAVETILE_RUNTIME_EMULATOR_CHECKS_GLOBALRACES_H
