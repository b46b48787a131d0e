//===- ScalarRules.cpp - Definedness of scalar results --------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rule is the meaning of an instruction once more, over values with undefined bits. It may take
// SCC first, to read or to set:
//
//   rule<W32(W32, W32)>("s_and_b32", [](Scc &scc, auto a, auto b) { return tested(scc, a & b); })
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/checks/ScalarRules.h"

#include "runtime/emulator/RowNames.h"

#include <utility>

namespace wavetile::device::checks {
namespace {

using W32 = Partial<uint32_t>;
using W64 = Partial<uint64_t>;
using Scc = PartialBit;

template <typename T> T narrow(Partial<uint64_t> a) {
  using Value = decltype(T().value);
  return {static_cast<Value>(a.value), static_cast<Value>(a.undefined)};
}

template <typename Op, typename R, typename... S> struct Scalars {
  template <size_t... I> static void apply(ScalarOperands &o, std::index_sequence<I...>) {
    auto result = [&] {
      if constexpr (std::is_invocable_v<Op, Scc &, S...>)
        return Op{}(o.scc, narrow<S>(o.sources[I])...);
      else
        return Op{}(narrow<S>(o.sources[I])...);
    };
    if constexpr (std::is_void_v<R>) {
      result();
    } else {
      R value = result();
      o.result = {value.value, value.undefined};
    }
  }
  static void apply(ScalarOperands &o) { apply(o, std::index_sequence_for<S...>()); }
};

struct NamedRule {
  const char *names;
  ScalarRule rule;
};
template <typename F> struct Builder;
template <typename R, typename... S> struct Builder<R(S...)> {
  template <typename Op> static constexpr NamedRule make(const char *names, Op) {
    return {names, Scalars<Op, R, S...>::apply};
  }
};
template <typename F, typename Op> constexpr NamedRule rule(const char *names, Op op) {
  return Builder<F>::make(names, op);
}

/// SCC says whether a result is not zero.
template <typename T> Partial<T> tested(Scc &scc, Partial<T> result) {
  scc = nonZero(result);
  return result;
}
/// SCC is a carry or an overflow, undefined if any operand is in part.
template <typename T, typename... Operands>
Partial<T> withStrictScc(Scc &scc, Partial<T> result, Operands... operands) {
  scc = {false, (... || (operands.undefined != 0))};
  return result;
}
W32 carried(Scc &scc, W64 wide) {
  scc = {(wide.value >> 32 & 1) != 0, (wide.undefined >> 32 & 1) != 0};
  return narrow<W32>(wide);
}
W64 wide(W32 a) { return {a.value, a.undefined}; }
W64 wide(Scc a) { return {a.value, a.undefined}; }

template <typename T> Partial<T> bitField(Partial<T> a, W32 control) {
  unsigned mask = Partial<T>::width - 1;
  if (control.undefined & (mask | 0x7f0000))
    return Partial<T>::strict(control);
  unsigned count = control.value >> 16 & 0x7f;
  T kept = count >= Partial<T>::width ? static_cast<T>(~T(0)) : static_cast<T>((T(1) << count) - 1);
  return shiftRight(a, control, mask) & Partial<T>(kept);
}
template <typename T> Partial<T> signedBitField(Partial<T> a, W32 control) {
  unsigned width = Partial<T>::width, mask = width - 1;
  if (control.undefined & (mask | 0x7f0000))
    return Partial<T>::strict(control);
  unsigned count = control.value >> 16 & 0x7f, first = control.value & mask;
  if (count == 0)
    return {};
  if (count + first >= width)
    return shiftRightArithmetic(a, control, mask);
  return signExtended(shiftRight(a, control, mask), count);
}
template <typename T> Partial<T> withBit(Partial<T> old, W32 position, bool set) {
  unsigned mask = Partial<T>::width - 1;
  if (position.undefined & mask)
    return Partial<T>::strict(position);
  T bit = T(1) << (position.value & mask);
  return set ? old | Partial<T>(bit) : old & Partial<T>(static_cast<T>(~bit));
}
template <typename T> void testBit(Scc &scc, Partial<T> a, W32 position, bool wanted) {
  unsigned mask = Partial<T>::width - 1;
  if (position.undefined & mask) {
    scc = {false, true};
    return;
  }
  unsigned n = position.value & mask;
  scc = {(a.value >> n & 1) == wanted, (a.undefined >> n & 1) != 0};
}

#define LOGIC(NAMES_32, NAMES_64, EXPRESSION)                                                      \
  rule<W32(W32, W32)>(NAMES_32, [](Scc &scc, W32 a, W32 b) { return tested(scc, EXPRESSION); }),   \
      rule<W64(W64, W64)>(NAMES_64,                                                                \
                          [](Scc &scc, W64 a, W64 b) { return tested(scc, EXPRESSION); })
#define COMPARE(NAMES, W, EXPRESSION)                                                              \
  rule<void(W, W)>(NAMES, [](Scc &scc, W a, W b) { scc = EXPRESSION; })
#define COMPARE_UNSIGNED_K(NAME, EXPRESSION)                                                       \
  rule<void(W32, W32)>(NAME, [](Scc &scc, W32 a, W32 k) {                                          \
    W32 b = k & W32(0xffff);                                                                       \
    scc = EXPRESSION;                                                                              \
  })

constexpr NamedRule table[] = {
    // Moves and selection.
    rule<W32(W32)>("s_mov_b32 s_movk_i32", [](W32 a) { return a; }),
    rule<W64(W64)>("s_mov_b64", [](W64 a) { return a; }),
    rule<W32(W32, W32)>("s_cselect_b32 s_cmov_b32 s_cmovk_i32",
                        [](Scc &scc, W32 a, W32 b) { return select(scc, a, b); }),
    rule<W64(W64, W64)>("s_cselect_b64 s_cmov_b64",
                        [](Scc &scc, W64 a, W64 b) { return select(scc, a, b); }),

    // Arithmetic.
    rule<W32(W32, W32)>("s_add_u32 s_add_co_u32",
                        [](Scc &scc, W32 a, W32 b) { return carried(scc, wide(a) + wide(b)); }),
    rule<W32(W32, W32)>(
        "s_addc_u32 s_add_co_ci_u32",
        [](Scc &scc, W32 a, W32 b) { return carried(scc, wide(a) + wide(b) + wide(scc)); }),
    rule<W32(W32, W32)>("s_sub_u32 s_sub_co_u32",
                        [](Scc &scc, W32 a, W32 b) { return carried(scc, wide(a) - wide(b)); }),
    rule<W32(W32, W32)>(
        "s_subb_u32 s_sub_co_ci_u32",
        [](Scc &scc, W32 a, W32 b) { return carried(scc, wide(a) - wide(b) - wide(scc)); }),
    rule<W32(W32, W32)>("s_add_i32 s_add_co_i32 s_addk_i32 s_addk_co_i32",
                        [](Scc &scc, W32 a, W32 b) { return withStrictScc(scc, a + b, a, b); }),
    rule<W32(W32, W32)>("s_sub_i32 s_sub_co_i32",
                        [](Scc &scc, W32 a, W32 b) { return withStrictScc(scc, a - b, a, b); }),
    rule<W64(W64, W64)>("s_add_u64 s_add_nc_u64", [](W64 a, W64 b) { return a + b; }),
    rule<W64(W64, W64)>("s_sub_u64 s_sub_nc_u64", [](W64 a, W64 b) { return a - b; }),
    rule<W32(W32, W32)>("s_mul_i32 s_mulk_i32", [](W32 a, W32 b) { return a * b; }),
    rule<W64(W64, W64)>("s_mul_u64", [](W64 a, W64 b) { return a * b; }),
#define SHIFTED_SUM(NAME, SHIFT)                                                                   \
  rule<W32(W32, W32)>(NAME, [](Scc &scc, W32 a, W32 b) {                                           \
    return withStrictScc(scc, shiftLeft(a, W32(SHIFT), 31) + b, a, b);                             \
  })
    SHIFTED_SUM("s_lshl1_add_u32", 1),
    SHIFTED_SUM("s_lshl2_add_u32", 2),
    SHIFTED_SUM("s_lshl3_add_u32", 3),
    SHIFTED_SUM("s_lshl4_add_u32", 4),

    // Logic.
    LOGIC("s_and_b32", "s_and_b64", a &b),
    LOGIC("s_or_b32", "s_or_b64", a | b),
    LOGIC("s_xor_b32", "s_xor_b64", a ^ b),
    LOGIC("s_andn2_b32 s_and_not1_b32", "s_andn2_b64 s_and_not1_b64", a & ~b),
    LOGIC("s_orn2_b32 s_or_not1_b32", "s_orn2_b64 s_or_not1_b64", a | ~b),
    LOGIC("s_nand_b32", "s_nand_b64", ~(a &b)),
    LOGIC("s_nor_b32", "s_nor_b64", ~(a | b)),
    LOGIC("s_xnor_b32", "s_xnor_b64", ~(a ^ b)),
    rule<W32(W32)>("s_not_b32", [](Scc &scc, W32 a) { return tested(scc, ~a); }),
    rule<W64(W64)>("s_not_b64", [](Scc &scc, W64 a) { return tested(scc, ~a); }),

    // Shifts and bit fields.
    rule<W32(W32, W32)>("s_lshl_b32",
                        [](Scc &scc, W32 a, W32 b) { return tested(scc, shiftLeft(a, b, 31)); }),
    rule<W64(W64, W32)>("s_lshl_b64",
                        [](Scc &scc, W64 a, W32 b) { return tested(scc, shiftLeft(a, b, 63)); }),
    rule<W32(W32, W32)>("s_lshr_b32",
                        [](Scc &scc, W32 a, W32 b) { return tested(scc, shiftRight(a, b, 31)); }),
    rule<W64(W64, W32)>("s_lshr_b64",
                        [](Scc &scc, W64 a, W32 b) { return tested(scc, shiftRight(a, b, 63)); }),
    rule<W32(W32, W32)>(
        "s_ashr_i32",
        [](Scc &scc, W32 a, W32 b) { return tested(scc, shiftRightArithmetic(a, b, 31)); }),
    rule<W64(W64, W32)>(
        "s_ashr_i64",
        [](Scc &scc, W64 a, W32 b) { return tested(scc, shiftRightArithmetic(a, b, 63)); }),
    rule<W32(W32, W32)>("s_bfe_u32",
                        [](Scc &scc, W32 a, W32 b) { return tested(scc, bitField(a, b)); }),
    rule<W64(W64, W32)>("s_bfe_u64",
                        [](Scc &scc, W64 a, W32 b) { return tested(scc, bitField(a, b)); }),
    rule<W32(W32, W32)>("s_bfe_i32",
                        [](Scc &scc, W32 a, W32 b) { return tested(scc, signedBitField(a, b)); }),
    rule<W64(W64, W32)>("s_bfe_i64",
                        [](Scc &scc, W64 a, W32 b) { return tested(scc, signedBitField(a, b)); }),
    rule<W32(W32)>("s_brev_b32", [](W32 a) { return W32(0, __builtin_bitreverse32(a.undefined)); }),
    rule<W32(W32)>("s_ff1_i32_b32 s_ctz_i32_b32", [](W32 a) { return trailingZeros(a); }),
    rule<W32(W64)>("s_ff1_i32_b64 s_ctz_i32_b64", [](W64 a) { return trailingZeros(a); }),
    rule<W32(W32)>("s_flbit_i32_b32 s_clz_i32_u32", [](W32 a) { return leadingZeros(a); }),
    rule<W32(W64)>("s_flbit_i32_b64 s_clz_i32_u64", [](W64 a) { return leadingZeros(a); }),
    rule<W64(W64)>("s_brev_b64", [](W64 a) { return W64(0, __builtin_bitreverse64(a.undefined)); }),
    rule<W32(W32)>("s_sext_i32_i8", [](W32 a) { return signExtended(a, 8); }),
    rule<W32(W32)>("s_sext_i32_i16", [](W32 a) { return signExtended(a, 16); }),
    rule<W32(W32, W32)>("s_bitset0_b32", [](W32 a, W32 old) { return withBit(old, a, false); }),
    rule<W32(W32, W32)>("s_bitset1_b32", [](W32 a, W32 old) { return withBit(old, a, true); }),
    rule<W64(W32, W64)>("s_bitset0_b64", [](W32 a, W64 old) { return withBit(old, a, false); }),
    rule<W64(W32, W64)>("s_bitset1_b64", [](W32 a, W64 old) { return withBit(old, a, true); }),
    rule<void(W32, W32)>("s_bitcmp0_b32",
                         [](Scc &scc, W32 a, W32 b) { testBit(scc, a, b, false); }),
    rule<void(W32, W32)>("s_bitcmp1_b32", [](Scc &scc, W32 a, W32 b) { testBit(scc, a, b, true); }),
    rule<void(W64, W32)>("s_bitcmp0_b64",
                         [](Scc &scc, W64 a, W32 b) { testBit(scc, a, b, false); }),
    rule<void(W64, W32)>("s_bitcmp1_b64", [](Scc &scc, W64 a, W32 b) { testBit(scc, a, b, true); }),
    rule<W32(W32, W32)>(
        "s_pack_ll_b32_b16",
        [](W32 a, W32 b) { return W32(0, (a.undefined & 0xffff) | b.undefined << 16); }),
    rule<W32(W32, W32)>(
        "s_pack_lh_b32_b16",
        [](W32 a, W32 b) { return W32(0, (a.undefined & 0xffff) | (b.undefined & 0xffff0000)); }),
    rule<W32(W32, W32)>(
        "s_pack_hh_b32_b16",
        [](W32 a, W32 b) { return W32(0, a.undefined >> 16 | (b.undefined & 0xffff0000)); }),
    rule<W32(W32, W32)>("s_pack_hl_b32_b16",
                        [](W32 a, W32 b) { return W32(0, a.undefined >> 16 | b.undefined << 16); }),

    // Comparisons.
    COMPARE("s_cmp_eq_i32 s_cmp_eq_u32 s_cmpk_eq_i32", W32, equal(a, b)),
    COMPARE("s_cmp_lg_i32 s_cmp_lg_u32 s_cmpk_lg_i32", W32, !equal(a, b)),
    COMPARE("s_cmp_eq_u64", W64, equal(a, b)),
    COMPARE("s_cmp_lg_u64", W64, !equal(a, b)),
    COMPARE("s_cmp_gt_i32 s_cmpk_gt_i32", W32, less(biased(b), biased(a))),
    COMPARE("s_cmp_ge_i32 s_cmpk_ge_i32", W32, !less(biased(a), biased(b))),
    COMPARE("s_cmp_lt_i32 s_cmpk_lt_i32", W32, less(biased(a), biased(b))),
    COMPARE("s_cmp_le_i32 s_cmpk_le_i32", W32, !less(biased(b), biased(a))),
    COMPARE("s_cmp_gt_u32", W32, less(b, a)),
    COMPARE("s_cmp_ge_u32", W32, !less(a, b)),
    COMPARE("s_cmp_lt_u32", W32, less(a, b)),
    COMPARE("s_cmp_le_u32", W32, !less(b, a)),
    COMPARE_UNSIGNED_K("s_cmpk_eq_u32", equal(a, b)),
    COMPARE_UNSIGNED_K("s_cmpk_lg_u32", !equal(a, b)),
    COMPARE_UNSIGNED_K("s_cmpk_gt_u32", less(b, a)),
    COMPARE_UNSIGNED_K("s_cmpk_ge_u32", !less(a, b)),
    COMPARE_UNSIGNED_K("s_cmpk_lt_u32", less(a, b)),
    COMPARE_UNSIGNED_K("s_cmpk_le_u32", !less(b, a)),
};

// --- EXEC ---

/// D = EXEC, EXEC = op(S0, EXEC), or D = EXEC = op(S0, EXEC). EXEC's old bits are all defined.
template <typename Op, bool writesResult> void saveExec(ScalarOperands &o) {
  Partial<uint64_t> old(o.exec.value);
  o.exec = Op{}(o.sources[0], old);
  o.result = writesResult ? o.exec : old;
  o.scc = nonZero(o.exec);
}
#define SAVE_EXEC(NAMES, EXPRESSION, WRITES_RESULT)                                                \
  [] {                                                                                             \
    auto op = [](Partial<uint64_t> s, Partial<uint64_t> exec) { return EXPRESSION; };              \
    return NamedRule{NAMES, saveExec<decltype(op), WRITES_RESULT>};                                \
  }()

constexpr NamedRule execTable[] = {
    SAVE_EXEC("s_and_saveexec_b32 s_and_saveexec_b64", s &exec, false),
    SAVE_EXEC("s_or_saveexec_b32 s_or_saveexec_b64", s | exec, false),
    SAVE_EXEC("s_xor_saveexec_b32 s_xor_saveexec_b64", s ^ exec, false),
    SAVE_EXEC("s_andn2_saveexec_b32 s_and_not1_saveexec_b32 s_andn2_saveexec_b64 "
              "s_and_not1_saveexec_b64",
              s & ~exec, false),
    SAVE_EXEC("s_orn2_saveexec_b32 s_or_not1_saveexec_b32 s_orn2_saveexec_b64 "
              "s_or_not1_saveexec_b64",
              s | ~exec, false),
    SAVE_EXEC("s_andn1_saveexec_b32 s_and_not0_saveexec_b32 s_andn1_saveexec_b64 "
              "s_and_not0_saveexec_b64",
              ~s &exec, false),
    SAVE_EXEC("s_orn1_saveexec_b32 s_or_not0_saveexec_b32 s_orn1_saveexec_b64 "
              "s_or_not0_saveexec_b64",
              ~s | exec, false),
    SAVE_EXEC("s_nand_saveexec_b32 s_nand_saveexec_b64", ~(s &exec), false),
    SAVE_EXEC("s_nor_saveexec_b32 s_nor_saveexec_b64", ~(s | exec), false),
    SAVE_EXEC("s_xnor_saveexec_b32 s_xnor_saveexec_b64", ~(s ^ exec), false),
    SAVE_EXEC("s_andn1_wrexec_b64 s_and_not0_wrexec_b64 s_and_not0_wrexec_b32", ~s &exec, true),
    SAVE_EXEC("s_andn2_wrexec_b64 s_and_not1_wrexec_b64 s_and_not1_wrexec_b32", s & ~exec, true),
};

} // namespace

ScalarRule scalarRule(const Instruction &row) {
  static const RowsByName<ScalarRule> *byName = [] {
    auto *rows = new RowsByName<ScalarRule>;
    for (const NamedRule &entry : table)
      rows->add(entry.names, entry.rule);
    for (const NamedRule &entry : execTable)
      rows->add(entry.names, entry.rule);
    return rows;
  }();
  for (llvm::StringRef name : splitNames(row.names))
    if (ScalarRule found = byName->find(name.split('@').first))
      return found;
  return nullptr;
}

} // namespace wavetile::device::checks
