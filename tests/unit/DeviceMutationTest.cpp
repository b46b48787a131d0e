//===- DeviceMutationTest.cpp - Whether planted faults are found ----------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The fuzzer of DeviceReferenceTest.cpp has to find each of these faults within a minute.
// WAVETILE_TEST_SEED chooses other instructions.
//
//===----------------------------------------------------------------------===//

#include "reference/Mutations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <iostream>

namespace wavetile::reference {
namespace {

void findAll(const char *target, unsigned waveSize, const std::vector<Mutation> &mutations) {
  const char *given = std::getenv("WAVETILE_TEST_SEED");
  Fuzzer fuzzer(target, waveSize, given ? std::strtoull(given, nullptr, 0) : 20261130);
  fuzzer.plant(mutations);
  auto isFound = [](const PlantedMutation &planted) { return !planted.difference.empty(); };
  // Of the processor, whatever else it does.
  std::clock_t end = std::clock() + 60 * CLOCKS_PER_SEC;
  while (!std::ranges::all_of(fuzzer.planted(), isFound) && std::clock() < end)
    fuzzer.run(200);
  for (const PlantedMutation &planted : fuzzer.planted()) {
    EXPECT_TRUE(isFound(planted)) << target << ": " << planted.mutation.fault << ", "
                                  << planted.compared << " instructions";
    std::cout << target << " " << planted.seconds << " s, instruction " << planted.compared << ": "
              << planted.mutation.fault << ": " << planted.difference << "\n";
  }
}

TEST(DeviceMutations, AreFoundOnGfx9) { findAll("gfx950", 64, mutationsOfGfx9()); }
TEST(DeviceMutations, AreFoundOnRdna) { findAll("gfx1150", 32, mutationsOfRdna()); }

} // namespace
} // namespace wavetile::reference
