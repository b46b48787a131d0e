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

  enum class Place { Beyond, Outside, Inside, Undefined };

  ArrayRef<int64_t> getShape() const { return shape; }

  /// Whether an element is at or beyond an extent, outside the view or left out by the
  /// mask, or inside; or whether its index or mask has no value.
  Place place(ArrayRef<int64_t> index) const;

  /// The bytes from the pointer to an element that is inside, which must belong to
  /// the tensor.
  FailureOr<int64_t> offset(Operation *op, ArrayRef<int64_t> index) const;

  unsigned elementBytes() const { return llvm::divideCeil(getWidth(view->elementType), 8u); }
  Allocation &allocation() const { return *view->pointer.allocation; }

  /// Reports an element whose index or mask has no value.
  LogicalResult reportUndefinedPlace(Operation *op, ArrayRef<int64_t> index) const;

  LogicalResult checkInBounds(Operation *op, ArrayRef<bool> claims) const;
  LogicalResult checkAlignment(Operation *op, uint64_t claimed) const;
  LogicalResult checkDivisor(Operation *op, std::optional<uint64_t> divisor) const;

private:
  int64_t coordinate(size_t viewDim, ArrayRef<int64_t> index) const;
  Element elementAt(const Tile &part, ArrayRef<int64_t> index) const;
  __int128 byteOffset(ArrayRef<int64_t> index) const;

  const View *view;
  SmallVector<int64_t, 4> shape, offsets, extents;
  ArrayRef<int64_t> dims, indexDims;
  SmallVector<const Tile *, 2> indices;
  const Tile *mask = nullptr;
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
  if (auto indexDims = op.getIndexDims())
    access.indexDims = *indexDims;
  for (Value tile : op.getIndices())
    access.indices.push_back(&frame.tile(tile));
  if (op.getMask())
    access.mask = &frame.tile(op.getMask());
  for (auto [value, size] : llvm::zip_equal(op.getExtents(), access.shape)) {
    FailureOr<int64_t> extent = frame.extent(op, value, size);
    if (failed(extent))
      return failure();
    access.extents.push_back(*extent);
  }

  return access;
}

