//===- Float.h - Floating-point arithmetic as AMD GPUs do it --------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// IEEE arithmetic with AMD's rules for NaN, minimum and maximum, one lane at a time and without
// branches, so that loops over lanes become host vector code. The host's NaN rules are never relied
// on: the compiler may swap the operands of an addition, and x86's own default NaN is negative.
//
//   - An operation with a NaN operand gives the first NaN operand, quieted.
//   - An invalid operation gives 0x7fc00000 (f32), 0x7ff8000000000000 (f64).
//   - Denormals are flushed before and after, and rounding is the host's: see Mode.h.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_FLOAT_H
#define WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_FLOAT_H

#include "runtime/emulator/Wave.h"
#include "runtime/emulator/instructions/HostMath.h"

#include <type_traits>

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {

WAVETILE_INLINE uint32_t bitsOf(float x) { return __builtin_bit_cast(uint32_t, x); }
WAVETILE_INLINE uint64_t bitsOf(double x) { return __builtin_bit_cast(uint64_t, x); }
WAVETILE_INLINE float floatOf(uint32_t bits) { return __builtin_bit_cast(float, bits); }
WAVETILE_INLINE double doubleOf(uint64_t bits) { return __builtin_bit_cast(double, bits); }

template <typename T> struct FloatTraits;
template <> struct FloatTraits<float> {
  using Bits = uint32_t;
  static constexpr Bits quietBit = 0x00400000, defaultNaN = 0x7fc00000, signBit = 0x80000000;
  static constexpr Bits infinity = 0x7f800000;
  static constexpr unsigned mantissaBits = 23;
};
template <> struct FloatTraits<double> {
  using Bits = uint64_t;
  static constexpr Bits quietBit = 0x0008000000000000, defaultNaN = 0x7ff8000000000000,
                        signBit = 0x8000000000000000, infinity = 0x7ff0000000000000;
  static constexpr unsigned mantissaBits = 52;
};
template <typename T> using BitsOf = typename FloatTraits<T>::Bits;

template <typename T> WAVETILE_INLINE T fromBits(BitsOf<T> bits) {
  return __builtin_bit_cast(T, bits);
}
template <typename T> WAVETILE_INLINE bool isNaN(T x) {
  return (bitsOf(x) & ~FloatTraits<T>::signBit) > FloatTraits<T>::infinity;
}
template <typename T> WAVETILE_INLINE bool isSignallingNaN(T x) {
  return isNaN(x) & ((bitsOf(x) & FloatTraits<T>::quietBit) == 0);
}
template <typename T> WAVETILE_INLINE bool isInfinity(T x) {
  return (bitsOf(x) & ~FloatTraits<T>::signBit) == FloatTraits<T>::infinity;
}
template <typename T> WAVETILE_INLINE bool isZero(T x) {
  return (bitsOf(x) & ~FloatTraits<T>::signBit) == 0;
}
template <typename T> WAVETILE_INLINE bool isDenormal(T x) {
  BitsOf<T> magnitude = bitsOf(x) & ~FloatTraits<T>::signBit;
  return (magnitude != 0) & (magnitude >> FloatTraits<T>::mantissaBits == 0);
}
template <typename T> WAVETILE_INLINE bool isNegative(T x) {
  return (bitsOf(x) & FloatTraits<T>::signBit) != 0;
}
template <typename T> WAVETILE_INLINE T quieted(T x) {
  return fromBits<T>(bitsOf(x) | FloatTraits<T>::quietBit);
}
template <typename T> WAVETILE_INLINE T absolute(T x) {
  return fromBits<T>(bitsOf(x) & ~FloatTraits<T>::signBit);
}
template <typename T> WAVETILE_INLINE T withSign(T magnitude, bool negative) {
  BitsOf<T> bits = bitsOf(magnitude) & ~FloatTraits<T>::signBit;
  return fromBits<T>(bits | (negative ? FloatTraits<T>::signBit : BitsOf<T>(0)));
}
/// A denormal becomes a zero of its sign.
template <typename T> WAVETILE_INLINE T flushed(T x) {
  return isDenormal(x) ? fromBits<T>(bitsOf(x) & FloatTraits<T>::signBit) : x;
}
/// The biased exponent.
template <typename T> WAVETILE_INLINE int exponentField(T x) {
  return static_cast<int>((bitsOf(x) & ~FloatTraits<T>::signBit) >> FloatTraits<T>::mantissaBits);
}

/// The result of an operation, or the NaN that AMD's rules give for these operands.
template <typename T> WAVETILE_INLINE T resultOr(T result, T a) {
  T nan = isNaN(a) ? quieted(a) : fromBits<T>(FloatTraits<T>::defaultNaN);
  return isNaN(result) ? nan : result;
}
template <typename T> WAVETILE_INLINE T resultOr(T result, T a, T b) {
  T nan = isNaN(b) ? quieted(b) : fromBits<T>(FloatTraits<T>::defaultNaN);
  nan = isNaN(a) ? quieted(a) : nan;
  return isNaN(result) ? nan : result;
}
template <typename T> WAVETILE_INLINE T resultOr(T result, T a, T b, T c) {
  T nan = isNaN(c) ? quieted(c) : fromBits<T>(FloatTraits<T>::defaultNaN);
  nan = isNaN(b) ? quieted(b) : nan;
  nan = isNaN(a) ? quieted(a) : nan;
  return isNaN(result) ? nan : result;
}

template <typename T> WAVETILE_INLINE T add(T a, T b) { return resultOr(a + b, a, b); }
template <typename T> WAVETILE_INLINE T subtract(T a, T b) { return resultOr(a - b, a, b); }
template <typename T> WAVETILE_INLINE T multiply(T a, T b) { return resultOr(a * b, a, b); }
WAVETILE_INLINE float fusedMultiplyAdd(float a, float b, float c) {
  return resultOr(host::fusedMultiplyAdd(a, b, c), a, b, c);
}
WAVETILE_INLINE double fusedMultiplyAdd(double a, double b, double c) {
  return resultOr(host::fusedMultiplyAdd(a, b, c), a, b, c);
}

// --- Minimum and maximum ---

template <bool wantMaximum, typename T> WAVETILE_INLINE T pick(T a, T b) {
  // Of two zeros the maximum is the positive one, the minimum the negative one.
  BitsOf<T> tie = wantMaximum ? (bitsOf(a) & bitsOf(b)) : (bitsOf(a) | bitsOf(b));
  bool first = wantMaximum ? a > b : a < b;
  return a == b ? fromBits<T>(tie) : first ? a : b;
}
/// v_min and v_max: a number wins over a NaN. In IEEE mode a signalling NaN gives a quiet one.
template <bool wantMaximum, typename T>
WAVETILE_INLINE T numberExtremum(T a, T b, const Mode &mode) {
  T result = pick<wantMaximum>(a, b);
  result = isNaN(b) ? a : result;
  result = isNaN(a) ? (isNaN(b) ? quieted(a) : b) : result;
  bool signalB = mode.ieee & isSignallingNaN(b), signalA = mode.ieee & isSignallingNaN(a);
  result = signalB ? quieted(b) : result;
  return signalA ? quieted(a) : result;
}
template <typename T> WAVETILE_INLINE T minimumNumber(T a, T b, const Mode &mode) {
  return numberExtremum<false>(a, b, mode);
}
template <typename T> WAVETILE_INLINE T maximumNumber(T a, T b, const Mode &mode) {
  return numberExtremum<true>(a, b, mode);
}
/// v_minimum and v_maximum: a NaN wins, a signalling one before a quiet one.
template <bool wantMaximum, typename T> WAVETILE_INLINE T extremum(T a, T b) {
  T result = pick<wantMaximum>(a, b);
  result = isNaN(b) ? quieted(b) : result;
  result = isNaN(a) ? quieted(a) : result;
  return isSignallingNaN(b) & !isSignallingNaN(a) ? quieted(b) : result;
}
template <typename T> WAVETILE_INLINE T medianOfThree(T a, T b, T c, const Mode &mode) {
  T low = minimumNumber(minimumNumber(a, b, mode), c, mode);
  // What is left without a largest one, zeros being equal.
  T high = maximumNumber(maximumNumber(a, b, mode), c, mode);
  T median = high == b ? maximumNumber(a, c, mode) : maximumNumber(a, b, mode);
  median = high == a ? maximumNumber(b, c, mode) : median;
  return isNaN(a) | isNaN(b) | isNaN(c) ? low : median;
}

// --- Conversions ---

/// bf16 from f32, to nearest even.
WAVETILE_INLINE uint16_t bfloat16From(float x) {
  uint32_t bits = bitsOf(x);
  uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  uint32_t nan = (bits >> 16) | 0x40;
  return static_cast<uint16_t>(isNaN(x) ? nan : rounded);
}
WAVETILE_INLINE float fromBFloat16(uint32_t bits) { return floatOf(bits << 16); }

/// A signalling NaN stays one, which the host's conversion would quiet.
WAVETILE_INLINE float fromHalf(uint32_t bits) {
  float value = host::fromHalf(static_cast<uint16_t>(bits));
  uint32_t nan = (bits & 0x8000) << 16 | 0x7f800000 | (bits & 0x3ff) << 13;
  return (bits & 0x7fff) > 0x7c00 ? floatOf(nan) : value;
}
WAVETILE_INLINE uint16_t halfFrom(float x) { return host::toHalf(x); }
/// f16 from f32, toward zero; what is too large becomes the largest number.
WAVETILE_INLINE uint16_t halfTowardZero(float x) {
  uint32_t bits = bitsOf(x), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  uint32_t normal = (magnitude >> 13) - (112u << 10);
  // A denormal result: the whole significand moves right.
  uint32_t shift = 126 - (magnitude >> 23);
  uint32_t significand = (magnitude & 0x7fffff) | 0x800000;
  uint32_t denormal = shift < 32 ? significand >> (shift & 31) : 0;
  uint32_t result = magnitude < 0x38800000 ? denormal : normal;
  result = magnitude >= 0x47800000 ? 0x7bff : result;
  result = magnitude == 0x7f800000 ? 0x7c00 : result;
  result = magnitude > 0x7f800000 ? (0x7e00 | (magnitude >> 13 & 0x3ff)) : result;
  return static_cast<uint16_t>(sign | result);
}

/// f32 from f64 so that a further rounding to f16 is right: the last bit is set if anything was
/// lost.
WAVETILE_INLINE float floatRoundedToOdd(double x) {
  float nearest = static_cast<float>(x);
  double back = nearest;
  bool exact = (back == x) | (x != x);
  uint32_t bits = bitsOf(nearest);
  bool tooFar = __builtin_fabs(back) > __builtin_fabs(x);
  uint32_t truncated = bits - (tooFar ? 1 : 0);
  return floatOf(exact ? bits : truncated | 1);
}
WAVETILE_INLINE uint16_t halfFromDouble(double x) { return halfFrom(floatRoundedToOdd(x)); }

/// a * b + c in f64, the last bit set if anything was lost: a further rounding to f32 or f16, also
/// after a scaling, is then right.
WAVETILE_INLINE double fusedRoundedToOdd(float a, float b, float c) {
  return host::software::sumToOdd(static_cast<double>(a) * b, c); // 48 bits: exact.
}
/// a * b + c in f64 so that a further rounding to f32 or f16 is right. Twice in one direction is
/// right by itself; to nearest, the first must be to odd.
WAVETILE_INLINE double fusedBeforeRounding(float a, float b, float c, Rounding rounding) {
  double directed = static_cast<double>(a) * b + c;
  return rounding == Rounding::NearestEven ? fusedRoundedToOdd(a, b, c) : directed;
}
/// a * b + c of f16 values, rounded once to f16.
WAVETILE_INLINE float halfFusedMultiplyAdd(float a, float b, float c,
                                           Rounding rounding = Rounding::NearestEven) {
  double sum = fusedBeforeRounding(a, b, c, rounding);
  float narrow = static_cast<float>(sum);
  float odd = floatRoundedToOdd(sum);
  narrow = rounding == Rounding::NearestEven ? odd : narrow;
  return resultOr(host::fromHalf(host::toHalf(narrow)), a, b, c);
}

template <typename Integer, typename T> WAVETILE_INLINE Integer saturatedInteger(T x) {
  constexpr bool isSigned = std::is_signed_v<Integer>;
  constexpr unsigned width = sizeof(Integer) * 8;
  constexpr Integer largest =
      isSigned ? static_cast<Integer>((uint64_t(1) << (width - 1)) - 1)
               : static_cast<Integer>(width == 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1);
  constexpr Integer smallest = isSigned ? static_cast<Integer>(-largest - 1) : Integer(0);
  constexpr T limit = static_cast<T>(uint64_t(1) << (width - 1)) * (isSigned ? T(1) : T(2));
  bool high = x >= limit;
  bool low = isSigned ? x <= -limit : x <= T(-1);
  T safe = (high | low | isNaN(x)) ? T(0) : x;
  // Through a wider type, for which the host has instructions.
  Integer value = sizeof(Integer) == 4 && !isSigned
                      ? static_cast<Integer>(static_cast<int64_t>(safe))
                      : static_cast<Integer>(safe);
  return high ? largest : low ? smallest : value;
}

// --- Exponents ---

WAVETILE_INLINE double powerOfTwo(int exponent) {
  return doubleOf(static_cast<uint64_t>(exponent + 1023) << 52);
}
/// x * 2^n, rounded once.
WAVETILE_INLINE float scaleByPower(float x, int n) {
  n = n < -400 ? -400 : n > 400 ? 400 : n;
  return resultOr(static_cast<float>(static_cast<double>(x) * powerOfTwo(n)), x);
}
WAVETILE_INLINE double scaleByPower(double x, int n) {
  n = n < -2200 ? -2200 : n > 2200 ? 2200 : n;
  // Take x to an exponent of 0, so that only the last factor can round.
  double normal = isDenormal(x) ? x * powerOfTwo(64) : x;
  int exponent = exponentField(normal) - 1023;
  int total = exponent + n - (isDenormal(x) ? 64 : 0);
  double mantissa = doubleOf((bitsOf(normal) & 0x800fffffffffffff) | 0x3ff0000000000000);
  int first = total < -1022 ? -1022 : total > 1023 ? 1023 : total;
  int second = total - first;
  second = second < -1022 ? -1022 : second > 1023 ? 1023 : second;
  double scaled = mantissa * powerOfTwo(first) * powerOfTwo(second);
  bool special = isZero(x) | isInfinity(x) | isNaN(x);
  return special ? resultOr(x, x) : scaled;
}

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_FLOAT_H
