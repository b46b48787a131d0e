//===- SharedRow.cpp - Several blocks for each row --------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   tile.parallel (%c0) to (%m) dims ["rows"] {
//   ^bb0(%row: index, %rows: index):
//     %x = tile.load ... [rows, cols]
//     %s = tile.reduce sum %x axis 1 extent(%n)
//     %y = arith.divf %x, (broadcast %s)
//     tile.store %y ...
//   }
//
// becomes, with 16 blocks a row,
//
//   %partials = tile.scratch (%m, %c16)
//   tile.parallel (%c0, %c0) to (%m, %c16) dims ["rows", "_"] {
//   ^bb0(%row, %rows, %block, %one):
//     %begin, %end = the block's part of the row
//     %s = the sum over %begin to %end, by a tile.for
//     tile.store %s, %partials_view[%row, %block] dims [0, -1]
//   }
//   tile.parallel (%c0, %c0) to (%m, %c16) dims ["rows", "_"] {
//   ^bb0(%row, %rows, %block, %one):
//     %p = tile.load %partials_view[%row, %c0] dims [0, 1] : ... [rows, 16]
//     %s = tile.reduce sum %p axis 1 extent(%c16)
//     the quotient and its store over %begin to %end, by a tile.for
//   }
//
// The parts are combined in the order of the blocks. Values that every row has
// once are stored by block 0 alone.
//
//===----------------------------------------------------------------------===//

#include "passes/RowEmitter.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::tile;

namespace {

/// The partial results of one value of a reduction, in global memory: sizes are
/// those of the loop, of the value's other axes, and the number of blocks.
struct Partials {
  Value view;
  /// For each dimension of the view but the last: the dimension of the loop along
  /// which it lies, or -1.
  SmallVector<int64_t> loopDims;
  /// The same for the axes of the value, which are the last of them.
  unsigned valueRank;
  Type elementType;
};

class RowSharer {
public:
  RowSharer(const RowPhases &phases, int64_t blocks)
      : phases(phases), loop(phases.getLoop()), blocks(blocks), builder(phases.getLoop()) {}

  LogicalResult run();

private:
  LogicalResult createPartials();
  FailureOr<Partials> createPartials(Value result);
  ParallelOp createLoop(bool shared, IRMapping &mapping);
  void emitPart(ParallelOp made);
  void emitKernel(unsigned phase);
  void emitNeeded(unsigned phase, IRMapping &mapping);
  void emitOnce(Operation *op, IRMapping &mapping);
  DenseSet<Operation *> collectNeeded(unsigned phase);
  void storePartials(Operation *reduction, IRMapping &mapping);
  void loadPartials(Operation *reduction, IRMapping &mapping);
  SmallVector<Value> offsets(const Partials &partials, Value last);
  SmallVector<Value> extents(const Partials &partials, ArrayRef<Value> tail);
  bool isReduction(Operation *op) { return phases.isWide(op) && isa<ReduceOp, ArgReduceOp>(op); }

  const RowPhases &phases;
  ParallelOp loop;
  int64_t blocks;
  OpBuilder builder;
  Value zero, blockCount, partLength;
  llvm::DenseMap<Value, Partials> partials;

  // Of the loop being made.
  ParallelOp current;
  Value block, partBegin, partEnd;
};

} // namespace

//===----------------------------------------------------------------------===//
// Scratch
//===----------------------------------------------------------------------===//

/// Booleans are a byte in memory.
static Type memoryType(Type element) {
  return element.isInteger(1) ? IntegerType::get(element.getContext(), 8) : element;
}

