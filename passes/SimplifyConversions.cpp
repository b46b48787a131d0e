//===- SimplifyConversions.cpp - Fewer layout conversions -------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   %b = tile.convert_layout %a : L1 -> L2        (two equal ones become one)
//   %c = tile.convert_layout %b : L2 -> L1        (becomes %a)
//   %d = tile.convert_layout %e : L1 -> L1        (becomes %e)
//   %f = tile.full %x -> L1
//   %g = tile.convert_layout %f : L1 -> L2        (becomes tile.full %x -> L2)
//
// A conversion of a value made by `tile.full`, `tile.iota` or a constant is free in the layout it
// is wanted in.
//
//===----------------------------------------------------------------------===//

#include "ir/Tile.h"
#include "passes/Passes.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace wavetile;

namespace wavetile {
#define GEN_PASS_DEF_SIMPLIFYCONVERSIONS
#include "passes/Passes.h.inc"
} // namespace wavetile

/// convert(x) to x's own layout.
static LogicalResult removeIdentity(tile::ConvertLayoutOp op, PatternRewriter &rewriter) {
  if (op.getSource().getType() != op.getType())
    return failure();
  rewriter.replaceOp(op, op.getSource());
  return success();
}

/// convert(convert(x)).
static LogicalResult mergeChain(tile::ConvertLayoutOp op, PatternRewriter &rewriter) {
  auto inner = op.getSource().getDefiningOp<tile::ConvertLayoutOp>();
  if (!inner)
    return failure();
  rewriter.replaceOpWithNewOp<tile::ConvertLayoutOp>(op, op.getType(), inner.getSource());
  return success();
}

/// A conversion that an earlier one of the same block makes already.
static LogicalResult mergeEqual(tile::ConvertLayoutOp op, PatternRewriter &rewriter) {
  for (Operation *user : op.getSource().getUsers()) {
    auto other = dyn_cast<tile::ConvertLayoutOp>(user);
    if (!other || other == op || other.getType() != op.getType() ||
        other->getBlock() != op->getBlock() || !other->isBeforeInBlock(op))
      continue;
    rewriter.replaceOp(op, other.getResult());
    return success();
  }
  return failure();
}

/// convert(full(x)), convert(iota), convert(constant).
static LogicalResult makeInPlace(tile::ConvertLayoutOp op, PatternRewriter &rewriter) {
  Operation *source = op.getSource().getDefiningOp();
  if (!source || !isa<tile::FullOp, tile::IotaOp, arith::ConstantOp>(source))
    return failure();
  if (auto constant = dyn_cast<arith::ConstantOp>(source)) {
    auto splat = cast<SplatElementsAttr>(constant.getValue());
    auto value = SplatElementsAttr::get(op.getType(), splat.getSplatValue<Attribute>());
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, value);
    return success();
  }
  Operation *made = rewriter.clone(*source);
  made->getResult(0).setType(op.getType());
  rewriter.replaceOp(op, made->getResults());
  return success();
}

namespace {

class SimplifyConversionsPass
    : public wavetile::impl::SimplifyConversionsBase<SimplifyConversionsPass> {
public:
  void runOnOperation() final {
    RewritePatternSet patterns(&getContext());
    patterns.add(removeIdentity);
    patterns.add(mergeChain);
    patterns.add(mergeEqual);
    patterns.add(makeInPlace);
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    config.enableFolding(false);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};

} // namespace
