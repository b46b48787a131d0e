//===- VectorDouble.cpp - Vector f64 instructions -------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/instructions/Division.h"
#include "runtime/emulator/instructions/Lanes.h"
#include "runtime/emulator/instructions/Tables.h"
#include "runtime/emulator/instructions/Transcendental.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace {

double WAVETILE_INLINE fraction(double x) {
  double result = x - host::floor(x);
  result = result >= 1.0 ? doubleOf(0x3fefffffffffffff) : result;
  return resultOr(result, x);
}
int32_t WAVETILE_INLINE mantissaExponent(double x) {
  double normal = isDenormal(x) ? x * powerOfTwo(64) : x;
  int32_t exponent = exponentField(normal) - 1022 - (isDenormal(x) ? 64 : 0);
  return isZero(x) | isInfinity(x) | isNaN(x) ? 0 : exponent;
}
double WAVETILE_INLINE mantissa(double x) {
  double normal = isDenormal(x) ? x * powerOfTwo(64) : x;
  double scaled = doubleOf((bitsOf(normal) & 0x800fffffffffffff) | 0x3fe0000000000000);
  double result = isZero(x) | isInfinity(x) ? x : scaled;
  return isNaN(x) ? quieted(x) : result;
}

/// The first 1201 bits of 2 / pi, the first of a word being its highest.
constexpr unsigned twoOverPiBits = 1201;
constexpr uint64_t twoOverPi[] = {
    0xa2f9836e4e441529,
    0xfc2757d1f534ddc0,
    0xdb6295993c439041,
    0xfe5163abdebbc561,
    0xb7246e3a424dd2e0,
    0x06492eea09d1921c,
    0xfe1deb1cb129a73e,
    0xe88235f52ebb4484,
    0xe99c7026b45f7e41,
    0x3991d639835339f4,
    0x9c845f8bbdf9283b,
    0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f,
    0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08,
    0x56033046fc7b0000,
    0,
    0, // So that what begins within can be read as a whole.
};
/// v_trig_preop_f64: the 53 bits of 2 / pi at the place that the segment's number and the exponent
/// of \p x choose, as a number; for the largest x times 2^128, as x is to be scaled down itself.
double trigonometricSegment(double x, uint32_t segment) {
  int32_t exponent = exponentField(x);
  uint32_t first = (segment & 31) * 53;
  first += exponent > 1077 ? static_cast<uint32_t>(exponent - 1077) : 0;
  if (first >= twoOverPiBits)
    return 0.0;
  const uint64_t *word = twoOverPi + first / 64;
  unsigned shift = first % 64;
  uint64_t bits = word[0] << shift | (shift ? word[1] >> (64 - shift) : 0);
  int32_t scale = -53 - static_cast<int32_t>(first) + (exponent >= 1968 ? 128 : 0);
  return scaleByPower(static_cast<double>(bits >> 11), scale);
}

constexpr auto fused = [](double a, double b, double c) { return fusedMultiplyAdd(a, b, c); };

constexpr Instruction table[] = {
    vector<F64(F64, F64)>("v_add_f64", [](double a, double b) { return add(a, b); }),
    vector<F64(F64, F64)>("v_mul_f64", [](double a, double b) { return multiply(a, b); }),
    vector<F64(F64, F64, F64)>("v_fma_f64", fused),
    vector<F64(F64, F64, F64)>("v_fmac_f64", fused).with(rowflag::accumulates),
    vector<F64(F64, F64)>(
        "v_min_f64", [](Lane lane, double a, double b) { return minimumNumber(a, b, lane.mode); }),
    vector<F64(F64, F64)>(
        "v_max_f64", [](Lane lane, double a, double b) { return maximumNumber(a, b, lane.mode); }),
    vector<F64(F64)>("v_floor_f64", [](double a) { return resultOr(host::floor(a), a); }),
    vector<F64(F64)>("v_ceil_f64", [](double a) { return resultOr(host::ceil(a), a); }),
    vector<F64(F64)>("v_trunc_f64", [](double a) { return resultOr(host::truncate(a), a); }),
    vector<F64(F64)>("v_rndne_f64", [](double a) { return resultOr(host::roundToEven(a), a); }),
    vector<F64(F64)>("v_fract_f64", [](double a) { return fraction(a); }),
    vector<F64(F64, I32)>("v_ldexp_f64", [](double a, int32_t b) { return scaleByPower(a, b); }),
    vector<F64(F64, I32)>(
        "v_trig_preop_f64",
        [](double a, int32_t b) { return trigonometricSegment(a, static_cast<uint32_t>(b)); }),
    vector<F64(F64)>("v_frexp_mant_f64", [](double a) { return mantissa(a); }),
    vector<I32(F64)>("v_frexp_exp_i32_f64", [](double a) { return mantissaExponent(a); }),
    transcendental<F64(F64)>("v_rcp_f64", [](double a) { return reciprocal(a); }),
    // A root and a division, each rounded.
    transcendental<F64(F64)>("v_rsq_f64", [](double a) { return reciprocalSquareRoot(a); })
        .within(2),
    transcendental<F64(F64)>("v_sqrt_f64", [](double a) { return squareRoot(a); }),
    vector<WithMask<F64>(F64, F64, F64)>("v_div_scale_f64",
                                         [](double value, double denominator, double numerator) {
                                           return divisionScale(value, denominator, numerator);
                                         }),
    vector<F64(F64, F64, F64, MaskBit)>("v_div_fmas_f64",
                                        [](double a, double b, double c, bool scaled) {
                                          return divisionMultiplyAdd(a, b, c, scaled);
                                        }),
    vector<F64(F64, F64, F64)>("v_div_fixup_f64",
                               [](double quotient, double denominator, double numerator) {
                                 return divisionFixup(quotient, denominator, numerator);
                               }),
};

} // namespace

InstructionRows vectorDouble() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
