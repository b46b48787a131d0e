//===- DefinedMemory.cpp - Which bytes of device memory are defined -------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/checks/DefinedMemory.h"

#include <algorithm>
#include <cstring>

#include <sys/mman.h>

namespace wavetile::device {

uint8_t *allocateDefinedBits(size_t bytes) {
  void *bits = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return bits == MAP_FAILED ? nullptr : static_cast<uint8_t *>(bits);
}

void freeDefinedBits(uint8_t *bits, size_t bytes) {
  if (bits)
    munmap(bits, bytes);
}

/// The shadow from an address on, and how many bytes of it there are; null: all is defined.
static std::pair<uint8_t *, size_t> shadowOf(const MemoryMap &memory, uint64_t begin,
                                             size_t bytes) {
  auto allocation = memory.findKnown(begin);
  if (!allocation || !allocation->definedBits || allocation->freed || begin >= allocation->end)
    return {nullptr, bytes};
  return {allocation->definedBits + (begin - allocation->begin),
          std::min<size_t>(bytes, allocation->end - begin)};
}

void markDefined(const MemoryMap &memory, uint64_t begin, size_t bytes) {
  auto [shadow, size] = shadowOf(memory, begin, bytes);
  if (shadow)
    std::memset(shadow, 0xff, size);
}

void copyDefined(const MemoryMap &memory, uint64_t to, uint64_t from, size_t bytes) {
  auto [target, targetSize] = shadowOf(memory, to, bytes);
  if (!target)
    return;
  auto [source, sourceSize] = shadowOf(memory, from, bytes);
  if (source)
    std::memmove(target, source, std::min(targetSize, sourceSize));
  else
    std::memset(target, 0xff, targetSize);
}

} // namespace wavetile::device
