//===- ScalarTranscendental.cpp - Transcendentals of scalars (gfx12) ------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// v_s_exp_f32 and its like: VOP3 instructions of the transcendental unit with one scalar source and
// a scalar result. EXEC does not matter.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/instructions/Lanes.h"
#include "runtime/emulator/instructions/Tables.h"
#include "runtime/emulator/instructions/Transcendental.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace {

/// neg, abs, op_sel, omod and clamp are applied as to lane 0 of a vector instruction. An f16 result
/// clears the high half.
template <typename T, typename Op> struct ScalarTranscendental {
  static constexpr Signature vectorSignature{T::type, {T::type}, false};

  static const Record *execute(Wave &wave, const Record *record) {
    PreparedOperands operands;
    prepareOperands(wave, record, vectorSignature, operands);
    auto value = Op{}(T::load(operands.sources[0], 0, wave.waveSize));
    T::store(operands.result, 0, wave.waveSize, ~0u, 0, value);
    modifyOutput(wave, record->modifiers, T::type, operands.result);
    wave.scalars[record->destination.index()] = operands.result[0];
    return record + 1;
  }
};
template <typename T, typename Op>
constexpr Instruction scalarTranscendental(const char *name, Op) {
  Instruction row;
  row.names = name;
  row.direct = ScalarTranscendental<T, Op>::execute;
  row.signature = {Type::ScalarB32, {T::type}, false};
  row.flags = rowflag::ownModifiers;
  row.instructionClass = InstructionClass::Transcendental;
  return row.within(1);
}

constexpr Instruction table[] = {
    scalarTranscendental<F32>("v_s_exp_f32", [](float a) { return exp2Float(a); }),
    scalarTranscendental<F32>("v_s_log_f32", [](float a) { return log2Float(a); }),
    scalarTranscendental<F32>("v_s_rcp_f32", [](float a) { return reciprocal(a); }),
    scalarTranscendental<F32>("v_s_rsq_f32", [](float a) { return reciprocalSquareRoot(a); }),
    scalarTranscendental<F32>("v_s_sqrt_f32", [](float a) { return squareRoot(a); }),
    scalarTranscendental<F16>("v_s_exp_f16", [](float a) { return exp2Float(a); }),
    scalarTranscendental<F16>("v_s_log_f16", [](float a) { return log2Float(a); }),
    scalarTranscendental<F16>("v_s_rcp_f16", [](float a) { return resultOr(1.0f / a, a); }),
    scalarTranscendental<F16>("v_s_rsq_f16", [](float a) { return reciprocalSquareRoot(a); }),
    scalarTranscendental<F16>("v_s_sqrt_f16", [](float a) { return squareRoot(a); }),
};

} // namespace

InstructionRows scalarTranscendental() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
