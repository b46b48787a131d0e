//===- Access.cpp - Loads, stores and atomics --------------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Element by element, as ir/TileOps.td says: below the extents, by the mask, in the view.
// What passes claim of bounds and alignment is not looked at.
//
//===----------------------------------------------------------------------===//

#include "tests/backend_host/Lowering.h"

#include "passes/Place.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::host;

namespace {

/// Where one element is.
class ElementPlace {
public:
  ElementPlace(Lowering &state, const Place &place, ValueRange index)
      : state(state), place(place), index(index), view(state.views.find(place.view)->second) {}

  /// Whether it is below the extents.
  Value exists() {
    Value result;
    for (auto [at, extent] : llvm::zip_equal(index, place.extents))
      result =
          state.both(result, state.compare(arith::CmpIPredicate::slt, at, state.scalar(extent)));
    return result;
  }

  /// Whether the mask takes it; where it does not, indices need not have values.
  Value isTaken() { return place.mask ? state.element(place.mask, index) : Value(); }

  /// Whether it is in the view; and its place in elements from the pointer.
  Value isInside() {
    Value result;
    offset = state.number(0);
    for (auto [dim, tileDim] : llvm::enumerate(place.dims)) {
      Value at = state.scalar(place.offsets[dim]);
      if (tileDim >= 0)
        at = state.add(at, index[tileDim]);
      for (auto [indexDim, indices] : llvm::zip_equal(place.indexDims, place.indices))
        if (indexDim == int64_t(dim))
          at = state.add(at, state.wide(state.element(indices, index)));
      // Unsigned, so that nothing negative is below.
      result = state.both(result, state.compare(arith::CmpIPredicate::ult, at, view.sizes[dim]));
      offset = state.add(offset, state.mul(at, view.strides[dim]));
    }
    return result;
  }

  Value pointer() { return view.pointer; }
  Value offset;

private:
  Lowering &state;
  const Place &place;
  ValueRange index;
  const MemoryView &view;
};

} // namespace

/// Runs `inside` for the elements of an access that are to be accessed.
static void forEachAccess(Lowering &state, const Place &place,
                          llvm::function_ref<void(ElementPlace &, ValueRange index)> inside) {
  state.forEach(place.tile.getShape(), [&](ValueRange index) {
    ElementPlace element(state, place, index);
    state.when(element.exists(), [&] {
      state.when(element.isTaken(), [&] {
        Value isInside = element.isInside();
        state.when(isInside, [&] { inside(element, index); });
      });
    });
  });
}

/// Gives the elements below the extents one value, and `beyond` (unless null) to the others.
static void fill(Lowering &state, const Place &place, Value to, Value value, Value beyond) {
  Type type = place.tile.getElementType();
  state.forEach(place.tile.getShape(), [&](ValueRange index) {
    Value at = state.position(place.tile.getShape(), index);
    if (beyond)
      state.store(to, type, at, beyond);
    state.when(ElementPlace(state, place, index).exists(),
               [&] { state.store(to, type, at, value); });
  });
}

LogicalResult host::lowerLoad(Lowering &state, tile::LoadOp op) {
  Place place = *Place::of(op);
  Type type = op.getType().getElementType(), scalar = state.scalarType(type);
  Value to = state.allocateTile(op.getResult());
  Value pad = op.getPad() ? state.constantOf(scalar, *op.getPad()) : state.constant(scalar, 0);
  fill(state, place, to, pad, op.getBeyond() ? state.constantOf(scalar, *op.getBeyond()) : Value());
  forEachAccess(state, place, [&](ElementPlace &element, ValueRange index) {
    Value loaded = state.load(element.pointer(), type, element.offset);
    state.store(to, type, state.position(op.getType().getShape(), index), loaded);
  });
  return success();
}

LogicalResult host::lowerStore(Lowering &state, tile::StoreOp op) {
  Place place = *Place::of(op);
  Type type = tileType(op.getValue()).getElementType();
  forEachAccess(state, place, [&](ElementPlace &element, ValueRange index) {
    state.store(element.pointer(), type, element.offset, state.element(op.getValue(), index));
  });
  return success();
}

//===----------------------------------------------------------------------===//
// tile.atomic
//===----------------------------------------------------------------------===//

/// What an atomic writes where it reads `old`; null for an operation of narrow floats.
static Value combine(Lowering &state, tile::AtomicOp op, Type type, Value old, Value value,
                     Value compare) {
  OpBuilder &builder = state.builder;
  Location loc = state.loc;
  bool isFloat = isa<FloatType>(type);
  switch (op.getKind()) {
  case tile::AtomicKind::Add:
    return isFloat ? arith::AddFOp::create(builder, loc, old, value).getResult()
                   : state.add(old, value);
  case tile::AtomicKind::Maximum:
    return isFloat ? arith::MaximumFOp::create(builder, loc, old, value).getResult()
                   : arith::MaxSIOp::create(builder, loc, old, value).getResult();
  case tile::AtomicKind::Minimum:
    return isFloat ? arith::MinimumFOp::create(builder, loc, old, value).getResult()
                   : arith::MinSIOp::create(builder, loc, old, value).getResult();
  case tile::AtomicKind::UnsignedMaximum:
    return arith::MaxUIOp::create(builder, loc, old, value);
  case tile::AtomicKind::UnsignedMinimum:
    return arith::MinUIOp::create(builder, loc, old, value);
  case tile::AtomicKind::And:
    return arith::AndIOp::create(builder, loc, old, value);
  case tile::AtomicKind::Or:
    return arith::OrIOp::create(builder, loc, old, value);
  case tile::AtomicKind::Xor:
    return arith::XOrIOp::create(builder, loc, old, value);
  case tile::AtomicKind::Exchange:
    return value;
  case tile::AtomicKind::CompareExchange: {
    auto bits = [&](Value number) -> Value {
      Type integer = builder.getIntegerType(number.getType().getIntOrFloatBitWidth());
      return number.getType() == integer
                 ? number
                 : arith::BitcastOp::create(builder, loc, integer, number).getResult();
    };
    return state.select(state.compare(arith::CmpIPredicate::eq, bits(old), bits(compare)), value,
                        old);
  }
  }
  llvm_unreachable("covered switch");
}

/// Workgroups run one after the other, so that reading and writing is one step.
LogicalResult host::lowerAtomic(Lowering &state, tile::AtomicOp op) {
  Place place = *Place::of(op);
  Type type = op.getType().getElementType(), scalar = state.scalarType(type);
  bool movesBits = op.getKind() == tile::AtomicKind::Exchange ||
                   op.getKind() == tile::AtomicKind::CompareExchange;
  if (isa<FloatType>(type) && isa<IntegerType>(scalar) && !movesBits)
    return op.emitOpError() << "of " << type << " has no lowering for the host";
  Value to = state.allocateTile(op.getResult()), zero = state.constant(scalar, 0);
  fill(state, place, to, zero, {});
  forEachAccess(state, place, [&](ElementPlace &element, ValueRange index) {
    Value old = state.load(element.pointer(), type, element.offset);
    Value compare = op.getCompare() ? state.element(op.getCompare(), index) : Value();
    Value next = combine(state, op, type, old, state.element(op.getValue(), index), compare);
    state.store(element.pointer(), type, element.offset, next);
    state.store(to, type, state.position(op.getType().getShape(), index), old);
  });
  return success();
}
