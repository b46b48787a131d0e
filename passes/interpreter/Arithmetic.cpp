//===- Arithmetic.cpp - Operations of arith on elements ---------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/interpreter/Execution.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::interpreter;
using llvm::APFloat;
using llvm::APInt;

static constexpr APFloat::roundingMode nearest = APFloat::rmNearestTiesToEven;

static Type operandType(Operation *op) { return getElementTypeOrSelf(op->getOperand(0)); }
static Type resultType(Operation *op) { return getElementTypeOrSelf(op->getResult(0)); }

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

using FloatBinary = APFloat (*)(const APFloat &, const APFloat &);

static const llvm::StringMap<FloatBinary> &floatBinaries() {
  static const llvm::StringMap<FloatBinary> table = {
      {"arith.addf", [](const APFloat &a, const APFloat &b) { return a + b; }},
      {"arith.subf", [](const APFloat &a, const APFloat &b) { return a - b; }},
      {"arith.mulf", [](const APFloat &a, const APFloat &b) { return a * b; }},
      {"arith.divf", [](const APFloat &a, const APFloat &b) { return a / b; }},
      {"arith.remf",
       [](const APFloat &a, const APFloat &b) {
         APFloat result = a;
         result.mod(b);
         return result;
       }},
      {"arith.maximumf", [](const APFloat &a, const APFloat &b) { return llvm::maximum(a, b); }},
      {"arith.minimumf", [](const APFloat &a, const APFloat &b) { return llvm::minimum(a, b); }},
      {"arith.maxnumf", [](const APFloat &a, const APFloat &b) { return llvm::maxnum(a, b); }},
      {"arith.minnumf", [](const APFloat &a, const APFloat &b) { return llvm::minnum(a, b); }},
  };
  return table;
}

static ElementFunction getFloatConversion(Operation *op) {
  Type from = operandType(op);
  const llvm::fltSemantics &to = cast<FloatType>(resultType(op)).getFloatSemantics();
  if (auto truncation = dyn_cast<arith::TruncFOp>(op))
    if (truncation.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even) !=
        arith::RoundingMode::to_nearest_even)
      return nullptr;
  return [=, &to](ArrayRef<APInt> operands) -> Element {
    APFloat value = toFloat(from, operands[0]);
    bool lost;
    value.convert(to, nearest, &lost);
    return value.bitcastToAPInt();
  };
}

static ElementFunction getIntegerToFloat(Operation *op, bool isSigned) {
  const llvm::fltSemantics &to = cast<FloatType>(resultType(op)).getFloatSemantics();
  return [=, &to](ArrayRef<APInt> operands) -> Element {
    APFloat value(to);
    value.convertFromAPInt(operands[0], isSigned, nearest);
    return value.bitcastToAPInt();
  };
}

