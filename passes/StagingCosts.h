//===- StagingCosts.h - What accesses of staging buffers cost ---*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each load and store of a staging buffer with the instructions and cycles that
// one wave spends on it, by the layouts that tile-assign-layouts chose. For
// listings; no pass reads it.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_PASSES_STAGINGCOSTS_H
#define WAVETILE_PASSES_STAGINGCOSTS_H

#include "passes/TargetInfo.h"

#include "mlir/IR/BuiltinOps.h"

namespace wavetile {

struct StagingCost {
  bool isStore;
  unsigned bits; // of one access of a lane
  LdsCost cost;
};

/// In the order of the module. Accesses without a layout are left out.
llvm::SmallVector<StagingCost> stagingCosts(mlir::ModuleOp module, const TargetInfo &target);

} // namespace wavetile

#endif // WAVETILE_PASSES_STAGINGCOSTS_H
