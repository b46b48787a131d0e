//===- LoadStore.cpp - tile.load and tile.store -----------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/lowering/MemoryAccess.h"
#include "backend_rocm/lowering/Operations.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::rocm;

//===----------------------------------------------------------------------===//
// The end of a row within a group
//===----------------------------------------------------------------------===//

namespace {

/// One narrower access of the lane in whose group the extent ends: `count` elements, for lanes
/// whose rest has bit `count`. They stand at `rest` with this bit and those below cleared, so that
/// they can be any of `positions` in the group.
struct Piece {
  unsigned count;
  Value mask;
  Value extraBytes;
  /// Possible first elements, and whether the piece is there.
  SmallVector<std::pair<unsigned, Value>> positions;
};

} // namespace

static SmallVector<Piece> piecesOf(Lowering &state, const TileAccess &access,
                                   const TileAccess::Group &group) {
  SmallVector<Piece> pieces;
  unsigned bytes = Lowering::bytesOf(access.memoryElement());
  for (unsigned count = access.width() / 2; count > 0; count /= 2) {
    Piece piece;
    piece.count = count;
    Value has = state.bitAnd(group.rest, state.constantI32(count));
    piece.mask = state.compare(LLVM::ICmpPredicate::ne, has, state.constantI32(0));
    Value position = state.bitAnd(group.rest, state.constantI32(access.width() - 2 * count));
    piece.extraBytes = state.mul(position, state.constantI32(bytes));
    for (unsigned first = 0; first < access.width(); first += 2 * count)
      piece.positions.push_back(
          {first, state.compare(LLVM::ICmpPredicate::eq, position, state.constantI32(first))});
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

/// Replaces the first elements of `group`, as many as the lane has, in `elements`.
static SmallVector<Value> loadRest(Lowering &state, TileAccess &access,
                                   const TileAccess::Group &group, ArrayRef<Value> elements) {
  return state.conditional(group.hasRest, elements, [&]() {
    SmallVector<Value> result(elements);
    for (const Piece &piece : piecesOf(state, access, group)) {
      Value loaded = access.load(group, piece.count, piece.extraBytes, piece.mask);
      for (auto [first, isThere] : piece.positions) {
        Value take = state.bitAnd(isThere, piece.mask);
        for (unsigned i = 0; i < piece.count; ++i) {
          Value element = piece.count == 1 ? loaded : state.extract(loaded, i);
          result[first + i] = state.select(take, element, result[first + i]);
        }
      }
    }
    return result;
  });
}

static void storeRest(Lowering &state, TileAccess &access, const TileAccess::Group &group,
                      ArrayRef<Value> elements) {
  state.conditional(group.hasRest, {}, [&]() -> SmallVector<Value> {
    for (const Piece &piece : piecesOf(state, access, group)) {
      SmallVector<Value> chosen(elements.take_front(piece.count));
      for (auto [first, isThere] : ArrayRef(piece.positions).drop_front())
        for (unsigned i = 0; i < piece.count; ++i)
          chosen[i] = state.select(isThere, elements[first + i], chosen[i]);
      access.store(group, state.buildVector(chosen), piece.extraBytes, piece.mask);
    }
    return {};
  });
}

//===----------------------------------------------------------------------===//
// tile.load
//===----------------------------------------------------------------------===//

static std::optional<ArrayRef<bool>> inBoundsOf(DenseBoolArrayAttr attr) {
  return attr ? std::optional<ArrayRef<bool>>(attr.asArrayRef()) : std::nullopt;
}

/// Bool is a byte in memory and one bit in registers.
static Value fromMemory(Lowering &state, Value element, Type registerType) {
  if (element.getType() == registerType)
    return element;
  return LLVM::TruncOp::create(state.builder, state.loc, registerType, element);
}

static Value toMemory(Lowering &state, Value element, Type memoryType) {
  if (element.getType() == memoryType)
    return element;
  return LLVM::ZExtOp::create(state.builder, state.loc, memoryType, element);
}

/// The bits of an element as memory has them.
static Attribute memoryAttribute(OpBuilder &builder, TypedAttr value) {
  if (auto flag = dyn_cast<IntegerAttr>(value); flag && flag.getType().isInteger(1))
    return builder.getI8IntegerAttr(flag.getValue().getZExtValue());
  return value;
}

/// What lanes that are kept out shall have, unless that is zero, which they have.
static FailureOr<Attribute> fillOf(Lowering &state, tile::LoadOp op) {
  TypedAttr beyond = op.getBeyond().value_or(TypedAttr());
  if (!beyond)
    beyond = op.getPad().value_or(TypedAttr());
  if (!beyond)
    return Attribute();
  Attribute fill = memoryAttribute(state.builder, beyond);
  if (auto integer = dyn_cast<IntegerAttr>(fill))
    return integer.getValue().isZero() ? Attribute() : fill;
  if (auto number = dyn_cast<FloatAttr>(fill))
    return number.getValue().isPosZero() ? Attribute() : fill;
  return op.emitOpError("beyond must be an integer or float");
}

LogicalResult rocm::lowerLoad(Lowering &state, tile::LoadOp op) {
  const Layout &layout = Lowering::layoutOf(op.getResult());
  Type element = op.getType().getElementType();
  Type registerType = state.registerType(element);
  MemoryView view = state.views.lookup(op.getView());
  TileAccess access(state, {view, layout, element, *Place::of(op), inBoundsOf(op.getInBoundsAttr()),
                            int64_t(op.getDivisor().value_or(1)), /*isStore=*/false});
  FailureOr<Attribute> fill = fillOf(state, op);
  if (failed(fill))
    return failure();
  // Every load is on its way before the first is waited for: each branch of loadRest ends a
  // basic block, over which nothing is scheduled.
  SmallVector<Value> loads;
  for (const TileAccess::Group &group : access.groups())
    loads.push_back(access.load(group, access.width(), {}, group.mask));
  SmallVector<Value> registers(layout.registerCount());
  for (auto [group, loaded] : llvm::zip_equal(access.groups(), loads)) {
    if (*fill && group.mask)
      loaded = state.select(group.mask, loaded, state.constantElement(loaded.getType(), *fill));
    SmallVector<Value> elements;
    for (unsigned i = 0; i < access.width(); ++i)
      elements.push_back(access.width() == 1 ? loaded : state.extract(loaded, i));
    if (group.hasRest)
      elements = loadRest(state, access, group, elements);
    for (auto [reg, value] : llvm::zip_equal(group.registers, elements))
      registers[reg] = fromMemory(state, value, registerType);
  }
  state.tiles[op.getResult()] = state.pack(registers);
  return success();
}

//===----------------------------------------------------------------------===//
// tile.store
//===----------------------------------------------------------------------===//

LogicalResult rocm::lowerStore(Lowering &state, tile::StoreOp op) {
  const Layout &layout = Lowering::layoutOf(op.getValue());
  Type element = op.getValue().getType().getElementType();
  MemoryView view = state.views.lookup(op.getView());
  TileAccess access(state, {view, layout, element, *Place::of(op), inBoundsOf(op.getInBoundsAttr()),
                            int64_t(op.getDivisor().value_or(1)), /*isStore=*/true});
  SmallVector<Value> registers = state.unpack(state.registers(op.getValue()));
  for (const TileAccess::Group &group : access.groups()) {
    SmallVector<Value> elements;
    for (unsigned reg : group.registers)
      elements.push_back(toMemory(state, registers[reg], access.memoryElement()));
    access.store(group, state.buildVector(elements), {}, group.mask);
    if (group.hasRest)
      storeRest(state, access, group, elements);
  }
  return success();
}
