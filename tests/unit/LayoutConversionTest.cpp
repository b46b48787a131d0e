//===- LayoutConversionTest.cpp - From one layout to another -----------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayoutTestSupport.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <set>

using namespace llvm;

namespace wavetile::test {
namespace {

using Kind = Conversion::Kind;

bool holds(const Layout &layout, Position at, const Coordinates &element) {
  return layout.coordinates(at) == element;
}

/// The kind of a conversion by its definition, trying every position.
Kind kindByEnumeration(const Layout &source, const Layout &destination) {
  bool none = source.registerCount() == destination.registerCount(), registers = true, wave = true;
  for (unsigned reg = 0; reg < destination.registerCount(); ++reg) {
    registers &= any_of(seq(0u, source.registerCount()), [&](unsigned from) {
      for (unsigned w = 0; w < source.waveCount(); ++w)
        for (unsigned lane = 0; lane < source.laneCount(); ++lane)
          if (!holds(source, {from, lane, w}, destination.coordinates(reg, lane, w)))
            return false;
      return true;
    });
  }
  forEachPosition(destination, [&](Position at) {
    Coordinates element = destination.coordinates(at);
    none = none && holds(source, at, element);
    bool inWave = false;
    for (unsigned lane = 0; lane < source.laneCount(); ++lane)
      for (unsigned reg = 0; reg < source.registerCount(); ++reg)
        inWave |= holds(source, {reg, lane, at.wave}, element);
    wave &= inWave;
  });
  return none ? Kind::None : registers ? Kind::Registers : wave ? Kind::Wave : Kind::Workgroup;
}

void checkConversion(const Layout &source, const Layout &destination) {
  SCOPED_TRACE(source.str() + " to " + destination.str());
  Conversion conversion(source, destination);
  ASSERT_EQ(conversion.kind(), kindByEnumeration(source, destination));
  forEachPosition(destination, [&](Position at) {
    Position from = conversion.source(at);
    ASSERT_LT(from.reg, source.registerCount());
    ASSERT_EQ(source.coordinates(from), destination.coordinates(at));
    switch (conversion.kind()) {
    case Kind::None:
      ASSERT_EQ(from, at);
      break;
    case Kind::Registers:
      ASSERT_EQ(from.lane, at.lane);
      ASSERT_EQ(from.reg, conversion.sourceRegister(at.reg));
      [[fallthrough]];
    case Kind::Wave:
      ASSERT_EQ(from.wave, at.wave);
      if (std::optional<unsigned> mask = conversion.laneXorMask(at.reg))
        ASSERT_EQ(from.lane, at.lane ^ *mask);
      break;
    case Kind::Workgroup:
      break;
    }
    // The register changes with the lane and the wave only in the bits that the selects name.
    unsigned lanes = ~conversion.registerSelectLanes(), waves = ~conversion.registerSelectWaves();
    ASSERT_EQ(from.reg, conversion.source({at.reg, at.lane & ~lanes, at.wave & ~waves}).reg);
  });
}

TEST(LayoutConversion, RandomPairsByEnumeration) {
  Random random = seededRandom();
  std::map<Kind, unsigned> kinds;
  for (unsigned trial = 0; trial < 300; ++trial) {
    Coordinates shape = randomShape(random, 1 + trial % 2, 60);
    Layout source = randomRegisters(random, shape, 2, 1);
    Layout destination = randomRegisters(random, shape, 2, 1);
    checkConversion(source, destination);
    ++kinds[Conversion(source, destination).kind()];
  }
  EXPECT_GT(kinds[Kind::Registers], 0u);
  EXPECT_GT(kinds[Kind::Wave], 0u);
  EXPECT_GT(kinds[Kind::Workgroup], 0u);
}

TEST(LayoutConversion, OfALayoutToItselfIsNone) {
  Random random = seededRandom();
  for (unsigned trial = 0; trial < 50; ++trial) {
    Layout layout = randomRegisters(random, randomShape(random, 2, 60), 3, 1);
    checkConversion(layout, layout);
    EXPECT_EQ(Conversion(layout, layout).kind(), Kind::None);
  }
}

TEST(LayoutConversion, Registers) {
  // The same lanes, other register numbers.
  Layout rows = Layout::blocked({4, 16}, {1, 0}, {2, 4}, {2, 4}, {1, 1});
  Layout columns = cantFail(Layout::parse(
      "register=[[1, 0], [0, 1], [0, 2]], lane=[[0, 4], [0, 8], [2, 0]], wave=[], shape=[4, 16]"));
  checkConversion(rows, columns);
  EXPECT_EQ(Conversion(rows, columns).kind(), Kind::Registers);
  EXPECT_EQ(Conversion(rows, columns).sourceRegister(1), 4u);
  // Repetitions in another order.
  Layout a = Layout::replicated({3, 5}, 2, 1, {0, 1}), b = Layout::replicated({3, 5}, 2, 1);
  checkConversion(a, b);
  EXPECT_EQ(Conversion(a, b).kind(), Kind::Registers);
  // More registers of the same elements.
  Layout once = cantFail(Layout::parse("register=[[1]], lane=[[2]], wave=[], shape=[4]"));
  Layout twice = cantFail(Layout::parse("register=[[0], [1]], lane=[[2]], wave=[], shape=[4]"));
  checkConversion(once, twice);
  checkConversion(twice, once);
  EXPECT_EQ(Conversion(once, twice).kind(), Kind::Registers);
}

TEST(LayoutConversion, LanesByAButterfly) {
  // Each lane has two elements; register 1 comes from the neighbour with the other parity.
  Layout source = cantFail(Layout::parse("register=[[4]], lane=[[1], [2]], wave=[], shape=[8]"));
  Layout swapped = cantFail(Layout::parse("register=[[5]], lane=[[1], [2]], wave=[], shape=[8]"));
  checkConversion(source, swapped);
  Conversion conversion(source, swapped);
  EXPECT_EQ(conversion.kind(), Kind::Wave);
  EXPECT_EQ(conversion.laneXorMask(0), 0u);
  EXPECT_EQ(conversion.laneXorMask(1), 1u);
  EXPECT_EQ(conversion.registerSelectLanes(), 0u);
  // A transpose of 2 x 2 in registers and lanes needs a select by lane.
  Layout exchanged = cantFail(Layout::parse("register=[[1]], lane=[[4], [2]], wave=[], shape=[8]"));
  checkConversion(source, exchanged);
  EXPECT_EQ(Conversion(source, exchanged).registerSelectLanes(), 1u);
  EXPECT_EQ(Conversion(source, exchanged).laneXorMask(0), std::nullopt);
  // Exchanged lane bits are a permutation, but no butterfly.
  Layout permuted = cantFail(Layout::parse("register=[[4]], lane=[[2], [1]], wave=[], shape=[8]"));
  checkConversion(source, permuted);
  EXPECT_EQ(Conversion(source, permuted).kind(), Kind::Wave);
  EXPECT_EQ(Conversion(source, permuted).laneXorMask(0), std::nullopt);
}

TEST(LayoutConversion, WhatEveryLaneHasNeedsOnlyASelect) {
  Layout everywhere = Layout::replicated({8}, 2, 2);
  Layout split = Layout::blocked({8}, {}, {2}, {2}, {2});
  checkConversion(everywhere, split);
  Conversion conversion(everywhere, split);
  EXPECT_EQ(conversion.kind(), Kind::Wave);
  EXPECT_EQ(conversion.laneXorMask(1), 0u);
  EXPECT_EQ(conversion.registerSelectLanes(), 1u);
  EXPECT_EQ(conversion.registerSelectWaves(), 1u);
  checkConversion(split, everywhere);
  EXPECT_EQ(Conversion(split, everywhere).kind(), Kind::Workgroup);
}

//===----------------------------------------------------------------------===//
// Broadcast
//===----------------------------------------------------------------------===//

/// Whether every lane has what it needs, in one register for all lanes, by trying all.
bool broadcastsByEnumeration(const Layout &source, const Layout &result) {
  return all_of(seq(0u, result.registerCount()), [&](unsigned reg) {
    return any_of(seq(0u, source.registerCount()), [&](unsigned from) {
      for (unsigned wave = 0; wave < result.waveCount(); ++wave)
        for (unsigned lane = 0; lane < result.laneCount(); ++lane) {
          Coordinates element = result.coordinates(reg, lane, wave);
          for (auto [coordinate, size] : zip_equal(element, source.shape()))
            coordinate = size == 1 ? 0 : coordinate;
          if (source.coordinates(from, lane, wave) != element)
            return false;
        }
      return true;
    });
  });
}

void checkBroadcast(const Layout &source, const Layout &result) {
  SCOPED_TRACE(source.str() + " to " + result.str());
  auto registers = broadcastRegisters(source, result);
  ASSERT_EQ(registers.has_value(), broadcastsByEnumeration(source, result));
  if (!registers)
    return;
  ASSERT_EQ(registers->size(), result.registerCount());
  forEachPosition(result, [&](Position at) {
    Coordinates element = result.coordinates(at);
    for (auto [coordinate, size] : zip_equal(element, source.shape()))
      coordinate = size == 1 ? 0 : coordinate;
    ASSERT_EQ(source.coordinates((*registers)[at.reg], at.lane, at.wave), element);
  });
}

TEST(LayoutConversion, BroadcastOfASliceIsFree) {
  Random random = seededRandom();
  for (unsigned trial = 0; trial < 100; ++trial) {
    Layout result = randomRegisters(random, randomShape(random, 1 + trial % 3, 300), 3, 1);
    unsigned dim = below(random, result.rank());
    Layout source = result.keepDim(dim);
    EXPECT_TRUE(broadcastRegisters(source, result));
    checkBroadcast(source, result);
  }
}

TEST(LayoutConversion, BroadcastOfOtherLayoutsByEnumeration) {
  Random random = seededRandom();
  unsigned refused = 0;
  for (unsigned trial = 0; trial < 100; ++trial) {
    Coordinates shape = randomShape(random, 2, 60);
    Layout result = randomRegisters(random, shape, 2, 0);
    shape[below(random, 2)] = 1;
    Layout source = randomRegisters(random, shape, 2, 0);
    checkBroadcast(source, result);
    refused += !broadcastRegisters(source, result);
  }
  EXPECT_GT(refused, 10u);
  EXPECT_EQ(broadcastRegisters(Layout::replicated({1}, 2, 1), Layout::replicated({4}, 4, 1)),
            std::nullopt);
}

} // namespace
} // namespace wavetile::test
