//===- DeviceRacesPassTest.cpp - The quick pass of the check of LDS races --===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a pass over cells (LdsRaceCell.h) finds and leaves, in each build for a host instruction
// set, against the rules of LdsRaces.h written down one dword at a time.
//
//===----------------------------------------------------------------------===//

#include "DeviceTestSupport.h"

#include "runtime/emulator/checks/LdsRaceCell.h"

#include <cstring>
#include <random>

namespace wavetile::device::test {
namespace {

using checks::LdsRaceBlock;
using checks::LdsRaceCell;
using checks::LdsRaceEntry;
using checks::LdsRacePass;

constexpr uint32_t ldsBytes = 4096;

/// An access of random lanes to random dwords or to runs of them, over cells as a few waves could
/// have left them, some blocks being apart and some not.
struct RandomAccess {
  std::vector<LdsRaceCell> truth{ldsBytes / 4}; ///< Of each dword, to which the rules are applied.
  std::vector<LdsRaceCell> cells{ldsBytes / 4}, blocks{ldsBytes / LdsRaceBlock::bytes};
  std::vector<uint8_t> lds = std::vector<uint8_t>(ldsBytes);
  alignas(64) uint32_t offsets[maximumWaveSize];
  alignas(64) uint32_t rows[4 * maximumWaveSize] = {};
  LdsRacePass pass;

