//===- LayoutShapesTest.cpp - Layouts of derived tiles -----------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayoutTestSupport.h"

#include "llvm/ADT/STLExtras.h"

#include <set>

using namespace llvm;

namespace wavetile::test {
namespace {

Coordinates without(Coordinates coordinates, unsigned dim) {
  coordinates.erase(coordinates.begin() + dim);
  return coordinates;
}

class LayoutShapesTest : public testing::Test {
protected:
  void forLayouts(function_ref<void(const Layout &)> check) {
    Random random = seededRandom();
    for (unsigned rank = 1; rank <= 3; ++rank)
      for (unsigned trial = 0; trial < 40; ++trial) {
        Layout layout = randomRegisters(random, randomShape(random, rank, 400), 3, 2);
        SCOPED_TRACE(layout.str());
        check(layout);
      }
  }
};

//===----------------------------------------------------------------------===//
// Slices and reductions
//===----------------------------------------------------------------------===//

TEST_F(LayoutShapesTest, ASliceHoldsTheSameRowsInEachLaneAndEachRowOnce) {
  forLayouts([](const Layout &layout) {
    for (unsigned dim = 0; dim < layout.rank(); ++dim) {
      Layout slice = layout.slice(dim);
      ASSERT_EQ(Coordinates(slice.shape()), without(Coordinates(layout.shape()), dim));
      for (unsigned wave = 0; wave < layout.waveCount(); ++wave)
        for (unsigned lane = 0; lane < layout.laneCount(); ++lane) {
          std::set<Coordinates> whole, sliced;
          for (unsigned reg = 0; reg < layout.registerCount(); ++reg)
            whole.insert(without(layout.coordinates(reg, lane, wave), dim));
          for (unsigned reg = 0; reg < slice.registerCount(); ++reg)
            sliced.insert(slice.coordinates(reg, lane, wave));
          ASSERT_EQ(whole, sliced);
          ASSERT_EQ(sliced.size(), slice.registerCount());
        }
      EXPECT_TRUE(slice.isSliceOf(layout, dim));
    }
  });
}

TEST_F(LayoutShapesTest, SliceOfAKnownLayout) {
  Layout layout = Layout::blocked({16, 192}, {1, 0}, {2, 8}, {8, 8}, {1, 1});
  EXPECT_EQ(layout.slice(1).str(),
            "register=[[1]], lane=[[0], [0], [0], [2], [4], [8]], wave=[], shape=[16]");
  EXPECT_EQ(layout.slice(0).str(), "register=[[1], [2], [4]], lane=[[8], [16], [32], [0], [0], "
                                   "[0]], wave=[], shape=[192]");
  EXPECT_FALSE(layout.slice(0).isSliceOf(layout, 1));
  EXPECT_FALSE(Layout::replicated({16}, 64, 1).isSliceOf(layout, 1));
  EXPECT_EQ(layout.keepDim(1).shape(), ArrayRef<int64_t>({16, 1}));
}

/// Runs a reduction as a lowering would, on the sets of elements that have been combined.
void checkReduction(const Layout &layout, unsigned dim) {
  std::optional<Reduction> reduction = layout.reduction(dim);
  ASSERT_TRUE(reduction);
  const Layout &result = reduction->result;
  ASSERT_EQ(result, layout.slice(dim));
  ASSERT_EQ(reduction->registers.size(), result.registerCount());
  using Combined = std::multiset<Coordinates>;
  auto index = [&](Position at) {
    return (at.wave * result.laneCount() + at.lane) * result.registerCount() + at.reg;
  };
  std::vector<Combined> values(result.waveCount() * result.laneCount() * result.registerCount());
  forEachPosition(result, [&](Position at) {
    for (unsigned reg : reduction->registers[at.reg])
      values[index(at)].insert(layout.coordinates(reg, at.lane, at.wave));
    if (at.lane == 0 && at.wave == 0) {
      EXPECT_TRUE(is_sorted(reduction->registers[at.reg], [&](unsigned a, unsigned b) {
        return layout.coordinates(a)[dim] < layout.coordinates(b)[dim];
      }));
    }
  });
  auto butterfly = [&](unsigned laneMask, unsigned waveMask) {
    std::vector<Combined> before = values;
    forEachPosition(result, [&](Position at) {
      const Combined &other = before[index({at.reg, at.lane ^ laneMask, at.wave ^ waveMask})];
      values[index(at)].insert(other.begin(), other.end());
    });
  };
  for (unsigned mask : reduction->laneMasks)
    butterfly(mask, 0);
  for (unsigned mask : reduction->waveMasks)
    butterfly(0, mask);
  forEachPosition(result, [&](Position at) {
    Combined row;
    for (int64_t i = 0; i < layout.shape()[dim]; ++i) {
      Coordinates element = result.coordinates(at);
      element.insert(element.begin() + dim, i);
      row.insert(element);
    }
    ASSERT_EQ(values[index(at)], row);
  });
}

TEST_F(LayoutShapesTest, ReductionCombinesEachElementOnce) {
  unsigned reduced = 0;
  forLayouts([&](const Layout &layout) {
    for (unsigned dim = 0; dim < layout.rank(); ++dim)
      if (layout.reduction(dim)) {
        ++reduced;
        checkReduction(layout, dim);
      }
  });
  EXPECT_GT(reduced, 50u);
}

TEST_F(LayoutShapesTest, ReductionOfBlockedLayouts) {
  Layout layout = Layout::blocked({6, 96}, {1, 0}, {1, 4}, {2, 4}, {1, 2});
  checkReduction(layout, 0);
  checkReduction(layout, 1);
  std::optional<Reduction> rows = layout.reduction(1);
  EXPECT_EQ(rows->registers[0].size(), 12u);
  EXPECT_EQ(rows->laneMasks, (SmallVector<unsigned, 6>{1, 2}));
  EXPECT_EQ(rows->waveMasks, (SmallVector<unsigned, 4>{1}));
  // Copies take no part.
  Layout copies = Layout::blocked({2, 4}, {1, 0}, {1, 2}, {2, 8}, {2, 2});
  checkReduction(copies, 1);
  EXPECT_EQ(copies.reduction(1)->laneMasks, (SmallVector<unsigned, 6>{1}));
  EXPECT_TRUE(copies.reduction(1)->waveMasks.empty());
  checkReduction(Layout::replicated({3, 4}, 4, 2), 0);
}

TEST_F(LayoutShapesTest, ReductionToAScalar) {
  Layout layout = Layout::blocked({12}, {}, {2}, {2}, {2});
  checkReduction(layout, 0);
  EXPECT_EQ(layout.slice(0).rank(), 0u);
  EXPECT_EQ(layout.slice(0).registerCount(), 1u);
}

TEST_F(LayoutShapesTest, ReductionAcrossAMixtureOfRegistersAndLanesIsRefused) {
  // Row 0 sits in register 0 of lane 0 and register 1 of lane 1.
  Layout mixed = cantFail(Layout::parse("register=[[1, 1]], lane=[[1, 0]], wave=[], shape=[2, 2]"));
  EXPECT_FALSE(mixed.reduction(1));
  EXPECT_TRUE(mixed.reduction(0));
}

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

TEST_F(LayoutShapesTest, ExpandDimsInsertsAZero) {
  forLayouts([](const Layout &layout) {
    for (unsigned dim = 0; dim <= layout.rank(); ++dim) {
      Layout expanded = layout.expandDims(dim);
      forEachPosition(layout, [&](Position at) {
        Coordinates element = expanded.coordinates(at);
        ASSERT_EQ(element[dim], 0);
        ASSERT_EQ(without(element, dim), layout.coordinates(at));
      });
      EXPECT_EQ(expanded.slice(dim).shape(), layout.shape());
      if (!layout.replication().registerMask) {
        EXPECT_EQ(expanded.slice(dim), layout);
      }
    }
  });
}

TEST_F(LayoutShapesTest, TransposePermutesCoordinates) {
  forLayouts([](const Layout &layout) {
    SmallVector<unsigned, 4> permutation;
    for (unsigned dim = 0; dim < layout.rank(); ++dim)
      permutation.push_back((dim + 1) % layout.rank());
    Layout transposed = layout.transpose(permutation);
    forEachPosition(layout, [&](Position at) {
      Coordinates from = layout.coordinates(at), to = transposed.coordinates(at);
      for (unsigned dim = 0; dim < layout.rank(); ++dim)
        ASSERT_EQ(to[dim], from[permutation[dim]]);
    });
    for (unsigned turn = 1; turn < layout.rank(); ++turn)
      transposed = transposed.transpose(permutation);
    EXPECT_EQ(transposed, layout);
  });
}

TEST_F(LayoutShapesTest, TransposeOfLds) {
  Layout layout = Layout::swizzled({12, 32}, 4, 1, 4, {}, 3);
  Layout transposed = layout.transpose({1, 0});
  forEachElement({12, 32}, [&](const Coordinates &at) {
    ASSERT_EQ(transposed.offset({at[1], at[0]}), layout.offset(at));
  });
  EXPECT_EQ(transposed.bufferCount(), 3u);
}

void expectReshape(const Layout &layout, ArrayRef<int64_t> shape) {
  SCOPED_TRACE(layout.str());
  std::optional<Layout> reshaped = layout.reshape(shape);
  ASSERT_TRUE(reshaped);
  ASSERT_EQ(reshaped->shape(), shape);
  ASSERT_EQ(reshaped->registerCount(), layout.registerCount());
  forEachPosition(layout, [&](Position at) {
    ASSERT_EQ(rowMajorIndex(reshaped->coordinates(at), shape),
              rowMajorIndex(layout.coordinates(at), layout.shape()));
  });
  EXPECT_EQ(reshaped->reshape(layout.shape()), layout);
}

TEST_F(LayoutShapesTest, ReshapeKeepsRowMajorElements) {
  expectReshape(Layout::blocked({8, 16}, {1, 0}, {1, 2}, {4, 4}, {1, 2}), {128});
  expectReshape(Layout::blocked({8, 16}, {0, 1}, {2, 1}, {4, 4}, {1, 2}), {2, 4, 4, 4});
  // Repetitions at the slow end of a dimension stay there.
  expectReshape(Layout::blocked({24, 16}, {1, 0}, {1, 2}, {4, 4}, {1, 2}), {384});
  expectReshape(Layout::blocked({384}, {}, {2}, {8}, {2}), {3, 8, 16});
  expectReshape(Layout::blocked({5, 12}, {1, 0}, {1, 2}, {1, 2}, {1, 1}), {5, 3, 4});
  expectReshape(Layout::blocked({5, 12}, {0, 1}, {1, 2}, {1, 2}, {1, 1}), {5, 1, 3, 4, 1});
  // A repetition splits, and joins again.
  expectReshape(Layout::blocked({60}, {}, {2}, {2}, {1}), {5, 12});
  expectReshape(Layout::blocked({60}, {}, {2}, {2}, {1}), {3, 5, 4});
  expectReshape(Layout::replicated({3, 5}, 1, 1), {15});
}

TEST_F(LayoutShapesTest, RandomReshapesToOneDimensionOrNoneAtAll) {
  unsigned linear = 0;
  forLayouts([&](const Layout &layout) {
    std::optional<Layout> flat = layout.reshape({layout.elementCount()});
    if (flat) {
      ++linear;
      forEachPosition(layout, [&](Position at) {
        ASSERT_EQ(flat->coordinates(at)[0], rowMajorIndex(layout.coordinates(at), layout.shape()));
      });
    }
  });
  EXPECT_GT(linear, 20u);
}

TEST_F(LayoutShapesTest, ReshapeThatIsNotLinearIsRefused) {
  // Rows of 12: three atoms of 4, so that a step of a row is no power of two.
  EXPECT_FALSE(Layout::blocked({4, 12}, {1, 0}, {1, 2}, {4, 2}, {1, 1}).reshape({48}));
  // The other order of repetitions would number registers another way.
  EXPECT_FALSE(Layout::replicated({3, 5}, 1, 1, {0, 1}).reshape({15}));
  // 9 x 5 to 3 x 15 splits one repetition and joins a part.
  EXPECT_FALSE(Layout::replicated({9, 5}, 1, 1).reshape({3, 15}));
  EXPECT_FALSE(Layout::replicated({4, 4}, 1, 1).reshape({15}));
  EXPECT_FALSE(Layout::replicated({4, 4}, 1, 1).reshape({-4, -4}));
}

} // namespace
} // namespace wavetile::test
