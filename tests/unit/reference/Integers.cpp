//===- Integers.cpp - Integer and bit instructions ===//
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

using enum Kind;
using S64 = int64_t;

S64 signExtended(uint64_t bits, unsigned width) {
  return static_cast<S64>(bits << (64 - width)) >> (64 - width);
}

/// An operation on integers of a width, with the saturation that clamp asks for.
struct Integer {
  unsigned width;
  bool isSigned;

  Kind kind() const { return width == 64 ? (isSigned ? I64 : B64) : width == 16 ? B16 : B32; }
  S64 read(uint64_t bits) const {
    return isSigned ? signExtended(bits, width)
                    : static_cast<S64>(width == 64 ? bits : bits & ((uint64_t(1) << width) - 1));
  }
  /// The exact value, wrapped or saturated.
  uint64_t write(const Lane &lane, __int128 exact) const {
    if (lane.statement.has("clamp")) {
      __int128 low = isSigned ? -(__int128(1) << (width - 1)) : 0;
      __int128 high = isSigned ? (__int128(1) << (width - 1)) - 1 : (__int128(1) << width) - 1;
      exact = std::clamp(exact, low, high);
    }
    return static_cast<uint64_t>(exact) & (width == 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1);
  }
};

class Table {
public:
  explicit Table(Meanings &table) : table(table) {}

  template <typename F>
  VectorMeaning &bits(const char *name, Kind result, std::vector<Kind> sources, F compute) {
    VectorMeaning &meaning = table.vectors[name];
    meaning.result = result;
    meaning.sources = std::move(sources);
    meaning.compute = compute;
    meaning.isInteger = true;
    return meaning;
  }
  /// An arithmetic operation on two or three integers, computed exactly.
  template <typename F>
  VectorMeaning &exact(const char *name, Integer type, unsigned count, F compute) {
    return bits(name, type.kind(), std::vector<Kind>(count, type.kind()), [=](Lane &lane) {
      __int128 a = type.read(lane.source[0]), b = type.read(lane.source[1]),
               c = type.read(lane.source[2]);
      return type.write(lane, compute(a, b, c));
    });
  }

private:
  Meanings &table;
};

constexpr Integer u32{32, false}, i32{32, true}, u16{16, false}, i16{16, true};

uint32_t word(uint64_t bits) { return static_cast<uint32_t>(bits); }

void addMoves(Table &t) {
  auto same = [](Lane &l) { return l.source[0]; };
  t.bits("v_mov_b32", B32, {B32}, same);
  t.bits("v_mov_b64", B64, {B64}, same);
  t.bits("v_mov_b16", B16, {B16}, same).keepsHalf = true;
  auto choice = [](Lane &l) { return l.source[2] ? l.source[1] : l.source[0]; };
  t.bits("v_cndmask_b32", B32, {B32, B32, Mask}, choice);
  t.bits("v_cndmask_b16", B16, {B16, B16, Mask}, choice);
}

