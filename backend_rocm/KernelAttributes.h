//===- KernelAttributes.h - What every kernel promises LLVM -----*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The function attributes, module flags and linkage that hold for every kernel
// whatever it computes, so that the lowering need not know them.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_BACKEND_ROCM_KERNELATTRIBUTES_H
#define WAVETILE_BACKEND_ROCM_KERNELATTRIBUTES_H

#include "backend_rocm/Targets.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace wavetile::rocm {

/// Is this function one that a launch can name?
bool isKernel(const llvm::Function &function);

/// Sets them on every function of `module`. An error names a kernel that does
/// not state its workgroup size.
llvm::Error setKernelAttributes(llvm::Module &module, const Target &target, bool preloadArguments);

} // namespace wavetile::rocm

#endif // WAVETILE_BACKEND_ROCM_KERNELATTRIBUTES_H
