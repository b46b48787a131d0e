//===- Lowering.h - State of the lowering of one program --------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `tile.program` becomes one function of the LLVM dialect in a single walk:
// each tile value turns into the registers in which its layout puts it, and each
// operation into instructions on these. This header holds what the parts of the
// lowering share: how a value is held, how code is emitted, and where a lane
// stands in a layout. Every element that a lane touches is asked of `Layout`.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_BACKEND_ROCM_LOWERING_LOWERING_H
#define WAVETILE_BACKEND_ROCM_LOWERING_LOWERING_H

#include "backend_rocm/Targets.h"
#include "ir/Tile.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

namespace wavetile::rocm {

/// A tile in the registers of a lane: register r is element r % width of chunk
/// r / width. Chunks are scalars (width 1) or vectors of two, the form in which
/// packed instructions and 16-bit pairs work.
struct TileRegisters {
  llvm::SmallVector<mlir::Value, 0> chunks;
  unsigned width = 1;

  unsigned size() const { return chunks.size() * width; }
};

/// A view of global memory: a wave-uniform pointer, sizes and strides.
struct MemoryView {
  mlir::Value pointer;
  llvm::SmallVector<mlir::Value, 4> sizes, strides;
  /// For each dimension the stride, if it is a constant.
  llvm::SmallVector<std::optional<int64_t>, 4> constantStrides;
};

/// Address spaces of the target.
enum AddressSpace : unsigned {
  GlobalSpace = 1,
  LdsSpace = 3,
  ConstantSpace = 4,
  BufferResourceSpace = 8
};

class Lowering {
public:
  Lowering(tile::ProgramOp program, const Target &target, mlir::OpBuilder &builder)
      : builder(builder), loc(program.getLoc()), target(target), program(program),
        wide(program.getWideOffsets()) {}

  mlir::OpBuilder &builder;
  mlir::Location loc;
  const Target &target;
  tile::ProgramOp program;
  /// Byte offsets may pass 2^31: indices are 64 bits wide.
  bool wide;

  /// Number of the lane in its wave (per lane) and of the wave in its workgroup
  /// (uniform), as i32.
  mlir::Value laneId, waveId;

  llvm::DenseMap<mlir::Value, TileRegisters> tiles;
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;
  llvm::DenseMap<mlir::Value, MemoryView> views;
  /// Byte offset of a staging buffer in the program's LDS.
  llvm::DenseMap<mlir::Value, unsigned> stagings;

  //===--- Types ----------------------------------------------------------===//

  mlir::IntegerType i32() { return builder.getI32Type(); }
  mlir::IntegerType i64() { return builder.getI64Type(); }
  mlir::IntegerType i1() { return builder.getI1Type(); }
  mlir::Type indexType() { return wide ? i64() : i32(); }
  /// How an element is held in a register: fp8 as i8, index as indexType().
  mlir::Type registerType(mlir::Type element);
  /// How an element is held in memory: bool as i8.
  mlir::Type memoryType(mlir::Type element);
  static unsigned bytesOf(mlir::Type element);

  //===--- Emitting -------------------------------------------------------===//

  mlir::Value constant(mlir::Type type, int64_t value);
  mlir::Value constantI32(int64_t value) { return constant(i32(), value); }
  mlir::Value constantFloat(mlir::Type type, double value);
  /// A splat of `attr` if `type` is a vector.
  mlir::Value constantElement(mlir::Type type, mlir::Attribute attr);
  mlir::Value undef(mlir::Type type);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value bitAnd(mlir::Value a, mlir::Value b);
  mlir::Value bitOr(mlir::Value a, mlir::Value b);
  mlir::Value bitXor(mlir::Value a, mlir::Value b);
  mlir::Value shiftLeft(mlir::Value a, unsigned bits);
  mlir::Value shiftRight(mlir::Value a, unsigned bits);
  mlir::Value compare(mlir::LLVM::ICmpPredicate predicate, mlir::Value a, mlir::Value b);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  mlir::Value bitcast(mlir::Value value, mlir::Type type);
  /// Sign extension or truncation.
  mlir::Value castInteger(mlir::Value value, mlir::Type type);
  mlir::Value extract(mlir::Value vector, unsigned index);
  mlir::Value insert(mlir::Value vector, mlir::Value element, unsigned index);
  mlir::Value buildVector(mlir::ValueRange elements);
  mlir::Value splat(mlir::Value element, unsigned count);
  mlir::Value intrinsic(llvm::StringRef name, mlir::Type result, mlir::ValueRange arguments,
                        mlir::LLVM::FastmathFlags flags = {});
  void intrinsicVoid(llvm::StringRef name, mlir::ValueRange arguments);

