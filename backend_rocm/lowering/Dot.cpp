//===- Dot.cpp - tile.dot by matrix instructions ----------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `tile-assign-layouts` names the instruction on the operation and gives the
// operands layouts in which each instruction's operand is a run of consecutive
// registers. Which runs belong together is read off their coordinates: the m of
// A's and the accumulator's run agree, the n of B's, and the k of A's and B's.
//
// Where the target has no instruction for the types, the name is "fma".
//
// Operands in LDS are read one step of k at a time, just before its products, so
// that few of them are in registers at once.
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/lowering/LdsAccess.h"
#include "backend_rocm/lowering/Operations.h"

#include "llvm/ADT/MapVector.h"

#include <utility>

#include <map>

using namespace mlir;
using namespace wavetile;
using namespace wavetile::rocm;

/// Kinds of instructions in the mask of llvm.amdgcn.sched.barrier.
enum SchedulingKind : int32_t {
  SchedulingVector = 0x2,
  SchedulingScalar = 0x4,
  SchedulingVectorMemory = 0x10,
  SchedulingTranscendental = 0x400,
};

/// Lets only instructions of these kinds be scheduled across.
static void keepApart(Lowering &state, int32_t kinds) {
  state.intrinsicVoid("llvm.amdgcn.sched.barrier", state.constantI32(kinds));
}

/// The type in the intrinsic's signature.
static Type intrinsicType(OpBuilder &builder, const MatrixOperand &operand) {
  Type element;
  switch (operand.intrinsicElement) {
  case ElementKind::I16:
    element = builder.getI16Type();
    break;
  case ElementKind::I32:
    element = builder.getI32Type();
    break;
  case ElementKind::I64:
    element = builder.getI64Type();
    break;
  case ElementKind::F16:
    element = builder.getF16Type();
    break;
  case ElementKind::BF16:
    element = builder.getBF16Type();
    break;
  case ElementKind::F32:
  case ElementKind::TF32:
    element = builder.getF32Type();
    break;
  case ElementKind::F64:
    element = builder.getF64Type();
    break;
  default:
    element = builder.getI8Type();
    break;
  }
  return operand.intrinsicCount == 1 ? element
                                     : Type(VectorType::get(operand.intrinsicCount, element));
}

namespace {

/// The runs of registers of one operand, by the coordinates of their first element.
using Runs = llvm::MapVector<std::pair<int64_t, int64_t>, unsigned>;

/// The elements of an operand: in registers already, or read from LDS when they are needed.
class OperandSource {
public:
  OperandSource(Lowering &state, Value tileValue) {
    if (state.tiles.contains(tileValue)) {
      registers = state.unpack(state.registers(tileValue));
      return;
    }
    auto load = tileValue.getDefiningOp<tile::StageLoadOp>();
    assert(load && "only stage_loads leave reading to their users");
    reader.emplace(state, stagedTile(state, load.getStaging(), load.getBuffer()),
                   Lowering::layoutOf(tileValue),
                   state.memoryType(load.getType().getElementType()));
  }

  SmallVector<Value> elements(unsigned first, unsigned count) {
    if (!reader)
      return SmallVector<Value>(ArrayRef(registers).slice(first, count));
    SmallVector<Value> result;
    for (unsigned reg = first; reg < first + count; ++reg)
      result.push_back(reader->read(reg));
    return result;
  }

  bool isInLds() const { return reader.has_value(); }

private:
  SmallVector<Value> registers;
  std::optional<LdsReader> reader;
};

/// A matrix instruction applied to the tiles of one dot.
class DotLowering {
public:
  DotLowering(Lowering &state, tile::DotOp op, const MatrixInstruction &instruction, bool swapped)
      : state(state), op(op), instruction(instruction), swapped(swapped) {}

  LogicalResult run();

private:
  Runs runsOf(Value tile, unsigned length);
  Value operand(OperandSource &source, unsigned first, const MatrixOperand &shape);
  Value call(Value a, Value b, Value accumulator);

  /// The operands for one k, by their m and n.
  struct Step {
    llvm::DenseMap<int64_t, Value> rows, columns;
  };

  Lowering &state;
  tile::DotOp op;
  const MatrixInstruction &instruction;
  bool swapped;
};

} // namespace

