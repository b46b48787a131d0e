//===- DeviceWaitsTest.cpp - Loads and the waits that cover them ----------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceCheckSupport.h"

namespace wavetile::device::test {
namespace {

const std::vector<const char *> all = {"gfx950", "gfx1150", "gfx1201"}, cdna = {"gfx950"},
                                rdna = {"gfx1150", "gfx1201"}, gfx12 = {"gfx1201"};
constexpr FaultKind missing = FaultKind::MissingWait;
constexpr FaultKind overwritten = FaultKind::PendingOverwritten;

std::string load(const std::string &data, int offset = 0) {
  return "global_load_dword " + data + ", v1, s[4:5] offset:" + std::to_string(offset) + "\n";
}
std::string store(const std::string &data = "v5") {
  return "\nglobal_store_dword v1, " + data + ", s[4:5]\n";
}
std::string repeated(int count, const std::string &text) {
  std::string result;
  while (count-- > 0)
    result += text;
  return result;
}

TEST(DeviceWaits, LoadsAreThereAfterTheirWait) {
  expectFault(all, load("v5") + store(), load("v5") + "vmwait(0)" + store(),
              {missing, "global_store", 0, "no wait covers the load at"});
}
TEST(DeviceWaits, LoadsEndInOrder) {
  std::string two = load("v5") + load("v6") + "vmwait(1)";
  expectFault(all, two + store("v6"), two + store("v5"),
              {missing, "global_store", 0, "no wait covers the load at"});
}
TEST(DeviceWaits, EarlyReadsMatterOnlyIfTheyAreUsed) {
  std::string early = load("v5") + "v_add_u32 v6, v5, v0\nvmwait(0)";
  expectFault(all, early + store("v6"), early + store("v5"),
              {missing, "global_store", 0, "no wait covers the load at"});
}
TEST(DeviceWaits, AddressesAndBranches) {
  expectFault(all, load("v5") + "v_cmp_eq_u32 {vcc}, v5, v0\ns_cbranch_vccz 1\ns_nop 0",
              load("v5") + "vmwait(0)\nv_cmp_eq_u32 {vcc}, v5, v0\ns_cbranch_vccz 1\ns_nop 0",
              {missing, "s_cbranch_vccz", 0, "no wait covers the load at"});
  expectFault(all, load("v5") + "global_load_dword v6, v5, s[4:5]",
              load("v5") + "vmwait(0)\nv_and_b32 v5, 4, v5\nglobal_load_dword v6, v5, s[4:5]",
              {missing, "global_load", 0, "no wait covers the load at"});
}

/// A clock comes through the scalar cache, as a load does.
TEST(DeviceWaits, ClocksAreThereAfterTheirWait) {
  std::string use = "v_mov_b32 v5, s21" + store();
  for (const auto &[targets, clock] :
       {std::pair(std::vector{"gfx942", "gfx950"}, "s_memtime s[20:21]\n"),
        std::pair(std::vector{"gfx1150"},
                  "s_sendmsg_rtn_b64 s[20:21], sendmsg(MSG_RTN_GET_REALTIME)\n")})
    expectFault(targets, clock + use, clock + ("kmwait(0)\n" + use),
                {missing, "global_store", 0, "no wait covers the load at"});
}

// --- Counters ---

TEST(DeviceWaits, IssuingPastTheMaximumWaitsForTheOldest) {
  // 63 outstanding loads fit; one more waits until the first is done.
  std::string use = "v_mov_b32 v7, v5" + store("v7");
  expectFault(all, load("v5") + repeated(62, load("v6")) + use,
              load("v5") + repeated(63, load("v6")) + use,
              {missing, "global_store", 0, "no wait covers the load at"});
}
TEST(DeviceWaits, TheLdsCounterOfGfx9IsSmall) {
  std::string reads = "ds_write_b32 v1, v0\nds_read_b32 v5, v1\n";
  expectFault(cdna, reads + repeated(14, "ds_read_b32 v6, v1\n") + store(),
              reads + repeated(15, "ds_read_b32 v6, v1\n") + store(),
              {missing, "global_store", 0, "no wait covers the load at"});
}
TEST(DeviceWaits, StoresCountWithLoadsOnGfx9Only) {
  std::string body = load("v5") + store("v0") + "vmwait(1)";
  CheckedRun run = runChecked("gfx950", body + store());
  EXPECT_FALSE(run.fault) << run.fault->detail;
  expectFault(rdna, body + store(), body + "\nvmwait(0)" + store(),
              {missing, "global_store", 0, "no wait covers the load at"});
}
TEST(DeviceWaits, ScalarLoadsEndInAnyOrder) {
  std::string two = "s_load_dword s20, s[4:5], 0x4\ns_load_dword s21, s[4:5], 0x8\n";
  std::string use = "\nv_mov_b32 v5, s20" + store();
  expectFault(all, two + "kmwait(1)" + use, two + "kmwait(0)" + use,
              {missing, "global_store", 0, "no wait covers the load at"});
}
TEST(DeviceWaits, LdsReadsEndInOrder) {
  std::string reads = "ds_write_b32 v1, v0\nds_read_b32 v5, v1\nds_read_b32 v6, v1\nlgkmwait(1)";
  expectFault(all, reads + store("v6"), reads + store("v5"),
              {missing, "global_store", 0, "no wait covers the load at"});
}
TEST(DeviceWaits, EachCounterCoversItsOwnLoads) {
  std::string reads = "ds_write_b32 v1, v0\nds_read_b32 v5, v1\n";
  expectFault(all, reads + "vmwait(0)" + store(), reads + "lgkmwait(0)" + store(),
              {missing, "global_store", 0, "no wait covers the load at"});
}
TEST(DeviceWaits, PermutationsCountAsLds) {
  std::string permute = "ds_bpermute_b32 v5, v1, v0\n";
  expectFault(all, permute + store(), permute + "lgkmwait(0)" + store(),
              {missing, "global_store", 0, "no wait covers the load at"});
}
TEST(DeviceWaits, ReturningAtomicsAreLoads) {
  std::string atomic = "global_atomic_add v5, v1, v0, s[4:5] ";
  for (const char *target : {"gfx950", "gfx1150", "gfx1201"}) {
    std::string returning = atomic + (target == all[0]   ? "sc0"
                                      : target == all[1] ? "glc"
                                                         : "th:TH_ATOMIC_RETURN");
    expectFault({target}, returning + store(), returning + "\nvmwait(0)" + store(),
                {missing, "global_store", 0, "no wait covers the load at"});
  }
}
TEST(DeviceWaits, FlatLoadsWaitWhereTheirAddressesLead) {
  std::string address = "v_mov_b32 v2, s4\nv_mov_b32 v3, s5\nflat_load_dword v5, v[2:3]\n";
  expectFault(all, address + "lgkmwait(0)" + store(), address + "vmwait(0)" + store(),
              {missing, "global_store", 0, "no wait covers the load at"});
  // The aperture of LDS.
  std::string inLds = "ds_write_b32 v1, v0\ns_mov_b64 s[20:21], src_shared_base\nv_mov_b32 v2, v1\n"
                      "v_mov_b32 v3, s21\nflat_load_dword v5, v[2:3]\n";
  expectFault(all, inLds + "vmwait(0)" + store(), inLds + "lgkmwait(0)" + store(),
              {missing, "global_store", 0, "no wait covers the load at"});
}
TEST(DeviceWaits, CombinedWaits) {
  std::string both = load("v5") + "ds_write_b32 v1, v0\nds_read_b32 v6, v1\n";
  expectFault(gfx12, both + "s_wait_loadcnt_dscnt 0x3f" + store("v6"),
              both + "s_wait_loadcnt_dscnt 0x0" + store("v6"),
              {missing, "global_store", 0, "no wait covers the load at"});
  expectFault(gfx12, both + "s_wait_loadcnt_dscnt 0x3f00" + store("v5"),
              both + "s_wait_loadcnt_dscnt 0x3f" + store("v5"),
              {missing, "global_store", 0, "no wait covers the load at"});
}

// --- Registers on their way ---

TEST(DeviceWaits, OverwritingALoadOnItsWay) {
  expectFault(all, load("v5") + "v_mov_b32 v5, 1" + store(),
              load("v5") + "vmwait(0)\nv_mov_b32 v5, 1" + store(),
              {overwritten, "v_mov_b32", 0, "v5 has yet to be written by the load at"});
}
TEST(DeviceWaits, OverwritingAScalarLoadOnItsWay) {
  expectFault(all, "s_load_dword s20, s[4:5], 0x4\ns_mov_b32 s20, 1",
              "s_load_dword s20, s[4:5], 0x4\nkmwait(0)\ns_mov_b32 s20, 1",
              {overwritten, "s_mov_b32", -1, "s20 has yet to be written by the load at"});
}
TEST(DeviceWaits, LoadsOfOneCounterMayShareADestination) {
  std::string lds = "ds_write_b32 v1, v0\n" + load("v5");
  expectFault(all, lds + "ds_read_b32 v5, v1", lds + load("v5", 4) + "vmwait(0)" + store(),
              {overwritten, "ds_", 0, "v5 has yet to be written by the load at"});
}
TEST(DeviceWaits, DisjointLanesMayShareARegister) {
  std::string first = "s_mov_{b} {exec}, 0xf\n" + load("v5") + "s_mov_{b} {exec}, ";
  std::string second = "\nv_mov_b32 v5, 1\nvmwait(0)\ns_mov_{b} {exec}, 0xff" + store();
  expectFault(all, first + "0xf8" + second, first + "0xf0" + second,
              {overwritten, "v_mov_b32", 3, "v5 has yet to be written by the load at"});
  // Both branches load; one wait covers both.
  std::string both = first + "0xf0\n" + load("v5", 4);
  expectFault(all, both + "vmwait(1)\ns_mov_{b} {exec}, 0xff" + store(),
              both + "vmwait(0)\ns_mov_{b} {exec}, 0xff" + store(),
              {missing, "global_store", 4, "no wait covers the load at"});
}
TEST(DeviceWaits, DataOfIssuedStoresMayBeOverwritten) {
  for (const char *target : all) {
    CheckedRun run = runChecked(target, "v_mov_b32 v5, 7" + store() + "v_mov_b32 v5, 1");
    EXPECT_FALSE(run.fault) << run.fault->detail;
    EXPECT_EQ(run.words[3], 7u);
  }
}
TEST(DeviceWaits, HalvesAreLoadedApart) {
  std::string both = "v_mov_b32 v5, 0\nglobal_load_short_d16 v5, v1, s[4:5]\n"
                     "global_load_short_d16_hi v5, v1, s[4:5]\nvmwait(1)\n";
  expectFault(all, both + "global_store_dword v1, v5, s[4:5]",
              both + "global_store_short v1, v5, s[4:5]",
              {missing, "global_store", 0, "undefined bits 0xffff0000 of v5"});
}
TEST(DeviceWaits, LoadsOfUndefinedBytesStayUndefined) {
  expectFault(all, "global_load_dword v5, v1, s[6:7]\nvmwait(0)" + store(),
              load("v5") + "vmwait(0)" + store(),
              {FaultKind::UndefinedValue, "global_store", 0, "nothing has written"});
}

// --- Loads to LDS ---

TEST(DeviceWaits, LoadsToLdsBelongToTheVectorCounter) {
  std::string body = "s_mov_b32 s20, s4\ns_mov_b32 s21, s5\ns_mov_b32 s22, 1024\n"
                     "s_mov_b32 s23, 0x27000\ns_mov_b32 m0, 0\n"
                     "buffer_load_dword v1, s[20:23], 0 offen lds\n";
  std::string read = "\nds_read_b32 v5, v1\nlgkmwait(0)" + store();
  expectFault(cdna, body + "lgkmwait(0)" + read, body + "vmwait(0)" + read,
              {missing, "global_store", 0, "covers the load to LDS at"});
  EXPECT_EQ(runChecked("gfx950", body + "vmwait(0)" + read).words[5], 5u);
}

TEST(DeviceWaits, CanBeSwitchedOff) {
  for (const char *target : all) {
    CheckedRun run = runChecked(target, load("v5") + "v_mov_b32 v6, v5" + store("v6"),
                                *CheckOptions::parse("undefined"));
    EXPECT_FALSE(run.fault) << run.fault->detail;
  }
}

} // namespace
} // namespace wavetile::device::test
