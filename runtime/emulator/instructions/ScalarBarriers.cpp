//===- ScalarBarriers.cpp - Split barriers (gfx12) ------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Barrier -1 is that of the workgroup. Barrier 0 is none, -2 is the trap handler's: signalling
// those does nothing, as hardware does. Named barriers are refused when the code is loaded.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Barriers.h"
#include "runtime/emulator/instructions/Scalars.h"
#include "runtime/emulator/instructions/Tables.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
using namespace scalarops;
namespace {

constexpr int32_t workgroupBarrier = -1;

/// M0 cannot name the negative barriers.
int32_t barrierNumber(const Wave &wave, const Record *record) {
  Operand operand = record->sources[0];
  uint32_t value = wave.read32(operand);
  return static_cast<int32_t>(operand.kind() == OperandKind::Scalar ? value & 31 : value);
}
const Record *namedBarrier(Wave &wave, const Record *record) {
  return fail(wave, record, FaultKind::Refused, -1, 0, 0, false, "a named barrier");
}

template <bool isFirst> const Record *signal(Wave &wave, const Record *record) {
  int32_t number = barrierNumber(wave, record);
  if (number > 0)
    return namedBarrier(wave, record);
  bool first = number == workgroupBarrier && signalBarrier(wave);
  if (isFirst)
    wave.scalars[scalar::Scc] = first;
  return record + 1;
}
const Record *waitFor(Wave &wave, const Record *record) {
  if (static_cast<int16_t>(record->immediate) != workgroupBarrier)
    return namedBarrier(wave, record);
  return waitAtBarrier(wave, record);
}
/// Signals in bits 16 to 22, members in bits 4 to 10, valid in bit 0.
const Record *getState(Wave &wave, const Record *record) {
  int32_t number = barrierNumber(wave, record);
  if (number > 0)
    return namedBarrier(wave, record);
  const BarrierState &state = wave.workgroup->barrier;
  uint32_t value = (state.signals & 127) << 16 | (state.members & 127) << 4 | 1;
  wave.scalars[record->destination.index()] = number == workgroupBarrier ? value : 0;
  return record + 1;
}

constexpr Signature use32{Type::None, {Type::B32}, false};
constexpr Signature map32{Type::B32, {Type::B32}, false};

constexpr Instruction waitRow() {
  Instruction row;
  row.names = "s_barrier_wait";
  row.direct = waitFor;
  row.shape = Shape::Control;
  row.instructionClass = InstructionClass::Wait;
  return row;
}

constexpr Instruction table[] = {
    special("s_barrier_signal", use32, signal<false>)
        .as(InstructionClass::Wait)
        .with(rowflag::barrierNumber),
    special("s_barrier_signal_isfirst", use32, signal<true>)
        .as(InstructionClass::Wait)
        .with(rowflag::barrierNumber | rowflag::touchesScc),
    waitRow().with(rowflag::barrierNumber),
    special("s_get_barrier_state", map32, getState).with(rowflag::barrierNumber),
};

} // namespace

InstructionRows scalarBarriers() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
