//===- TurnRunner.h - Runs workgroups, a turn at a time --------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What this header promises: in one turn each wave of a workgroup executes a fixed number of
// instructions, or fewer if it ends, gives its turn up, waits at a barrier that does not open, or
// runs in circles. A workgroup that needs no more than that runs from its start to its end without
// a pause.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_TURNRUNNER_H
#define WAVETILE_RUNTIME_EMULATOR_TURNRUNNER_H

#include "runtime/emulator/GlobalMemory.h"
#include "runtime/emulator/LaunchContext.h"
#include "runtime/emulator/ResidentWorkgroup.h"
#include "runtime/emulator/SpinProbe.h"

#include "runtime/emulator/counters/InstructionProfile.h"

#include <atomic>
#include <memory>

namespace wavetile::device {

/// Instructions of a wave in one turn.
inline constexpr uint64_t turnQuantum = uint64_t(1) << 14;
/// Of these, the first that are looked at for a state that repeats, if the turn before suggests it.
inline constexpr uint64_t probeQuantum = uint64_t(1) << 12;

/// What came of a turn.
struct Turn {
  enum class End : uint8_t { Resting, Ended, Faulted } end = End::Resting;
  /// A wave ended or something was stored to global memory: whoever waits for this workgroup may
  /// have something to see.
  bool progress = false;
  /// Every wave that did not wait at a barrier came back to a state that it was in before, with no
  /// barrier opened and no byte of memory changed in between. Exact if true.
  bool repeats = false;
  const Wave *faulted = nullptr; ///< End::Faulted.
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
  /// Null if the launch is not profiled.
  const InstructionProfile *profile() const { return instructionProfile.get(); }
  /// Instructions that this runner has executed.
  uint64_t executed() const { return executedInstructions; }

private:
  uint64_t reserve(uint64_t instructions);
  uint64_t runWave(Wave &wave, uint64_t instructions);
  uint64_t probeWave(Wave &wave, uint64_t instructions, Turn &turn);
  bool runReadyWaves(ResidentWorkgroup &group, Turn &turn);

  std::atomic<uint64_t> &budget;
  GlobalMemory memory;
  Counters counts;
  std::unique_ptr<InstructionProfile> instructionProfile;
  SpinProbe probe;
  uint64_t executedInstructions = 0;
  std::vector<uint64_t> left; ///< Of each wave's turn.
  std::vector<bool> probed;   ///< Whether a wave has been probed in this turn.
};

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_TURNRUNNER_H
