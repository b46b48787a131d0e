//===- Atomics.cpp - tile.atomic --------------------------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each element is combined by exactly one lane, within a branch. Lanes that hold
// a copy of an element get what that lane has read through LDS.
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/lowering/MemoryAccess.h"
#include "backend_rocm/lowering/Operations.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::rocm;

//===----------------------------------------------------------------------===//
// One element
//===----------------------------------------------------------------------===//

/// LLVM's operation; nothing for a compare_exchange.
static std::optional<LLVM::AtomicBinOp> binaryOf(tile::AtomicKind kind, bool isFloat) {
  using Op = LLVM::AtomicBinOp;
  switch (kind) {
  case tile::AtomicKind::Add:
    return isFloat ? Op::fadd : Op::add;
  case tile::AtomicKind::Maximum:
    return isFloat ? Op::fmaximum : Op::max;
  case tile::AtomicKind::Minimum:
    return isFloat ? Op::fminimum : Op::min;
  case tile::AtomicKind::UnsignedMaximum:
    return Op::umax;
  case tile::AtomicKind::UnsignedMinimum:
    return Op::umin;
  case tile::AtomicKind::And:
    return Op::_and;
  case tile::AtomicKind::Or:
    return Op::_or;
  case tile::AtomicKind::Xor:
    return Op::_xor;
  case tile::AtomicKind::Exchange:
    return Op::xchg;
  case tile::AtomicKind::CompareExchange:
    return std::nullopt;
  }
  llvm_unreachable("covered switch");
}

static LLVM::AtomicOrdering orderingOf(tile::MemoryOrder order) {
  switch (order) {
  case tile::MemoryOrder::Relaxed:
    return LLVM::AtomicOrdering::monotonic;
  case tile::MemoryOrder::Acquire:
    return LLVM::AtomicOrdering::acquire;
  case tile::MemoryOrder::Release:
    return LLVM::AtomicOrdering::release;
  case tile::MemoryOrder::AcquireRelease:
    return LLVM::AtomicOrdering::acq_rel;
  }
  llvm_unreachable("covered switch");
}

static StringRef scopeOf(tile::MemoryScope scope) {
  switch (scope) {
  case tile::MemoryScope::Block:
    return "workgroup";
  case tile::MemoryScope::Device:
    return "agent";
  case tile::MemoryScope::System:
    return "";
  }
  llvm_unreachable("covered switch");
}

