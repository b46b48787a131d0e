//===- Barriers.h - Barriers of a workgroup --------------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What this header promises: the barrier of a workgroup as the hardware has it. It opens when every
// wave that has not ended has signalled; a wave that ends no longer counts, which may open it.
// `s_barrier` signals and waits; the split barriers of gfx12 do one each, and the wave may work in
// between.
//
// Where barriers are checked, one that opens without a wave that had met barriers before and has
// ended is a fault of the waves that meet it. A wave that ends before it meets any has left early,
// which programs rely on.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_BARRIERS_H
#define WAVETILE_RUNTIME_EMULATOR_BARRIERS_H

#include "runtime/emulator/Wave.h"

namespace wavetile::device {

/// The wave arrives. Returns whether it is the first to do so since the barrier opened last.
bool signalBarrier(Wave &wave);

/// The wave goes past the barrier if that has opened since it last did so: returns the record after
/// \p record. Otherwise it stops there until the barrier opens: null.
const Record *waitAtBarrier(Wave &wave, const Record *record);

/// The wave takes no part any more: it has ended, or left.
void leaveBarrier(Wave &wave);

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_BARRIERS_H
