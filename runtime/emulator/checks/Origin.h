//===- Origin.h - Where undefined bits come from --------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A word that travels with undefined bits, for reports: how they came about, and which register or
// instruction it was. An instruction that computes with undefined bits passes the origin of its
// first undefined operand on.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_CHECKS_ORIGIN_H
#define WAVETILE_RUNTIME_EMULATOR_CHECKS_ORIGIN_H

#include <cstdint>

namespace wavetile::device::checks {

enum class OriginKind : uint8_t {
  NeverWritten, ///< A register; its entry.
  PendingLoad,  ///< The record of a load that no wait has covered yet.
  PendingToLds, ///< The same for a load to LDS.
  GlobalMemory, ///< The record of the load that found undefined bytes.
  LdsMemory,
  ScratchMemory,
  RacedMemory, ///< The record of the load that another wave's store may have come before or not.
};

/// Of LDS whose undefined bits were never stored.
inline constexpr uint32_t noOrigin = ~0u;

constexpr uint32_t makeOrigin(OriginKind kind, uint32_t number) {
  return static_cast<uint32_t>(kind) << 28 | (number & 0xfffffff);
}
constexpr OriginKind originKind(uint32_t origin) { return static_cast<OriginKind>(origin >> 28); }
constexpr uint32_t originNumber(uint32_t origin) { return origin & 0xfffffff; }

} // namespace wavetile::device::checks

#endif // WAVETILE_RUNTIME_EMULATOR_CHECKS_ORIGIN_H
