//===- Combining.cpp - Reductions, dots and filling -------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elements are combined in the order of their indices, from the identity on.
//
//===----------------------------------------------------------------------===//

#include "passes/interpreter/Execution.h"
#include "passes/interpreter/Lines.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::tile;
using namespace wavetile::interpreter;
using llvm::APFloat;
using llvm::APInt;

/// Whether a claim that elements beyond an extent are neutral is wrong: they would
/// change a result that has a value. Zeros of both signs count as one.
static bool changes(Type type, const Element &without, const Element &with) {
  if (!without || with == without)
    return false;
  if (!with || !isa<FloatType>(type))
    return true;
  APFloat a = toFloat(type, *without), b = toFloat(type, *with);
  return !(a.isNaN() && b.isNaN()) && a.compare(b) != APFloat::cmpEqual;
}

static LogicalResult reportNotNeutral(Operation *op, ArrayRef<int64_t> shape, size_t position,
                                      Type type, const Element &without, const Element &with) {
  return op->emitOpError() << "is 'beyond_neutral', but with the elements beyond its extent "
                           << "its result" << indexText(shape, position) << " is "
                           << toString(type, with) << ", not " << toString(type, without);
}

//===----------------------------------------------------------------------===//
// tile.reduce
//===----------------------------------------------------------------------===//

static APInt floatIdentity(ReductionKind kind, const llvm::fltSemantics &semantics) {
  auto extreme = [&](bool negative) {
    return APFloat::semanticsHasInf(semantics) ? APFloat::getInf(semantics, negative)
                                               : APFloat::getLargest(semantics, negative);
  };
  switch (kind) {
  case ReductionKind::Sum:
    return APFloat::getZero(semantics).bitcastToAPInt();
  case ReductionKind::Product:
    return APFloat::getOne(semantics).bitcastToAPInt();
  case ReductionKind::Maximum:
    return extreme(/*negative=*/true).bitcastToAPInt();
  case ReductionKind::Minimum:
    return extreme(/*negative=*/false).bitcastToAPInt();
  case ReductionKind::And:
  case ReductionKind::Or:
    break;
  }
  llvm_unreachable("the verifier rejects and/or of floats");
}

static APInt integerIdentity(ReductionKind kind, unsigned width) {
  switch (kind) {
  case ReductionKind::Sum:
  case ReductionKind::Or:
    return APInt(width, 0);
  case ReductionKind::Product:
    // In i1 the bit that is one.
    return APInt(width, 1);
  case ReductionKind::Maximum:
    return APInt::getSignedMinValue(width);
  case ReductionKind::Minimum:
    return APInt::getSignedMaxValue(width);
  case ReductionKind::And:
    return APInt::getAllOnes(width);
  }
  llvm_unreachable("all kinds are handled");
}

static APInt combineFloats(ReductionKind kind, const APFloat &a, const APFloat &b) {
  switch (kind) {
  case ReductionKind::Sum:
    return (a + b).bitcastToAPInt();
  case ReductionKind::Product:
    return (a * b).bitcastToAPInt();
  case ReductionKind::Maximum:
    return llvm::maximum(a, b).bitcastToAPInt();
  case ReductionKind::Minimum:
    return llvm::minimum(a, b).bitcastToAPInt();
  case ReductionKind::And:
  case ReductionKind::Or:
    break;
  }
  llvm_unreachable("the verifier rejects and/or of floats");
}

static APInt combineIntegers(ReductionKind kind, const APInt &a, const APInt &b) {
  switch (kind) {
  case ReductionKind::Sum:
    return a + b;
  case ReductionKind::Product:
    return a * b;
  case ReductionKind::Maximum:
    return llvm::APIntOps::smax(a, b);
  case ReductionKind::Minimum:
    return llvm::APIntOps::smin(a, b);
  case ReductionKind::And:
    return a & b;
  case ReductionKind::Or:
    return a | b;
  }
  llvm_unreachable("all kinds are handled");
}

