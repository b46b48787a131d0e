//===- LaneCopy.h - Copies between lanes' memory and register rows --------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A lane's bytes lie together in memory, its dwords in one row each. Four lanes at a time are
// loaded or stored as vectors and transposed, which is faster than any host's gathers.
//
// A lane's registers are written after its own address and those of its group were read, so a
// destination may be the address register.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_LANECOPY_H
#define WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_LANECOPY_H

#include "runtime/emulator/Wave.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {

using Vector4 = uint32_t __attribute__((ext_vector_type(4)));

WAVETILE_INLINE Vector4 loadVector(const uint32_t *from) {
  Vector4 result;
  __builtin_memcpy(&result, from, 16);
  return result;
}
WAVETILE_INLINE void storeVector(uint32_t *to, Vector4 value) { __builtin_memcpy(to, &value, 16); }

/// Columns become rows.
WAVETILE_INLINE void transpose(Vector4 (&rows)[4]) {
  Vector4 a = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5);
  Vector4 b = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7);
  Vector4 c = __builtin_shufflevector(rows[2], rows[3], 0, 4, 1, 5);
  Vector4 d = __builtin_shufflevector(rows[2], rows[3], 2, 6, 3, 7);
  rows[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
  rows[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
  rows[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
  rows[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

/// Loads `dwords` rows. \p pointerOf gives a lane's pointer, which must be readable for all lanes;
/// only those with bits set in \p active are written, all of them if that is null.
template <unsigned dwords, typename PointerOf>
WAVETILE_INLINE void loadLanes(uint32_t *row, unsigned stride, const uint32_t *active,
                               PointerOf pointerOf) {
  for (unsigned lane = 0; lane < stride; lane += 4) {
    Vector4 lanes[4] = {};
    for (unsigned i = 0; i < 4; ++i)
      __builtin_memcpy(&lanes[i], pointerOf(lane + i), 4 * dwords);
    transpose(lanes);
    for (unsigned i = 0; i < dwords; ++i) {
      uint32_t *target = row + i * stride + lane;
      Vector4 value = lanes[i];
      if (active) {
        Vector4 mask = loadVector(active + lane);
        value = (value & mask) | (loadVector(target) & ~mask);
      }
      storeVector(target, value);
    }
  }
}

/// Stores `dwords` rows of the lanes in \p mask, in the order of lanes.
template <unsigned dwords, typename PointerOf>
WAVETILE_INLINE void storeLanes(const uint32_t *row, unsigned stride, uint64_t mask,
                                PointerOf pointerOf) {
  for (unsigned lane = 0; lane < stride; lane += 4) {
    unsigned group = mask >> lane & 15;
    if (group == 0)
      continue;
    Vector4 lanes[4] = {};
    for (unsigned i = 0; i < dwords; ++i)
      lanes[i] = loadVector(row + i * stride + lane);
    transpose(lanes);
    for (unsigned i = 0; i < 4; ++i)
      if (group >> i & 1)
        __builtin_memcpy(pointerOf(lane + i), &lanes[i], 4 * dwords);
  }
}

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_LANECOPY_H
