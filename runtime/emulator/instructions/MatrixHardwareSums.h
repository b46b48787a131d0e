//===- MatrixHardwareSums.h - Sums as CDNA3's matrix cores make them ------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What these functions promise: C gets the products of A and B rounded as MMA-Sim (arXiv
// 2511.10909, compared bit for bit with an MI300X by its authors) describes MFMA of gfx942:
//
//   - Several k, a group, are summed at once. A product is the product of the significands, not
//     normalised, at the sum of the exponents; a zero has exponent -126.
//   - All products of a group are cut toward zero to 24 fractional bits of the largest exponent and
//     added exactly: S at exponent e. Of 8-bit formats the even and the odd k are summed so apart,
//     both sums cut down to 24 fractional bits of the larger exponent and added.
//   - With E the larger of e and the exponent of c: S cut to 31 and c to 24 fractional bits of E,
//     toward minus infinity, added, and rounded to nearest even to f32. That is the next group's c.
//     With 8-bit formats a c whose exponent is below E - 25 counts as zero.
//
// Infinities and NaN take a slower path: a sum that is infinite or NaN in any order is that, and a
// product of 2^128 or more is an infinity. docs/software-device-matrix.md says what of this is
// assumed, and for which targets.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_MATRIXHARDWARESUMS_H
#define WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_MATRIXHARDWARESUMS_H

#include "runtime/emulator/instructions/MatrixProduct.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace matrixproduct {

template <unsigned N> using Integers __attribute__((ext_vector_type(N))) = int32_t;
template <unsigned N> using WideIntegers __attribute__((ext_vector_type(N))) = int64_t;
template <unsigned N> using Floats __attribute__((ext_vector_type(N))) = float;
template <unsigned N> using Doubles __attribute__((ext_vector_type(N))) = double;

/// Products have this many fractional bits.
inline constexpr int productBits = 24;

/// A or B as floats [k][M], and what the multiplier sees of them.
struct HardwareInput {
  const float *values;
  unsigned fractionBits;
  int minimumExponent;
  /// Added to exponents, [k / 32][M]; null: none.
  const int16_t *scales = nullptr;
};
template <typename Format> WAVETILE_INLINE HardwareInput hardwareInput(const float *values) {
  return {values, Format::fractionBits, Format::minimumExponent};
}

/// A value is significand * 2^(exponent - fractional bits), the sign being the significand's.
/// Of K * M values.
template <unsigned M, unsigned K> struct Significands {
  static constexpr unsigned count = K * M;
  alignas(64) int32_t significand[count];
  alignas(64) int32_t exponent[count];

  /// Significands get `shift` more fractional bits than the format has. False: there is an infinity
  /// or a NaN.
  WAVETILE_INLINE bool take(const HardwareInput &input, unsigned shift) {
    uint32_t special = 0;
    unsigned dropped = 23 - input.fractionBits;
    for (unsigned i = 0; i < count; ++i) {
      uint32_t bits = bitsOf(input.values[i]);
      int32_t field = static_cast<int32_t>(bits >> 23 & 0xff);
      uint32_t mantissa = (bits & 0x7fffff) | (field == 0 ? 0 : 0x800000u);
      int32_t own = (field == 0 ? 1 : field) - 127;
      int32_t raised = own < input.minimumExponent ? input.minimumExponent - own : 0;
      // Exact: denormals of the format have so many fewer bits.
      mantissa = mantissa >> (raised > 31 ? 31 : raised) >> dropped << shift;
      bool negative = static_cast<int32_t>(bits) < 0;
      significand[i] = negative ? -static_cast<int32_t>(mantissa) : static_cast<int32_t>(mantissa);
      exponent[i] = (bits & 0x7fffffff) == 0 ? -126 : own + raised;
      special |= field == 255;
    }
    if (input.scales)
      for (unsigned k = 0; k < K; ++k)
        for (unsigned m = 0; m < M; ++m)
          exponent[k * M + m] += input.scales[k / 32 * M + m];
    return special == 0;
  }
};

template <typename I> struct PartialSum {
  I significand; ///< Of `productBits` fractional bits.
  I exponent;
};

