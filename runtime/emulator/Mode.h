//===- Mode.h - The MODE register of a wave -----------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rounding, denormals, NaN and clamp rules, one set for f32 and one for f16 and f64. While kernels
// run, the host rounds to nearest even and keeps denormals. In the usual mode, which compilers ask
// for, handlers look no further. In any other, a handler takes its general way: Operands.cpp
// flushes what is to be flushed, and the host's rounding is changed around the loop over lanes.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_MODE_H
#define WAVETILE_RUNTIME_EMULATOR_MODE_H

#include <cstdint>

namespace wavetile::device {

/// As MODE.FP_ROUND encodes it.
enum class Rounding : uint8_t { NearestEven, Up, Down, TowardZero };

struct Mode {
  bool ieee = true;
  bool dx10Clamp = true;
  bool flush32 = false;    ///< f32 denormals, as sources and results.
  bool flush16_64 = false; ///< Those of f16 and f64.
  bool flushSources32 = false, flushResults32 = false;
  bool flushSources16_64 = false, flushResults16_64 = false;
  /// An f16 or 8-bit result that is too large is the largest number, not infinity.
  bool float16Overflow = false;
  Rounding rounding32 = Rounding::NearestEven;
  Rounding rounding16_64 = Rounding::NearestEven;
  /// To nearest even, with denormals and infinities: what handlers need not ask about.
  bool usual = true;
  uint32_t bits = usualBits;

  bool operator==(const Mode &) const = default;

  static constexpr uint32_t usualBits = 0x3f0;
  static constexpr uint32_t float16OverflowBit = 1u << 23;
  /// MODE.GPR_IDX_EN of gfx9, which s_set_gpr_idx_on and _off set.
  static constexpr uint32_t registerIndexingBit = 1u << 27;

  /// Takes the register's bits. Null, or why the device cannot do as they say.
  const char *set(uint32_t newBits) {
    constexpr uint32_t exceptions = 0x7fu << 12, vskip = 1u << 28;
    if (newBits & exceptions)
      return "floating-point exceptions that trap";
    if (newBits & vskip)
      return "VSKIP";
    if ((newBits ^ bits) & registerIndexingBit)
      return "VGPR indexing that s_setreg switches";
    bits = newBits;
    rounding32 = static_cast<Rounding>(bits & 3);
    rounding16_64 = static_cast<Rounding>(bits >> 2 & 3);
    flushSources32 = (bits >> 4 & 1) == 0;
    flushResults32 = (bits >> 5 & 1) == 0;
    flushSources16_64 = (bits >> 6 & 1) == 0;
    flushResults16_64 = (bits >> 7 & 1) == 0;
    flush32 = flushSources32 && flushResults32;
    flush16_64 = flushSources16_64 && flushResults16_64;
    dx10Clamp = bits >> 8 & 1;
    ieee = bits >> 9 & 1;
    float16Overflow = bits & float16OverflowBit;
    usual = (bits & 0xff) == 0xf0 && !float16Overflow;
    return nullptr;
  }
};

/// Makes the host round so; all of its exceptions masked, denormals kept.
void setHostRounding(Rounding rounding);

/// Saves the host's floating-point control and sets it as kernels want it; restores it.
class HostFloatControl {
public:
  HostFloatControl();
  ~HostFloatControl();
  HostFloatControl(const HostFloatControl &) = delete;
  HostFloatControl &operator=(const HostFloatControl &) = delete;

private:
  unsigned saved;
};

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_MODE_H
