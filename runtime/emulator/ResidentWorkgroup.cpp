//===- ResidentWorkgroup.cpp - A workgroup while it is on the GPU ----------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/ResidentWorkgroup.h"

#include <algorithm>
#include <new>

namespace wavetile::device {

template <typename T> static void grow(AlignedArray<T> &array, size_t &held, size_t bytes) {
  if (array && bytes <= held)
    return;
  array = allocateAligned<T>((bytes + sizeof(T) - 1) / sizeof(T));
  held = bytes;
}

/// Whole dwords of each lane, since those of all lanes alternate.
static size_t scratchOfWave(const LaunchContext &context) {
  return context.waveSize * ((size_t(context.kernel.privateSegmentSize) + 3) / 4 * 4);
}

void ResidentWorkgroup::reserve(const LaunchContext &context) {
  size_t waves = context.waveCount;
  grow(waveMemory, waveBytes, waves * sizeof(Wave));
  grow(registers, registerBytes, waves * vectorRows * context.waveSize * sizeof(uint32_t));
  grow(lds, ldsBytes, context.ldsBytes);
  grow(scratch, scratchBytes, waves * scratchOfWave(context));
}

void ResidentWorkgroup::start(const LaunchContext &context, uint64_t index,
                              checks::GlobalRaces *globalRaces) {
  reserve(context);
  linearIndex = index;
  round = 0;
  mayRepeat = false;
  group = context.workgroupAt(index);
  // Memory and registers are undefined at the start: NaN in every format makes a use of them
  // visible, and a result that depends on it the same each time.
  std::fill_n(lds.get(), context.ldsBytes, uint8_t(0xff));
  std::fill_n(scratch.get(), scratchOfWave(context) * context.waveCount, uint8_t(0xff));

  shared = Workgroup();
  shared.waves = waveMemory.get();
  shared.waveCount = context.waveCountOf(group);
  shared.barrier.members = shared.waveCount;
  shared.launch = &context.launch;
  shared.checksBarriers = context.launch.checks.barriers;
  shared.lds = lds.get();
  shared.ldsBytes = context.ldsBytes;
  shared.program = &context.program;
  shared.matrixRounding =
      context.launch.matrixRounding.value_or(context.program.target().matrixRounding);
  std::copy(group.begin(), group.end(), shared.id);
  shared.trace = context.traceOf(group);

  for (uint32_t i = 0; i < shared.waveCount; ++i) {
    Wave &wave = *new (&waveMemory[i]) Wave;
    uint32_t *rows = registers.get() + size_t(i) * vectorRows * context.waveSize;
    std::fill_n(rows, size_t(context.vgprRows()) * context.waveSize, ~0u);
    std::fill_n(rows + size_t(firstAccumulationRow) * context.waveSize,
                size_t(context.agprRows()) * context.waveSize, ~0u);
    wave.bases[0] = rows;
    wave.workgroup = &shared;
    wave.scratchBytes = context.kernel.privateSegmentSize;
    wave.scratch = scratch.get() + i * scratchOfWave(context);
    wave.indexInWorkgroup = i;
    context.setUp(wave, group);
    if (context.observers.any())
      wave.observers = &context.observers;
  }
  if (context.launch.checks.any()) {
    if (!checks)
      checks = std::make_unique<WorkgroupChecks>();
    checks->start(context, shared);
  }
  if (context.launch.checks.races()) {
    if (!races)
      races = std::make_unique<WorkgroupRaces>();
    races->start(context, shared, index, globalRaces);
  }
}

} // namespace wavetile::device
