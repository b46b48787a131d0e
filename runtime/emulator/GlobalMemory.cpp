//===- GlobalMemory.cpp - Checked access to global memory -----------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/GlobalMemory.h"

namespace wavetile::device {

bool GlobalMemory::lookUp(const Record *record, uint64_t address) {
  Allocation &entry = cache[slot(record)];
  if (address >= kernargBegin && address < kernargEnd) {
    entry = Allocation{};
    entry.begin = kernargBegin;
    entry.end = kernargEnd;
    entry.source = BoundsSource::Device;
    entry.writable = false;
    return true;
  }
  std::optional<Allocation> found = map.find(address);
  if (!found || found->freed)
    return false;
  entry = *found;
  return true;
}

bool GlobalMemory::containsAllSlow(const Record *record, uint64_t address, uint64_t bytes,
                                   bool isStore) {
  if (!lookUp(record, address))
    return false;
  const Allocation &entry = cache[slot(record)];
  return entry.contains(address, bytes) && (entry.writable || !isStore);
}

Access GlobalMemory::check(const Record *record, uint64_t address, uint64_t bytes, bool isStore) {
  const Allocation &entry = cache[slot(record)];
  // What is cached of a mapping may be a part of it: only a fresh look says that an access leaves
  // it.
  if (!entry.contains(address, bytes) && !lookUp(record, address))
    return Access::OutOfBounds;
  if (isStore && !entry.writable)
    return Access::ReadOnly;
  bool allowed = isStore ? entry.contains(address, bytes) : entry.allowsLoad(address, bytes);
  return allowed ? Access::Allowed : Access::OutOfBounds;
}

} // namespace wavetile::device
