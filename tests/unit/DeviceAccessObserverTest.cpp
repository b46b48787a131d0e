//===- DeviceAccessObserverTest.cpp - What memory instructions report -----===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceTestSupport.h"

#include "runtime/emulator/AccessObserver.h"

#include <numeric>

namespace wavetile::device::test {
namespace {

/// A report with copies of what it points to.
struct Seen : MemoryAccess {
  std::vector<uint64_t> at;
  std::vector<uint8_t> kept;
  uint32_t oldMemory = 0; ///< The first active lane's dword when the report was made.
};

/// A wave whose reports are kept; s[2:3] is the address of `words`, s[4:7] a resource for them.
class ObservedWave : public WaveUnderTest {
public:
  ObservedWave(const std::string &target, const std::string &assembly, uint32_t records = 4096)
      : WaveUnderTest(target, assembly), words(1024) {
    std::iota(words.begin(), words.end(), 1000u);
    uint64_t address = reinterpret_cast<uint64_t>(words.data());
    Allocation allocation;
    allocation.begin = address;
    allocation.end = address + 4 * words.size();
    allocation.source = BoundsSource::Device;
    memory.add(allocation, "words");
    sgpr(2) = sgpr(4) = static_cast<uint32_t>(address);
    sgpr(3) = sgpr(5) = static_cast<uint32_t>(address >> 32);
    sgpr(6) = records;
    sgpr(7) = size() == 64 ? 0x27000 : 0x31027000;
    observers.add({keep, this});
    wave->observers = &observers;
  }
  uint64_t address(unsigned word) const { return reinterpret_cast<uint64_t>(&words[word]); }

