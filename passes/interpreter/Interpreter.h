//===- Interpreter.h - The definition of the tile dialect -------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a kernel in plain loops, at any stage: before a Config is bound (block
// sizes are then given), bound, planned, staged, with layouts. What this computes
// is what the dialect means; a pass keeps the meaning of a module if running it
// before and after gives the same, and nothing here is shared with the lowering.
//
//  * Each operation computes in its element type and rounds once, to nearest even.
//    Functions without an exact definition are those of the host's `double` library,
//    rounded. Reductions and dots combine in the order of indices.
//  * Elements without a value (beyond an extent, in a buffer never written, results
//    that `arith` calls poison) go through operations on elements, where they make
//    the result have no value. Storing one, branching on it, addressing with it and
//    reducing a one-dimensional tile with it are errors. If a tile has further
//    dimensions, a reduction's result has no value where an element it combines has
//    none, because those may lie beyond another dimension's extent; the error is that
//    of the operation that uses it, with a note at the reduction.
//  * Claims of passes and guards (`in_bounds`, `alignment`, `divisor`, `full`,
//    `beyond_neutral`, `disjoint`, `tile.align`, `tile.divisor`) are checked.
//  * Blocks run in a random order that the seed decides.
//  * In a block of several waves it is an error to read a staging buffer that was
//    written, or to write one that was read or written, with no barrier in between.
//
// Errors are MLIR diagnostics at the operation. Calls on different contexts are
// independent.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_PASSES_INTERPRETER_INTERPRETER_H
#define WAVETILE_PASSES_INTERPRETER_INTERPRETER_H

#include "ir/Tile.h"

#include "llvm/ADT/StringMap.h"

#include <cstdint>

namespace wavetile {

struct InterpreterOptions {
  /// Decides the order of blocks.
  uint64_t seed = 0;
  /// Sizes of named dimensions, in front of those of the module's `tile.config`. A
  /// dimension that is no loop's (a full slice's) is at least as long as its extent.
  llvm::StringMap<int64_t> sizes;
};

/// The arguments of a kernel, each in the list of its kind at the place that
/// `tile.binding` says; without bindings, in the order of the arguments.
struct InterpreterArguments {
  /// The memory from the first element of each tensor on. Kernels write to it. Two
  /// of them may overlap, as tensors may.
  llvm::SmallVector<llvm::MutableArrayRef<uint8_t>> pointers;
  llvm::SmallVector<int64_t> integers;
  llvm::SmallVector<double> floats;
};

/// Runs a kernel. Fails with a diagnostic at the operation that is at fault, at a
/// `tile.guard` that does not hold, or at an argument that is missing.
llvm::LogicalResult interpret(tile::KernelOp kernel, const InterpreterArguments &arguments,
                              const InterpreterOptions &options);

/// The pass `tile-interpret`: see InterpretPass.cpp.
void registerInterpretPass();

} // namespace wavetile

#endif // WAVETILE_PASSES_INTERPRETER_INTERPRETER_H
