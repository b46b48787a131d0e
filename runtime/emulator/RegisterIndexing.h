//===- RegisterIndexing.h - VGPR indexing mode of gfx9 --------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_REGISTERINDEXING_H
#define WAVETILE_RUNTIME_EMULATOR_REGISTERINDEXING_H

#include "runtime/emulator/Instruction.h"
#include "runtime/emulator/Record.h"

namespace wavetile::device {

/// The bits of M0 that are the index, and that name the operands.
inline constexpr uint32_t registerIndexBits = 0xff, registerIndexOperands = 0xf000;

/// Adds M0's index to the vector operands of \p record that M0 names. A source beyond the last
/// register is v0. False: the destination is beyond it, and nothing is written.
__attribute__((always_inline)) inline bool applyRegisterIndexing(uint32_t m0, Record &record) {
  uint32_t index = m0 & 0xff;
  auto isArchitectural = [](Operand operand) {
    return operand.kind() == OperandKind::Vector && operand.index() < firstAccumulationRow;
  };
  for (unsigned i = 0; i < 3; ++i)
    if (Operand &source = record.sources[i]; m0 >> (12 + i) & 1 && isArchitectural(source)) {
      uint32_t moved = source.index() + index;
      source = Operand(OperandKind::Vector, moved < firstAccumulationRow ? moved : 0);
    }
  if (!(m0 >> 15 & 1) || !isArchitectural(record.destination))
    return true;
  uint32_t moved = record.destination.index() + index;
  record.destination = Operand(OperandKind::Vector, moved);
  return moved < firstAccumulationRow;
}

/// Whether execution goes on elsewhere, or not at all: the mode must have ended before.
bool leavesCode(const Instruction &row);

/// Why an instruction cannot stand where the mode is on, or null.
const char *refusalUnderRegisterIndexing(const Instruction &row, const Record &record);

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_REGISTERINDEXING_H
