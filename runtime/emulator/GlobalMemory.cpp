//===- GlobalMemory.cpp - Checked access to global memory -----------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/GlobalMemory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

namespace wavetile::device {

/// Host memory is looked at in windows of this size, which overlap by the widest access. Looking
/// makes the host provide the pages of a window, so it is not the whole of a large allocation.
static constexpr uint64_t windowSize = 64 << 20, widestAccess = 64;

/// Whether the host lets us read, or read and write, [begin, end): what the client said about its
/// memory may be wrong, and a wrong access of ours would end the process.
static bool isAccessible(const MemoryMap &map, uint64_t begin, uint64_t end, bool isStore) {
  constexpr uint64_t pageSize = 4096;
  uint64_t firstPage = begin / pageSize * pageSize;
  int advice = isStore ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
  if (madvise(reinterpret_cast<void *>(firstPage), end - firstPage, advice) == 0)
    return true;
  // Kernels before 5.14 do not know the advice, and special mappings do not take it.
  if (errno != EINVAL)
    return false;
  return isStore ? map.isWritable(begin, end - begin) : map.isMapped(begin, end - begin);
}

std::optional<Allocation> GlobalMemory::accessiblePart(Allocation allocation, uint64_t address,
                                                       bool isStore) {
  uint64_t windowBegin = address / windowSize * windowSize;
  uint64_t begin = std::max(allocation.begin, windowBegin);
  uint64_t end = std::min(allocation.end, windowBegin + windowSize + widestAccess);
  Accessible &known = accessible[begin];
  if (known.end != end)
    known = {end, isAccessible(map, begin, end, false), std::nullopt};
  if (!known.isReadable)
    return std::nullopt;
  if (isStore && !known.isWritable)
    known.isWritable = isAccessible(map, begin, end, true);
  allocation.writable &= known.isWritable.value_or(false);
  if (allocation.definedBits)
    allocation.definedBits += begin - allocation.begin;
  allocation.begin = begin;
  allocation.end = end;
  return allocation;
}

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

bool GlobalMemory::lookUp(const Record *record, uint64_t address, bool isStore) {
  std::optional<Allocation> found = find(address);
  if (found && found->source != BoundsSource::Device)
    found = accessiblePart(*found, address, isStore);
  if (!found)
    return false;
  cache[slot(record)] = *found;
  return true;
}

bool GlobalMemory::containsAllSlow(const Record *record, uint64_t address, uint64_t bytes,
                                   bool isStore) {
  if (!lookUp(record, address, isStore))
    return false;
  const Allocation &entry = cache[slot(record)];
  return entry.contains(address, bytes) && (entry.writable || !isStore);
}

Access GlobalMemory::check(const Record *record, uint64_t address, uint64_t bytes, bool isStore) {
  const Allocation &entry = cache[slot(record)];
  // What is cached may be a part of an allocation, and only good for loads: only a fresh look says
  // that an access is out of order.
  bool isCovered = entry.contains(address, bytes) && (entry.writable || !isStore);
  if (!isCovered && !lookUp(record, address, isStore))
    return Access::OutOfBounds;
  if (isStore && !entry.writable)
    return Access::ReadOnly;
  bool allowed = isStore ? entry.contains(address, bytes) : entry.allowsLoad(address, bytes);
  return allowed ? Access::Allowed : Access::OutOfBounds;
}

} // namespace wavetile::device
