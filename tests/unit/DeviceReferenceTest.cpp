//===- DeviceReferenceTest.cpp - The device against the reference ---------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "reference/Fuzzer.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

namespace wavetile::reference {
namespace {

uint64_t seedOfRun() {
  if (const char *given = std::getenv("WAVETILE_TEST_SEED"))
    return std::strtoull(given, nullptr, 0);
  return std::random_device()();
}
/// Instructions a target; more by WAVETILE_FUZZ_INSTRUCTIONS.
unsigned instructionsOfRun() {
  if (const char *given = std::getenv("WAVETILE_FUZZ_INSTRUCTIONS"))
    return static_cast<unsigned>(std::strtoul(given, nullptr, 0));
  return 20000;
}

class DeviceReference : public testing::TestWithParam<const char *> {};

TEST_P(DeviceReference, RandomInstructionsAgree) {
  uint64_t seed = seedOfRun();
  std::cout << "WAVETILE_TEST_SEED=" << seed << std::endl;
  Fuzzer fuzzer(GetParam(), seed);
  for (unsigned done = 0; done < instructionsOfRun(); done += 2000)
    fuzzer.run(2000);
  uint64_t compared = 0, unreadable = 0;
  for (const auto &[name, tally] : fuzzer.tallies()) {
    compared += tally.compared;
    unreadable += tally.unreadable;
    EXPECT_EQ(tally.different, 0u) << GetParam() << " " << name << ": " << tally.different << " of "
                                   << tally.compared << "; " << tally.firstDifference;
  }
  std::cout << GetParam() << ": " << compared << " compared, " << unreadable << " left out, "
            << fuzzer.tallies().size() << " instructions; unknown:";
  for (const auto &[name, times] : fuzzer.unknown())
    std::cout << " " << name;
  std::cout << "\n";
}
INSTANTIATE_TEST_SUITE_P(Targets, DeviceReference, testing::Values("gfx942", "gfx950", "gfx1150"));

} // namespace
} // namespace wavetile::reference
