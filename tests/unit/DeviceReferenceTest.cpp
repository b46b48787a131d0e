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

struct Processor {
  const char *name;
  unsigned waveSize;
};
void PrintTo(const Processor &p, std::ostream *out) { *out << p.name << "_wave" << p.waveSize; }

class DeviceReference : public testing::TestWithParam<Processor> {};

TEST_P(DeviceReference, RandomInstructionsAgree) {
  uint64_t seed = seedOfRun();
  std::cout << "WAVETILE_TEST_SEED=" << seed << std::endl;
  const Processor &processor = GetParam();
  Fuzzer fuzzer(processor.name, processor.waveSize, seed);
  for (unsigned done = 0; done < instructionsOfRun(); done += 2000)
    fuzzer.run(2000);
  uint64_t compared = 0, unreadable = 0;
  for (const auto &[name, tally] : fuzzer.tallies()) {
    compared += tally.compared;
    unreadable += tally.unreadable;
    EXPECT_EQ(tally.different, 0u) << processor.name << " " << name << ": " << tally.different
                                   << " of " << tally.compared << "; " << tally.firstDifference;
  }
  std::cout << processor.name << ": " << compared << " compared, " << unreadable << " left out, "
            << fuzzer.tallies().size() << " instructions; unknown:";
  for (const auto &[name, times] : fuzzer.unknown())
    std::cout << " " << name;
  std::cout << "\n";
}
INSTANTIATE_TEST_SUITE_P(Targets, DeviceReference,
                         testing::Values(Processor{"gfx942", 64}, Processor{"gfx950", 64},
                                         Processor{"gfx1100", 32}, Processor{"gfx1150", 64},
                                         Processor{"gfx1151", 32}, Processor{"gfx1201", 32},
                                         Processor{"gfx1201", 64}),
                         [](const auto &info) { return testing::PrintToString(info.param); });

} // namespace
} // namespace wavetile::reference
