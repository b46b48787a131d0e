//===- VectorConvert.cpp - Vector conversions -----------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/instructions/Float8.h"
#include "runtime/emulator/instructions/Lanes.h"
#include "runtime/emulator/instructions/Tables.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace {

/// By integer operations: what the host makes of an unsigned number without an instruction for it
/// gives -0 for 0 when it rounds down, and LLVM takes any other spelling for that one.
double WAVETILE_INLINE doubleFrom(uint32_t x) {
  uint32_t zeros = static_cast<uint32_t>(__builtin_clz(x | 1));
  uint64_t fraction = static_cast<uint64_t>(x) << (zeros + 32) << 1 >> 12;
  uint64_t bits = static_cast<uint64_t>(1023 + 31 - zeros) << 52 | fraction;
  return doubleOf(x == 0 ? 0 : bits);
}

uint32_t WAVETILE_INLINE pair(uint32_t low, uint32_t high) { return (low & 0xffff) | high << 16; }
int32_t WAVETILE_INLINE clamped(int32_t x, int32_t low, int32_t high) {
  return x < low ? low : x > high ? high : x;
}
/// [-1, 1] or [0, 1] to the integers of a normalised 16-bit format. Rounded once: the product is
/// exact.
int32_t WAVETILE_INLINE normalised(float x, double largest, bool isSigned) {
  float low = isSigned ? -1.0f : 0.0f;
  float in = isNaN(x) ? 0.0f : x < low ? low : x > 1.0f ? 1.0f : x;
  return static_cast<int32_t>(host::roundToEven(static_cast<double>(in) * largest));
}

/// Conversions between f32 and a pair of 8-bit formats; the names are the same for both formats.
#define FLOAT8_CONVERSIONS(NAME, FEATURE, FORMAT)                                                  \
  vector<F32(U32)>(                                                                                \
      "v_cvt_f32_" NAME FEATURE,                                                                   \
      [](Lane lane, uint32_t a) { return fromFloat8<FORMAT>(a >> (8 * (lane.variant & 3))); })     \
      .with(rowflag::byteSelect),                                                                  \
      vector<PackedF32(U16)>("v_cvt_pk_f32_" NAME FEATURE,                                         \
                             [](uint16_t a) {                                                      \
                               return FloatPair{fromFloat8<FORMAT>(a),                             \
                                                fromFloat8<FORMAT>(a >> 8)};                       \
                             }),                                                                   \
      vector<U16(F32, F32)>("v_cvt_pk_" NAME "_f32" FEATURE, [](float a, float b) {                \
        return static_cast<uint16_t>(toFloat8<FORMAT>(a) | toFloat8<FORMAT>(b) << 8);              \
      }).with(rowflag::keepsHalf)

