//===- LdsAccess.h - Tiles to and from LDS ----------------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Moves the registers of a tile to and from an LDS layout, by accesses as wide
// as both layouts and the target allow. The caller places the barriers.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_BACKEND_ROCM_LOWERING_LDSACCESS_H
#define WAVETILE_BACKEND_ROCM_LOWERING_LDSACCESS_H

#include "backend_rocm/lowering/Lowering.h"

namespace wavetile::rocm {

/// Where a tile lies: bytes from the start of the program's LDS, the buffer
/// number (i32, null for 0) and the layout.
struct LdsTile {
  unsigned base;
  mlir::Value buffer;
  const Layout &layout;
};

/// `registers` are elements of memory's type, in the order of `layout`.
void writeLds(Lowering &state, const LdsTile &to, const Layout &layout, mlir::ValueRange registers);
llvm::SmallVector<mlir::Value> readLds(Lowering &state, const LdsTile &from, const Layout &layout,
                                       mlir::Type memoryElement);

} // namespace wavetile::rocm

#endif // WAVETILE_BACKEND_ROCM_LOWERING_LDSACCESS_H
