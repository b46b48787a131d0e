//===- MatrixFormats.h - Element formats of matrix operands ---------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How element i of a lane lies in its registers, and its value as f32.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_MATRIXFORMATS_H
#define WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_MATRIXFORMATS_H

#include "runtime/emulator/instructions/Float8.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace matrixformat {

struct Float32 {
  using Value = float;
  static constexpr unsigned bits = 32;
  WAVETILE_INLINE static float value(uint32_t raw) { return floatOf(raw); }
};
/// f32 cut to 10 bits of mantissa.
struct XFloat32 {
  using Value = float;
  static constexpr unsigned bits = 32;
  WAVETILE_INLINE static float value(uint32_t raw) { return floatOf(raw & 0xffffe000); }
};
struct Float16 {
  using Value = float;
  static constexpr unsigned bits = 16;
  WAVETILE_INLINE static float value(uint32_t raw) { return fromHalf(raw); }
};
struct BFloat16 {
  using Value = float;
  static constexpr unsigned bits = 16;
  WAVETILE_INLINE static float value(uint32_t raw) { return fromBFloat16(raw); }
};
template <typename F> struct Float8 {
  using Value = float;
  static constexpr unsigned bits = 8;
  WAVETILE_INLINE static float value(uint32_t raw) { return fromFloat8<F>(raw); }
};
struct Int8 {
  using Value = int32_t;
  static constexpr unsigned bits = 8;
  WAVETILE_INLINE static int32_t value(uint32_t raw) { return static_cast<int8_t>(raw); }
};

/// Element \p index of a lane whose first register is \p row.
template <typename Format>
WAVETILE_INLINE uint32_t rawElement(const uint32_t *row, unsigned stride, unsigned lane,
                                    unsigned index) {
  constexpr unsigned perWord = 32 / Format::bits;
  uint32_t word = row[index / perWord * stride + lane];
  if constexpr (perWord == 1)
    return word;
  else
    return word >> (Format::bits * (index % perWord)) & ((1u << Format::bits) - 1);
}

/// The formats that f8f6f4 instructions choose among, by their code in cbsz and blgp.
enum Small : unsigned { Fp8 = 0, Bf8 = 1, Fp6 = 2, Bf6 = 3, Fp4 = 4 };

constexpr unsigned bitsOf(unsigned format) { return format <= Bf8 ? 8 : format <= Bf6 ? 6 : 4; }
/// A value with `mantissaBits` bits of mantissa and no special codes.
WAVETILE_INLINE float smallValue(uint32_t magnitude, bool negative, unsigned mantissaBits,
                                 int bias) {
  uint32_t exponent = magnitude >> mantissaBits, mantissa = magnitude & ((1u << mantissaBits) - 1);
  uint32_t significand = exponent == 0 ? mantissa : mantissa | 1u << mantissaBits;
  int power =
      (exponent == 0 ? 1 : static_cast<int>(exponent)) - bias - static_cast<int>(mantissaBits);
  float value = static_cast<float>(static_cast<double>(significand) * powerOfTwo(power));
  return negative ? -value : value;
}
inline float smallElement(const uint32_t *row, unsigned stride, unsigned lane, unsigned index,
                          unsigned format) {
  unsigned bits = bitsOf(format), position = bits * index;
  uint64_t word = row[position / 32 * stride + lane];
  if (position % 32 + bits > 32)
    word |= static_cast<uint64_t>(row[(position / 32 + 1) * stride + lane]) << 32;
  uint32_t raw = static_cast<uint32_t>(word >> (position % 32)) & ((1u << bits) - 1);
  switch (format) {
  case Fp8:
    return fromFloat8<Fp8Ocp>(raw);
  case Bf8:
    return fromFloat8<Bf8Ocp>(raw);
  case Fp6: // e2m3
    return smallValue(raw & 31, raw >> 5, 3, 1);
  case Bf6: // e3m2
    return smallValue(raw & 31, raw >> 5, 2, 3);
  default: // e2m1
    return smallValue(raw & 7, raw >> 3, 1, 1);
  }
}

} // namespace matrixformat
} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_MATRIXFORMATS_H
