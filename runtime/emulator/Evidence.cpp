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

/// Test suites that compare at least 256 operands of each of their instructions with values that
/// are computed in another way: matrices of random integers and numbers by the definition of the
/// product; every code of the narrow formats; every format of buffers; quotients of the host; jumps
/// of a thousand distances; fields of registers by their masks; segments of 2 / pi by integers.
static constexpr const char *vectorSuites[] = {
    "DeviceMatrix",           "DeviceMatrixScale",      "DeviceWaveMatrix",
    "DeviceMatrixRounding",   "DeviceNarrowFormat",     "DeviceBufferFormats",
    "DeviceControlFlow",      "DeviceTrigonometry",     "DeviceHardwareRegisters",
    "DeviceRegisterIndexing", "DeviceTransposingReads", "DeviceDivision"};

bool isVectors(const std::string &how) {
  return how == evidenceByReference || llvm::is_contained(vectorSuites, how);
}

const char *whyNoVectors(llvm::StringRef mnemonic) {
  struct Row {
    const char *mnemonics, *why;
  };
  static constexpr Row rows[] = {
      {"s_endpgm s_endpgm_saved", "ends the wave"},
      {"s_setkill s_sethalt s_sendmsghalt s_trap s_code_end", "stops the wave, or does nothing"},
      {"s_barrier s_barrier_signal s_barrier_signal_isfirst s_barrier_wait s_get_barrier_state",
       "goes by what other waves do"},
      {"s_memtime s_memrealtime", "reads a clock"},
      {"s_sendmsg s_sendmsg_rtn_b32 s_sendmsg_rtn_b64", "is answered by the host, or not at all"},
      {"s_sleep s_sleep_var", "gives other waves a turn"},
      {"s_alloc_vgpr", "does nothing where a wave has all its registers from the start"},
  };
  for (const Row &row : rows) {
    llvm::SmallVector<llvm::StringRef, 8> names;
    llvm::StringRef(row.mnemonics).split(names, ' ');
    if (llvm::is_contained(names, mnemonic))
      return row.why;
  }
  return nullptr;
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
  for (const EvidenceKey &key : exact) {
    auto entry = list.find(key);
    bool isShown = entry != list.end() && entry->second != noEvidence &&
                   (isVectors(entry->second) || whyNoVectors(key.mnemonic));
    if (!isShown)
      result += key.target + " " + key.encoding + " " + key.mnemonic +
                " is called exact, and nothing shows it: see runtime/emulator/Evidence.h\n";
  }
  for (const auto &[key, how] : list)
    if (!exact.count(key))
      result += key.target + " " + key.encoding + " " + key.mnemonic +
                " is in the list and not among the exact instructions\n";
  return result;
}

} // namespace wavetile::device
