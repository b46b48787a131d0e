//===- MemoryAccess.h - Addresses and masks of a tile access ----*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads and stores share one description of what each lane touches, so that the
// addresses and the mask of a tile are computed in one place.
//
// A lane accesses its registers in groups that are consecutive in memory, up to
// the target's widest access. Byte offsets split into a wave-uniform base (in
// scalar registers), a lane's part, and a constant or uniform part for each
// group. A lane that must not access memory uses an offset that the buffer's
// range check drops: no branch. Where byte offsets may pass 2^31, addresses are
// 64 bits wide and lanes are kept out by branches.
//
// If the innermost extent may end within a group, whole groups are accessed as
// above and the lane that holds the end does the rest by accesses of half the
// width, a quarter, and so on, within a branch.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_BACKEND_ROCM_LOWERING_MEMORYACCESS_H
#define WAVETILE_BACKEND_ROCM_LOWERING_MEMORYACCESS_H

#include "backend_rocm/lowering/Lowering.h"
#include "passes/IndexFacts.h"
#include "passes/Place.h"

namespace wavetile::rocm {

/// What a tile.load, tile.store or tile.atomic says of its access.
struct AccessDescription {
  const MemoryView &view;
  const Layout &layout;
  mlir::Type element;
  Place place;
  std::optional<llvm::ArrayRef<bool>> inBounds;
  int64_t divisor; // divides where the innermost dimension ends
  bool isStore;    // each element is accessed by one lane and register only
  bool isAtomic = false;
};

class TileAccess {
public:
  TileAccess(Lowering &state, const AccessDescription &access);

  /// Registers that are accessed together, all of the same number.
  struct Group {
    llvm::SmallVector<unsigned, 8> registers;
    mlir::Value offset;        // bytes, per lane
    mlir::Value uniformOffset; // bytes, or null
    mlir::Value mask;          // lanes that access the whole group, or null for all
    mlir::Value rest;          // elements of the group that the lane has, if below the width
    mlir::Value hasRest;       // lanes that have some but not all, or null for none
  };

  llvm::ArrayRef<Group> groups() const { return accessGroups; }
  unsigned width() const { return groupWidth; }

  /// Loads `count` elements at `group.offset` plus `extraBytes` (null for none) in the lanes of
  /// `mask`, as a vector (or scalar) in memory's type; other lanes get zeros.
  mlir::Value load(const Group &group, unsigned count, mlir::Value extraBytes, mlir::Value mask);
  void store(const Group &group, mlir::Value value, mlir::Value extraBytes, mlir::Value mask);

  mlir::Type memoryElement() const { return memory; }

  /// The address of a group, for lanes of its mask.
  mlir::Value address(const Group &group);

private:
  void readParts();
  bool variesAlong(unsigned dim) const;
  void addIndices(Group &group);
  void chooseGroups();
  void buildBase();
  void buildGroup(llvm::ArrayRef<unsigned> registers);
  int64_t divisorOfEnd(unsigned dim);
  bool mayBeNegative(unsigned viewDim);
  mlir::Value fixedPlacesInside();
  mlir::Value firstInside(unsigned dim, mlir::Value wave);
  mlir::Value bufferResource();
  mlir::Value wideAddress(const Group &group, mlir::Value extraBytes);
  mlir::Value bufferOffset(const Group &group, mlir::Value extraBytes, mlir::Value mask);
  mlir::Value strideBytes(unsigned viewDim);
  std::optional<int64_t> constantStrideBytes(unsigned viewDim) const;
  mlir::Value conjunction(mlir::Value a, mlir::Value b);

  Lowering &state;
  AccessDescription access;
  mlir::Type memory;
  unsigned bytes; // of one element
  std::optional<unsigned> fastDim;
  unsigned groupWidth = 1;
  bool mayEndInGroup = false;
  // For each dimension of the tile that of the view along which it runs, or -1.
  llvm::SmallVector<int, 4> viewDimOf;
  // For each register of the tile the index in each tile of indices, and the mask.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>, 2> indexRegisters;
  llvm::SmallVector<mlir::Value> maskRegisters;
  // For each dimension of the tile the coordinates that are accessed, less the wave's part: from
  // `firsts` (null: 0) up to but without `limits` (null: all).
  llvm::SmallVector<mlir::Value, 4> firsts, limits;
  mlir::Value base; // the uniform pointer
  mlir::Value resource;
  mlir::Value canonical; // stores: lanes with the canonical copy; and fixed places inside; or null
  IndexFacts facts;
  llvm::SmallVector<Group, 0> accessGroups;
};

} // namespace wavetile::rocm

#endif // WAVETILE_BACKEND_ROCM_LOWERING_MEMORYACCESS_H
