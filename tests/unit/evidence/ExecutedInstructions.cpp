//===- ExecutedInstructions.cpp - Which test suite runs which instruction -===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "evidence/ExecutedInstructions.h"

#include "evidence/LoadedCode.h"

#include "runtime/emulator/Coverage.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <gtest/gtest.h>

#include <cstring>
#include <mutex>

namespace wavetile::evidence {
namespace {

std::map<EvidenceKey, std::map<std::string, uint64_t>> &table() {
  static std::map<EvidenceKey, std::map<std::string, uint64_t>> suites;
  return suites;
}
std::mutex &tableMutex() {
  static std::mutex mutex;
  return mutex;
}

/// Suites about checks and counters load code whose results they do not look at.
bool comparesValues(llvm::StringRef suite) {
  for (const char *other : {"DeviceWaits", "DeviceDefined", "DeviceRaces", "LdsRaces",
                            "DeviceCounters", "DeviceAccess", "DeviceBounds", "DeviceRecorder"})
    if (suite.contains(other))
      return false;
  return true;
}

/// How many sums a matrix instruction computes, of which EXEC switches none off; 0: it is none.
/// Rows, columns and blocks are in its name: v_mfma_f32_4x4x4_16b_f16.
uint64_t sumsOf(llvm::StringRef mnemonic) {
  llvm::SmallVector<llvm::StringRef, 8> parts;
  mnemonic.split(parts, '_');
  uint64_t sums = 0;
  for (llvm::StringRef part : parts) {
    uint64_t rows, columns, depth, blocks;
    llvm::StringRef shape = part;
    if (!shape.consumeInteger(10, rows) && shape.consume_front("x") &&
        !shape.consumeInteger(10, columns) && shape.consume_front("x") &&
        !shape.getAsInteger(10, depth))
      sums = rows * columns;
    else if (sums != 0 && part.consume_back("b") && !part.getAsInteger(10, blocks))
      sums *= blocks;
  }
  return sums;
}

} // namespace

LoadedCode::LoadedCode(const std::string &target, llvm::ArrayRef<uint8_t> code) {
  static std::map<std::string, std::unique_ptr<device::InstructionNames>> names;
  std::lock_guard<std::mutex> lock(tableMutex());
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
    for (const std::string &mnemonic : decoded.mnemonics) {
      uint64_t &count = table()[{target, decoded.encoding, mnemonic}][test->test_suite_name()];
      counts.emplace_back(&count, decoded.encoding[0] == 'S' ? 1 : sumsOf(mnemonic));
    }
    at += decoded.bytes ? decoded.bytes / 4 : 1;
  }
}

void LoadedCode::ran(uint64_t lanes) const {
  std::lock_guard<std::mutex> lock(tableMutex());
  for (auto [count, operands] : counts)
    *count += operands ? operands : lanes;
}

const std::map<EvidenceKey, std::map<std::string, uint64_t>> &executed() { return table(); }

} // namespace wavetile::evidence
