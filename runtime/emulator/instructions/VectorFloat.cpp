//===- VectorFloat.cpp - Vector f32 instructions --------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/instructions/Arithmetic.h"
#include "runtime/emulator/instructions/Division.h"
#include "runtime/emulator/instructions/Lanes.h"
#include "runtime/emulator/instructions/Tables.h"
#include "runtime/emulator/instructions/Transcendental.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace {

float WAVETILE_INLINE fraction(float x) {
  float result = x - host::floor(x);
  result = result >= 1.0f ? floatOf(0x3f7fffff) : result;
  return resultOr(result, x);
}
/// v_frexp: the exponent that makes the mantissa lie in [1/2, 1).
int32_t WAVETILE_INLINE mantissaExponent(float x) {
  double exact = x;
  int32_t exponent = exponentField(exact) - 1022;
  return isZero(x) | isInfinity(x) | isNaN(x) ? 0 : exponent;
}
float WAVETILE_INLINE mantissa(float x) {
  double exact = x;
  double scaled = doubleOf((bitsOf(exact) & 0x800fffffffffffff) | 0x3fe0000000000000);
  float result = static_cast<float>(scaled);
  result = isZero(x) | isInfinity(x) ? x : result;
  return isNaN(x) ? quieted(x) : result;
}
bool WAVETILE_INLINE isMajorZ(float x, float y, float z) {
  return (absolute(z) >= absolute(x)) & (absolute(z) >= absolute(y));
}
bool WAVETILE_INLINE isMajorY(float x, float y) { return absolute(y) >= absolute(x); }
/// The products of v_*_legacy_f32: zero times anything is zero.
float WAVETILE_INLINE legacyProduct(float a, float b) {
  return isZero(a) | isZero(b) ? 0.0f : multiply(a, b);
}

float WAVETILE_INLINE legacyFused(float a, float b, float c) {
  return isZero(a) | isZero(b) ? c : fusedMultiplyAdd(a, b, c);
}
/// v_mullit_f32: the product, or the smallest number where the specular exponent or the cosine does
/// not let it be.
float WAVETILE_INLINE lightingProduct(float a, float b, float c) {
  float smallest = floatOf(0xff7fffff);
  bool without = !(b > smallest) | !(c > 0.0f);
  return without ? smallest : multiply(a, b);
}

// What each operation is for usual values, and for all.
constexpr auto plainSum = [](float a, float b) { return a + b; };
constexpr auto sum = [](float a, float b) { return add(a, b); };
constexpr auto plainDifference = [](float a, float b) { return a - b; };
constexpr auto difference = [](float a, float b) { return subtract(a, b); };
constexpr auto plainProduct = [](float a, float b) { return a * b; };
constexpr auto product = [](float a, float b) { return multiply(a, b); };
constexpr auto plainFused = [](float a, float b, float c) {
  return host::fusedMultiplyAdd(a, b, c);
};
constexpr auto fused = [](float a, float b, float c) { return fusedMultiplyAdd(a, b, c); };
constexpr auto plainMinimum = [](float a, float b) { return pick<false>(a, b); };
constexpr auto minimum = [](Lane lane, float a, float b) { return minimumNumber(a, b, lane.mode); };
constexpr auto plainMaximum = [](float a, float b) { return pick<true>(a, b); };
constexpr auto maximum = [](Lane lane, float a, float b) { return maximumNumber(a, b, lane.mode); };

using Unary = F32(F32);
using Binary = F32(F32, F32);
using Ternary = F32(F32, F32, F32);

