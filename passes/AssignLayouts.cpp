//===- AssignLayouts.cpp - Which registers hold which elements --*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gives every tile of a program a layout:
//
//   %a = tile.load ... -> tensor<4x4096xbf16>
//   %b = arith.extf %a : tensor<4x4096xbf16> to tensor<4x4096xf32>
//   %m = tile.reduce maximum %b axis 1 ... -> tensor<4xf32>
//
// becomes, for four waves of 64 lanes, a wave to a row,
//
//   %a = tile.load ... -> tensor<4x4096xbf16, #tile.layout<"register=[[0, 1], [0, 2], [0, 4], [0,
//     512], ...], lane=[[0, 8], ...], wave=[[1, 0], [2, 0]], shape=[4, 4096]">>
//   ...
//   %m = tile.reduce ... -> tensor<4xf32, #tile.layout<"register=[], lane=[[0], ...], wave=[[1],
//     [2]], shape=[4]">>
//
// 1. Anchors: results and operands of dots get those of a matrix instruction; values on their way
//    into a staging buffer that of a coalesced load, from which lanes of a wave can get runs along
//    LDS by exchanging registers.
// 2. Layouts spread along operations that keep elements in place, in both directions, until nothing
//    changes; then the next tile without one becomes an anchor with a coalesced layout, and so on.
// 3. Where an operation needs its operands otherwise, `tile.convert_layout` is inserted.
// 4. Staging buffers get the swizzle that costs least for all that access them.
//
//===----------------------------------------------------------------------===//

#include "ir/LdsBanks.h"
#include "passes/CoalescedLayouts.h"
#include "passes/Config.h"
#include "passes/MatrixLayouts.h"
#include "passes/Passes.h"
#include "passes/Place.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace wavetile;

namespace wavetile {
#define GEN_PASS_DEF_ASSIGNLAYOUTS
#include "passes/Passes.h.inc"
} // namespace wavetile

namespace {

class LayoutAssignment {
public:
  LayoutAssignment(tile::ProgramOp program, const TargetInfo &target)
      : program(program), target(target), coalesced(program, target) {}

  LogicalResult run();

private:
  LogicalResult anchorDot(tile::DotOp dot);
  void anchorStagedValues();
  bool anchorNextTile();
  void spread();
  bool spreadThrough(Operation *op);
  bool tie(ArrayRef<Value> values);
  bool assign(Value value, const Layout &layout);
  const Layout *find(Value value) const;

  LogicalResult rewrite(Operation *op);
  void rewriteAccess(Operation *op);
  Value converted(OpBuilder &builder, Value value, const Layout &layout);
  void requireOperand(OpOperand &operand, const Layout &layout);
  void setResultLayout(OpResult result, const Layout &natural);
  LogicalResult assignStagings();

  tile::ProgramOp program;
  const TargetInfo &target;
  CoalescedLayouts coalesced;
  DenseMap<Value, Layout> layouts;
  /// In which layout a tile goes to its staging buffer, where that is settled.
  DenseMap<Operation *, Layout> stagedLayouts;
  SmallVector<Operation *> operations;
};

} // namespace

static bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

/// Operations whose results have each element where their operands have it.
static bool keepsPlaces(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  return dialect == "arith" || dialect == "math" || isa<tile::FillBeyondOp>(op);
}

/// Operations whose tiles all have one layout, though elements along an axis depend on each other.
static bool keepsLayout(Operation *op) {
  return isa<tile::ScanOp, tile::SortOp, tile::InlineAsmOp, tile::PrintOp>(op);
}

const Layout *LayoutAssignment::find(Value value) const {
  auto found = layouts.find(value);
  return found == layouts.end() ? nullptr : &found->second;
}

bool LayoutAssignment::assign(Value value, const Layout &layout) {
  return isTile(value) && layouts.try_emplace(value, layout).second;
}

//===----------------------------------------------------------------------===//
// Anchors
//===----------------------------------------------------------------------===//

