//===- Execution.cpp - The state of an interpreted kernel -------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/interpreter/Execution.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::tile;
using namespace wavetile::interpreter;

std::vector<int64_t> Session::shuffled(int64_t count) {
  std::vector<int64_t> order(count);
  for (int64_t i = 0; i < count; ++i)
    order[i] = i;
  for (int64_t i = count; i > 1; --i)
    std::swap(order[i - 1], order[random() % i]);
  return order;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

void Frame::setInteger(Value value, int64_t integer) {
  set(value, Tile::scalar(value.getType(), llvm::APInt(64, integer, /*isSigned=*/true)));
}

FailureOr<int64_t> Frame::integer(Operation *op, Value value, StringRef role) const {
  const Tile &scalar = tile(value);
  if (!scalar[0])
    return reportUndefined(op, scalar, 0, role);
  return scalar[0]->getSExtValue();
}

FailureOr<SmallVector<int64_t, 4>> Frame::integers(Operation *op, ValueRange range,
                                                   StringRef role) const {
  SmallVector<int64_t, 4> result;
  for (Value value : range) {
    FailureOr<int64_t> element = integer(op, value, role);
    if (failed(element))
      return failure();
    result.push_back(*element);
  }
  return result;
}

FailureOr<int64_t> Frame::extent(Operation *op, Value value, int64_t size) const {
  FailureOr<int64_t> result = integer(op, value, "has as an extent");
  if (failed(result))
    return failure();
  if (*result < 0 || *result > size)
    return op->emitOpError() << "has the extent " << *result << " in a dimension of size " << size;
  return result;
}

FailureOr<int64_t> Frame::sizeOf(Operation *op, StringRef name) const {
  // A loop over a dimension that tiles do not have, one by one.
  if (name == staticDimName)
    return 1;
  auto size = session.sizes.find(name);
  if (size == session.sizes.end())
    return op->emitOpError() << "has dimension '" << name << "', whose size is not given";
  return size->second;
}

FailureOr<SmallVector<int64_t, 4>> Frame::shapeOf(Operation *op, RankedTensorType type) const {
  SmallVector<int64_t, 4> shape(type.getShape());
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (!ShapedType::isDynamic(size))
      continue;
    FailureOr<int64_t> given = sizeOf(op, getDimName(type, dim).getValue());
    if (failed(given))
      return failure();
    size = *given;
  }
  return shape;
}

