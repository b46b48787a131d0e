//===- ScalarControl.cpp - Branches, waits, EXEC and scalar memory --------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Barriers.h"
#include "runtime/emulator/instructions/LaneMemory.h"
#include "runtime/emulator/instructions/Scalars.h"
#include "runtime/emulator/instructions/Tables.h"

namespace wavetile::device {

/// The record at a code address, or null: defined with the decoded program.
const Record *recordAt(const DecodedProgram &program, uint64_t address);
/// The address of a record's instruction.
uint64_t addressOf(const DecodedProgram &program, const Record *record);

inline namespace WAVETILE_HOST_ISA {
using namespace scalarops;
namespace {

// --- Control ---

const Record *nothing(Wave &, const Record *record) { return record + 1; }

const Record *stop(Wave &wave, const Record *record, WaveStatus status) {
  wave.status = status;
  wave.pc = record + 1;
  return nullptr;
}
const Record *endProgram(Wave &wave, const Record *record) {
  return stop(wave, record, WaveStatus::Ended);
}
const Record *barrier(Wave &wave, const Record *record) {
  signalBarrier(wave);
  return waitAtBarrier(wave, record);
}
/// Gives the rest of the turn to others.
const Record *sleep(Wave &wave, const Record *record) {
  return stop(wave, record, WaveStatus::Ready);
}
const Record *trap(Wave &wave, const Record *record) {
  return fail(wave, record, FaultKind::Trap, -1, record->immediate, 0, false);
}
/// Interrupts the host, which answers before the wave goes on. Other messages are for graphics, or
/// tell the hardware what it makes no use of here.
const Record *sendMessage(Wave &wave, const Record *record) {
  constexpr uint64_t messageMask = 0xff, interrupt = 1;
  if ((record->immediate & messageMask) != interrupt)
    return record + 1;
  if (const char *refusal = interruptHost(*wave.workgroup))
    return fail(wave, record, FaultKind::Refused, -1, 0, 0, false, refusal);
  return record + 1;
}
const Record *padding(Wave &wave, const Record *record) {
  return fail(wave, record, FaultKind::BadProgramCounter, -1, 0, 0, false,
              "execution ran past the end of the kernel");
}

WAVETILE_INLINE const Record *target(const Record *record) {
  return record + static_cast<int32_t>(record->immediate);
}
const Record *branch(Wave &, const Record *record) { return target(record); }
const Record *branchScc0(Wave &wave, const Record *record) {
  return wave.scalars[scalar::Scc] ? record + 1 : target(record);
}
const Record *branchScc1(Wave &wave, const Record *record) {
  return wave.scalars[scalar::Scc] ? target(record) : record + 1;
}
const Record *branchVccZero(Wave &wave, const Record *record) {
  return wave.laneMask(scalar::Vcc) ? record + 1 : target(record);
}
const Record *branchVccNonZero(Wave &wave, const Record *record) {
  return wave.laneMask(scalar::Vcc) ? target(record) : record + 1;
}
const Record *branchExecZero(Wave &wave, const Record *record) {
  return wave.exec() ? record + 1 : target(record);
}
const Record *branchExecNonZero(Wave &wave, const Record *record) {
  return wave.exec() ? target(record) : record + 1;
}

// --- The program counter ---

const Record *jump(Wave &wave, const Record *record, uint64_t address) {
  if (const Record *next = recordAt(*wave.workgroup->program, address))
    return next;
  return fail(wave, record, FaultKind::BadProgramCounter, -1, address, 0, false);
}
uint64_t addressOfNext(const Wave &wave, const Record *record) {
  return addressOf(*wave.workgroup->program, record + 1);
}
const Record *getProgramCounter(Wave &wave, const Record *record) {
  wave.setScalar64(record->destination.index(), addressOfNext(wave, record));
  return record + 1;
}
const Record *setProgramCounter(Wave &wave, const Record *record) {
  return jump(wave, record, wave.read64(record->sources[0]));
}
const Record *swapProgramCounter(Wave &wave, const Record *record) {
  uint64_t to = wave.read64(record->sources[0]);
  wave.setScalar64(record->destination.index(), addressOfNext(wave, record));
  return jump(wave, record, to);
}
/// s_call_b64: a branch that keeps the return address.
const Record *call(Wave &wave, const Record *record) {
  wave.setScalar64(record->destination.index(), addressOfNext(wave, record));
  return target(record);
}

// --- EXEC ---

/// D = EXEC; EXEC = op(S0, EXEC); SCC = EXEC != 0. `T` is the width of a lane mask.
template <typename T, typename Op> const Record *saveExec(Wave &wave, const Record *record) {
  T source, old;
  if constexpr (sizeof(T) == 8)
    source = wave.read64(record->sources[0]), old = wave.scalar64(scalar::Exec);
  else
    source = wave.read32(record->sources[0]), old = wave.scalars[scalar::Exec];
  T result = Op::apply(source, old);
  if constexpr (sizeof(T) == 8) {
    wave.setScalar64(record->destination.index(), record->variant ? result : old);
    wave.setScalar64(scalar::Exec, result);
  } else {
    wave.scalars[record->destination.index()] = record->variant ? result : old;
    wave.scalars[scalar::Exec] = result;
  }
  wave.scalars[scalar::Scc] = result != 0;
  return record + 1;
}
struct And {
  template <typename T> static T apply(T s, T exec) { return s & exec; }
};
struct Or {
  template <typename T> static T apply(T s, T exec) { return s | exec; }
};
struct Xor {
  template <typename T> static T apply(T s, T exec) { return s ^ exec; }
};
struct AndNotExec {
  template <typename T> static T apply(T s, T exec) { return s & ~exec; }
};
struct OrNotExec {
  template <typename T> static T apply(T s, T exec) { return s | ~exec; }
};
struct NotAnd {
  template <typename T> static T apply(T s, T exec) { return ~s & exec; }
};
struct NotOr {
  template <typename T> static T apply(T s, T exec) { return ~s | exec; }
};
struct Nand {
  template <typename T> static T apply(T s, T exec) { return ~(s & exec); }
};
struct Nor {
  template <typename T> static T apply(T s, T exec) { return ~(s | exec); }
};
struct Xnor {
  template <typename T> static T apply(T s, T exec) { return ~(s ^ exec); }
};

// --- The MODE register ---

const Record *setMode(Wave &wave, const Record *record, uint32_t bits) {
  if (!wave.mode.set(bits))
    return fail(wave, record, FaultKind::Refused, -1, 0, 0, false,
                "only rounding to nearest even, and flushing both sources and results");
  applyMode(wave.mode);
  return record + 1;
}
/// SIMM16 of s_getreg and s_setreg: register, first bit, number of bits. The decoder lets only MODE
/// and, to read, XCC_ID through: this device has one XCC.
struct HardwareField {
  uint32_t offset, mask;
  bool isMode;
  explicit HardwareField(uint32_t immediate)
      : offset(immediate >> 6 & 31),
        mask(static_cast<uint32_t>((uint64_t(2) << (immediate >> 11 & 31)) - 1)),
        isMode((immediate & 63) == 1) {}
};
const Record *getRegister(Wave &wave, const Record *record) {
  HardwareField field(record->immediate);
  uint32_t bits = field.isMode ? wave.mode.bits() : 0;
  wave.scalars[record->destination.index()] = bits >> field.offset & field.mask;
  return record + 1;
}
const Record *setRegister(Wave &wave, const Record *record) {
  HardwareField field(record->immediate);
  uint32_t value = wave.read32(record->sources[1]), mask = field.mask << field.offset;
  return setMode(wave, record, (wave.mode.bits() & ~mask) | (value << field.offset & mask));
}
const Record *setDenormalMode(Wave &wave, const Record *record) {
  return setMode(wave, record, (wave.mode.bits() & ~0xf0u) | (record->immediate & 15) << 4);
}
const Record *setRoundingMode(Wave &wave, const Record *record) {
  return setMode(wave, record, (wave.mode.bits() & ~15u) | (record->immediate & 15));
}

// --- Scalar memory ---

/// Loads `dwords` dwords. The address is a register pair plus a constant plus, if there is one, a
/// scalar offset.
template <unsigned dwords> const Record *scalarLoad(Wave &wave, const Record *record) {
  uint64_t base = wave.scalar64(record->sources[0].index());
  uint64_t address =
      base + static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(record->immediate)));
  if (record->sources[1].kind() != OperandKind::None)
    address += wave.read32(record->sources[1]);
  if (address & 3)
    return fail(wave, record, FaultKind::Misaligned, -1, address, 4 * dwords, false);
  GlobalMemory &memory = *wave.workgroup->memory;
  if (!memory.containsAll(record, address, 4 * dwords, false) &&
      memory.check(record, address, 4 * dwords, false) != Access::Allowed)
    return fail(wave, record, FaultKind::OutOfBounds, -1, address, 4 * dwords, false);
  if (isObserved(wave) &&
      !reportScalar(wave, record, address, 4 * dwords, DataPlacement::Dwords, 4 * dwords))
    return nullptr;
  // A wave's scalar registers end before the special ones.
  __builtin_memcpy(wave.scalars + record->destination.index(),
                   reinterpret_cast<const void *>(address), 4 * dwords);
  *wave.workgroup->bytesLoaded += 4 * dwords;
  return record + 1;
}
template <unsigned bytes, bool isSigned> uint32_t loadNarrowScalar(uint64_t address) {
  uint32_t value = bytes == 1 ? loadFrom<uint8_t>(address) : loadFrom<uint16_t>(address);
  if (!isSigned)
    return value;
  return bytes == 1 ? static_cast<uint32_t>(static_cast<int8_t>(value))
                    : static_cast<uint32_t>(static_cast<int16_t>(value));
}
template <unsigned bytes, bool isSigned>
const Record *scalarLoadNarrow(Wave &wave, const Record *record) {
  uint64_t address =
      wave.scalar64(record->sources[0].index()) +
      static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(record->immediate)));
  if (record->sources[1].kind() != OperandKind::None)
    address += wave.read32(record->sources[1]);
  GlobalMemory &memory = *wave.workgroup->memory;
  if (!memory.containsAll(record, address, bytes, false))
    return fail(wave, record, FaultKind::OutOfBounds, -1, address, bytes, false);
  constexpr DataPlacement placement =
      isSigned ? DataPlacement::SignExtend : DataPlacement::ZeroExtend;
  if (isObserved(wave) && !reportScalar(wave, record, address, bytes, placement, bytes))
    return nullptr;
  wave.scalars[record->destination.index()] = loadNarrowScalar<bytes, isSigned>(address);
  return record + 1;
}
/// What a scalar load through a buffer resource reads: [address, address + bytes left in the
/// range).
struct ScalarBuffer {
  uint64_t address, left;
  ScalarBuffer(const Wave &wave, const Record *record, uint64_t alignment) {
    const uint32_t *resource = wave.scalars + record->sources[0].index();
    uint64_t base = resource[0] | static_cast<uint64_t>(resource[1] & 0xffff) << 32;
    uint32_t stride = resource[1] >> 16 & 0x3fff;
    uint64_t size = stride == 0 ? resource[2] : uint64_t(resource[2]) * stride;
    uint64_t offset = record->immediate;
    if (record->sources[1].kind() != OperandKind::None)
      offset += wave.read32(record->sources[1]);
    offset &= ~(alignment - 1);
    left = offset < size ? size - offset : 0;
    address = base + offset;
  }
};
/// Loads through a buffer resource: dwords beyond its range are 0.
template <unsigned dwords> const Record *scalarBufferLoad(Wave &wave, const Record *record) {
  ScalarBuffer buffer(wave, record, 4);
  uint64_t address = buffer.address;
  unsigned inRange = buffer.left / 4 < dwords ? static_cast<unsigned>(buffer.left / 4) : dwords;
  GlobalMemory &memory = *wave.workgroup->memory;
  if (inRange != 0 && !memory.containsAll(record, address, 4 * inRange, false) &&
      memory.check(record, address, 4 * inRange, false) != Access::Allowed)
    return fail(wave, record, FaultKind::OutOfBounds, -1, address, 4 * inRange, false);
  if (isObserved(wave) &&
      !reportScalar(wave, record, address, 4 * dwords, DataPlacement::Dwords, 4 * inRange))
    return nullptr;
  uint32_t *destination = wave.scalars + record->destination.index();
  for (unsigned i = 0; i < dwords; ++i)
    destination[i] = i < inRange ? loadFrom<uint32_t>(address + 4 * i) : 0;
  *wave.workgroup->bytesLoaded += 4 * dwords;
  return record + 1;
}
template <unsigned bytes, bool isSigned>
const Record *scalarBufferLoadNarrow(Wave &wave, const Record *record) {
  ScalarBuffer buffer(wave, record, bytes);
  uint64_t address = buffer.address;
  bool inRange = buffer.left >= bytes;
  GlobalMemory &memory = *wave.workgroup->memory;
  if (inRange && !memory.containsAll(record, address, bytes, false) &&
      memory.check(record, address, bytes, false) != Access::Allowed)
    return fail(wave, record, FaultKind::OutOfBounds, -1, address, bytes, false);
  constexpr auto placement = isSigned ? DataPlacement::SignExtend : DataPlacement::ZeroExtend;
  if (isObserved(wave) &&
      !reportScalar(wave, record, address, bytes, placement, inRange ? bytes : 0))
    return nullptr;
  wave.scalars[record->destination.index()] =
      inRange ? loadNarrowScalar<bytes, isSigned>(address) : 0;
  *wave.workgroup->bytesLoaded += bytes;
  return record + 1;
}

