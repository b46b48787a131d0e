//===- Access.cpp - Loads and stores of views -------------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/interpreter/Execution.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::tile;
using namespace wavetile::interpreter;

namespace {

/// Where the elements of one tile lie in a view.
class TileAccess {
public:
  template <typename Op>
  static FailureOr<TileAccess> create(Frame &frame, Op op, RankedTensorType type);

  enum class Place { Beyond, Outside, Inside };

  ArrayRef<int64_t> getShape() const { return shape; }

  /// Whether an element is at or beyond an extent, outside the view, or inside.
  Place place(ArrayRef<int64_t> index) const;

  /// The bytes from the pointer to an element that is inside, which must belong to
  /// the tensor.
  FailureOr<int64_t> offset(Operation *op, ArrayRef<int64_t> index) const;

  unsigned elementBytes() const { return llvm::divideCeil(getWidth(view->elementType), 8u); }
  Allocation &allocation() const { return *view->pointer.allocation; }

private:
  LogicalResult checkInBounds(Operation *op, ArrayRef<bool> claims) const;
  LogicalResult checkAlignment(Operation *op, uint64_t claimed) const;

  int64_t coordinate(size_t viewDim, ArrayRef<int64_t> index) const {
    return offsets[viewDim] + (dims[viewDim] < 0 ? 0 : index[dims[viewDim]]);
  }
  __int128 byteOffset(ArrayRef<int64_t> index) const;

  const View *view;
  SmallVector<int64_t, 4> shape, offsets, extents;
  ArrayRef<int64_t> dims;
};

} // namespace

