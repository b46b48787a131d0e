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
/// A code with a sign and no special meaning.
template <unsigned bits, unsigned mantissaBits, int bias>
WAVETILE_INLINE float finiteValue(uint32_t raw) {
  uint32_t magnitude = raw & ((1u << (bits - 1)) - 1), sign = raw >> (bits - 1) << 31;
  // In f32's fields it is the value but for the bias: also for denormals.
  return floatOf(magnitude << (23 - mantissaBits) | sign) *
         floatOf(static_cast<uint32_t>(254 - bias) << 23);
}
template <typename F> struct Float8 {
  using Value = float;
  static constexpr unsigned bits = 8, group = 16, fractionBits = F::mantissaBits;
  static constexpr int minimumExponent = 1 - F::bias;
  WAVETILE_INLINE static float value(uint32_t raw) { return fromFloat8<F>(raw); }

  /// The same format for registers without infinities and NaN.
  struct Finite {
    using Value = float;
    static constexpr unsigned bits = 8;
    WAVETILE_INLINE static float value(uint32_t raw) {
      return finiteValue<8, F::mantissaBits, F::bias>(raw);
    }
  };
  WAVETILE_INLINE static bool areFinite(const uint32_t *row, unsigned count) {
    // FNUZ's NaN and what is not finite of OCP's are the largest codes, seen so.
    constexpr uint8_t flipped = F::fnuz ? 0x7f : 0, mask = F::fnuz ? 0xff : 0x7f;
    constexpr uint8_t limit = F::fnuz ? 0xff : F::hasInfinity ? 0x7c : 0x7f;
    const auto *codes = reinterpret_cast<const uint8_t *>(row);
    uint8_t largest = 0;
#pragma clang loop vectorize(enable) interleave_count(4)
    for (unsigned i = 0; i < count; ++i) {
      uint8_t code = (codes[i] ^ flipped) & mask;
      largest = code > largest ? code : largest;
    }
    return largest < limit;
  }
};
/// OCP's formats of 6 and 4 bits, which have no infinity and no NaN.
template <unsigned bits_, unsigned mantissaBits, int bias> struct SmallFloat {
  using Value = float;
  static constexpr unsigned bits = bits_, group = 16, fractionBits = mantissaBits;
  static constexpr int minimumExponent = 1 - bias;
  WAVETILE_INLINE static float value(uint32_t raw) {
    return finiteValue<bits, mantissaBits, bias>(raw);
  }
};
using Bf8O = Float8<Bf8Ocp>;
using Fp8O = Float8<Fp8Ocp>;
using Bf8F = Float8<Bf8Fnuz>;
using Fp8F = Float8<Fp8Fnuz>;
using Fp6 = SmallFloat<6, 3, 1>;
using Bf6 = SmallFloat<6, 2, 3>;
using Fp4 = SmallFloat<4, 1, 1>;
struct Int8 {
  using Value = int32_t;
  static constexpr unsigned bits = 8, group = 0;
  WAVETILE_INLINE static int32_t value(uint32_t raw) { return static_cast<int8_t>(raw); }
};

/// As few elements as begin and end with a register.
template <typename Format>
inline constexpr unsigned elementsOfChunk = 32 % Format::bits == 0 ? 32 / Format::bits : 16;
template <typename Format>
inline constexpr unsigned registersOfChunk = elementsOfChunk<Format> * Format::bits / 32;

/// Reads a chunk of \p count neighbouring lanes whose first register is \p row: element e goes to
/// `to + e * distance`.
template <typename Format, unsigned count>
WAVETILE_INLINE void readChunk(typename Format::Value *to, unsigned distance, const uint32_t *row,
                               unsigned stride, unsigned firstLane) {
  constexpr uint32_t mask = static_cast<uint32_t>((uint64_t(1) << Format::bits) - 1);
#pragma clang loop unroll(full)
  for (unsigned e = 0; e < elementsOfChunk<Format>; ++e) {
    unsigned position = Format::bits * e, shift = position % 32;
    const uint32_t *word = row + position / 32 * stride + firstLane;
    // An element may begin in one register and end in the next.
    const uint32_t *next = shift + Format::bits > 32 ? word + stride : nullptr;
#pragma clang loop vectorize(enable) unroll(disable)
    for (unsigned i = 0; i < count; ++i) {
      uint32_t raw = word[i] >> shift;
      if (next)
        raw |= next[i] << (32 - shift);
      to[e * distance + i] = Format::value(raw & mask);
    }
  }
}

} // namespace matrixformat
} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_MATRIXFORMATS_H
