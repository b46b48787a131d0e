//===- RaceAccess.h - Accesses as the race checks see them -----------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An access lives from its issue to the wait that covers it. What these types promise: the bytes of
// each lane of an access, the value that a store is about to write there, and a list of the
// accesses of a wave that no wait has covered yet.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_CHECKS_RACEACCESS_H
#define WAVETILE_RUNTIME_EMULATOR_CHECKS_RACEACCESS_H

#include "runtime/emulator/AccessObserver.h"
#include "runtime/emulator/Wave.h"

#include <cstdint>
#include <vector>

namespace wavetile::device::checks {

/// What an access does to the bytes of one memory, global or LDS.
enum class RaceKind : uint8_t { Read, Write, Atomic };

/// The lanes' bytes in one memory.
struct RaceAccess {
  const Record *record = nullptr;
  RaceKind kind = RaceKind::Read;
  bool isLds = false;
  bool isLoadToLds = false; ///< The part of a load to LDS that writes LDS.
  AccessScope scope = AccessScope::Wave;
  /// All lanes are there, without gaps and in order: only the address of the first one is kept.
  bool isRun = false;
  uint64_t lanes = 0;
  uint32_t bytes = 0;
  uint32_t step = 0;    ///< Of loads to LDS: from lane to lane.
  uint32_t segment = 0; ///< Global memory: see RaceSegment.
  union {
    alignas(64) uint64_t addresses[maximumWaveSize]; ///< Global memory.
    uint32_t offsets[maximumWaveSize];               ///< LDS: of the workgroup's first byte.
  };

  uint64_t addressOf(unsigned lane) const {
    if (isRun)
      return (isLds ? offsets[0] : addresses[0]) + uint64_t(lane) * bytes;
    return isLds ? offsets[lane] : addresses[lane];
  }
  /// Keeps the addresses of all lanes.
  void spread();
  template <typename Body> void forLanes(Body body) const {
    for (uint64_t mask = lanes; mask != 0; mask &= mask - 1)
      body(static_cast<unsigned>(__builtin_ctzll(mask)));
  }
};

/// The parts of a reported access that concern global memory and LDS. Lanes outside a buffer's
/// range and bytes over the end of an allocation are not there.
unsigned splitAccess(const Wave &wave, const MemoryAccess &access, RaceAccess *const (&parts)[2]);

/// Whether a store is about to change a byte of [first, first + count) of a lane's bytes. Accesses
/// whose data is not known are said to.
bool changesBytes(const Wave &wave, const MemoryAccess &access, const RaceAccess &part,
                  unsigned lane, uint32_t first, uint32_t count);

/// The same of the bytes of memory from \p address on, for a store two of whose lanes may write
/// them: the last lane decides what is there.
bool changesMemory(const Wave &wave, const MemoryAccess &access, const RaceAccess &part,
                   uint64_t address, uint32_t count);

/// Accesses of one wave that no wait has covered.
class OutstandingAccesses {
public:
  void clear() {
    head = tail;
    next = 1;
  }
  /// Returns the number by which the access is known; never 0.
  uint32_t issue() { return next++; }
  /// Makes room for two accesses to be put together in.
  void makeRoom() {
    // The same few again, which are in the host's cache.
    if (head == tail)
      head = tail = 0;
    if (tail + 2 - head > ring.size())
      grow();
  }
  RaceAccess &room(unsigned index) { return at(tail + index).access; }
  /// Adds what is in `room(0)`.
  void add(uint32_t number) { at(tail++).number = number; }
  void complete(uint32_t number) {
    for (uint64_t i = head; i != tail; ++i)
      if (at(i).number == number)
        at(i).number = 0;
    while (head != tail && at(head).number == 0)
      ++head;
  }
  template <typename Body> void forEach(Body body) const {
    for (uint64_t i = head; i != tail; ++i)
      if (const Entry &entry = ring[i & (ring.size() - 1)]; entry.number != 0)
        body(entry.access);
  }

private:
  struct Entry {
    uint32_t number = 0; ///< 0: a wait has covered it.
    RaceAccess access;
  };
  Entry &at(uint64_t index) { return ring[index & (ring.size() - 1)]; }
  void grow();

  uint64_t head = 0, tail = 0;
  std::vector<Entry> ring; ///< Its size is a power of two.
  uint32_t next = 1;
};

} // namespace wavetile::device::checks

#endif // WAVETILE_RUNTIME_EMULATOR_CHECKS_RACEACCESS_H
