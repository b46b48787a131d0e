//===- DeviceHipMemoryMapTest.cpp - Bounds of memory ----------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/MemoryMap.h"

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

using namespace wavetile::device;

static Allocation deviceRange(uint64_t begin, uint64_t end, uint32_t guard = 0) {
  Allocation allocation;
  allocation.begin = begin;
  allocation.end = end;
  allocation.source = BoundsSource::Device;
  allocation.guard = guard;
  return allocation;
}

TEST(MemoryMap, FindsKnownAllocationsToTheByte) {
  MemoryMap map;
  map.add(deviceRange(0x1000, 0x1803), "a");
  map.add(deviceRange(0x2000, 0x2001), "b");
  EXPECT_FALSE(map.find(0xfff));
  ASSERT_TRUE(map.find(0x1000));
  ASSERT_TRUE(map.find(0x1802));
  EXPECT_EQ(map.find(0x1802)->begin, 0x1000u);
  EXPECT_EQ(map.find(0x1802)->end, 0x1803u);
  EXPECT_EQ(map.name(map.find(0x1802)->identifier), "a");
  EXPECT_FALSE(map.find(0x1803));
  EXPECT_EQ(map.name(map.find(0x2000)->identifier), "b");
  map.forget(0x1000);
  EXPECT_FALSE(map.find(0x1000));
}

TEST(MemoryMap, FreedMemoryIsKnownButNotFound) {
  MemoryMap map;
  map.add(deviceRange(0x1000, 0x1800), "a");
  map.markFreed(0x1000);
  EXPECT_FALSE(map.find(0x1400));
  ASSERT_TRUE(map.nearest(0x1400));
  EXPECT_TRUE(map.nearest(0x1400)->freed);
}

TEST(MemoryMap, NearestNamesTheOneBelowOrAbove) {
  MemoryMap map;
  EXPECT_FALSE(map.nearest(0x1000));
  map.add(deviceRange(0x1000, 0x1800), "below");
  map.add(deviceRange(0x2000, 0x2800), "above");
  EXPECT_EQ(map.name(map.nearest(0x1810)->identifier), "below");
  EXPECT_EQ(map.name(map.nearest(0x1ff0)->identifier), "above");
  map.announce(0x1f00, 0x10, "announced");
  EXPECT_EQ(map.name(map.nearest(0x1f20)->identifier), "announced");
}

TEST(MemoryMap, AnnouncedRangesUniteWhereTheyOverlap) {
  MemoryMap map;
  map.announce(0x1000, 0x100, "x");
  map.announce(0x1080, 0x100, "y");
  map.announce(0x1180, 0x10, "touches y");
  ASSERT_TRUE(map.find(0x1000));
  EXPECT_EQ(map.find(0x1000)->begin, 0x1000u);
  EXPECT_EQ(map.find(0x1000)->end, 0x1180u);
  EXPECT_EQ(map.name(map.find(0x1000)->identifier), "x");
  EXPECT_EQ(map.name(map.find(0x1170)->identifier), "y");
  // A neighbour is another tensor.
  EXPECT_EQ(map.find(0x1180)->begin, 0x1180u);
  EXPECT_FALSE(map.find(0x1190));
  EXPECT_TRUE(map.retract(0x1080));
  EXPECT_EQ(map.find(0x1000)->end, 0x1100u);
  EXPECT_FALSE(map.find(0x1170));
}

TEST(MemoryMap, EachAnnouncementWantsItsOwnRetraction) {
  MemoryMap map;
  map.announce(0x1000, 0x100, "x");
  map.announce(0x1000, 0x100, "x");
  EXPECT_TRUE(map.retract(0x1000));
  EXPECT_TRUE(map.find(0x1000));
  EXPECT_TRUE(map.retract(0x1000));
  EXPECT_FALSE(map.find(0x1000));
  EXPECT_FALSE(map.retract(0x1000));
}

TEST(MemoryMap, AThreadRetractsItsOwnAnnouncement) {
  MemoryMap map;
  map.announce(0x1000, 0x80, "short");
  std::thread([&] { map.announce(0x1000, 0x100, "long"); }).join();
  EXPECT_TRUE(map.retract(0x1000));
  EXPECT_EQ(map.find(0x1000)->end, 0x1100u);
}

TEST(MemoryMap, KnownBeatsAnnounced) {
  MemoryMap map;
  map.add(deviceRange(0x1000, 0x1800), "own");
  map.announce(0x1400, 0x10, "view");
  EXPECT_EQ(map.find(0x1408)->end, 0x1800u);
}

TEST(MemoryMap, MappingsCountOnlyWhileNothingIsAnnounced) {
  MemoryMap map;
  std::vector<char> buffer(64);
  uint64_t address = reinterpret_cast<uint64_t>(buffer.data());
  ASSERT_TRUE(map.find(address));
  EXPECT_EQ(map.find(address)->source, BoundsSource::Mapping);
  map.announce(0x1000, 0x10, "x");
  EXPECT_FALSE(map.find(address));
  map.retract(0x1000);
  EXPECT_TRUE(map.find(address));
  map.refuseUnknown(true);
  EXPECT_FALSE(map.find(address));
}

