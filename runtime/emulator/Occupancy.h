//===- Occupancy.h - How many workgroups a GPU holds -----------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_OCCUPANCY_H
#define WAVETILE_RUNTIME_EMULATOR_OCCUPANCY_H

#include "runtime/emulator/Machine.h"
#include "runtime/emulator/Target.h"

namespace wavetile::device {

/// Compute units whose SIMDs share an LDS, which HIP calls a multiprocessor: RDNA's come in pairs.
unsigned multiprocessors(const TargetDescription &target);
/// Vector registers of a SIMD, each of one lane of a wave.
unsigned registersPerSimd(const TargetDescription &target);
/// SIMDs of one multiprocessor.
inline constexpr unsigned simdsPerMultiprocessor = 4;

/// What bounds the waves that are resident.
enum class OccupancyLimit : uint8_t { WaveSlots, VectorRegisters, Lds };
llvm::StringRef name(OccupancyLimit);

/// How many workgroups of a kernel are resident on one multiprocessor at a time, and what each of
/// its resources alone would allow. All 0: not even one fits.
struct Occupancy {
  unsigned workgroups = 0;
  /// Workgroups that would fit if there were nothing but wave slots, registers or LDS to share. Lds
  /// is no limit to a kernel that uses none: then as many as wave slots allow.
  unsigned byWaveSlots = 0, byVectorRegisters = 0, byLds = 0;
  unsigned wavesPerWorkgroup = 0;
  unsigned waveSlotsPerSimd = 0;
  unsigned vectorRegisters = 0; ///< That a wave is given: a multiple of the granule.
  uint64_t ldsBytes = 0;        ///< That a workgroup is given.

  /// Whole and fractional waves of one SIMD.
  double wavesPerSimd() const;
  /// The scarcest resource; of equals the first of the enumeration.
  OccupancyLimit limit() const;
};
Occupancy occupancy(const KernelDescriptor &kernel, const TargetDescription &target,
                    unsigned workgroupSize, uint64_t dynamicLdsBytes);

/// Workgroups of \p workgroupSize work-items of a kernel that are resident on one multiprocessor at
/// a time: limited by wave slots, vector registers and LDS. 0 if not even one fits.
unsigned residentWorkgroups(const KernelDescriptor &kernel, const TargetDescription &target,
                            unsigned workgroupSize, uint64_t dynamicLdsBytes);

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_OCCUPANCY_H
