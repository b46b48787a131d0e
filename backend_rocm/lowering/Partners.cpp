//===- Partners.cpp - Elements whose indices differ in one bit --*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/lowering/Partners.h"

#include "backend_rocm/lowering/Operations.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::rocm;

/// The bit of some number that changes just bit `bit` of the coordinate along `axis`.
static std::optional<IndexBit> findBit(const Layout &layout, unsigned axis, unsigned bit) {
  const LinearMap &map = layout.atom();
  for (LayoutInput input : {LayoutInput::Register, LayoutInput::Lane, LayoutInput::Wave}) {
    unsigned number = unsigned(input);
    for (unsigned i = 0; i < map.inputBits(number); ++i) {
      Coordinates basis = map.basis(number, i);
      bool matches = true;
      for (auto [dim, coordinate] : llvm::enumerate(basis))
        matches &= coordinate == (dim == axis ? int64_t(1) << bit : 0);
      if (matches)
        return IndexBit{input, i};
    }
  }
  return std::nullopt;
}

FailureOr<Partners> Partners::along(Lowering &state, Operation *op, const Layout &layout,
                                    unsigned axis) {
  Partners partners(state, layout, axis);
  for (unsigned bit = 0; (int64_t(1) << bit) < layout.atomShape(axis); ++bit) {
    std::optional<IndexBit> found = findBit(layout, axis, bit);
    if (!found)
      return op->emitOpError("needs a layout in which each bit of an index is one of a register's, "
                             "a lane's or a wave's number");
    partners.indexBits.push_back(*found);
  }
  return partners;
}

Value Partners::has(IndexBit bit, unsigned reg) {
  if (bit.input == LayoutInput::Register)
    return state.constant(state.i1(), reg >> bit.bit & 1);
  Value number = bit.input == LayoutInput::Lane ? state.laneId : state.waveId;
  Value masked = state.bitAnd(number, state.constantI32(1 << bit.bit));
  return state.compare(LLVM::ICmpPredicate::ne, masked, state.constantI32(0));
}

SmallVector<Value> Partners::indices() {
  Lowering::Stand stand = state.stand(layout, axis);
  Value base = state.constantI32(0);
  for (Value part : {stand.lane, stand.wave})
    if (part)
      base = state.bitXor(base, part);
  SmallVector<Value> result;
  for (unsigned reg = 0; reg < layout.registerCount(); ++reg) {
    Value constant = state.constantI32(layout.coordinates(reg)[axis]);
    result.push_back(layout.addsRegisters() ? state.add(base, constant)
                                            : state.bitXor(base, constant));
  }
  return result;
}

SmallVector<Value> Partners::readFromWave(unsigned mask, ArrayRef<Value> registers) {
  OpBuilder &builder = state.builder;
  Type type = registers.front().getType();
  bool isFlag = type.isInteger(1);
  Type held = isFlag ? Type(builder.getI8Type()) : type;
  unsigned bytes = Lowering::bytesOf(held), threads = layout.laneCount() * layout.waveCount();
  unsigned needed = bytes * threads * registers.size();
  if (!base || needed > reserved) {
    base = state.allocateLds(needed);
    reserved = needed;
  }
  auto pointer = [&](Value wave, unsigned reg) {
    Value place = state.add(state.mul(wave, state.constantI32(layout.laneCount())), state.laneId);
    return state.ldsPointer(*base + reg * threads * bytes,
                            state.mul(place, state.constantI32(bytes)));
  };
  // What another wave still reads must not be written over.
  state.workgroupBarrier();
  for (auto [reg, value] : llvm::enumerate(registers)) {
    Value stored = value;
    if (isFlag)
      stored = LLVM::ZExtOp::create(builder, state.loc, held, value);
    LLVM::StoreOp::create(builder, state.loc, stored, pointer(state.waveId, reg), bytes);
  }
  state.workgroupBarrier();
  Value other = state.bitXor(state.waveId, state.constantI32(mask));
  SmallVector<Value> result;
  for (unsigned reg = 0; reg < registers.size(); ++reg) {
    Value loaded = LLVM::LoadOp::create(builder, state.loc, held, pointer(other, reg), bytes);
    if (isFlag)
      loaded = LLVM::TruncOp::create(builder, state.loc, type, loaded);
    result.push_back(loaded);
  }
  return result;
}

SmallVector<Value> Partners::read(IndexBit bit, ArrayRef<Value> registers) {
  assert(bit.input != LayoutInput::Register && "registers of one lane need no reading");
  // Registers that hold one value are read once.
  SmallVector<Value> distinct;
  DenseMap<Value, unsigned> numbers;
  for (Value value : registers)
    if (numbers.try_emplace(value, distinct.size()).second)
      distinct.push_back(value);
  SmallVector<Value> others;
  if (bit.input == LayoutInput::Wave)
    others = readFromWave(1u << bit.bit, distinct);
  else
    for (Value value : distinct)
      others.push_back(readLaneXor(state, value, 1u << bit.bit, /*uniformBelow=*/false));
  return llvm::map_to_vector(registers, [&](Value value) { return others[numbers[value]]; });
}
