//===- Scalars.cpp - Scalar ALU instructions ===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "reference/Reference.h"

#include <algorithm>
#include <bit>

namespace wavetile::reference {
namespace {

using S64 = int64_t;
using L = ScalarLane;

class Table {
public:
  explicit Table(Meanings &table) : table(table) {}

  template <typename F>
  ScalarMeaning &put(const std::string &name, unsigned result, std::vector<unsigned> sources,
                     bool writesScc, F compute) {
    ScalarMeaning &meaning = table.scalars[name];
    meaning.resultBits = result;
    meaning.sourceBits = std::move(sources);
    meaning.writesScc = writesScc;
    meaning.compute = compute;
    return meaning;
  }

private:
  Meanings &table;
};

uint64_t low(uint64_t bits, unsigned width) {
  return width == 64 ? bits : bits & ((uint64_t(1) << width) - 1);
}
S64 extended(uint64_t bits, unsigned width) {
  return static_cast<S64>(bits << (64 - width)) >> (64 - width);
}
uint32_t word(uint64_t bits) { return static_cast<uint32_t>(bits); }
S64 number(uint64_t bits) { return static_cast<int32_t>(bits); }

void addMoves(Table &t) {
  auto same = [](L &l) { return l.source[0]; };
  t.put("s_mov_b32", 32, {32}, false, same);
  t.put("s_mov_b64", 64, {64}, false, same);
  t.put("s_movk_i32", 32, {32}, false, [](L &l) { return uint64_t(extended(l.source[0], 16)); });
  for (unsigned width : {32u, 64u}) {
    std::string suffix = width == 32 ? "b32" : "b64";
    t.put("s_cselect_" + suffix, width, {width, width}, false,
          [](L &l) { return l.scc ? l.source[0] : l.source[1]; });
    t.put("s_cmov_" + suffix, width, {width, width}, false, [](L &l) {
       return l.scc ? l.source[0] : l.source[1];
     }).readsDestination = true;
  }
  t.put("s_cmovk_i32", 32, {32, 32}, false, [](L &l) {
     return l.scc ? uint64_t(extended(l.source[0], 16)) : l.source[1];
   }).readsDestination = true;
}

void addArithmetic(Table &t) {
  auto carry = [&](const char *name, auto exact) {
    t.put(name, 32, {32, 32}, true, [exact](L &l) {
      S64 sum = exact(S64(word(l.source[0])), S64(word(l.source[1])), S64(l.scc));
      l.scc = sum < 0 || sum > S64(0xffffffff);
      return uint64_t(sum);
    });
  };
  for (const char *name : {"s_add_u32", "s_add_co_u32"})
    carry(name, [](S64 a, S64 b, S64) { return a + b; });
  for (const char *name : {"s_addc_u32", "s_add_co_ci_u32"})
    carry(name, [](S64 a, S64 b, S64 c) { return a + b + c; });
  for (const char *name : {"s_sub_u32", "s_sub_co_u32"})
    carry(name, [](S64 a, S64 b, S64) { return a - b; });
  for (const char *name : {"s_subb_u32", "s_sub_co_ci_u32"})
    carry(name, [](S64 a, S64 b, S64 c) { return a - b - c; });
  auto overflow = [](L &l, S64 exact) {
    l.scc = exact < INT32_MIN || exact > INT32_MAX;
    return uint64_t(exact);
  };
  for (const char *name : {"s_add_i32", "s_add_co_i32"})
    t.put(name, 32, {32, 32}, true,
          [=](L &l) { return overflow(l, number(l.source[0]) + number(l.source[1])); });
  for (const char *name : {"s_sub_i32", "s_sub_co_i32"})
    t.put(name, 32, {32, 32}, true,
          [=](L &l) { return overflow(l, number(l.source[0]) - number(l.source[1])); });
  for (const char *name : {"s_addk_i32", "s_addk_co_i32"})
    t.put(name, 32, {32, 32}, true, [=](L &l) {
       return overflow(l, extended(l.source[0], 16) + number(l.source[1]));
     }).readsDestination = true;
  t.put("s_mulk_i32", 32, {32, 32}, false, [](L &l) {
     return uint64_t(extended(l.source[0], 16) * number(l.source[1]));
   }).readsDestination = true;
  t.put("s_mul_i32", 32, {32, 32}, false, [](L &l) { return l.source[0] * l.source[1]; });
  t.put("s_mul_hi_u32", 32, {32, 32}, false,
        [](L &l) { return uint64_t(word(l.source[0])) * word(l.source[1]) >> 32; });
  t.put("s_mul_hi_i32", 32, {32, 32}, false,
        [](L &l) { return uint64_t(number(l.source[0]) * number(l.source[1])) >> 32; });
  t.put("s_mul_u64", 64, {64, 64}, false, [](L &l) { return l.source[0] * l.source[1]; });
  for (const char *name : {"s_add_u64", "s_add_nc_u64"})
    t.put(name, 64, {64, 64}, false, [](L &l) { return l.source[0] + l.source[1]; });
  for (const char *name : {"s_sub_u64", "s_sub_nc_u64"})
    t.put(name, 64, {64, 64}, false, [](L &l) { return l.source[0] - l.source[1]; });
  for (unsigned shift = 1; shift <= 4; ++shift)
    t.put("s_lshl" + std::to_string(shift) + "_add_u32", 32, {32, 32}, true, [=](L &l) {
      uint64_t sum = (uint64_t(word(l.source[0])) << shift) + word(l.source[1]);
      l.scc = sum >> 32 != 0;
      return sum;
    });
  auto choose = [&](const char *name, bool isSigned, bool wantLess) {
    t.put(name, 32, {32, 32}, true, [=](L &l) {
      S64 a = isSigned ? number(l.source[0]) : S64(word(l.source[0]));
      S64 b = isSigned ? number(l.source[1]) : S64(word(l.source[1]));
      // SCC: the first was chosen, also by a maximum of equal operands.
      l.scc = wantLess ? a < b : a >= b;
      return uint64_t(wantLess ? std::min(a, b) : std::max(a, b));
    });
  };
  choose("s_min_i32", true, true);
  choose("s_min_u32", false, true);
  choose("s_max_i32", true, false);
  choose("s_max_u32", false, false);
  t.put("s_abs_i32", 32, {32}, true, [](L &l) {
    uint32_t a = word(l.source[0]), result = a >> 31 ? 0u - a : a;
    l.scc = result != 0;
    return uint64_t(result);
  });
  t.put("s_absdiff_i32", 32, {32, 32}, true, [](L &l) {
    uint32_t difference = word(l.source[0]) - word(l.source[1]);
    uint32_t result = difference >> 31 ? 0u - difference : difference;
    l.scc = result != 0;
    return uint64_t(result);
  });
}

void addLogic(Table &t) {
  for (unsigned width : {32u, 64u}) {
    std::string suffix = width == 32 ? "_b32" : "_b64";
    auto two = [&](const char *name, uint64_t (*f)(uint64_t, uint64_t)) {
      t.put(name + suffix, width, {width, width}, true, [=](L &l) {
        uint64_t result = low(f(l.source[0], l.source[1]), width);
        l.scc = result != 0;
        return result;
      });
    };
    using U = uint64_t;
    two("s_and", [](U a, U b) { return a & b; });
    two("s_or", [](U a, U b) { return a | b; });
    two("s_xor", [](U a, U b) { return a ^ b; });
    for (const char *name : {"s_andn2", "s_and_not1"})
      two(name, [](U a, U b) { return a & ~b; });
    for (const char *name : {"s_orn2", "s_or_not1"})
      two(name, [](U a, U b) { return a | ~b; });
    two("s_nand", [](U a, U b) { return ~(a & b); });
    two("s_nor", [](U a, U b) { return ~(a | b); });
    two("s_xnor", [](U a, U b) { return ~(a ^ b); });
    t.put("s_not" + suffix, width, {width}, true, [=](L &l) {
      uint64_t result = low(~l.source[0], width);
      l.scc = result != 0;
      return result;
    });
    auto one = [&](const char *name, unsigned result, bool writesScc, auto f) {
      t.put(name, result, {width}, writesScc, [=](L &l) {
        uint64_t value = low(uint64_t(f(low(l.source[0], width))), result);
        if (writesScc)
          l.scc = value != 0;
        return value;
      });
    };
    bool wide = width == 64;
    one(wide ? "s_brev_b64" : "s_brev_b32", width, false, [=](U a) {
      U result = 0;
      for (unsigned i = 0; i < width; ++i)
        result |= (a >> i & 1) << (width - 1 - i);
      return result;
    });
    one(wide ? "s_bcnt1_i32_b64" : "s_bcnt1_i32_b32", 32, true,
        [](U a) { return std::popcount(a); });
    one(wide ? "s_bcnt0_i32_b64" : "s_bcnt0_i32_b32", 32, true,
        [=](U a) { return std::popcount(low(~a, width)); });
    auto first = [=](U a) { return a ? std::countr_zero(a) : -1; };
    auto leading = [=](U a) { return a ? std::countl_zero(a) - int(64 - width) : -1; };
    auto signs = [=](U a) { return leading(low(extended(a, width) < 0 ? ~a : a, width)); };
    for (const char *stem : {"s_ff1_i32", "s_ctz_i32"})
      one((stem + suffix).c_str(), 32, false, first);
    one(("s_ff0_i32" + suffix).c_str(), 32, false, [=](U a) { return first(low(~a, width)); });
    one(wide ? "s_flbit_i32_b64" : "s_flbit_i32_b32", 32, false, leading);
    one(wide ? "s_clz_i32_u64" : "s_clz_i32_u32", 32, false, leading);
    one(wide ? "s_flbit_i32_i64" : "s_flbit_i32", 32, false, signs);
    one(wide ? "s_cls_i32_i64" : "s_cls_i32", 32, false, signs);
    for (bool set : {false, true})
      t.put((set ? "s_bitset1" : "s_bitset0") + suffix, width, {32, width}, false, [=](L &l) {
         U bit = U(1) << l.source[0] % width;
         return set ? l.source[1] | bit : l.source[1] & ~bit;
       }).readsDestination = true;
    for (bool set : {false, true})
      t.put((set ? "s_bitcmp1" : "s_bitcmp0") + suffix, 0, {width, 32}, true, [=](L &l) {
        l.scc = (l.source[0] >> l.source[1] % width & 1) == set;
        return U(0);
      });
    t.put("s_lshl" + suffix, width, {width, 32}, true, [=](L &l) {
      U result = low(l.source[0] << l.source[1] % width, width);
      l.scc = result != 0;
      return result;
    });
    t.put("s_lshr" + suffix, width, {width, 32}, true, [=](L &l) {
      U result = low(l.source[0], width) >> l.source[1] % width;
      l.scc = result != 0;
      return result;
    });
    t.put(wide ? "s_ashr_i64" : "s_ashr_i32", width, {width, 32}, true, [=](L &l) {
       U result = low(U(extended(l.source[0], width) >> l.source[1] % width), width);
       l.scc = result != 0;
       return result;
     }).isSigned = true;
    t.put("s_bfm" + suffix, width, {32, 32}, false, [=](L &l) {
      return low(((U(1) << l.source[0] % width) - 1) << l.source[1] % width, width);
    });
    for (bool isSigned : {false, true})
      t.put(std::string("s_bfe_") + (isSigned ? "i" : "u") + std::to_string(width), width,
            {width, 32}, true, [=](L &l) {
              unsigned offset = unsigned(l.source[1]) % width;
              unsigned count = std::min(unsigned(l.source[1] >> 16 & 0x7f), width);
              U shifted = isSigned ? U(extended(l.source[0], width) >> offset)
                                   : low(l.source[0], width) >> offset;
              U result = count == 0 ? 0 : low(shifted, count);
              if (isSigned && count != 0)
                result = low(U(extended(result, count)), width);
              l.scc = result != 0;
              return result;
            });
  }
  t.put("s_sext_i32_i8", 32, {32}, false, [](L &l) { return uint64_t(extended(l.source[0], 8)); });
  t.put("s_sext_i32_i16", 32, {32}, false,
        [](L &l) { return uint64_t(extended(l.source[0], 16)); });
  auto packed = [&](const char *name, unsigned first, unsigned second) {
    t.put(name, 32, {32, 32}, false, [=](L &l) {
      return (l.source[0] >> first & 0xffff) | (l.source[1] >> second & 0xffff) << 16;
    });
  };
  packed("s_pack_ll_b32_b16", 0, 0);
  packed("s_pack_lh_b32_b16", 0, 16);
  packed("s_pack_hh_b32_b16", 16, 16);
  packed("s_pack_hl_b32_b16", 16, 0);
  t.put("s_bitreplicate_b64_b32", 64, {32}, false, [](L &l) {
    uint64_t result = 0;
    for (unsigned i = 0; i < 32; ++i)
      result |= (l.source[0] >> i & 1) * 3 << (2 * i);
    return result;
  });
  for (unsigned width : {32u, 64u})
    for (bool quad : {false, true}) {
      std::string suffix = width == 64 ? "_b64" : "_b32";
      t.put((quad ? "s_quadmask" : "s_wqm") + suffix, width, {width}, true, [=](L &l) {
        uint64_t result = 0;
        for (unsigned i = 0; i < width / 4; ++i)
          if (low(l.source[0], width) >> (4 * i) & 15)
            result |= quad ? uint64_t(1) << i : uint64_t(15) << (4 * i);
        l.scc = result != 0;
        return result;
      });
    }
}

void addComparisons(Table &t) {
  struct Condition {
    const char *name;
    bool (*holds)(S64, S64);
  };
  for (const Condition &c : {Condition{"eq", [](S64 a, S64 b) { return a == b; }},
                             {"lg", [](S64 a, S64 b) { return a != b; }},
                             {"gt", [](S64 a, S64 b) { return a > b; }},
                             {"ge", [](S64 a, S64 b) { return a >= b; }},
                             {"lt", [](S64 a, S64 b) { return a < b; }},
                             {"le", [](S64 a, S64 b) { return a <= b; }}})
    for (bool isSigned : {false, true}) {
      std::string suffix = std::string(c.name) + (isSigned ? "_i32" : "_u32");
      auto holds = c.holds;
      t.put("s_cmp_" + suffix, 0, {32, 32}, true, [=](L &l) {
        l.scc = isSigned ? holds(number(l.source[0]), number(l.source[1]))
                         : holds(S64(word(l.source[0])), S64(word(l.source[1])));
        return uint64_t(0);
      });
      t.put("s_cmpk_" + suffix, 0, {32, 32}, true, [=](L &l) {
        l.scc = isSigned ? holds(number(l.source[0]), extended(l.source[1], 16))
                         : holds(S64(word(l.source[0])), S64(l.source[1] & 0xffff));
        return uint64_t(0);
      });
    }
  t.put("s_cmp_eq_u64", 0, {64, 64}, true, [](L &l) {
    l.scc = l.source[0] == l.source[1];
    return uint64_t(0);
  });
  t.put("s_cmp_lg_u64", 0, {64, 64}, true, [](L &l) {
    l.scc = l.source[0] != l.source[1];
    return uint64_t(0);
  });
}

/// D = EXEC; EXEC = an operation on S0 and EXEC; SCC = whether any lane is left.
void addExecMasks(Table &t) {
  using U = uint64_t;
  struct Operation {
    const char *name;
    U (*f)(U, U);
    bool returnsNew;
  };
  for (const Operation &o : {Operation{"and_saveexec", [](U s, U e) { return s & e; }, false},
                             {"or_saveexec", [](U s, U e) { return s | e; }, false},
                             {"xor_saveexec", [](U s, U e) { return s ^ e; }, false},
                             {"andn2_saveexec", [](U s, U e) { return s & ~e; }, false},
                             {"and_not1_saveexec", [](U s, U e) { return s & ~e; }, false},
                             {"orn2_saveexec", [](U s, U e) { return s | ~e; }, false},
                             {"or_not1_saveexec", [](U s, U e) { return s | ~e; }, false},
                             {"nand_saveexec", [](U s, U e) { return ~(s & e); }, false},
                             {"nor_saveexec", [](U s, U e) { return ~(s | e); }, false},
                             {"xnor_saveexec", [](U s, U e) { return ~(s ^ e); }, false},
                             {"andn1_saveexec", [](U s, U e) { return ~s & e; }, false},
                             {"and_not0_saveexec", [](U s, U e) { return ~s & e; }, false},
                             {"orn1_saveexec", [](U s, U e) { return ~s | e; }, false},
                             {"or_not0_saveexec", [](U s, U e) { return ~s | e; }, false},
                             {"andn1_wrexec", [](U s, U e) { return ~s & e; }, true},
                             {"and_not0_wrexec", [](U s, U e) { return ~s & e; }, true},
                             {"andn2_wrexec", [](U s, U e) { return s & ~e; }, true},
                             {"and_not1_wrexec", [](U s, U e) { return s & ~e; }, true}})
    for (unsigned width : {32u, 64u}) {
      auto f = o.f;
      bool returnsNew = o.returnsNew;
      t.put(std::string("s_") + o.name + (width == 64 ? "_b64" : "_b32"), width, {width}, true,
            [=](L &l) {
              auto &scalars = l.wave.scalars;
              U old = low(scalars[scalarnumber::Exec] | U(scalars[scalarnumber::Exec + 1]) << 32,
                          width);
              U next = low(f(l.source[0], old), width);
              scalars[scalarnumber::Exec] = word(next);
              if (width == 64)
                scalars[scalarnumber::Exec + 1] = word(next >> 32);
              l.scc = next != 0;
              return returnsNew ? next : old;
            });
    }
}

} // namespace

void addScalars(Meanings &meanings) {
  Table t(meanings);
  addMoves(t);
  addArithmetic(t);
  addLogic(t);
  addComparisons(t);
  addExecMasks(t);
}

} // namespace wavetile::reference
