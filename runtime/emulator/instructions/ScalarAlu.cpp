//===- ScalarAlu.cpp - Scalar integer instructions ------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/instructions/Scalars.h"
#include "runtime/emulator/instructions/Tables.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
using namespace scalarops;
namespace {

/// Sets SCC to whether a result is not zero, as logic and shifts do.
template <typename T> T WAVETILE_INLINE nonZero(Scc &scc, T result) {
  scc = result != 0;
  return result;
}
uint32_t WAVETILE_INLINE fieldMask(uint32_t width) { return width >= 32 ? ~0u : (1u << width) - 1; }
uint32_t WAVETILE_INLINE bitField(uint32_t a, uint32_t control) {
  return a >> (control & 31) & fieldMask(control >> 16 & 0x7f);
}
int32_t WAVETILE_INLINE signedBitField(uint32_t a, uint32_t control) {
  uint32_t width = control >> 16 & 0x7f;
  uint32_t field = bitField(a, control);
  if (width == 0)
    return 0;
  // Bits above bit 31 are copies of it.
  uint32_t offset = control & 31;
  if (width + offset > 32)
    return static_cast<int32_t>(a) >> offset;
  return static_cast<int32_t>(field << (32 - width)) >> (32 - width);
}
uint64_t WAVETILE_INLINE bitField64(uint64_t a, uint32_t control) {
  uint32_t width = control >> 16 & 0x7f;
  uint64_t mask = width >= 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1;
  return a >> (control & 63) & mask;
}
int64_t WAVETILE_INLINE signedBitField64(uint64_t a, uint32_t control) {
  uint32_t width = control >> 16 & 0x7f, offset = control & 63;
  if (width == 0)
    return 0;
  if (width + offset > 64)
    return static_cast<int64_t>(a) >> offset;
  return static_cast<int64_t>(bitField64(a, control) << (64 - width)) >> (64 - width);
}
uint32_t WAVETILE_INLINE shiftedSum(Scc &scc, uint32_t a, uint32_t b, unsigned shift) {
  uint64_t sum = (static_cast<uint64_t>(a) << shift) + b;
  scc = sum >> 32 != 0;
  return static_cast<uint32_t>(sum);
}
bool WAVETILE_INLINE addOverflows(uint32_t a, uint32_t b, uint32_t sum) {
  return ((a ^ sum) & (b ^ sum)) >> 31 != 0;
}
/// A bit for each four bits that are not all 0.
uint64_t WAVETILE_INLINE quadMask(uint64_t a) {
  uint64_t result = 0;
  for (unsigned i = 0; i < 16; ++i)
    result |= static_cast<uint64_t>((a >> (4 * i) & 15) != 0) << i;
  return result;
}
uint64_t WAVETILE_INLINE wholeQuads(uint64_t a) {
  uint64_t any = (a | a >> 1 | a >> 2 | a >> 3) & 0x1111111111111111;
  return any * 15;
}
int32_t WAVETILE_INLINE signsBefore(uint32_t a) {
  uint32_t flipped = a ^ static_cast<uint32_t>(static_cast<int32_t>(a) >> 31);
  return flipped == 0 ? -1 : __builtin_clz(flipped);
}

#define LOGIC(NAME_32, NAME_64, EXPRESSION)                                                        \
  scalar<U32(U32, U32)>(NAME_32, [](Scc &scc, uint32_t a,                                          \
                                    uint32_t b) { return nonZero<uint32_t>(scc, EXPRESSION); }),   \
      scalar<U64(U64, U64)>(NAME_64, [](Scc &scc, uint64_t a, uint64_t b) {                        \
        return nonZero<uint64_t>(scc, EXPRESSION);                                                 \
      })
#define COMPARE(NAMES, TYPE, EXPRESSION)                                                           \
  scalar<void(TYPE, TYPE)>(NAMES, [](Scc &scc, TYPE::Value a, TYPE::Value b) { scc = EXPRESSION; })
#define COMPARE_K_UNSIGNED(NAME, EXPRESSION)                                                       \
  scalar<void(U32, U32)>(NAME, [](Scc &scc, uint32_t a, uint32_t k) {                              \
    uint32_t b = k & 0xffff;                                                                       \
    scc = EXPRESSION;                                                                              \
  })

constexpr Instruction table[] = {
    // Moves and selection.
    scalar<U32(U32)>("s_mov_b32 s_movk_i32", [](uint32_t a) { return a; }),
    scalar<U64(U64)>("s_mov_b64", [](uint64_t a) { return a; }),
    scalar<U32(U32, U32)>("s_cselect_b32",
                          [](Scc &scc, uint32_t a, uint32_t b) { return scc ? a : b; }),
    scalar<U64(U64, U64)>("s_cselect_b64",
                          [](Scc &scc, uint64_t a, uint64_t b) { return scc ? a : b; }),
    scalar<U32(U32, U32)>("s_cmov_b32 s_cmovk_i32",
                          [](Scc &scc, uint32_t a, uint32_t old) { return scc ? a : old; })
        .with(rowflag::destinationIsSource),
    scalar<U64(U64, U64)>("s_cmov_b64",
                          [](Scc &scc, uint64_t a, uint64_t old) { return scc ? a : old; })
        .with(rowflag::destinationIsSource),

    // Arithmetic.
    scalar<U32(U32, U32)>("s_add_u32 s_add_co_u32",
                          [](Scc &scc, uint32_t a, uint32_t b) {
                            scc = a + b < a;
                            return a + b;
                          }),
    scalar<U32(U32, U32)>("s_addc_u32 s_add_co_ci_u32",
                          [](Scc &scc, uint32_t a, uint32_t b) {
                            uint64_t sum = uint64_t(a) + b + scc;
                            scc = sum >> 32 != 0;
                            return static_cast<uint32_t>(sum);
                          }),
    scalar<U32(U32, U32)>("s_sub_u32 s_sub_co_u32",
                          [](Scc &scc, uint32_t a, uint32_t b) {
                            scc = a < b;
                            return a - b;
                          }),
    scalar<U32(U32, U32)>("s_subb_u32 s_sub_co_ci_u32",
                          [](Scc &scc, uint32_t a, uint32_t b) {
                            uint32_t result = a - b - scc;
                            scc = uint64_t(b) + scc > a;
                            return result;
                          }),
    scalar<U32(U32, U32)>("s_add_i32 s_add_co_i32",
                          [](Scc &scc, uint32_t a, uint32_t b) {
                            scc = addOverflows(a, b, a + b);
                            return a + b;
                          }),
    scalar<U32(U32, U32)>("s_addk_i32 s_addk_co_i32",
                          [](Scc &scc, uint32_t k, uint32_t a) {
                            scc = addOverflows(a, k, a + k);
                            return a + k;
                          })
        .with(rowflag::destinationIsSource),
    scalar<U32(U32, U32)>("s_sub_i32 s_sub_co_i32",
                          [](Scc &scc, uint32_t a, uint32_t b) {
                            scc = ((a ^ b) & (a ^ (a - b))) >> 31 != 0;
                            return a - b;
                          }),
    scalar<U32(U32, U32)>("s_mul_i32", [](uint32_t a, uint32_t b) { return a * b; }),
    scalar<U32(U32, U32)>("s_mulk_i32", [](uint32_t a, uint32_t b) { return a * b; })
        .with(rowflag::destinationIsSource),
    scalar<U64(U64, U64)>("s_add_nc_u64", [](uint64_t a, uint64_t b) { return a + b; }),
    scalar<U64(U64, U64)>("s_sub_nc_u64", [](uint64_t a, uint64_t b) { return a - b; }),
    scalar<U64(U64, U64)>("s_mul_u64", [](uint64_t a, uint64_t b) { return a * b; }),
    scalar<U32(U32, U32)>(
        "s_mul_hi_u32",
        [](uint32_t a, uint32_t b) { return static_cast<uint32_t>(uint64_t(a) * b >> 32); }),
    scalar<I32(I32, I32)>(
        "s_mul_hi_i32",
        [](int32_t a, int32_t b) { return static_cast<int32_t>(int64_t(a) * b >> 32); }),
    scalar<U32(U32, U32)>("s_lshl1_add_u32", [](Scc &scc, uint32_t a,
                                                uint32_t b) { return shiftedSum(scc, a, b, 1); }),
    scalar<U32(U32, U32)>("s_lshl2_add_u32", [](Scc &scc, uint32_t a,
                                                uint32_t b) { return shiftedSum(scc, a, b, 2); }),
    scalar<U32(U32, U32)>("s_lshl3_add_u32", [](Scc &scc, uint32_t a,
                                                uint32_t b) { return shiftedSum(scc, a, b, 3); }),
    scalar<U32(U32, U32)>("s_lshl4_add_u32", [](Scc &scc, uint32_t a,
                                                uint32_t b) { return shiftedSum(scc, a, b, 4); }),
    scalar<U32(U32)>(
        "s_abs_i32",
        [](Scc &scc, uint32_t a) { return nonZero(scc, static_cast<int32_t>(a) < 0 ? 0 - a : a); }),
    scalar<U32(U32, U32)>("s_absdiff_i32",
                          [](Scc &scc, uint32_t a, uint32_t b) {
                            uint32_t difference = a - b;
                            return nonZero(scc, static_cast<int32_t>(difference) < 0
                                                    ? 0 - difference
                                                    : difference);
                          }),
    scalar<I32(I32, I32)>("s_min_i32",
                          [](Scc &scc, int32_t a, int32_t b) {
                            scc = a < b;
                            return a < b ? a : b;
                          }),
    scalar<U32(U32, U32)>("s_min_u32",
                          [](Scc &scc, uint32_t a, uint32_t b) {
                            scc = a < b;
                            return a < b ? a : b;
                          }),
    scalar<I32(I32, I32)>("s_max_i32",
                          [](Scc &scc, int32_t a, int32_t b) {
                            scc = a >= b;
                            return a >= b ? a : b;
                          }),
    scalar<U32(U32, U32)>("s_max_u32",
                          [](Scc &scc, uint32_t a, uint32_t b) {
                            scc = a >= b;
                            return a >= b ? a : b;
                          }),

    // Logic.
    LOGIC("s_and_b32", "s_and_b64", a &b),
    LOGIC("s_or_b32", "s_or_b64", a | b),
    LOGIC("s_xor_b32", "s_xor_b64", a ^ b),
    LOGIC("s_andn2_b32 s_and_not1_b32", "s_andn2_b64 s_and_not1_b64", a & ~b),
    LOGIC("s_orn2_b32 s_or_not1_b32", "s_orn2_b64 s_or_not1_b64", a | ~b),
    LOGIC("s_nand_b32", "s_nand_b64", ~(a &b)),
    LOGIC("s_nor_b32", "s_nor_b64", ~(a | b)),
    LOGIC("s_xnor_b32", "s_xnor_b64", ~(a ^ b)),
    scalar<U32(U32)>("s_not_b32", [](Scc &scc, uint32_t a) { return nonZero(scc, ~a); }),
    scalar<U64(U64)>("s_not_b64", [](Scc &scc, uint64_t a) { return nonZero(scc, ~a); }),

    // Shifts and bit fields.
    scalar<U32(U32, U32)>(
        "s_lshl_b32", [](Scc &scc, uint32_t a, uint32_t b) { return nonZero(scc, a << (b & 31)); }),
    scalar<U64(U64, U32)>(
        "s_lshl_b64", [](Scc &scc, uint64_t a, uint32_t b) { return nonZero(scc, a << (b & 63)); }),
    scalar<U32(U32, U32)>(
        "s_lshr_b32", [](Scc &scc, uint32_t a, uint32_t b) { return nonZero(scc, a >> (b & 31)); }),
    scalar<U64(U64, U32)>(
        "s_lshr_b64", [](Scc &scc, uint64_t a, uint32_t b) { return nonZero(scc, a >> (b & 63)); }),
    scalar<I32(I32, U32)>(
        "s_ashr_i32", [](Scc &scc, int32_t a, uint32_t b) { return nonZero(scc, a >> (b & 31)); }),
    scalar<I64(I64, U32)>(
        "s_ashr_i64", [](Scc &scc, int64_t a, uint32_t b) { return nonZero(scc, a >> (b & 63)); }),
    scalar<U32(U32, U32)>(
        "s_bfe_u32", [](Scc &scc, uint32_t a, uint32_t b) { return nonZero(scc, bitField(a, b)); }),
    scalar<I32(U32, U32)>(
        "s_bfe_i32",
        [](Scc &scc, uint32_t a, uint32_t b) { return nonZero(scc, signedBitField(a, b)); }),
    scalar<U64(U64, U32)>("s_bfe_u64", [](Scc &scc, uint64_t a,
                                          uint32_t b) { return nonZero(scc, bitField64(a, b)); }),
    scalar<I64(U64, U32)>(
        "s_bfe_i64",
        [](Scc &scc, uint64_t a, uint32_t b) { return nonZero(scc, signedBitField64(a, b)); }),
    scalar<U32(U32, U32)>(
        "s_bfm_b32", [](uint32_t a, uint32_t b) { return ((1u << (a & 31)) - 1) << (b & 31); }),
    scalar<U64(U32, U32)>(
        "s_bfm_b64",
        [](uint32_t a, uint32_t b) { return ((uint64_t(1) << (a & 63)) - 1) << (b & 63); }),
    scalar<U32(U32)>("s_brev_b32", [](uint32_t a) { return __builtin_bitreverse32(a); }),
    scalar<U64(U64)>("s_brev_b64", [](uint64_t a) { return __builtin_bitreverse64(a); }),
    scalar<U32(U32)>("s_bcnt1_i32_b32",
                     [](Scc &scc, uint32_t a) {
                       return nonZero(scc, static_cast<uint32_t>(__builtin_popcount(a)));
                     }),
    scalar<U32(U64)>("s_bcnt1_i32_b64",
                     [](Scc &scc, uint64_t a) {
                       return nonZero(scc, static_cast<uint32_t>(__builtin_popcountll(a)));
                     }),
    scalar<U32(U32)>("s_bcnt0_i32_b32",
                     [](Scc &scc, uint32_t a) {
                       return nonZero(scc, static_cast<uint32_t>(__builtin_popcount(~a)));
                     }),
    scalar<U32(U64)>("s_bcnt0_i32_b64",
                     [](Scc &scc, uint64_t a) {
                       return nonZero(scc, static_cast<uint32_t>(__builtin_popcountll(~a)));
                     }),
    scalar<I32(U32)>("s_ff1_i32_b32 s_ctz_i32_b32",
                     [](uint32_t a) { return a == 0 ? -1 : __builtin_ctz(a); }),
    scalar<I32(U64)>("s_ff1_i32_b64 s_ctz_i32_b64",
                     [](uint64_t a) { return a == 0 ? -1 : __builtin_ctzll(a); }),
    scalar<I32(U32)>("s_ff0_i32_b32", [](uint32_t a) { return ~a == 0 ? -1 : __builtin_ctz(~a); }),
    scalar<I32(U64)>("s_ff0_i32_b64",
                     [](uint64_t a) { return ~a == 0 ? -1 : __builtin_ctzll(~a); }),
    scalar<I32(U32)>("s_flbit_i32_b32 s_clz_i32_u32",
                     [](uint32_t a) { return a == 0 ? -1 : __builtin_clz(a); }),
    scalar<I32(U64)>("s_flbit_i32_b64 s_clz_i32_u64",
                     [](uint64_t a) { return a == 0 ? -1 : __builtin_clzll(a); }),
    scalar<I32(U32)>("s_flbit_i32 s_cls_i32", [](uint32_t a) { return signsBefore(a); }),
    scalar<I32(U64)>("s_flbit_i32_i64 s_cls_i32_i64",
                     [](uint64_t a) {
                       uint64_t flipped = a ^ static_cast<uint64_t>(static_cast<int64_t>(a) >> 63);
                       return flipped == 0 ? -1 : __builtin_clzll(flipped);
                     }),
    scalar<I32(U32)>("s_sext_i32_i8", [](uint32_t a) -> int32_t { return static_cast<int8_t>(a); }),
    scalar<I32(U32)>("s_sext_i32_i16",
                     [](uint32_t a) -> int32_t { return static_cast<int16_t>(a); }),
    scalar<U32(U32, U32)>("s_bitset0_b32",
                          [](uint32_t a, uint32_t old) { return old & ~(1u << (a & 31)); })
        .with(rowflag::destinationIsSource),
    scalar<U32(U32, U32)>("s_bitset1_b32",
                          [](uint32_t a, uint32_t old) { return old | 1u << (a & 31); })
        .with(rowflag::destinationIsSource),
    scalar<U64(U32, U64)>("s_bitset0_b64",
                          [](uint32_t a, uint64_t old) { return old & ~(uint64_t(1) << (a & 63)); })
        .with(rowflag::destinationIsSource),
    scalar<U64(U32, U64)>("s_bitset1_b64",
                          [](uint32_t a, uint64_t old) { return old | uint64_t(1) << (a & 63); })
        .with(rowflag::destinationIsSource),
    scalar<U32(U32, U32)>("s_pack_ll_b32_b16",
                          [](uint32_t a, uint32_t b) { return (a & 0xffff) | b << 16; }),
    scalar<U32(U32, U32)>("s_pack_lh_b32_b16",
                          [](uint32_t a, uint32_t b) { return (a & 0xffff) | (b & 0xffff0000); }),
    scalar<U32(U32, U32)>("s_pack_hh_b32_b16",
                          [](uint32_t a, uint32_t b) { return a >> 16 | (b & 0xffff0000); }),
    scalar<U32(U32, U32)>("s_pack_hl_b32_b16",
                          [](uint32_t a, uint32_t b) { return a >> 16 | b << 16; }),

    scalar<U32(U32)>(
        "s_quadmask_b32",
        [](Scc &scc, uint32_t a) { return nonZero(scc, static_cast<uint32_t>(quadMask(a))); }),
    scalar<U64(U64)>("s_quadmask_b64",
                     [](Scc &scc, uint64_t a) { return nonZero(scc, quadMask(a)); }),
    scalar<U32(U32)>(
        "s_wqm_b32",
        [](Scc &scc, uint32_t a) { return nonZero(scc, static_cast<uint32_t>(wholeQuads(a))); }),
    scalar<U64(U64)>("s_wqm_b64", [](Scc &scc, uint64_t a) { return nonZero(scc, wholeQuads(a)); }),
    scalar<U64(U32)>("s_bitreplicate_b64_b32",
                     [](uint32_t a) {
                       uint64_t result = 0;
                       for (unsigned i = 0; i < 32; ++i)
                         result |= static_cast<uint64_t>(a >> i & 1) * 3 << (2 * i);
                       return result;
                     }),

    // Comparisons.
    COMPARE("s_cmp_eq_i32 s_cmp_eq_u32 s_cmpk_eq_i32", U32, a == b),
    COMPARE("s_cmp_lg_i32 s_cmp_lg_u32 s_cmpk_lg_i32", U32, a != b),
    COMPARE("s_cmp_gt_i32 s_cmpk_gt_i32", I32, a > b),
    COMPARE("s_cmp_ge_i32 s_cmpk_ge_i32", I32, a >= b),
    COMPARE("s_cmp_lt_i32 s_cmpk_lt_i32", I32, a < b),
    COMPARE("s_cmp_le_i32 s_cmpk_le_i32", I32, a <= b),
    COMPARE("s_cmp_gt_u32", U32, a > b),
    COMPARE("s_cmp_ge_u32", U32, a >= b),
    COMPARE("s_cmp_lt_u32", U32, a < b),
    COMPARE("s_cmp_le_u32", U32, a <= b),
    COMPARE("s_cmp_eq_u64", U64, a == b),
    COMPARE("s_cmp_lg_u64", U64, a != b),
    COMPARE_K_UNSIGNED("s_cmpk_eq_u32", a == b),
    COMPARE_K_UNSIGNED("s_cmpk_lg_u32", a != b),
    COMPARE_K_UNSIGNED("s_cmpk_gt_u32", a > b),
    COMPARE_K_UNSIGNED("s_cmpk_ge_u32", a >= b),
    COMPARE_K_UNSIGNED("s_cmpk_lt_u32", a < b),
    COMPARE_K_UNSIGNED("s_cmpk_le_u32", a <= b),
    COMPARE("s_bitcmp0_b32", U32, (a >> (b & 31) & 1) == 0),
    COMPARE("s_bitcmp1_b32", U32, (a >> (b & 31) & 1) != 0),
    scalar<void(U64, U32)>(
        "s_bitcmp0_b64", [](Scc &scc, uint64_t a, uint32_t b) { scc = (a >> (b & 63) & 1) == 0; }),
    scalar<void(U64, U32)>(
        "s_bitcmp1_b64", [](Scc &scc, uint64_t a, uint32_t b) { scc = (a >> (b & 63) & 1) != 0; }),
};

} // namespace

InstructionRows scalarAlu() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