constexpr Instruction table[] = {
    // Between f32 and integers.
    vector<F32(I32)>("v_cvt_f32_i32", [](int32_t a) { return static_cast<float>(a); }),
    vector<F32(U32)>("v_cvt_f32_u32", [](uint32_t a) { return static_cast<float>(doubleFrom(a)); }),
    vector<I32(F32)>("v_cvt_i32_f32", [](float a) { return saturatedInteger<int32_t>(a); }),
    vector<U32(F32)>("v_cvt_u32_f32", [](float a) { return saturatedInteger<uint32_t>(a); }),
    vector<I32(F32)>("v_cvt_rpi_i32_f32 v_cvt_nearest_i32_f32",
                     [](float a) { return saturatedInteger<int32_t>(host::floor(a + 0.5)); }),
    vector<I32(F32)>("v_cvt_flr_i32_f32 v_cvt_floor_i32_f32",
                     [](float a) { return saturatedInteger<int32_t>(host::floor(a)); }),
    vector<F32(U32)>("v_cvt_f32_ubyte0",
                     [](uint32_t a) { return static_cast<float>(int32_t(a & 0xff)); }),
    vector<F32(U32)>("v_cvt_f32_ubyte1",
                     [](uint32_t a) { return static_cast<float>(int32_t(a >> 8 & 0xff)); }),
    vector<F32(U32)>("v_cvt_f32_ubyte2",
                     [](uint32_t a) { return static_cast<float>(int32_t(a >> 16 & 0xff)); }),
    vector<F32(U32)>("v_cvt_f32_ubyte3",
                     [](uint32_t a) { return static_cast<float>(int32_t(a >> 24)); }),

    // f64.
    vector<F64(F32)>("v_cvt_f64_f32",
                     [](float a) {
                       // The payload moves up; what the host would do is not relied on.
                       uint64_t nan = (uint64_t(bitsOf(a) & 0x80000000) << 32) |
                                      0x7ff8000000000000 | uint64_t(bitsOf(a) & 0x7fffff) << 29;
                       double value = a;
                       return isNaN(a) ? doubleOf(nan) : value;
                     }),
    vector<F32(F64)>("v_cvt_f32_f64",
                     [](double a) {
                       uint32_t nan = static_cast<uint32_t>(bitsOf(a) >> 32 & 0x80000000) |
                                      0x7fc00000 |
                                      static_cast<uint32_t>(bitsOf(a) >> 29 & 0x7fffff);
                       float value = static_cast<float>(a);
                       return isNaN(a) ? floatOf(nan) : value;
                     }),
    vector<F64(I32)>("v_cvt_f64_i32", [](int32_t a) { return static_cast<double>(a); }),
    vector<F64(U32)>("v_cvt_f64_u32", [](uint32_t a) { return doubleFrom(a); }),
    vector<I32(F64)>("v_cvt_i32_f64", [](double a) { return saturatedInteger<int32_t>(a); }),
    vector<U32(F64)>("v_cvt_u32_f64", [](double a) { return saturatedInteger<uint32_t>(a); }),

    // f16.
    vector<F16(F32)>("v_cvt_f16_f32", [](float a) { return a; }),
    vector<F32(F16)>("v_cvt_f32_f16", [](float a) { return isNaN(a) ? quieted(a) : a; }),
    vector<F16(I16)>("v_cvt_f16_i16", [](int16_t a) { return static_cast<float>(a); }),
    vector<F16(U16)>("v_cvt_f16_u16", [](uint16_t a) { return static_cast<float>(a); }),
    vector<I16(F16)>("v_cvt_i16_f16",
                     [](float a) {
                       return static_cast<int16_t>(
                           clamped(saturatedInteger<int32_t>(a), -32768, 32767));
                     }),
    vector<U16(F16)>("v_cvt_u16_f16",
                     [](float a) {
                       return static_cast<uint16_t>(
                           clamped(saturatedInteger<int32_t>(a), 0, 65535));
                     }),
    vector<U32(F32, F32)>(
        "v_cvt_pkrtz_f16_f32 v_cvt_pk_rtz_f16_f32",
        [](float a, float b) { return pair(halfTowardZero(a), halfTowardZero(b)); }),
    vector<U32(F32, F32)>("v_cvt_pk_f16_f32",
                          [](float a, float b) { return pair(halfFrom(a), halfFrom(b)); }),
    vector<I32(I16)>("v_cvt_i32_i16", [](int16_t a) -> int32_t { return a; }),
    vector<U32(U16)>("v_cvt_u32_u16", [](uint16_t a) -> uint32_t { return a; }),

    // bf16.
    vector<U32(F32, F32)>("v_cvt_pk_bf16_f32",
                          [](float a, float b) { return pair(bfloat16From(a), bfloat16From(b)); }),
    vector<F32(BitsBF16)>("v_cvt_f32_bf16",
                          [](uint16_t a) {
                            float value = fromBFloat16(a);
                            return isNaN(value) ? quieted(value) : value;
                          }),

    // Packed integers.
    vector<U32(I32, I32)>("v_cvt_pk_i16_i32",
                          [](int32_t a, int32_t b) {
                            return pair(uint32_t(clamped(a, -32768, 32767)),
                                        uint32_t(clamped(b, -32768, 32767)));
                          }),
    vector<U32(U32, U32)>(
        "v_cvt_pk_u16_u32",
        [](uint32_t a, uint32_t b) { return pair(a > 65535 ? 65535 : a, b > 65535 ? 65535 : b); }),
    vector<U32(F32, F32)>("v_cvt_pk_i16_f32",
                          [](float a, float b) {
                            return pair(
                                uint32_t(clamped(saturatedInteger<int32_t>(a), -32768, 32767)),
                                uint32_t(clamped(saturatedInteger<int32_t>(b), -32768, 32767)));
                          }),
    vector<U32(F32, F32)>("v_cvt_pk_u16_f32",
                          [](float a, float b) {
                            return pair(uint32_t(clamped(saturatedInteger<int32_t>(a), 0, 65535)),
                                        uint32_t(clamped(saturatedInteger<int32_t>(b), 0, 65535)));
                          }),
    vector<U32(F32, F32)>("v_cvt_pknorm_i16_f32 v_cvt_pk_norm_i16_f32",
                          [](float a, float b) {
                            return pair(uint32_t(normalised(a, 32767, true)),
                                        uint32_t(normalised(b, 32767, true)));
                          }),
    vector<U32(F32, F32)>("v_cvt_pknorm_u16_f32 v_cvt_pk_norm_u16_f32",
                          [](float a, float b) {
                            return pair(uint32_t(normalised(a, 65535, false)),
                                        uint32_t(normalised(b, 65535, false)));
                          }),
    vector<U32(F32, U32, U32)>("v_cvt_pk_u8_f32",
                               [](float a, uint32_t b, uint32_t c) {
                                 uint32_t byte = uint32_t(clamped(
                                     saturatedInteger<int32_t>(host::roundAsSet(a)), 0, 255));
                                 uint32_t shift = 8 * (b & 3);
                                 return (c & ~(0xffu << shift)) | byte << shift;
                               }),

    vector<U32(F32, U32, U32)>("v_cvt_pkaccum_u8_f32",
                               [](float a, uint32_t b, uint32_t old) {
                                 uint32_t byte = uint32_t(clamped(
                                     saturatedInteger<int32_t>(host::roundAsSet(a)), 0, 255));
                                 uint32_t shift = 8 * (b & 3);
                                 return (old & ~(0xffu << shift)) | byte << shift;
                               })
        .with(rowflag::accumulates),
    vector<I16(F16)>("v_cvt_norm_i16_f16",
                     [](float a) { return static_cast<int16_t>(normalised(a, 32767, true)); }),
    vector<U16(F16)>("v_cvt_norm_u16_f16",
                     [](float a) { return static_cast<uint16_t>(normalised(a, 65535, false)); }),
    vector<U32(F16, F16)>("v_cvt_pknorm_i16_f16 v_cvt_pk_norm_i16_f16",
                          [](float a, float b) {
                            return pair(uint32_t(normalised(a, 32767, true)),
                                        uint32_t(normalised(b, 32767, true)));
                          }),
    vector<U32(F16, F16)>("v_cvt_pknorm_u16_f16 v_cvt_pk_norm_u16_f16",
                          [](float a, float b) {
                            return pair(uint32_t(normalised(a, 65535, false)),
                                        uint32_t(normalised(b, 65535, false)));
                          }),
    // A signed 4-bit number of sixteenths.
    vector<F32(U32)>("v_cvt_off_f32_i4",
                     [](uint32_t a) {
                       return static_cast<float>(static_cast<int32_t>(a << 28) >> 28) * 0.0625f;
                     }),

    // 8-bit floats.
    FLOAT8_CONVERSIONS("fp8", "@ocp", Fp8Ocp),
    FLOAT8_CONVERSIONS("bf8", "@ocp", Bf8Ocp),
    FLOAT8_CONVERSIONS("fp8", "@fnuz", Fp8Fnuz),
    FLOAT8_CONVERSIONS("bf8", "@fnuz", Bf8Fnuz),
};

} // namespace

InstructionRows vectorConvert() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
