//===- Staging.cpp - Staging buffers and barriers ---------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/interpreter/Execution.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::tile;
using namespace wavetile::interpreter;

LogicalResult interpreter::runStageAlloc(Frame &frame, StageAllocOp op) {
  StagingType type = op.getType();
  auto staging = std::make_shared<Staging>();
  auto undefined = std::make_shared<const Tile>(type.getElementType(), type.getShape());
  staging->buffers.resize(type.getBuffers(), {undefined});
  frame.stagings.push_back(staging);
  frame.set(op.getResult(), RuntimeValue(staging));
  return success();
}

/// The buffer that an operation names.
template <typename Op> static FailureOr<Staging::Buffer *> bufferOf(Frame &frame, Op op) {
  Staging &staging = frame.staging(op.getStaging());
  FailureOr<int64_t> number = frame.integer(op, op.getBuffer(), "has as a buffer");
  if (failed(number))
    return failure();
  if (*number < 0 || *number >= int64_t(staging.buffers.size()))
    return op.emitOpError() << "names buffer " << *number << " of " << staging.buffers.size();
  return &staging.buffers[*number];
}

/// Other waves may not have come to `before` yet, if no barrier came after it.
static LogicalResult checkOrdered(Frame &frame, Operation *op, Operation *before, StringRef does,
                                  StringRef did) {
  if (!before || !frame.severalWaves)
    return success();
  InFlightDiagnostic error = op->emitOpError();
  error << does << " what other waves may not have " << did << " yet";
  error.attachNote(before->getLoc()) << did << " here, with no tile.barrier in between";
  return error;
}

LogicalResult interpreter::runStageStore(Frame &frame, StageStoreOp op) {
  FailureOr<Staging::Buffer *> buffer = bufferOf(frame, op);
  if (failed(buffer))
    return failure();
  if (failed(checkOrdered(frame, op, (*buffer)->readSinceBarrier, "overwrites", "read")) ||
      failed(checkOrdered(frame, op, (*buffer)->writtenSinceBarrier, "overwrites", "written")))
    return failure();
  (*buffer)->tile = std::make_shared<const Tile>(frame.tile(op.getValue()));
  (*buffer)->writtenSinceBarrier = op;
  return success();
}

LogicalResult interpreter::runStageLoad(Frame &frame, StageLoadOp op) {
  FailureOr<Staging::Buffer *> buffer = bufferOf(frame, op);
  if (failed(buffer))
    return failure();
  if (failed(checkOrdered(frame, op, (*buffer)->writtenSinceBarrier, "reads", "written")))
    return failure();
  Tile tile = *(*buffer)->tile;
  tile.setCulprit(tile.getCulprit() ? tile.getCulprit() : op.getOperation());
  (*buffer)->readSinceBarrier = op;
  frame.set(op.getResult(), std::move(tile));
  return success();
}

void interpreter::runBarrier(Frame &frame) {
  for (const std::shared_ptr<Staging> &staging : frame.stagings)
    for (Staging::Buffer &buffer : staging->buffers)
      buffer.writtenSinceBarrier = buffer.readSinceBarrier = nullptr;
}
