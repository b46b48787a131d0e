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
// f64 there is what LLVM has: sqrt.
//
//===----------------------------------------------------------------------===//

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

FailureOr<Value> rocm::lowerMathFunction(Lowering &state, Operation *op, ValueRange operands) {
  if (op->getName().getDialectNamespace() != "math" || operands.size() != 1)
    return failure();
  Value x = operands.front();
  Type element = getElementTypeOrSelf(x), f32 = state.builder.getF32Type();
  if (element.isF64() && isa<math::SqrtOp>(op))
    return state.intrinsic("llvm.sqrt", x.getType(), x);
  bool isNarrow = element.isF16() || element.isBF16();
  if (!element.isF32() && !isNarrow)
    return failure();
  if (isNarrow)
    x = extendFloat(state, x, element, f32);
  auto interface = cast<arith::ArithFastMathInterface>(op);
  // f32 results that v_exp_f32 and its kind flush are zero in f16 as well.
  bool approximate =
      element.isF16() ||
      bitEnumContainsAll(interface.getFastMathFlagsAttr().getValue(), arith::FastMathFlags::afn);
  MathBuilder math(state, x.getType(), approximate);
  FailureOr<Value> result = buildF32(math, op, x);
  if (succeeded(result) && isNarrow)
    return truncateFloat(state, *result, f32, element);
  return result;
}