LogicalResult interpreter::runReduce(Frame &frame, ReduceOp op) {
  const Tile &source = frame.tile(op.getSource());
  FailureOr<int64_t> extent = frame.extent(op, op.getExtent(), source.getShape()[op.getAxis()]);
  if (failed(extent))
    return failure();
  Type type = source.getElementType();
  auto floatType = dyn_cast<FloatType>(type);
  auto combine = [&](const Element &a, const Element &b) -> Element {
    if (!a || !b)
      return std::nullopt;
    return floatType ? combineFloats(op.getKind(), toFloat(type, *a), toFloat(type, *b))
                     : combineIntegers(op.getKind(), *a, *b);
  };
  APInt identity = floatType ? floatIdentity(op.getKind(), floatType.getFloatSemantics())
                             : integerIdentity(op.getKind(), getWidth(type));

  Lines lines(source.getShape(), op.getAxis());
  Tile tile(type, lines.shape());
  tile.setCulprit(source.getCulprit() ? source.getCulprit() : op);
  for (size_t line = 0; line < lines.count(); ++line) {
    Element result = identity;
    for (int64_t i = 0; i < *extent; ++i) {
      result = combine(result, source[lines.position(line, i)]);
      if (!result && lines.shape().empty())
        return reportUndefined(op, source, i, "reduces");
    }
    tile.set(line, result);
    if (!op.getBeyondNeutral() || *extent == 0)
      continue;
    Element all = result;
    for (int64_t i = *extent; i < source.getShape()[op.getAxis()]; ++i)
      all = combine(all, source[lines.position(line, i)]);
    if (changes(type, result, all))
      return reportNotNeutral(op, lines.shape(), line, type, result, all);
  }
  frame.set(op.getResult(), std::move(tile));
  return success();
}

//===----------------------------------------------------------------------===//
// tile.arg_reduce
//===----------------------------------------------------------------------===//

namespace {

/// The element that was found, or that there is one without a value.
struct Found {
  Element value, index;
};

} // namespace

/// Whether `a` comes before `b`: NaN first, then the larger (smaller) one, then the
/// smaller index.
static bool isBefore(ArgReductionKind kind, Type type, const Found &a, const Found &b) {
  bool maximum = kind == ArgReductionKind::Maximum;
  if (isa<FloatType>(type)) {
    APFloat x = toFloat(type, *a.value), y = toFloat(type, *b.value);
    if (x.isNaN() != y.isNaN())
      return x.isNaN();
    if (!x.isNaN() && x.compare(y) != APFloat::cmpEqual)
      return maximum == (x.compare(y) == APFloat::cmpGreaterThan);
  } else if (*a.value != *b.value) {
    return maximum == a.value->sgt(*b.value);
  }
  return a.index->slt(*b.index);
}

LogicalResult interpreter::runArgReduce(Frame &frame, ArgReduceOp op) {
  const Tile &source = frame.tile(op.getSource()), &indices = frame.tile(op.getIndices());
  int64_t size = source.getShape()[op.getAxis()];
  FailureOr<int64_t> extent = frame.extent(op, op.getExtent(), size);
  if (failed(extent))
    return failure();
  if (*extent == 0)
    return op.emitOpError("looks for an element among none");
  Type type = source.getElementType();

  Lines lines(source.getShape(), op.getAxis());
  auto find = [&](size_t line, int64_t count) {
    std::optional<Found> best;
    for (int64_t i = 0; i < count; ++i) {
      size_t position = lines.position(line, i);
      Found element{source[position], indices[position]};
      if (!element.value || !element.index)
        return Found();
      if (!best || isBefore(op.getKind(), type, element, *best))
        best = element;
    }
    return *best;
  };

  Tile value(type, lines.shape()), index(indices.getElementType(), lines.shape());
  value.setCulprit(op);
  index.setCulprit(op);
  for (size_t line = 0; line < lines.count(); ++line) {
    Found found = find(line, *extent);
    if (!found.value && lines.shape().empty())
      return op.emitOpError("reduces an element that has no value");
    value.set(line, found.value);
    index.set(line, found.index);
    if (!op.getBeyondNeutral())
      continue;
    Found all = find(line, size);
    if (changes(type, found.value, all.value))
      return reportNotNeutral(op, lines.shape(), line, type, found.value, all.value);
    if (changes(indices.getElementType(), found.index, all.index))
      return reportNotNeutral(op, lines.shape(), line, indices.getElementType(), found.index,
                              all.index);
  }
  frame.set(op.getValue(), std::move(value));
  frame.set(op.getIndex(), std::move(index));
  return success();
}