FailureOr<Partials> RowSharer::createPartials(Value result) {
  auto type = cast<RankedTensorType>(result.getType());
  Location loc = result.getLoc();
  Partials made;
  made.elementType = memoryType(type.getElementType());
  made.valueRank = type.getRank();

  SmallVector<int64_t> ofValue;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    auto dims = loop.getDims().getValue();
    auto found = llvm::find(dims, Attribute(getDimName(type, axis)));
    if (found == dims.end())
      return result.getDefiningOp()->emitError()
             << "row '" << phases.getRow().getValue()
             << "' cannot be shared by several blocks: a result of a reduction along it has a "
                "dimension that is not one of the top-level loop";
    ofValue.push_back(found - dims.begin());
  }
  for (int64_t dim = 0; dim < int64_t(loop.getNumDims()); ++dim)
    if (!llvm::is_contained(ofValue, dim))
      made.loopDims.push_back(dim);
  llvm::append_range(made.loopDims, ofValue);

  SmallVector<Value> sizes, strides;
  for (int64_t dim : made.loopDims)
    sizes.push_back(loop.getUpper()[dim]);
  sizes.push_back(blockCount);
  strides.assign(sizes.size(), arith::ConstantIndexOp::create(builder, loc, 1));
  for (size_t dim = sizes.size() - 1; dim-- > 0;)
    strides[dim] =
        dim + 2 == sizes.size()
            ? blockCount
            : arith::MulIOp::create(builder, loc, strides[dim + 1], sizes[dim + 1]).getResult();
  MLIRContext *context = builder.getContext();
  if (!loop->getParentOfType<KernelOp>().getWideOffsets()) {
    // Tensors have at most 2^31 bytes here, but scratch has a size of its own.
    Value count = arith::MulIOp::create(builder, loc, strides.front(), sizes.front());
    int64_t bytes = llvm::divideCeil(made.elementType.getIntOrFloatBitWidth(), 8);
    GuardOp::create(
        builder, loc, count, (int64_t(1) << 31) / bytes,
        ("scratch for " + phases.getRow().getValue() + " has at most 2^31 bytes").str());
  }
  Value pointer =
      ScratchOp::create(builder, loc, PointerType::get(context, made.elementType), sizes);
  made.view = ViewOp::create(builder, loc, ViewType::get(context, sizes.size(), made.elementType),
                             pointer, sizes, strides);
  return made;
}

LogicalResult RowSharer::createPartials() {
  for (unsigned phase = 0; phase < phases.getNumPhases(); ++phase)
    for (Operation *root : phases.roots(phase))
      for (Value result : root->getResults()) {
        FailureOr<Partials> made = createPartials(result);
        if (failed(made))
          return failure();
        partials[result] = *made;
      }
  return success();
}

SmallVector<Value> RowSharer::offsets(const Partials &partials, Value last) {
  SmallVector<Value> values;
  for (int64_t dim : partials.loopDims)
    values.push_back(current.getBegin(dim));
  values.push_back(last);
  return values;
}

SmallVector<Value> RowSharer::extents(const Partials &partials, ArrayRef<Value> tail) {
  SmallVector<Value> values;
  for (int64_t dim : ArrayRef(partials.loopDims).take_back(partials.valueRank))
    values.push_back(current.getExtent(dim));
  llvm::append_range(values, tail);
  return values;
}

/// For each dimension of the view the dimension of the tile along it.
static SmallVector<int64_t> tileDims(const Partials &partials, bool withBlocks) {
  SmallVector<int64_t> dims(partials.loopDims.size() - partials.valueRank, -1);
  for (unsigned axis = 0; axis < partials.valueRank; ++axis)
    dims.push_back(axis);
  dims.push_back(withBlocks ? int64_t(partials.valueRank) : -1);
  return dims;
}

void RowSharer::storePartials(Operation *reduction, IRMapping &mapping) {
  Location loc = reduction->getLoc();
  for (Value result : reduction->getResults()) {
    const Partials &to = partials.find(result)->second;
    Value value = mapping.lookup(result);
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getElementType() != to.elementType)
      value = arith::ExtUIOp::create(builder, loc, withElementType(type, to.elementType), value);
    StoreOp::create(builder, loc, value, to.view, offsets(to, block), extents(to, {}),
                    /*indices=*/ValueRange(), /*mask=*/Value(), tileDims(to, /*withBlocks=*/false),
                    /*index_dims=*/nullptr,
                    /*alignment=*/nullptr,
                    /*divisor=*/nullptr, /*in_bounds=*/nullptr);
  }
}

