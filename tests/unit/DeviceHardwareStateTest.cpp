//===- DeviceHardwareStateTest.cpp - Clocks, registers, VGPR indexing -----===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceCheckSupport.h"

#include "runtime/emulator/Target.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"

#include <random>

namespace wavetile::device::test {
namespace {

// --- v_trig_preop_f64 ---

/// 2 / pi to this many bits behind the point, by Machin's formula.
llvm::APInt twoOverPi(unsigned bits) {
  unsigned width = 2 * bits + 128;
  llvm::APInt one = llvm::APInt(width, 1) << (bits + 64); // 64 bits more than are wanted.
  auto inverseTangent = [&](uint64_t x) {
    llvm::APInt term = one.udiv(x), sum = term;
    for (uint64_t n = 3; term != 0; n += 2) {
      term = term.udiv(x * x);
      if (n % 4 == 3)
        sum -= term.udiv(n);
      else
        sum += term.udiv(n);
    }
    return sum;
  };
  llvm::APInt pi = (inverseTangent(5) * 4 - inverseTangent(239)) * 4;
  return (one.zext(2 * width) << (bits + 65)).udiv(pi.zext(2 * width)).lshr(64);
}

/// What AMD's pseudo-code says, in integers: 53 bits of 2 / pi from one place on.
double segmentOf(uint64_t x, unsigned segment) {
  static const llvm::APInt bits = twoOverPi(1201).trunc(1201);
  unsigned exponent = x >> 52 & 0x7ff;
  unsigned shift = segment * 53 + (exponent > 1077 ? exponent - 1077 : 0);
  llvm::APInt part = shift < 1201 ? (bits << shift).lshr(1201 - 53) : llvm::APInt(1201, 0);
  llvm::APFloat value(llvm::APFloat::IEEEdouble());
  value.convertFromAPInt(part, false, llvm::APFloat::rmNearestTiesToEven);
  int scale = -53 - static_cast<int>(shift) + (exponent >= 1968 ? 128 : 0);
  return scalbn(value, scale, llvm::APFloat::rmNearestTiesToEven).convertToDouble();
}

TEST(DeviceTrigonometry, SegmentsOfTwoOverPi) {
  // Three segments of a small number are 2 / pi itself, to 159 bits.
  EXPECT_EQ(segmentOf(0, 0), 0.6366197723675813);
  std::mt19937_64 random(20251130);
  for (const TargetDescription &target : targets()) {
    WaveUnderTest test(target.name, "v_trig_preop_f64 v[4:5], v[0:1], v2");
    for (unsigned round = 0; round < 40; ++round) {
      std::vector<std::pair<uint64_t, uint32_t>> sources(test.size());
      for (unsigned lane = 0; lane < test.size(); ++lane) {
        uint64_t exponent = lane % 4 == 0 ? 1960 + random() % 16 : random() % 2048;
        uint64_t x = (random() & 0x800fffffffffffff) | exponent << 52;
        uint32_t segment = static_cast<uint32_t>(lane % 3 == 0 ? random() : random() % 4);
        sources[lane] = {x, segment};
        test.vgpr(0, lane) = static_cast<uint32_t>(x);
        test.vgpr(1, lane) = static_cast<uint32_t>(x >> 32);
        test.vgpr(2, lane) = segment;
      }
      test.run();
      test.restart();
      for (unsigned lane = 0; lane < test.size(); ++lane) {
        auto [x, segment] = sources[lane];
        uint64_t got = test.vgpr(4, lane) | uint64_t(test.vgpr(5, lane)) << 32;
        ASSERT_EQ(got, std::bit_cast<uint64_t>(segmentOf(x, segment & 31)))
            << std::hex << x << " segment " << (segment & 31);
      }
    }
  }
}

// --- Hardware registers ---

TEST(DeviceHardwareState, RegistersThatComputeCodeReads) {
  WaveUnderTest gfx9("gfx942", "s_cmp_eq_u32 0, 0\ns_getreg_b32 s4, hwreg(HW_REG_STATUS)\n"
                               "s_getreg_b32 s5, hwreg(HW_REG_HW_ID)\n"
                               "s_getreg_b32 s6, hwreg(HW_REG_XCC_ID)\n"
                               "s_getreg_b32 s7, hwreg(HW_REG_LDS_ALLOC, 12, 9)\n"
                               "s_getreg_b32 s8, hwreg(HW_REG_IB_STS)\n"
                               "s_getreg_b32 s9, hwreg(HW_REG_SH_MEM_BASES, 16, 16)\n"
                               "s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS), 0");
  gfx9.run();
  EXPECT_EQ(gfx9.sgpr(4), 1u << 16 | 1u << 10 | 1u); // VALID, VCCZ, SCC.
  EXPECT_EQ(gfx9.sgpr(5), 0u);
  EXPECT_EQ(gfx9.sgpr(6), 0u);
  EXPECT_EQ(gfx9.sgpr(7), 128u); // 64 KB in granules of 512 bytes.
  EXPECT_EQ(gfx9.sgpr(8), 0u);
  EXPECT_EQ(gfx9.sgpr(9), 1u);
  WaveUnderTest gfx11("gfx1150", "s_cmp_eq_u32 0, 0\ns_getreg_b32 s4, hwreg(HW_REG_STATUS)\n"
                                 "s_getreg_b32 s5, hwreg(HW_REG_HW_ID1)\n"
                                 "s_getreg_b32 s6, hwreg(HW_REG_HW_ID2)\n"
                                 "s_getreg_b32 s7, hwreg(HW_REG_SHADER_CYCLES)\n"
                                 "s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS)");
  gfx11.run();
  EXPECT_EQ(gfx11.sgpr(4), 1u << 16 | 1u << 10 | 1u);
  EXPECT_EQ(gfx11.sgpr(5), 0u);
  EXPECT_EQ(gfx11.sgpr(6), 0u);
  EXPECT_LT(gfx11.sgpr(7), 1u << 20);
  EXPECT_TRUE(gfx11.wave->readsClock);
  WaveUnderTest gfx12("gfx1201", "s_cmp_eq_u32 0, 0\ns_getreg_b32 s4, hwreg(HW_REG_STATE_PRIV)\n"
                                 "s_getreg_b32 s5, hwreg(HW_REG_STATUS)\n"
                                 "s_getreg_b32 s6, hwreg(HW_REG_HW_ID1)\n"
                                 "s_getreg_b32 s7, hwreg(HW_REG_SHADER_CYCLES_HI)\n"
                                 "s_getreg_b32 s8, hwreg(HW_REG_EXCP_FLAG_USER)");
  gfx12.run();
  EXPECT_EQ(gfx12.sgpr(4), 1u << 9); // SCC
  EXPECT_EQ(gfx12.sgpr(5), 1u << 16 | 1u << 10);
}
TEST(DeviceHardwareState, NumbersMeanOtherRegistersElsewhere) {
  // 20 is XCC_ID on gfx942 and a part of scratch's address on gfx11.
  EXPECT_EQ(refusedBy("gfx1150", "s_getreg_b32 s4, hwreg(20)"),
            std::vector<std::string>{"s_getreg_b32 (a hardware register that is not modelled)"});
  EXPECT_EQ(refusedBy("gfx942", "s_getreg_b32 s4, hwreg(29)").size(), 1u);
  EXPECT_EQ(refusedBy("gfx950", "s_setreg_imm32_b32 hwreg(HW_REG_HW_ID), 1").size(), 1u);
}

// --- Clocks ---

/// Waits until so many ticks have passed, and stores how many it were.
const char *const waitingKernel = R"(
declare i64 @llvm.readsteadycounter()
declare i64 @llvm.readcyclecounter()
define amdgpu_kernel void @wait(ptr addrspace(1) %out) {
entry:
  %begin = call i64 @llvm.readsteadycounter()
  %cycles = call i64 @llvm.readcyclecounter()
  br label %loop
loop:
  %now = call i64 @llvm.readsteadycounter()
  %passed = sub i64 %now, %begin
  %early = icmp ult i64 %passed, 200000
  br i1 %early, label %loop, label %done
done:
  %end = call i64 @llvm.readcyclecounter()
  %difference = sub i64 %end, %cycles
  store i64 %passed, ptr addrspace(1) %out
  %second = getelementptr i64, ptr addrspace(1) %out, i64 1
  store i64 %difference, ptr addrspace(1) %second
  ret void
}
)";

TEST(DeviceHardwareState, WaitingForTheClockEnds) {
  for (const char *target : {"gfx942", "gfx950", "gfx1100", "gfx1150", "gfx1201"})
    for (unsigned threads : {1u, 2u}) {
      LoadedObject object(target, waitingKernel, "ll");
      uint64_t out[2] = {};
      Allocation allocation;
      allocation.begin = reinterpret_cast<uint64_t>(out);
      allocation.end = allocation.begin + sizeof(out);
      allocation.source = BoundsSource::Device;
      object.memory.add(allocation, "out");
      object.threads = threads;
      LaunchResult result = object.run("wait", {allocation.begin}, {1, 1, 1}, {1, 1, 1});
      ASSERT_FALSE(result.fault) << target << " " << result.fault->detail;
      EXPECT_GE(out[0], 200000u) << target;
      if (threads == 1) {
        // Twice the same: on one thread the clock counts what was executed.
        uint64_t first = out[0];
        object.run("wait", {allocation.begin}, {1, 1, 1}, {1, 1, 1});
        EXPECT_EQ(out[0], first) << target;
      }
    }
}

TEST(DeviceHardwareState, TrapOfGfx11IsReported) {
  // There llvm.trap is a trap with a message to the host and a wave that halts behind it.
  LoadedObject object("gfx1100", R"(
declare void @llvm.trap()
define amdgpu_kernel void @stops() {
  call void @llvm.trap()
  ret void
}
)",
                      "ll");
  LaunchResult result = object.run("stops", {}, {1, 1, 1}, {32, 1, 1});
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, FaultKind::Trap);
}

