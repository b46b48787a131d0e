//===- PeelTails.cpp - Whole steps apart from a partial one -----*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   %r = tile.for (%c0) to (%n) dim "cols" block_size 1024 carries(%init) { ... }
//
// becomes
//
//   %length = arith.subi %n, %c0
//   %rest = arith.remsi %length, %c1024
//   %split = arith.subi %n, %rest
//   %whole = tile.for (%c0) to (%split) dim "cols" block_size 1024 full carries(%init) { ... }
//   %r = tile.for (%split) to (%n) dim "cols" block_size 1024 carries(%whole) { ... }
//
// The second loop runs once or not at all.
//
//===----------------------------------------------------------------------===//

#include "passes/IndexFacts.h"
#include "passes/Passes.h"
#include "passes/RowDims.h"

#include "ir/Tile.h"

namespace wavetile {
#define GEN_PASS_DEF_PEELTAILS
#include "passes/Passes.h.inc"
} // namespace wavetile

using namespace mlir;
using namespace wavetile;
using namespace wavetile::tile;

/// Some operation in the loop has its step's extent as that of a tile: there a
/// partial step costs a mask.
static bool hasMasks(ForOp loop) {
  return loop.getBody()
      .walk([&](Operation *op) {
        bool found = false;
        forEachExtent(op, [&](RankedTensorType, unsigned, Value extent) {
          found |= extent == loop.getExtent();
        });
        return found ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

static bool mayBePartial(ForOp loop) { return !IndexFacts().constant(loop.getExtent()); }

static void peel(ForOp loop) {
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  Value size = arith::ConstantIndexOp::create(builder, loc, *loop.getBlockSize());
  Value length = loop.getUpper();
  IndexFacts facts;
  bool startsAtZero = facts.constant(loop.getLower()) == 0;
  if (!startsAtZero)
    length = arith::SubIOp::create(builder, loc, length, loop.getLower());
  if (!startsAtZero || !facts.isNonNegative(length)) {
    // A loop may have no step at all; then there is no rest either.
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    length = arith::MaxSIOp::create(builder, loc, length, zero);
  }
  Value rest = arith::RemUIOp::create(builder, loc, length, size);
  Value split = arith::SubIOp::create(builder, loc, loop.getUpper(), rest);

  auto tail = cast<ForOp>(loop->clone());
  builder.setInsertionPointAfter(loop);
  builder.insert(tail);
  loop.replaceAllUsesWith(tail.getResults());
  tail.getInitsMutable().assign(loop.getResults());
  tail.getLowerMutable().assign(split);
  loop.getUpperMutable().assign(split);
  loop.setFull(true);
}

namespace {
struct PeelTails : wavetile::impl::PeelTailsBase<PeelTails> {
  void runOnOperation() override {
    SmallVector<ForOp> loops;
    // Inner loops first, so that each copy of an outer one holds peeled loops.
    getOperation().walk([&](ForOp loop) {
      if (loop.getBlockSize() && !loop.getFull() && mayBePartial(loop) && hasMasks(loop))
        loops.push_back(loop);
    });
    for (ForOp loop : loops)
      peel(loop);
  }
};
} // namespace

std::unique_ptr<Pass> wavetile::createPeelTailsPass() { return std::make_unique<PeelTails>(); }
