//===- WidenDots.cpp - Products that the target has not ---------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On a target without fp8 matrix instructions, or with those of the other format,
//
//   %c = tile.dot %a, %b, %acc extent(%k) : tensor<64x32xf8E4M3FN>, tensor<32x64xf8E4M3FN>, ...
//
// becomes
//
//   %x = arith.extf %a : tensor<64x32xf8E4M3FN> to tensor<64x32xbf16>
//   %y = arith.extf %b : tensor<32x64xf8E4M3FN> to tensor<32x64xbf16>
//   %c = tile.dot %x, %y, %acc extent(%k) : tensor<64x32xbf16>, tensor<32x64xbf16>, ...
//
// which is exact: bf16 has every number of the fp8 types.
//
//===----------------------------------------------------------------------===//

#include "passes/MatrixLayouts.h"
#include "passes/Passes.h"
#include "passes/TargetInfo.h"

#include "ir/Tile.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::tile;

namespace wavetile {
#define GEN_PASS_DEF_WIDENDOTS
#include "passes/Passes.h.inc"
} // namespace wavetile

static Value widened(OpBuilder &builder, Value operand) {
  auto type = cast<RankedTensorType>(operand.getType());
  return arith::ExtFOp::create(builder, operand.getLoc(),
                               withElementType(type, builder.getBF16Type()), operand);
}

namespace {
struct WidenDots : wavetile::impl::WidenDotsBase<WidenDots> {
  explicit WidenDots(const TargetInfo &target) : target(target) {}

  void runOnOperation() override {
    getOperation().walk([&](DotOp dot) {
      RankedTensorType lhs = dot.getLhs().getType(), rhs = dot.getRhs().getType();
      if (!widenedKind(target, lhs.getElementType(), rhs.getElementType(), lhs.getDimSize(1)))
        return;
      OpBuilder builder(dot);
      dot.getLhsMutable().set(widened(builder, dot.getLhs()));
      dot.getRhsMutable().set(widened(builder, dot.getRhs()));
    });
  }

private:
  const TargetInfo &target;
};
} // namespace

std::unique_ptr<Pass> wavetile::createWidenDotsPass(const TargetInfo &target) {
  return std::make_unique<WidenDots>(target);
}
