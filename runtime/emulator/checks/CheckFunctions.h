//===- CheckFunctions.h - The functions of check records ------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_CHECKS_CHECKFUNCTIONS_H
#define WAVETILE_RUNTIME_EMULATOR_CHECKS_CHECKFUNCTIONS_H

#include "runtime/emulator/checks/CheckRecord.h"

namespace wavetile::device::checks {

/// Neither reads nor writes anything that can be undefined.
bool checkNothing(WaveChecks &, const Record *, const CheckRecord *);

// --- Vector instructions ---

/// The test of so many entries; what it cannot settle goes to `CheckDetails::slow`. Entries are
/// tested in the active lanes; those of the first operand in all, if it reads inactive ones.
CheckFunction vectorTest(unsigned reads, unsigned writes, bool readsInactiveLanes);
bool checkVectorSlow(WaveChecks &, const Record *, const CheckRecord *);
/// Instructions that move bits between lanes: their handler runs on the undefined bits.
bool checkReplaySlow(WaveChecks &, const Record *, const CheckRecord *);
/// v_movrel and v_swaprel: M0 chooses the register.
bool checkRelativeMove(WaveChecks &, const Record *, const CheckRecord *);
/// s_set_gpr_idx: M0 gets an index, which may be undefined, or defined bits that name operands.
bool checkRegisterIndex(WaveChecks &, const Record *, const CheckRecord *);
/// An instruction in VGPR indexing mode, whose record is the next one.
bool checkIndexed(WaveChecks &, const Record *, const CheckRecord *);
bool checkMatrix(WaveChecks &, const Record *, const CheckRecord *);

// --- Scalar instructions ---

/// The same in which all entries count.
CheckFunction scalarTest(unsigned reads, unsigned writes);
bool checkScalarSlow(WaveChecks &, const Record *, const CheckRecord *);
/// s_movrel: M0 chooses the register.
bool checkScalarRelativeMove(WaveChecks &, const Record *, const CheckRecord *);
bool checkBranchOnScc(WaveChecks &, const Record *, const CheckRecord *);
bool checkBranchOnVcc(WaveChecks &, const Record *, const CheckRecord *);
/// Jumps to an address in registers.
bool checkJumpSlow(WaveChecks &, const Record *, const CheckRecord *);
bool checkSetRegisterSlow(WaveChecks &, const Record *, const CheckRecord *);
/// What is read becomes a part of EXEC.
bool checkExecSlow(WaveChecks &, const Record *, const CheckRecord *);

// --- Memory and waits ---

/// Reads 0 and 1 are the lanes' addresses, the others scalars.
bool checkMemory(WaveChecks &, const Record *, const CheckRecord *);
/// Permutations by LDS hardware: a move between lanes that comes when LDS's counter says so.
bool checkLdsPermutation(WaveChecks &, const Record *, const CheckRecord *);
/// A clock or the answer to a message: like a load, from no memory.
bool checkClock(WaveChecks &, const Record *, const CheckRecord *);
bool checkWait(WaveChecks &, const Record *, const CheckRecord *);
/// Cache control that makes older loads' lines go: for races in global memory.
bool checkInvalidation(WaveChecks &, const Record *, const CheckRecord *);
/// Counts, and delivers nothing: messages and cache control.
bool checkMessage(WaveChecks &, const Record *, const CheckRecord *);
bool checkWriteBack(WaveChecks &, const Record *, const CheckRecord *);

} // namespace wavetile::device::checks

#endif // WAVETILE_RUNTIME_EMULATOR_CHECKS_CHECKFUNCTIONS_H
