//===- RowEmitter.cpp - A loop over the chunks of a row ---------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   %x = tile.load %v[%row, %c0] dims [0, 1] extents(%rows, %n) : ... [rows, cols]
//   %s = tile.reduce sum %x axis 1 extent(%n) : ... -> [rows]
//
// becomes
//
//   %init = tile.full 0 : [rows, cols]
//   %acc = tile.for (%c0) to (%n) dim "cols" carries(%init) {
//   ^bb0(%begin, %extent, %a):
//     %x = tile.load %v[%row, %c0 + %begin] dims [0, 1] extents(%rows, %extent)
//     %f = tile.fill_beyond %x axis 1 extent(%extent) with 0
//     %next = arith.addf %a, %f
//     tile.yield %next
//   }
//   %size = tile.block_size "cols"
//   %s = tile.reduce sum %acc axis 1 extent(%size)
//
//===----------------------------------------------------------------------===//

#include "passes/RowEmitter.h"

#include "passes/Reductions.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::tile;

namespace {

/// Accumulators of one reduction: a value, and an index in an arg reduction.
struct Accumulators {
  Operation *reduction;
  SmallVector<Value, 2> inits;
};

class PhaseEmitter {
public:
  PhaseEmitter(OpBuilder &builder, const RowPhases &phases, unsigned phase, IRMapping &mapping)
      : builder(builder), phases(phases), phase(phase), mapping(mapping) {}

  void emit(Value lower, Value upper);

private:
  Value emitFull(Location loc, Type type, TypedAttr value);
  Accumulators emitInits(Operation *reduction);
  /// Clones a wide operation so that it works on the current chunk.
  void emitWide(Operation *op, IRMapping &chunk, Value begin, Value extent);
  Value emitFilled(Location loc, Value value, TypedAttr identity, Value extent);
  SmallVector<Value> emitStep(const Accumulators &accumulators, ValueRange carried,
                              IRMapping &chunk, Value extent);
  void emitFinal(const Accumulators &accumulators, ValueRange results);
  unsigned axisOf(Value value) { return *phases.axis(value.getType()); }

  OpBuilder &builder;
  const RowPhases &phases;
  unsigned phase;
  IRMapping &mapping;
};

} // namespace

Value PhaseEmitter::emitFull(Location loc, Type type, TypedAttr value) {
  Value scalar = arith::ConstantOp::create(builder, loc, value);
  return FullOp::create(builder, loc, type, scalar);
}

Accumulators PhaseEmitter::emitInits(Operation *op) {
  Location loc = op->getLoc();
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    RankedTensorType type = reduce.getSource().getType();
    return {op, {emitFull(loc, type, getIdentity(reduce.getKind(), type.getElementType()))}};
  }
  auto reduce = cast<ArgReduceOp>(op);
  RankedTensorType type = reduce.getSource().getType(), indexType = reduce.getIndices().getType();
  // No element has this index, so the first one wins even where all are equal to
  // the identity.
  TypedAttr last = getIdentity(ArgReductionKind::Minimum, indexType.getElementType());
  return {op,
          {emitFull(loc, type, getIdentity(reduce.getKind(), type.getElementType())),
           emitFull(loc, indexType, last)}};
}

/// An `index` as a scalar of an integer type.
static Value castIndex(OpBuilder &builder, Location loc, Value index, Type type) {
  return type.isIndex() ? index : arith::IndexCastOp::create(builder, loc, type, index).getResult();
}

/// `offset` moved by `begin`.
static Value movedBy(OpBuilder &builder, Location loc, Value offset, Value begin) {
  auto constant = offset.getDefiningOp<arith::ConstantIndexOp>();
  if (constant && constant.value() == 0)
    return begin;
  return arith::AddIOp::create(builder, loc, offset, begin);
}

void PhaseEmitter::emitWide(Operation *op, IRMapping &chunk, Value begin, Value extent) {
  Operation *clone = builder.clone(*op, chunk);
  auto moveAccess = [&](auto access, RankedTensorType type) {
    unsigned axis = *phases.axis(type);
    for (auto [viewDim, tileDim] : llvm::enumerate(access.getDims())) {
      if (tileDim != int64_t(axis))
        continue;
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPoint(access);
      access.getOffsetsMutable()[viewDim].set(
          movedBy(builder, access.getLoc(), access.getOffsets()[viewDim], begin));
    }
    access.getExtentsMutable()[axis].set(extent);
  };
  auto moveShown = [&](auto shown) {
    unsigned axis = *phases.axis(shown->getOperand(0).getType());
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(shown);
    shown.getOffsetsMutable()[axis].set(
        movedBy(builder, shown.getLoc(), shown.getOffsets()[axis], begin));
    shown.getExtentsMutable()[axis].set(extent);
  };
  if (auto print = dyn_cast<PrintOp>(clone)) {
    moveShown(print);
  } else if (auto check = dyn_cast<AssertOp>(clone)) {
    moveShown(check);
  } else if (auto load = dyn_cast<LoadOp>(clone)) {
    moveAccess(load, load.getType());
  } else if (auto store = dyn_cast<StoreOp>(clone)) {
    moveAccess(store, store.getValue().getType());
  } else if (auto fill = dyn_cast<FillBeyondOp>(clone)) {
    if (phases.axis(fill.getType()) == unsigned(fill.getAxis()))
      fill.getExtentMutable().set(extent);
  } else if (auto iota = dyn_cast<IotaOp>(clone)) {
    Location loc = op->getLoc();
    Value scalar = castIndex(builder, loc, begin, iota.getType().getElementType());
    Value start = FullOp::create(builder, loc, iota.getType(), scalar);
    chunk.map(op->getResult(0), arith::AddIOp::create(builder, loc, iota, start).getResult());
  }
}

