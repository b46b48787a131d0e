//===- Passes.td - The target-independent passes ----------*- tablegen -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In the order in which `addTilePasses` runs them. A pass that asks the target
// has no constructor here: `registerTilePasses` gives it one.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_PASSES_PASSES
#define WAVETILE_PASSES_PASSES

include "mlir/Pass/PassBase.td"

def SelectReductionStrategy : Pass<"tile-select-reduction-strategy", "::mlir::ModuleOp"> {
  let summary = "decide how each row dimension is walked and combined";
  let constructor = "::wavetile::createSelectReductionStrategyPass(target)";
  let description = [{
    A *row dimension* is a named dimension that is no loop: that of a full slice.
    For each top-level loop and each of its row dimensions the Config says:

    * `resident`: the whole row is one tile. The row length must not exceed the
      tile's size, which a `tile.guard` says.
    * `looped`: the block walks the row in chunks. The elementwise graph between
      reductions is rolled into one `tile.for` per phase, whose accumulators are
      as wide as a chunk; a single `tile.reduce` after the loop combines them.
      Loads are repeated in each phase that needs them, if no store in between
      may change what they read.
    * `grid`: several blocks share a row. The loop is split into one top-level
      loop per phase; partial results go through `tile.scratch` and are combined
      in the order of their blocks, so results do not depend on timing.

    Runs on named types, before bind: rolling changes what a name stands for, not
    any type.

    Each top-level loop with a row dimension also gets `tile.row_lanes`, the lanes
    of a wave that lie along the row, and `tile.row_waves`, the waves that do; the
    other lanes and waves lie along the rows.
  }];
}

def BindConfig : Pass<"tile-bind-config", "::mlir::ModuleOp"> {
  let summary = "replace every dimension name by the size that the Config gives it";
  let constructor = "::wavetile::createBindConfigPass(target)";
  let description = [{
    One substitution over the types of results, block arguments and region results.
    `tile.block_size` becomes a constant; `tile.parallel` gets its block sizes and
    waves, `tile.for` its block size. No `?` is left in a tile type. A name that
    the Config lacks, a size that no layout can tile and a tile that the registers
    of a workgroup cannot hold are errors.
  }];
}

def InferBounds : Pass<"tile-infer-bounds", "::mlir::ModuleOp"> {
  let summary = "find alignment and bounds of accesses, and what lies beyond extents";
  let constructor = "::wavetile::createInferBoundsPass(target)";
  let description = [{
    Sets `alignment`, `divisor` and `in_bounds` of loads and stores where they can be
    proved. Chooses the `beyond` of each load so that reductions and dots need not
    mask their operands, marks those `beyond_neutral`, and inserts
    `tile.fill_beyond` before those for which that cannot be proved; removes a
    `tile.fill_beyond` that changes nothing.
  }];
}

def WidenDots : Pass<"tile-widen-dots", "::mlir::ModuleOp"> {
  let summary = "convert operands of dots that the target has no instruction for";
  let constructor = "::wavetile::createWidenDotsPass(target)";
  let description = [{
    Operands of an fp8 format that the target cannot multiply, or of which it multiplies
    more than there are at a time, become bf16, which is exact.
  }];
}

def PeelTails : Pass<"tile-peel-tails", "::mlir::ModuleOp"> {
  let summary = "split tile loops into steps that need no mask and one that does";
  let constructor = "::wavetile::createPeelTailsPass(target)";
  let description = [{
    A `tile.for` whose last step may be partial becomes a `full` loop over the whole
    steps and a second one that runs once or not at all. Loops that neither access
    memory nor fill elements along their dimension are left alone.
  }];
}

def Plan : Pass<"tile-plan", "::mlir::ModuleOp"> {
  let summary = "outline each top-level loop into a program and launch it";
  let constructor = "::wavetile::createPlanPass(target)";
  let description = [{
    Each `tile.parallel` becomes a `tile.program`, in which `tile.block_id`s give the
    begin and extent of each dimension, and a `tile.launch` whose grid is index
    arithmetic in the kernel. A program takes only the arguments that it uses. Its
    symbol is the kernel's name, a number if there are several, and a hash of its
    body, the Config and the target.
  }];
}

def StageOperands : Pass<"tile-stage-operands", "::mlir::ModuleOp"> {
  let summary = "send operands of dots through LDS";
  let description = [{
    Each operand of a `tile.dot` is stored to a staging buffer and loaded again between
    barriers, because every wave needs what other waves loaded.
  }];
}

def AssignLayouts : Pass<"tile-assign-layouts", "::mlir::ModuleOp"> {
  let summary = "give every tile of a program a layout";
  let constructor = "::wavetile::createAssignLayoutsPass(target)";
  let description = [{
    Dots get layouts of a matrix instruction of the target, which is named on the
    operation; loads and stores coalesced ones. Layouts spread along operations that
    keep elements in place; where they meet, `tile.convert_layout` is inserted.
    Staging buffers get the swizzle with the fewest LDS cycles.
  }];
}

def SimplifyConversions : Pass<"tile-simplify-conversions", "::mlir::ModuleOp"> {
  let summary = "remove, merge and avoid layout conversions";
  let description = [{
    Conversions to the same layout go away, chains become one, equal ones are shared,
    and constants are made in the layout in which they are wanted.
  }];
}

#endif // WAVETILE_PASSES_PASSES
