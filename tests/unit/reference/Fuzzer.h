//===- Fuzzer.h - Random instructions on two implementations --------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes random encodings of every ALU instruction with every modifier that the encoding has, runs
// each on the device and on the reference from the same random state, and compares all registers.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_TESTS_UNIT_REFERENCE_FUZZER_H
#define WAVETILE_TESTS_UNIT_REFERENCE_FUZZER_H

#include "reference/DeviceRun.h"
#include "reference/Encodings.h"
#include "reference/Reference.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace wavetile::reference {

/// What was found for one mnemonic.
struct Tally {
  uint64_t compared = 0;
  uint64_t different = 0;
  uint64_t unreadable = 0;
  std::string firstDifference;
};

/// A fault planted in the device, to see whether it is found.
struct Mutation {
  const char *fault;
  /// Whether it can show in this instruction.
  bool (*touches)(const Statement &);
  /// Executes a record as the device with the fault would.
  const device::Record *(*execute)(device::Wave &, const device::Record *);
};
struct PlantedMutation {
  Mutation mutation;
  uint64_t compared = 0;
  std::string difference; ///< The first instruction that showed it; empty: none did.
  double seconds = 0;     ///< Until then.
};

class Fuzzer {
public:
  Fuzzer(const std::string &target, unsigned waveSize, uint64_t seed);

  /// Makes, decodes and compares \p count random instructions, less what is none.
  void run(unsigned count);

  /// From now on instructions are executed with each of these faults too, until they show it.
  void plant(const std::vector<Mutation> &mutations);
  const std::vector<PlantedMutation> &planted() const { return plantedMutations; }

  /// By mnemonic with the suffix of the encoding.
  const std::map<std::string, Tally> &tallies() const { return results; }
  /// Mnemonics that the device executes and the reference does not know.
  const std::map<std::string, uint64_t> &unknown() const { return unknownMnemonics; }

private:
  std::vector<uint32_t> randomEncoding(unsigned format);
  uint32_t randomValue();
  void randomState();
  void compare(const device::DecodedProgram &program, uint64_t address, uint64_t next);

  const device::TargetDescription &target;
  Encodings encodings;
  std::mt19937_64 random;
  DeviceRun deviceRun;
  Wave before;
  std::map<std::string, Tally> results;
  std::map<std::string, uint64_t> unknownMnemonics;
  std::vector<PlantedMutation> plantedMutations;
  std::chrono::steady_clock::time_point plantedAt;
};

} // namespace wavetile::reference

#endif // WAVETILE_TESTS_UNIT_REFERENCE_FUZZER_H