/// The store that writes `value`, or a value computed from it element by element; none by way of
/// what was seen before.
static tile::StoreOp findStore(Value value, llvm::DenseSet<Value> &seen) {
  if (!seen.insert(value).second)
    return {};
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (auto store = dyn_cast<tile::StoreOp>(user))
      return store;
    Value next;
    if (keepsPlaces(user)) {
      next = user->getResult(0);
    } else if (auto yield = dyn_cast<tile::YieldOp>(user)) {
      if (auto loop = dyn_cast<tile::ForOp>(yield->getParentOp()))
        next = loop.getResult(use.getOperandNumber());
    } else if (auto loop = dyn_cast<tile::ForOp>(user)) {
      // The loop behind a peeled one carries on from its results.
      for (auto [init, result] : llvm::zip_equal(loop.getInits(), loop.getResults()))
        if (init == value)
          next = result;
    }
    if (next)
      if (tile::StoreOp store = findStore(next, seen))
        return store;
  }
  return {};
}

LogicalResult LayoutAssignment::anchorDot(tile::DotOp dot) {
  DotShape shape;
  shape.m = dot.getType().getDimSize(0);
  shape.n = dot.getType().getDimSize(1);
  shape.k = dot.getLhs().getType().getDimSize(1);
  shape.waves = program.getWaves();
  auto lhs = elementKindOf(dot.getLhs().getType().getElementType());
  auto rhs = elementKindOf(dot.getRhs().getType().getElementType());
  auto result = elementKindOf(dot.getType().getElementType());
  if (!lhs || !rhs || !result)
    return dot.emitOpError() << "of " << dot.getLhs().getType().getElementType() << " and "
                             << dot.getRhs().getType().getElementType() << " into "
                             << dot.getType().getElementType() << " is not supported";
  shape.lhs = *lhs;
  shape.rhs = *rhs;
  shape.result = *result;
  unsigned storedBits = elementBits(shape.result);
  llvm::DenseSet<Value> seen;
  if (tile::StoreOp store = findStore(dot.getResult(), seen)) {
    storedBits = std::max(8u, store.getValue().getType().getElementTypeBitWidth());
    shape.contiguousDim = CoalescedLayouts::contiguousDim(store).value_or(1);
  }
  shape.contiguousElements = std::max(1u, target.globalMemory().widestAccessBits / storedBits);
  auto module = program->getParentOfType<ModuleOp>();
  if (auto config = module->getAttrOfType<DictionaryAttr>(tile::configAttrName))
    if (auto size = config.getAs<IntegerAttr>("matrix"))
      shape.preferredSize = size.getInt();

  llvm::Expected<DotLayouts> chosen = chooseDotLayouts(target, shape);
  if (!chosen)
    return dot.emitError() << llvm::toString(chosen.takeError());
  StringRef name = chosen->instruction ? StringRef(chosen->instruction->name) : "fma";
  dot->setAttr("instruction", StringAttr::get(dot.getContext(), name));
  if (chosen->swapped)
    dot->setAttr("swapped", UnitAttr::get(dot.getContext()));
  assign(dot.getLhs(), chosen->lhs);
  assign(dot.getRhs(), chosen->rhs);
  assign(dot.getResult(), chosen->result);
  assign(dot.getAccumulator(), chosen->result);
  return success();
}

/// The dimension of a dot's operand that its stage_loads read along: K.
static std::optional<unsigned> sharedDim(Value staging) {
  for (Operation *user : staging.getUsers()) {
    auto load = dyn_cast<tile::StageLoadOp>(user);
    if (!load)
      continue;
    for (OpOperand &use : load.getResult().getUses())
      if (auto dot = dyn_cast<tile::DotOp>(use.getOwner()))
        return use.get() == dot.getLhs() ? 1 : 0;
  }
  return std::nullopt;
}

/// The dimension along which `value` lies in memory, if it is loaded, or computed from one loaded
/// tile element by element.
static std::optional<unsigned> contiguousDimOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto load = dyn_cast<tile::LoadOp>(op))
      return CoalescedLayouts::contiguousDim(load);
    if (!keepsPlaces(op) || op->getNumOperands() != 1)
      return std::nullopt;
    value = op->getOperand(0);
  }
  return std::nullopt;
}

void LayoutAssignment::anchorStagedValues() {
  program.walk([&](tile::StageStoreOp store) {
    auto type = store.getValue().getType();
    std::optional<unsigned> along = sharedDim(store.getStaging());
    StagedLayouts chosen = coalesced.stagedLayouts(type, along.value_or(type.getRank() - 1),
                                                   contiguousDimOf(store.getValue()));
    if (assign(store.getValue(), chosen.memory))
      stagedLayouts.try_emplace(store, chosen.lds);
  });
}

