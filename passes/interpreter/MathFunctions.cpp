//===- MathFunctions.cpp - Operations of math on elements -------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Those with an exact definition are computed by APFloat; the others by the host's
// `double` functions, rounded once.
//
//===----------------------------------------------------------------------===//

#include "passes/interpreter/Execution.h"

#include "llvm/ADT/StringMap.h"

#include <cmath>

using namespace mlir;
using namespace wavetile;
using namespace wavetile::interpreter;
using llvm::APFloat;
using llvm::APInt;

static constexpr APFloat::roundingMode nearest = APFloat::rmNearestTiesToEven;

//===----------------------------------------------------------------------===//
// Functions of double
//===----------------------------------------------------------------------===//

using Unary = double (*)(double);
using Binary = double (*)(double, double);

static const llvm::StringMap<Unary> &unaries() {
  static const llvm::StringMap<Unary> table = {
      {"math.sqrt", std::sqrt},   {"math.rsqrt", [](double x) { return 1.0 / std::sqrt(x); }},
      {"math.cbrt", std::cbrt},   {"math.exp", std::exp},
      {"math.exp2", std::exp2},   {"math.expm1", std::expm1},
      {"math.log", std::log},     {"math.log2", std::log2},
      {"math.log10", std::log10}, {"math.log1p", std::log1p},
      {"math.sin", std::sin},     {"math.cos", std::cos},
      {"math.tan", std::tan},     {"math.asin", std::asin},
      {"math.acos", std::acos},   {"math.atan", std::atan},
      {"math.sinh", std::sinh},   {"math.cosh", std::cosh},
      {"math.tanh", std::tanh},   {"math.asinh", std::asinh},
      {"math.acosh", std::acosh}, {"math.atanh", std::atanh},
      {"math.erf", std::erf},     {"math.erfc", std::erfc},
  };
  return table;
}

static const llvm::StringMap<Binary> &binaries() {
  static const llvm::StringMap<Binary> table = {
      {"math.powf", [](double x, double y) { return std::pow(x, y); }},
      {"math.atan2", [](double y, double x) { return std::atan2(y, x); }},
  };
  return table;
}

static double toDouble(Type type, const APInt &bits) {
  return toFloat(type, bits).convertToDouble();
}

static APInt fromDouble(Type type, double number) {
  APFloat value(number);
  bool lost;
  value.convert(cast<FloatType>(type).getFloatSemantics(), nearest, &lost);
  return value.bitcastToAPInt();
}

//===----------------------------------------------------------------------===//
// Exact functions
//===----------------------------------------------------------------------===//

/// A function from floats of one type to the same type.
static ElementFunction ofFloats(Type type, APFloat (*function)(ArrayRef<APFloat>)) {
  return [=](ArrayRef<APInt> operands) -> Element {
    SmallVector<APFloat, 3> floats;
    for (const APInt &operand : operands)
      floats.push_back(toFloat(type, operand));
    return function(floats).bitcastToAPInt();
  };
}

static ElementFunction rounding(Type type, APFloat::roundingMode mode) {
  return [=](ArrayRef<APInt> operands) -> Element {
    APFloat value = toFloat(type, operands[0]);
    value.roundToIntegral(mode);
    return value.bitcastToAPInt();
  };
}

static ElementFunction classification(Type type, bool (APFloat::*predicate)() const) {
  return [=](ArrayRef<APInt> operands) -> Element {
    return APInt(1, (toFloat(type, operands[0]).*predicate)());
  };
}

static ElementFunction ofInteger(APInt (*function)(const APInt &)) {
  return [=](ArrayRef<APInt> operands) -> Element { return function(operands[0]); };
}

ElementFunction interpreter::getMathFunction(Operation *op) {
  StringRef name = op->getName().getStringRef();
  Type type = getElementTypeOrSelf(op->getOperand(0));
  if (auto found = unaries().find(name); found != unaries().end())
    return [type, function = found->second](ArrayRef<APInt> operands) -> Element {
      return fromDouble(type, function(toDouble(type, operands[0])));
    };
  if (auto found = binaries().find(name); found != binaries().end())
    return [type, function = found->second](ArrayRef<APInt> operands) -> Element {
      return fromDouble(type, function(toDouble(type, operands[0]), toDouble(type, operands[1])));
    };

  using Floats = ArrayRef<APFloat>;
  return llvm::TypeSwitch<Operation *, ElementFunction>(op)
      .Case([&](math::FloorOp) { return rounding(type, APFloat::rmTowardNegative); })
      .Case([&](math::CeilOp) { return rounding(type, APFloat::rmTowardPositive); })
      .Case([&](math::TruncOp) { return rounding(type, APFloat::rmTowardZero); })
      .Case([&](math::RoundOp) { return rounding(type, APFloat::rmNearestTiesToAway); })
      .Case([&](math::RoundEvenOp) { return rounding(type, nearest); })
      .Case([&](math::AbsFOp) { return ofFloats(type, [](Floats x) { return abs(x[0]); }); })
      .Case([&](math::CopySignOp) {
        return ofFloats(type, [](Floats x) { return APFloat::copySign(x[0], x[1]); });
      })
      .Case([&](math::FmaOp) {
        return ofFloats(type, [](Floats x) {
          APFloat result = x[0];
          result.fusedMultiplyAdd(x[1], x[2], nearest);
          return result;
        });
      })
      .Case([&](math::IsNaNOp) { return classification(type, &APFloat::isNaN); })
      .Case([&](math::IsInfOp) { return classification(type, &APFloat::isInfinity); })
      .Case([&](math::IsFiniteOp) { return classification(type, &APFloat::isFinite); })
      .Case([&](math::AbsIOp) { return ofInteger([](const APInt &x) { return x.abs(); }); })
      .Case([&](math::CtPopOp) {
        return ofInteger([](const APInt &x) { return APInt(x.getBitWidth(), x.popcount()); });
      })
      .Case([&](math::CountLeadingZerosOp) {
        return ofInteger([](const APInt &x) { return APInt(x.getBitWidth(), x.countl_zero()); });
      })
      .Case([&](math::CountTrailingZerosOp) {
        return ofInteger([](const APInt &x) { return APInt(x.getBitWidth(), x.countr_zero()); });
      })
      .Default(ElementFunction());
}
