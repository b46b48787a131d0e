//===- ScalarControl.cpp - Branches, waits, EXEC and modes ----------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Barriers.h"
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
/// s_sethalt 1, s_sendmsghalt: only a debugger lets the wave go on, and there is none.
const Record *halt(Wave &wave, const Record *record) {
  return fail(wave, record, FaultKind::Trap, -1, record->immediate, 0, false,
              "the wave halts, and no debugger is there to let it go on");
}
const Record *setHalt(Wave &wave, const Record *record) {
  return record->immediate & 1 ? halt(wave, record) : record + 1;
}
const Record *setKill(Wave &wave, const Record *record) {
  return record->immediate & 1 ? endProgram(wave, record) : record + 1;
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
constexpr Instruction writingResult(Instruction row) {
  row.variant = 1;
  return row;
}

#define SAVE_EXEC(NAME_32, NAME_64, OP)                                                            \
  special(NAME_32, map32, saveExec<uint32_t, OP>), special(NAME_64, map64, saveExec<uint64_t, OP>)

constexpr Instruction table[] = {
    wait("s_endpgm s_endpgm_saved", endProgram),
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
    // Sleeping waves are ready, and no debugger sets the flags of these branches.
    wait("s_wakeup s_cbranch_cdbgsys s_cbranch_cdbguser s_cbranch_cdbgsys_or_user "
         "s_cbranch_cdbgsys_and_user",
         nothing),
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
    wait("s_wait_idle", nothing),
    special("s_sleep_var", use32, sleep).as(InstructionClass::Wait),
    wait("s_waitcnt_expcnt", nothing),
    wait("s_nop s_waitcnt_depctr s_delay_alu s_clause s_setprio s_set_inst_prefetch_distance "
         "s_inst_prefetch s_incperflevel s_decperflevel s_version s_wait_alu "
         "s_wait_event s_singleuse_vdst s_prefetch_inst s_prefetch_inst_pc_rel s_prefetch_data "
         "s_prefetch_data_pc_rel s_buffer_prefetch_data",
         nothing),
    wait("s_dcache_inv s_dcache_inv_vol", nothing),
    wait("s_dcache_wb s_dcache_wb_vol s_gl1_inv s_icache_inv", nothing),
    control("v_nop v_pipeflush", Shape::Control, InstructionClass::VectorAlu, nothing),
    wait("global_inv", nothing),
    wait("global_wb global_wbinv", nothing),
    wait("s_trap", trap),
    wait("s_sendmsg", sendMessage),
    wait("s_sendmsghalt", halt),
    wait("s_sethalt", setHalt),
    control("s_setkill", Shape::Control, InstructionClass::Branch, setKill),
    wait("s_code_end", padding),

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
};

} // namespace

InstructionRows scalarControl() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
