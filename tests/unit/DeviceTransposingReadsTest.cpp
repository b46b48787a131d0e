//===- DeviceTransposingReadsTest.cpp - Columns of matrices of any bits ---===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Transposing reads of LDS and loads of global memory, of random bits, each lane at an address of
// its own, and over the address register. What a group of lanes reads is put together as one matrix
// of elements, of which each lane must get a column.
//
//===----------------------------------------------------------------------===//

#include "DeviceTestSupport.h"

#include <random>

namespace wavetile::device::test {
namespace {

/// The elements of \p bits bits of some bytes, the lowest bits first.
std::vector<uint32_t> elementsOf(const std::vector<uint8_t> &bytes, unsigned bits) {
  std::vector<uint32_t> result(bytes.size() * 8 / bits);
  for (size_t bit = 0; bit < result.size() * bits; ++bit)
    result[bit / bits] |= (bytes[bit / 8] >> bit % 8 & 1u) << bit % bits;
  return result;
}
/// The elements that a lane has in registers.
std::vector<uint32_t> resultOf(WaveUnderTest &test, unsigned first, unsigned registers,
                               unsigned lane, unsigned bits) {
  std::vector<uint8_t> bytes;
  for (unsigned i = 0; i < registers; ++i)
    for (unsigned byte = 0; byte < 4; ++byte)
      bytes.push_back(static_cast<uint8_t>(test.vgpr(first + i, lane) >> 8 * byte));
  return elementsOf(bytes, bits);
}

struct LdsRead {
  const char *name;
  unsigned bytes, bits;
};

TEST(DeviceTransposingReads, LdsOfMatricesOf16Columns) {
  std::mt19937_64 random(7);
  for (const LdsRead &read : {LdsRead{"ds_read_b64_tr_b16", 8, 16},
                              {"ds_read_b64_tr_b8", 8, 8},
                              {"ds_read_b64_tr_b4", 8, 4},
                              {"ds_read_b96_tr_b6", 12, 6}}) {
    unsigned registers = read.bytes / 4;
    std::string last = std::to_string(registers - 1), lastHigh = std::to_string(registers + 3);
    WaveUnderTest test("gfx950", std::string(read.name) + " v[4:" + lastHigh + "], v0 offset:64\n" +
                                     read.name + " v[0:" + last + "], v0");
    for (unsigned round = 0; round < 8; ++round) {
      for (uint8_t &byte : test.lds)
        byte = static_cast<uint8_t>(random());
      uint32_t addresses[64];
      for (unsigned lane = 0; lane < 64; ++lane)
        test.vgpr(0, lane) = addresses[lane] = static_cast<uint32_t>(random() % 2000 * 16);
      test.restart();
      test.run();
      for (unsigned lane = 0; lane < 64; ++lane)
        for (unsigned first : {0u, 4u}) { // Rows of 16 columns, one lane after the other.
          std::vector<uint8_t> bytes;
          for (unsigned of = lane / 16 * 16; of < lane / 16 * 16 + 16; ++of)
            for (unsigned byte = 0; byte < read.bytes; ++byte)
              bytes.push_back(test.lds[addresses[of] + (first ? 64 : 0) + byte]);
          std::vector<uint32_t> matrix = elementsOf(bytes, read.bits), column;
          for (size_t at = lane % 16; at < matrix.size(); at += 16)
            column.push_back(matrix[at]);
          ASSERT_EQ(resultOf(test, first, registers, lane, read.bits), column)
              << read.name << " lane " << lane;
        }
    }
  }
}

TEST(DeviceTransposingReads, GlobalMatrices) {
  std::mt19937_64 random(8);
  WaveWithMemory test("gfx1201",
                      "global_load_tr_b128 v[4:7], v0, s[2:3] offset:32\n"
                      "global_load_tr_b64 v[8:9], v0, s[2:3] offset:16\n"
                      "global_load_tr_b64 v[0:1], v0, s[2:3]",
                      9);
  test.pointScalars(2);
  for (unsigned round = 0; round < 16; ++round) {
    uint32_t addresses[32];
    for (unsigned lane = 0; lane < 32; ++lane)
      test.vgpr(0, lane) = addresses[lane] = static_cast<uint32_t>(random() % 240 * 16);
    test.restart();
    test.run();
    for (unsigned lane = 0; lane < 32; ++lane) {
      // Eight lanes hold eight rows of eight columns of 16 bits.
      std::vector<uint32_t> column;
      for (unsigned row = 0; row < 8; ++row)
        column.push_back(test.at<uint16_t>(addresses[lane / 8 * 8 + row] + 32 + 2 * (lane % 8)));
      ASSERT_EQ(resultOf(test, 4, 4, lane, 16), column) << "lane " << lane;
      // Sixteen hold eight rows of sixteen columns of 8 bits: the left halves of four rows, their
      // right halves, and the same of the other four.
      for (unsigned first : {0u, 8u}) {
        column.clear();
        for (unsigned row = 0; row < 8; ++row) {
          unsigned half = lane % 16 / 8, holder = lane / 16 * 16 + row / 4 * 8 + half * 4 + row % 4;
          column.push_back(test.at<uint8_t>(addresses[holder] + 2 * first + lane % 8));
        }
        ASSERT_EQ(resultOf(test, first, 2, lane, 8), column) << "lane " << lane;
      }
    }
  }
}

} // namespace
} // namespace wavetile::device::test