Value PhaseEmitter::emitFilled(Location loc, Value value, TypedAttr identity, Value extent) {
  return FillBeyondOp::create(builder, loc, value.getType(), value,
                              builder.getI64IntegerAttr(axisOf(value)), extent, identity);
}

SmallVector<Value> PhaseEmitter::emitStep(const Accumulators &accumulators, ValueRange carried,
                                          IRMapping &chunk, Value extent) {
  Location loc = accumulators.reduction->getLoc();
  if (auto reduce = dyn_cast<ReduceOp>(accumulators.reduction)) {
    Value source = chunk.lookupOrDefault(reduce.getSource());
    Type element = reduce.getSource().getType().getElementType();
    Value filled = emitFilled(loc, source, getIdentity(reduce.getKind(), element), extent);
    auto flags = reduce.getReassociate()
                     ? arith::FastMathFlags::reassoc | arith::FastMathFlags::contract
                     : arith::FastMathFlags::none;
    return {emitCombine(builder, loc, reduce.getKind(), carried[0], filled, flags)};
  }
  auto reduce = cast<ArgReduceOp>(accumulators.reduction);
  Value source = chunk.lookupOrDefault(reduce.getSource());
  Value indices = chunk.lookupOrDefault(reduce.getIndices());
  Type element = reduce.getSource().getType().getElementType();
  Type indexElement = reduce.getIndices().getType().getElementType();
  Value filled = emitFilled(loc, source, getIdentity(reduce.getKind(), element), extent);
  Value filledIndices =
      emitFilled(loc, indices, getIdentity(ArgReductionKind::Minimum, indexElement), extent);
  IndexedValue next = emitCombine(builder, loc, reduce.getKind(), {carried[0], carried[1]},
                                  {filled, filledIndices});
  return {next.value, next.index};
}

void PhaseEmitter::emitFinal(const Accumulators &accumulators, ValueRange results) {
  Operation *op = accumulators.reduction;
  Location loc = op->getLoc();
  Value size = BlockSizeOp::create(builder, loc, builder.getIndexType(),
                                   builder.getStringAttr(phases.getRow().getValue()));
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    auto final = ReduceOp::create(builder, loc, reduce.getType(), reduce.getKind(), results[0],
                                  reduce.getAxis(), size, reduce.getReassociate(),
                                  /*beyond_neutral=*/false);
    mapping.map(reduce.getResult(), final.getResult());
    return;
  }
  auto reduce = cast<ArgReduceOp>(op);
  auto final = ArgReduceOp::create(builder, loc, reduce.getResultTypes(), reduce.getKind(),
                                   results[0], results[1], reduce.getAxis(), size,
                                   /*beyond_neutral=*/false);
  mapping.map(reduce.getResults(), final.getResults());
}

void PhaseEmitter::emit(Value lower, Value upper) {
  SmallVector<Operation *> roots = phases.roots(phase);
  std::vector<Accumulators> reductions;
  SmallVector<Value> inits;
  for (Operation *root : roots) {
    if (!phases.isReduction(root))
      continue;
    reductions.push_back(emitInits(root));
    llvm::append_range(inits, reductions.back().inits);
  }

  Location loc = roots.front()->getLoc();
  auto loop = ForOp::create(builder, loc, ValueRange(inits).getTypes(), lower, upper,
                            phases.getRow(), inits, /*block_size=*/IntegerAttr(), /*full=*/false);
  Block &body = loop.getBody().emplaceBlock();
  body.addArguments({builder.getIndexType(), builder.getIndexType()}, {loc, loc});
  for (Value init : inits)
    body.addArgument(init.getType(), init.getLoc());

  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&body);
    IRMapping chunk = mapping;
    for (Operation *op : phases.wideOps(phase))
      emitWide(op, chunk, loop.getBegin(), loop.getExtent());
    SmallVector<Value> next;
    ValueRange carried = loop.getCarried();
    for (const Accumulators &reduction : reductions) {
      size_t count = reduction.inits.size();
      llvm::append_range(next,
                         emitStep(reduction, carried.take_front(count), chunk, loop.getExtent()));
      carried = carried.drop_front(count);
    }
    YieldOp::create(builder, loc, next);
  }

  ValueRange results = loop.getResults();
  for (const Accumulators &reduction : reductions) {
    size_t count = reduction.inits.size();
    emitFinal(reduction, results.take_front(count));
    results = results.drop_front(count);
  }
}

void wavetile::emitPhase(OpBuilder &builder, const RowPhases &phases, unsigned phase, Value lower,
                         Value upper, IRMapping &mapping) {
  PhaseEmitter(builder, phases, phase, mapping).emit(lower, upper);
}

void wavetile::rollRow(const RowPhases &phases) {
  ParallelOp loop = phases.getLoop();
  Block &body = loop.getBody().front();
  SmallVector<Operation *> originals;
  for (Operation &op : body.without_terminator())
    originals.push_back(&op);

  OpBuilder builder(body.getTerminator());
  IRMapping mapping;
  auto emitNarrow = [&](unsigned level) {
    for (Operation *op : phases.narrowOps(level))
      builder.clone(*op, mapping);
  };
  for (unsigned phase = 0; phase < phases.getNumPhases(); ++phase) {
    emitNarrow(phase);
    Value zero = arith::ConstantIndexOp::create(builder, loop.getLoc(), 0);
    emitPhase(builder, phases, phase, zero, mapping.lookupOrDefault(phases.getLength()), mapping);
  }
  emitNarrow(phases.getNumPhases());

  for (Operation *op : llvm::reverse(originals))
    op->erase();
}
