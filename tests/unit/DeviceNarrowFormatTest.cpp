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
#include <functional>
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

// --- From and to 16 bits; every target ---

/// A source of numbers: how a float becomes its bits, exactly.
struct Wide {
  const char *name;
  unsigned bits;
  uint32_t of(double x) const {
    if (bits == 32)
      return f(x);
    return name[0] == 'b' ? f(x) >> 16 : std::bit_cast<uint16_t>(static_cast<_Float16>(x));
  }
  /// Of the numbers that it has, one close to \p x.
  double near(double x) const {
    if (bits == 32)
      return static_cast<float>(x);
    return name[0] == 'b' ? std::bit_cast<float>(f(x) & 0xffff0000)
                          : static_cast<double>(static_cast<_Float16>(x));
  }
};
constexpr Wide f32{"f32", 32}, f16{"f16", 16}, bf16{"bf16", 16};

/// Runs \p assembly from registers that \p fill sets, \p rounds times.
void runRounds(const std::string &target, const std::string &assembly, unsigned rounds,
               const std::function<void(WaveUnderTest &, unsigned lane)> &fill,
               const std::function<void(WaveUnderTest &, unsigned lane)> &check) {
  WaveUnderTest test(target, assembly);
  const Record *start = test.wave->pc;
  for (unsigned round = 0; round < rounds; ++round) {
    for (unsigned lane = 0; lane < test.size(); ++lane)
      fill(test, lane);
    test.wave->pc = start;
    test.wave->status = WaveStatus::Ready;
    test.run();
    for (unsigned lane = 0; lane < test.size(); ++lane)
      check(test, lane);
  }
}

TEST(DeviceNarrowFormat, WidensSingleCodesAndBlocks) {
  std::mt19937_64 random(9);
  for (const Format &format : {fp8, bf8})
    for (const Wide &wide : {f32, f16}) {
      std::string text =
          std::string("v_cvt_scalef32_") + wide.name + "_" + format.name + " v4, v0, v1";
      unsigned codes[64];
      runRounds(
          "gfx950", text, 8,
          [&](WaveUnderTest &test, unsigned lane) {
            do
              codes[lane] = random() & 255;
            while ((codes[lane] & 127) > format.largest);
            test.vgpr(0, lane) = codes[lane] | 0x12345600;
            test.vgpr(1, lane) = scaleBits(static_cast<int>(lane % 7) - 3);
          },
          [&](WaveUnderTest &test, unsigned lane) {
            double value = std::ldexp(valueOf(format, codes[lane]), static_cast<int>(lane % 7) - 3);
            uint32_t mask = wide.bits == 32 ? ~0u : 0xffffu;
            EXPECT_EQ(test.vgpr(4, lane) & mask, wide.of(value)) << text << " " << codes[lane];
          });
    }
  for (const Format &format : {fp6, bf6})
    for (const Wide &wide : {f16, bf16}) {
      std::string text = std::string("v_cvt_scalef32_pk32_") + wide.name + "_" + format.name +
                         " v[64:79], v[0:5], v6";
      runRounds(
          "gfx950", text, 2,
          [&](WaveUnderTest &test, unsigned lane) {
            for (unsigned i = 0; i < 6; ++i)
              test.vgpr(i, lane) = static_cast<uint32_t>(random());
            test.vgpr(6, lane) = scaleBits(static_cast<int>(lane % 5) - 2);
          },
          [&](WaveUnderTest &test, unsigned lane) {
            for (unsigned i = 0; i < 32; ++i) {
              unsigned code = 0;
              for (unsigned bit = 6 * i; bit < 6 * i + 6; ++bit)
                code |= (test.vgpr(bit / 32, lane) >> bit % 32 & 1) << (bit - 6 * i);
              double value = std::ldexp(valueOf(format, code), static_cast<int>(lane % 5) - 2);
              EXPECT_EQ(test.vgpr(64 + i / 2, lane) >> 16 * (i % 2) & 0xffff, wide.of(value))
                  << text << " " << code;
            }
          });
    }
}

