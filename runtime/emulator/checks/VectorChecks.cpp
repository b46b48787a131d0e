//===- VectorChecks.cpp - Definedness of vector instructions --------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Three tiers: one test for the usual case that all is defined; whole lanes for strict
// instructions on whole registers; and for all else the undefined bits themselves, taken through
// the same DPP, SDWA and op_sel as the values.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/RegisterIndexing.h"
#include "runtime/emulator/checks/CheckFunctions.h"
#include "runtime/emulator/checks/WaveChecks.h"

namespace wavetile::device::checks {

bool checkNothing(WaveChecks &, const Record *, const CheckRecord *) { return true; }

// --- The first tier ---

template <unsigned reads, unsigned writes, bool readsInactive>
static bool testVector(WaveChecks &checks, const Record *record, const CheckRecord *check) {
  const uint64_t *lanes = checks.registers.lanes;
  uint64_t some = 0;
  for (unsigned i = readsInactive; i < reads; ++i)
    some |= lanes[check->reads[i]];
  some &= checks.exec();
  if (readsInactive)
    some |= lanes[check->reads[0]];
  for (unsigned i = 0; i < writes; ++i)
    some |= lanes[check->writes[i]];
  if (__builtin_expect(some == 0, 1))
    return true;
  return check->details->slow(checks, record, check);
}

CheckFunction vectorTest(unsigned reads, unsigned writes, bool readsInactiveLanes) {
  if (readsInactiveLanes)
    return testVector<maximumReads, maximumWrites, true>;
  if (writes <= 1)
    return reads <= 2   ? testVector<2, 1, false>
           : reads == 3 ? testVector<3, 1, false>
                        : testVector<maximumReads, 1, false>;
  if (writes == 2)
    return reads <= 4 ? testVector<4, 2, false> : testVector<maximumReads, 2, false>;
  return testVector<maximumReads, maximumWrites, false>;
}

// --- Entries of an instruction ---

/// Lanes of what it reads that have undefined bits; all lanes for an undefined scalar.
static uint64_t undefinedLanes(const WaveChecks &checks, const CheckRecord *check, uint64_t exec) {
  uint64_t some = 0;
  for (unsigned i = 0; i < check->readCount; ++i) {
    uint64_t lanes = checks.registers.lanes[check->reads[i]];
    bool inAllLanes = (i == 0 && check->details->readsInactiveLanes);
    some |= inAllLanes ? lanes : lanes & exec;
  }
  return some;
}
/// Whether bits of an operand, not only lanes, differ. To a strict instruction those of a scalar
/// are all the same.
static bool anyPlane(const WaveChecks &checks, const CheckRecord *check) {
  for (unsigned i = 0; i < check->readCount; ++i) {
    uint32_t entry = check->reads[i];
    if (isScalarEntry(entry)) {
      uint32_t bits = checks.registers.scalarBits(entry - firstScalarEntry);
      if (check->details->vectorRule && bits != 0 && bits != ~0u)
        return true;
    } else if (entry != definedEntry && checks.registers.hasPlane(entry)) {
      return true;
    }
  }
  return false;
}
/// Of the first operand that has undefined bits.
static uint32_t originOf(const WaveChecks &checks, const CheckRecord *check) {
  for (unsigned i = 0; i < check->readCount; ++i)
    if (checks.registers.lanes[check->reads[i]])
      return checks.registers.origin[check->reads[i]];
  return makeOrigin(OriginKind::NeverWritten, check->reads[0]);
}
static bool mayWriteAll(WaveChecks &checks, const Record *record, const CheckRecord *check,
                        uint64_t exec) {
  for (unsigned i = 0; i < check->writeCount; ++i)
    if (!checks.mayWrite(record, check->writes[i], exec, ~0u))
      return false;
  return true;
}

/// A mask result: lanes that are off get a defined 0. EXEC must be defined.
static bool writeMask(WaveChecks &checks, const Record *record, uint64_t undefined,
                      uint32_t origin) {
  uint32_t index = record->maskDestination.index();
  if (index == scalar::Null)
    return true;
  if (index == scalar::Exec) {
    if (undefined == 0)
      return true;
    return checks.reportUndefined(record, "an undefined comparison", origin,
                                  __builtin_ctzll(undefined), "decides EXEC");
  }
  checks.registers.setScalarMask(index, undefined, origin);
  return true;
}

// --- The third tier ---

/// v_fma_mix reads halves of some operands.
static void keepMixedBits(const Record *record, const Signature &signature, const Wave &wave,
                          const PreparedOperands &undefined) {
  for (unsigned i = 0; i < 3; ++i) {
    if (signature.sources[i] != Type::Mixed || !(record->modifiers & modifier::highForHigh(i)))
      continue;
    unsigned shift = record->modifiers & modifier::high(i) ? 16 : 0;
    auto *row = const_cast<uint32_t *>(undefined.sources[i]);
    for (unsigned lane = 0; lane < wave.waveSize; ++lane)
      row[lane] = row[lane] >> shift & 0xffff;
  }
}

static bool checkBits(WaveChecks &checks, const Record *record, const CheckRecord *check) {
  const CheckDetails &details = *check->details;
  const InstructionTables &tables = *instructionTables();
  Wave &wave = checks.wave();
  RegisterShadow &registers = checks.registers;
  uint64_t exec = checks.exec();
  uint32_t origin = originOf(checks, check);
  for (unsigned i = 0; i < check->readCount; ++i)
    if (!isScalarEntry(check->reads[i]) && check->reads[i] != definedEntry)
      registers.plane(check->reads[i]);
  for (unsigned i = 0; i < check->writeCount; ++i)
    if (!isScalarEntry(check->writes[i]) && check->writes[i] != definedEntry)
      registers.plane(check->writes[i]);

  // As v_fma_mix's operands are read by bits here, they are no floats.
  Signature signature = details.signature;
  for (Type &type : signature.sources)
    type = type == Type::Mixed ? Type::B32 : type;
  Wave &shadow = registers.wave(exec);
  PreparedOperands values, undefined;
  tables.prepareOperands(wave, record, signature, values);
  tables.prepareOperands(shadow, &details.shadow, signature, undefined);
  keepMixedBits(record, details.signature, wave, undefined);

  RuleOperands operands;
  std::copy_n(values.sources, 4, operands.values);
  std::copy_n(undefined.sources, 4, operands.undefined);
  operands.result = undefined.result;
  operands.waveSize = wave.waveSize;
  operands.variant = record->variant;
  uint64_t mask =
      details.vectorRule ? details.vectorRule(operands) : strictRule(signature, operands);
  if (signature.result != Type::None)
    tables.finishResult(shadow, &details.shadow, signature, undefined);
  registers.forgetExec();
  for (unsigned i = 0; i < check->readCount; ++i)
    if (!isScalarEntry(check->reads[i]) && check->reads[i] != definedEntry)
      registers.settle(check->reads[i]);
  for (unsigned i = 0; i < check->writeCount; ++i)
    if (!isScalarEntry(check->writes[i]) && check->writes[i] != definedEntry) {
      registers.settle(check->writes[i]);
      registers.origin[check->writes[i]] = origin;
    }
  if (signature.maskResult)
    return writeMask(checks, record, mask & values.activeMask, origin);
  return true;
}

bool checkVectorSlow(WaveChecks &checks, const Record *record, const CheckRecord *check) {
  const CheckDetails &details = *check->details;
  uint64_t exec = checks.exec();
  if (!mayWriteAll(checks, record, check, exec))
    return false;
  uint64_t undefined = details.alwaysDefined ? 0 : undefinedLanes(checks, check, exec);
  bool byLanes =
      details.writesWhole && (undefined == 0 || (details.strictWhole && !anyPlane(checks, check)));
  if (!byLanes)
    return checkBits(checks, record, check);
  uint32_t origin = undefined ? originOf(checks, check) : 0;
  for (unsigned i = 0; i < check->writeCount; ++i)
    if (!isScalarEntry(check->writes[i]) && check->writes[i] != definedEntry)
      checks.registers.setLanes(check->writes[i], exec, undefined, origin);
  if (details.signature.maskResult)
    return writeMask(checks, record, undefined & exec, origin);
  return true;
}

// --- Moves between lanes ---

bool checkReplaySlow(WaveChecks &checks, const Record *record, const CheckRecord *check) {
  const CheckDetails &details = *check->details;
  Wave &wave = checks.wave();
  RegisterShadow &registers = checks.registers;
  uint64_t exec = checks.exec();
  if (!mayWriteAll(checks, record, check, wave.allLanes()))
    return false;
  uint32_t origin = originOf(checks, check);
  // Operands that choose lanes keep their values. If they are undefined themselves, a scalar
  // choice is a fault, and the lanes of a vector one get undefined bits.
  uint64_t lost = 0;
  Wave &shadow = registers.wave(exec);
  for (unsigned i = 0; i < 4; ++i) {
    if (!(details.controls >> i & 1))
      continue;
    Operand operand = record->sources[i];
    uint32_t *row = shadow.vectorRow(controlRow(i));
    if (operand.kind() == OperandKind::Scalar) {
      uint32_t bits = operand.index() < scalar::VccZero ? registers.scalarBits(operand.index()) : 0;
      if (operand.index() == scalar::Exec || operand.index() == scalar::Exec + 1)
        bits = 0;
      if (bits != 0) {
        registers.forgetExec();
        return checks.reportUndefined(record, scalarEntry(operand.index()), bits, -1,
                                      "choose a lane");
      }
      std::fill_n(row, wave.waveSize, wave.read32(operand));
    } else {
      const uint32_t *from = wave.row(operand);
      std::copy_n(from, wave.waveSize, row);
      if (operand.kind() == OperandKind::Vector)
        lost |= registers.lanes[operand.index()] & exec;
    }
  }
  auto forVectors = [&](auto body) {
    for (unsigned i = 0; i < check->readCount; ++i)
      if (!isScalarEntry(check->reads[i]) && check->reads[i] != definedEntry)
        body(check->reads[i]);
    for (unsigned i = 0; i < check->writeCount; ++i)
      if (!isScalarEntry(check->writes[i]) && check->writes[i] != definedEntry)
        body(check->writes[i]);
  };
  forVectors([&](uint32_t row) { registers.plane(row); });
  record->execute(shadow, &details.shadow);
  registers.forgetExec();
  for (unsigned i = 0; i < check->writeCount; ++i) {
    uint32_t entry = check->writes[i];
    if (isScalarEntry(entry)) {
      uint32_t index = entry - firstScalarEntry;
      registers.setScalar(index, lost ? ~0u : registers.scalarBits(index), origin);
    } else if (entry != definedEntry) {
      uint32_t *words = registers.plane(entry);
      for (unsigned lane = 0; lane < wave.waveSize; ++lane)
        words[lane] |= lost >> lane & 1 ? ~0u : 0;
      registers.origin[entry] = origin;
    }
  }
  forVectors([&](uint32_t row) { registers.settle(row); });
  return true;
}

bool checkRelativeMove(WaveChecks &checks, const Record *record, const CheckRecord *check) {
  RegisterShadow &registers = checks.registers;
  Wave &wave = checks.wave();
  if (uint32_t bits = registers.scalarBits(scalar::M0))
    return checks.reportUndefined(record, scalarEntry(scalar::M0), bits, -1, "choose a register");
  uint32_t m0 = wave.scalars[scalar::M0];
  Operand source = record->sources[0], destination = record->destination;
  // Every row that one of the forms could name.
  uint32_t rows[8];
  unsigned count = 0;
  for (uint32_t offset : {0u, m0, m0 & 0x3ff, m0 >> 16 & 0x3ff})
    for (Operand operand : {source, destination})
      if (operand.kind() == OperandKind::Vector && operand.index() + offset < firstAccumulationRow)
        rows[count++] = operand.index() + offset;
  for (unsigned i = 0; i < count; ++i)
    registers.plane(rows[i]);
  uint32_t origin = originOf(checks, check);
  Wave &shadow = registers.wave(checks.exec());
  shadow.scalars[scalar::M0] = m0;
  record->execute(shadow, &check->details->shadow);
  shadow.scalars[scalar::M0] = 0;
  registers.forgetExec();
  for (unsigned i = 0; i < count; ++i) {
    bool wasDefined = registers.lanes[rows[i]] == 0;
    registers.settle(rows[i]);
    if (wasDefined && registers.lanes[rows[i]])
      registers.origin[rows[i]] = origin;
  }
  return true;
}

bool checkRegisterIndex(WaveChecks &checks, const Record *record, const CheckRecord *check) {
  RegisterShadow &registers = checks.registers;
  if (!checks.mayWrite(record, scalarEntry(scalar::M0), ~uint64_t(0), ~0u))
    return false;
  uint32_t written = check->details->loadedBits, bits = registers.scalarBits(scalar::M0) & ~written;
  uint32_t origin = registers.origin[scalarEntry(scalar::M0)];
  Operand source = record->sources[0];
  if (source.kind() == OperandKind::Scalar && source.index() < scalar::VccZero)
    if (uint32_t ofIndex = registers.scalarBits(source.index()) & written & registerIndexBits) {
      bits |= ofIndex;
      origin = registers.origin[scalarEntry(source.index())];
    }
  registers.setScalar(scalar::M0, bits, origin);
  return true;
}

bool checkIndexed(WaveChecks &checks, const Record *record, const CheckRecord *) {
  Wave &wave = checks.wave();
  uint32_t read = registerIndexBits | registerIndexOperands;
  if (uint32_t bits = checks.registers.scalarBits(scalar::M0) & read)
    return checks.reportUndefined(record, scalarEntry(scalar::M0), bits, -1, "choose a register");
  const DecodedProgram &program = *wave.workgroup->program;
  Record moved = record[1];
  if (!applyRegisterIndexing(wave.scalars[scalar::M0], moved))
    return true;
  CheckRecord check;
  CheckDetails details;
  size_t number = static_cast<size_t>(record + 1 - program.allRecords().data());
  deriveCheck(program, moved, *instructionRow(moved.row), program.allRegisterCounts()[number],
              check, details);
  if (check.function(checks, &moved, &check))
    return true;
  wave.pc = wave.fault.record = record;
  return false;
}

} // namespace wavetile::device::checks
