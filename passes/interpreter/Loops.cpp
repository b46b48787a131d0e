//===- Loops.cpp - Loops over blocks, and launches --------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/interpreter/Execution.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::tile;
using namespace wavetile::interpreter;

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Calls `function` with each name of a tile in `op` and its extent.
static void forEachNamedExtent(Operation *op, function_ref<void(StringRef, Value)> function) {
  auto visit = [&](RankedTensorType type, unsigned dim, Value extent) {
    if (type.isDynamicDim(dim))
      function(getDimName(type, dim).getValue(), extent);
  };
  if (auto load = dyn_cast<LoadOp>(op)) {
    for (auto [dim, extent] : llvm::enumerate(load.getExtents()))
      visit(load.getType(), dim, extent);
  } else if (auto store = dyn_cast<StoreOp>(op)) {
    for (auto [dim, extent] : llvm::enumerate(store.getExtents()))
      visit(store.getValue().getType(), dim, extent);
  } else if (auto atomic = dyn_cast<AtomicOp>(op)) {
    for (auto [dim, extent] : llvm::enumerate(atomic.getExtents()))
      visit(atomic.getType(), dim, extent);
  } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
    visit(reduce.getSource().getType(), reduce.getAxis(), reduce.getExtent());
  } else if (auto reduce = dyn_cast<ArgReduceOp>(op)) {
    visit(reduce.getSource().getType(), reduce.getAxis(), reduce.getExtent());
  } else if (auto dot = dyn_cast<DotOp>(op)) {
    visit(dot.getLhs().getType(), 1, dot.getExtent());
  }
}

