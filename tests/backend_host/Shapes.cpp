//===- Shapes.cpp - Other shapes and orders of elements ----------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/backend_host/Lowering.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::host;

/// Computes each element of a result from its index.
static LogicalResult build(Lowering &state, Value result,
                           llvm::function_ref<Value(ValueRange)> elementAt) {
  RankedTensorType type = tileType(result);
  Value to = state.allocateTile(result);
  state.forEach(type.getShape(), [&](ValueRange index) {
    state.store(to, type.getElementType(), state.position(type.getShape(), index),
                elementAt(index));
  });
  return success();
}

/// The elements in the same order, whatever the shape or the layout.
static LogicalResult rename(Lowering &state, Value source, Value result) {
  state.tiles[result] = state.tile(source);
  return success();
}

static LogicalResult lowerTake(Lowering &state, tile::TakeOp op) {
  RankedTensorType source = tileType(op.getSource());
  return build(state, op.getResult(), [&](ValueRange index) {
    SmallVector<Value> from;
    Value isInside;
    for (auto [size, indices] : llvm::zip_equal(source.getShape(), op.getIndices())) {
      Value at = state.wide(state.element(indices, index));
      Value inside = state.compare(arith::CmpIPredicate::ult, at, state.number(size));
      isInside = state.both(isInside, inside);
      from.push_back(state.select(inside, at, state.number(0)));
    }
    return state.load(state.tile(op.getSource()), source.getElementType(),
                      state.position(source.getShape(), from));
  });
}

LogicalResult host::lowerShape(Lowering &state, Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](tile::ScalarOp scalar) {
        Type type = tileType(scalar.getSource()).getElementType();
        state.scalars[scalar.getResult()] =
            state.load(state.tile(scalar.getSource()), type, state.number(0));
        return success();
      })
      .Case([&](tile::FullOp full) {
        return build(state, full.getResult(),
                     [&](ValueRange) { return state.scalar(full.getValue()); });
      })
      .Case([&](tile::IotaOp iota) {
        Type type = state.scalarType(iota.getType().getElementType());
        return build(state, iota.getResult(), [&](ValueRange index) -> Value {
          if (type == state.i64())
            return index[0];
          return arith::TruncIOp::create(state.builder, state.loc, type, index[0]);
        });
      })
      .Case<tile::ExpandDimsOp, tile::SqueezeDimsOp, tile::ConvertLayoutOp>(
          [&](auto same) { return rename(state, same.getSource(), same.getResult()); })
      .Case([&](tile::BroadcastOp broadcast) {
        return build(state, broadcast.getResult(),
                     [&](ValueRange index) { return state.element(broadcast.getSource(), index); });
      })
      .Case([&](tile::TransposeOp transpose) {
        return build(state, transpose.getResult(), [&](ValueRange index) {
          SmallVector<Value> from(index.size());
          for (auto [to, source] : llvm::enumerate(transpose.getPermutation()))
            from[source] = index[to];
          return state.element(transpose.getSource(), from);
        });
      })
      .Case([&](tile::FillBeyondOp fillOp) {
        Type type = state.scalarType(fillOp.getType().getElementType());
        return build(state, fillOp.getResult(), [&](ValueRange index) {
          Value exists = state.compare(arith::CmpIPredicate::slt, index[fillOp.getAxis()],
                                       state.scalar(fillOp.getExtent()));
          return state.select(exists, state.element(fillOp.getSource(), index),
                              state.constantOf(type, fillOp.getValue()));
        });
      })
      .Case([&](tile::TakeOp take) { return lowerTake(state, take); })
      .Case([&](tile::StageAllocOp stage) {
        tile::StagingType type = stage.getType();
        state.tiles[stage.getResult()] = state.allocate(
            type.getBuffers() * llvm::product_of(type.getShape()), type.getElementType());
        return success();
      })
      .Case([&](tile::StageStoreOp stage) {
        RankedTensorType type = tileType(stage.getValue());
        Value at = state.mul(state.scalar(stage.getBuffer()), state.number(type.getNumElements()));
        state.copy(state.address(state.tile(stage.getStaging()), type.getElementType(), at),
                   state.tile(stage.getValue()), type);
        return success();
      })
      .Case([&](tile::StageLoadOp stage) {
        RankedTensorType type = stage.getType();
        Value at = state.mul(state.scalar(stage.getBuffer()), state.number(type.getNumElements()));
        state.copy(state.allocateTile(stage.getResult()),
                   state.address(state.tile(stage.getStaging()), type.getElementType(), at), type);
        return success();
      })
      .Case([&](tile::BarrierOp) { return success(); })
      .Default([](Operation *) { return failure(); });
}
