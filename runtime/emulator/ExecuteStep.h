//===- ExecuteStep.h - One instruction of a wave ---------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_EXECUTESTEP_H
#define WAVETILE_RUNTIME_EMULATOR_EXECUTESTEP_H

#include "runtime/emulator/Wave.h"
#include "runtime/emulator/checks/WaveChecks.h"

namespace wavetile::device {

/// Executes one instruction, counting it in \p classes. Returns the record to go on with, or null
/// if the wave stops. All loops that execute are made of this.
template <bool isChecked>
WAVETILE_INLINE const Record *executeStep(Wave &wave, const Record *record, uint64_t *classes) {
  ++classes[record->instructionClass];
  if constexpr (isChecked)
    if (!wave.checks->before(record))
      return nullptr;
  return record->execute(wave, record);
}

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_EXECUTESTEP_H
