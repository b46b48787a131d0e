//===- ElementFolding.cpp - An elementwise operation on constants -*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/ElementFolding.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace wavetile;

static constexpr auto nearestEven = APFloat::rmNearestTiesToEven;

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

static APFloat multiply(APFloat a, const APFloat &b) {
  a.multiply(b, nearestEven);
  return a;
}

static APFloat reciprocal(const APFloat &value) {
  APFloat one(value.getSemantics(), 1);
  one.divide(value, nearestEven);
  return one;
}

static std::optional<APFloat> foldBinary(Operation *op, const APFloat &a, const APFloat &b) {
  using Result = std::optional<APFloat>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<arith::AddFOp>([&](auto) -> Result { return a + b; })
      .Case<arith::SubFOp>([&](auto) -> Result { return a - b; })
      .Case<arith::MulFOp>([&](auto) -> Result { return multiply(a, b); })
      .Case<arith::DivFOp>([&](auto) -> Result {
        // Also where a reciprocal stands for the division.
        APFloat quotient = a;
        quotient.divide(b, nearestEven);
        APFloat product = multiply(a, reciprocal(b));
        bool agree = (quotient.isNaN() && product.isNaN()) || quotient == product;
        return agree ? Result(quotient) : std::nullopt;
      })
      .Case<arith::MaximumFOp>([&](auto) -> Result { return llvm::maximum(a, b); })
      .Case<arith::MinimumFOp>([&](auto) -> Result { return llvm::minimum(a, b); })
      .Case<arith::MaxNumFOp>([&](auto) -> Result { return llvm::maxnum(a, b); })
      .Case<arith::MinNumFOp>([&](auto) -> Result { return llvm::minnum(a, b); })
      .Default([](Operation *) -> Result { return std::nullopt; });
}

static std::optional<APFloat> foldUnary(Operation *op, const APFloat &x) {
  using Result = std::optional<APFloat>;
  const llvm::fltSemantics &semantics = x.getSemantics();
  APFloat zero = APFloat::getZero(semantics), one(semantics, 1);
  auto infinity = [&](bool negative) { return APFloat::getInf(semantics, negative); };
  if (isa<arith::NegFOp>(op))
    return -x;
  if (isa<math::AbsFOp>(op))
    return abs(x);
  if (!isa<math::MathDialect>(op->getDialect()))
    return std::nullopt;
  if (x.isNaN())
    return x;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<math::ExpOp, math::Exp2Op>([&](auto) -> Result {
        if (x.isInfinity())
          return x.isNegative() ? zero : x;
        return x.isZero() ? Result(one) : std::nullopt;
      })
      .Case<math::LogOp, math::Log2Op>([&](auto) -> Result {
        if (x.isZero())
          return infinity(/*negative=*/true);
        if (x.isInfinity() && !x.isNegative())
          return x;
        return x == one ? Result(zero) : std::nullopt;
      })
      .Case<math::SqrtOp>([&](auto) -> Result {
        bool known = x.isZero() || x == one || (x.isInfinity() && !x.isNegative());
        return known ? Result(x) : std::nullopt;
      })
      .Case<math::RsqrtOp>([&](auto) -> Result {
        if (x.isInfinity() && !x.isNegative())
          return zero;
        return x == one ? Result(one) : std::nullopt;
      })
      .Case<math::TanhOp, math::ErfOp>([&](auto) -> Result {
        if (x.isInfinity())
          return x.isNegative() ? -one : one;
        return x.isZero() ? Result(x) : std::nullopt;
      })
      .Case<math::SinOp>([&](auto) -> Result { return x.isZero() ? Result(x) : std::nullopt; })
      .Case<math::CosOp>([&](auto) -> Result { return x.isZero() ? Result(one) : std::nullopt; })
      .Default([](Operation *) -> Result { return std::nullopt; });
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

static std::optional<APInt> foldBinary(Operation *op, const APInt &a, const APInt &b) {
  using Result = std::optional<APInt>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<arith::AddIOp>([&](auto) -> Result { return a + b; })
      .Case<arith::SubIOp>([&](auto) -> Result { return a - b; })
      .Case<arith::MulIOp>([&](auto) -> Result { return a * b; })
      .Case<arith::AndIOp>([&](auto) -> Result { return a & b; })
      .Case<arith::OrIOp>([&](auto) -> Result { return a | b; })
      .Case<arith::XOrIOp>([&](auto) -> Result { return a ^ b; })
      .Case<arith::MaxSIOp>([&](auto) -> Result { return llvm::APIntOps::smax(a, b); })
      .Case<arith::MinSIOp>([&](auto) -> Result { return llvm::APIntOps::smin(a, b); })
      .Case<arith::MaxUIOp>([&](auto) -> Result { return llvm::APIntOps::umax(a, b); })
      .Case<arith::MinUIOp>([&](auto) -> Result { return llvm::APIntOps::umin(a, b); })
      .Default([](Operation *) -> Result { return std::nullopt; });
}

//===----------------------------------------------------------------------===//
// Casts and comparisons
//===----------------------------------------------------------------------===//

static TypedAttr foldCast(Operation *op, TypedAttr operand, Type type) {
  if (auto value = dyn_cast<FloatAttr>(operand)) {
    if (!isa<arith::ExtFOp, arith::TruncFOp>(op))
      return {};
    APFloat converted = value.getValue();
    bool losesInfo;
    converted.convert(cast<FloatType>(type).getFloatSemantics(), nearestEven, &losesInfo);
    return FloatAttr::get(type, converted);
  }
  auto value = dyn_cast<IntegerAttr>(operand);
  if (!value || isa<IndexType>(type) || isa<IndexType>(value.getType()))
    return {};
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op)) {
    APFloat converted(cast<FloatType>(type).getFloatSemantics());
    converted.convertFromAPInt(value.getValue(), isa<arith::SIToFPOp>(op), nearestEven);
    return FloatAttr::get(type, converted);
  }
  if (!isa<IntegerType>(type))
    return {};
  unsigned width = type.getIntOrFloatBitWidth();
  if (isa<arith::ExtSIOp>(op))
    return IntegerAttr::get(type, value.getValue().sext(width));
  if (isa<arith::ExtUIOp>(op))
    return IntegerAttr::get(type, value.getValue().zext(width));
  if (isa<arith::TruncIOp>(op))
    return IntegerAttr::get(type, value.getValue().trunc(width));
  return {};
}

