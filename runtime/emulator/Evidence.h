//===- Evidence.h - What shows that an instruction is exact ----------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What this header promises: tests/unit/evidence/evidence.txt, which has one entry for each
// instruction that the device executes and does not call approximate, by target and encoding. An
// entry is what shows it to be right:
//
//   reference       DeviceEvidenceTest compares device and reference on 256 random and 256 special
//                   operands or more, with every modifier, with lanes that are off and in place.
//   a vector suite  a test suite of `vectorSuites`, which compares as many operands with values
//                   computed in another way.
//   another suite   executes it on some operands with known results: no vectors, so the coverage
//                   page does not call it exact.
//   none            written by hand only: nothing yet, which the page says.
//
// The build fails where the device and the list differ (`wavetile-device-coverage
// --check-evidence`), the tests fail where an entry is not true. EmulatorTests with
// WAVETILE_WRITE_EVIDENCE=FILE adds to the list what is new, with WAVETILE_EVIDENCE_ALL=1 too it
// makes all of it again.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_EVIDENCE_H
#define WAVETILE_RUNTIME_EMULATOR_EVIDENCE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <map>
#include <string>

namespace wavetile::device {

struct EvidenceKey {
  std::string target, encoding, mnemonic;
  auto operator<=>(const EvidenceKey &) const = default;
};
inline const char *const evidenceByReference = "reference";
inline const char *const noEvidence = "none";

/// Test suites that compare at least 256 operands of each of their instructions with values that
/// are computed in another way: matrices of random integers and numbers by the definition of the
/// product; every code of the narrow formats; every format of buffers.
inline const char *const vectorSuites[] = {"DeviceMatrix",       "DeviceMatrixScale",
                                           "DeviceWaveMatrix",   "DeviceMatrixRounding",
                                           "DeviceNarrowFormat", "DeviceBufferFormats"};

/// What shows each instruction to be right: `evidenceByReference` or the name of a test suite.
using Evidence = std::map<EvidenceKey, std::string>;

/// Whether it is enough to call an instruction exact.
bool isVectors(const std::string &how);

/// Reads a list, or says which line is none.
llvm::Expected<Evidence> readEvidence(llvm::StringRef text);
std::string print(const Evidence &evidence);

/// Instructions of all targets that have no evidence, and evidence that has no instruction, a line
/// each; empty: they agree.
llvm::Expected<std::string> evidenceDifferences(const Evidence &evidence);

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_EVIDENCE_H