/// Tiles of the highest rank first: the others are mostly slices of them.
bool LayoutAssignment::anchorNextTile() {
  Value best;
  auto consider = [&](Value value) {
    if (!isTile(value) || find(value))
      return;
    auto type = cast<RankedTensorType>(value.getType());
    if (!best) {
      best = value;
      return;
    }
    auto bestType = cast<RankedTensorType>(best.getType());
    auto rank = [](RankedTensorType tileType) {
      // Dimensions of size one say nothing about where a tile lies.
      return llvm::count_if(tileType.getShape(), [](int64_t size) { return size > 1; });
    };
    if (std::pair(rank(type), type.getNumElements()) >
        std::pair(rank(bestType), bestType.getNumElements()))
      best = value;
  };
  for (Operation *op : operations) {
    llvm::for_each(op->getResults(), consider);
    for (Region &region : op->getRegions())
      llvm::for_each(region.getArguments(), consider);
  }
  if (!best)
    return false;
  assign(best, coalesced.layout(cast<RankedTensorType>(best.getType())));
  return true;
}

//===----------------------------------------------------------------------===//
// Spreading
//===----------------------------------------------------------------------===//

/// Gives all values of one place the layout of the first that has one.
bool LayoutAssignment::tie(ArrayRef<Value> values) {
  const Layout *known = nullptr;
  for (Value value : values)
    if (isTile(value) && !known)
      known = find(value);
  if (!known)
    return false;
  Layout layout = *known;
  bool changed = false;
  for (Value value : values)
    changed |= assign(value, layout);
  return changed;
}

/// The layout of a tile that is broadcast to `result`.
static Layout broadcastSource(RankedTensorType source, const Layout &result) {
  Layout layout = result;
  for (unsigned dim = 0; dim < source.getRank(); ++dim)
    if (source.getDimSize(dim) == 1 && result.shape()[dim] != 1)
      layout = layout.keepDim(dim);
  return layout;
}

/// What an access moves: the tile whose layout says which lane accesses which element.
static Value accessedTile(Operation *access) {
  if (auto store = dyn_cast<tile::StoreOp>(access))
    return store.getValue();
  return access->getResult(0);
}

static SmallVector<unsigned> inverse(ArrayRef<int64_t> permutation) {
  SmallVector<unsigned> result(permutation.size());
  for (auto [index, from] : llvm::enumerate(permutation))
    result[from] = index;
  return result;
}

