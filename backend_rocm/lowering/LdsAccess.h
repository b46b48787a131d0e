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

#include <memory>

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

class LdsAddresses;

/// Reads a tile piece by piece, where its registers are first asked for.
class LdsReader {
public:
  LdsReader(Lowering &state, const LdsTile &from, const Layout &layout, mlir::Type memoryElement);
  ~LdsReader();

  /// The element in `reg`; reads it and its neighbours if that has not been done.
  mlir::Value read(unsigned reg);

private:
  Lowering &state;
  std::unique_ptr<LdsAddresses> addresses;
  mlir::Type element;
  llvm::SmallVector<llvm::SmallVector<unsigned, 8>, 0> groups;
  llvm::SmallVector<unsigned> groupOf; // for each register
  llvm::SmallVector<mlir::Value> registers;
};

/// The buffer of a staging value that an access names.
LdsTile stagedTile(Lowering &state, mlir::TypedValue<tile::StagingType> staging,
                   mlir::Value buffer);

} // namespace wavetile::rocm

#endif // WAVETILE_BACKEND_ROCM_LOWERING_LDSACCESS_H
