//===- MemoryMap.cpp - What the device knows about host memory ------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/MemoryMap.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <tuple>

using namespace wavetile::device;

/// Identifiers of mappings are their index with this bit set; they need no entry in `names`.
static constexpr uint32_t mappingBit = 0x80000000u;

/// Bytes between `address` and the allocation; 0 inside.
static uint64_t distance(const Allocation &allocation, uint64_t address) {
  if (address < allocation.begin)
    return allocation.begin - address;
  return address < allocation.end ? 0 : address - allocation.end + 1;
}

std::optional<Allocation> MemoryMap::find(uint64_t address) const {
  {
    std::shared_lock lock(mutex);
    auto after = known.upper_bound(address);
    if (after != known.begin() && std::prev(after)->second.contains(address, 1))
      return std::prev(after)->second;
    if (auto announced = findAnnounced(address))
      return announced;
  }
  return findMapping(address);
}

std::optional<Allocation> MemoryMap::findKnown(uint64_t address) const {
  std::shared_lock lock(mutex);
  auto after = known.upper_bound(address);
  if (after == known.begin())
    return std::nullopt;
  const Allocation &candidate = std::prev(after)->second;
  // An allocation of no bytes is found by its own address.
  if (candidate.contains(address, 1) || candidate.begin == address)
    return candidate;
  return std::nullopt;
}

bool MemoryMap::overlapsKnown(uint64_t begin, uint64_t bytes) const {
  std::shared_lock lock(mutex);
  auto after = known.lower_bound(begin + bytes);
  return after != known.begin() && std::prev(after)->second.end > begin;
}

std::optional<Allocation> MemoryMap::findAnnounced(uint64_t address) const {
  Allocation run;
  run.source = BoundsSource::Announced;
  bool found = false;
  for (const Announcement &range : announcements) {
    if (range.begin >= run.end) {
      if (found || range.begin > address)
        break;
      run.begin = range.begin;
      run.end = range.end;
    }
    run.end = std::max(run.end, range.end);
    if (address >= range.begin && address < range.end) {
      if (!found)
        run.identifier = range.identifier;
      found = true;
    }
  }
  return found ? std::optional(run) : std::nullopt;
}

std::optional<Allocation> MemoryMap::findMapping(uint64_t address) const {
  std::lock_guard lock(mappingMutex);
  readMappingsIfStale();
  auto after = std::upper_bound(
      mappings.begin(), mappings.end(), address,
      [](uint64_t value, const Allocation &mapping) { return value < mapping.begin; });
  if (after == mappings.begin() || !std::prev(after)->contains(address, 1))
    return std::nullopt;
  return *std::prev(after);
}

bool MemoryMap::isMapped(uint64_t begin, uint64_t bytes) const {
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
    if (mapping.begin > reached)
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
    if (!mappings.empty() && mappings.back().end == begin &&
        mappings.back().writable == writable && mappingNames.back() == path) {
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
  bump();
}

std::optional<Allocation> MemoryMap::nearest(uint64_t address) const {
  std::shared_lock lock(mutex);
  std::optional<Allocation> best;
  auto consider = [&](const Allocation &candidate) {
    if (!best || distance(candidate, address) < distance(*best, address))
      best = candidate;
  };
  auto after = known.upper_bound(address);
  if (after != known.begin())
    consider(std::prev(after)->second);
  if (after != known.end())
    consider(after->second);
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

uint32_t MemoryMap::add(uint64_t begin, uint64_t bytes, BoundsSource source, std::string name,
                        bool writable) {
  std::lock_guard lock(mutex);
  Allocation allocation;
  allocation.begin = begin;
  allocation.end = begin + bytes;
  allocation.source = source;
  allocation.writable = writable;
  allocation.identifier = nextIdentifier++;
  names[allocation.identifier] = std::move(name);
  known[begin] = allocation;
  bump();
  return allocation.identifier;
}

void MemoryMap::markFreed(uint64_t begin) {
  std::lock_guard lock(mutex);
  if (auto entry = known.find(begin); entry != known.end())
    entry->second.freed = true;
  bump();
}

void MemoryMap::forget(uint64_t begin) {
  std::lock_guard lock(mutex);
  if (auto entry = known.find(begin); entry != known.end()) {
    names.erase(entry->second.identifier);
    known.erase(entry);
  }
  bump();
}

void MemoryMap::announce(uint64_t begin, uint64_t bytes, std::string_view name) {
  std::lock_guard lock(mutex);
  Announcement wanted{begin, begin + bytes, 1, 0};
  auto key = [](const Announcement &a) { return std::tuple(a.begin, a.end); };
  auto place = std::lower_bound(
      announcements.begin(), announcements.end(), wanted,
      [&](const Announcement &a, const Announcement &b) { return key(a) < key(b); });
  if (place != announcements.end() && key(*place) == key(wanted)) {
    ++place->count;
    return;
  }
  auto known = announcedNames.find(name);
  if (known == announcedNames.end()) {
    known = announcedNames.emplace(name, nextIdentifier++).first;
    names[known->second] = name;
  }
  wanted.identifier = known->second;
  announcements.insert(place, wanted);
  bump();
}

bool MemoryMap::retract(uint64_t begin, uint64_t bytes) {
  std::lock_guard lock(mutex);
  for (auto place = announcements.begin(); place != announcements.end(); ++place) {
    if (place->begin != begin || place->end != begin + bytes)
      continue;
    if (--place->count == 0) {
      announcements.erase(place);
      bump();
    }
    return true;
  }
  return false;
}
