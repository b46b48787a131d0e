//===- HostInstructionSet.cpp - The tables for this host ------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Instruction.h"

namespace wavetile::device {

// One namespace for each instruction set that instructions/ is built for; see CMakeLists.txt.
#define WAVETILE_DECLARE_TABLES(ISA)                                                               \
  namespace ISA {                                                                                  \
  const InstructionTables &tables();                                                               \
  }
WAVETILE_DECLARE_TABLES(v3)
#if WAVETILE_DEVICE_HAS_V4
WAVETILE_DECLARE_TABLES(v4)
#endif

const InstructionTables &instructionTables() {
#if WAVETILE_DEVICE_HAS_V4
  static const bool hasV4 = __builtin_cpu_supports("x86-64-v4");
  if (hasV4)
    return v4::tables();
#endif
  return v3::tables();
}

} // namespace wavetile::device