// --- v_movrel with DPP ---

TEST(DeviceHardwareState, RelativeMovesWithDpp) {
  for (const char *target : {"gfx1100", "gfx1201"}) {
    WaveUnderTest test(target, "s_mov_b32 m0, 3\n"
                               "v_movrels_b32_dpp v20, v2 row_shr:1 row_mask:0xf bank_mask:0xf\n"
                               "v_movreld_b32_dpp v10, v1 dpp8:[7,6,5,4,3,2,1,0]\n"
                               "v_movrelsd_b32_e64_dpp v30, v3 quad_perm:[1,0,3,2] "
                               "row_mask:0x1 bank_mask:0xf\n"
                               "s_mov_b32 m0, 0x20005\n"
                               "v_movrelsd_2_b32_dpp v40, v1 row_xmask:1 row_mask:0xf "
                               "bank_mask:0xf");
    auto value = [](unsigned v, unsigned l) { return v * 1000 + l; };
    for (unsigned v = 0; v < 100; ++v)
      for (unsigned l = 0; l < 32; ++l)
        test.vgpr(v, l) = value(v, l);
    test.run();
    for (unsigned l = 0; l < 32; ++l) {
      EXPECT_EQ(test.vgpr(20, l), l % 16 ? value(5, l - 1) : value(20, l)) << target;
      EXPECT_EQ(test.vgpr(13, l), value(1, l ^ 7)) << target;
      EXPECT_EQ(test.vgpr(33, l), l < 16 ? value(6, l ^ 1) : value(33, l)) << target;
      EXPECT_EQ(test.vgpr(42, l), value(6, l ^ 1)) << target;
    }
  }
}

