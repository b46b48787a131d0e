//===- DoubleTrigonometric.cpp - sin, cos, tan, atan2 of f64 ----*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As in Trigonometric.cpp, the angle is reduced to [-pi/4, pi/4] by Cody and
// Waite's method, and by Payne and Hanek's within a branch where it is large. The
// rest is a pair of numbers.
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/lowering/DoubleMath.h"

#include <cmath>
#include <limits>
#include <numbers>

using namespace mlir;
using namespace wavetile;
using namespace wavetile::rocm;

static constexpr double halfPiHigh = 0x1.921fb54442d18p+0, halfPiLow = 0x1.1a62633145c07p-54;

/// Multiples of pi/2 below have 20 bits, so that products with 33 bits of pi/2 are exact.
static constexpr double largestForCodyWaite = 1.0e6;

/// 64 zero bits, then those of 2/pi.
static constexpr uint64_t twoOverPi[] = {
    0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
    0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e,
    0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
    0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};

/// The rest (two numbers) and the quadrant of a finite x of at least 10^6 in magnitude.
SmallVector<Value> DoubleMath::reduceLargeAngle(Value x) {
  OpBuilder &builder = state.builder;
  Location loc = state.loc;
  Type i64 = state.i64(), i128 = builder.getIntegerType(128);
  auto c64 = [&](uint64_t value) { return state.constant(i64, int64_t(value)); };
  auto right = [&](Value value, Value count) -> Value {
    return LLVM::LShrOp::create(builder, loc, value, count);
  };
  auto wide = [&](Value value) -> Value { return LLVM::ZExtOp::create(builder, loc, i128, value); };
  auto low = [&](Value value) -> Value { return LLVM::TruncOp::create(builder, loc, i64, value); };
  auto high = [&](Value value) { return low(right(value, state.constant(i128, 64))); };

  // |x| is mantissa * 2^(exponent - 1075). Bits of 2/pi that make multiples of 4 are left out, so
  // that the 192 bits from place exponent - 1013 of the table count.
  Value bits = state.bitcast(x, i64);
  Value exponent = state.bitAnd(right(bits, c64(52)), c64(0x7ff));
  Value mantissa = state.bitOr(state.bitAnd(bits, c64((1ull << 52) - 1)), c64(1ull << 52));
  Value place = state.sub(exponent, c64(1013));
  Value shift = state.bitAnd(place, c64(63));
  SmallVector<Value> words;
  for (uint64_t word : twoOverPi)
    words.push_back(c64(word));
  for (unsigned step : {16, 8, 4, 2, 1}) {
    // Four words from the place's on are wanted in the end; the first is at most number 16.
    unsigned wanted = step == 16 ? 4 : 4 + step - 1;
    Value moves = state.compare(LLVM::ICmpPredicate::ne,
                                state.bitAnd(place, c64(uint64_t(step) << 6)), c64(0));
    for (unsigned i = 0; i < wanted; ++i)
      words[i] = state.select(moves, words[i + step], words[i]);
  }
  Value window[3];
  for (unsigned i = 0; i < 3; ++i)
    window[i] = state.intrinsic("llvm.fshl", i64, {words[i], words[i + 1], shift});

  // The product modulo 2^192: two bits of quadrant, then the fraction of one.
  Value lowest = state.mul(wide(mantissa), wide(window[2]));
  Value middle = state.add(state.mul(wide(mantissa), wide(window[1])), wide(high(lowest)));
  Value top = state.add(state.mul(mantissa, window[0]), high(middle));
  Value quadrant =
      LLVM::TruncOp::create(builder, loc, state.i32(), right(top, c64(62))).getResult();
  auto funnel = [&](Value a, Value b) { return state.intrinsic("llvm.fshl", i64, {a, b, c64(2)}); };
  Value upper = wide(funnel(top, low(middle)));
  Value fraction =
      state.bitOr(LLVM::ShlOp::create(builder, loc, upper, state.constant(i128, 64)).getResult(),
                  wide(funnel(low(middle), low(lowest))));
  // From one half on, to the next quadrant with a negative rest.
  Value isAbove = state.compare(LLVM::ICmpPredicate::slt, fraction, state.constant(i128, 0));
  Value one = state.constantI32(1), none = state.constantI32(0);
  quadrant = state.add(quadrant, state.select(isAbove, one, none));
  fraction = state.select(isAbove, state.sub(state.constant(i128, 0), fraction), fraction);

  // The first 53 bits that are set, and the next 53.
  Value zeros = LLVM::CountLeadingZerosOp::create(builder, loc, i128, fraction,
                                                  /*is_zero_poison=*/false);
  Value normal = LLVM::ShlOp::create(builder, loc, fraction, zeros);
  Value leading = low(right(normal, state.constant(i128, 75)));
  Value following =
      state.bitAnd(low(right(normal, state.constant(i128, 22))), c64((1ull << 53) - 1));
  Value count = LLVM::TruncOp::create(builder, loc, state.i32(), zeros);
  auto scaled = [&](Value whole, int power) {
    Value real = LLVM::UIToFPOp::create(builder, loc, f64(), whole);
    return state.intrinsic("llvm.ldexp", f64(), {real, state.sub(state.constantI32(power), count)});
  };
  Pair rest = multiply(Pair{scaled(leading, -53), scaled(following, -106)},
                       Pair{number(halfPiHigh), number(halfPiLow)});
  Value isNegative = state.compare(LLVM::ICmpPredicate::slt, bits, c64(0));
  Value flips = state.bitXor(isNegative, isAbove);
  return {select(flips, negate(rest.high), rest.high), select(flips, negate(rest.low), rest.low),
          state.select(isNegative, state.sub(none, quadrant), quadrant)};
}

