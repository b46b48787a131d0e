//===- Float8.h - 8-bit floating-point formats ----------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// OCP: "OCP 8-bit Floating Point Specification (OFP8)". FNUZ: the formats of gfx942, one more in
// the bias, no infinity and no negative zero, whose code is the only NaN. A value too large for the
// format becomes its infinity or else NaN, as with MODE.FP16_OVFL clear and as in torch.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_FLOAT8_H
#define WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_FLOAT8_H

#include "runtime/emulator/instructions/Float.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {

template <unsigned mantissaBits_, int bias_, bool fnuz_, bool hasInfinity_> struct Float8Format {
  static constexpr unsigned mantissaBits = mantissaBits_;
  static constexpr int bias = bias_;
  static constexpr bool fnuz = fnuz_, hasInfinity = hasInfinity_;
};
using Fp8Ocp = Float8Format<3, 7, false, false>;
using Bf8Ocp = Float8Format<2, 15, false, true>;
using Fp8Fnuz = Float8Format<3, 8, true, false>;
using Bf8Fnuz = Float8Format<2, 16, true, false>;

template <typename F> WAVETILE_INLINE float fromFloat8(uint32_t code) {
  uint32_t magnitude = code & 0x7f, sign = (code & 0x80) << 24;
  // As an f32 denormal times a power of two: right for normal and denormal codes alike, but an f32
  // denormal operand would be flushed in that mode, so normals and denormals part ways.
  uint32_t normal = (magnitude << (23 - F::mantissaBits)) + ((127u - F::bias) << 23);
  float scale = static_cast<float>(1.0 / (uint64_t(1) << (F::bias - 1 + F::mantissaBits)));
  float denormal = static_cast<float>(static_cast<int32_t>(magnitude)) * scale;
  uint32_t bits = magnitude >> F::mantissaBits == 0 ? bitsOf(denormal) : normal;
  if constexpr (F::fnuz) {
    return floatOf((code & 0xff) == 0x80 ? 0x7fc00000 : bits | sign);
  } else if constexpr (F::hasInfinity) {
    bits = magnitude == 0x7c ? 0x7f800000 : bits;
    bits = magnitude > 0x7c ? 0x7fc00000 : bits;
    return floatOf(bits | sign);
  } else {
    return floatOf((magnitude == 0x7f ? 0x7fc00000 : bits) | sign);
  }
}

template <typename F> WAVETILE_INLINE uint32_t toFloat8(float x) {
  constexpr unsigned dropped = 23 - F::mantissaBits;
  constexpr uint32_t largest = F::fnuz ? 0x7f : F::hasInfinity ? 0x7b : 0x7e;
  constexpr uint32_t tooLarge = F::fnuz ? 0x80 : F::hasInfinity ? 0x7c : 0x7f;
  uint32_t magnitude = bitsOf(x) & 0x7fffffff, sign = bitsOf(x) >> 24 & 0x80;
  uint32_t rounded =
      (magnitude + ((1u << (dropped - 1)) - 1) + (magnitude >> dropped & 1)) >> dropped;
  uint32_t normal = rounded - ((127u - F::bias) << F::mantissaBits);
  float scaled = floatOf(magnitude) * static_cast<float>(1u << (F::bias - 1 + F::mantissaBits));
  bool small = magnitude < (128u - F::bias) << 23;
  uint32_t denormal =
      static_cast<uint32_t>(static_cast<int32_t>(host::roundAsSet(small ? scaled : 0.0f)));
  uint32_t code = small ? denormal : normal;
  bool overflow = !small & (normal > largest);
  bool infinite = magnitude == 0x7f800000, nan = magnitude > 0x7f800000;
  if constexpr (F::fnuz) {
    bool special = overflow | infinite | nan;
    return special ? 0x80 : code == 0 ? 0 : (code | sign);
  } else {
    code = overflow | infinite ? tooLarge : code;
    return (nan ? 0x7f : code) | sign;
  }
}

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_FLOAT8_H
