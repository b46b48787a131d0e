//===- Take.cpp - tile.take -------------------------------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The source is written to LDS row by row; each lane reads what its indices name.
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/lowering/LdsAccess.h"
#include "backend_rocm/lowering/Operations.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::rocm;

LogicalResult rocm::lowerTake(Lowering &state, tile::TakeOp op) {
  OpBuilder &builder = state.builder;
  const Layout &from = Lowering::layoutOf(op.getSource());
  const Layout &to = Lowering::layoutOf(op.getResult());
  for (Value index : op.getIndices())
    if (Lowering::layoutOf(index) != to)
      return op.emitOpError("needs the result's layout for its indices");
  SmallVector<Value> source = state.unpack(state.registers(op.getSource()));
  Type element = source.front().getType();
  bool isFlag = element.isInteger(1);
  if (isFlag) {
    element = builder.getI8Type();
    for (Value &value : source)
      value = LLVM::ZExtOp::create(builder, state.loc, element, value);
  }
  unsigned bytes = Lowering::bytesOf(element);
  Layout lds = Layout::lds(from.shape());
  unsigned base = state.allocateLds(lds.allocatedElements() * bytes);
  if (state.enclosingLoop)
    state.workgroupBarrier();
  writeLds(state, {base, {}, lds}, from, source);
  state.workgroupBarrier();

  SmallVector<SmallVector<Value>> indices;
  for (Value index : op.getIndices())
    indices.push_back(state.unpack(state.registers(index)));
  SmallVector<Value> results;
  int64_t atomElements = 1;
  for (unsigned dim = 0; dim < from.rank(); ++dim)
    atomElements *= from.atomShape(dim);
  for (unsigned reg = 0; reg < to.registerCount(); ++reg) {
    // Indices outside, which give no value, must not leave the buffer. Atoms lie one after the
    // other, and within each the elements row by row.
    Value atom = state.constantI32(0), place = state.constantI32(0);
    for (auto [dim, size] : llvm::enumerate(from.shape())) {
      Value index = state.castInteger(indices[dim][reg], state.i32());
      index = LLVM::UMinOp::create(builder, state.loc, index, state.constantI32(size - 1));
      unsigned bits = llvm::Log2_64(from.atomShape(dim));
      Value repetitions = state.constantI32(from.repetitions(dim));
      atom = state.add(state.mul(atom, repetitions), state.shiftRight(index, bits));
      Value inside = state.bitAnd(index, state.constantI32(from.atomShape(dim) - 1));
      place = state.add(state.shiftLeft(place, bits), inside);
    }
    place = state.add(state.mul(atom, state.constantI32(atomElements)), place);
    Value pointer = state.ldsPointer(base, state.mul(place, state.constantI32(bytes)));
    Value value = LLVM::LoadOp::create(builder, state.loc, element, pointer, bytes);
    if (isFlag)
      value = LLVM::TruncOp::create(builder, state.loc, state.i1(), value);
    results.push_back(value);
  }
  state.tiles[op.getResult()] = state.pack(results);
  return success();
}
