//===- DoubleMath.cpp - Exponentials, logarithms, powers of f64 -*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/lowering/DoubleMath.h"

#include <cmath>
#include <limits>
#include <numbers>

using namespace mlir;
using namespace wavetile;
using namespace wavetile::rocm;

static constexpr double infinity = std::numeric_limits<double>::infinity();
static constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

Value DoubleMath::polynomial(Value x, ArrayRef<double> highestFirst) {
  Value result = number(highestFirst.front());
  for (double coefficient : highestFirst.drop_front())
    result = fma(result, x, number(coefficient));
  return result;
}

//===----------------------------------------------------------------------===//
// Pairs (T. J. Dekker, "A Floating-Point Technique for Extending the Available
// Precision", 1971; D. E. Knuth, TAOCP volume 2, 4.2.2)
//===----------------------------------------------------------------------===//

DoubleMath::Pair DoubleMath::sum(Value a, Value b) {
  Value high = add(a, b), bPart = sub(high, a);
  Value aLost = sub(a, sub(high, bPart)), bLost = sub(b, bPart);
  return {high, add(aLost, bLost)};
}

/// |a| is not below |b|.
DoubleMath::Pair DoubleMath::quickSum(Value a, Value b) {
  Value high = add(a, b);
  return {high, sub(b, sub(high, a))};
}

DoubleMath::Pair DoubleMath::product(Value a, Value b) {
  Value high = mul(a, b);
  return {high, fma(a, b, negate(high))};
}

DoubleMath::Pair DoubleMath::add(Pair a, Pair b) {
  Pair high = sum(a.high, b.high);
  return quickSum(high.high, add(high.low, add(a.low, b.low)));
}

DoubleMath::Pair DoubleMath::multiply(Pair a, Pair b) {
  Pair high = product(a.high, b.high);
  return quickSum(high.high, add(high.low, fma(a.high, b.low, mul(a.low, b.high))));
}

//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

static constexpr double ln2High = 0x1.62e42fefa39efp-1, ln2Low = 0x1.abc9e3b39803fp-56;

DoubleMath::ReducedExponent DoubleMath::reduceExponent(Value x) {
  // Beyond these e^x is zero or infinite, times any small power of two.
  Value low = state.intrinsic("llvm.maxnum", f64(), {x, number(-1100.0)});
  Value limited = state.intrinsic("llvm.minnum", f64(), {low, number(1100.0)});
  Value power = round(mul(limited, number(std::numbers::log2e)));
  Value rest = fma(power, number(-ln2High), limited);
  return {power, fma(power, number(-ln2Low), rest)};
}

/// Taylor's series to r^13, 2^-60.
Value DoubleMath::exponentialSeries(Value r) {
  SmallVector<double> coefficients;
  double factorial = 1.0;
  for (unsigned i = 2; i <= 13; ++i)
    coefficients.push_back(1.0 / (factorial *= i));
  std::reverse(coefficients.begin(), coefficients.end());
  return polynomial(r, coefficients);
}

Value DoubleMath::exp(Value x) {
  ReducedExponent reduced = reduceExponent(x);
  Value r = reduced.rest;
  Value mantissa = add(fma(mul(r, r), exponentialSeries(r), r), number(1.0));
  return select(isNan(x), x, scale(mantissa, reduced.power));
}

DoubleMath::Pair DoubleMath::halfExponential(Value x) {
  // Beyond this the half is infinite, and the rest must not be.
  ReducedExponent reduced =
      reduceExponent(state.intrinsic("llvm.minnum", f64(), {x, number(720.0)}));
  Value r = reduced.rest;
  Pair mantissa = quickSum(number(1.0), fma(mul(r, r), exponentialSeries(r), r));
  Value power = sub(reduced.power, number(1.0));
  return {scale(mantissa.high, power), scale(mantissa.low, power)};
}

Value DoubleMath::exp2(Value x) {
  Value low = state.intrinsic("llvm.maxnum", f64(), {x, number(-1100.0)});
  Value limited = state.intrinsic("llvm.minnum", f64(), {low, number(1100.0)});
  Value power = round(limited);
  Value rest = sub(limited, power);
  Value r = mul(rest, number(ln2High));
  Value lost = fma(rest, number(ln2High), negate(r));
  Value tail = fma(rest, number(ln2Low), lost);
  Value mantissa = add(add(fma(mul(r, r), exponentialSeries(r), tail), r), number(1.0));
  return select(isNan(x), x, scale(mantissa, power));
}

