//===- DeviceNarrowFormatTest.cpp - Conversions to and from 8, 6 and 4 bits ===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expected values: the value of every code by the definition of its format in "OCP Microscaling
// Formats (MX) 1.0", and for the way back the nearest of all codes, the even one of two as near.
//
//===----------------------------------------------------------------------===//

#include "DeviceTestSupport.h"

#include <bit>
#include <cmath>
#include <random>

namespace wavetile::device::test {
namespace {

struct Format {
  const char *name;
  unsigned bits, mantissaBits;
  int bias;
  unsigned largest; ///< The code of the largest number.
};
constexpr Format fp8{"fp8", 8, 3, 7, 0x7e}, bf8{"bf8", 8, 2, 15, 0x7b}, fp6{"fp6", 6, 3, 1, 0x1f},
    bf6{"bf6", 6, 2, 3, 0x1f}, fp4{"fp4", 4, 1, 1, 0x7};

double valueOf(const Format &format, unsigned code) {
  unsigned sign = code >> (format.bits - 1), magnitude = code & ((1u << (format.bits - 1)) - 1);
  int exponent = static_cast<int>(magnitude >> format.mantissaBits);
  double fraction = magnitude & ((1u << format.mantissaBits) - 1);
  double value = exponent == 0 ? std::ldexp(fraction, 1 - format.bias - int(format.mantissaBits))
                               : std::ldexp(fraction + (1 << format.mantissaBits),
                                            exponent - format.bias - int(format.mantissaBits));
  return sign ? -value : value;
}
/// The nearest code; what is too large is the largest number.
unsigned nearest(const Format &format, double x) {
  unsigned best = 0;
  double distance = INFINITY;
  for (unsigned code = 0; code <= format.largest; ++code) {
    double d = std::fabs(valueOf(format, code) - std::fabs(x));
    if (d < distance || (d == distance && code % 2 == 0))
      best = code, distance = d;
  }
  return best | (std::signbit(x) ? 1u << (format.bits - 1) : 0);
}
uint32_t f(double x) { return std::bit_cast<uint32_t>(static_cast<float>(x)); }
/// A power of two whose significand means nothing.
uint32_t scaleBits(int exponent) { return static_cast<uint32_t>(exponent + 127) << 23 | 0x12345; }

/// Within the range of a format, and often near ties.
double randomValue(const Format &format, std::mt19937_64 &random) {
  double largest = valueOf(format, format.largest);
  double x = std::ldexp(largest, -static_cast<int>(random() % 8));
  x *= static_cast<double>(random() % 4096) / 4096.0;
  float rounded = static_cast<float>(x);
  return random() & 1 ? -rounded : rounded;
}

TEST(DeviceNarrowFormat, WidensEveryCodeWithItsScale) {
  for (const Format &format : {fp8, bf8, fp4}) {
    bool isByte = format.bits == 8;
    std::string name = format.name;
    // The second group of the source: bits 31:16 or 15:8.
    std::string select = isByte ? " op_sel:[1,0,0]" : " op_sel:[1,0,0]";
    WaveUnderTest test("gfx950", "v_cvt_scalef32_pk_f32_" + name + " v[2:3], v0, v1" + select +
                                     "\nv_cvt_scalef32_pk_f16_" + name + " v4, v0, v1" + select +
                                     "\nv_cvt_scalef32_pk_bf16_" + name + " v5, v0, v1" + select);
    const Record *start = test.wave->pc;
    for (unsigned first = 0; first < 1u << format.bits; first += 64) {
      for (unsigned lane = 0; lane < 64; ++lane) {
        unsigned code = (first + lane) & ((1u << format.bits) - 1);
        unsigned other = nearest(format, 1.0);
        test.vgpr(0, lane) = isByte ? (code | other << 8) << 16 : (code | other << 4) << 8;
        test.vgpr(1, lane) = scaleBits(static_cast<int>(lane % 7) - 3);
      }
      test.wave->pc = start;
      test.wave->status = WaveStatus::Ready;
      test.run();
      for (unsigned lane = 0; lane < 64; ++lane) {
        unsigned code = (first + lane) & ((1u << format.bits) - 1);
        if ((code & ((1u << (format.bits - 1)) - 1)) > format.largest)
          continue;
        int exponent = static_cast<int>(lane % 7) - 3;
        double expected = std::ldexp(valueOf(format, code), exponent);
        EXPECT_EQ(test.vgpr(2, lane), f(expected)) << name << code;
        EXPECT_EQ(test.vgpr(3, lane), f(std::ldexp(1.0, exponent))) << name;
        auto half = static_cast<_Float16>(expected);
        EXPECT_EQ(test.vgpr(4, lane) & 0xffff, std::bit_cast<uint16_t>(half)) << name << code;
        EXPECT_EQ(test.vgpr(5, lane) & 0xffff, f(expected) >> 16) << name << code;
      }
    }
  }
}

TEST(DeviceNarrowFormat, NarrowsPairsToTheNearestWherePlaced) {
  std::mt19937_64 random(7);
  for (const Format &format : {fp8, bf8, fp4}) {
    std::string name = format.name;
    bool isByte = format.bits == 8;
    // The last place of the destination.
    std::string select = isByte ? " op_sel:[0,0,0,1]" : " op_sel:[0,0,1,1]";
    unsigned shift = isByte ? 16 : 24;
    WaveUnderTest test("gfx950", "v_cvt_scalef32_pk_" + name + "_f32 v4, v0, v1, v2" + select);
    const Record *start = test.wave->pc;
    for (unsigned round = 0; round < 20; ++round) {
      double values[2][64];
      for (unsigned lane = 0; lane < 64; ++lane) {
        int exponent = static_cast<int>(lane % 5) - 2;
        for (unsigned i = 0; i < 2; ++i) {
          values[i][lane] = randomValue(format, random);
          test.vgpr(i, lane) = f(std::ldexp(values[i][lane], exponent));
        }
        test.vgpr(2, lane) = scaleBits(exponent);
        test.vgpr(4, lane) = 0x89abcdef;
      }
      test.wave->pc = start;
      test.wave->status = WaveStatus::Ready;
      test.wave->setLaneMask(scalar::Exec, ~uint64_t(2));
      test.run();
      EXPECT_EQ(test.vgpr(4, 1), 0x89abcdefu); // Off.
      for (unsigned lane = 2; lane < 64; ++lane) {
        uint32_t pair = nearest(format, values[0][lane]) | nearest(format, values[1][lane])
                                                               << format.bits;
        uint32_t mask = ((1u << (2 * format.bits)) - 1) << shift;
        EXPECT_EQ(test.vgpr(4, lane), (0x89abcdef & ~mask) | pair << shift)
            << name << " " << values[0][lane] << " " << values[1][lane];
      }
    }
  }
}

TEST(DeviceNarrowFormat, BlocksOf32SixBitNumbers) {
  std::mt19937_64 random(8);
  for (const Format &format : {fp6, bf6}) {
    std::string name = format.name;
    // The two sources in turn; the result over one of them; and back.
    WaveUnderTest test("gfx950", "v_cvt_scalef32_2xpk16_" + name +
                                     "_f32 v[0:5], v[0:15], v[16:31], v32\n"
                                     "v_cvt_scalef32_pk32_f32_" +
                                     name + " v[64:95], v[0:5], v33");
    double values[32][64];
    for (unsigned lane = 0; lane < 64; ++lane) {
      for (unsigned i = 0; i < 32; ++i) {
        values[i][lane] = randomValue(format, random);
        test.vgpr(i, lane) = f(values[i][lane] * 4);
      }
      test.vgpr(32, lane) = scaleBits(2);
      test.vgpr(33, lane) = scaleBits(-1);
    }
    test.run();
    for (unsigned lane = 0; lane < 64; ++lane) {
      uint32_t words[6] = {};
      for (unsigned i = 0; i < 32; ++i) {
        unsigned code = nearest(format, values[i % 2 * 16 + i / 2][lane]);
        for (unsigned bit = 0; bit < 6; ++bit)
          words[(6 * i + bit) / 32] |= (code >> bit & 1) << (6 * i + bit) % 32;
        EXPECT_EQ(test.vgpr(64 + i, lane), f(valueOf(format, code) / 2)) << name << i;
      }
      for (unsigned i = 0; i < 6; ++i)
        EXPECT_EQ(test.vgpr(i, lane), words[i]) << name << i;
    }
  }
}

TEST(DeviceNarrowFormat, StochasticRoundingGoesByTheSeed) {
  WaveUnderTest test("gfx950", "v_cvt_sr_fp8_f32 v3, v0, v1\nv_cvt_sr_bf8_f32 v4, v0, v1\n"
                               "v_cvt_scalef32_sr_fp8_f32 v5, v0, v1, v2 op_sel:[0,0,0,1]\n"
                               "v_cvt_sr_bf16_f32 v6, v0, v1\nv_prng_b32 v7, v1");
  const uint32_t seeds[] = {0, 0x7fffffff, 0x80000000, 0xffffffff};
  for (unsigned lane = 0; lane < 64; ++lane) {
    test.vgpr(0, lane) = lane < 32 ? f(1.0625) : f(-1.5); // Half way from 1 to 1.125; exact.
    test.vgpr(1, lane) = seeds[lane % 4];
    test.vgpr(2, lane) = scaleBits(0);
    test.vgpr(5, lane) = 0x11223344;
  }
  test.run();
  for (unsigned lane = 0; lane < 64; ++lane) {
    bool up = lane < 32 && seeds[lane % 4] >= 0x80000000;
    uint32_t one = lane < 32 ? (up ? 0x39 : 0x38) : 0xbc;
    EXPECT_EQ(test.vgpr(3, lane), one) << lane;
    // A quarter of the way from 1 to 1.25.
    EXPECT_EQ(test.vgpr(4, lane),
              lane < 32 ? (seeds[lane % 4] >= 0xc0000000 ? 0x3du : 0x3cu) : 0xbeu);
    EXPECT_EQ(test.vgpr(5, lane), (0x11223344 & ~0xff0000u) | one << 16) << lane;
    EXPECT_EQ(test.vgpr(6, lane), lane < 32 ? 0x3f88u : 0xbfc0u) << lane;
  }
  EXPECT_EQ(test.vgpr(7, 1), 0xfffffffeu);
  EXPECT_EQ(test.vgpr(7, 2), 0x000000c5u);
}

} // namespace
} // namespace wavetile::device::test
