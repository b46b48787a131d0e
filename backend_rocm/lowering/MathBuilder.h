//===- MathBuilder.h - Functions of f32 from instructions -------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of f32 that math.* operations become, each within 2 ulp of the
// exact value (1 ulp where nothing else is said), for scalars and vectors alike.
// NaN gives NaN, and signed zeros and infinities are as in C. `approximate`
// allows the approximate exp2, log2, rsqrt and sqrt instructions and reciprocals
// for division: exp2 and log2 then flush denormals.
//
// Coefficients are minimax fits of ours (Lawson's iteration in double precision,
// or interpolation at Chebyshev's points in 60 digits, rounded to f32); beside
// each stands the error of the polynomial by itself.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_BACKEND_ROCM_LOWERING_MATHBUILDER_H
#define WAVETILE_BACKEND_ROCM_LOWERING_MATHBUILDER_H

#include "backend_rocm/lowering/Lowering.h"

namespace wavetile::rocm {

class MathBuilder {
public:
  using Value = mlir::Value;

  MathBuilder(Lowering &state, mlir::Type type, bool approximate)
      : state(state), type(type), approximate(approximate) {}

  //===--- Functions ------------------------------------------------------===//

  Value exp(Value x);
  Value exp2(Value x);
  Value expMinusOne(Value x);
  Value log(Value x);
  Value log2(Value x);
  Value log10(Value x);
  Value logOnePlus(Value x);
  Value sqrt(Value x);
  Value rsqrt(Value x);
  Value tanh(Value x);
  Value erf(Value x);
  Value sin(Value x);
  Value cos(Value x);

private:
  Value number(double value) { return state.constantFloat(type, value); }
  Value add(Value a, Value b) { return binary<mlir::LLVM::FAddOp>(a, b); }
  Value sub(Value a, Value b) { return binary<mlir::LLVM::FSubOp>(a, b); }
  Value mul(Value a, Value b) { return binary<mlir::LLVM::FMulOp>(a, b); }
  Value fma(Value a, Value b, Value c) {
    return mlir::LLVM::FMAOp::create(state.builder, state.loc, a, b, c);
  }
  Value abs(Value a) { return mlir::LLVM::FAbsOp::create(state.builder, state.loc, a); }
  Value negate(Value a) { return mlir::LLVM::FNegOp::create(state.builder, state.loc, a); }
  Value copySign(Value a, Value sign) {
    return mlir::LLVM::CopySignOp::create(state.builder, state.loc, a, sign);
  }
  /// False if either is NaN.
  Value less(Value a, Value b) {
    return mlir::LLVM::FCmpOp::create(state.builder, state.loc, mlir::LLVM::FCmpPredicate::olt, a,
                                      b);
  }
  Value polynomial(Value x, llvm::ArrayRef<double> highestFirst);
  Value reciprocal(Value x) { return instruction("llvm.amdgcn.rcp.f32", x); }
  Value divide(Value a, Value b) {
    return approximate ? mul(a, reciprocal(b)) : binary<mlir::LLVM::FDivOp>(a, b);
  }
  /// v_exp_f32: 2^x within 1 ulp, denormals flushed.
  Value exp2Instruction(Value x) { return instruction("llvm.amdgcn.exp2.f32", x); }
  /// An AMDGPU instruction, element by element.
  Value instruction(llvm::StringRef name, Value x);
  /// LLVM's generic intrinsic, which it expands within 1 ulp.
  Value expanded(llvm::StringRef name, Value x) { return state.intrinsic(name, type, x); }

  /// x as a multiple of pi/2, whose last two bits are `quadrant`, and a rest of at most pi/4.
  struct Reduced {
    Value rest, quadrant;
  };
  Reduced reduceAngle(Value x);
  Value sinOrCos(Value x, unsigned quadrants);

  template <typename Op> Value binary(Value a, Value b) {
    return Op::create(state.builder, state.loc, a, b, mlir::LLVM::FastmathFlags::contract);
  }

  Lowering &state;
  mlir::Type type;
  bool approximate;
};

} // namespace wavetile::rocm

#endif // WAVETILE_BACKEND_ROCM_LOWERING_MATHBUILDER_H
