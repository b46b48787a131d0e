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
//   a vector suite  a test suite that compares as many operands with values computed in another
//   way,
//                   which the tests count: see `isVectors`.
//   another suite   executes it, and `whyNoVectors` says why operands have no part in what it does:
//                   the coverage page calls it tested, not exact.
//
// The build fails for an instruction without one of these (`wavetile-device-coverage
// --check-evidence`), the tests fail where an entry is not true. EmulatorTests with
// WAVETILE_WRITE_EVIDENCE=FILE, and all of its tests run, adds to the list what is new; with
// WAVETILE_EVIDENCE_ALL=1 too it makes all of it again.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_EVIDENCE_H
#define WAVETILE_RUNTIME_EMULATOR_EVIDENCE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <map>
#include <string>

namespace wavetile::device {

struct EvidenceKey {
  std::string target, encoding, mnemonic;
  auto operator<=>(const EvidenceKey &) const = default;
};
inline const char *const evidenceByReference = "reference";
inline const char *const noEvidence = "none"; ///< What a list has until there is something.

/// Operands that vectors have at least, of each kind.
inline constexpr uint64_t leastOperands = 256;

/// What shows each instruction to be right: `evidenceByReference` or the name of a test suite.
using Evidence = std::map<EvidenceKey, std::string>;

/// Whether it is enough to call an instruction exact.
bool isVectors(const std::string &how);

/// Why vectors would show nothing of an instruction: what it does does not depend on operands.
/// Null: they would.
const char *whyNoVectors(llvm::StringRef mnemonic);

/// Reads a list, or says which line is none.
llvm::Expected<Evidence> readEvidence(llvm::StringRef text);
std::string print(const Evidence &evidence);

/// Instructions of all targets without enough evidence, and evidence that has no instruction, a
/// line each; empty: all is shown.
llvm::Expected<std::string> evidenceDifferences(const Evidence &evidence);

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_EVIDENCE_H