DoubleMath::ReducedAngle DoubleMath::reduceAngle(Value x) {
  Value isMedium = less(abs(x), number(largestForCodyWaite));
  Value limited = select(isMedium, x, number(0.0));
  Value multiple = round(mul(limited, number(2.0 / std::numbers::pi)));
  // pi/2 in 33, 33 and 53 bits: the first two products are exact.
  Value first = fma(multiple, number(-0x1.921fb544p+0), limited);
  Pair second = sum(first, mul(multiple, number(-0x1.0b4611a6p-34)));
  Value tail = fma(multiple, number(-0x1.3198a2e037073p-69), second.low);
  Pair rest = sum(second.high, tail);
  Value quadrant = toInteger(multiple);

  Value isFinite = less(abs(x), number(std::numeric_limits<double>::infinity()));
  Value isLarge = state.bitXor(isFinite, isMedium);
  SmallVector<Value> reduced = state.conditional(isLarge, {rest.high, rest.low, quadrant},
                                                 [&] { return reduceLargeAngle(x); });
  return {{reduced[0], reduced[1]}, reduced[2]};
}

/// Taylor's series to x^17 and x^18, 2^-62.
DoubleMath::SineAndCosine DoubleMath::sineAndCosine(const ReducedAngle &angle) {
  Value r = angle.rest.high, rest = angle.rest.low;
  Value square = mul(r, r);
  SmallVector<double> sines, cosines;
  double factorial = 1.0;
  for (int i = 1; i <= 9; ++i) {
    double sign = i % 2 ? -1.0 : 1.0;
    factorial *= 2 * i;
    if (i > 1)
      cosines.push_back(sign / factorial);
    factorial *= 2 * i + 1;
    if (i < 9)
      sines.push_back(sign / factorial);
  }
  std::reverse(sines.begin(), sines.end());
  std::reverse(cosines.begin(), cosines.end());
  Value half = mul(square, number(0.5));
  Value main = sub(number(1.0), half);
  // sin(r + rest) is sin(r) + rest cos(r), cos(r + rest) is cos(r) - rest sin(r).
  Value ofSine = fma(mul(square, r), polynomial(square, sines), mul(rest, main));
  Value lost = sub(sub(number(1.0), main), half);
  Value tail = fma(mul(square, square), polynomial(square, cosines), negate(mul(r, rest)));
  return {quickSum(r, ofSine), quickSum(main, add(lost, tail))};
}

/// sin(x + quadrants * pi/2).
Value DoubleMath::sinOrCos(Value x, unsigned quadrants) {
  ReducedAngle angle = reduceAngle(x);
  auto [sine, cosine] = sineAndCosine(angle);
  Value quadrant = state.add(angle.quadrant, state.constantI32(quadrants));
  auto has = [&](int64_t bit) {
    return state.compare(LLVM::ICmpPredicate::ne, state.bitAnd(quadrant, state.constantI32(bit)),
                         state.constantI32(0));
  };
  Value result = select(has(1), cosine.high, sine.high);
  result = select(has(2), negate(result), result);
  Value isFinite = less(abs(x), number(std::numeric_limits<double>::infinity()));
  return select(isFinite, result, number(std::numeric_limits<double>::quiet_NaN()));
}

/// x itself where it is small, which also keeps the sign of zero.
Value DoubleMath::sin(Value x) {
  return select(less(abs(x), number(std::ldexp(1.0, -27))), x, sinOrCos(x, 0));
}