TEST(DeviceNarrowFormat, NarrowsHalvesToTheNearest) {
  std::mt19937_64 random(10);
  for (const Wide &wide : {f16, bf16}) {
    for (const Format &format : {fp8, bf8, fp4}) {
      std::string text =
          std::string("v_cvt_scalef32_pk_") + format.name + "_" + wide.name + " v4, v0, v1";
      runRounds(
          "gfx950", text, 8,
          [&](WaveUnderTest &test, unsigned lane) {
            auto draw = [&] { return wide.of(wide.near(randomValue(format, random))); };
            test.vgpr(0, lane) = draw() | draw() << 16;
            test.vgpr(1, lane) = scaleBits(0);
            test.vgpr(4, lane) = 0x89abcdef;
          },
          [&](WaveUnderTest &test, unsigned lane) {
            uint32_t pair = 0;
            for (unsigned i = 0; i < 2; ++i) {
              uint16_t half = static_cast<uint16_t>(test.vgpr(0, lane) >> 16 * i);
              double x = wide.name[0] == 'b' ? std::bit_cast<float>(uint32_t(half) << 16)
                                             : static_cast<double>(std::bit_cast<_Float16>(half));
              pair |= nearest(format, x) << i * format.bits;
            }
            uint32_t mask = (1u << (2 * format.bits)) - 1;
            EXPECT_EQ(test.vgpr(4, lane), (0x89abcdef & ~mask) | pair)
                << text << " of " << test.vgpr(0, lane);
          });
    }
    for (const Format &format : {fp6, bf6}) {
      std::string text = std::string("v_cvt_scalef32_pk32_") + format.name + "_" + wide.name +
                         " v[0:5], v[16:31], v32";
      double values[32][64];
      runRounds(
          "gfx950", text, 2,
          [&](WaveUnderTest &test, unsigned lane) {
            test.vgpr(32, lane) = scaleBits(0);
            for (unsigned i = 0; i < 32; ++i) {
              values[i][lane] = wide.near(randomValue(format, random));
              uint32_t bits = wide.of(values[i][lane]);
              uint32_t &word = test.vgpr(16 + i / 2, lane);
              word = i % 2 ? word | bits << 16 : bits;
            }
          },
          [&](WaveUnderTest &test, unsigned lane) {
            for (unsigned i = 0; i < 32; ++i) {
              unsigned code = 0;
              for (unsigned bit = 6 * i; bit < 6 * i + 6; ++bit)
                code |= (test.vgpr(bit / 32, lane) >> bit % 32 & 1) << (bit - 6 * i);
              EXPECT_EQ(code, nearest(format, values[i][lane])) << text << " " << values[i][lane];
            }
          });
    }
  }
}

struct Target8 {
  const char *name;
  Format formats[2];
};
constexpr Format fp8Fnuz{"fp8", 8, 3, 8, 0x7f}, bf8Fnuz{"bf8", 8, 2, 16, 0x7f};
constexpr Target8 targets8[] = {
    {"gfx942", {fp8Fnuz, bf8Fnuz}}, {"gfx950", {fp8, bf8}}, {"gfx1201", {fp8, bf8}}};

TEST(DeviceNarrowFormat, NarrowsFloatsToTheNearestOnEachTarget) {
  std::mt19937_64 random(11);
  for (const Target8 &target : targets8)
    for (const Format &format : target.formats) {
      // With DPP and DPP8 too, whose lanes here are the lane's own.
      std::string name = std::string("v_cvt_pk_") + format.name + "_f32";
      std::string text = name + " v4, v0, v1\n";
      bool hasDpp = std::string(target.name) == "gfx1201";
      if (hasDpp)
        text += name + "_e64_dpp v5, v0, v1 quad_perm:[0,1,2,3]\n" + name +
                "_e64_dpp v6, v0, v1 dpp8:[0,1,2,3,4,5,6,7]\n";
      double values[2][64];
      runRounds(
          target.name, text, 12,
          [&](WaveUnderTest &test, unsigned lane) {
            for (unsigned i = 0; i < 2; ++i) {
              do
                values[i][lane] = randomValue(format, random);
              while (std::fabs(values[i][lane]) < valueOf(format, 1)); // FNUZ has no -0.
              test.vgpr(i, lane) = f(values[i][lane]);
            }
            for (unsigned i = 4; i < 7; ++i)
              test.vgpr(i, lane) = 0x89abcdef;
          },
          [&](WaveUnderTest &test, unsigned lane) {
            uint32_t pair = nearest(format, values[0][lane]) | nearest(format, values[1][lane])
                                                                   << 8;
            for (unsigned i = 4; i < (hasDpp ? 7u : 5u); ++i)
              EXPECT_EQ(test.vgpr(i, lane), 0x89ab0000 | pair)
                  << target.name << " " << name << " " << values[0][lane] << " " << values[1][lane];
          });
    }
}

