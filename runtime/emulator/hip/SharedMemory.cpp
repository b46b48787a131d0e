//===- SharedMemory.cpp - Memory that the runtime shares with a kernel ----===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/hip/SharedMemory.h"

#include <sys/mman.h>

#include <utility>

using namespace wavetile::device;

std::unique_ptr<SharedMemory> SharedMemory::create(MemoryMap &map, size_t bytes, std::string name) {
  void *pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED)
    return nullptr;
  std::unique_ptr<SharedMemory> memory(new SharedMemory(map, static_cast<uint8_t *>(pages), bytes));
  Allocation allocation;
  allocation.begin = memory->address();
  allocation.end = memory->address() + bytes;
  allocation.source = BoundsSource::Device;
  map.add(allocation, std::move(name));
  return memory;
}

SharedMemory::~SharedMemory() {
  map.forget(address());
  munmap(begin, bytes);
}
