//===- Reductions.h - Identities and combining operations -------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What each kind of reduction starts from and how it combines two values. `i1`
// counts as unsigned, other integers as signed.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_PASSES_REDUCTIONS_H
#define WAVETILE_PASSES_REDUCTIONS_H

#include "ir/Tile.h"

namespace wavetile {

/// The element that changes nothing.
mlir::TypedAttr getIdentity(tile::ReductionKind kind, mlir::Type elementType);

/// The element that any other beats.
mlir::TypedAttr getIdentity(tile::ArgReductionKind kind, mlir::Type elementType);

/// `a` and `b`, scalars or tiles of one type, combined.
mlir::Value emitCombine(mlir::OpBuilder &builder, mlir::Location loc, tile::ReductionKind kind,
                        mlir::Value a, mlir::Value b, mlir::arith::FastMathFlags flags);

/// A value and the index that it counts as.
struct IndexedValue {
  mlir::Value value, index;
};

/// The one of `a` and `b` that an arg reduction takes, element by element.
IndexedValue emitCombine(mlir::OpBuilder &builder, mlir::Location loc, tile::ArgReductionKind kind,
                         IndexedValue a, IndexedValue b);

} // namespace wavetile

#endif // WAVETILE_PASSES_REDUCTIONS_H
