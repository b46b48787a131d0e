//===- VectorRules.cpp - Definedness of vector results, lane by lane ------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rule is the meaning of an instruction once more, over values with undefined bits:
//
//   rule<W32(W32, W32)>("v_and_b32", [](auto a, auto b) { return a & b; })
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/checks/VectorRules.h"

#include "runtime/emulator/RowNames.h"
#include "runtime/emulator/checks/PartialBits.h"

#include <algorithm>
#include <utility>

namespace wavetile::device::checks {
namespace {

// --- Operand types ---

template <typename T> struct Word {
  using Value = Partial<T>;
  static Value load(const RuleOperands &o, unsigned operand, unsigned lane) {
    if constexpr (sizeof(T) == 8)
      return {both(o.values[operand], o.waveSize, lane),
              both(o.undefined[operand], o.waveSize, lane)};
    else
      return {static_cast<T>(o.values[operand][lane]), static_cast<T>(o.undefined[operand][lane])};
  }
  static void store(const RuleOperands &o, unsigned lane, Value value) {
    o.result[lane] = static_cast<uint32_t>(value.undefined);
    if constexpr (sizeof(T) == 8)
      o.result[o.waveSize + lane] = static_cast<uint32_t>(value.undefined >> 32);
  }
  static uint64_t both(const uint32_t *row, unsigned stride, unsigned lane) {
    return row[lane] | static_cast<uint64_t>(row[stride + lane]) << 32;
  }
};
using W16 = Word<uint16_t>;
using W32 = Word<uint32_t>;
using W64 = Word<uint64_t>;

/// A bit a lane; as a result: a comparison.
struct Bit {
  using Value = PartialBit;
  static Value load(const RuleOperands &o, unsigned operand, unsigned lane) {
    return {o.values[operand][lane] != 0, o.undefined[operand][lane] != 0};
  }
};

/// A result with a bit beside it.
template <typename W> struct WithBit {
  struct Value {
    typename W::Value value;
    PartialBit bit;
  };
};

struct LaneOf {
  unsigned index;
  uint8_t variant;
};

// --- From the meaning of one lane to a rule ---

template <typename Op, typename R, typename... S> struct Lanes {
  template <size_t... I> static uint64_t apply(const RuleOperands &o, std::index_sequence<I...>) {
    uint64_t mask = 0;
    for (unsigned lane = 0; lane < o.waveSize; ++lane) {
      auto result = [&] {
        if constexpr (std::is_invocable_v<Op, LaneOf, typename S::Value...>)
          return Op{}(LaneOf{lane, o.variant}, S::load(o, I, lane)...);
        else
          return Op{}(S::load(o, I, lane)...);
      }();
      if constexpr (std::is_same_v<R, Bit>) {
        mask |= uint64_t(result.undefined) << lane;
      } else if constexpr (requires { result.bit; }) {
        mask |= uint64_t(result.bit.undefined) << lane;
        W32::Value low{0, static_cast<uint32_t>(result.value.undefined)};
        W32::store(o, lane, low);
        if constexpr (sizeof(result.value.value) == 8)
          o.result[o.waveSize + lane] = static_cast<uint32_t>(result.value.undefined >> 32);
      } else {
        R::store(o, lane, result);
      }
    }
    return mask;
  }
  static uint64_t apply(const RuleOperands &o) { return apply(o, std::index_sequence_for<S...>()); }
  /// The same on both 16-bit halves of packed operands.
  template <size_t... I>
  static uint64_t applyToHalves(const RuleOperands &o, std::index_sequence<I...>) {
    for (unsigned lane = 0; lane < o.waveSize; ++lane) {
      uint32_t undefined = 0;
      for (unsigned shift : {0u, 16u}) {
        auto half = [&](unsigned operand) {
          return Partial<uint16_t>(static_cast<uint16_t>(o.values[operand][lane] >> shift),
                                   static_cast<uint16_t>(o.undefined[operand][lane] >> shift));
        };
        undefined |= static_cast<uint32_t>(Op{}(half(I)...).undefined) << shift;
      }
      o.result[lane] = undefined;
    }
    return 0;
  }
  static uint64_t applyToHalves(const RuleOperands &o) {
    return applyToHalves(o, std::index_sequence_for<S...>());
  }
};

struct NamedRule {
  const char *names;
  VectorRule rule;
};

template <typename F> struct Builder;
template <typename R, typename... S> struct Builder<R(S...)> {
  template <typename Op> static constexpr NamedRule make(const char *names, Op) {
    return {names, Lanes<Op, R, S...>::apply};
  }
};
template <typename F, typename Op> constexpr NamedRule rule(const char *names, Op op) {
  return Builder<F>::make(names, op);
}
template <typename... S> struct HalvesBuilder {
  template <typename Op> static constexpr NamedRule make(const char *names, Op) {
    return {names, Lanes<Op, W16, S...>::applyToHalves};
  }
};
template <typename... S, typename Op> constexpr NamedRule halves(const char *names, Op op) {
  return HalvesBuilder<S...>::make(names, op);
}

// --- Meanings that need more than an expression ---

template <typename T> using Carried = typename WithBit<Word<T>>::Value;

/// A sum of \p a, \p b and a carry, in a type twice as wide, whose bit above is the carry out.
Carried<uint32_t> sum(Partial<uint32_t> a, Partial<uint32_t> b, PartialBit carry) {
  Partial<uint64_t> wide = Partial<uint64_t>(a.value, a.undefined) +
                           Partial<uint64_t>(b.value, b.undefined) +
                           Partial<uint64_t>(carry.value, carry.undefined);
  return {{static_cast<uint32_t>(wide.value), static_cast<uint32_t>(wide.undefined)},
          {(wide.value >> 32 & 1) != 0, (wide.undefined >> 32 & 1) != 0}};
}
Carried<uint32_t> difference(Partial<uint32_t> a, Partial<uint32_t> b, PartialBit carry) {
  Partial<uint64_t> wide = Partial<uint64_t>(a.value, a.undefined) -
                           Partial<uint64_t>(b.value, b.undefined) -
                           Partial<uint64_t>(carry.value, carry.undefined);
  return {{static_cast<uint32_t>(wide.value), static_cast<uint32_t>(wide.undefined)},
          {(wide.value >> 32 & 1) != 0, (wide.undefined >> 32 & 1) != 0}};
}

Partial<uint32_t> low24(Partial<uint32_t> a) { return a & Partial<uint32_t>(0xffffff); }
Partial<uint32_t> signedLow24(Partial<uint32_t> a) { return signExtended(a, 24); }

Partial<uint64_t> product(Partial<uint32_t> a, Partial<uint32_t> b) {
  return Partial<uint64_t>(a.value, a.undefined) * Partial<uint64_t>(b.value, b.undefined);
}

Partial<uint32_t> bitField(Partial<uint32_t> a, Partial<uint32_t> offset, Partial<uint32_t> width) {
  if (width.undefined & 31)
    return Partial<uint32_t>::strict(width);
  uint32_t mask = (1u << (width.value & 31)) - 1;
  return shiftRight(a, offset, 31) & Partial<uint32_t>(mask);
}
Partial<uint32_t> signedBitField(Partial<uint32_t> a, Partial<uint32_t> offset,
                                 Partial<uint32_t> width) {
  if ((offset.undefined | width.undefined) & 31)
    return Partial<uint32_t>::strict(offset, width);
  uint32_t bits = width.value & 31, first = offset.value & 31;
  if (bits == 0)
    return {};
  if (bits + first >= 32)
    return shiftRightArithmetic(a, offset, 31);
  return signExtended(shiftRight(a, offset, 31), bits);
}

/// v_perm: each byte of the result is one of the eight of {a, b}, a sign, or a constant.
Partial<uint32_t> permute(Partial<uint32_t> a, Partial<uint32_t> b, Partial<uint32_t> selector) {
  uint64_t undefined = static_cast<uint64_t>(a.undefined) << 32 | b.undefined;
  uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    uint32_t select = selector.value >> (8 * i) & 0xff;
    uint32_t byte;
    if (selector.undefined >> (8 * i) & 0xff)
      byte = 0xff;
    else if (select >= 12)
      byte = 0;
    else if (select >= 8)
      byte = undefined >> (16 * (select & 3) + 15) & 1 ? 0xff : 0;
    else
      byte = static_cast<uint32_t>(undefined >> (8 * select)) & 0xff;
    result |= byte << (8 * i);
  }
  return {0, result};
}
/// Bits of {a, b} from a shift on.
Partial<uint32_t> align(Partial<uint32_t> a, Partial<uint32_t> b, Partial<uint32_t> shift,
                        unsigned unit, unsigned mask) {
  if (shift.undefined & mask)
    return Partial<uint32_t>::strict(shift);
  uint64_t undefined = static_cast<uint64_t>(a.undefined) << 32 | b.undefined;
  return {0, static_cast<uint32_t>(undefined >> (unit * (shift.value & mask)))};
}

/// Any function of three bits, given by its table: undefined where both results are possible.
template <typename T>
Partial<T> truthTable(uint8_t table, Partial<T> a, Partial<T> b, Partial<T> c) {
  T may[2] = {0, 0};
  for (unsigned i = 0; i < 8; ++i) {
    auto can = [](Partial<T> x, bool one) {
      return static_cast<T>((one ? x.value : static_cast<T>(~x.value)) | x.undefined);
    };
    may[table >> i & 1] |= can(a, i & 4) & can(b, i & 2) & can(c, i & 1);
  }
  return {0, static_cast<T>(may[0] & may[1])};
}

/// The low and the high half of a result each depend on one source.
Partial<uint32_t> pairOf(bool low, bool high) {
  return {0, (low ? 0xffffu : 0) | (high ? 0xffff0000u : 0)};
}
Partial<uint32_t> below(Partial<uint32_t> mask, unsigned first, unsigned lane) {
  uint32_t bits = lane >= first + 32 ? ~0u : lane <= first ? 0 : (1u << (lane - first)) - 1;
  return mask & Partial<uint32_t>(bits);
}

/// Integer comparisons of one type. `BIAS` turns signed values into unsigned ones of their order.
#define COMPARISON(W, CONDITION, SUFFIX, EXPRESSION)                                               \
  rule<Bit(W, W)>("v_cmp_" CONDITION "_" SUFFIX " v_cmpx_" CONDITION "_" SUFFIX,                   \
                  [](W::Value a, W::Value b) { return EXPRESSION; })
#define COMPARISONS(W, SUFFIX, BIAS)                                                               \
  COMPARISON(W, "eq", SUFFIX, equal(a, b)), COMPARISON(W, "ne", SUFFIX, !equal(a, b)),             \
      COMPARISON(W, "lt", SUFFIX, less(BIAS(a), BIAS(b))),                                         \
      COMPARISON(W, "ge", SUFFIX, !less(BIAS(a), BIAS(b))),                                        \
      COMPARISON(W, "gt", SUFFIX, less(BIAS(b), BIAS(a))),                                         \
      COMPARISON(W, "le", SUFFIX, !less(BIAS(b), BIAS(a))),                                        \
      COMPARISON(W, "f", SUFFIX, ((void)a, (void)b, PartialBit{})),                                \
      COMPARISON(W, "t", SUFFIX, ((void)a, (void)b, PartialBit{true}))

constexpr PartialBit noCarry;

constexpr NamedRule table[] = {
    // Moves and selection.
    rule<W32(W32)>("v_mov_b32", [](auto a) { return a; }),
    rule<W64(W64)>("v_mov_b64", [](auto a) { return a; }),
    rule<W16(W16)>("v_mov_b16", [](auto a) { return a; }),
    rule<W64(W64, W64)>("v_pk_mov_b32",
                        [](auto a, auto b) {
                          return Partial<uint64_t>(0,
                                                   (a.undefined & 0xffffffff) | b.undefined << 32);
                        }),
    rule<W32(W32, W32, Bit)>("v_cndmask_b32",
                             [](auto a, auto b, auto c) { return select(c, b, a); }),
    rule<W16(W16, W16, Bit)>("v_cndmask_b16",
                             [](auto a, auto b, auto c) { return select(c, b, a); }),
    rule<W32(W16)>("v_cvt_u32_u16", [](auto a) { return Partial<uint32_t>(a.value, a.undefined); }),
    rule<W32(W16)>(
        "v_cvt_i32_i16",
        [](auto a) { return signExtended(Partial<uint32_t>(a.value, a.undefined), 16); }),
    rule<W32(W16, W16)>("v_pack_b32_f16",
                        [](auto a, auto b) {
                          return Partial<uint32_t>(0, a.undefined | uint32_t(b.undefined) << 16);
                        }),

    // Addition and subtraction.
    rule<W32(W32, W32)>("v_add_u32 v_add_nc_u32 v_add_i32 v_add_nc_i32",
                        [](auto a, auto b) { return a + b; }),
    rule<W32(W32, W32)>("v_sub_u32 v_sub_nc_u32 v_sub_i32 v_sub_nc_i32",
                        [](auto a, auto b) { return a - b; }),
    rule<W32(W32, W32)>("v_subrev_u32 v_subrev_nc_u32", [](auto a, auto b) { return b - a; }),
    rule<WithBit<W32>(W32, W32)>("v_add_co_u32", [](auto a, auto b) { return sum(a, b, noCarry); }),
    rule<WithBit<W32>(W32, W32)>("v_sub_co_u32",
                                 [](auto a, auto b) { return difference(a, b, noCarry); }),
    rule<WithBit<W32>(W32, W32)>("v_subrev_co_u32",
                                 [](auto a, auto b) { return difference(b, a, noCarry); }),
    rule<WithBit<W32>(W32, W32, Bit)>("v_addc_co_u32 v_add_co_ci_u32",
                                      [](auto a, auto b, auto c) { return sum(a, b, c); }),
    rule<WithBit<W32>(W32, W32, Bit)>("v_subb_co_u32 v_sub_co_ci_u32",
                                      [](auto a, auto b, auto c) { return difference(a, b, c); }),
    rule<WithBit<W32>(W32, W32, Bit)>("v_subbrev_co_u32 v_subrev_co_ci_u32",
                                      [](auto a, auto b, auto c) { return difference(b, a, c); }),
    rule<W32(W32, W32, W32)>("v_add3_u32", [](auto a, auto b, auto c) { return a + b + c; }),
    rule<W32(W32, W32, W32)>("v_lshl_add_u32",
                             [](auto a, auto b, auto c) { return shiftLeft(a, b, 31) + c; }),
    rule<W64(W64, W32, W64)>("v_lshl_add_u64",
                             [](auto a, auto b, auto c) { return shiftLeft(a, b, 7) + c; }),
    rule<W32(W32, W32, W32)>("v_add_lshl_u32",
                             [](auto a, auto b, auto c) { return shiftLeft(a + b, c, 31); }),
    rule<W32(W32, W32, W32)>("v_xad_u32", [](auto a, auto b, auto c) { return (a ^ b) + c; }),
    rule<W64(W64, W64)>("v_add_u64 v_add_nc_u64", [](auto a, auto b) { return a + b; }),
    rule<W64(W64, W64)>("v_sub_u64 v_sub_nc_u64", [](auto a, auto b) { return a - b; }),

    // Multiplication.
    rule<W32(W32, W32)>("v_mul_lo_u32", [](auto a, auto b) { return a * b; }),
    rule<W32(W32, W32)>("v_mul_u32_u24", [](auto a, auto b) { return low24(a) * low24(b); }),
    rule<W32(W32, W32)>("v_mul_i32_i24",
                        [](auto a, auto b) { return signedLow24(a) * signedLow24(b); }),
    rule<W32(W32, W32)>(
        "v_mul_hi_u32_u24 v_mul_hi_i32_i24",
        [](auto a, auto b) { return Partial<uint32_t>::strict(low24(a), low24(b)); }),
    rule<W32(W32, W32, W32)>("v_mad_u32_u24",
                             [](auto a, auto b, auto c) { return low24(a) * low24(b) + c; }),
    rule<W32(W32, W32, W32)>(
        "v_mad_i32_i24",
        [](auto a, auto b, auto c) { return signedLow24(a) * signedLow24(b) + c; }),
    rule<WithBit<W64>(W32, W32, W64)>("v_mad_u64_u32 v_mad_co_u64_u32",
                                      [](auto a, auto b, auto c) {
                                        Partial<uint64_t> result = product(a, b) + c;
                                        return Carried<uint64_t>{
                                            result, {false, result.undefined >> 63 != 0}};
                                      }),
    rule<W64(W32, W32, W64)>("v_mad_nc_u64_u32",
                             [](auto a, auto b, auto c) { return product(a, b) + c; }),
    rule<W16(W16, W16)>("v_mul_lo_u16", [](auto a, auto b) { return a * b; }),
    rule<W16(W16, W16, W16)>("v_mad_u16 v_mad_legacy_u16 v_mad_i16 v_mad_legacy_i16",
                             [](auto a, auto b, auto c) { return a * b + c; }),

    // Bits.
    rule<W32(W32, W32)>("v_and_b32", [](auto a, auto b) { return a & b; }),
    rule<W32(W32, W32)>("v_or_b32", [](auto a, auto b) { return a | b; }),
    rule<W32(W32, W32)>("v_xor_b32 v_xnor_b32", [](auto a, auto b) { return a ^ b; }),
    rule<W32(W32)>("v_not_b32", [](auto a) { return ~a; }),
    rule<W16(W16, W16)>("v_and_b16", [](auto a, auto b) { return a & b; }),
    rule<W16(W16, W16)>("v_or_b16", [](auto a, auto b) { return a | b; }),
    rule<W16(W16, W16)>("v_xor_b16", [](auto a, auto b) { return a ^ b; }),
    rule<W16(W16)>("v_not_b16", [](auto a) { return ~a; }),
    rule<W32(W32, W32, W32)>("v_and_or_b32", [](auto a, auto b, auto c) { return (a & b) | c; }),
    rule<W32(W32, W32, W32)>("v_or3_b32", [](auto a, auto b, auto c) { return a | b | c; }),
    rule<W32(W32, W32, W32)>("v_xor3_b32", [](auto a, auto b, auto c) { return a ^ b ^ c; }),
    rule<W32(W32, W32, W32)>("v_lshl_or_b32",
                             [](auto a, auto b, auto c) { return shiftLeft(a, b, 31) | c; }),
    rule<W32(W32, W32, W32)>("v_bfi_b32",
                             [](auto a, auto b, auto c) { return truthTable(0xca, a, b, c); }),
    rule<W32(W32, W32, W32)>(
        "v_bitop3_b32",
        [](LaneOf lane, auto a, auto b, auto c) { return truthTable(lane.variant, a, b, c); }),
    rule<W16(W16, W16, W16)>(
        "v_bitop3_b16",
        [](LaneOf lane, auto a, auto b, auto c) { return truthTable(lane.variant, a, b, c); }),
    rule<W32(W32, W32, W32)>("v_bfe_u32", [](auto a, auto b, auto c) { return bitField(a, b, c); }),
    rule<W32(W32, W32, W32)>("v_bfe_i32",
                             [](auto a, auto b, auto c) { return signedBitField(a, b, c); }),
    rule<W32(W32)>(
        "v_bfrev_b32",
        [](auto a) { return Partial<uint32_t>(0, __builtin_bitreverse32(a.undefined)); }),
    rule<W32(W32)>("v_ffbl_b32 v_ctz_i32_b32", [](auto a) { return trailingZeros(a); }),
    rule<W32(W32)>("v_ffbh_u32 v_clz_i32_u32", [](auto a) { return leadingZeros(a); }),
    rule<W32(W32, W32, W32)>("v_alignbit_b32",
                             [](auto a, auto b, auto c) { return align(a, b, c, 1, 31); }),
    rule<W32(W32, W32, W32)>("v_alignbyte_b32",
                             [](auto a, auto b, auto c) { return align(a, b, c, 8, 3); }),
    rule<W32(W32, W32, W32)>("v_perm_b32", [](auto a, auto b, auto c) { return permute(a, b, c); }),

    // Shifts.
    rule<W32(W32, W32)>("v_lshlrev_b32", [](auto a, auto b) { return shiftLeft(b, a, 31); }),
    rule<W32(W32, W32)>("v_lshrrev_b32", [](auto a, auto b) { return shiftRight(b, a, 31); }),
    rule<W32(W32, W32)>("v_ashrrev_i32",
                        [](auto a, auto b) { return shiftRightArithmetic(b, a, 31); }),
    rule<W64(W32, W64)>("v_lshlrev_b64", [](auto a, auto b) { return shiftLeft(b, a, 63); }),
    rule<W64(W32, W64)>("v_lshrrev_b64", [](auto a, auto b) { return shiftRight(b, a, 63); }),
    rule<W64(W32, W64)>("v_ashrrev_i64",
                        [](auto a, auto b) { return shiftRightArithmetic(b, a, 63); }),
    rule<W16(W16, W16)>("v_lshlrev_b16", [](auto a, auto b) { return shiftLeft(b, a, 15); }),
    rule<W16(W16, W16)>("v_lshrrev_b16", [](auto a, auto b) { return shiftRight(b, a, 15); }),
    rule<W16(W16, W16)>("v_ashrrev_i16",
                        [](auto a, auto b) { return shiftRightArithmetic(b, a, 15); }),

    // 16-bit integers.
    rule<W16(W16, W16)>("v_add_u16 v_add_nc_u16 v_add_i16 v_add_nc_i16",
                        [](auto a, auto b) { return a + b; }),
    rule<W16(W16, W16)>("v_sub_u16 v_sub_nc_u16 v_sub_i16 v_sub_nc_i16",
                        [](auto a, auto b) { return a - b; }),
    rule<W16(W16, W16)>("v_subrev_u16", [](auto a, auto b) { return b - a; }),
    halves<W16, W16>("v_pk_add_u16 v_pk_add_i16", [](auto a, auto b) { return a + b; }),
    halves<W16, W16>("v_pk_sub_u16 v_pk_sub_i16", [](auto a, auto b) { return a - b; }),
    halves<W16, W16>("v_pk_mul_lo_u16", [](auto a, auto b) { return a * b; }),
    halves<W16, W16, W16>("v_pk_mad_u16 v_pk_mad_i16",
                          [](auto a, auto b, auto c) { return a * b + c; }),
    halves<W16, W16>("v_pk_lshlrev_b16", [](auto a, auto b) { return shiftLeft(b, a, 15); }),
    halves<W16, W16>("v_pk_lshrrev_b16", [](auto a, auto b) { return shiftRight(b, a, 15); }),
    halves<W16, W16>("v_pk_ashrrev_i16",
                     [](auto a, auto b) { return shiftRightArithmetic(b, a, 15); }),

    // Conversions that read a part of a source, or make a part of a result from each.
    rule<W32(W32)>("v_cvt_f32_ubyte0",
                   [](auto a) { return Partial<uint32_t>::strict(a & Partial<uint32_t>(0xff)); }),
    rule<W32(W32)>("v_cvt_f32_ubyte1",
                   [](auto a) { return Partial<uint32_t>::strict(a & Partial<uint32_t>(0xff00)); }),
    rule<W32(W32)>(
        "v_cvt_f32_ubyte2",
        [](auto a) { return Partial<uint32_t>::strict(a & Partial<uint32_t>(0xff0000)); }),
    rule<W32(W32)>(
        "v_cvt_f32_ubyte3",
        [](auto a) { return Partial<uint32_t>::strict(a & Partial<uint32_t>(0xff000000)); }),
    // op_sel chooses the byte.
    rule<W32(W32)>("v_cvt_f32_fp8 v_cvt_f32_bf8",
                   [](LaneOf lane, auto a) {
                     uint32_t byte = 0xffu << (8 * (lane.variant & 3));
                     return Partial<uint32_t>::strict(a & Partial<uint32_t>(byte));
                   }),
    rule<W64(W32)>("v_cvt_pk_f32_fp8 v_cvt_pk_f32_bf8",
                   [](auto a) {
                     return Partial<uint64_t>(0, (a.undefined & 0xff ? 0xffffffffull : 0) |
                                                     (a.undefined & 0xff00 ? ~0ull << 32 : 0));
                   }),
    rule<W16(W32, W32)>("v_cvt_pk_fp8_f32 v_cvt_pk_bf8_f32",
                        [](auto a, auto b) {
                          return Partial<uint16_t>(
                              0, static_cast<uint16_t>((a.undefined ? 0xff : 0) |
                                                       (b.undefined ? 0xff00 : 0)));
                        }),
    rule<W32(W32, W32)>(
        "v_cvt_pkrtz_f16_f32 v_cvt_pk_rtz_f16_f32 v_cvt_pk_f16_f32 v_cvt_pk_bf16_f32 "
        "v_cvt_pk_i16_i32 v_cvt_pk_u16_u32 v_cvt_pk_i16_f32 v_cvt_pk_u16_f32 "
        "v_cvt_pknorm_i16_f32 v_cvt_pk_norm_i16_f32 v_cvt_pknorm_u16_f32 v_cvt_pk_norm_u16_f32",
        [](auto a, auto b) { return pairOf(a.undefined != 0, b.undefined != 0); }),
    rule<W32(W32, W32, W32)>("v_cvt_pk_u8_f32",
                             [](auto a, auto b, auto c) {
                               if (b.undefined & 3)
                                 return Partial<uint32_t>::strict(b);
                               uint32_t byte = 0xffu << (8 * (b.value & 3));
                               return Partial<uint32_t>(0, (c.undefined & ~byte) |
                                                               (a.undefined ? byte : 0));
                             }),

    // Lane numbers.
    rule<W32(W32, W32)>("v_mbcnt_lo_u32_b32",
                        [](LaneOf lane, auto a, auto b) {
                          return Partial<uint32_t>::strict(below(a, 0, lane.index)) + b;
                        }),
    rule<W32(W32, W32)>("v_mbcnt_hi_u32_b32",
                        [](LaneOf lane, auto a, auto b) {
                          return Partial<uint32_t>::strict(below(a, 32, lane.index)) + b;
                        }),

    COMPARISONS(W32, "u32", ),
    COMPARISONS(W32, "i32", biased),
    COMPARISONS(W64, "u64", ),
    COMPARISONS(W64, "i64", biased),
    COMPARISONS(W16, "u16", ),
    COMPARISONS(W16, "i16", biased),
};

/// Whether any bit of the operand that its type reads is undefined in a lane.
bool readsUndefined(Type type, const uint32_t *row, unsigned stride, unsigned lane) {
  if (is16Bit(type))
    return (row[lane] & 0xffff) != 0;
  if (rowsOf(type) == 2)
    return (row[lane] | row[stride + lane]) != 0;
  return row[lane] != 0;
}

} // namespace

