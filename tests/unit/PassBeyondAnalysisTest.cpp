//===- PassBeyondAnalysisTest.cpp - What lies beyond extents --------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/BeyondAnalysis.h"
#include "tests/unit/PassAnalysisSupport.h"

#include <limits>

using namespace mlir;
using namespace wavetile;
using namespace wavetile::tile;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The body of a block of rows [i, i + %ie) with %a of %n columns loaded.
class PassBeyondAnalysis : public PassAnalysisTest {
protected:
  PassBeyondAnalysis() : analysis(facts) {}

  /// Loads hold `beyond` at and beyond their extents, or nothing in particular.
  void analyse(StringRef body, std::optional<double> beyond) {
    parse((R"mlir(
tile.kernel @k(%x: !tile.pointer<f32> {tile.binding = 0 : i64},
               %m: index {tile.binding = 0 : i64}, %n: index {tile.binding = 1 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %v = tile.view %x sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  tile.parallel (%c0) to (%m) dims ["i"] block_sizes [4] waves 1 attributes {id = "parallel"} {
  ^bb0(%i: index, %ie: index):
    %a = tile.load %v[%i, %c0] dims [0, 1] extents(%ie, %n) {id = "a"} : !tile.view<2 x f32> -> tensor<4x64xf32>
)mlir" + body +
           "  }\n  tile.return\n}\n")
              .str());
    if (!module)
      return;
    Builder builder(&context);
    auto load = [&](LoadOp) -> TypedAttr {
      return beyond ? TypedAttr(builder.getF32FloatAttr(float(*beyond))) : TypedAttr();
    };
    auto parallel = find<ParallelOp>("parallel");
    analysis.run(parallel.getBody().front(), load);
    auto kernel = *module->getOps<KernelOp>().begin();
    n = kernel.getBody().getArgument(2);
  }

  bool holds(StringRef id, double number, bool *exception = nullptr) {
    return analysis.holdsBeyond(value(id), 1, n, Builder(&context).getF32FloatAttr(float(number)),
                                exception);
  }

  IndexFacts facts;
  BeyondAnalysis analysis;
  Value n;
};

TEST_F(PassBeyondAnalysis, LoadsHoldWhatTheyAreToldTo) {
  analyse("", -infinity);
  EXPECT_TRUE(holds("a", -infinity));
  EXPECT_FALSE(holds("a", infinity));
  EXPECT_FALSE(holds("a", 0.0));
}

TEST_F(PassBeyondAnalysis, NothingIsKnownOfALoadThatIsToldNothing) {
  analyse("", std::nullopt);
  EXPECT_FALSE(holds("a", 0.0));
  EXPECT_TRUE(analysis.lookup(value("a"), 1).isUnknown());
}

TEST_F(PassBeyondAnalysis, ElementwiseOperationsFold) {
  analyse(R"mlir(
    %e = math.exp %a {id = "e"} : tensor<4x64xf32>
    %t = tile.full %zero : f32 -> tensor<4x64xf32>
    %s = arith.addf %e, %t {id = "s"} : tensor<4x64xf32>
    %d = arith.subf %a, %a {id = "d"} : tensor<4x64xf32>
)mlir",
          -infinity);
  EXPECT_TRUE(holds("e", 0.0));
  EXPECT_TRUE(holds("s", 0.0));
  EXPECT_FALSE(holds("d", 0.0)); // -inf - -inf is NaN
}

/// softmax: x - max(x) is -inf beyond, except in rows that are NaN altogether.
TEST_F(PassBeyondAnalysis, ADifferenceFromTheRowsMaximumHasTheExceptionOfNaNRows) {
  analyse(R"mlir(
    %m0 = tile.reduce maximum %a axis 1 extent(%n) : tensor<4x64xf32> -> tensor<4xf32>
    %m1 = tile.expand_dims %m0 axis 1 : tensor<4xf32> -> tensor<4x1xf32>
    %mb = tile.broadcast %m1 : tensor<4x1xf32> -> tensor<4x64xf32>
    %d = arith.subf %a, %mb {id = "d"} : tensor<4x64xf32>
    %e = math.exp %d {id = "e"} : tensor<4x64xf32>
    %mask = arith.cmpf oeq, %e, %e {id = "mask"} : tensor<4x64xf32>
)mlir",
          -infinity);
  bool exception = false;
  EXPECT_TRUE(holds("d", -infinity, &exception));
  EXPECT_TRUE(exception);
  exception = false;
  EXPECT_TRUE(holds("e", 0.0, &exception));
  EXPECT_TRUE(exception);
  EXPECT_FALSE(holds("e", 0.0)); // whoever may not rely on the exception
  // A comparison turns NaN into a number: the exception is lost.
  EXPECT_TRUE(analysis.lookup(value("mask"), 1).isUnknown());
}

