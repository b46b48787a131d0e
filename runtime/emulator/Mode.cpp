//===- Mode.cpp - The host's floating-point control ---------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Mode.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace wavetile::device {

#if defined(__x86_64__)
/// All exceptions masked, denormals kept, to nearest even.
static constexpr unsigned plainControl = 0x1f80;

void setHostRounding(Rounding rounding) {
  // MXCSR counts nearest, down, up, toward zero.
  static constexpr unsigned fields[] = {0, 2, 1, 3};
  _mm_setcsr(plainControl | fields[static_cast<unsigned>(rounding)] << 13);
}

HostFloatControl::HostFloatControl() : saved(_mm_getcsr()) { _mm_setcsr(plainControl); }
HostFloatControl::~HostFloatControl() { _mm_setcsr(saved); }
#else
/// What programs start with: exceptions masked, denormals kept. Only the rounding is set.
void setHostRounding(Rounding rounding) {
  static constexpr int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  std::fesetround(modes[static_cast<unsigned>(rounding)]);
}

HostFloatControl::HostFloatControl() : saved(static_cast<unsigned>(std::fegetround())) {
  std::fesetround(FE_TONEAREST);
}
HostFloatControl::~HostFloatControl() { std::fesetround(static_cast<int>(saved)); }
#endif

} // namespace wavetile::device