uint64_t strictRule(const Signature &signature, const RuleOperands &operands) {
  uint64_t mask = 0;
  unsigned stride = operands.waveSize;
  for (unsigned lane = 0; lane < stride; ++lane) {
    uint32_t low = 0, high = 0; // Of packed results; else both are the same.
    for (unsigned i = 0; i < 4 && signature.sources[i] != Type::None; ++i) {
      Type type = signature.sources[i];
      const uint32_t *row = operands.undefined[i];
      if (isPacked(type) && isPacked(signature.result)) {
        bool isPair = type == Type::PackedF32;
        low |= isPair ? row[lane] : row[lane] & 0xffff;
        high |= isPair ? row[stride + lane] : row[lane] >> 16;
      } else if (readsUndefined(type, row, stride, lane)) {
        low = high = 1;
      }
    }
    mask |= uint64_t((low | high) != 0) << lane;
    uint32_t wholeLow = low ? ~0u : 0, wholeHigh = high ? ~0u : 0;
    if (signature.result == Type::None)
      continue;
    if (isPacked(signature.result) && signature.result != Type::PackedF32) {
      operands.result[lane] = (wholeLow & 0xffff) | (wholeHigh & 0xffff0000);
      continue;
    }
    operands.result[lane] = wholeLow;
    if (rowsOf(signature.result) == 2)
      operands.result[stride + lane] = wholeHigh;
  }
  return mask;
}

VectorRule vectorRule(const Instruction &row) {
  static const RowsByName<VectorRule> *byName = [] {
    auto *rows = new RowsByName<VectorRule>;
    for (const NamedRule &entry : table)
      rows->add(entry.names, entry.rule);
    return rows;
  }();
  for (llvm::StringRef name : splitNames(row.names)) {
    auto [mnemonic, feature] = name.split('@');
    // Saturation is another operation.
    if (feature != "clamp")
      if (VectorRule found = byName->find(mnemonic))
        return found;
  }
  return nullptr;
}

VectorRule moveRule() {
  return rule<W32(W32)>("", [](auto a) { return a; }).rule;
}

} // namespace wavetile::device::checks