void addSums(Table &t) {
  auto plus = [](__int128 a, __int128 b, __int128) { return a + b; };
  auto minus = [](__int128 a, __int128 b, __int128) { return a - b; };
  auto reversed = [](__int128 a, __int128 b, __int128) { return b - a; };
  for (const char *name : {"v_add_u32", "v_add_nc_u32"})
    t.exact(name, u32, 2, plus);
  for (const char *name : {"v_sub_u32", "v_sub_nc_u32"})
    t.exact(name, u32, 2, minus);
  for (const char *name : {"v_subrev_u32", "v_subrev_nc_u32"})
    t.exact(name, u32, 2, reversed);
  for (const char *name : {"v_add_i32", "v_add_nc_i32"})
    t.exact(name, i32, 2, plus);
  for (const char *name : {"v_sub_i32", "v_sub_nc_i32"})
    t.exact(name, i32, 2, minus);
  for (const char *name : {"v_add_u16", "v_add_nc_u16"})
    t.exact(name, u16, 2, plus);
  for (const char *name : {"v_sub_u16", "v_sub_nc_u16"})
    t.exact(name, u16, 2, minus);
  t.exact("v_subrev_u16", u16, 2, reversed);
  for (const char *name : {"v_add_i16", "v_add_nc_i16"})
    t.exact(name, i16, 2, plus).keepsHalf = true;
  for (const char *name : {"v_sub_i16", "v_sub_nc_i16"})
    t.exact(name, i16, 2, minus).keepsHalf = true;

  // The bit beside the result is the carry or borrow; a clamped result saturates.
  auto withCarry = [&](const char *name, bool carryIn, auto compute) {
    std::vector<Kind> sources{B32, B32};
    if (carryIn)
      sources.push_back(Mask);
    t.bits(name, B32, sources, [compute, carryIn](Lane &lane) {
       __int128 sum = compute(__int128(word(lane.source[0])), __int128(word(lane.source[1])),
                              __int128(carryIn ? lane.source[2] : 0));
       lane.mask = sum < 0 || sum > 0xffffffff;
       return u32.write(lane, sum);
     }).writesMask = true;
  };
  auto sum3 = [](__int128 a, __int128 b, __int128 c) { return a + b + c; };
  auto difference = [](__int128 a, __int128 b, __int128 c) { return a - b - c; };
  auto differenceReversed = [](__int128 a, __int128 b, __int128 c) { return b - a - c; };
  withCarry("v_add_co_u32", false, sum3);
  withCarry("v_sub_co_u32", false, difference);
  withCarry("v_subrev_co_u32", false, differenceReversed);
  for (const char *name : {"v_addc_co_u32", "v_add_co_ci_u32"})
    withCarry(name, true, sum3);
  for (const char *name : {"v_subb_co_u32", "v_sub_co_ci_u32"})
    withCarry(name, true, difference);
  for (const char *name : {"v_subbrev_co_u32", "v_subrev_co_ci_u32"})
    withCarry(name, true, differenceReversed);

  t.exact("v_add3_u32", u32, 3, sum3);
  using W = uint32_t;
  auto three = [&](const char *name, W (*f)(W, W, W)) {
    t.bits(name, B32, {B32, B32, B32}, [f](Lane &l) -> uint64_t {
      return f(word(l.source[0]), word(l.source[1]), word(l.source[2]));
    });
  };
  three("v_lshl_add_u32", [](W a, W b, W c) { return (a << b % 32) + c; });
  three("v_add_lshl_u32", [](W a, W b, W c) { return (a + b) << c % 32; });
  three("v_xad_u32", [](W a, W b, W c) { return (a ^ b) + c; });
  three("v_lshl_or_b32", [](W a, W b, W c) { return a << b % 32 | c; });
  three("v_and_or_b32", [](W a, W b, W c) { return (a & b) | c; });
  three("v_or3_b32", [](W a, W b, W c) { return a | b | c; });
  three("v_xor3_b32", [](W a, W b, W c) { return a ^ b ^ c; });
  three("v_bfi_b32", [](W a, W b, W c) { return (a & b) | (~a & c); });
  t.bits("v_lshl_add_u64", B64, {B64, B32, B64},
         [](Lane &l) { return (l.source[0] << l.source[1] % 8) + l.source[2]; });
}