bool LayoutAssignment::spreadThrough(Operation *op) {
  if (keepsPlaces(op) || keepsLayout(op)) {
    SmallVector<Value> values(op->getResults());
    llvm::append_range(values, op->getOperands());
    return tie(values);
  }
  if (std::optional<Place> place = Place::of(op)) {
    bool changed = false;
    if (auto atomic = dyn_cast<tile::AtomicOp>(op)) {
      SmallVector<Value> values = {atomic.getResult(), atomic.getValue()};
      if (atomic.getCompare())
        values.push_back(atomic.getCompare());
      changed |= tie(values);
    }
    const Layout *known = find(accessedTile(op));
    if (!known)
      return changed;
    Layout layout = *known;
    SmallVector<Value> parts(place->indices);
    if (place->mask)
      parts.push_back(place->mask);
    for (Value part : parts)
      changed |= assign(part, broadcastSource(cast<RankedTensorType>(part.getType()), layout));
    return changed;
  }
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](tile::IfOp choice) {
        bool changed = false;
        for (auto [result, yes, no] :
             llvm::zip_equal(choice.getResults(), choice.getThenYield().getValues(),
                             choice.getElseYield().getValues()))
          changed |= tie({result, yes, no});
        return changed;
      })
      .Case([&](tile::WhileOp loop) {
        bool changed = false;
        for (auto [init, before, carried, yielded, result] :
             llvm::zip_equal(loop.getInits(), loop.getBeforeArguments(), loop.getCarried(),
                             loop.getYield().getValues(), loop.getResults()))
          changed |= tie({carried, before, result, yielded, init});
        return changed;
      })
      .Case([&](tile::ForOp loop) {
        bool changed = false;
        for (auto [init, carried, yielded, result] :
             llvm::zip_equal(loop.getInits(), loop.getCarried(), loop.getYield().getValues(),
                             loop.getResults()))
          changed |= tie({carried, result, yielded, init});
        return changed;
      })
      .Case([&](tile::ReduceOp reduce) {
        const Layout *source = find(reduce.getSource());
        return source && assign(reduce.getResult(), source->slice(reduce.getAxis()));
      })
      .Case([&](tile::CombineOp combine) {
        SmallVector<Value> sources(combine.getSources());
        bool changed = tie(sources);
        if (const Layout *source = find(sources.front())) {
          Layout slice = source->slice(combine.getAxis());
          for (Value result : combine.getResults())
            changed |= assign(result, slice);
        }
        return changed;
      })
      .Case([&](tile::TakeOp take) {
        SmallVector<Value> values{take.getResult()};
        llvm::append_range(values, take.getIndices());
        return tie(values);
      })
      .Case([&](tile::ArgReduceOp reduce) {
        bool changed = tie({reduce.getSource(), reduce.getIndices()});
        const Layout *source = find(reduce.getSource());
        if (!source)
          return changed;
        Layout slice = source->slice(reduce.getAxis());
        changed |= assign(reduce.getValue(), slice);
        changed |= assign(reduce.getIndex(), slice);
        return changed;
      })
      .Case([&](tile::ExpandDimsOp expand) {
        if (const Layout *source = find(expand.getSource()))
          return assign(expand.getResult(), source->expandDims(expand.getAxis()));
        const Layout *result = find(expand.getResult());
        return result && assign(expand.getSource(), result->slice(expand.getAxis()));
      })
      .Case([&](tile::SqueezeDimsOp squeeze) {
        if (const Layout *source = find(squeeze.getSource()))
          return assign(squeeze.getResult(), source->slice(squeeze.getAxis()));
        const Layout *result = find(squeeze.getResult());
        return result && assign(squeeze.getSource(), result->expandDims(squeeze.getAxis()));
      })
      .Case([&](tile::BroadcastOp broadcast) {
        const Layout *result = find(broadcast.getResult());
        return result && assign(broadcast.getSource(),
                                broadcastSource(broadcast.getSource().getType(), *result));
      })
      .Case([&](tile::TransposeOp transpose) {
        if (const Layout *source = find(transpose.getSource()))
          return assign(transpose.getResult(),
                        source->transpose(SmallVector<unsigned>(transpose.getPermutation())));
        const Layout *result = find(transpose.getResult());
        return result && assign(transpose.getSource(),
                                result->transpose(inverse(transpose.getPermutation())));
      })
      .Default([](Operation *) { return false; });
}