/// The number of a format below |x| and the one above: above if the part of the step between them
/// that x has gone, and the seed as a fraction, are 1 together.
unsigned stochastic(const Format &format, double x, uint32_t seed) {
  unsigned below = 0;
  while (below < format.largest && valueOf(format, below + 1) <= std::fabs(x))
    ++below;
  double step = valueOf(format, below + 1) - valueOf(format, below);
  double gone = (std::fabs(x) - valueOf(format, below)) / step;
  bool isAbove = below < format.largest && gone + std::ldexp(seed, -32) >= 1;
  return below + isAbove | (std::signbit(x) ? 1u << (format.bits - 1) : 0);
}
/// Normal numbers of the format.
double randomNormal(const Format &format, std::mt19937_64 &random) {
  double x;
  do
    x = randomValue(format, random);
  while (std::fabs(x) < valueOf(format, 1u << format.mantissaBits));
  return x;
}

TEST(DeviceNarrowFormat, StochasticRoundingOfRandomNumbers) {
  std::mt19937_64 random(12);
  auto compare = [&](const std::string &target, const std::string &text, const Format &format,
                     const Wide &wide, unsigned resultBits, unsigned results = 1) {
    double values[64];
    uint32_t seeds[64];
    runRounds(
        target, text, 12,
        [&](WaveUnderTest &test, unsigned lane) {
          do
            values[lane] = wide.near(randomNormal(format, random));
          while (std::fabs(values[lane]) < valueOf(format, 1u << format.mantissaBits));
          seeds[lane] = static_cast<uint32_t>(random());
          test.vgpr(0, lane) = wide.of(values[lane]);
          test.vgpr(1, lane) = seeds[lane];
          test.vgpr(2, lane) = scaleBits(0);
          for (unsigned i = 0; i < results; ++i)
            test.vgpr(4 + i, lane) = 0x89abcdef;
        },
        [&](WaveUnderTest &test, unsigned lane) {
          uint32_t mask = (1u << resultBits) - 1;
          uint32_t expected = (0x89abcdef & ~mask) | stochastic(format, values[lane], seeds[lane]);
          for (unsigned i = 0; i < results; ++i)
            EXPECT_EQ(test.vgpr(4 + i, lane), expected)
                << target << " " << text << " of " << values[lane] << " with " << seeds[lane];
        });
  };
  for (const Target8 &target : targets8)
    for (const Format &format : target.formats) {
      std::string name = std::string("v_cvt_sr_") + format.name + "_f32";
      bool hasDpp = std::string(target.name) == "gfx1201";
      std::string dpp = name + "_e64_dpp v5, v0, v1 quad_perm:[0,1,2,3]\n" + name +
                        "_e64_dpp v6, v0, v1 dpp8:[0,1,2,3,4,5,6,7]\n";
      compare(target.name, name + " v4, v0, v1\n" + (hasDpp ? dpp : ""), format, f32, 8,
              hasDpp ? 3 : 1);
    }
  for (const Format &format : {fp8, bf8})
    for (const Wide &wide : {f32, f16, bf16})
      compare("gfx950",
              std::string("v_cvt_scalef32_sr_") + format.name + "_" + wide.name + " v4, v0, v1, v2",
              format, wide, 8);
}

/// v_prng_b32, whose results are the seeds of the second element and of those after it.
uint32_t nextSeed(uint32_t seed) { return (seed << 1) ^ (seed >> 31 ? 197u : 0u); }

