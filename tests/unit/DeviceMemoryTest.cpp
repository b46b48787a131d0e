//===- DeviceMemoryTest.cpp - Global, flat, scratch and scalar memory -----===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expected values are computed here from the pseudo-code of AMD's ISA documents.
//
//===----------------------------------------------------------------------===//

#include "DeviceTestSupport.h"

#include "runtime/emulator/Apertures.h"

#include <algorithm>
#include <random>

namespace wavetile::device::test {
namespace {

const char *const families[] = {"gfx950", "gfx1150", "gfx1201"};
std::string pick(const std::string &target, const char *gfx9, const char *gfx11) {
  return isGfx9(target) ? gfx9 : gfx11;
}

/// A wave with 4096 random bytes of memory, whose address is in s[2:3].
class GlobalTest : public WaveWithMemory {
public:
  GlobalTest(const std::string &target, const std::string &assembly)
      : WaveWithMemory(target, assembly, 11) {
    pointScalars(2);
  }
  template <typename T> void set(size_t offset, T value) {
    std::copy_n(reinterpret_cast<const uint8_t *>(&value), sizeof(T), bytes.data() + offset);
  }
  void setAddress(unsigned index, unsigned lane, uint64_t value) {
    vgpr(index, lane) = static_cast<uint32_t>(value);
    vgpr(index + 1, lane) = static_cast<uint32_t>(value >> 32);
  }
  /// The fault that the first instruction ends with.
  PendingFault faultOfFirst() {
    EXPECT_EQ(wave->pc->execute(*wave, wave->pc), nullptr);
    EXPECT_EQ(wave->status, WaveStatus::Faulted);
    return wave->fault;
  }
};

// --- Scratch ---

TEST(DeviceScratch, AddressModesAgreeWithTheFlatAperture) {
  for (const std::string target : families) {
    std::string store = pick(target, "scratch_store_dwordx3", "scratch_store_b96");
    std::string load = pick(target, "scratch_load_dwordx2", "scratch_load_b64");
    std::string word = pick(target, "scratch_load_dword", "scratch_load_b32");
    std::string flat = pick(target, "flat_load_dwordx4", "flat_load_b128");
    std::string flatStore = pick(target, "flat_store_short", "flat_store_b16");
    // By register, by scalar, by both, by neither.
    GlobalTest test(target, store + " v0, v[4:6], off offset:8\n" + word +
                                " v8, off, s4 offset:4\n" + load + " v[10:11], v0, s5\n" + word +
                                " v12, off, off offset:20\n" + flatStore + " v[2:3], v1\n" + flat +
                                " v[16:19], v[2:3]");
    test.sgpr(4) = 8, test.sgpr(5) = 12;
    uint64_t exec = 0xfffffff7fffffffd & test.wave->allLanes();
    test.wave->setLaneMask(scalar::Exec, exec);
    for (unsigned lane = 0; lane < test.size(); ++lane) {
      test.vgpr(0, lane) = lane % 2 ? 0 : 4; // Odd lanes' first dword is at 8, the others' at 12.
      test.vgpr(1, lane) = 0xabcd0000 + lane;
      test.setAddress(2, lane, privateAperture + 9); // Not aligned.
      for (unsigned i = 4; i < 7; ++i)
        test.vgpr(i, lane) = 0x01010101 * (16 * i + lane % 16);
    }
    test.run();
    for (unsigned lane = 0; lane < test.size(); ++lane) {
      if (!(exec >> lane & 1)) {
        EXPECT_EQ(test.vgpr(8, lane), 0u);
        continue;
      }
      std::vector<uint8_t> mine(64, 0);
      auto wordAt = [&](size_t offset) {
        uint32_t value;
        std::copy_n(mine.data() + offset, 4, reinterpret_cast<uint8_t *>(&value));
        return value;
      };
      for (unsigned i = 0; i < 12; ++i)
        mine[8 + (lane % 2 ? 0 : 4) + i] = static_cast<uint8_t>(16 * (4 + i / 4) + lane % 16);
      EXPECT_EQ(test.vgpr(8, lane), wordAt(12)) << target << lane;
      EXPECT_EQ(test.vgpr(10, lane), wordAt(lane % 2 ? 12 : 16));
      EXPECT_EQ(test.vgpr(11, lane), wordAt(lane % 2 ? 16 : 20));
      EXPECT_EQ(test.vgpr(12, lane), wordAt(20));
      mine[9] = static_cast<uint8_t>(lane), mine[10] = 0;
      for (unsigned i = 0; i < 4; ++i)
        EXPECT_EQ(test.vgpr(16 + i, lane), wordAt(9 + 4 * i));
      // Dwords of all lanes alternate.
      EXPECT_EQ(test.scratch[4 * test.size() + lane], wordAt(16));
    }
  }
}

TEST(DeviceScratch, NarrowFormsAndBounds) {
  for (const std::string target : families) {
    GlobalTest test(target,
                    pick(target, "scratch_store_byte_d16_hi", "scratch_store_d16_hi_b8") +
                        " off, v1, off offset:3\n" +
                        pick(target, "scratch_load_sbyte", "scratch_load_i8") +
                        " v2, off, off offset:3\n" +
                        pick(target, "scratch_load_short_d16_hi", "scratch_load_d16_hi_b16") +
                        " v3, off, off offset:3");
    test.wave->setLaneMask(scalar::Exec, 2);
    test.vgpr(1, 1) = 0x00f10000, test.vgpr(3, 1) = 0x1234;
    *test.wave->scratchWord(1, 1) = 0x77;
    test.run();
    EXPECT_EQ(test.vgpr(2, 1), 0xfffffff1u);
    EXPECT_EQ(test.vgpr(3, 1), 0x77f11234u);
    EXPECT_EQ(*test.wave->scratchWord(0, 0), 0u);
    GlobalTest over(target,
                    pick(target, "scratch_load_dwordx4", "scratch_load_b128") + " v[4:7], v0, off");
    over.vgpr(0, 7) = 1024 - 12;
    PendingFault fault = over.faultOfFirst();
    EXPECT_EQ(fault.kind, FaultKind::ScratchOutOfBounds);
    EXPECT_EQ(fault.lane, 7);
    EXPECT_EQ(fault.address, 1024u - 12);
  }
}

TEST(DeviceScratch, FlatAtomicsReachIt) {
  GlobalTest test("gfx950", "flat_atomic_add v4, v[2:3], v1 sc0");
  for (unsigned lane = 0; lane < 64; ++lane) {
    test.setAddress(2, lane, privateAperture + 16);
    test.vgpr(1, lane) = lane;
    *test.wave->scratchWord(lane, 4) = 100;
  }
  test.run();
  for (unsigned lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(test.vgpr(4, lane), 100u);
    EXPECT_EQ(*test.wave->scratchWord(lane, 4), 100 + lane);
  }
  GlobalTest wide("gfx950", "flat_atomic_add_x2 v[2:3], v[4:5]");
  for (unsigned lane = 0; lane < 64; ++lane)
    wide.setAddress(2, lane, privateAperture);
  EXPECT_EQ(wide.faultOfFirst().kind, FaultKind::Refused);
}

TEST(DeviceScratch, LoadsToLds) {
  GlobalTest test("gfx942", "s_mov_b32 m0, 64\nscratch_load_lds_sshort v0, off");
  for (unsigned lane = 0; lane < 64; ++lane) {
    test.vgpr(0, lane) = 2;
    *test.wave->scratchWord(lane, 0) = 0xff000000 + (lane << 16);
  }
  test.run();
  for (unsigned lane = 0; lane < 64; ++lane) {
    uint32_t got;
    std::copy_n(test.lds.data() + 64 + 4 * lane, 4, reinterpret_cast<uint8_t *>(&got));
    EXPECT_EQ(got, 0xffffff00u + lane);
  }
}

TEST(DeviceMemory, BlocksOfRegistersGoByM0) {
  GlobalTest test("gfx1201", "s_mov_b32 m0, 0x80000005\nglobal_load_block v[2:33], v[40:41], off\n"
                             "scratch_store_block off, v[2:33], off offset:8");
  for (unsigned lane = 0; lane < 32; ++lane) {
    test.setAddress(40, lane, test.address() + 4 * lane);
    test.vgpr(3, lane) = 77;
  }
  test.run();
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i : {0u, 2u, 31u}) {
      EXPECT_EQ(test.vgpr(2 + i, lane), test.at<uint32_t>(4 * lane + 4 * i));
      EXPECT_EQ(*test.wave->scratchWord(lane, 2 + i), test.at<uint32_t>(4 * lane + 4 * i));
    }
    EXPECT_EQ(test.vgpr(3, lane), 77u);
    EXPECT_EQ(*test.wave->scratchWord(lane, 3), 0u);
  }
}