/// Before bind, a dimension that is no loop's has room for its extent.
static void makeRoomForRows(Frame &frame, ParallelOp loop) {
  llvm::StringSet<> loopDims;
  for (Attribute name : loop.getDims())
    loopDims.insert(cast<StringAttr>(name).getValue());
  loop.walk([&](ForOp inner) { loopDims.insert(inner.getDim()); });

  loop.walk([&](Operation *op) {
    forEachNamedExtent(op, [&](StringRef name, Value extent) {
      if (loopDims.contains(name))
        return;
      std::optional<int64_t> value;
      llvm::APInt constant;
      if (matchPattern(extent, m_ConstantInt(&constant)))
        value = constant.getSExtValue();
      else if (frame.contains(extent))
        if (Element element = frame.tile(extent)[0])
          value = element->getSExtValue();
      if (!value)
        return;
      int64_t &size = frame.session.sizes.try_emplace(name, 1).first->second;
      size = std::max(size, *value);
    });
  });
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Runs `run(index)` for each index of a space, in random order.
static LogicalResult runInRandomOrder(Session &session, ArrayRef<int64_t> counts,
                                      function_ref<LogicalResult(ArrayRef<int64_t>)> run) {
  int64_t total = 1;
  for (int64_t count : counts)
    total *= std::max<int64_t>(count, 0);
  SmallVector<int64_t, 3> index(counts.size());
  for (int64_t number : session.shuffled(total)) {
    for (size_t dim = counts.size(); dim-- > 0;) {
      index[dim] = number % counts[dim];
      number /= counts[dim];
    }
    if (failed(run(index)))
      return failure();
  }
  return success();
}

LogicalResult interpreter::runParallel(Frame &frame, ParallelOp loop) {
  llvm::SaveAndRestore restore(frame.session.sizes);
  makeRoomForRows(frame, loop);
  FailureOr<SmallVector<int64_t, 4>> lower =
      frame.integers(loop, loop.getLower(), "has as a bound");
  FailureOr<SmallVector<int64_t, 4>> upper =
      frame.integers(loop, loop.getUpper(), "has as a bound");
  if (failed(lower) || failed(upper))
    return failure();
  SmallVector<int64_t> sizes, counts;
  for (unsigned dim = 0; dim < loop.getNumDims(); ++dim) {
    FailureOr<int64_t> size = loop.getBlockSizes() ? (*loop.getBlockSizes())[dim]
                                                   : frame.sizeOf(loop, loop.getDimName(dim));
    if (failed(size))
      return failure();
    sizes.push_back(*size);
    int64_t length = std::max<int64_t>((*upper)[dim] - (*lower)[dim], 0);
    counts.push_back(llvm::divideCeil(length, *size));
  }

  frame.severalWaves = loop.getWaves().value_or(2) > 1;
  return runInRandomOrder(frame.session, counts, [&](ArrayRef<int64_t> index) {
    for (unsigned dim = 0; dim < loop.getNumDims(); ++dim) {
      int64_t begin = (*lower)[dim] + index[dim] * sizes[dim];
      frame.setInteger(loop.getBegin(dim), begin);
      frame.setInteger(loop.getExtent(dim), std::min(sizes[dim], (*upper)[dim] - begin));
    }
    frame.stagings.clear();
    return runBlock(frame, loop.getBody().front());
  });
}

LogicalResult interpreter::runFor(Frame &frame, ForOp loop) {
  FailureOr<int64_t> lower = frame.integer(loop, loop.getLower(), "has as a bound");
  FailureOr<int64_t> upper = frame.integer(loop, loop.getUpper(), "has as a bound");
  FailureOr<int64_t> size = loop.getBlockSize() ? FailureOr<int64_t>(int64_t(*loop.getBlockSize()))
                                                : frame.sizeOf(loop, loop.getDim());
  if (failed(lower) || failed(upper) || failed(size))
    return failure();
  if (loop.getFull() && *upper > *lower && (*upper - *lower) % *size != 0)
    return loop.emitOpError() << "is 'full', but its last step from " << *lower << " to " << *upper
                              << " is not a whole " << *size;

  SmallVector<RuntimeValue> carried;
  for (Value init : loop.getInits())
    carried.push_back(frame[init]);
  for (int64_t begin = *lower; begin < *upper; begin += *size) {
    frame.setInteger(loop.getBegin(), begin);
    frame.setInteger(loop.getExtent(), std::min(*size, *upper - begin));
    for (auto [argument, value] : llvm::zip_equal(loop.getCarried(), carried))
      frame.set(argument, value);
    if (failed(runBlock(frame, loop.getBody().front())))
      return failure();
    for (auto [value, next] : llvm::zip_equal(carried, loop.getYield().getValues()))
      value = frame[next];
  }
  for (auto [result, value] : llvm::zip_equal(loop.getResults(), carried))
    frame.set(result, value);
  return success();
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

/// Whether a condition holds, which must have a value.
static FailureOr<bool> truth(Frame &frame, Operation *op, Value condition) {
  const Tile &scalar = frame.tile(condition);
  if (!scalar[0])
    return reportUndefined(op, scalar, 0, "branches on");
  return !scalar[0]->isZero();
}

LogicalResult interpreter::runIf(Frame &frame, IfOp choice) {
  FailureOr<bool> holds = truth(frame, choice, choice.getCondition());
  if (failed(holds))
    return failure();
  if (failed(runBlock(frame, (*holds ? choice.getThenBody() : choice.getElseBody()).front())))
    return failure();
  YieldOp yield = *holds ? choice.getThenYield() : choice.getElseYield();
  for (auto [result, value] : llvm::zip_equal(choice.getResults(), yield.getValues()))
    frame.set(result, frame[value]);
  return success();
}

LogicalResult interpreter::runWhile(Frame &frame, WhileOp loop) {
  SmallVector<RuntimeValue> carried;
  for (Value init : loop.getInits())
    carried.push_back(frame[init]);
  auto bind = [&](ValueRange targets) {
    for (auto [target, value] : llvm::zip_equal(targets, carried))
      frame.set(target, value);
  };
  while (true) {
    bind(loop.getBeforeArguments());
    if (failed(runBlock(frame, loop.getBefore().front())))
      return failure();
    FailureOr<bool> goesOn = truth(frame, loop, loop.getCondition());
    if (failed(goesOn))
      return failure();
    if (!*goesOn)
      break;
    bind(loop.getCarried());
    if (failed(runBlock(frame, loop.getBody().front())))
      return failure();
    for (auto [value, next] : llvm::zip_equal(carried, loop.getYield().getValues()))
      value = frame[next];
  }
  bind(loop.getResults());
  return success();
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

LogicalResult interpreter::runLaunch(Frame &frame, LaunchOp launch) {
  FailureOr<SmallVector<int64_t, 4>> grid =
      frame.integers(launch, launch.getGrid(), "has as a grid");
  if (failed(grid))
    return failure();
  for (int64_t count : *grid)
    if (count < 0)
      return launch.emitOpError() << "has a grid of " << count << " blocks";
  auto program = launch->getParentOfType<ModuleOp>().lookupSymbol<ProgramOp>(launch.getProgram());
  SmallVector<RuntimeValue> arguments;
  for (Value argument : launch.getArguments())
    arguments.push_back(frame[argument]);
  if (failed(checkArguments(program, arguments)))
    return failure();

  return runInRandomOrder(frame.session, *grid, [&](ArrayRef<int64_t> index) {
    Frame block(frame.session);
    block.blockId.assign(index.begin(), index.end());
    block.severalWaves = program.getWaves() > 1;
    for (auto [argument, value] : llvm::zip_equal(program.getBody().getArguments(), arguments))
      block.set(argument, value);
    return runBlock(block, program.getBody().front());
  });
}