void addProducts(Table &t) {
  auto product = [](__int128 a, __int128 b, __int128) { return a * b; };
  t.bits("v_mul_lo_u32", B32, {B32, B32},
         [](Lane &l) -> uint64_t { return word(l.source[0] * l.source[1]); });
  t.bits("v_mul_hi_u32", B32, {B32, B32},
         [](Lane &l) -> uint64_t { return uint64_t(word(l.source[0])) * word(l.source[1]) >> 32; });
  t.bits("v_mul_hi_i32", B32, {B32, B32}, [](Lane &l) -> uint64_t {
    return word(static_cast<uint64_t>(i32.read(l.source[0]) * i32.read(l.source[1])) >> 32);
  });
  t.exact("v_mul_lo_u16", u16, 2, product);
  struct Narrow {
    const char *low, *high, *mad;
    Integer type;
  };
  for (const Narrow &n :
       {Narrow{"v_mul_u32_u24", "v_mul_hi_u32_u24", "v_mad_u32_u24", {24, false}},
        Narrow{"v_mul_i32_i24", "v_mul_hi_i32_i24", "v_mad_i32_i24", {24, true}}}) {
    Integer type = n.type, whole{32, n.type.isSigned};
    auto exact = [type](Lane &l) {
      return __int128(type.read(l.source[0])) * type.read(l.source[1]);
    };
    t.bits(n.low, B32, {B32, B32}, [=](Lane &l) { return whole.write(l, exact(l)); });
    t.bits(n.high, B32, {B32, B32},
           [=](Lane &l) -> uint64_t { return word(static_cast<uint64_t>(exact(l) >> 32)); });
    t.bits(n.mad, B32, {B32, B32, B32},
           [=](Lane &l) { return whole.write(l, exact(l) + whole.read(l.source[2])); });
  }
  auto mad = [](__int128 a, __int128 b, __int128 c) { return a * b + c; };
  for (const char *name : {"v_mad_u16", "v_mad_legacy_u16"})
    t.exact(name, u16, 3, mad).keepsHalf = std::string(name) == "v_mad_u16";
  for (const char *name : {"v_mad_i16", "v_mad_legacy_i16"})
    t.exact(name, i16, 3, mad).keepsHalf = std::string(name) == "v_mad_i16";
  t.bits("v_mad_u32_u16", B32, {B16, B16, B32}, [](Lane &l) {
    return u32.write(l, __int128(l.source[0]) * l.source[1] + word(l.source[2]));
  });
  t.bits("v_mad_i32_i16", B32, {B16, B16, B32}, [](Lane &l) {
    return i32.write(l, __int128(i16.read(l.source[0])) * i16.read(l.source[1]) +
                            i32.read(l.source[2]));
  });
  for (const char *name : {"v_mad_u64_u32", "v_mad_co_u64_u32"})
    t.bits(name, B64, {B32, B32, B64}, [](Lane &l) {
       unsigned __int128 sum =
           static_cast<unsigned __int128>(word(l.source[0])) * word(l.source[1]) + l.source[2];
       l.mask = sum >> 64 != 0;
       return static_cast<uint64_t>(sum);
     }).writesMask = true;
  for (const char *name : {"v_mad_i64_i32", "v_mad_co_i64_i32"})
    t.bits(name, I64, {B32, B32, I64}, [](Lane &l) {
       uint64_t product = static_cast<uint64_t>(i32.read(l.source[0]) * i32.read(l.source[1]));
       unsigned __int128 sum = static_cast<unsigned __int128>(product) + l.source[2];
       l.mask = sum >> 64 != 0;
       return static_cast<uint64_t>(sum);
     }).writesMask = true;
}

