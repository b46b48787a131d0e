//===- MathFunctions.cpp - Functions of f32 ---------------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// math.* in terms of AMDGPU instructions and arithmetic: no device library.
// With `afn` a function may use the approximate instruction as it is (exp2 and
// log2 flush denormals); without it, LLVM's own expansion of the intrinsic, or
// ours, keeps to 2 ulp. 16-bit floats are computed in f32 and rounded once.
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/lowering/Operations.h"

#include "llvm/ADT/TypeSwitch.h"

#include <numbers>

using namespace mlir;
using namespace wavetile;
using namespace wavetile::rocm;

namespace {

/// Builds one function on f32 values, scalars or vectors alike.
class MathBuilder {
public:
  MathBuilder(Lowering &state, Type type, bool approximate)
      : state(state), type(type), approximate(approximate) {}

  Value number(double value) { return state.constantFloat(type, value); }
  Value add(Value a, Value b) { return binary<LLVM::FAddOp>(a, b); }
  Value sub(Value a, Value b) { return binary<LLVM::FSubOp>(a, b); }
  Value mul(Value a, Value b) { return binary<LLVM::FMulOp>(a, b); }
  Value fma(Value a, Value b, Value c) {
    return LLVM::FMAOp::create(state.builder, state.loc, a, b, c);
  }
  Value abs(Value a) { return LLVM::FAbsOp::create(state.builder, state.loc, a); }
  Value less(Value a, Value b) {
    return LLVM::FCmpOp::create(state.builder, state.loc, LLVM::FCmpPredicate::olt, a, b);
  }
  Value polynomial(Value x, ArrayRef<double> highestFirst);

  /// An AMDGPU instruction, element by element.
  Value instruction(StringRef name, Value x);
  /// LLVM's generic intrinsic, which it expands within 1 ulp.
  Value expanded(StringRef name, Value x) { return state.intrinsic(name, type, x); }

  Value exp2(Value x) {
    return approximate ? instruction("llvm.amdgcn.exp2.f32", x) : expanded(named("llvm.exp2"), x);
  }
  Value exp(Value x);
  Value expMinusOne(Value x);
  Value log2(Value x) {
    return approximate ? instruction("llvm.amdgcn.log.f32", x) : expanded(named("llvm.log2"), x);
  }
  Value log(Value x);
  Value logOnePlus(Value x);
  Value reciprocal(Value x) { return instruction("llvm.amdgcn.rcp.f32", x); }
  Value divide(Value a, Value b) {
    return approximate ? mul(a, reciprocal(b)) : binary<LLVM::FDivOp>(a, b);
  }
  Value rsqrt(Value x);
  Value sqrt(Value x) {
    return approximate ? instruction("llvm.amdgcn.sqrt.f32", x) : expanded(named("llvm.sqrt"), x);
  }

private:
  /// "llvm.exp2" with the suffix of the type.
  StringRef named(StringRef base);
  template <typename Op> Value binary(Value a, Value b) {
    return Op::create(state.builder, state.loc, a, b, LLVM::FastmathFlags::contract);
  }

  Lowering &state;
  Type type;
  bool approximate;
};

} // namespace

StringRef MathBuilder::named(StringRef base) {
  std::string name = base.str();
  if (auto vector = dyn_cast<VectorType>(type))
    name += ".v" + std::to_string(vector.getNumElements());
  else
    name += ".";
  return state.builder.getStringAttr(name + "f32").getValue();
}

Value MathBuilder::instruction(StringRef name, Value x) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector)
    return state.intrinsic(name, type, x);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < vector.getNumElements(); ++i)
    elements.push_back(state.intrinsic(name, vector.getElementType(), state.extract(x, i)));
  return state.buildVector(elements);
}

Value MathBuilder::polynomial(Value x, ArrayRef<double> highestFirst) {
  Value result = number(highestFirst.front());
  for (double coefficient : highestFirst.drop_front())
    result = fma(result, x, number(coefficient));
  return result;
}

