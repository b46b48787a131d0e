//===- Trigonometric.cpp - sin and cos --------------------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The angle is reduced to [-pi/4, pi/4] for every finite x. Up to 2^16 an fma
// subtracts multiples of pi/2 in three parts (W. J. Cody and W. Waite, "Software
// Manual for the Elementary Functions", 1980). Beyond, x is multiplied with those
// bits of 2/pi that matter (M. Payne and R. Hanek, "Radian Reduction for
// Trigonometric Functions", 1983) within a branch, which few kernels ever take.
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/lowering/MathBuilder.h"

#include <cmath>
#include <limits>
#include <numbers>

using namespace mlir;
using namespace wavetile;
using namespace wavetile::rocm;

constexpr double largestForCodyWaite = 65536.0;

namespace {

/// One finite scalar x of at least 2^16 in magnitude, as quadrant (i32) and rest (f32).
class PayneHanek {
public:
  explicit PayneHanek(Lowering &state) : state(state) {}

  SmallVector<Value> reduce(Value x);

private:
  Value words(unsigned first, Value index);
  Value product(Value a, Value b) {
    return state.mul(LLVM::ZExtOp::create(state.builder, state.loc, state.i64(), a),
                     LLVM::ZExtOp::create(state.builder, state.loc, state.i64(), b));
  }
  Value low(Value wide) {
    return LLVM::TruncOp::create(state.builder, state.loc, state.i32(), wide);
  }
  Value high(Value wide) { return low(state.shiftRight(wide, 32)); }
  Value widen(Value word) {
    return LLVM::ZExtOp::create(state.builder, state.loc, state.i64(), word);
  }

  Lowering &state;
};

} // namespace

/// Word `first` + `index` of 32 zero bits followed by the bits of 2/pi; `index` is below 5.
Value PayneHanek::words(unsigned first, Value index) {
  static constexpr uint32_t table[] = {0x00000000, 0xa2f9836e, 0x4e441529, 0xfc2757d1,
                                       0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};
  Value result = state.constantI32(int32_t(table[first]));
  for (unsigned i = 1; i < 5; ++i) {
    Value is = state.compare(LLVM::ICmpPredicate::eq, index, state.constantI32(i));
    result = state.select(is, state.constantI32(int32_t(table[first + i])), result);
  }
  return result;
}

SmallVector<Value> PayneHanek::reduce(Value x) {
  OpBuilder &builder = state.builder;
  Location loc = state.loc;
  Value bits = state.bitcast(x, state.i32());
  // |x| is mantissa * 2^(exponent - 150). Bits of 2/pi that make multiples of 4 are left out, so
  // that the 96 bits from place exponent - 120 of the table count.
  Value exponent = state.bitAnd(state.shiftRight(bits, 23), state.constantI32(0xff));
  Value mantissa =
      state.bitOr(state.bitAnd(bits, state.constantI32(0x7fffff)), state.constantI32(0x800000));
  Value place = state.sub(exponent, state.constantI32(120));
  Value index = state.shiftRight(place, 5), shift = state.bitAnd(place, state.constantI32(31));
  Value window[4];
  for (unsigned i = 0; i < 4; ++i)
    window[i] = words(i, index);
  for (unsigned i = 0; i < 3; ++i)
    window[i] = state.intrinsic("llvm.fshl", state.i32(), {window[i], window[i + 1], shift});

  // The product modulo 2^96: two bits of quadrant, then the fraction of one.
  Value lowest = product(mantissa, window[2]);
  Value middle = state.add(product(mantissa, window[1]), widen(high(lowest)));
  Value top = state.add(state.mul(mantissa, window[0]), high(middle));
  Value quadrant = state.shiftRight(top, 30);
  auto funnel = [&](Value a, Value b) {
    return state.intrinsic("llvm.fshl", state.i32(), {a, b, state.constantI32(2)});
  };
  Value fraction = state.bitOr(LLVM::ShlOp::create(builder, loc, widen(funnel(top, low(middle))),
                                                   state.constant(state.i64(), 32)),
                               widen(funnel(low(middle), low(lowest))));
  // From one half on, to the next quadrant with a negative rest: what the sign bit says.
  Value rounds = low(state.shiftRight(fraction, 63));
  quadrant = state.add(quadrant, rounds);
  Type f64 = builder.getF64Type();
  Value exact = LLVM::SIToFPOp::create(builder, loc, f64, fraction);
  Value rest = LLVM::FPTruncOp::create(
      builder, loc, builder.getF32Type(),
      LLVM::FMulOp::create(builder, loc, exact,
                           state.constantFloat(f64, std::ldexp(std::numbers::pi / 2, -64))));
  Value isNegative = state.compare(LLVM::ICmpPredicate::slt, bits, state.constantI32(0));
  rest = state.select(isNegative, LLVM::FNegOp::create(builder, loc, rest), rest);
  quadrant = state.select(isNegative, state.sub(state.constantI32(0), quadrant), quadrant);
  return {rest, quadrant};
}

