//===- DeviceInstructionTest.cpp - Where emulators go wrong, instruction by instruction ===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expected values come from AMD's ISA documents, never from the emulator.
//
//===----------------------------------------------------------------------===//

#include "DeviceTestSupport.h"

#include <bit>
#include <cmath>
#include <functional>

namespace wavetile::device::test {
namespace {

uint32_t f(float x) { return std::bit_cast<uint32_t>(x); }

constexpr uint32_t kept = 0xdeadbeef;

/// Runs \p assembly with lane-dependent values in v1 and what the destination v0 keeps, and
/// compares v0 with \p expected(lane).
void checkLanes(const std::string &target, const std::string &assembly,
                const std::function<uint32_t(unsigned)> &v1,
                const std::function<uint32_t(unsigned)> &expected, uint64_t exec = ~0ull) {
  WaveUnderTest test(target, assembly);
  for (unsigned lane = 0; lane < test.size(); ++lane) {
    test.vgpr(0, lane) = kept;
    test.vgpr(1, lane) = v1(lane);
  }
  test.wave->setLaneMask(scalar::Exec, exec & test.wave->allLanes());
  test.run();
  for (unsigned lane = 0; lane < test.size(); ++lane)
    EXPECT_EQ(test.vgpr(0, lane), expected(lane)) << target << " " << assembly << ", lane " << lane;
}
uint32_t laneNumber(unsigned lane) { return 100 + lane; }

// --- DPP ---

TEST(DeviceDpp, AllLanesReadBeforeAnyIsWritten) {
  for (const char *target : targetNames) {
    WaveUnderTest test(
        target, "v_add_f32_dpp v1, v1, v1 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1");
    for (unsigned lane = 0; lane < test.size(); ++lane)
      test.vgpr(1, lane) = f(static_cast<float>(lane + 1));
    test.run();
    for (unsigned lane = 0; lane < test.size(); ++lane) {
      float below = lane % 16 == 0 ? 0.0f : static_cast<float>(lane);
      EXPECT_EQ(test.vgpr(1, lane), f(below + static_cast<float>(lane + 1))) << target << lane;
    }
  }
}

struct Permutation {
  const char *target;
  const char *control;
  /// The lane read, or -1.
  int (*from)(int lane);
};
const Permutation permutations[] = {
    {"gfx950", "quad_perm:[3,0,1,2]", [](int l) { return (l & ~3) | ((l + 3) & 3); }},
    {"gfx950", "row_shl:3", [](int l) { return l % 16 + 3 < 16 ? l + 3 : -1; }},
    {"gfx950", "row_shr:4", [](int l) { return l % 16 >= 4 ? l - 4 : -1; }},
    {"gfx950", "row_ror:8", [](int l) { return (l & ~15) | ((l + 8) & 15); }},
    {"gfx950", "row_ror:5", [](int l) { return (l & ~15) | ((l - 5) & 15); }},
    {"gfx950", "wave_shl:1", [](int l) { return l < 63 ? l + 1 : -1; }},
    {"gfx950", "wave_rol:1", [](int l) { return (l + 1) & 63; }},
    {"gfx950", "wave_shr:1", [](int l) { return l > 0 ? l - 1 : -1; }},
    {"gfx950", "wave_ror:1", [](int l) { return (l + 63) & 63; }},
    {"gfx950", "row_mirror", [](int l) { return l ^ 15; }},
    {"gfx950", "row_half_mirror", [](int l) { return l ^ 7; }},
    {"gfx950", "row_bcast:15", [](int l) { return l >= 16 ? (l & ~15) - 1 : -1; }},
    {"gfx950", "row_bcast:31", [](int l) { return l >= 32 ? 31 : -1; }},
    {"gfx942", "row_newbcast:6", [](int l) { return (l & ~15) | 6; }},
    {"gfx1150", "row_share:5", [](int l) { return (l & ~15) | 5; }},
    {"gfx1150", "row_xmask:9", [](int l) { return l ^ 9; }},
    {"gfx1150", "row_shr:2", [](int l) { return l % 16 >= 2 ? l - 2 : -1; }},
};

TEST(DeviceDpp, PermutationsWithBoundControlGiveZeroWhereThereIsNoLane) {
  for (const Permutation &p : permutations)
    checkLanes(p.target,
               std::string("v_mov_b32_dpp v0, v1 ") + p.control +
                   " row_mask:0xf bank_mask:0xf bound_ctrl:1",
               laneNumber, [&](unsigned lane) -> uint32_t {
                 int from = p.from(static_cast<int>(lane));
                 return from < 0 ? 0 : laneNumber(static_cast<unsigned>(from));
               });
}
TEST(DeviceDpp, PermutationsWithoutBoundControlKeepTheLane) {
  for (const Permutation &p : permutations)
    checkLanes(p.target,
               std::string("v_mov_b32_dpp v0, v1 ") + p.control + " row_mask:0xf bank_mask:0xf",
               laneNumber, [&](unsigned lane) -> uint32_t {
                 int from = p.from(static_cast<int>(lane));
                 return from < 0 ? kept : laneNumber(static_cast<unsigned>(from));
               });
}
TEST(DeviceDpp, RowAndBankMasksKeepLanes) {
  checkLanes(
      "gfx950", "v_mov_b32_dpp v0, v1 row_bcast:15 row_mask:0xa bank_mask:0xf", laneNumber,
      [](unsigned lane) { return lane / 16 % 2 == 1 ? laneNumber((lane & ~15u) - 1) : kept; });
  checkLanes("gfx950", "v_mov_b32_dpp v0, v1 row_mirror row_mask:0xf bank_mask:0x5", laneNumber,
             [](unsigned lane) { return lane / 4 % 2 == 0 ? laneNumber(lane ^ 15) : kept; });
}
TEST(DeviceDpp, LanesThatAreOffCountAsMissing) {
  uint64_t even = 0x5555555555555555;
  for (const char *target : targetNames) {
    checkLanes(
        target, "v_mov_b32_dpp v0, v1 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1",
        laneNumber, [](unsigned lane) { return lane % 2 ? kept : 0u; }, even);
    checkLanes(
        target, "v_mov_b32_dpp v0, v1 row_shr:1 row_mask:0xf bank_mask:0xf", laneNumber,
        [](unsigned) { return kept; }, even);
  }
  checkLanes(
      "gfx1150", "v_mov_b32_dpp v0, v1 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1 fi:1",
      laneNumber,
      [](unsigned lane) { return lane % 2         ? kept
                                 : lane % 16 == 0 ? 0u
                                                  : laneNumber(lane - 1); },
      even);
}
TEST(DeviceDpp, Dpp8) {
  checkLanes("gfx1150", "v_mov_b32_dpp v0, v1 dpp8:[7,0,5,2,3,4,1,6]", laneNumber,
             [](unsigned lane) {
               static constexpr unsigned from[] = {7, 0, 5, 2, 3, 4, 1, 6};
               return laneNumber((lane & ~7u) | from[lane & 7]);
             });
}
TEST(DeviceDpp, InVop3AndWithSigns) {
  checkLanes(
      "gfx1150", "v_sub_f32_e64_dpp v0, -v1, |v1| row_xmask:1 row_mask:0xf bank_mask:0xf",
      [](unsigned lane) { return f(lane % 3 ? -1.0f * lane : 1.0f * lane); },
      [](unsigned lane) {
        auto value = [](unsigned l) { return l % 3 ? -1.0f * l : 1.0f * l; };
        return f(-value(lane ^ 1) - std::fabs(value(lane)));
      });
  checkLanes(
      "gfx950", "v_sub_f32_dpp v0, -v1, |v1| row_mirror row_mask:0xf bank_mask:0xf",
      [](unsigned lane) { return f(1.0f + lane); },
      [](unsigned lane) { return f(-(1.0f + (lane ^ 15)) - (1.0f + lane)); });
}
TEST(DeviceDpp, ComparisonInVop3WritesAScalar) {
  WaveUnderTest test("gfx1150", "v_cmp_gt_u32_e64_dpp s5, v1, v1 row_shr:1 row_mask:0xf "
                                "bank_mask:0xf bound_ctrl:1");
  for (unsigned lane = 0; lane < 32; ++lane)
    test.vgpr(1, lane) = lane ^ 1;
  test.run();
  uint32_t expected = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    expected |= uint32_t((lane % 16 ? (lane - 1) ^ 1 : 0) > (lane ^ 1)) << lane;
  EXPECT_EQ(test.sgpr(5), expected);
}

// --- SDWA ---

TEST(DeviceSdwa, ConversionsToPairsWriteBoth) {
  // 1, 2, 4 and 8 in e4m3: FNUZ on gfx942, one more in the bias, and OCP.
  for (auto [target, codes] : {std::pair("gfx942", 0x58504840u), std::pair("gfx950", 0x50484038u)})
    for (const char *word : {"WORD_0", "WORD_1"}) {
      WaveUnderTest test(target, std::string("v_cvt_pk_f32_fp8_sdwa v[2:3], v1 src0_sel:") + word);
      for (unsigned lane = 0; lane < test.size(); ++lane)
        test.vgpr(1, lane) = codes;
      test.run();
      float first = word == std::string("WORD_0") ? 1.0f : 4.0f;
      for (unsigned lane = 0; lane < test.size(); ++lane) {
        EXPECT_EQ(test.vgpr(2, lane), f(first)) << target << " " << word;
        EXPECT_EQ(test.vgpr(3, lane), f(2 * first)) << target << " " << word;
      }
    }
}
TEST(DeviceSdwa, SelectsOfSourcesAndResult) {
  auto value = [](unsigned lane) { return 0x81f20304u + (lane << 8); };
  checkLanes("gfx950", "v_mov_b32_sdwa v0, v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1",
             value, [&](unsigned lane) { return value(lane) >> 16; });
  checkLanes("gfx950",
             "v_mov_b32_sdwa v0, sext(v1) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_3",
             value, [](unsigned) { return 0xffffff81u; });
  checkLanes("gfx950",
             "v_mov_b32_sdwa v0, v1 dst_sel:BYTE_2 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_0",
             value, [](unsigned) { return (kept & 0xff00ffff) | 0x040000; });
  checkLanes("gfx950",
             "v_mov_b32_sdwa v0, v1 dst_sel:WORD_0 dst_unused:UNUSED_SEXT src0_sel:WORD_1", value,
             [](unsigned) { return 0xffff81f2u; });
  checkLanes("gfx950",
             "v_and_b32_sdwa v0, v1, v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD "
             "src1_sel:WORD_1",
             value, [&](unsigned lane) { return value(lane) & (value(lane) >> 16); });
}

// --- Permutations ---

TEST(DevicePermutation, Swizzle) {
  for (const char *target : targetNames)
    for (unsigned distance : {1u, 2u, 4u, 8u, 16u})
      checkLanes(target,
                 "ds_swizzle_b32 v0, v1 offset:swizzle(SWAP," + std::to_string(distance) +
                     ")\ns_waitcnt lgkmcnt(0)",
                 laneNumber, [&](unsigned lane) { return laneNumber(lane ^ distance); });
  checkLanes("gfx950", "ds_swizzle_b32 v0, v1 offset:swizzle(QUAD_PERM,2,3,0,1)", laneNumber,
             [](unsigned lane) { return laneNumber(lane ^ 2); });
  checkLanes("gfx950", "ds_swizzle_b32 v0, v1 offset:swizzle(BROADCAST,8,3)", laneNumber,
             [](unsigned lane) { return laneNumber((lane & ~7u) | 3); });
  checkLanes("gfx950", "ds_swizzle_b32 v0, v1 offset:swizzle(REVERSE,16)", laneNumber,
             [](unsigned lane) { return laneNumber(lane ^ 15); });
}
TEST(DevicePermutation, BackwardAndForward) {
  for (const char *target : targetNames) {
    WaveUnderTest test(target, "ds_bpermute_b32 v0, v2, v1\nds_permute_b32 v3, v2, v1");
    unsigned size = test.size();
    for (unsigned lane = 0; lane < size; ++lane) {
      test.vgpr(1, lane) = laneNumber(lane);
      test.vgpr(2, lane) = 4 * ((lane * 5 + 3) % size) + 4 * size;
    }
    test.run();
    for (unsigned lane = 0; lane < size; ++lane) {
      EXPECT_EQ(test.vgpr(0, lane), laneNumber((lane * 5 + 3) % size));
      EXPECT_EQ(test.vgpr(3, (lane * 5 + 3) % size), laneNumber(lane));
    }
  }
}
TEST(DevicePermutation, RowsWithLiteralSelects) {
  checkLanes("gfx1150",
             "s_mov_b32 s1, 0x76543210\ns_mov_b32 s2, 0xfedcba98\n"
             "v_permlanex16_b32 v0, v1, s1, s2",
             laneNumber, [](unsigned lane) { return laneNumber(lane ^ 16); });
  checkLanes(
      "gfx1150", "s_mov_b32 s1, 0x01234567\nv_permlane16_b32 v0, v1, s1, -1", laneNumber,
      [](unsigned lane) { return laneNumber((lane & 16) | (lane % 16 < 8 ? 7 - lane % 16 : 15)); });
}
TEST(DevicePermutation, SwapsExchangeGroups) {
  for (unsigned group : {16u, 32u}) {
    WaveUnderTest test("gfx950", "v_permlane" + std::to_string(group) + "_swap_b32 v0, v1");
    for (unsigned lane = 0; lane < 64; ++lane) {
      test.vgpr(0, lane) = lane;
      test.vgpr(1, lane) = 1000 + lane;
    }
    test.run();
    for (unsigned lane = 0; lane < 64; ++lane) {
      bool odd = lane & group;
      EXPECT_EQ(test.vgpr(0, lane), odd ? 1000 + lane - group : lane);
      EXPECT_EQ(test.vgpr(1, lane), odd ? 1000 + lane : lane + group);
    }
  }
}
TEST(DevicePermutation, SingleLanes) {
  for (const char *target : targetNames) {
    WaveUnderTest test(target, "v_readlane_b32 s4, v1, 17\nv_writelane_b32 v0, s4, 3\n"
                               "s_mov_b32 exec_lo, 0xf0\nv_readfirstlane_b32 s5, v1");
    for (unsigned lane = 0; lane < test.size(); ++lane)
      test.vgpr(1, lane) = laneNumber(lane);
    if (test.size() == 64)
      test.sgpr(scalar::Exec + 1) = 0;
    test.run();
    EXPECT_EQ(test.sgpr(4), laneNumber(17));
    EXPECT_EQ(test.vgpr(0, 3), laneNumber(17));
    EXPECT_EQ(test.vgpr(0, 4), 0u);
    EXPECT_EQ(test.sgpr(5), laneNumber(4));
  }
}

// --- Floating point ---

TEST(DeviceFloat, MinimumAndMaximum) {
  const uint32_t nan = 0x7fc00001, negativeZero = 0x80000000;
  struct Case {
    uint32_t a, b, minimum, maximum;
  };
  for (const Case &c :
       {Case{f(1), f(2), f(1), f(2)}, Case{nan, f(2), f(2), f(2)}, Case{f(2), nan, f(2), f(2)},
        Case{0, negativeZero, negativeZero, 0}, Case{negativeZero, 0, negativeZero, 0},
        Case{nan, nan, nan, nan}, Case{0xff800000, f(1), 0xff800000, f(1)},
        // In IEEE mode a signalling NaN wins, made quiet.
        Case{0x7f800001, f(1), 0x7fc00001, 0x7fc00001}})
    for (const char *target : targetNames) {
      WaveUnderTest test(target, "v_min_f32 v2, v0, v1\nv_max_f32 v3, v0, v1");
      test.vgpr(0, 5) = c.a, test.vgpr(1, 5) = c.b;
      test.run();
      EXPECT_EQ(test.vgpr(2, 5), c.minimum) << std::hex << c.a << " " << c.b;
      EXPECT_EQ(test.vgpr(3, 5), c.maximum) << std::hex << c.a << " " << c.b;
    }
}
TEST(DeviceFloat, NaNWinsInMaximum3) {
  WaveUnderTest test("gfx950", "v_maximum3_f32 v3, v0, v1, v2");
  test.vgpr(0, 0) = f(1), test.vgpr(1, 0) = 0x7fc00123, test.vgpr(2, 0) = f(3);
  test.vgpr(0, 1) = f(1), test.vgpr(1, 1) = f(-2), test.vgpr(2, 1) = f(3);
  test.run();
  EXPECT_EQ(test.vgpr(3, 0), 0x7fc00123u);
  EXPECT_EQ(test.vgpr(3, 1), f(3));
}
TEST(DeviceFloat, NaNsOfArithmetic) {
  WaveUnderTest test("gfx950", "v_sub_f32 v2, v0, v1\nv_mul_f32 v3, v0, v1");
  test.vgpr(0, 0) = test.vgpr(1, 0) = 0x7f800000; // infinity - infinity
  test.vgpr(0, 1) = 0xff812345, test.vgpr(1, 1) = 0x7fc00007;
  test.vgpr(0, 2) = 0x7f800000; // infinity * 0
  test.run();
  EXPECT_EQ(test.vgpr(2, 0), 0x7fc00000u);
  EXPECT_EQ(test.vgpr(2, 1), 0xffc12345u);
  EXPECT_EQ(test.vgpr(3, 2), 0x7fc00000u);
}
TEST(DeviceFloat, Clamp) {
  for (const char *target : targetNames) {
    WaveUnderTest test(target, "v_add_f32_e64 v4, v0, v1 clamp");
    test.vgpr(0, 0) = f(1.5f), test.vgpr(1, 0) = f(2);
    test.vgpr(0, 1) = f(-1), test.vgpr(0, 2) = 0x7fc00000;
    test.run();
    EXPECT_EQ(test.vgpr(4, 0), f(1));
    EXPECT_EQ(test.vgpr(4, 1), f(0));
    EXPECT_EQ(test.vgpr(4, 2), f(0)); // DX10_CLAMP
  }
}
TEST(DeviceFloat, TranscendentalsAreWithinOneUlp) {
  struct Function {
    const char *mnemonic;
    double (*reference)(double);
    float low, high;
  };
  const Function functions[] = {
      {"v_exp_f32", [](double x) { return std::exp2(x); }, -125.0f, 127.9f},
      {"v_log_f32", [](double x) { return std::log2(x); }, 1e-30f, 1e30f},
      {"v_rcp_f32", [](double x) { return 1 / x; }, 1e-20f, 1e20f},
      {"v_rsq_f32", [](double x) { return 1 / std::sqrt(x); }, 1e-20f, 1e20f},
      {"v_sqrt_f32", [](double x) { return std::sqrt(x); }, 1e-20f, 1e20f},
      {"v_sin_f32", [](double x) { return std::sin(2 * M_PI * x); }, 0.01f, 0.49f},
      {"v_cos_f32", [](double x) { return std::cos(2 * M_PI * x); }, -0.24f, 0.24f},
  };
  for (const Function &function : functions) {
    WaveUnderTest test("gfx950", std::string(function.mnemonic) + " v1, v0");
    bool logarithmic = function.low > 0 && function.high / function.low > 1e10f;
    const Record *start = test.wave->pc;
    for (unsigned round = 0; round < 200; ++round) {
      for (unsigned lane = 0; lane < 64; ++lane) {
        float t = static_cast<float>(round * 64 + lane) / (200 * 64);
        float x = logarithmic
                      ? static_cast<float>(function.low *
                                           std::pow(double(function.high) / function.low, t))
                      : function.low + t * (function.high - function.low);
        test.vgpr(0, lane) = f(x);
      }
      test.wave->pc = start;
      test.wave->status = WaveStatus::Ready;
      test.run();
      for (unsigned lane = 0; lane < 64; ++lane) {
        double exact = function.reference(std::bit_cast<float>(test.vgpr(0, lane)));
        float got = std::bit_cast<float>(test.vgpr(1, lane)), rounded = static_cast<float>(exact);
        double ulp = std::fabs(static_cast<double>(std::nextafter(rounded, INFINITY)) - rounded);
        ASSERT_LE(std::fabs(got - exact), ulp)
            << function.mnemonic << " of " << std::bit_cast<float>(test.vgpr(0, lane));
      }
    }
  }
}
TEST(DeviceFloat, TranscendentalsOfSpecialValues) {
  struct Case {
    const char *mnemonic;
    uint32_t in, out;
  };
  const Case cases[] = {
      {"v_exp_f32", 0xff800000, 0},
      {"v_exp_f32", 0x7f800000, 0x7f800000},
      {"v_exp_f32", f(-127), 0},
      {"v_exp_f32", f(-126), 0x00800000},
      {"v_exp_f32", f(128), 0x7f800000},
      {"v_exp_f32", 1, f(1)},
      {"v_log_f32", 0, 0xff800000},
      {"v_log_f32", 1, 0xff800000},
      {"v_log_f32", f(-1), 0x7fc00000},
      {"v_log_f32", 0x7f800000, 0x7f800000},
      {"v_rcp_f32", 0, 0x7f800000},
      {"v_rcp_f32", 0x80000000, 0xff800000},
      {"v_rcp_f32", 0x7f800000, 0},
      {"v_rcp_f32", f(1e38f * 3), 0},
      {"v_rsq_f32", 0, 0x7f800000},
      {"v_rsq_f32", f(-4), 0x7fc00000},
      {"v_rsq_f32", 0x7f800000, 0},
      {"v_sqrt_f32", 0x80000000, 0x80000000},
      {"v_sqrt_f32", f(-4), 0x7fc00000},
      {"v_exp_f32", 0x7f800001, 0x7fc00001},
      {"v_sin_f32", f(0.25f), f(1)},
      {"v_cos_f32", f(0), f(1)},
      {"v_rcp_f32", f(3e-39f), 0x7f800000},
  };
  for (const Case &c : cases) {
    WaveUnderTest test("gfx950", std::string(c.mnemonic) + " v1, v0");
    test.vgpr(0, 9) = c.in;
    test.run();
    EXPECT_EQ(test.vgpr(1, 9), c.out) << c.mnemonic << std::hex << " of 0x" << c.in;
  }
}
TEST(DeviceFloat, DenormalModeOfTheKernel) {
  const char *text = "define amdgpu_kernel void @k(ptr addrspace(1) %p) #0 {\n"
                     "  %x = load volatile float, ptr addrspace(1) %p\n"
                     "  %y = fmul float %x, 0.5\n  store float %y, ptr addrspace(1) %p\n"
                     "  ret void\n}\nattributes #0 = { \"denormal-fp-math-f32\"=\"";
  for (const char *target : targetNames)
    for (bool flush : {false, true}) {
      std::string mode = flush ? "preserve-sign,preserve-sign" : "ieee,ieee";
      LoadedObject object(target, text + mode + "\" }\n", "ll");
      uint32_t value = 0x80800000; // The smallest normal number; half of it is denormal.
      auto result = object.run("k", {reinterpret_cast<uint64_t>(&value)}, {1, 1, 1}, {1, 1, 1});
      ASSERT_FALSE(result.fault);
      EXPECT_EQ(value, flush ? 0x80000000 : 0x80400000) << target;
    }
}

TEST(DeviceFloat, DivisionThatSwitchesTheDenormalMode) {
  // Where f32 denormals are flushed, LLVM keeps them for the steps of a division.
  const char *text = "define amdgpu_kernel void @k(ptr addrspace(1) %p) #0 {\n"
                     "  %x = load volatile <2 x float>, ptr addrspace(1) %p\n"
                     "  %a = extractelement <2 x float> %x, i32 0\n"
                     "  %b = extractelement <2 x float> %x, i32 1\n"
                     "  %q = fdiv float %a, %b\n  %h = fmul float %q, 0x3810000000000000\n"
                     "  store volatile float %q, ptr addrspace(1) %p\n"
                     "  %r = getelementptr float, ptr addrspace(1) %p, i32 1\n"
                     "  store volatile float %h, ptr addrspace(1) %r\n"
                     "  ret void\n}\nattributes #0 = { "
                     "\"denormal-fp-math-f32\"=\"preserve-sign,preserve-sign\" }\n";
  for (const char *target : targetNames) {
    LoadedObject object(target, text, "ll");
    float values[2] = {0x1.8p-100f, 0x1.3p+10f};
    auto result = object.run("k", {reinterpret_cast<uint64_t>(values)}, {1, 1, 1}, {1, 1, 1});
    ASSERT_FALSE(result.fault) << result.fault->instruction << result.fault->detail;
    EXPECT_EQ(values[0], 0x1.8p-100f / 0x1.3p+10f) << target;
    EXPECT_EQ(values[1], 0.0f) << target; // 2^-126 times it is denormal: flushed again.
  }
}

// --- Halves ---

TEST(DeviceHalf, WhatBecomesOfTheOtherHalf) {
  auto one = [](unsigned) { return 0xaaaa3c00u; };
  for (const char *target : {"gfx942", "gfx950"}) {
    checkLanes(target, "v_add_f16 v0, v1, v1", one, [](unsigned) { return 0x00004000u; });
    checkLanes(target, "v_add_f16_e64 v0, v1, v1", one, [](unsigned) { return 0x00004000u; });
    checkLanes(target, "v_fma_f16 v0, v1, v1, v1 op_sel:[0,0,0,1]", one,
               [](unsigned) { return 0x4000beefu; });
  }
  checkLanes("gfx1150", "v_add_f16 v0.l, v1.l, v1.l", one, [](unsigned) { return 0xdead4000u; });
  checkLanes("gfx1150", "v_add_f16 v0.h, v1.l, v1.l", one, [](unsigned) { return 0x4000beefu; });
  checkLanes("gfx1150", "v_mov_b16 v0.l, v1.h", one, [](unsigned) { return 0xdeadaaaau; });
}
TEST(DeviceHalf, PackedHalvesChosenByOpSel) {
  auto value = [](unsigned) { return 0x40003c00u; }; // {1, 2}
  for (const char *target : targetNames) {
    checkLanes(target, "v_pk_add_f16 v0, v1, v1", value, [](unsigned) { return 0x44004000u; });
    checkLanes(target, "v_pk_add_f16 v0, v1, v1 op_sel:[1,0] op_sel_hi:[0,1]", value,
               [](unsigned) { return 0x42004200u; });
    checkLanes(target, "v_pk_add_f16 v0, v1, v1 op_sel_hi:[1,0] neg_lo:[1,0] neg_hi:[0,1]", value,
               [](unsigned) { return 0x3c000000u; });
    checkLanes(target, "v_pk_add_f16 v0, v1, 1.0 op_sel_hi:[1,0]", value,
               [](unsigned) { return 0x42004000u; });
  }
}
// What LLVM folds into it: x - (float)h as fma(x, -1.0 of op_sel_hi 1, h).
TEST(DeviceHalf, ConstantsOfMixedProductsHaveTheFormatThatOpSelHiChooses) {
  auto laneFloat = [](unsigned lane) { return f(static_cast<float>(lane)); };
  for (const char *target : targetNames)
    for (const char *selected : {"[0,0,0]", "[0,1,0]", "[0,0,1]", "[0,1,1]"})
      checkLanes(target, std::string("v_fma_mix_f32 v0, v1, -2.0, 0.5 op_sel_hi:") + selected,
                 laneFloat,
                 [](unsigned lane) { return f(-2.0f * static_cast<float>(lane) + 0.5f); });
}
// A constant of a pair is one of 16 bits, in the low half.
TEST(DeviceHalf, ConstantsOfDotProductsAreHalves) {
  struct Case {
    const char *target, *assembly;
    uint32_t pair, expected;
  };
  constexpr uint32_t high = kept & 0xffff0000;
  const Case cases[] = {
      // (3, 5) . (2, 0) and (3, 5) . (2, 2)
      {"gfx1150", "v_dot2_bf16_bf16 v0, v1, 2.0, 0", 0x40a04040, high | 0x40c0},
      {"gfx1150", "v_dot2_f16_f16 v0, v1, 2.0, 0", 0x45004200, high | 0x4600},
      {"gfx1150", "v_dot2_f32_bf16 v0, v1, 2.0, 0 op_sel_hi:[1,0,1]", 0x40a04040, 0x41800000},
  };
  for (const Case &c : cases)
    checkLanes(
        c.target, c.assembly, [&](unsigned) { return c.pair; },
        [&](unsigned) { return c.expected; });
}
TEST(DeviceHalf, PackedFloatsChosenByOpSel) {
  for (const char *target : {"gfx942", "gfx950"}) {
    WaveUnderTest test(target, "v_pk_mul_f32 v[4:5], v[0:1], v[2:3] op_sel:[1,0] op_sel_hi:[0,0]\n"
                               "v_pk_fma_f32 v[6:7], v[0:1], s[2:3], v[2:3] neg_lo:[0,0,1]\n"
                               "v_pk_mov_b32 v[8:9], v[0:1], v[2:3] op_sel:[1,0]\n"
                               "v_pk_add_f32 v[0:1], v[0:1], v[0:1] op_sel:[1,1] op_sel_hi:[0,0]");
    test.vgpr(0, 2) = f(2), test.vgpr(1, 2) = f(3), test.vgpr(2, 2) = f(5), test.vgpr(3, 2) = f(7);
    test.sgpr(2) = f(10), test.sgpr(3) = f(100);
    test.run();
    EXPECT_EQ(test.vgpr(4, 2), f(15));
    EXPECT_EQ(test.vgpr(5, 2), f(10));
    EXPECT_EQ(test.vgpr(6, 2), f(15));
    EXPECT_EQ(test.vgpr(7, 2), f(307));
    EXPECT_EQ(test.vgpr(8, 2), f(3));
    EXPECT_EQ(test.vgpr(9, 2), f(5));
    EXPECT_EQ(test.vgpr(0, 2), f(6));
    EXPECT_EQ(test.vgpr(1, 2), f(4));
  }
}

// --- 8-bit floats ---

TEST(DeviceFloat8, FormatsOfTheTargets) {
  struct Case {
    float value;
    uint32_t ocp, fnuz, bf8Ocp, bf8Fnuz;
  };
  const Case cases[] = {{1.0f, 0x38, 0x40, 0x3c, 0x40},         {-2.0f, 0xc0, 0xc8, 0xc0, 0xc4},
                        {448.0f, 0x7e, 0x80, 0x5f, 0x63},       {240.0f, 0x77, 0x7f, 0x5c, 0x60},
                        {-0.0f, 0x80, 0x00, 0x80, 0x00},        {1e6f, 0x7f, 0x80, 0x7c, 0x80},
                        {0.001953125f, 0x01, 0x02, 0x18, 0x1c}, // 2^-9
                        {1.0625f, 0x38, 0x40, 0x3c, 0x40},      // A tie goes to even.
                        {1.1875f, 0x3a, 0x42, 0x3d, 0x41}};
  for (const Case &c : cases)
    for (const char *target : {"gfx942", "gfx950"}) {
      bool ocp = std::string(target) == "gfx950";
      WaveUnderTest test(target, "v_cvt_pk_fp8_f32 v1, v0, v0 op_sel:[0,0,1]\n"
                                 "v_cvt_pk_bf8_f32 v2, v0, v0\n"
                                 "v_cvt_f32_fp8_sdwa v3, v1 src0_sel:BYTE_3");
      test.vgpr(0, 1) = f(c.value), test.vgpr(1, 1) = test.vgpr(2, 1) = kept;
      test.run();
      uint32_t fp8 = ocp ? c.ocp : c.fnuz, bf8 = ocp ? c.bf8Ocp : c.bf8Fnuz;
      EXPECT_EQ(test.vgpr(1, 1), fp8 << 24 | fp8 << 16 | (kept & 0xffff)) << c.value;
      EXPECT_EQ(test.vgpr(2, 1), (kept & 0xffff0000) | bf8 << 8 | bf8) << c.value;
      float back = std::bit_cast<float>(test.vgpr(3, 1));
      if (std::fabs(c.value) <= 240.0f && c.value != 1.0625f && c.value != 1.1875f) {
        EXPECT_EQ(back, c.value);
      }
    }
}

// --- Comparisons and EXEC ---

TEST(DeviceCompare, LanesThatAreOffGiveZero) {
  for (const char *target : targetNames) {
    bool wave64 = std::string(target) != "gfx1150";
    WaveUnderTest test(target,
                       std::string("v_cmp_eq_u32_e64 ") + (wave64 ? "s[4:5]" : "s4") + ", v1, v1");
    test.wave->setLaneMask(scalar::Exec, 0xff00ff);
    test.sgpr(4) = test.sgpr(5) = ~0u;
    test.run();
    EXPECT_EQ(test.sgpr(4), 0xff00ffu);
    EXPECT_EQ(test.sgpr(5), wave64 ? 0u : ~0u);
  }
}
TEST(DeviceCompare, CmpxWritesExec) {
  for (const char *target : targetNames) {
    WaveUnderTest test(target, "v_cmpx_gt_u32 v1, v0\nv_mov_b32 v2, 1");
    for (unsigned lane = 0; lane < test.size(); ++lane)
      test.vgpr(0, lane) = 9, test.vgpr(1, lane) = lane;
    test.sgpr(scalar::Vcc) = kept;
    test.run();
    for (unsigned lane = 0; lane < test.size(); ++lane)
      EXPECT_EQ(test.vgpr(2, lane), lane > 9 ? 1u : 0u);
    // gfx9 writes VCC too.
    EXPECT_EQ(test.sgpr(scalar::Vcc), test.size() == 64 ? 0xfffffc00u : kept);
  }
}
TEST(DeviceCompare, Classes) {
  const uint32_t values[] = {0x7f800001, 0x7fc00000, 0xff800000, f(-1), 0x80000001,
                             0x80000000, 0,          1,          f(1),  0x7f800000};
  WaveUnderTest test("gfx950", "v_cmp_class_f32 vcc, v0, v1");
  for (unsigned lane = 0; lane < 10; ++lane)
    test.vgpr(0, lane) = values[lane], test.vgpr(1, lane) = 1u << lane;
  for (unsigned lane = 10; lane < 20; ++lane)
    test.vgpr(0, lane) = values[lane - 10], test.vgpr(1, lane) = 0x3ff & ~(1u << (lane - 10));
  test.run();
  EXPECT_EQ(test.sgpr(scalar::Vcc), 0x3ffu);
}

// --- Integers ---

TEST(DeviceInteger, ClampSaturates) {
  WaveUnderTest test("gfx950", "v_add_u32_e64 v2, v0, v1 clamp\nv_sub_u32_e64 v3, v0, v1 clamp\n"
                               "v_add_i32 v4, v0, v1 clamp");
  test.vgpr(0, 0) = 0x7fffffff, test.vgpr(1, 0) = 0x80000001;
  test.vgpr(0, 1) = 0x7fffffff, test.vgpr(1, 1) = 5;
  test.run();
  EXPECT_EQ(test.vgpr(2, 0), ~0u);
  EXPECT_EQ(test.vgpr(3, 0), 0u);
  EXPECT_EQ(test.vgpr(4, 0), 0u);
  EXPECT_EQ(test.vgpr(4, 1), 0x7fffffffu);
}
TEST(DeviceInteger, BytesAndTruthTables) {
  WaveUnderTest test("gfx950",
                     "v_perm_b32 v3, v0, v1, v2\nv_bitop3_b32 v4, v0, v1, v2 bitop3:0xe5\n"
                     "v_alignbit_b32 v5, v0, v1, 12\nv_bfe_i32 v6, v0, 28, 4");
  test.vgpr(0, 0) = 0x89abcdef, test.vgpr(1, 0) = 0x01234567, test.vgpr(2, 0) = 0x0c07020d;
  test.run();
  EXPECT_EQ(test.vgpr(3, 0), 0x008923ffu);
  uint32_t expected = 0, a = 0x89abcdef, b = 0x01234567, c = 0x0c07020d;
  for (unsigned bit = 0; bit < 32; ++bit) {
    unsigned index = (a >> bit & 1) << 2 | (b >> bit & 1) << 1 | (c >> bit & 1);
    expected |= (0xe5u >> index & 1) << bit;
  }
  EXPECT_EQ(test.vgpr(4, 0), expected);
  EXPECT_EQ(test.vgpr(5, 0), 0xdef01234u);
  EXPECT_EQ(test.vgpr(6, 0), 0xfffffff8u);
}

// --- Dual issue ---

TEST(DeviceDual, BothHalvesReadFirst) {
  WaveUnderTest test("gfx1150", "v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v1, v0\n"
                                "v_dual_add_f32 v2, v3, v5 :: v_dual_mul_f32 v5, v2, v4\n"
                                "v_dual_fmac_f32 v6, v7, v8 :: v_dual_cndmask_b32 v7, v6, v9");
  test.vgpr(0, 3) = 10, test.vgpr(1, 3) = 20;
  test.vgpr(2, 3) = f(2), test.vgpr(3, 3) = f(3), test.vgpr(4, 3) = f(4), test.vgpr(5, 3) = f(5);
  test.vgpr(6, 3) = f(6), test.vgpr(7, 3) = f(7), test.vgpr(8, 3) = f(8);
  test.run();
  EXPECT_EQ(test.vgpr(0, 3), 20u);
  EXPECT_EQ(test.vgpr(1, 3), 10u);
  EXPECT_EQ(test.vgpr(2, 3), f(8));
  EXPECT_EQ(test.vgpr(5, 3), f(8));
  EXPECT_EQ(test.vgpr(6, 3), f(62));
  EXPECT_EQ(test.vgpr(7, 3), f(6));
}

} // namespace
} // namespace wavetile::device::test
