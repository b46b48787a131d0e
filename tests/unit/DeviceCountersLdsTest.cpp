//===- DeviceCountersLdsTest.cpp - Bank conflicts -------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cycles are worked out by hand from the phases and banks in docs/software-device-counters.md.
//
//===----------------------------------------------------------------------===//

#include "DeviceCountersSupport.h"

namespace wavetile::device::test {
namespace {

/// Cycles of one instruction and how many of them are lost to conflicts.
struct Expected {
  const char *target;
  uint64_t cycles, conflicts;
};

/// LDS instructions with their costs, run one after the other in one kernel for each target.
class Costs {
public:
  /// \p setUp makes v2 the address; \p instruction is in gfx9's spelling.
  void expect(const std::string &setUp, const std::string &instruction,
              std::initializer_list<Expected> expected) {
    for (const Expected &row : expected)
      cases.push_back({setUp, spelled(instruction, row.target), row});
  }
  ~Costs() {
    for (const char *target : targetNames)
      run(target);
  }

private:
  struct Case {
    std::string setUp, instruction;
    Expected expected;
  };

  static std::string spelled(std::string text, const std::string &target) {
    if (isGfx9(target))
      return text;
    for (auto [gfx9, rdna] : {std::pair{"ds_read2_b32", "ds_load_2addr_b32"},
                              {"ds_read", "ds_load"},
                              {"ds_write", "ds_store"}})
      if (size_t at = text.find(gfx9); at != std::string::npos)
        text.replace(at, std::string(gfx9).size(), rdna);
    return text;
  }

  void run(const std::string &target) const {
    std::string body;
    std::vector<const Case *> mine;
    for (const Case &one : cases)
      if (one.expected.target == target) {
        body += one.setUp + "\n" + one.instruction + "\ns_mov_{b} {exec}, -1\n";
        mine.push_back(&one);
      }
    if (mine.empty())
      return;
    ProfiledKernel kernel(target, body);
    uint64_t cycles = 0, conflicts = 0;
    size_t next = 0;
    for (const ProfiledInstruction &instruction : kernel.report->instructions()) {
      using enum InstructionKind;
      InstructionKind kind = instruction.traits.kind;
      if (kind != LdsLoad && kind != LdsStore && kind != LdsAtomic && kind != LdsPermute)
        continue;
      ASSERT_LT(next, mine.size());
      const Case &one = *mine[next++];
      SCOPED_TRACE(target + ": " + one.instruction + " after " + one.setUp);
      EXPECT_EQ(instruction.counts.ldsCycles, one.expected.cycles);
      EXPECT_EQ(instruction.counts.ldsConflictCycles, one.expected.conflicts);
      EXPECT_EQ(instruction.counts.lines, 0u);
      cycles += one.expected.cycles;
      conflicts += one.expected.conflicts;
    }
    EXPECT_EQ(next, mine.size());
    EXPECT_EQ(kernel.report->ldsCycles, cycles);
    EXPECT_EQ(kernel.report->ldsConflictCycles, conflicts);
  }

