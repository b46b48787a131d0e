//===- Occupancy.cpp - How many workgroups a GPU holds ---------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Occupancy.h"

#include <algorithm>

namespace wavetile::device {

static bool pairsComputeUnits(const TargetDescription &target) { return target.isRdna(); }

unsigned multiprocessors(const TargetDescription &target) {
  return target.computeUnits / (pairsComputeUnits(target) ? 2 : 1);
}

unsigned registersPerSimd(const TargetDescription &target) { return target.simdVgprCount; }

unsigned residentWorkgroups(const KernelDescriptor &kernel, const TargetDescription &target,
                            unsigned workgroupSize, uint64_t dynamicLdsBytes) {
  uint64_t lds = kernel.groupSegmentSize + dynamicLdsBytes;
  if (workgroupSize == 0 || workgroupSize > 1024 || lds > target.ldsBytes)
    return 0;
  unsigned waveSize = kernel.waveSize();
  unsigned waves = (workgroupSize + waveSize - 1) / waveSize;
  unsigned slotsPerSimd =
      target.maxThreadsPerComputeUnit / target.waveSize / simdsPerMultiprocessor;
  // A wave of 64 lanes has as many slots where waves have 32, but needs two registers for one.
  unsigned registers = std::max(kernel.vgprCount, 1u) * (waveSize / target.waveSize);
  registers = (registers + target.vgprGranule - 1) / target.vgprGranule * target.vgprGranule;
  unsigned wavesPerSimd = std::min(slotsPerSimd, registersPerSimd(target) / registers);
  unsigned byWaves = simdsPerMultiprocessor * wavesPerSimd / waves;
  return lds == 0 ? byWaves : std::min<uint64_t>(byWaves, target.ldsBytes / lds);
}

} // namespace wavetile::device
