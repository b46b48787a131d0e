//===- MemoryMap.h - What the device knows about host memory --------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Global memory of the software device is the host's own memory. This map says
// which addresses a kernel may touch: for any address it names the allocation
// around it, from the best source that knows one.
//
//   1. allocations of the device itself (hipMalloc, code objects, kernel
//      arguments), which lie between redzones and stay known after being freed;
//   2. host memory registered with hipHostRegister;
//   3. ranges that a caller announces for its launches (Wavetile's runtime
//      announces the tensors it passes);
//   4. what the allocator recorder saw the process allocate (recorder/);
//   5. the process's mappings, whose bounds say little ("bounds unknown"); never
//      under `refuseUnknown`.
//
// 4 and 5 count only while nothing is announced, for who announces names all
// that its kernels may touch.
//
// Promises: every member may be called from any thread. An `Allocation` that
// `find` returned stays right until `generation()` changes.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_MEMORYMAP_H
#define WAVETILE_RUNTIME_EMULATOR_MEMORYMAP_H

#include "runtime/emulator/recorder/Recorder.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

namespace wavetile::device {

/// Who told us the bounds, best first.
enum class BoundsSource : uint8_t { Device, Registered, Announced, Recorded, Mapping };

/// One run of addresses [begin, end) with the same rules.
struct Allocation {
  uint64_t begin = 0;
  uint64_t end = 0;
  BoundsSource source = BoundsSource::Mapping;
  bool writable = true;
  /// Freed by the client; kept to say so. Nothing may access it.
  bool freed = false;
  /// Bytes on both sides that nothing may access either, unless an allocation of its own has them.
  uint32_t guard = 0;
  /// Names it to `MemoryMap::name`.
  uint32_t identifier = 0;
  /// A byte for each byte, whose bits are set where the memory's are defined. Null: all are.
  uint8_t *definedBits = nullptr;

  uint64_t size() const { return end - begin; }

  bool contains(uint64_t address, uint64_t bytes) const {
    return address >= begin && address <= end && bytes <= end - address;
  }

  /// Whether a load of `bytes` at `address` is in order. A load of a dword or more that starts
  /// inside may run over the end within its own aligned block of 4, 8 or 16 bytes: compilers widen
  /// loads that way, and such a block cannot straddle a page.
  bool allowsLoad(uint64_t address, uint64_t bytes) const {
    if (contains(address, bytes))
      return true;
    if (address < begin || address >= end || bytes < 4)
      return false;
    uint64_t block = bytes <= 4 ? 4 : bytes <= 8 ? 8 : 16;
    uint64_t blockAfterEnd = (end + block - 1) / block * block;
    bool startsInLastBlock = bytes > block || address / block == (end - 1) / block;
    return startsInLastBlock && address + bytes <= blockAfterEnd;
  }
};

/// See the top of the file.
class MemoryMap {
public:
  /// The allocation that holds `address`. Nothing if a kernel has no business there: not mapped,
  /// freed, or in a guard.
  std::optional<Allocation> find(uint64_t address) const;

  /// Changes whenever an answer of `find` may have become wrong.
  uint64_t generation() const { return currentGeneration.load(std::memory_order_acquire); }

  /// The name given to the allocation with this identifier ("hipMalloc #3", "x"); for a mapping the
  /// file, or nothing.
  std::string name(uint32_t identifier) const;

  /// The allocation from sources 1 and 2 that holds `address`, or is empty and begins there; also a
  /// freed one.
  std::optional<Allocation> findKnown(uint64_t address) const;

  /// The allocation from sources 1 to 4 that lies nearest to `address`, also a freed one: for
  /// reports.
  std::optional<Allocation> nearest(uint64_t address) const;

  /// Whether [begin, begin + bytes) touches an allocation of source 1 or 2.
  bool overlapsKnown(uint64_t begin, uint64_t bytes) const;

  /// Adds memory of source 1 or 2 that overlaps no other of these. The identifier is set here.
  void add(Allocation allocation, std::string name);

  /// Marks the allocation that begins at `begin` as freed; `forget` must follow before its memory
  /// goes back to the host.
  void markFreed(uint64_t begin);

  /// Removes the allocation of source 1 or 2 that begins at `begin`.
  void forget(uint64_t begin);

  /// Announces a range (source 3). Ranges may overlap and may be announced more than once: an
  /// access is in order if it lies in their union, and each announcement wants its own retraction.
  void announce(uint64_t begin, uint64_t bytes, std::string_view name);

  /// Takes back this thread's latest announcement that begins here. False if there is none.
  bool retract(uint64_t begin);

  /// Whether the process has all of [begin, begin + bytes) mapped and readable now.
  bool isMapped(uint64_t begin, uint64_t bytes) const;
  /// Whether it may write all of it, too.
  bool isWritable(uint64_t begin, uint64_t bytes) const;

  /// Refuses memory of which only the mapping is known.
  void refuseUnknown(bool refuse);

  /// Asks this recorder for bounds of host memory.
  void useRecorder(RecorderFunction find);

  /// The host may have changed its mappings: read them again when next needed. Called at the start
  /// of each launch.
  void expireMappings();

private:
  struct Announcement {
    uint64_t begin;
    uint64_t end;
    uint32_t identifier;
    std::thread::id thread;
  };

  std::optional<Allocation> findAnnounced(uint64_t address) const;
  std::optional<Allocation> findMapping(uint64_t address) const;
  std::optional<Allocation> findRecorded(uint64_t address, bool &isBesideOne) const;
  /// The entry of `mappings` around `address`, or null.
  const Allocation *lookUpMapping(uint64_t address) const;
  bool isMappedAs(uint64_t begin, uint64_t bytes, bool writable) const;
  void readMappingsIfStale() const;
  void changed() { currentGeneration.fetch_add(1, std::memory_order_acq_rel); }

  mutable std::shared_mutex mutex;
  std::atomic<uint64_t> currentGeneration{1};
  /// Sources 1 and 2 by begin address; disjoint.
  std::map<uint64_t, Allocation> known;
  /// Source 3, sorted by begin; later ones after earlier ones.
  std::vector<Announcement> announcements;
  bool unknownRefused = false;
  RecorderFunction recorder = nullptr;
  /// Names of sources 1 and 2 go with their allocation; those of announcements are few and stay.
  std::unordered_map<uint32_t, std::string> names;
  std::map<std::string, uint32_t, std::less<>> announcedNames;
  uint32_t nextIdentifier = 1;

  mutable std::mutex mappingMutex;
  mutable bool mappingsFresh = false;
  mutable std::vector<Allocation> mappings;
  mutable std::vector<std::string> mappingNames;
};

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_MEMORYMAP_H