/// e^x - 1 = 2^k (e^r - 1) + (2^k - 1), halved on the way so that 2^1024 does not occur.
Value DoubleMath::expMinusOne(Value x) {
  ReducedExponent reduced = reduceExponent(x);
  Value r = reduced.rest;
  Value small = fma(mul(r, r), exponentialSeries(r), r);
  Value half = scale(number(0.5), reduced.power);
  Value result = mul(number(2.0), fma(half, small, sub(half, number(0.5))));
  result = select(less(number(709.79), x), number(infinity), result);
  // Also keeps NaN and the sign of zero.
  Value isLarge = less(number(std::ldexp(1.0, -54)), abs(x));
  return select(isLarge, result, x);
}

Value DoubleMath::sinh(Value x) {
  Value magnitude = abs(x);
  Value square = mul(magnitude, magnitude);
  // Taylor's series to x^19, 2^-65 where |x| is at most 1.
  SmallVector<double> coefficients;
  double factorial = 1.0;
  for (unsigned i = 1; i <= 9; ++i)
    coefficients.push_back(1.0 / (factorial *= 2 * i * (2 * i + 1)));
  std::reverse(coefficients.begin(), coefficients.end());
  Value small = fma(mul(square, magnitude), polynomial(square, coefficients), magnitude);
  Pair half = halfExponential(magnitude);
  Value large = sub(half.high, sub(div(number(0.25), half.high), half.low));
  Value result = select(less(magnitude, number(1.0)), small, large);
  return select(isNan(x), x, copySign(result, x));
}

Value DoubleMath::cosh(Value x) {
  Pair half = halfExponential(abs(x));
  Value result = add(half.high, add(div(number(0.25), half.high), half.low));
  return select(isNan(x), x, result);
}

Value DoubleMath::tanh(Value x) {
  Value magnitude = abs(x);
  Value square = mul(magnitude, magnitude);
  // (tanh(x) / x - 1) / x^2 for |x| up to 0.55, 2^-55.
  Value series =
      polynomial(square, {7.699240273486385e-06, -3.343780897917233e-05, 9.435416001508397e-05,
                          -0.00023839526860492476, 0.000589886450880938, -0.0014558161598085763,
                          0.0035921264768797685, -0.008863235444980844, 0.021869488533419693,
                          -0.05396825396820835, 0.13333333333333303, -0.3333333333333333});
  Value small = fma(mul(square, magnitude), series, magnitude);
  // 1 - 2 / (e^2x + 1), of which the second term is the smaller one.
  Value power = exp(mul(number(2.0), magnitude));
  Value large = sub(number(1.0), div(number(2.0), add(power, number(1.0))));
  Value result = select(less(magnitude, number(0.55)), small, large);
  return select(isNan(x), x, copySign(result, x));
}

//===----------------------------------------------------------------------===//
// Logarithms
//===----------------------------------------------------------------------===//

DoubleMath::Decomposed DoubleMath::decompose(Value x) {
  Value isSmall = less(x, number(std::numeric_limits<double>::min()));
  Value normal = select(isSmall, mul(x, number(std::ldexp(1.0, 54))), x);
  Value bits = state.bitcast(normal, state.i64());
  // From sqrt(1/2) on the exponent counts up.
  auto i64 = [&](uint64_t value) { return state.constant(state.i64(), int64_t(value)); };
  Value above = state.sub(bits, i64(0x3fe6a09e667f3bcd));
  Value exponent = LLVM::AShrOp::create(state.builder, state.loc, above, i64(52));
  Value shifted = LLVM::ShlOp::create(state.builder, state.loc, exponent, i64(52));
  Value mantissa = state.bitcast(state.sub(bits, shifted), f64());
  Value small = LLVM::TruncOp::create(state.builder, state.loc, state.i32(), exponent);
  Value power = LLVM::SIToFPOp::create(state.builder, state.loc, f64(), small);
  return {mantissa, select(isSmall, sub(power, number(54.0)), power)};
}

