//===- LayoutLdsTest.cpp - LDS layouts, placements and banks --------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayoutTestSupport.h"
#include "ir/LdsBanks.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <set>

using namespace llvm;

namespace wavetile::test {
namespace {

//===----------------------------------------------------------------------===//
// Offsets
//===----------------------------------------------------------------------===//

TEST(LayoutLds, OffsetsAreABijection) {
  Random random = seededRandom();
  for (unsigned trial = 0; trial < 60; ++trial) {
    Layout layout = randomLds(random, randomShape(random, trial % 4, 600));
    SCOPED_TRACE(layout.str());
    std::set<int64_t> seen;
    forEachElement(layout.shape(), [&](const Coordinates &element) {
      int64_t offset = layout.offset(element);
      ASSERT_GE(offset, 0);
      ASSERT_LT(offset, layout.elementCount());
      ASSERT_EQ(layout.coordinatesOfOffset(offset), element);
      seen.insert(offset);
    });
    EXPECT_EQ(int64_t(seen.size()), layout.elementCount());
  }
}

TEST(LayoutLds, PlainIsRowMajorWithinAnAtomAndAtomsFollow) {
  Layout layout = Layout::lds({12, 40});
  forEachElement({12, 40}, [&](const Coordinates &at) {
    int64_t inAtom = at[0] % 4 * 8 + at[1] % 8, atom = at[0] / 4 * 5 + at[1] / 8;
    ASSERT_EQ(layout.offset(at), atom * 32 + inAtom);
  });
  Layout columnMajor = Layout::lds({8, 4}, {0, 1});
  EXPECT_EQ(columnMajor.offset({3, 2}), 3 + 8 * 2);
}

TEST(LayoutLds, SwizzleByItsFormula) {
  for (unsigned vector : {1, 4, 8})
    for (unsigned rowsPerPhase : {1, 2})
      for (unsigned phases : {1, 2, 8}) {
        Layout layout = Layout::swizzled({16, 64}, vector, rowsPerPhase, phases);
        forEachElement({16, 64}, [&](const Coordinates &at) {
          int64_t place = (at[1] / vector) ^ (at[0] / rowsPerPhase % phases);
          ASSERT_EQ(layout.offset(at), at[0] * 64 + place * vector + at[1] % vector);
        });
      }
  // Column-major: rows and columns change parts.
  Layout layout = Layout::swizzled({64, 16}, 8, 1, 8, {0, 1});
  EXPECT_EQ(layout.offset({8, 3}), 3 * 64 + (1 ^ 3) * 8);
  // More phases than there are vectors or rows.
  EXPECT_EQ(Layout::swizzled({4, 16}, 8, 1, 16), Layout::swizzled({4, 16}, 8, 1, 2));
}

TEST(LayoutLds, PaddingByItsFormula) {
  Layout layout = Layout::lds({24, 32}, {}, 1, {64, 8});
  for (int64_t offset = 0; offset < layout.elementCount(); ++offset)
    ASSERT_EQ(layout.paddedOffset(offset), offset + offset / 64 * 8);
  EXPECT_EQ(layout.bufferStride(), 24 * 32 + 24 * 32 / 64 * 8);
  // An interval beyond the tile still keeps buffers apart by the padding.
  EXPECT_EQ(Layout::lds({3}, {}, 2, {4, 2}).bufferStride(), 5);
}

TEST(LayoutLds, ThreeBuffersDoNotOverlap) {
  for (Padding padding : {Padding{}, Padding{16, 2}, Padding{64, 4}}) {
    Layout layout = Layout::swizzled({12, 16}, 4, 1, 4, {}, 3).withPadding(padding);
    ASSERT_EQ(layout.bufferCount(), 3u);
    std::set<int64_t> seen;
    for (unsigned buffer = 0; buffer < 3; ++buffer)
      forEachElement({12, 16}, [&](const Coordinates &at) {
        int64_t place = layout.storage(at, buffer);
        ASSERT_EQ(place, layout.storage(at) + buffer * layout.bufferStride());
        ASSERT_LT(place, layout.allocatedElements());
        ASSERT_TRUE(seen.insert(place).second);
      });
    EXPECT_EQ(layout.allocatedElements(), 3 * layout.bufferStride());
  }
}

//===----------------------------------------------------------------------===//
// Placements
//===----------------------------------------------------------------------===//

/// Whether registers go in groups, the same for all lanes, to `width` aligned elements of LDS.
bool hasVectors(const LdsPlacement &placement, unsigned width) {
  const Layout &registers = placement.registerLayout(), &lds = placement.ldsLayout();
  auto offset = [&](Position at) { return lds.offset(registers.coordinates(at)); };
  for (unsigned reg = 0; reg < registers.registerCount(); ++reg)
    for (unsigned step = 0; step < width; ++step) {
      bool found = any_of(seq(0u, registers.registerCount()), [&](unsigned other) {
        for (unsigned wave = 0; wave < registers.waveCount(); ++wave)
          for (unsigned lane = 0; lane < registers.laneCount(); ++lane) {
            int64_t at = offset({reg, lane, wave});
            if (at % width != offset({reg, 0, 0}) % width ||
                offset({other, lane, wave}) != at / width * width + step)
              return false;
          }
        return true;
      });
      if (!found)
        return false;
    }
  return true;
}

void checkPlacement(const Layout &registers, const Layout &lds) {
  SCOPED_TRACE(registers.str() + " in " + lds.str());
  LdsPlacement placement(registers, lds);
  unsigned lastBuffer = lds.bufferCount() - 1;
  forEachPosition(registers, [&](Position at) {
    int64_t expected = lds.storage(registers.coordinates(at), lastBuffer);
    ASSERT_EQ(placement.storage(at, lastBuffer), expected);
    // The same by the parts from which an address is made.
    int64_t moved = 0;
    for (unsigned bit = 0; at.lane >> bit; ++bit)
      moved ^= at.lane >> bit & 1 ? placement.laneBasis(bit) : 0;
    for (unsigned bit = 0; at.wave >> bit; ++bit)
      moved ^= at.wave >> bit & 1 ? placement.waveBasis(bit) : 0;
    int64_t buffer = lastBuffer * placement.bufferStride();
    ASSERT_EQ(buffer + placement.padded(moved ^ placement.registerXor(at.reg)) +
                  placement.registerAdd(at.reg),
              expected);
    if (std::optional<int64_t> displacement = placement.displacement(at.reg))
      ASSERT_EQ(buffer + placement.padded(moved) + *displacement, expected);
  });
  if (registers.elementCount() <= 256) {
    unsigned width = placement.contiguousElements();
    EXPECT_TRUE(hasVectors(placement, width));
    Padding padding = lds.padding();
    int64_t limit = padding.amount ? std::min(padding.interval, padding.amount & -padding.amount)
                                   : lds.elementCount();
    if (2 * width <= limit && (1u << placement.atom().outputBits(0)) >= 2 * width) {
      EXPECT_FALSE(hasVectors(placement, 2 * width));
    }
    for (const auto &vector : placement.vectors(width))
      for (unsigned lane = 0; lane < registers.laneCount(); ++lane) {
        int64_t first = placement.storage({vector[0], lane, 0});
        ASSERT_EQ(first % width, 0);
        for (auto [step, reg] : enumerate(vector))
          ASSERT_EQ(placement.storage({reg, lane, 0}), first + int64_t(step));
      }
  }
}

TEST(LayoutLds, PlacementOfRandomLayouts) {
  Random random = seededRandom();
  for (unsigned trial = 0; trial < 120; ++trial) {
    Coordinates shape = randomShape(random, 1 + trial % 3, trial % 2 ? 200 : 2000);
    Layout lds = randomLds(random, shape)
                     .withBuffers(1 + trial % 3)
                     .withPadding({int64_t(1) << below(random, 8), below(random, 3)});
    checkPlacement(randomRegisters(random, shape, 3, 2), lds);
  }
}

TEST(LayoutLds, PlacementOfBlockedLayouts) {
  Layout registers = Layout::blocked({32, 192}, {1, 0}, {1, 8}, {8, 8}, {4, 1});
  for (const Layout &lds : {Layout::lds({32, 192}), Layout::swizzled({32, 192}, 8, 1, 8, {}, 3),
                            Layout::lds({32, 192}, {}, 2, {64, 8}), Layout::lds({32, 192}, {0, 1})})
    checkPlacement(registers, lds);
  LdsPlacement swizzled(registers, Layout::swizzled({32, 192}, 8, 1, 8));
  EXPECT_EQ(swizzled.contiguousElements(), 8u);
  EXPECT_EQ(swizzled.displacement(8), 32 * 64); // the second of three atoms
  EXPECT_EQ(LdsPlacement(registers, Layout::swizzled({32, 192}, 2, 1, 8)).contiguousElements(), 2u);
  EXPECT_EQ(LdsPlacement(registers, Layout::lds({32, 192}, {0, 1})).contiguousElements(), 1u);
  // Padding after every 4 elements cuts vectors of 8, and padding by 2 shifts them by 2.
  Layout often = Layout::lds({32, 192}, {}, 1, {4, 8}),
         odd = Layout::lds({32, 192}, {}, 1, {64, 2});
  EXPECT_EQ(LdsPlacement(registers, often).contiguousElements(), 4u);
  EXPECT_EQ(LdsPlacement(registers, odd).contiguousElements(), 2u);
}

TEST(LayoutLds, ADisplacementNeedsDisjointBits) {
  // Registers move rows, which the swizzle mixes into columns that lanes move.
  Layout registers = Layout::blocked({8, 64}, {1, 0}, {1, 8}, {1, 8}, {1, 1});
  LdsPlacement placement(registers, Layout::swizzled({8, 64}, 8, 1, 8));
  EXPECT_EQ(placement.displacement(3), 3);
  EXPECT_EQ(placement.displacement(8), std::nullopt);
  EXPECT_EQ(placement.registerXor(8), 64 + 8);
}

TEST(LayoutLds, StorageOrderIsWhatDirectLoadsNeed) {
  for (const Layout &lds : {Layout::swizzled({32, 64}, 8, 1, 8), Layout::lds({16, 96}),
                            Layout::swizzled({64, 32}, 4, 2, 4, {0, 1})}) {
    Layout registers = Layout::inStorageOrder(lds, 8, 16, 4);
    LdsPlacement placement(registers, lds);
    EXPECT_EQ(placement.laneStride(), 8);
    EXPECT_EQ(placement.contiguousElements() % 8, 0u);
    forEachPosition(registers, [&](Position at) {
      int64_t offset = at.reg % 8 + 8 * at.lane + 128 * at.wave + 512 * (at.reg / 8);
      ASSERT_EQ(placement.storage(at), offset);
    });
  }
  Layout swizzled = Layout::swizzled({32, 64}, 8, 1, 8);
  Layout rows = Layout::blocked({32, 64}, {1, 0}, {1, 8}, {8, 8}, {4, 1});
  EXPECT_EQ(LdsPlacement(rows, swizzled).laneStride(), std::nullopt);
  EXPECT_EQ(LdsPlacement(rows, Layout::lds({32, 64})).laneStride(), 8);
  EXPECT_EQ(LdsPlacement(rows, Layout::lds({32, 64}, {}, 1, {64, 8})).laneStride(), std::nullopt);
  // Repetitions follow the order in LDS.
  Layout repeated = Layout::lds({24, 160}, {0, 1});
  EXPECT_EQ(Layout::inStorageOrder(repeated, 8, 8, 4).repetitionOrder(),
            repeated.repetitionOrder());
  // Lanes are in order, but the rows of the registers permute them.
  Layout wide = Layout::blocked({8, 64}, {1, 0}, {1, 8}, {1, 8}, {1, 1});
  EXPECT_EQ(LdsPlacement(wide, Layout::swizzled({8, 64}, 8, 1, 8)).laneStride(), std::nullopt);
  // More lanes than elements: the rest hold copies, which is no stride.
  EXPECT_EQ(LdsPlacement(Layout::inStorageOrder(Layout::lds({16}), 8, 4, 1), Layout::lds({16}))
                .laneStride(),
            std::nullopt);
}

//===----------------------------------------------------------------------===//
// Banks (timing-model.md, section 1.3)
//===----------------------------------------------------------------------===//

/// gfx942 and gfx11: 32 banks, 128 bits in phases of 8 lanes, lanes 0-3 and 20-23 first.
const LdsAccess Gfx942Reads[] = {
    {32, 32, {1, 2, 4, 8, 16}}, {64, 32, {1, 2, 4, 8}}, {128, 32, {1, 2, 20}}};
/// gfx950: 64 banks, 128 bits in phases of 16 lanes: 0-3, 12-15, 20-27.
const LdsAccess Gfx950Reads[] = {
    {32, 64, {1, 2, 4, 8, 16, 32}}, {64, 64, {1, 2, 4, 8, 16}}, {128, 64, {1, 2, 12, 20}}};
const LdsAccess Writes[] = {
    {32, 32, {1, 2, 4, 8, 16}}, {64, 32, {1, 2, 4, 8}}, {128, 32, {1, 2, 4}}};

TEST(LdsBanks, PhasesAreThoseOfTheTable) {
  std::set<unsigned> first;
  for (unsigned choice = 0; choice < 16; ++choice) {
    unsigned lane = 0;
    for (auto [bit, step] : enumerate(Gfx950Reads[2].phaseLanes))
      lane ^= choice >> bit & 1 ? step : 0;
    first.insert(lane);
  }
  EXPECT_EQ(first,
            (std::set<unsigned>{0, 1, 2, 3, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25, 26, 27}));
}

TEST(LdsBanks, NarrowAccessesAreWords) {
  EXPECT_EQ(ldsAccess(Gfx942Reads, 16).bits, 32u);
  EXPECT_EQ(ldsAccess(Gfx942Reads, 64).bits, 64u);
}

/// Cycles by the definition, for all registers, waves and phases; lanes are sorted into phases by
/// testing each pair.
unsigned cyclesByEnumeration(const LdsPlacement &placement, unsigned vectorElements,
                             unsigned elementBytes, const LdsAccess &access) {
  const Layout &registers = placement.registerLayout();
  std::set<unsigned> together = {0};
  for (unsigned step : access.phaseLanes)
    for (unsigned lane : std::set<unsigned>(together))
      together.insert(lane ^ step);
  unsigned slowest = 0;
  for (unsigned wave = 0; wave < registers.waveCount(); ++wave) {
    unsigned cycles = 0;
    for (const auto &vector : placement.vectors(vectorElements))
      for (unsigned leader = 0; leader < registers.laneCount(); ++leader) {
        std::map<int64_t, std::set<int64_t>> wordsOfBank;
        bool isFirst = true;
        for (unsigned lane = 0; lane < registers.laneCount(); ++lane) {
          if (!together.contains(lane ^ leader))
            continue;
          isFirst &= lane >= leader;
          int64_t start = placement.storage({vector[0], lane, wave}) * elementBytes;
          for (int64_t byte = start; byte < start + vectorElements * elementBytes; ++byte)
            wordsOfBank[byte / 4 % access.banks].insert(byte / 4);
        }
        size_t busiest = 0;
        for (const auto &[bank, words] : wordsOfBank)
          busiest = std::max(busiest, words.size());
        cycles += isFirst ? busiest : 0;
      }
    slowest = std::max(slowest, cycles);
  }
  return slowest;
}

TEST(LdsBanks, CostByEnumeration) {
  Random random = seededRandom();
  for (unsigned trial = 0; trial < 60; ++trial) {
    Coordinates shape = randomShape(random, 2, 400);
    Layout lds = randomLds(random, shape);
    if (trial % 2)
      lds = lds.withPadding({int64_t(1) << below(random, 8), below(random, 9)});
    LdsPlacement placement(randomRegisters(random, shape, 5, 1), lds);
    unsigned elementBytes = 1u << below(random, 3);
    LdsCost cost = ldsCost(placement, elementBytes, Gfx942Reads);
    const LdsAccess &access = ldsAccess(Gfx942Reads, cost.vectorElements * elementBytes * 8);
    ASSERT_EQ(cost.cycles,
              cyclesByEnumeration(placement, cost.vectorElements, elementBytes, access))
        << placement.registerLayout().str() << " in " << lds.str();
    EXPECT_LE(cost.minimum, cost.cycles);
    EXPECT_EQ(cost.accesses * cost.vectorElements, placement.registerLayout().registerCount());
  }
}

/// Lane l reads 8 half-words of row l % 16, as the A operand of a 16x16x32 matrix instruction.
Layout rowsOfHalfWords() {
  return cantFail(Layout::parse("register=[[0, 1], [0, 2], [0, 4], [0, 32], [16, 0], [32, 0]], "
                                "lane=[[1, 0], [2, 0], [4, 0], [8, 0], [0, 8], [0, 16]], "
                                "wave=[], shape=[64, 64]"));
}

TEST(LdsBanks, RowsOf64HalfWordsConflictUnlessSwizzled) {
  // A row is 128 bytes: the 32 banks of gfx942 once. 8 lanes of a phase read the same 4 banks.
  LdsPlacement plain(rowsOfHalfWords(), Layout::lds({64, 64}));
  LdsCost cost = ldsCost(plain, 2, Gfx942Reads);
  EXPECT_EQ(cost.accesses, 8u);
  EXPECT_EQ(cost.vectorElements, 8u);
  EXPECT_EQ(cost.minimum, 8u * 8u);
  // Lanes 0-3 and 20-23: rows 0-3 at column 0, rows 4-7 at column 8.
  EXPECT_EQ(cost.cycles, 8u * 8u * 4u);
  LdsPlacement swizzled(rowsOfHalfWords(), Layout::swizzled({64, 64}, 8, 1, 8));
  EXPECT_EQ(ldsCost(swizzled, 2, Gfx942Reads).conflicts(), 0u);
  EXPECT_EQ(ldsCost(swizzled, 2, Gfx950Reads).conflicts(), 0u);
  EXPECT_GT(ldsCost(plain, 2, Gfx950Reads).conflicts(), 0u);
}

TEST(LdsBanks, LanesThatReadOneWordShareIt) {
  Layout everyLaneTheSame = Layout::replicated({4}, 64, 1);
  LdsCost cost = ldsCost(LdsPlacement(everyLaneTheSame, Layout::lds({4})), 4, Gfx942Reads);
  EXPECT_EQ(cost, (LdsCost{1, 4, 8, 8}));
}

TEST(LdsBanks, AColumnOfWordsConflictsInEveryLane) {
  // 32 lanes read words that are 32 words apart, one word each.
  Layout column = cantFail(Layout::parse(
      "register=[], lane=[[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], wave=[[0, 1], [0, 2], [0, 4], "
      "[0, 8], [0, 16]], shape=[32, 32]"));
  LdsCost cost = ldsCost(LdsPlacement(column, Layout::lds({32, 32})), 4, Gfx942Reads);
  EXPECT_EQ(cost, (LdsCost{1, 1, 32, 1}));
  // One word of padding a row, as everybody does it.
  LdsPlacement padded(column, Layout::lds({32, 32}, {}, 1, {32, 1}));
  EXPECT_EQ(ldsCost(padded, 4, Gfx942Reads).conflicts(), 0u);
}

TEST(LdsBanks, TheSlowestWaveCounts) {
  // Padding puts words 4 and 32, of wave 1, into one bank, but not 0 and 36, of wave 0.
  Layout registers = cantFail(
      Layout::parse("register=[[1], [2], [8], [16]], lane=[[36]], wave=[[4]], shape=[64]"));
  LdsPlacement placement(registers, Layout::lds({64}, {}, 1, {32, 4}));
  EXPECT_EQ(ldsCost(placement, 1, 4, Gfx942Reads[0]), (LdsCost{16, 1, 32, 16}));
}

TEST(LdsBanks, ChooseSwizzleFreesBothSidesOfConflicts) {
  Layout written = Layout::blocked({64, 64}, {1, 0}, {1, 8}, {8, 8}, {1, 1});
  for (ArrayRef<LdsAccess> reads : {ArrayRef(Gfx942Reads), ArrayRef(Gfx950Reads)}) {
    std::vector<LdsUse> uses = {{written, Writes}, {rowsOfHalfWords(), reads}};
    LdsChoice choice = chooseSwizzle({64, 64}, {1, 0}, 2, uses, 3);
    EXPECT_TRUE(choice.isConflictFree()) << choice.layout.str();
    EXPECT_EQ(choice.layout.bufferCount(), 3u);
    for (auto [cost, use] : zip_equal(choice.costs, uses)) {
      EXPECT_EQ(cost.vectorElements, 8u);
      EXPECT_EQ(cost, ldsCost(LdsPlacement(use.registers, choice.layout), 2, use.accesses));
    }
  }
}

TEST(LdsBanks, ChooseSwizzleKeepsPlainStorageThatHasNoConflicts) {
  Layout rows = Layout::blocked({32, 64}, {1, 0}, {1, 4}, {4, 16}, {4, 1});
  LdsChoice choice = chooseSwizzle({32, 64}, {1, 0}, 4, {{rows, Writes}, {rows, Gfx942Reads}});
  EXPECT_TRUE(choice.isConflictFree());
  EXPECT_EQ(choice.layout, Layout::lds({32, 64}));
}

TEST(LdsBanks, ChooseSwizzleForATransposeOfWords) {
  // Written by rows, read by columns: the choice is never worse than plain storage.
  Layout rows = Layout::blocked({32, 32}, {1, 0}, {1, 1}, {1, 32}, {4, 1});
  Layout columns = Layout::blocked({32, 32}, {0, 1}, {1, 1}, {32, 1}, {1, 4});
  LdsChoice choice = chooseSwizzle({32, 32}, {1, 0}, 4, {{rows, Writes}, {columns, Gfx942Reads}});
  EXPECT_TRUE(choice.isConflictFree()) << choice.layout.str();
}

TEST(LdsBanks, ChooseSwizzleOfOneDimensionIsPlain) {
  Layout vector = Layout::blocked({1024}, {}, {4}, {64}, {1});
  EXPECT_EQ(chooseSwizzle({1024}, {}, 4, {{vector, Writes}}).layout, Layout::lds({1024}));
}

} // namespace
} // namespace wavetile::test