void LayoutAssignment::spread() {
  bool changed = true;
  while (changed) {
    changed = false;
    // Backwards first: a tile's user says more about its place than its maker.
    for (Operation *op : llvm::reverse(operations))
      changed |= spreadThrough(op);
    for (Operation *op : operations)
      changed |= spreadThrough(op);
  }
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

static RankedTensorType withLayout(RankedTensorType type, const Layout &layout) {
  return RankedTensorType::get(type.getShape(), type.getElementType(),
                               tile::LayoutAttr::get(type.getContext(), layout));
}

Value LayoutAssignment::converted(OpBuilder &builder, Value value, const Layout &layout) {
  auto type = cast<RankedTensorType>(value.getType());
  return tile::ConvertLayoutOp::create(builder, value.getLoc(), withLayout(type, layout), value);
}

void LayoutAssignment::requireOperand(OpOperand &operand, const Layout &layout) {
  if (!isTile(operand.get()) || *find(operand.get()) == layout)
    return;
  OpBuilder builder(operand.getOwner());
  Value value = converted(builder, operand.get(), layout);
  layouts.try_emplace(value, layout);
  operand.set(value);
}

/// A result that comes out in `natural`, converted for its users if they were promised another.
void LayoutAssignment::setResultLayout(OpResult result, const Layout &natural) {
  Layout promised = *find(result);
  result.setType(withLayout(cast<RankedTensorType>(result.getType()), natural));
  if (promised == natural)
    return;
  OpBuilder builder(result.getContext());
  builder.setInsertionPointAfterValue(result);
  Value value = converted(builder, result, promised);
  result.replaceAllUsesExcept(value, value.getDefiningOp());
  layouts.insert_or_assign(result, natural);
  layouts.try_emplace(value, promised);
}

static void retypeConstant(arith::ConstantOp constant) {
  auto splat = cast<SplatElementsAttr>(constant.getValue());
  constant.setValueAttr(SplatElementsAttr::get(cast<ShapedType>(constant.getType()),
                                               splat.getSplatValue<Attribute>()));
}

void LayoutAssignment::rewriteAccess(Operation *op) {
  Layout layout = *find(accessedTile(op));
  auto requirePart = [&](OpOperand &operand) {
    requireOperand(operand,
                   broadcastSource(cast<RankedTensorType>(operand.get().getType()), layout));
  };
  auto requireParts = [&](auto access) {
    for (OpOperand &operand : access.getIndicesMutable())
      requirePart(operand);
    for (OpOperand &operand : access.getMaskMutable())
      requirePart(operand);
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case<tile::LoadOp, tile::StoreOp>(requireParts)
      .Case([&](tile::AtomicOp atomic) {
        requireParts(atomic);
        requireOperand(atomic.getValueMutable(), layout);
        for (OpOperand &operand : atomic.getCompareMutable())
          requireOperand(operand, layout);
      });
  for (OpResult result : op->getResults())
    setResultLayout(result, layout);
}

LogicalResult LayoutAssignment::rewrite(Operation *op) {
  for (Region &region : op->getRegions())
    for (BlockArgument argument : region.getArguments())
      if (isTile(argument))
        argument.setType(withLayout(cast<RankedTensorType>(argument.getType()), *find(argument)));

  if (keepsPlaces(op) && op->getNumResults() == 1 && isTile(op->getResult(0))) {
    Layout layout = *find(op->getResult(0));
    for (OpOperand &operand : op->getOpOperands())
      requireOperand(operand, layout);
    setResultLayout(op->getResult(0), layout);
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      if (!isa<SplatElementsAttr>(constant.getValue()))
        return op->emitError("a constant tile must have one value in every element");
      retypeConstant(constant);
    }
    return success();
  }
  if (Place::of(op)) {
    rewriteAccess(op);
    return success();
  }
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](tile::IfOp choice) {
        for (auto [index, result] : llvm::enumerate(choice->getResults())) {
          if (!isTile(result))
            continue;
          Layout layout = *find(result);
          for (tile::YieldOp yield : {choice.getThenYield(), choice.getElseYield()})
            requireOperand(yield.getValuesMutable()[index], layout);
          setResultLayout(result, layout);
        }
        return success();
      })
      .Case([&](tile::WhileOp loop) {
        for (auto [index, carried] : llvm::enumerate(loop.getCarried())) {
          if (!isTile(carried))
            continue;
          Layout layout = *find(carried);
          requireOperand(loop.getInitsMutable()[index], layout);
          requireOperand(loop.getYield().getValuesMutable()[index], layout);
          setResultLayout(loop->getResult(index), layout);
        }
        return success();
      })
      .Case([&](tile::ForOp loop) {
        for (auto [index, carried] : llvm::enumerate(loop.getCarried())) {
          if (!isTile(carried))
            continue;
          requireOperand(loop.getInitsMutable()[index], *find(carried));
          requireOperand(loop.getYield().getValuesMutable()[index], *find(carried));
          setResultLayout(loop->getResult(index), *find(carried));
        }
        return success();
      })
      .Case([&](tile::ReduceOp reduce) {
        setResultLayout(reduce->getResult(0), find(reduce.getSource())->slice(reduce.getAxis()));
        return success();
      })
      .Case<tile::ScanOp, tile::SortOp, tile::InlineAsmOp, tile::PrintOp>([&](auto op) {
        SmallVector<Value> values(op->getResults());
        llvm::append_range(values, op->getOperands());
        auto first = llvm::find_if(values, isTile);
        if (first == values.end())
          return success();
        Layout layout = *find(*first);
        for (OpOperand &operand : op->getOpOperands())
          requireOperand(operand, layout);
        for (OpResult result : op->getResults())
          setResultLayout(result, layout);
        return success();
      })
      .Case([&](tile::CombineOp combine) {
        Layout layout = *find(combine.getSources().front());
        for (OpOperand &operand : combine.getSourcesMutable())
          requireOperand(operand, layout);
        for (OpResult result : combine->getResults())
          setResultLayout(result, layout.slice(combine.getAxis()));
        return success();
      })
      .Case([&](tile::TakeOp take) {
        Layout layout = *find(take.getResult());
        for (OpOperand &operand : take.getIndicesMutable())
          requireOperand(operand, layout);
        setResultLayout(take->getResult(0), layout);
        return success();
      })
      .Case([&](tile::ArgReduceOp reduce) {
        Layout source = *find(reduce.getSource());
        requireOperand(reduce.getIndicesMutable(), source);
        for (OpResult result : reduce->getResults())
          setResultLayout(result, source.slice(reduce.getAxis()));
        return success();
      })
      .Case([&](tile::ExpandDimsOp expand) {
        setResultLayout(expand->getResult(0),
                        find(expand.getSource())->expandDims(expand.getAxis()));
        return success();
      })
      .Case([&](tile::SqueezeDimsOp squeeze) {
        setResultLayout(squeeze->getResult(0), find(squeeze.getSource())->slice(squeeze.getAxis()));
        return success();
      })
      .Case([&](tile::TransposeOp transpose) {
        SmallVector<unsigned> permutation(transpose.getPermutation());
        setResultLayout(transpose->getResult(0),
                        find(transpose.getSource())->transpose(permutation));
        return success();
      })
      .Case([&](tile::BroadcastOp broadcast) {
        Layout result = *find(broadcast.getResult());
        if (!broadcastRegisters(*find(broadcast.getSource()), result))
          requireOperand(broadcast.getSourceMutable(),
                         broadcastSource(broadcast.getSource().getType(), result));
        setResultLayout(broadcast->getResult(0), result);
        return success();
      })
      .Case([&](tile::StageStoreOp store) {
        if (auto found = stagedLayouts.find(store); found != stagedLayouts.end())
          requireOperand(store.getValueMutable(), found->second);
        return success();
      })
      .Case([&](tile::DotOp dot) {
        Layout result = *find(dot.getResult());
        requireOperand(dot.getAccumulatorMutable(), result);
        setResultLayout(dot->getResult(0), result);
        return success();
      })
      .Default([&](Operation *other) {
        for (OpResult result : other->getResults())
          if (isTile(result))
            setResultLayout(result, *find(result));
        return success();
      });
}

