//===- AccessOrder.cpp - Order of a block's memory accesses -----*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/lowering/AccessOrder.h"

#include "backend_rocm/lowering/Lowering.h"
#include "passes/AliasAnalysis.h"
#include "passes/Place.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::rocm;

//===----------------------------------------------------------------------===//
// Two accesses
//===----------------------------------------------------------------------===//

namespace {
struct Access {
  tile::ViewOp view;
  Place place;
  const Layout &layout;

  static Access of(Operation *op) {
    auto store = dyn_cast<tile::StoreOp>(op);
    Value held = store ? Value(store.getValue()) : Value(op->getResult(0));
    Place place = *Place::of(op);
    return {place.viewOp(), place, Lowering::layoutOf(held)};
  }
};
} // namespace

static bool areEqual(Value a, Value b) {
  Attribute x, y;
  return a == b || (matchPattern(a, m_Constant(&x)) && matchPattern(b, m_Constant(&y)) && x == y);
}

/// Whether all steps of the loop begin at multiples of its block size: it begins at zero, or at the
/// end of the whole blocks of a loop that does.
static bool stepsFromZero(tile::ForOp loop) {
  if (matchPattern(loop.getLower(), m_Zero()))
    return true;
  auto split = loop.getLower().getDefiningOp<arith::SubIOp>();
  auto rest = split ? split.getRhs().getDefiningOp<arith::RemUIOp>() : arith::RemUIOp();
  IntegerAttr size;
  return rest && rest.getLhs() == split.getLhs() &&
         matchPattern(rest.getRhs(), m_Constant(&size)) &&
         size.getInt() == loop.getBlockSizeAttr().getInt();
}

/// Whether the two differ by whole blocks, so that an element in both tiles is at one place in
/// them.
static bool areCongruent(Value a, Value b) {
  if (areEqual(a, b))
    return true;
  auto x = dyn_cast<BlockArgument>(a), y = dyn_cast<BlockArgument>(b);
  if (!x || !y)
    return false;
  auto first = dyn_cast<tile::ForOp>(x.getOwner()->getParentOp());
  auto second = dyn_cast<tile::ForOp>(y.getOwner()->getParentOp());
  return first && second && x == first.getBegin() && y == second.getBegin() &&
         first.getBlockSize() == second.getBlockSize() && stepsFromZero(first) &&
         stepsFromZero(second);
}

/// Whether an element that both access is accessed by one lane, or by lanes of one wave, which go
/// together. Two arguments that overlap may do so in any way.
static bool areOfSameLanes(Access a, Access b) {
  auto all = [](ValueRange x, ValueRange y, llvm::function_ref<bool(Value, Value)> agree) {
    return x.size() == y.size() && llvm::all_of(llvm::zip(x, y), [&](auto pair) {
             return agree(std::get<0>(pair), std::get<1>(pair));
           });
  };
  // Waves that hold copies load them each; only one of them stores.
  if (a.layout.replication().waveMask != 0)
    return false;
  return a.place.indices.empty() && b.place.indices.empty() &&
         a.view.getPointer() == b.view.getPointer() && a.layout == b.layout &&
         a.place.dims == b.place.dims && all(a.view.getStrides(), b.view.getStrides(), areEqual) &&
         all(a.place.offsets, b.place.offsets, areCongruent);
}

/// Whether `later` must wait until all waves have done `earlier`.
static bool mustWait(Operation *earlier, Operation *later) {
  if ((!isWrite(earlier) && !isWrite(later)) || alias(earlier, later) == Alias::None)
    return false;
  Access a = Access::of(earlier), b = Access::of(later);
  return !a.view || !b.view || !areOfSameLanes(a, b);
}

//===----------------------------------------------------------------------===//
// A program
//===----------------------------------------------------------------------===//

AccessOrder::AccessOrder(tile::ProgramOp program)
    : program(program), accesses(getAccesses(program)) {}

/// The innermost operation of these kinds around another, or null.
template <typename... Ops> static Operation *enclosing(Operation *op) {
  for (op = op->getParentOp(); op; op = op->getParentOp())
    if (isa<Ops...>(op))
      return op;
  return nullptr;
}

bool AccessOrder::needsBarrierBefore(Operation *access) {
  if (program.getWaves() == 1)
    return false;
  bool waits =
      llvm::any_of(unordered, [&](Operation *earlier) { return mustWait(earlier, access); });
  // What comes later in a loop's step comes earlier than the next step.
  for (Operation *other :
       ArrayRef(accesses).drop_until([&](Operation *op) { return op == access; })) {
    Operation *loop = enclosing<tile::ForOp, tile::WhileOp>(access);
    while (loop && !loop->isAncestor(other))
      loop = enclosing<tile::ForOp, tile::WhileOp>(loop);
    waits |= loop && mustWait(other, access);
  }
  // A barrier in a loop or choice is one for what is in it, which may not run.
  Operation *optional = enclosing<tile::ForOp, tile::WhileOp, tile::IfOp>(access);
  if (waits)
    llvm::erase_if(unordered, [&](Operation *op) { return !optional || optional->isAncestor(op); });
  unordered.push_back(access);
  return waits;
}
