//===- TurnRunner.cpp - Runs workgroups, a turn at a time ------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/TurnRunner.h"

#include "runtime/emulator/Barriers.h"

#include <algorithm>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace wavetile::device {

const Record *fail(Wave &wave, const Record *record, FaultKind kind, int32_t lane, uint64_t address,
                   uint32_t bytes, bool isStore, const char *detail) {
  wave.status = WaveStatus::Faulted;
  wave.pc = record;
  wave.fault = {kind, record, lane, address, bytes, isStore, detail};
  return nullptr;
}

void applyMode(const Mode &mode) {
#if defined(__x86_64__)
  // All exceptions masked, to nearest even; flush to zero and denormals are zero together.
  _mm_setcsr(mode.flush32 ? 0x9fc0 : 0x1f80);
#else
  (void)mode;
#endif
}

TurnRunner::TurnRunner(const LaunchContext &context, const MemoryMap &map,
                       std::atomic<uint64_t> &budget)
    : context(context), budget(budget),
      memory(map, context.argumentsBegin(), context.argumentsEnd()), left(context.waveCount) {}

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

/// Executes up to that many instructions; returns how many it did.
uint64_t TurnRunner::runWave(Wave &wave, uint64_t instructions) {
  applyMode(wave.mode);
  const Record *record = wave.pc;
  uint64_t *classes = counts.instructions.data();
  for (uint64_t done = 1; done <= instructions; ++done) {
    ++classes[record->instructionClass];
    const Record *next = record->execute(wave, record);
    if (!next)
      return done;
    record = next;
  }
  wave.pc = record;
  return instructions;
}

void TurnRunner::fault(Turn &turn, const Wave &wave, const ResidentWorkgroup &group) {
  turn.end = Turn::End::Faulted;
  turn.fault = context.faultOf(wave, group.coordinates());
}

/// Runs each wave that may run once. False: none could.
bool TurnRunner::runReadyWaves(ResidentWorkgroup &group, Turn &turn) {
  bool any = false;
  for (Wave &wave : group.waves()) {
    uint64_t &quantum = left[wave.indexInWorkgroup];
    if (wave.status != WaveStatus::Ready || quantum == 0)
      continue;
    any = true;
    uint64_t reserved = reserve(quantum);
    uint64_t executed = runWave(wave, reserved);
    if (executed < reserved)
      budget.fetch_add(reserved - executed, std::memory_order_relaxed);
    // A wave that stopped by itself though it is ready gave its turn up.
    bool gaveUp = wave.status == WaveStatus::Ready && executed < reserved;
    if (wave.status == WaveStatus::Ready && executed == reserved && reserved < quantum)
      fail(wave, wave.pc, FaultKind::InstructionLimit, -1, 0, 0, false);
    quantum = gaveUp ? 0 : quantum - executed;
    if (wave.status == WaveStatus::Faulted) {
      fault(turn, wave, group);
      return false;
    }
    if (wave.status == WaveStatus::Ended) {
      leaveBarrier(wave);
      turn.progress = true;
    }
  }
  return any;
}

Turn TurnRunner::run(ResidentWorkgroup &group) {
  Turn turn;
  group.shared.memory = &memory;
  group.shared.bytesLoaded = &counts.bytesLoaded;
  group.shared.bytesStored = &counts.bytesStored;
  std::fill(left.begin(), left.end(), turnQuantum);
  uint32_t barriers = group.shared.barrier.opened;
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
    fault(turn, waiting, group);
  }
  turn.progress |= turn.end == Turn::End::Ended || group.shared.barrier.opened != barriers ||
                   counts[InstructionClass::GlobalStore] != stores;
  return turn;
}

} // namespace wavetile::device
