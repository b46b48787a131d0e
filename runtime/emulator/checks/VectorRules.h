//===- VectorRules.h - Definedness of vector results, lane by lane --------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which bits of a vector instruction's result are undefined, once modifiers have been applied to
// its operands. An instruction without a rule of its own is strict by the types of its signature:
// see `strictRule`.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_CHECKS_VECTORRULES_H
#define WAVETILE_RUNTIME_EMULATOR_CHECKS_VECTORRULES_H

#include "runtime/emulator/Instruction.h"

namespace wavetile::device::checks {

/// Rows of all lanes: the operands' values, their undefined bits, and where those of the result go.
struct RuleOperands {
  const uint32_t *values[4];
  const uint32_t *undefined[4];
  uint32_t *result;
  unsigned waveSize;
  uint8_t variant; ///< `Record::variant`.
};

/// Writes the undefined bits of the result's rows. Returns the lanes whose bit of the mask result
/// is undefined.
using VectorRule = uint64_t (*)(const RuleOperands &operands);

/// The rule of a row, or null: the row is strict.
VectorRule vectorRule(const Instruction &row);
/// That of a move of 32 bits.
VectorRule moveRule();

/// A lane's result is undefined as a whole if any bit of an operand that its types say is read is
/// undefined; the halves of packed results each for themselves.
uint64_t strictRule(const Signature &signature, const RuleOperands &operands);

} // namespace wavetile::device::checks

#endif // WAVETILE_RUNTIME_EMULATOR_CHECKS_VECTORRULES_H
