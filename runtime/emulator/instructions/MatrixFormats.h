//===- MatrixFormats.h - Element formats of matrix operands ---------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How element i of a lane lies in its registers, and its value as f32. Values are made by
// arithmetic on f32 denormals: MatrixProduct.h sees to it that the host keeps them.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_MATRIXFORMATS_H
#define WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_MATRIXFORMATS_H

#include "runtime/emulator/instructions/Float8.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace matrixformat {

/// `group`: how many k the hardware sums at once, 0 if each joins by a fused multiply-add.
/// `fractionBits` and `minimumExponent` say what its multiplier sees of a value.
struct Float32 {
  using Value = float;
  static constexpr unsigned bits = 32, group = 0;
  WAVETILE_INLINE static float value(uint32_t raw) { return floatOf(raw); }
};
/// f32 cut to 10 bits of mantissa.
struct XFloat32 {
  using Value = float;
  static constexpr unsigned bits = 32, group = 4, fractionBits = 10;
  static constexpr int minimumExponent = -126;
  WAVETILE_INLINE static float value(uint32_t raw) {
    uint32_t nan = (raw & 0x7fffffff) > 0x7f800000 ? 0x00400000 : 0;
    return floatOf((raw & 0xffffe000) | nan);
  }
};
struct Float16 {
  using Value = float;
  static constexpr unsigned bits = 16, group = 8, fractionBits = 10;
  static constexpr int minimumExponent = -14;
  WAVETILE_INLINE static float value(uint32_t raw) { return fromHalf(raw); }
};
struct BFloat16 {
  using Value = float;
  static constexpr unsigned bits = 16, group = 8, fractionBits = 7;
  static constexpr int minimumExponent = -126;
  WAVETILE_INLINE static float value(uint32_t raw) { return fromBFloat16(raw); }
};
template <typename F> struct Float8 {
  using Value = float;
  static constexpr unsigned bits = 8, group = 16, fractionBits = F::mantissaBits;
  static constexpr int minimumExponent = 1 - F::bias;
  WAVETILE_INLINE static float value(uint32_t raw) { return fromFloat8<F>(raw); }
};
/// OCP's formats of 6 and 4 bits, which have no infinity and no NaN.
template <unsigned bits_, unsigned mantissaBits, int bias> struct SmallFloat {
  using Value = float;
  static constexpr unsigned bits = bits_, group = 16, fractionBits = mantissaBits;
  static constexpr int minimumExponent = 1 - bias;
  WAVETILE_INLINE static float value(uint32_t raw) {
    uint32_t magnitude = raw & ((1u << (bits - 1)) - 1), sign = raw >> (bits - 1) << 31;
    // The code with f32's exponent field is the value but for the bias: also for denormals.
    return floatOf(magnitude << (23 - mantissaBits) | sign) *
           floatOf(static_cast<uint32_t>(254 - bias) << 23);
  }
};
using Fp6 = SmallFloat<6, 3, 1>;
using Bf6 = SmallFloat<6, 2, 3>;
using Fp4 = SmallFloat<4, 1, 1>;
struct Int8 {
  using Value = int32_t;
  static constexpr unsigned bits = 8, group = 0;
  WAVETILE_INLINE static int32_t value(uint32_t raw) { return static_cast<int8_t>(raw); }
};

/// Element \p index of a lane whose first register is \p row.
template <typename Format>
WAVETILE_INLINE uint32_t rawElement(const uint32_t *row, unsigned stride, unsigned lane,
                                    unsigned index) {
  constexpr uint32_t mask = static_cast<uint32_t>((uint64_t(1) << Format::bits) - 1);
  unsigned position = Format::bits * index, shift = position % 32;
  uint32_t word = row[position / 32 * stride + lane];
  if constexpr (32 % Format::bits == 0) {
    return word >> shift & mask;
  } else {
    // An element may begin in one register and end in the next.
    bool isSplit = shift + Format::bits > 32;
    uint32_t next = isSplit ? row[(position / 32 + 1) * stride + lane] : 0;
    return static_cast<uint32_t>((word | static_cast<uint64_t>(next) << 32) >> shift) & mask;
  }
}
/// Reads element \p index of \p count neighbouring lanes.
template <typename Format, unsigned count>
WAVETILE_INLINE void readElements(typename Format::Value *to, const uint32_t *row, unsigned stride,
                                  unsigned firstLane, unsigned index) {
#pragma clang loop vectorize(enable) unroll(disable)
  for (unsigned i = 0; i < count; ++i)
    to[i] = Format::value(rawElement<Format>(row, stride, firstLane + i, index));
}

} // namespace matrixformat
} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_MATRIXFORMATS_H