void RowSharer::loadPartials(Operation *reduction, IRMapping &mapping) {
  Location loc = reduction->getLoc();
  SmallVector<Value> loaded;
  for (Value result : reduction->getResults()) {
    const Partials &from = partials.find(result)->second;
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<int64_t> shape(type.getShape());
    SmallVector<StringAttr> names = getDimNames(type);
    shape.push_back(blocks);
    names.push_back(builder.getStringAttr(staticDimName));
    Value value = LoadOp::create(builder, loc, getTileType(shape, from.elementType, names),
                                 from.view, offsets(from, zero), extents(from, {blockCount}),
                                 /*indices=*/ValueRange(), /*mask=*/Value(),
                                 tileDims(from, /*withBlocks=*/true), /*index_dims=*/nullptr,
                                 /*pad=*/nullptr,
                                 /*beyond=*/nullptr, /*alignment=*/nullptr, /*divisor=*/nullptr,
                                 /*in_bounds=*/nullptr);
    if (type.getElementType() != from.elementType)
      value = arith::TruncIOp::create(builder, loc,
                                      getTileType(shape, type.getElementType(), names), value);
    loaded.push_back(value);
  }
  if (auto reduce = dyn_cast<ReduceOp>(reduction)) {
    mapping.map(reduce.getResult(),
                ReduceOp::create(builder, loc, reduce.getType(), reduce.getKind(), loaded[0],
                                 reduce.getType().getRank(), blockCount, reduce.getReassociate(),
                                 /*beyond_neutral=*/false)
                    .getResult());
    return;
  }
  auto reduce = cast<ArgReduceOp>(reduction);
  auto made = ArgReduceOp::create(builder, loc, reduce.getResultTypes(), reduce.getKind(),
                                  loaded[0], loaded[1], reduce.getValue().getType().getRank(),
                                  blockCount, /*beyond_neutral=*/false);
  mapping.map(reduce.getResults(), made.getResults());
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// The top-level loop of one phase. Its blocks share rows if the phase walks the
/// row; otherwise each row needs one.
ParallelOp RowSharer::createLoop(bool shared, IRMapping &mapping) {
  Location loc = loop.getLoc();
  SmallVector<Value> lower(loop.getLower()), upper(loop.getUpper());
  SmallVector<Attribute> dims(loop.getDims().begin(), loop.getDims().end());
  if (shared) {
    lower.push_back(zero);
    upper.push_back(blockCount);
    dims.push_back(builder.getStringAttr(staticDimName));
  }
  auto made = ParallelOp::create(builder, loc, lower, upper, builder.getArrayAttr(dims),
                                 /*block_sizes=*/nullptr, /*waves=*/nullptr);
  made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  Block &body = made.getBody().emplaceBlock();
  for (size_t argument = 0; argument < 2 * dims.size(); ++argument)
    body.addArgument(builder.getIndexType(), loc);
  mapping.map(loop.getBody().getArguments(),
              made.getBody().getArguments().take_front(loop.getBody().getNumArguments()));
  return made;
}

/// The part of the row that is the block's.
void RowSharer::emitPart(ParallelOp made) {
  Location loc = loop.getLoc();
  block = made.getBegin(made.getNumDims() - 1);
  partBegin = arith::MulIOp::create(builder, loc, block, partLength);
  Value end = arith::AddIOp::create(builder, loc, partBegin, partLength);
  partEnd = arith::MinSIOp::create(builder, loc, end, phases.getLength());
}

static bool writes(Operation *op) {
  return op->walk([](StoreOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// The narrow operations and reductions whose results phase `phase` uses.
DenseSet<Operation *> RowSharer::collectNeeded(unsigned phase) {
  SmallVector<Operation *> worklist;
  if (phase < phases.getNumPhases())
    llvm::append_range(worklist, phases.wideOps(phase));
  for (Operation *op : phases.narrowOps(phase))
    if (writes(op))
      worklist.push_back(op);
  DenseSet<Operation *> needed, seen(worklist.begin(), worklist.end());
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    bool isWide = phases.isWide(op) && !isReduction(op);
    if (!isWide)
      needed.insert(op);
    if (isReduction(op))
      continue;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *definition = operand.getDefiningOp();
            definition && definition->getBlock() == op->getBlock() &&
            seen.insert(definition).second)
          worklist.push_back(definition);
    });
  }
  return needed;
}

