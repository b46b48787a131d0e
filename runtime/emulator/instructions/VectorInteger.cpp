//===- VectorInteger.cpp - Vector integer and bit instructions ------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/instructions/Lanes.h"
#include "runtime/emulator/instructions/Tables.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace {

uint32_t WAVETILE_INLINE low24(uint32_t x) { return x & 0xffffff; }
int32_t WAVETILE_INLINE signedLow24(int32_t x) {
  return static_cast<int32_t>(static_cast<uint32_t>(x) << 8) >> 8;
}
uint32_t WAVETILE_INLINE highProduct(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>(static_cast<uint64_t>(a) * b >> 32);
}
int32_t WAVETILE_INLINE highProduct(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<int64_t>(a) * b >> 32);
}
uint32_t WAVETILE_INLINE saturatedSum(uint32_t a, uint32_t b) {
  uint32_t sum = a + b;
  return sum < a ? ~0u : sum;
}
int32_t WAVETILE_INLINE saturated(int64_t x) {
  return static_cast<int32_t>(x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x);
}
int16_t WAVETILE_INLINE saturated16(int32_t x) {
  return static_cast<int16_t>(x > 32767 ? 32767 : x < -32768 ? -32768 : x);
}
uint32_t WAVETILE_INLINE bitField(uint32_t a, uint32_t offset, uint32_t width) {
  width &= 31;
  return a >> (offset & 31) & ((1u << width) - 1);
}
int32_t WAVETILE_INLINE signedBitField(uint32_t a, uint32_t offset, uint32_t width) {
  offset &= 31, width &= 31;
  // Fewer than `width` bits are left above the offset: the field's top is bit 31.
  uint32_t unused = 32 - width > offset ? 32 - width - offset : 0;
  int32_t top = static_cast<int32_t>(a << (unused & 31));
  uint32_t down = width + offset > 32 ? offset : 32 - width;
  int32_t value = top >> (down & 31);
  return width == 0 ? 0 : value;
}
uint32_t WAVETILE_INLINE reversed(uint32_t x) { return __builtin_bitreverse32(x); }
uint32_t WAVETILE_INLINE leadingZeros(uint32_t x) {
  return x == 0 ? ~0u : static_cast<uint32_t>(__builtin_clz(x | 1) + (x == 0));
}
uint32_t WAVETILE_INLINE leadingSigns(uint32_t x) {
  uint32_t flipped = x ^ static_cast<uint32_t>(static_cast<int32_t>(x) >> 31);
  return flipped == 0 ? ~0u : static_cast<uint32_t>(__builtin_clz(flipped));
}
uint32_t WAVETILE_INLINE trailingZeros(uint32_t x) {
  return x == 0 ? ~0u : static_cast<uint32_t>(__builtin_ctz(x | (x == 0)));
}
/// v_perm: byte `select` of {a, b}, b being the low word.
uint32_t WAVETILE_INLINE permuteByte(uint32_t a, uint32_t b, uint32_t select) {
  select &= 0xff;
  uint64_t both = static_cast<uint64_t>(a) << 32 | b;
  uint32_t byte = static_cast<uint32_t>(both >> (8 * (select & 7))) & 0xff;
  uint32_t signByte = static_cast<uint32_t>(both >> (16 * (select & 3) + 15)) & 1 ? 0xff : 0;
  return select >= 13 ? 0xffu : select == 12 ? 0u : select >= 8 ? signByte : byte;
}
uint32_t WAVETILE_INLINE permute(uint32_t a, uint32_t b, uint32_t selector) {
  return permuteByte(a, b, selector) | permuteByte(a, b, selector >> 8) << 8 |
         permuteByte(a, b, selector >> 16) << 16 | permuteByte(a, b, selector >> 24) << 24;
}
template <typename T> T WAVETILE_INLINE smaller(T a, T b) { return a < b ? a : b; }
template <typename T> T WAVETILE_INLINE larger(T a, T b) { return a > b ? a : b; }
template <typename T> T WAVETILE_INLINE median(T a, T b, T c) {
  return larger(smaller(a, b), smaller(larger(a, b), c));
}
uint32_t WAVETILE_INLINE sumOfByteDifferences(uint32_t a, uint32_t b, uint32_t sum) {
  for (unsigned i = 0; i < 4; ++i) {
    int32_t difference =
        static_cast<int32_t>(a >> 8 * i & 0xff) - static_cast<int32_t>(b >> 8 * i & 0xff);
    sum += static_cast<uint32_t>(difference < 0 ? -difference : difference);
  }
  return sum;
}

