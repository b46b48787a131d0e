//===- Elementwise.cpp - arith and math on each element ---------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations that LLVM has under another name are rows of one table. Those that
// need more are cases below: float conversions, comparisons, selects, division
// by a reciprocal, functions.
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/lowering/Operations.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::rocm;

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// Operations of arith and math, and the LLVM dialect operation that does the same.
static const llvm::StringMap<StringRef> &renamedOperations() {
  static const llvm::StringMap<StringRef> table = {
      {"arith.addf", "llvm.fadd"},
      {"arith.subf", "llvm.fsub"},
      {"arith.mulf", "llvm.fmul"},
      {"arith.negf", "llvm.fneg"},
      {"arith.maxnumf", "llvm.intr.maxnum"},
      {"arith.minnumf", "llvm.intr.minnum"},
      {"arith.maximumf", "llvm.intr.maximum"},
      {"arith.minimumf", "llvm.intr.minimum"},
      {"arith.addi", "llvm.add"},
      {"arith.subi", "llvm.sub"},
      {"arith.muli", "llvm.mul"},
      {"arith.divsi", "llvm.sdiv"},
      {"arith.divui", "llvm.udiv"},
      {"arith.remsi", "llvm.srem"},
      {"arith.remui", "llvm.urem"},
      {"arith.andi", "llvm.and"},
      {"arith.ori", "llvm.or"},
      {"arith.xori", "llvm.xor"},
      {"arith.shli", "llvm.shl"},
      {"arith.shrsi", "llvm.ashr"},
      {"arith.shrui", "llvm.lshr"},
      {"arith.maxsi", "llvm.intr.smax"},
      {"arith.minsi", "llvm.intr.smin"},
      {"arith.maxui", "llvm.intr.umax"},
      {"arith.minui", "llvm.intr.umin"},
      {"arith.extsi", "llvm.sext"},
      {"arith.extui", "llvm.zext"},
      {"arith.trunci", "llvm.trunc"},
      {"arith.sitofp", "llvm.sitofp"},
      {"arith.uitofp", "llvm.uitofp"},
      {"arith.fptosi", "llvm.fptosi"},
      {"arith.fptoui", "llvm.fptoui"},
      {"arith.bitcast", "llvm.bitcast"},
      {"math.absf", "llvm.intr.fabs"},
      {"math.floor", "llvm.intr.floor"},
      {"math.ceil", "llvm.intr.ceil"},
      {"math.trunc", "llvm.intr.trunc"},
      {"math.roundeven", "llvm.intr.roundeven"},
      {"math.fma", "llvm.intr.fma"},
      {"math.copysign", "llvm.intr.copysign"},
  };
  return table;
}

bool rocm::isElementwise(OperationName name) {
  return name.getDialectNamespace() == "arith" || name.getDialectNamespace() == "math";
}

//===----------------------------------------------------------------------===//
// Fast-math flags
//===----------------------------------------------------------------------===//

static LLVM::FastmathFlags fastmathOf(Operation *op) {
  auto interface = dyn_cast<arith::ArithFastMathInterface>(op);
  if (!interface)
    return {};
  using From = arith::FastMathFlags;
  using To = LLVM::FastmathFlags;
  From flags = interface.getFastMathFlagsAttr().getValue();
  To result{};
  for (auto [from, to] : {std::pair(From::reassoc, To::reassoc),
                          {From::nnan, To::nnan},
                          {From::ninf, To::ninf},
                          {From::nsz, To::nsz},
                          {From::arcp, To::arcp},
                          {From::contract, To::contract},
                          {From::afn, To::afn}})
    if (bitEnumContainsAll(flags, from))
      result = result | to;
  return result;
}

//===----------------------------------------------------------------------===//
// Single operations
//===----------------------------------------------------------------------===//

