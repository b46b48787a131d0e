//===- Shapes.cpp - Tiles that are views of other tiles ---------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations that change the shape of a tile move no data when the layouts fit,
// which `tile-assign-layouts` sees to: registers are renamed or repeated.
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/lowering/Operations.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::rocm;

/// Every lane holds the element; saying so keeps it in scalar registers.
LogicalResult rocm::lowerScalar(Lowering &state, tile::ScalarOp op) {
  Value element = state.unpack(state.registers(op.getSource())).front();
  Type type = element.getType();
  unsigned bits = type.getIntOrFloatBitWidth();
  Value word = state.bitcast(element, state.builder.getIntegerType(bits));
  if (bits < 32)
    word = LLVM::ZExtOp::create(state.builder, state.loc, state.i32(), word);
  word = state.intrinsic("llvm.amdgcn.readfirstlane", word.getType(), word);
  if (bits < 32)
    word =
        LLVM::TruncOp::create(state.builder, state.loc, state.builder.getIntegerType(bits), word);
  state.scalars[op.getResult()] = state.bitcast(word, type);
  return success();
}

LogicalResult rocm::lowerFull(Lowering &state, tile::FullOp op) {
  unsigned count = Lowering::layoutOf(op.getResult()).registerCount();
  TileRegisters result;
  result.width = Lowering::chunkWidth(count);
  Value chunk = state.splat(state.scalar(op.getValue()), result.width);
  result.chunks.assign(count / result.width, chunk);
  state.tiles[op.getResult()] = std::move(result);
  return success();
}

LogicalResult rocm::lowerIota(Lowering &state, tile::IotaOp op) {
  const Layout &layout = Lowering::layoutOf(op.getResult());
  Type element = state.registerType(op.getType().getElementType());
  Lowering::Stand stand = state.stand(layout, 0);
  Value base;
  for (Value part : {stand.lane, stand.wave})
    if (part)
      base = base ? state.add(base, part) : part;
  if (!base)
    base = state.constantI32(0);
  bool adds = layout.addsRegisters();
  SmallVector<Value> registers;
  for (unsigned reg = 0; reg < layout.registerCount(); ++reg) {
    Value constant = state.constantI32(layout.coordinates(reg)[0]);
    Value index = adds ? state.add(base, constant) : state.bitXor(base, constant);
    registers.push_back(state.castInteger(index, element));
  }
  state.tiles[op.getResult()] = state.pack(registers);
  return success();
}

/// Gives `result` the registers of `source`, whose layouts put the same elements in the same
/// places.
static LogicalResult renameTile(Lowering &state, Operation *op, Value source, Value result,
                                const Layout &expected) {
  if (Lowering::layoutOf(result) != expected)
    return op->emitOpError() << "needs the layout " << expected.str() << " for its result";
  state.tiles[result] = state.registers(source);
  return success();
}

LogicalResult rocm::lowerExpandDims(Lowering &state, tile::ExpandDimsOp op) {
  return renameTile(state, op, op.getSource(), op.getResult(),
                    Lowering::layoutOf(op.getSource()).expandDims(op.getAxis()));
}

LogicalResult rocm::lowerSqueezeDims(Lowering &state, tile::SqueezeDimsOp op) {
  return renameTile(state, op, op.getSource(), op.getResult(),
                    Lowering::layoutOf(op.getSource()).slice(op.getAxis()));
}

LogicalResult rocm::lowerTranspose(Lowering &state, tile::TransposeOp op) {
  SmallVector<unsigned> permutation(op.getPermutation());
  return renameTile(state, op, op.getSource(), op.getResult(),
                    Lowering::layoutOf(op.getSource()).transpose(permutation));
}

LogicalResult rocm::lowerBroadcast(Lowering &state, tile::BroadcastOp op) {
  auto sources =
      broadcastRegisters(Lowering::layoutOf(op.getSource()), Lowering::layoutOf(op.getResult()));
  if (!sources)
    return op.emitOpError("needs a source layout that is a slice of the result's");
  SmallVector<Value> from = state.unpack(state.registers(op.getSource()));
  SmallVector<Value> registers =
      llvm::map_to_vector(*sources, [&](unsigned reg) { return from[reg]; });
  state.tiles[op.getResult()] = state.pack(registers);
  return success();
}

LogicalResult rocm::lowerFillBeyond(Lowering &state, tile::FillBeyondOp op) {
  const Layout &layout = Lowering::layoutOf(op.getResult());
  unsigned axis = op.getAxis();
  if (!layout.addsRegisters())
    return op.emitOpError("needs a layout whose registers add to the lanes' coordinates");
  Lowering::Stand stand = state.stand(layout, axis);
  Type element = state.registerType(op.getType().getElementType());
  Value fill = state.constantElement(element, op.getValue());
  Value extent = state.castInteger(state.scalar(op.getExtent()), state.i32());
  if (stand.wave)
    extent = state.sub(extent, stand.wave);
  Value lane = stand.lane ? stand.lane : state.constantI32(0);
  SmallVector<Value> registers = state.unpack(state.registers(op.getSource()));
  for (auto [reg, value] : llvm::enumerate(registers)) {
    Value limit = state.sub(extent, state.constantI32(layout.coordinates(reg)[axis]));
    Value inside = state.compare(LLVM::ICmpPredicate::slt, lane, limit);
    value = state.select(inside, value, fill);
  }
  state.tiles[op.getResult()] = state.pack(registers);
  return success();
}