/// e^x is one exp2 with the factor folded. The product must not be contracted into x's own
/// subtraction of a maximum: scaling before subtracting loses bits of large maxima.
Value MathBuilder::exp(Value x) {
  if (!approximate)
    return expanded(named("llvm.exp"), x);
  Value scaled = LLVM::FMulOp::create(state.builder, state.loc, x, number(std::numbers::log2e),
                                      LLVM::FastmathFlags::none);
  return exp2(scaled);
}

/// For |x| < 0.35 the Taylor series to x^8, which is within 1 ulp there; else e^x - 1.
Value MathBuilder::expMinusOne(Value x) {
  Value series = mul(x, polynomial(x, {1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24,
                                       1.0 / 6, 0.5, 1.0}));
  Value direct = sub(exp(x), number(1.0));
  return state.select(less(abs(x), number(0.35)), series, direct);
}

Value MathBuilder::log(Value x) {
  return approximate ? mul(log2(x), number(std::numbers::ln2)) : expanded(named("llvm.log"), x);
}

/// log(1 + x) = log(u) * x / (u - 1) with u = 1 + x rounded, which cancels the rounding of u
/// (Kahan; Goldberg 1991, theorem 4); x itself where u is 1, log(u) where u is infinite.
Value MathBuilder::logOnePlus(Value x) {
  Value u = LLVM::FAddOp::create(state.builder, state.loc, x, number(1.0),
                                 LLVM::FastmathFlags::none);
  Value rest = LLVM::FSubOp::create(state.builder, state.loc, u, number(1.0),
                                    LLVM::FastmathFlags::none);
  Value logarithm = log(u);
  Value corrected = mul(logarithm, binary<LLVM::FDivOp>(x, rest));
  Value isOne = LLVM::FCmpOp::create(state.builder, state.loc, LLVM::FCmpPredicate::oeq, rest,
                                     number(0.0));
  Value isInfinite = LLVM::FCmpOp::create(state.builder, state.loc, LLVM::FCmpPredicate::oeq, u,
                                          number(std::numeric_limits<double>::infinity()));
  return state.select(isOne, x, state.select(isInfinite, u, corrected));
}

/// v_rsq_f32 is within 1 ulp but flushes denormals; without `afn` those are scaled by 2^24 first.
Value MathBuilder::rsqrt(Value x) {
  if (approximate)
    return instruction("llvm.amdgcn.rsq.f32", x);
  Value isSmall = less(x, number(std::ldexp(1.0, -100)));
  Value scaled = state.select(isSmall, mul(x, number(std::ldexp(1.0, 24))), x);
  Value root = instruction("llvm.amdgcn.rsq.f32", scaled);
  return state.select(isSmall, mul(root, number(4096.0)), root);
}

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
      .Case([&](math::Log1pOp) { return math.logOnePlus(x); })
      .Case([&](math::SqrtOp) { return math.sqrt(x); })
      .Case([&](math::RsqrtOp) { return math.rsqrt(x); })
      .Default([](Operation *) { return failure(); });
}

FailureOr<Value> rocm::lowerMathFunction(Lowering &state, Operation *op, ValueRange operands) {
  if (op->getName().getDialectNamespace() != "math" || operands.size() != 1)
    return failure();
  Value x = operands.front();
  Type element = getElementTypeOrSelf(x), f32 = state.builder.getF32Type();
  bool isNarrow = element.isF16() || element.isBF16();
  if (!element.isF32() && !isNarrow)
    return failure();
  if (isNarrow)
    x = extendFloat(state, x, element, f32);
  auto interface = cast<arith::ArithFastMathInterface>(op);
  bool approximate = isNarrow || bitEnumContainsAll(interface.getFastMathFlagsAttr().getValue(),
                                                    arith::FastMathFlags::afn);
  MathBuilder math(state, x.getType(), approximate);
  FailureOr<Value> result = buildF32(math, op, x);
  if (succeeded(result) && isNarrow)
    return truncateFloat(state, *result, f32, element);
  return result;
}
