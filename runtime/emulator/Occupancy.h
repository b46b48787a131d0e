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

/// Compute units that share an LDS, which HIP calls a multiprocessor: RDNA's come in pairs.
unsigned multiprocessors(const TargetDescription &target);
/// Vector registers of a SIMD, each of one lane of a wave.
unsigned registersPerSimd(const TargetDescription &target);
/// SIMDs of one multiprocessor.
inline constexpr unsigned simdsPerMultiprocessor = 4;

/// Workgroups of \p workgroupSize work-items of a kernel that are resident on one multiprocessor at
/// a time: limited by wave slots, vector registers and LDS. 0 if not even one fits.
unsigned residentWorkgroups(const KernelDescriptor &kernel, const TargetDescription &target,
                            unsigned workgroupSize, uint64_t dynamicLdsBytes);

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_OCCUPANCY_H
