//===- Execution.h - The state of an interpreted kernel ---------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `Frame` holds the values of one kernel or program; `run` functions execute one
// operation in it. They report what went wrong at the operation.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_PASSES_INTERPRETER_EXECUTION_H
#define WAVETILE_PASSES_INTERPRETER_EXECUTION_H

#include "passes/interpreter/Interpreter.h"
#include "passes/interpreter/Values.h"

#include <deque>
#include <random>

namespace wavetile::interpreter {

/// What outlives a launch: memory, the sizes of names, the order of blocks.
struct Session {
  explicit Session(const InterpreterOptions &options)
      : random(options.seed), sizes(options.sizes) {}

  std::mt19937_64 random;
  llvm::StringMap<int64_t> sizes;
  std::deque<Allocation> allocations;

  /// The numbers below `count` in random order, the same for a seed on every machine.
  std::vector<int64_t> shuffled(int64_t count);
};

class Frame {
public:
  explicit Frame(Session &session) : session(session) {}

  Session &session;
  /// `tile.block_id`s of a program.
  llvm::SmallVector<int64_t, 3> blockId;
  /// Whether what is staged is exchanged between waves.
  bool severalWaves = true;
  /// The staging buffers of the block that runs.
  std::vector<std::shared_ptr<Staging>> stagings;

  void set(mlir::Value value, RuntimeValue runtime) {
    values.insert_or_assign(value, std::move(runtime));
  }
  void set(mlir::Value value, Tile tile) {
    set(value, RuntimeValue(std::make_shared<const Tile>(std::move(tile))));
  }
  void setInteger(mlir::Value value, int64_t integer);

  const RuntimeValue &operator[](mlir::Value value) const { return values.at(value); }
  bool contains(mlir::Value value) const { return values.contains(value); }
  const Tile &tile(mlir::Value value) const {
    return *std::get<std::shared_ptr<const Tile>>(values.at(value));
  }
  const View &view(mlir::Value value) const { return std::get<View>(values.at(value)); }
  Staging &staging(mlir::Value value) const {
    return *std::get<std::shared_ptr<Staging>>(values.at(value));
  }

  /// An `index` operand, which must have a value: `role` is what it is used as.
  llvm::FailureOr<int64_t> integer(mlir::Operation *op, mlir::Value value,
                                   llvm::StringRef role) const;
  llvm::FailureOr<llvm::SmallVector<int64_t, 4>>
  integers(mlir::Operation *op, mlir::ValueRange values, llvm::StringRef role) const;

  /// An extent, which must be in [0, `size`].
  llvm::FailureOr<int64_t> extent(mlir::Operation *op, mlir::Value value, int64_t size) const;

  /// The size of a named dimension, or an error at `op`.
  llvm::FailureOr<int64_t> sizeOf(mlir::Operation *op, llvm::StringRef name) const;
  /// The shape of a tile of this type.
  llvm::FailureOr<llvm::SmallVector<int64_t, 4>> shapeOf(mlir::Operation *op,
                                                         mlir::RankedTensorType type) const;

private:
  llvm::DenseMap<mlir::Value, RuntimeValue> values;
};

/// Reports at `op` that an element of `tile` has no value but is `used`, as in
/// "stores".
llvm::LogicalResult reportUndefined(mlir::Operation *op, const Tile &tile, size_t position,
                                    llvm::StringRef used);

/// Checks what `tile.align` and `tile.divisor` say of arguments.
llvm::LogicalResult checkArguments(mlir::FunctionOpInterface function,
                                   llvm::ArrayRef<RuntimeValue> arguments);

/// Runs the operations of a block but its terminator.
llvm::LogicalResult runBlock(Frame &frame, mlir::Block &block);

llvm::LogicalResult runParallel(Frame &frame, tile::ParallelOp loop);
llvm::LogicalResult runFor(Frame &frame, tile::ForOp loop);
llvm::LogicalResult runIf(Frame &frame, tile::IfOp choice);
llvm::LogicalResult runWhile(Frame &frame, tile::WhileOp loop);
llvm::LogicalResult runLaunch(Frame &frame, tile::LaunchOp launch);

llvm::LogicalResult runLoad(Frame &frame, tile::LoadOp load);
llvm::LogicalResult runStore(Frame &frame, tile::StoreOp store);
llvm::LogicalResult runAtomic(Frame &frame, tile::AtomicOp atomic);

llvm::LogicalResult runPrint(Frame &frame, tile::PrintOp op);
llvm::LogicalResult runAssert(Frame &frame, tile::AssertOp op);

llvm::LogicalResult runFull(Frame &frame, tile::FullOp op);
llvm::LogicalResult runIota(Frame &frame, tile::IotaOp op);
llvm::LogicalResult runBroadcast(Frame &frame, tile::BroadcastOp op);
llvm::LogicalResult runTranspose(Frame &frame, tile::TransposeOp op);

llvm::LogicalResult runReduce(Frame &frame, tile::ReduceOp op);
llvm::LogicalResult runArgReduce(Frame &frame, tile::ArgReduceOp op);
llvm::LogicalResult runDot(Frame &frame, tile::DotOp op);
llvm::LogicalResult runFillBeyond(Frame &frame, tile::FillBeyondOp op);

llvm::LogicalResult runScan(Frame &frame, tile::ScanOp op);
llvm::LogicalResult runCombine(Frame &frame, tile::CombineOp op);
llvm::LogicalResult runSort(Frame &frame, tile::SortOp op);
llvm::LogicalResult runTake(Frame &frame, tile::TakeOp op);

llvm::LogicalResult runStageAlloc(Frame &frame, tile::StageAllocOp op);
llvm::LogicalResult runStageStore(Frame &frame, tile::StageStoreOp op);
llvm::LogicalResult runStageLoad(Frame &frame, tile::StageLoadOp op);
void runBarrier(Frame &frame);

/// Runs an operation of `arith` or `math`, on tiles or scalars.
llvm::LogicalResult runElementwise(Frame &frame, mlir::Operation *op);

/// What an operation of `arith` or `math` does with elements that have values; no
/// value where the operation's result is poison.
using ElementFunction = std::function<Element(llvm::ArrayRef<llvm::APInt>)>;

/// Null if there is no such operation, or not on this element type.
ElementFunction getArithFunction(mlir::Operation *op);
ElementFunction getMathFunction(mlir::Operation *op);

} // namespace wavetile::interpreter

#endif // WAVETILE_PASSES_INTERPRETER_EXECUTION_H
