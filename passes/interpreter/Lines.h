//===- Lines.h - The elements of a tile along an axis -----------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_PASSES_INTERPRETER_LINES_H
#define WAVETILE_PASSES_INTERPRETER_LINES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstddef>
#include <cstdint>

namespace wavetile::interpreter {

/// The lines of elements of a tile along one axis.
class Lines {
public:
  Lines(llvm::ArrayRef<int64_t> shape, unsigned axis) : length(shape[axis]) {
    for (unsigned dim = 0; dim < shape.size(); ++dim)
      (dim < axis ? outer : inner) *= dim == axis ? 1 : shape[dim];
    remaining.assign(shape.begin(), shape.end());
    remaining.erase(remaining.begin() + axis);
  }

  size_t count() const { return outer * inner; }
  /// The shape without the axis.
  llvm::ArrayRef<int64_t> shape() const { return remaining; }
  /// The position in the tile of element `at` of a line.
  size_t position(size_t line, int64_t at) const {
    return (line / inner * length + at) * inner + line % inner;
  }
  int64_t indexAlongAxis(size_t position) const { return position / inner % length; }

private:
  int64_t length;
  size_t outer = 1, inner = 1;
  llvm::SmallVector<int64_t, 4> remaining;
};

} // namespace wavetile::interpreter

#endif // WAVETILE_PASSES_INTERPRETER_LINES_H