  /// Runs `then` only for lanes with `condition`; its values are merged with
  /// `otherwise`, which has their types.
  llvm::SmallVector<mlir::Value>
  conditional(mlir::Value condition, mlir::ValueRange otherwise,
              llvm::function_ref<llvm::SmallVector<mlir::Value>()> then);

  //===--- Registers of tiles ---------------------------------------------===//

  static const Layout &layoutOf(mlir::Value tile);
  static unsigned chunkWidth(unsigned registers) { return registers % 2 == 0 ? 2 : 1; }
  mlir::Type chunkType(mlir::Type element, unsigned width);
  /// By value: what `tiles` holds moves when a tile is added.
  TileRegisters registers(mlir::Value tile);
  /// All registers one by one.
  llvm::SmallVector<mlir::Value> unpack(const TileRegisters &tile);
  TileRegisters pack(mlir::ValueRange registers);
  mlir::Value scalar(mlir::Value value);

  //===--- Where a lane stands --------------------------------------------===//

  /// The part of a coordinate that the lane number gives (per lane) and the part
  /// that the wave number gives (uniform), as i32, or null where it is zero.
  struct Stand {
    mlir::Value lane, wave;
  };
  Stand stand(const Layout &layout, unsigned dim);
  /// The coordinate of the element in a register, as i32.
  mlir::Value coordinate(const Layout &layout, unsigned reg, unsigned dim);

  /// Whether a lane and wave hold the canonical copy of what they hold; null if
  /// all do. Replicated registers are not looked at.
  mlir::Value canonicalCopy(const Layout &layout);

  //===--- LDS ------------------------------------------------------------===//

  /// Reserves LDS for the whole program; the byte offset.
  unsigned allocateLds(unsigned bytes, unsigned alignment = 16);
  unsigned ldsBytes() const { return ldsSize; }
  /// The bytes that operations of each line reserved, in the order of the program.
  const llvm::MapVector<unsigned, unsigned> &ldsBytesOfLines() const { return ldsOfLines; }
  /// An LDS pointer: `base` bytes (constant) plus `offset` bytes (i32 or null).
  mlir::Value ldsPointer(unsigned base, mlir::Value offset = {});
  /// All waves arrive before any goes on. Their LDS accesses are ordered, and those of global
  /// memory if `ordersGlobal`.
  void workgroupBarrier(bool ordersGlobal = false);
  /// The function's entry, where values that hold for all of it are computed.
  void setLdsBase(mlir::Value base) { ldsBase = base; }

  /// The innermost tile loop in which code is being emitted.
  mlir::Operation *enclosingLoop = nullptr;

private:
  mlir::Value fieldsOf(const Layout &layout, unsigned dim, LayoutInput input, mlir::Value number);

  llvm::DenseMap<std::pair<mlir::Attribute, unsigned>, Stand> stands;
  mlir::Value ldsBase;
  unsigned ldsSize = 0;
  llvm::MapVector<unsigned, unsigned> ldsOfLines;

public:
  /// Where cached values are emitted: after the entry's prologue.
  mlir::Operation *prologueEnd = nullptr;
};

} // namespace wavetile::rocm

#endif // WAVETILE_BACKEND_ROCM_LOWERING_LOWERING_H
