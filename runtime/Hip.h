//===- Hip.h - The one table of HIP functions -------------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All device work of Wavetile goes through a HipLibrary: a table of functions
// found in a library by name, never linked. The library is AMD's or the software
// device, which has the same names and says by one more that it is not a GPU.
// A loaded library stays loaded: HIP cannot be unloaded.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_HIP_H
#define WAVETILE_RUNTIME_HIP_H

#include "runtime/Status.h"

#include <cstddef>
#include <string>

namespace wavetile {

using HipError = int; // hipError_t; 0 is hipSuccess
using HipStream = void *;
using HipModule = void *;
using HipFunction = void *;

/// What hipGetDevicePropertiesR0600 fills in. The layout is that of ROCm 6 and 7; only what the
/// launcher reads has a name.
struct HipDeviceProperties {
  char name[256];
  char unused0[40];
  size_t sharedMemPerBlock;
  char unused1[16];
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  char unused2[812];
  char gcnArchName[256];
  char unused3[56];
};
static_assert(offsetof(HipDeviceProperties, sharedMemPerBlock) == 296);
static_assert(offsetof(HipDeviceProperties, maxThreadsPerBlock) == 320);
static_assert(offsetof(HipDeviceProperties, gcnArchName) == 1160);
static_assert(sizeof(HipDeviceProperties) == 1472);

// Keys of the `extra` list of hipModuleLaunchKernel.
inline void *const hipLaunchParameterBuffer = reinterpret_cast<void *>(1);
inline void *const hipLaunchParameterSize = reinterpret_cast<void *>(2);
inline void *const hipLaunchParameterEnd = reinterpret_cast<void *>(3);

/// `X(member, type of the function, name in the library)`.
#define WAVETILE_HIP_FUNCTIONS(X)                                                                  \
  X(getErrorName, const char *(HipError), "hipGetErrorName")                                       \
  X(getErrorString, const char *(HipError), "hipGetErrorString")                                   \
  X(getLastError, HipError(), "hipGetLastError")                                                   \
  X(getDeviceCount, HipError(int *), "hipGetDeviceCount")                                          \
  X(getDevice, HipError(int *), "hipGetDevice")                                                    \
  X(setDevice, HipError(int), "hipSetDevice")                                                      \
  X(getDeviceProperties, HipError(HipDeviceProperties *, int), "hipGetDevicePropertiesR0600")      \
  X(allocate, HipError(void **, size_t), "hipMalloc")                                              \
  X(release, HipError(void *), "hipFree")                                                          \
  X(fillAsync, HipError(void *, int, size_t, HipStream), "hipMemsetAsync")                         \
  X(moduleLoadData, HipError(HipModule *, const void *), "hipModuleLoadData")                      \
  X(moduleUnload, HipError(HipModule), "hipModuleUnload")                                          \
  X(moduleGetFunction, HipError(HipFunction *, HipModule, const char *), "hipModuleGetFunction")   \
  X(moduleLaunchKernel,                                                                            \
    HipError(HipFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,    \
             HipStream, void **, void **),                                                         \
    "hipModuleLaunchKernel")                                                                       \
  X(streamSynchronize, HipError(HipStream), "hipStreamSynchronize")                                \
  X(deviceSynchronize, HipError(), "hipDeviceSynchronize")

/// Null where the library has no such function: the first came with HIP 4.3, the others are the
/// software device's own.
#define WAVETILE_OPTIONAL_HIP_FUNCTIONS(X)                                                         \
  X(streamIsCapturing, HipError(HipStream, int *), "hipStreamIsCapturing")                         \
  X(lastReport, const char *(), "wavetileDeviceLastReport")                                        \
  X(announceRange, void(const void *, size_t, const char *), "wavetileDeviceAnnounceRange")        \
  X(retractRange, void(const void *), "wavetileDeviceRetractRange")

class HipLibrary {
  template <typename Signature> using Function = Signature *;

public:
#define WAVETILE_DECLARE(member, signature, symbol) Function<signature> member = nullptr;
  WAVETILE_HIP_FUNCTIONS(WAVETILE_DECLARE)
  WAVETILE_OPTIONAL_HIP_FUNCTIONS(WAVETILE_DECLARE)
#undef WAVETILE_DECLARE

  /// Opens `path` (a path, or a name for the system's search) and fills the table.
  static Status open(const std::string &path, HipLibrary &library);

  /// Finds the library that this process has loaded already, by whatever path, and sets `found`.
  static Status openLoaded(HipLibrary &library, bool &found);

  /// The file that was loaded.
  const std::string &path() const { return file; }
  bool isSoftwareDevice() const { return lastReport != nullptr; }

  // An error of a call is HIP's "last error" too, which others in the process look at: PyTorch
  // would blame its next kernel. Each of these takes it away.

  /// "what: hipErrorName: explanation".
  Status error(HipError error, const std::string &what) const;
  Status check(HipError result, const char *what) const {
    return result == 0 ? Status::success() : error(result, what);
  }
  /// The same for calls that load or run code: with the software device's report of what it found.
  Status errorWithReport(HipError error, const std::string &what) const;
  /// For calls that clean up, when nobody is left to be told.
  void ignore(HipError result) const {
    if (result != 0)
      (void)getLastError();
  }

private:
  static Status fill(void *handle, const std::string &path, HipLibrary &library);
  std::string file;
};

} // namespace wavetile

#endif // WAVETILE_RUNTIME_HIP_H