Runs DotLowering::runsOf(Value tileValue, unsigned length) {
  const Layout &layout = Lowering::layoutOf(tileValue);
  Runs runs;
  for (unsigned reg = 0; reg < layout.registerCount(); reg += length) {
    Coordinates first = layout.coordinates(reg);
    runs.insert({{first[0], first[1]}, reg});
  }
  return runs;
}

/// Consecutive registers as the intrinsic takes them: packed into words, then recast.
Value DotLowering::operand(OperandSource &source, unsigned first, const MatrixOperand &shape) {
  SmallVector<Value> elements = source.elements(first, shape.elementsPerLane());
  return state.bitcast(state.buildVector(elements), intrinsicType(state.builder, shape));
}

Value DotLowering::call(Value a, Value b, Value accumulator) {
  SmallVector<Value> arguments;
  Value zero;
  switch (instruction.callForm) {
  case MatrixInstruction::CallForm::ThreeImmediates:
    zero = state.constantI32(0);
    arguments = {a, b, accumulator, zero, zero, zero};
    break;
  case MatrixInstruction::CallForm::Plain:
    arguments = {a, b, accumulator};
    break;
  case MatrixInstruction::CallForm::SignFlags: {
    Value isSigned = state.constant(state.i1(), 1);
    arguments = {isSigned, a, isSigned, b, accumulator, state.constant(state.i1(), 0)};
    break;
  }
  }
  // The types of the call complete the name of an overloaded intrinsic.
  return state.intrinsic(instruction.intrinsic, accumulator.getType(), arguments);
}

LogicalResult DotLowering::run() {
  // A swapped dot computes the transposed product, so that the tile's rhs is the first operand.
  const MatrixOperand &lhsShape = swapped ? instruction.b : instruction.a;
  const MatrixOperand &rhsShape = swapped ? instruction.a : instruction.b;
  const MatrixOperand &resultShape = instruction.accumulator;
  OperandSource lhs(state, op.getLhs()), rhs(state, op.getRhs());
  OperandSource accumulator(state, op.getAccumulator());
  Runs resultRuns = runsOf(op.getResult(), resultShape.elementsPerLane());
  llvm::DenseMap<unsigned, Value> results;
  for (auto &[place, first] : resultRuns)
    results[first] = operand(accumulator, first, resultShape);

  // All products of one k before the next, so that neighbours use different accumulators. What the
  // next k needs is read before them, and nothing more: left alone, LLVM reads everything first.
  std::map<int64_t, Runs> lhsRuns, rhsRuns;
  for (auto &[place, first] : runsOf(op.getLhs(), lhsShape.elementsPerLane()))
    lhsRuns[place.second].insert({place, first});
  for (auto &[place, first] : runsOf(op.getRhs(), rhsShape.elementsPerLane()))
    rhsRuns[place.first].insert({place, first});
  SmallVector<int64_t> steps = llvm::to_vector(llvm::make_first_range(lhsRuns));
  auto readStep = [&](int64_t k) {
    Step step;
    for (auto &[place, first] : lhsRuns[k])
      step.rows[place.first] = operand(lhs, first, lhsShape);
    for (auto &[place, first] : rhsRuns[k])
      step.columns[place.second] = operand(rhs, first, rhsShape);
    return step;
  };
  Step next = readStep(steps.front());
  for (unsigned index = 0; index < steps.size(); ++index) {
    bool isLast = index + 1 == steps.size();
    Step step = std::exchange(next, isLast ? Step() : readStep(steps[index + 1]));
    for (auto &[place, first] : resultRuns) {
      Value a = step.rows.lookup(place.first), b = step.columns.lookup(place.second);
      if (!a || !b)
        return op.emitOpError() << "operand layouts do not match " << instruction.name;
      if (swapped)
        std::swap(a, b);
      results[first] = call(a, b, results[first]);
    }
    if (!isLast && (lhs.isInLds() || rhs.isInLds()))
      keepApart(state, SchedulingVector | SchedulingScalar | SchedulingVectorMemory |
                           SchedulingTranscendental);
  }

  SmallVector<Value> registers(Lowering::layoutOf(op.getResult()).registerCount());
  Type element = state.registerType(op.getType().getElementType());
  unsigned length = resultShape.elementsPerLane();
  for (auto &[place, first] : resultRuns) {
    Value vector = state.bitcast(results[first], VectorType::get(length, element));
    for (unsigned i = 0; i < length; ++i)
      registers[first + i] = state.extract(vector, i);
  }
  state.tiles[op.getResult()] = state.pack(registers);
  return success();
}

