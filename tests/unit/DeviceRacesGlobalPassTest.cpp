//===- DeviceRacesGlobalPassTest.cpp - The quick pass of global races ------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a pass over cells (GlobalRaceCell.h) marks and leaves, in each build for a host instruction
// set, against its promise taken one dword at a time.
//
//===----------------------------------------------------------------------===//

#include "DeviceTestSupport.h"

#include "runtime/emulator/checks/GlobalRaceCell.h"

#include <array>
#include <cstring>
#include <random>

namespace wavetile::device::test {
namespace {

using checks::GlobalRaceCell;
using checks::GlobalRaceCells;
using checks::GlobalRaceLine;
using checks::GlobalRacePage;
using checks::GlobalRacePass;
using checks::GlobalRacePasses;
using checks::KnownRacePage;

constexpr unsigned pageCount = 2;
constexpr uint64_t memoryBytes = pageCount * checks::racePageBytes;
constexpr GlobalRaceCell before = {5, 7, 3}, after = {9, 7, 4}, other = {5, 8, 3};

/// Two pages of memory, their cells, some lines being apart and some not, and what lanes store
/// there.
struct Scene {
  alignas(checks::racePageBytes) std::array<uint8_t, memoryBytes> memory;
  std::array<GlobalRaceCell, memoryBytes / 4> truth; ///< Of each dword, which `mark` changes.
  std::array<GlobalRacePage, pageCount> known;
  std::array<KnownRacePage, checks::racePageSlots> pages;
  alignas(64) std::array<uint8_t, 16 * maximumWaveSize> stored;
  std::array<uint64_t, maximumWaveSize> addresses;
  GlobalRacePass pass;