Value DoubleMath::cos(Value x) { return sinOrCos(x, 1); }

Value DoubleMath::tan(Value x) {
  ReducedAngle angle = reduceAngle(x);
  auto [sine, cosine] = sineAndCosine(angle);
  Value isOdd =
      state.compare(LLVM::ICmpPredicate::ne, state.bitAnd(angle.quadrant, state.constantI32(1)),
                    state.constantI32(0));
  auto choose = [&](Value odd, Value even) { return select(isOdd, odd, even); };
  Pair above = {choose(negate(cosine.high), sine.high), choose(negate(cosine.low), sine.low)};
  Pair below = {choose(sine.high, cosine.high), choose(sine.low, cosine.low)};
  Value quotient = div(above.high, below.high);
  Value lost = add(fma(negate(quotient), below.high, above.high),
                   fma(negate(quotient), below.low, above.low));
  Value result = add(quotient, div(lost, below.high));
  Value isFinite = less(abs(x), number(std::numeric_limits<double>::infinity()));
  result = select(isFinite, result, number(std::numeric_limits<double>::quiet_NaN()));
  return select(less(abs(x), number(std::ldexp(1.0, -27))), x, result);
}

/// The arc tangent of the smaller over the larger magnitude, then the octant's part.
Value DoubleMath::arcTangent2(Value y, Value x) {
  Value zero = number(0.0), one = number(1.0);
  Value across = abs(x), up = abs(y);
  Value isSteep = less(across, up);
  Value smaller = select(isSteep, across, up), larger = select(isSteep, up, across);
  // Two infinities count as equal; sums of large numbers must not overflow.
  Value isInfinite = equal(smaller, number(std::numeric_limits<double>::infinity()));
  smaller = select(isInfinite, one, smaller);
  larger = select(isInfinite, one, larger);
  Value isHuge = less(number(std::ldexp(1.0, 1000)), larger);
  Value factor = select(isHuge, number(std::ldexp(1.0, -60)), one);
  smaller = mul(smaller, factor);
  larger = mul(larger, factor);

  // Above tan(pi/8): pi/4 and the arc tangent of (a - b) / (a + b).
  Value isUpper = less(mul(larger, number(std::numbers::sqrt2 - 1.0)), smaller);
  Pair difference = sum(smaller, negate(larger)), total = sum(larger, smaller);
  Value numerator = select(isUpper, difference.high, smaller);
  Value denominator = select(isUpper, total.high, larger);
  Value t = select(equal(denominator, zero), zero, div(numerator, denominator));
  // What the rounding of the quotient, and of its sum and difference, took away.
  Value lost = fma(negate(t), denominator, numerator);
  Value lostOfSums = fma(negate(t), total.low, difference.low);
  lost = div(select(isUpper, add(lost, lostOfSums), lost), denominator);
  Value square = mul(t, t);
  lost = div(lost, add(square, one));
  // An infinite or absent denominator leaves nothing.
  lost = select(less(abs(lost), one), lost, zero);
  // (atan(t) / t - 1) / t^2, 2^-55.
  Value series = polynomial(
      square, {0.011959071324893659, -0.0272742856329058, 0.037234098466430963,
               -0.04294262271088076, 0.0475462016563506, -0.05262453836792774, 0.058823046272648075,
               -0.06666664344156653, 0.07692307616247464, -0.09090909089290926, 0.11111111111090444,
               -0.1428571428571415, 0.19999999999999998, -0.3333333333333333});
  Value rest = fma(mul(square, t), series, lost);

  // The angle from a multiple of pi/4, in which direction.
  Value isLeft = state.compare(LLVM::ICmpPredicate::slt, state.bitcast(x, state.i64()),
                               state.constant(state.i64(), 0));
  Value eighths = select(isUpper, one, zero);
  eighths = select(isSteep, sub(number(2.0), eighths), eighths);
  eighths = select(isLeft, sub(number(4.0), eighths), eighths);
  Value turns = state.bitXor(isSteep, isLeft);
  t = select(turns, negate(t), t);
  rest = select(turns, negate(rest), rest);
  Value isThree = equal(eighths, number(3.0));
  Value high = select(isThree, number(0x1.2d97c7f3321d2p+1), mul(eighths, number(halfPiHigh / 2)));
  Value low = select(isThree, number(0x1.a79394c9e8a0ap-54), mul(eighths, number(halfPiLow / 2)));
  Pair angle = sum(high, t);
  Value result = add(angle.high, add(angle.low, add(rest, low)));
  result = copySign(result, y);
  return select(compare(LLVM::FCmpPredicate::uno, x, y), add(x, y), result);
}
