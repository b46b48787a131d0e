//===- Lowering.cpp - Emitting code and placing lanes -----------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/lowering/Lowering.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::rocm;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type Lowering::registerType(Type element) {
  if (tile::isFp8(element))
    return builder.getI8Type();
  if (element.isIndex())
    return indexType();
  return element;
}

Type Lowering::memoryType(Type element) {
  return element.isInteger(1) ? builder.getI8Type() : registerType(element);
}

unsigned Lowering::bytesOf(Type element) {
  if (element.isIndex())
    return 8;
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

//===----------------------------------------------------------------------===//
// Emitting
//===----------------------------------------------------------------------===//

Value Lowering::constant(Type type, int64_t value) {
  return constantElement(type, builder.getIntegerAttr(getElementTypeOrSelf(type), value));
}

Value Lowering::constantFloat(Type type, double value) {
  return constantElement(type, builder.getFloatAttr(getElementTypeOrSelf(type), value));
}

Value Lowering::constantElement(Type type, Attribute attr) {
  Type element = getElementTypeOrSelf(type);
  // fp8 is held as the integer that has its bits.
  if (auto floating = dyn_cast<FloatAttr>(attr); floating && isa<IntegerType>(element))
    attr = builder.getIntegerAttr(element, floating.getValue().bitcastToAPInt());
  else if (auto integer = dyn_cast<IntegerAttr>(attr); integer && integer.getType() != element)
    attr = builder.getIntegerAttr(element,
                                  integer.getValue().sextOrTrunc(element.getIntOrFloatBitWidth()));
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, attr);
  return LLVM::ConstantOp::create(builder, loc, type, cast<TypedAttr>(attr));
}

Value Lowering::undef(Type type) { return LLVM::PoisonOp::create(builder, loc, type); }
Value Lowering::add(Value a, Value b) { return LLVM::AddOp::create(builder, loc, a, b); }
Value Lowering::sub(Value a, Value b) { return LLVM::SubOp::create(builder, loc, a, b); }
Value Lowering::mul(Value a, Value b) { return LLVM::MulOp::create(builder, loc, a, b); }
Value Lowering::bitAnd(Value a, Value b) { return LLVM::AndOp::create(builder, loc, a, b); }
Value Lowering::bitOr(Value a, Value b) { return LLVM::OrOp::create(builder, loc, a, b); }
Value Lowering::bitXor(Value a, Value b) { return LLVM::XOrOp::create(builder, loc, a, b); }

Value Lowering::shiftLeft(Value a, unsigned bits) {
  return bits ? LLVM::ShlOp::create(builder, loc, a, constant(a.getType(), bits)) : a;
}

Value Lowering::shiftRight(Value a, unsigned bits) {
  return bits ? LLVM::LShrOp::create(builder, loc, a, constant(a.getType(), bits)) : a;
}

Value Lowering::compare(LLVM::ICmpPredicate predicate, Value a, Value b) {
  return LLVM::ICmpOp::create(builder, loc, predicate, a, b);
}

Value Lowering::select(Value condition, Value a, Value b) {
  return LLVM::SelectOp::create(builder, loc, condition, a, b);
}

Value Lowering::bitcast(Value value, Type type) {
  return value.getType() == type ? value : LLVM::BitcastOp::create(builder, loc, type, value);
}

Value Lowering::castInteger(Value value, Type type) {
  unsigned from = value.getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
  if (from == to)
    return value;
  if (from < to)
    return LLVM::SExtOp::create(builder, loc, type, value);
  return LLVM::TruncOp::create(builder, loc, type, value);
}

Value Lowering::extract(Value vector, unsigned index) {
  return LLVM::ExtractElementOp::create(builder, loc, vector, constantI32(index));
}

Value Lowering::insert(Value vector, Value element, unsigned index) {
  return LLVM::InsertElementOp::create(builder, loc, vector, element, constantI32(index));
}

Value Lowering::buildVector(ValueRange elements) {
  if (elements.size() == 1)
    return elements.front();
  Value vector = undef(VectorType::get(elements.size(), elements.front().getType()));
  for (auto [index, element] : llvm::enumerate(elements))
    vector = insert(vector, element, index);
  return vector;
}

Value Lowering::splat(Value element, unsigned count) {
  return buildVector(SmallVector<Value>(count, element));
}

Value Lowering::intrinsic(StringRef name, Type result, ValueRange arguments,
                          LLVM::FastmathFlags flags) {
  auto call =
      LLVM::CallIntrinsicOp::create(builder, loc, result, builder.getStringAttr(name), arguments,
                                    LLVM::FastmathFlagsAttr::get(builder.getContext(), flags));
  return call.getResult(0);
}

void Lowering::intrinsicVoid(StringRef name, ValueRange arguments) {
  LLVM::CallIntrinsicOp::create(builder, loc, builder.getStringAttr(name), arguments);
}

SmallVector<Value> Lowering::conditional(Value condition, ValueRange otherwise,
                                         llvm::function_ref<SmallVector<Value>()> then) {
  Block *before = builder.getInsertionBlock();
  Block *after = before->splitBlock(builder.getInsertionPoint());
  for (Value value : otherwise)
    after->addArgument(value.getType(), loc);
  Block *body = builder.createBlock(after);
  builder.setInsertionPointToEnd(before);
  LLVM::CondBrOp::create(builder, loc, condition, body, ValueRange(), after, otherwise);
  builder.setInsertionPointToEnd(body);
  SmallVector<Value> values = then();
  LLVM::BrOp::create(builder, loc, values, after);
  builder.setInsertionPointToStart(after);
  return SmallVector<Value>(after->getArguments());
}