// --- Global ---

TEST(DeviceMemory, AddressesByLaneNumber) {
  for (const std::string target : {"gfx1150", "gfx1201"}) {
    GlobalTest test(target, "global_load_addtid_b32 v1, s[2:3] offset:8\n"
                            "global_store_addtid_b32 v2, s[2:3] offset:1024");
    test.wave->setLaneMask(scalar::Exec, 0xfffffffd);
    for (unsigned lane = 0; lane < 32; ++lane)
      test.vgpr(1, lane) = 7, test.vgpr(2, lane) = 300 + lane;
    uint32_t before = test.at<uint32_t>(1028);
    test.run();
    for (unsigned lane = 0; lane < 32; ++lane) {
      EXPECT_EQ(test.vgpr(1, lane), lane == 1 ? 7 : test.at<uint32_t>(8 + 4 * lane));
      EXPECT_EQ(test.at<uint32_t>(1024 + 4 * lane), lane == 1 ? before : 300 + lane);
    }
  }
}

TEST(DeviceMemory, TransposingLoadsGiveColumns) {
  // A matrix of 16 rows, which are K, of 16 columns; a lane gets column lane % 16 and the rows
  // 8 * (lane / 16) to + 7. What a lane loads is said in TransposedLoads.h.
  GlobalTest test("gfx1201", "global_load_tr_b128 v[4:7], v0, s[2:3]\n"
                             "global_load_tr_b64 v[8:9], v1, s[2:3]");
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned row16 = lane / 16 * 8 + lane % 8, half16 = lane / 8 % 2;
    test.vgpr(0, lane) = 32 * row16 + 16 * half16;
    unsigned row8 = lane / 8 * 4 + lane % 4, half8 = lane / 4 % 2;
    test.vgpr(1, lane) = 16 * row8 + 8 * half8;
  }
  test.run();
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 8; ++i) {
      unsigned row = 8 * (lane / 16) + i, column = lane % 16;
      EXPECT_EQ(test.vgpr(4 + i / 2, lane) >> (16 * (i % 2)) & 0xffff,
                test.at<uint16_t>(32 * row + 2 * column));
      EXPECT_EQ(test.vgpr(8 + i / 4, lane) >> (8 * (i % 4)) & 0xff, test.bytes[16 * row + column]);
    }
  GlobalTest partial("gfx1201", "global_load_tr_b64 v[8:9], v1, s[2:3]");
  partial.wave->setLaneMask(scalar::Exec, 3);
  EXPECT_EQ(partial.faultOfFirst().kind, FaultKind::Refused);
}

