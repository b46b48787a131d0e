//===- LayoutMatrixTest.cpp - Operands of matrix instructions -------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matrix operand layouts written as bases against the formulas of amd-facts.md, section 2: lane l,
// element i.
//
//===----------------------------------------------------------------------===//

#include "LayoutTestSupport.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace wavetile::test {
namespace {

struct Formula {
  const char *name;
  const char *text;
  Coordinates (*element)(int64_t l, int64_t i);
};

const Formula Formulas[] = {
    {"32x32 result",
     "register=[[1, 0], [2, 0], [8, 0], [16, 0]], "
     "lane=[[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [4, 0]], wave=[], shape=[32, 32]",
     [](int64_t l, int64_t i) { return Coordinates{8 * (i / 4) + 4 * (l / 32) + i % 4, l % 32}; }},
    {"16x16 result",
     "register=[[1, 0], [2, 0]], lane=[[0, 1], [0, 2], [0, 4], [0, 8], [4, 0], [8, 0]], wave=[], "
     "shape=[16, 16]",
     [](int64_t l, int64_t i) { return Coordinates{4 * (l / 16) + i, l % 16}; }},
    {"f64 16x16x4 result",
     "register=[[4, 0], [8, 0]], lane=[[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0]], wave=[], "
     "shape=[16, 16]",
     [](int64_t l, int64_t i) { return Coordinates{4 * i + l / 16, l % 16}; }},
    {"RDNA3 WMMA 16x16 result",
     "register=[[2, 0], [4, 0], [8, 0]], lane=[[0, 1], [0, 2], [0, 4], [0, 8], [1, 0]], wave=[], "
     "shape=[16, 16]",
     [](int64_t l, int64_t i) { return Coordinates{2 * i + l / 16, l % 16}; }},
    {"A of 32x32x8",
     "register=[[0, 1], [0, 2]], lane=[[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 4]], wave=[], "
     "shape=[32, 8]",
     [](int64_t l, int64_t i) { return Coordinates{l % 32, 4 * (l / 32) + i}; }},
    {"A of 16x16x16",
     "register=[[0, 1], [0, 2]], lane=[[1, 0], [2, 0], [4, 0], [8, 0], [0, 4], [0, 8]], wave=[], "
     "shape=[16, 16]",
     [](int64_t l, int64_t i) { return Coordinates{l % 16, 4 * (l / 16) + i}; }},
    {"A of 32x32x16",
     "register=[[0, 1], [0, 2], [0, 4]], "
     "lane=[[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 8]], wave=[], shape=[32, 16]",
     [](int64_t l, int64_t i) { return Coordinates{l % 32, 8 * (l / 32) + i}; }},
    {"A of 16x16x32",
     "register=[[0, 1], [0, 2], [0, 4]], "
     "lane=[[1, 0], [2, 0], [4, 0], [8, 0], [0, 8], [0, 16]], wave=[], shape=[16, 32]",
     [](int64_t l, int64_t i) { return Coordinates{l % 16, 8 * (l / 16) + i}; }},
    {"A of RDNA3 WMMA 16x16x16, halves of the wave alike",
     "register=[[0, 1], [0, 2], [0, 4], [0, 8]], "
     "lane=[[1, 0], [2, 0], [4, 0], [8, 0], [0, 0]], wave=[], shape=[16, 16]",
     [](int64_t l, int64_t i) { return Coordinates{l % 16, i}; }},
};

Layout matrixLayout(StringRef name) {
  const Formula *found = find_if(Formulas, [&](const Formula &f) { return name == f.name; });
  return cantFail(Layout::parse(found->text));
}

TEST(LayoutMatrix, OperandsByFormula) {
  for (const Formula &formula : Formulas) {
    SCOPED_TRACE(formula.name);
    Layout layout = matrixLayout(formula.name);
    forEachPosition(layout, [&](Position at) {
      ASSERT_EQ(layout.coordinates(at), formula.element(at.lane, at.reg));
    });
    EXPECT_TRUE(layout.addsRegisters());
    EXPECT_TRUE(layout.hasDisjointFields());
  }
}

TEST(LayoutMatrix, TwoBlocksAreAProduct) {
  // Two-block shapes: register 16 * block + i.
  Layout blocks =
      matrixLayout("32x32 result").expandDims(0) *
      cantFail(Layout::parse("register=[[1, 0, 0]], lane=[], wave=[], shape=[2, 1, 1]"));
  forEachPosition(blocks, [&](Position at) {
    Coordinates expected = Formulas[0].element(at.lane, at.reg % 16);
    expected.insert(expected.begin(), at.reg / 16);
    ASSERT_EQ(blocks.coordinates(at), expected);
  });
}

TEST(LayoutMatrix, TheAtomOfOperandsIsAnAtomOfTheTile) {
  // A 128 x 96 result of 4 waves, 2 along each dimension: 96 = 2 waves x 16 x 3 repetitions.
  Layout atom = matrixLayout("16x16 result");
  Layout tile = cantFail(Layout::tiled(atom, {128, 96}, {{1, 2}, {0, 2}}));
  EXPECT_EQ(tile.registerCount(), 4u * 4 * 3);
  forEachPosition(tile, [&](Position at) {
    Coordinates element = atom.coordinates(at.reg % 4, at.lane);
    element[1] += 16 * (at.wave % 2) + 32 * (at.reg / 16);
    element[0] += 16 * (at.wave / 2) + 32 * (at.reg / 4 % 4);
    ASSERT_EQ(tile.coordinates(at), element);
  });
}

TEST(LayoutMatrix, OperandsOfOneProductAreWhereTheResultNeedsThem) {
  // C is 64 x 48, A 64 x 32, B 32 x 48; wave w has column w % 2 and row w / 2 of the result.
  Layout a =
      cantFail(Layout::tiled(matrixLayout("A of 16x16x16"), {64, 32}, {{std::nullopt, 2}, {0, 2}}));
  Layout bAtom = matrixLayout("A of 16x16x16").transpose({1, 0});
  Layout b = cantFail(Layout::tiled(bAtom, {32, 96}, {{1, 2}, {std::nullopt, 2}}));
  EXPECT_EQ(a.replication(), (Replication{0, 0, 0b01}));
  EXPECT_EQ(b.replication(), (Replication{0, 0, 0b10}));
  Layout c = cantFail(Layout::tiled(matrixLayout("16x16 result"), {64, 96}, {{1, 2}, {0, 2}}));
  // Every wave has the rows of A and the columns of B that its part of C needs.
  for (unsigned wave = 0; wave < 4; ++wave) {
    auto held = [&](const Layout &layout, unsigned dim) {
      std::map<int64_t, unsigned> indices;
      for (unsigned lane = 0; lane < 64; ++lane)
        for (unsigned reg = 0; reg < layout.registerCount(); ++reg)
          ++indices[layout.coordinates(reg, lane, wave)[dim]];
      SmallVector<int64_t> sorted;
      for (auto [index, count] : indices)
        sorted.push_back(index);
      return sorted;
    };
    EXPECT_EQ(held(c, 0), held(a, 0));
    EXPECT_EQ(held(c, 1), held(b, 1));
  }
}

TEST(LayoutMatrix, WavesBeyondTheTileReplicate) {
  Layout tile = cantFail(Layout::tiled(matrixLayout("16x16 result"), {16, 64}, {{0, 2}, {1, 2}}));
  EXPECT_EQ(tile.replication(), (Replication{0, 0, 0b01}));
  EXPECT_EQ(tile.registerCount(), 8u);
}

TEST(LayoutMatrix, AtomsThatDoNotFillTheTileAreRefused) {
  Expected<Layout> tile = Layout::tiled(matrixLayout("16x16 result"), {16, 24}, {});
  ASSERT_FALSE(tile);
  EXPECT_EQ(toString(tile.takeError()),
            "a tile of [16, 24] cannot be filled with atoms of [16, 16]");
  Expected<Layout> rank = Layout::tiled(matrixLayout("16x16 result"), {16}, {});
  ASSERT_FALSE(rank);
  EXPECT_EQ(toString(rank.takeError()), "a tile of [16] cannot be filled with atoms of [16, 16]");
}

TEST(LayoutMatrix, ResultsReduceWithoutLds) {
  // Rows of a 32x32 result lie across 32 lanes: five butterflies.
  std::optional<Reduction> rows = matrixLayout("32x32 result").reduction(1);
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->laneMasks, (SmallVector<unsigned, 6>{1, 2, 4, 8, 16}));
  EXPECT_EQ(rows->registers.size(), 16u);
  std::optional<Reduction> columns = matrixLayout("32x32 result").reduction(0);
  EXPECT_EQ(columns->laneMasks, (SmallVector<unsigned, 6>{32}));
  EXPECT_EQ(columns->registers.size(), 1u);
}

TEST(LayoutMatrix, TransposedResultOf32IsTheNextOperandUpToLanes) {
  // S^T = K Q^T leaves P where the next product reads it, except that halves of the wave hold
  // alternate groups of 4: a conversion inside the wave.
  Layout result = matrixLayout("32x32 result").transpose({1, 0});
  Layout operand = cantFail(Layout::tiled(matrixLayout("A of 32x32x8"), {32, 32}, {}));
  EXPECT_EQ(Conversion(result, operand).kind(), Conversion::Kind::None);
  Layout doubleRate = cantFail(Layout::tiled(matrixLayout("A of 32x32x16"), {32, 32}, {}));
  EXPECT_EQ(Conversion(result, doubleRate).kind(), Conversion::Kind::Wave);
}

} // namespace
} // namespace wavetile::test
