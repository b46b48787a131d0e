//===- SharedMemory.h - Memory that the runtime shares with a kernel ------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_HIP_SHAREDMEMORY_H
#define WAVETILE_RUNTIME_EMULATOR_HIP_SHAREDMEMORY_H

#include "runtime/emulator/MemoryMap.h"

#include <cstdint>
#include <memory>
#include <string>

namespace wavetile::device {

/// Zeroed memory that kernels may read and write as long as this lives. Pages cost nothing until
/// they are touched.
class SharedMemory {
public:
  /// Null if there is not so much.
  static std::unique_ptr<SharedMemory> create(MemoryMap &map, size_t bytes, std::string name);
  ~SharedMemory();
  SharedMemory(const SharedMemory &) = delete;
  SharedMemory &operator=(const SharedMemory &) = delete;

  uint8_t *data() const { return begin; }
  size_t size() const { return bytes; }
  uint64_t address() const { return reinterpret_cast<uint64_t>(begin); }

private:
  SharedMemory(MemoryMap &map, uint8_t *begin, size_t bytes)
      : map(map), begin(begin), bytes(bytes) {}

  MemoryMap &map;
  uint8_t *begin;
  size_t bytes;
};

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_HIP_SHAREDMEMORY_H
