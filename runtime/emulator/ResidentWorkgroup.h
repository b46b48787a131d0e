//===- ResidentWorkgroup.h - A workgroup while it is on the GPU ------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What this header promises: the memory of one workgroup (waves, registers, LDS, scratch) and its
// state from its start to its end. Memory is kept from one workgroup, and one launch, to the next;
// of registers only the rows that the kernel was granted are ever touched.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_RESIDENTWORKGROUP_H
#define WAVETILE_RUNTIME_EMULATOR_RESIDENTWORKGROUP_H

#include "runtime/emulator/AlignedArray.h"
#include "runtime/emulator/LaunchContext.h"
#include "runtime/emulator/Wave.h"
#include "runtime/emulator/checks/WaveChecks.h"
#include "runtime/emulator/checks/WorkgroupRaces.h"

#include "llvm/ADT/ArrayRef.h"

namespace wavetile::device {

class ResidentWorkgroup {
public:
  /// Starts the \p index-th workgroup of a launch here. Its accesses to global memory are looked at
  /// for races with those in \p globalRaces, if that is not null.
  void start(const LaunchContext &context, uint64_t index, checks::GlobalRaces *globalRaces);

  llvm::MutableArrayRef<Wave> waves() { return {waveMemory.get(), shared.waveCount}; }
  uint64_t index() const { return linearIndex; }
  const std::array<uint32_t, 3> &coordinates() const { return group; }
  bool hasEnded() const { return shared.barrier.members == 0; }

  /// Bytes that it holds.
  size_t capacity() const { return waveBytes + registerBytes + ldsBytes + scratchBytes; }

  Workgroup shared;
  /// The round of turns in which it runs next.
  uint64_t round = 0;
  /// Its last turn opened no barrier and ended no wave: the waves may be waiting for something.
  bool mayRepeat = false;

private:
  void reserve(const LaunchContext &context);

  AlignedArray<Wave> waveMemory;
  AlignedArray<uint32_t> registers;
  AlignedArray<uint8_t> lds;
  AlignedArray<uint8_t> scratch;
  size_t waveBytes = 0, registerBytes = 0, ldsBytes = 0, scratchBytes = 0;
  std::unique_ptr<WorkgroupChecks> checks;
  std::unique_ptr<WorkgroupRaces> races;
  uint64_t linearIndex = 0;
  std::array<uint32_t, 3> group{};
};

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_RESIDENTWORKGROUP_H