//===----------------------------------------------------------------------===//
// Without matrix instructions
//===----------------------------------------------------------------------===//

/// One fma for each product: a lane has all k of the rows and columns of its results.
static LogicalResult lowerByFma(Lowering &state, tile::DotOp op) {
  Type accumulatorType = op.getType().getElementType();
  OperandSource lhs(state, op.getLhs()), rhs(state, op.getRhs());
  const Layout &lhsLayout = Lowering::layoutOf(op.getLhs());
  const Layout &rhsLayout = Lowering::layoutOf(op.getRhs());
  const Layout &resultLayout = Lowering::layoutOf(op.getResult());
  using Places = std::map<int64_t, llvm::SmallVector<std::pair<int64_t, unsigned>>>;
  Places lhsOfK, rhsOfK;
  for (unsigned reg = 0; reg < lhsLayout.registerCount(); ++reg) {
    Coordinates at = lhsLayout.coordinates(reg);
    lhsOfK[at[1]].push_back({at[0], reg});
  }
  for (unsigned reg = 0; reg < rhsLayout.registerCount(); ++reg) {
    Coordinates at = rhsLayout.coordinates(reg);
    rhsOfK[at[0]].push_back({at[1], reg});
  }
  auto read = [&](OperandSource &source, Value tileValue, unsigned reg) {
    Type element = cast<RankedTensorType>(tileValue.getType()).getElementType();
    Value value = source.elements(reg, 1).front();
    if (element == accumulatorType)
      return value;
    return isa<IntegerType>(element) ? state.castInteger(value, accumulatorType)
                                     : extendFloat(state, value, element, accumulatorType);
  };
  struct Step {
    llvm::DenseMap<int64_t, Value> rows, columns;
  };
  auto readStep = [&](int64_t k) {
    Step step;
    for (auto [m, reg] : lhsOfK[k])
      step.rows[m] = read(lhs, op.getLhs(), reg);
    for (auto [n, reg] : rhsOfK[k])
      step.columns[n] = read(rhs, op.getRhs(), reg);
    return step;
  };
  SmallVector<Value> results = state.unpack(state.registers(op.getAccumulator()));
  SmallVector<int64_t> steps = llvm::to_vector(llvm::make_first_range(lhsOfK));
  Step next = readStep(steps.front());
  for (unsigned index = 0; index < steps.size(); ++index) {
    bool isLast = index + 1 == steps.size();
    Step step = std::exchange(next, isLast ? Step() : readStep(steps[index + 1]));
    for (unsigned reg = 0; reg < results.size(); ++reg) {
      Coordinates at = resultLayout.coordinates(reg);
      Value left = step.rows.lookup(at[0]), right = step.columns.lookup(at[1]);
      if (!left || !right)
        return op.emitOpError("has operand layouts that do not match its result's");
      if (isa<IntegerType>(accumulatorType))
        results[reg] = state.add(state.mul(left, right), results[reg]);
      else
        results[reg] = LLVM::FMAOp::create(state.builder, state.loc, left, right, results[reg]);
    }
    if (!isLast && (lhs.isInLds() || rhs.isInLds()))
      keepApart(state, SchedulingScalar | SchedulingVectorMemory);
  }
  state.tiles[op.getResult()] = state.pack(results);
  return success();
}

LogicalResult rocm::lowerDot(Lowering &state, tile::DotOp op) {
  if (!op.getBeyondNeutral())
    return op.emitOpError("looks at elements beyond its extent; run tile-infer-bounds first");
  auto name = op->getAttrOfType<StringAttr>("instruction");
  if (!name)
    return op.emitOpError("has no matrix instruction; run tile-assign-layouts first");
  if (name.getValue() == "fma")
    return lowerByFma(state, op);
  for (const MatrixInstruction &instruction : state.target.matrixInstructions())
    if (instruction.name == name.getValue())
      return DotLowering(state, op, instruction, op->hasAttr("swapped")).run();
  return op.emitOpError() << state.target.name() << " has no matrix instruction "
                          << name.getValue();
}
