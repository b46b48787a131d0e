//===- Occupancy.cpp - How many workgroups a GPU holds ---------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Occupancy.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace wavetile::device {

static bool pairsComputeUnits(const TargetDescription &target) { return target.isRdna(); }

unsigned multiprocessors(const TargetDescription &target) {
  return target.computeUnits / (pairsComputeUnits(target) ? 2 : 1);
}

unsigned registersPerSimd(const TargetDescription &target) { return target.simdVgprCount; }

/// Of all compute units of a multiprocessor. A workgroup can have no more than one's.
static uint64_t ldsPerMultiprocessor(const TargetDescription &target) {
  return uint64_t(target.ldsBytes) * (pairsComputeUnits(target) ? 2 : 1);
}

llvm::StringRef name(OccupancyLimit limit) {
  switch (limit) {
  case OccupancyLimit::WaveSlots:
    return "wave slots";
  case OccupancyLimit::VectorRegisters:
    return "vector registers";
  case OccupancyLimit::Lds:
    return "LDS";
  }
  return "";
}

double Occupancy::wavesPerSimd() const {
  return double(workgroups) * wavesPerWorkgroup / simdsPerMultiprocessor;
}

OccupancyLimit Occupancy::limit() const {
  if (workgroups == byWaveSlots)
    return OccupancyLimit::WaveSlots;
  return workgroups == byVectorRegisters ? OccupancyLimit::VectorRegisters : OccupancyLimit::Lds;
}

Occupancy occupancy(const KernelDescriptor &kernel, const TargetDescription &target,
                    unsigned workgroupSize, uint64_t dynamicLdsBytes) {
  Occupancy result;
  uint64_t lds = kernel.groupSegmentSize + dynamicLdsBytes;
  if (workgroupSize == 0 || workgroupSize > 1024 || lds > target.ldsBytes)
    return result;
  unsigned waveSize = kernel.waveSize();
  result.wavesPerWorkgroup = (workgroupSize + waveSize - 1) / waveSize;
  result.waveSlotsPerSimd =
      target.maxThreadsPerComputeUnit / target.waveSize / simdsPerMultiprocessor;
  // A wave of 64 lanes has as many slots where waves have 32, but needs two registers for one.
  unsigned registers = std::max(kernel.vgprCount, 1u) * (waveSize / target.waveSize);
  result.vectorRegisters = llvm::alignTo(registers, target.vgprGranule);
  result.ldsBytes = llvm::alignTo(lds, target.ldsGranule);
  auto fitting = [&](unsigned wavesPerSimd) {
    return simdsPerMultiprocessor * wavesPerSimd / result.wavesPerWorkgroup;
  };
  result.byWaveSlots = fitting(result.waveSlotsPerSimd);
  result.byVectorRegisters = fitting(registersPerSimd(target) / result.vectorRegisters);
  result.byLds =
      lds == 0 ? result.byWaveSlots : unsigned(ldsPerMultiprocessor(target) / result.ldsBytes);
  result.workgroups = std::min({result.byWaveSlots, result.byVectorRegisters, result.byLds});
  return result;
}

unsigned residentWorkgroups(const KernelDescriptor &kernel, const TargetDescription &target,
                            unsigned workgroupSize, uint64_t dynamicLdsBytes) {
  return occupancy(kernel, target, workgroupSize, dynamicLdsBytes).workgroups;
}

} // namespace wavetile::device