/// `op` renamed to `name`, on `operands`.
static Value renamed(Lowering &state, Operation *op, StringRef name, ValueRange operands,
                     Type result) {
  OperationState made(state.loc, name, operands, result);
  LLVM::FastmathFlags flags = fastmathOf(op);
  if (flags != LLVM::FastmathFlags::none)
    made.addAttribute("fastmathFlags",
                      LLVM::FastmathFlagsAttr::get(state.builder.getContext(), flags));
  return state.builder.create(made)->getResult(0);
}

/// Applies `function` to each element of a vector, or to a scalar.
static Value mapElements(Lowering &state, Value value, llvm::function_ref<Value(Value)> function) {
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type)
    return function(value);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    elements.push_back(function(state.extract(value, i)));
  return state.buildVector(elements);
}

/// a / b: by v_rcp_f32 where `arcp` allows a reciprocal, else exactly.
static Value lowerDivision(Lowering &state, Operation *op, ValueRange operands, Type result) {
  bool isF32 = getElementTypeOrSelf(result).isF32();
  if (!isF32 || !bitEnumContainsAll(fastmathOf(op), LLVM::FastmathFlags::arcp))
    return renamed(state, op, "llvm.fdiv", operands, result);
  Value reciprocal = mapElements(state, operands[1], [&](Value divisor) {
    return state.intrinsic("llvm.amdgcn.rcp.f32", divisor.getType(), divisor);
  });
  return LLVM::FMulOp::create(state.builder, state.loc, operands[0], reciprocal,
                              LLVM::FastmathFlags::contract);
}

/// a - b * trunc(a / b), exactly, as LLVM expands it. A fence keeps LLVM from computing it in bf16,
/// for which it has no expansion, where both come from there.
static Value lowerRemainder(Lowering &state, Operation *op, ValueRange operands, Type result) {
  SmallVector<Value> fenced(operands);
  if (getElementTypeOrSelf(result).isF32())
    for (Value &operand : fenced)
      operand = state.intrinsic("llvm.arithmetic.fence", result, operand);
  return renamed(state, op, "llvm.frem", fenced, result);
}

static Value lowerIndexCast(Lowering &state, Operation *op, Value operand, Type result) {
  unsigned from = getElementTypeOrSelf(operand).getIntOrFloatBitWidth();
  unsigned to = getElementTypeOrSelf(result).getIntOrFloatBitWidth();
  if (from == to)
    return operand;
  bool isUnsigned = isa<arith::IndexCastUIOp>(op);
  StringRef name = from > to ? "llvm.trunc" : isUnsigned ? "llvm.zext" : "llvm.sext";
  return renamed(state, op, name, operand, result);
}

static Value lowerAbsoluteInteger(Lowering &state, Value operand, Type result) {
  return LLVM::AbsOp::create(state.builder, state.loc, result, operand,
                             /*is_int_min_poison=*/false);
}

/// Rounds towards negative (`floor`) or positive infinity.
static Value lowerRoundedDivision(Lowering &state, ValueRange operands, Type type, bool floor) {
  Value zero = state.constant(type, 0), one = state.constant(type, 1);
  Value quotient = LLVM::SDivOp::create(state.builder, state.loc, operands[0], operands[1]);
  Value rest = state.sub(operands[0], state.mul(quotient, operands[1]));
  Value inexact = state.compare(LLVM::ICmpPredicate::ne, rest, zero);
  Value signs = state.bitXor(operands[0], operands[1]);
  Value opposite = state.compare(LLVM::ICmpPredicate::slt, signs, zero);
  Value same = state.compare(LLVM::ICmpPredicate::sge, signs, zero);
  Value adjust = state.bitAnd(inexact, floor ? opposite : same);
  Value adjusted = floor ? state.sub(quotient, one) : state.add(quotient, one);
  return state.select(adjust, adjusted, quotient);
}

