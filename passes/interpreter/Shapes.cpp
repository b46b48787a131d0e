//===- Shapes.cpp - Operations that place elements --------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/interpreter/Execution.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::tile;
using namespace wavetile::interpreter;

/// Sets the result to a tile whose element at an index is `element(index, position)`.
template <typename Op>
static LogicalResult fill(Frame &frame, Op op, Operation *culprit,
                          function_ref<Element(ArrayRef<int64_t>, size_t)> element) {
  FailureOr<SmallVector<int64_t, 4>> shape = frame.shapeOf(op, op.getType());
  if (failed(shape))
    return failure();
  Tile tile(op.getType().getElementType(), *shape);
  tile.setCulprit(culprit);
  forEachIndex(*shape, [&](ArrayRef<int64_t> index, size_t position) {
    tile.set(position, element(index, position));
  });
  frame.set(op.getResult(), std::move(tile));
  return success();
}

/// The row-major position of an index.
static size_t positionOf(ArrayRef<int64_t> shape, ArrayRef<int64_t> index) {
  size_t position = 0;
  for (auto [size, at] : llvm::zip_equal(shape, index))
    position = position * size + at;
  return position;
}

LogicalResult interpreter::runFull(Frame &frame, FullOp op) {
  const Tile &scalar = frame.tile(op.getValue());
  return fill(frame, op, scalar.getCulprit(), [&](ArrayRef<int64_t>, size_t) { return scalar[0]; });
}

LogicalResult interpreter::runIota(Frame &frame, IotaOp op) {
  unsigned width = getWidth(op.getType().getElementType());
  return fill(frame, op, nullptr, [&](ArrayRef<int64_t>, size_t position) {
    return llvm::APInt(width, position, /*isSigned=*/false, /*implicitTrunc=*/true);
  });
}

LogicalResult interpreter::runBroadcast(Frame &frame, BroadcastOp op) {
  const Tile &source = frame.tile(op.getSource());
  return fill(frame, op, source.getCulprit(), [&](ArrayRef<int64_t> index, size_t) {
    SmallVector<int64_t, 4> from(index);
    for (auto [at, size] : llvm::zip_equal(from, source.getShape()))
      if (size == 1)
        at = 0;
    return source[positionOf(source.getShape(), from)];
  });
}

LogicalResult interpreter::runTranspose(Frame &frame, TransposeOp op) {
  const Tile &source = frame.tile(op.getSource());
  return fill(frame, op, source.getCulprit(), [&](ArrayRef<int64_t> index, size_t) {
    SmallVector<int64_t, 4> from(index.size());
    for (auto [dim, sourceDim] : llvm::enumerate(op.getPermutation()))
      from[sourceDim] = index[dim];
    return source[positionOf(source.getShape(), from)];
  });
}
