//===- ScalarChecks.cpp - Definedness of scalar instructions --------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/checks/CheckFunctions.h"
#include "runtime/emulator/checks/WaveChecks.h"
#include "runtime/emulator/checks/WorkgroupRaces.h"

namespace wavetile::device::checks {

template <unsigned reads, unsigned writes>
static bool testScalar(WaveChecks &checks, const Record *record, const CheckRecord *check) {
  const uint64_t *lanes = checks.registers.lanes;
  uint64_t some = 0;
  for (unsigned i = 0; i < reads; ++i)
    some |= lanes[check->reads[i]];
  for (unsigned i = 0; i < writes; ++i)
    some |= lanes[check->writes[i]];
  if (__builtin_expect(some == 0, 1))
    return true;
  return check->details->slow(checks, record, check);
}

CheckFunction scalarTest(unsigned reads, unsigned writes) {
  if (reads <= 3 && writes <= 2)
    return testScalar<3, 2>;
  return testScalar<maximumReads, maximumWrites>;
}

/// An operand's value and undefined bits.
static Partial<uint64_t> operandOf(const WaveChecks &checks, const Wave &wave, Operand operand,
                                   unsigned registers) {
  if (operand.kind() == OperandKind::None)
    return {};
  if (operand.kind() != OperandKind::Scalar)
    return registers == 2 ? wave.read64(operand) : wave.read32(operand);
  uint32_t index = operand.index();
  if (index == scalar::VccZero) {
    Partial<uint64_t> vcc(wave.laneMask(scalar::Vcc), checks.registers.scalarMaskBits(scalar::Vcc));
    PartialBit bit = nonZero(vcc);
    return {wave.read32(operand), bit.undefined ? 1u : 0u};
  }
  if (index == scalar::ExecZero)
    return wave.read32(operand);
  uint64_t value = wave.read32(operand), undefined = checks.registers.scalarBits(index);
  if (registers == 2) {
    value |= static_cast<uint64_t>(wave.scalars[index + 1]) << 32;
    undefined |= static_cast<uint64_t>(checks.registers.scalarBits(index + 1)) << 32;
  }
  return {value, undefined};
}

/// Writes the undefined bits of a result; EXEC must have none.
static bool writeResult(WaveChecks &checks, const Record *record, uint32_t index,
                        unsigned registerCount, uint64_t undefined, uint32_t origin) {
  for (unsigned i = 0; i < registerCount; ++i) {
    uint32_t bits = static_cast<uint32_t>(undefined >> (32 * i));
    bool isExec = index + i == scalar::Exec || index + i == scalar::Exec + 1;
    if (isExec) {
      if (bits)
        return checks.reportUndefined(record, "an undefined scalar", origin, -1, "becomes EXEC");
    } else if (index != scalar::Null) {
      checks.registers.setScalar(index + i, bits, origin);
    }
  }
  return true;
}

bool checkScalarSlow(WaveChecks &checks, const Record *record, const CheckRecord *check) {
  const CheckDetails &details = *check->details;
  const Signature &signature = details.signature;
  Wave &wave = checks.wave();
  for (unsigned i = 0; i < check->writeCount; ++i)
    if (!checks.mayWrite(record, check->writes[i], ~uint64_t(0), ~0u))
      return false;
  uint32_t origin = 0;
  for (unsigned i = 0; i < check->readCount; ++i)
    if (checks.registers.lanes[check->reads[i]]) {
      origin = checks.registers.origin[check->reads[i]];
      break;
    }

  ScalarOperands operands;
  bool anyUndefined = false;
  for (unsigned i = 0; i < 4 && signature.sources[i] != Type::None; ++i) {
    bool isHalf = is16Bit(signature.sources[i]);
    operands.sources[i] = operandOf(checks, wave, record->sources[i], rowsOf(signature.sources[i]));
    if (isHalf)
      operands.sources[i].undefined &= 0xffff;
    anyUndefined |= operands.sources[i].undefined != 0;
  }
  operands.scc = {wave.scalars[scalar::Scc] != 0, checks.registers.scalarBits(scalar::Scc) != 0};
  if (details.readsScc)
    anyUndefined |= operands.scc.undefined;
  unsigned count = rowsOf(signature.result);
  bool savesExec = details.mnemonic.ends_with("exec_b64") || details.mnemonic.ends_with("exec_b32");
  operands.exec =
      Partial<uint64_t>(count == 2 ? wave.scalar64(scalar::Exec) : wave.scalars[scalar::Exec]);
  if (!anyUndefined || details.alwaysDefined) {
    operands.result = {};
    operands.exec.undefined = 0;
    operands.scc = {};
  } else if (details.scalarRule) {
    details.scalarRule(operands);
    if (savesExec && count == 1) {
      operands.exec.value &= 0xffffffff;
      operands.exec.undefined &= 0xffffffff;
      operands.scc = nonZero(operands.exec);
    }
  } else {
    operands.result = {0, ~uint64_t(0)};
    operands.scc = {false, true};
  }
  if (savesExec && operands.exec.undefined)
    return checks.reportUndefined(record, "an undefined scalar", origin, -1, "becomes EXEC");
  if (details.writesScc)
    checks.registers.setScalar(scalar::Scc, operands.scc.undefined, origin);
  if (count == 0 || record->destination.kind() != OperandKind::Scalar)
    return true;
  return writeResult(checks, record, record->destination.index(), count, operands.result.undefined,
                     origin);
}

bool checkScalarRelativeMove(WaveChecks &checks, const Record *record, const CheckRecord *check) {
  RegisterShadow &registers = checks.registers;
  Wave &wave = checks.wave();
  if (uint32_t bits = registers.scalarBits(scalar::M0))
    return checks.reportUndefined(record, scalarEntry(scalar::M0), bits, -1, "choose a register");
  llvm::StringRef name = check->details->mnemonic;
  uint32_t m0 = wave.scalars[scalar::M0];
  bool apart = name.starts_with("s_movrelsd_2");
  bool ofSource = name.starts_with("s_movrels"), ofDestination = apart || !ofSource;
  Operand from = record->sources[0];
  uint32_t to = record->destination.index() + (ofDestination ? (apart ? m0 >> 16 & 0x3ff : m0) : 0);
  if (from.kind() == OperandKind::Scalar && ofSource)
    from = Operand(OperandKind::Scalar, from.index() + (apart ? m0 & 0x3ff : m0));
  for (unsigned i = 0; i < rowsOf(check->details->signature.result); ++i) {
    bool isScalar = from.kind() == OperandKind::Scalar;
    if (to + i >= scalar::Count || (isScalar && from.index() + i >= scalar::Count))
      return true; // The handler reports it.
    if (!checks.mayWrite(record, scalarEntry(to + i), ~uint64_t(0), ~0u))
      return false;
    uint32_t bits = isScalar ? registers.scalarBits(from.index() + i) : 0;
    registers.setScalar(to + i, bits,
                        isScalar ? registers.origin[scalarEntry(from.index() + i)] : 0);
  }
  return true;
}

// --- What decides ---

bool checkBranchOnScc(WaveChecks &checks, const Record *record, const CheckRecord *) {
  if (uint32_t bits = checks.registers.scalarBits(scalar::Scc)) [[unlikely]]
    return checks.reportUndefined(record, scalarEntry(scalar::Scc), bits, -1, "decide a branch");
  return true;
}

bool checkBranchOnVcc(WaveChecks &checks, const Record *record, const CheckRecord *) {
  uint64_t undefined = checks.registers.scalarMaskBits(scalar::Vcc);
  if (undefined == 0) [[likely]]
    return true;
  Wave &wave = checks.wave();
  if (!nonZero(Partial<uint64_t>(wave.laneMask(scalar::Vcc), undefined)).undefined)
    return true;
  bool inLow = static_cast<uint32_t>(undefined) != 0;
  return checks.reportUndefined(record, scalarEntry(scalar::Vcc + (inLow ? 0 : 1)),
                                static_cast<uint32_t>(inLow ? undefined : undefined >> 32),
                                __builtin_ctzll(undefined), "decide a branch");
}

static bool reportFirstRead(WaveChecks &checks, const Record *record, const CheckRecord *check,
                            const char *what) {
  for (unsigned i = 0; i < check->readCount; ++i) {
    uint32_t entry = check->reads[i];
    if (isScalarEntry(entry) && checks.registers.lanes[entry])
      return checks.reportUndefined(
          record, entry, checks.registers.scalarBits(entry - firstScalarEntry), -1, what);
  }
  return checkScalarSlow(checks, record, check);
}
bool checkJumpSlow(WaveChecks &checks, const Record *record, const CheckRecord *check) {
  return reportFirstRead(checks, record, check, "decide where a jump goes");
}
bool checkSetRegisterSlow(WaveChecks &checks, const Record *record, const CheckRecord *check) {
  return reportFirstRead(checks, record, check, "are written to a hardware register");
}
bool checkExecSlow(WaveChecks &checks, const Record *record, const CheckRecord *check) {
  return reportFirstRead(checks, record, check, "become EXEC");
}

// --- Memory and waits ---

static bool reportAddress(WaveChecks &checks, const Record *record, const CheckRecord *check) {
  uint64_t exec = checks.exec();
  for (unsigned i = 0; i < check->readCount; ++i) {
    uint32_t entry = check->reads[i];
    uint64_t lanes = checks.registers.lanes[entry];
    if (isScalarEntry(entry)) {
      if (lanes)
        return checks.reportUndefined(record, entry,
                                      checks.registers.scalarBits(entry - firstScalarEntry), -1,
                                      "decide an address");
    } else if (lanes & exec) {
      unsigned lane = static_cast<unsigned>(__builtin_ctzll(lanes & exec));
      return checks.reportUndefined(record, entry, checks.registers.plane(entry)[lane],
                                    static_cast<int>(lane), "decide an address");
    }
  }
  return true;
}

bool checkMemory(WaveChecks &checks, const Record *record, const CheckRecord *check) {
  const uint64_t *lanes = checks.registers.lanes;
  const uint16_t *reads = check->reads;
  uint64_t some = (lanes[reads[0]] | lanes[reads[1]]) & checks.exec();
  some |= lanes[reads[2]] | lanes[reads[3]] | lanes[reads[4]] | lanes[reads[5]] | lanes[reads[6]] |
          lanes[reads[7]];
  if (__builtin_expect(some != 0, 0) && !reportAddress(checks, record, check))
    return false;
  return checks.issue(record, check);
}

bool checkLdsPermutation(WaveChecks &checks, const Record *record, const CheckRecord *check) {
  const uint64_t *lanes = checks.registers.lanes;
  if ((lanes[check->reads[0]] | lanes[check->reads[1]] | lanes[check->writes[0]]) != 0 &&
      !checkReplaySlow(checks, record, check))
    return false;
  return checks.holdBack(record, check);
}

bool checkClock(WaveChecks &checks, const Record *record, const CheckRecord *check) {
  const CheckDetails &details = *check->details;
  for (unsigned i = 0; i < details.loadedRegisters; ++i) {
    if (!checks.mayWrite(record, details.firstLoaded + i, ~uint64_t(0), ~0u))
      return false;
    checks.registers.setScalar(details.firstLoaded + i - firstScalarEntry, 0, 0);
  }
  return checks.holdBack(record, check);
}

bool checkWait(WaveChecks &checks, const Record *, const CheckRecord *check) {
  const WaitValues &waits = check->details->waits;
  for (unsigned i = 0; i < counterCount; ++i)
    if (waits.most[i] != WaitValues::any)
      checks.wait(static_cast<Counter>(i), waits.most[i]);
  return true;
}

bool checkInvalidation(WaveChecks &checks, const Record *record, const CheckRecord *check) {
  bool isScalar = check->details->mnemonic == "s_dcache_inv";
  if (WorkgroupRaces *races = checks.wave().workgroup->races)
    races->invalidateCache(checks.wave(), isScalar);
  return check->details->counter == Counter::None || checks.issue(record, check);
}

bool checkMessage(WaveChecks &checks, const Record *record, const CheckRecord *check) {
  return checks.issue(record, check);
}

bool checkWriteBack(WaveChecks &checks, const Record *record, const CheckRecord *check) {
  if (!checks.issue(record, check))
    return false;
  checks.beginWriteBack(record);
  return true;
}

} // namespace wavetile::device::checks