// --- VGPR indexing mode of gfx9 ---

TEST(DeviceRegisterIndexing, OperandsThatM0Names) {
  const char *program = "s_mov_b32 m0, 0xabcd0000\n"
                        "s_set_gpr_idx_on s2, gpr_idx(SRC0)\n"
                        "s_getreg_b32 s8, hwreg(HW_REG_MODE, 27, 1)\n"
                        "v_mov_b32 v10, v1\n"
                        "s_set_gpr_idx_mode gpr_idx(DST)\n"
                        "v_mov_b32 v11, v1\n"
                        "s_set_gpr_idx_mode gpr_idx(SRC1,DST)\n"
                        "v_sub_u32 v12, v20, v1\n"
                        "s_set_gpr_idx_idx s3\n"
                        "v_sub_u32 v13, v20, v1\n"
                        "s_set_gpr_idx_mode gpr_idx(SRC2)\n"
                        "v_bfi_b32 v14, v21, v22, v1\n"
                        "v_mov_b32 v15, s2\n"
                        "s_set_gpr_idx_off\n"
                        "v_mov_b32 v16, v1\n"
                        "s_mov_b32 s9, m0\n"
                        "s_getreg_b32 s10, hwreg(HW_REG_MODE, 27, 1)\n";
  for (const char *target : {"gfx942", "gfx950"}) {
    WaveUnderTest test(target, program);
    auto value = [](unsigned v, unsigned l) { return v * v * 1000 + l; };
    for (unsigned v = 0; v < 100; ++v)
      for (unsigned l = 0; l < 64; ++l)
        test.vgpr(v, l) = value(v, l);
    test.sgpr(2) = 0xff05, test.sgpr(3) = 7;
    uint64_t exec = 0x8fffffff7fffff35;
    test.wave->setLaneMask(scalar::Exec, exec);
    test.run();
    for (unsigned l = 0; l < 64; ++l) {
      auto expected = [&](unsigned v, uint32_t x) { return exec >> l & 1 ? x : value(v, l); };
      EXPECT_EQ(test.vgpr(10, l), expected(10, value(6, l)));
      EXPECT_EQ(test.vgpr(11, l), value(11, l));
      // v16 is written twice, the second time by the move behind the mode's end.
      EXPECT_EQ(test.vgpr(16, l), expected(16, value(1, l)));
      EXPECT_EQ(test.vgpr(17, l), expected(17, value(20, l) - value(6, l)));
      EXPECT_EQ(test.vgpr(20, l), expected(20, value(20, l) - value(8, l)));
      uint32_t mask = value(21, l);
      EXPECT_EQ(test.vgpr(14, l), expected(14, (mask & value(22, l)) | (~mask & value(8, l))));
      EXPECT_EQ(test.vgpr(15, l), expected(15, 0xff05));
    }
    EXPECT_EQ(test.sgpr(8), 1u);
    EXPECT_EQ(test.sgpr(10), 0u);
    EXPECT_EQ(test.sgpr(9), 0xabcd4007u);
  }
}
/// M0[7:0] is the first register of the indices, M0[15:12] which operands it is of.
TEST(DeviceRegisterIndexing, FieldsOfM0) {
  std::string text;
  for (unsigned i = 0; i < 16; ++i) {
    std::string mode = std::to_string(i), other = std::to_string(15 - i);
    auto keep = [&](unsigned n) {
      return "s_mov_b32 s" + std::to_string(20 + 4 * i + n) + ", m0\n";
    };
    text += "s_mov_b32 m0, s0\ns_set_gpr_idx_on s1, " + mode + "\n" + keep(0) +
            "s_set_gpr_idx_idx s2\n" + keep(1) + "s_set_gpr_idx_mode " + other + "\n" + keep(2) +
            "s_set_gpr_idx_off\n" + keep(3);
  }
  std::mt19937_64 random(6);
  for (const char *target : {"gfx942", "gfx950"}) {
    WaveUnderTest test(target, text);
    for (unsigned round = 0; round < 20; ++round) {
      uint32_t in[3] = {round == 0   ? 0
                        : round == 1 ? ~0u
                                     : static_cast<uint32_t>(random()),
                        static_cast<uint32_t>(random()), static_cast<uint32_t>(random())};
      std::copy_n(in, 3, test.wave->scalars);
      test.restart();
      test.run();
      for (uint32_t i = 0; i < 16; ++i) {
        uint32_t on = (in[0] & 0xffff0f00) | (in[1] & 0xff) | i << 12;
        uint32_t indexed = (on & ~0xffu) | (in[2] & 0xff);
        uint32_t changed = (indexed & ~0xf000u) | (15 - i) << 12;
        ASSERT_EQ(test.sgpr(20 + 4 * i), on);
        ASSERT_EQ(test.sgpr(21 + 4 * i), indexed);
        ASSERT_EQ(test.sgpr(22 + 4 * i), changed);
        ASSERT_EQ(test.sgpr(23 + 4 * i), changed);
      }
    }
  }
}
TEST(DeviceRegisterIndexing, BeyondTheLastRegister) {
  WaveUnderTest test("gfx942", "s_set_gpr_idx_on 255, gpr_idx(SRC0)\nv_mov_b32 v10, v1\n"
                               "s_set_gpr_idx_mode gpr_idx(DST)\nv_mov_b32 v11, v1\n"
                               "s_set_gpr_idx_off");
  test.vgpr(0, 3) = 77;
  test.agpr(10, 3) = 5;
  test.run();
  EXPECT_EQ(test.vgpr(10, 3), 77u);
  EXPECT_EQ(test.agpr(10, 3), 5u);
}