TEST(MemoryMap, AMappingDoesNotAnswerForKnownMemoryOrItsGuard) {
  MemoryMap map;
  std::vector<char> buffer(4096);
  uint64_t begin = reinterpret_cast<uint64_t>(buffer.data());
  map.add(deviceRange(begin + 1024, begin + 2048, 8), "a");
  EXPECT_EQ(map.find(begin)->end, begin + 1016);
  EXPECT_FALSE(map.find(begin + 1016));
  EXPECT_EQ(map.find(begin + 1024)->source, BoundsSource::Device);
  EXPECT_FALSE(map.find(begin + 2048));
  EXPECT_FALSE(map.find(begin + 2055));
  EXPECT_EQ(map.find(begin + 2056)->begin, begin + 2056);
}

TEST(MemoryMap, MappingsFollowTheProcess) {
  constexpr size_t bytes = 4 * 4096;
  MemoryMap map;
  void *memory = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  uint64_t begin = reinterpret_cast<uint64_t>(memory);
  ASSERT_TRUE(map.find(begin));
  EXPECT_FALSE(map.find(begin)->writable);
  EXPECT_TRUE(map.isMapped(begin, bytes));
  ASSERT_EQ(mprotect(static_cast<char *>(memory) + 4096, 4096, PROT_NONE), 0);
  EXPECT_FALSE(map.isMapped(begin, bytes));
  EXPECT_TRUE(map.isMapped(begin, 4096));
  map.expireMappings();
  EXPECT_FALSE(map.find(begin + 4096));
  munmap(memory, bytes);
  map.expireMappings();
  EXPECT_FALSE(map.find(begin));
  EXPECT_FALSE(map.isMapped(UINT64_MAX - 10, 100));
}

TEST(MemoryMap, AnAccessAnywhereInAKnownMappingIsInside) {
  MemoryMap map;
  constexpr size_t bytes = 512 * 1024;
  void *memory = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto begin = reinterpret_cast<uint64_t>(memory);
  ASSERT_TRUE(map.find(begin));
  // What is known by now is looked at again in parts; no access may fall between two of them.
  for (uint64_t address = begin + 4; address + 16 <= begin + bytes; address += 4096 - 8) {
    map.expireMappings();
    std::optional<Allocation> found = map.find(address);
    ASSERT_TRUE(found);
    EXPECT_TRUE(found->contains(address, 16)) << address - begin;
  }
  for (uint64_t page = begin + 4096; page < begin + bytes; page += 4096) {
    map.expireMappings();
    std::optional<Allocation> found = map.find(page - 8);
    ASSERT_TRUE(found);
    EXPECT_TRUE(found->contains(page - 8, 16)) << page - begin;
  }
  munmap(memory, bytes);
}

TEST(MemoryMap, EveryChangeChangesTheGeneration) {
  MemoryMap map;
  uint64_t last = map.generation();
  auto changed = [&] {
    uint64_t before = std::exchange(last, map.generation());
    return before != last;
  };
  map.add(deviceRange(0x1000, 0x1800), "a");
  EXPECT_TRUE(changed());
  map.announce(0x4000, 16, "x");
  EXPECT_TRUE(changed());
  map.markFreed(0x1000);
  EXPECT_TRUE(changed());
  map.retract(0x4000);
  EXPECT_TRUE(changed());
  map.forget(0x1000);
  EXPECT_TRUE(changed());
  map.find(0x1000);
  EXPECT_FALSE(changed());
}

TEST(Allocation, LoadsMayRunOverTheEndInTheirOwnAlignedBlock) {
  struct Case {
    uint64_t end, address, bytes;
    bool allowed;
  };
  const Case cases[] = {
      {0x1002, 0x1000, 4, true},   // a u16 loaded as a dword
      {0x1002, 0x1000, 8, true},   //
      {0x1002, 0x1000, 16, true},  //
      {0x1002, 0x1001, 2, false},  // no widened load
      {0x1002, 0x1002, 2, false},  // starts outside
      {0x1006, 0x1004, 4, true},   //
      {0x1006, 0x1002, 4, true},   // inside
      {0x1006, 0x1004, 8, false},  // not within one block of 8
      {0x1006, 0x1004, 16, false}, // not within one block of 16
      {0x100c, 0x1000, 16, true},  // <3 x i32> of align 16
      {0x100c, 0x1004, 12, true},  //
      {0x100c, 0x1008, 12, false}, // runs into the next block of 16
      {0x1010, 0x1000, 16, true},  // exactly
      {0x101c, 0x1000, 32, true},  // x8 of seven dwords
      {0x1010, 0x1000, 32, false}, // x8 of four
      {0x1100, 0xffc, 8, false},   // starts before
  };
  for (const Case &c : cases)
    EXPECT_EQ(deviceRange(0x1000, c.end).allowsLoad(c.address, c.bytes), c.allowed)
        << std::hex << "[0x1000, " << c.end << "), " << c.bytes << " bytes at " << c.address;
}
