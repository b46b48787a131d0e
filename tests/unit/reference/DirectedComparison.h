//===- DirectedComparison.h - Every instruction on two implementations ----===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What this header promises: for one instruction in one encoding, whether the device and the
// reference agree on at least 256 sets of random operands and as many of special ones, with every
// modifier that the encoding has, with lanes that are off, and with a destination that is a source.
// Where the fuzzer draws instructions at random, this goes through a list of them.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_TESTS_UNIT_REFERENCE_DIRECTEDCOMPARISON_H
#define WAVETILE_TESTS_UNIT_REFERENCE_DIRECTEDCOMPARISON_H

#include "reference/DeviceRun.h"
#include "reference/Encodings.h"
#include "reference/Reference.h"

#include "runtime/emulator/Coverage.h"

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace wavetile::reference {

/// What was compared of one instruction.
struct Comparison {
  uint64_t randomOperands = 0, specialOperands = 0; ///< Sets: one a lane, or one a scalar.
  bool lanesOff = false, inPlace = false;
  std::set<std::string> modifiers; ///< That a comparison had.
  /// That the encoding has, but only so that AMD's documents do not say what they do.
  std::set<std::string> undocumentedModifiers;
  std::string difference; ///< The first one.
  bool unknown = false;   ///< The reference does not have the instruction.

  /// What is not there yet of all that is promised above; empty: nothing.
  std::string missing() const;
  bool isScalar = false; ///< No lanes.
  bool canBeInPlace = false;
};

class DirectedComparison {
public:
  DirectedComparison(const std::string &target, unsigned waveSize);

  /// On the same vectors each time, for what an encoding can have is found by chance.
  Comparison compare(const device::CoveredInstruction &instruction);

private:
  using Words = std::vector<uint32_t>;
  struct Candidate {
    Words words;
    std::string line;
    std::vector<Statement> statements;
    std::set<std::string> modifiers;
    bool inPlace = false;
  };
  struct Example {
    Words words;
    unsigned opcode = 0; ///< LLVM's.
    std::vector<uint32_t> freeBits;
  };
  std::vector<Example> examplesOf(const device::CoveredInstruction &instruction) const;
  const std::vector<uint32_t> &freeBits(const device::CoveredInstruction &instruction,
                                        const Example &example) const;
  bool isOf(const device::CoveredInstruction &instruction, const Example &example,
            const Words &words) const;
  std::vector<Candidate> candidates(const device::CoveredInstruction &instruction,
                                    const std::vector<Example> &examples);
  void makeStates();
  void compareCandidates(const device::CoveredInstruction &instruction,
                         const std::vector<Example> &examples, Comparison &result);
  void compareOne(const Candidate &candidate, const device::DecodedProgram &program,
                  uint64_t address, uint64_t next, Comparison &result);
  bool compareState(const Candidate &candidate, const device::Record *record,
                    const device::Record *end, const Wave &before, Comparison &result,
                    uint64_t &sets);

  const device::TargetDescription &target;
  Encodings encodings;
  std::unique_ptr<device::InstructionNames> names;
  std::unique_ptr<device::Disassembler> printer;
  std::mt19937_64 random;
  DeviceRun deviceRun;
  std::vector<Wave> randomStates, specialStates;
  Wave before, expected; ///< Of the comparison that runs: kept for their storage.
  MemoryBytes randomMemory, specialMemory;
  size_t turn = 0; ///< Whose state is next.
};

} // namespace wavetile::reference

#endif // WAVETILE_TESTS_UNIT_REFERENCE_DIRECTEDCOMPARISON_H
