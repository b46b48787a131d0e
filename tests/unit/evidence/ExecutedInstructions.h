//===- ExecutedInstructions.h - Which test suite runs which instruction ---===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counts the operands that test suites execute each instruction on: those of each active lane, of
// each element of a matrix product, once for a scalar instruction.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_TESTS_UNIT_EVIDENCE_EXECUTEDINSTRUCTIONS_H
#define WAVETILE_TESTS_UNIT_EVIDENCE_EXECUTEDINSTRUCTIONS_H

#include "runtime/emulator/Evidence.h"

#include <cstdint>
#include <map>
#include <string>

namespace wavetile::evidence {

using device::EvidenceKey;

/// The test suites that have loaded each instruction so far, and on how many operands they have
/// executed it.
const std::map<EvidenceKey, std::map<std::string, uint64_t>> &executed();

} // namespace wavetile::evidence

#endif // WAVETILE_TESTS_UNIT_EVIDENCE_EXECUTEDINSTRUCTIONS_H
