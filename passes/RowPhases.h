//===- RowPhases.h - Between the reductions of a row ------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Divides the body of a top-level loop by the reductions along one row
// dimension. Tiles with that dimension are *wide*; all other values are
// *narrow*. The *level* of a value is the number of reductions along the row
// that must be complete before it can be computed. Phase p walks the row once:
// it computes the reductions whose source has level p, and the stores of wide
// tiles of level p. In
//
//     x = load ...                       wide, level 0
//     m = reduce maximum x               phase 0; m has level 1
//     e = exp(x - m)                     wide, level 1
//     s = reduce sum e                   phase 1; s has level 2
//     store e / s                        phase 2
//
// phases 1 and 2 compute what they need of the wide tiles again, loads included.
// That is legal only if no store in between may change what a load reads.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_PASSES_ROWPHASES_H
#define WAVETILE_PASSES_ROWPHASES_H

#include "ir/Tile.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace wavetile {

class RowPhases {
public:
  /// Fails where the row cannot be walked in chunks, with an error at the
  /// operation that prevents it. If the row is `shared`, several blocks walk it and
  /// each of them computes the narrow values that it needs.
  static mlir::FailureOr<RowPhases> analyse(tile::ParallelOp loop, mlir::StringAttr row,
                                            bool shared);

  /// Whether `analyse` would succeed; says nothing.
  static bool canRoll(tile::ParallelOp loop, mlir::StringAttr row, bool shared);

  tile::ParallelOp getLoop() const { return loop; }
  mlir::StringAttr getRow() const { return row; }
  /// The number of elements of a row.
  mlir::Value getLength() const { return length; }
  unsigned getNumPhases() const { return phases; }

  bool isWide(mlir::Operation *op) const { return wide.contains(op); }
  /// Whether it combines the elements of the row.
  bool isReduction(mlir::Operation *op) const;
  /// The axis of the row in a tile type, if it has one.
  std::optional<unsigned> axis(mlir::Type type) const;
  unsigned level(mlir::Operation *op) const { return levels.lookup(op); }

  /// Reductions of phase `phase`, and wide stores and prints in it, in program order.
  llvm::SmallVector<mlir::Operation *> roots(unsigned phase) const;
  /// The wide operations that phase `phase` computes, in program order: its roots
  /// without the reductions themselves, and what they need.
  llvm::SmallVector<mlir::Operation *> wideOps(unsigned phase) const;
  /// Narrow operations of level `level`, in program order.
  llvm::SmallVector<mlir::Operation *> narrowOps(unsigned level) const;

private:
  RowPhases(tile::ParallelOp loop, mlir::StringAttr row) : loop(loop), row(row) {}

  using Report = llvm::function_ref<void(mlir::Operation *, const llvm::Twine &)>;
  mlir::LogicalResult classify(Report report);
  mlir::LogicalResult checkMemoryOrder(bool shared, Report report);
  /// Cannot work on a chunk of the row by itself.
  bool needsWholeRow(mlir::Operation *op) const;
  /// What a phase is made for.
  bool isRoot(mlir::Operation *op) const;
  /// The operations of the loop's body, without its terminator.
  llvm::iterator_range<mlir::Block::iterator> operations() const;
  static mlir::FailureOr<RowPhases> analyse(tile::ParallelOp loop, mlir::StringAttr row,
                                            bool shared, Report report);

  tile::ParallelOp loop;
  mlir::StringAttr row;
  mlir::Value length;
  unsigned phases = 0;
  llvm::DenseSet<mlir::Operation *> wide;
  llvm::DenseMap<mlir::Operation *, unsigned> levels;
};

} // namespace wavetile

#endif // WAVETILE_PASSES_ROWPHASES_H