  explicit RandomAccess(unsigned seed) {
    std::mt19937 random(seed);
    pass.waveSize = random() % 2 ? 64 : 32;
    pass.dwords = 1 + random() % 4;
    pass.passed = 2 + random() % 2;
    pass.self = LdsRaceEntry::make(3, false, 1, 77);
    pass.lanes = random() % 3 == 0 ? ~uint64_t(0) : uint64_t(random()) << 32 | random();
    if (pass.waveSize == 32)
      pass.lanes &= 0xffffffff;
    // Quiet ones have accesses of this wave and over ones only, but for a few.
    unsigned others = seed % 2 ? 0 : seed % 3 ? 400 : 3;
    for (LdsRaceCell &cell : truth)
      for (uint64_t *entry : {&cell.write, &cell.read}) {
        bool isOther = others && random() % others == 0;
        uint32_t wave = isOther ? (random() % 4 ? random() % 4 : uint32_t(LdsRaceEntry::many)) : 1;
        *entry = random() % 4 == 0
                     ? 0
                     : LdsRaceEntry::make(random() % (isOther ? 5 : 4),
                                          entry == &cell.write && isOther && random() % 4 == 0,
                                          wave, random() % 100);
      }
    for (uint8_t &byte : lds)
      byte = static_cast<uint8_t>(random() % 2);
    makeBlocks(random);
    makeOffsets(random);
    for (unsigned i = 0; i < pass.dwords; ++i)
      for (unsigned lane = 0; lane < pass.waveSize; ++lane) {
        uint32_t &value = rows[i * pass.waveSize + lane];
        std::memcpy(&value, &lds[offsets[lane] + 4 * i], 4);
        value += random() % 3 == 0;
      }
    pass.ldsBytes = ldsBytes;
    pass.cells = cells.data();
    pass.blocks = blocks.data();
    pass.lds = lds.data();
    pass.data = rows;
  }
  LdsRaceCell get(unsigned dword) const {
    const LdsRaceCell &block = blocks[dword / LdsRaceBlock::dwords];
    return block.write == LdsRaceBlock::apart ? cells[dword] : block;
  }

private:
  void makeBlocks(std::mt19937 &random) {
    constexpr LdsRaceCell nonsense = {uint64_t(0x123456789), uint64_t(0x987654321)};
    bool anyWhole = random() % 3 != 0;
    for (unsigned i = 0; i < blocks.size(); ++i) {
      unsigned first = i * LdsRaceBlock::dwords;
      bool isWhole = anyWhole && random() % 8 != 0;
      blocks[i] = isWhole ? truth[first] : LdsRaceCell{LdsRaceBlock::apart, random()};
      for (unsigned dword = first; dword < first + LdsRaceBlock::dwords; ++dword) {
        truth[dword] = isWhole ? blocks[i] : truth[dword];
        cells[dword] = isWhole ? nonsense : truth[dword];
      }
    }
  }
  void makeOffsets(std::mt19937 &random) {
    pass.offsets = offsets;
    for (uint32_t &offset : offsets)
      offset = 4 * (random() % (ldsBytes / 4 - 4));
    unsigned kind = random() % 3;
    if (kind == 0)
      return;
    // Runs: of each half of a wave, or of a whole one, on blocks or not.
    uint32_t step = 4 * pass.dwords, unit = random() % 4 ? LdsRaceBlock::bytes : 4;
    if (kind == 1) {
      pass.offsets = nullptr;
      pass.lanes = pass.waveSize == 64 ? ~uint64_t(0) : 0xffffffff;
    }
    for (unsigned lane = 0; lane < maximumWaveSize; ++lane)
      if (lane % (kind == 1 ? 64 : 32) == 0)
        offsets[lane] = unit * (random() % ((ldsBytes - 64 * step) / unit + 1));
      else
        offsets[lane] = offsets[lane - 1] + step;
    pass.begin = offsets[0];
  }
};

bool meets(uint64_t bits, const LdsRacePass &pass) {
  LdsRaceEntry entry(bits);
  return entry.exists && entry.wave != 1 && entry.barriers >= pass.passed;
}

/// One dword of a load.
bool read(LdsRaceCell &cell, const LdsRacePass &pass) {
  LdsRaceEntry old(cell.read);
  if (!old.exists || old.barriers < 3 || (old.barriers == 3 && old.wave == 1))
    cell.read = pass.self;
  else if (old.barriers == 3)
    cell.read = LdsRaceEntry::make(3, false, LdsRaceEntry::many, 77);
  return !meets(cell.write, pass);
}
/// One dword of a store that changes it.
bool write(LdsRaceCell &cell, const LdsRacePass &pass) {
  bool quiet = !meets(cell.write, pass) && !meets(cell.read, pass);
  cell.write = pass.self;
  return quiet;
}
/// One dword of a store that goes on at a barrier.
void keep(LdsRaceCell &cell, const LdsRacePass &pass) {
  LdsRaceEntry old(cell.write);
  if (old.exists && (old.wave == 1 || old.isMany()))
    cell.write = pass.self;
}

template <typename Body> bool forDwords(RandomAccess &access, Body body) {
  bool quiet = true;
  for (unsigned lane = 0; lane < access.pass.waveSize; ++lane)
    for (unsigned i = 0; i < access.pass.dwords && access.pass.lanes >> lane & 1; ++i)
      quiet &= body(access.truth[access.offsets[lane] / 4 + i], lane, i);
  return quiet;
}

enum class Kind { Read, Write, Unfinished };

/// The rules, over all dwords.
bool expected(RandomAccess &access, Kind kind) {
  return forDwords(access, [&](LdsRaceCell &cell, unsigned lane, unsigned i) {
    if (kind == Kind::Read)
      return read(cell, access.pass);
    if (kind == Kind::Unfinished) {
      keep(cell, access.pass);
      return true;
    }
    uint32_t value = access.rows[i * access.pass.waveSize + lane];
    bool changes = std::memcmp(&access.lds[access.offsets[lane] + 4 * i], &value, 4) != 0;
    return !changes || write(cell, access.pass);
  });
}

TEST(DeviceRacesPass, FollowsTheRulesInEveryBuild) {
  unsigned quiet = 0, loud = 0;
  for (const InstructionTables *const *tables = allInstructionTables(); *tables; ++tables)
    for (unsigned seed = 0; seed < 600; ++seed)
      for (Kind kind : {Kind::Read, Kind::Write, Kind::Unfinished}) {
        RandomAccess want(seed), got(seed);
        bool isQuiet = expected(want, kind);
        const checks::LdsRacePasses &passes = (*tables)->ldsRaces;
        checks::MarkLdsRaces pass = kind == Kind::Read    ? passes.reads
                                    : kind == Kind::Write ? passes.writes
                                                          : passes.unfinishedWrites;
        ASSERT_EQ(pass(got.pass), isQuiet) << (*tables)->hostInstructionSet << ", seed " << seed;
        if (!isQuiet && kind == Kind::Write) {
          // What it met is still there.
          EXPECT_FALSE(pass(got.pass)) << (*tables)->hostInstructionSet << ", seed " << seed;
          ++loud;
          continue;
        }
        for (unsigned i = 0; i < want.truth.size(); ++i) {
          ASSERT_EQ(got.get(i).write, want.truth[i].write) << "seed " << seed << ", cell " << i;
          ASSERT_EQ(got.get(i).read, want.truth[i].read) << "seed " << seed << ", cell " << i;
        }
        (isQuiet ? quiet : loud) += kind != Kind::Unfinished;
      }
  // Under a sanitizer there is one build.
  EXPECT_GT(quiet, 100u);
  EXPECT_GT(loud, 100u);
}

TEST(DeviceRacesPass, LeavesBytesAndSplitDwordsAlone) {
  for (const InstructionTables *const *tables = allInstructionTables(); *tables; ++tables) {
    const checks::LdsRacePasses &passes = (*tables)->ldsRaces;
    for (checks::MarkLdsRaces pass : {passes.reads, passes.writes, passes.unfinishedWrites}) {
      RandomAccess odd(1);
      odd.pass.lanes = 1;
      odd.pass.offsets = odd.offsets;
      odd.blocks[0].write = LdsRaceBlock::apart;
      odd.offsets[0] = 2;
      EXPECT_FALSE(pass(odd.pass));
      odd.offsets[0] = ldsBytes - 4 * odd.pass.dwords + 4;
      EXPECT_FALSE(pass(odd.pass));
      odd.offsets[0] = 0;
      odd.rows[0] = 0x55555555;
      odd.cells[0].write = ~uint64_t(0);
      EXPECT_FALSE(pass(odd.pass));
    }
  }
}

} // namespace
} // namespace wavetile::device::test
