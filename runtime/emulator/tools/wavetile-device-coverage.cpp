//===- wavetile-device-coverage.cpp - Lists what the device executes -------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   wavetile-device-coverage TARGET              every instruction, one a line
//   wavetile-device-coverage --missing TARGET    those refused that should not be
//   wavetile-device-coverage --page              docs/software-device-coverage.md
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Coverage.h"

#include "llvm/Support/raw_ostream.h"

#include <iterator>

using namespace wavetile::device;

static const char *word(Support support) {
  static constexpr const char *words[] = {"exact", "approximate", "left-out", "missing"};
  return words[static_cast<size_t>(support)];
}

int main(int argc, char **argv) {
  std::vector<llvm::StringRef> arguments(argv + 1, argv + argc);
  if (arguments.size() == 1 && arguments[0] == "--page") {
    auto page = coveragePage();
    if (!page) {
      llvm::errs() << llvm::toString(page.takeError()) << "\n";
      return 1;
    }
    llvm::outs() << *page;
    return 0;
  }
  bool missingOnly = !arguments.empty() && arguments[0] == "--missing";
  if (missingOnly)
    arguments.erase(arguments.begin());
  if (arguments.size() != 1 || arguments[0].starts_with("-")) {
    llvm::errs() << "usage: wavetile-device-coverage [--missing] TARGET | --page\n";
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
