//===- VectorHalf.cpp - Vector f16 and bf16 instructions ------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// f16 values are computed with as f32, which is exact for operations that round once more at the
// end; fused operations take the longer way of `halfFusedMultiplyAdd`.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/instructions/Lanes.h"
#include "runtime/emulator/instructions/Tables.h"
#include "runtime/emulator/instructions/Transcendental.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace {

constexpr auto fused = [](Lane lane, float a, float b, float c) {
  return halfFusedMultiplyAdd(a, b, c, lane.mode.rounding16_64);
};

float WAVETILE_INLINE fraction(float x) {
  float result = x - host::floor(x);
  // The largest f16 below 1.
  result = result >= 0.99975586f ? 0.99951171875f : result;
  return resultOr(result, x);
}
float WAVETILE_INLINE divisionFixupHalf(float quotient, float denominator, float numerator) {
  bool negative = isNegative(denominator) != isNegative(numerator);
  float infinity = withSign(floatOf(0x7f800000), negative), zero = withSign(0.0f, negative);
  float invalid = floatOf(0xffc00000);
  float result = withSign(quotient, negative);
  result = isInfinity(denominator) | isZero(numerator) ? zero : result;
  result = isZero(denominator) | isInfinity(numerator) ? infinity : result;
  result = isInfinity(denominator) & isInfinity(numerator) ? invalid : result;
  result = isZero(denominator) & isZero(numerator) ? invalid : result;
  result = isNaN(denominator) ? quieted(denominator) : result;
  return isNaN(numerator) ? quieted(numerator) : result;
}

/// v_mad and v_mac round the product, too.
constexpr auto unfused = [](float a, float b, float c) {
  return add(fromHalf(halfFrom(multiply(a, b))), c);
};
/// v_frexp of f16, whose denormals are normal in f32.
int16_t WAVETILE_INLINE mantissaExponent(float x) {
  return static_cast<int16_t>(isZero(x) | isInfinity(x) | isNaN(x) ? 0 : exponentField(x) - 126);
}
float WAVETILE_INLINE mantissa(float x) {
  float scaled = floatOf((bitsOf(x) & 0x807fffff) | 0x3f000000);
  float result = isZero(x) | isInfinity(x) ? x : scaled;
  return isNaN(x) ? quieted(x) : result;
}

