//===- CheckRecord.h - What the checks do at each instruction -------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Beside each record of a program stands a check record, made once from the record and the row it
// came from. Its function is called before the instruction's handler, so that it still sees the
// registers' old values; it brings the register shadow up to date and looks for faults. Most of
// its work is one test: if the words of all entries that the instruction reads and writes are zero
// in the active lanes, there is nothing to do.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_CHECKS_CHECKRECORD_H
#define WAVETILE_RUNTIME_EMULATOR_CHECKS_CHECKRECORD_H

#include "runtime/emulator/Decoder.h"
#include "runtime/emulator/checks/RegisterShadow.h"
#include "runtime/emulator/checks/ScalarRules.h"
#include "runtime/emulator/checks/VectorRules.h"
#include "runtime/emulator/checks/WaitCounters.h"

#include "llvm/ADT/SmallVector.h"

#include <deque>
#include <vector>

namespace wavetile::device {
class WaveChecks;

namespace checks {

struct CheckRecord;
/// False: the wave has its fault.
using CheckFunction = bool (*)(WaveChecks &, const Record *, const CheckRecord *);

/// What only the longer way needs.
struct CheckDetails {
  Signature signature;
  VectorRule vectorRule = nullptr;
  ScalarRule scalarRule = nullptr;
  CheckFunction slow = nullptr;
  llvm::StringRef mnemonic; ///< The row's first name without its feature.

  /// The record with operands of the second wave: what is always defined is a row of zeros, and
  /// modifiers that change values but no definedness are gone.
  Record shadow;
  /// Operands whose value the second wave needs, a bit each: a shift's amount, a lane's number.
  uint8_t controls = 0;

  bool readsInactiveLanes = false; ///< DPP and the like: EXEC does not limit the first operand.
  bool writesWhole = true;         ///< All bits of all active lanes.
  bool strictWhole = false;        ///< Strict, and operands are whole registers.
  bool alwaysDefined = false;      ///< x ^ x.

  // Scalars.
  bool readsScc = false, writesScc = false;

  // Memory.
  Counter counter = Counter::None;
  Counter secondCounter = Counter::None; ///< FLAT.
  PendingKind kind = PendingKind::VectorMemory;
  uint16_t firstLoaded = definedEntry;
  uint8_t loadedRegisters = 0;
  uint32_t loadedBits = ~0u; ///< Of each register.
  bool isAtomic = false;     ///< Its result is held back when its data have been seen.

  WaitValues waits;

  // Matrix products.
  uint8_t registersOfA = 0, registersOfB = 0, registersOfC = 0;
  MatrixShape matrix;
  bool rowsInOrder = false; ///< gfx12: a lane's results are neighbouring rows.
};

inline constexpr unsigned maximumReads = 10, maximumWrites = 6;

struct alignas(64) CheckRecord {
  CheckFunction function = nullptr;
  const CheckDetails *details = nullptr;
  /// Entries; those not used name `definedEntry`.
  uint16_t reads[maximumReads];
  uint16_t writes[maximumWrites];
  uint8_t readCount = 0, writeCount = 0;

  CheckRecord() {
    for (uint16_t &entry : reads)
      entry = definedEntry;
    for (uint16_t &entry : writes)
      entry = definedEntry;
  }
};
static_assert(sizeof(CheckRecord) == 64);

/// Makes the check record of \p record, which was made from \p row.
void deriveCheck(const DecodedProgram &program, const Record &record, const Instruction &row,
                 const RegisterCounts &registers, CheckRecord &check, CheckDetails &details);

/// The check records of a program, in the order of its records.
class CheckProgram {
public:
  explicit CheckProgram(const DecodedProgram &program);

  const CheckRecord *records() const { return list.data(); }

private:
  std::vector<CheckRecord> list;
  std::deque<CheckDetails> details;
};

} // namespace checks
} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_CHECKS_CHECKRECORD_H
