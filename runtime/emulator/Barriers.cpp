//===- Barriers.cpp - Barriers of a workgroup ------------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Barriers.h"

#include "runtime/emulator/Machine.h"
#include "runtime/emulator/checks/WorkgroupRaces.h"

#include <algorithm>

namespace wavetile::device {

static void pass(Wave &wave) {
  wave.barrierOpen = false;
  ++wave.barriersPassed;
}

static const Record *failMissed(Wave &wave, const Record *record) {
  return fail(
      wave, record, FaultKind::BarrierMismatch, -1, 0, 0, false,
      "a wave of the workgroup that had met barriers before has ended without meeting this");
}

static void openIfComplete(Workgroup &workgroup) {
  BarrierState &barrier = workgroup.barrier;
  if (barrier.signals == 0 || barrier.signals < barrier.members)
    return;
  barrier.signals = 0;
  barrier.missed |= workgroup.checksBarriers && barrier.fewestOfEnded <= barrier.opened;
  ++barrier.opened;
  for (uint32_t i = 0; i < workgroup.waveCount; ++i) {
    Wave &wave = workgroup.waves[i];
    if (wave.status == WaveStatus::Ended)
      continue;
    wave.barrierOpen = true;
    if (wave.status != WaveStatus::AtBarrier)
      continue;
    if (barrier.missed) {
      failMissed(wave, wave.pc - 1);
      continue;
    }
    wave.status = WaveStatus::Ready;
    pass(wave);
  }
}

bool signalBarrier(Wave &wave) {
  BarrierState &barrier = wave.workgroup->barrier;
  bool first = barrier.signals == 0;
  ++wave.barriersSignalled;
  ++barrier.signals;
  if (wave.workgroup->races)
    wave.workgroup->races->arrived(wave);
  openIfComplete(*wave.workgroup);
  return first;
}

const Record *waitAtBarrier(Wave &wave, const Record *record) {
  if (wave.barrierOpen && wave.workgroup->barrier.missed)
    return failMissed(wave, record);
  if (wave.barrierOpen) {
    pass(wave);
    return record + 1;
  }
  wave.status = WaveStatus::AtBarrier;
  wave.pc = record + 1;
  return nullptr;
}

void leaveBarrier(Wave &wave) {
  BarrierState &barrier = wave.workgroup->barrier;
  --barrier.members;
  if (wave.barriersSignalled > 0)
    barrier.fewestOfEnded = std::min(barrier.fewestOfEnded, wave.barriersSignalled);
  openIfComplete(*wave.workgroup);
}

} // namespace wavetile::device
