//===- LaunchPlanBuilder.h - The launch plan of a planned module -*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the `tile.kernel` of a module on which `tile-plan` ran. Kernel
// arguments lie in the order of the program's arguments, naturally aligned:
// pointers take 8 bytes, `f32` 4, `f64` 8, and `index` 4, or 8 in a kernel with
// `wide_offsets`. The backend's programs take the same.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_PASSES_LAUNCHPLANBUILDER_H
#define WAVETILE_PASSES_LAUNCHPLANBUILDER_H

#include "passes/TargetInfo.h"
#include "runtime/LaunchPlan.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace wavetile {

/// Fails if the module does not hold exactly one kernel, or if a size is not an
/// integer expression of the kernel's arguments.
llvm::Expected<LaunchPlan> buildLaunchPlan(mlir::ModuleOp module, const TargetInfo &target);

} // namespace wavetile

#endif // WAVETILE_PASSES_LAUNCHPLANBUILDER_H
