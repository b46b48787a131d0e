//===- Operations.h - The lowering of each kind of operation ----*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function for each operation, or table of operations, that a program may
// hold. Each records the registers or the scalar of its results in `Lowering`
// and fails with a diagnostic if the target cannot do what is asked.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_BACKEND_ROCM_LOWERING_OPERATIONS_H
#define WAVETILE_BACKEND_ROCM_LOWERING_OPERATIONS_H

#include "backend_rocm/lowering/Lowering.h"

namespace wavetile::rocm {

/// Whether `name` is an operation that acts on each element by itself.
bool isElementwise(mlir::OperationName name);

/// The result for one scalar or one chunk of each operand.
mlir::FailureOr<mlir::Value> lowerElement(Lowering &state, mlir::Operation *op,
                                          mlir::ValueRange operands, mlir::Type result);

/// `operation` on every chunk of its operands, or on scalars.
llvm::LogicalResult lowerElementwise(Lowering &state, mlir::Operation *op);

/// math.* on f32, chunk by chunk, in terms of AMDGPU instructions; fails without
/// a diagnostic if `op` is none of them.
mlir::FailureOr<mlir::Value> lowerMathFunction(Lowering &state, mlir::Operation *op,
                                               mlir::ValueRange operands);

/// Conversions between float types that need AMDGPU instructions.
mlir::Value extendFloat(Lowering &state, mlir::Value value, mlir::Type from, mlir::Type to);
mlir::Value truncateFloat(Lowering &state, mlir::Value value, mlir::Type from, mlir::Type to);
/// Converts between an fp8 type (held as i8) and f32.
mlir::Value extendFp8(Lowering &state, mlir::Value value, mlir::Type from);
mlir::Value truncateToFp8(Lowering &state, mlir::Value value, mlir::Type to);

llvm::LogicalResult lowerLoad(Lowering &state, tile::LoadOp op);
llvm::LogicalResult lowerStore(Lowering &state, tile::StoreOp op);
llvm::LogicalResult lowerAtomic(Lowering &state, tile::AtomicOp op);

llvm::LogicalResult lowerPrint(Lowering &state, tile::PrintOp op);
llvm::LogicalResult lowerAssert(Lowering &state, tile::AssertOp op);
llvm::LogicalResult lowerInlineAsm(Lowering &state, tile::InlineAsmOp op);

llvm::LogicalResult lowerScalar(Lowering &state, tile::ScalarOp op);
llvm::LogicalResult lowerFull(Lowering &state, tile::FullOp op);
llvm::LogicalResult lowerIota(Lowering &state, tile::IotaOp op);
llvm::LogicalResult lowerExpandDims(Lowering &state, tile::ExpandDimsOp op);
llvm::LogicalResult lowerSqueezeDims(Lowering &state, tile::SqueezeDimsOp op);
llvm::LogicalResult lowerBroadcast(Lowering &state, tile::BroadcastOp op);
llvm::LogicalResult lowerTranspose(Lowering &state, tile::TransposeOp op);
llvm::LogicalResult lowerFillBeyond(Lowering &state, tile::FillBeyondOp op);

llvm::LogicalResult lowerReduce(Lowering &state, tile::ReduceOp op);
llvm::LogicalResult lowerArgReduce(Lowering &state, tile::ArgReduceOp op);

llvm::LogicalResult lowerScan(Lowering &state, tile::ScanOp op);
llvm::LogicalResult lowerCombine(Lowering &state, tile::CombineOp op);
llvm::LogicalResult lowerSort(Lowering &state, tile::SortOp op);
llvm::LogicalResult lowerTake(Lowering &state, tile::TakeOp op);

llvm::LogicalResult lowerConvertLayout(Lowering &state, tile::ConvertLayoutOp op);

llvm::LogicalResult lowerStageAlloc(Lowering &state, tile::StageAllocOp op);
llvm::LogicalResult lowerStageStore(Lowering &state, tile::StageStoreOp op);
llvm::LogicalResult lowerStageLoad(Lowering &state, tile::StageLoadOp op);
llvm::LogicalResult lowerDot(Lowering &state, tile::DotOp op);

/// Combines two values into one; commutative.
using Combine = llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)>;

/// Combines the value of each lane with those of all lanes that differ from it
/// only in the bits of `masks` (single bits, ascending). Without LDS where the
/// masks are those of a whole row of 16, half or wave.
mlir::Value combineAcrossLanes(Lowering &state, mlir::Value value, llvm::ArrayRef<unsigned> masks,
                               Combine combine);

/// The value of lane ^ mask, for values of at most 64 bits. `uniformBelow` says
/// that lanes which differ only in bits below `mask` hold equal values, which
/// allows mirrors in place of butterflies.
mlir::Value readLaneXor(Lowering &state, mlir::Value value, unsigned mask, bool uniformBelow);

/// Two words of which lanes that differ in bit `mask` trade halves: a lane without the bit gets
/// (its a, the other's a), a lane with it (the other's b, its b).
std::pair<mlir::Value, mlir::Value> exchangeHalves(Lowering &state, mlir::Value a, mlir::Value b,
                                                   unsigned mask);

} // namespace wavetile::rocm

#endif // WAVETILE_BACKEND_ROCM_LOWERING_OPERATIONS_H