template <typename Op>
FailureOr<TileAccess> TileAccess::create(Frame &frame, Op op, RankedTensorType type) {
  TileAccess access;
  access.view = &frame.view(op.getView());
  access.dims = op.getDims();
  FailureOr<SmallVector<int64_t, 4>> shape = frame.shapeOf(op, type);
  FailureOr<SmallVector<int64_t, 4>> offsets =
      frame.integers(op, op.getOffsets(), "has as an offset");
  if (failed(shape) || failed(offsets))
    return failure();
  access.shape = std::move(*shape);
  access.offsets = std::move(*offsets);
  for (auto [value, size] : llvm::zip_equal(op.getExtents(), access.shape)) {
    FailureOr<int64_t> extent = frame.extent(op, value, size);
    if (failed(extent))
      return failure();
    access.extents.push_back(*extent);
  }

  if (auto claims = op.getInBounds(); claims && failed(access.checkInBounds(op, *claims)))
    return failure();
  if (auto claimed = op.getAlignment(); claimed && failed(access.checkAlignment(op, *claimed)))
    return failure();
  if (auto divisor = op.getDivisor())
    if (!access.extents.empty() && access.extents.back() % int64_t(*divisor) != 0)
      return op.emitOpError() << "says that " << *divisor << " divides its innermost extent, "
                              << access.extents.back();
  return access;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

TileAccess::Place TileAccess::place(ArrayRef<int64_t> index) const {
  for (auto [position, extent] : llvm::zip_equal(index, extents))
    if (position >= extent)
      return Place::Beyond;
  for (size_t dim = 0; dim < dims.size(); ++dim)
    if (int64_t at = coordinate(dim, index); at < 0 || at >= view->sizes[dim])
      return Place::Outside;
  return Place::Inside;
}

__int128 TileAccess::byteOffset(ArrayRef<int64_t> index) const {
  __int128 elements = 0;
  for (size_t dim = 0; dim < dims.size(); ++dim)
    elements += __int128(coordinate(dim, index)) * view->strides[dim];
  return elements * elementBytes();
}

FailureOr<int64_t> TileAccess::offset(Operation *op, ArrayRef<int64_t> index) const {
  __int128 bytes = byteOffset(index);
  if (bytes != int64_t(bytes) || !allocation().contains(int64_t(bytes), elementBytes())) {
    InFlightDiagnostic error = op->emitOpError("reaches element [");
    for (size_t dim = 0; dim < dims.size(); ++dim)
      error << (dim ? ", " : "") << coordinate(dim, index);
    error << "] of its view, at byte " << int64_t(bytes) << " of a tensor of "
          << allocation().getBytes().size();
    return error;
  }
  return int64_t(bytes);
}

//===----------------------------------------------------------------------===//
// Claims of passes
//===----------------------------------------------------------------------===//

LogicalResult TileAccess::checkInBounds(Operation *op, ArrayRef<bool> claims) const {
  for (auto [dim, claim] : llvm::enumerate(claims)) {
    if (!claim)
      continue;
    if (extents[dim] != shape[dim])
      return op->emitOpError() << "says that dimension " << dim << " is in bounds, and its extent "
                               << extents[dim] << " is less than its size " << shape[dim];
    size_t viewDim = llvm::find(dims, int64_t(dim)) - dims.begin();
    if (offsets[viewDim] < 0 || offsets[viewDim] + shape[dim] > view->sizes[viewDim])
      return op->emitOpError() << "says that dimension " << dim << " is in bounds, and its "
                               << shape[dim] << " elements from " << offsets[viewDim]
                               << " are not in a view of " << view->sizes[viewDim];
  }
  return success();
}

LogicalResult TileAccess::checkAlignment(Operation *op, uint64_t claimed) const {
  SmallVector<int64_t, 4> rows = shape;
  if (!rows.empty())
    rows.back() = std::min<int64_t>(rows.back(), 1);
  LogicalResult result = success();
  forEachIndex(rows, [&](ArrayRef<int64_t> index, size_t) {
    if (failed(result) || place(index) != Place::Inside)
      return;
    __int128 bytes = byteOffset(index);
    if (view->pointer.alignment % claimed != 0 || bytes % claimed != 0)
      result = op->emitOpError() << "says that " << claimed
                                 << " bytes divide the address of each row, and one begins at byte "
                                 << int64_t(bytes) << " of a tensor aligned to "
                                 << view->pointer.alignment;
  });
  return result;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

static Element optionalBits(std::optional<TypedAttr> value) {
  return value ? Element(toBits(*value)) : std::nullopt;
}

LogicalResult interpreter::runLoad(Frame &frame, LoadOp load) {
  FailureOr<TileAccess> access = TileAccess::create(frame, load, load.getType());
  if (failed(access))
    return failure();
  Type elementType = load.getType().getElementType();
  unsigned width = getWidth(elementType);
  Element beyond = optionalBits(load.getBeyond());
  Element pad = load.getPad() ? toBits(*load.getPad()) : llvm::APInt(width, 0);

  Tile tile(elementType, access->getShape());
  LogicalResult result = success();
  forEachIndex(tile.getShape(), [&](ArrayRef<int64_t> index, size_t position) {
    if (failed(result))
      return;
    switch (access->place(index)) {
    case TileAccess::Place::Beyond:
      tile.set(position, beyond);
      return;
    case TileAccess::Place::Outside:
      tile.set(position, pad);
      return;
    case TileAccess::Place::Inside:
      FailureOr<int64_t> offset = access->offset(load, index);
      if (failed(offset)) {
        result = failure();
        return;
      }
      auto bits = access->allocation().read(*offset, access->elementBytes());
      if (bits && width == 1)
        bits = *bits != 0;
      if (bits)
        tile.set(position, llvm::APInt(width, *bits));
      else
        tile.setCulprit(load);
      return;
    }
  });
  if (succeeded(result))
    frame.set(load.getResult(), std::move(tile));
  return result;
}

LogicalResult interpreter::runStore(Frame &frame, StoreOp store) {
  const Tile &tile = frame.tile(store.getValue());
  FailureOr<TileAccess> access = TileAccess::create(frame, store, store.getValue().getType());
  if (failed(access))
    return failure();
  LogicalResult result = success();
  forEachIndex(tile.getShape(), [&](ArrayRef<int64_t> index, size_t position) {
    if (failed(result) || access->place(index) != TileAccess::Place::Inside)
      return;
    FailureOr<int64_t> offset = access->offset(store, index);
    Element element = tile[position];
    if (failed(offset))
      result = failure();
    else if (!element)
      result = reportUndefined(store, tile, position, "stores");
    else
      access->allocation().write(*offset, access->elementBytes(), element->getZExtValue());
  });
  return result;
}
