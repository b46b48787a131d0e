//===- HardwareRegisters.h - Registers of s_getreg and s_setreg -----------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Families of GPUs number the same register otherwise, and a number means another one in each. The
// decoder looks numbers up here and leaves what they mean in `Record::variant`.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_HARDWAREREGISTERS_H
#define WAVETILE_RUNTIME_EMULATOR_HARDWAREREGISTERS_H

#include <cstdint>

namespace wavetile::device {

struct TargetDescription;

enum class HardwareRegister : uint8_t {
  None, ///< Not modelled: refused when the code is loaded.
  Mode,
  Status,           ///< gfx9 and gfx11: with SCC.
  StatusWithoutScc, ///< gfx12, whose SCC is in PrivateState.
  PrivateState,
  HardwareId,  ///< gfx9.
  HardwareId1, ///< RDNA.
  Slots,       ///< HW_ID2: queue, pipe, workgroup, virtual machine: all the first.
  LdsAllocation,
  MemoryBases,
  Cycles,   ///< The low word of the shader's clock.
  Cycles20, ///< Its low 20 bits.
  CyclesHigh,
  Zero,          ///< Flags that nothing raises, counters that are over, numbers of one.
  ZeroOrWritten, ///< The same, and may be written, which changes nothing.
  OnlyWritten    ///< How hazards are looked for, which has no effect on values.
};

/// The register that a family of GPUs gives this number.
HardwareRegister hardwareRegister(const TargetDescription &target, uint32_t number);

constexpr bool isReadable(HardwareRegister which) {
  return which != HardwareRegister::None && which != HardwareRegister::OnlyWritten;
}
constexpr bool isWritable(HardwareRegister which) {
  return which == HardwareRegister::Mode || which == HardwareRegister::ZeroOrWritten ||
         which == HardwareRegister::OnlyWritten;
}

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_HARDWAREREGISTERS_H