void addBits(Table &t) {
  using W = uint32_t;
  auto two = [&](const char *name, W (*f)(W, W)) {
    t.bits(name, B32, {B32, B32},
           [f](Lane &l) -> uint64_t { return f(word(l.source[0]), word(l.source[1])); });
  };
  auto one = [&](const char *name, W (*f)(W)) {
    t.bits(name, B32, {B32}, [f](Lane &l) -> uint64_t { return f(word(l.source[0])); });
  };
  two("v_and_b32", [](W a, W b) { return a & b; });
  two("v_or_b32", [](W a, W b) { return a | b; });
  two("v_xor_b32", [](W a, W b) { return a ^ b; });
  two("v_xnor_b32", [](W a, W b) { return ~(a ^ b); });
  one("v_not_b32", [](W a) { return ~a; });
  two("v_bfm_b32", [](W a, W b) { return ((1u << a % 32) - 1) << b % 32; });
  one("v_bfrev_b32", [](W a) {
    W result = 0;
    for (unsigned i = 0; i < 32; ++i)
      result |= (a >> i & 1) << (31 - i);
    return result;
  });
  for (const char *name : {"v_ffbh_u32", "v_clz_i32_u32"})
    one(name, [](W a) { return a ? W(std::countl_zero(a)) : ~0u; });
  for (const char *name : {"v_ffbl_b32", "v_ctz_i32_b32"})
    one(name, [](W a) { return a ? W(std::countr_zero(a)) : ~0u; });
  for (const char *name : {"v_ffbh_i32", "v_cls_i32"})
    one(name, [](W a) {
      W same = a >> 31 ? ~a : a;
      return same ? W(std::countl_zero(same)) : ~0u;
    });
  two("v_bcnt_u32_b32", [](W a, W b) { return W(std::popcount(a)) + b; });
  auto three = [&](const char *name, W (*f)(W, W, W)) {
    t.bits(name, B32, {B32, B32, B32}, [f](Lane &l) -> uint64_t {
      return f(word(l.source[0]), word(l.source[1]), word(l.source[2]));
    });
  };
  three("v_bfe_u32", [](W a, W offset, W width) {
    return static_cast<W>(uint64_t(a) >> offset % 32 & ((uint64_t(1) << width % 32) - 1));
  });
  three("v_bfe_i32", [](W a, W offset, W width) {
    offset %= 32, width %= 32;
    if (width == 0)
      return 0u;
    S64 wide = static_cast<int32_t>(a);
    return static_cast<W>(signExtended(static_cast<uint64_t>(wide >> offset), width));
  });
  three("v_alignbit_b32",
        [](W a, W b, W c) { return static_cast<W>((uint64_t(a) << 32 | b) >> c % 32); });
  three("v_alignbyte_b32",
        [](W a, W b, W c) { return static_cast<W>((uint64_t(a) << 32 | b) >> 8 * (c % 4)); });
  for (bool isSigned : {false, true})
    t.bits(isSigned ? "v_ashr_pk_i8_i32" : "v_ashr_pk_u8_i32", B16, {B32, B32, B32},
           [isSigned](Lane &lane) {
             uint64_t result = 0;
             for (unsigned i = 0; i < 2; ++i) {
               int64_t least = isSigned ? -128 : 0, most = isSigned ? 127 : 255;
               int64_t value = static_cast<int32_t>(lane.source[i]);
               for (uint64_t n = lane.source[2] % 32; n > 0; --n) // Halves, rounded down.
                 value = value < 0 ? (value - 1) / 2 : value / 2;
               value = std::min(std::max(value, least), most);
               result |= static_cast<uint64_t>(value & 0xff) << 8 * i;
             }
             return result;
           })
        .keepsHalf = true;
  three("v_perm_b32", [](W a, W b, W selector) {
    uint8_t bytes[8];
    for (unsigned i = 0; i < 4; ++i)
      bytes[i] = static_cast<uint8_t>(b >> 8 * i), bytes[4 + i] = static_cast<uint8_t>(a >> 8 * i);
    W result = 0;
    for (unsigned i = 0; i < 4; ++i) {
      W select = selector >> 8 * i & 0xff, byte;
      if (select <= 7)
        byte = bytes[select];
      else if (select <= 11)
        byte = bytes[1 + 2 * (select - 8)] >= 0x80 ? 0xff : 0;
      else
        byte = select == 12 ? 0 : 0xff;
      result |= byte << 8 * i;
    }
    return result;
  });
  auto difference = [](S64 a, S64 b) { return static_cast<uint64_t>(a > b ? a - b : b - a); };
  t.bits("v_sad_u8", B32, {B32, B32, B32}, [=](Lane &l) {
    __int128 sum = word(l.source[2]);
    for (unsigned i = 0; i < 4; ++i)
      sum += difference(l.source[0] >> 8 * i & 0xff, l.source[1] >> 8 * i & 0xff);
    return u32.write(l, sum);
  });
  t.bits("v_sad_hi_u8", B32, {B32, B32, B32}, [=](Lane &l) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < 4; ++i)
      sum += difference(l.source[0] >> 8 * i & 0xff, l.source[1] >> 8 * i & 0xff);
    return u32.write(l, __int128(sum << 16) + word(l.source[2]));
  });
  t.bits("v_sad_u16", B32, {B32, B32, B32}, [=](Lane &l) {
    __int128 sum = word(l.source[2]);
    for (unsigned i = 0; i < 2; ++i)
      sum += difference(l.source[0] >> 16 * i & 0xffff, l.source[1] >> 16 * i & 0xffff);
    return u32.write(l, sum);
  });
  t.bits("v_sad_u32", B32, {B32, B32, B32}, [=](Lane &l) {
    return u32.write(l, __int128(difference(word(l.source[0]), word(l.source[1]))) +
                            word(l.source[2]));
  });
  t.bits("v_msad_u8", B32, {B32, B32, B32}, [=](Lane &l) {
    __int128 sum = word(l.source[2]);
    for (unsigned i = 0; i < 4; ++i)
      if (l.source[1] >> 8 * i & 0xff)
        sum += difference(l.source[0] >> 8 * i & 0xff, l.source[1] >> 8 * i & 0xff);
    return u32.write(l, sum);
  });
  three("v_lerp_u8", [](W a, W b, W c) {
    W result = 0;
    for (unsigned i = 0; i < 4; ++i) {
      W sum = (a >> 8 * i & 0xff) + (b >> 8 * i & 0xff) + (c >> 8 * i & 1);
      result |= (sum >> 1 & 0xff) << 8 * i;
    }
    return result;
  });
  auto halves = [&](const char *name, uint64_t (*f)(uint64_t, uint64_t)) {
    t.bits(name, B16, {B16, B16}, [f](Lane &l) { return f(l.source[0], l.source[1]); });
  };
  halves("v_and_b16", [](uint64_t a, uint64_t b) { return a & b; });
  halves("v_or_b16", [](uint64_t a, uint64_t b) { return a | b; });
  halves("v_xor_b16", [](uint64_t a, uint64_t b) { return a ^ b; });
  t.bits("v_not_b16", B16, {B16}, [](Lane &l) { return ~l.source[0] & 0xffff; });
  t.bits("v_pack_b32_f16", B32, {F16, F16},
         [](Lane &l) { return l.source[0] | l.source[1] << 16; });

  auto count = [](uint64_t bits, unsigned lanes) {
    return std::popcount(bits & ((uint64_t(1) << lanes) - 1));
  };
  t.bits("v_mbcnt_lo_u32_b32", B32, {B32, B32}, [=](Lane &l) -> uint64_t {
    return word(l.source[1] + count(word(l.source[0]), std::min(l.index, 32u)));
  });
  t.bits("v_mbcnt_hi_u32_b32", B32, {B32, B32}, [=](Lane &l) -> uint64_t {
    return word(l.source[1] + count(word(l.source[0]), l.index < 32 ? 0 : l.index - 32));
  });
}