TEST(DeviceMemory, AtomicsOfSixtyFourBitsAndClampedSubtraction) {
  for (const std::string target : families) {
    std::string returning = isGfx9(target)        ? " sc0"
                            : target == "gfx1201" ? " th:TH_ATOMIC_RETURN"
                                                  : " glc";
    std::string text = "global_atomic_" + pick(target, "dec_x2", "dec_u64") +
                       " v[6:7], v0, v[4:5], s[2:3]" + returning + "\nglobal_atomic_" +
                       pick(target, "inc_x2", "inc_u64") + " v0, v[4:5], s[2:3] offset:8\n";
    if (!isGfx9(target))
      text += std::string("global_atomic_") + (target == "gfx1201" ? "sub_clamp_u32" : "csub_u32") +
              " v9, v0, v8, s[2:3] offset:16" + returning;
    GlobalTest test(target, text);
    test.wave->setLaneMask(scalar::Exec, 3); // Both lanes at the same words.
    test.set<uint64_t>(0, 0), test.set<uint64_t>(8, 0xffffffff), test.set<uint32_t>(16, 5);
    for (unsigned lane = 0; lane < 2; ++lane) {
      test.vgpr(4, lane) = 0, test.vgpr(5, lane) = 1;
      test.vgpr(8, lane) = 3;
    }
    test.run();
    EXPECT_EQ(test.vgpr(7, 0), 0u);
    EXPECT_EQ(test.vgpr(7, 1), 1u); // 0 wrapped around to 2^32.
    EXPECT_EQ(test.at<uint64_t>(0), 0xffffffffu);
    EXPECT_EQ(test.at<uint64_t>(8), 0u); // 2^32 - 1, 2^32, 0.
    if (!isGfx9(target)) {
      EXPECT_EQ(test.vgpr(9, 1), 2u);
      EXPECT_EQ(test.at<uint32_t>(16), 0u);
    }
  }
}