FailureOr<Value> rocm::lowerElement(Lowering &state, Operation *op, ValueRange operands,
                                    Type result) {
  if (auto name = renamedOperations().find(op->getName().getStringRef());
      name != renamedOperations().end())
    return renamed(state, op, name->second, operands, result);

  Type from = op->getNumOperands() ? getElementTypeOrSelf(op->getOperand(0).getType()) : Type();
  Type to = getElementTypeOrSelf(op->getResult(0).getType());
  OpBuilder &builder = state.builder;
  return llvm::TypeSwitch<Operation *, FailureOr<Value>>(op)
      .Case([&](arith::ConstantOp constant) -> FailureOr<Value> {
        auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
        if (dense && !dense.isSplat())
          return failure();
        return state.constantElement(result, dense ? dense.getSplatValue<Attribute>()
                                                   : Attribute(constant.getValue()));
      })
      .Case([&](arith::DivFOp) { return lowerDivision(state, op, operands, result); })
      .Case([&](arith::RemFOp) { return lowerRemainder(state, op, operands, result); })
      .Case([&](arith::ExtFOp) { return extendFloat(state, operands[0], from, to); })
      .Case([&](arith::TruncFOp) { return truncateFloat(state, operands[0], from, to); })
      .Case([&](arith::CmpFOp compare) -> FailureOr<Value> {
        return LLVM::FCmpOp::create(builder, state.loc,
                                    static_cast<LLVM::FCmpPredicate>(compare.getPredicate()),
                                    operands[0], operands[1], fastmathOf(op))
            .getResult();
      })
      .Case([&](arith::CmpIOp compare) {
        return state.compare(static_cast<LLVM::ICmpPredicate>(compare.getPredicate()), operands[0],
                             operands[1]);
      })
      .Case([&](arith::SelectOp) { return state.select(operands[0], operands[1], operands[2]); })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp>(
          [&](auto) { return lowerIndexCast(state, op, operands[0], result); })
      .Case([&](arith::FloorDivSIOp) {
        return lowerRoundedDivision(state, operands, result, /*floor=*/true);
      })
      .Case([&](arith::CeilDivSIOp) {
        return lowerRoundedDivision(state, operands, result, /*floor=*/false);
      })
      .Case([&](math::AbsIOp) { return lowerAbsoluteInteger(state, operands[0], result); })
      .Default([&](Operation *) { return lowerMathFunction(state, op, operands); });
}

//===----------------------------------------------------------------------===//
// Tiles and scalars
//===----------------------------------------------------------------------===//

LogicalResult rocm::lowerElementwise(Lowering &state, Operation *op) {
  auto unsupported = [&] {
    return op->emitError() << "'" << op->getName() << "' on "
                           << getElementTypeOrSelf(op->getOperand(0).getType())
                           << " has no lowering for " << state.target.name();
  };
  Type resultType = op->getResult(0).getType();
  auto tileType = dyn_cast<RankedTensorType>(resultType);
  if (!tileType) {
    SmallVector<Value> operands = llvm::map_to_vector(
        op->getOperands(), [&](Value operand) { return state.scalar(operand); });
    FailureOr<Value> value = lowerElement(state, op, operands, state.registerType(resultType));
    if (failed(value))
      return unsupported();
    state.scalars[op->getResult(0)] = *value;
    return success();
  }

  unsigned count = Lowering::layoutOf(op->getResult(0)).registerCount();
  TileRegisters result;
  result.width = Lowering::chunkWidth(count);
  Type chunkType = state.chunkType(tileType.getElementType(), result.width);
  for (unsigned chunk = 0; chunk < count / result.width; ++chunk) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      // A scalar condition of a select applies to every element.
      if (!isa<RankedTensorType>(operand.getType()))
        operands.push_back(state.scalar(operand));
      else
        operands.push_back(state.registers(operand).chunks[chunk]);
    }
    FailureOr<Value> value = lowerElement(state, op, operands, chunkType);
    if (failed(value))
      return unsupported();
    result.chunks.push_back(*value);
  }
  state.tiles[op->getResult(0)] = std::move(result);
  return success();
}
