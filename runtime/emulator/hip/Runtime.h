//===- Runtime.h - The state behind HIP's functions -----------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One Runtime for the process: the devices it poses as, what it knows of memory,
// and the handles that it gave out. Read the environment here and nowhere else:
//
//   WAVETILE_DEVICE_TARGET  the GPUs it poses as, separated by commas (gfx950)
//   WAVETILE_DEVICE_STRICT  1: refuse memory of which only the mapping is known
//   WAVETILE_DEVICE_INSTRUCTION_LIMIT  wave instructions that a launch may execute
//   WAVETILE_DEVICE_THREADS  threads that execute a launch (as many as the process has cores)
//   WAVETILE_DEVICE_DETERMINISTIC  1: one thread, so that every run does the same in the same order
//   WAVETILE_DEVICE_LOG     a file that gets the launch log when the process ends
//   WAVETILE_DEVICE_PROFILE  a file that gets a profile of each launch
//   WAVETILE_DEVICE_TRACE   a file that gets a trace of one workgroup of each launch, or of those
//                           of the kernel WAVETILE_DEVICE_TRACE_KERNEL: the workgroup
//                           WAVETILE_DEVICE_TRACE_WORKGROUP (0,0,0)
//   WAVETILE_DEVICE_ASYNC   1: each stream does its work in a thread of its own
//   WAVETILE_DEVICE_LAZY_REFUSE  1: load code that has instructions which the device
//                           lacks; reaching one ends the launch
//
// Promises: thread-safe; never destroyed, for clients call HIP from their own
// destructors.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_HIP_RUNTIME_H
#define WAVETILE_RUNTIME_EMULATOR_HIP_RUNTIME_H

#include "runtime/emulator/MatrixRounding.h"
#include "runtime/emulator/MemoryMap.h"
#include "runtime/emulator/Target.h"
#include "runtime/emulator/checks/Options.h"
#include "runtime/emulator/hip/Handles.h"
#include "runtime/emulator/hip/Heap.h"
#include "runtime/emulator/hip/HipTypes.h"
#include "runtime/emulator/hip/LaunchLog.h"
#include "runtime/emulator/hip/ProfileLog.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct ihipStream_t;
struct ihipEvent_t;
struct ihipModule_t;
struct ihipModuleSymbol_t;

namespace wavetile::device {

/// One GPU that the process sees.
struct Device {
  const TargetDescription *target = nullptr;
  int ordinal = 0;
  hipDeviceProp_tR0600 properties = {};
};

/// What hipDeviceGetStreamPriorityRange says.
inline constexpr int leastStreamPriority = 1;
inline constexpr int greatestStreamPriority = -1;

/// The failures of work that ran after its call had returned: each is told once, by the next call
/// that waits.
class LateErrors {
public:
  void add(hipError_t error, std::string report) {
    std::lock_guard lock(mutex);
    if (first == hipSuccess) {
      first = error;
      firstReport = std::move(report);
    }
  }
  /// The first that was not told yet, its report made this thread's; hipSuccess if there is none.
  hipError_t take();

private:
  std::mutex mutex;
  hipError_t first = hipSuccess;
  std::string firstReport;
};

/// See the top of the file.
class Runtime {
public:
  static Runtime &get();

  /// hipSuccess, or hipErrorNoDevice if the environment asks for something that does not exist.
  hipError_t ready();

  const std::vector<Device> &devices() const { return deviceList; }
  /// The device that this thread has set.
  static int &currentOrdinal();
  const Device &currentDevice() const { return deviceList[currentOrdinal()]; }
  const Device *device(int ordinal) const {
    return ordinal >= 0 && static_cast<size_t>(ordinal) < deviceList.size() ? &deviceList[ordinal]
                                                                            : nullptr;
  }

  uint64_t instructionLimit() const { return instructionLimitValue; }
  /// Threads that execute one launch.
  unsigned launchThreads() const { return launchThreadsValue; }
  std::optional<MatrixRounding> matrixRounding() const { return matrixRoundingValue; }
  bool isAsynchronous() const { return asynchronous; }
  bool refusesLazily() const { return lazyRefusal; }

  /// Room for what one launch prints by a buffer.
  uint64_t printfBytes() const { return printfByteCount.load(); }
  void setPrintfBytes(uint64_t bytes) { printfByteCount = bytes; }
  const CheckOptions &checks() const { return checkOptions; }

  MemoryMap memory;
  Heap heap{memory};
  LaunchLog log;
  ProfileLog profiles;
  Handles<ihipStream_t> streams;
  Handles<ihipEvent_t> events;
  Handles<ihipModule_t> modules;
  Handles<ihipModuleSymbol_t> functions;
  LateErrors lateErrors;

  /// Held shared by whatever reads or writes device memory, and alone by whatever takes memory
  /// away: freeing waits for running launches, as HIP's does.
  std::shared_mutex activity;

private:
  Runtime();
  void readEnvironment();
  void readThreads();
  llvm::Error readProfiling();

  std::vector<Device> deviceList;
  std::string environmentError;
  uint64_t instructionLimitValue = UINT64_MAX;
  unsigned launchThreadsValue = 1;
  std::optional<MatrixRounding> matrixRoundingValue;
  bool asynchronous = false;
  bool lazyRefusal = false;
  std::atomic<uint64_t> printfByteCount = uint64_t(1) << 20;
  CheckOptions checkOptions;
};

/// What a HIP function returns on failure: prints `reason` on stderr and keeps it for
/// wavetileDeviceLastReport of this thread.
hipError_t fail(hipError_t error, std::string_view reason);

/// Forgets this thread's report. Called where an operation begins that may make one.
void clearReport();

/// This thread's report.
const std::string &lastReportOfThread();

/// Keeps `error` for hipGetLastError of this thread, and gives it back.
hipError_t recorded(hipError_t error);

/// The body of a HIP function that needs a device.
template <typename Body> hipError_t withDevice(Body &&body) {
  Runtime &runtime = Runtime::get();
  hipError_t error = runtime.ready();
  return recorded(error == hipSuccess ? body(runtime) : error);
}

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_HIP_RUNTIME_H
