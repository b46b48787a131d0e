//===- BeyondAnalysis.cpp - What lies beyond extents ------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/BeyondAnalysis.h"

#include "passes/ElementFolding.h"
#include "passes/Reductions.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::tile;

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

BeyondAnalysis::State BeyondAnalysis::get(Value value) const {
  auto found = states.find(value);
  if (found != states.end())
    return found->second;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return State(type ? type.getRank() : 0);
}

Beyond BeyondAnalysis::lookup(Value value, unsigned dim) const { return get(value)[dim]; }

bool BeyondAnalysis::holdsBeyond(Value value, unsigned dim, Value extent, TypedAttr constant,
                                 bool *exception) {
  Beyond state = lookup(value, dim);
  if (!state.isConstant() || !isSameNumber(state.constant, constant))
    return false;
  if (state.extent && !facts.areEqual(state.extent, extent))
    return false;
  if (state.exceptNaNRows) {
    if (!exception)
      return false;
    *exception = true;
  }
  return true;
}

/// What holds whichever of the two is the case.
static Beyond join(const Beyond &a, const Beyond &b) { return a == b ? a : Beyond::unknown(); }

/// One extent that is all of theirs; null is that of a value known everywhere.
bool BeyondAnalysis::mergeExtents(ArrayRef<Beyond> operands, Value &extent) {
  extent = Value();
  for (const Beyond &operand : operands) {
    if (!operand.extent)
      continue;
    if (extent && !facts.areEqual(extent, operand.extent))
      return false;
    extent = operand.extent;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Elementwise operations
//===----------------------------------------------------------------------===//

/// The tile that `value` is a copy of, element for element or along new
/// dimensions, up to conversions that keep order and infinities.
static Value stripShape(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<ExpandDimsOp, SqueezeDimsOp, BroadcastOp, arith::ExtFOp, arith::ExtSIOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

static Value stripConversions(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// If `row` is the identity of the reduction `kind`, so are all elements of `x`
/// that are not NaN: it is the reduction of x, possibly combined with more.
static bool isReductionOf(Value row, Value x, ReductionKind kind, Value extent) {
  row = stripShape(row);
  Operation *op = row.getDefiningOp();
  if (!op)
    return false;
  bool combines =
      kind == ReductionKind::Maximum ? isa<arith::MaximumFOp>(op) : isa<arith::MinimumFOp>(op);
  if (combines)
    return isReductionOf(op->getOperand(0), x, kind, extent) ||
           isReductionOf(op->getOperand(1), x, kind, extent);
  auto reduce = dyn_cast<ReduceOp>(op);
  return reduce && reduce.getKind() == kind && reduce.getExtent() == extent &&
         stripConversions(reduce.getSource()) == stripConversions(x);
}

/// A constant beyond the extent combined with one value per row.
Beyond BeyondAnalysis::combineWithUniform(Operation *op, ArrayRef<Beyond> operands) {
  if (operands.size() != 2)
    return Beyond::unknown();
  // x - m: infinity beyond, unless m is the same infinity or NaN.
  if (isa<arith::SubFOp>(op) && operands[0].isConstant() && operands[1].isUniform() &&
      operands[1].row && operands[0].extent) {
    const APFloat &value = cast<FloatAttr>(operands[0].constant).getValue();
    if (!value.isInfinity())
      return Beyond::unknown();
    ReductionKind kind = value.isNegative() ? ReductionKind::Maximum : ReductionKind::Minimum;
    if (!isReductionOf(operands[1].row, op->getOperand(0), kind, operands[0].extent))
      return Beyond::unknown();
    Beyond result = operands[0];
    result.exceptNaNRows = true;
    result.everywhere = false;
    return result;
  }
  // Integers that absorb any other.
  const Beyond &known = operands[0].isConstant() ? operands[0] : operands[1];
  if (auto value = dyn_cast<IntegerAttr>(known.constant)) {
    bool absorbs = isa<arith::MulIOp, arith::AndIOp>(op) ? value.getValue().isZero()
                   : isa<arith::OrIOp>(op)               ? value.getValue().isAllOnes()
                                                         : false;
    if (absorbs)
      return known;
  }
  return Beyond::unknown();
}

Beyond BeyondAnalysis::combineSelect(arith::SelectOp op, ArrayRef<Beyond> operands) {
  const Beyond &condition = operands[0], &yes = operands[1], &no = operands[2];
  // An exception of one side means nothing where the other side is taken.
  if (yes.exceptNaNRows || no.exceptNaNRows)
    return Beyond::unknown();
  if (condition.isConstant()) {
    Beyond taken = cast<IntegerAttr>(condition.constant).getValue().isZero() ? no : yes;
    if (!taken.isConstant())
      return Beyond::unknown();
    Value extent;
    if (!mergeExtents({condition, taken}, extent))
      return Beyond::unknown();
    taken.extent = extent;
    taken.everywhere &= condition.everywhere;
    return taken;
  }
  if (yes.isConstant() && no.isConstant() && yes.constant == no.constant) {
    Beyond result = yes;
    if (!mergeExtents({yes, no}, result.extent))
      return Beyond::unknown();
    result.everywhere &= no.everywhere;
    return result;
  }
  return Beyond::unknown();
}

Beyond BeyondAnalysis::combine(Operation *op, ArrayRef<Beyond> operands) {
  auto isSame = [](const Beyond &operand) {
    return operand.isUniform() || (operand.isConstant() && !operand.extent);
  };
  if (llvm::all_of(operands, [](const Beyond &operand) { return operand.isConstant(); })) {
    SmallVector<TypedAttr> constants;
    Beyond result = Beyond::ofConstant({}, {});
    for (const Beyond &operand : operands) {
      constants.push_back(operand.constant);
      result.exceptNaNRows |= operand.exceptNaNRows;
      result.everywhere &= operand.everywhere;
    }
    bool usable =
        mergeExtents(operands, result.extent) && (!result.exceptNaNRows || propagatesNaN(op));
    result.constant = usable ? foldElement(op, constants) : TypedAttr();
    if (result.constant)
      return result;
    return llvm::all_of(operands, isSame) ? Beyond::uniform({}) : Beyond::unknown();
  }
  if (llvm::all_of(operands, isSame))
    return Beyond::uniform({});
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return combineSelect(select, operands);
  bool known = llvm::all_of(operands, [](const Beyond &operand) { return !operand.isUnknown(); });
  return known ? combineWithUniform(op, operands) : Beyond::unknown();
}

void BeyondAnalysis::visitElementwise(Operation *op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  State result(type.getRank());
  SmallVector<State> operands;
  for (Value operand : op->getOperands())
    operands.push_back(get(operand));
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    SmallVector<Beyond> along;
    for (auto [operand, state] : llvm::zip(op->getOperands(), operands))
      along.push_back(isa<RankedTensorType>(operand.getType()) ? state[dim] : Beyond::uniform({}));
    result[dim] = combine(op, along);
  }
  states[op->getResult(0)] = std::move(result);
}

//===----------------------------------------------------------------------===//
// Tile operations
//===----------------------------------------------------------------------===//

/// Many copies of `constant` reduce to itself.
static bool isFixpoint(ReductionKind kind, TypedAttr constant) {
  switch (kind) {
  case ReductionKind::Maximum:
  case ReductionKind::Minimum:
  case ReductionKind::And:
  case ReductionKind::Or:
    return true;
  case ReductionKind::Sum:
  case ReductionKind::Product:
    return isSameNumber(constant, getIdentity(kind, constant.getType()));
  }
  llvm_unreachable("covered switch");
}

void BeyondAnalysis::visitReduce(ReduceOp reduce) {
  State state = get(reduce.getSource());
  state.erase(state.begin() + reduce.getAxis());
  Type element = reduce.getType().getElementType();
  for (Beyond &along : state) {
    if (along.isUniform()) {
      along.row = Value();
      continue;
    }
    // Elements beyond both extents may be combined too.
    bool known = along.isConstant() && along.everywhere && !along.exceptNaNRows &&
                 isFixpoint(reduce.getKind(), along.constant) &&
                 (facts.isPositive(reduce.getExtent()) ||
                  isSameNumber(along.constant, getIdentity(reduce.getKind(), element)));
    if (!known)
      along = Beyond::unknown();
  }
  states[reduce.getResult()] = std::move(state);
}

void BeyondAnalysis::visitFor(ForOp loop, LoadValue loadValue) {
  Block &body = loop.getBody().front();
  // What a step leaves refers to that step's extent.
  auto outlives = [&](const Beyond &state) {
    auto isOutside = [&](Value value) {
      return !value || !loop.getBody().isAncestor(value.getParentRegion());
    };
    return isOutside(state.extent) && isOutside(state.row);
  };

  for (auto [carried, init] : llvm::zip(loop.getCarried(), loop.getInits()))
    states[carried] = get(init);
  for (bool changed = true; changed;) {
    changed = false;
    run(body, loadValue);
    for (auto [carried, next] : llvm::zip(loop.getCarried(), loop.getYield().getValues())) {
      State joined = get(carried), after = get(next);
      for (auto [state, other] : llvm::zip(joined, after)) {
        Beyond merged = outlives(other) ? join(state, other) : Beyond::unknown();
        changed |= !(merged == state);
        state = merged;
      }
      states[carried] = std::move(joined);
    }
  }
  // With no step the result is the initial value, which is part of the join.
  for (auto [result, carried] : llvm::zip(loop.getResults(), loop.getCarried()))
    states[result] = get(carried);
}

void BeyondAnalysis::visitIf(IfOp choice, LoadValue loadValue) {
  run(choice.getThenBody().front(), loadValue);
  run(choice.getElseBody().front(), loadValue);
  auto isOutside = [&](Value value) {
    return !value || !choice->isAncestor(value.getParentRegion()->getParentOp());
  };
  for (auto [result, yes, no] :
       llvm::zip_equal(choice.getResults(), choice.getThenYield().getValues(),
                       choice.getElseYield().getValues())) {
    State joined = get(yes), other = get(no);
    for (auto [state, otherState] : llvm::zip_equal(joined, other)) {
      state = join(state, otherState);
      if (!isOutside(state.extent) || !isOutside(state.row))
        state = Beyond::unknown();
    }
    states[result] = std::move(joined);
  }
}

void BeyondAnalysis::visitWhile(WhileOp loop, LoadValue loadValue) {
  // Steps may leave anything there.
  for (Value value : llvm::concat<Value>(SmallVector<Value>(loop.getResults()),
                                         SmallVector<Value>(loop.getCarried()),
                                         SmallVector<Value>(loop.getBeforeArguments())))
    states.erase(value);
  run(loop.getBefore().front(), loadValue);
  run(loop.getBody().front(), loadValue);
}

void BeyondAnalysis::visit(Operation *op, LoadValue loadValue) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](LoadOp load) {
        State state(load.getType().getRank());
        if (TypedAttr value = loadValue(load))
          for (auto [along, extent] : llvm::zip(state, load.getExtents()))
            along = Beyond::ofConstant(value, extent);
        states[load.getResult()] = std::move(state);
      })
      .Case([&](FullOp full) {
        Attribute value;
        Beyond along = matchPattern(full.getValue(), m_Constant(&value))
                           ? Beyond::ofConstant(cast<TypedAttr>(value), {})
                           : Beyond::uniform({});
        states[full.getResult()] = State(full.getType().getRank(), along);
      })
      .Case([&](ExpandDimsOp expand) {
        State state = get(expand.getSource());
        state.insert(state.begin() + expand.getAxis(), Beyond::uniform(expand.getSource()));
        states[expand.getResult()] = std::move(state);
      })
      .Case([&](SqueezeDimsOp squeeze) {
        State state = get(squeeze.getSource());
        state.erase(state.begin() + squeeze.getAxis());
        states[squeeze.getResult()] = std::move(state);
      })
      .Case([&](BroadcastOp broadcast) {
        State state = get(broadcast.getSource());
        RankedTensorType source = broadcast.getSource().getType();
        for (int64_t dim = 0; dim < source.getRank(); ++dim)
          if (source.getDimSize(dim) == 1 && broadcast.getType().getDimSize(dim) != 1 &&
              !(state[dim].isConstant() && !state[dim].extent))
            state[dim] = Beyond::uniform(broadcast.getSource());
        states[broadcast.getResult()] = std::move(state);
      })
      .Case([&](TransposeOp transpose) {
        State source = get(transpose.getSource()), state;
        for (int64_t dim : transpose.getPermutation())
          state.push_back(source[dim]);
        states[transpose.getResult()] = std::move(state);
      })
      .Case([&](FillBeyondOp fill) {
        State state = get(fill.getSource());
        for (Beyond &along : state)
          along.everywhere = false;
        Beyond filled = Beyond::ofConstant(fill.getValue(), fill.getExtent());
        state[fill.getAxis()] = filled;
        states[fill.getResult()] = std::move(state);
      })
      .Case([&](ReduceOp reduce) { visitReduce(reduce); })
      .Case([&](ForOp loop) { visitFor(loop, loadValue); })
      .Case([&](IfOp choice) { visitIf(choice, loadValue); })
      .Case([&](WhileOp loop) { visitWhile(loop, loadValue); })
      .Default([&](Operation *other) {
        if (other->getNumResults() == 1 && isa<RankedTensorType>(other->getResult(0).getType()) &&
            OpTrait::hasElementwiseMappableTraits(other))
          visitElementwise(other);
      });
}

void BeyondAnalysis::run(Block &body, LoadValue loadValue) {
  for (Operation &op : body)
    visit(&op, loadValue);
}
