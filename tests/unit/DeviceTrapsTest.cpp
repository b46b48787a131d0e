//===- DeviceTrapsTest.cpp - Where emulators go wrong ----------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One test for each trap of docs/amd-facts.md, section 4, named after it, with the right value
// worked out by hand from AMD's documents. Of that section these have theirs elsewhere, for they
// are HIP's business: hidden arguments, DeviceHipLaunch.FillsHiddenArguments. Each is tried at
// greater length in the tests of its area.
//
//===----------------------------------------------------------------------===//

#include "DeviceTestSupport.h"

#include <bit>
#include <cmath>

namespace wavetile::device::test {
namespace {

uint32_t f(float x) { return std::bit_cast<uint32_t>(x); }
constexpr uint64_t evenLanes = 0x5555555555555555;

// --- DPP ---

TEST(DeviceTraps, DppInPlaceReadsAllLanesBeforeItWritesAny) {
  for (const char *target : {"gfx942", "gfx950", "gfx1150", "gfx1201"}) {
    WaveUnderTest test(target, "v_add_f32_dpp v1, v1, v1 row_shr:1 row_mask:0xf bank_mask:0xf");
    for (unsigned lane = 0; lane < test.size(); ++lane)
      test.vgpr(1, lane) = f(static_cast<float>(lane * lane));
    test.run();
    for (unsigned lane = 0; lane < test.size(); ++lane) {
      float own = static_cast<float>(lane * lane),
            left = static_cast<float>((lane - 1) * (lane - 1));
      EXPECT_EQ(test.vgpr(1, lane), f(lane % 16 ? own + left : own)) << target;
    }
  }
}
TEST(DeviceTraps, DppReadsLanesThatExecDisables) {
  std::string swap = " quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf";
  for (const char *target : {"gfx942", "gfx1150"}) {
    WaveUnderTest test(
        target, "v_mov_b32_dpp v2, v1" + swap + "\nv_mov_b32_dpp v3, v1" + swap + " bound_ctrl:1" +
                    (isGfx9(target) ? "" : "\nv_mov_b32_dpp v4, v1" + swap + " fi:1"));
    for (unsigned lane = 0; lane < test.size(); ++lane)
      for (unsigned v = 1; v <= 4; ++v)
        test.vgpr(v, lane) = v * 100 + lane;
    test.wave->setLaneMask(scalar::Exec, evenLanes & test.wave->allLanes());
    test.run();
    for (unsigned lane = 0; lane < test.size(); lane += 2) {
      EXPECT_EQ(test.vgpr(2, lane), 200 + lane) << target; // No write: its source is off.
      EXPECT_EQ(test.vgpr(3, lane), 0u) << target;
      EXPECT_EQ(test.vgpr(4, lane), isGfx9(target) ? 400 + lane : 100 + lane + 1) << target;
    }
  }
}
TEST(DeviceTraps, DppRowBroadcast) {
  WaveUnderTest test("gfx942", "v_mov_b32_dpp v2, v1 row_bcast:15 row_mask:0xa bank_mask:0xf\n"
                               "v_mov_b32_dpp v3, v1 row_bcast:31 row_mask:0xc bank_mask:0xf\n"
                               "v_mov_b32_dpp v4, v1 row_newbcast:5 row_mask:0xf bank_mask:0xf");
  for (unsigned lane = 0; lane < 64; ++lane)
    test.vgpr(1, lane) = 100 + lane;
  test.run();
  for (unsigned lane = 0; lane < 64; ++lane) {
    unsigned row = lane / 16;
    EXPECT_EQ(test.vgpr(2, lane), row % 2 ? 100 + 16 * row - 1 : 0);
    EXPECT_EQ(test.vgpr(3, lane), row >= 2 ? 131u : 0u);
    EXPECT_EQ(test.vgpr(4, lane), 100 + 16 * row + 5);
  }
}
TEST(DeviceTraps, DppRowShareAndRowXmask) {
  for (const char *target : {"gfx1150", "gfx1201"}) {
    WaveUnderTest test(target, "v_mov_b32_dpp v2, v1 row_share:3 row_mask:0xf bank_mask:0xf\n"
                               "v_mov_b32_dpp v3, v1 row_xmask:6 row_mask:0xf bank_mask:0xf");
    for (unsigned lane = 0; lane < 32; ++lane)
      test.vgpr(1, lane) = 100 + lane;
    test.run();
    for (unsigned lane = 0; lane < 32; ++lane) {
      EXPECT_EQ(test.vgpr(2, lane), 100 + lane / 16 * 16 + 3) << target;
      EXPECT_EQ(test.vgpr(3, lane), 100 + (lane ^ 6)) << target;
    }
  }
}
TEST(DeviceTraps, Dpp8) {
  for (const char *target : {"gfx1150", "gfx1201"}) {
    WaveUnderTest test(target, "v_add_nc_u32_dpp v2, v1, v0 dpp8:[7,0,6,1,5,2,4,3]");
    const unsigned from[] = {7, 0, 6, 1, 5, 2, 4, 3};
    for (unsigned lane = 0; lane < 32; ++lane)
      test.vgpr(1, lane) = 100 + lane, test.vgpr(0, lane) = 1000 * lane;
    test.run();
    for (unsigned lane = 0; lane < 32; ++lane)
      EXPECT_EQ(test.vgpr(2, lane), 100 + lane / 8 * 8 + from[lane % 8] + 1000 * lane) << target;
  }
}
TEST(DeviceTraps, Vop3WithDpp) {
  for (const char *target : {"gfx1150", "gfx1201"}) {
    WaveUnderTest test(target, "v_fma_f32_e64_dpp v3, -v1, |v2|, v0 row_xmask:1 row_mask:0xf "
                               "bank_mask:0xf");
    for (unsigned lane = 0; lane < 32; ++lane) {
      test.vgpr(1, lane) = f(static_cast<float>(lane));
      test.vgpr(2, lane) = f(-2.0f - static_cast<float>(lane));
      test.vgpr(0, lane) = f(0.5f);
    }
    test.run();
    for (unsigned lane = 0; lane < 32; ++lane) {
      float other = static_cast<float>(lane ^ 1), own = 2.0f + static_cast<float>(lane);
      EXPECT_EQ(test.vgpr(3, lane), f(-other * own + 0.5f)) << target;
    }
  }
}

// --- Permutations ---

TEST(DeviceTraps, DsSwizzle) {
  for (const char *target : {"gfx942", "gfx1150"}) {
    std::string wait = isGfx9(target) ? "\ns_waitcnt lgkmcnt(0)" : "\ns_waitcnt lgkmcnt(0)";
    WaveUnderTest test(target, "ds_swizzle_b32 v2, v1 offset:swizzle(SWAP,4)\n"
                               "ds_swizzle_b32 v3, v1 offset:swizzle(BROADCAST,8,3)\n"
                               "ds_swizzle_b32 v4, v1 offset:swizzle(QUAD_PERM,3,2,1,0)\n"
                               "ds_swizzle_b32 v5, v1 offset:swizzle(REVERSE,8)" +
                                   wait);
    for (unsigned lane = 0; lane < test.size(); ++lane)
      test.vgpr(1, lane) = 100 + lane;
    test.run();
    for (unsigned lane = 0; lane < test.size(); ++lane) {
      EXPECT_EQ(test.vgpr(2, lane), 100 + (lane ^ 4)) << target;
      EXPECT_EQ(test.vgpr(3, lane), 100 + lane / 8 * 8 + 3) << target;
      EXPECT_EQ(test.vgpr(4, lane), 100 + (lane ^ 3)) << target;
      EXPECT_EQ(test.vgpr(5, lane), 100 + (lane ^ 7)) << target;
    }
  }
}
TEST(DeviceTraps, PermlaneWithLiteralSelects) {
  // Lanes 0 to 7 take 7 to 0, lanes 8 to 15 what s2 says: 15 to 8.
  for (const char *target : {"gfx1150", "gfx1201"}) {
    WaveUnderTest test(target, "v_permlane16_b32 v2, v1, 0x01234567, s2\n"
                               "v_permlanex16_b32 v3, v1, 0x01234567, s2");
    test.sgpr(2) = 0x89abcdef;
    for (unsigned lane = 0; lane < 32; ++lane)
      test.vgpr(1, lane) = 100 + lane;
    test.run();
    for (unsigned lane = 0; lane < 32; ++lane) {
      unsigned in = lane % 16, from = in < 8 ? 7 - in : 15 - (in - 8);
      EXPECT_EQ(test.vgpr(2, lane), 100 + lane / 16 * 16 + from) << target;
      EXPECT_EQ(test.vgpr(3, lane), 100 + (lane / 16 ^ 1) * 16 + from) << target;
    }
  }
}
TEST(DeviceTraps, Permlane16And32Swap) {
  WaveUnderTest test("gfx950", "v_permlane16_swap_b32 v1, v2\nv_permlane32_swap_b32 v3, v4");
  for (unsigned lane = 0; lane < 64; ++lane)
    for (unsigned v = 1; v <= 4; ++v)
      test.vgpr(v, lane) = v * 100 + lane;
  test.run();
  for (unsigned lane = 0; lane < 64; ++lane) {
    // Odd rows of the first with even rows of the second.
    bool oddRow = lane / 16 % 2;
    EXPECT_EQ(test.vgpr(1, lane), oddRow ? 200 + lane - 16 : 100 + lane);
    EXPECT_EQ(test.vgpr(2, lane), oddRow ? 200 + lane : 100 + lane + 16);
    EXPECT_EQ(test.vgpr(3, lane), lane < 32 ? 300 + lane : 400 + lane - 32);
    EXPECT_EQ(test.vgpr(4, lane), lane < 32 ? 300 + lane + 32 : 400 + lane);
  }
}

// --- Matrix products ---

float elementOfA(unsigned row, unsigned k) { return static_cast<float>((row * 3 + k * 5) % 7) - 3; }
float elementOfB(unsigned k, unsigned col) { return static_cast<float>((k * 2 + col * 5) % 9) - 4; }
float productOf(unsigned row, unsigned col, unsigned depth) {
  float sum = 0;
  for (unsigned k = 0; k < depth; ++k)
    sum += elementOfA(row, k) * elementOfB(k, col);
  return sum;
}
uint16_t half(float x) {
  _Float16 h = static_cast<_Float16>(x);
  return std::bit_cast<uint16_t>(h);
}

TEST(DeviceTraps, RowOrderOfMfma32x32) {
  for (const char *target : {"gfx942", "gfx950"}) {
    WaveUnderTest test(target, "v_mfma_f32_32x32x8_f16 v[16:31], v[0:1], v[2:3], 0");
    for (unsigned lane = 0; lane < 64; ++lane)
      for (unsigned i = 0; i < 4; ++i) {
        unsigned k = 4 * (lane / 32) + i, shift = i % 2 * 16;
        test.vgpr(i / 2, lane) |= uint32_t(half(elementOfA(lane % 32, k))) << shift;
        test.vgpr(2 + i / 2, lane) |= uint32_t(half(elementOfB(k, lane % 32))) << shift;
      }
    test.run();
    for (unsigned lane = 0; lane < 64; ++lane)
      for (unsigned i = 0; i < 16; ++i) {
        unsigned row = 8 * (i / 4) + 4 * (lane / 32) + i % 4;
        ASSERT_EQ(test.vgpr(16 + i, lane), f(productOf(row, lane % 32, 8))) << target;
      }
  }
}
TEST(DeviceTraps, MfmaOfF64) {
  WaveUnderTest test("gfx942", "v_mfma_f64_16x16x4_f64 v[8:15], v[0:1], v[2:3], 0");
  auto put = [&](unsigned v, unsigned lane, double x) {
    uint64_t bits = std::bit_cast<uint64_t>(x);
    test.vgpr(v, lane) = static_cast<uint32_t>(bits);
    test.vgpr(v + 1, lane) = static_cast<uint32_t>(bits >> 32);
  };
  for (unsigned lane = 0; lane < 64; ++lane) {
    put(0, lane, elementOfA(lane % 16, lane / 16));
    put(2, lane, elementOfB(lane / 16, lane % 16));
  }
  test.run();
  for (unsigned lane = 0; lane < 64; ++lane)
    for (unsigned i = 0; i < 4; ++i) {
      uint64_t got = test.vgpr(8 + 2 * i, lane) | uint64_t(test.vgpr(9 + 2 * i, lane)) << 32;
      ASSERT_EQ(std::bit_cast<double>(got), productOf(4 * i + lane / 16, lane % 16, 4));
    }
}
TEST(DeviceTraps, MfmaOfTwoBlocks) {
  // Register 16 * block + i; each half of the lanes has the operands of one block.
  WaveUnderTest test("gfx942", "v_mfma_f32_32x32x1_2b_f32 v[32:63], v0, v1, 0");
  for (unsigned lane = 0; lane < 64; ++lane) {
    test.vgpr(0, lane) = f(static_cast<float>(lane + 1));
    test.vgpr(1, lane) = f(static_cast<float>(2 * lane + 1));
  }
  test.run();
  for (unsigned lane = 0; lane < 64; ++lane)
    for (unsigned i = 0; i < 32; ++i) {
      unsigned block = i / 16, n = i % 16, row = 8 * (n / 4) + 4 * (lane / 32) + n % 4;
      float a = static_cast<float>(32 * block + row + 1);
      float b = static_cast<float>(2 * (32 * block + lane % 32) + 1);
      ASSERT_EQ(test.vgpr(32 + i, lane), f(a * b));
    }
}
TEST(DeviceTraps, SparseMfma) {
  // All of B is 1 but for k % 4 == 3, where it is 10; each pair of A stands at places 1 and 3.
  WaveUnderTest test("gfx942", "v_smfmac_f32_16x16x32_f16 v[8:11], v[0:1], v[2:5], v6");
  for (unsigned lane = 0; lane < 64; ++lane) {
    test.vgpr(0, lane) = test.vgpr(1, lane) = half(2) | uint32_t(half(3)) << 16;
    for (unsigned i = 0; i < 4; ++i)
      test.vgpr(2 + i, lane) = half(1) | uint32_t(half(i % 2 ? 10 : 1)) << 16;
    test.vgpr(6, lane) = 0xdddd; // 3, 1 in each four bits.
  }
  test.run();
  for (unsigned lane = 0; lane < 64; ++lane)
    for (unsigned i = 0; i < 4; ++i)
      ASSERT_EQ(test.vgpr(8 + i, lane), f(8 * (2 * 1 + 3 * 10))); // Eight groups of four k.
}
TEST(DeviceTraps, MfmaOfXf32) {
  WaveUnderTest test("gfx942", "v_mfma_f32_16x16x8_xf32 v[8:11], v[0:1], v[2:3], 0");
  for (unsigned lane = 0; lane < 64; ++lane)
    for (unsigned i = 0; i < 2; ++i) {
      unsigned k = 2 * (lane / 16) + i;
      test.vgpr(i, lane) = f(elementOfA(lane % 16, k));
      test.vgpr(2 + i, lane) = f(elementOfB(k, lane % 16));
    }
  test.run();
  for (unsigned lane = 0; lane < 64; ++lane)
    for (unsigned i = 0; i < 4; ++i)
      ASSERT_EQ(test.vgpr(8 + i, lane), f(productOf(4 * (lane / 16) + i, lane % 16, 8)));
  EXPECT_EQ(refusedBy("gfx950", ".long 0xd3be0008\n.long 0x04020500").size(), 1u); // Not there.
}
TEST(DeviceTraps, MfmaWithDenormalAndInfiniteHalves) {
  for (const char *target : {"gfx942", "gfx950"}) {
    WaveUnderTest test(target, "v_mfma_f32_16x16x16_f16 v[8:11], v[0:1], v[2:3], 0");
    // Row 0 of A has the least denormal at k = 0, row 1 an infinity, row 2 one whose factor is 0.
    test.vgpr(0, 0) = 0x0001;
    test.vgpr(0, 1) = 0x7c00;
    test.vgpr(0, 2) = 0x7c00u << 16;
    for (unsigned column = 0; column < 16; ++column)
      test.vgpr(2, column) = half(1); // k = 0; k = 1 is 0.
    test.run();
    EXPECT_EQ(test.vgpr(8, 5), f(std::ldexp(1.0f, -24))) << target;
    EXPECT_EQ(test.vgpr(9, 5), f(INFINITY)) << target;
    EXPECT_TRUE(std::isnan(std::bit_cast<float>(test.vgpr(10, 5)))) << target;
  }
}
TEST(DeviceTraps, ScaledMfmaOfFp4AndFp6) {
  // 128 products of 1 and 1, times 2^3 and 2^-1.
  const char *programs[] = {
      "v_mfma_scale_f32_16x16x128_f8f6f4 v[32:35], v[0:3], v[8:11], 0, v20, v21 "
      "op_sel_hi:[0,0,0] cbsz:4 blgp:4",
      "v_mfma_scale_f32_16x16x128_f8f6f4 v[32:35], v[0:5], v[8:13], 0, v20, v21 "
      "op_sel_hi:[0,0,0] cbsz:2 blgp:2"};
  for (unsigned p = 0; p < 2; ++p) {
    WaveUnderTest test("gfx950", programs[p]);
    for (unsigned lane = 0; lane < 64; ++lane) {
      for (unsigned base : {0u, 8u})
        for (unsigned bit = 0; bit < 192; bit += p == 0 ? 4 : 6) {
          // 1 is 0b0010 in fp4 and 0b001000 in fp6.
          unsigned one = bit + (p == 0 ? 1 : 3);
          test.vgpr(base + one / 32, lane) |= 1u << one % 32;
        }
      test.vgpr(20, lane) = 127 + 3, test.vgpr(21, lane) = 127 - 1;
    }
    test.run();
    for (unsigned lane = 0; lane < 64; ++lane)
      for (unsigned i = 0; i < 4; ++i)
        ASSERT_EQ(test.vgpr(32 + i, lane), f(128 * 4)) << programs[p];
  }
}

// --- 8-bit floats ---

TEST(DeviceTraps, FnuzIsNotOcp) {
  struct {
    const char *target;
    uint32_t one, of0x80;
  } const cases[] = {{"gfx942", 0x40, 0x7fc00000}, {"gfx950", 0x38, 0x80000000}};
  for (const auto &c : cases) {
    WaveUnderTest test(c.target, "v_cvt_f32_fp8 v2, v0\nv_cvt_f32_fp8 v3, v1\n"
                                 "v_cvt_pk_fp8_f32 v4, v5, v5");
    test.vgpr(0, 0) = c.one, test.vgpr(1, 0) = 0x80, test.vgpr(5, 0) = f(1);
    test.run();
    EXPECT_EQ(test.vgpr(2, 0), f(1)) << c.target;
    EXPECT_EQ(test.vgpr(3, 0), c.of0x80) << c.target;
    EXPECT_EQ(test.vgpr(4, 0) & 0xffff, c.one << 8 | c.one) << c.target;
  }
}
TEST(DeviceTraps, StochasticRounding) {
  // Half of the way from 1 to 1.125: the upper half of all random numbers rounds up.
  for (const char *target : {"gfx942", "gfx950"}) {
    WaveUnderTest test(target, "v_cvt_sr_fp8_f32 v2, v0, v1");
    const uint32_t random[] = {0, 0x7fffffff, 0x80000000, 0xffffffff};
    uint32_t one = target == std::string("gfx942") ? 0x40 : 0x38;
    for (unsigned lane = 0; lane < 4; ++lane)
      test.vgpr(0, lane) = f(1.0625f), test.vgpr(1, lane) = random[lane];
    test.run();
    for (unsigned lane = 0; lane < 4; ++lane)
      EXPECT_EQ(test.vgpr(2, lane) & 0xff, lane < 2 ? one : one + 1) << target;
  }
}
TEST(DeviceTraps, ConversionsWithScales) {
  WaveUnderTest test("gfx950", "v_cvt_scalef32_f32_fp8 v2, v0, v1\n"
                               "v_cvt_scalef32_pk_f32_fp4 v[4:5], v3, v1\n"
                               "v_cvt_scalef32_pk_fp8_f32 v6, v7, v7, v1");
  test.vgpr(0, 0) = 0x38;  // 1
  test.vgpr(1, 0) = f(8);  // The scale; only its exponent counts.
  test.vgpr(3, 0) = 0x52;  // fp4: 1 and 3
  test.vgpr(7, 0) = f(16); // Divided by the scale on the way to fp8: 2 is 0x40.
  test.run();
  EXPECT_EQ(test.vgpr(2, 0), f(8));
  EXPECT_EQ(test.vgpr(4, 0), f(8));
  EXPECT_EQ(test.vgpr(5, 0), f(24));
  EXPECT_EQ(test.vgpr(6, 0) & 0xffff, 0x4040u);
}

// --- Memory ---

TEST(DeviceTraps, ByteShortThreeDwordAndAtomicBufferForms) {
  WaveWithMemory test("gfx942",
                      "buffer_load_ubyte v1, v0, s[4:7], 0 offen offset:1\n"
                      "buffer_load_sbyte v2, v0, s[4:7], 0 offen offset:1\n"
                      "buffer_load_ushort v3, v0, s[4:7], 0 offen offset:2\n"
                      "buffer_load_short_d16_hi v4, v0, s[4:7], 0 offen\n"
                      "buffer_load_dwordx3 v[8:10], v0, s[4:7], 0 offen\n"
                      "s_waitcnt vmcnt(0)\n"
                      "buffer_store_byte v5, v0, s[4:7], 0 offen offset:3\n"
                      "s_waitcnt vmcnt(0)\n"
                      "buffer_atomic_add v6, v0, s[4:7], 0 offen offset:12 sc0\n"
                      "s_waitcnt vmcnt(0)",
                      1);
  test.pointScalars(4);
  test.sgpr(6) = 4096, test.sgpr(7) = 0x27000;
  const std::vector<uint8_t> before = test.bytes;
  for (unsigned lane = 0; lane < 64; ++lane) {
    test.vgpr(0, lane) = 16 * lane;
    test.vgpr(4, lane) = 0x1234;
    test.vgpr(5, lane) = 0xabc0 + lane;
    test.vgpr(6, lane) = 5;
  }
  test.run();
  for (unsigned lane = 0; lane < 64; ++lane) {
    const uint8_t *own = before.data() + 16 * lane;
    auto dword = [&](unsigned i) {
      return own[4 * i] | own[4 * i + 1] << 8 | own[4 * i + 2] << 16 |
             uint32_t(own[4 * i + 3]) << 24;
    };
    EXPECT_EQ(test.vgpr(1, lane), own[1]);
    EXPECT_EQ(test.vgpr(2, lane), static_cast<uint32_t>(static_cast<int8_t>(own[1])));
    EXPECT_EQ(test.vgpr(3, lane), own[2] | uint32_t(own[3]) << 8);
    EXPECT_EQ(test.vgpr(4, lane), 0x1234u | dword(0) << 16);
    for (unsigned i = 0; i < 3; ++i)
      EXPECT_EQ(test.vgpr(8 + i, lane), dword(i));
    EXPECT_EQ(test.at<uint8_t>(16 * lane + 3), static_cast<uint8_t>(0xc0 + lane));
    EXPECT_EQ(test.vgpr(6, lane), dword(3));
    EXPECT_EQ(test.at<uint32_t>(16 * lane + 12), dword(3) + 5);
  }
}
TEST(DeviceTraps, GlobalAtomicsThatReturn) {
  // All lanes add to one dword; each returns what those before it made.
  WaveWithMemory test("gfx942", "global_atomic_add v2, v0, v1, s[4:5] sc0\ns_waitcnt vmcnt(0)", 2);
  test.pointScalars(4);
  uint32_t sum = test.at<uint32_t>(0);
  for (unsigned lane = 0; lane < 64; ++lane)
    test.vgpr(1, lane) = lane + 1;
  test.run();
  for (unsigned lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(test.vgpr(2, lane), sum);
    sum += lane + 1;
  }
  EXPECT_EQ(test.at<uint32_t>(0), sum);
}
TEST(DeviceTraps, FlatAperturesOfLdsAndScratch) {
  for (const char *target : {"gfx942", "gfx1150"}) {
    std::string wait = isGfx9(target) ? "s_waitcnt vmcnt(0) lgkmcnt(0)\n"
                                      : "s_waitcnt vmcnt(0) lgkmcnt(0)\ns_waitcnt_vscnt null, 0\n";
    std::string dword = isGfx9(target) ? "dword" : "b32";
    WaveUnderTest test(
        target, "s_mov_b64 s[4:5], src_shared_base\ns_mov_b64 s[6:7], src_private_base\n"
                "v_mov_b32 v1, s5\nv_mov_b32 v3, s7\n"
                "flat_store_" +
                    dword + " v[0:1], v4 offset:8\nflat_store_" + dword + " v[2:3], v5 offset:8\n" +
                    wait + "flat_load_" + dword + " v6, v[2:3] offset:8\n" + wait);
    for (unsigned lane = 0; lane < test.size(); ++lane) {
      test.vgpr(0, lane) = 4 * lane; // In LDS
      test.vgpr(2, lane) = 16;       // In each lane's own scratch
      test.vgpr(4, lane) = 100 + lane, test.vgpr(5, lane) = 200 + lane;
    }
    test.run();
    for (unsigned lane = 0; lane < test.size(); ++lane) {
      uint32_t inLds;
      std::copy_n(test.lds.data() + 4 * lane + 8, 4, reinterpret_cast<uint8_t *>(&inLds));
      EXPECT_EQ(inLds, 100 + lane) << target;
      EXPECT_EQ(*test.wave->scratchWord(lane, 6), 200 + lane) << target;
      EXPECT_EQ(test.vgpr(6, lane), 200 + lane) << target;
    }
  }
}
TEST(DeviceTraps, ScratchPerWave) {
  // Each of four waves writes its own number to the same place of scratch, waits for the others,
  // and reads it back.
  const char *source = R"(
define amdgpu_kernel void @scratch(ptr addrspace(1) %out) #0 {
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %slots = alloca [16 x i32], addrspace(5)
  %at = and i32 %lane, 15
  %p = getelementptr [16 x i32], ptr addrspace(5) %slots, i32 0, i32 %at
  store volatile i32 %lane, ptr addrspace(5) %p
  call void @llvm.amdgcn.s.barrier()
  %x = load volatile i32, ptr addrspace(5) %p
  %wide = zext i32 %lane to i64
  %q = getelementptr i32, ptr addrspace(1) %out, i64 %wide
  store i32 %x, ptr addrspace(1) %q
  ret void
}
declare i32 @llvm.amdgcn.workitem.id.x()
declare void @llvm.amdgcn.s.barrier()
attributes #0 = { "amdgpu-flat-work-group-size"="256,256" }
)";
  for (const char *target : {"gfx942", "gfx1150", "gfx1201"}) {
    LoadedObject object(target, source, "ll");
    std::vector<uint32_t> out(256, ~0u);
    Allocation allocation;
    allocation.begin = reinterpret_cast<uint64_t>(out.data());
    allocation.end = allocation.begin + 1024;
    allocation.source = BoundsSource::Device;
    object.memory.add(allocation, "out");
    LaunchResult result = object.run("scratch", {allocation.begin}, {1, 1, 1}, {256, 1, 1});
    ASSERT_FALSE(result.fault) << target << " " << result.fault->detail;
    for (uint32_t i = 0; i < 256; ++i)
      ASSERT_EQ(out[i], i) << target;
  }
}
TEST(DeviceTraps, LdsIsNotClampedByM0) {
  // On gfx8 M0 was the size of LDS. On these GPUs it means nothing to plain LDS instructions.
  for (const char *target : {"gfx942", "gfx1150"}) {
    std::string load = isGfx9(target) ? "ds_read_b32" : "ds_load_b32";
    WaveUnderTest test(target,
                       "s_mov_b32 m0, 0\n" + load + " v1, v0 offset:64\ns_waitcnt lgkmcnt(0)");
    for (unsigned i = 0; i < 1024; ++i)
      test.lds[i] = static_cast<uint8_t>(i * 7);
    test.vgpr(0, 3) = 16;
    test.run();
    uint32_t expected;
    std::copy_n(test.lds.data() + 80, 4, reinterpret_cast<uint8_t *>(&expected));
    EXPECT_EQ(test.vgpr(1, 3), expected) << target;
  }
}
TEST(DeviceTraps, TransposingLdsReads) {
  // The 16 lanes of a group read 16 pieces of four halves: four rows of 16 columns, four pieces a
  // row. Lane i gets column i.
  WaveUnderTest test("gfx950", "ds_read_b64_tr_b16 v[2:3], v0\ns_waitcnt lgkmcnt(0)");
  for (unsigned i = 0; i < 256; ++i) {
    uint16_t value = static_cast<uint16_t>(1000 + i);
    std::copy_n(reinterpret_cast<const uint8_t *>(&value), 2, test.lds.data() + 2 * i);
  }
  for (unsigned lane = 0; lane < 64; ++lane)
    test.vgpr(0, lane) = 8 * lane;
  test.run();
  for (unsigned lane = 0; lane < 64; ++lane)
    for (unsigned i = 0; i < 4; ++i) {
      unsigned element = lane / 16 * 64 + i * 16 + lane % 16;
      EXPECT_EQ(test.vgpr(2 + i / 2, lane) >> i % 2 * 16 & 0xffff, 1000 + element);
    }
}
TEST(DeviceTraps, GlobalLoadsToLds) {
  // To M0 + offset + 4 * lane, whatever address a lane loads from; lanes that are off write
  // nothing.
  WaveWithMemory test("gfx942",
                      "s_mov_b32 m0, 0x200\n"
                      "global_load_lds_dword v0, s[4:5] offset:16\ns_waitcnt vmcnt(0)",
                      3);
  test.pointScalars(4);
  for (unsigned lane = 0; lane < 64; ++lane)
    test.vgpr(0, lane) = 4 * (63 - lane);
  test.wave->setLaneMask(scalar::Exec, evenLanes);
  test.run();
  for (unsigned lane = 0; lane < 64; ++lane) {
    uint32_t inLds;
    std::copy_n(test.lds.data() + 0x200 + 16 + 4 * lane, 4, reinterpret_cast<uint8_t *>(&inLds));
    EXPECT_EQ(inLds, lane % 2 ? 0u : test.at<uint32_t>(4 * (63 - lane) + 16));
  }
}