// --- Rows ---

constexpr Signature get64{Type::B64, {}, false};
constexpr Signature use64{Type::None, {Type::B64}, false};
constexpr Signature use32{Type::None, {Type::B32}, false};
constexpr Signature map64{Type::B64, {Type::B64}, false};
constexpr Signature map32{Type::B32, {Type::B32}, false};

constexpr Instruction control(const char *names, Shape shape, InstructionClass instructionClass,
                              Handler handler) {
  Instruction row;
  row.names = names;
  row.direct = handler;
  row.shape = shape;
  row.instructionClass = instructionClass;
  return row;
}
constexpr Instruction wait(const char *names, Handler handler) {
  return control(names, Shape::Control, InstructionClass::Wait, handler);
}
constexpr Instruction branchRow(const char *names, Handler handler) {
  return control(names, Shape::Branch, InstructionClass::Branch, handler);
}
constexpr Instruction load(const char *names, Handler handler) {
  return control(names, Shape::ScalarMemory, InstructionClass::ScalarMemory, handler);
}
constexpr Instruction writingResult(Instruction row) {
  row.variant = 1;
  return row;
}

#define SAVE_EXEC(NAME_32, NAME_64, OP)                                                            \
  special(NAME_32, map32, saveExec<uint32_t, OP>), special(NAME_64, map64, saveExec<uint64_t, OP>)