/// Checks what passes say of a load or store.
template <typename Op> static LogicalResult checkClaims(const TileAccess &access, Op op) {
  if (auto claims = op.getInBounds(); claims && failed(access.checkInBounds(op, *claims)))
    return failure();
  if (auto claimed = op.getAlignment(); claimed && failed(access.checkAlignment(op, *claimed)))
    return failure();
  return access.checkDivisor(op, op.getDivisor());
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// The element of a tile whose dimensions are those of the access or of size one.
Element TileAccess::elementAt(const Tile &part, ArrayRef<int64_t> index) const {
  size_t position = 0;
  for (auto [size, at] : llvm::zip_equal(part.getShape(), index))
    position = position * size + (size == 1 ? 0 : at);
  return part[position];
}

int64_t TileAccess::coordinate(size_t viewDim, ArrayRef<int64_t> index) const {
  int64_t result = offsets[viewDim];
  if (dims[viewDim] >= 0)
    result += index[dims[viewDim]];
  for (auto [dim, tile] : llvm::zip_equal(indexDims, indices))
    if (dim == int64_t(viewDim))
      // The indices of elements that are accessed have values.
      result += elementAt(*tile, index)->getSExtValue();
  return result;
}

TileAccess::Place TileAccess::place(ArrayRef<int64_t> index) const {
  for (auto [position, extent] : llvm::zip_equal(index, extents))
    if (position >= extent)
      return Place::Beyond;
  if (mask) {
    Element take = elementAt(*mask, index);
    if (!take)
      return Place::Undefined;
    if (take->isZero())
      return Place::Outside;
  }
  for (const Tile *tile : indices)
    if (!elementAt(*tile, index))
      return Place::Undefined;
  for (size_t dim = 0; dim < dims.size(); ++dim)
    if (int64_t at = coordinate(dim, index); at < 0 || at >= view->sizes[dim])
      return Place::Outside;
  return Place::Inside;
}

LogicalResult TileAccess::reportUndefinedPlace(Operation *op, ArrayRef<int64_t> index) const {
  auto report = [&](const Tile &part, StringRef used) {
    size_t position = 0;
    for (auto [size, at] : llvm::zip_equal(part.getShape(), index))
      position = position * size + (size == 1 ? 0 : at);
    return reportUndefined(op, part, position, used);
  };
  if (mask && !elementAt(*mask, index))
    return report(*mask, "has in its mask");
  for (const Tile *tile : indices)
    if (!elementAt(*tile, index))
      return report(*tile, "addresses with");
  return success();
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
    if (viewDim == dims.size())
      continue; // indices say where its elements are
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

LogicalResult TileAccess::checkDivisor(Operation *op, std::optional<uint64_t> divisor) const {
  if (!divisor || extents.empty())
    return success();
  int64_t end = extents.back();
  for (auto [viewDim, dim] : llvm::enumerate(dims))
    if (dim + 1 == int64_t(extents.size()))
      end = std::min(end, view->sizes[viewDim] - offsets[viewDim]);
  if (end > 0 && end % int64_t(*divisor) != 0)
    return op->emitOpError() << "says that " << *divisor
                             << " divides where its innermost dimension ends, " << end;
  return success();
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

static Element optionalBits(std::optional<TypedAttr> value) {
  return value ? Element(toBits(*value)) : std::nullopt;
}

LogicalResult interpreter::runLoad(Frame &frame, LoadOp load) {
  FailureOr<TileAccess> access = TileAccess::create(frame, load, load.getType());
  if (failed(access) || failed(checkClaims(*access, load)))
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
    case TileAccess::Place::Undefined:
      result = access->reportUndefinedPlace(load, index);
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
  if (failed(access) || failed(checkClaims(*access, store)))
    return failure();
  LogicalResult result = success();
  forEachIndex(tile.getShape(), [&](ArrayRef<int64_t> index, size_t position) {
    if (failed(result))
      return;
    TileAccess::Place place = access->place(index);
    if (place == TileAccess::Place::Undefined)
      result = access->reportUndefinedPlace(store, index);
    if (place != TileAccess::Place::Inside)
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

//===----------------------------------------------------------------------===//
// tile.atomic
//===----------------------------------------------------------------------===//

/// What an atomic writes where it reads `old`.
static llvm::APInt combineAtomic(AtomicKind kind, Type type, const llvm::APInt &old,
                                 const llvm::APInt &value, const Element &compare) {
  bool isFloat = isa<FloatType>(type);
  auto onFloats = [&](auto function) {
    return function(toFloat(type, old), toFloat(type, value)).bitcastToAPInt();
  };
  switch (kind) {
  case AtomicKind::Add:
    return isFloat ? onFloats([](const llvm::APFloat &a, const llvm::APFloat &b) { return a + b; })
                   : old + value;
  case AtomicKind::Maximum:
    return isFloat ? onFloats(llvm::maximum) : llvm::APIntOps::smax(old, value);
  case AtomicKind::Minimum:
    return isFloat ? onFloats(llvm::minimum) : llvm::APIntOps::smin(old, value);
  case AtomicKind::UnsignedMaximum:
    return llvm::APIntOps::umax(old, value);
  case AtomicKind::UnsignedMinimum:
    return llvm::APIntOps::umin(old, value);
  case AtomicKind::And:
    return old & value;
  case AtomicKind::Or:
    return old | value;
  case AtomicKind::Xor:
    return old ^ value;
  case AtomicKind::Exchange:
    return value;
  case AtomicKind::CompareExchange:
    return old == *compare ? value : old;
  }
  llvm_unreachable("covered switch");
}

/// Elements of one tile take their turns in random order.
LogicalResult interpreter::runAtomic(Frame &frame, AtomicOp atomic) {
  const Tile &values = frame.tile(atomic.getValue());
  const Tile *compares = atomic.getCompare() ? &frame.tile(atomic.getCompare()) : nullptr;
  FailureOr<TileAccess> access = TileAccess::create(frame, atomic, atomic.getType());
  if (failed(access))
    return failure();
  Type elementType = atomic.getType().getElementType();
  unsigned width = getWidth(elementType);
  Tile old(elementType, access->getShape());
  std::vector<SmallVector<int64_t, 4>> places;
  forEachIndex(old.getShape(),
               [&](ArrayRef<int64_t> index, size_t) { places.emplace_back(index); });
  for (int64_t position : frame.session.shuffled(places.size())) {
    ArrayRef<int64_t> index = places[position];
    TileAccess::Place place = access->place(index);
    if (place == TileAccess::Place::Undefined)
      return access->reportUndefinedPlace(atomic, index);
    if (place == TileAccess::Place::Outside)
      old.set(position, llvm::APInt(width, 0));
    if (place != TileAccess::Place::Inside)
      continue;
    FailureOr<int64_t> offset = access->offset(atomic, index);
    if (failed(offset))
      return failure();
    if (!values[position])
      return reportUndefined(atomic, values, position, "combines");
    if (compares && !(*compares)[position])
      return reportUndefined(atomic, *compares, position, "compares");
    auto bits = access->allocation().read(*offset, access->elementBytes());
    if (!bits)
      return atomic.emitOpError("reads memory that was never written");
    llvm::APInt before(width, *bits);
    old.set(position, before);
    llvm::APInt after = combineAtomic(atomic.getKind(), elementType, before, *values[position],
                                      compares ? (*compares)[position] : Element());
    access->allocation().write(*offset, access->elementBytes(), after.getZExtValue());
  }
  frame.set(atomic.getResult(), std::move(old));
  return success();
}
