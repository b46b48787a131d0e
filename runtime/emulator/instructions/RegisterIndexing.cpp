//===- RegisterIndexing.cpp - VGPR indexing mode of gfx9 ------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between s_set_gpr_idx_on and s_set_gpr_idx_off M0[7:0] is added to the numbers of the vector
// registers that M0[15:12] names: sources 0, 1 and 2, and the destination. Where the mode is on is
// known when code is decoded, for there is no branch in between: the decoder puts a record of
// `indexed` before each vector instruction there, which executes a copy of it with other operands.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/RegisterIndexing.h"

#include "runtime/emulator/Machine.h"
#include "runtime/emulator/instructions/Scalars.h"
#include "runtime/emulator/instructions/Tables.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
using namespace scalarops;
namespace {

void setIndex(Wave &wave, uint32_t index) {
  uint32_t &m0 = wave.scalars[scalar::M0];
  m0 = (m0 & ~0xffu) | (index & 0xff);
}
void setOperands(Wave &wave, uint32_t operands) {
  uint32_t &m0 = wave.scalars[scalar::M0];
  m0 = (m0 & ~0xf000u) | (operands & 15) << 12;
}
const Record *switchOn(Wave &wave, const Record *record) {
  setIndex(wave, wave.read32(record->sources[0]));
  setOperands(wave, record->immediate);
  wave.mode.bits |= Mode::registerIndexingBit;
  return record + 1;
}
const Record *switchOff(Wave &wave, const Record *record) {
  wave.mode.bits &= ~Mode::registerIndexingBit;
  return record + 1;
}
const Record *chooseIndex(Wave &wave, const Record *record) {
  setIndex(wave, wave.read32(record->sources[0]));
  return record + 1;
}
const Record *chooseOperands(Wave &wave, const Record *record) {
  setOperands(wave, record->immediate);
  return record + 1;
}

const Record *indexed(Wave &wave, const Record *record) {
  // The second one is where the first one's handler says to go on.
  Record copy[2] = {record[1], {}};
  if (!applyRegisterIndexing(wave.scalars[scalar::M0], copy[0]))
    return record + 2;
  copy[0].execute(wave, copy);
  return record + 2;
}

constexpr Signature use32{Type::None, {Type::B32}, false};

constexpr Instruction control(const char *names, Handler handler, InstructionClass c) {
  Instruction row;
  row.names = names;
  row.direct = handler;
  row.shape = Shape::Control;
  row.instructionClass = c;
  return row;
}

constexpr Instruction table[] = {
    special("s_set_gpr_idx_on", use32, switchOn),
    special("s_set_gpr_idx_idx", use32, chooseIndex),
    control("s_set_gpr_idx_off", switchOff, InstructionClass::ScalarAlu),
    control("s_set_gpr_idx_mode", chooseOperands, InstructionClass::ScalarAlu),
    // No mnemonic: only the decoder makes it.
    control("(indexed)", indexed, InstructionClass::VectorAlu),
};

} // namespace

InstructionRows registerIndexing() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
