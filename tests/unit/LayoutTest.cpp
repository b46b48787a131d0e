//===- LayoutTest.cpp - Which element of a tile a lane or LDS word holds --===//
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

/// Register layouts of the kinds that the compiler makes, and random ones.
std::vector<Layout> someRegisterLayouts(Random &random) {
  std::vector<Layout> layouts = {
      Layout::blocked({16, 192}, {1, 0}, {1, 8}, {8, 8}, {2, 1}),
      Layout::blocked({12, 10, 3}, {2, 0, 1}, {2, 1, 1}, {2, 2, 4}, {1, 2, 1}),
      Layout::blocked({1}, {}, {4}, {8}, {2}),
      Layout::blocked({96}, {}, {4}, {8}, {2}),
      Layout::replicated({6, 4}, 8, 2),
      Layout::blocked({32, 48}, {0, 1}, {4, 2}, {8, 1}, {1, 4}),
  };
  for (unsigned rank = 0; rank <= 3; ++rank)
    for (unsigned trial = 0; trial < 20; ++trial)
      layouts.push_back(randomRegisters(random, randomShape(random, rank, 600), 3, 2));
  return layouts;
}

class LayoutTest : public testing::Test {
protected:
  void forLayouts(function_ref<void(const Layout &)> check) {
    Random random = seededRandom();
    for (const Layout &layout : someRegisterLayouts(random)) {
      SCOPED_TRACE(layout.str());
      check(layout);
    }
  }
};

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

TEST_F(LayoutTest, TheExampleOfTheHeader) {
  Layout layout = cantFail(Layout::parse("register=[[0, 1]], lane=[[0, 2], [0, 4], [1, 0]], "
                                         "wave=[[2, 0]], shape=[4, 8]"));
  EXPECT_EQ(layout.coordinates(1, 5, 1), Coordinates({3, 3}));
  EXPECT_EQ(layout.registerCount(), 2u);
  EXPECT_EQ(layout.laneCount(), 8u);
  EXPECT_EQ(layout.waveCount(), 2u);
  Layout swizzle = cantFail(Layout::parse("offset=[[0, 1], [0, 2], [1, 1], [2, 2]], shape=[4, 4]"));
  for (int64_t row = 0; row < 4; ++row)
    for (int64_t column = 0; column < 4; ++column)
      EXPECT_EQ(swizzle.offset({row, column}), 4 * row + (column ^ row));
}

TEST_F(LayoutTest, TheTableOfThePage) {
  Layout layout = cantFail(Layout::parse(
      "register=[[0, 1], [0, 2], [8, 0]], lane=[[0, 4], [0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], "
      "wave=[[4, 0]], shape=[16, 192]"));
  EXPECT_EQ(layout.coordinates(0, 0, 0), Coordinates({0, 0}));
  EXPECT_EQ(layout.coordinates(3, 0, 0), Coordinates({0, 3}));
  EXPECT_EQ(layout.coordinates(5, 0, 0), Coordinates({8, 1}));
  EXPECT_EQ(layout.coordinates(3, 17, 1), Coordinates({5, 7}));
  EXPECT_EQ(layout.coordinates(8, 0, 0), Coordinates({0, 64}));
}

