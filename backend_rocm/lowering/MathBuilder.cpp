//===- MathBuilder.cpp - Exponentials, logarithms and roots -----*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/lowering/MathBuilder.h"

#include <cmath>
#include <limits>
#include <numbers>

using namespace mlir;
using namespace wavetile;
using namespace wavetile::rocm;

Value MathBuilder::instruction(StringRef name, Value x) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector)
    return state.intrinsic(name, type, x);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < vector.getNumElements(); ++i)
    elements.push_back(state.intrinsic(name, vector.getElementType(), state.extract(x, i)));
  return state.buildVector(elements);
}

Value MathBuilder::polynomial(Value x, ArrayRef<double> highestFirst) {
  Value result = number(highestFirst.front());
  for (double coefficient : highestFirst.drop_front())
    result = fma(result, x, number(coefficient));
  return result;
}

/// e^x is one exp2 with the factor folded. The product must not be contracted into x's own
/// subtraction of a maximum: scaling before subtracting loses bits of large maxima.
Value MathBuilder::exp(Value x) {
  if (!approximate)
    return expanded("llvm.exp", x);
  Value scaled = LLVM::FMulOp::create(state.builder, state.loc, x, number(std::numbers::log2e),
                                      LLVM::FastmathFlags::none);
  return exp2(scaled);
}

/// For |x| < 0.35 the Taylor series to x^8, which is within 1 ulp there; else e^x - 1.
Value MathBuilder::expMinusOne(Value x) {
  Value series = mul(x, polynomial(x, {1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24,
                                       1.0 / 6, 0.5, 1.0}));
  Value direct = sub(exp(x), number(1.0));
  return state.select(less(abs(x), number(0.35)), series, direct);
}

Value MathBuilder::exp2(Value x) {
  return approximate ? exp2Instruction(x) : expanded("llvm.exp2", x);
}

Value MathBuilder::log2(Value x) {
  return approximate ? instruction("llvm.amdgcn.log.f32", x) : expanded("llvm.log2", x);
}

Value MathBuilder::log10(Value x) {
  constexpr double log10Of2 = std::numbers::ln2 / std::numbers::ln10;
  return approximate ? mul(log2(x), number(log10Of2)) : expanded("llvm.log10", x);
}

Value MathBuilder::log(Value x) {
  return approximate ? mul(log2(x), number(std::numbers::ln2)) : expanded("llvm.log", x);
}

/// log(1 + x) = log(u) * x / (u - 1) with u = 1 + x rounded, which cancels the rounding of u
/// (Kahan; Goldberg 1991, theorem 4); x itself where u is 1, log(u) where u is infinite.
Value MathBuilder::logOnePlus(Value x) {
  Value u =
      LLVM::FAddOp::create(state.builder, state.loc, x, number(1.0), LLVM::FastmathFlags::none);
  Value rest =
      LLVM::FSubOp::create(state.builder, state.loc, u, number(1.0), LLVM::FastmathFlags::none);
  Value logarithm = log(u);
  Value corrected = mul(logarithm, binary<LLVM::FDivOp>(x, rest));
  Value isOne =
      LLVM::FCmpOp::create(state.builder, state.loc, LLVM::FCmpPredicate::oeq, rest, number(0.0));
  Value isInfinite = LLVM::FCmpOp::create(state.builder, state.loc, LLVM::FCmpPredicate::oeq, u,
                                          number(std::numeric_limits<double>::infinity()));
  return state.select(isOne, x, state.select(isInfinite, u, corrected));
}

Value MathBuilder::sqrt(Value x) {
  return approximate ? instruction("llvm.amdgcn.sqrt.f32", x) : expanded("llvm.sqrt", x);
}

/// v_rsq_f32 is within 1 ulp but flushes denormals; without `afn` those are scaled by 2^24 first.
Value MathBuilder::rsqrt(Value x) {
  if (approximate)
    return instruction("llvm.amdgcn.rsq.f32", x);
  Value isSmall = less(x, number(std::ldexp(1.0, -100)));
  Value scaled = state.select(isSmall, mul(x, number(std::ldexp(1.0, 24))), x);
  Value root = instruction("llvm.amdgcn.rsq.f32", scaled);
  return state.select(isSmall, mul(root, number(4096.0)), root);
}
