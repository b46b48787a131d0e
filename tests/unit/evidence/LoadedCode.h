//===- LoadedCode.h - Code that a test has loaded, and how often it ran ---===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counts on how many operands test suites execute each instruction: see ExecutedInstructions.h.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_TESTS_UNIT_EVIDENCE_LOADEDCODE_H
#define WAVETILE_TESTS_UNIT_EVIDENCE_LOADEDCODE_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace wavetile::evidence {

/// Code that the test that runs now has loaded.
class LoadedCode {
public:
  LoadedCode() = default;
  LoadedCode(const std::string &target, llvm::ArrayRef<uint8_t> code);
  /// It was executed on so many lanes.
  void ran(uint64_t lanes) const;

private:
  /// What counts the operands of each instruction, and how many an execution has; 0: one a lane.
  std::vector<std::pair<uint64_t *, uint64_t>> counts;
};

} // namespace wavetile::evidence

#endif // WAVETILE_TESTS_UNIT_EVIDENCE_LOADEDCODE_H
