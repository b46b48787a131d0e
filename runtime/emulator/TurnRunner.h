//===- TurnRunner.h - Runs workgroups, a turn at a time --------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What this header promises: in one turn each wave of a workgroup executes a fixed number of
// instructions, or fewer if it ends, gives its turn up or waits at a barrier that does not open. A
// workgroup that needs no more than that runs from its start to its end without a pause.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_TURNRUNNER_H
#define WAVETILE_RUNTIME_EMULATOR_TURNRUNNER_H

#include "runtime/emulator/GlobalMemory.h"
#include "runtime/emulator/LaunchContext.h"
#include "runtime/emulator/ResidentWorkgroup.h"

#include <atomic>

namespace wavetile::device {

/// Instructions of a wave in one turn.
inline constexpr uint64_t turnQuantum = uint64_t(1) << 14;

/// What came of a turn.
struct Turn {
  enum class End : uint8_t { Resting, Ended, Faulted } end = End::Resting;
  /// A barrier opened, a wave ended, or something was stored to global memory: whoever waits for
  /// this workgroup may have something to see.
  bool progress = false;
  std::optional<Fault> fault; ///< End::Faulted.
};

/// One thread's means to run workgroups of a launch.
class TurnRunner {
public:
  /// \p budget is what all threads together may still execute.
  TurnRunner(const LaunchContext &context, const MemoryMap &map, std::atomic<uint64_t> &budget);

  /// Counts the workgroup, which was started right now.
  void begin(const ResidentWorkgroup &group);
  Turn run(ResidentWorkgroup &group);

  const Counters &counters() const { return counts; }

private:
  uint64_t runWave(Wave &wave, uint64_t instructions);
  uint64_t reserve(uint64_t instructions);
  bool runReadyWaves(ResidentWorkgroup &group, Turn &turn);
  void fault(Turn &turn, const Wave &wave, const ResidentWorkgroup &group);

  const LaunchContext &context;
  std::atomic<uint64_t> &budget;
  GlobalMemory memory;
  Counters counts;
  std::vector<uint64_t> left; ///< Of each wave's turn.
};

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_TURNRUNNER_H
