//===- LayoutLinearMapTest.cpp - Linear algebra over F2 -------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayoutTestSupport.h"

#include "llvm/ADT/bit.h"

#include <set>

using namespace llvm;

namespace wavetile::test {
namespace {

uint64_t points(const LinearMap &map) { return uint64_t(1) << map.totalInputBits(); }

/// Maps of every shape that fits in a few bits, of low and of full rank.
class LinearMapTest : public testing::Test {
protected:
  void forRandomMaps(function_ref<void(const LinearMap &)> check) {
    Random random = seededRandom();
    for (unsigned trial = 0; trial < 200; ++trial) {
      SmallVector<unsigned, 3> inputs = {below(random, 4), below(random, 4), below(random, 3)};
      SmallVector<unsigned, 2> outputs = {below(random, 5), below(random, 4)};
      check(randomMap(random, inputs, outputs));
    }
  }
};

TEST_F(LinearMapTest, ApplyIsTheXorOfBases) {
  LinearMap map({2, 1}, {3, 2});
  map.setBasis(0, 0, {1, 0});
  map.setBasis(0, 1, {6, 3});
  map.setBasis(1, 0, {5, 1});
  EXPECT_EQ(map.apply({3, 1}), Coordinates({1 ^ 6 ^ 5, 3 ^ 1}));
  EXPECT_EQ(map.apply({0, 0}), Coordinates({0, 0}));
  EXPECT_EQ(map.basis(0, 1), Coordinates({6, 3}));
}

TEST_F(LinearMapTest, PackingPutsDimensionZeroLowest) {
  LinearMap map({2, 0, 3}, {});
  EXPECT_EQ(map.packInput({3, 0, 5}), 0b10111u);
  EXPECT_EQ(map.unpackInput(0b10111), Coordinates({3, 0, 5}));
  EXPECT_EQ(map.inputMask(0), 0b00011u);
  EXPECT_EQ(map.inputMask(1), 0u);
  EXPECT_EQ(map.inputMask(2), 0b11100u);
}

TEST_F(LinearMapTest, AMapIsLinear) {
  forRandomMaps([](const LinearMap &map) {
    for (uint64_t x = 0; x < points(map); x += 3)
      for (uint64_t y = 0; y < points(map); y += 5)
        ASSERT_EQ(map.applyPacked(x ^ y), map.applyPacked(x) ^ map.applyPacked(y));
  });
}

TEST_F(LinearMapTest, KernelAndImageByEnumeration) {
  forRandomMaps([](const LinearMap &map) {
    std::set<uint64_t> image, zeros;
    for (uint64_t x = 0; x < points(map); ++x) {
      image.insert(map.applyPacked(x));
      if (map.applyPacked(x) == 0)
        zeros.insert(x);
    }
    auto span = [](ArrayRef<uint64_t> basis) {
      std::set<uint64_t> all;
      for (uint64_t choice = 0; choice < uint64_t(1) << basis.size(); ++choice) {
        uint64_t sum = 0;
        for (auto [bit, vector] : enumerate(basis))
          sum ^= choice >> bit & 1 ? vector : 0;
        all.insert(sum);
      }
      return all;
    };
    auto isReducedEchelon = [](ArrayRef<uint64_t> basis) {
      for (auto [i, row] : enumerate(basis))
        for (auto [j, other] : enumerate(basis))
          if ((i < j && row <= other) || (i != j && (other & bit_floor(row))))
            return false;
      return true;
    };
    EXPECT_EQ(span(map.kernel()), zeros);
    EXPECT_EQ(span(map.image()), image);
    EXPECT_TRUE(isReducedEchelon(map.kernel()));
    EXPECT_TRUE(isReducedEchelon(map.image()));
    EXPECT_EQ(uint64_t(1) << map.rank(), image.size());
    EXPECT_EQ(map.isInjective(), zeros.size() == 1);
    EXPECT_EQ(map.isSurjective(), image.size() == uint64_t(1) << map.totalOutputBits());
  });
}

TEST_F(LinearMapTest, SolveGivesTheSmallestPreimageByEnumeration) {
  forRandomMaps([](const LinearMap &map) {
    for (uint64_t allowed : {~uint64_t(0), map.inputMask(0) | map.inputMask(2)}) {
      std::map<uint64_t, uint64_t> smallest;
      for (uint64_t x = 0; x < points(map); ++x)
        if ((x & ~allowed) == 0)
          smallest.try_emplace(map.applyPacked(x), x);
      for (uint64_t y = 0; y < uint64_t(1) << map.totalOutputBits(); ++y) {
        std::optional<uint64_t> found = map.solve(y, allowed);
        ASSERT_EQ(found.has_value(), smallest.contains(y));
        if (found) {
          ASSERT_EQ(*found, smallest[y]);
        }
      }
    }
  });
}

TEST_F(LinearMapTest, PseudoInverse) {
  forRandomMaps([](const LinearMap &map) {
    LinearMap back = map.pseudoInverse();
    EXPECT_EQ(map.compose(back).compose(map), map);
    for (uint64_t x = 0; x < points(map); ++x) {
      uint64_t y = map.applyPacked(x);
      ASSERT_EQ(back.applyPacked(y), *map.solve(y));
    }
  });
}

TEST_F(LinearMapTest, InverseOfInvertibleMaps) {
  unsigned found = 0;
  forRandomMaps([&](const LinearMap &map) {
    if (!map.isInvertible())
      return;
    ++found;
    EXPECT_EQ(map.inverse().compose(map), LinearMap::identity(map.inputBits()));
    EXPECT_EQ(map.compose(map.inverse()), LinearMap::identity(map.outputBits()));
    EXPECT_EQ(map.inverse().inverse(), map);
  });
  EXPECT_GT(found, 0u);
}

TEST_F(LinearMapTest, ComposePointByPoint) {
  Random random = seededRandom();
  for (unsigned trial = 0; trial < 100; ++trial) {
    LinearMap inner = randomMap(random, {3, 2}, {2, 0, 3});
    LinearMap outer = randomMap(random, {2, 0, 3}, {4});
    LinearMap both = outer.compose(inner);
    for (uint64_t x = 0; x < 32; ++x)
      ASSERT_EQ(both.applyPacked(x), outer.applyPacked(inner.applyPacked(x)));
  }
}

TEST_F(LinearMapTest, ProductPutsTheInnerMapInTheLowBits) {
  Random random = seededRandom();
  for (unsigned trial = 0; trial < 50; ++trial) {
    LinearMap inner = randomMap(random, {2, 1}, {1, 2});
    LinearMap outer = randomMap(random, {1, 2}, {2, 1});
    LinearMap product = LinearMap::product(inner, outer);
    for (int64_t a = 0; a < 8; ++a)
      for (int64_t b = 0; b < 8; ++b) {
        Coordinates low = inner.apply({a % 4, b % 2}), high = outer.apply({a / 4, b / 2});
        ASSERT_EQ(product.apply({a, b}), Coordinates({low[0] + 2 * high[0], low[1] + 4 * high[1]}));
      }
  }
}

TEST_F(LinearMapTest, ProductAddsMissingDimensions) {
  LinearMap inner = LinearMap::identity({2}), outer = LinearMap::identity({1, 3});
  EXPECT_EQ(LinearMap::product(inner, outer), LinearMap::identity({3, 3}));
  EXPECT_EQ(LinearMap::product(outer, inner), LinearMap::identity({3, 3}));
}

TEST_F(LinearMapTest, LeftDivideUndoesTheProduct) {
  forRandomMaps([](const LinearMap &outer) {
    LinearMap inner({1, 2, 0}, {2, 1});
    inner.setBasis(0, 0, {1, 1});
    inner.setBasis(1, 0, {2, 0});
    inner.setBasis(1, 1, {3, 1});
    EXPECT_EQ(LinearMap::product(inner, outer).leftDivide(inner), outer);
  });
}

TEST_F(LinearMapTest, LeftDivideRefusesWhatIsNoMultiple) {
  LinearMap map({2}, {2});
  map.setBasis(0, 0, {1});
  map.setBasis(0, 1, {3});
  EXPECT_EQ(map.leftDivide(LinearMap::identity({1})), std::nullopt);
  EXPECT_EQ(map.leftDivide(LinearMap::identity({3})), std::nullopt);
  EXPECT_EQ(map.leftDivide(LinearMap({}, {})), map);
  EXPECT_EQ(LinearMap::identity({2}).leftDivide(LinearMap::identity({1})),
            LinearMap::identity({1}));
}

TEST_F(LinearMapTest, SelectKeepsOrderAsked) {
  Random random = seededRandom();
  LinearMap map = randomMap(random, {2, 3, 1}, {2, 1, 3});
  LinearMap inputs = map.selectInputs({2, 0}), outputs = map.selectOutputs({2, 0});
  for (int64_t a = 0; a < 4; ++a)
    for (int64_t c = 0; c < 2; ++c) {
      Coordinates full = map.apply({a, 0, c});
      EXPECT_EQ(inputs.apply({c, a}), full);
      EXPECT_EQ(outputs.apply({a, 0, c}), Coordinates({full[2], full[0]}));
    }
}

} // namespace
} // namespace wavetile::test
