//===- Execute.cpp - Launches of kernels ----------------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//

#include "runtime/emulator/Machine.h"

#include "runtime/emulator/LaunchContext.h"
#include "runtime/emulator/Occupancy.h"
#include "runtime/emulator/Scheduler.h"

#include <algorithm>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace wavetile::device {

namespace {

/// Keeps the host's floating-point control for as long as a launch changes it.
class HostFloatControl {
public:
#if defined(__x86_64__)
  HostFloatControl() : saved(_mm_getcsr()) {}
  ~HostFloatControl() { _mm_setcsr(saved); }

private:
  unsigned saved;

public:
#else
  HostFloatControl() {}
#endif
  HostFloatControl(const HostFloatControl &) = delete;
  HostFloatControl &operator=(const HostFloatControl &) = delete;
};

} // namespace

LaunchResult run(const Launch &launch, const MemoryMap &memory) {
  LaunchContext context(launch);
  if (std::optional<Fault> refusal = context.refusal())
    return {std::move(refusal), {}};
  uint64_t capacity =
      uint64_t(multiprocessors(context.target)) *
      residentWorkgroups(*launch.kernel, context.target, context.workItems, launch.dynamicLdsBytes);
  std::vector<std::unique_ptr<ResidentWorkgroup>> pool;
  Scheduler scheduler(context, memory, std::max<uint64_t>(capacity, 1), 1, pool);
  HostFloatControl control;
  scheduler.work();
  return scheduler.takeResult();
}

} // namespace wavetile::device