LogicalResult interpreter::reportUndefined(Operation *op, const Tile &tile, size_t position,
                                           StringRef used) {
  InFlightDiagnostic error = op->emitOpError();
  error << used << " an element that has no value";
  if (!tile.getShape().empty())
    error << ", " << indexText(tile.getShape(), position);
  if (Operation *culprit = tile.getCulprit())
    error.attachNote(culprit->getLoc())
        << "'" << culprit->getName() << "' made some elements without a value of others";
  return error;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// A scratch buffer or view; both may only be as large as addresses are.
static FailureOr<int64_t> bytesOf(Operation *op, ArrayRef<int64_t> sizes, Type elementType) {
  int64_t bytes = llvm::divideCeil(getWidth(elementType), 8u);
  for (int64_t size : sizes)
    if (size < 0 || __builtin_mul_overflow(bytes, size, &bytes))
      return op->emitOpError("has sizes that are negative or too large");
  return bytes;
}

static LogicalResult runScratch(Frame &frame, ScratchOp op) {
  FailureOr<SmallVector<int64_t, 4>> sizes = frame.integers(op, op.getSizes(), "has as a size");
  if (failed(sizes))
    return failure();
  FailureOr<int64_t> bytes = bytesOf(op, *sizes, cast<PointerType>(op.getType()).getElementType());
  if (failed(bytes))
    return failure();
  Allocation &allocation = frame.session.allocations.emplace_back(size_t(*bytes));
  // As aligned as the allocations of a launch plan are.
  frame.set(op.getResult(), Pointer{&allocation, /*alignment=*/256});
  return success();
}

static LogicalResult runView(Frame &frame, ViewOp op) {
  FailureOr<SmallVector<int64_t, 4>> sizes = frame.integers(op, op.getSizes(), "has as a size");
  FailureOr<SmallVector<int64_t, 4>> strides =
      frame.integers(op, op.getStrides(), "has as a stride");
  if (failed(sizes) || failed(strides))
    return failure();
  frame.set(op.getResult(), View{std::get<Pointer>(frame[op.getPointer()]),
                                 op.getType().getElementType(), *sizes, *strides});
  return success();
}

static LogicalResult runGuard(Frame &frame, GuardOp op) {
  FailureOr<int64_t> value = frame.integer(op, op.getValue(), "checks");
  if (failed(value))
    return failure();
  if (*value > int64_t(op.getBound()))
    return op.emitOpError() << "does not hold: " << *value << " is more than " << op.getBound()
                            << ", so another variant must serve this launch (" << op.getReason()
                            << ")";
  return success();
}

static LogicalResult runBlockSize(Frame &frame, BlockSizeOp op) {
  FailureOr<int64_t> size = frame.sizeOf(op, op.getDim());
  if (failed(size))
    return failure();
  frame.setInteger(op.getResult(), *size);
  return success();
}

static LogicalResult runBlockId(Frame &frame, BlockIdOp op) {
  if (op.getDim() >= frame.blockId.size())
    return op.emitOpError() << "asks for dimension " << op.getDim() << " of a grid of "
                            << frame.blockId.size();
  frame.setInteger(op.getResult(), frame.blockId[op.getDim()]);
  return success();
}

/// The same elements in the shape of the result.
static LogicalResult runReshaping(Frame &frame, Operation *op) {
  const Tile &source = frame.tile(op->getOperand(0));
  FailureOr<SmallVector<int64_t, 4>> shape =
      frame.shapeOf(op, cast<RankedTensorType>(op->getResult(0).getType()));
  if (failed(shape))
    return failure();
  frame.set(op->getResult(0), source.withShape(*shape));
  return success();
}

/// An element without a value stays one; it is an error where it decides something.
static LogicalResult runScalar(Frame &frame, ScalarOp op) {
  frame.set(op.getResult(), frame.tile(op.getSource()));
  return success();
}

static LogicalResult runOperation(Frame &frame, Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](ParallelOp op) { return runParallel(frame, op); })
      .Case([&](ForOp op) { return runFor(frame, op); })
      .Case([&](IfOp op) { return runIf(frame, op); })
      .Case([&](WhileOp op) { return runWhile(frame, op); })
      .Case([&](LaunchOp op) { return runLaunch(frame, op); })
      .Case([&](GuardOp op) { return runGuard(frame, op); })
      .Case([&](BlockSizeOp op) { return runBlockSize(frame, op); })
      .Case([&](BlockIdOp op) { return runBlockId(frame, op); })
      .Case([&](ViewOp op) { return runView(frame, op); })
      .Case([&](ScratchOp op) { return runScratch(frame, op); })
      .Case([&](LoadOp op) { return runLoad(frame, op); })
      .Case([&](StoreOp op) { return runStore(frame, op); })
      .Case([&](AtomicOp op) { return runAtomic(frame, op); })
      .Case([&](PrintOp op) { return runPrint(frame, op); })
      .Case([&](AssertOp op) { return runAssert(frame, op); })
      .Case([&](ScalarOp op) { return runScalar(frame, op); })
      .Case([&](FullOp op) { return runFull(frame, op); })
      .Case([&](IotaOp op) { return runIota(frame, op); })
      .Case<ExpandDimsOp, SqueezeDimsOp, ConvertLayoutOp>(
          [&](auto op) { return runReshaping(frame, op); })
      .Case([&](BroadcastOp op) { return runBroadcast(frame, op); })
      .Case([&](TransposeOp op) { return runTranspose(frame, op); })
      .Case([&](ReduceOp op) { return runReduce(frame, op); })
      .Case([&](ArgReduceOp op) { return runArgReduce(frame, op); })
      .Case([&](DotOp op) { return runDot(frame, op); })
      .Case([&](FillBeyondOp op) { return runFillBeyond(frame, op); })
      .Case([&](ScanOp op) { return runScan(frame, op); })
      .Case([&](CombineOp op) { return runCombine(frame, op); })
      .Case([&](SortOp op) { return runSort(frame, op); })
      .Case([&](TakeOp op) { return runTake(frame, op); })
      .Case([&](StageAllocOp op) { return runStageAlloc(frame, op); })
      .Case([&](StageStoreOp op) { return runStageStore(frame, op); })
      .Case([&](StageLoadOp op) { return runStageLoad(frame, op); })
      .Case([&](BarrierOp) {
        runBarrier(frame);
        return success();
      })
      .Default([&](Operation *op) { return runElementwise(frame, op); });
}

LogicalResult interpreter::runBlock(Frame &frame, Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(runOperation(frame, &op)))
      return failure();
  return success();
}
