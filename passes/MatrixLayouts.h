//===- MatrixLayouts.h - Tiles of matrix instructions -----------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How the operands and the result of a dot lie in registers so that a matrix
// instruction of the target computes it.
//
// An instruction fixes how the bits of its own m, n and k indices lie in
// registers and lanes; which bits of the tile's M, N and K those are is free, as
// long as both operands and the result agree. The freedom is used for wide
// accesses: along the result's memory order a lane holds neighbours (two
// instructions side by side interleave their columns if one has too few), and
// along K both operands hold as many neighbours as an LDS access moves.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_PASSES_MATRIXLAYOUTS_H
#define WAVETILE_PASSES_MATRIXLAYOUTS_H

#include "ir/Layout.h"
#include "passes/TargetInfo.h"

#include "mlir/IR/Types.h"

#include <optional>

namespace wavetile {

/// The ElementKind of a tile's element type, if matrix instructions know it.
std::optional<ElementKind> elementKindOf(mlir::Type type);

/// The target's instructions that multiply these types; with a depth those of which K of a product
/// is a multiple.
llvm::SmallVector<const MatrixInstruction *> matrixInstructionsFor(const TargetInfo &target,
                                                                   ElementKind lhs, ElementKind rhs,
                                                                   std::optional<int64_t> depth);

/// The type to which both operands are converted where the target has no instruction for them:
/// bf16, which has every number of fp8. None if they are multiplied as they are.
std::optional<ElementKind> widenedKind(const TargetInfo &target, mlir::Type lhs, mlir::Type rhs,
                                       std::optional<int64_t> depth);

/// What a dot asks for.
struct DotShape {
  int64_t m, n, k;
  ElementKind lhs, rhs, result;
  unsigned waves;
  /// The result's dimension along which memory is contiguous: 0 (M) or 1 (N).
  unsigned contiguousDim = 1;
  /// Neighbours along it that one store takes.
  unsigned contiguousElements = 4;
  /// Preferred m of the instruction, 0 for any.
  unsigned preferredSize = 0;
};

struct DotLayouts {
  /// None if the target has no instruction for the types: each lane then computes its part of the
  /// result from the rows and columns it needs, by one fma for each product.
  const MatrixInstruction *instruction;
  /// The instruction computes the transposed product: its first operand is the tile's rhs.
  bool swapped;
  Layout lhs, rhs, result;
};

/// The instruction and layouts for a dot, or an error that says why none of the target fits. Float
/// types, and depths, for which the target has no instruction are multiplied without one.
llvm::Expected<DotLayouts> chooseDotLayouts(const TargetInfo &target, const DotShape &shape);

} // namespace wavetile

#endif // WAVETILE_PASSES_MATRIXLAYOUTS_H
