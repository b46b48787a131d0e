//===- LaneMemory.cpp - Loads and stores of all lanes of a wave -----------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/instructions/LaneMemory.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {

bool eachLaneAccessible(Wave &wave, const Record *record, const LaneAddresses &lanes,
                        uint32_t bytes, bool isStore) {
  for (uint64_t mask = lanes.active; mask != 0; mask &= mask - 1) {
    int lane = __builtin_ctzll(mask);
    uint64_t address = lanes.address[lane];
    Access access = wave.workgroup->memory->check(record, address, bytes, isStore);
    if (access == Access::Allowed)
      continue;
    FaultKind kind = access == Access::ReadOnly ? FaultKind::ReadOnly : FaultKind::OutOfBounds;
    fail(wave, record, kind, lane, address, bytes, isStore);
    return false;
  }
  return true;
}

bool aligned(Wave &wave, const Record *record, const LaneAddresses &lanes, uint32_t bytes,
             uint32_t alignment) {
  for (uint64_t mask = lanes.active; mask != 0; mask &= mask - 1) {
    int lane = __builtin_ctzll(mask);
    if (lanes.address[lane] % alignment == 0)
      continue;
    fail(wave, record, FaultKind::Misaligned, lane, lanes.address[lane], bytes, true);
    return false;
  }
  return true;
}

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
