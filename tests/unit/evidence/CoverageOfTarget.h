//===- CoverageOfTarget.h - All instructions of a target, listed once -----===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `instructionCoverage` of a target, which takes a second or two, for all tests that want it.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_TESTS_UNIT_EVIDENCE_COVERAGEOFTARGET_H
#define WAVETILE_TESTS_UNIT_EVIDENCE_COVERAGEOFTARGET_H

#include "runtime/emulator/Coverage.h"

#include "llvm/Support/Error.h"

#include <map>
#include <string>
#include <vector>

namespace wavetile::evidence {

inline const std::vector<device::CoveredInstruction> &coverageOf(const std::string &target) {
  static std::map<std::string, std::vector<device::CoveredInstruction>> known;
  auto [found, isNew] = known.try_emplace(target);
  if (isNew)
    found->second = llvm::cantFail(device::instructionCoverage(target));
  return found->second;
}

} // namespace wavetile::evidence

#endif // WAVETILE_TESTS_UNIT_EVIDENCE_COVERAGEOFTARGET_H
