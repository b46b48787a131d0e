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
using tile::isFp8;

static Type withElement(Value like, Type element) {
  if (auto vector = dyn_cast<VectorType>(like.getType()))
    return VectorType::get(vector.getShape(), element);
  return element;
}

/// The bf16 nearest to an f32 in the upper half of a word, to even on a tie; NaN is 0x7fc0, as in
/// torch. The lower half holds something.
static Value roundToUpperHalf(Lowering &state, Value value) {
  Value bits = state.bitcast(value, state.i32());
  Value odd = state.intrinsic("llvm.amdgcn.ubfe.i32", state.i32(),
                              {bits, state.constantI32(16), state.constantI32(1)});
  Value rounded = state.add(state.add(odd, bits), state.constantI32(0x7fff));
  Value isNan =
      LLVM::FCmpOp::create(state.builder, state.loc, LLVM::FCmpPredicate::uno, value, value);
  return state.select(isNan, state.constantI32(0x7fc00000), rounded);
}

static Value roundToBF16(Lowering &state, Value value) {
  OpBuilder &builder = state.builder;
  Type narrow = withElement(value, builder.getBF16Type());
  if (!isa<VectorType>(value.getType())) {
    Value word = state.shiftRight(roundToUpperHalf(state, value), 16);
    Value half = LLVM::TruncOp::create(builder, state.loc, builder.getI16Type(), word);
    return state.bitcast(half, narrow);
  }
  // The upper halves of two words are one v_perm_b32.
  Value low = roundToUpperHalf(state, state.extract(value, 0));
  Value high = roundToUpperHalf(state, state.extract(value, 1));
  Value pair =
      state.intrinsic("llvm.amdgcn.perm", state.i32(), {high, low, state.constantI32(0x07060302)});
  return state.bitcast(pair, narrow);
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
