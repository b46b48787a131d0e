//===- Memory.h - Allocation of device memory -----------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_HIP_MEMORY_H
#define WAVETILE_RUNTIME_EMULATOR_HIP_MEMORY_H

#include "runtime/emulator/hip/Runtime.h"

namespace wavetile::device {

/// Memory on the current device, within what that has; null for no bytes. `function` is who asked.
hipError_t allocate(Runtime &runtime, void **pointer, size_t bytes, HeapKind kind,
                    const char *function);

/// Whether hipFree takes it.
bool isDeviceMemory(HeapKind kind);

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_HIP_MEMORY_H
