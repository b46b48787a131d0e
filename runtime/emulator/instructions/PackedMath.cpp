//===- PackedMath.cpp - Packed and dot-product instructions ---------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two 16-bit halves in a register, or two f32 in a register pair. Operands.cpp has already put the
// halves that op_sel and op_sel_hi choose in their places.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/instructions/Arithmetic.h"
#include "runtime/emulator/instructions/Float.h"
#include "runtime/emulator/instructions/Float8.h"
#include "runtime/emulator/instructions/Lanes.h"
#include "runtime/emulator/instructions/Tables.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace {

/// Applies an operation on f16 values, held in f32, to both halves.
template <typename Op, typename... Words> uint32_t WAVETILE_INLINE onHalves(Op op, Words... words) {
  uint32_t low = halfFrom(op(fromHalf(words)...));
  uint32_t high = halfFrom(op(fromHalf(words >> 16)...));
  return low | high << 16;
}
template <typename T, typename Op, typename... Words>
uint32_t WAVETILE_INLINE onIntegers(Op op, Words... words) {
  uint16_t low = static_cast<uint16_t>(op(static_cast<T>(words)...));
  uint16_t high = static_cast<uint16_t>(op(static_cast<T>(words >> 16)...));
  return low | static_cast<uint32_t>(high) << 16;
}

#define PACKED_HALF_2(NAME, EXPRESSION)                                                            \
  vector<PackedF16(PackedF16, PackedF16)>(                                                         \
      NAME, []([[maybe_unused]] Lane lane, uint32_t x, uint32_t y) {                               \
        return onHalves([&](float a, float b) { return EXPRESSION; }, x, y);                       \
      })
#define PACKED_INTEGER_2(NAME, TYPE, EXPRESSION)                                                   \
  vector<PackedU16(PackedU16, PackedU16)>(NAME, [](uint32_t x, uint32_t y) {                       \
    return onIntegers<TYPE>([](TYPE a, TYPE b) { return EXPRESSION; }, x, y);                      \
  })
#define PACKED_INTEGER_3(NAME, TYPE, EXPRESSION)                                                   \
  vector<PackedU16(PackedU16, PackedU16, PackedU16)>(                                              \
      NAME, [](uint32_t x, uint32_t y, uint32_t z) {                                               \
        return onIntegers<TYPE>([](TYPE a, TYPE b, TYPE c) { return EXPRESSION; }, x, y, z);       \
      })

int32_t WAVETILE_INLINE saturated(int32_t x) { return x > 32767 ? 32767 : x < -32768 ? -32768 : x; }

