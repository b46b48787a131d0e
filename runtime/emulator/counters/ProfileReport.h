//===- ProfileReport.h - The profile of a launch, for people --------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Adds the counts of a launch's instructions up by what they are, and gives all of it as JSON:
// totals, those of them that a hardware counter has under the counter's name, occupancy, and each
// instruction with its text and place in the source. docs/software-device-counters.md has the
// fields.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_COUNTERS_PROFILEREPORT_H
#define WAVETILE_RUNTIME_EMULATOR_COUNTERS_PROFILEREPORT_H

#include "runtime/emulator/Occupancy.h"
#include "runtime/emulator/counters/InstructionProfile.h"
#include "runtime/emulator/counters/InstructionTraits.h"

#include "llvm/Support/JSON.h"

#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace wavetile::device {

/// An instruction of the kernel, executed or not, or of a function that it called.
struct ProfiledInstruction {
  const Record *record = nullptr;
  uint64_t address = 0;
  InstructionTraits traits;
  InstructionCounts counts;
};

/// Bytes that lanes asked for, and the lines of 128 bytes that each access touched.
struct MemoryTraffic {
  uint64_t loadedBytes = 0, storedBytes = 0; ///< Atomics are stores.
  uint64_t loadedLines = 0, storedLines = 0;
};

class ProfileReport {
public:
  /// \p result is what the launch came to; it has a profile.
  ProfileReport(const Launch &launch, const LaunchResult &result);

  /// By address.
  llvm::ArrayRef<ProfiledInstruction> instructions() const { return list; }

  uint64_t executed(InstructionKind kind) const { return kinds[static_cast<size_t>(kind)]; }
  uint64_t executed() const;

  /// Waits that name a counter; one may name several.
  std::array<uint64_t, checks::counterCount> waits{};
  uint64_t flat = 0;
  /// Lanes in EXEC when vector ALU instructions other than matrix products were executed, and
  /// lanes of all of these.
  uint64_t activeVectorLanes = 0, vectorLanes = 0;
  MemoryTraffic global; ///< Also of loads to LDS and of FLAT.
  MemoryTraffic scalar;
  MemoryTraffic scratch;
  uint64_t ldsBytesLoaded = 0, ldsBytesStored = 0, ldsCycles = 0, ldsConflictCycles = 0;
  uint64_t unalignedLanes = 0;
  uint64_t matrixOperations = 0;

  /// Everything. \p sourceOf gives "file:line" of an address, or "".
  llvm::json::Object json(llvm::function_ref<std::string(uint64_t)> sourceOf) const;

private:
  void add(const ProfiledInstruction &instruction);
  llvm::json::Object hardwareCounters() const;
  llvm::json::Object occupancyFields() const;
  llvm::json::Object memoryFields() const;
  llvm::json::Array matrixFields() const;
  llvm::json::Object fieldsOf(const ProfiledInstruction &instruction,
                              llvm::function_ref<std::string(uint64_t)> sourceOf) const;

  const Launch &launch;
  const DecodedProgram &program;
  uint64_t waves, workgroups;
  std::vector<ProfiledInstruction> list;
  std::array<uint64_t, static_cast<size_t>(InstructionKind::Count)> kinds{};
};

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_COUNTERS_PROFILEREPORT_H
