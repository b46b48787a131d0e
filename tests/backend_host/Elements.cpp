//===- Elements.cpp - Operations on each element -----------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR lowers arith and math for a CPU; what is left to do here is what a CPU would do
// otherwise: trap on a division, round a 16-bit float twice, not know an 8-bit one.
// Fast-math flags are dropped: this backend is there to be compared with.
//
//===----------------------------------------------------------------------===//

#include "tests/backend_host/Lowering.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::host;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// The operation on other operands, with another type of result.
static Value rebuild(Lowering &state, Operation *op, ValueRange operands, Type result) {
  Operation *copy = op->clone();
  copy->setOperands(operands);
  copy->getResult(0).setType(result);
  if (auto interface = dyn_cast<arith::ArithFastMathInterface>(copy))
    copy->setAttr(interface.getFastMathAttrName(),
                  arith::FastMathFlagsAttr::get(op->getContext(), arith::FastMathFlags::none));
  state.builder.insert(copy);
  return copy->getResult(0);
}

/// What has no value on a CPU traps, also for elements beyond an extent: one takes its place.
static Value lowerDivision(Lowering &state, Operation *op, ValueRange operands) {
  OpBuilder &builder = state.builder;
  Location loc = state.loc;
  Value a = operands[0], b = operands[1];
  Type type = a.getType();
  auto equals = [&](Value x, Value y) { return state.compare(arith::CmpIPredicate::eq, x, y); };
  Value zero = state.constant(type, 0), one = state.constant(type, 1);
  Value traps = equals(b, zero);
  if (!isa<arith::DivUIOp, arith::RemUIOp>(op)) {
    llvm::APInt least = llvm::APInt::getSignedMinValue(type.getIntOrFloatBitWidth());
    Value overflows =
        state.both(equals(a, state.constantOf(type, builder.getIntegerAttr(type, least))),
                   equals(b, state.constant(type, -1)));
    traps = arith::OrIOp::create(builder, loc, traps, overflows);
  }
  b = state.select(traps, one, b);
  if (!isa<arith::FloorDivSIOp, arith::CeilDivSIOp>(op))
    return rebuild(state, op, {a, b}, type);
  bool isFloor = isa<arith::FloorDivSIOp>(op);
  Value quotient = arith::DivSIOp::create(builder, loc, a, b);
  Value rest = state.sub(a, state.mul(quotient, b));
  // The quotient is rounded towards zero: up if the signs differ, else down.
  Value signs = arith::XOrIOp::create(builder, loc, a, b);
  Value roundedOff =
      state.compare(isFloor ? arith::CmpIPredicate::slt : arith::CmpIPredicate::sge, signs, zero);
  Value adjusts = state.both(roundedOff, state.compare(arith::CmpIPredicate::ne, rest, zero));
  Value adjusted = isFloor ? state.sub(quotient, one) : state.add(quotient, one);
  return state.select(adjusts, adjusted, quotient);
}

static Value lowerIndexCast(Lowering &state, Operation *op, Value value, Type result) {
  unsigned from = value.getType().getIntOrFloatBitWidth(), to = result.getIntOrFloatBitWidth();
  if (from == to)
    return value;
  if (from > to)
    return arith::TruncIOp::create(state.builder, state.loc, result, value);
  if (isa<arith::IndexCastUIOp>(op))
    return arith::ExtUIOp::create(state.builder, state.loc, result, value);
  return arith::ExtSIOp::create(state.builder, state.loc, result, value);
}