void addShifts(Table &t) {
  t.bits("v_lshlrev_b32", B32, {B32, B32},
         [](Lane &l) -> uint64_t { return word(l.source[1] << l.source[0] % 32); });
  t.bits("v_lshrrev_b32", B32, {B32, B32},
         [](Lane &l) -> uint64_t { return word(l.source[1]) >> l.source[0] % 32; });
  t.bits("v_ashrrev_i32", B32, {B32, B32}, [](Lane &l) -> uint64_t {
    return word(static_cast<uint64_t>(i32.read(l.source[1]) >> l.source[0] % 32));
  });
  t.bits("v_lshlrev_b64", B64, {B32, B64}, [](Lane &l) { return l.source[1] << l.source[0] % 64; });
  t.bits("v_lshrrev_b64", B64, {B32, B64}, [](Lane &l) { return l.source[1] >> l.source[0] % 64; });
  t.bits("v_ashrrev_i64", I64, {B32, I64}, [](Lane &l) {
    return static_cast<uint64_t>(static_cast<S64>(l.source[1]) >> l.source[0] % 64);
  });
  t.bits("v_lshlrev_b16", B16, {B16, B16},
         [](Lane &l) { return l.source[1] << l.source[0] % 16 & 0xffff; });
  t.bits("v_lshrrev_b16", B16, {B16, B16}, [](Lane &l) { return l.source[1] >> l.source[0] % 16; });
  t.bits("v_ashrrev_i16", B16, {B16, B16}, [](Lane &l) {
    return static_cast<uint64_t>(i16.read(l.source[1]) >> l.source[0] % 16) & 0xffff;
  });
}