constexpr Instruction table[] = {
    arithmetic<ResultIsNumber, Binary>("v_add_f32", plainSum, sum),
    arithmetic<ResultIsNumber, Binary>("v_sub_f32", plainDifference, difference),
    arithmetic<ResultIsNumber, Binary>(
        "v_subrev_f32", [](float a, float b) { return b - a; },
        [](float a, float b) { return subtract(b, a); }),
    arithmetic<ResultIsNumber, Binary>("v_mul_f32", plainProduct, product),
    vector<Binary>("v_mul_legacy_f32 v_mul_dx9_zero_f32",
                   [](float a, float b) { return legacyProduct(a, b); }),
    arithmetic<ResultIsNumber, Ternary>("v_fma_f32", plainFused, fused),
    arithmetic<ResultIsNumber, Ternary>("v_fmac_f32", plainFused, fused).with(rowflag::accumulates),
    arithmetic<ResultIsNumber, Ternary>("v_fmaak_f32", plainFused, fused)
        .with(rowflag::literalThird),
    arithmetic<ResultIsNumber, Ternary>("v_fmamk_f32", plainFused, fused)
        .with(rowflag::literalSecond),
    vector<F32(Mixed, Mixed, Mixed)>("v_fma_mix_f32", fused),
    vector<Ternary>("v_fma_dx9_zero_f32",
                    [](float a, float b, float c) { return legacyFused(a, b, c); }),
    vector<Ternary>("v_fmac_dx9_zero_f32",
                    [](float a, float b, float c) { return legacyFused(a, b, c); })
        .with(rowflag::accumulates),
    vector<Ternary>("v_mullit_f32",
                    [](float a, float b, float c) { return lightingProduct(a, b, c); }),

    arithmetic<OperandsAreNumbers, Binary>("v_min_f32", plainMinimum, minimum),
    arithmetic<OperandsAreNumbers, Binary>("v_max_f32", plainMaximum, maximum),
    arithmetic<OperandsAreNumbers, Ternary>(
        "v_min3_f32", [](float a, float b, float c) { return pick<false>(pick<false>(a, b), c); },
        [](Lane lane, float a, float b, float c) {
          return minimumNumber(minimumNumber(a, b, lane.mode), c, lane.mode);
        }),
    arithmetic<OperandsAreNumbers, Ternary>(
        "v_max3_f32", [](float a, float b, float c) { return pick<true>(pick<true>(a, b), c); },
        [](Lane lane, float a, float b, float c) {
          return maximumNumber(maximumNumber(a, b, lane.mode), c, lane.mode);
        }),
    vector<Ternary>("v_med3_f32", [](Lane lane, float a, float b,
                                     float c) { return medianOfThree(a, b, c, lane.mode); }),
    vector<Ternary>("v_maxmin_f32",
                    [](Lane lane, float a, float b, float c) {
                      return minimumNumber(maximumNumber(a, b, lane.mode), c, lane.mode);
                    }),
    vector<Ternary>("v_minmax_f32",
                    [](Lane lane, float a, float b, float c) {
                      return maximumNumber(minimumNumber(a, b, lane.mode), c, lane.mode);
                    }),
    arithmetic<OperandsAreNumbers, Ternary>(
        "v_minimum3_f32",
        [](float a, float b, float c) { return pick<false>(pick<false>(a, b), c); },
        [](float a, float b, float c) { return extremum<false>(extremum<false>(a, b), c); }),
    arithmetic<OperandsAreNumbers, Ternary>(
        "v_maximum3_f32", [](float a, float b, float c) { return pick<true>(pick<true>(a, b), c); },
        [](float a, float b, float c) { return extremum<true>(extremum<true>(a, b), c); }),

    vector<F32(F32)>("v_floor_f32", [](float a) { return resultOr(host::floor(a), a); }),
    vector<F32(F32)>("v_ceil_f32", [](float a) { return resultOr(host::ceil(a), a); }),
    vector<F32(F32)>("v_trunc_f32", [](float a) { return resultOr(host::truncate(a), a); }),
    vector<F32(F32)>("v_rndne_f32", [](float a) { return resultOr(host::roundToEven(a), a); }),
    vector<F32(F32)>("v_fract_f32", [](float a) { return fraction(a); }),
    vector<F32(F32, I32)>("v_ldexp_f32", [](float a, int32_t b) { return scaleByPower(a, b); }),
    vector<F32(F32)>("v_frexp_mant_f32", [](float a) { return mantissa(a); }),
    vector<I32(F32)>("v_frexp_exp_i32_f32", [](float a) { return mantissaExponent(a); }),

    transcendental<F32(F32)>("v_rcp_f32", [](float a) { return reciprocal(a); }),
    transcendental<F32(F32)>("v_rcp_iflag_f32", [](float a) { return reciprocal(a); }),
    transcendental<F32(F32)>("v_rsq_f32", [](float a) { return reciprocalSquareRoot(a); }),
    transcendental<F32(F32)>("v_sqrt_f32", [](float a) { return squareRoot(a); }),
    transcendental<F32(F32)>("v_exp_f32", [](float a) { return exp2Float(a); }),
    transcendental<F32(F32)>("v_log_f32", [](float a) { return log2Float(a); }),
    transcendental<F32(F32)>("v_sin_f32", [](float a) { return sineOfTurns(a, 0.0); }),
    transcendental<F32(F32)>("v_cos_f32", [](float a) { return sineOfTurns(a, 0.25); }),

    transcendental<F32(F32)>("v_exp_legacy_f32", [](float a) { return exp2Float(a); }),
    transcendental<F32(F32)>("v_log_legacy_f32", [](float a) { return log2Float(a); }),

    // Cube maps: the face, the coordinates on it, and twice the major axis.
    vector<Ternary>("v_cubeid_f32",
                    [](float x, float y, float z) {
                      float ofX = x < 0 ? 1.0f : 0.0f, ofY = y < 0 ? 3.0f : 2.0f;
                      return isMajorZ(x, y, z) ? (z < 0 ? 5.0f : 4.0f) : isMajorY(x, y) ? ofY : ofX;
                    }),
    vector<Ternary>("v_cubesc_f32",
                    [](float x, float y, float z) {
                      float ofZ = z < 0 ? -x : x, ofX = x < 0 ? z : -z;
                      float result = isMajorZ(x, y, z) ? ofZ : isMajorY(x, y) ? x : ofX;
                      return resultOr(result, result);
                    }),
    vector<Ternary>("v_cubetc_f32",
                    [](float x, float y, float z) {
                      float ofY = y < 0 ? -z : z;
                      float result = isMajorZ(x, y, z) ? -y : isMajorY(x, y) ? ofY : -y;
                      return resultOr(result, result);
                    }),
    vector<Ternary>("v_cubema_f32",
                    [](float x, float y, float z) {
                      return 2.0f * (isMajorZ(x, y, z) ? z : isMajorY(x, y) ? y : x);
                    }),

    vector<WithMask<F32>(F32, F32, F32)>("v_div_scale_f32",
                                         [](float value, float denominator, float numerator) {
                                           return divisionScale(value, denominator, numerator);
                                         }),
    vector<F32(F32, F32, F32, MaskBit)>("v_div_fmas_f32",
                                        [](Lane lane, float a, float b, float c, bool scaled) {
                                          return divisionMultiplyAdd(a, b, c, scaled,
                                                                     lane.mode.rounding32);
                                        }),
    vector<F32(F32, F32, F32)>("v_div_fixup_f32",
                               [](float quotient, float denominator, float numerator) {
                                 return divisionFixup(quotient, denominator, numerator);
                               }),
};

} // namespace

InstructionRows vectorFloat() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