/// Reads and writes elements of a vector at places that only the run knows.
const char *const indexingKernel = R"(
define amdgpu_kernel void @index(ptr addrspace(1) %out, i32 %from, i32 %to) #0 {
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %seed = mul i32 %lane, 13
  %a0 = insertelement <16 x i32> poison, i32 %seed, i32 0
  %a1 = shufflevector <16 x i32> %a0, <16 x i32> poison, <16 x i32> zeroinitializer
  %a2 = add <16 x i32> %a1, <i32 0, i32 3, i32 9, i32 27, i32 81, i32 243, i32 729, i32 2187,
      i32 6561, i32 19683, i32 59049, i32 177147, i32 531441, i32 1594323, i32 4782969, i32 14348907>
  %x = extractelement <16 x i32> %a2, i32 %from
  %y = add i32 %x, 1000
  %a3 = insertelement <16 x i32> %a2, i32 %y, i32 %to
  %wide = zext i32 %lane to i64
  %p = getelementptr <16 x i32>, ptr addrspace(1) %out, i64 %wide
  store <16 x i32> %a3, ptr addrspace(1) %p
  ret void
}
declare i32 @llvm.amdgcn.workitem.id.x()
attributes #0 = { "amdgpu-flat-work-group-size"="64,64" }
)";

