//===- RowDims.cpp - The dimensions of a top-level loop ---------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/RowDims.h"

#include "passes/Place.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::tile;

void wavetile::forEachExtent(Operation *op,
                             function_ref<void(RankedTensorType, unsigned, Value)> visit) {
  llvm::TypeSwitch<Operation *>(op)
      .Case<LoadOp, StoreOp, AtomicOp>([&](auto access) {
        Place place = *Place::of(access);
        for (auto [axis, extent] : llvm::enumerate(place.extents))
          visit(place.tile, axis, extent);
      })
      .Case([&](ReduceOp reduce) {
        visit(reduce.getSource().getType(), reduce.getAxis(), reduce.getExtent());
      })
      .Case([&](ArgReduceOp reduce) {
        visit(reduce.getSource().getType(), reduce.getAxis(), reduce.getExtent());
      })
      .Case<ScanOp, CombineOp>([&](auto scan) {
        for (Value source : scan.getSources())
          visit(cast<RankedTensorType>(source.getType()), scan.getAxis(), scan.getExtent());
      })
      .Case(
          [&](SortOp sort) { visit(sort.getSource().getType(), sort.getAxis(), sort.getExtent()); })
      .Case<PrintOp, AssertOp>([&](auto shown) {
        for (auto [axis, extent] : llvm::enumerate(shown.getExtents()))
          visit(cast<RankedTensorType>(shown->getOperand(0).getType()), axis, extent);
      })
      .Case([&](FillBeyondOp fill) { visit(fill.getType(), fill.getAxis(), fill.getExtent()); })
      .Case([&](DotOp dot) { visit(dot.getLhs().getType(), 1, dot.getExtent()); });
}

llvm::MapVector<StringAttr, NamedDim> wavetile::getNamedDims(ParallelOp loop) {
  llvm::MapVector<StringAttr, NamedDim> dims;
  for (Attribute name : loop.getDims())
    dims[cast<StringAttr>(name)].kind = NamedDim::Kind::Parallel;
  loop.walk([&](ForOp inner) { dims[inner.getDimAttr()].kind = NamedDim::Kind::For; });

  auto addNames = [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return;
    for (int64_t axis = 0; axis < tensor.getRank(); ++axis)
      if (tensor.isDynamicDim(axis))
        dims.insert({getDimName(tensor, axis), {NamedDim::Kind::Row, {}}});
  };
  loop.walk<WalkOrder::PreOrder>([&](Operation *op) {
    llvm::for_each(op->getResultTypes(), addNames);
    forEachExtent(op, [&](RankedTensorType type, unsigned axis, Value extent) {
      auto found = dims.find(getDimName(type, axis));
      if (found == dims.end() || found->second.kind != NamedDim::Kind::Row)
        return;
      if (!llvm::is_contained(found->second.extents, extent))
        found->second.extents.push_back(extent);
    });
  });
  return dims;
}

unsigned wavetile::narrowestAccessBits(ParallelOp loop, StringAttr name) {
  unsigned bits = 64;
  auto look = [&](RankedTensorType type) {
    if (name && !llvm::is_contained(getDimNames(type), name))
      return;
    bits = std::min(bits, std::max(8u, type.getElementType().getIntOrFloatBitWidth()));
  };
  loop.walk([&](LoadOp load) { look(load.getType()); });
  loop.walk([&](StoreOp store) { look(store.getValue().getType()); });
  return bits;
}