/// The sum of products of four signed or unsigned bytes.
template <typename A, typename B> int32_t WAVETILE_INLINE byteDot(uint32_t a, uint32_t b) {
  int32_t sum = 0;
  for (unsigned i = 0; i < 4; ++i)
    sum += static_cast<int32_t>(static_cast<A>(a >> 8 * i)) *
           static_cast<int32_t>(static_cast<B>(b >> 8 * i));
  return sum;
}
/// Sums of products in 64 bits: of parts of `width` bits, and of half bytes.
template <typename T, unsigned width> int64_t WAVETILE_INLINE wideDot(uint32_t a, uint32_t b) {
  int64_t sum = 0;
  for (unsigned shift = 0; shift < 32; shift += width)
    sum += static_cast<int64_t>(static_cast<T>(a >> shift)) * static_cast<T>(b >> shift);
  return sum;
}
template <bool isSigned> int64_t WAVETILE_INLINE nibbleDot(uint32_t a, uint32_t b) {
  int64_t sum = 0;
  for (unsigned shift = 0; shift < 32; shift += 4) {
    int32_t x = static_cast<int32_t>(a >> shift & 15), y = static_cast<int32_t>(b >> shift & 15);
    x = isSigned && x > 7 ? x - 16 : x, y = isSigned && y > 7 ? y - 16 : y;
    sum += x * y;
  }
  return sum;
}
/// Bit 0 of \p isSigned: the parts of \p a are signed; bit 1: those of \p b.
template <unsigned width>
int64_t WAVETILE_INLINE mixedDot(uint8_t isSigned, uint32_t a, uint32_t b) {
  constexpr int32_t sign = 1 << (width - 1), all = (1 << width) - 1;
  int32_t signA = isSigned & 1 ? sign : 0, signB = isSigned & 2 ? sign : 0;
  int64_t sum = 0;
  for (unsigned shift = 0; shift < 32; shift += width) {
    int32_t x = static_cast<int32_t>(a >> shift) & all, y = static_cast<int32_t>(b >> shift) & all;
    sum += ((x ^ signA) - signA) * ((y ^ signB) - signB);
  }
  return sum;
}
int32_t WAVETILE_INLINE saturated32(int64_t x) {
  return static_cast<int32_t>(x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x);
}
uint32_t WAVETILE_INLINE saturatedUnsigned32(int64_t x) {
  return static_cast<uint32_t>(x > UINT32_MAX ? UINT32_MAX : x);
}
int32_t WAVETILE_INLINE wrappingSum(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}
/// Assumed order: the low product joins the addend first.
float WAVETILE_INLINE dotOfHalves(uint32_t a, uint32_t b, float c) {
  float low = fusedMultiplyAdd(fromHalf(a), fromHalf(b), c);
  return fusedMultiplyAdd(fromHalf(a >> 16), fromHalf(b >> 16), low);
}
float WAVETILE_INLINE dotOfBFloat16(uint32_t a, uint32_t b, float c) {
  float low = fusedMultiplyAdd(fromBFloat16(a & 0xffff), fromBFloat16(b & 0xffff), c);
  return fusedMultiplyAdd(fromBFloat16(a >> 16), fromBFloat16(b >> 16), low);
}

/// Assumed order: the lowest product joins the addend first. Products are exact.
template <typename A, typename B>
float WAVETILE_INLINE dotOfFloat8(uint32_t a, uint32_t b, float c) {
  for (unsigned shift = 0; shift < 32; shift += 8)
    c = fusedMultiplyAdd(fromFloat8<A>(a >> shift & 0xff), fromFloat8<B>(b >> shift & 0xff), c);
  return c;
}
#define FLOAT8_DOT(NAME, A, B)                                                                     \
  vector<F32(U32, U32, F32)>(NAME, [](uint32_t a, uint32_t b, float c) {                           \
    return dotOfFloat8<A, B>(a, b, c);                                                             \
  }).with(rowflag::signednessByNeg)