/// x / 2^by, cut toward zero; by >= 0.
template <typename I> WAVETILE_INLINE I cutTowardZero(I x, I by) {
  I magnitude = __builtin_elementwise_abs(x) >> __builtin_elementwise_min(by, I(31));
  return x < 0 ? -magnitude : magnitude;
}
/// x / 2^by, cut toward minus infinity; by >= 0.
template <typename I> WAVETILE_INLINE I cutDown(I x, I by) {
  return x >> __builtin_elementwise_min(by, I(31));
}
/// The sum of every \p step-th product from \p first on.
template <unsigned first, unsigned step, unsigned group, typename I>
WAVETILE_INLINE PartialSum<I> sumOf(const I (&products)[group], const I (&exponents)[group]) {
  PartialSum<I> sum = {I(0), exponents[first]};
#pragma clang loop unroll(full)
  for (unsigned i = first; i < group; i += step)
    sum.exponent = __builtin_elementwise_max(sum.exponent, exponents[i]);
#pragma clang loop unroll(full)
  for (unsigned i = first; i < group; i += step)
    sum.significand += cutTowardZero(products[i], sum.exponent - exponents[i]);
  return sum;
}

/// 2^n in each lane; the exponents here are far from the ends of f64's range.
template <unsigned N> WAVETILE_INLINE Doubles<N> powersOfTwo(Integers<N> n) {
  WideIntegers<N> field = __builtin_convertvector(n + 1023, WideIntegers<N>);
  return __builtin_bit_cast(Doubles<N>, field << 52);
}
/// To an integer, toward minus infinity; the magnitude is below 2^51.
template <typename D> WAVETILE_INLINE D cutDown(D x) {
#if defined(__SSE4_1__)
  return __builtin_elementwise_floor(x);
#else
  // No instruction of the host: to nearest first. Done without libm, whose results vary.
  constexpr double big = 0x1.8p52;
  D nearest = (x + big) - big;
  return nearest > x ? nearest - 1.0 : nearest;
#endif
}

/// c and the products of one group. Lanes where an infinity comes up are set in \p unusual.
template <bool is8Bit, unsigned group, unsigned N>
WAVETILE_INLINE Floats<N> addGroup(Floats<N> c, const Integers<N> (&products)[group],
                                   const Integers<N> (&exponents)[group], Integers<N> &unusual) {
  using I = Integers<N>;
  using D = Doubles<N>;
  PartialSum<I> sum;
  if constexpr (is8Bit) {
    PartialSum<I> even = sumOf<0, 2>(products, exponents), odd = sumOf<1, 2>(products, exponents);
    sum.exponent = __builtin_elementwise_max(even.exponent, odd.exponent);
    sum.significand = cutDown(even.significand, sum.exponent - even.exponent) +
                      cutDown(odd.significand, sum.exponent - odd.exponent);
  } else {
    sum = sumOf<0, 1>(products, exponents);
  }
  I field = __builtin_bit_cast(I, c) >> 23 & 0xff;
  I exponentOfC = __builtin_elementwise_max(field, I(1)) - 127;
  I exponent = __builtin_elementwise_max(sum.exponent, exponentOfC);
  constexpr int sumBits = 31;
  D s = __builtin_convertvector(sum.significand, D) *
        powersOfTwo<N>(sum.exponent - exponent + (sumBits - productBits));
  D other = __builtin_convertvector(c, D) * powersOfTwo<N>(productBits - exponent);
  D sumCut = cutDown(s), otherCut = cutDown(other);
  if constexpr (is8Bit) { // A c that is so small does not count, not even if it is negative.
    I counts = exponentOfC >= exponent - (productBits + 1);
    otherCut = __builtin_convertvector(counts, WideIntegers<N>) ? otherCut : D(0);
  }
  // A sum of zero is positive.
  D total = sumCut + otherCut * double(1 << (sumBits - productBits)) + 0.0;
  // Exact, so that this rounds once.
  auto result = __builtin_convertvector(total * powersOfTwo<N>(exponent - sumBits), Floats<N>);
  I resultField = __builtin_bit_cast(I, result) >> 23 & 0xff;
  unusual |= (resultField == 255) | (sum.exponent >= 127);
  return result;
}

/// The same for one element of C, whatever its values.
template <unsigned M, unsigned group, bool is8Bit>
WAVETILE_INLINE float addAnyGroup(float c, const float (&a)[group], const float (&b)[group],
                                  const int32_t (&scales)[group],
                                  const Integers<4> (&products)[group],
                                  const Integers<4> (&exponents)[group]) {
  constexpr double limit = 0x1p128;
  double sum = c;
  bool positive = false, negative = false;
  for (unsigned i = 0; i < group; ++i) {
    double product = static_cast<double>(a[i]) * static_cast<double>(b[i]) * powerOfTwo(scales[i]);
    sum += product;
    positive |= product >= limit;
    negative |= product <= -limit;
  }
  if (isNaN(sum) | (positive & negative))
    return floatOf(FloatTraits<float>::defaultNaN);
  if (isInfinity(sum))
    return sum > 0 ? floatOf(0x7f800000) : floatOf(0xff800000);
  if (positive | negative)
    return positive ? floatOf(0x7f800000) : floatOf(0xff800000);
  Integers<4> ignored = 0;
  return addGroup<is8Bit, group, 4>(Floats<4>(c), products, exponents, ignored)[0];
}