//===----------------------------------------------------------------------===//
// tile.dot
//===----------------------------------------------------------------------===//

/// An operand of a dot in the accumulator's type, which holds each of its values.
static Tile widened(const Tile &tile, Type type) {
  Tile result(type, tile.getShape());
  for (size_t i = 0; i < tile.size(); ++i) {
    Element element = tile[i];
    if (!element)
      continue;
    if (auto floatType = dyn_cast<FloatType>(type)) {
      APFloat number = toFloat(tile.getElementType(), *element);
      bool lost;
      number.convert(floatType.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
      result.set(i, number.bitcastToAPInt());
    } else {
      result.set(i, element->sext(getWidth(type)));
    }
  }
  return result;
}

static Element multiplyAdd(Type type, const Element &a, const Element &b, const Element &sum) {
  if (!a || !b || !sum)
    return std::nullopt;
  if (isa<FloatType>(type))
    return (toFloat(type, *a) * toFloat(type, *b) + toFloat(type, *sum)).bitcastToAPInt();
  return *a * *b + *sum;
}

LogicalResult interpreter::runDot(Frame &frame, DotOp op) {
  const Tile &accumulator = frame.tile(op.getAccumulator());
  Type type = accumulator.getElementType();
  Tile lhs = widened(frame.tile(op.getLhs()), type), rhs = widened(frame.tile(op.getRhs()), type);
  int64_t depth = lhs.getShape()[1], columns = rhs.getShape()[1];
  FailureOr<int64_t> extent = frame.extent(op, op.getExtent(), depth);
  if (failed(extent))
    return failure();

  Tile tile(type, accumulator.getShape());
  tile.setCulprit(op);
  for (size_t i = 0; i < tile.size(); ++i) {
    int64_t row = i / columns, column = i % columns;
    Element sum = accumulator[i];
    auto add = [&](int64_t k) {
      sum = multiplyAdd(type, lhs[row * depth + k], rhs[k * columns + column], sum);
    };
    for (int64_t k = 0; k < *extent; ++k)
      add(k);
    tile.set(i, sum);
    if (!op.getBeyondNeutral())
      continue;
    for (int64_t k = *extent; k < depth; ++k)
      add(k);
    if (changes(type, tile[i], sum))
      return reportNotNeutral(op, tile.getShape(), i, type, tile[i], sum);
  }
  frame.set(op.getResult(), std::move(tile));
  return success();
}

//===----------------------------------------------------------------------===//
// tile.fill_beyond
//===----------------------------------------------------------------------===//

LogicalResult interpreter::runFillBeyond(Frame &frame, FillBeyondOp op) {
  Tile tile = frame.tile(op.getSource());
  FailureOr<int64_t> extent = frame.extent(op, op.getExtent(), tile.getShape()[op.getAxis()]);
  if (failed(extent))
    return failure();
  Lines lines(tile.getShape(), op.getAxis());
  for (size_t i = 0; i < tile.size(); ++i)
    if (lines.indexAlongAxis(i) >= *extent)
      tile.set(i, toBits(op.getValue()));
  frame.set(op.getResult(), std::move(tile));
  return success();
}
