//===- Passes.h - Passes of the AMD backend ---------------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `tile-to-rocdl` lowers planned tile programs with layouts to functions of the
// LLVM dialect, one for each GPU kernel.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_BACKEND_ROCM_LOWERING_PASSES_H
#define WAVETILE_BACKEND_ROCM_LOWERING_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace mlir::LLVM {
class LLVMDialect;
} // namespace mlir::LLVM
namespace mlir::ROCDL {
class ROCDLDialect;
} // namespace mlir::ROCDL

namespace wavetile::rocm {

#define GEN_PASS_DECL
#include "backend_rocm/lowering/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "backend_rocm/lowering/Passes.h.inc"

} // namespace wavetile::rocm

#endif // WAVETILE_BACKEND_ROCM_LOWERING_PASSES_H
