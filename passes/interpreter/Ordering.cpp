//===- Ordering.cpp - Scans, sorts and elements by index --------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/interpreter/Execution.h"
#include "passes/interpreter/Lines.h"

#include <numeric>

using namespace mlir;
using namespace wavetile;
using namespace wavetile::tile;
using namespace wavetile::interpreter;
using llvm::APFloat;
using llvm::APInt;

//===----------------------------------------------------------------------===//
// tile.scan and tile.combine
//===----------------------------------------------------------------------===//

using Elements = SmallVector<Element, 2>;

/// What the body yields for two elements of each source.
static FailureOr<Elements> combineElements(Frame &frame, Block &body, ArrayRef<Element> before,
                                           ArrayRef<Element> one) {
  for (auto [index, argument] : llvm::enumerate(body.getArguments())) {
    const Element &element = index < before.size() ? before[index] : one[index - before.size()];
    frame.set(argument, Tile::scalar(argument.getType(), element));
  }
  if (failed(runBlock(frame, body)))
    return failure();
  Elements result;
  for (Value value : body.getTerminator()->getOperands())
    result.push_back(frame.tile(value)[0]);
  return result;
}

static Elements elementsAt(ArrayRef<const Tile *> sources, size_t position) {
  Elements result;
  for (const Tile *source : sources)
    result.push_back((*source)[position]);
  return result;
}

static SmallVector<const Tile *, 2> tilesOf(Frame &frame, OperandRange values) {
  SmallVector<const Tile *, 2> result;
  for (Value value : values)
    result.push_back(&frame.tile(value));
  return result;
}

LogicalResult interpreter::runScan(Frame &frame, ScanOp op) {
  SmallVector<const Tile *, 2> sources = tilesOf(frame, op.getSources());
  ArrayRef<int64_t> shape = sources.front()->getShape();
  FailureOr<int64_t> extent = frame.extent(op, op.getExtent(), shape[op.getAxis()]);
  if (failed(extent))
    return failure();
  Lines lines(shape, op.getAxis());
  std::vector<Tile> results;
  for (const Tile *source : sources) {
    results.emplace_back(source->getElementType(), shape);
    results.back().setCulprit(source->getCulprit() ? source->getCulprit() : op);
  }
  for (size_t line = 0; line < lines.count(); ++line) {
    Elements total;
    for (int64_t i = 0; i < *extent; ++i) {
      size_t position = lines.position(line, op.getReverse() ? *extent - 1 - i : i);
      Elements one = elementsAt(sources, position);
      FailureOr<Elements> next = one;
      if (i > 0)
        next = combineElements(frame, op.getBody().front(), total, one);
      if (failed(next))
        return failure();
      total = *next;
      for (auto [result, element] : llvm::zip_equal(results, total))
        result.set(position, element);
    }
  }
  for (auto [value, result] : llvm::zip_equal(op.getResults(), results))
    frame.set(value, std::move(result));
  return success();
}

LogicalResult interpreter::runCombine(Frame &frame, CombineOp op) {
  SmallVector<const Tile *, 2> sources = tilesOf(frame, op.getSources());
  ArrayRef<int64_t> shape = sources.front()->getShape();
  FailureOr<int64_t> extent = frame.extent(op, op.getExtent(), shape[op.getAxis()]);
  if (failed(extent))
    return failure();
  Lines lines(shape, op.getAxis());
  std::vector<Tile> results;
  for (const Tile *source : sources) {
    results.emplace_back(source->getElementType(), lines.shape());
    results.back().setCulprit(source->getCulprit() ? source->getCulprit() : op);
  }
  for (size_t line = 0; line < lines.count() && *extent > 0; ++line) {
    Elements total = elementsAt(sources, lines.position(line, 0));
    for (int64_t i = 1; i < *extent; ++i) {
      FailureOr<Elements> next = combineElements(frame, op.getBody().front(), total,
                                                 elementsAt(sources, lines.position(line, i)));
      if (failed(next))
        return failure();
      total = *next;
    }
    for (auto [result, element] : llvm::zip_equal(results, total))
      result.set(line, element);
  }
  for (auto [value, result] : llvm::zip_equal(op.getResults(), results))
    frame.set(value, std::move(result));
  return success();
}

