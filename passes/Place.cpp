//===- Place.cpp - Where an access of memory is -----------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Place.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::tile;

template <typename Op> static Place placeOf(Op op, RankedTensorType tile) {
  return {tile,
          op.getView(),
          op.getOffsets(),
          op.getExtents(),
          op.getIndices(),
          op.getMask(),
          op.getDims(),
          op.getIndexDims().value_or(ArrayRef<int64_t>())};
}

std::optional<Place> Place::of(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op))
    return placeOf(load, load.getType());
  if (auto store = dyn_cast<StoreOp>(op))
    return placeOf(store, store.getValue().getType());
  if (auto atomic = dyn_cast<AtomicOp>(op))
    return placeOf(atomic, atomic.getType());
  return std::nullopt;
}

StringAttr wavetile::getTensorName(ViewOp view) {
  auto argument = view ? dyn_cast<BlockArgument>(view.getPointer()) : BlockArgument();
  if (!argument)
    return nullptr;
  auto function = dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  return function ? function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), nameAttrName)
                  : StringAttr();
}