// --- Control ---

TEST(DeviceTraps, CallsAndReturns) {
  for (const char *target : {"gfx942", "gfx1150", "gfx1201"}) {
    std::string getPc = "s_getpc_b64 s[4:5]\n";
    WaveUnderTest test(target, getPc + "here:\n"
                                       "s_add_u32 s4, s4, function-here\ns_addc_u32 s5, s5, 0\n"
                                       "s_swappc_b64 s[30:31], s[4:5]\n"
                                       "s_add_i32 s8, s8, 0x100\n"
                                       "s_call_b64 s[30:31], function\n"
                                       "s_add_i32 s8, s8, 0x100\n"
                                       "s_branch end\n"
                                       "function:\n"
                                       "s_add_i32 s8, s8, 1\n"
                                       "s_setpc_b64 s[30:31]\n"
                                       "end:\n");
    test.run();
    EXPECT_EQ(test.sgpr(8), 0x202u) << target;
  }
}
TEST(DeviceTraps, VCmpxWritesExec) {
  WaveUnderTest gfx9("gfx942", "v_cmpx_lt_u32 vcc, v0, v1\nv_mov_b32 v2, 1");
  WaveUnderTest gfx11("gfx1150", "v_cmpx_lt_u32 v0, v1\nv_mov_b32 v2, 1");
  for (WaveUnderTest *test : {&gfx9, &gfx11}) {
    for (unsigned lane = 0; lane < test->size(); ++lane)
      test->vgpr(0, lane) = lane % 5, test->vgpr(1, lane) = 3;
    test->sgpr(scalar::Vcc) = 0x12345678;
    test->wave->setLaneMask(scalar::Exec, evenLanes & test->wave->allLanes());
    test->run();
    uint64_t expected = 0;
    for (unsigned lane = 0; lane < test->size(); lane += 2)
      expected |= uint64_t(lane % 5 < 3) << lane;
    EXPECT_EQ(test->wave->exec(), expected);
    for (unsigned lane = 0; lane < test->size(); ++lane)
      EXPECT_EQ(test->vgpr(2, lane), expected >> lane & 1);
    bool isGfx9 = test == &gfx9; // There VCC gets the mask too.
    EXPECT_EQ(test->sgpr(scalar::Vcc), isGfx9 ? static_cast<uint32_t>(expected) : 0x12345678u);
  }
}

