//===- ElementFolding.h - An elementwise operation on constants -*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What one element of an `arith` or `math` operation is if its operands are
// known. Unlike MLIR's folders this works on single elements, never answers with
// an operand, and only answers where every correct implementation gives the
// same: transcendental functions are known at 0, 1 and the infinities.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_PASSES_ELEMENTFOLDING_H
#define WAVETILE_PASSES_ELEMENTFOLDING_H

#include "ir/Tile.h"

namespace wavetile {

/// The result's element for these elements of the operands, or null.
mlir::TypedAttr foldElement(mlir::Operation *op, llvm::ArrayRef<mlir::TypedAttr> operands);

/// NaN in any floating-point operand gives NaN.
bool propagatesNaN(mlir::Operation *op);

/// The two constants are the same number; zeros of both signs are.
bool isSameNumber(mlir::TypedAttr a, mlir::TypedAttr b);

} // namespace wavetile

#endif // WAVETILE_PASSES_ELEMENTFOLDING_H