/// Functions of floats are those of f64, rounded once. Of fma that would be twice.
static Value lowerMath(Lowering &state, Operation *op, ValueRange operands, Type result) {
  Type type = operands.front().getType(), f64 = state.builder.getF64Type();
  if (isa<math::RsqrtOp>(op)) { // The C library has none.
    Value root =
        math::SqrtOp::create(state.builder, state.loc, state.convertFloat(operands[0], type, f64));
    Value inverse = arith::DivFOp::create(state.builder, state.loc, state.constant(f64, 1), root);
    return state.convertFloat(inverse, f64, type);
  }
  // MLIR's is exp(x) - 1.
  if (isa<math::ExpM1Op>(op))
    return state.convertFloat(state.call("expm1", f64, state.convertFloat(operands[0], type, f64)),
                              f64, type);
  bool isNarrow = isa<FloatType>(type) && type != f64;
  if (!isNarrow || (isa<math::FmaOp>(op) && type.isF32()))
    return rebuild(state, op, operands, result);
  SmallVector<Value> wide = llvm::map_to_vector(
      operands, [&](Value operand) { return state.convertFloat(operand, type, f64); });
  bool isFloat = isa<FloatType>(result);
  Value value = rebuild(state, op, wide, isFloat ? f64 : result);
  return isFloat ? state.convertFloat(value, f64, result) : value;
}

Value host::emitElement(Lowering &state, Operation *op, ValueRange operands) {
  Type to = getElementTypeOrSelf(op->getResult(0)), result = state.scalarType(to);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (dense && !dense.isSplat())
      return {};
    return state.constantOf(result, dense ? dense.getSplatValue<Attribute>()
                                          : Attribute(constant.getValue()));
  }
  StringRef dialect = op->getName().getDialectNamespace();
  if ((dialect != "arith" && dialect != "math") || op->getNumResults() != 1)
    return {};
  Type from = getElementTypeOrSelf(op->getOperand(0));
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<arith::ExtFOp, arith::TruncFOp>(
          [&](auto) { return state.convertFloat(operands[0], from, to); })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp>(
          [&](auto) { return lowerIndexCast(state, op, operands[0], result); })
      .Case<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::FloorDivSIOp,
            arith::CeilDivSIOp>([&](auto) { return lowerDivision(state, op, operands); })
      .Case([&](arith::BitcastOp) {
        return operands[0].getType() == result ? operands[0] : rebuild(state, op, operands, result);
      })
      .Default([&](Operation *) {
        return dialect == "math" ? lowerMath(state, op, operands, result)
                                 : rebuild(state, op, operands, result);
      });
}

FailureOr<SmallVector<Value>> host::emitBody(Lowering &state, Block &body, ValueRange arguments) {
  for (auto [argument, value] : llvm::zip_equal(body.getArguments(), arguments))
    state.scalars[argument] = value;
  auto scalarsOf = [&](ValueRange values) {
    return llvm::map_to_vector(values, [&](Value value) { return state.scalar(value); });
  };
  for (Operation &op : body.without_terminator()) {
    Value value = emitElement(state, &op, scalarsOf(op.getOperands()));
    if (!value)
      return op.emitError() << "'" << op.getName() << "' has no lowering for the host";
    state.scalars[op.getResult(0)] = value;
  }
  return scalarsOf(body.getTerminator()->getOperands());
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

LogicalResult host::lowerElementwise(Lowering &state, Operation *op) {
  auto unsupported = [&] {
    return op->emitError() << "'" << op->getName() << "' has no lowering for the host";
  };
  if (op->getNumResults() != 1)
    return unsupported();
  Value result = op->getResult(0);
  auto type = dyn_cast<RankedTensorType>(result.getType());
  if (!type) {
    Value value = emitElement(state, op, llvm::map_to_vector(op->getOperands(), [&](Value operand) {
                                return state.scalar(operand);
                              }));
    state.scalars[result] = value;
    return value ? success() : unsupported();
  }
  Value to = state.allocateTile(result);
  bool isKnown = true;
  state.forEach({type.getNumElements()}, [&](ValueRange index) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      auto tile = dyn_cast<RankedTensorType>(operand.getType());
      operands.push_back(tile ? state.load(state.tile(operand), tile.getElementType(), index[0])
                              : state.scalar(operand));
    }
    Value value = emitElement(state, op, operands);
    isKnown = bool(value);
    if (isKnown)
      state.store(to, type.getElementType(), index[0], value);
  });
  return isKnown ? success() : unsupported();
}
