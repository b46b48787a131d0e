//===- AliasAnalysis.h - Which accesses may touch the same bytes -*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place that answers whether a load may be moved, repeated or removed
// across a store. Tensors of different arguments may overlap in any way unless
// the kernel is `disjoint`; scratch buffers overlap nothing else.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_PASSES_ALIASANALYSIS_H
#define WAVETILE_PASSES_ALIASANALYSIS_H

#include "ir/Tile.h"

namespace wavetile {

/// How the bytes of two accesses relate.
enum class Alias {
  /// They have none in common.
  None,
  /// Element by element they are the same: equal views, offsets and dimensions.
  /// So an element of one touches no other element of the other.
  Same,
  /// Nothing is known.
  May,
};

/// `a` and `b` are accesses (`tile.load`, `tile.store`, `tile.atomic`) of one kernel or program.
Alias alias(mlir::Operation *a, mlir::Operation *b);

/// The accesses of memory at or inside an operation.
llvm::SmallVector<mlir::Operation *> getAccesses(mlir::Operation *op);

} // namespace wavetile

#endif // WAVETILE_PASSES_ALIASANALYSIS_H