/// The maximum of something else may be -inf while x is not.
TEST_F(PassBeyondAnalysis, ADifferenceFromAnotherMaximumIsUnknown) {
  analyse(R"mlir(
    %b = math.absf %a : tensor<4x64xf32>
    %m0 = tile.reduce maximum %b axis 1 extent(%n) : tensor<4x64xf32> -> tensor<4xf32>
    %m1 = tile.expand_dims %m0 axis 1 : tensor<4xf32> -> tensor<4x1xf32>
    %mb = tile.broadcast %m1 : tensor<4x1xf32> -> tensor<4x64xf32>
    %d = arith.subf %a, %mb {id = "d"} : tensor<4x64xf32>
)mlir",
          -infinity);
  bool exception = false;
  EXPECT_FALSE(holds("d", -infinity, &exception));
}

TEST_F(PassBeyondAnalysis, RowValuesAreTheSameAlongTheRow) {
  analyse(R"mlir(
    %s0 = tile.reduce sum %a axis 1 extent(%n) {id = "s"} : tensor<4x64xf32> -> tensor<4xf32>
    %s1 = tile.expand_dims %s0 axis 1 : tensor<4xf32> -> tensor<4x1xf32>
    %sb = tile.broadcast %s1 {id = "sb"} : tensor<4x1xf32> -> tensor<4x64xf32>
    %q = arith.divf %a, %sb {id = "q"} : tensor<4x64xf32>
)mlir",
          0.0);
  EXPECT_TRUE(analysis.lookup(value("sb"), 1).isUniform());
  EXPECT_FALSE(holds("q", 0.0)); // 0 / 0
}

TEST_F(PassBeyondAnalysis, FillingChangesOneDimension) {
  analyse(R"mlir(
    %f = tile.fill_beyond %a axis 1 extent(%n) with 1.0 : f32 {id = "f"} : tensor<4x64xf32>
    %g = tile.fill_beyond %a axis 1 extent(%ie) with 1.0 : f32 {id = "g"} : tensor<4x64xf32>
)mlir",
          0.0);
  EXPECT_TRUE(holds("f", 1.0));
  EXPECT_FALSE(holds("f", 0.0));
  EXPECT_TRUE(analysis.lookup(value("f"), 0).isConstant());
  EXPECT_FALSE(holds("g", 1.0)); // from another extent on
}

/// Carried values keep what both the initial value and each step give.
TEST_F(PassBeyondAnalysis, LoopsJoinTheirSteps) {
  analyse(R"mlir(
    %z = tile.full %zero : f32 -> tensor<4x64xf32>
    %one = arith.constant 1.0 : f32
    %kept, %lost = tile.for (%c0) to (%m) dim "k" block_size 4 carries(%z, %z) : tensor<4x64xf32>, tensor<4x64xf32> attributes {id = "for"} {
    ^bb0(%k: index, %ke: index, %p: tensor<4x64xf32>, %r: tensor<4x64xf32>):
      %o = tile.full %one : f32 -> tensor<4x64xf32>
      %t = arith.mulf %p, %p : tensor<4x64xf32>
      %u = arith.addf %r, %o : tensor<4x64xf32>
      tile.yield %t, %u : tensor<4x64xf32>, tensor<4x64xf32>
    }
)mlir",
          0.0);
  auto loop = find<ForOp>("for");
  Beyond kept = analysis.lookup(loop.getResult(0), 1), lost = analysis.lookup(loop.getResult(1), 1);
  EXPECT_TRUE(kept.isConstant());
  EXPECT_TRUE(lost.isUnknown());
}

} // namespace