static std::optional<bool> foldComparison(Operation *op, TypedAttr a, TypedAttr b) {
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return arith::applyCmpPredicate(compare.getPredicate(), cast<FloatAttr>(a).getValue(),
                                    cast<FloatAttr>(b).getValue());
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return arith::applyCmpPredicate(compare.getPredicate(), cast<IntegerAttr>(a).getValue(),
                                    cast<IntegerAttr>(b).getValue());
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

TypedAttr wavetile::foldElement(Operation *op, ArrayRef<TypedAttr> operands) {
  if (op->getNumResults() != 1)
    return {};
  Type type = getElementTypeOrSelf(op->getResult(0).getType());
  if (isa<arith::SelectOp>(op))
    return cast<IntegerAttr>(operands[0]).getValue().isZero() ? operands[2] : operands[1];
  if (operands.size() == 1) {
    if (TypedAttr cast = foldCast(op, operands[0], type))
      return cast;
    auto value = dyn_cast<FloatAttr>(operands[0]);
    std::optional<APFloat> result = value ? foldUnary(op, value.getValue()) : std::nullopt;
    return result ? TypedAttr(FloatAttr::get(type, *result)) : TypedAttr();
  }
  if (operands.size() != 2)
    return {};
  if (std::optional<bool> result = foldComparison(op, operands[0], operands[1]))
    return IntegerAttr::get(type, *result);
  if (auto a = dyn_cast<FloatAttr>(operands[0]), b = dyn_cast<FloatAttr>(operands[1]); a && b) {
    if (std::optional<APFloat> result = foldBinary(op, a.getValue(), b.getValue()))
      return FloatAttr::get(type, *result);
  }
  if (auto a = dyn_cast<IntegerAttr>(operands[0]), b = dyn_cast<IntegerAttr>(operands[1]); a && b) {
    if (std::optional<APInt> result = foldBinary(op, a.getValue(), b.getValue()))
      return IntegerAttr::get(type, *result);
  }
  return {};
}

bool wavetile::propagatesNaN(Operation *op) {
  if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::NegFOp,
          arith::MaximumFOp, arith::MinimumFOp, arith::ExtFOp>(op))
    return true;
  if (isa<arith::TruncFOp>(op)) {
    auto type = cast<FloatType>(getElementTypeOrSelf(op->getResult(0).getType()));
    return APFloat::semanticsHasNaN(type.getFloatSemantics());
  }
  return isa<math::ExpOp, math::Exp2Op, math::ExpM1Op, math::LogOp, math::Log2Op, math::Log10Op,
             math::Log1pOp, math::SqrtOp, math::RsqrtOp, math::CbrtOp, math::AbsFOp, math::TanhOp,
             math::ErfOp, math::SinOp, math::CosOp, math::TanOp, math::FmaOp>(op);
}

bool wavetile::isSameNumber(TypedAttr a, TypedAttr b) {
  if (a == b)
    return true;
  auto x = dyn_cast_if_present<FloatAttr>(a), y = dyn_cast_if_present<FloatAttr>(b);
  return x && y && x.getType() == y.getType() && x.getValue() == y.getValue();
}
