//===- Lowering.h - tile programs as loops over memory -----------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile lies in memory, row by row, at an address of its own in the program's arena;
// each operation is a loop nest over its elements, in the dialects scf, arith, math and
// llvm. Layouts are not looked at, and no code is shared with backend_rocm/: what both
// backends compute alike, both compute right.
//
// Held as: index as i64, 8-bit floats as the i8 of their bits, i1 in memory as a byte.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_TESTS_BACKEND_HOST_LOWERING_H
#define WAVETILE_TESTS_BACKEND_HOST_LOWERING_H

#include "ir/Tile.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/DenseMap.h"

namespace wavetile::host {

/// The pass that makes an LLVM function of each tile.program:
///   void name(ptr arguments, i64 x, i64 y, i64 z, ptr arena)
/// with the bytes of arena that it needs in the constant `name.arena`.
std::unique_ptr<mlir::Pass> createTileToLoops();

/// A view of global memory: strides are in elements.
struct MemoryView {
  mlir::Value pointer;
  llvm::SmallVector<mlir::Value, 4> sizes, strides;
};

class Lowering {
public:
  using Value = mlir::Value;
  using Type = mlir::Type;

  Lowering(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  mlir::OpBuilder &builder;
  mlir::Location loc;
  /// The function's arena.
  Value arena;
  unsigned arenaBytes = 0;
  llvm::SmallVector<Value, 3> blockIds;

  llvm::DenseMap<Value, Value> tiles; // addresses
  llvm::DenseMap<Value, Value> scalars;
  llvm::DenseMap<Value, MemoryView> views;

  //===--- Types and numbers ----------------------------------------------===//

  mlir::IntegerType i64() { return builder.getI64Type(); }
  Type scalarType(Type element);
  Type memoryType(Type element);
  unsigned bytesOf(Type element);
  Value number(int64_t value) { return constant(i64(), value); }
  Value constant(Type type, int64_t value);
  Value constantOf(Type type, mlir::Attribute attr);
  Value add(Value a, Value b) { return mlir::arith::AddIOp::create(builder, loc, a, b); }
  Value sub(Value a, Value b) { return mlir::arith::SubIOp::create(builder, loc, a, b); }
  Value mul(Value a, Value b) { return mlir::arith::MulIOp::create(builder, loc, a, b); }
  Value both(Value a, Value b);
  Value compare(mlir::arith::CmpIPredicate predicate, Value a, Value b) {
    return mlir::arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
  Value compare(mlir::arith::CmpFPredicate predicate, Value a, Value b) {
    return mlir::arith::CmpFOp::create(builder, loc, predicate, a, b);
  }
  Value select(Value condition, Value a, Value b) {
    return mlir::arith::SelectOp::create(builder, loc, condition, a, b);
  }
  /// As a signed number of 64 bits.
  Value wide(Value integer);
  /// A float type to another, also 8-bit ones, rounded once.
  Value convertFloat(Value value, Type from, Type to);
  /// A function of the device library, made known to the module.
  Value call(llvm::StringRef name, Type result, mlir::ValueRange arguments);

  //===--- Memory ---------------------------------------------------------===//

  /// Room for `count` elements, once for the whole program.
  Value allocate(int64_t count, Type element);
  /// Room for the tile `value`, which is recorded as lying there.
  Value allocateTile(Value value);
  Value address(Value base, Type element, Value index);
  Value load(Value base, Type element, Value index);
  void store(Value base, Type element, Value index, Value value);
  void copy(Value to, Value from, mlir::RankedTensorType type);

  //===--- Loops ----------------------------------------------------------===//

  using Body = llvm::function_ref<void(mlir::ValueRange index)>;
  using Step = llvm::function_ref<llvm::SmallVector<Value>(Value index, mlir::ValueRange carried)>;

  void forEach(llvm::ArrayRef<int64_t> shape, Body body);
  llvm::SmallVector<Value> loop(Value from, Value to, mlir::ValueRange carried, Step step);
  /// Runs `then` where the condition holds.
  void when(Value condition, llvm::function_ref<void()> then);
  /// The number of an element, row by row; dimensions of size one are repeated.
  Value position(llvm::ArrayRef<int64_t> shape, mlir::ValueRange index);
  Value element(Value tile, mlir::ValueRange index);

  Value scalar(Value value) { return scalars.at(value); }
  Value tile(Value value) { return tiles.at(value); }
};

inline mlir::RankedTensorType tileType(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

//===--- Each kind of operation -------------------------------------------===//

/// An operation of arith or math on numbers; null if it has no lowering.
mlir::Value emitElement(Lowering &state, mlir::Operation *op, mlir::ValueRange operands);

/// The numbers that a region of such operations yields for its arguments.
mlir::FailureOr<llvm::SmallVector<mlir::Value>> emitBody(Lowering &state, mlir::Block &body,
                                                         mlir::ValueRange arguments);

/// On each element of tiles, or on scalars.
llvm::LogicalResult lowerElementwise(Lowering &state, mlir::Operation *op);

llvm::LogicalResult lowerLoad(Lowering &state, tile::LoadOp op);
llvm::LogicalResult lowerStore(Lowering &state, tile::StoreOp op);
llvm::LogicalResult lowerAtomic(Lowering &state, tile::AtomicOp op);

llvm::LogicalResult lowerReduce(Lowering &state, tile::ReduceOp op);
llvm::LogicalResult lowerArgReduce(Lowering &state, tile::ArgReduceOp op);
llvm::LogicalResult lowerCombine(Lowering &state, tile::CombineOp op);
llvm::LogicalResult lowerScan(Lowering &state, tile::ScanOp op);
llvm::LogicalResult lowerSort(Lowering &state, tile::SortOp op);
llvm::LogicalResult lowerDot(Lowering &state, tile::DotOp op);

llvm::LogicalResult lowerPrint(Lowering &state, tile::PrintOp op);
llvm::LogicalResult lowerAssert(Lowering &state, tile::AssertOp op);
llvm::LogicalResult lowerInlineAsm(Lowering &state, tile::InlineAsmOp op);

/// Operations that give a tile another shape or its elements another order; fails without a
/// diagnostic if `op` is none of them.
llvm::LogicalResult lowerShape(Lowering &state, mlir::Operation *op);

} // namespace wavetile::host

#endif // WAVETILE_TESTS_BACKEND_HOST_LOWERING_H
