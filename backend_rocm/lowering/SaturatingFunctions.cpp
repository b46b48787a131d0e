//===- SaturatingFunctions.cpp - tanh and erf -------------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both are odd, go from x (times a constant) to 1, and are computed on |x| in two
// pieces: a polynomial near zero, and 1 minus something small, whose own error
// hardly counts.
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/lowering/MathBuilder.h"

#include <numbers>

using namespace mlir;
using namespace wavetile;
using namespace wavetile::rocm;

/// 1 - 2 / (e^2x + 1) from 0.625 on, where the fraction is below 0.45 and falls; the exponential
/// overflows to the right result.
Value MathBuilder::tanh(Value x) {
  Value magnitude = abs(x);
  Value power = exp2Instruction(mul(magnitude, number(2 * std::numbers::log2e)));
  Value large = fma(number(-2.0), reciprocal(add(power, number(1.0))), number(1.0));
  Value square = mul(magnitude, magnitude);
  // (tanh(x) / x - 1) / x^2, 2^-27.2.
  Value series =
      polynomial(square, {-0.005528633948415518, 0.020483316853642464, -0.05369296669960022,
                          0.1333089917898178, -0.3333326280117035});
  Value small = fma(mul(square, series), magnitude, magnitude);
  Value isSmall = less(magnitude, number(0.625));
  return copySign(state.select(isSmall, small, large), x);
}

/// 1 - e^-(x + x p(x)) from 0.927 on; beyond 4 the exponential is less than half an ulp of 1.
Value MathBuilder::erf(Value x) {
  Value magnitude = abs(x);
  Value isHuge = less(number(4.0), magnitude);
  Value limited = state.select(isHuge, number(4.0), magnitude);
  // (-log(1 - erf(x)) - x) / x, 2^-32.1 of erf.
  Value exponent =
      polynomial(limited, {4.93825336889131e-06, -4.558164800982922e-05, -4.95844469696749e-05,
                           0.0029301512986421585, -0.02267412841320038, 0.10526268929243088,
                           0.6356253027915955, 0.12855175137519836});
  exponent = fma(exponent, limited, limited);
  Value rest = exp2Instruction(mul(exponent, number(-std::numbers::log2e)));
  Value large = sub(number(1.0), rest);
  Value square = mul(magnitude, magnitude);
  // erf(x) / x - 1, 2^-31.
  Value series =
      polynomial(square, {8.345239621121436e-05, -0.0008137441473081708, 0.005200634710490704,
                          -0.02685927040874958, 0.11283694207668304, -0.37612634897232056,
                          0.12837916612625122});
  Value small = fma(series, magnitude, magnitude);
  Value isSmall = less(magnitude, number(0.927));
  return copySign(state.select(isSmall, small, large), x);
}
