//===- LdsAccess.cpp - Tiles to and from LDS --------------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/lowering/LdsAccess.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::rocm;

namespace {

/// Addresses of one register layout in one LDS layout.
class LdsAddresses {
public:
  LdsAddresses(Lowering &state, const LdsTile &where, const Layout &registers, unsigned bytes)
      : state(state), where(where), placement(registers, where.layout), bytes(bytes) {
    for (unsigned bit = 0; (1u << bit) < registers.laneCount(); ++bit)
      combine(state.laneId, bit, placement.laneBasis(bit));
    for (unsigned bit = 0; (1u << bit) < registers.waveCount(); ++bit)
      combine(state.waveId, bit, placement.waveBasis(bit));
    if (where.buffer)
      bufferBytes = state.mul(where.buffer, state.constantI32(placement.bufferStride() * bytes));
  }

  const LdsPlacement &lds() const { return placement; }

  unsigned width() const {
    return std::min(placement.contiguousElements(), std::max(1u, 16 / bytes));
  }

  Value pointer(unsigned reg) {
    Value x = fixed ? fixed : state.constantI32(0);
    unsigned constant = where.base;
    if (auto displacement = placement.displacement(reg)) {
      constant += *displacement * bytes;
      x = paddedBytes(x);
    } else {
      Value mixed = state.bitXor(x, state.constantI32(placement.registerXor(reg)));
      constant += placement.registerAdd(reg) * bytes;
      x = paddedBytes(mixed);
    }
    if (bufferBytes)
      x = state.add(x, bufferBytes);
    return state.ldsPointer(constant, x);
  }

private:
  /// XORs `basis` in where the bit of `number` is set.
  void combine(Value number, unsigned bit, int64_t basis) {
    if (!basis)
      return;
    Value isSet = state.bitAnd(state.shiftRight(number, bit), state.constantI32(1));
    Value part = state.mul(isSet, state.constantI32(basis));
    fixed = fixed ? state.bitXor(fixed, part) : part;
  }

  Value paddedBytes(Value offset) {
    Padding padding = placement.ldsLayout().padding();
    Value result = offset;
    if (padding.amount) {
      Value intervals = state.shiftRight(offset, llvm::Log2_64(padding.interval));
      result = state.add(result, state.mul(intervals, state.constantI32(padding.amount)));
    }
    return state.mul(result, state.constantI32(bytes));
  }

  Lowering &state;
  LdsTile where;
  LdsPlacement placement;
  unsigned bytes;
  Value fixed, bufferBytes;
};

} // namespace

void rocm::writeLds(Lowering &state, const LdsTile &to, const Layout &layout,
                    ValueRange registers) {
  Type element = registers.front().getType();
  unsigned bytes = Lowering::bytesOf(element);
  LdsAddresses addresses(state, to, layout, bytes);
  Replication copies = layout.replication();
  for (const auto &group : addresses.lds().vectors(addresses.width())) {
    if (group.front() & copies.registerMask)
      continue;
    SmallVector<Value> elements =
        llvm::map_to_vector(group, [&](unsigned reg) -> Value { return registers[reg]; });
    LLVM::StoreOp::create(state.builder, state.loc, state.buildVector(elements),
                          addresses.pointer(group.front()), bytes * elements.size());
  }
}

SmallVector<Value> rocm::readLds(Lowering &state, const LdsTile &from, const Layout &layout,
                                 Type memoryElement) {
  unsigned bytes = Lowering::bytesOf(memoryElement);
  LdsAddresses addresses(state, from, layout, bytes);
  SmallVector<Value> registers(layout.registerCount());
  for (const auto &group : addresses.lds().vectors(addresses.width())) {
    unsigned count = group.size();
    Type type = count == 1 ? memoryElement : Type(VectorType::get(count, memoryElement));
    Value loaded = LLVM::LoadOp::create(state.builder, state.loc, type,
                                        addresses.pointer(group.front()), bytes * count);
    for (auto [index, reg] : llvm::enumerate(group))
      registers[reg] = count == 1 ? loaded : state.extract(loaded, index);
  }
  return registers;
}
