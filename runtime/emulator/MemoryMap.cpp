//===- MemoryMap.cpp - What the device knows about host memory ------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/MemoryMap.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>

using namespace wavetile::device;

/// Identifiers of mappings are their index with this bit set; they need no entry in `names`.
static constexpr uint32_t mappingBit = 0x80000000u;

static constexpr uint64_t pageSize = 4096;
/// Pages that are asked for at once when a mapping is looked at again.
static constexpr unsigned windowPages = 16;

/// Bytes between `address` and the range; 0 inside.
static uint64_t distance(uint64_t begin, uint64_t end, uint64_t address) {
  if (address < begin)
    return begin - address;
  return address < end ? 0 : address - end + 1;
}

std::optional<Allocation> MemoryMap::find(uint64_t address) const {
  // The gap between better known ranges around `address`: all that less may answer for.
  uint64_t gapBegin = 0, gapEnd = UINT64_MAX;
  std::optional<Allocation> less;
  {
    std::shared_lock lock(mutex);
    auto after = known.upper_bound(address);
    if (after != known.begin() && std::prev(after)->second.contains(address, 1)) {
      const Allocation &allocation = std::prev(after)->second;
      return allocation.freed ? std::nullopt : std::optional(allocation);
    }
    if (auto announced = findAnnounced(address))
      return announced;
    if (!announcements.empty())
      return std::nullopt;
    if (after != known.begin()) {
      const Allocation &before = std::prev(after)->second;
      gapBegin = before.end + before.guard;
    }
    if (after != known.end())
      gapEnd = after->second.begin - after->second.guard;
    if (address < gapBegin || address >= gapEnd)
      return std::nullopt;
    bool isBesideOne = false;
    less = findRecorded(address, isBesideOne);
    if (!less && (isBesideOne || unknownRefused))
      return std::nullopt;
  }
  if (!less)
    less = findMapping(address);
  if (less) {
    less->begin = std::max(less->begin, gapBegin);
    less->end = std::min(less->end, gapEnd);
  }
  return less;
}

std::optional<Allocation> MemoryMap::findKnown(uint64_t address) const {
  std::shared_lock lock(mutex);
  auto after = known.upper_bound(address);
  if (after == known.begin())
    return std::nullopt;
  const Allocation &candidate = std::prev(after)->second;
  if (candidate.contains(address, 1) || candidate.begin == address)
    return candidate;
  return std::nullopt;
}

bool MemoryMap::overlapsKnown(uint64_t begin, uint64_t bytes) const {
  std::shared_lock lock(mutex);
  auto after = known.lower_bound(begin + bytes);
  return after != known.begin() && std::prev(after)->second.end > begin;
}

/// The union of overlapping announcements around `address`, under the name of the first of them
/// that holds it.
std::optional<Allocation> MemoryMap::findAnnounced(uint64_t address) const {
  Allocation run;
  run.source = BoundsSource::Announced;
  bool found = false;
  for (const Announcement &range : announcements) {
    if (range.begin >= run.end) {
      if (found || range.begin > address)
        break;
      run.begin = range.begin;
    }
    run.end = std::max(run.end, range.end);
    if (!found && address >= range.begin && address < range.end) {
      run.identifier = range.identifier;
      found = true;
    }
  }
  return found ? std::optional(run) : std::nullopt;
}

/// What lies this near to an allocation from malloc is the allocator's own.
static constexpr uint64_t recordedGuard = 4096;

/// The recorded allocation around `address`. \p isBesideOne: there is none, but so near that the
/// address is nobody's.
std::optional<Allocation> MemoryMap::findRecorded(uint64_t address, bool &isBesideOne) const {
  if (!recorder)
    return std::nullopt;
  RecordedBounds bounds;
  recorder(address, &bounds);
  if (address < bounds.end) {
    Allocation allocation;
    allocation.begin = bounds.begin;
    allocation.end = bounds.end;
    allocation.source = BoundsSource::Recorded;
    return allocation;
  }
  isBesideOne = (bounds.isHeap && address - bounds.end < recordedGuard) ||
                (bounds.nextIsHeap && bounds.nextBegin - address < recordedGuard);
  return std::nullopt;
}

