//===- Heap.h - Device memory that clients allocate -----------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gives out host memory between redzones and tells the MemoryMap of it. Memory
// that was freed stays in quarantine for a while, so that a kernel that still
// uses it is told so instead of reading somebody else's data.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_HIP_HEAP_H
#define WAVETILE_RUNTIME_EMULATOR_HIP_HEAP_H

#include "runtime/emulator/MemoryMap.h"

#include <cstdint>
#include <deque>
#include <mutex>
#include <string_view>
#include <unordered_map>

namespace wavetile::device {

/// Who asked for the memory: what pointer attributes say of it.
enum class HeapKind : uint8_t { Device, Managed, Host };

/// What is known of one living allocation.
struct HeapBlock {
  HeapKind kind = HeapKind::Device;
  /// The ordinal of the device that was current.
  int device = 0;
};

/// See the top of the file.
class Heap {
public:
  explicit Heap(MemoryMap &memory) : memory(memory) {}

  /// Whether device memory that is allocated from now on starts undefined.
  void trackDefinedness(bool track) { tracksDefinedness = track; }

  /// Memory of `bytes` > 0, aligned to 256 bytes, filled with a pattern that is NaN in every float
  /// format. Null if there is not so much. `name` is the function that asked.
  void *allocate(size_t bytes, HeapBlock block, std::string_view name);

  /// False if `pointer` is not the start of a living allocation of a kind for which
  /// `mayRelease` is true.
  bool release(void *pointer, bool (*mayRelease)(HeapKind));

  /// The living allocation that begins at `begin`.
  std::optional<HeapBlock> find(uint64_t begin) const;

  /// Bytes that living allocations hold.
  uint64_t bytesUsed() const;

private:
  struct Block {
    void *base;
    size_t bytes;
    HeapBlock info;
    uint8_t *definedBits;
  };

  void shrinkQuarantine();

  MemoryMap &memory;
  bool tracksDefinedness = false;
  mutable std::mutex mutex;
  std::unordered_map<uint64_t, Block> blocks;
  std::deque<std::pair<uint64_t, Block>> quarantine;
  uint64_t used = 0;
  uint64_t quarantined = 0;
  uint64_t serial = 0;
};

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_HIP_HEAP_H
