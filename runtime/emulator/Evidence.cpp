//===- Evidence.cpp - What shows that an instruction is exact --------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Evidence.h"

#include "runtime/emulator/Coverage.h"
#include "runtime/emulator/Target.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <set>
#include <sstream>
#include <tuple>
#include <vector>

namespace wavetile::device {

/// "DeviceLds | DS | gfx942 gfx950 | ds_read_b32 ds_read_b64", and lines that go on with blanks.
llvm::Expected<Evidence> readEvidence(llvm::StringRef text) {
  Evidence list;
  std::string how, encoding;
  std::vector<std::string> targets;
  std::istringstream lines(text.str());
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#')
      continue;
    std::string names = line;
    if (line[0] != ' ') {
      llvm::SmallVector<llvm::StringRef, 4> parts;
      llvm::StringRef(line).split(parts, '|');
      if (parts.size() != 4)
        return llvm::createStringError("not a line of evidence: " + line);
      how = parts[0].trim().str(), encoding = parts[1].trim().str(), names = parts[3].str();
      targets.clear();
      std::istringstream words(parts[2].str());
      for (std::string target; words >> target;)
        targets.push_back(target);
    }
    std::istringstream words(names);
    for (std::string mnemonic; words >> mnemonic;)
      for (const std::string &target : targets)
        list[{target, encoding, mnemonic}] = how;
  }
  return list;
}

bool isVectors(const std::string &how) {
  return how == evidenceByReference || llvm::is_contained(vectorSuites, how);
}

std::string print(const Evidence &list) {
  // Mnemonics of one encoding that the same targets have and the same shows.
  std::map<std::tuple<std::string, std::string, std::string>, std::set<std::string>> groups;
  std::map<std::tuple<std::string, std::string, std::string>, std::string> targets;
  for (const auto &[key, how] : list) {
    std::string &names = targets[{how, key.encoding, key.mnemonic}];
    names += (names.empty() ? "" : " ") + key.target;
  }
  for (const auto &[key, names] : targets)
    groups[{std::get<0>(key), std::get<1>(key), names}].insert(std::get<2>(key));
  std::string result = "# Made by EmulatorTests with WAVETILE_WRITE_EVIDENCE; see Evidence.h.\n";
  for (const auto &[key, mnemonics] : groups) {
    std::string line =
        std::get<0>(key) + " | " + std::get<1>(key) + " | " + std::get<2>(key) + " |";
    for (const std::string &mnemonic : mnemonics) {
      if (line.size() + mnemonic.size() > 99) {
        result += line + "\n";
        line = " ";
      }
      line += " " + mnemonic;
    }
    result += line + "\n";
  }
  return result;
}

llvm::Expected<std::string> evidenceDifferences(const Evidence &list) {
  std::string result;
  std::set<EvidenceKey> exact;
  for (const TargetDescription &target : targets()) {
    auto covered = instructionCoverage(target.name);
    if (!covered)
      return covered.takeError();
    for (const CoveredInstruction &row : *covered)
      if (row.support == Support::Exact)
        exact.insert({target.name, row.encoding, row.mnemonic});
  }
  for (const EvidenceKey &key : exact)
    if (!list.count(key))
      result += key.target + " " + key.encoding + " " + key.mnemonic +
                " is called exact, and nothing shows it: see runtime/emulator/Evidence.h\n";
  for (const auto &[key, how] : list)
    if (!exact.count(key))
      result += key.target + " " + key.encoding + " " + key.mnemonic +
                " is in the list and not among the exact instructions\n";
  return result;
}

} // namespace wavetile::device
