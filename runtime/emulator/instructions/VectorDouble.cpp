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
    vector<F64(F64)>("v_frexp_mant_f64", [](double a) { return mantissa(a); }),
    vector<I32(F64)>("v_frexp_exp_i32_f64", [](double a) { return mantissaExponent(a); }),
    transcendental<F64(F64)>("v_rcp_f64", [](double a) { return reciprocal(a); }),
    transcendental<F64(F64)>("v_rsq_f64", [](double a) { return reciprocalSquareRoot(a); }),
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