/// log(m) = f - (f^2/2 - s (f^2/2 + R)) for m = 1 + f, s = f / (2 + f), where R is the series of
/// log((1 + s) / (1 - s)) / s without its first term.
Value DoubleMath::logarithm(Value x, Base base) {
  auto [mantissa, exponent] = decompose(x);
  Value f = sub(mantissa, number(1.0));
  Value s = div(f, add(f, number(2.0)));
  Value square = mul(s, s);
  SmallVector<double> coefficients; // 2^-60: |s| is at most 0.1716
  for (unsigned i = 11; i >= 1; --i)
    coefficients.push_back(2.0 / (2 * i + 1));
  Value series = mul(square, polynomial(square, coefficients));
  Value half = mul(number(0.5), mul(f, f));
  Value tail = mul(s, add(half, series));
  Value result;
  if (base == Base::E) {
    Value low = fma(exponent, number(ln2Low), tail);
    Value rest = sub(sub(half, low), f);
    result = fma(exponent, number(ln2High), negate(rest));
  } else {
    // log(m) in two parts, of which the first has few bits, times the factor in two.
    Value mask = state.constant(state.i64(), int64_t(0xffffffff00000000));
    Value high = state.bitcast(state.bitAnd(state.bitcast(sub(f, half), state.i64()), mask), f64());
    Value low = add(sub(sub(f, high), half), tail);
    bool two = base == Base::Two;
    double factor = two ? std::numbers::log2e : std::numbers::log10e;
    double factorHigh =
        llvm::bit_cast<double>(llvm::bit_cast<uint64_t>(factor) & 0xffffffff00000000);
    // The rest of the factor, to a double's precision.
    double factorLow =
        (factor - factorHigh) + (two ? 0x1.777d0ffda0d24p-56 : 0x1.95355baaafad3p-57);
    Value product = mul(high, number(factorHigh));
    Value rest = fma(low, number(factor), mul(high, number(factorLow)));
    if (two) {
      Pair total = sum(exponent, product);
      result = add(total.high, add(total.low, rest));
    } else {
      constexpr double log10Of2High = 0x1.34413509f7p-2, log10Of2Low = 0x1.3fde623e2566bp-43;
      Pair total = sum(mul(exponent, number(log10Of2High)), product);
      rest = fma(exponent, number(log10Of2Low), rest);
      result = add(total.high, add(total.low, rest));
    }
  }
  result = select(less(x, number(infinity)), result, x); // infinity and NaN as they are
  result = select(less(x, number(0.0)), number(notANumber), result);
  return select(equal(x, number(0.0)), number(-infinity), result);
}

/// log(1 + x) = log(u) + (1 + x - u) / u with u = 1 + x rounded.
Value DoubleMath::logOnePlus(Value x) {
  Value one = number(1.0);
  Pair u = sum(one, x);
  Value logarithm = log(u.high);
  Value corrected = add(logarithm, div(u.low, u.high));
  // Also false if u is zero or infinite and what is lost NaN.
  Value isInexact = less(number(0.0), mul(abs(u.low), abs(u.high)));
  Value result = select(isInexact, corrected, logarithm);
  Value isTiny = less(abs(x), number(std::ldexp(1.0, -54)));
  return select(isTiny, x, result);
}

/// The logarithm of a positive finite number, 2^-64 of it.
DoubleMath::Pair DoubleMath::logarithmPair(Value x) {
  auto [mantissa, exponent] = decompose(x);
  Value f = sub(mantissa, number(1.0));
  // s = f / (2 + f) and what its rounding took away.
  Pair divisor = quickSum(number(2.0), f);
  Value s = div(f, divisor.high);
  Value rest = fma(negate(s), divisor.high, f);
  rest = fma(negate(s), divisor.low, rest);
  Pair quotient = {s, div(rest, divisor.high)};
  Pair square = multiply(quotient, quotient);
  // 2 s + 2/3 s^3 as pairs, the rest of the series as numbers.
  Pair third = {number(0x1.5555555555555p-1), number(0x1.5555555555555p-55)};
  SmallVector<double> coefficients;
  for (unsigned i = 13; i >= 2; --i)
    coefficients.push_back(2.0 / (2 * i + 1));
  Value series = mul(square.high, polynomial(square.high, coefficients));
  Pair factor = add(third, Pair{series, number(0.0)});
  Pair cubic = multiply(multiply(quotient, square), factor);
  Pair twice = {add(quotient.high, quotient.high), add(quotient.low, quotient.low)};
  Pair ofMantissa = add(twice, cubic);
  Pair ofExponent = product(exponent, number(ln2High));
  ofExponent.low = fma(exponent, number(ln2Low), ofExponent.low);
  return add(ofExponent, ofMantissa);
}

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

