//===- Partners.h - Elements whose indices differ in one bit ----*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scans and sorts go through the bits of the index along their axis. A bit of the
// index is a bit of the register's, the lane's or the wave's number: elements that
// differ in it sit in two registers of a lane, in two lanes of a wave, or in two
// waves, which exchange them through LDS.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_BACKEND_ROCM_LOWERING_PARTNERS_H
#define WAVETILE_BACKEND_ROCM_LOWERING_PARTNERS_H

#include "backend_rocm/lowering/Lowering.h"

namespace wavetile::rocm {

/// Where a bit of an index along an axis is held.
struct IndexBit {
  LayoutInput input;
  unsigned bit;
};

class Partners {
public:
  /// The bits of the index along `axis` within the layout's atom, the lowest first; fails with an
  /// error at `op` if one is not a bit of one of the numbers.
  static mlir::FailureOr<Partners> along(Lowering &state, mlir::Operation *op, const Layout &layout,
                                         unsigned axis);

  llvm::ArrayRef<IndexBit> bits() const { return indexBits; }

  /// For each register the value of the element whose index differs in a bit, which is not one of
  /// the register's number.
  llvm::SmallVector<mlir::Value> read(IndexBit bit, llvm::ArrayRef<mlir::Value> registers);

  /// Whether an element's index has a bit: a constant for one of the register's number.
  mlir::Value has(IndexBit bit, unsigned reg);

  /// The index along the axis of each register's element, as i32.
  llvm::SmallVector<mlir::Value> indices();

private:
  Partners(Lowering &state, const Layout &layout, unsigned axis)
      : state(state), layout(layout), axis(axis) {}

  llvm::SmallVector<mlir::Value> readFromWave(unsigned mask, llvm::ArrayRef<mlir::Value> registers);

  Lowering &state;
  const Layout &layout;
  unsigned axis;
  llvm::SmallVector<IndexBit> indexBits;
  /// LDS through which waves exchange, reserved when it is first needed, and its size.
  std::optional<unsigned> base;
  unsigned reserved = 0;
};

} // namespace wavetile::rocm

#endif // WAVETILE_BACKEND_ROCM_LOWERING_PARTNERS_H
