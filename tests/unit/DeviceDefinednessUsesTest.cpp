//===- DeviceDefinednessUsesTest.cpp - Where undefined values decide ------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceCheckSupport.h"

namespace wavetile::device::test {
namespace {

const std::vector<const char *> all = {"gfx950", "gfx1150"}, cdna = {"gfx950"};
constexpr FaultKind undefined = FaultKind::UndefinedValue;

const std::string store = "\nglobal_store_dword v1, v5, s[4:5]\n";

// --- Scalars ---

TEST(DeviceDefinednessUses, BranchesOnScc) {
  expectFault(all, "s_cmp_eq_u32 s30, 0\ns_cbranch_scc1 1\ns_nop 0",
              "s_cmp_eq_u32 s4, 0\ns_cbranch_scc1 1\ns_nop 0",
              {undefined, "s_cbranch_scc1", -1, "s30 was never written"});
}
TEST(DeviceDefinednessUses, LogicKnowsSccFromOneDefinedBit) {
  expectFault(all, "s_or_b32 s20, s30, 0\ns_cbranch_scc1 1\ns_nop 0",
              "s_or_b32 s20, s30, 1\ns_cbranch_scc1 1\ns_nop 0",
              {undefined, "s_cbranch_scc1", -1, "s30 was never written"});
}
TEST(DeviceDefinednessUses, BranchesOnVcc) {
  std::string end = "s_cbranch_vccz 1\ns_nop 0";
  expectFault(all, "v_cmp_eq_u32 {vcc}, v6, v0\n" + end, "v_cmp_eq_u32 {vcc}, v0, v0\n" + end,
              {undefined, "s_cbranch_vccz", 0, "v6 was never written"});
  // One lane that surely compares equal is enough.
  expectFault(all, "v_cmp_eq_u32 {vcc}, v6, v0\n" + end,
              "v_cmp_eq_u32 {vcc}, v6, v0\ns_or_{b} {vcc}, {vcc}, 4\n" + end,
              {undefined, "s_cbranch_vccz", 0, "v6 was never written"});
}
TEST(DeviceDefinednessUses, ScalarSelection) {
  std::string compare = "s_cmp_eq_u32 s30, 0\n", use = "\nv_mov_b32 v5, s20" + store;
  expectFault(all, compare + "s_cselect_b32 s20, 4, 5" + use,
              compare + "s_cselect_b32 s20, 5, 5" + use,
              {undefined, "global_store", 0, "undefined bits 0x1 of v5"});
}
TEST(DeviceDefinednessUses, ScalarArithmetic) {
  std::string use = "\nv_mov_b32 v5, s20\nglobal_store_byte v1, v5, s[4:5]";
  expectFault(all, "s_lshl_b32 s20, s30, 4" + use, "s_lshl_b32 s20, s30, 8" + use,
              {undefined, "global_store", 0, "undefined bits 0xf0 of v5"});
  expectFault(all, "s_bfe_u32 s20, s30, 0x10000" + use, "s_bfe_u32 s20, s4, 0x10000" + use,
              {undefined, "global_store", 0, "undefined bits 0x1 of v5"});
  expectFault(all, "s_xor_b32 s20, s30, s31" + use, "s_xor_b32 s20, s30, s30" + use,
              {undefined, "global_store", 0, "s30 was never written"});
}
TEST(DeviceDefinednessUses, CarriesOfLongAdditions) {
  // The low half is undefined from bit 8 on; its carry reaches the high half.
  std::string low = "s_and_b32 s20, s30, 0xffffff00\n", use = "\nv_mov_b32 v5, s23" + store;
  expectFault(all, low + "s_add_u32 s22, s20, 0x100\ns_addc_u32 s23, s4, 0" + use,
              low + "s_add_u32 s22, s20, 0xff\ns_addc_u32 s23, s4, 0" + use,
              {undefined, "global_store", 0, "s30 was never written"});
}
TEST(DeviceDefinednessUses, Exec) {
  expectFault(all, "s_mov_b32 exec_lo, s30", "s_mov_b32 exec_lo, s4",
              {undefined, "s_mov_b32", -1, "becomes EXEC: s30 was never written"});
  // On gfx9 the comparison goes through VCC, and the scalar becomes EXEC.
  expectFault(cdna, "v_cmpx_eq_u32 vcc, v6, v0", "v_cmpx_eq_u32 vcc, v0, v0",
              {undefined, "v_cmpx", -1, "v6 was never written"});
  expectFault({"gfx1150"}, "v_cmpx_eq_u32 v6, v0", "v_cmpx_eq_u32 v0, v0",
              {undefined, "v_cmpx", 0, "v6 was never written"});
}
TEST(DeviceDefinednessUses, SetRegister) {
  expectFault(all, "s_setreg_b32 hwreg(HW_REG_MODE, 4, 4), s30",
              "s_mov_b32 s30, 15\ns_setreg_b32 hwreg(HW_REG_MODE, 4, 4), s30",
              {undefined, "s_setreg", -1, "s30 are written to a hardware register"});
}
TEST(DeviceDefinednessUses, Jumps) {
  expectFault(all, "s_setpc_b64 s[30:31]",
              "s_getpc_b64 s[30:31]\ns_add_u32 s30, s30, 20\ns_addc_u32 s31, s31, 0\n"
              "s_setpc_b64 s[30:31]\ns_nop 0\ns_nop 0\ns_nop 0",
              {undefined, "s_setpc", -1, "s30 was never written"});
}

// --- Addresses ---

TEST(DeviceDefinednessUses, AddressesOfActiveLanes) {
  std::string someLanes = "s_mov_{b} {exec}, 0xf0\nv_mov_b32 v6, 0\n";
  expectFault(all, someLanes + "s_mov_{b} {exec}, -1\nglobal_load_dword v5, v6, s[4:5]",
              someLanes + "global_load_dword v5, v6, s[4:5]",
              {undefined, "global_load", 0, "v6 decide an address"});
}
TEST(DeviceDefinednessUses, ScalarAddresses) {
  expectFault(all, "s_load_dword s20, s[30:31], 0x0", "s_load_dword s20, s[4:5], 0x0",
              {undefined, "s_load", -1, "s30 decide an address"});
}
TEST(DeviceDefinednessUses, Descriptors) {
  std::string rest = "s_mov_b32 s30, s6\ns_mov_b32 s20, s4\ns_mov_b32 s21, s5\n"
                     "s_mov_b32 s22, 1024\n";
  std::string load = "buffer_load_dword v5, v1, s[20:23], 0 offen";
  expectFault(all, rest + load, rest + "s_mov_b32 s23, 0x31027000\n" + load,
              {undefined, "buffer_load", -1, "s23 decide an address"});
}
TEST(DeviceDefinednessUses, M0OfLoadsToLds) {
  std::string rest = "s_mov_b32 s20, s4\ns_mov_b32 s21, s5\ns_mov_b32 s22, 1024\n"
                     "s_mov_b32 s23, 0x27000\n";
  std::string load = "buffer_load_dword v1, s[20:23], 0 offen lds";
  expectFault(cdna, rest + load, rest + "s_mov_b32 m0, 0\n" + load,
              {undefined, "buffer_load", -1, "m0 decide an address"});
}
TEST(DeviceDefinednessUses, Lds) {
  expectFault(all, "ds_read_b32 v5, v6", "ds_read_b32 v5, v1",
              {undefined, "ds_", 0, "v6 decide an address"});
}

// --- Memory ---

TEST(DeviceDefinednessUses, LdsStartsUndefined) {
  std::string read = "ds_read_b32 v5, v1\nlgkmwait(0)" + store;
  expectFault(all, "v_add_u32 v7, 4, v1\nds_write_b32 v7, v0\n" + read,
              "ds_write_b32 v1, v0\n" + read,
              {undefined, "global_store", 0, "LDS byte 0, which nothing has written"});
}
TEST(DeviceDefinednessUses, LdsKeepsUndefinedBits) {
  std::string there = "v_and_b32 v7, 0xff00, v6\nds_write_b32 v1, v7\nds_read_b32 v5, v1\n"
                      "lgkmwait(0)\n";
  expectFault(all, there + "global_store_short v1, v5, s[4:5]",
              there + "global_store_byte v1, v5, s[4:5]",
              {undefined, "global_store", 0, "undefined bits 0xff00 of v5"});
}
TEST(DeviceDefinednessUses, ScratchStartsUndefined) {
  std::string read = "scratch_load_dword v5, off, off offset:4\nvmwait(0)" + store;
  expectFault(all, read, "scratch_store_dword off, v0, off offset:4\n" + read,
              {undefined, "global_store", 0, "scratch byte 4"});
}
TEST(DeviceDefinednessUses, DeviceMemoryStartsUndefined) {
  std::string move = "global_load_dword v5, v1, s[6:7]\nvmwait(0)" + store;
  expectFault(all, move, "global_store_dword v1, v0, s[6:7]\n" + move,
              {undefined, "global_store", 0, "byte 0 of allocation 'unwritten'"});
}
TEST(DeviceDefinednessUses, StoresDefineTheirBytesOnly) {
  std::string move = "global_load_dword v5, v1, s[6:7]\nvmwait(0)";
  expectFault(all, "global_store_byte v1, v0, s[6:7]\n" + move + store,
              "global_store_byte v1, v0, s[6:7]\n" + move + "\nglobal_store_byte v1, v5, s[4:5]",
              {undefined, "global_store", 0, "undefined bits 0xffffff00 of v5"});
}
TEST(DeviceDefinednessUses, AtomicsOnMemoryThatWasNeverWritten) {
  expectFault(all, "global_atomic_add v1, v0, s[6:7]",
              "global_store_dword v1, v0, s[6:7]\nglobal_atomic_add v1, v0, s[6:7]",
              {undefined, "global_atomic", 0, "nothing has written"});
  expectFault(all, "global_atomic_add v1, v6, s[4:5]", "global_atomic_add v1, v0, s[4:5]",
              {undefined, "global_atomic", 0, "v6 was never written"});
}
TEST(DeviceDefinednessUses, ArgumentsEndWhereTheKernelSaysSo) {
  std::string load = "s_load_dwordx2 s[20:21], s[0:1], 0xc\nlgkmwait(0)\nv_mov_b32 v5, ";
  expectFault(all, load + "s21" + store, load + "s20" + store,
              {undefined, "global_store", 0, "byte 16 of the kernel's arguments"});
}
TEST(DeviceDefinednessUses, StoresOfLanesOutOfRangeDoNotCount) {
  std::string resource = "s_mov_b32 s20, s4\ns_mov_b32 s21, s5\ns_mov_b32 s22, 64\n"
                         "s_mov_b32 s23, 0x31027000\n";
  // Only lanes 0 to 15 are in range.
  std::string define = "v_cmp_gt_u32 {vcc}, 16, v0\ns_and_saveexec_{b} {s10}, {vcc}\n"
                       "v_mov_b32 v5, 1\ns_mov_{b} {exec}, -1\n";
  std::string store = "buffer_store_dword v5, v1, s[20:23], 0 offen";
  expectFault(all, resource + "v_mov_b32 v5, v6\n" + store, resource + define + store,
              {undefined, "buffer_store", 0, "v6 was never written"});
}

// --- Switches ---

TEST(DeviceDefinednessUses, CanBeSwitchedOff) {
  for (const char *target : all) {
    CheckedRun run = runChecked(target, store, *CheckOptions::parse("waits"));
    EXPECT_FALSE(run.fault) << run.fault->detail;
    EXPECT_FALSE(runChecked(target, store, *CheckOptions::parse("none")).fault);
    EXPECT_TRUE(runChecked(target, store, *CheckOptions::parse("undefined")).fault);
  }
  auto unknown = CheckOptions::parse("everything");
  EXPECT_FALSE(bool(unknown));
  llvm::consumeError(unknown.takeError());
}

} // namespace
} // namespace wavetile::device::test