  explicit Scene(unsigned seed) {
    std::mt19937 random(seed);
    unsigned others = seed % 3 == 0 ? 0 : seed % 3 == 1 ? 30 : 300;
    for (GlobalRaceCell &cell : truth)
      cell = others && random() % others == 0 ? other : before;
    makeLines(random);
    for (uint8_t &byte : memory)
      byte = static_cast<uint8_t>(random() % 2);
    for (uint8_t &byte : stored)
      byte = static_cast<uint8_t>(random() % 2);
    for (unsigned i = 0; i < pageCount; ++i) {
      uint64_t page = begin() / checks::racePageBytes + i;
      pages[page % checks::racePageSlots] = {page, &known[i]};
    }
    pass.pages = pages.data();
    pass.before = before, pass.after = after;
    pass.bytes = 4 + 4 * (random() % 4);
    pass.lanes = random() % 3 == 0 ? ~uint64_t(0) : uint64_t(random()) << 32 | random();
    pass.stored = random() % 2 ? stored.data() : nullptr;
    bool isAligned = random() % 2;
    for (uint64_t &address : addresses)
      address = begin() + (isAligned ? 16 * (random() % (memoryBytes / 16))
                                     : 4 * (random() % (memoryBytes / 4 - 4)));
    if (random() % 2)
      accessLines(random);
    pass.addresses = addresses.data();
  }
  uint64_t begin() const { return reinterpret_cast<uint64_t>(memory.data()); }
  GlobalRaceCell get(unsigned dword) const {
    const GlobalRacePage &page = known[4 * dword / checks::racePageBytes];
    unsigned inPage = dword % (checks::racePageBytes / 4);
    const GlobalRaceLine &line = page.lines[inPage / GlobalRaceLine::dwords];
    return line.apart ? page.cells[inPage / 4].get(inPage % 4) : line.cell;
  }
  /// Whether the dword at \p address is written by what is stored \p from there on.
  bool changes(uint64_t address, uint64_t from) const {
    return !pass.stored || std::memcmp(&memory[address - begin()], &stored[from], 4) != 0;
  }

private:
  void makeLines(std::mt19937 &random) {
    bool anyWhole = random() % 3 != 0;
    for (unsigned dword = 0; dword < memoryBytes / 4; ++dword) {
      GlobalRacePage &page = known[4 * dword / checks::racePageBytes];
      unsigned inPage = dword % (checks::racePageBytes / 4);
      GlobalRaceLine &line = page.lines[inPage / GlobalRaceLine::dwords];
      if (inPage % GlobalRaceLine::dwords == 0)
        line = {truth[dword], !anyWhole || random() % 8 == 0};
      if (!line.apart)
        truth[dword] = line.cell;
      GlobalRaceCells &cells = page.cells[inPage / 4];
      cells.set(inPage % 4, line.apart ? truth[dword] : GlobalRaceCell{1, 2, 3});
      cells.zero[inPage % 4] = 0;
    }
  }
  /// Lanes access lines together, which they change all of, nothing of, or some of.
  void accessLines(std::mt19937 &random) {
    unsigned together = pass.bytes == 12 ? 1 : GlobalRaceLine::bytes / pass.bytes;
    for (unsigned lane = 0; lane < maximumWaveSize; lane += together) {
      uint64_t offset = GlobalRaceLine::bytes * (random() % (memoryBytes / GlobalRaceLine::bytes));
      unsigned kind = random() % 3;
      for (unsigned i = 0; i < together; ++i) {
        addresses[lane + i] = begin() + offset + uint64_t(i) * pass.bytes;
        for (unsigned byte = 0; byte < pass.bytes && kind != 2; ++byte)
          stored[(lane + i) * pass.bytes + byte] =
              static_cast<uint8_t>(memory[offset + i * pass.bytes + byte] + kind);
      }
    }
  }
};

/// Marks dwords as the pass should, up to the first that is of neither kind; returns whether there
/// was none.
bool mark(Scene &scene, uint64_t address, uint32_t bytes, uint64_t from) {
  for (uint32_t i = 0; i < bytes; i += 4) {
    if (!scene.changes(address + i, from + i))
      continue;
    auto dword = static_cast<unsigned>((address + i - scene.begin()) / 4);
    GlobalRaceCell &cell = scene.truth[dword];
    if (!(cell == before || cell == after))
      return false;
    cell = after;
  }
  return true;
}

/// The cells are as they should be, but for those from \p from to \p to, which may or may not have
/// been marked.
void expectCells(const Scene &got, const Scene &want, const Scene &old, uint64_t from, uint64_t to,
                 unsigned seed) {
  for (unsigned dword = 0; dword < memoryBytes / 4; ++dword) {
    uint64_t address = got.begin() + 4 * dword;
    bool mayDiffer = address + 4 > from && address < to;
    ASSERT_TRUE(got.get(dword) == want.truth[dword] ||
                (mayDiffer && got.get(dword) == old.get(dword)))
        << "seed " << seed << ", dword " << dword;
  }
}

TEST(DeviceRacesGlobalPass, MarksLanesInTheirOrder) {
  unsigned whole = 0, cut = 0;
  for (const InstructionTables *const *tables = allInstructionTables(); *tables; ++tables)
    for (unsigned seed = 0; seed < 400; ++seed) {
      auto got = std::make_unique<Scene>(seed), want = std::make_unique<Scene>(seed),
           old = std::make_unique<Scene>(seed);
      uint64_t left = (*tables)->globalRaces.lanes(got->pass), from = 0, to = 0;
      uint64_t first = left & -left;
      EXPECT_EQ(left, got->pass.lanes & -first) << "seed " << seed;
      for (unsigned lane = 0; lane < maximumWaveSize; ++lane) {
        uint64_t bit = uint64_t(1) << lane, address = got->addresses[lane] - got->begin();
        if (!(got->pass.lanes & bit) || (left && bit > first))
          continue;
        // Each scene has memory of its own.
        bool isQuiet =
            mark(*want, want->begin() + address, got->pass.bytes, uint64_t(lane) * got->pass.bytes);
        if (bit == first)
          from = got->begin() + address, to = from + got->pass.bytes;
        else
          ASSERT_TRUE(isQuiet) << "seed " << seed << ", lane " << lane;
      }
      expectCells(*got, *want, *old, from, to, seed);
      ++(left ? cut : whole);
      // Where all cells are alike a lane is left only for the end of a page, or for what lanes
      // before it have marked in part.
      if (seed % 3 == 0 && left &&
          from % checks::racePageBytes + got->pass.bytes <= checks::racePageBytes) {
        bool anyMarked = false;
        for (uint64_t at = from - got->begin(); at < to - got->begin(); at += 4)
          anyMarked |= got->get(static_cast<unsigned>(at / 4)) == after;
        EXPECT_TRUE(anyMarked) << "seed " << seed;
      }
    }
  EXPECT_GT(whole, 50u); // Under a sanitizer there is one build.
  EXPECT_GT(cut, 50u);
}

TEST(DeviceRacesGlobalPass, MarksRuns) {
  unsigned whole = 0, cut = 0;
  for (const InstructionTables *const *tables = allInstructionTables(); *tables; ++tables)
    for (unsigned seed = 0; seed < 400; ++seed) {
      auto got = std::make_unique<Scene>(seed), want = std::make_unique<Scene>(seed),
           old = std::make_unique<Scene>(seed);
      std::mt19937 random(seed + 1);
      uint64_t unit = random() % 2 ? GlobalRaceLine::bytes : 4;
      uint64_t offset = unit * (random() % ((memoryBytes - 1024) / unit));
      uint64_t bytes = unit * (1 + random() % (1024 / unit));
      uint64_t begin = got->begin() + offset, end = begin + bytes;
      uint64_t at = (*tables)->globalRaces.run(got->pass, begin, end);
      uint64_t stop = std::min(end, (at / 16 + 1) * 16);
      ASSERT_TRUE(at >= begin && at <= end);
      EXPECT_TRUE(mark(*want, want->begin() + offset, static_cast<uint32_t>(at - begin), 0))
          << "seed " << seed;
      if (at < end) {
        mark(*want, want->begin() + (at - got->begin()), static_cast<uint32_t>(stop - at),
             at - begin);
        EXPECT_NE(seed % 3, 0u) << "all cells are alike";
      }
      expectCells(*got, *want, *old, at, stop, seed);
      ++(at < end ? cut : whole);
    }
  EXPECT_GT(whole, 50u); // Under a sanitizer there is one build.
  EXPECT_GT(cut, 50u);
}

TEST(DeviceRacesGlobalPass, LeavesBytesAndUnknownPagesAlone) {
  for (const InstructionTables *const *tables = allInstructionTables(); *tables; ++tables) {
    const GlobalRacePasses &passes = (*tables)->globalRaces;
    auto scene = std::make_unique<Scene>(0);
    scene->pass.stored = nullptr;
    scene->pass.lanes = 1;
    uint64_t begin = scene->begin();
    scene->addresses[0] = begin + 2;
    EXPECT_EQ(passes.lanes(scene->pass), 1u);
    EXPECT_EQ(passes.run(scene->pass, begin + 2, begin + 64), begin + 2);
    EXPECT_EQ(passes.run(scene->pass, begin, begin + 34), begin + 32);
    scene->pass.bytes = 2;
    EXPECT_EQ(passes.lanes(scene->pass), 1u);
    scene->pass.bytes = 4;
    scene->addresses[0] = begin + memoryBytes;
    EXPECT_EQ(passes.lanes(scene->pass), 1u);
    EXPECT_EQ(passes.run(scene->pass, begin + memoryBytes - 16, begin + memoryBytes + 16),
              begin + memoryBytes);
  }
}

TEST(DeviceRacesGlobalPass, LaysOutWhatLanesStore) {
  std::array<uint32_t, 4 * maximumWaveSize> rows;
  for (unsigned i = 0; i < rows.size(); ++i)
    rows[i] = i * 0x01234567;
  for (const InstructionTables *const *tables = allInstructionTables(); *tables; ++tables)
    for (unsigned waveSize : {32u, 64u})
      for (unsigned bytes : {1u, 2u, 4u, 8u, 12u, 16u})
        for (unsigned shift : {0u, 16u}) {
          if (bytes >= 4 && shift)
            continue;
          alignas(64) std::array<uint8_t, 16 * maximumWaveSize> got = {};
          (*tables)->globalRaces.layOut(rows.data(), waveSize, bytes, shift, got.data());
          for (unsigned lane = 0; lane < waveSize; ++lane)
            for (unsigned byte = 0; byte < bytes; ++byte)
              ASSERT_EQ(got[lane * bytes + byte],
                        uint8_t(rows[byte / 4 * waveSize + lane] >> (shift + byte % 4 * 8)))
                  << (*tables)->hostInstructionSet << ", " << bytes << " bytes, lane " << lane;
        }
}

} // namespace
} // namespace wavetile::device::test
