//===- HardwareRegisters.cpp - Registers of s_getreg and s_setreg ---------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/HardwareRegisters.h"

#include "runtime/emulator/Target.h"

namespace wavetile::device {
namespace {

struct NumberedHardwareRegister {
  uint32_t number;
  HardwareRegister meaning;
};

constexpr NumberedHardwareRegister hardwareRegistersGfx9[] = {
    {1, HardwareRegister::Mode},          {2, HardwareRegister::Status},
    {3, HardwareRegister::ZeroOrWritten}, // TRAPSTS
    {4, HardwareRegister::HardwareId},    {6, HardwareRegister::LdsAllocation},
    {7, HardwareRegister::Zero},                                        // IB_STS
    {15, HardwareRegister::MemoryBases},  {20, HardwareRegister::Zero}, // XCC_ID
};
constexpr NumberedHardwareRegister hardwareRegistersGfx11[] = {
    {1, HardwareRegister::Mode},          {2, HardwareRegister::Status},
    {3, HardwareRegister::ZeroOrWritten},                              // TRAPSTS
    {6, HardwareRegister::LdsAllocation}, {7, HardwareRegister::Zero}, // IB_STS
    {15, HardwareRegister::MemoryBases},  {23, HardwareRegister::HardwareId1},
    {24, HardwareRegister::Slots},        {28, HardwareRegister::Zero}, // IB_STS2
    {29, HardwareRegister::Cycles20},
};
constexpr NumberedHardwareRegister hardwareRegistersGfx12[] = {
    {1, HardwareRegister::Mode},           {2, HardwareRegister::StatusWithoutScc},
    {4, HardwareRegister::PrivateState},   {6, HardwareRegister::LdsAllocation},
    {7, HardwareRegister::Zero},           // IB_STS
    {17, HardwareRegister::Zero},          // EXCP_FLAG_PRIV
    {18, HardwareRegister::ZeroOrWritten}, // EXCP_FLAG_USER
    {23, HardwareRegister::HardwareId1},   {24, HardwareRegister::Slots},
    {26, HardwareRegister::OnlyWritten}, // SCHED_MODE
    {28, HardwareRegister::Zero},        // IB_STS2
    {29, HardwareRegister::Cycles},        {30, HardwareRegister::CyclesHigh},
};

llvm::ArrayRef<NumberedHardwareRegister> registersOf(Encoding family) {
  switch (family) {
  case Encoding::Gfx9:
    return hardwareRegistersGfx9;
  case Encoding::Gfx11:
    return hardwareRegistersGfx11;
  case Encoding::Gfx12:
    return hardwareRegistersGfx12;
  }
  return {};
}

} // namespace

HardwareRegister hardwareRegister(const TargetDescription &target, uint32_t number) {
  for (const NumberedHardwareRegister &row : registersOf(target.encoding))
    if (row.number == number)
      return row.meaning;
  return HardwareRegister::None;
}

} // namespace wavetile::device
