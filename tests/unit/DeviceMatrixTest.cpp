//===- DeviceMatrixTest.cpp - Matrix instructions with exact integers -----===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where elements lie in registers is taken from AMD's matrix instruction calculator, written down
// here once more and in another form than in the emulator.
//
//===----------------------------------------------------------------------===//

#include "DeviceTestSupport.h"

#include <bit>
#include <cmath>
#include <random>

namespace wavetile::device::test {
namespace {

// --- Small integers in every format ---

/// The code of a small integer in a float format of the given widths.
uint32_t encode(int value, unsigned exponentBits, unsigned mantissaBits, int bias) {
  if (value == 0)
    return 0;
  unsigned magnitude = static_cast<unsigned>(std::abs(value));
  int exponent = std::bit_width(magnitude) - 1;
  uint32_t mantissa = (magnitude << mantissaBits >> exponent) & ((1u << mantissaBits) - 1);
  EXPECT_EQ((mantissa | 1u << mantissaBits) << exponent >> mantissaBits, magnitude);
  uint32_t sign = value < 0 ? 1u << (exponentBits + mantissaBits) : 0;
  return sign | static_cast<uint32_t>(exponent + bias) << mantissaBits | mantissa;
}

enum class Element { F32, F16, BF16, Fp8Fnuz, Bf8Fnuz, Fp8Ocp, Bf8Ocp, Fp6, Bf6, Fp4, I8, F64 };

unsigned bitsOf(Element element) {
  switch (element) {
  case Element::F64:
    return 64;
  case Element::F32:
    return 32;
  case Element::F16:
  case Element::BF16:
    return 16;
  case Element::Fp6:
  case Element::Bf6:
    return 6;
  case Element::Fp4:
    return 4;
  default:
    return 8;
  }
}
uint64_t code(Element element, int value) {
  switch (element) {
  case Element::F64:
    return std::bit_cast<uint64_t>(static_cast<double>(value));
  case Element::F32:
    return std::bit_cast<uint32_t>(static_cast<float>(value));
  case Element::F16:
    return encode(value, 5, 10, 15);
  case Element::BF16:
    return std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16;
  case Element::Fp8Fnuz:
    return encode(value, 4, 3, 8);
  case Element::Bf8Fnuz:
    return encode(value, 5, 2, 16);
  case Element::Fp8Ocp:
    return encode(value, 4, 3, 7);
  case Element::Bf8Ocp:
    return encode(value, 5, 2, 15);
  case Element::Fp6:
    return encode(value, 2, 3, 1);
  case Element::Bf6:
    return encode(value, 3, 2, 3);
  case Element::Fp4:
    return encode(value, 2, 1, 1);
  case Element::I8:
    return static_cast<uint8_t>(value);
  }
  return 0;
}
/// Values that every format has.
int randomValue(std::mt19937 &random, Element element) {
  int limit = element == Element::I8 ? 127 : element == Element::Fp4 ? 4 : 3;
  return static_cast<int>(random() % (2 * static_cast<unsigned>(limit) + 1)) - limit;
}

// --- Shapes ---

struct Product {
  const char *target;
  const char *mnemonic;
  unsigned side, depth, blocks;
  Element a, b;
  const char *modifiers = "";
};

std::ostream &operator<<(std::ostream &os, const Product &p) {
  return os << p.target << " " << p.mnemonic << " " << p.modifiers;
}

/// (register, lane) of element (row, column) of a result.
std::pair<unsigned, unsigned> resultPlace(const Product &p, unsigned block, unsigned row,
                                          unsigned column) {
  if (p.side == 32) // row = 8 * (i / 4) + 4 * (l / 32) + i % 4
    return {16 * block + 4 * (row / 8) + row % 4, 32 * (row / 4 % 2) + column};
  if (p.a == Element::F64) // row = 4 * i + l / 16
    return p.side == 16 ? std::pair{row / 4, 16 * (row % 4) + column}
                        : std::pair{0u, 16 * row + 4 * block + column};
  if (p.side == 16) // row = 4 * (l / 16) + i
    return {4 * block + row % 4, 16 * (row / 4) + column};
  return {row, 4 * block + column};
}
/// (element, lane) of A's (row, k) or B's (k, column).
std::pair<unsigned, unsigned> operandPlace(const Product &p, unsigned block, unsigned row,
                                           unsigned k) {
  unsigned lanesOfK = 64 / (p.side * p.blocks), ofLane = p.depth / lanesOfK;
  return {k % ofLane, row + p.side * (block + p.blocks * (k / ofLane))};
}

class DeviceMatrix : public testing::TestWithParam<Product> {};

std::string range(const char *file, unsigned first, unsigned count) {
  return std::string(file) + "[" + std::to_string(first) + ":" + std::to_string(first + count - 1) +
         "]";
}

void check(const Product &p, bool inAccumulators) {
  unsigned lanesOfK = 64 / (p.side * p.blocks);
  unsigned elementsOfLane = p.depth / lanesOfK;
  auto words = [&](Element element) { return (elementsOfLane * bitsOf(element) + 31) / 32; };
  bool isDouble = p.a == Element::F64;
  unsigned wordsOfResult = isDouble ? 2 : 1;
  unsigned resultRegisters = p.side * p.side * p.blocks / 64 * wordsOfResult;
  auto operand = [&](const char *file, unsigned first, unsigned count) {
    return count == 1 ? std::string(file) + std::to_string(first) : range(file, first, count);
  };
  const char *file = inAccumulators ? "a" : "v";
  std::string text = std::string(p.mnemonic) + " " + operand(file, 100, resultRegisters) + ", " +
                     operand("v", 0, words(p.a)) + ", " + operand("v", 32, words(p.b)) + ", " +
                     operand(file, 64, resultRegisters) + " " + p.modifiers + "\n";
  WaveUnderTest test(p.target, text);

  std::mt19937 random(p.side * 1000 + p.depth);
  std::vector<int> a(p.blocks * p.side * p.depth), b(a.size()), c(p.blocks * p.side * p.side);
  for (int &x : a)
    x = randomValue(random, p.a);
  for (int &x : b)
    x = randomValue(random, p.b);
  for (int &x : c)
    x = static_cast<int>(random() % 2001) - 1000;
  auto put = [&](unsigned firstRegister, Element element, unsigned index, unsigned lane,
                 int value) {
    unsigned position = index * bitsOf(element);
    uint64_t bits = code(element, value);
    for (unsigned i = 0; i < bitsOf(element); ++i)
      test.vgpr(firstRegister + (position + i) / 32, lane) |= static_cast<uint32_t>(bits >> i & 1)
                                                              << ((position + i) % 32);
  };
  auto result = [&](unsigned index, unsigned lane) -> uint32_t & {
    return inAccumulators ? test.agpr(index, lane) : test.vgpr(index, lane);
  };
  auto resultBits = [&](int value) -> uint64_t {
    if (p.a == Element::I8)
      return static_cast<uint32_t>(value);
    return isDouble ? code(Element::F64, value) : code(Element::F32, value);
  };
  for (unsigned block = 0; block < p.blocks; ++block) {
    for (unsigned row = 0; row < p.side; ++row)
      for (unsigned k = 0; k < p.depth; ++k) {
        auto [index, lane] = operandPlace(p, block, row, k);
        put(0, p.a, index, lane, a[(block * p.side + row) * p.depth + k]);
        put(32, p.b, index, lane, b[(block * p.side + row) * p.depth + k]);
      }
    for (unsigned row = 0; row < p.side; ++row)
      for (unsigned column = 0; column < p.side; ++column) {
        auto [index, lane] = resultPlace(p, block, row, column);
        uint64_t bits = resultBits(c[(block * p.side + row) * p.side + column]);
        for (unsigned w = 0; w < wordsOfResult; ++w)
          result(64 + index * wordsOfResult + w, lane) = static_cast<uint32_t>(bits >> (32 * w));
      }
  }
  test.wave->setLaneMask(scalar::Exec, 1); // EXEC does not matter.
  test.run();
  for (unsigned block = 0; block < p.blocks; ++block)
    for (unsigned row = 0; row < p.side; ++row)
      for (unsigned column = 0; column < p.side; ++column) {
        int sum = c[(block * p.side + row) * p.side + column];
        for (unsigned k = 0; k < p.depth; ++k)
          sum +=
              a[(block * p.side + row) * p.depth + k] * b[(block * p.side + column) * p.depth + k];
        auto [index, lane] = resultPlace(p, block, row, column);
        uint64_t bits = 0;
        for (unsigned w = 0; w < wordsOfResult; ++w)
          bits |= static_cast<uint64_t>(result(100 + index * wordsOfResult + w, lane)) << (32 * w);
        ASSERT_EQ(bits, resultBits(sum))
            << p << ", block " << block << ", row " << row << ", column " << column;
      }
}

TEST_P(DeviceMatrix, GivesExactProductsOfIntegersInVectorRegisters) { check(GetParam(), false); }
TEST_P(DeviceMatrix, GivesExactProductsOfIntegersInAccumulators) { check(GetParam(), true); }

#define BOTH(...)                                                                                  \
  {"gfx942", __VA_ARGS__}, { "gfx950", __VA_ARGS__ }

const Product products[] = {
    BOTH("v_mfma_f32_32x32x1_2b_f32", 32, 1, 2, Element::F32, Element::F32),
    BOTH("v_mfma_f32_16x16x1_4b_f32", 16, 1, 4, Element::F32, Element::F32),
    BOTH("v_mfma_f32_4x4x1_16b_f32", 4, 1, 16, Element::F32, Element::F32),
    BOTH("v_mfma_f32_32x32x2_f32", 32, 2, 1, Element::F32, Element::F32),
    BOTH("v_mfma_f32_16x16x4_f32", 16, 4, 1, Element::F32, Element::F32),
    BOTH("v_mfma_f32_32x32x4_2b_f16", 32, 4, 2, Element::F16, Element::F16),
    BOTH("v_mfma_f32_16x16x4_4b_f16", 16, 4, 4, Element::F16, Element::F16),
    BOTH("v_mfma_f32_4x4x4_16b_f16", 4, 4, 16, Element::F16, Element::F16),
    BOTH("v_mfma_f32_32x32x8_f16", 32, 8, 1, Element::F16, Element::F16),
    BOTH("v_mfma_f32_16x16x16_f16", 16, 16, 1, Element::F16, Element::F16),
    BOTH("v_mfma_f32_32x32x8_bf16", 32, 8, 1, Element::BF16, Element::BF16),
    BOTH("v_mfma_f32_16x16x16_bf16", 16, 16, 1, Element::BF16, Element::BF16),
    BOTH("v_mfma_f32_16x16x4_4b_bf16", 16, 4, 4, Element::BF16, Element::BF16),
    BOTH("v_mfma_i32_32x32x16_i8", 32, 16, 1, Element::I8, Element::I8),
    BOTH("v_mfma_i32_16x16x32_i8", 16, 32, 1, Element::I8, Element::I8),
    BOTH("v_mfma_i32_4x4x4_16b_i8", 4, 4, 16, Element::I8, Element::I8),
    BOTH("v_mfma_f64_16x16x4_f64", 16, 4, 1, Element::F64, Element::F64),
    BOTH("v_mfma_f64_4x4x4_4b_f64", 4, 4, 4, Element::F64, Element::F64),
    {"gfx942", "v_mfma_f32_16x16x8_xf32", 16, 8, 1, Element::F32, Element::F32},
    {"gfx942", "v_mfma_f32_32x32x4_xf32", 32, 4, 1, Element::F32, Element::F32},
    {"gfx942", "v_mfma_f32_16x16x32_fp8_fp8", 16, 32, 1, Element::Fp8Fnuz, Element::Fp8Fnuz},
    {"gfx942", "v_mfma_f32_32x32x16_bf8_fp8", 32, 16, 1, Element::Bf8Fnuz, Element::Fp8Fnuz},
    {"gfx950", "v_mfma_f32_16x16x32_fp8_bf8", 16, 32, 1, Element::Fp8Ocp, Element::Bf8Ocp},
    {"gfx950", "v_mfma_f32_32x32x16_fp8_fp8", 32, 16, 1, Element::Fp8Ocp, Element::Fp8Ocp},
    {"gfx950", "v_mfma_f32_16x16x32_f16", 16, 32, 1, Element::F16, Element::F16},
    {"gfx950", "v_mfma_f32_32x32x16_bf16", 32, 16, 1, Element::BF16, Element::BF16},
    {"gfx950", "v_mfma_f32_16x16x32_bf16", 16, 32, 1, Element::BF16, Element::BF16},
    {"gfx950", "v_mfma_i32_16x16x64_i8", 16, 64, 1, Element::I8, Element::I8},
    {"gfx950", "v_mfma_f32_16x16x128_f8f6f4", 16, 128, 1, Element::Fp8Ocp, Element::Fp8Ocp},
    {"gfx950", "v_mfma_f32_32x32x64_f8f6f4", 32, 64, 1, Element::Bf8Ocp, Element::Fp4,
     "cbsz:1 blgp:4"},
    {"gfx950", "v_mfma_f32_16x16x128_f8f6f4", 16, 128, 1, Element::Fp6, Element::Bf6,
     "cbsz:2 blgp:3"},
};
INSTANTIATE_TEST_SUITE_P(Products, DeviceMatrix, testing::ValuesIn(products), [](const auto &info) {
  return std::string(info.param.target) + "_" + (info.param.mnemonic + 2) + "_" +
         std::to_string(info.index);
});

/// One dword of scales a lane; op_sel and op_sel_hi pick its byte.
TEST(DeviceMatrixScale, EachLanesElementsHaveTheirScale) {
  WaveUnderTest test("gfx950", "v_mfma_scale_f32_16x16x128_f8f6f4 v[100:103], v[0:7], v[32:39], "
                               "v[64:67], v80, v81 op_sel:[1,0,0] op_sel_hi:[0,1,0]\n");
  for (unsigned lane = 0; lane < 64; ++lane) {
    for (unsigned i = 0; i < 8; ++i) {
      test.vgpr(i, lane) = 0x38383838;      // 1.0
      test.vgpr(32 + i, lane) = 0x40404040; // 2.0
    }
    // A: byte 1 is 2^(lane / 16); B: byte 2 is 2^(lane % 16).
    test.vgpr(80, lane) = (127 + lane / 16) << 8 | 0x11000011;
    test.vgpr(81, lane) = (127 + lane % 16) << 16 | 0x11001111;
  }
  test.run();
  for (unsigned lane = 0; lane < 64; ++lane)
    for (unsigned i = 0; i < 4; ++i) {
      // 32 products of 2 in each piece of k, scaled by 1, 2, 4, 8 of A and by the column's of B.
      float expected = 64.0f * (1 + 2 + 4 + 8) * std::exp2(static_cast<float>(lane % 16));
      EXPECT_EQ(std::bit_cast<float>(test.vgpr(100 + i, lane)), expected);
    }
}

TEST(DeviceMatrixSpecial, NaNMeetsOneRowAndColumn) {
  WaveUnderTest test("gfx950", "v_mfma_f32_16x16x16_bf16 v[100:103], v[0:1], v[32:33], 1.0\n");
  // A[5][9] is NaN, all else 0: row 5 of the result is NaN.
  test.vgpr(0, 16 * (9 / 4) + 5) = 0x7fc1u << 16;
  test.run();
  for (unsigned lane = 0; lane < 64; ++lane)
    for (unsigned i = 0; i < 4; ++i)
      EXPECT_EQ(test.vgpr(100 + i, lane), 4 * (lane / 16) + i == 5 ? 0x7fc00000u : 0x3f800000u);
}

TEST(DeviceMatrixSpecial, Float16DenormalsAndInfinities) {
  WaveUnderTest test("gfx942", "v_mfma_f32_16x16x16_f16 v[100:103], v[0:1], v[32:33], 0\n");
  test.vgpr(0, 3) = 0x0001;  // A[3][0] = 2^-24
  test.vgpr(32, 7) = 0x4000; // B[0][7] = 2
  test.vgpr(0, 8) = 0x7c00;  // A[8][0] = infinity
  test.run();
  auto element = [&](unsigned row, unsigned column) {
    return test.vgpr(100 + row % 4, 16 * (row / 4) + column);
  };
  EXPECT_EQ(element(3, 7), std::bit_cast<uint32_t>(std::ldexp(1.0f, -23)));
  EXPECT_EQ(element(8, 7), 0x7f800000u);
  EXPECT_EQ(element(8, 6), 0x7fc00000u); // Infinity times 0.
}

// --- WMMA ---

void checkWave(const char *mnemonic, Element element, unsigned registers) {
  std::string text = std::string(mnemonic) + " v[64:71], " + range("v", 0, registers) + ", " +
                     range("v", 16, registers) + ", v[32:39]" +
                     (element == Element::I8 ? " neg_lo:[1,1,0]" : "") + "\n";
  WaveUnderTest test("gfx1150", text);
  std::mt19937 random(5);
  int a[16][16], b[16][16], c[16][16];
  for (unsigned i = 0; i < 16; ++i)
    for (unsigned j = 0; j < 16; ++j) {
      a[i][j] = randomValue(random, element), b[i][j] = randomValue(random, element);
      c[i][j] = static_cast<int>(random() % 201) - 100;
    }
  Element result = element == Element::I8 ? Element::I8 : Element::F32;
  auto bits = [&](int value) {
    return result == Element::I8 ? static_cast<uint32_t>(value)
                                 : static_cast<uint32_t>(code(Element::F32, value));
  };
  unsigned perWord = 32 / bitsOf(element);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned k = 0; k < 16; ++k) {
      unsigned shift = k % perWord * bitsOf(element);
      test.vgpr(k / perWord, lane) |= static_cast<uint32_t>(code(element, a[lane % 16][k]))
                                      << shift;
      test.vgpr(16 + k / perWord, lane) |= static_cast<uint32_t>(code(element, b[k][lane % 16]))
                                           << shift;
    }
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned column = 0; column < 16; ++column)
      test.vgpr(32 + row / 2, 16 * (row % 2) + column) = bits(c[row][column]);
  test.run();
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned column = 0; column < 16; ++column) {
      int sum = c[row][column];
      for (unsigned k = 0; k < 16; ++k)
        sum += a[row][k] * b[k][column];
      ASSERT_EQ(test.vgpr(64 + row / 2, 16 * (row % 2) + column), bits(sum)) << mnemonic;
    }
}

TEST(DeviceWaveMatrix, GivesExactProductsOfIntegers) {
  checkWave("v_wmma_f32_16x16x16_f16", Element::F16, 8);
  checkWave("v_wmma_f32_16x16x16_bf16", Element::BF16, 8);
  checkWave("v_wmma_i32_16x16x16_iu8", Element::I8, 4);
}

TEST(DeviceWaveMatrix, HalfResultsKeepTheOtherHalf) {
  WaveUnderTest test("gfx1150", "v_wmma_f16_16x16x16_f16 v[32:39], v[0:7], v[16:23], v[32:39] "
                                "op_sel:[0,0,1]\n");
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 8; ++i) {
      test.vgpr(i, lane) = test.vgpr(16 + i, lane) = 0x3c003c00; // 1.0
      test.vgpr(32 + i, lane) = 0x40001234;                      // 2.0 in the high half
    }
  test.run();
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 8; ++i)
      EXPECT_EQ(test.vgpr(32 + i, lane), 0x4c801234u); // 18
}

} // namespace
} // namespace wavetile::device::test