/// Asks the kernel, without touching the memory, whether every page of [begin, end) can be read.
static bool isReadable(uint64_t begin, uint64_t end) {
  char bytes[windowPages];
  iovec local = {bytes, 0}, remote[windowPages];
  unsigned pages = 0;
  for (uint64_t page = begin / pageSize * pageSize; page < end; page += pageSize)
    remote[pages++] = {reinterpret_cast<void *>(std::max(page, begin)), 1};
  local.iov_len = pages;
  return process_vm_readv(getpid(), &local, 1, remote, pages, 0) == static_cast<ssize_t>(pages);
}

const Allocation *MemoryMap::lookUpMapping(uint64_t address) const {
  auto after = std::upper_bound(
      mappings.begin(), mappings.end(), address,
      [](uint64_t value, const Allocation &mapping) { return value < mapping.begin; });
  if (after == mappings.begin() || !std::prev(after)->contains(address, 1))
    return nullptr;
  return &*std::prev(after);
}

std::optional<Allocation> MemoryMap::findMapping(uint64_t address) const {
  std::lock_guard lock(mappingMutex);
  if (!mappingsFresh) {
    // Reading the mappings takes a millisecond in a big process. What was known before still holds
    // for the pages that the kernel lets us read. Windows overlap by the widest access, and near
    // the end of what was known, which may have grown, nothing is assumed.
    constexpr uint64_t window = (windowPages - 1) * pageSize, widestAccess = 64;
    if (const Allocation *known = lookUpMapping(address)) {
      Allocation part = *known;
      part.begin = std::max(part.begin, address / window * window);
      part.end = std::min(part.end, (address / window + 1) * window + widestAccess);
      if (address + widestAccess <= part.end && isReadable(part.begin, part.end))
        return part;
    }
    readMappingsIfStale();
  }
  const Allocation *mapping = lookUpMapping(address);
  return mapping ? std::optional(*mapping) : std::nullopt;
}

bool MemoryMap::isMapped(uint64_t begin, uint64_t bytes) const {
  return isMappedAs(begin, bytes, false);
}

bool MemoryMap::isWritable(uint64_t begin, uint64_t bytes) const {
  return isMappedAs(begin, bytes, true);
}

bool MemoryMap::isMappedAs(uint64_t begin, uint64_t bytes, bool writable) const {
  if (bytes > UINT64_MAX - begin)
    return false;
  std::lock_guard lock(mappingMutex);
  mappingsFresh = false;
  readMappingsIfStale();
  uint64_t reached = begin;
  uint64_t end = begin + std::max<uint64_t>(bytes, 1);
  for (const Allocation &mapping : mappings) {
    if (mapping.end <= reached)
      continue;
    if (mapping.begin > reached || (writable && !mapping.writable))
      return false;
    reached = mapping.end;
    if (reached >= end)
      return true;
  }
  return false;
}

void MemoryMap::readMappingsIfStale() const {
  if (mappingsFresh)
    return;
  mappings.clear();
  mappingNames.clear();
  std::unique_ptr<FILE, int (*)(FILE *)> file(std::fopen("/proc/self/maps", "re"), std::fclose);
  if (!file)
    return;
  char *line = nullptr;
  size_t capacity = 0;
  while (getline(&line, &capacity, file.get()) > 0) {
    uint64_t begin = 0, end = 0;
    char permissions[5] = "";
    int pathColumn = 0;
    if (std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*s %*s %*s %n", &begin, &end, permissions,
                    &pathColumn) < 3 ||
        permissions[0] != 'r')
      continue;
    std::string_view path = std::string_view(line).substr(pathColumn);
    if (path.ends_with('\n'))
      path.remove_suffix(1);
    bool writable = permissions[1] == 'w';
    // Neighbouring mappings of the same kind are one run: the kernel splits them for its own
    // reasons, and an access across the seam is in order.
    if (!mappings.empty() && mappings.back().end == begin && mappings.back().writable == writable &&
        mappingNames.back() == path) {
      mappings.back().end = end;
      continue;
    }
    Allocation mapping;
    mapping.begin = begin;
    mapping.end = end;
    mapping.writable = writable;
    mapping.identifier = mappingBit | static_cast<uint32_t>(mappings.size());
    mappings.push_back(mapping);
    mappingNames.emplace_back(path);
  }
  std::free(line);
  mappingsFresh = true;
}

