//===- StageOperands.cpp - Operands of dots through LDS ---------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every wave of a block needs operands of a dot that other waves loaded, in an
// order that loads from memory do not have. So
//
//   %c = tile.for ... carries(%zero) : tensor<128x128xf32> {
//   ^bb0(%k: index, %extent: index, %acc: tensor<128x128xf32>):
//     %a = tile.load ... -> tensor<128x64xbf16>
//     %b = tile.load ... -> tensor<64x128xbf16>
//     %d = tile.dot %a, %b, %acc ...
//
// becomes
//
//   %sa = tile.stage_alloc : !tile.staging<1 x [128, 64] x bf16, unit>
//   %sb = tile.stage_alloc : !tile.staging<1 x [64, 128] x bf16, unit>
//   %c = tile.for ... {
//     %a = tile.load ...
//     %b = tile.load ...
//     tile.barrier                      // the step before has read its operands
//     tile.stage_store %a, %sa[%c0]
//     tile.stage_store %b, %sb[%c0]
//     tile.barrier
//     %a1 = tile.stage_load %sa[%c0]
//     %b1 = tile.stage_load %sb[%c0]
//     %d = tile.dot %a1, %b1, %acc ...
//
// The first barrier is left out where nothing can have read the buffer before. Loops
// that follow one another use the same buffers. An
// operand that comes from outside of the dot's loop is staged where it is made, so
// that it is written once.
//
//===----------------------------------------------------------------------===//

#include "ir/Tile.h"
#include "passes/Passes.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace wavetile;

namespace wavetile {
#define GEN_PASS_DEF_STAGEOPERANDS
#include "passes/Passes.h.inc"
} // namespace wavetile

namespace {

class StageOperandsPass : public wavetile::impl::StageOperandsBase<StageOperandsPass> {
public:
  void runOnOperation() final;

private:
  void stageDot(tile::DotOp dot);
  Value createStaging(Value operand, Operation *parent);
  SmallVector<Value> storeOperands(OpBuilder &builder, ArrayRef<Value> operands);

  /// The staging buffers that loops have filled, each with the loop that did so last.
  SmallVector<std::pair<Value, tile::ForOp>> reusable;
};

} // namespace

/// A staging buffer for `operand`: that of an earlier loop of the same block if it has one to spare
/// (the loop behind a peeled one does what the first did), else a new one.
Value StageOperandsPass::createStaging(Value operand, Operation *parent) {
  auto program = dyn_cast<tile::ProgramOp>(parent);
  if (!program)
    program = parent->getParentOfType<tile::ProgramOp>();
  auto loop = dyn_cast<tile::ForOp>(parent);
  auto type = cast<RankedTensorType>(operand.getType());
  OpBuilder builder(parent->getContext());
  auto staging = tile::StagingType::get(parent->getContext(), /*buffers=*/1, type.getShape(),
                                        type.getElementType(), builder.getUnitAttr());
  for (auto &[value, last] : reusable) {
    if (!loop || value.getType() != staging || loop == last || loop->getBlock() != last->getBlock())
      continue;
    last = loop;
    return value;
  }
  builder.setInsertionPointToStart(&program.getBody().front());
  Value value = tile::StageAllocOp::create(builder, operand.getLoc(), staging);
  if (loop)
    reusable.push_back({value, loop});
  return value;
}

static Value zeroIndex(OpBuilder &builder, Location loc) {
  return arith::ConstantIndexOp::create(builder, loc, 0);
}

/// Stores `operands` to new staging buffers at the builder's place, between the barriers they need.
SmallVector<Value> StageOperandsPass::storeOperands(OpBuilder &builder, ArrayRef<Value> operands) {
  SmallVector<Value> stagings;
  if (operands.empty())
    return stagings;
  Location loc = operands.front().getLoc();
  Operation *parent = builder.getInsertionBlock()->getParentOp();
  if (!isa<tile::ProgramOp>(parent))
    tile::BarrierOp::create(builder, loc);
  for (Value operand : operands) {
    Value staging = createStaging(operand, parent);
    tile::StageStoreOp::create(builder, operand.getLoc(), operand, staging,
                               zeroIndex(builder, operand.getLoc()));
    stagings.push_back(staging);
  }
  tile::BarrierOp::create(builder, loc);
  return stagings;
}

void StageOperandsPass::stageDot(tile::DotOp dot) {
  SmallVector<OpOperand *> here;
  for (OpOperand *operand : {&dot.getLhsMutable(), &dot.getRhsMutable()}) {
    Value value = operand->get();
    OpBuilder builder(dot);
    if (value.getParentBlock() == dot->getBlock()) {
      here.push_back(operand);
      continue;
    }
    builder.setInsertionPointAfterValue(value);
    Value staging = storeOperands(builder, value).front();
    builder.setInsertionPoint(dot);
    operand->set(tile::StageLoadOp::create(builder, value.getLoc(), value.getType(), staging,
                                           zeroIndex(builder, value.getLoc())));
  }
  OpBuilder builder(dot);
  llvm::SmallSetVector<Value, 2> distinct;
  for (OpOperand *operand : here)
    distinct.insert(operand->get());
  SmallVector<Value> stagings = storeOperands(builder, distinct.getArrayRef());
  for (OpOperand *operand : here) {
    Value value = operand->get();
    Value staging = stagings[llvm::find(distinct, value) - distinct.begin()];
    operand->set(tile::StageLoadOp::create(builder, value.getLoc(), value.getType(), staging,
                                           zeroIndex(builder, value.getLoc())));
  }
}

void StageOperandsPass::runOnOperation() {
  SmallVector<tile::DotOp> dots;
  getOperation().walk([&](tile::DotOp dot) { dots.push_back(dot); });
  reusable.clear();
  for (tile::DotOp dot : dots)
    stageDot(dot);
}
