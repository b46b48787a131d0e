//===- GlobalMemory.h - Checked access to global memory -------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Says whether an access lies in memory that a kernel may touch, before it is made. Each
// instruction remembers the allocation that it last touched, so that the usual answer costs one
// comparison.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_GLOBALMEMORY_H
#define WAVETILE_RUNTIME_EMULATOR_GLOBALMEMORY_H

#include "runtime/emulator/MemoryMap.h"
#include "runtime/emulator/Record.h"

#include <cstdint>
#include <optional>
#include <unordered_map>

namespace wavetile::device {

/// The answer about one access.
enum class Access : uint8_t { Allowed, OutOfBounds, ReadOnly };

class GlobalMemory {
public:
  /// Kernel arguments are an allocation of the launch: [kernargBegin, kernargEnd).
  GlobalMemory(const MemoryMap &map, uint64_t kernargBegin, uint64_t kernargEnd)
      : map(map), kernargBegin(kernargBegin), kernargEnd(kernargEnd) {}

  /// Whether [address, address + bytes) is inside one allocation; no if in doubt.
  __attribute__((always_inline)) bool containsAll(const Record *record, uint64_t address,
                                                  uint64_t bytes, bool isStore) {
    const Allocation &cached = cache[slot(record)];
    if (__builtin_expect((address >= cached.begin) & (address <= cached.end) &&
                             bytes <= cached.end - address && (cached.writable || !isStore),
                         1))
      return true;
    return containsAllSlow(record, address, bytes, isStore);
  }

  /// The rule for one lane's access, with what may be read over the end of an allocation.
  Access check(const Record *record, uint64_t address, uint64_t bytes, bool isStore);

  /// The allocation that \p record touched last; right after `containsAll` or `check` has allowed
  /// an access, the one that holds it.
  const Allocation &lastOf(const Record *record) const { return cache[slot(record)]; }

  /// The living allocation that holds \p address, the arguments among them.
  std::optional<Allocation> find(uint64_t address) const;
  /// What reports call an allocation.
  std::string name(const Allocation &allocation) const { return map.name(allocation.identifier); }
  /// Which bits of the arguments are defined, as `Allocation::definedBits` says it.
  void setKernargDefinedBits(uint8_t *bits) { kernargDefinedBits = bits; }

private:
  static constexpr unsigned cacheSize = 256;
  static unsigned slot(const Record *record) {
    return reinterpret_cast<uintptr_t>(record) / sizeof(Record) % cacheSize;
  }
  bool containsAllSlow(const Record *record, uint64_t address, uint64_t bytes, bool isStore);
  /// Loads the cache entry of \p record with the allocation around \p address. False: there is
  /// none, or the host does not let us read it. The entry is writable if stores were asked for and
  /// the host lets us.
  bool lookUp(const Record *record, uint64_t address, bool isStore);

  /// The part of a client's allocation around \p address that the host lets us read; writable if
  /// stores were asked for there and the host lets us.
  std::optional<Allocation> accessiblePart(Allocation allocation, uint64_t address, bool isStore);

  /// What the host allows from an address on, up to `end`. Stores are not asked for until one
  /// comes.
  struct Accessible {
    uint64_t end = 0;
    bool isReadable = false;
    std::optional<bool> isWritable;
  };

  const MemoryMap &map;
  uint64_t kernargBegin;
  uint64_t kernargEnd;
  uint8_t *kernargDefinedBits = nullptr;
  Allocation cache[cacheSize];
  std::unordered_map<uint64_t, Accessible> accessible;
};

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_GLOBALMEMORY_H