//===----------------------------------------------------------------------===//
// Registers of tiles
//===----------------------------------------------------------------------===//

const Layout &Lowering::layoutOf(Value tileValue) {
  tile::LayoutAttr layout = tile::getLayout(cast<RankedTensorType>(tileValue.getType()));
  assert(layout && "tile-assign-layouts gives every tile a layout");
  // The attribute's storage lives as long as the context.
  return layout.getLayout();
}

Type Lowering::chunkType(Type element, unsigned width) {
  Type type = registerType(element);
  return width == 1 ? type : VectorType::get(width, type);
}

TileRegisters Lowering::registers(Value tileValue) {
  auto found = tiles.find(tileValue);
  assert(found != tiles.end() && "tile is used before it is lowered");
  return found->second;
}

SmallVector<Value> Lowering::unpack(const TileRegisters &tileRegisters) {
  if (tileRegisters.width == 1)
    return SmallVector<Value>(ArrayRef(tileRegisters.chunks));
  SmallVector<Value> result;
  for (Value chunk : tileRegisters.chunks)
    for (unsigned i = 0; i < tileRegisters.width; ++i)
      result.push_back(extract(chunk, i));
  return result;
}

TileRegisters Lowering::pack(ValueRange values) {
  TileRegisters result;
  result.width = chunkWidth(values.size());
  for (unsigned i = 0; i < values.size(); i += result.width)
    result.chunks.push_back(buildVector(values.slice(i, result.width)));
  return result;
}

Value Lowering::scalar(Value value) {
  auto found = scalars.find(value);
  assert(found != scalars.end() && "scalar is used before it is lowered");
  return found->second;
}

//===----------------------------------------------------------------------===//
// Where a lane stands
//===----------------------------------------------------------------------===//

Value Lowering::fieldsOf(const Layout &layout, unsigned dim, LayoutInput input, Value number) {
  Value result;
  for (const BitField &field : layout.bitFields(dim)) {
    if (field.input != input)
      continue;
    unsigned inputBits =
        llvm::Log2_32(input == LayoutInput::Lane ? layout.laneCount() : layout.waveCount());
    Value part = shiftRight(number, field.inputBit);
    if (field.inputBit + field.width < inputBits)
      part = bitAnd(part, constantI32((1u << field.width) - 1));
    part = shiftLeft(part, field.coordinateBit);
    if (!result)
      result = part;
    else
      result = layout.hasDisjointFields() ? bitOr(result, part) : bitXor(result, part);
  }
  return result;
}

Lowering::Stand Lowering::stand(const Layout &layout, unsigned dim) {
  auto key = std::make_pair(Attribute(tile::LayoutAttr::get(builder.getContext(), layout)), dim);
  auto [entry, isNew] = stands.try_emplace(key);
  if (!isNew)
    return entry->second;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(prologueEnd);
  Stand result;
  result.lane = fieldsOf(layout, dim, LayoutInput::Lane, laneId);
  if (layout.waveCount() > 1)
    result.wave = fieldsOf(layout, dim, LayoutInput::Wave, waveId);
  stands[key] = result;
  return result;
}

Value Lowering::coordinate(const Layout &layout, unsigned reg, unsigned dim) {
  Stand own = stand(layout, dim);
  Value at = constantI32(layout.coordinates(reg)[dim]);
  for (Value part : {own.lane, own.wave})
    if (part)
      at = layout.addsRegisters() ? add(at, part) : bitXor(at, part);
  return at;
}

Value Lowering::canonicalCopy(const Layout &layout) {
  Replication copies = layout.replication();
  Value condition;
  auto require = [&](Value number, unsigned mask) {
    if (!mask)
      return;
    Value isCanonical =
        compare(LLVM::ICmpPredicate::eq, bitAnd(number, constantI32(mask)), constantI32(0));
    condition = condition ? bitAnd(condition, isCanonical) : isCanonical;
  };
  require(laneId, copies.laneMask);
  require(waveId, copies.waveMask);
  return condition;
}

//===----------------------------------------------------------------------===//
// LDS
//===----------------------------------------------------------------------===//

unsigned Lowering::allocateLds(unsigned bytes, unsigned alignment) {
  unsigned offset = llvm::alignTo(ldsSize, alignment);
  ldsSize = offset + bytes;
  auto place = loc->findInstanceOf<FileLineColLoc>();
  ldsOfLines[place ? place.getLine() : 0] += bytes;
  return offset;
}

Value Lowering::ldsPointer(unsigned base, Value offset) {
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext(), LdsSpace);
  Value result = ldsBase;
  if (offset)
    result = LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), result,
                                 ArrayRef<LLVM::GEPArg>{offset});
  if (base)
    result = LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), result,
                                 ArrayRef<LLVM::GEPArg>{int32_t(base)});
  return result;
}

void Lowering::workgroupBarrier(bool ordersGlobal) {
  // Most barriers order LDS only; naming that keeps LLVM from draining global accesses.
  auto local = LLVM::MMRATagAttr::get(builder.getContext(), "amdgpu-synchronize-as", "local");
  auto fence = [&](LLVM::AtomicOrdering ordering) {
    auto op = LLVM::FenceOp::create(builder, loc, ordering, "workgroup");
    if (!ordersGlobal)
      op->setDiscardableAttr(LLVM::LLVMDialect::getMmraAttrName(), local);
  };
  fence(LLVM::AtomicOrdering::release);
  intrinsicVoid("llvm.amdgcn.s.barrier", {});
  fence(LLVM::AtomicOrdering::acquire);
}
