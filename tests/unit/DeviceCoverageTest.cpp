//===- DeviceCoverageTest.cpp - The list of what the device executes -------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "evidence/CoverageOfTarget.h"

#include "runtime/emulator/Disassembler.h"
#include "runtime/emulator/Evidence.h"
#include "runtime/emulator/Target.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

namespace wavetile::device {
namespace {

std::map<std::string, CoveredInstruction> coverageOf(const std::string &target) {
  std::map<std::string, CoveredInstruction> result;
  for (const CoveredInstruction &instruction : evidence::coverageOf(target))
    result[instruction.encoding + " " + instruction.mnemonic] = instruction;
  return result;
}

/// One instruction of each encoding at least, from AMD's ISA documents.
struct Known {
  const char *target;
  std::initializer_list<const char *> instructions;
};
const Known known[] = {
    {"gfx950",
     {"SOP1 s_mov_b32",
      "SOP2 s_add_u32",
      "SOPC s_cmp_eq_u32",
      "SOPK s_setreg_imm32_b32",
      "SOPP s_waitcnt",
      "SMEM s_buffer_load_dwordx16",
      "VOP1 v_mov_b64",
      "VOP1 SDWA v_cvt_f32_f16",
      "VOP1 DPP v_mov_b32",
      "VOP2 v_fmaak_f32",
      "VOP2 SDWA v_cndmask_b32",
      "VOP2 DPP v_add_f32",
      "VOPC v_cmpx_class_f64",
      "VOPC SDWA v_cmp_lt_u16",
      "VOP3 v_cvt_scalef32_sr_pk_fp4_bf16",
      "VOP3 v_permlane32_swap_b32",
      "VOP3P v_pk_mov_b32",
      "VOP3P-MAI v_mfma_f32_16x16x32_bf16",
      "VOP3P-MAI v_smfmac_f32_32x32x32_bf16",
      "DS ds_read_b64_tr_b16",
      "FLAT global_load_lds_dwordx4",
      "FLAT scratch_load_dword",
      "FLAT flat_atomic_add_f64",
      "MUBUF buffer_wbl2",
      "MTBUF tbuffer_load_format_xyzw"}},
    {"gfx1150",
     {"VOP1 DPP8 v_mov_b32", "VOP3 DPP v_add_co_u32", "VOPD v_dual_cndmask_b32",
      "VOP3P v_wmma_f32_16x16x16_bf16", "SOP1 s_cvt_f32_u32", "MIMG image_sample",
      "LDSDIR lds_direct_load", "EXP exp"}},
    {"gfx1201",
     {"SOP1 s_barrier_signal", "VOP3P v_swmmac_f32_16x16x32_f16", "FLAT global_load_tr_b128",
      "VIMAGE image_load", "VSAMPLE image_sample", "SOP2 s_add_nc_u64", "VOPC DPP8 v_cmp_eq_f32"}},
};

TEST(DeviceCoverage, FindsInstructionsOfEveryEncoding) {
  for (const Known &row : known) {
    auto covered = coverageOf(row.target);
    for (const char *name : row.instructions)
      EXPECT_TRUE(covered.count(name)) << row.target << " " << name;
  }
}

TEST(DeviceCoverage, DoesNotGiveATargetWhatItLacks) {
  auto gfx942 = coverageOf("gfx942");
  EXPECT_FALSE(gfx942.count("VOP3 v_prng_b32"));
  EXPECT_FALSE(gfx942.count("VOP3 v_permlane32_swap_b32"));
  EXPECT_FALSE(coverageOf("gfx950").count("VOP3P-MAI v_mfma_f32_16x16x8_xf32"));
  EXPECT_TRUE(gfx942.count("VOP3P-MAI v_mfma_f32_16x16x8_xf32"));
}

TEST(DeviceCoverage, SaysWhatIsExactApproximateAndLeftOut) {
  auto covered = coverageOf("gfx950");
  EXPECT_EQ(covered["VOP2 v_add_f32"].support, Support::Exact);
  EXPECT_EQ(covered["VOP1 v_exp_f32"].support, Support::Approximate);
  EXPECT_EQ(covered["VOP1 v_exp_f32"].ulp, 1u);
  EXPECT_EQ(covered["DS ds_gws_init"].support, Support::LeftOut);
  EXPECT_EQ(covered["SMEM s_store_dword"].support, Support::LeftOut);
  EXPECT_EQ(covered["SMEM s_store_dword"].why, "scalar stores");
}

TEST(DeviceCoverage, KnowsWhatNeedsAnOperandOfItsOwn) {
  // Without an address; opcodes of gfx12's SMEM begin at bit 13; LLVM has opcodes with tfe beside.
  auto gfx942 = coverageOf("gfx942"), gfx1150 = coverageOf("gfx1150"),
       gfx1201 = coverageOf("gfx1201");
  for (const char *name : {"DS ds_append", "DS ds_consume", "DS ds_read_addtid_b32"})
    EXPECT_EQ(gfx942[name].support, Support::Exact) << name;
  for (const char *name : {"MUBUF buffer_load_b32", "MUBUF buffer_store_b128"})
    EXPECT_EQ(gfx1150[name].support, Support::Exact) << name;
  for (const char *name : {"SMEM s_load_b64", "SMEM s_load_b96", "SMEM s_load_u8"})
    EXPECT_EQ(gfx1201[name].support, Support::Exact) << name;
}

TEST(DeviceCoverage, WhatNothingShowsIsADifference) {
  Evidence list;
  for (const TargetDescription &target : targets())
    for (const CoveredInstruction &row : evidence::coverageOf(target.name))
      if (row.support == Support::Exact)
        list[{target.name, row.encoding, row.mnemonic}] = evidenceByReference;
  list.erase({"gfx942", "VOP2", "v_add_f32"});
  list[{"gfx950", "VOP2", "v_sub_f32"}] = noEvidence;
  list[{"gfx1100", "VOP2", "v_mul_f32"}] = "DeviceFloat"; // No vectors, where vectors make sense.
  list[{"gfx1201", "SOPP", "s_barrier_wait"}] = "DeviceGfx12Barrier";
  list[{"gfx1201", "VOP2", "v_quux_f32"}] = evidenceByReference;
  EXPECT_EQ(llvm::cantFail(evidenceDifferences(list)),
            "gfx1100 VOP2 v_mul_f32 is called exact, and nothing shows it: see "
            "runtime/emulator/Evidence.h\n"
            "gfx942 VOP2 v_add_f32 is called exact, and nothing shows it: see "
            "runtime/emulator/Evidence.h\n"
            "gfx950 VOP2 v_sub_f32 is called exact, and nothing shows it: see "
            "runtime/emulator/Evidence.h\n"
            "gfx1201 VOP2 v_quux_f32 is in the list and not among the exact instructions\n");
}

TEST(DeviceCoverage, RefusesAProcessorThatLlvmDoesNotKnow) {
  auto covered = instructionCoverage("gfx31337");
  ASSERT_FALSE(covered);
  EXPECT_NE(llvm::toString(covered.takeError()).find("gfx31337"), std::string::npos);
}

bool decodes(const char *target, std::initializer_list<uint32_t> words) {
  auto disassembler = llvm::cantFail(Disassembler::create(target));
  llvm::MCInst inst;
  uint64_t size = 0;
  llvm::ArrayRef<uint8_t> bytes(reinterpret_cast<const uint8_t *>(words.begin()), words.size() * 4);
  return disassembler->decode(bytes, 0, inst, size);
}

TEST(DeviceDisassembler, RdnaHasNoVectorInstructionsInTheEncodingOfImages) {
  // gfx9's v_fma_mix_f32 v4, v4, v4, v4, which LLVM decodes for gfx11 and gfx12 too.
  EXPECT_TRUE(decodes("gfx950", {0xd3a00004, 0x04120904, 0, 0}));
  for (const char *target : {"gfx1100", "gfx1150", "gfx1201"})
    EXPECT_FALSE(decodes(target, {0xd3a00004, 0x04120904, 0, 0})) << target;
}

TEST(DeviceDisassembler, SurvivesLiteralsWhereNoneCanBe) {
  // v_cmp_class_f32_e64 s[4:5], <literal>, v4: VOP3 of gfx942 has none.
  EXPECT_FALSE(decodes("gfx942", {0xd0100004, 0x041208ff, 0x3f800000, 0}));
  // s_barrier_signal <literal>
  EXPECT_FALSE(decodes("gfx1201", {0xbe864eff, 0x3f800000, 0, 0}));
  // v_mov_b32 v4, <literal> at the end of the code.
  EXPECT_FALSE(decodes("gfx950", {0x7e0802ff}));
  EXPECT_TRUE(decodes("gfx950", {0x7e0802ff, 0x3f800000}));
}

} // namespace
} // namespace wavetile::device
