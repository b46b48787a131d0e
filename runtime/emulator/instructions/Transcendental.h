//===- Transcendental.h - v_exp, v_log, v_sin and their like --------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The hardware's tables are not public. These give results within 1 ulp of the true value, from
// double-precision polynomials with no library function, so that every host gives the same bits.
// As on the hardware, f32 denormals are flushed on the way in and out of all of them.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_TRANSCENDENTAL_H
#define WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_TRANSCENDENTAL_H

#include "runtime/emulator/instructions/Float.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {

/// 2^x for |x| < 1000, relative error below 2^-48: the Taylor series of exp(x ln 2) about 0 on
/// [-1/2, 1/2], whose 12th term is below 2^-50.
WAVETILE_INLINE double exponential2(double x) {
  double whole = host::roundAsSet(x);
  double t = (x - whole) * 0.69314718055994530942;
  double sum = 1.0 / 479001600;
  sum = sum * t + 1.0 / 39916800;
  sum = sum * t + 1.0 / 3628800;
  sum = sum * t + 1.0 / 362880;
  sum = sum * t + 1.0 / 40320;
  sum = sum * t + 1.0 / 5040;
  sum = sum * t + 1.0 / 720;
  sum = sum * t + 1.0 / 120;
  sum = sum * t + 1.0 / 24;
  sum = sum * t + 1.0 / 6;
  sum = sum * t + 0.5;
  sum = sum * t + 1.0;
  sum = sum * t + 1.0;
  return sum * powerOfTwo(static_cast<int>(whole));
}

/// log2(x) for positive normal x: 2 atanh((m - 1) / (m + 1)) / ln 2 with m in [sqrt 1/2, sqrt 2].
WAVETILE_INLINE double logarithm2(double x) {
  uint64_t bits = bitsOf(x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  double mantissa = doubleOf((bits & 0x000fffffffffffff) | 0x3ff0000000000000);
  bool large = mantissa > 1.41421356237309504880;
  mantissa = large ? mantissa * 0.5 : mantissa;
  exponent += large ? 1 : 0;
  double s = (mantissa - 1.0) / (mantissa + 1.0), z = s * s;
  double sum = 1.0 / 23;
  sum = sum * z + 1.0 / 21;
  sum = sum * z + 1.0 / 19;
  sum = sum * z + 1.0 / 17;
  sum = sum * z + 1.0 / 15;
  sum = sum * z + 1.0 / 13;
  sum = sum * z + 1.0 / 11;
  sum = sum * z + 1.0 / 9;
  sum = sum * z + 1.0 / 7;
  sum = sum * z + 1.0 / 5;
  sum = sum * z + 1.0 / 3;
  sum = sum * z + 1.0;
  return static_cast<double>(exponent) + sum * s * 2.8853900817779268147;
}

/// sin(2 pi t) for t in [0, 1).
WAVETILE_INLINE double sineOfTurns(double t) {
  // Fold to [-1/4, 1/4].
  double folded = t > 0.75 ? t - 1.0 : t > 0.25 ? 0.5 - t : t;
  double x = folded * 6.28318530717958647693, z = x * x;
  // Taylor series up to x^21: the first term left out is below 2^-50.
  double sum = 1.0 / 51090942171709440000.0;
  sum = sum * z - 1.0 / 121645100408832000.0;
  sum = sum * z + 1.0 / 355687428096000.0;
  sum = sum * z - 1.0 / 1307674368000.0;
  sum = sum * z + 1.0 / 6227020800.0;
  sum = sum * z - 1.0 / 39916800.0;
  sum = sum * z + 1.0 / 362880.0;
  sum = sum * z - 1.0 / 5040.0;
  sum = sum * z + 1.0 / 120.0;
  sum = sum * z - 1.0 / 6.0;
  sum = sum * z + 1.0;
  return sum * x;
}

WAVETILE_INLINE float exp2Float(float x) {
  float in = flushed(x);
  double clamped = in < -200.0f ? -200.0 : in > 200.0f ? 200.0 : static_cast<double>(in);
  clamped = isNaN(in) ? 0.0 : clamped;
  float result = flushed(static_cast<float>(exponential2(clamped)));
  return isNaN(x) ? quieted(x) : result;
}
WAVETILE_INLINE float log2Float(float x) {
  float in = flushed(x);
  bool usable = (in > 0.0f) & !isInfinity(in);
  double safe = usable ? static_cast<double>(in) : 1.0;
  float result = static_cast<float>(logarithm2(safe));
  result = isZero(in) ? floatOf(0xff800000) : result;
  result = in < 0.0f ? floatOf(0x7fc00000) : result;
  result = bitsOf(in) == 0x7f800000 ? in : result;
  return isNaN(x) ? quieted(x) : result;
}
WAVETILE_INLINE float reciprocal(float x) { return resultOr(flushed(1.0f / flushed(x)), x); }
WAVETILE_INLINE float squareRoot(float x) {
  float in = flushed(x);
  return resultOr(__builtin_sqrtf(in), in);
}
WAVETILE_INLINE float reciprocalSquareRoot(float x) {
  float in = flushed(x);
  double root = __builtin_sqrt(static_cast<double>(in));
  return resultOr(static_cast<float>(1.0 / root), in);
}
/// v_sin_f32 and v_cos_f32: the operand is in turns, at most 256 in magnitude. `quarter` is 1/4 for
/// the cosine.
WAVETILE_INLINE float sineOfTurns(float x, double quarter) {
  float in = flushed(x);
  bool usable = absolute(in) <= 256.0f;
  // Of the magnitude: a small negative number plus a turn would lose its bits.
  double safe = usable ? static_cast<double>(absolute(in)) : 0.0;
  double turns = safe + quarter;
  double fraction = turns - host::floor(turns);
  double value = sineOfTurns(fraction);
  value = (quarter == 0.0) & isNegative(in) ? -value : value;
  float result = static_cast<float>(value);
  // sin(0) keeps the sign of its operand.
  result = (isZero(in) & (quarter == 0.0)) ? in : result;
  result = usable ? result : (quarter == 0.0 ? 0.0f : 1.0f);
  result = isInfinity(in) ? floatOf(0x7fc00000) : result;
  return isNaN(x) ? quieted(x) : result;
}

/// f64 reciprocal and reciprocal square root; the hardware gives about 2^-29, this more.
WAVETILE_INLINE double reciprocal(double x) { return resultOr(1.0 / x, x); }
WAVETILE_INLINE double reciprocalSquareRoot(double x) {
  return resultOr(1.0 / __builtin_sqrt(x), x);
}
WAVETILE_INLINE double squareRoot(double x) { return resultOr(__builtin_sqrt(x), x); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_TRANSCENDENTAL_H
