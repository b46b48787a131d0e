//===- DeviceBytesTest.cpp - Bytes, small dot products, legacy f16, quads --===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expected values: "AMD Instinct MI300 Instruction Set Architecture", chapter 12, by arithmetic on
// wide integers.
//
//===----------------------------------------------------------------------===//

#include "DeviceTestSupport.h"

#include <bit>
#include <cstdlib>
#include <random>

namespace wavetile::device::test {
namespace {

int64_t byteOf(uint64_t x, unsigned i) { return static_cast<int64_t>(x >> (8 * i) & 0xff); }
uint64_t sad(uint64_t a, uint64_t b, bool masked) {
  int64_t sum = 0;
  for (unsigned i = 0; i < 4; ++i)
    if (!masked || byteOf(b, i) != 0)
      sum += std::llabs(byteOf(a, i) - byteOf(b, i));
  return static_cast<uint64_t>(sum);
}

TEST(DeviceBytes, SumsOfDifferences) {
  WaveUnderTest test("gfx950", "v_sad_u8 v10, v0, v2, v4\nv_sad_hi_u8 v11, v0, v2, v4\n"
                               "v_sad_u16 v12, v0, v2, v4\nv_sad_u32 v13, v0, v2, v4\n"
                               "v_msad_u8 v14, v0, v2, v4\nv_lerp_u8 v15, v0, v2, v4\n"
                               "v_qsad_pk_u16_u8 v[16:17], v[0:1], v2, v[4:5]\n"
                               "v_mqsad_pk_u16_u8 v[18:19], v[0:1], v2, v[4:5]\n"
                               "v_mqsad_u32_u8 v[4:7], v[0:1], v2, v[4:7]");
  std::mt19937 random(9);
  uint32_t in[8][64];
  for (unsigned lane = 0; lane < 64; ++lane)
    for (unsigned i = 0; i < 8; ++i) {
      in[i][lane] = random();
      if (i == 2 && lane % 3 == 0)
        in[i][lane] &= 0xff00ff00; // Bytes that are masked.
      test.vgpr(i, lane) = in[i][lane];
    }
  test.run();
  for (unsigned lane = 0; lane < 64; ++lane) {
    uint32_t a = in[0][lane], b = in[2][lane], c = in[4][lane];
    uint64_t wide = a | uint64_t(in[1][lane]) << 32, addend = c | uint64_t(in[5][lane]) << 32;
    EXPECT_EQ(test.vgpr(10, lane), uint32_t(sad(a, b, false) + c));
    EXPECT_EQ(test.vgpr(11, lane), uint32_t((sad(a, b, false) << 16) + c));
    int64_t words = std::llabs(int64_t(a & 0xffff) - int64_t(b & 0xffff)) +
                    std::llabs(int64_t(a >> 16) - int64_t(b >> 16));
    EXPECT_EQ(test.vgpr(12, lane), uint32_t(uint64_t(words) + c));
    EXPECT_EQ(test.vgpr(13, lane), uint32_t(uint64_t(std::llabs(int64_t(a) - int64_t(b))) + c));
    EXPECT_EQ(test.vgpr(14, lane), uint32_t(sad(a, b, true) + c));
    for (unsigned i = 0; i < 4; ++i) {
      EXPECT_EQ(test.vgpr(15, lane) >> (8 * i) & 0xff,
                (byteOf(a, i) + byteOf(b, i) + (byteOf(c, i) & 1)) >> 1);
      uint64_t part = wide >> (8 * i), old = addend >> (16 * i) & 0xffff;
      EXPECT_EQ(test.vgpr(16 + i / 2, lane) >> (16 * (i % 2)) & 0xffff,
                (sad(part, b, false) + old) & 0xffff);
      EXPECT_EQ(test.vgpr(18 + i / 2, lane) >> (16 * (i % 2)) & 0xffff,
                (sad(part, b, true) + old) & 0xffff);
      EXPECT_EQ(test.vgpr(4 + i, lane), uint32_t(sad(part, b, true) + in[4 + i][lane]));
    }
  }
}

TEST(DeviceBytes, SaturatingShiftsAndPacks) {
  WaveUnderTest test("gfx950", "v_ashr_pk_i8_i32 v3, v0, v1, v2\n"
                               "v_ashr_pk_u8_i32 v4, v0, v1, v2 op_sel:[0,0,0,1]\n"
                               "v_sat_pk_u8_i16 v5, v6");
  test.vgpr(0, 0) = 0xffff8000, test.vgpr(1, 0) = 0x00000310, test.vgpr(2, 0) = 4;
  test.vgpr(3, 0) = test.vgpr(4, 0) = test.vgpr(5, 0) = 0xabcdabcd;
  test.vgpr(6, 0) = 0xfff00123;
  test.run();
  EXPECT_EQ(test.vgpr(3, 0), 0xabcd3180u);
  EXPECT_EQ(test.vgpr(4, 0), 0x3100abcdu);
  EXPECT_EQ(test.vgpr(5, 0), 0x00ffu);
}

TEST(DeviceBytes, DotProductsOfIntegers) {
  WaveUnderTest test("gfx950", "v_dot2_i32_i16 v3, v0, v1, v2\nv_dot2_u32_u16 v4, v0, v1, v2\n"
                               "v_dot8_i32_i4 v5, v0, v1, v2\nv_dot8_u32_u4 v6, v0, v1, v2\n"
                               "v_dot2_i32_i16 v7, v0, v1, v2 clamp\nv_dot4_i32_i8 v8, v0, v1, v2\n"
                               "v_dot4_u32_u8 v9, v0, v1, v2 clamp\nv_dot8c_i32_i4 v10, v0, v1");
  std::mt19937 random(10);
  uint32_t in[3][64];
  for (unsigned lane = 0; lane < 64; ++lane) {
    for (unsigned i = 0; i < 3; ++i)
      test.vgpr(i, lane) = in[i][lane] = random();
    test.vgpr(10, lane) = 1000;
  }
  test.run();
  auto dot = [](uint32_t a, uint32_t b, unsigned width, bool isSigned) {
    int64_t sum = 0;
    for (unsigned shift = 0; shift < 32; shift += width) {
      auto part = [&](uint32_t x) {
        int64_t value = x >> shift & ((1u << width) - 1);
        return isSigned && value >> (width - 1) ? value - (int64_t(1) << width) : value;
      };
      sum += part(a) * part(b);
    }
    return sum;
  };
  for (unsigned lane = 0; lane < 64; ++lane) {
    uint32_t a = in[0][lane], b = in[1][lane], c = in[2][lane];
    int64_t signedC = static_cast<int32_t>(c);
    EXPECT_EQ(test.vgpr(3, lane), uint32_t(dot(a, b, 16, true) + signedC));
    EXPECT_EQ(test.vgpr(4, lane), uint32_t(dot(a, b, 16, false) + signedC));
    EXPECT_EQ(test.vgpr(5, lane), uint32_t(dot(a, b, 4, true) + signedC));
    EXPECT_EQ(test.vgpr(6, lane), uint32_t(dot(a, b, 4, false) + signedC));
    int64_t exact = dot(a, b, 16, true) + signedC;
    EXPECT_EQ(test.vgpr(7, lane),
              uint32_t(std::min<int64_t>(std::max<int64_t>(exact, INT32_MIN), INT32_MAX)));
    EXPECT_EQ(test.vgpr(8, lane), uint32_t(dot(a, b, 8, true) + signedC));
    EXPECT_EQ(test.vgpr(9, lane),
              uint32_t(std::min<int64_t>(dot(a, b, 8, false) + int64_t(c), UINT32_MAX)));
    EXPECT_EQ(test.vgpr(10, lane), uint32_t(dot(a, b, 4, true) + 1000));
  }
}

TEST(DeviceBytes, HalfInstructionsThatKeepOrClearTheOtherHalf) {
  // gfx9: those with op_sel keep it, the legacy forms and the older ones clear it.
  WaveUnderTest test("gfx942", "v_fma_f16 v2, v0, v0, v0\nv_fma_legacy_f16 v3, v0, v0, v0\n"
                               "v_mad_u16 v4, v1, v1, v1\nv_mad_legacy_u16 v5, v1, v1, v1\n"
                               "v_add_f16 v6, v0, v0\nv_fma_f16 v7, v0, v0, v0 op_sel:[0,0,0,1]");
  test.vgpr(0, 0) = 0x12343c00, test.vgpr(1, 0) = 0x12340003;
  for (unsigned i = 2; i < 8; ++i)
    test.vgpr(i, 0) = 0xabcd9876;
  test.run();
  EXPECT_EQ(test.vgpr(2, 0), 0xabcd4000u);
  EXPECT_EQ(test.vgpr(3, 0), 0x00004000u);
  EXPECT_EQ(test.vgpr(4, 0), 0xabcd000cu);
  EXPECT_EQ(test.vgpr(5, 0), 0x0000000cu);
  EXPECT_EQ(test.vgpr(6, 0), 0x00004000u);
  EXPECT_EQ(test.vgpr(7, 0), 0x40009876u);
}

TEST(DeviceBytes, ExponentsOfHalves) {
  WaveUnderTest test("gfx950", "v_frexp_exp_i16_f16 v1, v0\nv_frexp_mant_f16 v2, v0");
  const uint32_t in[] = {0x3c00, 0x0001, 0xc200, 0x7c00, 0x8000, 0x7d01};
  for (unsigned lane = 0; lane < 6; ++lane)
    test.vgpr(0, lane) = in[lane];
  test.run();
  const uint32_t exponents[] = {1, 0xffe9, 2, 0, 0, 0}; // 2^-24 is 0.5 * 2^-23.
  const uint32_t mantissas[] = {0x3800, 0x3800, 0xba00, 0x7c00, 0x8000, 0x7f01};
  for (unsigned lane = 0; lane < 6; ++lane) {
    EXPECT_EQ(test.vgpr(1, lane), exponents[lane]) << lane;
    EXPECT_EQ(test.vgpr(2, lane), mantissas[lane]) << lane;
  }
}

TEST(DeviceBytes, FacesOfCubes) {
  WaveUnderTest test("gfx950", "v_cubeid_f32 v3, v0, v1, v2\nv_cubesc_f32 v4, v0, v1, v2\n"
                               "v_cubetc_f32 v5, v0, v1, v2\nv_cubema_f32 v6, v0, v1, v2");
  const float in[][3] = {{1, 2, -3}, {1, -4, 3}, {-5, 2, 3}};
  const float expected[][4] = {{5, -1, -2, -6}, {3, 1, -3, -8}, {1, 3, -2, -10}};
  for (unsigned lane = 0; lane < 3; ++lane)
    for (unsigned i = 0; i < 3; ++i)
      test.vgpr(i, lane) = std::bit_cast<uint32_t>(in[lane][i]);
  test.run();
  for (unsigned lane = 0; lane < 3; ++lane)
    for (unsigned i = 0; i < 4; ++i)
      EXPECT_EQ(std::bit_cast<float>(test.vgpr(3 + i, lane)), expected[lane][i]) << lane << i;
}

TEST(DeviceBytes, QuadsOfScalars) {
  WaveUnderTest test("gfx950", "s_quadmask_b32 s4, 0x80000001\ns_wqm_b32 s5, 0x20000001\n"
                               "s_bitreplicate_b64_b32 s[6:7], 0x80000005\ns_mov_b32 m0, 3\n"
                               "s_mov_b32 s13, 77\ns_movrels_b32 s8, s10\ns_movreld_b32 s11, 0x55\n"
                               "s_mov_b32 s16, 16\ns_brev_b32 s17, 1\n");
  test.run();
  EXPECT_EQ(test.sgpr(4), 0x81u);
  EXPECT_EQ(test.sgpr(5), 0xf000000fu);
  EXPECT_EQ(test.sgpr(6), 0x33u);
  EXPECT_EQ(test.sgpr(7), 0xc0000000u);
  EXPECT_EQ(test.sgpr(8), 77u);
  EXPECT_EQ(test.sgpr(14), 0x55u);
}

} // namespace
} // namespace wavetile::device::test
