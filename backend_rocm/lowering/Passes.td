//===- Passes.td - Passes of the AMD backend --------------*- tablegen -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_BACKEND_ROCM_LOWERING_PASSES
#define WAVETILE_BACKEND_ROCM_LOWERING_PASSES

include "mlir/Pass/PassBase.td"

def TileToROCDL : Pass<"tile-to-rocdl", "::mlir::ModuleOp"> {
  let summary = "lower planned tile programs with layouts to the LLVM dialect for an AMD GPU";
  let description = [{
    Each `tile.program` becomes one function of the LLVM dialect that LLVM's AMDGPU backend takes;
    kernels, whose launch plan has been read by then, are removed. Needs the layouts of
    `tile-assign-layouts` and the facts of `tile-infer-bounds`.
  }];
  let options = [
    Option<"targetName", "target", "std::string", /*default=*/"\"gfx950\"",
           "the GPU to lower for">,
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::ROCDL::ROCDLDialect"];
}

#endif // WAVETILE_BACKEND_ROCM_LOWERING_PASSES
