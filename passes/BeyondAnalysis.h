//===- BeyondAnalysis.h - What lies beyond extents --------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elements of a tile at or beyond an extent have no value, but the registers
// that stand for them hold something. This analysis finds out what, along each
// dimension, so that a reduction may combine them too where that changes
// nothing. It interprets the operations on an abstract domain:
//
//   * unknown;
//   * one value along the dimension: that of a broadcast;
//   * a constant at and beyond an extent;
//   * the same, except in rows whose elements within the extent are all NaN.
//
// The last is what makes softmax work: where x is -inf beyond the extent and m
// is the maximum of x, x - m is -inf there too, unless m is -inf or NaN; but then
// every x - m within the extent is NaN, so the sum of exp(x - m) is NaN whatever
// is added. (A row without any element has no NaN; whoever relies on the
// exception must treat it apart.)
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_PASSES_BEYONDANALYSIS_H
#define WAVETILE_PASSES_BEYONDANALYSIS_H

#include "passes/IndexFacts.h"

#include "ir/Tile.h"

namespace wavetile {

/// What the elements at and beyond an extent along one dimension hold, at indices
/// within the extents of the other dimensions.
struct Beyond {
  enum class Kind { Unknown, Uniform, Constant };
  Kind kind = Kind::Unknown;

  /// Constant: the value; from where on it holds (null: in all elements); whether
  /// rows whose elements are all NaN are excepted; and whether it holds at all
  /// indices of the other dimensions, also beyond their extents.
  mlir::TypedAttr constant;
  mlir::Value extent;
  bool exceptNaNRows = false;
  bool everywhere = false;

  /// Uniform: the tile that was broadcast along the dimension, or null.
  mlir::Value row;

  static Beyond unknown() { return {}; }
  static Beyond uniform(mlir::Value row) {
    Beyond made;
    made.kind = Kind::Uniform;
    made.row = row;
    return made;
  }
  static Beyond ofConstant(mlir::TypedAttr constant, mlir::Value extent) {
    Beyond made;
    made.kind = Kind::Constant;
    made.constant = constant;
    made.extent = extent;
    made.everywhere = true;
    return made;
  }

  bool isUnknown() const { return kind == Kind::Unknown; }
  bool isUniform() const { return kind == Kind::Uniform; }
  bool isConstant() const { return kind == Kind::Constant; }
  bool operator==(const Beyond &) const = default;
};

class BeyondAnalysis {
public:
  /// What a load shall put beyond its extents; null for nothing in particular.
  using LoadValue = llvm::function_ref<mlir::TypedAttr(tile::LoadOp)>;

  explicit BeyondAnalysis(IndexFacts &facts) : facts(facts) {}

  /// Interprets the body of a top-level loop, or of a program.
  void run(mlir::Block &body, LoadValue loadValue);

  Beyond lookup(mlir::Value value, unsigned dim) const;

  /// Elements of `value` beyond `extent` along `dim` hold `constant`. `exception`
  /// is set if that needs the exception of NaN rows, and must be null if it may
  /// not.
  bool holdsBeyond(mlir::Value value, unsigned dim, mlir::Value extent, mlir::TypedAttr constant,
                   bool *exception);

private:
  using State = llvm::SmallVector<Beyond, 3>;

  void visit(mlir::Operation *op, LoadValue loadValue);
  void visitFor(tile::ForOp loop, LoadValue loadValue);
  void visitIf(tile::IfOp choice, LoadValue loadValue);
  void visitWhile(tile::WhileOp loop, LoadValue loadValue);
  void visitReduce(tile::ReduceOp reduce);
  void visitElementwise(mlir::Operation *op);
  Beyond combine(mlir::Operation *op, llvm::ArrayRef<Beyond> operands);
  Beyond combineSelect(mlir::arith::SelectOp op, llvm::ArrayRef<Beyond> operands);
  Beyond combineWithUniform(mlir::Operation *op, llvm::ArrayRef<Beyond> operands);
  State get(mlir::Value value) const;
  bool mergeExtents(llvm::ArrayRef<Beyond> operands, mlir::Value &extent);

  IndexFacts &facts;
  llvm::DenseMap<mlir::Value, State> states;
};

} // namespace wavetile

#endif // WAVETILE_PASSES_BEYONDANALYSIS_H
