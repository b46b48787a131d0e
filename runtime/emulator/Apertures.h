//===- Apertures.h - Where LDS and scratch lie in the flat address space --===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The addresses that FLAT instructions and the hidden arguments
// hidden_shared_base and hidden_private_base agree on: those of the Linux driver.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_APERTURES_H
#define WAVETILE_RUNTIME_EMULATOR_APERTURES_H

#include <cstdint>

namespace wavetile::device {

/// LDS: the upper half of its addresses; the lower half is the offset in the workgroup's LDS.
inline constexpr uint64_t sharedAperture = 0x0001'0000'0000'0000;
/// Scratch: the same, for the offset in the work-item's scratch.
inline constexpr uint64_t privateAperture = 0x0002'0000'0000'0000;

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_APERTURES_H