/// A narrow operation with effects: only the first block of a row has elements.
void RowSharer::emitOnce(Operation *op, IRMapping &mapping) {
  Location loc = op->getLoc();
  Operation *clone = builder.clone(*op, mapping);
  if (!block)
    return;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(clone);
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, block, zero);
  clone->walk([&](StoreOp store) {
    for (OpOperand &extent : store.getExtentsMutable())
      extent.set(arith::SelectOp::create(builder, loc, isFirst, extent.get(), zero));
  });
}

void RowSharer::emitNeeded(unsigned phase, IRMapping &mapping) {
  DenseSet<Operation *> needed = collectNeeded(phase);
  for (Operation &op : loop.getBody().front().without_terminator()) {
    if (!needed.contains(&op))
      continue;
    if (isReduction(&op))
      loadPartials(&op, mapping);
    else if (!writes(&op))
      builder.clone(op, mapping);
    else if (phases.level(&op) == phase)
      emitOnce(&op, mapping);
  }
}

void RowSharer::emitKernel(unsigned phase) {
  bool walksRow = phase < phases.getNumPhases();
  IRMapping mapping;
  OpBuilder::InsertionGuard guard(builder);
  current = createLoop(walksRow, mapping);
  builder.setInsertionPointToEnd(&current.getBody().front());
  block = Value();
  if (walksRow)
    emitPart(current);
  emitNeeded(phase, mapping);
  if (walksRow) {
    emitPhase(builder, phases, phase, partBegin, partEnd, mapping);
    for (Operation *root : phases.roots(phase))
      if (isReduction(root))
        storePartials(root, mapping);
  }
  YieldOp::create(builder, loop.getLoc());
}

LogicalResult RowSharer::run() {
  Location loc = loop.getLoc();
  if (phases.getLength().getParentRegion() == &loop.getBody())
    return loop.emitError() << "row '" << phases.getRow().getValue()
                            << "' cannot be shared by several blocks: its length is not known "
                               "before the launch";
  zero = arith::ConstantIndexOp::create(builder, loc, 0);
  blockCount = arith::ConstantIndexOp::create(builder, loc, blocks);

  // Whole chunks for each block, so that only the last chunk of a row is partial.
  Value chunk = BlockSizeOp::create(builder, loc, builder.getIndexType(),
                                    builder.getStringAttr(phases.getRow().getValue()));
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value perRound = arith::MulIOp::create(builder, loc, chunk, blockCount);
  Value padding = arith::SubIOp::create(builder, loc, perRound, one);
  Value padded = arith::AddIOp::create(builder, loc, phases.getLength(), padding);
  Value rounds = arith::DivUIOp::create(builder, loc, padded, perRound);
  partLength = arith::MulIOp::create(builder, loc, rounds, chunk);

  if (failed(createPartials()))
    return failure();
  unsigned phase = 0;
  for (; phase < phases.getNumPhases(); ++phase)
    emitKernel(phase);
  if (llvm::any_of(phases.narrowOps(phase), writes))
    emitKernel(phase);
  loop.erase();
  return success();
}

LogicalResult wavetile::shareRow(const RowPhases &phases, int64_t blocks) {
  return RowSharer(phases, blocks).run();
}
