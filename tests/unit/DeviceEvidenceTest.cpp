//===- DeviceEvidenceTest.cpp - What is called exact is shown to be -------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See runtime/emulator/Evidence.h.
//
//===----------------------------------------------------------------------===//

#include "evidence/CoverageOfTarget.h"
#include "evidence/ExecutedInstructions.h"
#include "reference/DirectedComparison.h"
#include "runtime/emulator/Evidence.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

namespace wavetile::evidence {

using device::Evidence, device::EvidenceKey, device::evidenceByReference;

namespace {

const Evidence &writtenList() {
  static const Evidence list = [] {
    std::ifstream file(WAVETILE_EVIDENCE);
    std::stringstream text;
    text << file.rdbuf();
    auto read = device::readEvidence(text.str());
    if (!read) {
      ADD_FAILURE() << llvm::toString(read.takeError());
      return Evidence();
    }
    return *read;
  }();
  return list;
}
const char *fileToWrite() { return std::getenv("WAVETILE_WRITE_EVIDENCE"); }
Evidence &listToWrite() {
  static Evidence list;
  return list;
}

struct Processor {
  const char *name;
  unsigned waveSize;
};
void PrintTo(const Processor &p, std::ostream *out) { *out << p.name; }

class DeviceEvidence : public testing::TestWithParam<Processor> {};

/// All instructions of all targets take minutes, and WAVETILE_EVIDENCE_ALL. Otherwise each encoding
/// of a mnemonic that is in the list is compared on one target, another one each time; none where
/// only what is new is to be written.
bool isTurnOf(const EvidenceKey &key, uint64_t seed) {
  if (std::getenv("WAVETILE_EVIDENCE_ALL"))
    return true;
  if (fileToWrite())
    return false;
  static const auto targetsOf = [] {
    std::map<std::pair<std::string, std::string>, std::vector<std::string>> result;
    for (const auto &[entry, how] : writtenList())
      if (how == evidenceByReference)
        result[{entry.encoding, entry.mnemonic}].push_back(entry.target);
    return result;
  }();
  const std::vector<std::string> &targets = targetsOf.at({key.encoding, key.mnemonic});
  size_t turn = (seed + std::hash<std::string>()(key.encoding + key.mnemonic)) % targets.size();
  return targets[turn] == key.target;
}

TEST_P(DeviceEvidence, DeviceAndReferenceAgree) {
  const char *given = std::getenv("WAVETILE_TEST_SEED");
  static const uint64_t seed = given ? std::strtoull(given, nullptr, 0) : std::random_device()();
  std::cout << "WAVETILE_TEST_SEED=" << seed << std::endl;
  auto [target, waveSize] = GetParam();
  reference::DirectedComparison comparison(target, waveSize);
  reference::DirectedComparison ofDuals(target, 32); // Only such waves have VOPD.
  unsigned count = 0;
  std::map<std::string, unsigned> undocumented;
  for (const device::CoveredInstruction &row : coverageOf(target)) {
    if (row.support != device::Support::Exact)
      continue;
    EvidenceKey key{target, row.encoding, row.mnemonic};
    auto listed = writtenList().find(key);
    bool isListed = listed != writtenList().end() && listed->second == evidenceByReference;
    if (!isListed && !fileToWrite())
      continue;
    if (isListed && !isTurnOf(key, seed)) {
      listToWrite()[key] = evidenceByReference; // As before.
      continue;
    }
    reference::Comparison result = (row.encoding == "VOPD" ? ofDuals : comparison).compare(row);
    ++count;
    for (const std::string &modifier : result.undocumentedModifiers)
      ++undocumented[modifier];
    std::string missing = result.missing();
    if (isListed || !result.difference.empty())
      EXPECT_EQ(missing, "") << target << " " << row.encoding << " " << row.mnemonic;
    if (fileToWrite() && missing.empty())
      listToWrite()[key] = evidenceByReference;
    else if (fileToWrite())
      std::cout << "  " << target << " " << row.encoding << " " << row.mnemonic << ": " << missing
                << "\n";
  }
  std::cout << count << " instructions of " << target << "; modifiers without a meaning:";
  for (const auto &[modifier, times] : undocumented)
    std::cout << " " << modifier << " (" << times << ")";
  std::cout << "\n";
}
INSTANTIATE_TEST_SUITE_P(Targets, DeviceEvidence,
                         testing::Values(Processor{"gfx942", 64}, Processor{"gfx950", 64},
                                         Processor{"gfx1100", 32}, Processor{"gfx1150", 64},
                                         Processor{"gfx1151", 32}, Processor{"gfx1201", 32}),
                         [](const auto &info) { return std::string(info.param.name); });

/// After all tests: what the list says of test suites is true of those that ran as a whole.
class Suites : public testing::Environment {
public:
  void TearDown() override {
    if (const char *file = fileToWrite())
      return write(file);
    std::set<std::string> complete = completeSuites();
    for (const auto &[key, how] : writtenList()) {
      if (!complete.count(how))
        continue;
      auto found = executed().find(key);
      bool isExecuted = found != executed().end() && found->second.count(how);
      EXPECT_TRUE(isExecuted) << how << " does not execute " << key.target << " " << key.encoding
                              << " " << key.mnemonic;
      if (isExecuted && device::isVectors(how))
        EXPECT_GE(found->second.at(how), device::leastOperands)
            << "operands of " << key.target << " " << key.encoding << " " << key.mnemonic << " in "
            << how;
    }
  }

private:
  static std::set<std::string> completeSuites() {
    std::set<std::string> result;
    const testing::UnitTest &all = *testing::UnitTest::GetInstance();
    for (int i = 0; i < all.total_test_suite_count(); ++i) {
      const testing::TestSuite &suite = *all.GetTestSuite(i);
      if (suite.successful_test_count() == suite.total_test_count())
        result.insert(suite.name());
    }
    return result;
  }
  /// Suites with vectors, then others.
  static std::string best(const std::map<std::string, uint64_t> &hows, bool wantsVectors) {
    if (wantsVectors)
      for (const auto &[how, operands] : hows)
        if (device::isVectors(how) && operands >= device::leastOperands)
          return how;
    constexpr const char *aboutEnds = "DeviceWaveEnds";
    if (hows.count(aboutEnds))
      return aboutEnds;
    for (const auto &[how, operands] : hows)
      if (!device::isVectors(how))
        return how;
    return device::noEvidence;
  }
  static void write(const char *file) {
    for (const device::TargetDescription &target : device::targets())
      for (const device::CoveredInstruction &row : coverageOf(target.name)) {
        EvidenceKey key{target.name, row.encoding, row.mnemonic};
        if (row.support != device::Support::Exact || listToWrite().count(key))
          continue;
        std::map<std::string, uint64_t> hows;
        if (auto found = executed().find(key); found != executed().end())
          hows = found->second;
        listToWrite()[key] = best(hows, !device::whyNoVectors(key.mnemonic));
      }
    std::ofstream(file) << device::print(listToWrite());
    std::cout << llvm::cantFail(device::evidenceDifferences(listToWrite()));
  }
};
[[maybe_unused]] const testing::Environment *suites = testing::AddGlobalTestEnvironment(new Suites);

} // namespace
} // namespace wavetile::evidence
