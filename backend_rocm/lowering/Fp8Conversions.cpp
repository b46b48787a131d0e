//===- Fp8Conversions.cpp - Between fp8 and f32 -----------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Results are torch's: round to nearest even; e4m3fn saturates to its largest
// value, infinities included; e5m2 overflows to infinity; the FNUZ formats
// overflow to NaN and have no negative zero. Where the target's v_cvt_* has the
// format, the instruction is used (after clamping for e4m3fn, which it would
// turn into NaN); elsewhere the conversion is arithmetic on bits.
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/lowering/Operations.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::rocm;

namespace {

/// What tells one fp8 format from another.
struct Fp8Format {
  unsigned mantissaBits;
  int bias;
  bool fnuz;
  bool hasInfinity;

  static Fp8Format of(Type type) {
    if (isa<Float8E4M3FNType>(type))
      return {3, 7, false, false};
    if (isa<Float8E5M2Type>(type))
      return {2, 15, false, true};
    if (isa<Float8E4M3FNUZType>(type))
      return {3, 8, true, false};
    assert(isa<Float8E5M2FNUZType>(type) && "not an fp8 type");
    return {2, 16, true, false};
  }

  bool isNativeTo(const Target &target) const {
    return target.conversions().fp8 == (fnuz ? Fp8Kind::FNUZ : Fp8Kind::OCP);
  }
  bool isE4M3() const { return mantissaBits == 3; }
};

} // namespace

static Type vectorLike(Value like, Type element) {
  if (auto vector = dyn_cast<VectorType>(like.getType()))
    return VectorType::get(vector.getShape(), element);
  return element;
}

//===----------------------------------------------------------------------===//
// fp8 to f32
//===----------------------------------------------------------------------===//

/// One v_cvt_pk_f32_* for each pair, or v_cvt_f32_* for a scalar.
static Value extendByInstruction(Lowering &state, Value value, const Fp8Format &format) {
  OpBuilder &builder = state.builder;
  Type f32 = builder.getF32Type();
  auto vector = dyn_cast<VectorType>(value.getType());
  if (!vector) {
    Value word = LLVM::ZExtOp::create(builder, state.loc, state.i32(), value);
    return state.intrinsic(format.isE4M3() ? "llvm.amdgcn.cvt.f32.fp8" : "llvm.amdgcn.cvt.f32.bf8",
                           f32, {word, state.constantI32(0)});
  }
  Value pair = state.bitcast(value, builder.getI16Type());
  Value word = LLVM::ZExtOp::create(builder, state.loc, state.i32(), pair);
  return state.intrinsic(format.isE4M3() ? "llvm.amdgcn.cvt.pk.f32.fp8"
                                         : "llvm.amdgcn.cvt.pk.f32.bf8",
                         VectorType::get(2, f32), {word, state.constant(state.i1(), 0)});
}

Value rocm::extendFp8(Lowering &state, Value value, Type from) {
  Fp8Format format = Fp8Format::of(from);
  if (format.isNativeTo(state.target))
    return extendByInstruction(state, value, format);

  OpBuilder &builder = state.builder;
  Location loc = state.loc;
  Type bitsType = vectorLike(value, state.i32()),
       floatType = vectorLike(value, builder.getF32Type());
  auto bits = [&](uint32_t number) { return state.constant(bitsType, int32_t(number)); };
  Value code = LLVM::ZExtOp::create(builder, loc, bitsType, value);
  Value magnitude = state.bitAnd(code, bits(0x7f));
  // Exponent and mantissa moved to f32's places; the multiplication corrects the bias and makes
  // denormals exact.
  Value raw = state.bitcast(
      LLVM::ShlOp::create(builder, loc, magnitude, bits(23 - format.mantissaBits)), floatType);
  Value scaled = LLVM::FMulOp::create(
      builder, loc, raw, state.constantFloat(floatType, std::ldexp(1.0, 127 - format.bias)));
  Value sign = LLVM::ShlOp::create(builder, loc, state.bitAnd(code, bits(0x80)), bits(24));
  Value result = state.bitOr(state.bitcast(scaled, bitsType), sign);
  Value nan = bits(0x7fc00000);
  if (format.fnuz) {
    result = state.select(state.compare(LLVM::ICmpPredicate::eq, code, bits(0x80)), nan, result);
  } else if (!format.hasInfinity) {
    result =
        state.select(state.compare(LLVM::ICmpPredicate::eq, magnitude, bits(0x7f)), nan, result);
  } else {
    Value infinity = state.bitOr(sign, bits(0x7f800000));
    result = state.select(state.compare(LLVM::ICmpPredicate::eq, magnitude, bits(0x7c)), infinity,
                          result);
    result =
        state.select(state.compare(LLVM::ICmpPredicate::ugt, magnitude, bits(0x7c)), nan, result);
  }
  return state.bitcast(result, floatType);
}

//===----------------------------------------------------------------------===//
// f32 to fp8
//===----------------------------------------------------------------------===//

