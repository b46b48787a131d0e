//===- Matrix.cpp - Matrix instructions (CDNA) ----------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/instructions/Float.h"
#include "runtime/emulator/instructions/LaneMemory.h"
#include "runtime/emulator/instructions/Tables.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace {

/// Moves between VGPRs and AGPRs; EXEC applies.
const Record *moveAccumulator(Wave &wave, const Record *record) {
  const uint32_t *active = wave.activeRow();
  uint32_t *target = wave.row(record->destination);
  Operand source = record->sources[0];
  if (source.kind() == OperandKind::Scalar) {
    uint32_t value = wave.read32(source);
    for (unsigned lane = 0; lane < wave.waveSize; ++lane)
      target[lane] = active[lane] ? value : target[lane];
    return record + 1;
  }
  const uint32_t *from = wave.row(source);
  for (unsigned lane = 0; lane < wave.waveSize; ++lane)
    target[lane] = active[lane] ? from[lane] : target[lane];
  return record + 1;
}

constexpr Instruction accumulatorMove(const char *names, matrixvariant::Move move) {
  Instruction row = memory(names, Shape::Matrix, InstructionClass::VectorAlu, moveAccumulator);
  row.variant = move;
  row.signature = {Type::B32, {Type::B32}, false};
  return row;
}

constexpr Instruction table[] = {
    accumulatorMove("v_accvgpr_read_b32", matrixvariant::Read),
    accumulatorMove("v_accvgpr_write_b32", matrixvariant::Write),
    accumulatorMove("v_accvgpr_mov_b32", matrixvariant::Copy),
};

} // namespace

InstructionRows matrix() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