TEST(DeviceNarrowFormat, StochasticRoundingOfPairsAndBlocks) {
  std::mt19937_64 random(14);
  auto compare = [&](const std::string &text, const Format &format, const Wide &wide,
                     unsigned count, unsigned rounds) {
    double values[32][64];
    uint32_t seeds[64];
    int scales[64];
    runRounds(
        "gfx950", text, rounds,
        [&](WaveUnderTest &test, unsigned lane) {
          seeds[lane] = lane % 8 == 0 ? 0u - lane % 16 / 8 : static_cast<uint32_t>(random());
          scales[lane] = static_cast<int>(lane % 5) - 2;
          test.vgpr(32, lane) = seeds[lane], test.vgpr(33, lane) = scaleBits(scales[lane]);
          test.vgpr(40, lane) = 0x89abcdef;
          for (unsigned i = 0; i < count; ++i) {
            do
              values[i][lane] = wide.near(randomNormal(format, random));
            while (std::fabs(values[i][lane]) < valueOf(format, 1u << format.mantissaBits));
            uint32_t bits = wide.of(std::ldexp(values[i][lane], scales[lane]));
            if (wide.bits == 32)
              test.vgpr(i, lane) = bits;
            else
              test.vgpr(i / 2, lane) = i % 2 ? test.vgpr(i / 2, lane) | bits << 16 : bits;
          }
        },
        [&](WaveUnderTest &test, unsigned lane) {
          uint32_t seed = seeds[lane];
          for (unsigned i = 0; i < count; ++i, seed = nextSeed(seed)) {
            unsigned code = 0;
            // A pair is the second byte of its register.
            unsigned first = count == 2 ? 8 + i * format.bits : i * format.bits;
            for (unsigned bit = first; bit < first + format.bits; ++bit)
              code |= (test.vgpr(40 + bit / 32, lane) >> bit % 32 & 1) << (bit - first);
            ASSERT_EQ(code, stochastic(format, values[i][lane], seed))
                << text << " element " << i << ": " << values[i][lane] << " with " << seed;
          }
          if (count == 2)
            ASSERT_EQ(test.vgpr(40, lane) & 0xffff00ff, 0x89ab00ef);
        });
  };
  for (const Wide &wide : {f32, f16, bf16}) {
    std::string pair = wide.bits == 32 ? "v[0:1]" : "v0";
    std::string block = wide.bits == 32 ? "v[0:31]" : "v[0:15]";
    compare(std::string("v_cvt_scalef32_sr_pk_fp4_") + wide.name + " v40, " + pair +
                ", v32, v33 op_sel:[0,0,1,0]",
            fp4, wide, 2, 8);
    for (const Format &format : {fp6, bf6})
      compare(std::string("v_cvt_scalef32_sr_pk32_") + format.name + "_" + wide.name +
                  " v[40:45], " + block + ", v32, v33",
              format, wide, 32, 4);
  }
}

TEST(DeviceNarrowFormat, StochasticRoundingTo16Bits) {
  std::mt19937_64 random(13);
  for (const Wide &wide : {f16, bf16})
    runRounds(
        "gfx950", std::string("v_cvt_sr_") + wide.name + "_f32 v4, v0, v1", 12,
        [&](WaveUnderTest &test, unsigned lane) {
          // Exponents that both formats have, and significands at which nothing carries over.
          test.vgpr(0, lane) = (static_cast<uint32_t>(random()) & 0x803fffff) |
                               (113 + static_cast<uint32_t>(random() % 29)) << 23;
          test.vgpr(1, lane) = static_cast<uint32_t>(random());
        },
        [&](WaveUnderTest &test, unsigned lane) {
          uint32_t x = test.vgpr(0, lane), seed = test.vgpr(1, lane);
          unsigned lost = wide.name[0] == 'b' ? 16 : 13;
          // The lost bits and the seed, as parts of a step, are 1 together.
          uint64_t gone = uint64_t(x & ((1u << lost) - 1)) << (32 - lost);
          uint32_t kept = x >> lost;
          kept += (gone + seed) >> 32 != 0;
          uint32_t magnitude = kept & (0x7fffffff >> lost);
          if (lost == 13)
            magnitude -= (127 - 15) << 10;
          EXPECT_EQ(test.vgpr(4, lane) & 0xffff, magnitude | (x >> 31) << 15)
              << wide.name << " of " << x << " with " << seed;
        });
}

// --- Lanes that are off, destinations in place ---

/// An instruction with its operands' registers; the destination's come first.
struct Operands {
  std::string name;
  std::vector<unsigned> registers;
  unsigned resultBits = 32; ///< Of the first register; the rest is kept.