void addExtrema(Table &t) {
  using V = __int128;
  auto low = [](V a, V b, V) { return std::min(a, b); };
  auto high = [](V a, V b, V) { return std::max(a, b); };
  auto low3 = [](V a, V b, V c) { return std::min({a, b, c}); };
  auto high3 = [](V a, V b, V c) { return std::max({a, b, c}); };
  auto middle = [](V a, V b, V c) { return a + b + c - std::min({a, b, c}) - std::max({a, b, c}); };
  auto lowOfHigh = [](V a, V b, V c) { return std::min(std::max(a, b), c); };
  auto highOfLow = [](V a, V b, V c) { return std::max(std::min(a, b), c); };
  struct Suffix {
    const char *name;
    Integer type;
  };
  for (const Suffix &s : {Suffix{"u32", u32}, {"i32", i32}, {"u16", u16}, {"i16", i16}}) {
    std::string suffix = s.name;
    bool half = s.type.width == 16;
    auto named = [&](const char *stem) { return std::string(stem) + suffix; };
    t.exact(named("v_min_").c_str(), s.type, 2, low);
    t.exact(named("v_max_").c_str(), s.type, 2, high);
    t.exact(named("v_min3_").c_str(), s.type, 3, low3);
    t.exact(named("v_max3_").c_str(), s.type, 3, high3);
    t.exact(named("v_med3_").c_str(), s.type, 3, middle);
    if (!half) {
      t.exact(named("v_maxmin_").c_str(), s.type, 3, lowOfHigh);
      t.exact(named("v_minmax_").c_str(), s.type, 3, highOfLow);
    }
  }
}

uint64_t truthTable(const Lane &l, unsigned width) {
  auto found = l.statement.modifiers.find("bitop3");
  unsigned table = found == l.statement.modifiers.end()
                       ? 0
                       : unsigned(std::strtoul(found->second.c_str(), nullptr, 0));
  uint64_t result = 0;
  for (unsigned bit = 0; bit < width; ++bit) {
    unsigned index = unsigned(l.source[0] >> bit & 1) << 2 | unsigned(l.source[1] >> bit & 1) << 1 |
                     unsigned(l.source[2] >> bit & 1);
    result |= uint64_t(table >> index & 1) << bit;
  }
  return result;
}

} // namespace

void addIntegers(Meanings &meanings) {
  Table t(meanings);
  addMoves(t);
  addSums(t);
  addProducts(t);
  addBits(t);
  addShifts(t);
  addExtrema(t);
  t.bits("v_bitop3_b32", B32, {B32, B32, B32}, [](Lane &l) { return truthTable(l, 32); });
  t.bits("v_bitop3_b16", B16, {B16, B16, B16}, [](Lane &l) { return truthTable(l, 16); });
}

} // namespace wavetile::reference