constexpr Instruction table[] = {
    control("s_endpgm s_endpgm_saved", Shape::Control, InstructionClass::Branch, endProgram),
    branchRow("s_branch", branch),
    branchRow("s_cbranch_scc0", branchScc0),
    branchRow("s_cbranch_scc1", branchScc1),
    branchRow("s_cbranch_vccz", branchVccZero),
    branchRow("s_cbranch_vccnz", branchVccNonZero),
    branchRow("s_cbranch_execz", branchExecZero),
    branchRow("s_cbranch_execnz", branchExecNonZero),
    special("s_getpc_b64", get64, getProgramCounter).as(InstructionClass::Branch),
    special("s_setpc_b64", use64, setProgramCounter).as(InstructionClass::Branch),
    special("s_swappc_b64", map64, swapProgramCounter).as(InstructionClass::Branch),
    special("s_call_b64", get64, call).as(InstructionClass::Branch),

    wait("s_barrier", barrier),
    wait("s_sleep", sleep),
    // A row each: the checks of waits go by their names.
    wait("s_waitcnt", nothing),
    wait("s_waitcnt_vmcnt", nothing),
    wait("s_waitcnt_lgkmcnt", nothing),
    wait("s_waitcnt_vscnt", nothing),
    wait("s_wait_loadcnt", nothing),
    wait("s_wait_storecnt", nothing),
    wait("s_wait_samplecnt", nothing),
    wait("s_wait_bvhcnt", nothing),
    wait("s_wait_expcnt", nothing),
    wait("s_wait_dscnt", nothing),
    wait("s_wait_kmcnt", nothing),
    wait("s_wait_loadcnt_dscnt", nothing),
    wait("s_wait_storecnt_dscnt", nothing),
    special("s_sleep_var", use32, sleep).as(InstructionClass::Wait),
    wait("s_nop s_waitcnt_expcnt s_waitcnt_depctr s_delay_alu s_clause s_setprio "
         "s_wait_idle s_icache_inv "
         "s_set_inst_prefetch_distance s_inst_prefetch s_ttracedata s_ttracedata_imm "
         "s_incperflevel s_decperflevel s_sethalt s_dcache_inv s_dcache_wb s_dcache_wb_vol "
         "s_dcache_inv_vol s_gl1_inv s_version v_nop s_wait_alu s_wait_event s_wakeup "
         "s_singleuse_vdst v_pipeflush s_prefetch_inst s_prefetch_inst_pc_rel s_prefetch_data "
         "s_prefetch_data_pc_rel s_buffer_prefetch_data global_inv global_wb global_wbinv",
         nothing),
    control("s_trap", Shape::Control, InstructionClass::Branch, trap),
    control("s_sendmsg", Shape::Control, InstructionClass::Wait, sendMessage),
    control("s_code_end", Shape::Control, InstructionClass::Branch, padding),

    SAVE_EXEC("s_and_saveexec_b32", "s_and_saveexec_b64", And),
    SAVE_EXEC("s_or_saveexec_b32", "s_or_saveexec_b64", Or),
    SAVE_EXEC("s_xor_saveexec_b32", "s_xor_saveexec_b64", Xor),
    SAVE_EXEC("s_andn2_saveexec_b32 s_and_not1_saveexec_b32",
              "s_andn2_saveexec_b64 s_and_not1_saveexec_b64", AndNotExec),
    SAVE_EXEC("s_orn2_saveexec_b32 s_or_not1_saveexec_b32",
              "s_orn2_saveexec_b64 s_or_not1_saveexec_b64", OrNotExec),
    SAVE_EXEC("s_andn1_saveexec_b32 s_and_not0_saveexec_b32",
              "s_andn1_saveexec_b64 s_and_not0_saveexec_b64", NotAnd),
    SAVE_EXEC("s_orn1_saveexec_b32 s_or_not0_saveexec_b32",
              "s_orn1_saveexec_b64 s_or_not0_saveexec_b64", NotOr),
    SAVE_EXEC("s_nand_saveexec_b32", "s_nand_saveexec_b64", Nand),
    SAVE_EXEC("s_nor_saveexec_b32", "s_nor_saveexec_b64", Nor),
    SAVE_EXEC("s_xnor_saveexec_b32", "s_xnor_saveexec_b64", Xnor),
    writingResult(
        special("s_andn1_wrexec_b64 s_and_not0_wrexec_b64", map64, saveExec<uint64_t, NotAnd>)),
    writingResult(
        special("s_andn2_wrexec_b64 s_and_not1_wrexec_b64", map64, saveExec<uint64_t, AndNotExec>)),
    writingResult(special("s_and_not0_wrexec_b32", map32, saveExec<uint32_t, NotAnd>)),
    writingResult(special("s_and_not1_wrexec_b32", map32, saveExec<uint32_t, AndNotExec>)),

    special("s_getreg_b32", {Type::B32, {}, false}, getRegister).with(rowflag::hardwareRegister),
    special("s_setreg_b32", {Type::None, {Type::B32}, false}, setRegister)
        .with(rowflag::hardwareRegister),
    special("s_setreg_imm32_b32", {Type::None, {}, false}, setRegister)
        .with(rowflag::hardwareRegister | rowflag::literalSecond),
    wait("s_denorm_mode", setDenormalMode),
    wait("s_round_mode", setRoundingMode),

    load("s_load_dword s_load_b32", scalarLoad<1>),
    load("s_load_dwordx2 s_load_b64", scalarLoad<2>),
    load("s_load_b96", scalarLoad<3>),
    load("s_load_dwordx4 s_load_b128", scalarLoad<4>),
    load("s_load_dwordx8 s_load_b256", scalarLoad<8>),
    load("s_load_dwordx16 s_load_b512", scalarLoad<16>),
    load("s_load_i8", scalarLoadNarrow<1, true>),
    load("s_load_u8", scalarLoadNarrow<1, false>),
    load("s_load_i16", scalarLoadNarrow<2, true>),
    load("s_load_u16", scalarLoadNarrow<2, false>),
    load("s_buffer_load_i8", scalarBufferLoadNarrow<1, true>),
    load("s_buffer_load_u8", scalarBufferLoadNarrow<1, false>),
    load("s_buffer_load_i16", scalarBufferLoadNarrow<2, true>),
    load("s_buffer_load_u16", scalarBufferLoadNarrow<2, false>),
    load("s_buffer_load_b96", scalarBufferLoad<3>),
    load("s_buffer_load_dword s_buffer_load_b32", scalarBufferLoad<1>),
    load("s_buffer_load_dwordx2 s_buffer_load_b64", scalarBufferLoad<2>),
    load("s_buffer_load_dwordx4 s_buffer_load_b128", scalarBufferLoad<4>),
    load("s_buffer_load_dwordx8 s_buffer_load_b256", scalarBufferLoad<8>),
    load("s_buffer_load_dwordx16 s_buffer_load_b512", scalarBufferLoad<16>),
};

} // namespace

InstructionRows scalarControl() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
