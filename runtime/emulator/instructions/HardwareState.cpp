//===- HardwareState.cpp - Hardware registers, modes and clocks -----------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Apertures.h"
#include "runtime/emulator/HardwareRegisters.h"
#include "runtime/emulator/instructions/Scalars.h"
#include "runtime/emulator/instructions/Tables.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
using namespace scalarops;
namespace {

// --- Clocks ---

/// The shader's clock runs at 2 GHz, whatever that of the named GPU does.
uint64_t readCycles(Wave &wave) { return readRealTime(wave) * 20; }

const Record *memoryTime(Wave &wave, const Record *record) {
  wave.setScalar64(record->destination.index(), readCycles(wave));
  return record + 1;
}
const Record *memoryRealTime(Wave &wave, const Record *record) {
  wave.setScalar64(record->destination.index(), readRealTime(wave));
  return record + 1;
}

/// Messages that give something back. There is no doorbell, trap handler or debugger: 0.
uint64_t answerOfMessage(Wave &wave, const Record *record) {
  constexpr uint32_t getRealTime = 0x83;
  return record->immediate == getRealTime ? readRealTime(wave) : 0;
}
const Record *sendMessage32(Wave &wave, const Record *record) {
  wave.scalars[record->destination.index()] = static_cast<uint32_t>(answerOfMessage(wave, record));
  return record + 1;
}
const Record *sendMessage64(Wave &wave, const Record *record) {
  wave.setScalar64(record->destination.index(), answerOfMessage(wave, record));
  return record + 1;
}

// --- Registers ---

const Record *setMode(Wave &wave, const Record *record, uint32_t bits) {
  if (const char *reason = wave.mode.set(bits))
    return fail(wave, record, FaultKind::Refused, -1, 0, 0, false, reason);
  return record + 1;
}
/// SIMM16 of s_getreg and s_setreg: register, first bit, number of bits. The register is in
/// `Record::variant`.
struct HardwareField {
  uint32_t offset, mask;
  explicit HardwareField(uint32_t immediate)
      : offset(immediate >> 6 & 31),
        mask(static_cast<uint32_t>((uint64_t(2) << (immediate >> 11 & 31)) - 1)) {}
};

uint32_t hardwareRegisterValue(Wave &wave, HardwareRegister which) {
  uint32_t scc = wave.scalars[scalar::Scc] & 1;
  uint32_t isOneOfSeveral = wave.workgroup->waveCount > 1 ? 1u << 11 : 0;
  uint32_t status = (wave.exec() == 0 ? 1u << 9 : 0) |
                    (wave.laneMask(scalar::Vcc) == 0 ? 1u << 10 : 0) | isOneOfSeveral | 1u << 16;
  uint32_t simd = wave.indexInWorkgroup & 3, slot = wave.indexInWorkgroup / 4;
  switch (which) {
  case HardwareRegister::Mode:
    return wave.mode.bits;
  case HardwareRegister::Status: // SCC, EXECZ, VCCZ, IN_TG, VALID
    return scc | status;
  case HardwareRegister::StatusWithoutScc:
    return status;
  case HardwareRegister::PrivateState:
    return scc << 9;
  case HardwareRegister::HardwareId: // The wave's slot and its SIMD; the rest is all the first.
    return (slot & 15) | simd << 4;
  case HardwareRegister::HardwareId1:
    return (slot & 31) | simd << 8;
  case HardwareRegister::LdsAllocation: // In granules of 128 dwords.
    return ((wave.workgroup->ldsBytes + 511) / 512) << 12;
  case HardwareRegister::MemoryBases:
    return static_cast<uint32_t>(privateAperture >> 48 | sharedAperture >> 48 << 16);
  case HardwareRegister::Cycles:
    return static_cast<uint32_t>(readCycles(wave));
  case HardwareRegister::Cycles20:
    return readCycles(wave) & 0xfffff;
  case HardwareRegister::CyclesHigh:
    return static_cast<uint32_t>(readCycles(wave) >> 32);
  default:
    return 0;
  }
}
const Record *getRegister(Wave &wave, const Record *record) {
  HardwareField field(record->immediate);
  uint32_t bits = hardwareRegisterValue(wave, static_cast<HardwareRegister>(record->variant));
  wave.scalars[record->destination.index()] = bits >> field.offset & field.mask;
  return record + 1;
}
const Record *setRegister(Wave &wave, const Record *record) {
  HardwareField field(record->immediate);
  if (static_cast<HardwareRegister>(record->variant) != HardwareRegister::Mode)
    return record + 1;
  uint32_t value = wave.read32(record->sources[1]), mask = field.mask << field.offset;
  return setMode(wave, record, (wave.mode.bits & ~mask) | (value << field.offset & mask));
}
const Record *setDenormalMode(Wave &wave, const Record *record) {
  return setMode(wave, record, (wave.mode.bits & ~0xf0u) | (record->immediate & 15) << 4);
}
const Record *setRoundingMode(Wave &wave, const Record *record) {
  return setMode(wave, record, (wave.mode.bits & ~15u) | (record->immediate & 15));
}
/// Waves of compute kernels have all their registers from the start: a wave that is not in dynamic
/// mode keeps what it has.
const Record *allocateRegisters(Wave &, const Record *record) { return record + 1; }

// --- Halves of EXEC one after the other (gfx11) ---

const Record *beginSubvectorLoop(Wave &wave, const Record *record) {
  uint32_t *exec = wave.scalars + scalar::Exec;
  if (wave.exec() == 0)
    return record + static_cast<int32_t>(record->immediate);
  uint32_t high = wave.waveSize == 64 ? exec[1] : 0;
  if (exec[0] == 0) {
    wave.scalars[record->destination.index()] = 0;
  } else {
    wave.scalars[record->destination.index()] = high;
    exec[1] = 0;
  }
  return record + 1;
}
const Record *endSubvectorLoop(Wave &wave, const Record *record) {
  uint32_t *exec = wave.scalars + scalar::Exec, &kept = wave.scalars[record->destination.index()];
  if (exec[1] != 0) {
    exec[0] = kept;
    return record + 1;
  }
  if (kept == 0)
    return record + 1;
  exec[1] = kept;
  kept = exec[0];
  exec[0] = 0;
  return record + static_cast<int32_t>(record->immediate);
}

// --- Rows ---

constexpr Instruction clock(const char *name, Handler handler) {
  Instruction row;
  row.names = name;
  row.direct = handler;
  row.shape = Shape::ScalarMemory;
  row.instructionClass = InstructionClass::ScalarMemory;
  return row;
}
constexpr Instruction mode(const char *name, Handler handler) {
  Instruction row;
  row.names = name;
  row.direct = handler;
  row.shape = Shape::Control;
  row.instructionClass = InstructionClass::Wait;
  return row;
}
constexpr Signature get32{Type::B32, {}, false};
constexpr Signature get64{Type::B64, {}, false};

constexpr Instruction table[] = {
    clock("s_memtime", memoryTime),
    clock("s_memrealtime", memoryRealTime),
    special("s_sendmsg_rtn_b32", get32, sendMessage32),
    special("s_sendmsg_rtn_b64", get64, sendMessage64),

    special("s_getreg_b32", get32, getRegister).with(rowflag::hardwareRegister),
    special("s_setreg_b32", {Type::None, {Type::B32}, false}, setRegister)
        .with(rowflag::hardwareRegister),
    special("s_setreg_imm32_b32", {Type::None, {}, false}, setRegister)
        .with(rowflag::hardwareRegister | rowflag::literalSecond),
    mode("s_denorm_mode", setDenormalMode),
    mode("s_round_mode", setRoundingMode),
    special("s_alloc_vgpr", {Type::None, {Type::B32}, false}, allocateRegisters),

    special("s_subvector_loop_begin", get32, beginSubvectorLoop).as(InstructionClass::Branch),
    special("s_subvector_loop_end", {Type::B32, {Type::B32}, false}, endSubvectorLoop)
        .as(InstructionClass::Branch)
        .with(rowflag::destinationIsSource),
};

} // namespace

InstructionRows hardwareState() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
