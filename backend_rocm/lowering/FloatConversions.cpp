//===- FloatConversions.cpp - Between float types ---------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 16-bit types are converted by LLVM, which has the packed instructions of each
// target; f32 to bf16 where there is none by four instructions an element, one
// less than LLVM's sequence, which keeps the payload of NaN. fp8 types go through f32:
// by v_cvt_* where the target's fp8 format is the type's, else by arithmetic on
// bits that gives torch's results (round to nearest even; e4m3fn saturates to
// 448 and has NaN only, e5m2 overflows to infinity; FNUZ overflows to NaN).
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/lowering/Operations.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::rocm;

static bool isFp8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type, Float8E4M3FNUZType, Float8E5M2FNUZType>(type);
}

static Type withElement(Value like, Type element) {
  if (auto vector = dyn_cast<VectorType>(like.getType()))
    return VectorType::get(vector.getShape(), element);
  return element;
}

/// Round to nearest even on the bits; NaN becomes 0x7fc0, as in torch.
static Value roundToBF16(Lowering &state, Value value) {
  OpBuilder &builder = state.builder;
  Type words = withElement(value, state.i32());
  auto number = [&](int64_t bits) { return state.constant(words, bits); };
  auto upperHalf = [&](Value word) -> Value {
    return LLVM::LShrOp::create(builder, state.loc, word, number(16));
  };
  Value bits = state.bitcast(value, words);
  Value odd = state.bitAnd(upperHalf(bits), number(1));
  Value rounded = state.add(state.add(odd, bits), number(0x7fff));
  Value isNan = LLVM::FCmpOp::create(builder, state.loc, LLVM::FCmpPredicate::uno, value, value);
  Value result = state.select(isNan, number(0x7fc00000), rounded);
  Value narrow = LLVM::TruncOp::create(builder, state.loc, withElement(value, builder.getI16Type()),
                                       upperHalf(result));
  return state.bitcast(narrow, withElement(value, builder.getBF16Type()));
}

Value rocm::extendFloat(Lowering &state, Value value, Type from, Type to) {
  Type f32 = state.builder.getF32Type();
  if (isFp8(from)) {
    value = extendFp8(state, value, from);
    if (to.isF32())
      return value;
    return to.isF64() ? extendFloat(state, value, f32, to) : truncateFloat(state, value, f32, to);
  }
  return LLVM::FPExtOp::create(state.builder, state.loc, withElement(value, to), value);
}

Value rocm::truncateFloat(Lowering &state, Value value, Type from, Type to) {
  Type f32 = state.builder.getF32Type();
  if (isFp8(to)) {
    if (!from.isF32())
      value = from.isF64() ? truncateFloat(state, value, from, f32)
                           : extendFloat(state, value, from, f32);
    return truncateToFp8(state, value, to);
  }
  if (isFp8(from))
    return extendFloat(state, value, from, to);
  if (from.isF32() && to.isBF16() && !state.target.conversions().packedBF16FromF32)
    return roundToBF16(state, value);
  return LLVM::FPTruncOp::create(state.builder, state.loc, withElement(value, to), value);
}