  std::vector<uint32_t> words;
  std::vector<Seen> seen;
  bool answer = true;

private:
  static bool keep(void *self, Wave &wave, const MemoryAccess &access) {
    auto &test = *static_cast<ObservedWave *>(self);
    Seen seen{access, {}, {}};
    unsigned lanes = access.space == AccessSpace::Constant ? 1 : wave.waveSize;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      seen.at.push_back(access.addresses
                            ? access.addresses[lane]
                            : (access.offsets ? access.offsets[lane] : 0) + access.offset);
      seen.kept.push_back(access.lengths ? access.lengths[lane] : 0);
    }
    if (access.addresses && access.active)
      seen.oldMemory = *reinterpret_cast<const uint32_t *>(
          seen.at[static_cast<unsigned>(__builtin_ctzll(access.active))]);
    test.seen.push_back(std::move(seen));
    if (!test.answer)
      fail(wave, access.record, FaultKind::Refused, 3, 0, 0, false);
    return test.answer;
  }
  AccessObservers observers;
};

bool isGfx11(const std::string &target) { return findTarget(target)->encoding == Encoding::Gfx11; }
std::string name(const std::string &target, const char *gfx9, const char *gfx11) {
  return isGfx11(target) ? gfx11 : gfx9;
}

TEST(DeviceAccessObserver, GlobalStoresAreReportedBeforeTheyAreMade) {
  for (const char *target : targetNames) {
    ObservedWave test(target, name(target, "global_store_dwordx2", "global_store_b64") +
                                  " v1, v[4:5], s[2:3] offset:8");
    for (unsigned lane = 0; lane < test.size(); ++lane)
      test.vgpr(1, lane) = 8 * lane;
    test.wave->setLaneMask(scalar::Exec, 0xfffffff6);
    test.run();
    ASSERT_EQ(test.seen.size(), 1u);
    const Seen &seen = test.seen[0];
    EXPECT_EQ(seen.kind, AccessKind::Store);
    EXPECT_EQ(seen.space, AccessSpace::Global);
    EXPECT_EQ(seen.scope, AccessScope::Wave);
    EXPECT_EQ(seen.bytes, 8u);
    EXPECT_EQ(seen.active, 0xfffffff6u);
    EXPECT_EQ(seen.data, Operand(OperandKind::Vector, 4));
    EXPECT_EQ(seen.registers, 2);
    EXPECT_FALSE(seen.contiguous);
    ASSERT_TRUE(seen.allocation);
    EXPECT_EQ(seen.oldMemory, 1004u); // Lane 1's.
    EXPECT_EQ(test.words[4], 0u);
    for (unsigned lane : {1u, 2u, 31u})
      EXPECT_EQ(seen.at[lane], test.address(2 + 2 * lane));
  }
}
TEST(DeviceAccessObserver, ARefusedAccessIsNotMade) {
  ObservedWave test("gfx950", "global_store_dword v1, v4, s[2:3]");
  test.answer = false;
  EXPECT_EQ(test.wave->pc->execute(*test.wave, test.wave->pc), nullptr);
  EXPECT_EQ(test.wave->status, WaveStatus::Faulted);
  EXPECT_EQ(test.wave->fault.lane, 3);
  EXPECT_EQ(test.words[0], 1000u);
}
TEST(DeviceAccessObserver, ScopesComeFromTheCacheBits) {
  auto scopes = [](const char *target, const char *assembly) {
    ObservedWave test(target, assembly);
    test.run();
    std::vector<AccessScope> result;
    for (const Seen &seen : test.seen)
      result.push_back(seen.scope);
    return result;
  };
  using enum AccessScope;
  EXPECT_EQ(scopes("gfx942", "global_load_dword v9, v0, s[2:3]\n"
                             "global_load_dword v9, v0, s[2:3] sc0\n"
                             "global_store_dword v0, v9, s[2:3] sc1\n"
                             "buffer_load_dword v9, v0, s[4:7], 0 offen sc0 sc1\n"
                             "buffer_load_dword v9, v0, s[4:7], 0 offen nt\n"
                             "global_atomic_add v9, v0, v1, s[2:3] sc0\n"
                             "global_atomic_add v0, v1, s[2:3] sc1\n"),
            (std::vector{Wave, Workgroup, Device, System, Wave, Device, System}));
  EXPECT_EQ(scopes("gfx1150", "global_load_b32 v9, v0, s[2:3]\n"
                              "global_load_b32 v9, v0, s[2:3] glc\n"
                              "buffer_load_b32 v9, v0, s[4:7], 0 offen dlc\n"
                              "buffer_load_b32 v9, v0, s[4:7], 0 offen slc\n"
                              "global_store_b32 v0, v9, s[2:3] glc\n"
                              "global_atomic_add_u32 v0, v1, s[2:3]\n"
                              "s_load_b32 s8, s[2:3], 0 glc\n"),
            (std::vector{Wave, Device, Device, Wave, Wave, Device, Device}));
}
TEST(DeviceAccessObserver, BuffersReportWhatTheirRangeCuts) {
  ObservedWave test("gfx950", "buffer_load_dwordx4 v[4:7], v0, s[4:7], 0 offen", 4 * 10);
  for (unsigned lane = 0; lane < 64; ++lane)
    test.vgpr(0, lane) = 4 * lane;
  test.run();
  ASSERT_EQ(test.seen.size(), 1u);
  EXPECT_EQ(test.seen[0].active, 0x7fu); // Ends at or before dword 10.
  EXPECT_EQ(test.seen[0].partial, 0x380u);
  EXPECT_EQ(test.seen[0].zeroed, ~uint64_t(0x3ff));
  EXPECT_EQ(test.seen[0].kept[7], 12);
  EXPECT_EQ(test.seen[0].kept[9], 4);
}
TEST(DeviceAccessObserver, BytesOverTheEndAreSaidToBe) {
  ObservedWave test("gfx950", "global_load_dwordx4 v[4:7], v0, s[2:3]\ns_load_dwordx4 s[8:11], "
                              "s[2:3], s12 offset:0");
  // A 16-byte block that straddles the end, wherever the words begin.
  uint32_t past = static_cast<uint32_t>(test.address(0) + 4 * test.words.size()) % 16;
  if (past == 0) { // The end is aligned: shorten the allocation.
    test.memory.forget(test.address(0));
    Allocation shorter;
    shorter.begin = test.address(0);
    shorter.end = shorter.begin + 4 * test.words.size() - 12;
    shorter.source = BoundsSource::Device;
    test.memory.add(shorter, "shorter");
    past = 4;
  }
  uint32_t end = static_cast<uint32_t>(4 * test.words.size()) - (past == 4 ? 12 : 0);
  test.sgpr(12) = end - past;
  test.vgpr(0, 5) = end - past;
  test.run();
  ASSERT_EQ(test.seen.size(), 2u);
  EXPECT_EQ(test.seen[0].active, ~uint64_t(0));
  EXPECT_EQ(test.seen[0].overEnd, 1u << 5);
  EXPECT_EQ(test.seen[0].kept[5], past);
  EXPECT_EQ(test.seen[1].space, AccessSpace::Constant);
  EXPECT_EQ(test.seen[1].overEnd, 1u);
  EXPECT_EQ(test.seen[1].kept[0], past);
  EXPECT_EQ(test.seen[1].data, Operand(OperandKind::Scalar, 8));
}
TEST(DeviceAccessObserver, LoadsToLdsReportBothSides) {
  ObservedWave test("gfx950", "s_mov_b32 m0, 0x100\n"
                              "buffer_load_dwordx4 v0, s[4:7], 0 offen offset:32 lds\n");
  for (unsigned lane = 0; lane < 64; ++lane)
    test.vgpr(0, lane) = lane == 2 ? 0x80000000u : 16 * lane;
  test.run();
  ASSERT_EQ(test.seen.size(), 1u);
  EXPECT_EQ(test.seen[0].kind, AccessKind::LoadToLds);
  EXPECT_EQ(test.seen[0].at[5], test.address(8 + 20));
  EXPECT_EQ(test.seen[0].zeroed, 4u);
  EXPECT_EQ(test.seen[0].ldsOffset, 0x120u);
  EXPECT_EQ(test.seen[0].ldsStep, 16u);
  EXPECT_EQ(test.seen[0].data.kind(), OperandKind::None);
}
TEST(DeviceAccessObserver, LdsReportsNameTheirRegisters) {
  for (const char *target : targetNames) {
    ObservedWave test(target, name(target, "ds_write2_b32", "ds_store_2addr_b32") +
                                  " v0, v1, v2 offset0:3 offset1:1\n" +
                                  name(target, "ds_read2_b64", "ds_load_2addr_b64") +
                                  " v[8:11], v0 offset0:5 offset1:0\n" +
                                  name(target, "ds_cmpst_rtn_b32 v9, v0, v1, v2",
                                       "ds_cmpstore_rtn_b32 v9, v0, v2, v1"));
    test.vgpr(0, 1) = 64;
    test.run();
    ASSERT_EQ(test.seen.size(), 5u);
    EXPECT_EQ(test.seen[0].at[1], 64u + 12);
    EXPECT_EQ(test.seen[0].data, Operand(OperandKind::Vector, 1));
    EXPECT_EQ(test.seen[1].at[1], 64u + 4);
    EXPECT_EQ(test.seen[1].data, Operand(OperandKind::Vector, 2));
    EXPECT_EQ(test.seen[2].at[0], 40u);
    EXPECT_EQ(test.seen[2].data, Operand(OperandKind::Vector, 8));
    EXPECT_EQ(test.seen[3].data, Operand(OperandKind::Vector, 10));
    EXPECT_EQ(test.seen[4].kind, AccessKind::AtomicReturning);
    EXPECT_EQ(test.seen[4].data, Operand(OperandKind::Vector, 2));
    EXPECT_EQ(test.seen[4].comparison, Operand(OperandKind::Vector, 1));
    EXPECT_EQ(test.seen[4].result, Operand(OperandKind::Vector, 9));
    for (const Seen &seen : test.seen)
      EXPECT_EQ(seen.space, AccessSpace::Lds);
  }
}
TEST(DeviceAccessObserver, FlatLanesAreReportedBySpace) {
  ObservedWave test("gfx950", "flat_load_ushort v4, v[2:3]");
  for (unsigned lane = 0; lane < 64; ++lane) {
    uint64_t address = lane % 2 ? test.address(lane) : (uint64_t(0x00010000) << 32) + 8 * lane;
    test.vgpr(2, lane) = static_cast<uint32_t>(address);
    test.vgpr(3, lane) = static_cast<uint32_t>(address >> 32);
  }
  test.run();
  ASSERT_EQ(test.seen.size(), 2u);
  EXPECT_EQ(test.seen[0].space, AccessSpace::Global);
  EXPECT_EQ(test.seen[0].active, 0xaaaaaaaaaaaaaaaau);
  EXPECT_EQ(test.seen[0].placement, DataPlacement::ZeroExtend);
  EXPECT_EQ(test.seen[1].space, AccessSpace::Lds);
  EXPECT_EQ(test.seen[1].active, 0x5555555555555555u);
  EXPECT_EQ(test.seen[1].at[4], 32u);
}

} // namespace
} // namespace wavetile::device::test