/// What memory held; all values are of memory's type.
static Value emitAtomic(Lowering &state, tile::AtomicOp op, Value address, Value value,
                        Value compare) {
  OpBuilder &builder = state.builder;
  Type type = value.getType();
  LLVM::AtomicOrdering ordering = orderingOf(op.getOrder());
  StringRef scope = scopeOf(op.getScope());
  unsigned bytes = Lowering::bytesOf(type);
  if (auto kind = binaryOf(op.getKind(), isa<FloatType>(type));
      kind && *kind != LLVM::AtomicBinOp::xchg)
    return LLVM::AtomicRMWOp::create(builder, state.loc, *kind, address, value, ordering, scope,
                                     bytes);
  // These two are of bits.
  Type bits = builder.getIntegerType(8 * bytes);
  value = state.bitcast(value, bits);
  if (!compare)
    return state.bitcast(LLVM::AtomicRMWOp::create(builder, state.loc, LLVM::AtomicBinOp::xchg,
                                                   address, value, ordering, scope, bytes),
                         type);
  LLVM::AtomicOrdering failure =
      ordering == LLVM::AtomicOrdering::acquire || ordering == LLVM::AtomicOrdering::acq_rel
          ? LLVM::AtomicOrdering::acquire
          : LLVM::AtomicOrdering::monotonic;
  Value pair =
      LLVM::AtomicCmpXchgOp::create(builder, state.loc, address, state.bitcast(compare, bits),
                                    value, ordering, failure, scope, bytes);
  return state.bitcast(LLVM::ExtractValueOp::create(builder, state.loc, pair, ArrayRef<int64_t>{0}),
                       type);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// The position of a register's element in the tile, row by row.
static Value positionOf(Lowering &state, const Layout &layout, unsigned reg) {
  Value position = state.constantI32(0);
  for (unsigned dim = 0; dim < layout.rank(); ++dim)
    position = state.add(state.mul(position, state.constantI32(layout.shape()[dim])),
                         state.coordinate(layout, reg, dim));
  return position;
}

/// Gives every lane and register the value of the canonical copy of its element.
static void spreadCopies(Lowering &state, const Layout &layout, MutableArrayRef<Value> registers) {
  OpBuilder &builder = state.builder;
  Type type = registers.front().getType();
  unsigned bytes = Lowering::bytesOf(type);
  unsigned base = state.allocateLds(bytes * llvm::product_of(layout.shape()));
  auto slot = [&](unsigned reg) {
    Value position = positionOf(state, layout, reg);
    return state.ldsPointer(base, state.mul(position, state.constantI32(bytes)));
  };
  unsigned copies = layout.replication().registerMask;
  auto write = [&]() -> SmallVector<Value> {
    for (auto [reg, value] : llvm::enumerate(registers))
      if ((reg & copies) == 0)
        LLVM::StoreOp::create(builder, state.loc, value, slot(reg), bytes);
    return {};
  };
  if (state.enclosingLoop)
    state.workgroupBarrier();
  if (Value canonical = state.canonicalCopy(layout))
    state.conditional(canonical, {}, write);
  else
    write();
  state.workgroupBarrier();
  for (auto [reg, value] : llvm::enumerate(registers))
    value = LLVM::LoadOp::create(builder, state.loc, type, slot(reg), bytes);
}

//===----------------------------------------------------------------------===//
// tile.atomic
//===----------------------------------------------------------------------===//

LogicalResult rocm::lowerAtomic(Lowering &state, tile::AtomicOp op) {
  const Layout &layout = Lowering::layoutOf(op.getResult());
  Type element = op.getType().getElementType();
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 16 &&
      op.getKind() != tile::AtomicKind::Exchange &&
      op.getKind() != tile::AtomicKind::CompareExchange)
    return op.emitOpError() << tile::stringifyAtomicKind(op.getKind()) << " of " << element
                            << " is not supported";
  MemoryView view = state.views.lookup(op.getView());
  TileAccess access(state, {view, layout, element, *Place::of(op), std::nullopt, /*divisor=*/1,
                            /*isStore=*/true, /*isAtomic=*/true});
  auto inMemory = [&](Value value) -> Value {
    if (value.getType() == access.memoryElement())
      return value;
    return LLVM::ZExtOp::create(state.builder, state.loc, access.memoryElement(), value);
  };
  SmallVector<Value> values = state.unpack(state.registers(op.getValue())), compares;
  if (op.getCompare())
    compares = state.unpack(state.registers(op.getCompare()));
  Value zero = state.constantElement(access.memoryElement(),
                                     state.builder.getZeroAttr(access.memoryElement()));
  SmallVector<Value> old(layout.registerCount(), zero);
  for (const TileAccess::Group &group : access.groups()) {
    unsigned reg = group.registers.front();
    auto emit = [&]() -> SmallVector<Value> {
      Value compare = compares.empty() ? Value() : inMemory(compares[reg]);
      return {emitAtomic(state, op, access.address(group), inMemory(values[reg]), compare)};
    };
    old[reg] = group.mask ? state.conditional(group.mask, zero, emit).front() : emit().front();
  }
  Replication copies = layout.replication();
  if (!op.getResult().use_empty() && (copies.laneMask | copies.waveMask | copies.registerMask))
    spreadCopies(state, layout, old);
  Type registerType = state.registerType(element);
  for (Value &value : old)
    if (value.getType() != registerType)
      value = LLVM::TruncOp::create(state.builder, state.loc, registerType, value);
  state.tiles[op.getResult()] = state.pack(old);
  return success();
}
