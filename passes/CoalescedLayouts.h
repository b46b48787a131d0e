//===- CoalescedLayouts.h - Layouts for loads and stores --------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layouts in which lanes next to each other hold neighbours in memory and each
// lane as many as its widest access moves. They depend only on a tile's shape,
// the program's accesses and its waves, so that tiles of one shape agree.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_PASSES_COALESCEDLAYOUTS_H
#define WAVETILE_PASSES_COALESCEDLAYOUTS_H

#include "ir/Tile.h"
#include "passes/TargetInfo.h"

#include <optional>

namespace wavetile {

/// Where a tile lies on its way from memory to LDS: as it is loaded, and as it is stored. They are
/// the same, or differ by an exchange of registers within waves.
struct StagedLayouts {
  Layout memory, lds;
};

class CoalescedLayouts {
public:
  CoalescedLayouts(tile::ProgramOp program, const TargetInfo &target);

  Layout layout(mlir::RankedTensorType type) const {
    return layoutAlong(type, fastDim(type.getShape()));
  }

  /// For a tile that is loaded and then stored to LDS, where `along` is contiguous: a lane loads
  /// runs along memory and stores runs along LDS, both of the widest access. If it has too few
  /// elements for a block of such runs, lanes exchange registers in between.
  /// `fast` is the dimension along which memory is contiguous, if that is known of this very tile.
  StagedLayouts stagedLayouts(mlir::RankedTensorType type, unsigned along,
                              std::optional<unsigned> fast) const;

  /// The dimension of the accessed tile along which memory is contiguous.
  static std::optional<unsigned> contiguousDim(tile::LoadOp op);
  static std::optional<unsigned> contiguousDim(tile::StoreOp op);

private:
  Layout layoutAlong(mlir::RankedTensorType type, unsigned fast) const;
  /// Along which dimension tiles of this shape lie in memory; the last if nothing says otherwise.
  unsigned fastDim(llvm::ArrayRef<int64_t> shape) const;
  /// stagedLayouts for a tile of which `fast` is contiguous in memory and the other in LDS.
  std::optional<StagedLayouts> exchangedLayouts(mlir::RankedTensorType type, unsigned fast) const;
  /// Elements of one lane along the fast dimension.
  unsigned vectorElements(mlir::RankedTensorType type, unsigned dim) const;

  const TargetInfo &target;
  unsigned waves;
  std::optional<unsigned> rowLanes, rowWaves;
  struct Access {
    llvm::SmallVector<int64_t, 4> shape;
    unsigned fastDim;
    unsigned elementBits;
  };
  llvm::SmallVector<Access> accesses;
};

} // namespace wavetile

#endif // WAVETILE_PASSES_COALESCEDLAYOUTS_H