TEST(DeviceMemory, MisalignedIsAFaultForAtomicsAndScalarLoadsOnly) {
  for (const std::string target : families) {
    GlobalTest atomic(target,
                      "global_atomic_" + pick(target, "add_x2", "add_u64") + " v0, v[4:5], s[2:3]");
    atomic.vgpr(0, 5) = 4;
    PendingFault fault = atomic.faultOfFirst();
    EXPECT_EQ(fault.kind, FaultKind::Misaligned);
    EXPECT_EQ(fault.lane, 5);
    GlobalTest scalar(target, pick(target, "s_load_dword", "s_load_b32") + " s8, s[2:3], 0x2");
    EXPECT_EQ(scalar.faultOfFirst().kind, FaultKind::Misaligned);
    GlobalTest load(target, pick(target, "global_load_dwordx3", "global_load_b96") +
                                " v[4:6], v0, s[2:3] offset:1");
    load.run();
    EXPECT_EQ(load.vgpr(6, 0), load.at<uint32_t>(9));
  }
  GlobalTest toLds("gfx950", "global_load_lds_dword v0, s[2:3]");
  toLds.vgpr(0, 9) = 6;
  EXPECT_EQ(toLds.faultOfFirst().kind, FaultKind::Misaligned);
}

TEST(DeviceMemory, PermutesThatFetchFromLanesThatAreOff) {
  GlobalTest test("gfx1201", "ds_bpermute_fi_b32 v1, v2, v3\nds_bpermute_b32 v4, v2, v3");
  test.wave->setLaneMask(scalar::Exec, 1);
  test.vgpr(2, 0) = 4 * 9, test.vgpr(3, 9) = 123;
  test.run();
  EXPECT_EQ(test.vgpr(1, 0), 123u);
  EXPECT_EQ(test.vgpr(4, 0), 0u);
}

// --- Scalar ---

TEST(DeviceMemory, ScalarLoadsThroughAResourceClampToItsSize) {
  for (const std::string target : families) {
    std::string name = pick(target, "s_buffer_load_dwordx4", "s_buffer_load_b128");
    GlobalTest test(target, name + " s[12:15], s[4:7], 0x8\n" + name + " s[16:19], s[4:7], s8");
    test.sgpr(4) = test.sgpr(2);
    test.sgpr(5) = test.sgpr(3) | 4 << 16; // Five records of 4 bytes.
    test.sgpr(6) = 5, test.sgpr(7) = 0;
    test.sgpr(8) = 0xfffffffc;
    test.run();
    for (unsigned i = 0; i < 4; ++i) {
      EXPECT_EQ(test.sgpr(12 + i), i < 3 ? test.at<uint32_t>(8 + 4 * i) : 0u);
      EXPECT_EQ(test.sgpr(16 + i), 0u);
    }
  }
  GlobalTest narrow("gfx1201", "s_buffer_load_i8 s12, s[4:7], 0x3\n"
                               "s_buffer_load_u16 s13, s[4:7], 0x4\ns_load_i16 s14, s[2:3], 0x6");
  narrow.sgpr(4) = narrow.sgpr(2), narrow.sgpr(5) = narrow.sgpr(3);
  narrow.sgpr(6) = 5, narrow.sgpr(7) = 0;
  narrow.run();
  EXPECT_EQ(narrow.sgpr(12), static_cast<uint32_t>(narrow.at<int8_t>(3)));
  EXPECT_EQ(narrow.sgpr(13), 0u); // Half of it is out of range.
  EXPECT_EQ(narrow.sgpr(14), static_cast<uint32_t>(narrow.at<int16_t>(6)));
}

} // namespace
} // namespace wavetile::device::test
