//===- wavetile-device-coverage.cpp - Lists what the device executes -------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   wavetile-device-coverage TARGET              every instruction, one a line
//   wavetile-device-coverage --missing TARGET    those refused that should not be
//   wavetile-device-coverage --page EVIDENCE     docs/software-device-coverage.md
//   wavetile-device-coverage --check-evidence EVIDENCE
//                                                fails if an instruction is called exact without
//
// EVIDENCE is tests/unit/evidence/evidence.txt, see Evidence.h.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Coverage.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <iterator>

using namespace wavetile::device;

static const char *word(Support support) {
  static constexpr const char *words[] = {"exact", "approximate", "left-out", "missing"};
  return words[static_cast<size_t>(support)];
}

static llvm::Expected<std::string> withEvidence(bool isPage, llvm::StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return llvm::createStringError(file.getError(), path);
  auto evidence = readEvidence((*file)->getBuffer());
  if (!evidence)
    return evidence.takeError();
  return isPage ? coveragePage(*evidence) : evidenceDifferences(*evidence);
}

int main(int argc, char **argv) {
  std::vector<llvm::StringRef> arguments(argv + 1, argv + argc);
  bool isPage = !arguments.empty() && arguments[0] == "--page";
  if (arguments.size() == 2 && (isPage || arguments[0] == "--check-evidence")) {
    auto text = withEvidence(isPage, arguments[1]);
    if (!text) {
      llvm::errs() << llvm::toString(text.takeError()) << "\n";
      return 1;
    }
    (isPage ? llvm::outs() : llvm::errs()) << *text;
    return isPage || text->empty() ? 0 : 1;
  }
  bool missingOnly = !arguments.empty() && arguments[0] == "--missing";
  if (missingOnly)
    arguments.erase(arguments.begin());
  if (arguments.size() != 1 || arguments[0].starts_with("-")) {
    llvm::errs() << "usage: wavetile-device-coverage [--missing] TARGET | --page EVIDENCE | "
                    "--check-evidence EVIDENCE\n";
    return 2;
  }
  auto covered = instructionCoverage(arguments[0]);
  if (!covered) {
    llvm::errs() << llvm::toString(covered.takeError()) << "\n";
    return 1;
  }
  size_t count = 0;
  for (const CoveredInstruction &instruction : *covered) {
    if (missingOnly && instruction.support != Support::Missing)
      continue;
    ++count;
    llvm::outs() << instruction.encoding << "\t" << instruction.mnemonic;
    if (!missingOnly)
      llvm::outs() << "\t" << word(instruction.support);
    llvm::outs() << "\t" << instruction.why << "\n";
  }
  llvm::errs() << count << (missingOnly ? " missing on " : " instructions of ") << arguments[0]
               << "\n";
  return 0;
}
