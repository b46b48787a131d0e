//===- DeviceWaveMatrixTest.cpp - Matrix instructions (RDNA) --------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// WMMA with random integers, whose products are exact.
//
//===----------------------------------------------------------------------===//

#include "DeviceMatrixSupport.h"

namespace wavetile::device::test {
namespace {

void checkWave(const char *mnemonic, Element element, unsigned registers) {
  std::string text = std::string(mnemonic) + " v[64:71], " +
                     device::test::registers('v', 0, registers) + ", " +
                     device::test::registers('v', 16, registers) + ", v[32:39]" +
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
