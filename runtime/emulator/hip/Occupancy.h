//===- Occupancy.h - How many workgroups a multiprocessor holds -----------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_HIP_OCCUPANCY_H
#define WAVETILE_RUNTIME_EMULATOR_HIP_OCCUPANCY_H

#include "runtime/emulator/CodeObject.h"
#include "runtime/emulator/hip/Runtime.h"

namespace wavetile::device {

/// Workgroups of `workgroupSize` work-items of `kernel` that are resident on one multiprocessor at
/// a time: limited by wave slots, vector registers and LDS. 0 if not even one fits.
unsigned residentWorkgroups(const KernelInfo &kernel, const Device &device, unsigned workgroupSize,
                            uint64_t dynamicLdsBytes);

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_HIP_OCCUPANCY_H
