//===- Place.h - Where an access of memory is -------------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What loads, stores and atomics have in common: the view and where in it the
// elements of a tile lie.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_PASSES_PLACE_H
#define WAVETILE_PASSES_PLACE_H

#include "ir/Tile.h"

#include <optional>

namespace wavetile {

struct Place {
  mlir::RankedTensorType tile;
  mlir::TypedValue<tile::ViewType> view;
  mlir::ValueRange offsets, extents, indices;
  mlir::Value mask; // or null
  llvm::ArrayRef<int64_t> dims, indexDims;

  /// Nothing if the operation is no access.
  static std::optional<Place> of(mlir::Operation *op);

  /// The operation that made the view, or null.
  tile::ViewOp viewOp() const { return view.getDefiningOp<tile::ViewOp>(); }

  /// Whether the elements' places along this dimension of the view are in `indices`.
  bool isIndexed(unsigned viewDim) const { return llvm::is_contained(indexDims, viewDim); }

  /// Whether every element is at the places that offsets and `dims` give.
  bool isStrided() const { return indices.empty() && !mask; }
};

/// The name of the argument whose memory a view shows, or null.
mlir::StringAttr getTensorName(tile::ViewOp view);

/// Whether an access may change memory.
inline bool isWrite(mlir::Operation *access) {
  return mlir::isa<tile::StoreOp, tile::AtomicOp>(access);
}

} // namespace wavetile

#endif // WAVETILE_PASSES_PLACE_H
