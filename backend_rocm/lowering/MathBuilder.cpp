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

/// e^x - 1 loses no more than 1.7 ulp from 0.9 on; below, a polynomial.
Value MathBuilder::expMinusOne(Value x) {
  // ((e^x - 1) / x - 1) / x, 2^-35.6.
  Value series =
      polynomial(x, {2.806038139624434e-07, 2.8056094834028045e-06, 2.479718386894092e-05,
                     0.00019837866420857608, 0.0013888905523344874, 0.008333342149853706,
                     0.0416666679084301, 0.1666666716337204, 0.5});
  Value small = fma(mul(x, x), series, x);
  Value large = sub(exp(x), number(1.0));
  // Where x * x underflows, x is the result, with its sign.
  Value isSmall = less(abs(x), number(0.9));
  Value isTiny = less(abs(x), number(std::ldexp(1.0, -30)));
  return state.select(isTiny, x, state.select(isSmall, small, large));
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

/// Beyond the polynomial's range, log(1 + x) = log(u) + (1 + x - u) / u with u = 1 + x rounded:
/// what the rounding took away, exact by itself, is small beside u. Where nothing was taken away,
/// log(u) is all there is, also where it is infinite.
Value MathBuilder::logOnePlus(Value x) {
  // Contraction would lose the rounding.
  auto exactly = [&](auto op, Value a, Value b) -> Value {
    return decltype(op)::create(state.builder, state.loc, a, b, LLVM::FastmathFlags::none);
  };
  LLVM::FAddOp plus;
  LLVM::FSubOp minus;
  Value one = number(1.0);
  Value u = exactly(plus, one, x);
  Value lostOfSmall = exactly(minus, x, exactly(minus, u, one));
  Value lostOfLarge = exactly(minus, one, exactly(minus, u, x));
  Value lost = state.select(less(abs(x), one), lostOfSmall, lostOfLarge);
  Value logarithm = log(u);
  Value corrected = fma(lost, reciprocal(u), logarithm);
  // Also false if u is infinite and `lost` NaN.
  Value isInexact = less(number(0.0), abs(lost));
  Value large = state.select(isInexact, corrected, logarithm);

  // (log(1 + x) / x - 1) / x between -0.3 and 0.45, 2^-27.8 of the logarithm.
  Value series =
      polynomial(x, {0.06132858991622925, -0.11354892700910568, 0.11981330811977386,
                     -0.12467815726995468, 0.14217525720596313, -0.1666431874036789,
                     0.20001935958862305, -0.2500007748603821, 0.33333319425582886, -0.5});
  Value small = fma(mul(x, x), series, x);
  // Where x * x underflows, x is the result, with its sign.
  Value isTiny = less(abs(x), number(std::ldexp(1.0, -30)));
  Value isSmall = less(abs(sub(x, number(0.075))), number(0.375));
  return state.select(isTiny, x, state.select(isSmall, small, large));
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
