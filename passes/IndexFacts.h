//===- IndexFacts.h - What is known of index values -------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Divisors, constants, signs and upper bounds of the index values of a bound
// kernel or program, found at their definitions: constants, arithmetic, the begins and
// extents of loops, and what the kernel's arguments say of themselves.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_PASSES_INDEXFACTS_H
#define WAVETILE_PASSES_INDEXFACTS_H

#include "ir/Tile.h"

#include "llvm/ADT/DenseMap.h"

namespace wavetile {

class IndexFacts {
public:
  /// Bytes that divide the address of every scratch buffer.
  static constexpr int64_t scratchAlignment = 256;

  /// The value, if it is known.
  std::optional<int64_t> constant(mlir::Value value) { return lookup(value).constant; }
  /// A number that divides the value: 1 if nothing is known, 0 if it is zero.
  int64_t divisor(mlir::Value value) { return lookup(value).divisor; }
  bool isNonNegative(mlir::Value value) { return lookup(value).nonNegative; }
  bool isPositive(mlir::Value value) { return lookup(value).positive; }

  /// `left` is at most `right`, for certain.
  bool isAtMost(mlir::Value left, mlir::Value right);
  /// The two are equal, for certain.
  bool areEqual(mlir::Value left, mlir::Value right);
  /// `offset + extent` is at most `size`, for certain.
  bool endsWithin(mlir::Value offset, mlir::Value extent, mlir::Value size);
  /// Divides how many of the `extent` elements from `offset` on lie below `size`, if any do.
  int64_t divisorOfEnd(mlir::Value offset, mlir::Value extent, mlir::Value size);
  /// `place` is not negative and less than `size`, for certain.
  bool isInside(mlir::Value place, mlir::Value size);

  /// Bytes that divide the address in a pointer: a power of two.
  int64_t alignment(mlir::Value pointer);

private:
  struct Fact {
    int64_t divisor = 1;
    std::optional<int64_t> constant;
    bool nonNegative = false;
    bool positive = false;

    static Fact ofConstant(int64_t value) {
      return {value < 0 ? -value : value, value, value >= 0, value > 0};
    }
  };

  Fact lookup(mlir::Value value);
  Fact compute(mlir::Value value);
  Fact computeArgument(mlir::BlockArgument argument);
  Fact computeExtent(mlir::Value lower, mlir::Value upper, std::optional<int64_t> blockSize,
                     bool full);
  Fact computeBegin(mlir::Value lower, std::optional<int64_t> blockSize);

  llvm::DenseMap<mlir::Value, Fact> facts;
};

} // namespace wavetile

#endif // WAVETILE_PASSES_INDEXFACTS_H
