//===- Extrema.h - Minimum and maximum as IEEE 754-2019 has them ----------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What gfx12 computes, for f32, f64 and the bits of an f16. Zeros are ordered: -0 is below +0.
//
//   - minimumNumber2019 and maximumNumber2019: a number wins over a NaN, also a signalling one; of
//     two NaNs the first, quieted.
//   - minimum2019 and maximum2019: a NaN wins, quieted; a signalling one before a quiet one, then
//     the first before the second.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_EXTREMA_H
#define WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_EXTREMA_H

#include "runtime/emulator/instructions/Float.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {

/// An f16, of which nothing but the bits is looked at.
struct Float16 {
  uint16_t bits;
};
WAVETILE_INLINE bool isNaN(Float16 x) { return (x.bits & 0x7fff) > 0x7c00; }
WAVETILE_INLINE bool isSignallingNaN(Float16 x) { return isNaN(x) & ((x.bits & 0x200) == 0); }
WAVETILE_INLINE Float16 quieted(Float16 x) { return {static_cast<uint16_t>(x.bits | 0x200)}; }
WAVETILE_INLINE Float16 withDenormalsOf(Float16 x, const Mode &mode) {
  bool denormal = (x.bits & 0x7c00) == 0;
  return {static_cast<uint16_t>(mode.flush16_64 & denormal ? x.bits & 0x8000 : x.bits)};
}
WAVETILE_INLINE float withDenormalsOf(float x, const Mode &mode) {
  return mode.flush32 ? flushed(x) : x;
}
WAVETILE_INLINE double withDenormalsOf(double x, const Mode &mode) {
  return mode.flush16_64 ? flushed(x) : x;
}

/// Of numbers.
template <bool wantMaximum> WAVETILE_INLINE Float16 pick(Float16 a, Float16 b) {
  float x = fromHalf(a.bits), y = fromHalf(b.bits);
  uint16_t tie = static_cast<uint16_t>(wantMaximum ? a.bits & b.bits : a.bits | b.bits);
  bool first = wantMaximum ? x > y : x < y;
  return {x == y ? tie : first ? a.bits : b.bits};
}

template <bool wantMaximum, typename T>
WAVETILE_INLINE T extremumNumber2019(T a, T b, const Mode &mode) {
  a = withDenormalsOf(a, mode), b = withDenormalsOf(b, mode);
  T result = pick<wantMaximum>(a, b);
  result = isNaN(b) ? a : result;
  result = isNaN(a) ? b : result;
  return isNaN(a) & isNaN(b) ? quieted(a) : result;
}
template <typename T> WAVETILE_INLINE T minimumNumber2019(T a, T b, const Mode &mode) {
  return extremumNumber2019<false>(a, b, mode);
}
template <typename T> WAVETILE_INLINE T maximumNumber2019(T a, T b, const Mode &mode) {
  return extremumNumber2019<true>(a, b, mode);
}

template <bool wantMaximum, typename T> WAVETILE_INLINE T extremum2019(T a, T b, const Mode &mode) {
  a = withDenormalsOf(a, mode), b = withDenormalsOf(b, mode);
  T result = pick<wantMaximum>(a, b);
  result = isNaN(b) ? quieted(b) : result;
  result = isNaN(a) ? quieted(a) : result;
  return isSignallingNaN(b) & !isSignallingNaN(a) ? quieted(b) : result;
}
template <typename T> WAVETILE_INLINE T minimum2019(T a, T b, const Mode &mode) {
  return extremum2019<false>(a, b, mode);
}
template <typename T> WAVETILE_INLINE T maximum2019(T a, T b, const Mode &mode) {
  return extremum2019<true>(a, b, mode);
}

/// v_med3_num: with a NaN the smallest; else what is left without a largest one. Zeros are equal
/// when the largest is looked for.
template <typename T> WAVETILE_INLINE bool areEqual(T a, T b) { return a == b; }
WAVETILE_INLINE bool areEqual(Float16 a, Float16 b) { return fromHalf(a.bits) == fromHalf(b.bits); }
template <typename T> WAVETILE_INLINE T medianNumber2019(T a, T b, T c, const Mode &mode) {
  T low = minimumNumber2019(minimumNumber2019(a, b, mode), c, mode);
  T high = maximumNumber2019(maximumNumber2019(a, b, mode), c, mode);
  T withoutA = maximumNumber2019(b, c, mode), withoutB = maximumNumber2019(a, c, mode);
  T withoutC = maximumNumber2019(a, b, mode);
  T median = areEqual(high, b) ? withoutB : withoutC;
  median = areEqual(high, a) ? withoutA : median;
  return isNaN(a) | isNaN(b) | isNaN(c) ? low : median;
}

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_EXTREMA_H
