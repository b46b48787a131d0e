//===- LaunchServices.h - What the host does for a running kernel ---------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The memory behind the hidden arguments that one execution of a launch has for
// itself: the buffers of printf and hostcall, and the counters by which the
// workgroups of a cooperative launch wait for each other. Only what the kernel's
// metadata asks for is made.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_HIP_LAUNCHSERVICES_H
#define WAVETILE_RUNTIME_EMULATOR_HIP_LAUNCHSERVICES_H

#include "runtime/emulator/hip/Hostcall.h"
#include "runtime/emulator/hip/PrintfBuffer.h"
#include "runtime/emulator/hip/Work.h"

#include <functional>
#include <memory>

namespace wavetile::device {

/// See the top of the file.
class LaunchServices {
public:
  /// Makes what `work` needs and writes its addresses into `kernarg`, a copy of the launch's.
  hipError_t prepare(Runtime &runtime, const KernelWork &work, std::vector<uint8_t> &kernarg);

  /// What a launch calls when a wave interrupts the host; empty if its kernel makes no hostcalls.
  std::function<const char *()> interrupt();

  /// Prints what is left, after the launch.
  void finish();

private:
  hipError_t make(Runtime &runtime, const KernelWork &work, ArgumentKind kind, uint64_t &address);

  const CodeObject *object = nullptr;
  std::unique_ptr<HostcallBuffer> hostcalls;
  std::unique_ptr<PrintfBuffer> prints;
  std::unique_ptr<SharedMemory> gridSync;
};

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_HIP_LAUNCHSERVICES_H
