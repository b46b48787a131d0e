//===- TileDialect.td - The tile dialect ------------------*- tablegen -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_IR_TILEDIALECT
#define WAVETILE_IR_TILEDIALECT

include "mlir/IR/OpBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::wavetile::tile";
  let summary = "kernels over tiles of tensors in memory";
  let description = [{
    A `tile` module holds one `tile.kernel`: a sequence of top-level loops
    (`tile.parallel`) over blocks of an iteration space, each of which loads
    tiles from views of memory, computes on them as values with `arith` and
    `math` operations, and stores results.

    **Names.** Until a Config is bound, each dimension of a tile has a name:
    `tensor<?x?xf32, #tile.dims<[rows, cols]>>`. Two types agree only if their
    names do, and `tile-bind-config` is one substitution of sizes for names.

    **Extents are part of the meaning, masks are not.** Every dimension has an
    extent, an `index` value at most the size of the dimension. Operations that
    combine elements along a dimension carry its extent and look only below it.
    Elements at or beyond the extent have no value: storing, branching on,
    addressing with or reducing one is an error. How they are kept out is a
    matter for passes.

    **Memory order.** Inside one iteration of a top-level loop loads and stores
    happen in program order; between iterations there is no order. Views of
    different arguments may overlap unless the kernel says that they do not.
    Top-level loops run one after the other.

    **Stages.** Types are `?` with names before bind, static after it; after
    `tile-assign-layouts` each tensor type carries a `#tile.layout`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

#endif // WAVETILE_IR_TILEDIALECT
