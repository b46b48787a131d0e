//===- AliasAnalysis.cpp - Which accesses may touch the same bytes -*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/AliasAnalysis.h"

#include "passes/Place.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::tile;

static bool areEqual(Value a, Value b) {
  if (a == b)
    return true;
  auto x = a.getDefiningOp<arith::ConstantOp>(), y = b.getDefiningOp<arith::ConstantOp>();
  return x && y && x.getValue() == y.getValue();
}

static bool areEqual(ValueRange a, ValueRange b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [](auto pair) {
           return areEqual(std::get<0>(pair), std::get<1>(pair));
         });
}

static bool isDisjoint(Operation *op) {
  for (; op; op = op->getParentOp()) {
    if (auto kernel = dyn_cast<KernelOp>(op))
      return kernel.getDisjoint();
    if (auto program = dyn_cast<ProgramOp>(op))
      return program.getDisjoint();
  }
  return false;
}

Alias wavetile::alias(Operation *a, Operation *b) {
  std::optional<Place> x = Place::of(a), y = Place::of(b);
  ViewOp v = x ? x->viewOp() : ViewOp(), w = y ? y->viewOp() : ViewOp();
  if (!v || !w)
    return Alias::May;
  Value p = v.getPointer(), q = w.getPointer();
  if (p != q) {
    bool hasScratch = p.getDefiningOp<ScratchOp>() || q.getDefiningOp<ScratchOp>();
    return hasScratch || isDisjoint(a) ? Alias::None : Alias::May;
  }
  // Sizes only decide which elements are left out. Elements of a gather may be one another's.
  bool same = x->indices.empty() && y->indices.empty() &&
              areEqual(v.getStrides(), w.getStrides()) && areEqual(x->offsets, y->offsets) &&
              x->dims == y->dims;
  return same ? Alias::Same : Alias::May;
}

SmallVector<Operation *> wavetile::getAccesses(Operation *op) {
  SmallVector<Operation *> accesses;
  op->walk([&](Operation *inner) {
    if (Place::of(inner))
      accesses.push_back(inner);
  });
  return accesses;
}