/// Poison if the integer cannot be held.
static ElementFunction getFloatToInteger(Operation *op, bool isSigned) {
  Type from = operandType(op);
  unsigned width = getWidth(resultType(op));
  return [=](ArrayRef<APInt> operands) -> Element {
    llvm::APSInt result(width, /*isUnsigned=*/!isSigned);
    bool exact;
    if (toFloat(from, operands[0]).convertToInteger(result, APFloat::rmTowardZero, &exact) &
        APFloat::opInvalidOp)
      return std::nullopt;
    return APInt(result);
  };
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

using IntegerBinary = Element (*)(const APInt &, const APInt &);

/// Poison where the quotient is not defined.
static bool dividesSigned(const APInt &a, const APInt &b) {
  return !b.isZero() && !(a.isMinSignedValue() && b.isAllOnes());
}

static Element whenDefined(bool defined, llvm::function_ref<APInt()> value) {
  return defined ? Element(value()) : std::nullopt;
}

static const llvm::StringMap<IntegerBinary> &integerBinaries() {
  using I = const APInt &;
  static const llvm::StringMap<IntegerBinary> table = {
      {"arith.addi", [](I a, I b) -> Element { return a + b; }},
      {"arith.subi", [](I a, I b) -> Element { return a - b; }},
      {"arith.muli", [](I a, I b) -> Element { return a * b; }},
      {"arith.divsi",
       [](I a, I b) { return whenDefined(dividesSigned(a, b), [&] { return a.sdiv(b); }); }},
      {"arith.remsi",
       [](I a, I b) { return whenDefined(dividesSigned(a, b), [&] { return a.srem(b); }); }},
      {"arith.divui", [](I a, I b) { return whenDefined(!b.isZero(), [&] { return a.udiv(b); }); }},
      {"arith.remui", [](I a, I b) { return whenDefined(!b.isZero(), [&] { return a.urem(b); }); }},
      {"arith.floordivsi",
       [](I a, I b) {
         return whenDefined(dividesSigned(a, b), [&] {
           return llvm::APIntOps::RoundingSDiv(a, b, APInt::Rounding::DOWN);
         });
       }},
      {"arith.ceildivsi",
       [](I a, I b) {
         return whenDefined(dividesSigned(a, b), [&] {
           return llvm::APIntOps::RoundingSDiv(a, b, APInt::Rounding::UP);
         });
       }},
      {"arith.ceildivui",
       [](I a, I b) {
         return whenDefined(
             !b.isZero(), [&] { return llvm::APIntOps::RoundingUDiv(a, b, APInt::Rounding::UP); });
       }},
      {"arith.andi", [](I a, I b) -> Element { return a & b; }},
      {"arith.ori", [](I a, I b) -> Element { return a | b; }},
      {"arith.xori", [](I a, I b) -> Element { return a ^ b; }},
      {"arith.shli",
       [](I a, I b) { return whenDefined(b.ult(a.getBitWidth()), [&] { return a.shl(b); }); }},
      {"arith.shrsi",
       [](I a, I b) { return whenDefined(b.ult(a.getBitWidth()), [&] { return a.ashr(b); }); }},
      {"arith.shrui",
       [](I a, I b) { return whenDefined(b.ult(a.getBitWidth()), [&] { return a.lshr(b); }); }},
      {"arith.maxsi", [](I a, I b) -> Element { return llvm::APIntOps::smax(a, b); }},
      {"arith.minsi", [](I a, I b) -> Element { return llvm::APIntOps::smin(a, b); }},
      {"arith.maxui", [](I a, I b) -> Element { return llvm::APIntOps::umax(a, b); }},
      {"arith.minui", [](I a, I b) -> Element { return llvm::APIntOps::umin(a, b); }},
  };
  return table;
}

/// Whether an operation that says so does not overflow.
static bool keepsPromises(arith::IntegerOverflowFlags flags, Operation *op, const APInt &a,
                          const APInt &b) {
  bool overflowsSigned = false, overflowsUnsigned = false;
  if (isa<arith::AddIOp>(op)) {
    (void)a.sadd_ov(b, overflowsSigned);
    (void)a.uadd_ov(b, overflowsUnsigned);
  } else if (isa<arith::SubIOp>(op)) {
    (void)a.ssub_ov(b, overflowsSigned);
    (void)a.usub_ov(b, overflowsUnsigned);
  } else if (isa<arith::MulIOp>(op)) {
    (void)a.smul_ov(b, overflowsSigned);
    (void)a.umul_ov(b, overflowsUnsigned);
  } else if (isa<arith::ShLIOp>(op)) {
    (void)a.sshl_ov(b, overflowsSigned);
    (void)a.ushl_ov(b, overflowsUnsigned);
  }
  return !(overflowsSigned && bitEnumContainsAny(flags, arith::IntegerOverflowFlags::nsw)) &&
         !(overflowsUnsigned && bitEnumContainsAny(flags, arith::IntegerOverflowFlags::nuw));
}

static ElementFunction getIntegerBinary(Operation *op, IntegerBinary function) {
  auto interface = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op);
  auto flags =
      interface ? interface.getOverflowAttr().getValue() : arith::IntegerOverflowFlags::none;
  return [=](ArrayRef<APInt> operands) -> Element {
    if (flags != arith::IntegerOverflowFlags::none &&
        !keepsPromises(flags, op, operands[0], operands[1]))
      return std::nullopt;
    return function(operands[0], operands[1]);
  };
}

static ElementFunction getResize(Operation *op, bool isSigned) {
  unsigned width = getWidth(resultType(op));
  return [=](ArrayRef<APInt> operands) -> Element {
    return isSigned ? operands[0].sextOrTrunc(width) : operands[0].zextOrTrunc(width);
  };
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

static ElementFunction getComparison(Operation *op) {
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return [predicate = compare.getPredicate()](ArrayRef<APInt> operands) -> Element {
      return APInt(1, arith::applyCmpPredicate(predicate, operands[0], operands[1]));
    };
  Type from = operandType(op);
  return [from,
          predicate = cast<arith::CmpFOp>(op).getPredicate()](ArrayRef<APInt> operands) -> Element {
    return APInt(1, arith::applyCmpPredicate(predicate, toFloat(from, operands[0]),
                                             toFloat(from, operands[1])));
  };
}

ElementFunction interpreter::getArithFunction(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (auto found = floatBinaries().find(name); found != floatBinaries().end())
    return [type = operandType(op), function = found->second](ArrayRef<APInt> operands) -> Element {
      return function(toFloat(type, operands[0]), toFloat(type, operands[1])).bitcastToAPInt();
    };
  if (auto found = integerBinaries().find(name); found != integerBinaries().end())
    return getIntegerBinary(op, found->second);
  return llvm::TypeSwitch<Operation *, ElementFunction>(op)
      .Case<arith::CmpIOp, arith::CmpFOp>([&](auto) { return getComparison(op); })
      .Case([&](arith::NegFOp) -> ElementFunction {
        return [type = operandType(op)](ArrayRef<APInt> operands) -> Element {
          return neg(toFloat(type, operands[0])).bitcastToAPInt();
        };
      })
      .Case<arith::ExtFOp, arith::TruncFOp>([&](auto) { return getFloatConversion(op); })
      .Case([&](arith::SIToFPOp) { return getIntegerToFloat(op, /*isSigned=*/true); })
      .Case([&](arith::UIToFPOp) { return getIntegerToFloat(op, /*isSigned=*/false); })
      .Case([&](arith::FPToSIOp) { return getFloatToInteger(op, /*isSigned=*/true); })
      .Case([&](arith::FPToUIOp) { return getFloatToInteger(op, /*isSigned=*/false); })
      .Case<arith::ExtSIOp, arith::IndexCastOp, arith::TruncIOp>(
          [&](auto) { return getResize(op, /*isSigned=*/true); })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp>(
          [&](auto) { return getResize(op, /*isSigned=*/false); })
      .Case([&](arith::BitcastOp) -> ElementFunction {
        return [](ArrayRef<APInt> operands) -> Element { return operands[0]; };
      })
      .Default(ElementFunction());
}
