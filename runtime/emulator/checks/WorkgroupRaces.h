//===- WorkgroupRaces.h - Looks for races of a workgroup -------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What this header promises: told of every access of the waves of a workgroup, of the waits that
// cover them and of the barriers that the waves arrive at, it stops a wave whose access races with
// an earlier one, with a report of both, and says which bytes of a load are undefined for a race.
// LdsRaces.h and GlobalRaces.h have the rules.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_CHECKS_WORKGROUPRACES_H
#define WAVETILE_RUNTIME_EMULATOR_CHECKS_WORKGROUPRACES_H

#include "runtime/emulator/LaunchContext.h"
#include "runtime/emulator/checks/GlobalRaces.h"
#include "runtime/emulator/checks/LdsRaces.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace wavetile::device {

class WorkgroupRaces {
public:
  /// Makes ready for a workgroup that has been set up. \p global is the launch's; null: races in
  /// global memory are not looked for.
  void start(const LaunchContext &context, Workgroup &group, uint64_t index,
             checks::GlobalRaces *global);

  /// An AccessObserver's function; `self` is not used.
  static bool observe(void *self, Wave &wave, const MemoryAccess &access);

  /// A wait has covered the access that was given this number.
  void completed(const Wave &wave, uint32_t number) {
    waves[wave.indexInWorkgroup].outstanding.complete(number);
  }
  /// What other waves' stores make undefined of the load that was observed last.
  const checks::RacedBytes &racedBytes() const { return raced; }
  /// How that came about, for the latest such bytes of a load.
  std::string describeRaced(const Record *load) const;

  /// The wave executes an instruction that empties the scalar cache, or its vector caches.
  void invalidateCache(const Wave &wave, bool isScalar);
  /// The wave begins to write back its vector caches, for the whole device to see.
  void beginWriteBack(const Wave &wave) {
    if (global)
      global->beginWriteBack(waves[wave.indexInWorkgroup].global);
  }
  /// A wait has covered that.
  void wroteBack(const Wave &wave) {
    if (global)
      global->wroteBack(waves[wave.indexInWorkgroup].global);
  }
  /// The wave has arrived at a barrier, which has not opened yet.
  void arrived(const Wave &wave);

private:
  struct WaveState {
    checks::OutstandingAccesses outstanding;
    checks::GlobalRaceWave global;
  };
  bool access(Wave &wave, const MemoryAccess &access);
  bool report(Wave &wave, const MemoryAccess &access, const checks::RaceAccess &part,
              const checks::RaceConflict &conflict);
  bool report(Wave &wave, const MemoryAccess &access, const checks::RaceAccess &part,
              const checks::GlobalRaceConflict &conflict);
  std::string describeOther(const checks::GlobalRaceConflict &conflict) const;

  const LaunchContext *context = nullptr;
  checks::GlobalRaces *global = nullptr;
  bool checksLds = false;
  checks::LdsRaces lds;
  std::vector<WaveState> waves;
  checks::RacedBytes raced;
  std::unordered_map<const Record *, checks::GlobalRaceConflict> racedLoads;
  std::string message; ///< Of the fault.
};

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_CHECKS_WORKGROUPRACES_H
