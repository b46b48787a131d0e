//===- Work.h - What streams and graphs execute ---------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch, copy or fill as a value, with everything that it needs: its arguments
// are packed and checked when it is made, so that it can be performed at once, by
// a stream's queue, or again and again by a graph.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_HIP_WORK_H
#define WAVETILE_RUNTIME_EMULATOR_HIP_WORK_H

#include "runtime/emulator/hip/Kernarg.h"
#include "runtime/emulator/hip/Module.h"
#include "runtime/emulator/hip/Runtime.h"

#include <functional>
#include <variant>
#include <vector>

namespace wavetile::device {

/// `depth` planes of `height` rows of `width` bytes. A flat range is one row.
struct Extent {
  size_t width = 0;
  size_t height = 1;
  size_t depth = 1;

  bool isEmpty() const { return width == 0 || height == 0 || depth == 0; }
};

/// Where rows lie: the distance of two rows and of two planes in bytes.
struct Rows {
  void *pointer = nullptr;
  size_t pitch = 0;
  size_t planePitch = 0;
};

struct CopyWork {
  Rows to;
  Rows from;
  Extent extent;
};

struct FillWork {
  Rows to;
  uint32_t value = 0;
  /// 1, 2 or 4. The width is in bytes and a multiple of it.
  unsigned elementBytes = 1;
  Extent extent;
};

struct KernelWork {
  LoadedKernel loaded;
  LaunchShape shape;
  std::vector<uint8_t> kernarg;
  /// All workgroups are resident at the same time and may wait for each other.
  bool isCooperative = false;
};

/// A function of the host, and whatever else graphs cannot have. It may call HIP.
struct HostWork {
  /// The HIP function that asked for it.
  const char *name;
  std::function<hipError_t(Runtime &)> run;
};

using Work = std::variant<CopyWork, FillWork, KernelWork, HostWork>;

/// A copy or fill that may be performed; otherwise says why not.
hipError_t check(Runtime &runtime, const CopyWork &copy);
hipError_t check(Runtime &runtime, const FillWork &fill);

/// The copy between pointers that a description asks for.
CopyWork copyWorkOf(const hipMemcpy3DParms &parameters);

/// A launch with its arguments packed, or the error that HIP returns, its reason printed.
hipError_t makeKernelWork(LoadedKernel loaded, const LaunchShape &shape, void *const *parameters,
                          void *const *extra, bool isCooperative, KernelWork &work);

/// Does it, in this thread.
hipError_t perform(Runtime &runtime, const Work &work);
hipError_t perform(Runtime &runtime, const CopyWork &work);
hipError_t perform(Runtime &runtime, const FillWork &work);
hipError_t perform(Runtime &runtime, const KernelWork &work);

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_HIP_WORK_H