/// |x|^y = exp(y log|x|), then what C says of signs, zeros, infinities and NaN.
Value DoubleMath::power(Value x, Value y, bool extraBits) {
  Value zero = number(0.0), one = number(1.0), inf = number(infinity);
  Value magnitude = abs(x);
  Value result;
  if (extraBits) {
    Pair logarithm = logarithmPair(magnitude);
    // No power of a double but 1 has an exponent near 2^-1000, nor a result beyond it.
    Value limit = number(std::ldexp(1.0, 200));
    Value bounded = state.intrinsic("llvm.minnum", f64(), {abs(y), limit});
    bounded = copySign(bounded, y);
    Pair exponent = product(bounded, logarithm.high);
    Value low = fma(bounded, logarithm.low, exponent.low);
    ReducedExponent reduced = reduceExponent(exponent.high);
    // What the limits of the exponent cut off leaves no room for a rest.
    Value inside = less(abs(exponent.high), number(1100.0));
    Value r = add(reduced.rest, select(inside, low, zero));
    Value mantissa = add(fma(mul(r, r), exponentialSeries(r), r), one);
    result = scale(mantissa, reduced.power);
  } else {
    result = exp(mul(y, log(magnitude)));
  }

  Value isZero = equal(magnitude, zero), isInfinite = equal(magnitude, inf);
  Value isNegativePower = less(y, zero);
  result = select(isZero, select(isNegativePower, inf, zero), result);
  result = select(isInfinite, select(isNegativePower, zero, inf), result);
  // An infinite power.
  Value grows = state.bitXor(less(one, magnitude), isNegativePower);
  Value isInfinitePower = equal(abs(y), inf);
  result = select(isInfinitePower, select(grows, inf, zero), result);
  result = select(state.bitAnd(isInfinitePower, equal(magnitude, one)), one, result);
  // Negative numbers: only whole powers, and odd ones are negative.
  Value isNegative = state.compare(LLVM::ICmpPredicate::slt, state.bitcast(x, state.i64()),
                                   state.constant(state.i64(), 0));
  Value isWhole = equal(y, truncate(y));
  Value half = mul(y, number(0.5));
  Value isOdd = state.bitAnd(isWhole, compare(LLVM::FCmpPredicate::one, half, truncate(half)));
  result = select(state.bitAnd(isNegative, isOdd), negate(result), result);
  Value notWhole = state.bitXor(isWhole, state.constant(state.i1(), 1));
  Value hasNone = state.bitAnd(less(x, zero), state.bitAnd(notWhole, less(magnitude, inf)));
  result = select(hasNone, number(notANumber), result);
  result = select(isNan(x), x, result);
  result = select(isNan(y), y, result);
  Value isOne = state.bitOr(equal(x, one), equal(y, zero));
  return select(isOne, one, result);
}

//===----------------------------------------------------------------------===//
// The error function
//===----------------------------------------------------------------------===//

Value DoubleMath::erf(Value x) {
  Value magnitude = abs(x);
  Value square = mul(magnitude, magnitude);
  // erf(x) / x - 1 for |x| up to 1, 2^-56.
  Value series =
      polynomial(square, {2.806712819559797e-13, -6.196736428786736e-12, 9.323723518152713e-11,
                          -1.2277734486795464e-09, 1.4806027146128743e-08, -1.636576864883207e-07,
                          1.6462110782018636e-06, -1.4925650236967501e-05, 0.00012055332978879483,
                          -0.0008548327023403001, 0.005223977625441674, -0.026866170645131218,
                          0.11283791670955126, -0.37612638903183754, 0.1283791670955126});
  Value small = fma(series, magnitude, magnitude);
  // exp(x^2) (1 - erf(x)) in (x - 3) / (x + 3) from 1 to 6, 2^-56.
  Value limited = state.intrinsic("llvm.minnum", f64(), {magnitude, number(6.0)});
  Value place = div(sub(limited, number(3.0)), add(limited, number(3.0)));
  Value scaled =
      polynomial(place, {-2.5925894581233316e-08, -2.389387463474792e-07, -2.7269500546476834e-07,
                         1.2598817267482604e-06, 2.1169509641489688e-06, -7.979817704348727e-06,
                         -1.2860318447907675e-05, 6.405673342206844e-05, 4.5255298034073955e-05,
                         -0.0005970619586158305, 0.0007077464385177353, 0.004269136333148302,
                         -0.024392499318655416, 0.07166583719797347, -0.15011593650077742,
                         0.2456038017123309, -0.3262335600430372, 0.17900115118138996});
  Value rest = mul(scaled, exp(negate(mul(limited, limited))));
  Value large = sub(number(1.0), rest);
  Value result = copySign(select(less(magnitude, number(1.0)), small, large), x);
  return select(isNan(x), x, result);
}
