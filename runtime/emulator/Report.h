//===- Report.h - Faults of kernels as text -------------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns the Fault of a launch into the report that a person reads: what, which
// instruction, which source line, which lane, whose memory.
//
// Promises: always the same shape, one fact a line; only facts; no more than a
// screen.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_REPORT_H
#define WAVETILE_RUNTIME_EMULATOR_REPORT_H

#include "runtime/emulator/CodeObject.h"
#include "runtime/emulator/Machine.h"
#include "runtime/emulator/MemoryMap.h"

#include <string>

namespace wavetile::device {

/// Where an access lies in relation to what is known of memory: "ends 2 bytes past the end of
/// allocation 'x' of 8192 bytes".
std::string describeAccess(const MemoryMap &memory, uint64_t address, uint64_t bytes);

/// The report of `fault`, with no newline at its end. `kernel` is the one that was launched, of
/// `object`.
std::string formatFault(const Fault &fault, const KernelInfo &kernel, const CodeObject &object,
                        const MemoryMap &memory);

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_REPORT_H
