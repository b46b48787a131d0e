//===- Passes.cpp - Registration of the passes ------------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "mlir/Pass/PassRegistry.h"

void wavetile::registerTilePasses(const std::function<const TargetInfo &()> &target) {
  mlir::registerPass([=] { return createSelectReductionStrategyPass(target()); });
  mlir::registerPass([=] { return createBindConfigPass(target()); });
  mlir::registerPass([] { return createInferBoundsPass(); });
  mlir::registerPass([] { return createPeelTailsPass(); });
  mlir::registerPass([=] { return createWidenDotsPass(target()); });
  mlir::registerPass([=] { return createPlanPass(target()); });
  mlir::registerPass([] { return createStageOperands(); });
  mlir::registerPass([=] { return createAssignLayoutsPass(target()); });
  mlir::registerPass([] { return createSimplifyConversions(); });
}