TEST(DeviceRegisterIndexing, VectorsOfLlvm) {
  for (const char *target : {"gfx942", "gfx950", "gfx1100", "gfx1201"}) {
    LoadedObject object(target, indexingKernel, "ll");
    std::vector<uint32_t> out(64 * 16 + 16);
    Allocation allocation;
    allocation.begin = (reinterpret_cast<uint64_t>(out.data()) + 63) & ~uint64_t(63);
    allocation.end = allocation.begin + 64 * 64;
    allocation.source = BoundsSource::Device;
    object.memory.add(allocation, "out");
    const auto *stored = reinterpret_cast<const uint32_t *>(allocation.begin);
    for (uint64_t from : {0u, 5u, 15u})
      for (uint64_t to : {1u, 5u, 15u}) {
        LaunchResult result =
            object.run("index", {allocation.begin, from | to << 32}, {1, 1, 1}, {64, 1, 1});
        ASSERT_FALSE(result.fault)
            << target << " " << result.fault->instruction << " " << result.fault->detail;
        for (uint32_t lane = 0; lane < 64; ++lane) {
          uint32_t power = 1;
          auto element = [&](uint64_t i) {
            power = 1;
            for (uint64_t k = 0; k < i; ++k)
              power *= 3;
            return lane * 13 + (i == 0 ? 0 : power);
          };
          for (uint64_t i = 0; i < 16; ++i)
            ASSERT_EQ(stored[lane * 16 + i], i == to ? element(from) + 1000 : element(i))
                << target << " lane " << lane << " element " << i;
        }
      }
  }
}
TEST(DeviceRegisterIndexing, UndefinedIndexAndElements) {
  const std::vector<const char *> cdna = {"gfx942", "gfx950"};
  std::string read = "s_set_gpr_idx_on s20, gpr_idx(SRC0)\nv_mov_b32 v5, v6\ns_set_gpr_idx_off\n"
                     "global_store_dword v1, v5, s[4:5]\n";
  expectFault(cdna, "s_mov_b32 s20, s30\n" + read, "v_mov_b32 v7, 0\ns_mov_b32 s20, 1\n" + read,
              {FaultKind::UndefinedValue, "v_mov_b32", -1, "s30 was never written"});
  expectFault(cdna, "v_mov_b32 v7, 0\ns_mov_b32 s20, 2\n" + read,
              "v_mov_b32 v7, 0\ns_mov_b32 s20, 1\n" + read,
              {FaultKind::UndefinedValue, "global_store", 0, "v8 was never written"});
}
TEST(DeviceRegisterIndexing, RefusedWhereItIsNotDocumented) {
  std::string on = "s_set_gpr_idx_on s2, gpr_idx(SRC0)\n", off = "s_set_gpr_idx_off\n";
  EXPECT_EQ(refusedBy("gfx942", on + "v_readlane_b32 s4, v1, 3\n" + off).size(), 1u);
  EXPECT_EQ(refusedBy("gfx942", on + "v_fmac_f32 v1, v2, v3\n" + off).size(), 1u);
  EXPECT_EQ(refusedBy("gfx942", on +
                                    "v_mov_b32_dpp v1, v2 row_shr:1 row_mask:0xf "
                                    "bank_mask:0xf\n" +
                                    off)
                .size(),
            1u);
  EXPECT_EQ(refusedBy("gfx942", on + "s_cbranch_scc1 0\n" + off + "s_endpgm").size(), 1u);
  EXPECT_EQ(refusedBy("gfx942", "s_cbranch_scc1 1\n" + on + "v_mov_b32 v1, v2\n" + off).size(), 1u);
  EXPECT_EQ(refusedBy("gfx942", "s_cbranch_scc1 0\n" + on + "v_mov_b32 v1, v2\n" + off).size(), 0u);
}

} // namespace
} // namespace wavetile::device::test
