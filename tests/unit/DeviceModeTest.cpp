//===- DeviceModeTest.cpp - Rounding, denormals, NaN and clamp by MODE -----===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expected values: f32 and f64 by the host's own arithmetic under fesetround, f16 by exact
// arithmetic in 64-bit significands rounded once, the rest by AMD's ISA documents.
//
//===----------------------------------------------------------------------===//

#include "DeviceTestSupport.h"

#include <bit>
#include <cfenv>
#include <cmath>
#include <random>

#include <xmmintrin.h>

namespace wavetile::device::test {
namespace {

/// By MODE.FP_ROUND.
constexpr int hostRounding[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};

/// A context in which the host rounds so.
class Rounded {
public:
  explicit Rounded(unsigned mode) { std::fesetround(hostRounding[mode]); }
  ~Rounded() { std::fesetround(FE_TONEAREST); }
};

std::string setMode(unsigned firstBit, unsigned bits, unsigned value) {
  return "s_setreg_imm32_b32 hwreg(HW_REG_MODE, " + std::to_string(firstBit) + ", " +
         std::to_string(bits) + "), " + std::to_string(value) + "\n";
}
/// Rounding of f32, of f16 and f64; denormals of f32, of f16 and f64.
std::string setArithmetic(unsigned round32, unsigned round16, unsigned denormals32 = 3,
                          unsigned denormals16 = 3) {
  return setMode(0, 8, round32 | round16 << 2 | denormals32 << 4 | denormals16 << 6);
}

uint32_t f(float x) { return std::bit_cast<uint32_t>(x); }

/// Finite numbers of any exponent, or of about 1 so that sums are interesting.
uint32_t randomFloat(std::mt19937_64 &random) {
  uint32_t bits = static_cast<uint32_t>(random());
  switch (random() % 4) {
  case 0:
    return (bits & 0x807fffff) | (120 + bits / 0x800000 % 16) << 23;
  case 1:
    return bits & 0x80ffffff; // Small, half of them denormal.
  default:
    return (bits & 0x7f800000) == 0x7f800000 ? bits & 0xbfffffff : bits;
  }
}
uint16_t randomHalf(std::mt19937_64 &random) {
  uint16_t bits = static_cast<uint16_t>(random());
  return (bits & 0x7c00) == 0x7c00 ? bits & 0xbfff : bits;
}

/// A value that the compiler does not know, nor when it is needed.
template <typename T> T opaque(T x) {
  volatile T hidden = x;
  return hidden;
}
template <typename T> T hostAdd(T a, T b) { return opaque(opaque(a) + opaque(b)); }
template <typename T> T hostMultiply(T a, T b) { return opaque(opaque(a) * opaque(b)); }
template <typename T> T hostFused(T a, T b, T c) {
  return opaque(std::fma(opaque(a), opaque(b), opaque(c)));
}

TEST(DeviceMode, RoundsF32AsTheModeSaysWhateverF64Does) {
  std::mt19937_64 random(20261);
  for (unsigned mode = 0; mode < 4; ++mode) {
    WaveUnderTest test("gfx950", setArithmetic(mode, 3 - mode) +
                                     "v_add_f32 v3, v0, v1\nv_mul_f32 v4, v0, v1\n"
                                     "v_fma_f32 v5, v0, v1, v2\nv_cvt_f32_u32 v6, v0\n"
                                     "v_pk_add_f32 v[8:9], v[0:1], v[2:3]");
    const Record *start = test.wave->pc;
    for (unsigned round = 0; round < 40; ++round) {
      uint32_t in[3][64];
      for (unsigned lane = 0; lane < 64; ++lane)
        for (unsigned i = 0; i < 3; ++i)
          test.vgpr(i, lane) = in[i][lane] = randomFloat(random);
      test.wave->pc = start;
      test.wave->status = WaveStatus::Ready;
      test.run();
      for (unsigned lane = 0; lane < 64; ++lane) {
        float a = std::bit_cast<float>(in[0][lane]), b = std::bit_cast<float>(in[1][lane]),
              c = std::bit_cast<float>(in[2][lane]);
        Rounded rounded(mode);
        volatile uint32_t integer = in[0][lane];
        ASSERT_EQ(test.vgpr(3, lane), f(hostAdd(a, b))) << mode << " " << a << " + " << b;
        ASSERT_EQ(test.vgpr(4, lane), f(hostMultiply(a, b))) << mode << " " << a << " * " << b;
        ASSERT_EQ(test.vgpr(5, lane), f(hostFused(a, b, c))) << mode << a << b << c;
        ASSERT_EQ(test.vgpr(6, lane), f(static_cast<float>(integer))) << mode;
        ASSERT_EQ(test.vgpr(8, lane), f(hostAdd(a, c))) << mode;
      }
    }
  }
}

TEST(DeviceMode, RoundsF64AsTheModeSaysWhateverF32Does) {
  std::mt19937_64 random(20262);
  for (unsigned mode = 0; mode < 4; ++mode) {
    WaveUnderTest test("gfx942", setArithmetic(3 - mode, mode) +
                                     "v_add_f64 v[6:7], v[0:1], v[2:3]\n"
                                     "v_fma_f64 v[8:9], v[0:1], v[2:3], v[4:5]\n"
                                     "v_cvt_f32_f64 v10, v[0:1]");
    double in[3][64];
    for (unsigned lane = 0; lane < 64; ++lane)
      for (unsigned i = 0; i < 3; ++i) {
        uint64_t bits = (random() & 0x800fffffffffffff) | (1000 + random() % 50) << 52;
        in[i][lane] = std::bit_cast<double>(bits);
        test.vgpr(2 * i, lane) = static_cast<uint32_t>(bits);
        test.vgpr(2 * i + 1, lane) = static_cast<uint32_t>(bits >> 32);
      }
    test.run();
    auto result = [&](unsigned row, unsigned lane) {
      return test.vgpr(row, lane) | uint64_t(test.vgpr(row + 1, lane)) << 32;
    };
    for (unsigned lane = 0; lane < 64; ++lane) {
      Rounded rounded(mode);
      double a = in[0][lane], b = in[1][lane], c = in[2][lane];
      EXPECT_EQ(result(6, lane), std::bit_cast<uint64_t>(hostAdd(a, b))) << mode;
      EXPECT_EQ(result(8, lane), std::bit_cast<uint64_t>(hostFused(a, b, c))) << mode;
      volatile double wide = a;
      EXPECT_EQ(test.vgpr(10, lane), f(static_cast<float>(wide))) << mode;
    }
  }
}

long double valueOfHalf(uint16_t bits) {
  int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  long double magnitude =
      exponent == 0 ? std::ldexp(static_cast<long double>(mantissa), -24)
                    : std::ldexp(static_cast<long double>(mantissa + 1024), exponent - 25);
  return bits >> 15 ? -magnitude : magnitude;
}
/// Rounds once. \p exact is exact, or far from any tie.
uint16_t roundedHalf(long double exact, unsigned mode) {
  if (exact == 0)
    return std::signbit(exact) ? 0x8000 : 0;
  int exponent = std::max(std::ilogb(exact), -14);
  Rounded rounded(mode);
  long double units = std::nearbyint(std::ldexp(exact, 10 - exponent));
  long double value = std::ldexp(units, exponent - 10);
  uint16_t sign = std::signbit(exact) ? 0x8000 : 0;
  if (value == 0)
    return sign;
  if (std::fabs(value) > 65504) {
    bool infinite = mode == 0 || (mode == 1 && !sign) || (mode == 2 && sign);
    return sign | (infinite ? 0x7c00 : 0x7bff);
  }
  int e = std::max(std::ilogb(value), -14);
  auto code = static_cast<uint16_t>(std::ldexp(std::fabs(value), 10 - e));
  return sign | static_cast<uint16_t>(code + ((e + 14) << 10));
}

TEST(DeviceMode, RoundsF16Once) {
  std::mt19937_64 random(20263);
  for (unsigned mode = 0; mode < 4; ++mode) {
    WaveUnderTest test("gfx950", setArithmetic(3 - mode, mode) +
                                     "v_add_f16 v3, v0, v1\nv_mul_f16 v4, v0, v1\n"
                                     "v_fma_f16 v5, v0, v1, v2\nv_pk_fma_f16 v6, v0, v1, v2\n"
                                     "v_cvt_f16_f32 v7, v8");
    const Record *start = test.wave->pc;
    for (unsigned round = 0; round < 40; ++round) {
      uint16_t in[3][64];
      uint32_t wide[64];
      for (unsigned lane = 0; lane < 64; ++lane) {
        for (unsigned i = 0; i < 3; ++i)
          test.vgpr(i, lane) = in[i][lane] = randomHalf(random);
        test.vgpr(8, lane) = wide[lane] =
            (static_cast<uint32_t>(random()) & 0x807fffff) | (100 + random() % 44) << 23;
      }
      test.wave->pc = start;
      test.wave->status = WaveStatus::Ready;
      test.run();
      for (unsigned lane = 0; lane < 64; ++lane) {
        long double a = valueOfHalf(in[0][lane]), b = valueOfHalf(in[1][lane]),
                    c = valueOfHalf(in[2][lane]);
        // 22 bits by 22 bits and 40 binary places apart at most: below 64 bits but for the widest,
        // which are far from ties.
        auto signedSum = [&](long double x, long double y) {
          long double sum = x + y;
          bool cancels = sum == 0 && (std::signbit(x) != std::signbit(y));
          return cancels ? (mode == 2 ? -0.0L : 0.0L) : sum;
        };
        ASSERT_EQ(test.vgpr(3, lane) & 0xffff, roundedHalf(signedSum(a, b), mode)) << mode;
        ASSERT_EQ(test.vgpr(4, lane) & 0xffff, roundedHalf(a * b, mode)) << mode;
        ASSERT_EQ(test.vgpr(5, lane) & 0xffff, roundedHalf(signedSum(a * b, c), mode)) << mode;
        ASSERT_EQ(test.vgpr(6, lane) & 0xffff, roundedHalf(signedSum(a * b, c), mode)) << mode;
        ASSERT_EQ(test.vgpr(7, lane) & 0xffff, roundedHalf(std::bit_cast<float>(wide[lane]), mode))
            << mode;
      }
    }
  }
}

TEST(DeviceMode, FlushesSourcesAndResultsOfF32Apart) {
  constexpr uint32_t denormal = 0x80400000, smallest = 0x00800000;
  for (unsigned denormals = 0; denormals < 4; ++denormals) {
    bool keepsSources = denormals & 1, keepsResults = denormals & 2;
    // f16 and f64 keep theirs.
    WaveUnderTest test("gfx950", setArithmetic(0, 0, denormals, 3) +
                                     "v_mul_f32 v3, 2.0, v0\nv_mul_f32 v4, 0.5, v1\n"
                                     "v_max_f32 v5, v0, v0\nv_cmp_eq_f32 s[4:5], 0, v0\n"
                                     "v_add_f16 v6, v2, v2\nv_pk_mul_f32 v[8:9], v[0:1], 0.5\n"
                                     "v_cmp_class_f32 s[6:7], v0, v10");
    test.vgpr(0, 0) = denormal, test.vgpr(1, 0) = smallest, test.vgpr(2, 0) = 1;
    test.vgpr(10, 0) = 1 << 4; // Negative denormals.
    test.run();
    EXPECT_EQ(test.vgpr(3, 0), keepsSources ? 0x80800000u : 0x80000000u) << denormals;
    EXPECT_EQ(test.vgpr(4, 0), keepsResults ? 0x00400000u : 0u) << denormals;
    EXPECT_EQ(test.vgpr(5, 0), keepsSources && keepsResults ? denormal : 0x80000000u);
    EXPECT_EQ(test.sgpr(4) & 1, keepsSources ? 0u : 1u) << denormals;
    EXPECT_EQ(test.sgpr(6) & 1, 1u) << denormals;
    EXPECT_EQ(test.vgpr(6, 0), 2u) << denormals;
    EXPECT_EQ(test.vgpr(8, 0), keepsSources && keepsResults ? 0x80200000u : 0x80000000u);
    EXPECT_EQ(test.vgpr(9, 0), keepsResults ? 0x00400000u : 0u) << denormals;
  }
}

TEST(DeviceMode, FlushesSourcesAndResultsOfF16AndF64Apart) {
  for (unsigned denormals = 0; denormals < 4; ++denormals) {
    bool keepsSources = denormals & 1, keepsResults = denormals & 2;
    WaveUnderTest test("gfx942", setArithmetic(0, 0, 3, denormals) +
                                     "v_add_f16 v2, v0, v0\nv_mul_f16 v3, v1, v1\n"
                                     "v_add_f64 v[4:5], v[6:7], v[6:7]\n"
                                     "v_mul_f64 v[8:9], v[10:11], 0.5\nv_add_f32 v12, v13, v13\n"
                                     "v_pk_add_f16 v14, v0, v0");
    test.vgpr(0, 0) = 0x82008200, test.vgpr(1, 0) = 0x1801; // denormal; 2^-9 and a bit
    test.vgpr(6, 0) = 0, test.vgpr(7, 0) = 0x80080000;
    test.vgpr(10, 0) = 0, test.vgpr(11, 0) = 0x00100000;
    test.vgpr(13, 0) = 0x00400000;
    test.run();
    EXPECT_EQ(test.vgpr(2, 0), keepsSources ? 0x8400u : 0x8000u) << denormals;
    EXPECT_EQ(test.vgpr(14, 0), keepsSources ? 0x84008400u : 0x80008000u) << denormals;
    EXPECT_EQ(test.vgpr(3, 0), keepsResults ? 0x0040u : 0u) << denormals; // 2^-18
    EXPECT_EQ(test.vgpr(5, 0), keepsSources ? 0x80100000u : 0x80000000u) << denormals;
    EXPECT_EQ(test.vgpr(9, 0), keepsResults ? 0x00080000u : 0u) << denormals;
    EXPECT_EQ(test.vgpr(12, 0), 0x00800000u) << denormals;
  }
}

TEST(DeviceMode, OutputModifiersAreForArithmeticWithoutIeeeAndDenormals) {
  struct Case {
    unsigned ieee, denormals32;
    bool applies;
  };
  for (Case c : {Case{1, 3, false}, Case{1, 0, false}, Case{0, 3, false}, Case{0, 2, false},
                 Case{0, 1, true}, Case{0, 0, true}}) {
    WaveUnderTest test("gfx950", setMode(9, 1, c.ieee) + setMode(4, 2, c.denormals32) +
                                     "v_add_f32_e64 v2, v0, v1 mul:2\n"
                                     "v_add_f32_e64 v3, v0, v1 div:2\n"
                                     "v_add_f32_e64 v4, v0, v1 mul:4\n"
                                     "v_mul_f32_e64 v5, v6, v0 mul:2");
    test.vgpr(0, 0) = f(1.5f), test.vgpr(1, 0) = f(2), test.vgpr(6, 0) = 0x80000000;
    test.run();
    EXPECT_EQ(test.vgpr(2, 0), f(c.applies ? 7.0f : 3.5f)) << c.ieee << c.denormals32;
    EXPECT_EQ(test.vgpr(3, 0), f(c.applies ? 1.75f : 3.5f)) << c.ieee << c.denormals32;
    EXPECT_EQ(test.vgpr(4, 0), f(c.applies ? 14.0f : 3.5f)) << c.ieee << c.denormals32;
    // -0 becomes +0.
    EXPECT_EQ(test.vgpr(5, 0), c.applies ? 0u : 0x80000000u) << c.ieee << c.denormals32;
  }
}

TEST(DeviceMode, ClampOfNaN) {
  for (unsigned dx10 : {0u, 1u}) {
    WaveUnderTest test("gfx950", setMode(8, 1, dx10) + "v_add_f32_e64 v1, v0, v0 clamp\n"
                                                       "v_add_f16_e64 v2, v0, v0 clamp");
    test.vgpr(0, 0) = 0x7fc07e01;
    test.run();
    EXPECT_EQ(test.vgpr(1, 0), dx10 ? 0u : 0x7fc07e01u);
    EXPECT_EQ(test.vgpr(2, 0), dx10 ? 0u : 0x7e01u);
  }
}

TEST(DeviceMode, SignallingNaNsOfMinimumByIeeeMode) {
  for (unsigned ieee : {0u, 1u}) {
    WaveUnderTest test("gfx950", setMode(9, 1, ieee) +
                                     "v_min_f32 v4, v0, v1\nv_max_f16 v5, v2, v3\n"
                                     "v_pk_max_f16 v6, v2, v3\nv_min3_f32 v7, v0, v1, v1");
    test.vgpr(0, 0) = 0x7f812345, test.vgpr(1, 0) = f(1); // A signalling NaN.
    test.vgpr(2, 0) = 0x7d013c00, test.vgpr(3, 0) = 0x3c007d01;
    test.run();
    EXPECT_EQ(test.vgpr(4, 0), ieee ? 0x7fc12345u : f(1));
    EXPECT_EQ(test.vgpr(5, 0), ieee ? 0x7f01u : 0x3c00u);
    EXPECT_EQ(test.vgpr(6, 0), ieee ? 0x7f017f01u : 0x3c003c00u);
    EXPECT_EQ(test.vgpr(7, 0), f(1)); // The NaN that the first minimum gives is quiet.
  }
}

TEST(DeviceMode, OverflowOfF16) {
  for (unsigned clamps : {0u, 1u}) {
    WaveUnderTest test("gfx950", setMode(23, 1, clamps) +
                                     "v_add_f16 v2, v0, v0\nv_add_f16 v3, v1, v0\n"
                                     "v_cvt_f16_f32 v5, v4\nv_pk_mul_f16 v6, v7, v7\n"
                                     "v_rcp_f16 v8, v9");
    test.vgpr(0, 0) = 0xfbff, test.vgpr(1, 0) = 0x7c00, test.vgpr(4, 0) = f(1e6f);
    test.vgpr(7, 0) = 0x7bff3c00, test.vgpr(9, 0) = 0;
    test.run();
    EXPECT_EQ(test.vgpr(2, 0), clamps ? 0xfbffu : 0xfc00u);
    EXPECT_EQ(test.vgpr(3, 0), 0x7c00u); // A true infinity stays one.
    EXPECT_EQ(test.vgpr(5, 0), clamps ? 0x7bffu : 0x7c00u);
    EXPECT_EQ(test.vgpr(6, 0), clamps ? 0x7bff3c00u : 0x7c003c00u);
    EXPECT_EQ(test.vgpr(8, 0), 0x7c00u);
  }
}

TEST(DeviceMode, IsReadAndWrittenWhole) {
  WaveUnderTest test("gfx950", setMode(0, 10, 0x1a5) +
                                   "s_getreg_b32 s4, hwreg(HW_REG_MODE)\n"
                                   "s_getreg_b32 s5, hwreg(HW_REG_MODE, 4, 4)\n"
                                   "s_getreg_b32 s6, hwreg(HW_REG_XCC_ID)\n"
                                   "s_mov_b32 s7, 0x3\ns_setreg_b32 hwreg(HW_REG_MODE, 4, 2), s7\n"
                                   "s_getreg_b32 s8, hwreg(HW_REG_MODE)\ns_cmp_eq_u32 s7, s7\n"
                                   "s_getreg_b32 s9, hwreg(HW_REG_STATUS, 0, 1)");
  test.run();
  EXPECT_EQ(test.sgpr(4), 0x1a5u);
  EXPECT_EQ(test.sgpr(5), 0xau);
  EXPECT_EQ(test.sgpr(6), 0u);
  EXPECT_EQ(test.sgpr(8), 0x1b5u);
  EXPECT_EQ(test.sgpr(9), 1u);
}

TEST(DeviceMode, LeavesTheHostsControlAlone) {
  const std::string text = "define amdgpu_kernel void @k(ptr addrspace(1) %out) #0 {\n"
                           "  %x = load volatile float, ptr addrspace(1) %out\n"
                           "  %y = fmul float %x, 0.5\n  store float %y, ptr addrspace(1) %out\n"
                           "  ret void\n}\nattributes #0 = { \"denormal-fp-math-f32\"=\"ieee\" }\n";
  LoadedObject object("gfx950", text, "ll");
  uint32_t value = 0x00800000;
  object.memory.announce(reinterpret_cast<uint64_t>(&value), 4, "value");
  unsigned saved = _mm_getcsr();
  _mm_setcsr(0xffc0); // Flush everything, round to zero.
  unsigned before = _mm_getcsr();
  LaunchResult result = object.run("k", {reinterpret_cast<uint64_t>(&value)}, {1, 1, 1}, {1, 1, 1});
  unsigned after = _mm_getcsr();
  _mm_setcsr(saved);
  EXPECT_FALSE(result.fault);
  EXPECT_EQ(value, 0x00400000u);
  EXPECT_EQ(after & 0xffc0, before & 0xffc0);
}

} // namespace
} // namespace wavetile::device::test