//===----------------------------------------------------------------------===//
// tile.sort
//===----------------------------------------------------------------------===//

/// Whether `a` comes before `b`, which is not so if they are equal.
static bool isBefore(Type type, bool descending, const APInt &a, const APInt &b) {
  if (!isa<FloatType>(type)) {
    bool isBool = a.getBitWidth() == 1;
    const APInt &first = descending ? b : a, &second = descending ? a : b;
    return isBool ? first.ult(second) : first.slt(second);
  }
  APFloat x = toFloat(type, descending ? b : a), y = toFloat(type, descending ? a : b);
  if (x.isNaN() || y.isNaN())
    return !x.isNaN();
  return x.compare(y) == APFloat::cmpLessThan;
}

LogicalResult interpreter::runSort(Frame &frame, SortOp op) {
  const Tile &source = frame.tile(op.getSource());
  FailureOr<int64_t> extent = frame.extent(op, op.getExtent(), source.getShape()[op.getAxis()]);
  if (failed(extent))
    return failure();
  Type type = source.getElementType();
  Type indexType = op.getIndex().getType().getElementType();
  Lines lines(source.getShape(), op.getAxis());
  Tile value(type, source.getShape()), index(indexType, source.getShape());
  value.setCulprit(op);
  index.setCulprit(op);
  for (size_t line = 0; line < lines.count(); ++line) {
    std::vector<int64_t> order(*extent);
    std::iota(order.begin(), order.end(), 0);
    auto at = [&](int64_t i) { return source[lines.position(line, i)]; };
    if (!llvm::all_of(order, [&](int64_t i) { return at(i).has_value(); }))
      continue; // Nothing is known of where its elements go.
    // Equal elements keep their order, and so do NaNs of whatever payload.
    llvm::sort(order, [&](int64_t a, int64_t b) {
      bool nans =
          isa<FloatType>(type) && toFloat(type, *at(a)).isNaN() && toFloat(type, *at(b)).isNaN();
      if (!nans && isBefore(type, op.getDescending(), *at(a), *at(b)))
        return true;
      return (nans || !isBefore(type, op.getDescending(), *at(b), *at(a))) && a < b;
    });
    for (auto [place, from] : llvm::enumerate(order)) {
      value.set(lines.position(line, place), at(from));
      index.set(lines.position(line, place), APInt(getWidth(indexType), from));
    }
  }
  frame.set(op.getValue(), std::move(value));
  frame.set(op.getIndex(), std::move(index));
  return success();
}

//===----------------------------------------------------------------------===//
// tile.take
//===----------------------------------------------------------------------===//

LogicalResult interpreter::runTake(Frame &frame, TakeOp op) {
  const Tile &source = frame.tile(op.getSource());
  SmallVector<const Tile *, 2> indices = tilesOf(frame, op.getIndices());
  FailureOr<SmallVector<int64_t, 4>> shape = frame.shapeOf(op, op.getType());
  if (failed(shape))
    return failure();
  Tile tile(source.getElementType(), *shape);
  tile.setCulprit(source.getCulprit() ? source.getCulprit() : op);
  for (size_t i = 0; i < tile.size(); ++i) {
    size_t position = 0;
    bool isInside = true;
    for (auto [size, index] : llvm::zip_equal(source.getShape(), indices)) {
      Element element = (*index)[i];
      isInside &= element && !element->isNegative() && element->ult(uint64_t(size));
      position = position * size + (isInside ? element->getZExtValue() : 0);
    }
    if (isInside)
      tile.set(i, source[position]);
  }
  frame.set(op.getResult(), std::move(tile));
  return success();
}
