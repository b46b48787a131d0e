//===- FakeHip.cpp - A HIP library that records and fails on demand -------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Built twice: as a GPU, and with FAKE_SOFTWARE_DEVICE as the software device. It
// runs nothing. It writes each call into a log, keeps what is allocated and loaded
// and the last error, so that what is left behind shows, and returns
// hipErrorOutOfMemory from the call that a test chose. A module's "code" is the
// list of its kernels, separated by commas.
//
//===----------------------------------------------------------------------===//

#include "runtime/Hip.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace wavetile;

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

constexpr HipError outOfMemory = 2;

struct State {
  std::string log;
  HipError lastError = 0;
  int untilFailure = 0; // 1: the next call that can fail does
  int deviceCount = 2;
  int current = 0;
  bool capturing = false;
  std::set<void *> allocations;
  std::set<std::string *> modules;
  std::vector<std::string> functions;
  std::set<const void *> ranges;
};

State state;

/// Logs the call, and says whether it is the one to fail.
bool failing(const std::string &call) {
  state.log += call + "\n";
  bool fails = state.untilFailure > 0 && --state.untilFailure == 0;
  if (fails)
    state.lastError = outOfMemory;
  return fails;
}

} // namespace

//===----------------------------------------------------------------------===//
// For tests
//===----------------------------------------------------------------------===//

EXPORT void fakeReset(int deviceCount) {
  state.log.clear();
  state.untilFailure = 0;
  state.deviceCount = deviceCount;
  state.current = 0;
  state.capturing = false;
}
EXPORT void fakeFailCall(int number) { state.untilFailure = number; }
EXPORT void fakeSetCapturing(bool capturing) { state.capturing = capturing; }
EXPORT const char *fakeLog() { return state.log.c_str(); }
EXPORT size_t fakeOutstanding() {
  return (state.lastError != 0) + state.allocations.size() + state.modules.size() +
         state.ranges.size();
}

//===----------------------------------------------------------------------===//
// HIP
//===----------------------------------------------------------------------===//

