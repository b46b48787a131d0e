//===- Combining.cpp - Operations along a dimension --------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elements are combined in the order of their indices and never beyond an extent.
//
//===----------------------------------------------------------------------===//

#include "tests/backend_host/Lowering.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::host;

namespace {

/// The elements of a tile along one dimension, for each choice of the other indices.
class Lines {
public:
  Lines(Lowering &state, RankedTensorType type, unsigned axis)
      : state(state), type(type), axis(axis), kept(type.getShape()) {
    kept.erase(kept.begin() + axis);
  }

  ArrayRef<int64_t> keptShape() const { return kept; }
  int64_t length() const { return type.getDimSize(axis); }

  void forEach(llvm::function_ref<void(ValueRange keptIndex)> body) { state.forEach(kept, body); }

  SmallVector<Value> indexOf(ValueRange keptIndex, Value at) const {
    SmallVector<Value> index(keptIndex);
    index.insert(index.begin() + axis, at);
    return index;
  }

  Value positionOf(ValueRange keptIndex, Value at) const {
    return state.position(type.getShape(), indexOf(keptIndex, at));
  }

  /// The elements of several tiles of this shape.
  SmallVector<Value> read(ValueRange tiles, ValueRange keptIndex, Value at) const {
    return llvm::map_to_vector(tiles, [&](Value tile) {
      return state.load(state.tile(tile), tileType(tile).getElementType(),
                        positionOf(keptIndex, at));
    });
  }

private:
  Lowering &state;
  RankedTensorType type;
  unsigned axis;
  SmallVector<int64_t> kept;
};

} // namespace

static bool isShortFloat(Type type) { return type.isF16() || type.isBF16(); }

//===----------------------------------------------------------------------===//
// tile.reduce
//===----------------------------------------------------------------------===//

static Value identityOf(Lowering &state, tile::ReductionKind kind, Type type) {
  OpBuilder &builder = state.builder;
  auto floating = dyn_cast<FloatType>(type);
  unsigned width = type.getIntOrFloatBitWidth();
  auto extremum = [&](bool isMaximum) -> Value {
    if (floating)
      return state.constantOf(
          type, builder.getFloatAttr(
                    type, llvm::APFloat::getInf(floating.getFloatSemantics(), isMaximum)));
    return state.constantOf(
        type, builder.getIntegerAttr(type, isMaximum ? llvm::APInt::getSignedMinValue(width)
                                                     : llvm::APInt::getSignedMaxValue(width)));
  };
  switch (kind) {
  case tile::ReductionKind::Sum:
  case tile::ReductionKind::Or:
    return state.constant(type, 0);
  case tile::ReductionKind::Product:
    return state.constant(type, 1);
  case tile::ReductionKind::Maximum:
    return extremum(true);
  case tile::ReductionKind::Minimum:
    return extremum(false);
  case tile::ReductionKind::And:
    return state.constant(type, -1);
  }
  llvm_unreachable("covered switch");
}

static Value combine(Lowering &state, tile::ReductionKind kind, Value a, Value b) {
  OpBuilder &builder = state.builder;
  Location loc = state.loc;
  bool isFloat = isa<FloatType>(a.getType());
  switch (kind) {
  case tile::ReductionKind::Sum:
    return isFloat ? arith::AddFOp::create(builder, loc, a, b).getResult() : state.add(a, b);
  case tile::ReductionKind::Product:
    return isFloat ? arith::MulFOp::create(builder, loc, a, b).getResult() : state.mul(a, b);
  case tile::ReductionKind::Maximum:
    return isFloat ? arith::MaximumFOp::create(builder, loc, a, b).getResult()
                   : arith::MaxSIOp::create(builder, loc, a, b).getResult();
  case tile::ReductionKind::Minimum:
    return isFloat ? arith::MinimumFOp::create(builder, loc, a, b).getResult()
                   : arith::MinSIOp::create(builder, loc, a, b).getResult();
  case tile::ReductionKind::And:
    return arith::AndIOp::create(builder, loc, a, b);
  case tile::ReductionKind::Or:
    return arith::OrIOp::create(builder, loc, a, b);
  }
  llvm_unreachable("covered switch");
}

/// 16-bit floats are combined in f32, and floats that may be in any order in f64.
LogicalResult host::lowerReduce(Lowering &state, tile::ReduceOp op) {
  Lines lines(state, tileType(op.getSource()), op.getAxis());
  Type element = op.getType().getElementType();
  Type type = state.scalarType(element);
  if (isa<FloatType>(type) && op.getReassociate())
    type = state.builder.getF64Type();
  else if (isShortFloat(element))
    type = state.builder.getF32Type();
  if (isa<FloatType>(element) && isa<IntegerType>(type))
    return op.emitOpError() << "of " << element << " has no lowering for the host";
  auto convert = [&](Value value, Type from, Type to) {
    return isa<FloatType>(from) ? state.convertFloat(value, from, to) : value;
  };
  Value to = state.allocateTile(op.getResult());
  lines.forEach([&](ValueRange kept) {
    Value identity = identityOf(state, op.getKind(), type);
    Value total =
        state
            .loop(state.number(0), state.scalar(op.getExtent()), identity,
                  [&](Value at, ValueRange carried) -> SmallVector<Value> {
                    Value next = lines.read(op.getSource(), kept, at).front();
                    return {combine(state, op.getKind(), carried[0], convert(next, element, type))};
                  })
            .front();
    state.store(to, element, state.position(lines.keptShape(), kept),
                convert(total, type, element));
  });
  return success();
}

