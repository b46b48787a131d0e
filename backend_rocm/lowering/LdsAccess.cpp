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

namespace wavetile::rocm {

/// Addresses of one register layout in one LDS layout. What does not change from access to access
/// is computed once, in the function's prologue.
class LdsAddresses {
public:
  LdsAddresses(Lowering &state, const LdsTile &where, const Layout &registers, unsigned bytes)
      : state(state), where(where), placement(registers, where.layout), bytes(bytes) {
    OpBuilder::InsertionGuard guard(state.builder);
    state.builder.setInsertionPoint(state.prologueEnd);
    combine(state.laneId, registers.laneCount(),
            [&](unsigned bit) { return placement.laneBasis(bit); });
    combine(state.waveId, registers.waveCount(),
            [&](unsigned bit) { return placement.waveBasis(bit); });
  }

  const LdsPlacement &lds() const { return placement; }

  unsigned width() const {
    return std::min(placement.contiguousElements(), std::max(1u, 16 / bytes));
  }

  Value pointer(unsigned reg) {
    int64_t mask = 0, constant = 0;
    if (auto displacement = placement.displacement(reg)) {
      constant = *displacement;
    } else {
      mask = placement.registerXor(reg);
      constant = placement.registerAdd(reg);
    }
    Value offset = offsetOf(mask);
    if (where.buffer) {
      Value stride = state.constantI32(placement.bufferStride() * bytes);
      offset = state.add(offset, state.mul(where.buffer, stride));
    }
    return state.ldsPointer(where.base + constant * bytes, offset);
  }

private:
  /// XORs in the bases of the bits that are set in `number`. Bits whose bases are each other's
  /// doubles and share no bit move together.
  void combine(Value number, unsigned count, llvm::function_ref<int64_t(unsigned)> basis) {
    unsigned bits = llvm::Log2_32(count);
    for (unsigned bit = 0; bit < bits;) {
      int64_t first = basis(bit), used = first;
      unsigned length = 1;
      while (first && bit + length < bits && basis(bit + length) == first << length &&
             (used & first << length) == 0)
        used |= first << length++;
      if (first) {
        Value field = state.shiftRight(number, bit);
        if (bit + length < bits)
          field = state.bitAnd(field, state.constantI32((1u << length) - 1));
        Value part = llvm::isPowerOf2_64(first) ? state.shiftLeft(field, llvm::Log2_64(first))
                                                : state.mul(field, state.constantI32(first));
        fixed = fixed ? state.bitXor(fixed, part) : part;
      }
      bit += length;
    }
  }

  /// In bytes, padding included: lane's and wave's part with `mask` XORed in.
  Value offsetOf(int64_t mask) {
    auto [entry, isNew] = offsets.try_emplace(mask);
    if (!isNew)
      return entry->second;
    OpBuilder::InsertionGuard guard(state.builder);
    state.builder.setInsertionPoint(state.prologueEnd);
    Value x = fixed ? fixed : state.constantI32(0);
    if (mask)
      x = state.bitXor(x, state.constantI32(mask));
    Padding padding = placement.ldsLayout().padding();
    Value padded = x;
    if (padding.amount) {
      Value intervals = state.shiftRight(x, llvm::Log2_64(padding.interval));
      padded = state.add(x, state.mul(intervals, state.constantI32(padding.amount)));
    }
    Value result = state.mul(padded, state.constantI32(bytes));
    offsets[mask] = result;
    return result;
  }

  Lowering &state;
  LdsTile where;
  LdsPlacement placement;
  unsigned bytes;
  Value fixed;
  llvm::DenseMap<int64_t, Value> offsets;
};

} // namespace wavetile::rocm

void rocm::writeLds(Lowering &state, const LdsTile &to, const Layout &layout,
                    ValueRange registers) {
  Type element = registers.front().getType();
  unsigned bytes = Lowering::bytesOf(element);
  LdsAddresses addresses(state, to, layout, bytes);
  Replication copies = layout.replication();
  auto write = [&]() -> SmallVector<Value> {
    for (const auto &group : addresses.lds().vectors(addresses.width())) {
      if (group.front() & copies.registerMask)
        continue;
      SmallVector<Value> elements =
          llvm::map_to_vector(group, [&](unsigned reg) -> Value { return registers[reg]; });
      LLVM::StoreOp::create(state.builder, state.loc, state.buildVector(elements),
                            addresses.pointer(group.front()), bytes * elements.size());
    }
    return {};
  };
  if (Value isCanonical = state.canonicalCopy(layout))
    state.conditional(isCanonical, {}, write);
  else
    write();
}

LdsReader::LdsReader(Lowering &state, const LdsTile &from, const Layout &layout, Type memoryElement)
    : state(state), addresses(std::make_unique<LdsAddresses>(state, from, layout,
                                                             Lowering::bytesOf(memoryElement))),
      element(memoryElement), groups(addresses->lds().vectors(addresses->width())),
      groupOf(layout.registerCount()), registers(layout.registerCount()) {
  for (auto [index, group] : llvm::enumerate(groups))
    for (unsigned reg : group)
      groupOf[reg] = index;
}

LdsReader::~LdsReader() = default;

Value LdsReader::read(unsigned reg) {
  if (registers[reg])
    return registers[reg];
  ArrayRef<unsigned> group = groups[groupOf[reg]];
  unsigned count = group.size();
  Type type = count == 1 ? element : Type(VectorType::get(count, element));
  Value loaded =
      LLVM::LoadOp::create(state.builder, state.loc, type, addresses->pointer(group.front()),
                           Lowering::bytesOf(element) * count);
  for (auto [index, member] : llvm::enumerate(group))
    registers[member] = count == 1 ? loaded : state.extract(loaded, index);
  return registers[reg];
}

SmallVector<Value> rocm::readLds(Lowering &state, const LdsTile &from, const Layout &layout,
                                 Type memoryElement) {
  LdsReader reader(state, from, layout, memoryElement);
  SmallVector<Value> registers;
  for (unsigned reg = 0; reg < layout.registerCount(); ++reg)
    registers.push_back(reader.read(reg));
  return registers;
}