  std::string text(unsigned destination) const {
    std::string result = name;
    for (size_t i = 0, next = 0; i < registers.size(); ++i) {
      size_t first = i == 0 ? destination : next;
      next += i == 0 ? 0 : registers[i];
      result += (i == 0 ? " v[" : ", v[") + std::to_string(first) + ":" +
                std::to_string(first + registers[i] - 1) + "]";
    }
    return result + "\n";
  }
};
/// All conversions of gfx950 to and from formats of 8 bits and fewer.
std::vector<Operands> allConversions() {
  std::vector<Operands> list;
  const std::string scaled = "v_cvt_scalef32_";
  for (const std::string narrow : {"fp8", "bf8"}) {
    for (const std::string wide : {"f32", "f16"})
      list.push_back({scaled + wide + "_" + narrow, {1, 1, 1}, wide == "f32" ? 32u : 16u});
    for (const std::string wide : {"f32", "f16", "bf16"})
      list.push_back({scaled + "sr_" + narrow + "_" + wide, {1, 1, 1, 1}, 8});
    list.push_back({"v_cvt_pk_" + narrow + "_f32", {1, 1, 1}, 16});
    list.push_back({"v_cvt_sr_" + narrow + "_f32", {1, 1, 1}, 8});
  }
  for (const std::string narrow : {"fp8", "bf8", "fp4"}) {
    unsigned bits = narrow == "fp4" ? 8 : 16;
    list.push_back({scaled + "pk_f32_" + narrow, {2, 1, 1}});
    list.push_back({scaled + "pk_" + narrow + "_f32", {1, 1, 1, 1}, bits});
    for (const std::string wide : {"f16", "bf16"}) {
      list.push_back({scaled + "pk_" + wide + "_" + narrow, {1, 1, 1}});
      list.push_back({scaled + "pk_" + narrow + "_" + wide, {1, 1, 1}, bits});
    }
  }
  for (const std::string wide : {"f32", "f16", "bf16"}) {
    unsigned pair = wide == "f32" ? 2 : 1;
    list.push_back({scaled + "sr_pk_fp4_" + wide, {1, pair, 1, 1}, 8});
    for (const std::string narrow : {"fp6", "bf6"}) {
      list.push_back({scaled + "pk32_" + wide + "_" + narrow, {16 * pair, 6, 1}});
      list.push_back({scaled + "sr_pk32_" + narrow + "_" + wide, {6, 16 * pair, 1, 1}});
      list.push_back(wide == "f32" ? Operands{scaled + "2xpk16_" + narrow + "_f32", {6, 16, 16, 1}}
                                   : Operands{scaled + "pk32_" + narrow + "_" + wide, {6, 16, 1}});
    }
  }
  for (const std::string wide : {"f16", "bf16"})
    list.push_back({"v_cvt_sr_" + wide + "_f32", {1, 1, 1}, 16});
  return list;
}

TEST(DeviceNarrowFormat, LanesThatAreOffAndDestinationsInPlace) {
  constexpr uint32_t special[] = {0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00000,
                                  0x7f800001, 0x00000001, 0x807fffff, 0x7f7fffff, 0x3f800000,
                                  0x7c007c00, 0x7e01fc00, 0x00018001, 0x7bfffbff, 0xffffffff};
  std::mt19937_64 random(15);
  std::vector<Operands> list = allConversions();
  std::vector<std::string> texts;
  constexpr unsigned apart = 100;
  for (const Operands &operands : list)
    texts.push_back(operands.text(apart) + operands.text(0));
  std::vector<std::vector<uint8_t>> codes = assemble("gfx950", texts);
  for (size_t i = 0; i < list.size(); ++i) {
    WaveUnderTest test("gfx950", codes[i]);
    const unsigned results = list[i].registers[0];
    const uint32_t written = list[i].resultBits == 32 ? ~0u : (1u << list[i].resultBits) - 1;
    for (unsigned round = 0; round < 8; ++round) {
      uint64_t exec = round == 0 ? 0 : random();
      uint32_t before[2][32][64];
      for (unsigned row = 0; row < 64; ++row)
        for (unsigned lane = 0; lane < 64; ++lane)
          test.vgpr(row, lane) = random() % 2 ? special[random() % std::size(special)]
                                              : static_cast<uint32_t>(random());
      for (unsigned k = 0; k < results; ++k)
        for (unsigned lane = 0; lane < 64; ++lane) {
          test.vgpr(apart + k, lane) = before[1][k][lane] = static_cast<uint32_t>(random());
          before[0][k][lane] = test.vgpr(k, lane);
        }
      test.restart();
      test.wave->setLaneMask(scalar::Exec, exec);
      test.run();
      for (unsigned k = 0; k < results; ++k)
        for (unsigned lane = 0; lane < 64; ++lane) {
          uint32_t inPlace = test.vgpr(k, lane), other = test.vgpr(apart + k, lane);
          uint32_t kept = exec >> lane & 1 ? ~written : ~0u;
          ASSERT_EQ(inPlace & kept, before[0][k][lane] & kept) << list[i].name << " " << k;
          ASSERT_EQ(other & kept, before[1][k][lane] & kept) << list[i].name << " " << k;
          ASSERT_EQ(inPlace & ~kept, other & ~kept) << list[i].name << " " << k;
        }
    }
  }
}

} // namespace
} // namespace wavetile::device::test
