//===- Kernarg.h - The argument block of a launch -------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lays out what a kernel reads its arguments from: those that the caller gives,
// in either of HIP's two forms, and the hidden ones that the runtime fills in.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_HIP_KERNARG_H
#define WAVETILE_RUNTIME_EMULATOR_HIP_KERNARG_H

#include "runtime/emulator/CodeObject.h"

#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <vector>

namespace wavetile::device {

/// The size of a launch.
struct LaunchShape {
  std::array<uint32_t, 3> grid;          ///< In workgroups; a partial one counts.
  std::array<uint32_t, 3> workgroupSize; ///< In work-items.
  /// Work-items of the last, partial workgroup along each axis; 0 if all are full.
  std::array<uint32_t, 3> remainder;
  uint32_t dynamicLdsBytes;
};

/// The block for `kernel`: `kernargSize` bytes. Arguments come either one pointer each
/// (`parameters`) or as one buffer (`extra`, HIP's list of keys and values); a kernel without
/// arguments needs neither. Bytes that nobody gives are poison.
llvm::Expected<std::vector<uint8_t>> packKernarg(const KernelInfo &kernel, const LaunchShape &shape,
                                                 void *const *parameters, void *const *extra);

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_HIP_KERNARG_H
