//===- AccessOrder.h - Order of a block's memory accesses -------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block's loads and stores of global memory are in program order, but each of
// its waves only orders its own. Where a lane of one wave may access what a lane
// of another has stored, or stores what the other has read, all waves must meet
// in between. This says where.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_BACKEND_ROCM_LOWERING_ACCESSORDER_H
#define WAVETILE_BACKEND_ROCM_LOWERING_ACCESSORDER_H

#include "ir/Tile.h"

namespace wavetile::rocm {

class AccessOrder {
public:
  explicit AccessOrder(tile::ProgramOp program);

  /// Whether all waves must meet before `access`, a tile.load or tile.store, given that they did
  /// wherever this said so before. To be asked for each access in program order.
  bool needsBarrierBefore(mlir::Operation *access);

private:
  tile::ProgramOp program;
  /// All, in program order; and those since waves last met.
  llvm::SmallVector<mlir::Operation *> accesses, unordered;
};

} // namespace wavetile::rocm

#endif // WAVETILE_BACKEND_ROCM_LOWERING_ACCESSORDER_H
