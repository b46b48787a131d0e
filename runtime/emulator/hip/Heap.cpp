//===- Heap.cpp - Device memory that clients allocate ---------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/hip/Heap.h"

#include "runtime/emulator/checks/DefinedMemory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

using namespace wavetile::device;

static constexpr size_t redzone = 256;
static constexpr size_t alignment = 256;
/// What freed memory may occupy until it goes back to the host.
static constexpr uint64_t quarantineBytes = uint64_t(64) << 20;
/// Fresh memory is filled up to here; beyond, the host's zero pages are left untouched.
static constexpr size_t fillBytes = size_t(256) << 20;
/// NaN as f16, bf16, f32, f64 and both kinds of fp8; -1 as an integer.
static constexpr int fillPattern = 0xFF;

void *Heap::allocate(size_t bytes, HeapBlock info, std::string_view name) {
  if (bytes > SIZE_MAX - 2 * redzone - alignment)
    return nullptr;
  size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void *base = nullptr;
  if (posix_memalign(&base, alignment, rounded + 2 * redzone) != 0)
    return nullptr;
  auto *data = static_cast<uint8_t *>(base) + redzone;
  std::memset(base, fillPattern, redzone + std::min(rounded, fillBytes));

  Allocation allocation;
  allocation.begin = reinterpret_cast<uint64_t>(data);
  allocation.end = allocation.begin + bytes;
  allocation.source = BoundsSource::Device;
  allocation.guard = redzone;
  // What the host wrote, and managed memory, counts as defined.
  if (info.kind == HeapKind::Device && tracksDefinedness)
    allocation.definedBits = allocateDefinedBits(bytes);
  std::lock_guard lock(mutex);
  memory.add(allocation, std::string(name) + " #" + std::to_string(++serial));
  blocks[allocation.begin] = {base, bytes, info, allocation.definedBits};
  used += bytes;
  return data;
}

bool Heap::release(void *pointer, bool (*mayRelease)(HeapKind)) {
  std::lock_guard lock(mutex);
  auto entry = blocks.find(reinterpret_cast<uint64_t>(pointer));
  if (entry == blocks.end() || !mayRelease(entry->second.info.kind))
    return false;
  memory.markFreed(entry->first);
  used -= entry->second.bytes;
  quarantined += entry->second.bytes;
  quarantine.push_back(*entry);
  blocks.erase(entry);
  shrinkQuarantine();
  return true;
}

void Heap::shrinkQuarantine() {
  while (quarantined > quarantineBytes) {
    auto [begin, block] = quarantine.front();
    quarantine.pop_front();
    memory.forget(begin);
    quarantined -= block.bytes;
    std::free(block.base);
    freeDefinedBits(block.definedBits, block.bytes);
  }
}

std::optional<HeapBlock> Heap::find(uint64_t begin) const {
  std::lock_guard lock(mutex);
  auto entry = blocks.find(begin);
  return entry == blocks.end() ? std::nullopt : std::optional(entry->second.info);
}

uint64_t Heap::bytesUsed() const {
  std::lock_guard lock(mutex);
  return used;
}