MathBuilder::Reduced MathBuilder::reduceAngle(Value x) {
  auto vector = dyn_cast<VectorType>(type);
  Type integers = vector ? Type(VectorType::get(vector.getShape(), state.i32())) : state.i32();
  // Adding 1.5 * 2^23 rounds to an integer, whose last bits the sum shows.
  Value magic = number(12582912.0);
  Value shifted = fma(x, number(2 / std::numbers::pi), magic);
  Value quadrant = state.bitcast(shifted, integers);
  Value multiple = sub(shifted, magic);
  Value rest = x;
  for (double part : {1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15})
    rest = fma(multiple, number(-part), rest);

  Value isFinite = less(abs(x), number(std::numeric_limits<double>::infinity()));
  Value isMedium = less(abs(x), number(largestForCodyWaite));
  Value isLarge = state.bitXor(isFinite, isMedium);
  if (!vector) {
    SmallVector<Value> reduced =
        state.conditional(isLarge, {rest, quadrant}, [&] { return PayneHanek(state).reduce(x); });
    return {reduced[0], reduced[1]};
  }
  SmallVector<Value> rests, quadrants;
  for (int64_t i = 0; i < vector.getNumElements(); ++i) {
    Value element = state.extract(x, i);
    SmallVector<Value> reduced = state.conditional(
        state.extract(isLarge, i), {state.extract(rest, i), state.extract(quadrant, i)},
        [&] { return PayneHanek(state).reduce(element); });
    rests.push_back(reduced[0]);
    quadrants.push_back(reduced[1]);
  }
  return {state.buildVector(rests), state.buildVector(quadrants)};
}

/// sin(x + quadrants * pi/2).
Value MathBuilder::sinOrCos(Value x, unsigned quadrants) {
  auto [rest, quadrant] = reduceAngle(x);
  Type integers = quadrant.getType();
  if (quadrants)
    quadrant = state.add(quadrant, state.constant(integers, quadrants));
  Value square = mul(rest, rest);
  // (sin(x) / x - 1) / x^2, 2^-37.6, and (cos(x) - 1 + x^2 / 2) / x^4, 2^-43.2.
  Value sine = polynomial(square, {2.7183043584955158e-06, -0.0001983933470910415,
                                   0.008333329111337662, -0.1666666716337204});
  sine = fma(mul(square, sine), rest, rest);
  Value cosine = polynomial(square, {-2.7210168696001347e-07, 2.4799519451335073e-05,
                                     -0.0013888883404433727, 0.0416666679084301});
  cosine = fma(mul(square, square), cosine, fma(square, number(-0.5), number(1.0)));
  auto has = [&](int64_t bit) {
    return state.compare(LLVM::ICmpPredicate::ne,
                         state.bitAnd(quadrant, state.constant(integers, bit)),
                         state.constant(integers, 0));
  };
  Value result = state.select(has(1), cosine, sine);
  return state.select(has(2), negate(result), result);
}

/// x itself where it is small, which also keeps the sign of zero.
Value MathBuilder::sin(Value x) {
  Value isSmall = less(abs(x), number(std::ldexp(1.0, -12)));
  return state.select(isSmall, x, sinOrCos(x, 0));
}

Value MathBuilder::cos(Value x) { return sinOrCos(x, 1); }
