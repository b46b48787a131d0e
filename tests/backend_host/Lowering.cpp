//===- Lowering.cpp - Numbers, memory and loops ------------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/backend_host/Lowering.h"

#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::host;

//===----------------------------------------------------------------------===//
// Types and numbers
//===----------------------------------------------------------------------===//

static bool isNarrowFloat(Type type) {
  return isa<FloatType>(type) && type.getIntOrFloatBitWidth() <= 8;
}

Type Lowering::scalarType(Type element) {
  if (element.isIndex())
    return i64();
  return isNarrowFloat(element) ? builder.getIntegerType(element.getIntOrFloatBitWidth()) : element;
}

Type Lowering::memoryType(Type element) {
  return element.isInteger(1) ? builder.getI8Type() : scalarType(element);
}

unsigned Lowering::bytesOf(Type element) {
  return llvm::divideCeil(memoryType(element).getIntOrFloatBitWidth(), 8);
}

Value Lowering::constant(Type type, int64_t value) {
  return constantOf(type, isa<FloatType>(type) ? Attribute(builder.getFloatAttr(type, value))
                                               : builder.getIntegerAttr(type, value));
}

Value Lowering::constantOf(Type type, Attribute attr) {
  if (auto floating = dyn_cast<FloatAttr>(attr); floating && isa<IntegerType>(type))
    attr = builder.getIntegerAttr(type, floating.getValue().bitcastToAPInt());
  else if (auto integer = dyn_cast<IntegerAttr>(attr); integer && integer.getType() != type)
    attr =
        builder.getIntegerAttr(type, integer.getValue().sextOrTrunc(type.getIntOrFloatBitWidth()));
  return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(attr));
}

Value Lowering::both(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return arith::AndIOp::create(builder, loc, a, b);
}

Value Lowering::wide(Value integer) {
  if (integer.getType() == i64())
    return integer;
  return arith::ExtSIOp::create(builder, loc, i64(), integer);
}

Value Lowering::call(StringRef name, Type result, ValueRange arguments) {
  auto module = builder.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  LLVM::LLVMFuncOp function =
      *LLVM::lookupOrCreateFn(builder, module, name, llvm::to_vector(arguments.getTypes()), result);
  return LLVM::CallOp::create(builder, loc, function, arguments).getResult();
}

/// Through f64, which holds every value of the narrow formats and rounds no wider one twice.
Value Lowering::convertFloat(Value value, Type from, Type to) {
  if (from == to)
    return value;
  std::string suffix;
  if (isNarrowFloat(from)) {
    llvm::raw_string_ostream(suffix) << from;
    value = call("wavetile_extend_" + suffix, builder.getF64Type(), value);
    from = builder.getF64Type();
  }
  if (isNarrowFloat(to)) {
    llvm::raw_string_ostream(suffix) << to;
    return call("wavetile_truncate_" + suffix, scalarType(to),
                convertFloat(value, from, builder.getF64Type()));
  }
  if (from == to)
    return value;
  if (from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(builder, loc, to, value);
  if (from.getIntOrFloatBitWidth() > to.getIntOrFloatBitWidth())
    return arith::TruncFOp::create(builder, loc, to, value);
  // f16 and bf16.
  Type f32 = builder.getF32Type();
  return convertFloat(convertFloat(value, from, f32), f32, to);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value Lowering::allocate(int64_t count, Type element) {
  constexpr unsigned alignment = 64;
  unsigned offset = llvm::alignTo(arenaBytes, alignment);
  arenaBytes = offset + count * bytesOf(element);
  return LLVM::GEPOp::create(builder, loc, arena.getType(), builder.getI8Type(), arena,
                             ArrayRef<LLVM::GEPArg>{int32_t(offset)});
}

Value Lowering::allocateTile(Value value) {
  RankedTensorType type = tileType(value);
  return tiles[value] = allocate(type.getNumElements(), type.getElementType());
}

Value Lowering::address(Value base, Type element, Value index) {
  return LLVM::GEPOp::create(builder, loc, base.getType(), memoryType(element), base,
                             ArrayRef<LLVM::GEPArg>{index});
}

Value Lowering::load(Value base, Type element, Value index) {
  // Strides may leave elements where their type is not aligned.
  Value loaded = LLVM::LoadOp::create(builder, loc, memoryType(element),
                                      address(base, element, index), /*alignment=*/1);
  if (!element.isInteger(1))
    return loaded;
  return compare(arith::CmpIPredicate::ne, loaded, constant(loaded.getType(), 0));
}

void Lowering::store(Value base, Type element, Value index, Value value) {
  if (element.isInteger(1))
    value = arith::ExtUIOp::create(builder, loc, memoryType(element), value);
  LLVM::StoreOp::create(builder, loc, value, address(base, element, index), /*alignment=*/1);
}

void Lowering::copy(Value to, Value from, RankedTensorType type) {
  forEach({type.getNumElements()}, [&](ValueRange index) {
    store(to, type.getElementType(), index[0], load(from, type.getElementType(), index[0]));
  });
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

SmallVector<Value> Lowering::loop(Value from, Value to, ValueRange carried, Step step) {
  auto made = scf::ForOp::create(builder, loc, from, to, number(1), carried);
  OpBuilder::InsertionGuard guard(builder);
  Block *body = made.getBody();
  if (carried.empty())
    builder.setInsertionPoint(body->getTerminator());
  else
    builder.setInsertionPointToEnd(body);
  SmallVector<Value> next = step(made.getInductionVar(), made.getRegionIterArgs());
  if (!carried.empty())
    scf::YieldOp::create(builder, loc, next);
  return SmallVector<Value>(made.getResults());
}

void Lowering::forEach(ArrayRef<int64_t> shape, Body body) {
  SmallVector<Value> index;
  std::function<void()> descend = [&] {
    if (index.size() == shape.size()) {
      body(index);
      return;
    }
    loop(number(0), number(shape[index.size()]), {}, [&](Value at, ValueRange) {
      index.push_back(at);
      descend();
      index.pop_back();
      return SmallVector<Value>();
    });
  };
  descend();
}

void Lowering::when(Value condition, llvm::function_ref<void()> then) {
  if (!condition) {
    then();
    return;
  }
  auto made = scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(made.thenBlock());
  then();
}

Value Lowering::position(ArrayRef<int64_t> shape, ValueRange index) {
  Value result;
  for (auto [size, at] : llvm::zip_equal(shape, index)) {
    if (result)
      result = mul(result, number(size));
    if (size == 1)
      continue;
    result = result ? add(result, at) : at;
  }
  return result ? result : number(0);
}

Value Lowering::element(Value tileValue, ValueRange index) {
  RankedTensorType type = tileType(tileValue);
  return load(tile(tileValue), type.getElementType(), position(type.getShape(), index));
}
