//===- Target.cpp - The table of GPUs -------------------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Target.h"

namespace wavetile::device {

static constexpr TargetDescription table[] = {
    {"gfx942", "AMD Instinct MI300X", Encoding::Gfx9, Float8::Fnuz, 64, 64 << 10, 256, 256, 304,
     2100000, 1300000, 8192, 4 << 20, 192ull << 30, 2048, true},
    {"gfx950", "AMD Instinct MI355X", Encoding::Gfx9, Float8::Ocp, 64, 160 << 10, 256, 256, 256,
     2400000, 2000000, 8192, 4 << 20, 288ull << 30, 2048, true},
    {"gfx1150", "AMD Radeon 890M", Encoding::Gfx11, Float8::None, 32, 64 << 10, 256, 0, 16, 2900000,
     1000000, 128, 2 << 20, 32ull << 30, 2048, false},
};

llvm::ArrayRef<TargetDescription> targets() { return table; }

const TargetDescription *findTarget(llvm::StringRef name) {
  llvm::StringRef processor = name.split(':').first;
  for (const TargetDescription &target : table)
    if (processor == target.name)
      return &target;
  return nullptr;
}

} // namespace wavetile::device
