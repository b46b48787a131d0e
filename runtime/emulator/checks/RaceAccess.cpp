//===- RaceAccess.cpp - Accesses as the race checks see them ---------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/checks/RaceAccess.h"

#include <algorithm>
#include <cstring>

namespace wavetile::device::checks {

static RaceKind kindOf(AccessKind kind) {
  switch (kind) {
  case AccessKind::Load:
  case AccessKind::LoadToLds:
    return RaceKind::Read;
  case AccessKind::Store:
    return RaceKind::Write;
  case AccessKind::Atomic:
  case AccessKind::AtomicReturning:
    break;
  }
  return RaceKind::Atomic;
}

void RaceAccess::spread() {
  if (!isRun)
    return;
  for (unsigned lane = 1; lane < maximumWaveSize; ++lane)
    if (isLds)
      offsets[lane] = offsets[0] + lane * bytes;
    else
      addresses[lane] = addresses[0] + uint64_t(lane) * bytes;
  isRun = false;
}

unsigned splitAccess(const Wave &wave, const MemoryAccess &access, RaceAccess *const (&parts)[2]) {
  unsigned count = 0;
  uint64_t lanes = access.active;
  if (access.space != AccessSpace::Scratch && lanes != 0) {
    RaceAccess &part = *parts[count++];
    part.record = access.record;
    part.kind = kindOf(access.kind);
    part.isLds = access.space == AccessSpace::Lds;
    part.isLoadToLds = false;
    part.isRun = access.contiguous && access.overEnd == 0;
    part.scope = access.scope;
    // A lane whose bytes are cut is left out: its neighbours in the block are nobody's.
    part.lanes = lanes & ~access.overEnd;
    part.bytes = access.bytes;
    // Else all lanes, for that is quicker: those that are off are not looked at.
    if (part.isRun && part.isLds)
      part.offsets[0] = access.offset + access.offsets[0]; // May wrap.
    else if (part.isRun)
      part.addresses[0] = access.addresses[0];
    else if (part.isLds && access.offsets)
      for (unsigned lane = 0; lane < wave.waveSize; ++lane)
        part.offsets[lane] = access.offset + access.offsets[lane]; // May wrap.
    else if (part.isLds)
      std::fill_n(part.offsets, wave.waveSize, access.offset);
    else if (access.space == AccessSpace::Constant)
      part.addresses[0] = access.addresses[0];
    else
      std::copy_n(access.addresses, wave.waveSize, part.addresses);
  }
  if (access.kind == AccessKind::LoadToLds && (access.active | access.zeroed) != 0) {
    RaceAccess &part = *parts[count++];
    part.record = access.record;
    part.kind = RaceKind::Write;
    part.isLds = part.isLoadToLds = true;
    part.isRun = false;
    part.scope = AccessScope::Wave;
    part.lanes = access.active | access.partial | access.zeroed;
    part.bytes = access.ldsBytes;
    part.step = access.ldsStep;
    part.forLanes(
        [&](unsigned lane) { part.offsets[lane] = access.ldsOffset + lane * access.ldsStep; });
  }
  return count;
}

bool changesBytes(const Wave &wave, const MemoryAccess &access, const RaceAccess &part,
                  unsigned lane, uint32_t first, uint32_t count) {
  uint64_t begin = part.addressOf(lane);
  const uint8_t *old =
      part.isLds ? wave.workgroup->lds + begin : reinterpret_cast<const uint8_t *>(begin);
  if (part.isLoadToLds) {
    bool whole = access.active >> lane & 1 && access.bytes == part.bytes;
    return !whole || std::memcmp(old + first,
                                 reinterpret_cast<const uint8_t *>(access.addresses[lane]) + first,
                                 count) != 0;
  }
  if (part.kind != RaceKind::Write || access.data.kind() != OperandKind::Vector)
    return true;
  // The usual case: one dword of several.
  if (access.placement == DataPlacement::Dwords && count == 4 && first % 4 == 0) {
    uint32_t before;
    std::memcpy(&before, old + first, 4);
    return before != wave.row(access.data)[first / 4 * wave.waveSize + lane];
  }
  uint8_t data[64];
  const uint32_t *row = wave.row(access.data) + lane;
  switch (access.placement) {
  case DataPlacement::Dwords:
    for (unsigned i = 0; i < access.registers; ++i)
      std::memcpy(data + 4 * i, row + i * wave.waveSize, 4);
    break;
  case DataPlacement::ZeroExtend:
  case DataPlacement::SignExtend:
  case DataPlacement::LowHalf:
    std::memcpy(data, row, 4);
    break;
  case DataPlacement::HighHalf: {
    uint32_t high = *row >> 16;
    std::memcpy(data, &high, 4);
    break;
  }
  case DataPlacement::Converted:
  case DataPlacement::Transposed:
    return true;
  }
  return std::memcmp(old + first, data + first, count) != 0;
}

bool changesMemory(const Wave &wave, const MemoryAccess &access, const RaceAccess &part,
                   uint64_t address, uint32_t count) {
  unsigned last = maximumWaveSize;
  part.forLanes([&](unsigned lane) {
    uint64_t begin = part.addressOf(lane);
    if (begin < address + count && address < begin + part.bytes)
      last = lane;
  });
  if (last == maximumWaveSize)
    return false;
  uint64_t begin = part.addressOf(last);
  bool isWhole = begin <= address && address + count <= begin + part.bytes;
  return !isWhole ||
         changesBytes(wave, access, part, last, static_cast<uint32_t>(address - begin), count);
}

void OutstandingAccesses::grow() {
  std::vector<Entry> larger(std::max<size_t>(8, 2 * ring.size()));
  for (uint64_t i = head; i != tail; ++i)
    larger[i & (larger.size() - 1)] = at(i);
  ring = std::move(larger);
}

} // namespace wavetile::device::checks
