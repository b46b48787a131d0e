//===- Passes.h - The target-independent passes -----------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes over a module that holds `tile.kernel`s; `Passes.td` describes them.
// Those that ask the target take its TargetInfo, which must outlive them.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_PASSES_PASSES_H
#define WAVETILE_PASSES_PASSES_H

#include "mlir/Pass/Pass.h"

#include <functional>
#include <memory>

namespace wavetile {

class TargetInfo;

#define GEN_PASS_DECL
#include "passes/Passes.h.inc"

std::unique_ptr<mlir::Pass> createSelectReductionStrategyPass(const TargetInfo &target);
std::unique_ptr<mlir::Pass> createBindConfigPass(const TargetInfo &target);
std::unique_ptr<mlir::Pass> createWidenDotsPass(const TargetInfo &target);
std::unique_ptr<mlir::Pass> createInferBoundsPass();
std::unique_ptr<mlir::Pass> createPeelTailsPass();
std::unique_ptr<mlir::Pass> createPlanPass(const TargetInfo &target);

std::unique_ptr<mlir::Pass> createAssignLayoutsPass(const TargetInfo &target);

/// Discardable attributes of `tile.parallel`, and of the program made from it:
/// how many lanes of a wave, and how many waves, lie along the row dimension.
inline constexpr llvm::StringLiteral rowLanesAttrName = "tile.row_lanes";
inline constexpr llvm::StringLiteral rowWavesAttrName = "tile.row_waves";

/// Registers every pass with MLIR's pass registry for textual pipelines. `target`
/// is asked when a pipeline is built.
void registerTilePasses(const std::function<const TargetInfo &()> &target);

} // namespace wavetile

#endif // WAVETILE_PASSES_PASSES_H
