//===- Tables.cpp - The tables of this host instruction set ---------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/instructions/Tables.h"

#include "runtime/emulator/instructions/Lanes.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {

const InstructionTables &tables() {
  static const InstructionRows all[] = {
      scalarAlu(),
      scalarFloat(),
      scalarControl(),
      scalarMemory(),
      vectorInteger(),
      vectorFloat(),
      vectorHalf(),
      vectorDouble(),
      vectorCompare(),
      vectorConvert(),
      packedMath(),
      crossLane(),
      ldsMemory(),
      ldsAtomics(),
      globalMemory(),
      globalAtomics(),
      scratchMemory(),
      bufferMemory(),
      typedBuffer(),
      matrix(),
      scaledMatrix(),
      sparseMatrix(),
      waveMatrix(),
      scalarBarriers(),
      scalarTranscendental(),
      relativeMoves(),
      registerIndexing(),
      hardwareState(),
      vectorExtrema(),
      vectorConvertScaled(),
      vectorBytes(),
  };
#define WAVETILE_QUOTE_(x) #x
#define WAVETILE_QUOTE(x) WAVETILE_QUOTE_(x)
  static const InstructionTables result = {all,
                                           sizeof(all) / sizeof(all[0]),
                                           WAVETILE_QUOTE(WAVETILE_HOST_ISA),
                                           prepareOperands,
                                           finishResult,
                                           ldsRacePasses(),
                                           globalRacePasses()};
  return result;
}

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