EXPORT const char *hipGetErrorName(HipError error) {
  return error == outOfMemory ? "hipErrorOutOfMemory" : "hipErrorNotFound";
}
EXPORT const char *hipGetErrorString(HipError error) {
  return error == outOfMemory ? "out of memory" : "not found";
}
EXPORT HipError hipGetLastError() { return std::exchange(state.lastError, 0); }
EXPORT HipError hipGetDeviceCount(int *count) {
  if (failing("hipGetDeviceCount"))
    return outOfMemory;
  *count = state.deviceCount;
  return 0;
}
EXPORT HipError hipGetDevice(int *device) {
  if (failing("hipGetDevice"))
    return outOfMemory;
  *device = state.current;
  return 0;
}
EXPORT HipError hipSetDevice(int device) {
  if (failing("hipSetDevice " + std::to_string(device)))
    return outOfMemory;
  state.current = device;
  return 0;
}
EXPORT HipError hipGetDevicePropertiesR0600(HipDeviceProperties *properties, int device) {
  if (failing("hipGetDeviceProperties " + std::to_string(device)))
    return outOfMemory;
  std::strcpy(properties->name, "Fake Instinct");
  std::strcpy(properties->gcnArchName, device == 0 ? "gfx950:sramecc+:xnack-" : "gfx942");
  properties->maxThreadsPerBlock = 1024;
  for (int &limit : properties->maxThreadsDim)
    limit = 1024;
  properties->maxGridSize[0] = 2147483647;
  properties->maxGridSize[1] = properties->maxGridSize[2] = 65536;
  return 0;
}
EXPORT HipError hipMalloc(void **pointer, size_t bytes) {
  if (failing("hipMalloc " + std::to_string(bytes)))
    return outOfMemory;
  *pointer = std::malloc(bytes);
  state.allocations.insert(*pointer);
  return 0;
}
EXPORT HipError hipFree(void *pointer) {
  bool fails = failing("hipFree");
  if (!state.allocations.erase(pointer))
    std::abort(); // freed twice, or never allocated
  std::free(pointer);
  return fails ? outOfMemory : 0; // of earlier work: the memory is gone all the same
}
EXPORT HipError hipMemsetAsync(void *pointer, int value, size_t bytes, HipStream) {
  if (failing("hipMemsetAsync " + std::to_string(value) + " " + std::to_string(bytes)))
    return outOfMemory;
  std::memset(pointer, value, bytes);
  return 0;
}
EXPORT HipError hipModuleLoadData(HipModule *module, const void *image) {
  if (failing("hipModuleLoadData"))
    return outOfMemory;
  auto *loaded = new std::string("," + std::string(static_cast<const char *>(image)) + ",");
  state.modules.insert(loaded);
  *module = loaded;
  return 0;
}
EXPORT HipError hipModuleUnload(HipModule module) {
  bool fails = failing("hipModuleUnload");
  if (!state.modules.erase(static_cast<std::string *>(module)))
    std::abort();
  delete static_cast<std::string *>(module);
  return fails ? outOfMemory : 0;
}
EXPORT HipError hipModuleGetFunction(HipFunction *function, HipModule module, const char *name) {
  if (failing(std::string("hipModuleGetFunction ") + name))
    return outOfMemory;
  if (static_cast<std::string *>(module)->find("," + std::string(name) + ",") == std::string::npos)
    return state.lastError = 500; // hipErrorNotFound
  state.functions.push_back(name);
  *function = reinterpret_cast<void *>(state.functions.size());
  return 0;
}
EXPORT HipError hipModuleLaunchKernel(HipFunction function, unsigned gridX, unsigned gridY,
                                      unsigned gridZ, unsigned blockX, unsigned blockY,
                                      unsigned blockZ, unsigned ldsBytes, HipStream stream,
                                      void **parameters, void **extra) {
  const std::string &name = state.functions[reinterpret_cast<size_t>(function) - 1];
  std::string call = "launch " + name + " grid " + std::to_string(gridX) + "," +
                     std::to_string(gridY) + "," + std::to_string(gridZ) + " workgroup " +
                     std::to_string(blockX) + "," + std::to_string(blockY) + "," +
                     std::to_string(blockZ) + " lds " + std::to_string(ldsBytes) + " stream " +
                     std::to_string(reinterpret_cast<size_t>(stream)) + " device " +
                     std::to_string(state.current) + " kernarg";
  if (parameters || extra[0] != hipLaunchParameterBuffer || extra[2] != hipLaunchParameterSize ||
      extra[4] != hipLaunchParameterEnd)
    std::abort();
  const auto *bytes = static_cast<const unsigned char *>(extra[1]);
  for (size_t index = 0; index < *static_cast<size_t *>(extra[3]); ++index) {
    char text[4];
    std::snprintf(text, sizeof(text), "%s%02x", index % 4 ? "" : " ", bytes[index]);
    call += text;
  }
  return failing(call) ? outOfMemory : 0;
}
EXPORT HipError hipStreamSynchronize(HipStream) {
  return failing("hipStreamSynchronize") ? outOfMemory : 0;
}
EXPORT HipError hipDeviceSynchronize() { return failing("hipDeviceSynchronize") ? outOfMemory : 0; }

#ifdef FAKE_SOFTWARE_DEVICE

EXPORT const char *wavetileDeviceLastReport() { return "lane 3 reads beyond x"; }
EXPORT void wavetileDeviceAnnounceRange(const void *pointer, size_t bytes, const char *name) {
  state.log += std::string("announce ") + name + " " + std::to_string(bytes) + "\n";
  state.ranges.insert(pointer);
}
EXPORT void wavetileDeviceRetractRange(const void *pointer) {
  state.log += "retract\n";
  state.ranges.erase(pointer);
}

#else

EXPORT HipError hipStreamIsCapturing(HipStream, int *status) {
  if (failing("hipStreamIsCapturing"))
    return outOfMemory;
  *status = state.capturing;
  return 0;
}

#endif
