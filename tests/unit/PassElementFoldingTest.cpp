//===- PassElementFoldingTest.cpp - Elementwise operations on constants ---===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/ElementFolding.h"
#include "passes/Reductions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "gtest/gtest.h"

#include <limits>

using namespace mlir;
using namespace wavetile;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();

class PassElementFolding : public ::testing::Test {
protected:
  PassElementFolding() : builder(&context) {
    context.loadDialect<arith::ArithDialect, math::MathDialect>();
    module = ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToStart(module->getBody());
  }

  TypedAttr f32(double value) { return builder.getF32FloatAttr(float(value)); }
  TypedAttr i8(int64_t value) { return builder.getIntegerAttr(builder.getI8Type(), value); }

  Value constant(TypedAttr value) {
    return arith::ConstantOp::create(builder, builder.getUnknownLoc(), value);
  }

  /// The folded element of an operation on these, built for their types.
  template <typename Op> TypedAttr fold(ArrayRef<TypedAttr> operands) {
    SmallVector<Value> values;
    for (TypedAttr operand : operands)
      values.push_back(constant(operand));
    OperationState state(builder.getUnknownLoc(), Op::getOperationName());
    state.addOperands(values);
    state.addTypes(operands.front().getType());
    return foldElement(builder.create(state), operands);
  }

  template <typename Op> TypedAttr cast(TypedAttr operand, Type type) {
    OperationState state(builder.getUnknownLoc(), Op::getOperationName());
    state.addOperands(constant(operand));
    state.addTypes(type);
    return foldElement(builder.create(state), operand);
  }

  MLIRContext context;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
};

TEST_F(PassElementFolding, ExponentialIsKnownOnlyWhereEveryImplementationAgrees) {
  EXPECT_EQ(fold<math::ExpOp>({f32(-infinity)}), f32(0));
  EXPECT_EQ(fold<math::ExpOp>({f32(infinity)}), f32(infinity));
  EXPECT_EQ(fold<math::Exp2Op>({f32(0)}), f32(1));
  EXPECT_FALSE(fold<math::ExpOp>({f32(1)}));
  EXPECT_FALSE(fold<math::ExpOp>({f32(-1000)}));
}

TEST_F(PassElementFolding, RootsAndLogarithms) {
  EXPECT_EQ(fold<math::LogOp>({f32(0)}), f32(-infinity));
  EXPECT_EQ(fold<math::LogOp>({f32(1)}), f32(0));
  EXPECT_FALSE(fold<math::LogOp>({f32(-1)}));
  EXPECT_EQ(fold<math::RsqrtOp>({f32(infinity)}), f32(0));
  EXPECT_FALSE(fold<math::RsqrtOp>({f32(0)}));
  EXPECT_EQ(fold<math::TanhOp>({f32(-infinity)}), f32(-1));
}

TEST_F(PassElementFolding, ArithmeticWithInfinities) {
  EXPECT_EQ(fold<arith::SubFOp>({f32(-infinity), f32(3)}), f32(-infinity));
  auto difference = llvm::cast<FloatAttr>(fold<arith::SubFOp>({f32(infinity), f32(infinity)}));
  EXPECT_TRUE(difference.getValue().isNaN());
  auto product = llvm::cast<FloatAttr>(fold<arith::MulFOp>({f32(0), f32(infinity)}));
  EXPECT_TRUE(product.getValue().isNaN());
}

TEST_F(PassElementFolding, DivisionMustAgreeWithTheReciprocal) {
  EXPECT_EQ(fold<arith::DivFOp>({f32(0), f32(3)}), f32(0));
  EXPECT_EQ(fold<arith::DivFOp>({f32(-infinity), f32(2)}), f32(-infinity));
  // 5 / 49 is one thing, 5 * (1 / 49) another.
  EXPECT_FALSE(fold<arith::DivFOp>({f32(5), f32(49)}));
}

TEST_F(PassElementFolding, MaximaDifferInWhatNaNDoes) {
  auto maximum = llvm::cast<FloatAttr>(fold<arith::MaximumFOp>({f32(nan), f32(1)}));
  EXPECT_TRUE(maximum.getValue().isNaN());
  EXPECT_EQ(fold<arith::MaxNumFOp>({f32(nan), f32(1)}), f32(1));
  EXPECT_EQ(fold<arith::MinimumFOp>({f32(2), f32(1)}), f32(1));
}

TEST_F(PassElementFolding, IntegersWrapAndHaveTwoOrders) {
  EXPECT_EQ(fold<arith::AddIOp>({i8(127), i8(1)}), i8(-128));
  EXPECT_EQ(fold<arith::MaxSIOp>({i8(-1), i8(1)}), i8(1));
  EXPECT_EQ(fold<arith::MaxUIOp>({i8(-1), i8(1)}), i8(-1));
  EXPECT_EQ(fold<arith::AndIOp>({i8(0), i8(-1)}), i8(0));
}

TEST_F(PassElementFolding, Casts) {
  Type bf16 = builder.getBF16Type(), f32Type = builder.getF32Type(), i32 = builder.getI32Type();
  TypedAttr lowest = getIdentity(tile::ReductionKind::Maximum, bf16);
  EXPECT_EQ(cast<arith::ExtFOp>(lowest, f32Type), f32(-infinity));
  EXPECT_EQ(cast<arith::ExtSIOp>(i8(-1), i32), builder.getI32IntegerAttr(-1));
  EXPECT_EQ(cast<arith::ExtUIOp>(i8(-1), i32), builder.getI32IntegerAttr(255));
  EXPECT_EQ(cast<arith::SIToFPOp>(i8(-1), f32Type), f32(-1));
  EXPECT_EQ(cast<arith::UIToFPOp>(i8(-1), f32Type), f32(255));
}

TEST_F(PassElementFolding, IdentitiesOfTypesWithoutInfinity) {
  // The lowest of f8E4M3FN is -448; that of i1 is false.
  Type fp8 = Float8E4M3FNType::get(&context);
  auto lowest = llvm::cast<FloatAttr>(getIdentity(tile::ReductionKind::Maximum, fp8));
  EXPECT_EQ(lowest.getValueAsDouble(), -448);
  EXPECT_EQ(getIdentity(tile::ReductionKind::Maximum, builder.getI1Type()),
            builder.getBoolAttr(false));
  EXPECT_EQ(getIdentity(tile::ReductionKind::Minimum, builder.getI1Type()),
            builder.getBoolAttr(true));
  EXPECT_EQ(getIdentity(tile::ReductionKind::And, builder.getI8Type()), i8(-1));
}

TEST_F(PassElementFolding, ZerosOfBothSignsAreOneNumber) {
  EXPECT_TRUE(isSameNumber(f32(0), f32(-0.0)));
  EXPECT_FALSE(isSameNumber(f32(nan), f32(0)));
  EXPECT_FALSE(isSameNumber(f32(0), builder.getF64FloatAttr(0)));
}

} // namespace
