//===- Division.h - The steps of exact division ---------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// v_div_scale and v_div_fixup as AMD's ISA documents give them: the first scales an operand of a
// division so that the Newton steps neither overflow nor lose bits, the last replaces the quotient
// in the special cases.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_DIVISION_H
#define WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_DIVISION_H

#include "runtime/emulator/instructions/Float.h"
#include "runtime/emulator/instructions/Lanes.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {

template <typename T> struct DivisionLimits;
template <> struct DivisionLimits<float> {
  static constexpr int farApart = 96, tinyNumerator = 23, scale = 64;
  static constexpr int underflow = -150, exponentOfInfinity = 255;
};
template <> struct DivisionLimits<double> {
  static constexpr int farApart = 768, tinyNumerator = 53, scale = 128;
  static constexpr int underflow = -1075, exponentOfInfinity = 2047;
};

/// `value` is the denominator or the numerator; the bit tells v_div_fmas to scale back.
template <typename T>
WAVETILE_INLINE WithMask<T> divisionScale(T value, T denominator, T numerator) {
  using Limits = DivisionLimits<T>;
  bool isDenominator = bitsOf(value) == bitsOf(denominator);
  bool isNumerator = bitsOf(value) == bitsOf(numerator);
  T up = scaleByPower(value, Limits::scale), down = scaleByPower(value, -Limits::scale);
  bool zero = isZero(numerator) | isZero(denominator);
  bool far = exponentField(numerator) - exponentField(denominator) >= Limits::farApart;
  bool denormalDenominator = isDenormal(denominator);
  bool tinyReciprocal = isDenormal(T(1) / denominator);
  bool tinyQuotient = isDenormal(numerator / denominator);
  bool tinyNumerator = exponentField(numerator) <= Limits::tinyNumerator;

  // The cases from last to first, each overriding those after it.
  T result = tinyNumerator ? up : value;
  bool mask = false;
  result = tinyQuotient ? (isNumerator ? up : value) : result;
  mask = tinyQuotient ? true : mask;
  result = tinyReciprocal ? down : result;
  mask = tinyReciprocal ? false : mask;
  bool both = tinyReciprocal & tinyQuotient;
  result = both ? (isDenominator ? down : value) : result;
  mask = both ? true : mask;
  result = denormalDenominator ? up : result;
  mask = denormalDenominator ? false : mask;
  result = far ? (isDenominator ? up : value) : result;
  mask = far ? true : mask;
  result = zero ? fromBits<T>(FloatTraits<T>::defaultNaN) : result;
  mask = zero ? false : mask;
  return {result, mask};
}

/// v_div_fmas: a * b + c, and undoes the scaling of one operand: up for a quotient that was made
/// smaller. Rounded once, also where the result is denormal.
WAVETILE_INLINE float divisionMultiplyAdd(float a, float b, float c, bool scaled,
                                          Rounding rounding) {
  bool large = exponentField(c) > 127;
  double exact = fusedBeforeRounding(a, b, c, rounding);
  float back = resultOr(static_cast<float>(exact * powerOfTwo(large ? 64 : -64)), a, b, c);
  return scaled ? back : fusedMultiplyAdd(a, b, c);
}
WAVETILE_INLINE double divisionMultiplyAdd(double a, double b, double c, bool scaled) {
  double result = fusedMultiplyAdd(a, b, c);
  bool large = exponentField(c) > 1023;
  // What the operation lost: exact enough, as a * b is a small correction of c.
  double product = a * b;
  double lost = (c - result) + product;
  bool smaller = (lost < 0) != (result < 0);
  // Where a denormal result is rounded again to nearest, and lies in the middle only because of
  // what was lost, that decides. In one direction, rounding twice is rounding once.
  double down = scaleByPower(result, -128);
  bool isMiddle = absolute(result - scaleByPower(down, 128)) == powerOfTwo(-1075 + 128);
  double magnitude = absolute(result), little = powerOfTwo(-1020);
  bool toNearest = (magnitude + little == magnitude) & (magnitude - little == magnitude);
  if (isDenormal(down) | isZero(down) | (absolute(down) == powerOfTwo(-1022)))
    down = isMiddle & toNearest & (lost != 0)
               ? scaleByPower(doubleOf(smaller ? bitsOf(result) - 1 : bitsOf(result) + 1), -128)
               : down;
  return scaled ? (large ? scaleByPower(result, 128) : down) : result;
}

template <typename T> WAVETILE_INLINE T divisionFixup(T quotient, T denominator, T numerator) {
  using Limits = DivisionLimits<T>;
  bool negative = isNegative(denominator) != isNegative(numerator);
  T infinity = withSign(fromBits<T>(FloatTraits<T>::infinity), negative);
  T zero = withSign(T(0), negative);
  T invalid = fromBits<T>(FloatTraits<T>::defaultNaN | FloatTraits<T>::signBit);

  T result = withSign(quotient, negative);
  // The steps before gave an infinity, or made a NaN of one: too large.
  result = exponentField(quotient) == Limits::exponentOfInfinity ? infinity : result;
  bool underflows = exponentField(numerator) - exponentField(denominator) < Limits::underflow;
  result = underflows ? zero : result;
  result = isInfinity(denominator) | isZero(numerator) ? zero : result;
  result = isZero(denominator) | isInfinity(numerator) ? infinity : result;
  result = isInfinity(denominator) & isInfinity(numerator) ? invalid : result;
  result = isZero(denominator) & isZero(numerator) ? invalid : result;
  result = isNaN(denominator) ? quieted(denominator) : result;
  return isNaN(numerator) ? quieted(numerator) : result;
}

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_DIVISION_H