constexpr Instruction table[] = {
    // f32 pairs.
    packedArithmetic<PackedF32(PackedF32, PackedF32)>(
        "v_pk_add_f32", [](float a, float b) { return a + b; },
        [](float a, float b) { return add(a, b); }),
    packedArithmetic<PackedF32(PackedF32, PackedF32)>(
        "v_pk_mul_f32", [](float a, float b) { return a * b; },
        [](float a, float b) { return multiply(a, b); }),
    packedArithmetic<PackedF32(PackedF32, PackedF32, PackedF32)>(
        "v_pk_fma_f32", [](float a, float b, float c) { return host::fusedMultiplyAdd(a, b, c); },
        [](float a, float b, float c) { return fusedMultiplyAdd(a, b, c); }),
    // op_sel alone chooses, a word of each source: what makes a low result elsewhere.
    vector<PackedF32(PackedF32, PackedF32)>(
        "v_pk_mov_b32", [](FloatPair a, FloatPair b) { return FloatPair{a.low, b.low}; }),

    // f16 pairs.
    PACKED_HALF_2("v_pk_add_f16", add(a, b)),
    PACKED_HALF_2("v_pk_mul_f16", multiply(a, b)),
    PACKED_HALF_2("v_pk_min_f16", minimumNumber(a, b, lane.mode)),
    PACKED_HALF_2("v_pk_max_f16", maximumNumber(a, b, lane.mode)),
    vector<PackedF16(PackedF16, PackedF16, PackedF16)>(
        "v_pk_fma_f16",
        [](Lane lane, uint32_t x, uint32_t y, uint32_t z) {
          return onHalves(
              [&](float a, float b, float c) {
                return halfFusedMultiplyAdd(a, b, c, lane.mode.rounding16_64);
              },
              x, y, z);
        }),
    vector<PackedF16(PackedF16, PackedF16, PackedF16)>(
        "v_pk_fmac_f16",
        [](Lane lane, uint32_t x, uint32_t y, uint32_t z) {
          return onHalves(
              [&](float a, float b, float c) {
                return halfFusedMultiplyAdd(a, b, c, lane.mode.rounding16_64);
              },
              x, y, z);
        })
        .with(rowflag::accumulates),
    vector<PackedF16(PackedF16, PackedF16, PackedF16)>(
        "v_pk_minimum3_f16",
        [](uint32_t x, uint32_t y, uint32_t z) {
          return onHalves(
              [](float a, float b, float c) { return extremum<false>(extremum<false>(a, b), c); },
              x, y, z);
        }),
    vector<PackedF16(PackedF16, PackedF16, PackedF16)>(
        "v_pk_maximum3_f16",
        [](uint32_t x, uint32_t y, uint32_t z) {
          return onHalves(
              [](float a, float b, float c) { return extremum<true>(extremum<true>(a, b), c); }, x,
              y, z);
        }),

    // 16-bit integer pairs.
    PACKED_INTEGER_2("v_pk_add_u16", uint16_t, a + b),
    PACKED_INTEGER_2("v_pk_sub_u16", uint16_t, a - b),
    PACKED_INTEGER_2("v_pk_add_i16", uint16_t, a + b),
    PACKED_INTEGER_2("v_pk_sub_i16", uint16_t, a - b),
    PACKED_INTEGER_2("v_pk_mul_lo_u16", uint16_t, uint32_t(a) * b),
    PACKED_INTEGER_2("v_pk_min_u16", uint16_t, a < b ? a : b),
    PACKED_INTEGER_2("v_pk_max_u16", uint16_t, a > b ? a : b),
    PACKED_INTEGER_2("v_pk_min_i16", int16_t, a < b ? a : b),
    PACKED_INTEGER_2("v_pk_max_i16", int16_t, a > b ? a : b),
    PACKED_INTEGER_2("v_pk_lshlrev_b16", uint16_t, uint32_t(b) << (a & 15)),
    PACKED_INTEGER_2("v_pk_lshrrev_b16", uint16_t, b >> (a & 15)),
    PACKED_INTEGER_2("v_pk_ashrrev_i16", int16_t, b >> (a & 15)),
    PACKED_INTEGER_2("v_pk_add_u16@clamp", uint16_t, uint32_t(a) + b > 65535 ? 65535 : a + b),
    PACKED_INTEGER_2("v_pk_sub_u16@clamp", uint16_t, a < b ? 0 : a - b),
    PACKED_INTEGER_2("v_pk_add_i16@clamp", int16_t, saturated(a + b)),
    PACKED_INTEGER_2("v_pk_sub_i16@clamp", int16_t, saturated(a - b)),
    PACKED_INTEGER_3("v_pk_mad_u16 v_pk_mad_i16", uint16_t, uint32_t(a) * b + c),

    // Dot products.
    vector<F32(PackedF16, PackedF16, F32)>(
        "v_dot2_f32_f16", [](uint32_t a, uint32_t b, float c) { return dotOfHalves(a, b, c); }),
    vector<F32(PackedF16, PackedF16, F32)>(
        "v_dot2c_f32_f16 v_dot2acc_f32_f16",
        [](uint32_t a, uint32_t b, float c) { return dotOfHalves(a, b, c); })
        .with(rowflag::accumulates),
    vector<F32(PackedBF16, PackedBF16, F32)>(
        "v_dot2_f32_bf16", [](uint32_t a, uint32_t b, float c) { return dotOfBFloat16(a, b, c); }),
    vector<F32(PackedBF16, PackedBF16, F32)>(
        "v_dot2c_f32_bf16 v_dot2acc_f32_bf16",
        [](uint32_t a, uint32_t b, float c) { return dotOfBFloat16(a, b, c); })
        .with(rowflag::accumulates),
    vector<BitsBF16(PackedBF16, PackedBF16, BitsBF16)>("v_dot2_bf16_bf16",
                                                       [](uint32_t a, uint32_t b, uint16_t c) {
                                                         return bfloat16From(
                                                             dotOfBFloat16(a, b, fromBFloat16(c)));
                                                       }),
    vector<F16(PackedF16, PackedF16, F16)>(
        "v_dot2_f16_f16", [](uint32_t a, uint32_t b, float c) { return dotOfHalves(a, b, c); }),
    vector<I32(U32, U32, I32)>("v_dot4_i32_i8",
                               [](uint32_t a, uint32_t b, int32_t c) {
                                 return wrappingSum(byteDot<int8_t, int8_t>(a, b), c);
                               }),
    vector<I32(U32, U32, I32)>("v_dot4c_i32_i8",
                               [](uint32_t a, uint32_t b, int32_t c) {
                                 return wrappingSum(byteDot<int8_t, int8_t>(a, b), c);
                               })
        .with(rowflag::accumulates),
    vector<I32(U32, U32, I32)>("v_dot4_u32_u8",
                               [](uint32_t a, uint32_t b, int32_t c) {
                                 return wrappingSum(byteDot<uint8_t, uint8_t>(a, b), c);
                               }),

    // Either side may be signed.
    vector<I32(U32, U32, I32)>("v_dot4_i32_iu8",
                               [](Lane lane, uint32_t a, uint32_t b, int32_t c) {
                                 return static_cast<int32_t>(mixedDot<8>(lane.variant, a, b) + c);
                               })
        .with(rowflag::signednessByNeg),
    vector<I32(U32, U32, I32)>("v_dot4_i32_iu8@clamp",
                               [](Lane lane, uint32_t a, uint32_t b, int32_t c) {
                                 return saturated32(mixedDot<8>(lane.variant, a, b) + c);
                               })
        .with(rowflag::signednessByNeg),
    vector<I32(U32, U32, I32)>("v_dot8_i32_iu4",
                               [](Lane lane, uint32_t a, uint32_t b, int32_t c) {
                                 return static_cast<int32_t>(mixedDot<4>(lane.variant, a, b) + c);
                               })
        .with(rowflag::signednessByNeg),
    vector<I32(U32, U32, I32)>("v_dot8_i32_iu4@clamp",
                               [](Lane lane, uint32_t a, uint32_t b, int32_t c) {
                                 return saturated32(mixedDot<4>(lane.variant, a, b) + c);
                               })
        .with(rowflag::signednessByNeg),
    FLOAT8_DOT("v_dot4_f32_fp8_fp8", Fp8Ocp, Fp8Ocp),
    FLOAT8_DOT("v_dot4_f32_fp8_bf8", Fp8Ocp, Bf8Ocp),
    FLOAT8_DOT("v_dot4_f32_bf8_fp8", Bf8Ocp, Fp8Ocp),
    FLOAT8_DOT("v_dot4_f32_bf8_bf8", Bf8Ocp, Bf8Ocp),

    vector<I32(PackedU16, PackedU16, I32)>("v_dot2_i32_i16",
                                           [](uint32_t a, uint32_t b, int32_t c) {
                                             return static_cast<int32_t>(
                                                 (wideDot<int16_t, 16>(a, b)) + c);
                                           }),
    vector<I32(PackedU16, PackedU16, I32)>("v_dot2_i32_i16@clamp",
                                           [](uint32_t a, uint32_t b, int32_t c) {
                                             return saturated32((wideDot<int16_t, 16>(a, b)) + c);
                                           }),
    vector<U32(PackedU16, PackedU16, U32)>("v_dot2_u32_u16",
                                           [](uint32_t a, uint32_t b, uint32_t c) {
                                             return static_cast<uint32_t>(
                                                 (wideDot<uint16_t, 16>(a, b)) + c);
                                           }),
    vector<U32(PackedU16, PackedU16, U32)>("v_dot2_u32_u16@clamp",
                                           [](uint32_t a, uint32_t b, uint32_t c) {
                                             return saturatedUnsigned32(
                                                 (wideDot<uint16_t, 16>(a, b)) + c);
                                           }),
    vector<I32(PackedU16, PackedU16, I32)>("v_dot2c_i32_i16",
                                           [](uint32_t a, uint32_t b, int32_t c) {
                                             return static_cast<int32_t>(
                                                 (wideDot<int16_t, 16>(a, b)) + c);
                                           })
        .with(rowflag::accumulates),
    vector<I32(PackedU16, PackedU16, I32)>("v_dot2c_i32_i16@clamp",
                                           [](uint32_t a, uint32_t b, int32_t c) {
                                             return saturated32((wideDot<int16_t, 16>(a, b)) + c);
                                           })
        .with(rowflag::accumulates),
    vector<I32(U32, U32, I32)>("v_dot8_i32_i4",
                               [](uint32_t a, uint32_t b, int32_t c) {
                                 return static_cast<int32_t>((nibbleDot<true>(a, b)) + c);
                               }),
    vector<I32(U32, U32, I32)>(
        "v_dot8_i32_i4@clamp",
        [](uint32_t a, uint32_t b, int32_t c) { return saturated32((nibbleDot<true>(a, b)) + c); }),
    vector<I32(U32, U32, I32)>("v_dot8c_i32_i4",
                               [](uint32_t a, uint32_t b, int32_t c) {
                                 return static_cast<int32_t>((nibbleDot<true>(a, b)) + c);
                               })
        .with(rowflag::accumulates),
    vector<I32(U32, U32, I32)>(
        "v_dot8c_i32_i4@clamp",
        [](uint32_t a, uint32_t b, int32_t c) { return saturated32((nibbleDot<true>(a, b)) + c); })
        .with(rowflag::accumulates),
    vector<U32(U32, U32, U32)>("v_dot8_u32_u4",
                               [](uint32_t a, uint32_t b, uint32_t c) {
                                 return static_cast<uint32_t>((nibbleDot<false>(a, b)) + c);
                               }),
    vector<U32(U32, U32, U32)>("v_dot8_u32_u4@clamp",
                               [](uint32_t a, uint32_t b, uint32_t c) {
                                 return saturatedUnsigned32((nibbleDot<false>(a, b)) + c);
                               }),
    vector<I32(U32, U32, I32)>("v_dot4_i32_i8@clamp",
                               [](uint32_t a, uint32_t b, int32_t c) {
                                 return saturated32((wideDot<int8_t, 8>(a, b)) + c);
                               }),
    vector<I32(U32, U32, I32)>("v_dot4c_i32_i8@clamp",
                               [](uint32_t a, uint32_t b, int32_t c) {
                                 return saturated32((wideDot<int8_t, 8>(a, b)) + c);
                               })
        .with(rowflag::accumulates),
    vector<U32(U32, U32, U32)>("v_dot4_u32_u8@clamp",
                               [](uint32_t a, uint32_t b, uint32_t c) {
                                 return saturatedUnsigned32((wideDot<uint8_t, 8>(a, b)) + c);
                               }),

    // Any function of three bits.
    vector<U32(U32, U32, U32)>("v_bitop3_b32",
                               [](Lane lane, uint32_t a, uint32_t b, uint32_t c) {
                                 uint32_t result = 0;
                                 for (unsigned i = 0; i < 8; ++i) {
                                   uint32_t term =
                                       (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
                                   result |= lane.variant >> i & 1 ? term : 0;
                                 }
                                 return result;
                               })
        .with(rowflag::truthTable),
    vector<U16(U16, U16, U16)>("v_bitop3_b16",
                               [](Lane lane, uint16_t a, uint16_t b, uint16_t c) {
                                 uint32_t result = 0;
                                 for (unsigned i = 0; i < 8; ++i) {
                                   uint32_t term =
                                       (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
                                   result |= lane.variant >> i & 1 ? term : 0;
                                 }
                                 return static_cast<uint16_t>(result);
                               })
        .with(rowflag::truthTable),
};

} // namespace

InstructionRows packedMath() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
