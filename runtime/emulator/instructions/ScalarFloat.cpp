//===- ScalarFloat.cpp - Scalar floating-point instructions (gfx1150) -----===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/instructions/Extrema.h"
#include "runtime/emulator/instructions/Scalars.h"
#include "runtime/emulator/instructions/Tables.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
using namespace scalarops;
namespace {

uint32_t WAVETILE_INLINE half(float x) { return halfFrom(x); }
float WAVETILE_INLINE quietFromHalf(uint32_t bits) {
  float value = fromHalf(bits);
  return isNaN(value) ? quieted(value) : value;
}

#define COMPARE(NAME, EXPRESSION)                                                                  \
  scalar<void(F32, F32)>("s_cmp_" NAME "_f32",                                                     \
                         [](Scc &scc, float a, float b) { scc = EXPRESSION; }),                    \
      scalar<void(H16, H16)>("s_cmp_" NAME "_f16", [](Scc &scc, uint32_t x, uint32_t y) {          \
        float a = fromHalf(x), b = fromHalf(y);                                                    \
        scc = EXPRESSION;                                                                          \
      })

/// f16 as its bits; the high half of a result is 0.
struct HalfBits {
  using Value = Float16;
  static constexpr Type type = Type::F16;
  WAVETILE_INLINE static Float16 load(const Wave &wave, Operand operand) {
    return {static_cast<uint16_t>(wave.read32(operand))};
  }
  WAVETILE_INLINE static void store(Wave &wave, Operand operand, Float16 value) {
    wave.scalars[operand.index()] = value.bits;
  }
};
/// gfx12: s_min_num and s_minimum, and their maxima.
// Template arguments cannot be in parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define SCALAR_2019(SUFFIX, TYPE, FUNCTION)                                                        \
  scalar<TYPE(TYPE, TYPE)>(                                                                        \
      "s_min" SUFFIX,                                                                              \
      [](const Mode &mode, TYPE::Value a, TYPE::Value b) { return FUNCTION<false>(a, b, mode); }), \
      scalar<TYPE(TYPE, TYPE)>("s_max" SUFFIX,                                                     \
                               [](const Mode &mode, TYPE::Value a, TYPE::Value b) {                \
                                 return FUNCTION<true>(a, b, mode);                                \
                               })
// NOLINTEND(bugprone-macro-parentheses)
#define HALF_ROUNDING(NAME, FUNCTION)                                                              \
  scalar<H16(H16)>(NAME, [](uint32_t x) {                                                          \
    float a = fromHalf(x);                                                                         \
    return half(resultOr(FUNCTION(a), a));                                                         \
  })

constexpr auto fused = [](float a, float b, float c) { return fusedMultiplyAdd(a, b, c); };

constexpr Instruction table[] = {
    scalar<F32(F32, F32)>("s_add_f32", [](float a, float b) { return add(a, b); }),
    scalar<F32(F32, F32)>("s_sub_f32", [](float a, float b) { return subtract(a, b); }),
    scalar<F32(F32, F32)>("s_mul_f32", [](float a, float b) { return multiply(a, b); }),
    scalar<F32(F32, F32)>(
        "s_min_f32", [](const Mode &mode, float a, float b) { return minimumNumber(a, b, mode); }),
    scalar<F32(F32, F32)>(
        "s_max_f32", [](const Mode &mode, float a, float b) { return maximumNumber(a, b, mode); }),
    SCALAR_2019("_num_f32", F32, extremumNumber2019),
    SCALAR_2019("imum_f32", F32, extremum2019),
    SCALAR_2019("_num_f16", HalfBits, extremumNumber2019),
    SCALAR_2019("imum_f16", HalfBits, extremum2019),
    HALF_ROUNDING("s_floor_f16", host::floor),
    HALF_ROUNDING("s_ceil_f16", host::ceil),
    HALF_ROUNDING("s_trunc_f16", host::truncate),
    HALF_ROUNDING("s_rndne_f16", host::roundToEven),
    scalar<F32(F32, F32, F32)>("s_fmac_f32", fused).with(rowflag::destinationIsSource),
    scalar<F32(F32, F32, F32)>("s_fmaak_f32", fused).with(rowflag::literalThird),
    scalar<F32(F32, F32, F32)>("s_fmamk_f32", fused).with(rowflag::literalSecond),
    scalar<F32(F32)>("s_floor_f32", [](float a) { return resultOr(host::floor(a), a); }),
    scalar<F32(F32)>("s_ceil_f32", [](float a) { return resultOr(host::ceil(a), a); }),
    scalar<F32(F32)>("s_trunc_f32", [](float a) { return resultOr(host::truncate(a), a); }),
    scalar<F32(F32)>("s_rndne_f32", [](float a) { return resultOr(host::roundToEven(a), a); }),
    scalar<F32(I32)>("s_cvt_f32_i32", [](int32_t a) { return static_cast<float>(a); }),
    scalar<F32(U32)>("s_cvt_f32_u32", [](uint32_t a) { return static_cast<float>(a); }),
    scalar<I32(F32)>("s_cvt_i32_f32", [](float a) { return saturatedInteger<int32_t>(a); }),
    scalar<U32(F32)>("s_cvt_u32_f32", [](float a) { return saturatedInteger<uint32_t>(a); }),
    scalar<U32(F32)>("s_cvt_f16_f32", [](float a) { return half(a); }),
    scalar<F32(H16)>("s_cvt_f32_f16", [](uint32_t a) { return quietFromHalf(a); }),
    scalar<F32(U32)>("s_cvt_hi_f32_f16", [](uint32_t a) { return quietFromHalf(a >> 16); }),
    scalar<U32(F32, F32)>(
        "s_cvt_pk_rtz_f16_f32",
        [](float a, float b) { return halfTowardZero(a) | uint32_t(halfTowardZero(b)) << 16; }),
    scalar<H16(H16, H16)>(
        "s_add_f16", [](uint32_t a, uint32_t b) { return half(add(fromHalf(a), fromHalf(b))); }),
    scalar<H16(H16, H16)>(
        "s_sub_f16",
        [](uint32_t a, uint32_t b) { return half(subtract(fromHalf(a), fromHalf(b))); }),
    scalar<H16(H16, H16)>(
        "s_mul_f16",
        [](uint32_t a, uint32_t b) { return half(multiply(fromHalf(a), fromHalf(b))); }),
    scalar<H16(H16, H16)>("s_min_f16",
                          [](const Mode &mode, uint32_t a, uint32_t b) {
                            return half(minimumNumber(fromHalf(a), fromHalf(b), mode));
                          }),
    scalar<H16(H16, H16)>("s_max_f16",
                          [](const Mode &mode, uint32_t a, uint32_t b) {
                            return half(maximumNumber(fromHalf(a), fromHalf(b), mode));
                          }),
    scalar<H16(H16, H16, H16)>("s_fmac_f16",
                               [](uint32_t a, uint32_t b, uint32_t c) {
                                 return half(
                                     halfFusedMultiplyAdd(fromHalf(a), fromHalf(b), fromHalf(c)));
                               })
        .with(rowflag::destinationIsSource),

    COMPARE("lt", a < b),
    COMPARE("eq", a == b),
    COMPARE("le", a <= b),
    COMPARE("gt", a > b),
    COMPARE("lg", a<b || a> b),
    COMPARE("ge", a >= b),
    COMPARE("o", a == a && b == b),
    COMPARE("u", a != a || b != b),
    COMPARE("nge", !(a >= b)),
    COMPARE("nlg", !(a < b || a > b)),
    COMPARE("ngt", !(a > b)),
    COMPARE("nle", !(a <= b)),
    COMPARE("neq", !(a == b)),
    COMPARE("nlt", !(a < b)),
};

} // namespace

InstructionRows scalarFloat() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
