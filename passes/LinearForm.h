//===- LinearForm.h - Indices as sums of values -----------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An index as values times constants plus a constant; two forms that are equal are
// equal whatever the values are. Sums, differences and products with constants are
// taken apart, all else is a value of its own. Overflow is not considered: indices
// of elements do not overflow.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_PASSES_LINEARFORM_H
#define WAVETILE_PASSES_LINEARFORM_H

#include "ir/Tile.h"

#include "llvm/ADT/MapVector.h"

namespace wavetile {

struct LinearForm {
  llvm::MapVector<mlir::Value, int64_t> terms; // without zeros
  int64_t constant = 0;

  static LinearForm of(mlir::Value value);
  bool isConstant() const { return terms.empty(); }

  LinearForm operator+(const LinearForm &other) const;
  LinearForm operator-(const LinearForm &other) const { return *this + other * -1; }
  LinearForm operator*(int64_t factor) const;
  bool operator==(const LinearForm &other) const;
};

/// The form of an `index` or of an integer.
LinearForm linearFormOf(mlir::Value value);

/// A tile of integers as a number that all elements share, plus, if `dim` is set, the
/// element's place along that dimension.
struct TileForm {
  bool known = false;
  LinearForm first;
  mlir::StringAttr dim;
};

TileForm tileFormOf(mlir::Value tile);

/// What a value is in the call that the module is compiled for, by the `tile.hint`s of arguments.
std::optional<int64_t> hintOf(mlir::Value value);

} // namespace wavetile

#endif // WAVETILE_PASSES_LINEARFORM_H
