//===- TurnRunner.cpp - Runs workgroups, a turn at a time ------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/TurnRunner.h"

#include "runtime/emulator/Barriers.h"
#include "runtime/emulator/ExecuteStep.h"

#include <algorithm>

namespace wavetile::device {

const Record *fail(Wave &wave, const Record *record, FaultKind kind, int32_t lane, uint64_t address,
                   uint32_t bytes, bool isStore, const char *detail) {
  wave.status = WaveStatus::Faulted;
  wave.pc = record;
  wave.fault = {kind, record, lane, address, bytes, isStore, false, detail};
  return nullptr;
}

const char *interruptHost(const Workgroup &workgroup) {
  return workgroup.launch && workgroup.launch->interrupt ? workgroup.launch->interrupt() : nullptr;
}

TurnRunner::TurnRunner(const LaunchContext &context, const MemoryMap &map,
                       std::atomic<uint64_t> &budget)
    : budget(budget), memory(map, context.argumentsBegin(), context.argumentsEnd()), probe(context),
      left(context.waveCount), probed(context.waveCount) {
  memory.setKernargDefinedBits(context.argumentsDefined());
  if (context.isProfiled())
    instructionProfile = std::make_unique<InstructionProfile>(context.program);
}

void TurnRunner::begin(const ResidentWorkgroup &group) {
  counts.waves += group.shared.waveCount;
  ++counts.workgroups;
}

/// Takes up to \p instructions from the budget of the launch.
uint64_t TurnRunner::reserve(uint64_t instructions) {
  uint64_t available = budget.load(std::memory_order_relaxed);
  uint64_t taken;
  do
    taken = std::min(instructions, available);
  while (!budget.compare_exchange_weak(available, available - taken, std::memory_order_relaxed));
  return taken;
}

template <bool isChecked, bool isProfiled>
static uint64_t runSteps(Wave &wave, uint64_t instructions, uint64_t *classes) {
  const Record *record = wave.pc;
  for (uint64_t done = 1; done <= instructions; ++done) {
    const Record *next = executeStep<isChecked, isProfiled>(wave, record, classes);
    if (!next)
      return done;
    record = next;
  }
  wave.pc = record;
  return instructions;
}

/// Executes up to that many instructions; returns how many it did.
uint64_t TurnRunner::runWave(Wave &wave, uint64_t instructions) {
  uint64_t *classes = counts.instructions.data();
  return withStepsOf(wave, [&]<bool isChecked, bool isProfiled>() {
    return runSteps<isChecked, isProfiled>(wave, instructions, classes);
  });
}

/// The same, and looks for a state that repeats. A wave whose state does gives its turn up.
uint64_t TurnRunner::probeWave(Wave &wave, uint64_t instructions, Turn &turn) {
  uint64_t executed = 0;
  SpinProbe::Outcome outcome =
      probe.run(wave, std::min(instructions, probeQuantum), counts.instructions.data(), executed);
  if (outcome == SpinProbe::Outcome::Repeats)
    left[wave.indexInWorkgroup] = executed;
  else
    turn.repeats = false;
  return executed;
}

static const Wave *firstFaulted(ResidentWorkgroup &group) {
  const Wave *found = llvm::find_if(
      group.waves(), [](const Wave &wave) { return wave.status == WaveStatus::Faulted; });
  return found == group.waves().end() ? nullptr : found;
}

/// Runs each wave that may run once. False: none could.
bool TurnRunner::runReadyWaves(ResidentWorkgroup &group, Turn &turn) {
  bool any = false;
  for (Wave &wave : group.waves()) {
    uint32_t index = wave.indexInWorkgroup;
    if (wave.status != WaveStatus::Ready || left[index] == 0)
      continue;
    any = true;
    bool isProbe = group.mayRepeat && !probed[index];
    uint64_t wanted = isProbe ? std::min(left[index], probeQuantum) : left[index];
    uint64_t reserved = reserve(wanted);
    probed[index] = true;
    uint64_t executed = isProbe ? probeWave(wave, reserved, turn) : runWave(wave, reserved);
    executedInstructions += executed;
    budget.fetch_add(reserved - executed, std::memory_order_relaxed);
    left[index] -= executed;
    switch (wave.status) {
    case WaveStatus::Ready:
      if (executed == reserved && reserved < wanted)
        fail(wave, wave.pc, FaultKind::InstructionLimit, -1, 0, 0, false);
      else if (executed < reserved && !isProbe)
        left[index] = 0; // It gave its turn up.
      break;
    case WaveStatus::Ended:
      leaveBarrier(wave);
      break;
    case WaveStatus::AtBarrier:
    case WaveStatus::Faulted:
      break;
    }
    // The barrier may have stopped others than this one.
    bool mayHaveFaulted = wave.status == WaveStatus::Faulted || group.shared.barrier.missed;
    const Wave *faulted = mayHaveFaulted ? firstFaulted(group) : nullptr;
    if (faulted) {
      turn.end = Turn::End::Faulted;
      turn.faulted = faulted;
      return false;
    }
  }
  return any;
}

Turn TurnRunner::run(ResidentWorkgroup &group) {
  Turn turn;
  turn.repeats = group.mayRepeat;
  group.shared.memory = &memory;
  group.shared.bytesLoaded = &counts.bytesLoaded;
  group.shared.bytesStored = &counts.bytesStored;
  group.shared.profile = instructionProfile.get();
  group.shared.executed = counts.instructions.data();
  std::fill(left.begin(), left.end(), turnQuantum);
  std::fill(probed.begin(), probed.end(), false);
  uint32_t barriers = group.shared.barrier.opened, members = group.shared.barrier.members;
  uint64_t stores = counts[InstructionClass::GlobalStore];
  while (runReadyWaves(group, turn))
    ;
  if (turn.end == Turn::End::Faulted)
    return turn;
  if (group.hasEnded())
    turn.end = Turn::End::Ended;
  else if (llvm::none_of(group.waves(),
                         [](const Wave &wave) { return wave.status == WaveStatus::Ready; })) {
    // Not one wave is left that could open the barrier.
    Wave &waiting = *llvm::find_if(
        group.waves(), [](const Wave &wave) { return wave.status == WaveStatus::AtBarrier; });
    fail(waiting, waiting.pc - 1, FaultKind::BarrierMismatch, -1, 0, 0, false,
         "every wave that has not ended waits for a barrier to open that not all have signalled");
    turn.end = Turn::End::Faulted;
    turn.faulted = &waiting;
  }
  bool moved = group.shared.barrier.opened != barriers || group.shared.barrier.members != members;
  turn.progress =
      group.shared.barrier.members != members || counts[InstructionClass::GlobalStore] != stores;
  turn.repeats &= !moved && turn.end == Turn::End::Resting;
  group.mayRepeat = !moved;
  return turn;
}

} // namespace wavetile::device
