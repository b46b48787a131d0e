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
//===----------------------------------------------------------------------===//

#include "backend_rocm/lowering/Operations.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::rocm;

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

/// A matrix instruction applied to the tiles of one dot.
class DotLowering {
public:
  DotLowering(Lowering &state, tile::DotOp op, const MatrixInstruction &instruction, bool swapped)
      : state(state), op(op), instruction(instruction), swapped(swapped) {}

  LogicalResult run();

private:
  Runs runsOf(Value tile, unsigned length);
  Value operand(ArrayRef<Value> registers, unsigned first, const MatrixOperand &shape);
  Value call(Value a, Value b, Value accumulator);

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
Value DotLowering::operand(ArrayRef<Value> registers, unsigned first, const MatrixOperand &shape) {
  SmallVector<Value> elements(registers.slice(first, shape.elementsPerLane()));
  return state.bitcast(state.buildVector(elements), intrinsicType(state.builder, shape));
}

Value DotLowering::call(Value a, Value b, Value accumulator) {
  std::string name = instruction.intrinsic;
  if (!instruction.intrinsicOverload.empty())
    name += instruction.intrinsicOverload;
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
  return state.intrinsic(name, accumulator.getType(), arguments);
}

LogicalResult DotLowering::run() {
  // A swapped dot computes the transposed product, so that the tile's rhs is the first operand.
  const MatrixOperand &lhsShape = swapped ? instruction.b : instruction.a;
  const MatrixOperand &rhsShape = swapped ? instruction.a : instruction.b;
  const MatrixOperand &resultShape = instruction.accumulator;
  SmallVector<Value> lhs = state.unpack(state.registers(op.getLhs()));
  SmallVector<Value> rhs = state.unpack(state.registers(op.getRhs()));
  SmallVector<Value> accumulator = state.unpack(state.registers(op.getAccumulator()));
  Runs lhsRuns = runsOf(op.getLhs(), lhsShape.elementsPerLane());
  Runs rhsRuns = runsOf(op.getRhs(), rhsShape.elementsPerLane());
  Runs resultRuns = runsOf(op.getResult(), resultShape.elementsPerLane());

  llvm::MapVector<unsigned, Value> results;
  for (auto &[place, first] : resultRuns)
    results[first] = operand(accumulator, first, resultShape);
  llvm::MapVector<unsigned, Value> lhsOperands, rhsOperands;
  for (auto &[place, first] : lhsRuns)
    lhsOperands[first] = operand(lhs, first, lhsShape);
  for (auto &[place, first] : rhsRuns)
    rhsOperands[first] = operand(rhs, first, rhsShape);

  // All products of one k before the next, so that neighbours use different accumulators.
  std::map<int64_t, SmallVector<std::pair<int64_t, unsigned>>> byK;
  for (auto &[place, first] : lhsRuns)
    byK[place.second].push_back({place.first, first});
  for (auto &[k, rows] : byK) {
    for (auto &[m, lhsFirst] : rows) {
      for (auto &[place, resultFirst] : resultRuns) {
        if (place.first != m)
          continue;
        auto found = rhsRuns.find({k, place.second});
        if (found == rhsRuns.end())
          return op.emitOpError() << "operand layouts do not match " << instruction.name;
        Value a = lhsOperands[lhsFirst], b = rhsOperands[found->second];
        if (swapped)
          std::swap(a, b);
        results[resultFirst] = call(a, b, results[resultFirst]);
      }
    }
  }

  SmallVector<Value> registers(accumulator.size());
  Type element = accumulator.front().getType();
  unsigned length = resultShape.elementsPerLane();
  for (auto &[first, value] : results) {
    Value vector = state.bitcast(value, VectorType::get(length, element));
    for (unsigned i = 0; i < length; ++i)
      registers[first + i] = state.extract(vector, i);
  }
  state.tiles[op.getResult()] = state.pack(registers);
  return success();
}

LogicalResult rocm::lowerDot(Lowering &state, tile::DotOp op) {
  if (!op.getBeyondNeutral())
    return op.emitOpError("looks at elements beyond its extent; run tile-infer-bounds first");
  auto name = op->getAttrOfType<StringAttr>("instruction");
  if (!name)
    return op.emitOpError("has no matrix instruction; run tile-assign-layouts first");
  for (const MatrixInstruction &instruction : state.target.matrixInstructions())
    if (instruction.name == name.getValue())
      return DotLowering(state, op, instruction, op->hasAttr("swapped")).run();
  return op.emitOpError() << state.target.name() << " has no matrix instruction "
                          << name.getValue();
}
