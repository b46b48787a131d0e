//===- Clock.cpp - What a kernel sees of time -----------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch on one thread gives the same results every time, so its clock counts what it has
// executed: an instruction of a wave is a tick of 10 ns. On several threads it is the host's time.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Machine.h"
#include "runtime/emulator/Wave.h"

#include <chrono>
#include <numeric>

namespace wavetile::device {

uint64_t readRealTime(Wave &wave) {
  wave.readsClock = true;
  const Workgroup &group = *wave.workgroup;
  bool isCounted = !group.launch || group.launch->threads <= 1;
  if (isCounted) {
    constexpr size_t classes = static_cast<size_t>(InstructionClass::Count);
    return group.executed ? std::accumulate(group.executed, group.executed + classes, uint64_t(0))
                          : 0;
  }
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  using Ticks = std::chrono::duration<uint64_t, std::ratio<1, 100'000'000>>;
  return std::chrono::duration_cast<Ticks>(now).count();
}

} // namespace wavetile::device
