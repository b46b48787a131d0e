//===- MathFunctions.cpp - math.* on floats ---------------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// math.* in terms of AMDGPU instructions and arithmetic: no device library. With
// `afn` a function may use approximate instructions; without it, it keeps to
// 2 ulp (MathBuilder.h). 16-bit floats are computed in f32 and rounded once. Of
// f64 there are DoubleMath's, which also serve f32 functions that have no
// expansion of their own.
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/lowering/DoubleMath.h"
#include "backend_rocm/lowering/MathBuilder.h"
#include "backend_rocm/lowering/Operations.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::rocm;

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

static FailureOr<Value> buildF32(MathBuilder &math, Operation *op, Value x) {
  return llvm::TypeSwitch<Operation *, FailureOr<Value>>(op)
      .Case([&](math::ExpOp) { return math.exp(x); })
      .Case([&](math::Exp2Op) { return math.exp2(x); })
      .Case([&](math::ExpM1Op) { return math.expMinusOne(x); })
      .Case([&](math::LogOp) { return math.log(x); })
      .Case([&](math::Log2Op) { return math.log2(x); })
      .Case([&](math::Log10Op) { return math.log10(x); })
      .Case([&](math::Log1pOp) { return math.logOnePlus(x); })
      .Case([&](math::SqrtOp) { return math.sqrt(x); })
      .Case([&](math::RsqrtOp) { return math.rsqrt(x); })
      .Case([&](math::TanhOp) { return math.tanh(x); })
      .Case([&](math::ErfOp) { return math.erf(x); })
      .Case([&](math::SinOp) { return math.sin(x); })
      .Case([&](math::CosOp) { return math.cos(x); })
      .Default([](Operation *) { return failure(); });
}

static FailureOr<Value> buildF64(DoubleMath &math, Operation *op, ArrayRef<Value> x) {
  return llvm::TypeSwitch<Operation *, FailureOr<Value>>(op)
      .Case([&](math::ExpOp) { return math.exp(x[0]); })
      .Case([&](math::Exp2Op) { return math.exp2(x[0]); })
      .Case([&](math::ExpM1Op) { return math.expMinusOne(x[0]); })
      .Case([&](math::LogOp) { return math.log(x[0]); })
      .Case([&](math::Log2Op) { return math.log2(x[0]); })
      .Case([&](math::Log10Op) { return math.log10(x[0]); })
      .Case([&](math::Log1pOp) { return math.logOnePlus(x[0]); })
      .Case([&](math::SqrtOp) { return math.sqrt(x[0]); })
      .Case([&](math::RsqrtOp) { return math.rsqrt(x[0]); })
      .Case([&](math::SinhOp) { return math.sinh(x[0]); })
      .Case([&](math::CoshOp) { return math.cosh(x[0]); })
      .Case([&](math::TanhOp) { return math.tanh(x[0]); })
      .Case([&](math::ErfOp) { return math.erf(x[0]); })
      .Case([&](math::SinOp) { return math.sin(x[0]); })
      .Case([&](math::CosOp) { return math.cos(x[0]); })
      .Case([&](math::TanOp) { return math.tan(x[0]); })
      .Case([&](math::Atan2Op) { return math.arcTangent2(x[0], x[1]); })
      .Case([&](math::PowFOp) {
        bool isDouble = getElementTypeOrSelf(op->getResult(0).getType()).isF64();
        return math.power(x[0], x[1], /*extraBits=*/isDouble);
      })
      .Default([](Operation *) { return failure(); });
}

/// The function of f64 element by element, on operands of f64 or f32, to which it is rounded.
static FailureOr<Value> lowerInF64(Lowering &state, Operation *op, ValueRange operands) {
  OpBuilder &builder = state.builder;
  Type f64 = builder.getF64Type();
  auto vector = dyn_cast<VectorType>(operands.front().getType());
  bool isNarrow = !getElementTypeOrSelf(operands.front()).isF64();
  SmallVector<Value> results;
  for (int64_t i = 0, count = vector ? vector.getNumElements() : 1; i < count; ++i) {
    SmallVector<Value> elements;
    for (Value operand : operands) {
      Value element = vector ? state.extract(operand, i) : operand;
      if (isNarrow)
        element = LLVM::FPExtOp::create(builder, state.loc, f64, element);
      elements.push_back(element);
    }
    DoubleMath math(state);
    FailureOr<Value> result = buildF64(math, op, elements);
    if (failed(result))
      return failure();
    Value value = *result;
    if (isNarrow)
      value = LLVM::FPTruncOp::create(builder, state.loc, builder.getF32Type(), value);
    results.push_back(value);
  }
  return vector ? state.buildVector(results) : results.front();
}

FailureOr<Value> rocm::lowerMathFunction(Lowering &state, Operation *op, ValueRange operands) {
  if (op->getName().getDialectNamespace() != "math" || operands.empty())
    return failure();
  Type element = getElementTypeOrSelf(operands.front()), f32 = state.builder.getF32Type();
  if (element.isF64())
    return lowerInF64(state, op, operands);
  bool isNarrow = element.isF16() || element.isBF16();
  if (!element.isF32() && !isNarrow)
    return failure();
  SmallVector<Value> wide(operands);
  if (isNarrow)
    for (Value &operand : wide)
      operand = extendFloat(state, operand, element, f32);
  auto interface = cast<arith::ArithFastMathInterface>(op);
  // f32 results that v_exp_f32 and its kind flush are zero in f16 as well.
  bool approximate =
      element.isF16() ||
      bitEnumContainsAll(interface.getFastMathFlagsAttr().getValue(), arith::FastMathFlags::afn);
  MathBuilder math(state, wide.front().getType(), approximate);
  FailureOr<Value> result = buildF32(math, op, wide.front());
  if (failed(result))
    result = lowerInF64(state, op, wide);
  if (succeeded(result) && isNarrow)
    return truncateFloat(state, *result, f32, element);
  return result;
}
