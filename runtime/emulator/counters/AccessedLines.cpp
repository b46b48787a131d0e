//===- AccessedLines.cpp - The cache lines that an access touches ---------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/counters/AccessedLines.h"

#include "llvm/ADT/STLExtras.h"

namespace wavetile::device {

void AccessedLines::add(uint64_t firstByte, uint64_t bytes) {
  uint64_t last = (firstByte + bytes - 1) / lineBytes;
  for (uint64_t line = firstByte / lineBytes; line <= last; ++line)
    if (list.empty() || list.back() != line)
      list.push_back(line);
}

void AccessedLines::find(const Wave &wave, const MemoryAccess &access) {
  list.clear();
  if (access.contiguous)
    return add(access.addresses[0], uint64_t(access.bytes) * wave.waveSize);
  for (uint64_t lanes = access.active | access.partial; lanes != 0; lanes &= lanes - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctzll(lanes));
    uint32_t bytes = access.partial >> lane & 1 ? access.lengths[lane] : access.bytes;
    if (access.space != AccessSpace::Scratch) {
      add(access.addresses[lane], bytes);
      continue;
    }
    uint32_t begin = access.offset + (access.offsets ? access.offsets[lane] : 0);
    for (uint32_t dword = begin / 4; dword <= (begin + bytes - 1) / 4; ++dword)
      add((uint64_t(dword) * wave.waveSize + lane) * 4, 4);
  }
  llvm::sort(list);
  list.erase(llvm::unique(list), list.end());
}

} // namespace wavetile::device
