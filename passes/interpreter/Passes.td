//===- Passes.td - The interpreter as a pass --------------*- tablegen -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_PASSES_INTERPRETER_PASSES
#define WAVETILE_PASSES_INTERPRETER_PASSES

include "mlir/Pass/PassBase.td"

def Interpret : Pass<"tile-interpret", "::mlir::ModuleOp"> {
  let summary = "run each kernel of a module in plain loops and print what its tensors hold";
  let description = [{
    The definition of the dialect, for a module of any stage. The module attribute
    `tile.inputs` gives a value to each argument of a kernel, by its `tile.name` or
    else as `arg0`, `arg1`, ...: elements for a pointer, a number for an `index` or a
    float. A string names another tensor whose memory the pointer shares, from its
    first element or from another one.

    ```mlir
    module attributes {tile.config = {i = 2}, tile.inputs = {
        x = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>, n = 3 : index,
        out = dense<0.0> : tensor<3xf32>, previous = "x[1]"}} {
    ```

    Prints, before the module itself, the seed and each tensor:

    ```
    seed = 0
    x = [1.0, 2.0, 3.0]
    out = [2.0, 4.0, 6.0]
    ```
  }];
  let options = [Option<"seed", "seed", "uint64_t", /*default=*/"0",
                        "Decides the order of blocks; a random one if not given">];
}

#endif // WAVETILE_PASSES_INTERPRETER_PASSES