TEST_F(LayoutTest, CoordinatesAreXorOfBasesPlusRepetitions) {
  Random random = seededRandom();
  for (unsigned trial = 0; trial < 50; ++trial) {
    // An atom of 8 x 4 elements: 3 repetitions of rows, 5 of columns.
    BasisList basis = {{1, 0}, {2, 1}, {0, 2}, {4, 3}, {4, 2}, {0, 0}};
    std::shuffle(basis.begin(), basis.end(), random);
    BasisList registers(basis.begin(), basis.begin() + 2), lanes(basis.begin() + 2, basis.end());
    BasisList waves = {{3, 3}};
    for (bool rowsFastest : {false, true}) {
      SmallVector<unsigned, 2> order = {1, 0};
      if (rowsFastest)
        std::swap(order[0], order[1]);
      Expected<Layout> made = Layout::fromBases({24, 20}, registers, lanes, waves, order);
      if (!made) { // The order of bases does not matter: it covers the atom or never does.
        FAIL() << toString(made.takeError());
      }
      Layout layout = std::move(*made);
      ASSERT_EQ(layout.registerCount(), 60u);
      forEachPosition(layout, [&](Position at) {
        Coordinates inRegister = xorOfBases(registers, at.reg % 4, 2);
        Coordinates inLane = xorOfBases(lanes, at.lane, 2);
        Coordinates inWave = xorOfBases(waves, at.wave, 2);
        unsigned repetition = at.reg / 4;
        int64_t row = rowsFastest ? repetition % 3 : repetition / 5;
        int64_t column = rowsFastest ? repetition / 3 : repetition % 5;
        Coordinates expected = {(inRegister[0] ^ inLane[0] ^ inWave[0]) + 8 * row,
                                (inRegister[1] ^ inLane[1] ^ inWave[1]) + 4 * column};
        ASSERT_EQ(layout.coordinates(at), expected);
      });
    }
  }
}

TEST_F(LayoutTest, EveryElementHasAnOwnerInsideTheTile) {
  forLayouts([](const Layout &layout) {
    std::set<int64_t> seen;
    forEachPosition(layout, [&](Position at) {
      Coordinates element = layout.coordinates(at);
      for (auto [coordinate, size] : zip_equal(element, layout.shape())) {
        ASSERT_GE(coordinate, 0);
        ASSERT_LT(coordinate, size);
      }
      seen.insert(rowMajorIndex(element, layout.shape()));
    });
    EXPECT_EQ(int64_t(seen.size()), layout.elementCount());
  });
}

TEST_F(LayoutTest, BlockedGoesElementsLanesWavesRepetitions) {
  Layout layout = Layout::blocked({16, 192}, {1, 0}, {1, 4}, {4, 16}, {2, 1});
  EXPECT_EQ(layout.atomShape(), Coordinates({16, 64}));
  EXPECT_EQ(layout.repetitions(0), 1);
  EXPECT_EQ(layout.repetitions(1), 3);
  EXPECT_EQ(layout.registerCount(), 4u * 2 * 3);
  forEachPosition(layout, [&](Position at) {
    int64_t row = at.lane / 16 + 4 * at.wave + 8 * (at.reg / 4 % 2);
    int64_t column = at.reg % 4 + 4 * (at.lane % 16) + 64 * (at.reg / 8);
    ASSERT_EQ(layout.coordinates(at), Coordinates({row, column}));
  });
}

TEST_F(LayoutTest, BlockedLargerThanTheTileReplicates) {
  Layout layout = Layout::blocked({2, 4}, {1, 0}, {1, 8}, {4, 1}, {2, 2});
  EXPECT_EQ(layout.registerCount(), 4u);
  forEachPosition(layout, [&](Position at) {
    ASSERT_EQ(layout.coordinates(at), Coordinates({at.lane % 2, at.reg}));
  });
  EXPECT_EQ(layout.replication(), (Replication{0, 0b10, 0b11}));
}

TEST_F(LayoutTest, PowersOfTwoInRepetitionsBelongToTheAtom) {
  // 12 repetitions of 16 lanes: 4 of them in the atom.
  Layout layout = Layout::blocked({192}, {}, {1}, {16}, {1});
  EXPECT_EQ(layout.atomShape(0), 64);
  EXPECT_EQ(layout.repetitions(0), 3);
  forEachPosition(layout, [&](Position at) {
    ASSERT_EQ(layout.coordinates(at), Coordinates({at.lane + 16 * at.reg}));
  });
}

TEST_F(LayoutTest, RegistersAndLanesCombineByXorAndWhereSaidByAddition) {
  unsigned additive = 0;
  forLayouts([&](const Layout &layout) {
    bool adds = true;
    forEachPosition(layout, [&](Position at) {
      Coordinates whole = layout.coordinates(at), constant = layout.coordinates(at.reg),
                  variable = layout.coordinates(0, at.lane, at.wave);
      for (unsigned dim = 0; dim < layout.rank(); ++dim) {
        ASSERT_EQ(whole[dim], constant[dim] ^ variable[dim]);
        adds &= whole[dim] == constant[dim] + variable[dim];
      }
    });
    if (layout.addsRegisters()) {
      EXPECT_TRUE(adds);
    }
    additive += layout.addsRegisters();
  });
  EXPECT_GT(additive, 5u);
  EXPECT_TRUE(Layout::blocked({16, 192}, {1, 0}, {1, 8}, {8, 8}, {2, 1}).addsRegisters());
  Layout swizzled = cantFail(Layout::parse("register=[[1]], lane=[[3]], wave=[], shape=[4]"));
  EXPECT_FALSE(swizzled.addsRegisters());
}

