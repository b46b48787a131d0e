//===- DoubleMath.h - Functions of f64 from arithmetic ----------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of f64 that math.* operations become, each within 2 ulp of the
// exact value, for scalars. NaN gives NaN, and signed zeros and infinities are as
// in C. f32 functions without an expansion of their own are computed here and
// rounded once.
//
// Series are those of Taylor, cut where they do not count, or fits at Chebyshev's
// points in 60 digits; beside each stands the error of the polynomial by itself.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_BACKEND_ROCM_LOWERING_DOUBLEMATH_H
#define WAVETILE_BACKEND_ROCM_LOWERING_DOUBLEMATH_H

#include "backend_rocm/lowering/Lowering.h"

namespace wavetile::rocm {

class DoubleMath {
public:
  using Value = mlir::Value;

  explicit DoubleMath(Lowering &state) : state(state) {}

  //===--- Functions ------------------------------------------------------===//

  Value exp(Value x);
  Value exp2(Value x);
  Value expMinusOne(Value x);
  Value log(Value x) { return logarithm(x, Base::E); }
  Value log2(Value x) { return logarithm(x, Base::Two); }
  Value log10(Value x) { return logarithm(x, Base::Ten); }
  Value logOnePlus(Value x);
  Value sqrt(Value x) { return intrinsic("llvm.sqrt", x); }
  Value rsqrt(Value x) { return div(number(1.0), sqrt(x)); }
  Value sinh(Value x);
  Value cosh(Value x);
  Value tanh(Value x);
  Value erf(Value x);
  Value sin(Value x);
  Value cos(Value x);
  Value tan(Value x);
  Value arcTangent2(Value y, Value x);
  /// x^y as C's pow. `extraBits`: the logarithm in double-double, for a result of f64; without,
  /// it is right to more than f32's bits.
  Value power(Value x, Value y, bool extraBits);

private:
  enum class Base { E, Two, Ten };

  /// The sum of two numbers of which the second is beyond the last bit of the first.
  struct Pair {
    Value high, low;
  };

  //===--- Emitting -------------------------------------------------------===//

  mlir::Type f64() { return state.builder.getF64Type(); }
  Value number(double value) { return state.constantFloat(f64(), value); }
  Value add(Value a, Value b) { return binary<mlir::LLVM::FAddOp>(a, b); }
  Value sub(Value a, Value b) { return binary<mlir::LLVM::FSubOp>(a, b); }
  Value mul(Value a, Value b) { return binary<mlir::LLVM::FMulOp>(a, b); }
  Value div(Value a, Value b) { return binary<mlir::LLVM::FDivOp>(a, b); }
  Value fma(Value a, Value b, Value c) {
    return mlir::LLVM::FMAOp::create(state.builder, state.loc, a, b, c);
  }
  Value abs(Value a) { return mlir::LLVM::FAbsOp::create(state.builder, state.loc, a); }
  Value negate(Value a) { return mlir::LLVM::FNegOp::create(state.builder, state.loc, a); }
  Value copySign(Value a, Value sign) {
    return mlir::LLVM::CopySignOp::create(state.builder, state.loc, a, sign);
  }
  Value round(Value a) { return intrinsic("llvm.roundeven", a); }
  Value truncate(Value a) { return intrinsic("llvm.trunc", a); }
  Value compare(mlir::LLVM::FCmpPredicate predicate, Value a, Value b) {
    return mlir::LLVM::FCmpOp::create(state.builder, state.loc, predicate, a, b);
  }
  /// These are false if either is NaN.
  Value less(Value a, Value b) { return compare(mlir::LLVM::FCmpPredicate::olt, a, b); }
  Value equal(Value a, Value b) { return compare(mlir::LLVM::FCmpPredicate::oeq, a, b); }
  Value isNan(Value a) { return compare(mlir::LLVM::FCmpPredicate::uno, a, a); }
  Value select(Value condition, Value a, Value b) { return state.select(condition, a, b); }
  Value intrinsic(llvm::StringRef name, Value a) { return state.intrinsic(name, f64(), a); }
  Value toInteger(Value a) {
    return mlir::LLVM::FPToSIOp::create(state.builder, state.loc, state.i32(), a);
  }
  /// a * 2^exponent, for an exponent that is a whole number of f64.
  Value scale(Value a, Value exponent) {
    return state.intrinsic("llvm.ldexp", f64(), {a, toInteger(exponent)});
  }
  Value polynomial(Value x, llvm::ArrayRef<double> highestFirst);

  template <typename Op> Value binary(Value a, Value b) {
    return Op::create(state.builder, state.loc, a, b, mlir::LLVM::FastmathFlags::none);
  }

  //===--- Pairs ----------------------------------------------------------===//

  Pair sum(Value a, Value b);
  Pair quickSum(Value a, Value b);
  Pair product(Value a, Value b);
  Pair add(Pair a, Pair b);
  Pair multiply(Pair a, Pair b);

  //===--- Exponentials and logarithms ------------------------------------===//

  /// x as power * ln 2 + rest, |rest| at most ln(2) / 2.
  struct ReducedExponent {
    Value power, rest;
  };
  ReducedExponent reduceExponent(Value x);
  /// (e^r - 1 - r) / r^2 for |r| at most 0.35.
  Value exponentialSeries(Value r);
  /// e^x / 2 of a number that is not negative, a fifth of a unit from it.
  Pair halfExponential(Value x);
  /// A positive number as mantissa * 2^exponent, the mantissa from sqrt(1/2) to sqrt(2).
  struct Decomposed {
    Value mantissa, exponent;
  };
  Decomposed decompose(Value x);
  Value logarithm(Value x, Base base);
  Pair logarithmPair(Value x);

  //===--- Trigonometric --------------------------------------------------===//

  /// x as a multiple of pi/2, whose last two bits are `quadrant` (i32), and a rest.
  struct ReducedAngle {
    Pair rest;
    Value quadrant;
  };
  ReducedAngle reduceAngle(Value x);
  llvm::SmallVector<Value> reduceLargeAngle(Value x);
  struct SineAndCosine {
    Pair sine, cosine;
  };
  SineAndCosine sineAndCosine(const ReducedAngle &angle);
  Value sinOrCos(Value x, unsigned quadrants);

  Lowering &state;
};

} // namespace wavetile::rocm

#endif // WAVETILE_BACKEND_ROCM_LOWERING_DOUBLEMATH_H
