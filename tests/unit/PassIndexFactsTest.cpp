//===- PassIndexFactsTest.cpp - What is known of index values -------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/IndexFacts.h"
#include "tests/unit/PassAnalysisSupport.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::tile;

namespace {

/// %m and %n are sizes of a view, %s is any integer; %n is a multiple of 8.
class PassIndexFacts : public PassAnalysisTest {
protected:
  void parseBody(StringRef body) {
    parse((R"mlir(
tile.kernel @k(%x: !tile.pointer<f32> {tile.align = 48 : i64, tile.binding = 0 : i64},
               %m: index {tile.binding = 0 : i64},
               %n: index {tile.binding = 1 : i64, tile.divisor = 8 : i64},
               %s: index {tile.binding = 2 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c12 = arith.constant 12 : index
  %minus4 = arith.constant -4 : index
  %v = tile.view %x sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
)mlir" + body +
           "  tile.return\n}\n")
              .str());
    if (!module)
      return;
    auto kernel = *module->getOps<KernelOp>().begin();
    Block &block = kernel.getBody().front();
    x = block.getArgument(0), m = block.getArgument(1), n = block.getArgument(2);
    s = block.getArgument(3);
  }

  Value x, m, n, s;
  IndexFacts facts;
};

TEST_F(PassIndexFacts, ArgumentsAreAsTheirAttributesSay) {
  parseBody("");
  EXPECT_EQ(facts.divisor(n), 8);
  EXPECT_EQ(facts.divisor(m), 1);
  EXPECT_TRUE(facts.isNonNegative(m));
  EXPECT_FALSE(facts.isPositive(m)); // a size may be zero
  EXPECT_FALSE(facts.isNonNegative(s));
  EXPECT_EQ(facts.constant(m), std::nullopt);
  EXPECT_EQ(facts.alignment(x), 16); // the power of two in 48
}

TEST_F(PassIndexFacts, ArithmeticKeepsDivisorsAndSigns) {
  parseBody(R"mlir(
  %sum = arith.addi %n, %c12 {id = "sum"} : index
  %product = arith.muli %n, %c12 {id = "product"} : index
  %less = arith.subi %n, %c12 {id = "less"} : index
  %negative = arith.addi %n, %minus4 {id = "negative"} : index
  %folded = arith.muli %c12, %minus4 {id = "folded"} : index
  %quotient = arith.divui %product, %c12 {id = "quotient"} : index
  %rest = arith.remui %product, %c12 {id = "rest"} : index
  %other_rest = arith.remui %n, %c12 {id = "other_rest"} : index
  %least = arith.minsi %n, %c12 {id = "least"} : index
  %most = arith.maxsi %s, %c1 {id = "most"} : index
)mlir");
  EXPECT_EQ(facts.divisor(value("sum")), 4);
  EXPECT_TRUE(facts.isPositive(value("sum")));
  EXPECT_EQ(facts.divisor(value("product")), 96);
  EXPECT_FALSE(facts.isPositive(value("product")));
  EXPECT_EQ(facts.divisor(value("less")), 4);
  EXPECT_FALSE(facts.isNonNegative(value("less")));
  EXPECT_FALSE(facts.isNonNegative(value("negative")));
  EXPECT_EQ(facts.constant(value("folded")), -48);
  EXPECT_EQ(facts.divisor(value("folded")), 48);
  EXPECT_EQ(facts.divisor(value("quotient")), 8);
  EXPECT_EQ(facts.constant(value("rest")), 0);
  EXPECT_EQ(facts.divisor(value("other_rest")), 4);
  EXPECT_EQ(facts.constant(value("other_rest")), std::nullopt);
  EXPECT_EQ(facts.divisor(value("least")), 4);
  EXPECT_TRUE(facts.isNonNegative(value("least")));
  EXPECT_FALSE(facts.isPositive(value("least")));
  EXPECT_TRUE(facts.isPositive(value("most")));
}

TEST_F(PassIndexFacts, ExtentsAreWholeBlocksWhereTheSizeIsAMultiple) {
  parseBody(R"mlir(
  tile.parallel (%c0, %c0) to (%m, %n) dims ["i", "j"] block_sizes [4, 8] waves 1 attributes {id = "parallel"} {
  ^bb0(%i: index, %ie: index, %j: index, %je: index):
    tile.for (%c0) to (%n) dim "k" block_size 32 attributes {id = "for"} {
    ^bb0(%k: index, %ke: index):
    }
  }
)mlir");
  auto parallel = find<ParallelOp>("parallel");
  EXPECT_EQ(facts.constant(parallel.getExtent(0)), std::nullopt);
  EXPECT_TRUE(facts.isPositive(parallel.getExtent(0)));
  EXPECT_EQ(facts.divisor(parallel.getBegin(0)), 4);
  EXPECT_EQ(facts.constant(parallel.getExtent(1)), 8);
  auto loop = find<ForOp>("for");
  EXPECT_EQ(facts.constant(loop.getExtent()), std::nullopt);
  EXPECT_EQ(facts.divisor(loop.getExtent()), 8); // of 32 and n's 8
  EXPECT_EQ(facts.divisor(loop.getBegin()), 32);
  EXPECT_TRUE(facts.isNonNegative(loop.getBegin()));
}

TEST_F(PassIndexFacts, RelationsHoldForCertainOnly) {
  parseBody(R"mlir(
  %rest = arith.remui %n, %c12 {id = "rest"} : index
  %split = arith.subi %n, %rest {id = "split"} : index
  %least = arith.minsi %m, %n {id = "least"} : index
  %again = arith.constant {id = "again"} 12 : index
  %c13 = arith.constant {id = "c13"} 13 : index
  %unsigned = arith.remui %s, %c12 {id = "unsigned"} : index
)mlir");
  Value least = value("least"), split = value("split"), c12 = value("again"), c13 = value("c13");
  EXPECT_TRUE(facts.isAtMost(least, m));
  EXPECT_TRUE(facts.isAtMost(least, n));
  EXPECT_FALSE(facts.isAtMost(m, least));
  EXPECT_TRUE(facts.isAtMost(split, n));
  EXPECT_FALSE(facts.isAtMost(n, split));
  EXPECT_TRUE(facts.isNonNegative(split));
  EXPECT_TRUE(facts.isAtMost(c12, c13));
  EXPECT_FALSE(facts.isAtMost(c13, c12));
  EXPECT_TRUE(facts.areEqual(c12, c12));
  EXPECT_FALSE(facts.areEqual(m, n));
  // A negative number is large without its sign.
  EXPECT_FALSE(facts.isAtMost(value("unsigned"), s));
}

TEST_F(PassIndexFacts, AStepEndsWithinWhatItsLoopCoversAndBeginsInside) {
  parseBody(R"mlir(
  tile.parallel (%c0) to (%m) dims ["i"] block_sizes [4] waves 1 attributes {id = "parallel"} {
  ^bb0(%i: index, %ie: index):
    %next = arith.addi %i, %c1 {id = "next"} : index
    tile.for (%c0) to (%s) dim "k" block_size 32 attributes {id = "for"} {
    ^bb0(%k: index, %ke: index):
    }
  }
)mlir");
  auto parallel = find<ParallelOp>("parallel");
  Value begin = parallel.getBegin(0), extent = parallel.getExtent(0), next = value("next");
  EXPECT_TRUE(facts.endsWithin(begin, extent, m));
  EXPECT_FALSE(facts.endsWithin(begin, extent, n));
  EXPECT_FALSE(facts.endsWithin(next, extent, m));
  EXPECT_TRUE(facts.isInside(begin, m));
  EXPECT_FALSE(facts.isInside(begin, n));
  EXPECT_FALSE(facts.isInside(next, m));
  // The bound is any integer, which says nothing of m.
  auto loop = find<ForOp>("for");
  EXPECT_FALSE(facts.endsWithin(loop.getBegin(), loop.getExtent(), m));
  EXPECT_TRUE(facts.endsWithin(loop.getBegin(), loop.getExtent(), s));
  // A tensor may be empty.
  EXPECT_FALSE(facts.isInside(parallel.getLower()[0], m));
}

} // namespace
