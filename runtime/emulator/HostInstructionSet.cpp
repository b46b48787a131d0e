//===- HostInstructionSet.cpp - The tables for this host ------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Instruction.h"

#include <iterator>

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

const InstructionTables *const *allInstructionTables() {
  // The best one first.
  static const InstructionTables *const all[] = {
#if WAVETILE_DEVICE_HAS_V4
      __builtin_cpu_supports("x86-64-v4") ? &v4::tables() : nullptr,
#endif
      __builtin_cpu_supports("x86-64-v3") ? &v3::tables() : nullptr,
  };
  static const InstructionTables *usable[std::size(all) + 1] = {};
  static const bool once = [] {
    size_t count = 0;
    for (const InstructionTables *tables : all)
      if (tables)
        usable[count++] = tables;
    return true;
  }();
  (void)once;
  return usable;
}

const InstructionTables *instructionTables() { return allInstructionTables()[0]; }

} // namespace wavetile::device