/// c[M][M] += a[k][M] * b[k][M] for `depth` k. With `place` A is sparse, see `accumulateSparse`,
/// and B has `depthOfB`.
template <unsigned M, unsigned depth, unsigned depthOfB, unsigned wantedGroup>
struct HardwareProduct {
  static constexpr unsigned group = wantedGroup < depth ? wantedGroup : depth;
  static constexpr bool is8Bit = wantedGroup == 16, isSparse = depth != depthOfB;
  static constexpr unsigned N = M < 16 ? M : 16;

  Significands<M, depth> a;
  Significands<M, depthOfB> b;

  WAVETILE_INLINE static unsigned kOfB(const uint8_t *place, unsigned j, unsigned m) {
    return isSparse ? place[j * M + m] : j;
  }
  /// The products of a group: of N columns from n on, or of column n in each of the lanes.
  template <unsigned width, bool isRow>
  WAVETILE_INLINE void readGroup(const uint8_t *place, unsigned first, unsigned m, unsigned n,
                                 Integers<width> (&products)[group],
                                 Integers<width> (&exponents)[group]) const {
#pragma clang loop unroll(full)
    for (unsigned i = 0; i < group; ++i) {
      unsigned left = (first + i) * M + m, right = kOfB(place, first + i, m) * M + n;
      if constexpr (isRow) {
        products[i] = a.significand[left] * loadPiece<Integers<width>>(b.significand + right);
        exponents[i] = a.exponent[left] + loadPiece<Integers<width>>(b.exponent + right);
      } else {
        products[i] = a.significand[left] * b.significand[right];
        exponents[i] = a.exponent[left] + b.exponent[right];
      }
    }
  }
  WAVETILE_INLINE bool addUsual(const uint8_t *place, const float *c, float *result) const {
    Integers<N> unusual = 0;
    for (unsigned m = 0; m < M; ++m)
      for (unsigned n = 0; n < M; n += N) {
        auto sum = loadPiece<Floats<N>>(c + m * M + n);
        unusual |= (__builtin_bit_cast(Integers<N>, sum) >> 23 & 0xff) == 255;
        for (unsigned first = 0; first < depth; first += group) {
          Integers<N> products[group], exponents[group];
          readGroup<N, true>(place, first, m, n, products, exponents);
          sum = addGroup<is8Bit, group, N>(sum, products, exponents, unusual);
        }
        __builtin_memcpy(result + m * M + n, &sum, sizeof(sum));
      }
    return __builtin_reduce_or(unusual) == 0;
  }
  WAVETILE_INLINE void addUnusual(const HardwareInput &inputA, const HardwareInput &inputB,
                                  const uint8_t *place, float *c) const {
    for (unsigned m = 0; m < M; ++m)
      for (unsigned n = 0; n < M; ++n)
        for (unsigned first = 0; first < depth; first += group) {
          Integers<4> products[group], exponents[group];
          float left[group], right[group];
          int32_t scales[group];
          for (unsigned i = 0; i < group; ++i) {
            unsigned k = kOfB(place, first + i, m);
            left[i] = inputA.values[(first + i) * M + m];
            right[i] = inputB.values[k * M + n];
            scales[i] = (inputA.scales ? inputA.scales[(first + i) / 32 * M + m] : 0) +
                        (inputB.scales ? inputB.scales[k / 32 * M + n] : 0);
          }
          readGroup<4, false>(place, first, m, n, products, exponents);
          float &sum = c[m * M + n];
          sum = addAnyGroup<M, group, is8Bit>(sum, left, right, scales, products, exponents);
        }
  }

  /// Not inlined: formats share it.
  __attribute__((noinline)) static void
  add(const HardwareInput &inputA, const HardwareInput &inputB, const uint8_t *place, float *c) {
    HardwareProduct product;
    unsigned shift = productBits - inputA.fractionBits - inputB.fractionBits;
    bool usual = product.a.take(inputA, shift);
    usual &= product.b.take(inputB, 0);
    alignas(64) float result[M * M];
    if (usual && product.addUsual(place, c, result))
      __builtin_memcpy(c, result, sizeof(result));
    else
      product.addUnusual(inputA, inputB, place, c);
  }
};

} // namespace matrixproduct
} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_MATRIXHARDWARESUMS_H
