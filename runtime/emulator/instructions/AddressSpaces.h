//===- AddressSpaces.h - Addresses of FLAT, GLOBAL and SCRATCH instructions ===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One encoding, three address spaces. A global address is 64 bits in a register pair, or a scalar
// base and a 32-bit offset of each lane. A scratch address is a byte offset into the lane's own
// scratch, in which dwords of all lanes alternate (`Wave::scratchWord`). A flat address is global
// unless it lies in the aperture of LDS or of scratch.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_ADDRESSSPACES_H
#define WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_ADDRESSSPACES_H

#include "runtime/emulator/instructions/LaneMemory.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {

/// Checks and reports the addresses that \p lanes has for all active ones.
WAVETILE_INLINE bool accessGlobal(Wave &wave, const Record *record, AccessForm form,
                                  LaneAddresses &lanes) {
  return accessible(wave, record, lanes, form) &&
         (form.alignment == 1 || aligned(wave, record, lanes, form)) &&
         (!isObserved(wave) || reportGlobal(wave, record, lanes, form));
}

struct GlobalSpace {
  using Lanes = LaneAddresses;
  static constexpr bool reachesScratch = false;

  /// The addresses without any check; \p extra is added to the instruction's offset.
  WAVETILE_INLINE static void compute(Wave &wave, const Record *record, LaneAddresses &lanes,
                                      uint32_t extra = 0) {
    lanes.active = wave.exec();
    const unsigned stride = wave.waveSize;
    uint64_t offset = extra + static_cast<uint64_t>(
                                  static_cast<int64_t>(static_cast<int32_t>(record->immediate)));
    const uint32_t *low = wave.row(record->sources[0]);
    if (record->sources[2].kind() == OperandKind::Scalar) {
      uint64_t base = wave.scalar64(record->sources[2].index()) + offset;
      for (unsigned lane = 0; lane < stride; ++lane)
        lanes.address[lane] = base + low[lane];
    } else {
      const uint32_t *high = low + stride;
      for (unsigned lane = 0; lane < stride; ++lane)
        lanes.address[lane] = (low[lane] | static_cast<uint64_t>(high[lane]) << 32) + offset;
    }
  }
  /// The host addresses of all active lanes, checked and reported. False: the wave has its fault.
  WAVETILE_INLINE static bool addresses(Wave &wave, const Record *record, AccessForm form,
                                        LaneAddresses &lanes) {
    compute(wave, record, lanes);
    return accessGlobal(wave, record, form, lanes);
  }
};

/// Lanes whose address is in the aperture of scratch are not among the active ones, but for atomics
/// of a dword, which is as good as any other.
struct FlatLanes : LaneAddresses {
  uint64_t inScratch = 0;
  uint32_t offsets[maximumWaveSize];
};
struct FlatSpace {
  using Lanes = FlatLanes;
  static constexpr bool reachesScratch = true;
  static bool addresses(Wave &wave, const Record *record, AccessForm form, FlatLanes &lanes);
};

// --- Scratch ---

/// The offsets of all active lanes of a SCRATCH instruction, checked and reported.
struct ScratchOffsets {
  alignas(64) uint32_t lanes[maximumWaveSize];
  bool uniform = false; ///< The same in all lanes.
  bool aligned = false; ///< Those of active lanes are multiples of 4.

  /// False: the wave has its fault. \p extra is added to the instruction's offset.
  bool find(Wave &wave, const Record *record, AccessForm form, uint32_t extra = 0);
};

/// Copies between a lane's scratch, at any byte, and host memory.
WAVETILE_INLINE void readScratch(const Wave &wave, unsigned lane, uint32_t offset, void *to,
                                 uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; ++i)
    static_cast<uint8_t *>(to)[i] = *wave.scratchByte(lane, offset + i);
}
WAVETILE_INLINE void writeScratch(const Wave &wave, unsigned lane, uint32_t offset,
                                  const void *from, uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; ++i)
    *wave.scratchByte(lane, offset + i) = static_cast<const uint8_t *>(from)[i];
}

template <unsigned dwords>
WAVETILE_INLINE void loadScratchDwords(const Wave &wave, uint32_t *row, const uint32_t *offsets,
                                       uint64_t lanes) {
  forActive(lanes, [&](unsigned lane) {
    uint32_t values[dwords];
    readScratch(wave, lane, offsets[lane], values, sizeof(values));
    for (unsigned i = 0; i < dwords; ++i)
      row[i * wave.waveSize + lane] = values[i];
  });
}
template <unsigned dwords>
WAVETILE_INLINE void storeScratchDwords(const Wave &wave, const uint32_t *row,
                                        const uint32_t *offsets, uint64_t lanes) {
  forActive(lanes, [&](unsigned lane) {
    uint32_t values[dwords];
    for (unsigned i = 0; i < dwords; ++i)
      values[i] = row[i * wave.waveSize + lane];
    writeScratch(wave, lane, offsets[lane], values, sizeof(values));
  });
}
template <Narrow narrow, Half half>
WAVETILE_INLINE void loadScratchNarrow(const Wave &wave, uint32_t *row, const uint32_t *offsets,
                                       uint64_t lanes) {
  forActive(lanes, [&](unsigned lane) {
    uint32_t value = 0;
    readScratch(wave, lane, offsets[lane], &value, bytesOf(narrow));
    placeHalf(row[lane], loadNarrowValue<narrow>(reinterpret_cast<uint64_t>(&value)), half);
  });
}
template <unsigned bytes, Half half>
WAVETILE_INLINE void storeScratchNarrow(const Wave &wave, const uint32_t *row,
                                        const uint32_t *offsets, uint64_t lanes) {
  forActive(lanes, [&](unsigned lane) {
    uint32_t value = half == Half::High ? row[lane] >> 16 : row[lane];
    writeScratch(wave, lane, offsets[lane], &value, bytes);
  });
}

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_ADDRESSSPACES_H