using CarryU32 = WithMask<U32>;
using Carry = WithMask<uint32_t>;

constexpr Instruction table[] = {
    // Moves and selection.
    vector<U32(U32)>("v_mov_b32", [](uint32_t a) { return a; }),
    vector<U64(U64)>("v_mov_b64", [](uint64_t a) { return a; }),
    vector<U32(U32, U32, MaskBit)>("v_cndmask_b32",
                                   [](uint32_t a, uint32_t b, bool c) { return c ? b : a; }),
    vector<U16(BitsF16, BitsF16, MaskBit)>(
        "v_cndmask_b16", [](uint16_t a, uint16_t b, bool c) -> uint16_t { return c ? b : a; }),
    vector<U16(U16)>("v_mov_b16", [](uint16_t a) { return a; }),

    // Addition and subtraction.
    vector<U32(U32, U32)>("v_add_u32 v_add_nc_u32", [](uint32_t a, uint32_t b) { return a + b; }),
    vector<U32(U32, U32)>("v_add_u32@clamp v_add_nc_u32@clamp",
                          [](uint32_t a, uint32_t b) { return saturatedSum(a, b); }),
    vector<U32(U32, U32)>("v_sub_u32 v_sub_nc_u32", [](uint32_t a, uint32_t b) { return a - b; }),
    vector<U32(U32, U32)>("v_sub_u32@clamp v_sub_nc_u32@clamp",
                          [](uint32_t a, uint32_t b) { return a < b ? 0u : a - b; }),
    vector<U32(U32, U32)>("v_subrev_u32 v_subrev_nc_u32",
                          [](uint32_t a, uint32_t b) { return b - a; }),
    vector<U32(U32, U32)>("v_subrev_u32@clamp v_subrev_nc_u32@clamp",
                          [](uint32_t a, uint32_t b) { return b < a ? 0u : b - a; }),
    vector<I32(I32, I32)>("v_add_i32 v_add_nc_i32",
                          [](int32_t a, int32_t b) {
                            return static_cast<int32_t>(static_cast<uint32_t>(a) +
                                                        static_cast<uint32_t>(b));
                          }),
    vector<I32(I32, I32)>("v_add_i32@clamp v_add_nc_i32@clamp",
                          [](int32_t a, int32_t b) { return saturated(int64_t(a) + b); }),
    vector<I32(I32, I32)>("v_sub_i32 v_sub_nc_i32",
                          [](int32_t a, int32_t b) {
                            return static_cast<int32_t>(static_cast<uint32_t>(a) -
                                                        static_cast<uint32_t>(b));
                          }),
    vector<I32(I32, I32)>("v_sub_i32@clamp v_sub_nc_i32@clamp",
                          [](int32_t a, int32_t b) { return saturated(int64_t(a) - b); }),
    vector<CarryU32(U32, U32)>("v_add_co_u32",
                               [](uint32_t a, uint32_t b) { return Carry{a + b, a + b < a}; }),
    vector<CarryU32(U32, U32)>("v_sub_co_u32",
                               [](uint32_t a, uint32_t b) { return Carry{a - b, a < b}; }),
    vector<CarryU32(U32, U32)>("v_subrev_co_u32",
                               [](uint32_t a, uint32_t b) { return Carry{b - a, b < a}; }),
    vector<CarryU32(U32, U32, MaskBit)>("v_addc_co_u32 v_add_co_ci_u32",
                                        [](uint32_t a, uint32_t b, bool c) {
                                          uint64_t sum = uint64_t(a) + b + c;
                                          return Carry{uint32_t(sum), sum >> 32 != 0};
                                        }),
    vector<CarryU32(U32, U32, MaskBit)>(
        "v_subb_co_u32 v_sub_co_ci_u32",
        [](uint32_t a, uint32_t b, bool c) { return Carry{a - b - c, uint64_t(b) + c > a}; }),
    vector<CarryU32(U32, U32, MaskBit)>(
        "v_subbrev_co_u32 v_subrev_co_ci_u32",
        [](uint32_t a, uint32_t b, bool c) { return Carry{b - a - c, uint64_t(a) + c > b}; }),
    vector<U32(U32, U32, U32)>("v_add3_u32",
                               [](uint32_t a, uint32_t b, uint32_t c) { return a + b + c; }),
    vector<U32(U32, U32, U32)>(
        "v_lshl_add_u32", [](uint32_t a, uint32_t b, uint32_t c) { return (a << (b & 31)) + c; }),
    vector<U64(U64, U32, U64)>(
        "v_lshl_add_u64", [](uint64_t a, uint32_t b, uint64_t c) { return (a << (b & 7)) + c; }),
    vector<U32(U32, U32, U32)>(
        "v_add_lshl_u32", [](uint32_t a, uint32_t b, uint32_t c) { return (a + b) << (c & 31); }),
    vector<U32(U32, U32, U32)>("v_xad_u32",
                               [](uint32_t a, uint32_t b, uint32_t c) { return (a ^ b) + c; }),

    // Multiplication.
    vector<U32(U32, U32)>("v_mul_lo_u32", [](uint32_t a, uint32_t b) { return a * b; }),
    vector<U32(U32, U32)>("v_mul_hi_u32", [](uint32_t a, uint32_t b) { return highProduct(a, b); }),
    vector<I32(I32, I32)>("v_mul_hi_i32", [](int32_t a, int32_t b) { return highProduct(a, b); }),
    vector<U32(U32, U32)>("v_mul_u32_u24",
                          [](uint32_t a, uint32_t b) { return low24(a) * low24(b); }),
    vector<I32(I32, I32)>("v_mul_i32_i24",
                          [](int32_t a, int32_t b) {
                            return static_cast<int32_t>(static_cast<uint32_t>(signedLow24(a)) *
                                                        static_cast<uint32_t>(signedLow24(b)));
                          }),
    vector<U32(U32, U32)>("v_mul_hi_u32_u24",
                          [](uint32_t a, uint32_t b) { return highProduct(low24(a), low24(b)); }),
    vector<I32(I32, I32)>(
        "v_mul_hi_i32_i24",
        [](int32_t a, int32_t b) { return highProduct(signedLow24(a), signedLow24(b)); }),
    vector<U32(U32, U32, U32)>("v_mad_u32_u24", [](uint32_t a, uint32_t b,
                                                   uint32_t c) { return low24(a) * low24(b) + c; }),
    vector<I32(I32, I32, I32)>("v_mad_i32_i24",
                               [](int32_t a, int32_t b, int32_t c) {
                                 return static_cast<int32_t>(
                                     static_cast<uint32_t>(signedLow24(a)) *
                                         static_cast<uint32_t>(signedLow24(b)) +
                                     static_cast<uint32_t>(c));
                               }),
    vector<WithMask<U64>(U32, U32, U64)>("v_mad_u64_u32 v_mad_co_u64_u32",
                                         [](uint32_t a, uint32_t b, uint64_t c) {
                                           uint64_t product = uint64_t(a) * b;
                                           return WithMask<uint64_t>{product + c,
                                                                     product + c < product};
                                         }),
    vector<WithMask<I64>(I32, I32, I64)>("v_mad_i64_i32 v_mad_co_i64_i32",
                                         [](int32_t a, int32_t b, int64_t c) {
                                           uint64_t product = static_cast<uint64_t>(int64_t(a) * b);
                                           uint64_t sum = product + static_cast<uint64_t>(c);
                                           // The carry out of bit 63 of the sign-extended sum.
                                           bool carry =
                                               (((product & static_cast<uint64_t>(c)) |
                                                 ((product | static_cast<uint64_t>(c)) & ~sum)) >>
                                                63) != 0;
                                           return WithMask<int64_t>{static_cast<int64_t>(sum),
                                                                    carry};
                                         }),

    // Bits.
    vector<U32(U32, U32)>("v_and_b32", [](uint32_t a, uint32_t b) { return a & b; }),
    vector<U32(U32, U32)>("v_or_b32", [](uint32_t a, uint32_t b) { return a | b; }),
    vector<U32(U32, U32)>("v_xor_b32", [](uint32_t a, uint32_t b) { return a ^ b; }),
    vector<U32(U32, U32)>("v_xnor_b32", [](uint32_t a, uint32_t b) { return ~(a ^ b); }),
    vector<U32(U32)>("v_not_b32", [](uint32_t a) { return ~a; }),
    vector<U32(U32, U32, U32)>("v_and_or_b32",
                               [](uint32_t a, uint32_t b, uint32_t c) { return (a & b) | c; }),
    vector<U32(U32, U32, U32)>("v_or3_b32",
                               [](uint32_t a, uint32_t b, uint32_t c) { return a | b | c; }),
    vector<U32(U32, U32, U32)>("v_xor3_b32",
                               [](uint32_t a, uint32_t b, uint32_t c) { return a ^ b ^ c; }),
    vector<U32(U32, U32, U32)>(
        "v_lshl_or_b32", [](uint32_t a, uint32_t b, uint32_t c) { return (a << (b & 31)) | c; }),
    vector<U32(U32, U32, U32)>(
        "v_bfi_b32", [](uint32_t a, uint32_t b, uint32_t c) { return (a & b) | (~a & c); }),
    vector<U32(U32, U32, U32)>(
        "v_bfe_u32", [](uint32_t a, uint32_t b, uint32_t c) { return bitField(a, b, c); }),
    vector<I32(U32, U32, U32)>(
        "v_bfe_i32", [](uint32_t a, uint32_t b, uint32_t c) { return signedBitField(a, b, c); }),
    vector<U32(U32, U32)>(
        "v_bfm_b32", [](uint32_t a, uint32_t b) { return ((1u << (a & 31)) - 1) << (b & 31); }),
    vector<U32(U32)>("v_bfrev_b32", [](uint32_t a) { return reversed(a); }),
    vector<U32(U32)>("v_ffbh_u32 v_clz_i32_u32", [](uint32_t a) { return leadingZeros(a); }),
    vector<U32(U32)>("v_ffbh_i32 v_cls_i32", [](uint32_t a) { return leadingSigns(a); }),
    vector<U32(U32)>("v_ffbl_b32 v_ctz_i32_b32", [](uint32_t a) { return trailingZeros(a); }),
    vector<U32(U32, U32)>(
        "v_bcnt_u32_b32",
        [](uint32_t a, uint32_t b) { return static_cast<uint32_t>(__builtin_popcount(a)) + b; }),
    vector<U32(U32, U32, U32)>("v_alignbit_b32",
                               [](uint32_t a, uint32_t b, uint32_t c) {
                                 return static_cast<uint32_t>(
                                     (static_cast<uint64_t>(a) << 32 | b) >> (c & 31));
                               }),
    vector<U32(U32, U32, U32)>("v_alignbyte_b32",
                               [](uint32_t a, uint32_t b, uint32_t c) {
                                 return static_cast<uint32_t>(
                                     (static_cast<uint64_t>(a) << 32 | b) >> (8 * (c & 3)));
                               }),
    vector<U32(U32, U32, U32)>("v_perm_b32",
                               [](uint32_t a, uint32_t b, uint32_t c) { return permute(a, b, c); }),
    vector<U32(U32, U32, U32)>(
        "v_sad_u8",
        [](uint32_t a, uint32_t b, uint32_t c) { return sumOfByteDifferences(a, b, c); }),

    // Shifts.
    vector<U32(U32, U32)>("v_lshlrev_b32", [](uint32_t a, uint32_t b) { return b << (a & 31); }),
    vector<U32(U32, U32)>("v_lshrrev_b32", [](uint32_t a, uint32_t b) { return b >> (a & 31); }),
    vector<I32(U32, I32)>("v_ashrrev_i32", [](uint32_t a, int32_t b) { return b >> (a & 31); }),
    vector<U64(U32, U64)>("v_lshlrev_b64", [](uint32_t a, uint64_t b) { return b << (a & 63); }),
    vector<U64(U32, U64)>("v_lshrrev_b64", [](uint32_t a, uint64_t b) { return b >> (a & 63); }),
    vector<I64(U32, I64)>("v_ashrrev_i64", [](uint32_t a, int64_t b) { return b >> (a & 63); }),

    // Minimum and maximum.
    vector<I32(I32, I32)>("v_min_i32", [](int32_t a, int32_t b) { return smaller(a, b); }),
    vector<I32(I32, I32)>("v_max_i32", [](int32_t a, int32_t b) { return larger(a, b); }),
    vector<U32(U32, U32)>("v_min_u32", [](uint32_t a, uint32_t b) { return smaller(a, b); }),
    vector<U32(U32, U32)>("v_max_u32", [](uint32_t a, uint32_t b) { return larger(a, b); }),
    vector<I32(I32, I32, I32)>(
        "v_min3_i32", [](int32_t a, int32_t b, int32_t c) { return smaller(smaller(a, b), c); }),
    vector<I32(I32, I32, I32)>(
        "v_max3_i32", [](int32_t a, int32_t b, int32_t c) { return larger(larger(a, b), c); }),
    vector<U32(U32, U32, U32)>(
        "v_min3_u32", [](uint32_t a, uint32_t b, uint32_t c) { return smaller(smaller(a, b), c); }),
    vector<U32(U32, U32, U32)>(
        "v_max3_u32", [](uint32_t a, uint32_t b, uint32_t c) { return larger(larger(a, b), c); }),
    vector<I32(I32, I32, I32)>(
        "v_maxmin_i32", [](int32_t a, int32_t b, int32_t c) { return smaller(larger(a, b), c); }),
    vector<I32(I32, I32, I32)>(
        "v_minmax_i32", [](int32_t a, int32_t b, int32_t c) { return larger(smaller(a, b), c); }),
    vector<U32(U32, U32, U32)>("v_maxmin_u32", [](uint32_t a, uint32_t b,
                                                  uint32_t c) { return smaller(larger(a, b), c); }),
    vector<U32(U32, U32, U32)>("v_minmax_u32", [](uint32_t a, uint32_t b,
                                                  uint32_t c) { return larger(smaller(a, b), c); }),
    vector<I32(I32, I32, I32)>("v_med3_i32",
                               [](int32_t a, int32_t b, int32_t c) { return median(a, b, c); }),
    vector<U32(U32, U32, U32)>("v_med3_u32",
                               [](uint32_t a, uint32_t b, uint32_t c) { return median(a, b, c); }),

    // 16-bit integers.
    vector<U16(U16, U16)>("v_add_u16 v_add_nc_u16",
                          [](uint16_t a, uint16_t b) { return static_cast<uint16_t>(a + b); }),
    vector<U16(U16, U16)>("v_sub_u16 v_sub_nc_u16",
                          [](uint16_t a, uint16_t b) { return static_cast<uint16_t>(a - b); }),
    vector<U16(U16, U16)>("v_subrev_u16",
                          [](uint16_t a, uint16_t b) { return static_cast<uint16_t>(b - a); }),
    // VOP3 with op_sel: the other half is kept on gfx9 too.
    vector<I16(I16, I16)>("v_add_i16 v_add_nc_i16",
                          [](int16_t a, int16_t b) { return static_cast<int16_t>(a + b); })
        .with(rowflag::keepsHalf),
    vector<I16(I16, I16)>("v_sub_i16 v_sub_nc_i16",
                          [](int16_t a, int16_t b) { return static_cast<int16_t>(a - b); })
        .with(rowflag::keepsHalf),
    vector<U16(U16, U16)>("v_add_u16@clamp v_add_nc_u16@clamp",
                          [](uint16_t a, uint16_t b) {
                            uint32_t sum = uint32_t(a) + b;
                            return static_cast<uint16_t>(sum > 65535 ? 65535 : sum);
                          }),
    vector<U16(U16, U16)>(
        "v_sub_u16@clamp v_sub_nc_u16@clamp",
        [](uint16_t a, uint16_t b) { return static_cast<uint16_t>(a < b ? 0 : a - b); }),
    vector<I16(I16, I16)>("v_add_i16@clamp v_add_nc_i16@clamp",
                          [](int16_t a, int16_t b) { return saturated16(a + b); })
        .with(rowflag::keepsHalf),
    vector<I16(I16, I16)>("v_sub_i16@clamp v_sub_nc_i16@clamp",
                          [](int16_t a, int16_t b) { return saturated16(a - b); })
        .with(rowflag::keepsHalf),
    vector<U16(U16, U16)>(
        "v_mul_lo_u16",
        [](uint16_t a, uint16_t b) { return static_cast<uint16_t>(uint32_t(a) * b); }),
    vector<U16(U16, U16, U16)>("v_mad_u16@cdna",
                               [](uint16_t a, uint16_t b, uint16_t c) {
                                 return static_cast<uint16_t>(uint32_t(a) * b + c);
                               })
        .with(rowflag::keepsHalf),
    vector<I16(I16, I16, I16)>(
        "v_mad_i16@cdna",
        [](int16_t a, int16_t b, int16_t c) { return static_cast<int16_t>(int32_t(a) * b + c); })
        .with(rowflag::keepsHalf),
    vector<U16(U16, U16, U16)>("v_mad_u16 v_mad_legacy_u16",
                               [](uint16_t a, uint16_t b, uint16_t c) {
                                 return static_cast<uint16_t>(uint32_t(a) * b + c);
                               }),
    vector<I16(I16, I16, I16)>(
        "v_mad_i16 v_mad_legacy_i16",
        [](int16_t a, int16_t b, int16_t c) { return static_cast<int16_t>(int32_t(a) * b + c); }),
    vector<U32(U16, U16, U32)>(
        "v_mad_u32_u16", [](uint16_t a, uint16_t b, uint32_t c) { return uint32_t(a) * b + c; }),
    vector<I32(I16, I16, I32)>("v_mad_i32_i16",
                               [](int16_t a, int16_t b, int32_t c) {
                                 return static_cast<int32_t>(static_cast<uint32_t>(int32_t(a) * b) +
                                                             static_cast<uint32_t>(c));
                               }),
    vector<U16(U16, U16)>("v_and_b16",
                          [](uint16_t a, uint16_t b) { return static_cast<uint16_t>(a & b); }),
    vector<U16(U16, U16)>("v_or_b16",
                          [](uint16_t a, uint16_t b) { return static_cast<uint16_t>(a | b); }),
    vector<U16(U16, U16)>("v_xor_b16",
                          [](uint16_t a, uint16_t b) { return static_cast<uint16_t>(a ^ b); }),
    vector<U16(U16)>("v_not_b16", [](uint16_t a) { return static_cast<uint16_t>(~a); }),
    vector<U16(U16, U16)>(
        "v_lshlrev_b16",
        [](uint16_t a, uint16_t b) { return static_cast<uint16_t>(uint32_t(b) << (a & 15)); }),
    vector<U16(U16, U16)>(
        "v_lshrrev_b16",
        [](uint16_t a, uint16_t b) { return static_cast<uint16_t>(b >> (a & 15)); }),
    vector<I16(U16, I16)>(
        "v_ashrrev_i16", [](uint16_t a, int16_t b) { return static_cast<int16_t>(b >> (a & 15)); }),
    vector<I16(I16, I16)>("v_min_i16", [](int16_t a, int16_t b) { return smaller(a, b); }),
    vector<I16(I16, I16)>("v_max_i16", [](int16_t a, int16_t b) { return larger(a, b); }),
    vector<U16(U16, U16)>("v_min_u16", [](uint16_t a, uint16_t b) { return smaller(a, b); }),
    vector<U16(U16, U16)>("v_max_u16", [](uint16_t a, uint16_t b) { return larger(a, b); }),
    vector<I16(I16, I16, I16)>(
        "v_min3_i16", [](int16_t a, int16_t b, int16_t c) { return smaller(smaller(a, b), c); }),
    vector<I16(I16, I16, I16)>(
        "v_max3_i16", [](int16_t a, int16_t b, int16_t c) { return larger(larger(a, b), c); }),
    vector<U16(U16, U16, U16)>(
        "v_min3_u16", [](uint16_t a, uint16_t b, uint16_t c) { return smaller(smaller(a, b), c); }),
    vector<U16(U16, U16, U16)>(
        "v_max3_u16", [](uint16_t a, uint16_t b, uint16_t c) { return larger(larger(a, b), c); }),
    vector<I16(I16, I16, I16)>("v_med3_i16",
                               [](int16_t a, int16_t b, int16_t c) { return median(a, b, c); }),
    vector<U16(U16, U16, U16)>("v_med3_u16",
                               [](uint16_t a, uint16_t b, uint16_t c) { return median(a, b, c); }),
    vector<U32(U16, U16)>("v_pack_b32_f16",
                          [](uint16_t a, uint16_t b) { return uint32_t(a) | uint32_t(b) << 16; }),

    // Lane numbers.
    vector<U32(U32, U32)>("v_mbcnt_lo_u32_b32",
                          [](Lane lane, uint32_t a, uint32_t b) {
                            uint32_t below = lane.index >= 32 ? ~0u : (1u << (lane.index & 31)) - 1;
                            return static_cast<uint32_t>(__builtin_popcount(a & below)) + b;
                          }),
    vector<U32(U32, U32)>("v_mbcnt_hi_u32_b32",
                          [](Lane lane, uint32_t a, uint32_t b) {
                            uint32_t below = lane.index < 32 ? 0 : (1u << (lane.index & 31)) - 1;
                            return static_cast<uint32_t>(__builtin_popcount(a & below)) + b;
                          }),
};

} // namespace

InstructionRows vectorInteger() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
