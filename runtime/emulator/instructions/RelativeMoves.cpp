//===- RelativeMoves.cpp - Registers that M0 chooses ----------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// v_movrel, v_swaprel and s_movrel: M0 is added to the number of a register. Beyond the last vector
// register a read is of v0 and a write is dropped, as hardware does; beyond the last scalar
// register an access is a fault.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/instructions/LaneMemory.h"
#include "runtime/emulator/instructions/Lanes.h"
#include "runtime/emulator/instructions/Scalars.h"
#include "runtime/emulator/instructions/Tables.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace {

/// What M0 adds to the number of a source and of a destination.
struct Offsets {
  uint32_t source = 0, destination = 0;
  /// _2 and swaprel: M0[9:0] and M0[25:16] apart.
  Offsets(const Wave &wave, bool ofSource, bool ofDestination, bool apart) {
    uint32_t m0 = wave.scalars[scalar::M0];
    source = ofSource ? (apart ? m0 & 0x3ff : m0) : 0;
    destination = ofDestination ? (apart ? m0 >> 16 & 0x3ff : m0) : 0;
  }
};

constexpr Signature unary{Type::B32, {Type::B32}, false};

/// With DPP: the register is chosen first, then its lanes.
template <bool ofSource, bool ofDestination, bool apart>
const Record *movePrepared(Wave &wave, const Record *record) {
  Offsets offsets(wave, ofSource, ofDestination, apart);
  Record chosen = *record;
  uint32_t to = record->destination.index() + offsets.destination;
  if (to >= firstAccumulationRow)
    return record + 1;
  chosen.destination = Operand(OperandKind::Vector, to);
  if (Operand &from = chosen.sources[0]; from.kind() == OperandKind::Vector) {
    uint32_t index = from.index() + offsets.source;
    from = Operand(OperandKind::Vector, index < firstAccumulationRow ? index : 0);
  }
  PreparedOperands operands;
  prepareOperands(wave, &chosen, unary, operands);
  __builtin_memcpy(operands.result, operands.sources[0], wave.waveSize * sizeof(uint32_t));
  finishResult(wave, &chosen, unary, operands);
  return record + 1;
}
template <bool ofSource, bool ofDestination, bool apart>
const Record *moveVector(Wave &wave, const Record *record) {
  Offsets offsets(wave, ofSource, ofDestination, apart);
  uint32_t to = record->destination.index() + offsets.destination;
  if (to >= firstAccumulationRow)
    return record + 1;
  Operand from = record->sources[0];
  alignas(64) uint32_t values[maximumWaveSize];
  if (from.kind() == OperandKind::Scalar) {
    broadcast(wave.read32(from), values);
  } else {
    if (from.kind() == OperandKind::Vector) {
      uint32_t index = from.index() + offsets.source;
      from = Operand(OperandKind::Vector, index < firstAccumulationRow ? index : 0);
    }
    __builtin_memcpy(values, wave.row(from), wave.waveSize * sizeof(uint32_t));
  }
  uint32_t *result = wave.vectorRow(to);
  forActive(wave.exec(), [&](unsigned lane) { result[lane] = values[lane]; });
  return record + 1;
}
const Record *swapVectors(Wave &wave, const Record *record) {
  Offsets offsets(wave, true, true, true);
  uint32_t first = record->destination.index() + offsets.destination;
  uint32_t second = record->sources[0].index() + offsets.source;
  if (first >= firstAccumulationRow || second >= firstAccumulationRow)
    return record + 1;
  uint32_t *a = wave.vectorRow(first), *b = wave.vectorRow(second);
  forActive(wave.exec(), [&](unsigned lane) {
    uint32_t old = a[lane];
    a[lane] = b[lane];
    b[lane] = old;
  });
  return record + 1;
}

/// Whether M0 takes a scalar register to one that it can reach: they end with VCC.
bool reaches(uint32_t index, uint32_t offset, unsigned words) {
  return offset == 0 || uint64_t(index) + offset + words <= scalar::Vcc + 2;
}
template <unsigned words, bool ofSource, bool ofDestination, bool apart>
const Record *moveScalar(Wave &wave, const Record *record) {
  Offsets offsets(wave, ofSource, ofDestination, apart);
  Operand from = record->sources[0], to = record->destination;
  bool exists =
      reaches(to.index(), offsets.destination, words) &&
      (from.kind() != OperandKind::Scalar || reaches(from.index(), offsets.source, words));
  if (!exists)
    return fail(wave, record, FaultKind::Refused, -1, 0, 0, false,
                "M0 chooses a scalar register that does not exist");
  if (from.kind() == OperandKind::Scalar)
    from = Operand(OperandKind::Scalar, from.index() + offsets.source);
  uint32_t index = to.index() + offsets.destination;
  if (words == 2)
    wave.setScalar64(index, wave.read64(from));
  else
    wave.scalars[index] = wave.read32(from);
  return record + 1;
}

template <bool ofSource, bool ofDestination, bool apart>
constexpr Instruction relativeMove(const char *name) {
  Instruction row = crossLane(name, unary, moveVector<ofSource, ofDestination, apart>);
  row.prepared = movePrepared<ofSource, ofDestination, apart>;
  return row;
}

constexpr Signature unary64{Type::B64, {Type::B64}, false};

constexpr Instruction table[] = {
    relativeMove<false, true, false>("v_movreld_b32"),
    relativeMove<true, false, false>("v_movrels_b32"),
    relativeMove<true, true, false>("v_movrelsd_b32"),
    relativeMove<true, true, true>("v_movrelsd_2_b32"),
    crossLane("v_swaprel_b32", unary, swapVectors),
    scalarops::special("s_movreld_b32", unary, moveScalar<1, false, true, false>),
    scalarops::special("s_movreld_b64", unary64, moveScalar<2, false, true, false>),
    scalarops::special("s_movrels_b32", unary, moveScalar<1, true, false, false>),
    scalarops::special("s_movrels_b64", unary64, moveScalar<2, true, false, false>),
    scalarops::special("s_movrelsd_2_b32", unary, moveScalar<1, true, true, true>),
};

} // namespace

InstructionRows relativeMoves() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
