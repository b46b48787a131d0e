//===- GlobalMemory.cpp - Checked access to global memory -----------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/GlobalMemory.h"

namespace wavetile::device {

std::optional<Allocation> GlobalMemory::find(uint64_t address) const {
  if (address >= kernargBegin && address < kernargEnd) {
    Allocation arguments;
    arguments.begin = kernargBegin;
    arguments.end = kernargEnd;
    arguments.source = BoundsSource::Device;
    arguments.writable = false;
    arguments.definedBits = kernargDefinedBits;
    return arguments;
  }
  std::optional<Allocation> found = map.find(address);
  return found && found->freed ? std::nullopt : found;
}

bool GlobalMemory::lookUp(const Record *record, uint64_t address) {
  std::optional<Allocation> found = find(address);
  if (!found)
    return false;
  cache[slot(record)] = *found;
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
