//===- Lds.h - Addresses in LDS -------------------------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An LDS address is a byte offset into the workgroup's LDS: 32 bits of a register and an offset in
// the instruction. Compilers rely on the sum's wrapping around at 32 bits. M0 does not limit it on
// the targets of this device.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_LDS_H
#define WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_LDS_H

#include "runtime/emulator/instructions/LaneMemory.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {

/// Where a lane's bytes are.
WAVETILE_INLINE uint64_t ldsAddress(const Wave &wave, uint32_t address, uint32_t offset) {
  return reinterpret_cast<uint64_t>(wave.workgroup->lds) + uint32_t(address + offset);
}

/// Finds the lane whose access is out of bounds or misaligned; the wave gets its fault.
bool failInLds(Wave &wave, const Record *record, const uint32_t *addresses, uint32_t offset,
               AccessForm form);

/// Checks that each active lane's bytes, at its address plus \p offset, lie in LDS and are aligned
/// as hardware wants it; reports them.
WAVETILE_INLINE bool accessLds(Wave &wave, const Record *record, const uint32_t *addresses,
                               uint32_t offset, AccessForm form) {
  const uint32_t *active = wave.activeRow();
  uint32_t highest = 0, low = 0;
  for (unsigned lane = 0; lane < wave.waveSize; ++lane) {
    uint32_t address = (addresses[lane] + offset) & active[lane];
    highest = address > highest ? address : highest;
    low |= address;
  }
  bool inside = uint64_t(highest) + form.bytes <= wave.workgroup->ldsBytes;
  if (__builtin_expect(!inside | ((low & (form.alignment - 1)) != 0), 0) && wave.exec() != 0)
    return failInLds(wave, record, addresses, offset, form);
  return !isObserved(wave) || wave.exec() == 0 ||
         reportOffsets(wave, record, AccessSpace::Lds, addresses, offset, wave.exec(), form);
}

/// The same for the address register of \p record and its offset.
WAVETILE_INLINE bool accessLds(Wave &wave, const Record *record, AccessForm form) {
  return accessLds(wave, record, wave.row(record->sources[0]), record->immediate, form);
}

/// The offsets of a two-address form, which count elements or 64 of them.
struct TwoOffsets {
  uint32_t first, second;
  WAVETILE_INLINE TwoOffsets(const Record *record, uint32_t unit)
      : first((record->immediate & 0xff) * unit), second((record->immediate >> 8) * unit) {}
};

/// An instruction whose second access must not see what the first one wrote to registers.
struct AddressCopy {
  alignas(64) uint32_t row[maximumWaveSize];
  WAVETILE_INLINE AddressCopy(const Wave &wave, Operand operand) {
    const uint32_t *from = wave.row(operand);
    for (unsigned lane = 0; lane < wave.waveSize; ++lane)
      row[lane] = from[lane];
  }
};

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_LDS_H
