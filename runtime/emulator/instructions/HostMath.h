//===- HostMath.h - Operations that not every host has --------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fused multiply-add, rounding to integers and f16: instructions of the host if the build is for
// one that has them, else made from IEEE addition, multiplication and conversions, which round as
// the host is set to. Either way the same bits but for the sign and payload of NaN, on which no
// caller relies. No libm.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_HOSTMATH_H
#define WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_HOSTMATH_H

#include "runtime/emulator/Wave.h"

#include <type_traits>

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace host {

#if defined(__FMA__) && defined(__F16C__) && defined(__SSE4_1__)
inline constexpr bool hasAll = true;
#else
inline constexpr bool hasAll = false;
#endif

// --- Without the host's help ---

namespace software {

template <typename T> struct Layout;
template <> struct Layout<float> {
  using Bits = uint32_t;
  using Integer = int32_t;
  static constexpr unsigned mantissaBits = 23;
};
template <> struct Layout<double> {
  using Bits = uint64_t;
  using Integer = int64_t;
  static constexpr unsigned mantissaBits = 52;
};
template <typename T> using Bits = typename Layout<T>::Bits;

template <typename T> inline constexpr Bits<T> signBit = Bits<T>(1) << (8 * sizeof(T) - 1);
/// From here on all numbers are integers.
template <typename T>
inline constexpr T firstWhole = static_cast<T>(uint64_t(1) << Layout<T>::mantissaBits);

template <typename T> WAVETILE_INLINE Bits<T> bits(T x) { return __builtin_bit_cast(Bits<T>, x); }
template <typename T> WAVETILE_INLINE T magnitude(T x) {
  return __builtin_bit_cast(T, bits(x) & ~signBit<T>);
}
template <typename T> WAVETILE_INLINE T withSignOf(T positive, T x) {
  return __builtin_bit_cast(T, bits(positive) | (bits(x) & signBit<T>));
}

/// The integer part of a number whose magnitude is less than `firstWhole`, else 0.
template <typename T> WAVETILE_INLINE typename Layout<T>::Integer wholePart(T x) {
  bool isSmall = magnitude(x) < firstWhole<T>;
  return static_cast<typename Layout<T>::Integer>(isSmall ? magnitude(x) : T(0));
}
template <typename T> WAVETILE_INLINE T truncate(T x) {
  T result = withSignOf(static_cast<T>(wholePart(x)), x);
  return magnitude(x) < firstWhole<T> ? result : x;
}
template <typename T> WAVETILE_INLINE T floor(T x) {
  T whole = truncate(x);
  return whole > x ? whole - 1 : whole;
}
template <typename T> WAVETILE_INLINE T ceil(T x) {
  T whole = truncate(x);
  return whole < x ? whole + 1 : whole;
}
template <typename T> WAVETILE_INLINE T roundToEven(T x) {
  auto whole = wholePart(x);
  T fraction = magnitude(x) - static_cast<T>(whole);
  bool up = (fraction > T(0.5)) | ((fraction == T(0.5)) & ((whole & 1) != 0));
  T result = withSignOf(static_cast<T>(whole + up), x);
  return magnitude(x) < firstWhole<T> ? result : x;
}
/// As the host rounds: the sum with a number from which on all are integers.
template <typename T> WAVETILE_INLINE T roundAsSet(T x) {
  T large = withSignOf(firstWhole<T>, x);
  T result = withSignOf(magnitude((x + large) - large), x);
  return magnitude(x) < firstWhole<T> ? result : x;
}

WAVETILE_INLINE float fromHalf(uint16_t half) {
  uint32_t magnitude = half & 0x7fff, sign = (half & 0x8000u) << 16;
  float denormal =
      static_cast<float>(static_cast<int32_t>(magnitude)) * static_cast<float>(1.0 / (1 << 24));
  uint32_t normal = (magnitude << 13) + (112u << 23);
  uint32_t result = magnitude < 0x400 ? bits(denormal) : normal;
  result = magnitude >= 0x7c00 ? 0x7f800000 | (magnitude & 0x3ff) << 13 : result;
  return __builtin_bit_cast(float, result | sign);
}
/// As the host rounds. Adding a power of two of the right size moves the last bit of f16 to that of
/// f32; the difference of the bits is then the significand.
WAVETILE_INLINE uint16_t toHalf(float x) {
  uint32_t sign = bits(x) & 0x80000000, exponent = bits(x) & 0x7f800000;
  constexpr uint32_t leastExponent = 113u << 23, largestExponent = 142u << 23;
  uint32_t clamped = exponent < leastExponent     ? leastExponent
                     : exponent > largestExponent ? largestExponent
                                                  : exponent;
  uint32_t large = clamped + (13u << 23);
  float inRange = exponent > largestExponent ? 0.0f : x;
  float sum = inRange + __builtin_bit_cast(float, large | sign);
  uint32_t significand = bits(magnitude(sum)) - large;
  uint32_t result = significand + ((clamped - leastExponent) >> 13);
  // Infinity or the largest number: what f32 makes of a number that is too large.
  float overflown = x * __builtin_bit_cast(float, (112u + 127u) << 23);
  uint32_t tooLarge = bits(overflown) << 1 == 0xff000000 ? 0x7c00 : 0x7bff;
  result = exponent > largestExponent ? tooLarge : result;
  uint32_t nan = 0x7e00 | (bits(x) >> 13 & 0x3ff);
  result = x != x ? nan : result;
  return static_cast<uint16_t>(result | sign >> 16);
}

/// The sum in f64, however the host rounds, with the last bit set if anything was lost: a further
/// rounding to f32 is then right. After Fast2Sum, whose error has the right sign in any mode.
WAVETILE_INLINE double sumToOdd(double a, double b) {
  double sum = a + b;
  bool isSwapped = magnitude(b) > magnitude(a);
  double large = isSwapped ? b : a, small = isSwapped ? a : b;
  double lost = small - (sum - large);
  uint64_t sumBits = bits(sum);
  bool isFinite = magnitude(sum) < __builtin_bit_cast(double, uint64_t(0x7ff0000000000000));
  bool adjust = (lost != 0) & ((sumBits & 1) == 0) & isFinite;
  bool toZero = (lost < 0) != (sum < 0);
  return __builtin_bit_cast(double, adjust ? (toZero ? sumBits - 1 : sumBits + 1) : sumBits);
}
WAVETILE_INLINE float fusedMultiplyAdd(float a, float b, float c) {
  return static_cast<float>(sumToOdd(static_cast<double>(a) * b, c)); // 48 bits: exact.
}
double fusedMultiplyAdd(double a, double b, double c);

} // namespace software

// --- What callers use ---

#define WAVETILE_HOST_ROUNDING(NAME, BUILTIN)                                                      \
  WAVETILE_INLINE float NAME(float x) {                                                            \
    if constexpr (hasAll)                                                                          \
      return BUILTIN##f(x);                                                                        \
    else                                                                                           \
      return software::NAME(x);                                                                    \
  }                                                                                                \
  WAVETILE_INLINE double NAME(double x) {                                                          \
    if constexpr (hasAll)                                                                          \
      return BUILTIN(x);                                                                           \
    else                                                                                           \
      return software::NAME(x);                                                                    \
  }
WAVETILE_HOST_ROUNDING(truncate, __builtin_trunc)
WAVETILE_HOST_ROUNDING(floor, __builtin_floor)
WAVETILE_HOST_ROUNDING(ceil, __builtin_ceil)
WAVETILE_HOST_ROUNDING(roundToEven, __builtin_roundeven)
WAVETILE_HOST_ROUNDING(roundAsSet, __builtin_rint)
#undef WAVETILE_HOST_ROUNDING

WAVETILE_INLINE float fusedMultiplyAdd(float a, float b, float c) {
  if constexpr (hasAll)
    return __builtin_fmaf(a, b, c);
  else
    return software::fusedMultiplyAdd(a, b, c);
}
WAVETILE_INLINE double fusedMultiplyAdd(double a, double b, double c) {
  if constexpr (hasAll)
    return __builtin_fma(a, b, c);
  else
    return software::fusedMultiplyAdd(a, b, c);
}
/// Of each element of a host vector.
template <typename V> WAVETILE_INLINE V fusedMultiplyAddVector(V a, V b, V c) {
  if constexpr (hasAll) {
    return __builtin_elementwise_fma(a, b, c);
  } else {
    for (unsigned i = 0; i < sizeof(V) / sizeof(a[0]); ++i)
      c[i] = software::fusedMultiplyAdd(a[i], b[i], c[i]);
    return c;
  }
}

WAVETILE_INLINE float fromHalf(uint16_t half) {
#if defined(__F16C__)
  return static_cast<float>(__builtin_bit_cast(_Float16, half));
#else
  return software::fromHalf(half);
#endif
}
WAVETILE_INLINE uint16_t toHalf(float x) {
#if defined(__F16C__)
  return __builtin_bit_cast(uint16_t, static_cast<_Float16>(x));
#else
  return software::toHalf(x);
#endif
}

} // namespace host
} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_HOSTMATH_H
