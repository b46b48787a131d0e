//===- Tables.h - The tables of this host instruction set -----------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_TABLES_H
#define WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_TABLES_H

#include "runtime/emulator/Instruction.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {

InstructionRows scalarAlu();
InstructionRows scalarFloat();
InstructionRows scalarControl();
InstructionRows scalarMemory();
InstructionRows scalarBarriers();
InstructionRows scalarTranscendental();
InstructionRows relativeMoves();
InstructionRows registerIndexing();
InstructionRows hardwareState();
InstructionRows vectorInteger();
InstructionRows vectorExtrema();
InstructionRows vectorFloat();
InstructionRows vectorHalf();
InstructionRows vectorDouble();
InstructionRows vectorCompare();
InstructionRows vectorConvert();
InstructionRows vectorConvertScaled();
InstructionRows vectorBytes();
InstructionRows packedMath();
InstructionRows crossLane();
InstructionRows ldsMemory();
InstructionRows ldsAtomics();
InstructionRows globalMemory();
InstructionRows globalAtomics();
InstructionRows scratchMemory();
InstructionRows bufferMemory();
InstructionRows typedBuffer();
InstructionRows matrix();
InstructionRows scaledMatrix();
InstructionRows sparseMatrix();
InstructionRows waveMatrix();

/// See LdsRaceCell.h and GlobalRaceCell.h.
checks::LdsRacePasses ldsRacePasses();
checks::GlobalRacePasses globalRacePasses();

/// Makes a table function's result from its array.
template <size_t n> constexpr InstructionRows rows(const Instruction (&table)[n]) {
  return {table, n};
}

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_TABLES_H