// --- Floats and integers ---

TEST(DeviceTraps, RoundingOfMode) {
  for (const char *target : {"gfx942", "gfx1150", "gfx1201"})
    for (unsigned mode = 0; mode < 4; ++mode) { // Nearest even, up, down, toward zero.
      WaveUnderTest test(target, "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), " +
                                     std::to_string(mode) +
                                     "\nv_add_f32 v2, v0, v1\nv_sub_f32 v3, -1.0, v1");
      test.vgpr(0, 0) = f(1), test.vgpr(1, 0) = f(std::ldexp(1.0f, -30));
      test.run();
      EXPECT_EQ(test.vgpr(2, 0), mode == 1 ? 0x3f800001u : 0x3f800000u) << target << mode;
      EXPECT_EQ(test.vgpr(3, 0), mode == 2 ? 0xbf800001u : 0xbf800000u) << target << mode;
    }
}
TEST(DeviceTraps, DenormalsOfMode) {
  for (const char *target : {"gfx942", "gfx1150", "gfx1201"})
    for (unsigned mode = 0; mode < 4; ++mode) { // Bit 0: of sources are kept, bit 1: of results.
      WaveUnderTest test(target, "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), " +
                                     std::to_string(mode) +
                                     "\nv_mul_f32 v2, 0.5, v0\nv_add_f32 v3, v1, v0");
      test.vgpr(0, 0) = 0x00800000; // The least normal number:
      test.vgpr(1, 0) = 0x00000003; // half of it is denormal, as this is.
      test.run();
      EXPECT_EQ(test.vgpr(2, 0), mode & 2 ? 0x00400000u : 0u) << target << mode;
      EXPECT_EQ(test.vgpr(3, 0), mode & 1 ? 0x00800003u : 0x00800000u) << target << mode;
    }
}
TEST(DeviceTraps, MinimumAndMaximumOfNaNAndSignedZero) {
  for (const char *target : {"gfx942", "gfx1150"}) {
    WaveUnderTest test(target, "v_min_f32 v2, v0, v1\nv_max_f32 v3, v0, v1");
    const struct {
      uint32_t a, b, least, most;
    } cases[] = {{0x7fc00000, f(1), f(1), f(1)},
                 {f(1), 0xffc12345, f(1), f(1)},
                 {0, 0x80000000, 0x80000000, 0},
                 {0x80000000, 0, 0x80000000, 0},
                 {0x7f800001, f(1), 0x7fc00001, 0x7fc00001}, // IEEE mode quiets and gives it.
                 {0x7fc00005, 0x7fc00006, 0x7fc00005, 0x7fc00005}};
    for (unsigned i = 0; i < std::size(cases); ++i)
      test.vgpr(0, i) = cases[i].a, test.vgpr(1, i) = cases[i].b;
    test.run();
    for (unsigned i = 0; i < std::size(cases); ++i) {
      EXPECT_EQ(test.vgpr(2, i), cases[i].least) << target << " case " << i;
      EXPECT_EQ(test.vgpr(3, i), cases[i].most) << target << " case " << i;
    }
  }
}
TEST(DeviceTraps, IntegerClamp) {
  WaveUnderTest gfx9("gfx942", "v_add_u32_e64 v2, v0, v1 clamp\nv_sub_u32_e64 v3, v1, v0 clamp\n"
                               "v_add_i32 v4, v5, v5 clamp\nv_add_u16_e64 v6, v0, v7 clamp");
  WaveUnderTest gfx11("gfx1150", "v_add_nc_u32_e64 v2, v0, v1 clamp\n"
                                 "v_sub_nc_u32_e64 v3, v1, v0 clamp\n"
                                 "v_add_nc_i32 v4, v5, v5 clamp\n"
                                 "v_add_nc_u16 v6.l, v0.l, v7.l clamp");
  for (WaveUnderTest *test : {&gfx9, &gfx11}) {
    test->vgpr(0, 0) = 0xfffffff0, test->vgpr(1, 0) = 0x20;
    test->vgpr(5, 0) = 0x80000001, test->vgpr(7, 0) = 0xff00;
    test->run();
    EXPECT_EQ(test->vgpr(2, 0), 0xffffffffu);
    EXPECT_EQ(test->vgpr(3, 0), 0u);
    EXPECT_EQ(test->vgpr(4, 0), 0x80000000u);
    EXPECT_EQ(test->vgpr(6, 0) & 0xffff, 0xffffu);
  }
}
TEST(DeviceTraps, OutputModifiers) {
  // They count without IEEE mode and with denormals flushed, else they are ignored.
  std::string both = "v_add_f32_e64 v2, v0, v1 mul:2\nv_add_f32_e64 v3, v0, v1 clamp div:2";
  for (const char *target : {"gfx942", "gfx1150"})
    for (bool counts : {false, true}) {
      std::string mode = counts ? "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 9, 1), 0\n"
                                  "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0\n"
                                : "";
      WaveUnderTest test(target, mode + both);
      test.vgpr(0, 0) = f(1), test.vgpr(1, 0) = f(0.5f);
      test.run();
      EXPECT_EQ(test.vgpr(2, 0), f(counts ? 3 : 1.5f)) << target;
      EXPECT_EQ(test.vgpr(3, 0), f(counts ? 0.75f : 1)) << target;
    }
}