void MemoryMap::expireMappings() {
  std::lock_guard lock(mappingMutex);
  mappingsFresh = false;
  changed();
}

void MemoryMap::refuseUnknown(bool refuse) {
  std::lock_guard lock(mutex);
  unknownRefused = refuse;
  changed();
}

void MemoryMap::useRecorder(RecorderFunction find) {
  std::lock_guard lock(mutex);
  recorder = find;
  changed();
}

std::string MemoryMap::name(uint32_t identifier) const {
  if (identifier & mappingBit) {
    std::lock_guard lock(mappingMutex);
    uint32_t index = identifier & ~mappingBit;
    return index < mappingNames.size() ? mappingNames[index] : std::string();
  }
  std::shared_lock lock(mutex);
  auto entry = names.find(identifier);
  return entry == names.end() ? std::string() : entry->second;
}

std::optional<Allocation> MemoryMap::nearest(uint64_t address) const {
  std::shared_lock lock(mutex);
  std::optional<Allocation> best;
  uint64_t bestDistance = UINT64_MAX;
  auto consider = [&](const Allocation &candidate) {
    uint64_t d = distance(candidate.begin, candidate.end, address);
    if (d < bestDistance) {
      best = candidate;
      bestDistance = d;
    }
  };
  auto after = known.upper_bound(address);
  if (after != known.begin())
    consider(std::prev(after)->second);
  if (after != known.end())
    consider(after->second);
  if (recorder) {
    RecordedBounds bounds;
    recorder(address, &bounds);
    Allocation candidate;
    candidate.source = BoundsSource::Recorded;
    candidate.begin = bounds.begin, candidate.end = bounds.end;
    if (candidate.end != 0)
      consider(candidate);
    candidate.begin = bounds.nextBegin, candidate.end = bounds.nextEnd;
    if (candidate.end != 0)
      consider(candidate);
  }
  for (const Announcement &range : announcements) {
    Allocation candidate;
    candidate.begin = range.begin;
    candidate.end = range.end;
    candidate.source = BoundsSource::Announced;
    candidate.identifier = range.identifier;
    consider(candidate);
  }
  return best;
}

void MemoryMap::add(Allocation allocation, std::string name) {
  std::lock_guard lock(mutex);
  allocation.identifier = nextIdentifier++;
  names[allocation.identifier] = std::move(name);
  known[allocation.begin] = allocation;
  changed();
}

void MemoryMap::markFreed(uint64_t begin) {
  std::lock_guard lock(mutex);
  if (auto entry = known.find(begin); entry != known.end())
    entry->second.freed = true;
  changed();
}

void MemoryMap::forget(uint64_t begin) {
  std::lock_guard lock(mutex);
  if (auto entry = known.find(begin); entry != known.end()) {
    names.erase(entry->second.identifier);
    known.erase(entry);
  }
  changed();
}

void MemoryMap::announce(uint64_t begin, uint64_t bytes, std::string_view name) {
  std::lock_guard lock(mutex);
  auto named = announcedNames.find(name);
  if (named == announcedNames.end()) {
    named = announcedNames.emplace(name, nextIdentifier++).first;
    names[named->second] = name;
  }
  auto place = std::upper_bound(
      announcements.begin(), announcements.end(), begin,
      [](uint64_t value, const Announcement &range) { return value < range.begin; });
  announcements.insert(place, {begin, begin + bytes, named->second, std::this_thread::get_id()});
  changed();
}

bool MemoryMap::retract(uint64_t begin) {
  std::lock_guard lock(mutex);
  for (size_t i = announcements.size(); i-- > 0;) {
    const Announcement &range = announcements[i];
    if (range.begin != begin || range.thread != std::this_thread::get_id())
      continue;
    announcements.erase(announcements.begin() + i);
    changed();
    return true;
  }
  return false;
}
