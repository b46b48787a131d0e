//===- RegisterIndexing.cpp - VGPR indexing mode of gfx9 ------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/RegisterIndexing.h"

#include "runtime/emulator/Machine.h"

#include "llvm/ADT/StringRef.h"

namespace wavetile::device {

bool leavesCode(const Instruction &row) {
  return row.instructionClass == InstructionClass::Branch ||
         llvm::StringRef(row.names).starts_with("s_endpgm");
}

const char *refusalUnderRegisterIndexing(const Instruction &row, const Record &record) {
  if (leavesCode(row))
    return "in VGPR indexing mode, which must end before";
  bool isVector = row.instructionClass == InstructionClass::VectorAlu ||
                  row.instructionClass == InstructionClass::Transcendental ||
                  row.instructionClass == InstructionClass::Matrix;
  if (!isVector || row.shape == Shape::Control)
    return nullptr;
  constexpr uint16_t unclear =
      rowflag::accumulates | rowflag::literalSecond | rowflag::literalThird;
  constexpr uint32_t words = modifier::dpp | modifier::dpp8 | modifier::sdwa;
  bool isOfLanes = row.shape == Shape::Alu && row.prepared != nullptr;
  if (!isOfLanes || (row.flags & unclear) || (record.modifiers & words))
    return "in VGPR indexing mode";
  return nullptr;
}

} // namespace wavetile::device
