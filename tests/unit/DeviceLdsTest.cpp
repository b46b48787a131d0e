//===- DeviceLdsTest.cpp - LDS instructions of the emulator ---------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expected values are computed here, lane after lane, from the pseudo-code of AMD's ISA documents.
//
//===----------------------------------------------------------------------===//

#include "DeviceTestSupport.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <random>

namespace wavetile::device::test {
namespace {

template <typename T> T wordAt(const std::vector<uint8_t> &memory, size_t offset) {
  T value;
  std::copy_n(memory.data() + offset, sizeof(T), reinterpret_cast<uint8_t *>(&value));
  return value;
}
template <typename T> void setWordAt(std::vector<uint8_t> &memory, size_t offset, T value) {
  std::copy_n(reinterpret_cast<const uint8_t *>(&value), sizeof(T), memory.data() + offset);
}

/// A 64-bit value in two registers, or a 32-bit one in one.
template <typename T> T registerOf(WaveUnderTest &test, unsigned index, unsigned lane) {
  uint64_t value = test.vgpr(index, lane);
  if (sizeof(T) == 8)
    value |= static_cast<uint64_t>(test.vgpr(index + 1, lane)) << 32;
  return static_cast<T>(value);
}
template <typename T>
void setRegister(WaveUnderTest &test, unsigned index, unsigned lane, uint64_t value) {
  test.vgpr(index, lane) = static_cast<uint32_t>(value);
  if (sizeof(T) == 8)
    test.vgpr(index + 1, lane) = static_cast<uint32_t>(value >> 32);
}

/// What atomics with one operand do, by the part of their names before and after "_rtn".
template <typename T> struct Operation {
  const char *name, *type;
  T (*apply)(T old, T value);
  bool onGfx9 = true, onGfx11 = true;
};

// The documents' rules for floats, by classification instead of bits.
template <typename T, typename F> T quiet(T bits) {
  constexpr T quietBit = T(1) << (std::numeric_limits<F>::digits - 2);
  return std::isnan(std::bit_cast<F>(bits)) ? bits | quietBit : bits;
}
template <typename T, typename F> bool isSignalling(T bits) {
  return std::isnan(std::bit_cast<F>(bits)) && quiet<T, F>(bits) != bits;
}
template <typename T, typename F> T addFloat(T old, T value) {
  F a = std::bit_cast<F>(old), b = std::bit_cast<F>(value);
  if (std::isnan(a) || std::isnan(b))
    return quiet<T, F>(std::isnan(a) ? old : value);
  F sum = a + b;
  if (std::isnan(sum)) // Infinities of opposite signs.
    return sizeof(T) == 4 ? T(0x7fc00000) : T(0x7ff8000000000000);
  return std::bit_cast<T>(sum);
}
/// The order of the documents: -inf ... -0, +0 ... +inf, with a quiet NaN at the losing end.
template <typename T, typename F, bool maximum> T extremum(T old, T value) {
  if (isSignalling<T, F>(old))
    return quiet<T, F>(old);
  if (isSignalling<T, F>(value))
    return quiet<T, F>(value);
  F a = std::bit_cast<F>(old), b = std::bit_cast<F>(value);
  if (std::isnan(b))
    return old;
  if (std::isnan(a))
    return value;
  auto below = [](F x, F y) { return x < y || (x == y && std::signbit(x) && !std::signbit(y)); };
  return below(a, b) == maximum ? value : old;
}

const Operation<uint32_t> operations32[] = {
    {"add", "u32", [](uint32_t a, uint32_t b) { return a + b; }},
    {"sub", "u32", [](uint32_t a, uint32_t b) { return a - b; }},
    {"rsub", "u32", [](uint32_t a, uint32_t b) { return b - a; }},
    {"inc", "u32", [](uint32_t a, uint32_t b) { return a >= b ? 0 : a + 1; }},
    {"dec", "u32", [](uint32_t a, uint32_t b) { return a == 0 || a > b ? b : a - 1; }},
    {"min", "u32", [](uint32_t a, uint32_t b) { return std::min(a, b); }},
    {"max", "u32", [](uint32_t a, uint32_t b) { return std::max(a, b); }},
    {"min", "i32",
     [](uint32_t a, uint32_t b) {
       return static_cast<uint32_t>(std::min(static_cast<int32_t>(a), static_cast<int32_t>(b)));
     }},
    {"max", "i32",
     [](uint32_t a, uint32_t b) {
       return static_cast<uint32_t>(std::max(static_cast<int32_t>(a), static_cast<int32_t>(b)));
     }},
    {"and", "b32", [](uint32_t a, uint32_t b) { return a & b; }},
    {"or", "b32", [](uint32_t a, uint32_t b) { return a | b; }},
    {"xor", "b32", [](uint32_t a, uint32_t b) { return a ^ b; }},
    {"add", "f32", addFloat<uint32_t, float>},
    {"min", "f32", extremum<uint32_t, float, false>},
    {"max", "f32", extremum<uint32_t, float, true>},
};
const Operation<uint64_t> operations64[] = {
    {"add", "u64", [](uint64_t a, uint64_t b) { return a + b; }},
    {"sub", "u64", [](uint64_t a, uint64_t b) { return a - b; }},
    {"rsub", "u64", [](uint64_t a, uint64_t b) { return b - a; }},
    {"inc", "u64", [](uint64_t a, uint64_t b) { return a >= b ? 0 : a + 1; }},
    {"dec", "u64", [](uint64_t a, uint64_t b) { return a == 0 || a > b ? b : a - 1; }},
    {"min", "u64", [](uint64_t a, uint64_t b) { return std::min(a, b); }},
    {"max", "u64", [](uint64_t a, uint64_t b) { return std::max(a, b); }},
    {"min", "i64",
     [](uint64_t a, uint64_t b) {
       return static_cast<uint64_t>(std::min(static_cast<int64_t>(a), static_cast<int64_t>(b)));
     }},
    {"max", "i64",
     [](uint64_t a, uint64_t b) {
       return static_cast<uint64_t>(std::max(static_cast<int64_t>(a), static_cast<int64_t>(b)));
     }},
    {"and", "b64", [](uint64_t a, uint64_t b) { return a & b; }},
    {"or", "b64", [](uint64_t a, uint64_t b) { return a | b; }},
    {"xor", "b64", [](uint64_t a, uint64_t b) { return a ^ b; }},
    {"add", "f64", addFloat<uint64_t, double>, true, false},
    {"min", "f64", extremum<uint64_t, double, false>},
    {"max", "f64", extremum<uint64_t, double, true>},
};

/// Any bits, often small numbers or a float's special values.
uint64_t randomWord(std::mt19937_64 &random, unsigned bytes) {
  static const uint32_t special32[] = {0,          0x80000000, 1,          0x80000001, 0x7f800000,
                                       0xff800000, 0x7fc00001, 0x7f800001, 0xffa00000, 0x3f800000,
                                       0x00400000, 0x807fffff, 0xffffffff, 0x7fffffff};
  static const uint64_t special64[] = {0,
                                       0x8000000000000000,
                                       1,
                                       0x800fffffffffffff,
                                       0x7ff0000000000000,
                                       0xfff0000000000000,
                                       0x7ff8000000000001,
                                       0x7ff0000000000001,
                                       0x3ff0000000000000,
                                       0xffffffffffffffff};
  switch (random() % 3) {
  case 0:
    return bytes == 4 ? special32[random() % std::size(special32)]
                      : special64[random() % std::size(special64)];
  case 1:
    return random() % 8;
  default:
    return bytes == 4 ? static_cast<uint32_t>(random()) : random();
  }
}

/// The instruction of an operation, whose result goes where its operand was: v4 or v[4:5].
template <typename T> std::string atomicText(const Operation<T> &operation, bool returns) {
  std::string data = sizeof(T) == 8 ? "v[4:5]" : "v4";
  return std::string("ds_") + operation.name + (returns ? "_rtn_" : "_") + operation.type + " " +
         (returns ? data + ", " : "") + "v1, " + data + " offset:24\n";
}

/// Executes the next instruction of \p test, which is that of \p operation, on random values.
template <typename T>
void testAtomic(WaveUnderTest &test, const Operation<T> &operation, bool returns) {
  std::mt19937_64 random(sizeof(T) * 1000 + returns);
  for (size_t i = 0; i < 1024; i += sizeof(T))
    setWordAt<T>(test.lds, i, static_cast<T>(randomWord(random, sizeof(T))));
  uint64_t exec = random() & test.wave->allLanes();
  test.wave->setLaneMask(scalar::Exec, exec);
  for (unsigned lane = 0; lane < test.size(); ++lane) {
    bool on = exec >> lane & 1; // Lanes that are off have bad addresses. Some share a word.
    test.vgpr(1, lane) = on ? static_cast<uint32_t>(random() % 29 * sizeof(T)) : 0xfffffff1u;
    setRegister<T>(test, 4, lane, randomWord(random, sizeof(T)));
  }
  std::vector<uint8_t> memory = test.lds;
  std::vector<T> expected(test.size());
  for (unsigned lane = 0; lane < test.size(); ++lane) {
    T value = registerOf<T>(test, 4, lane);
    expected[lane] = value;
    if (!(exec >> lane & 1))
      continue;
    size_t at = test.vgpr(1, lane) + 24;
    T old = wordAt<T>(memory, at);
    setWordAt<T>(memory, at, operation.apply(old, value));
    if (returns)
      expected[lane] = old;
  }
  test.wave->pc = test.wave->pc->execute(*test.wave, test.wave->pc);
  ASSERT_TRUE(test.wave->pc);
  EXPECT_TRUE(test.lds == memory) << atomicText(operation, returns);
  for (unsigned lane = 0; lane < test.size(); ++lane)
    EXPECT_EQ(registerOf<T>(test, 4, lane), expected[lane]) << atomicText(operation, returns);
}

TEST(DeviceLds, AtomicsWorkLaneByLane) {
  for (const char *target : targetNames) {
    auto forAll = [&](auto body) {
      auto exists = [&](const auto &operation) {
        return isGfx9(target) ? operation.onGfx9 : operation.onGfx11;
      };
      for (bool returns : {false, true}) {
        for (const auto &operation : operations32)
          if (exists(operation))
            body(operation, returns);
        for (const auto &operation : operations64)
          if (exists(operation))
            body(operation, returns);
      }
    };
    std::string text;
    forAll([&](const auto &operation, bool returns) { text += atomicText(operation, returns); });
    WaveUnderTest test(target, text);
    forAll([&](const auto &operation, bool returns) { testAtomic(test, operation, returns); });
  }
}

TEST(DeviceLds, AtomicsFlushDenormalsAsModeSays) {
  // s_setreg MODE: f32 denormals off; the sum and its operands become zeros, of a minimum only
  // the comparison sees zeros.
  WaveUnderTest test("gfx950", "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0\n"
                               "ds_add_f32 v0, v1\n"
                               "ds_add_f32 v0, v2 offset:4\n"
                               "ds_min_f32 v0, v3 offset:8\n"
                               "ds_add_f64 v0, v[4:5] offset:16\n"
                               "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3\n"
                               "ds_add_f32 v0, v1 offset:24");
  test.wave->setLaneMask(scalar::Exec, 1);
  setWordAt<uint32_t>(test.lds, 0, 0x3f800000); // 1 + a denormal.
  test.vgpr(1, 0) = 0x007fffff;
  setWordAt<uint32_t>(test.lds, 4, 0x00800001); // The difference is a denormal.
  test.vgpr(2, 0) = 0x80800000;
  setWordAt<uint32_t>(test.lds, 8, 0x00000005); // As zeros they are equal: the first stays.
  test.vgpr(3, 0) = 0x00000003;
  setWordAt<uint64_t>(test.lds, 16, 1);
  test.vgpr(4, 0) = 2;
  setWordAt<uint32_t>(test.lds, 24, 0x00000002);
  test.run();
  EXPECT_EQ(wordAt<uint32_t>(test.lds, 0), 0x3f800000u);
  EXPECT_EQ(wordAt<uint32_t>(test.lds, 4), 0u);
  EXPECT_EQ(wordAt<uint32_t>(test.lds, 8), 5u);
  EXPECT_EQ(wordAt<uint64_t>(test.lds, 16), 3u); // 64-bit sums never flush.
  EXPECT_EQ(wordAt<uint32_t>(test.lds, 24), 0x00800001u);
}

TEST(DeviceLds, PackedSums) {
  for (const char *target : targetNames) {
    if (!isGfx9(target))
      continue;
    WaveUnderTest test(target, "ds_pk_add_f16 v0, v1\nds_pk_add_rtn_bf16 v3, v0, v2 offset:8");
    test.wave->setLaneMask(scalar::Exec, 3);
    setWordAt<uint32_t>(test.lds, 0, 0x3c000001); // 1.0, the least denormal.
    setWordAt<uint32_t>(test.lds, 8, 0x3f803f80); // 1.0, 1.0
    for (unsigned lane = 0; lane < 2; ++lane) {
      test.vgpr(1, lane) = 0x40000001; // 2.0, the least denormal.
      test.vgpr(2, lane) = 0x40003b80; // 2.0, 2^-8: half a unit in the last place.
    }
    test.run();
    EXPECT_EQ(wordAt<uint32_t>(test.lds, 0), 0x45000003u); // 5.0, three of the least.
    EXPECT_EQ(wordAt<uint32_t>(test.lds, 8), 0x40a03f80u); // 5.0; ties to even leave 1.0.
    EXPECT_EQ(test.vgpr(3, 0), 0x3f803f80u);
    EXPECT_EQ(test.vgpr(3, 1), 0x40403f80u);
  }
}

TEST(DeviceLds, CompareAndSwapTakesOperandsInTheOrderOfItsName) {
  for (const char *target : targetNames) {
    bool gfx9 = isGfx9(target);
    std::string name = gfx9 ? "ds_cmpst" : "ds_cmpstore";
    // v2 or v[8:9] is compared with, v3 or v[10:11] is new.
    auto operands = [&](const std::string &compared, const std::string &value) {
      return gfx9 ? compared + ", " + value : value + ", " + compared;
    };
    WaveUnderTest test(target, name + "_rtn_b32 v4, v0, " + operands("v2", "v3") + "\n" + name +
                                   "_b64 v0, " + operands("v[8:9]", "v[10:11]") + " offset:64\n" +
                                   name + "_rtn_f32 v5, v0, " + operands("v6", "v3") +
                                   " offset:128");
    test.wave->setLaneMask(scalar::Exec, 0xf);
    for (unsigned lane = 0; lane < 4; ++lane) {
      test.vgpr(0, lane) = 8 * lane;
      setWordAt<uint32_t>(test.lds, 8 * lane, lane);
      setWordAt<uint64_t>(test.lds, 64 + 8 * lane, uint64_t(5) << 32 | lane);
      setWordAt<uint32_t>(test.lds, 128 + 8 * lane, lane == 2 ? 0x7fc00000 : 0x80000000);
      test.vgpr(2, lane) = 2;
      test.vgpr(3, lane) = 100 + lane;
      test.vgpr(6, lane) = lane == 2 ? 0x7fc00000 : 0; // +0 equals -0, a NaN nothing.
      test.vgpr(8, lane) = 1, test.vgpr(9, lane) = 5;
      test.vgpr(10, lane) = 200, test.vgpr(11, lane) = 300 + lane;
    }
    test.run();
    for (unsigned lane = 0; lane < 4; ++lane) {
      EXPECT_EQ(test.vgpr(4, lane), lane);
      EXPECT_EQ(wordAt<uint32_t>(test.lds, 8 * lane), lane == 2 ? 102 : lane);
      EXPECT_EQ(wordAt<uint64_t>(test.lds, 64 + 8 * lane),
                lane == 1 ? uint64_t(301) << 32 | 200 : uint64_t(5) << 32 | lane);
      EXPECT_EQ(wordAt<uint32_t>(test.lds, 128 + 8 * lane), lane == 2 ? 0x7fc00000 : 100 + lane);
    }
  }
}

TEST(DeviceLds, OperationsWithTwoOperands) {
  for (const char *target : targetNames) {
    WaveUnderTest test(target, "ds_mskor_b32 v0, v1, v2\n"
                               "ds_mskor_rtn_b64 v[10:11], v0, v[4:5], v[6:7] offset:64\n"
                               "ds_wrap_rtn_b32 v12, v0, v1, v2 offset:128\n"
                               "ds_condxchg32_rtn_b64 v[14:15], v0, v[8:9] offset:194");
    test.wave->setLaneMask(scalar::Exec, 3);
    for (unsigned lane = 0; lane < 2; ++lane) {
      test.vgpr(0, lane) = 8 * lane;
      test.vgpr(1, lane) = 0x0f, test.vgpr(2, lane) = 0xa3;
      test.vgpr(4, lane) = 0xff00ff00, test.vgpr(5, lane) = 0xf;
      test.vgpr(6, lane) = 0x12003400, test.vgpr(7, lane) = 5;
      test.vgpr(8, lane) = lane ? 7 : 0x80000009, test.vgpr(9, lane) = lane ? 0x8000000b : 6;
      setWordAt<uint32_t>(test.lds, 8 * lane, 0x1234);
      setWordAt<uint64_t>(test.lds, 64 + 8 * lane, 0x1111111122222222);
      setWordAt<uint32_t>(test.lds, 128 + 8 * lane, lane ? 0x10 : 5);
      setWordAt<uint64_t>(test.lds, 192 + 8 * lane, uint64_t(77) << 32 | 66);
    }
    test.run();
    for (unsigned lane = 0; lane < 2; ++lane) {
      EXPECT_EQ(wordAt<uint32_t>(test.lds, 8 * lane), (0x1234u & ~0x0fu) | 0xa3u);
      EXPECT_EQ(wordAt<uint64_t>(test.lds, 64 + 8 * lane),
                (0x1111111122222222 & ~0xfff00ff00u) | 0x0000000512003400);
      EXPECT_EQ(registerOf<uint64_t>(test, 10, lane), 0x1111111122222222u);
      EXPECT_EQ(wordAt<uint32_t>(test.lds, 128 + 8 * lane), lane ? 0x10u - 0xf : 5u + 0xa3);
      EXPECT_EQ(test.vgpr(12, lane), lane ? 0x10u : 5u);
      // A half is replaced if the top bit of its data says so; the address is cut to 8 bytes.
      EXPECT_EQ(wordAt<uint64_t>(test.lds, 192 + 8 * lane),
                lane ? uint64_t(11) << 32 | 66 : uint64_t(77) << 32 | 9);
      EXPECT_EQ(registerOf<uint64_t>(test, 14, lane), uint64_t(77) << 32 | 66);
    }
  }
}

TEST(DeviceLds, ExchangesOfTwoWords) {
  for (const char *target : targetNames) {
    std::string one = isGfx9(target) ? "ds_wrxchg2_rtn_b32" : "ds_storexchg_2addr_rtn_b32";
    std::string far =
        isGfx9(target) ? "ds_wrxchg2st64_rtn_b64" : "ds_storexchg_2addr_stride64_rtn_b64";
    // The results lie over data and address.
    WaveUnderTest test(target, one + " v[2:3], v0, v2, v3 offset0:1 offset1:3\n" + far +
                                   " v[4:7], v4, v[8:9], v[10:11] offset0:1 offset1:2");
    for (unsigned lane = 0; lane < test.size(); ++lane) {
      test.vgpr(0, lane) = 16 * lane, test.vgpr(4, lane) = 2048 + 8 * lane;
      for (unsigned i : {2u, 3u, 8u, 9u, 10u, 11u})
        test.vgpr(i, lane) = 1000 * i + lane;
      for (unsigned i = 0; i < 4; ++i)
        setWordAt<uint32_t>(test.lds, 16 * lane + 4 * i, 10 * lane + i);
      for (unsigned i = 1; i < 3; ++i)
        setWordAt<uint64_t>(test.lds, 2048 + 512 * i + 8 * lane, uint64_t(i) << 40 | lane);
    }
    test.run();
    for (unsigned lane = 0; lane < test.size(); ++lane) {
      EXPECT_EQ(test.vgpr(2, lane), 10 * lane + 1);
      EXPECT_EQ(test.vgpr(3, lane), 10 * lane + 3);
      EXPECT_EQ(wordAt<uint32_t>(test.lds, 16 * lane + 4), 2000 + lane);
      EXPECT_EQ(wordAt<uint32_t>(test.lds, 16 * lane + 12), 3000 + lane);
      EXPECT_EQ(registerOf<uint64_t>(test, 4, lane), uint64_t(1) << 40 | lane);
      EXPECT_EQ(registerOf<uint64_t>(test, 6, lane), uint64_t(2) << 40 | lane);
      EXPECT_EQ(wordAt<uint64_t>(test.lds, 2560 + 8 * lane),
                (9000ull + lane) << 32 | (8000 + lane));
      EXPECT_EQ(wordAt<uint64_t>(test.lds, 3072 + 8 * lane),
                (11000ull + lane) << 32 | (10000 + lane));
    }
  }
}

TEST(DeviceLds, AppendAndConsumeCountLanes) {
  for (const char *target : targetNames) {
    WaveUnderTest test(target, "s_mov_b32 m0, 0x40\nds_append v1 offset:8\n"
                               "ds_consume v2 offset:8\nds_consume v3 offset:8");
    test.wave->setLaneMask(scalar::Exec, 0xf1);
    setWordAt<uint32_t>(test.lds, 0x48, 100);
    test.vgpr(1, 1) = 7;
    test.run();
    EXPECT_EQ(test.vgpr(1, 0), 100u);
    EXPECT_EQ(test.vgpr(1, 1), 7u);
    EXPECT_EQ(test.vgpr(2, 7), 105u);
    EXPECT_EQ(test.vgpr(3, 4), 100u);
    EXPECT_EQ(wordAt<uint32_t>(test.lds, 0x48), 95u);
  }
}

TEST(DeviceLds, AddressesByLaneNumber) {
  for (const char *target : targetNames) {
    std::string write = isGfx9(target) ? "ds_write_addtid_b32" : "ds_store_addtid_b32";
    std::string read = isGfx9(target) ? "ds_read_addtid_b32" : "ds_load_addtid_b32";
    WaveUnderTest test(target, "s_mov_b32 m0, 0xabc00100\n" + write + " v1 offset:20\n" + read +
                                   " v2 offset:16");
    for (unsigned lane = 0; lane < test.size(); ++lane)
      test.vgpr(1, lane) = 500 + lane;
    setWordAt<uint32_t>(test.lds, 0x110, 42);
    test.run();
    for (unsigned lane = 0; lane < test.size(); ++lane) {
      EXPECT_EQ(wordAt<uint32_t>(test.lds, 0x114 + 4 * lane), 500 + lane);
      EXPECT_EQ(test.vgpr(2, lane), lane == 0 ? 42 : 499 + lane);
    }
  }
}

TEST(DeviceLds, ReadsAndWritesOfAllWidthsAtAnyByte) {
  for (const char *target : targetNames)
    for (unsigned dwords : {1u, 2u, 3u, 4u}) {
      std::string width = "_b" + std::to_string(32 * dwords);
      std::string read = (isGfx9(target) ? "ds_read" : "ds_load") + width;
      std::string write = (isGfx9(target) ? "ds_write" : "ds_store") + width;
      auto range = [&](unsigned first) {
        return dwords == 1
                   ? "v" + std::to_string(first)
                   : "v[" + std::to_string(first) + ":" + std::to_string(first + dwords - 1) + "]";
      };
      // The destination of the read has the address in its first register.
      WaveUnderTest test(target, read + " " + range(4) + ", v4 offset:12\n" + write + " v9, " +
                                     range(4) + " offset:32768");
      std::mt19937_64 random(dwords);
      for (uint8_t &byte : test.lds)
        byte = static_cast<uint8_t>(random());
      uint64_t exec = dwords % 2 ? random() & test.wave->allLanes() : test.wave->allLanes();
      test.wave->setLaneMask(scalar::Exec, exec);
      std::vector<uint8_t> memory = test.lds;
      std::vector<uint32_t> expected;
      for (unsigned lane = 0; lane < test.size(); ++lane) {
        bool on = exec >> lane & 1;
        uint32_t from = static_cast<uint32_t>(random() % 30000);
        uint32_t to = 16 * lane + static_cast<uint32_t>(random() % 2);
        test.vgpr(4, lane) = on ? from : 0xffffff00;
        test.vgpr(9, lane) = to;
        for (unsigned i = 0; i < dwords; ++i) {
          if (i > 0)
            test.vgpr(4 + i, lane) = 7;
          expected.push_back(on ? wordAt<uint32_t>(test.lds, from + 12 + 4 * i)
                                : test.vgpr(4 + i, lane));
          if (on)
            setWordAt(memory, 32768 + to + 4 * i, expected.back());
        }
      }
      test.run();
      for (unsigned lane = 0; lane < test.size(); ++lane)
        for (unsigned i = 0; i < dwords; ++i)
          EXPECT_EQ(test.vgpr(4 + i, lane), expected[lane * dwords + i]) << read << lane;
      EXPECT_TRUE(memory == test.lds) << target << write;
    }
}

TEST(DeviceLds, NarrowReadsKeepOrFillTheirRegister) {
  for (const char *target : targetNames) {
    std::string load = isGfx9(target) ? "ds_read_" : "ds_load_";
    std::string text;
    unsigned next = 1;
    for (const char *kind : {"u8", "i8", "u16", "i16", "u8_d16", "u8_d16_hi", "i8_d16", "i8_d16_hi",
                             "u16_d16", "u16_d16_hi"})
      text += load + kind + " v" + std::to_string(next++) + ", v0 offset:3\n";
    std::string store = isGfx9(target) ? "ds_write_" : "ds_store_";
    text += store + "b8 v0, v11 offset:16\n" + store + "b8_d16_hi v0, v11 offset:17\n" + store +
            "b16 v0, v11 offset:19\n" + store + "b16_d16_hi v0, v11 offset:22\n";
    WaveUnderTest test(target, text);
    test.wave->setLaneMask(scalar::Exec, 4);
    setWordAt<uint32_t>(test.lds, 3, 0x77f1f080 + 0x0f);
    for (unsigned i = 1; i < 11; ++i)
      test.vgpr(i, 2) = 0xabcd1234;
    test.vgpr(11, 2) = 0x13572468;
    test.run();
    const uint32_t expected[] = {0x8f,       0xffffff8f, 0xf08f,     0xfffff08f, 0xabcd008f,
                                 0x008f1234, 0xabcdff8f, 0xff8f1234, 0xabcdf08f, 0xf08f1234};
    for (unsigned i = 0; i < 10; ++i)
      EXPECT_EQ(test.vgpr(1 + i, 2), expected[i]) << i;
    EXPECT_EQ(wordAt<uint16_t>(test.lds, 16), 0x5768);
    EXPECT_EQ(wordAt<uint16_t>(test.lds, 19), 0x2468);
    EXPECT_EQ(wordAt<uint16_t>(test.lds, 22), 0x1357);
  }
}

/// The pseudo-code of DS_SWIZZLE_B32.
unsigned swizzledLane(unsigned pattern, unsigned i) {
  unsigned from;
  if (pattern >= 0xe000) {
    unsigned mask = pattern & 31, ones = 0, reversed = 0;
    for (unsigned bit = 0; bit < 5; ++bit) {
      ones += mask >> bit & 1;
      reversed |= (i >> bit & 1) << (4 - bit);
    }
    from = reversed >> ones | (i & mask & 31);
  } else if (pattern >= 0xc000) {
    int rotation = static_cast<int>(pattern >> 5 & 31), mask = pattern & 31;
    if (pattern & 0x400)
      rotation = -rotation;
    int lane = static_cast<int>(i);
    from = static_cast<unsigned>((lane & mask) | ((lane + rotation) & ~mask)) & 31;
  } else if (pattern & 0x8000) {
    from = (i & 28) | (pattern >> (2 * (i & 3)) & 3);
  } else {
    from = (((i & 31) & (pattern & 31)) | (pattern >> 5 & 31)) ^ (pattern >> 10 & 31);
  }
  return from | (i & 32);
}
TEST(DeviceLds, SwizzlesOfAllModes) {
  for (const char *target : targetNames)
    for (unsigned pattern : {0x041fu, 0x7c1fu, 0x0018u, 0x80e4u, 0x801bu, 0xc0a0u, 0xc4e3u, 0xe000u,
                             0xe001u, 0xe01cu, 0xe01fu}) {
      WaveUnderTest test(target, "ds_swizzle_b32 v1, v0 offset:" + std::to_string(pattern));
      uint64_t exec = 0xf7ffff7fdfffffefu & test.wave->allLanes();
      test.wave->setLaneMask(scalar::Exec, exec);
      for (unsigned lane = 0; lane < test.size(); ++lane)
        test.vgpr(0, lane) = 100 + lane, test.vgpr(1, lane) = 7;
      test.run();
      for (unsigned lane = 0; lane < test.size(); ++lane) {
        unsigned from = swizzledLane(pattern, lane);
        uint32_t moved = exec >> from & 1 ? 100 + from : 0;
        EXPECT_EQ(test.vgpr(1, lane), exec >> lane & 1 ? moved : 7) << pattern << " " << lane;
      }
    }
}

TEST(DeviceLds, M0DoesNotLimitAddresses) {
  for (const char *target : targetNames) {
    WaveUnderTest test(target, std::string("s_mov_b32 m0, 0\n") +
                                   (isGfx9(target) ? "ds_read_b32" : "ds_load_b32") + " v1, v0");
    test.vgpr(0, 0) = 4096;
    setWordAt<uint32_t>(test.lds, 4096, 99);
    test.run();
    EXPECT_EQ(test.vgpr(1, 0), 99u);
  }
}

TEST(DeviceLds, FaultsNameTheLane) {
  for (const char *target : targetNames) {
    WaveUnderTest test(target, std::string(isGfx9(target) ? "ds_write_b64" : "ds_store_b64") +
                                   " v0, v[2:3] offset:8");
    test.vgpr(0, 5) = static_cast<uint32_t>(test.lds.size()) - 12;
    EXPECT_EQ(test.wave->pc->execute(*test.wave, test.wave->pc), nullptr);
    EXPECT_EQ(test.wave->fault.kind, FaultKind::LdsOutOfBounds);
    EXPECT_EQ(test.wave->fault.lane, 5);
    EXPECT_EQ(test.wave->fault.address, test.lds.size() - 4);
    WaveUnderTest atomic(target, "ds_add_u64 v0, v[2:3]");
    atomic.vgpr(0, 9) = 12;
    EXPECT_EQ(atomic.wave->pc->execute(*atomic.wave, atomic.wave->pc), nullptr);
    EXPECT_EQ(atomic.wave->fault.kind, FaultKind::Misaligned);
    EXPECT_EQ(atomic.wave->fault.lane, 9);
    EXPECT_TRUE(atomic.wave->fault.isAtomic);
    EXPECT_FALSE(test.wave->fault.isAtomic);
  }
}

} // namespace
} // namespace wavetile::device::test
