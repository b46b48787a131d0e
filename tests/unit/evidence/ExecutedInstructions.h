//===- ExecutedInstructions.h - Which test suite runs which instruction ---===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_TESTS_UNIT_EVIDENCE_EXECUTEDINSTRUCTIONS_H
#define WAVETILE_TESTS_UNIT_EVIDENCE_EXECUTEDINSTRUCTIONS_H

#include "runtime/emulator/Evidence.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace wavetile::evidence {

using device::EvidenceKey;

/// Notes that the test that runs now has loaded this code.
void note(const std::string &target, llvm::ArrayRef<uint8_t> code);

/// The test suites that have loaded each instruction so far.
const std::map<EvidenceKey, std::set<std::string>> &executed();

} // namespace wavetile::evidence

#endif // WAVETILE_TESTS_UNIT_EVIDENCE_EXECUTEDINSTRUCTIONS_H
