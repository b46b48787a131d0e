//===- Staging.cpp - Staging buffers in LDS ---------------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/lowering/LdsAccess.h"
#include "backend_rocm/lowering/Operations.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::rocm;

static const Layout &ldsLayoutOf(tile::StagingType type) {
  return cast<tile::LayoutAttr>(type.getLayout()).getLayout();
}

LogicalResult rocm::lowerStageAlloc(Lowering &state, tile::StageAllocOp op) {
  tile::StagingType type = op.getType();
  if (!isa<tile::LayoutAttr>(type.getLayout()))
    return op.emitOpError("has no layout; run tile-assign-layouts first");
  const Layout &layout = ldsLayoutOf(type);
  Type element = state.memoryType(type.getElementType());
  state.stagings[op.getResult()] =
      state.allocateLds(layout.allocatedElements() * Lowering::bytesOf(element));
  return success();
}

/// A constant zero needs no arithmetic.
LdsTile rocm::stagedTile(Lowering &state, TypedValue<tile::StagingType> staging, Value buffer) {
  Value number;
  if (staging.getType().getBuffers() > 1)
    number = state.castInteger(state.scalar(buffer), state.i32());
  return {state.stagings.lookup(staging), number, ldsLayoutOf(staging.getType())};
}

LogicalResult rocm::lowerStageStore(Lowering &state, tile::StageStoreOp op) {
  SmallVector<Value> registers = state.unpack(state.registers(op.getValue()));
  if (registers.front().getType().isInteger(1))
    return op.emitOpError("of bool tiles has no lowering");
  writeLds(state, stagedTile(state, op.getStaging(), op.getBuffer()),
           Lowering::layoutOf(op.getValue()), registers);
  return success();
}

/// Whether only dots read what `op` loads, with nothing in between that changes LDS. They then read
/// it themselves, step by step.
static bool isReadByDots(tile::StageLoadOp op) {
  if (op.getResult().use_empty())
    return false;
  for (Operation *user : op.getResult().getUsers()) {
    if (!isa<tile::DotOp>(user) || user->getBlock() != op->getBlock())
      return false;
    for (Operation *next = op->getNextNode(); next != user; next = next->getNextNode())
      if (isa<tile::BarrierOp, tile::StageStoreOp>(next) || next->getNumRegions() != 0)
        return false;
  }
  return true;
}

LogicalResult rocm::lowerStageLoad(Lowering &state, tile::StageLoadOp op) {
  Type element = op.getType().getElementType();
  if (element.isInteger(1))
    return op.emitOpError("of bool tiles has no lowering");
  if (isReadByDots(op))
    return success();
  SmallVector<Value> registers =
      readLds(state, stagedTile(state, op.getStaging(), op.getBuffer()),
              Lowering::layoutOf(op.getResult()), state.memoryType(element));
  state.tiles[op.getResult()] = state.pack(registers);
  return success();
}
