//===- DefinedMemory.h - Which bytes of device memory are defined ---------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory that the device hands out starts undefined: its allocation has a byte of shadow for each
// byte, whose bits are set where the memory's are defined. Memory of the host, managed and
// registered memory have none and count as defined. Whatever writes to memory from outside of
// kernels says so here.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_CHECKS_DEFINEDMEMORY_H
#define WAVETILE_RUNTIME_EMULATOR_CHECKS_DEFINEDMEMORY_H

#include "runtime/emulator/MemoryMap.h"

#include <cstddef>
#include <cstdint>

namespace wavetile::device {

/// The shadow of an allocation of so many bytes, nothing of which is defined; null if there is no
/// memory for it. Parts that are never touched cost address space only.
uint8_t *allocateDefinedBits(size_t bytes);
void freeDefinedBits(uint8_t *bits, size_t bytes);

/// [begin, begin + bytes) was written with defined values.
void markDefined(const MemoryMap &memory, uint64_t begin, size_t bytes);
/// `bytes` bytes were copied: what was undefined at \p from is so at \p to.
void copyDefined(const MemoryMap &memory, uint64_t to, uint64_t from, size_t bytes);

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_CHECKS_DEFINEDMEMORY_H
