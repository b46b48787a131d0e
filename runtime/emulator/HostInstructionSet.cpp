//===- HostInstructionSet.cpp - The tables for this host ------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Instruction.h"

#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>

namespace wavetile::device {

// One namespace for each instruction set that instructions/ is built for; see CMakeLists.txt.
#define WAVETILE_DECLARE_TABLES(ISA)                                                               \
  namespace ISA {                                                                                  \
  const InstructionTables &tables();                                                               \
  }
WAVETILE_DECLARE_TABLES(plain)
#if WAVETILE_DEVICE_HAS_X86
WAVETILE_DECLARE_TABLES(v3)
WAVETILE_DECLARE_TABLES(v4)
#endif

const InstructionTables *const *allInstructionTables() {
  // The best one first.
  static const InstructionTables *const all[] = {
#if WAVETILE_DEVICE_HAS_X86
      __builtin_cpu_supports("x86-64-v4") ? &v4::tables() : nullptr,
      __builtin_cpu_supports("x86-64-v3") ? &v3::tables() : nullptr,
#endif
      &plain::tables(),
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

/// WAVETILE_DEVICE_ISA names one; otherwise the best.
static const InstructionTables *chosenTables() {
  const char *wanted = std::getenv("WAVETILE_DEVICE_ISA");
  if (!wanted || !*wanted)
    return allInstructionTables()[0];
  struct Name {
    const char *setting, *tables;
  };
  static constexpr Name names[] = {{"avx512", "v4"}, {"avx2", "v3"}, {"plain", "plain"}};
  for (const Name &name : names)
    if (std::strcmp(wanted, name.setting) == 0)
      for (const InstructionTables *const *tables = allInstructionTables(); *tables; ++tables)
        if (std::strcmp((*tables)->hostInstructionSet, name.tables) == 0)
          return *tables;
  return nullptr;
}

const InstructionTables *instructionTables() {
  static const InstructionTables *const chosen = chosenTables();
  return chosen;
}

const Instruction *instructionRow(uint16_t number) {
  const InstructionTables &tables = *instructionTables();
  size_t index = number;
  for (size_t t = 0; t < tables.count && index != 0; ++t) {
    if (index <= tables.begin[t].count)
      return tables.begin[t].begin + index - 1;
    index -= tables.begin[t].count;
  }
  return nullptr;
}

uint16_t instructionRowNumber(const Instruction &row) {
  const InstructionTables &tables = *instructionTables();
  size_t before = 0;
  for (size_t t = 0; t < tables.count; ++t) {
    const InstructionRows &rows = tables.begin[t];
    if (!std::less<>()(&row, rows.begin) && std::less<>()(&row, rows.begin + rows.count))
      return static_cast<uint16_t>(before + static_cast<size_t>(&row - rows.begin) + 1);
    before += rows.count;
  }
  return 0;
}

} // namespace wavetile::device