constexpr Instruction table[] = {
    vector<F16(F16, F16, F16)>("v_mad_f16@cdna", unfused).with(rowflag::keepsHalf),
    vector<F16(F16, F16, F16)>("v_mad_legacy_f16", unfused),
    vector<F16(F16, F16, F16)>("v_mac_f16", unfused)
        .with(rowflag::accumulates | rowflag::keepsHalf),
    vector<F16(F16, F16, F16)>("v_madak_f16", unfused)
        .with(rowflag::literalThird | rowflag::keepsHalf),
    vector<F16(F16, F16, F16)>("v_madmk_f16", unfused)
        .with(rowflag::literalSecond | rowflag::keepsHalf),
    vector<F16(F16, F16, F16)>("v_fma_f16@cdna", fused).with(rowflag::keepsHalf),
    vector<F16(F16, F16, F16)>("v_fma_legacy_f16", fused),
    vector<F16(F16, F16, F16)>("v_div_fixup_f16@cdna",
                               [](float a, float b, float c) { return divisionFixupHalf(a, b, c); })
        .with(rowflag::keepsHalf),
    vector<F16(F16, F16, F16)>(
        "v_div_fixup_legacy_f16",
        [](float a, float b, float c) { return divisionFixupHalf(a, b, c); }),
    vector<I16(F16)>("v_frexp_exp_i16_f16", [](float a) { return mantissaExponent(a); }),
    vector<F16(F16)>("v_frexp_mant_f16", [](float a) { return mantissa(a); }),
    vector<F16(F16, F16)>("v_add_f16", [](float a, float b) { return add(a, b); }),
    vector<F16(F16, F16)>("v_sub_f16", [](float a, float b) { return subtract(a, b); }),
    vector<F16(F16, F16)>("v_subrev_f16", [](float a, float b) { return subtract(b, a); }),
    vector<F16(F16, F16)>("v_mul_f16", [](float a, float b) { return multiply(a, b); }),
    vector<F16(F16, F16, F16)>("v_fma_f16", fused),
    vector<F16(F16, F16, F16)>("v_fmac_f16", fused).with(rowflag::accumulates),
    vector<F16(F16, F16, F16)>("v_fmaak_f16", fused).with(rowflag::literalThird),
    vector<F16(F16, F16, F16)>("v_fmamk_f16", fused).with(rowflag::literalSecond),
    vector<F16(Mixed, Mixed, Mixed)>(
        "v_fma_mixlo_f16", [](float a, float b, float c) { return fusedMultiplyAdd(a, b, c); })
        .with(rowflag::keepsHalf),
    vector<F16(Mixed, Mixed, Mixed)>(
        "v_fma_mixhi_f16", [](float a, float b, float c) { return fusedMultiplyAdd(a, b, c); })
        .with(rowflag::keepsHalf | rowflag::writesHigh),

    vector<F16(F16, F16)>(
        "v_min_f16", [](Lane lane, float a, float b) { return minimumNumber(a, b, lane.mode); }),
    vector<F16(F16, F16)>(
        "v_max_f16", [](Lane lane, float a, float b) { return maximumNumber(a, b, lane.mode); }),
    vector<F16(F16, F16, F16)>("v_min3_f16",
                               [](Lane lane, float a, float b, float c) {
                                 return minimumNumber(minimumNumber(a, b, lane.mode), c, lane.mode);
                               }),
    vector<F16(F16, F16, F16)>("v_max3_f16",
                               [](Lane lane, float a, float b, float c) {
                                 return maximumNumber(maximumNumber(a, b, lane.mode), c, lane.mode);
                               }),
    vector<F16(F16, F16, F16)>(
        "v_med3_f16",
        [](Lane lane, float a, float b, float c) { return medianOfThree(a, b, c, lane.mode); }),
    vector<F16(F16, F16, F16)>("v_maxmin_f16",
                               [](Lane lane, float a, float b, float c) {
                                 return minimumNumber(maximumNumber(a, b, lane.mode), c, lane.mode);
                               }),
    vector<F16(F16, F16, F16)>("v_minmax_f16",
                               [](Lane lane, float a, float b, float c) {
                                 return maximumNumber(minimumNumber(a, b, lane.mode), c, lane.mode);
                               }),
    vector<F16(F16)>("v_floor_f16", [](float a) { return resultOr(host::floor(a), a); }),
    vector<F16(F16)>("v_ceil_f16", [](float a) { return resultOr(host::ceil(a), a); }),
    vector<F16(F16)>("v_trunc_f16", [](float a) { return resultOr(host::truncate(a), a); }),
    vector<F16(F16)>("v_rndne_f16", [](float a) { return resultOr(host::roundToEven(a), a); }),
    vector<F16(F16)>("v_fract_f16", [](float a) { return fraction(a); }),
    vector<F16(F16, I16)>("v_ldexp_f16",
                          [](float a, int16_t b) {
                            int n = b < -60 ? -60 : b > 60 ? 60 : b;
                            return resultOr(a * static_cast<float>(powerOfTwo(n)), a);
                          }),
    transcendental<F16(F16)>("v_rcp_f16", [](float a) { return resultOr(1.0f / a, a); }),
    transcendental<F16(F16)>("v_rsq_f16", [](float a) { return reciprocalSquareRoot(a); }),
    transcendental<F16(F16)>("v_sqrt_f16", [](float a) { return squareRoot(a); }),
    transcendental<F16(F16)>("v_exp_f16", [](float a) { return exp2Float(a); }),
    transcendental<F16(F16)>("v_log_f16", [](float a) { return log2Float(a); }),
    transcendental<F16(F16)>("v_sin_f16", [](float a) { return sineOfTurns(a, 0.0); }),
    transcendental<F16(F16)>("v_cos_f16", [](float a) { return sineOfTurns(a, 0.25); }),
    vector<F16(F16, F16, F16)>(
        "v_div_fixup_f16", [](float a, float b, float c) { return divisionFixupHalf(a, b, c); }),
};

} // namespace

InstructionRows vectorHalf() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
