//===- Reductions.cpp - Identities and combining operations -----*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Reductions.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::tile;

static TypedAttr integer(Type type, const APInt &value) { return IntegerAttr::get(type, value); }

static unsigned bits(Type type) { return type.isIndex() ? 64 : type.getIntOrFloatBitWidth(); }

/// The value below (above) all others; infinity where there is one.
static TypedAttr getExtreme(Type type, bool lowest) {
  if (auto floatType = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
    if (APFloat::semanticsHasInf(semantics))
      return FloatAttr::get(type, APFloat::getInf(semantics, lowest));
    return FloatAttr::get(type, APFloat::getLargest(semantics, lowest));
  }
  unsigned width = bits(type);
  if (width == 1)
    return integer(type, lowest ? APInt::getZero(1) : APInt::getAllOnes(1));
  return integer(type, lowest ? APInt::getSignedMinValue(width) : APInt::getSignedMaxValue(width));
}

TypedAttr wavetile::getIdentity(ReductionKind kind, Type type) {
  switch (kind) {
  case ReductionKind::Sum:
    return Builder(type.getContext()).getZeroAttr(type);
  case ReductionKind::Product:
    return Builder(type.getContext()).getOneAttr(type);
  case ReductionKind::Maximum:
    return getExtreme(type, /*lowest=*/true);
  case ReductionKind::Minimum:
    return getExtreme(type, /*lowest=*/false);
  case ReductionKind::And:
    return integer(type, APInt::getAllOnes(bits(type)));
  case ReductionKind::Or:
    return integer(type, APInt::getZero(bits(type)));
  }
  llvm_unreachable("covered switch");
}

TypedAttr wavetile::getIdentity(ArgReductionKind kind, Type type) {
  return getExtreme(type, /*lowest=*/kind == ArgReductionKind::Maximum);
}

Value wavetile::emitCombine(OpBuilder &builder, Location loc, ReductionKind kind, Value a, Value b,
                            arith::FastMathFlags flags) {
  Type element = getElementTypeOrSelf(a.getType());
  bool isFloat = isa<FloatType>(element), isBool = element.isInteger(1);
  switch (kind) {
  case ReductionKind::Sum:
    return isFloat ? arith::AddFOp::create(builder, loc, a, b, flags).getResult()
                   : arith::AddIOp::create(builder, loc, a, b).getResult();
  case ReductionKind::Product:
    return isFloat ? arith::MulFOp::create(builder, loc, a, b, flags).getResult()
                   : arith::MulIOp::create(builder, loc, a, b).getResult();
  case ReductionKind::Maximum:
    if (isFloat)
      return arith::MaximumFOp::create(builder, loc, a, b, flags);
    return isBool ? arith::OrIOp::create(builder, loc, a, b).getResult()
                  : arith::MaxSIOp::create(builder, loc, a, b).getResult();
  case ReductionKind::Minimum:
    if (isFloat)
      return arith::MinimumFOp::create(builder, loc, a, b, flags);
    return isBool ? arith::AndIOp::create(builder, loc, a, b).getResult()
                  : arith::MinSIOp::create(builder, loc, a, b).getResult();
  case ReductionKind::And:
    return arith::AndIOp::create(builder, loc, a, b);
  case ReductionKind::Or:
    return arith::OrIOp::create(builder, loc, a, b);
  }
  llvm_unreachable("covered switch");
}

/// `b` beats `a`: it is larger (smaller), or NaN where `a` is not.
static Value emitBeats(OpBuilder &builder, Location loc, bool maximum, Value a, Value b) {
  Type element = getElementTypeOrSelf(a.getType());
  if (!isa<FloatType>(element)) {
    bool isBool = element.isInteger(1);
    auto predicate = maximum ? (isBool ? arith::CmpIPredicate::ugt : arith::CmpIPredicate::sgt)
                             : (isBool ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt);
    return arith::CmpIOp::create(builder, loc, predicate, b, a);
  }
  // Unordered is true if either is NaN; it must not be `a`.
  auto predicate = maximum ? arith::CmpFPredicate::UGT : arith::CmpFPredicate::ULT;
  Value larger = arith::CmpFOp::create(builder, loc, predicate, b, a);
  Value ordered = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::ORD, a, a);
  return arith::AndIOp::create(builder, loc, larger, ordered);
}

/// The two count as equal: the same number, or both NaN.
static Value emitTies(OpBuilder &builder, Location loc, Value a, Value b) {
  if (!isa<FloatType>(getElementTypeOrSelf(a.getType())))
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, b, a);
  Value equal = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, b, a);
  Value aIsNaN = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, a, a);
  Value bIsNaN = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, b, b);
  Value bothNaN = arith::AndIOp::create(builder, loc, aIsNaN, bIsNaN);
  return arith::OrIOp::create(builder, loc, equal, bothNaN);
}

IndexedValue wavetile::emitCombine(OpBuilder &builder, Location loc, ArgReductionKind kind,
                                   IndexedValue a, IndexedValue b) {
  Value beats = emitBeats(builder, loc, kind == ArgReductionKind::Maximum, a.value, b.value);
  Value ties = emitTies(builder, loc, a.value, b.value);
  Value before = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, b.index, a.index);
  Value wins = arith::AndIOp::create(builder, loc, ties, before);
  Value takes = arith::OrIOp::create(builder, loc, beats, wins);
  return {arith::SelectOp::create(builder, loc, takes, b.value, a.value),
          arith::SelectOp::create(builder, loc, takes, b.index, a.index)};
}