// --- How a kernel starts ---

TEST(DeviceTraps, KernelArgumentsPreloadedIntoScalars) {
  const char *source = R"(
define amdgpu_kernel void @preload(ptr addrspace(1) inreg %out, i32 inreg %a, i32 inreg %b) {
  %sum = add i32 %a, %b
  store i32 %sum, ptr addrspace(1) %out
  ret void
}
)";
  for (const char *target : {"gfx942", "gfx950"}) {
    LoadedObject object(target, source, "ll");
    ASSERT_GT(object.object->findKernel("preload")->descriptor.kernargPreloadLength, 0u);
    uint32_t out = 0;
    Allocation allocation;
    allocation.begin = reinterpret_cast<uint64_t>(&out);
    allocation.end = allocation.begin + 4;
    allocation.source = BoundsSource::Device;
    object.memory.add(allocation, "out");
    uint64_t scalars = 30 | uint64_t(12) << 32;
    LaunchResult result = object.run("preload", {allocation.begin, scalars}, {1, 1, 1}, {64, 1, 1});
    ASSERT_FALSE(result.fault) << target << " " << result.fault->detail;
    EXPECT_EQ(out, 42u) << target;
  }
}
TEST(DeviceTraps, DispatchPacket) {
  const char *source = R"(
declare ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
define amdgpu_kernel void @packet(ptr addrspace(1) %out) {
  %p = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %s = getelementptr i8, ptr addrspace(4) %p, i64 4
  %sizes = load <3 x i16>, ptr addrspace(4) %s, align 4
  %g = getelementptr i8, ptr addrspace(4) %p, i64 12
  %grid = load <3 x i32>, ptr addrspace(4) %g, align 4
  %wide = zext <3 x i16> %sizes to <3 x i32>
  store <3 x i32> %wide, ptr addrspace(1) %out, align 4
  %q = getelementptr i8, ptr addrspace(1) %out, i64 12
  store <3 x i32> %grid, ptr addrspace(1) %q, align 4
  ret void
}
)";
  for (const char *target : {"gfx942", "gfx1150", "gfx1201"}) {
    LoadedObject object(target, source, "ll");
    uint32_t out[6] = {};
    Allocation allocation;
    allocation.begin = reinterpret_cast<uint64_t>(out);
    allocation.end = allocation.begin + sizeof(out);
    allocation.source = BoundsSource::Device;
    object.memory.add(allocation, "out");
    object.checks.globalRaces = false;
    LaunchResult result = object.run("packet", {allocation.begin}, {2, 3, 1}, {8, 4, 2});
    ASSERT_FALSE(result.fault) << target << " " << result.fault->detail;
    const uint32_t expected[] = {8, 4, 2, 16, 12, 2}; // Grids are in work-items there.
    for (unsigned i = 0; i < 6; ++i)
      EXPECT_EQ(out[i], expected[i]) << target << " " << i;
  }
}

} // namespace
} // namespace wavetile::device::test
