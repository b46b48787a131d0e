//===- OptimisationPipeline.h - LLVM passes for generated kernels -*- C++ -*-=//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A short pipeline for code that Wavetile's own passes have already unrolled,
// vectorised and scheduled. It cleans up what a lowering leaves (repeated
// address arithmetic, values that do not change in a loop, packing and
// unpacking of vectors) and does not search: no inlining cost model, no loop
// or SLP vectoriser, no unrolling. LLVM's O2 takes several times as long on
// the same kernels and does not generate better code.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_BACKEND_ROCM_OPTIMISATIONPIPELINE_H
#define WAVETILE_BACKEND_ROCM_OPTIMISATIONPIPELINE_H

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace wavetile::rocm {

/// Runs the pipeline on a module whose triple and data layout are set.
void runOptimisationPipeline(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace wavetile::rocm

#endif // WAVETILE_BACKEND_ROCM_OPTIMISATIONPIPELINE_H