//===----------------------------------------------------------------------===//
// tile.arg_reduce and tile.sort
//===----------------------------------------------------------------------===//

/// Whether `a` is above `b`, NaN above all; floats of 8 bits by their values.
static Value isGreater(Lowering &state, Type type, Value a, Value b) {
  if (!isa<FloatType>(type)) {
    bool isBool = type.isInteger(1);
    return state.compare(isBool ? arith::CmpIPredicate::ugt : arith::CmpIPredicate::sgt, a, b);
  }
  Type f64 = state.builder.getF64Type();
  a = state.convertFloat(a, type, f64);
  b = state.convertFloat(b, type, f64);
  Value aIsNan = state.compare(arith::CmpFPredicate::UNO, a, a);
  Value bIsNumber = state.compare(arith::CmpFPredicate::ORD, b, b);
  Value greater = state.compare(arith::CmpFPredicate::OGT, a, b);
  return arith::OrIOp::create(state.builder, state.loc, greater, state.both(aIsNan, bIsNumber));
}

static Value isNan(Lowering &state, Type type, Value value) {
  value = state.convertFloat(value, type, state.builder.getF64Type());
  return state.compare(arith::CmpFPredicate::UNO, value, value);
}

LogicalResult host::lowerArgReduce(Lowering &state, tile::ArgReduceOp op) {
  Lines lines(state, tileType(op.getSource()), op.getAxis());
  Type type = tileType(op.getSource()).getElementType();
  Type indexType = tileType(op.getIndices()).getElementType();
  bool isMaximum = op.getKind() == tile::ArgReductionKind::Maximum;
  auto isBetter = [&](ValueRange a, ValueRange b) {
    // NaN is the largest, and the smallest: the first of all.
    auto above = [&](Value x, Value y) {
      if (isMaximum)
        return isGreater(state, type, x, y);
      Value less = isGreater(state, type, y, x);
      if (!isa<FloatType>(type))
        return less;
      Value xIsNan = isNan(state, type, x), yIsNan = isNan(state, type, y);
      return state.select(xIsNan,
                          arith::XOrIOp::create(state.builder, state.loc, yIsNan,
                                                state.constant(yIsNan.getType(), 1)),
                          state.select(yIsNan, state.constant(yIsNan.getType(), 0), less));
    };
    Value better = above(a[0], b[0]), worse = above(b[0], a[0]);
    Value earlier = state.compare(arith::CmpIPredicate::slt, a[1], b[1]);
    return state.select(better, better, state.select(worse, better, earlier));
  };
  Value values = state.allocateTile(op.getValue()), indices = state.allocateTile(op.getIndex());
  SmallVector<Value> sources = {op.getSource(), op.getIndices()};
  lines.forEach([&](ValueRange kept) {
    SmallVector<Value> best = state.loop(state.number(1), state.scalar(op.getExtent()),
                                         lines.read(sources, kept, state.number(0)),
                                         [&](Value at, ValueRange carried) -> SmallVector<Value> {
                                           SmallVector<Value> next = lines.read(sources, kept, at);
                                           Value better = isBetter(next, carried);
                                           return {state.select(better, next[0], carried[0]),
                                                   state.select(better, next[1], carried[1])};
                                         });
    Value position = state.position(lines.keptShape(), kept);
    state.store(values, type, position, best[0]);
    state.store(indices, indexType, position, best[1]);
  });
  return success();
}

