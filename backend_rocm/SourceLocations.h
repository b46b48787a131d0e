//===- SourceLocations.h - A source line for every instruction --*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM drops the location of an instruction that it hoists or merges, because a
// debugger that steps would jump about. Wavetile's line table answers another
// question: which line of the kernel is this instruction for?
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_BACKEND_ROCM_SOURCELOCATIONS_H
#define WAVETILE_BACKEND_ROCM_SOURCELOCATIONS_H

#include "llvm/IR/Module.h"

namespace wavetile::rocm {

/// Gives each instruction without a line that of the first instruction that
/// uses its value, else of its neighbour in the block, else the function's.
/// Functions without a debug scope are left alone.
void completeSourceLocations(llvm::Module &module);

} // namespace wavetile::rocm

#endif // WAVETILE_BACKEND_ROCM_SOURCELOCATIONS_H
