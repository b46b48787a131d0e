//===- ExecutedInstructions.cpp - Which test suite runs which instruction -===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "evidence/ExecutedInstructions.h"

#include "runtime/emulator/Coverage.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <gtest/gtest.h>

#include <cstring>
#include <mutex>

namespace wavetile::evidence {
namespace {

std::map<EvidenceKey, std::set<std::string>> &table() {
  static std::map<EvidenceKey, std::set<std::string>> suites;
  return suites;
}

/// Suites about checks and counters load code whose results they do not look at.
bool comparesValues(llvm::StringRef suite) {
  for (const char *other : {"DeviceWaits", "DeviceDefined", "DeviceRaces", "LdsRaces",
                            "DeviceCounters", "DeviceAccess", "DeviceBounds", "DeviceRecorder"})
    if (suite.contains(other))
      return false;
  return true;
}

} // namespace

void note(const std::string &target, llvm::ArrayRef<uint8_t> code) {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<device::InstructionNames>> names;
  std::lock_guard<std::mutex> lock(mutex);
  const testing::TestInfo *test = testing::UnitTest::GetInstance()->current_test_info();
  if (!test || !comparesValues(test->test_suite_name()))
    return;
  std::unique_ptr<device::InstructionNames> &ofTarget = names[target];
  if (!ofTarget)
    ofTarget = llvm::cantFail(device::InstructionNames::create(target));
  std::vector<uint32_t> words(code.size() / 4);
  std::memcpy(words.data(), code.data(), words.size() * 4);
  for (size_t at = 0; at < words.size();) {
    auto decoded = ofTarget->decode(llvm::ArrayRef(words).drop_front(at));
    for (const std::string &mnemonic : decoded.mnemonics)
      table()[{target, decoded.encoding, mnemonic}].insert(test->test_suite_name());
    at += decoded.bytes ? decoded.bytes / 4 : 1;
  }
}

const std::map<EvidenceKey, std::set<std::string>> &executed() { return table(); }

} // namespace wavetile::evidence
