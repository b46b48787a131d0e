//===- Runtime.cpp - The state behind HIP's functions ---------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/hip/Runtime.h"

#include "runtime/emulator/hip/Device.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace llvm;

namespace wavetile::device {

static thread_local std::string lastReport;
static thread_local hipError_t lastError = hipSuccess;

Runtime &Runtime::get() {
  static Runtime *runtime = new Runtime;
  return *runtime;
}

Runtime::Runtime() { readEnvironment(); }

int &Runtime::currentOrdinal() {
  static thread_local int ordinal = 0;
  return ordinal;
}

static std::string listTargets() {
  std::vector<StringRef> names;
  for (const TargetDescription &target : targets())
    names.push_back(target.name);
  return join(names, ", ");
}

static bool isSet(const char *variable) {
  const char *value = std::getenv(variable);
  return value && StringRef(value) == "1";
}

void Runtime::readEnvironment() {
  const char *wanted = std::getenv("WAVETILE_DEVICE_TARGET");
  SmallVector<StringRef> names;
  StringRef(wanted && *wanted ? wanted : "gfx950").split(names, ',');
  for (StringRef name : names) {
    const TargetDescription *target = findTarget(name.trim());
    if (!target) {
      environmentError = "WAVETILE_DEVICE_TARGET names '" + name.str() +
                         "', which this device cannot pose as; it can as " + listTargets();
      deviceList.clear();
      return;
    }
    deviceList.push_back(makeDevice(*target, static_cast<int>(deviceList.size())));
  }
  memory.refuseUnknown(isSet("WAVETILE_DEVICE_STRICT"));
  asynchronous = isSet("WAVETILE_DEVICE_ASYNC");
  lazyRefusal = isSet("WAVETILE_DEVICE_LAZY_REFUSE");
  if (const char *path = std::getenv("WAVETILE_DEVICE_LOG"); path && *path)
    log.writeAtExit(path);
  // Preloaded by `wavetile device env`, or not there.
  if (void *recorder = dlsym(RTLD_DEFAULT, recorderFunctionName))
    memory.useRecorder(reinterpret_cast<RecorderFunction>(recorder));
  readThreads();
  if (Error error = readProfiling()) {
    environmentError = toString(std::move(error));
    deviceList.clear();
  }
  if (const char *list = std::getenv("WAVETILE_DEVICE_CHECKS")) {
    if (auto options = CheckOptions::parse(list)) {
      checkOptions = *options;
    } else {
      environmentError = "WAVETILE_DEVICE_CHECKS: " + toString(options.takeError());
      deviceList.clear();
    }
  }
  heap.trackDefinedness(checkOptions.undefined);
  const char *limit = std::getenv("WAVETILE_DEVICE_INSTRUCTION_LIMIT");
  if (limit && StringRef(limit).getAsInteger(10, instructionLimitValue)) {
    environmentError =
        "WAVETILE_DEVICE_INSTRUCTION_LIMIT is '" + std::string(limit) + "', which is no number";
    deviceList.clear();
  }
  if (const char *rounding = std::getenv("WAVETILE_DEVICE_ROUNDING")) {
    if (StringRef(rounding) == "hw")
      matrixRoundingValue = MatrixRounding::Hardware;
    else if (StringRef(rounding) == "fma")
      matrixRoundingValue = MatrixRounding::FusedMultiplyAdd;
    else if (*rounding) {
      environmentError = "WAVETILE_DEVICE_ROUNDING is '" + std::string(rounding) +
                         "', which is neither hw nor fma";
      deviceList.clear();
    }
  }
}

/// A workgroup's place in its grid: "x", "x,y" or "x,y,z".
static Expected<std::array<uint32_t, 3>> parseWorkgroup(StringRef text) {
  std::array<uint32_t, 3> place{};
  SmallVector<StringRef, 3> parts;
  text.split(parts, ',');
  bool isPlace = parts.size() <= place.size();
  for (size_t i = 0; isPlace && i < parts.size(); ++i)
    isPlace = !parts[i].trim().getAsInteger(10, place[i]);
  if (!isPlace)
    return createStringError("WAVETILE_DEVICE_TRACE_WORKGROUP is '" + text +
                             "', which is no workgroup x,y,z");
  return place;
}

Error Runtime::readProfiling() {
  if (const char *path = std::getenv("WAVETILE_DEVICE_PROFILE"); path && *path)
    if (Error error = profiles.profileTo(path))
      return error;
  const char *path = std::getenv("WAVETILE_DEVICE_TRACE");
  if (!path || !*path)
    return Error::success();
  TraceOptions options;
  if (const char *kernel = std::getenv("WAVETILE_DEVICE_TRACE_KERNEL"))
    options.kernel = kernel;
  if (const char *text = std::getenv("WAVETILE_DEVICE_TRACE_WORKGROUP"); text && *text)
    if (Error error = parseWorkgroup(text).moveInto(options.workgroup))
      return error;
  return profiles.traceTo(path, std::move(options));
}

/// Cores that this process may run on.
static unsigned availableCores() {
  cpu_set_t cores;
  return sched_getaffinity(0, sizeof(cores), &cores) == 0 ? std::max(CPU_COUNT(&cores), 1) : 1;
}

void Runtime::readThreads() {
  constexpr unsigned most = 256;
  launchThreadsValue = std::min(availableCores(), most);
  const char *threads = std::getenv("WAVETILE_DEVICE_THREADS");
  if (threads && (StringRef(threads).getAsInteger(10, launchThreadsValue) ||
                  launchThreadsValue == 0 || launchThreadsValue > most)) {
    environmentError = "WAVETILE_DEVICE_THREADS is '" + std::string(threads) +
                       "', which is no number from 1 to " + std::to_string(most);
    deviceList.clear();
  }
  const char *deterministic = std::getenv("WAVETILE_DEVICE_DETERMINISTIC");
  if (deterministic && StringRef(deterministic) == "1")
    launchThreadsValue = 1;
}

hipError_t Runtime::ready() {
  return environmentError.empty() ? hipSuccess : fail(hipErrorNoDevice, environmentError);
}

hipError_t fail(hipError_t error, std::string_view reason) {
  lastReport = reason;
  std::string text = "wavetile device: " + lastReport + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
  return error;
}

void clearReport() { lastReport.clear(); }

const std::string &lastReportOfThread() { return lastReport; }

hipError_t LateErrors::take() {
  std::lock_guard lock(mutex);
  if (first != hipSuccess)
    lastReport = std::exchange(firstReport, {});
  return std::exchange(first, hipSuccess);
}

hipError_t recorded(hipError_t error) {
  if (error != hipSuccess)
    lastError = error;
  return error;
}

} // namespace wavetile::device

using namespace wavetile::device;

WAVETILE_HIP_API hipError_t hipGetLastError() { return std::exchange(lastError, hipSuccess); }

WAVETILE_HIP_API hipError_t hipExtGetLastError() { return std::exchange(lastError, hipSuccess); }

WAVETILE_HIP_API hipError_t hipPeekAtLastError() { return lastError; }

/// The reason for the latest failure of this thread's launches, module loads and the like, or an
/// empty text. Valid until the next one.
WAVETILE_HIP_API const char *wavetileDeviceLastReport() { return lastReport.c_str(); }
