//===- LaunchServices.cpp - What the host does for a running kernel -------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/hip/LaunchServices.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace wavetile::device {

namespace {
/// What the device libraries' grid barrier works on. The first five are for launches over several
/// devices, which there are none of.
struct GridSync {
  uint64_t devices = 0;
  uint32_t gridIndex = 0;
  uint32_t gridCount = 0;
  uint64_t workItemsBefore = 0;
  uint64_t workItems = 0;
  uint32_t arrived = 0;
  uint32_t reserved = 0;
  uint32_t workgroups = 0;
};
} // namespace

static uint64_t countWorkgroups(const LaunchShape &shape) {
  return uint64_t(shape.grid[0]) * shape.grid[1] * shape.grid[2];
}

static uint64_t countWaves(const KernelWork &work) {
  const auto &size = work.shape.workgroupSize;
  uint64_t workItems = uint64_t(size[0]) * size[1] * size[2];
  uint64_t waveSize = work.loaded.kernel->descriptor.waveSize();
  return countWorkgroups(work.shape) * ((workItems + waveSize - 1) / waveSize);
}

/// Gives the memory of one hidden argument; address 0 for an argument that needs none.
hipError_t LaunchServices::make(Runtime &runtime, const KernelWork &work, ArgumentKind kind,
                                uint64_t &address) {
  switch (kind) {
  case ArgumentKind::HostcallBuffer:
    hostcalls = HostcallBuffer::create(runtime.memory, countWaves(work));
    if (!hostcalls)
      return hipErrorOutOfMemory;
    address = hostcalls->address();
    return hipSuccess;
  case ArgumentKind::PrintfBuffer:
    prints = PrintfBuffer::create(runtime.memory, runtime.printfBytes());
    if (!prints)
      return hipErrorOutOfMemory;
    address = prints->address();
    return hipSuccess;
  case ArgumentKind::MultigridSync: {
    // Null tells a kernel that its grid cannot wait for itself.
    if (!work.isCooperative)
      return hipSuccess;
    gridSync = SharedMemory::create(runtime.memory, sizeof(GridSync), "grid barrier");
    if (!gridSync)
      return hipErrorOutOfMemory;
    GridSync sync;
    sync.workgroups = static_cast<uint32_t>(countWorkgroups(work.shape));
    std::memcpy(gridSync->data(), &sync, sizeof(sync));
    address = gridSync->address();
    return hipSuccess;
  }
  default:
    return hipSuccess;
  }
}

hipError_t LaunchServices::prepare(Runtime &runtime, const KernelWork &work,
                                   std::vector<uint8_t> &kernarg) {
  object = work.loaded.module->object.get();
  for (const ArgumentInfo &argument : work.loaded.kernel->arguments) {
    uint64_t address = 0;
    if (hipError_t error = make(runtime, work, argument.kind, address))
      return error;
    if (address != 0)
      std::memcpy(kernarg.data() + argument.offset, &address, sizeof(address));
  }
  return hipSuccess;
}

std::function<const char *()> LaunchServices::interrupt() {
  if (!hostcalls)
    return nullptr;
  return [this] { return hostcalls->serve(); };
}

void LaunchServices::finish() {
  if (prints)
    prints->print(object->printfFormats());
  if (prints || hostcalls)
    std::fflush(stdout);
}

} // namespace wavetile::device