TEST_F(LayoutTest, BitFieldsRebuildTheCoordinates) {
  forLayouts([](const Layout &layout) {
    for (unsigned dim = 0; dim < layout.rank(); ++dim) {
      SmallVector<BitField, 4> fields = layout.bitFields(dim);
      bool disjoint = true;
      for (unsigned wave = 0; wave < layout.waveCount(); ++wave)
        for (unsigned lane = 0; lane < layout.laneCount(); ++lane) {
          int64_t byXor = 0, byAddition = 0;
          for (const BitField &field : fields) {
            unsigned number = field.input == LayoutInput::Lane ? lane : wave;
            int64_t part = int64_t((number >> field.inputBit) & ((1u << field.width) - 1))
                           << field.coordinateBit;
            byXor ^= part;
            byAddition += part;
          }
          ASSERT_EQ(byXor, layout.coordinates(0, lane, wave)[dim]);
          disjoint &= byXor == byAddition;
        }
      if (layout.hasDisjointFields()) {
        EXPECT_TRUE(disjoint);
      }
    }
  });
}

TEST_F(LayoutTest, ABlockedLayoutHasOneFieldForLanesAndOneForWaves) {
  Layout layout = Layout::blocked({4, 256}, {1, 0}, {1, 4}, {4, 16}, {1, 4});
  EXPECT_TRUE(layout.hasDisjointFields());
  EXPECT_EQ(layout.bitFields(0), (SmallVector<BitField, 4>{{LayoutInput::Lane, 4, 2, 0}}));
  EXPECT_EQ(layout.bitFields(1),
            (SmallVector<BitField, 4>{{LayoutInput::Lane, 0, 4, 2}, {LayoutInput::Wave, 0, 2, 6}}));
}

TEST_F(LayoutTest, PositionIsTheSmallestByEnumeration) {
  forLayouts([](const Layout &layout) {
    std::map<int64_t, Position> first;
    // forEachPosition counts registers fastest and waves slowest.
    forEachPosition(layout, [&](Position at) {
      first.try_emplace(rowMajorIndex(layout.coordinates(at), layout.shape()), at);
    });
    forEachElement(layout.shape(), [&](const Coordinates &element) {
      ASSERT_EQ(layout.position(element), first[rowMajorIndex(element, layout.shape())]);
    });
  });
}