/// By insertion: each element goes before those that it comes before.
LogicalResult host::lowerSort(Lowering &state, tile::SortOp op) {
  RankedTensorType tile = tileType(op.getSource());
  Lines lines(state, tile, op.getAxis());
  Type type = tile.getElementType(), indexType = tileType(op.getIndex()).getElementType();
  Value values = state.allocateTile(op.getValue()), indices = state.allocateTile(op.getIndex());
  lines.forEach([&](ValueRange kept) {
    auto copyTo = [&](Value to, Value value, Value index) {
      Value position = lines.positionOf(kept, to);
      state.store(values, type, position, value);
      state.store(indices, indexType, position, index);
    };
    auto step = [&](Value at, ValueRange) -> SmallVector<Value> {
      Value moving = lines.read(op.getSource(), kept, at).front();
      // The number of elements before it that come after it: those are the last ones.
      auto countAfter = [&](Value other, ValueRange carried) -> SmallVector<Value> {
        Value held = state.load(values, type, lines.positionOf(kept, other));
        Value moves = op.getDescending() ? isGreater(state, type, moving, held)
                                         : isGreater(state, type, held, moving);
        return {state.add(carried[0],
                          arith::ExtUIOp::create(state.builder, state.loc, state.i64(), moves))};
      };
      Value after = state.loop(state.number(0), at, state.number(0), countAfter).front();
      Value place = state.sub(at, after);
      state.loop(state.number(0), after, {}, [&](Value number, ValueRange) -> SmallVector<Value> {
        Value to = state.sub(at, number), from = state.sub(to, state.number(1));
        Value position = lines.positionOf(kept, from);
        copyTo(to, state.load(values, type, position), state.load(indices, indexType, position));
        return {};
      });
      Value number =
          state.scalarType(indexType) == state.i64()
              ? at
              : arith::TruncIOp::create(state.builder, state.loc, state.scalarType(indexType), at)
                    .getResult();
      copyTo(place, moving, number);
      return {};
    };
    state.loop(state.number(0), state.scalar(op.getExtent()), {}, step);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Functions of the user
//===----------------------------------------------------------------------===//

LogicalResult host::lowerCombine(Lowering &state, tile::CombineOp op) {
  Lines lines(state, tileType(op.getSources().front()), op.getAxis());
  SmallVector<Value> results;
  for (Value result : op.getResults())
    results.push_back(state.allocateTile(result));
  bool isKnown = true;
  lines.forEach([&](ValueRange kept) {
    SmallVector<Value> total =
        state.loop(state.number(1), state.scalar(op.getExtent()),
                   lines.read(op.getSources(), kept, state.number(0)),
                   [&](Value at, ValueRange carried) -> SmallVector<Value> {
                     SmallVector<Value> arguments(carried);
                     llvm::append_range(arguments, lines.read(op.getSources(), kept, at));
                     auto next = emitBody(state, op.getBody().front(), arguments);
                     isKnown = succeeded(next);
                     return isKnown ? *next : SmallVector<Value>(carried);
                   });
    Value position = state.position(lines.keptShape(), kept);
    for (auto [to, source, value] : llvm::zip_equal(results, op.getSources(), total))
      state.store(to, tileType(source).getElementType(), position, value);
  });
  return success(isKnown);
}

LogicalResult host::lowerScan(Lowering &state, tile::ScanOp op) {
  Lines lines(state, tileType(op.getSources().front()), op.getAxis());
  SmallVector<Value> results;
  for (Value result : op.getResults())
    results.push_back(state.allocateTile(result));
  bool isKnown = true;
  Value extent = state.scalar(op.getExtent());
  auto placeOf = [&](Value step) {
    if (!op.getReverse())
      return step;
    return state.sub(state.sub(extent, state.number(1)), step);
  };
  auto write = [&](ValueRange kept, Value at, ValueRange values) {
    for (auto [to, source, value] : llvm::zip_equal(results, op.getSources(), values))
      state.store(to, tileType(source).getElementType(), lines.positionOf(kept, at), value);
  };
  lines.forEach([&](ValueRange kept) {
    Value hasFirst = state.compare(arith::CmpIPredicate::sgt, extent, state.number(0));
    state.when(hasFirst, [&] {
      Value first = placeOf(state.number(0));
      SmallVector<Value> start = lines.read(op.getSources(), kept, first);
      write(kept, first, start);
      state.loop(state.number(1), extent, start,
                 [&](Value step, ValueRange carried) -> SmallVector<Value> {
                   Value at = placeOf(step);
                   SmallVector<Value> arguments(carried);
                   llvm::append_range(arguments, lines.read(op.getSources(), kept, at));
                   auto next = emitBody(state, op.getBody().front(), arguments);
                   isKnown = succeeded(next);
                   if (!isKnown)
                     return SmallVector<Value>(carried);
                   write(kept, at, *next);
                   return *next;
                 });
    });
  });
  return success(isKnown);
}

//===----------------------------------------------------------------------===//
// tile.dot
//===----------------------------------------------------------------------===//

LogicalResult host::lowerDot(Lowering &state, tile::DotOp op) {
  RankedTensorType lhs = tileType(op.getLhs()), rhs = tileType(op.getRhs()), result = op.getType();
  Type sum = result.getElementType();
  auto convert = [&](Value value, Type from) -> Value {
    if (isa<FloatType>(from))
      return state.convertFloat(value, from, sum);
    return from == sum ? value
                       : arith::ExtSIOp::create(state.builder, state.loc, sum, value).getResult();
  };
  Value to = state.allocateTile(op.getResult());
  state.forEach(result.getShape(), [&](ValueRange index) {
    auto step = [&](Value k, ValueRange carried) -> SmallVector<Value> {
      Value a = convert(state.element(op.getLhs(), {index[0], k}), lhs.getElementType());
      Value b = convert(state.element(op.getRhs(), {k, index[1]}), rhs.getElementType());
      if (!isa<FloatType>(sum))
        return {state.add(carried[0], state.mul(a, b))};
      Value product = arith::MulFOp::create(state.builder, state.loc, a, b);
      return {arith::AddFOp::create(state.builder, state.loc, carried[0], product)};
    };
    Value total = state
                      .loop(state.number(0), state.scalar(op.getExtent()),
                            state.element(op.getAccumulator(), index), step)
                      .front();
    state.store(to, sum, state.position(result.getShape(), index), total);
  });
  return success();
}
