//===- ScalarRules.h - Definedness of scalar results ----------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_CHECKS_SCALARRULES_H
#define WAVETILE_RUNTIME_EMULATOR_CHECKS_SCALARRULES_H

#include "runtime/emulator/Instruction.h"
#include "runtime/emulator/checks/PartialBits.h"

namespace wavetile::device::checks {

/// Values and undefined bits of a scalar instruction's operands, and what it makes of them.
struct ScalarOperands {
  Partial<uint64_t> sources[4];
  Partial<uint64_t> result;
  PartialBit scc; ///< Before, then after.
  /// saveexec and wrexec: what EXEC becomes.
  Partial<uint64_t> exec;
};
using ScalarRule = void (*)(ScalarOperands &operands);

/// The rule of a row, or null: its result and SCC are undefined if any bit of its sources is.
ScalarRule scalarRule(const Instruction &row);

} // namespace wavetile::device::checks

#endif // WAVETILE_RUNTIME_EMULATOR_CHECKS_SCALARRULES_H
