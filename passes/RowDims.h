//===- RowDims.h - The dimensions of a top-level loop -----------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which names the dimensions of tiles have inside an unbound kernel, and which
// of them are loops. The names that are none are row dimensions.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_PASSES_ROWDIMS_H
#define WAVETILE_PASSES_ROWDIMS_H

#include "ir/Tile.h"

#include "llvm/ADT/MapVector.h"

namespace wavetile {

/// Rows are walked in vectors of this many elements, so that 16-bit elements fill 128 bits: the
/// size of a row's tile is a multiple of it, or a power of two.
inline constexpr int64_t rowGranule = 8;

/// What the body of a top-level loop says about one name.
struct NamedDim {
  enum class Kind { Parallel, For, Row };
  Kind kind;
  /// A row: the distinct extents that operations give it, in program order.
  llvm::SmallVector<mlir::Value, 1> extents;
};

/// All names of a top-level loop, its own dimensions first, then in program order.
llvm::MapVector<mlir::StringAttr, NamedDim> getNamedDims(tile::ParallelOp loop);

/// Bits of the narrowest element that the loop loads or stores in a tile with this
/// dimension, or in any tile if the name is null; at least 8, at most 64.
unsigned narrowestAccessBits(tile::ParallelOp loop, mlir::StringAttr name);

/// Calls `visit` with each pair of an axis of a tile type and its extent that an
/// operation gives as operands.
void forEachExtent(mlir::Operation *op,
                   llvm::function_ref<void(mlir::RankedTensorType, unsigned, mlir::Value)> visit);

} // namespace wavetile

#endif // WAVETILE_PASSES_ROWDIMS_H
