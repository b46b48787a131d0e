//===- Resources.h - What the kernels of a code object use ------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registers, LDS, scratch and spills as LLVM wrote them into the metadata;
// occupancy from these by the target's table; instructions counted by class
// (InstructionClasses.h) in the disassembled code.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_BACKEND_ROCM_RESOURCES_H
#define WAVETILE_BACKEND_ROCM_RESOURCES_H

#include "backend_rocm/Targets.h"
#include "passes/Backend.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <vector>

namespace wavetile::rocm {

/// One entry per kernel, in order of address. `dynamicLdsBytes`, what a launch
/// adds to the LDS that a kernel declares, counts for occupancy only.
llvm::Expected<std::vector<KernelResources>>
resources(llvm::ArrayRef<uint8_t> codeObject, const Target &target, unsigned dynamicLdsBytes = 0);

} // namespace wavetile::rocm

#endif // WAVETILE_BACKEND_ROCM_RESOURCES_H
