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
#include "runtime/emulator/counters/InstructionProfile.h"

namespace wavetile::device {

/// Executes one instruction, counting it in \p classes. Returns the record to go on with, or null
/// if the wave stops. All loops that execute are made of this.
template <bool isChecked, bool isProfiled>
WAVETILE_INLINE const Record *executeStep(Wave &wave, const Record *record, uint64_t *classes) {
  ++classes[record->instructionClass];
  if constexpr (isProfiled)
    wave.workgroup->profile->begin(wave, record);
  if constexpr (isChecked)
    if (!wave.checks->before(record))
      return nullptr;
  const Record *next = record->execute(wave, record);
  if constexpr (isProfiled)
    wave.workgroup->profile->end(wave, record);
  return next;
}

/// Calls \p body with what a wave's steps are: `body.template operator()<isChecked, isProfiled>()`.
template <typename Body> auto withStepsOf(const Wave &wave, Body body) {
  bool isChecked = wave.checks != nullptr, isProfiled = wave.workgroup->profile != nullptr;
  if (isProfiled)
    return isChecked ? body.template operator()<true, true>()
                     : body.template operator()<false, true>();
  return isChecked ? body.template operator()<true, false>()
                   : body.template operator()<false, false>();
}

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_EXECUTESTEP_H
