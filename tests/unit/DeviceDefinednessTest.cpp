//===- DeviceDefinednessTest.cpp - Undefined values in vector code --------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceCheckSupport.h"

namespace wavetile::device::test {
namespace {

const std::vector<const char *> all = {"gfx950", "gfx1150"}, cdna = {"gfx950"}, rdna = {"gfx1150"};

constexpr FaultKind undefined = FaultKind::UndefinedValue;

std::string store(const char *width = "dword", const char *data = "v5") {
  return std::string("\nglobal_store_") + width + " v1, " + data + ", s[4:5]\n";
}
/// Computes v5 in one of two ways and stores it.
void expectStoredFault(const std::vector<const char *> &targets, const std::string &faulty,
                       const std::string &silent, const char *bits, int lane = 0,
                       const char *width = "dword") {
  std::string detail = std::string("undefined bits ") + bits + " of v5 are stored";
  expectFault(targets, faulty + store(width), silent + store(width),
              {undefined, "global_store", lane, detail.c_str()});
}
/// The same computation, of which a narrow store takes only what is defined.
void expectWideFault(const std::vector<const char *> &targets, const std::string &body,
                     const char *bits, const char *narrow = "short", const char *wide = "dword") {
  std::string detail = std::string("undefined bits ") + bits + " of v5 are stored";
  expectFault(targets, body + store(wide), body + store(narrow),
              {undefined, "global_store", 0, detail.c_str()});
}

// --- Bits ---

TEST(DeviceDefinedness, RegistersStartUndefined) {
  expectFault(all, store(), "v_mov_b32 v5, 1" + store(),
              {undefined, "global_store", 0, "v5 was never written"});
}
TEST(DeviceDefinedness, MovesKeepTheOrigin) {
  expectFault(all, "v_mov_b32 v4, v20\nv_mov_b32 v5, v4" + store(),
              "v_mov_b32 v4, v20\nv_mov_b32 v5, v0" + store(),
              {undefined, "global_store", 0, "v20 was never written"});
}
TEST(DeviceDefinedness, AndWithZerosIsDefined) {
  expectStoredFault(all, "v_and_b32 v5, 1, v6", "v_and_b32 v5, 0, v6", "0x1");
}
TEST(DeviceDefinedness, OrWithOnesIsDefined) {
  expectStoredFault(all, "v_or_b32 v5, -2, v6", "v_or_b32 v5, -1, v6", "0x1");
}
TEST(DeviceDefinedness, XorOfARegisterWithItselfIsDefined) {
  expectStoredFault(all, "v_xor_b32 v5, v6, v7", "v_xor_b32 v5, v6, v6", "0xffffffff");
}
TEST(DeviceDefinedness, DifferenceOfARegisterWithItselfIsDefined) {
  expectStoredFault(all, "v_sub_u32 v5, v6, v7", "v_sub_u32 v5, v6, v6", "0xffffffff");
}
TEST(DeviceDefinedness, ShiftsMoveBits) { // Also v_and_or.
  expectWideFault(all, "v_lshlrev_b32 v5, 16, v6", "0xffff0000");
  expectWideFault(all, "v_and_b32 v7, 0xff0000, v6\nv_lshrrev_b32 v5, 8, v7", "0xff00", "byte");
  expectWideFault(all, "v_mov_b32 v8, 0xffff0000\nv_and_or_b32 v5, v6, v8, v0", "0xffff0000");
}
TEST(DeviceDefinedness, UndefinedShiftAmountsReachEveryBit) {
  // A shifted 0 is 0: the first lane is no fault.
  expectStoredFault(all, "v_lshlrev_b32 v5, v6, v0", "v_lshlrev_b32 v5, v6, 0", "0xffffffff", 1);
}
TEST(DeviceDefinedness, AdditionCarriesUpwardOnly) {
  expectWideFault(all, "v_and_b32 v7, 0x100, v6\nv_add_u32 v5, v7, v0", "0x100", "byte", "short");
  // 0xff00 + (0 or 0x100): bits 8 to 15 and the carry out of them.
  expectWideFault(all, "v_and_b32 v7, 0x100, v6\nv_add_u32 v5, 0xff00, v7", "0x1ff00", "byte");
}
TEST(DeviceDefinedness, LowBitsOfProductsDoNotDependOnHighBits) {
  expectWideFault(all, "v_and_b32 v7, 0xff000000, v6\nv_or_b32 v7, v7, v0\nv_mul_lo_u32 v5, v7, 3",
                  "0xff000000");
  expectStoredFault(
      all, "v_and_b32 v7, 0xff000000, v6\nv_or_b32 v7, v7, v0\nv_mul_lo_u32 v5, v7, 3",
      "v_and_b32 v7, 0xff000000, v6\nv_or_b32 v7, v7, v0\nv_mul_u32_u24 v5, v7, 3", "0xff000000");
}
TEST(DeviceDefinedness, BitFieldsAndPermutations) {
  std::string highUndefined = "v_and_b32 v7, 0xffffff00, v6\nv_or_b32 v7, v7, v0\n";
  expectStoredFault(all, highUndefined + "v_bfe_u32 v5, v7, 0, 9",
                    highUndefined + "v_bfe_u32 v5, v7, 0, 8", "0x100");
  std::string select = highUndefined + "v_mov_b32 v8, 0x0c0c0c0";
  expectStoredFault(all, select + "1\nv_perm_b32 v5, v7, v7, v8",
                    select + "0\nv_perm_b32 v5, v7, v7, v8", "0xff");
  expectStoredFault(all, highUndefined + "v_mov_b32 v8, 0x1ff\nv_bfi_b32 v5, v8, v7, 0",
                    highUndefined + "v_mov_b32 v8, 0xff\nv_bfi_b32 v5, v8, v7, 0", "0x100");
  expectStoredFault(
      cdna, highUndefined + "v_mov_b32 v8, 0x1ff\nv_bitop3_b32 v5, v7, v8, v0 bitop3:0xc0",
      highUndefined + "v_mov_b32 v8, 0xff\nv_bitop3_b32 v5, v7, v8, v0 bitop3:0xc0", "0x100");
}

TEST(DeviceDefinedness, CountedZerosEndAtTheFirstOne) {
  // LLVM counts those of 16 bits so: a one above them, undefined bits above it.
  std::string above = "v_and_b32 v7, 0xfffe0000, v6\nv_or_b32 v7, ";
  expectStoredFault(all, above + "0x40000, v7\nv_ffbl_b32 v5, v7",
                    above + "0x10000, v7\nv_ffbl_b32 v5, v7", "0xffffffff");
  std::string below = "v_and_b32 v7, 0x7fff, v6\nv_or_b32 v7, ";
  expectStoredFault(all, below + "0x2000, v7\nv_ffbh_u32 v5, v7",
                    below + "0x8000, v7\nv_ffbh_u32 v5, v7", "0xffffffff");
}

// --- Selection and comparison ---

TEST(DeviceDefinedness, SelectionTakesTheChosenValue) {
  std::string condition = "v_cmp_gt_u32 {vcc}, 100, v0\n";
  expectStoredFault(all, condition + "v_cndmask_b32 v5, v0, v6, {vcc}",
                    condition + "v_cndmask_b32 v5, v6, v0, {vcc}", "0xffffffff");
}
TEST(DeviceDefinedness, UndefinedConditionsKeepWhatBothValuesAgreeIn) {
  std::string condition = "v_cmp_eq_u32 {s10}, v6, v0\n";
  expectStoredFault(all, condition + "v_cndmask_b32 v5, 7, 6, {s10}",
                    condition + "v_cndmask_b32 v5, 7, 7, {s10}", "0x1");
}
TEST(DeviceDefinedness, ComparisonsKnowWhatDefinedBitsDecide) {
  std::string big = "v_or_b32 v7, 0x80000000, v6\n", use = "v_cndmask_b32 v5, 0, 1, {vcc}";
  expectStoredFault(all, big + "v_cmp_eq_u32 {vcc}, v6, v0\n" + use,
                    big + "v_cmp_eq_u32 {vcc}, v7, v0\n" + use, "0x1");
  // Nothing is below lane 0's number.
  expectStoredFault(all, big + "v_cmp_lt_u32 {vcc}, v6, v0\n" + use,
                    big + "v_cmp_lt_u32 {vcc}, v7, v0\n" + use, "0x1", 1);
  // As signed numbers they are all negative.
  expectStoredFault(all, big + "v_cmp_lt_i32 {vcc}, v6, v0\n" + use,
                    big + "v_cmp_lt_i32 {vcc}, v7, v0\n" + use, "0x1");
}
TEST(DeviceDefinedness, ComparisonsOfGarbageMayBeMaskedAway) {
  std::string compare = "s_mov_{b} {s12}, 0\nv_cmp_eq_u32 {s10}, v6, v0\n";
  expectFault(all, compare + "s_and_saveexec_{b} {s12}, {s10}",
              compare + "s_and_{b} {s10}, {s10}, {s12}\ns_and_saveexec_{b} {s12}, {s10}",
              {undefined, "saveexec", -1, "v6 was never written"});
}
TEST(DeviceDefinedness, LanesThatAreOffCompareAsDefinedZeros) {
  std::string oneLane = "v_mov_b32 v6, 0\ns_mov_{b} {exec}, 1\nv_mov_b32 v7, 0\n";
  expectFault(all,
              oneLane + "s_mov_{b} {exec}, -1\nv_cmp_eq_u32 {vcc}, v7, v6\n"
                        "s_and_saveexec_{b} {s12}, {vcc}",
              oneLane + "v_cmp_eq_u32 {vcc}, v7, v6\ns_mov_{b} {exec}, -1\n"
                        "s_and_saveexec_{b} {s12}, {vcc}",
              {undefined, "saveexec", -1, "v7 was never written"});
}

// --- Halves, DPP, SDWA, op_sel ---

TEST(DeviceDefinedness, PackedInstructionsKeepHalvesApart) {
  std::string highDefined = "v_and_b32 v7, 0xffff, v8\nv_lshl_or_b32 v6, v0, 16, v7\n";
  expectStoredFault(all, highDefined + "v_pk_add_f16 v5, v6, v6",
                    highDefined + "v_pk_add_f16 v5, v6, v6 op_sel:[1,1] op_sel_hi:[1,1]", "0xffff");
  expectStoredFault(all, highDefined + "v_pk_add_u16 v5, v6, v6 op_sel:[0,1] op_sel_hi:[1,1]",
                    highDefined + "v_pk_add_u16 v5, v6, v6 op_sel:[1,1] op_sel_hi:[1,1]", "0xffff");
}
TEST(DeviceDefinedness, PairsNeedNotBeWhollyWritten) {
  expectFault(cdna,
              "v_mov_b32 v6, 0\nv_mov_b32 v2, v0\nv_mov_b32 v3, v0\n"
              "v_pk_add_f32 v[4:5], v[2:3], v[6:7]" +
                  store(),
              "v_mov_b32 v6, 0\nv_mov_b32 v2, v0\nv_mov_b32 v3, v0\n"
              "v_pk_add_f32 v[4:5], v[2:3], v[6:7] op_sel_hi:[1,0]" +
                  store(),
              {undefined, "global_store", 0, "v7 was never written"});
}
TEST(DeviceDefinedness, ConversionsOfTwoValuesKeepThemApart) {
  expectWideFault(all, "v_cvt_pkrtz_f16_f32 v5, v0, v6", "0xffff0000");
  expectWideFault(cdna, "v_cvt_pk_bf16_f32 v5, v0, v6", "0xffff0000");
}
TEST(DeviceDefinedness, HalfLoadsKeepTheOtherHalf) {
  expectWideFault(all, "global_load_short_d16 v5, v1, s[4:5]\nvmwait(0)", "0xffff0000");
}
TEST(DeviceDefinedness, SixteenBitResults) {
  // gfx9 clears the other half, RDNA keeps it.
  expectWideFault(rdna, "v_add_nc_u16 v5, v0, v0", "0xffff0000");
  CheckedRun run = runChecked("gfx950", "v_add_u16 v5, v0, v0" + store());
  EXPECT_FALSE(run.fault) << run.fault->detail;
}
TEST(DeviceDefinedness, DppWithoutASourceKeepsTheOldValue) {
  expectStoredFault(all, "v_mov_b32_dpp v5, v0 row_shr:1 row_mask:0xf bank_mask:0xf",
                    "v_mov_b32_dpp v5, v0 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1",
                    "0xffffffff");
}
TEST(DeviceDefinedness, DppMovesUndefinedLanes) {
  std::string laneSeven = "s_mov_{b} {exec}, 0x80\nv_mov_b32 v6, 1\ns_mov_{b} {exec}, -1\n"
                          "v_mov_b32 v5, 0\n";
  expectFault(all,
              laneSeven + "v_mov_b32_dpp v5, v6 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf\n" +
                  "s_mov_{b} {exec}, 0x10" + store(),
              laneSeven + "v_mov_b32_dpp v5, v6 quad_perm:[3,3,3,3] row_mask:0xf bank_mask:0xf\n" +
                  "s_mov_{b} {exec}, 0x10" + store(),
              {undefined, "global_store", 4, "v6 was never written"});
}
TEST(DeviceDefinedness, SdwaPicksParts) {
  std::string highDefined = "v_and_b32 v7, 0xffff, v8\nv_lshl_or_b32 v6, v0, 16, v7\n";
  std::string add = "v_add_u32_sdwa v5, v6, v0 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:";
  expectStoredFault(cdna, highDefined + add + "WORD_0 src1_sel:DWORD",
                    highDefined + add + "WORD_1 src1_sel:DWORD", "0xffff");
  std::string move = "v_mov_b32_sdwa v5, v0 dst_sel:WORD_1 dst_unused:UNUSED_";
  expectStoredFault(cdna, move + "PRESERVE src0_sel:DWORD", move + "PAD src0_sel:DWORD", "0xffff");
}
TEST(DeviceDefinedness, HalvesOfDualInstructions) {
  expectFault(rdna, "v_dual_mov_b32 v5, v6 :: v_dual_mov_b32 v4, v0" + store(),
              "v_dual_mov_b32 v5, v6 :: v_dual_mov_b32 v4, v0" + store("dword", "v4"),
              {undefined, "global_store", 0, "v6 was never written"});
}

// --- Between lanes ---

TEST(DeviceDefinedness, SingleLanes) {
  std::string write = "v_writelane_b32 v6, s4, 3\n";
  expectStoredFault(all, write + "v_readlane_b32 s20, v6, 4\nv_mov_b32 v5, s20",
                    write + "v_readlane_b32 s20, v6, 3\nv_mov_b32 v5, s20", "0xffffffff");
  expectFault(all, "v_readlane_b32 s20, v0, s30", "s_mov_b32 s30, 1\nv_readlane_b32 s20, v0, s30",
              {undefined, "v_readlane", -1, "s30 choose a lane"});
  std::string laneFive = "s_mov_{b} {exec}, 0x20\nv_mov_b32 v6, 1\n";
  expectStoredFault(
      all, laneFive + "s_mov_{b} {exec}, -1\nv_readfirstlane_b32 s20, v6\nv_mov_b32 v5, s20",
      laneFive + "v_readfirstlane_b32 s20, v6\ns_mov_{b} {exec}, -1\nv_mov_b32 v5, s20",
      "0xffffffff");
}
TEST(DeviceDefinedness, PermutationsByLdsHardware) {
  std::string laneOne = "s_mov_{b} {exec}, 2\nv_mov_b32 v6, 1\ns_mov_{b} {exec}, -1\n";
  std::string permute = "ds_bpermute_b32 v5, v7, v6\nlgkmwait(0)";
  expectStoredFault(all, laneOne + "v_mov_b32 v7, 8\n" + permute,
                    laneOne + "v_mov_b32 v7, 4\n" + permute, "0xffffffff");
}
TEST(DeviceDefinedness, WholeWaveSpills) {
  // v6 holds a scalar in lane 0; all lanes are saved on purpose.
  std::string spill = "v_writelane_b32 v6, s4, 0\ns_or_saveexec_{b} {s10}, -1\n"
                      "scratch_store_dword off, v6, off offset:8\n"
                      "s_waitcnt 0\n" // All counters of gfx9 and gfx11.
                      "scratch_load_dword v7, off, off offset:8\nvmwait(0)\n"
                      "s_mov_{b} {exec}, {s10}\n";
  expectStoredFault(all, spill + "v_mov_b32 v5, v7\ns_mov_{b} {exec}, 2",
                    spill + "v_readlane_b32 s20, v7, 0\nv_mov_b32 v5, s20\ns_mov_{b} {exec}, 2",
                    "0xffffffff", 1);
}
TEST(DeviceDefinedness, MatrixProductsSpreadByRowsAndColumns) {
  // Lane 3 of A is row 3 of D: register 3 of lanes 0 to 15.
  std::string operands = "v_mov_b32 v10, 0\nv_mov_b32 v11, 0\nv_mov_b32 v12, 0\nv_mov_b32 v13, 0\n"
                         "s_mov_b64 exec, 8\nv_mov_b32 v10, v6\ns_mov_b64 exec, 0xff\n"
                         "v_mfma_f32_16x16x16_f16 v[16:19], v[10:11], v[12:13], 0\n"
                         "s_mov_b64 exec, -1\n";
  expectFault(cdna, operands + store("dword", "v19"), operands + store("dword", "v18"),
              {undefined, "global_store", 0, "v6 was never written"});
  // Row 3 is register 1 of lanes 16 to 31; lanes 3 and 19 hold the same row of A.
  std::string wave;
  for (int i = 32; i < 48; ++i)
    wave += "v_mov_b32 v" + std::to_string(i) + ", 0\n";
  wave += "s_mov_b32 exec_lo, 0x80008\nv_mov_b32 v32, v6\ns_mov_b32 exec_lo, -1\n"
          "v_wmma_f32_16x16x16_f16 v[16:23], v[32:39], v[40:47], 0\n";
  expectFault(rdna, wave + store("dword", "v17"), wave + store("dword", "v16"),
              {undefined, "global_store", 16, "v6 was never written"});
}

} // namespace
} // namespace wavetile::device::test