static double largestValue(const Fp8Format &format) {
  if (format.isE4M3())
    return format.fnuz ? 240.0 : 448.0;
  return 57344.0;
}

static Value truncateByInstruction(Lowering &state, Value value, const Fp8Format &format) {
  OpBuilder &builder = state.builder;
  Location loc = state.loc;
  if (!format.fnuz && !format.hasInfinity) {
    double limit = largestValue(format);
    Type type = value.getType();
    Value isNan = LLVM::FCmpOp::create(builder, loc, LLVM::FCmpPredicate::uno, value, value);
    Value low = LLVM::MaxNumOp::create(builder, loc, value, state.constantFloat(type, -limit));
    Value clamped = LLVM::MinNumOp::create(builder, loc, low, state.constantFloat(type, limit));
    value = state.select(isNan, value, clamped);
  }
  bool isVector = isa<VectorType>(value.getType());
  Value first = isVector ? state.extract(value, 0) : value;
  Value second = isVector ? state.extract(value, 1) : state.undef(builder.getF32Type());
  Value word = state.intrinsic(
      format.isE4M3() ? "llvm.amdgcn.cvt.pk.fp8.f32" : "llvm.amdgcn.cvt.pk.bf8.f32", state.i32(),
      {first, isVector ? second : first, state.constantI32(0), state.constant(state.i1(), 0)});
  if (!isVector)
    return LLVM::TruncOp::create(builder, loc, builder.getI8Type(), word);
  Value pair = LLVM::TruncOp::create(builder, loc, builder.getI16Type(), word);
  return state.bitcast(pair, VectorType::get(2, builder.getI8Type()));
}

Value rocm::truncateToFp8(Lowering &state, Value value, Type to) {
  Fp8Format format = Fp8Format::of(to);
  if (format.isNativeTo(state.target))
    return truncateByInstruction(state, value, format);

  OpBuilder &builder = state.builder;
  Location loc = state.loc;
  unsigned dropped = 23 - format.mantissaBits;
  Type floatType = value.getType(), bitsType = vectorLike(value, state.i32());
  auto bits = [&](uint32_t number) { return state.constant(bitsType, int32_t(number)); };
  auto floatBits = [](double number) { return llvm::bit_cast<uint32_t>(float(number)); };

  Value word = state.bitcast(value, bitsType);
  Value magnitude = state.bitAnd(word, bits(0x7fffffff));
  // Normal results: round to nearest even on the bits, then correct the bias.
  Value odd = state.bitAnd(LLVM::LShrOp::create(builder, loc, magnitude, bits(dropped)), bits(1));
  Value rounded = state.add(state.add(magnitude, bits((1u << (dropped - 1)) - 1)), odd);
  Value normal = state.sub(LLVM::LShrOp::create(builder, loc, rounded, bits(dropped)),
                           bits(uint32_t(127 - format.bias) << format.mantissaBits));
  // Denormal results: adding 2^23 units of the last place rounds in the adder.
  double unit = std::ldexp(1.0, 1 - format.bias - int(format.mantissaBits));
  uint32_t magic = floatBits(std::ldexp(unit, 23));
  Value shifted = LLVM::FAddOp::create(builder, loc, state.bitcast(magnitude, floatType),
                                       state.bitcast(bits(magic), floatType));
  Value denormal = state.sub(state.bitcast(shifted, bitsType), bits(magic));
  Value isDenormal = state.compare(LLVM::ICmpPredicate::ult, magnitude,
                                   bits(floatBits(std::ldexp(1.0, 1 - format.bias))));
  Value code = state.select(isDenormal, denormal, normal);

  // Above the midpoint of the largest value and the next one (which is even), results overflow.
  uint32_t largest = floatBits(largestValue(format));
  uint32_t overflowAt = largest + (1u << (dropped - 1));
  uint32_t overflowCode = format.fnuz ? 0x80 : format.hasInfinity ? 0x7c : 0x7e;
  if (!format.hasInfinity && !format.fnuz)
    overflowAt = largest;
  Value overflows = state.compare(LLVM::ICmpPredicate::uge, magnitude, bits(overflowAt));
  Value isNan = state.compare(LLVM::ICmpPredicate::ugt, magnitude, bits(0x7f800000));
  Value sign = state.bitAnd(LLVM::LShrOp::create(builder, loc, word, bits(24)), bits(0x80));
  if (format.fnuz) {
    // Zero has no sign, and NaN is the code of negative zero.
    Value isZero = state.compare(LLVM::ICmpPredicate::eq, code, bits(0));
    code = state.select(isZero, bits(0), state.bitOr(code, sign));
    code = state.select(state.bitOr(overflows, isNan), bits(overflowCode), code);
  } else {
    code = state.select(overflows, bits(overflowCode), code);
    code = state.bitOr(state.select(isNan, bits(0x7f), code), sign);
  }
  return LLVM::TruncOp::create(builder, loc, vectorLike(value, builder.getI8Type()), code);
}
