//===- InstructionProfile.cpp - What each instruction of a launch did -----===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/counters/InstructionProfile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace wavetile::device {

InstructionCounts &InstructionCounts::operator+=(const InstructionCounts &other) {
  executed += other.executed;
  activeLanes += other.activeLanes;
  accessingLanes += other.accessingLanes;
  globalBytes += other.globalBytes;
  ldsBytes += other.ldsBytes;
  scratchBytes += other.scratchBytes;
  lines += other.lines;
  unalignedLanes += other.unalignedLanes;
  ldsCycles += other.ldsCycles;
  ldsConflictCycles += other.ldsConflictCycles;
  return *this;
}

InstructionProfile::InstructionProfile(const DecodedProgram &program)
    : firstRecord(program.allRecords().data()),
      ldsModel(program.target().ldsGeneration, program.waveSize()),
      list(program.allRecords().size()) {}

InstructionProfile &InstructionProfile::operator+=(const InstructionProfile &other) {
  for (auto [mine, others] : llvm::zip_equal(list, other.list))
    mine += others;
  return *this;
}

/// What an address must be a multiple of not to count as unaligned. Dwords of global memory and
/// scratch are accessed one by one; LDS serves a lane at once.
static uint64_t naturalAlignment(const MemoryAccess &access) {
  uint64_t size = llvm::PowerOf2Ceil(access.bytes);
  return access.space == AccessSpace::Lds ? size : std::min<uint64_t>(size, 4);
}

static uint64_t countUnaligned(const MemoryAccess &access, uint64_t lanes) {
  uint64_t mask = naturalAlignment(access) - 1;
  if (mask == 0)
    return 0;
  uint64_t count = 0;
  for (; lanes != 0; lanes &= lanes - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctzll(lanes));
    uint64_t address = access.addresses
                           ? access.addresses[lane]
                           : access.offset + (access.offsets ? access.offsets[lane] : 0);
    count += (address & mask) != 0;
  }
  return count;
}

static uint64_t countBytes(const MemoryAccess &access) {
  uint64_t bytes = static_cast<uint64_t>(__builtin_popcountll(access.active)) * access.bytes;
  for (uint64_t lanes = access.partial; lanes != 0; lanes &= lanes - 1)
    bytes += access.lengths[__builtin_ctzll(lanes)];
  return bytes;
}

bool InstructionProfile::observe(void *, Wave &wave, const MemoryAccess &access) {
  wave.workgroup->profile->count(wave, access);
  return true;
}

void InstructionProfile::count(const Wave &wave, const MemoryAccess &access) {
  InstructionCounts &counts = list[static_cast<size_t>(access.record - firstRecord)];
  uint64_t lanes = access.active | access.partial;
  uint64_t bytes = countBytes(access);
  counts.accessingLanes += static_cast<uint64_t>(__builtin_popcountll(lanes));
  counts.unalignedLanes += countUnaligned(access, lanes);
  LdsCost cost;
  switch (access.space) {
  case AccessSpace::Lds:
    counts.ldsBytes += bytes;
    cost = ldsModel.of(access);
    counts.ldsCycles += cost.cycles;
    counts.ldsConflictCycles += cost.conflicts();
    break;
  case AccessSpace::Scratch:
    counts.scratchBytes += bytes;
    lines.find(wave, access);
    counts.lines += lines.numbers().size();
    break;
  case AccessSpace::Global:
  case AccessSpace::Constant:
    counts.globalBytes += bytes;
    lines.find(wave, access);
    counts.lines += lines.numbers().size();
    break;
  }
  if (wave.workgroup->trace)
    wave.workgroup->trace->access(wave, access, bytes, cost, lines.numbers());
}

} // namespace wavetile::device
