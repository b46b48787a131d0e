//===- Mode.cpp - The host's floating-point control ---------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Mode.h"

#if !defined(__x86_64__)
#error "the software device changes the rounding of x86-64 hosts only"
#endif
#include <xmmintrin.h>

namespace wavetile::device {

/// All exceptions masked, denormals kept, to nearest even.
static constexpr unsigned plainControl = 0x1f80;

void setHostRounding(Rounding rounding) {
  // MXCSR counts nearest, down, up, toward zero.
  static constexpr unsigned fields[] = {0, 2, 1, 3};
  _mm_setcsr(plainControl | fields[static_cast<unsigned>(rounding)] << 13);
}

HostFloatControl::HostFloatControl() : saved(_mm_getcsr()) { _mm_setcsr(plainControl); }
HostFloatControl::~HostFloatControl() { _mm_setcsr(saved); }

} // namespace wavetile::device
