//===- Occupancy.cpp - How many workgroups a GPU holds ---------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Occupancy.h"

#include <algorithm>

namespace wavetile::device {

static bool pairsComputeUnits(const TargetDescription &target) {
  return target.encoding != Encoding::Gfx9;
}

unsigned multiprocessors(const TargetDescription &target) {
  return target.computeUnits / (pairsComputeUnits(target) ? 2 : 1);
}

unsigned registersPerSimd(const TargetDescription &target) {
  return pairsComputeUnits(target) ? 4 * target.vgprCount : target.vgprCount + target.agprCount;
}

unsigned residentWorkgroups(const KernelDescriptor &kernel, const TargetDescription &target,
                            unsigned workgroupSize, uint64_t dynamicLdsBytes) {
  uint64_t lds = kernel.groupSegmentSize + dynamicLdsBytes;
  if (workgroupSize == 0 || workgroupSize > 1024 || lds > target.ldsBytes)
    return 0;
  unsigned waves = (workgroupSize + target.waveSize - 1) / target.waveSize;
  unsigned slotsPerSimd =
      target.maxThreadsPerComputeUnit / target.waveSize / simdsPerMultiprocessor;
  unsigned wavesPerSimd =
      std::min(slotsPerSimd, registersPerSimd(target) / std::max(kernel.vgprCount, 1u));
  unsigned byWaves = simdsPerMultiprocessor * wavesPerSimd / waves;
  return lds == 0 ? byWaves : std::min<uint64_t>(byWaves, target.ldsBytes / lds);
}

} // namespace wavetile::device