  std::vector<Case> cases;
};

TEST(DeviceCountersLds, WordsSideBySide) {
  Costs costs;
  // 32 lanes a cycle; 64 when gfx950 reads.
  costs.expect("v_mov_b32 v2, v1", "ds_read_b32 v4, v2",
               {{"gfx942", 2, 0}, {"gfx950", 1, 0}, {"gfx1150", 1, 0}});
  costs.expect("v_mov_b32 v2, v1", "ds_write_b32 v2, v0",
               {{"gfx942", 2, 0}, {"gfx950", 2, 0}, {"gfx1150", 1, 0}});
  costs.expect("v_lshlrev_b32 v2, 3, v0", "ds_read_b64 v[4:5], v2",
               {{"gfx942", 4, 0}, {"gfx950", 2, 0}, {"gfx1150", 2, 0}});
  costs.expect("v_lshlrev_b32 v2, 3, v0", "ds_write_b64 v2, v[4:5]",
               {{"gfx942", 4, 0}, {"gfx950", 4, 0}, {"gfx1150", 2, 0}});
  costs.expect("v_lshlrev_b32 v2, 4, v0", "ds_read_b128 v[4:7], v2",
               {{"gfx942", 8, 0}, {"gfx950", 4, 0}, {"gfx1150", 4, 0}});
  costs.expect("v_lshlrev_b32 v2, 4, v0", "ds_write_b128 v2, v[4:7]",
               {{"gfx942", 8, 0}, {"gfx950", 8, 0}, {"gfx1150", 4, 0}});
}

TEST(DeviceCountersLds, EverySecondWordUsesHalfOfTheBanks) {
  Costs costs;
  costs.expect("v_lshlrev_b32 v2, 3, v0", "ds_read_b32 v4, v2",
               {{"gfx942", 4, 2}, {"gfx950", 2, 1}, {"gfx1150", 2, 1}});
  costs.expect("v_lshlrev_b32 v2, 3, v0", "ds_write_b32 v2, v0",
               {{"gfx942", 4, 2}, {"gfx950", 4, 2}, {"gfx1150", 2, 1}});
}

TEST(DeviceCountersLds, AColumnOfRowsOf128Bytes) {
  Costs costs;
  // All in bank 0 of 32; in banks 0 and 32 of 64.
  costs.expect("v_lshlrev_b32 v2, 7, v0", "ds_read_b32 v4, v2",
               {{"gfx942", 64, 62}, {"gfx950", 32, 31}, {"gfx1150", 32, 31}});
  // One word of padding gives every lane of a phase a bank of its own.
  costs.expect("v_mul_u32_u24 v2, 0x84, v0", "ds_read_b32 v4, v2",
               {{"gfx942", 2, 0}, {"gfx950", 1, 0}, {"gfx1150", 1, 0}});
}

TEST(DeviceCountersLds, PhasesOf128BitsAreNotConsecutiveLanes) {
  Costs costs;
  // Rows of 64 bytes. Of 8 lanes of a phase, 4 have each half of the 32 banks; of gfx950's 16
  // lanes, 4 have each quarter of 64 banks.
  costs.expect("v_lshlrev_b32 v2, 6, v0", "ds_read_b128 v[4:7], v2",
               {{"gfx942", 32, 24}, {"gfx950", 16, 12}, {"gfx1150", 16, 12}});
  // 8 consecutive lanes of writes likewise.
  costs.expect("v_lshlrev_b32 v2, 6, v0", "ds_write_b128 v2, v[4:7]",
               {{"gfx942", 32, 24}, {"gfx950", 32, 24}, {"gfx1150", 16, 12}});
  // Lanes 4 to 7 of each 8 in one block of 128 bytes, 0 to 3 in the next one: no conflict if lanes
  // 0 to 3 meet 20 to 23, but one if they met lanes 4 to 7. Address: (lane & 3) * 16 +
  // (lane >> 2 & 1) * 128 + (lane >> 4 & 1) * 64, of 32 lanes: 0-3 and 20-23 differ in bit 6.
  costs.expect("v_and_b32 v2, 3, v0\nv_lshlrev_b32 v2, 4, v2\nv_and_b32 v3, 4, v0\n"
               "v_lshlrev_b32 v3, 5, v3\nv_or_b32 v2, v2, v3\nv_and_b32 v3, 16, v0\n"
               "v_lshlrev_b32 v3, 2, v3\nv_or_b32 v2, v2, v3\n",
               "ds_read_b128 v[4:7], v2", {{"gfx942", 8, 0}, {"gfx1150", 4, 0}});
  // By 8 consecutive lanes, as writes go: lanes 0 to 3 and 4 to 7 share banks.
  costs.expect("v_and_b32 v2, 3, v0\nv_lshlrev_b32 v2, 4, v2\nv_and_b32 v3, 4, v0\n"
               "v_lshlrev_b32 v3, 5, v3\nv_or_b32 v2, v2, v3\nv_and_b32 v3, 16, v0\n"
               "v_lshlrev_b32 v3, 2, v3\nv_or_b32 v2, v2, v3\n",
               "ds_write_b128 v2, v[4:7]",
               {{"gfx942", 16, 8}, {"gfx950", 16, 8}, {"gfx1150", 8, 4}});
}

TEST(DeviceCountersLds, OneWordForAllIsNoConflict) {
  Costs costs;
  costs.expect("v_mov_b32 v2, 64", "ds_read_b32 v4, v2",
               {{"gfx942", 2, 0}, {"gfx950", 1, 0}, {"gfx1150", 1, 0}});
  // Four bytes of a word.
  costs.expect("v_mov_b32 v2, v0", "ds_read_u8 v4, v2",
               {{"gfx942", 2, 0}, {"gfx950", 1, 0}, {"gfx1150", 1, 0}});
  costs.expect("v_mov_b32 v2, v0", "ds_write_b8 v2, v0",
               {{"gfx942", 2, 0}, {"gfx950", 2, 0}, {"gfx1150", 1, 0}});
}

TEST(DeviceCountersLds, AtomicsOnOneWordTakeTurns) {
  Costs costs;
  costs.expect("v_mov_b32 v2, 0", "ds_add_u32 v2, v0",
               {{"gfx942", 64, 62}, {"gfx950", 64, 62}, {"gfx1150", 32, 31}});
  costs.expect("v_mov_b32 v2, v1", "ds_add_rtn_u32 v4, v2, v0",
               {{"gfx942", 2, 0}, {"gfx950", 2, 0}, {"gfx1150", 1, 0}});
}

TEST(DeviceCountersLds, TwoAddressFormsAreTwoAccesses) {
  Costs costs;
  // The second one 32 words on: the same banks, another cycle.
  costs.expect("v_mov_b32 v2, v1", "ds_read2_b32 v[4:5], v2 offset1:32",
               {{"gfx942", 4, 0}, {"gfx950", 2, 0}, {"gfx1150", 2, 0}});
}

TEST(DeviceCountersLds, TransposingReadsAreAsPlainOnes) {
  Costs costs;
  costs.expect("v_lshlrev_b32 v2, 3, v0", "ds_read_b64_tr_b16 v[4:5], v2", {{"gfx950", 2, 0}});
  // Rows of 256 bytes: all in the first banks. 32 lanes a phase, two words each.
  costs.expect("v_lshlrev_b32 v2, 8, v0\nv_and_b32 v2, 0x3f00, v2", "ds_read_b64_tr_b16 v[4:5], v2",
               {{"gfx950", 64, 62}});
}

TEST(DeviceCountersLds, PhasesWithoutAnActiveLaneTakeNoTime) {
  Costs costs;
  costs.expect("v_mov_b32 v2, v1\ns_mov_{b} {exec}, 0x1000100", "ds_read_b32 v4, v2",
               {{"gfx942", 1, 0}, {"gfx950", 1, 0}, {"gfx1150", 1, 0}});
  costs.expect("v_lshlrev_b32 v2, 7, v0\ns_mov_{b} {exec}, 0x7f", "ds_read_b32 v4, v2",
               {{"gfx942", 7, 6}, {"gfx950", 4, 3}, {"gfx1150", 7, 6}});
}

TEST(DeviceCountersLds, PermutationsUseTheCrossbarOnly) {
  Costs costs;
  costs.expect("v_mov_b32 v2, v1", "ds_bpermute_b32 v4, v2, v0",
               {{"gfx942", 2, 0}, {"gfx950", 1, 0}, {"gfx1150", 1, 0}});
}

TEST(DeviceCountersLds, AnAccessAcrossItsOwnSizeIsUnaligned) {
  for (const char *target : targetNames) {
    ProfiledKernel kernel(
        target, "v_lshlrev_b32 v2, 3, v0\nv_add_u32 v2, 4, v2\n" +
                    std::string(isGfx9(target) ? "ds_read_b64" : "ds_load_b64") + " v[4:5], v2\n" +
                    (isGfx9(target) ? "ds_write_b64" : "ds_store_b64") + " v2, v[4:5] offset:4\n");
    EXPECT_EQ(kernel.of("_b64 v[4:5]").unalignedLanes, kernel.lanes());
    EXPECT_EQ(kernel.of("_b64 v2, v[4:5]").unalignedLanes, 0u);
    EXPECT_EQ(kernel.report->unalignedLanes, kernel.lanes());
    EXPECT_EQ(kernel.report->ldsBytesLoaded, 8 * kernel.lanes());
    EXPECT_EQ(kernel.report->ldsBytesStored, 8 * kernel.lanes());
  }
}

TEST(DeviceCountersLds, WavesOf64LanesOnRdnaHaveTwiceThePhases) {
  LdsCostModel narrow(LdsGeneration::Rdna3, 32), wide(LdsGeneration::Rdna3, 64);
  uint32_t offsets[64];
  for (uint32_t lane = 0; lane < 64; ++lane)
    offsets[lane] = 16 * lane;
  MemoryAccess access;
  access.space = AccessSpace::Lds;
  access.bytes = 16;
  access.offsets = offsets;
  access.active = 0xffffffff;
  EXPECT_EQ(narrow.of(access), (LdsCost{4, 4}));
  access.active = ~uint64_t(0);
  EXPECT_EQ(wide.of(access), (LdsCost{8, 8}));
}

} // namespace
} // namespace wavetile::device::test