//===----------------------------------------------------------------------===//
// Staging buffers
//===----------------------------------------------------------------------===//

LogicalResult LayoutAssignment::assignStagings() {
  WalkResult walked = program.walk([&](tile::StageAllocOp alloc) {
    tile::StagingType type = alloc.getType();
    SmallVector<LdsUse, 0> uses;
    for (Operation *user : alloc.getResult().getUsers()) {
      if (auto store = dyn_cast<tile::StageStoreOp>(user))
        uses.push_back({*find(store.getValue()), target.lds().writes});
      else if (auto load = dyn_cast<tile::StageLoadOp>(user))
        uses.push_back({*find(load.getResult()), target.lds().reads});
    }
    unsigned along = sharedDim(alloc.getResult()).value_or(type.getShape().size() - 1);
    SmallVector<unsigned> order{along};
    for (unsigned dim = 0; dim < type.getShape().size(); ++dim)
      if (dim != along)
        order.push_back(dim);
    unsigned bytes = std::max(1u, type.getElementType().getIntOrFloatBitWidth() / 8);
    LdsChoice choice = chooseSwizzle(type.getShape(), order, bytes, uses, type.getBuffers());
    alloc.getResult().setType(tile::StagingType::get(
        type.getContext(), type.getBuffers(), type.getShape(), type.getElementType(),
        tile::LayoutAttr::get(type.getContext(), choice.layout)));
    return WalkResult::advance();
  });
  return success(!walked.wasInterrupted());
}

LogicalResult LayoutAssignment::run() {
  WalkResult dots = program.walk([&](tile::DotOp dot) {
    return failed(anchorDot(dot)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (dots.wasInterrupted())
    return failure();
  program.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) { operations.push_back(op); });
  anchorStagedValues();
  do {
    spread();
  } while (anchorNextTile());
  for (Operation *op : operations)
    if (failed(rewrite(op)))
      return failure();
  return assignStagings();
}

namespace {

class AssignLayoutsPass : public wavetile::impl::AssignLayoutsBase<AssignLayoutsPass> {
public:
  explicit AssignLayoutsPass(const TargetInfo &target) : target(target) {}

  void runOnOperation() final {
    for (auto program : getOperation().getOps<tile::ProgramOp>())
      if (failed(LayoutAssignment(program, target).run()))
        return signalPassFailure();
  }

private:
  const TargetInfo &target;
};

} // namespace

std::unique_ptr<Pass> wavetile::createAssignLayoutsPass(const TargetInfo &target) {
  return std::make_unique<AssignLayoutsPass>(target);
}