TEST_F(LayoutTest, ReplicationLeavesOneOwnerForEachElement) {
  forLayouts([](const Layout &layout) {
    Replication copies = layout.replication();
    std::map<int64_t, unsigned> owners;
    forEachPosition(layout, [&](Position at) {
      bool isCopy = (at.reg & copies.registerMask) || (at.lane & copies.laneMask) ||
                    (at.wave & copies.waveMask);
      if (!isCopy)
        ++owners[rowMajorIndex(layout.coordinates(at), layout.shape())];
    });
    EXPECT_EQ(int64_t(owners.size()), layout.elementCount());
    for (auto [element, count] : owners)
      EXPECT_EQ(count, 1u) << "element " << element;
  });
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

/// Whether registers can be grouped, in the same way for all lanes, so that each group holds
/// `width` consecutive elements along `dim` from a multiple of `width`.
bool hasVectors(const Layout &layout, unsigned dim, unsigned width) {
  for (unsigned reg = 0; reg < layout.registerCount(); ++reg)
    for (unsigned step = 0; step < width; ++step) {
      bool found = any_of(seq(0u, layout.registerCount()), [&](unsigned other) {
        for (unsigned wave = 0; wave < layout.waveCount(); ++wave)
          for (unsigned lane = 0; lane < layout.laneCount(); ++lane) {
            Coordinates wanted = layout.coordinates(reg, lane, wave);
            if (wanted[dim] % width != layout.coordinates(reg)[dim] % width)
              return false;
            wanted[dim] = wanted[dim] / width * width + step;
            if (layout.coordinates(other, lane, wave) != wanted)
              return false;
          }
        return true;
      });
      if (!found)
        return false;
    }
  return true;
}

TEST_F(LayoutTest, ContiguousElementsByEnumeration) {
  forLayouts([](const Layout &layout) {
    for (unsigned dim = 0; dim < layout.rank(); ++dim) {
      unsigned width = layout.contiguousElements(dim);
      EXPECT_TRUE(hasVectors(layout, dim, width));
      if (2 * width <= layout.atomShape(dim)) {
        EXPECT_FALSE(hasVectors(layout, dim, 2 * width));
      }
    }
  });
}

TEST_F(LayoutTest, VectorsHoldConsecutiveElementsAndEachRegisterOnce) {
  forLayouts([](const Layout &layout) {
    for (unsigned dim = 0; dim < layout.rank(); ++dim)
      for (unsigned width = 1; width <= layout.contiguousElements(dim); width *= 2) {
        std::set<unsigned> seen;
        for (const auto &vector : layout.vectors(dim, width)) {
          ASSERT_EQ(vector.size(), width);
          for (unsigned wave = 0; wave < layout.waveCount(); ++wave)
            for (unsigned lane = 0; lane < layout.laneCount(); ++lane) {
              Coordinates element = layout.coordinates(vector[0], lane, wave);
              ASSERT_EQ(element[dim] % width, 0);
              for (unsigned reg : vector) {
                ASSERT_EQ(layout.coordinates(reg, lane, wave), element);
                ++element[dim];
              }
            }
          seen.insert(vector.begin(), vector.end());
        }
        EXPECT_EQ(seen.size(), layout.registerCount());
      }
  });
}

TEST_F(LayoutTest, VectorWidthsOfKnownLayouts) {
  Layout layout = Layout::blocked({16, 192}, {1, 0}, {1, 8}, {8, 8}, {2, 1});
  EXPECT_EQ(layout.contiguousElements(1), 8u);
  EXPECT_EQ(layout.contiguousElements(0), 1u);
  EXPECT_EQ(layout.vectors(1, 4)[1], (SmallVector<unsigned, 8>{4, 5, 6, 7}));
  // Rows lie in registers 4 apart.
  Layout columns = Layout::blocked({2, 8}, {1, 0}, {2, 4}, {1, 2}, {1, 1});
  EXPECT_EQ(columns.contiguousElements(0), 2u);
  EXPECT_EQ(columns.vectors(0, 2)[3], (SmallVector<unsigned, 8>{3, 7}));
  // A lane that holds the second of each pair: no vector, though registers are neighbours.
  Layout odd = cantFail(Layout::parse("register=[[1]], lane=[[3]], wave=[], shape=[4]"));
  EXPECT_EQ(odd.contiguousElements(0), 1u);
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

TEST_F(LayoutTest, FromBasesRefusesWhatIsNoLayoutOfTheTile) {
  auto message = [](Expected<Layout> layout) {
    return layout ? layout->str() : toString(layout.takeError());
  };
  EXPECT_EQ(message(Layout::fromBases({4}, BasisList{{1}}, BasisList{}, BasisList{})),
            "some elements of the tile are in no register: the bases do not span the atom of [4]");
  EXPECT_EQ(message(Layout::fromBases({12}, BasisList{{1}, {2}, {4}}, BasisList{}, BasisList{})),
            "basis [4] of register lies outside the atom, the power-of-two part of [12]");
  EXPECT_EQ(message(Layout::fromBases({4}, BasisList{{1, 0}, {2}}, BasisList{}, BasisList{})),
            "basis [1, 0] of register for a tile of rank 1");
  EXPECT_EQ(message(Layout::fromBases({0}, BasisList{}, BasisList{}, BasisList{})),
            "sizes of a tile are positive, not [0]");
  EXPECT_EQ(message(Layout::fromBases({3, 3}, BasisList{}, BasisList{}, BasisList{}, {1, 1})),
            "the order of repetitions names each dimension once, not [1, 1]");
  EXPECT_EQ(message(Layout::fromBases({int64_t(1) << 40, int64_t(1) << 40}, BasisList{},
                                      BasisList{}, BasisList{})),
            "a tile of [1099511627776, 1099511627776] elements is too large");
  EXPECT_EQ(message(Layout::ldsFromBases({4}, BasisList{{1}, {2}, {3}})),
            "two offsets of an LDS layout hold the same element");
  EXPECT_EQ(message(Layout::ldsFromBases({4}, BasisList{{1}})),
            "some elements of the tile are in no place: the bases do not span the atom of [4]");
  EXPECT_EQ(message(Layout::ldsFromBases({2}, BasisList{{1}}, 0)), "LDS has at least one buffer");
  EXPECT_EQ(message(Layout::ldsFromBases({2}, BasisList{{1}}, 1, Padding{3, 1})),
            "padding is a positive number of elements after a power of two");
}

TEST_F(LayoutTest, EqualityIsSemantic) {
  Layout folded = Layout::blocked({96}, {}, {2}, {4}, {1});
  Layout written = cantFail(
      Layout::fromBases({96}, BasisList{{1}, {8}, {16}}, BasisList{{2}, {4}}, BasisList{}));
  EXPECT_EQ(folded, written);
  EXPECT_EQ(hash_value(folded), hash_value(written));
  EXPECT_NE(folded, Layout::blocked({96}, {}, {4}, {4}, {1}));
  // The same bases, but another order of the repetitions.
  Layout rows = cantFail(Layout::fromBases({3, 5}, {}, {}, {}, {0, 1}));
  Layout columns = cantFail(Layout::fromBases({3, 5}, {}, {}, {}, {1, 0}));
  EXPECT_NE(rows, columns);
  // An order of dimensions that do not repeat means nothing.
  EXPECT_EQ(Layout::replicated({3, 4}, 1, 1, {0, 1}).repetitionOrder(), ArrayRef<unsigned>({0}));
  EXPECT_EQ(Layout::lds({4, 4}).withPadding({16, 0}), Layout::lds({4, 4}));
}

TEST_F(LayoutTest, EqualLayoutsAgreeEverywhereAndUnequalOnesDoNot) {
  Random random = seededRandom();
  std::vector<Layout> layouts;
  for (unsigned trial = 0; trial < 60; ++trial)
    layouts.push_back(randomRegisters(random, {2, 6}, 1, 0));
  unsigned equal = 0;
  for (const Layout &a : layouts)
    for (const Layout &b : layouts) {
      bool same = a.registerCount() == b.registerCount();
      if (same)
        forEachPosition(a, [&](Position at) { same &= a.coordinates(at) == b.coordinates(at); });
      ASSERT_EQ(a == b, same) << a.str() << " and " << b.str();
      equal += same;
    }
  EXPECT_GT(equal, layouts.size());
}

//===----------------------------------------------------------------------===//
// Product and quotient
//===----------------------------------------------------------------------===//

TEST_F(LayoutTest, ProductPutsALayoutInsideEachElement) {
  Random random = seededRandom();
  for (unsigned trial = 0; trial < 40; ++trial) {
    Layout inner = randomRegisters(random, {4, 8}, 2, 1);
    Layout outer = randomRegisters(random, randomShape(random, 2, 40), 1, 1);
    Layout product = inner * outer;
    forEachPosition(inner, [&](Position low) {
      forEachPosition(outer, [&](Position high) {
        Coordinates expected = inner.coordinates(low), steps = outer.coordinates(high);
        expected[0] += 4 * steps[0];
        expected[1] += 8 * steps[1];
        ASSERT_EQ(product.coordinates(low.reg + inner.registerCount() * high.reg,
                                      low.lane + inner.laneCount() * high.lane,
                                      low.wave + inner.waveCount() * high.wave),
                  expected);
      });
    });
    EXPECT_EQ(product.leftDivide(inner), outer);
  }
}

TEST_F(LayoutTest, RepetitionsOfOneDimensionMultiply) {
  EXPECT_EQ(Layout::replicated({6}, 1, 1) * Layout::replicated({10}, 1, 1),
            Layout::replicated({60}, 1, 1));
  EXPECT_EQ(Layout::replicated({3, 5}, 1, 1) * Layout::replicated({7, 3}, 1, 1, {0, 1}),
            Layout::replicated({21, 15}, 1, 1));
}

TEST_F(LayoutTest, ProductIsAssociative) {
  Random random = seededRandom();
  for (unsigned trial = 0; trial < 40; ++trial) {
    Layout a = randomRegisters(random, {6, 4}, 1, 0), b = randomRegisters(random, {5, 2}, 1, 1),
           c = randomRegisters(random, {2, 3}, 0, 1);
    EXPECT_EQ((a * b) * c, a * (b * c));
  }
}

TEST_F(LayoutTest, LeftDivideRefusesWhatIsNoMultiple) {
  Layout layout = Layout::blocked({16, 24}, {1, 0}, {1, 4}, {8, 2}, {1, 1});
  EXPECT_EQ(layout.leftDivide(Layout::blocked({1, 8}, {1, 0}, {1, 8}, {1, 1}, {1, 1})),
            std::nullopt);
  EXPECT_EQ(layout.leftDivide(Layout::replicated({1, 5}, 1, 1)), std::nullopt);
  EXPECT_EQ(layout.leftDivide(Layout::replicated({2, 1}, 1, 1)), std::nullopt);
  EXPECT_EQ(layout.leftDivide(Layout::lds({1, 4})), std::nullopt);
  // Another order of repetitions, and padding that only one side has.
  EXPECT_EQ(Layout::replicated({9, 5}, 1, 1, {0, 1}).leftDivide(Layout::replicated({3, 1}, 1, 1)),
            Layout::replicated({3, 5}, 1, 1, {0, 1}));
  EXPECT_EQ(Layout::replicated({9, 5}, 1, 1).leftDivide(Layout::replicated({3, 1}, 1, 1)),
            std::nullopt);
  EXPECT_EQ(Layout::lds({2, 4}, {}, 1, {4, 1}).leftDivide(Layout::lds({1, 4})), std::nullopt);
  EXPECT_EQ(Layout::lds({2, 4}).leftDivide(Layout::lds({1, 4}, {}, 1, {4, 1})), std::nullopt);
  std::optional<Layout> outer =
      layout.leftDivide(Layout::blocked({1, 4}, {1, 0}, {1, 4}, {1, 1}, {1, 1}));
  ASSERT_TRUE(outer);
  EXPECT_EQ(*outer, Layout::blocked({16, 6}, {1, 0}, {1, 1}, {8, 2}, {1, 1}));
}

TEST_F(LayoutTest, ProductOfLds) {
  Layout inner = Layout::swizzled({4, 8}, 2, 1, 4), outer = Layout::lds({2, 3}, {}, 3);
  Layout product = inner * outer;
  EXPECT_EQ(product.bufferCount(), 3u);
  forEachElement({8, 24}, [&](const Coordinates &at) {
    EXPECT_EQ(product.offset(at),
              inner.offset({at[0] % 4, at[1] % 8}) + 32 * outer.offset({at[0] / 4, at[1] / 8}));
  });
  EXPECT_EQ(product.leftDivide(inner), outer);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

TEST_F(LayoutTest, TextIsReadable) {
  EXPECT_EQ(Layout::blocked({16, 192}, {1, 0}, {1, 4}, {4, 16}, {2, 1}).str(),
            "register=[[0, 1], [0, 2], [8, 0]], lane=[[0, 4], [0, 8], [0, 16], [0, 32], [1, 0], "
            "[2, 0]], wave=[[4, 0]], shape=[16, 192]");
  EXPECT_EQ(Layout::replicated({3, 5}, 1, 1, {0, 1}).str(),
            "register=[], lane=[], wave=[], shape=[3, 5], repeat=[0, 1]");
  EXPECT_EQ(Layout::lds({2, 2}, {}, 3, {2, 1}).str(),
            "offset=[[0, 1], [1, 0]], shape=[2, 2], buffers=3, padding=[2, 1]");
}

TEST_F(LayoutTest, TextRoundTrips) {
  forLayouts(
      [](const Layout &layout) { EXPECT_EQ(cantFail(Layout::parse(layout.str())), layout); });
  Random random = seededRandom();
  for (unsigned trial = 0; trial < 50; ++trial) {
    Layout layout = randomLds(random, randomShape(random, trial % 4, 600))
                        .withBuffers(1 + trial % 3)
                        .withPadding({8, trial % 5});
    EXPECT_EQ(cantFail(Layout::parse(layout.str())), layout);
  }
}

TEST_F(LayoutTest, TextIsFreeInSpacesAndOrder) {
  EXPECT_EQ(cantFail(Layout::parse(" shape = [ 4 ],lane=[[1],[2]] ,register=[ ],wave=[] ")),
            cantFail(Layout::parse("register=[], lane=[[1], [2]], wave=[], shape=[4]")));
}

TEST_F(LayoutTest, MalformedTextIsAnErrorThatSaysWhy) {
  std::pair<StringRef, StringRef> cases[] = {
      {"", "layout, character 1: expected a key"},
      {"register", "layout, character 9: expected '=' after 'register'"},
      {"shape=4", "layout: 'shape' expects a list of integers"},
      {"shape=[4", "layout, character 9: expected ',' or ']'"},
      {"shape=[x]", "layout, character 8: expected an integer or '['"},
      {"shape=[99999999999999999999]", "layout, character 8: expected an integer or '['"},
      {"shape=[4] lane=[]", "layout, character 11: expected ',' or the end"},
      {"shape=[4],", "layout, character 11: expected a key"},
      {"shape=[4], shape=[4]", "layout, character 17: 'shape' is given twice"},
      {"shape=[[4]]", "layout: 'shape' expects a list of integers"},
      {"shape=[[[4]]]", "layout, character 10: lists are nested too deeply"},
      {"colour=[4]", "layout: unknown key 'colour'"},
      {"register=[1]", "layout: 'register' expects a list of integers"},
      {"register=1", "layout: 'register' expects a list of bases"},
      {"shape=[4]", "layout: expected either 'register', 'lane' and 'wave' or 'offset'"},
      {"register=[], lane=[], shape=[1]",
       "layout: expected either 'register', 'lane' and 'wave' or 'offset'"},
      {"register=[], lane=[], wave=[], offset=[], shape=[1]",
       "layout: expected either 'register', 'lane' and 'wave' or 'offset'"},
      {"register=[], lane=[], wave=[]", "layout: expected 'shape'"},
      {"register=[], lane=[], wave=[], shape=[1], buffers=2",
       "layout: 'buffers' and 'padding' are for LDS"},
      {"offset=[], shape=[1], buffers=0", "layout: 'buffers' expects a number from 1 to 1024"},
      {"offset=[], shape=[1], padding=[4]", "layout: 'padding' expects [interval, amount]"},
      {"offset=[], shape=[1], padding=[5, 1]",
       "padding is a positive number of elements after a power of two"},
      {"register=[], lane=[], wave=[], shape=[3, 5], repeat=[0]",
       "layout: 'repeat' lacks dimension 1, which repeats"},
      {"register=[], lane=[], wave=[], shape=[3, 5], repeat=[0, 2]",
       "layout: 'repeat' names dimensions of the tile, each once"},
      {"register=[[-1]], lane=[], wave=[], shape=[2]",
       "basis [-1] of register lies outside the atom, the power-of-two part of [2]"},
      {"register=[], lane=[], wave=[], shape=[-2]", "sizes of a tile are positive, not [-2]"},
      {"register=[], lane=[], wave=[], shape=[2]",
       "some elements of the tile are in no register: the bases do not span the atom of [2]"},
  };
  for (auto [text, message] : cases) {
    Expected<Layout> layout = Layout::parse(text);
    ASSERT_FALSE(layout) << text.str();
    EXPECT_EQ(toString(layout.takeError()), message) << text.str();
  }
}

} // namespace
} // namespace wavetile::test
