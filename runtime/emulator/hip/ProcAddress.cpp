//===- ProcAddress.cpp - hipGetProcAddress --------------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/hip/Runtime.h"

#include "llvm/ADT/StringRef.h"

#include <dlfcn.h>

using namespace wavetile::device;

// hipDriverProcAddressQueryResult
static constexpr int symbolFound = 0;
static constexpr int symbolNotFound = 1;

/// The function of this library with this name.
static void *findExport(llvm::StringRef name) {
  // A handle of our own: the name must not be looked up in another HIP of the process.
  static void *self = [] {
    Dl_info info;
    bool known = dladdr(reinterpret_cast<void *>(&findExport), &info) && info.dli_fname;
    return known ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  }();
  bool isOurs = name.starts_with("hip") || name.starts_with("__hip");
  return self && isOurs ? dlsym(self, name.str().c_str()) : nullptr;
}

WAVETILE_HIP_API hipError_t hipGetProcAddress(const char *name, void **function, int, uint64_t,
                                              int *status) {
  if (!name || !function)
    return recorded(hipErrorInvalidValue);
  llvm::StringRef wanted(name);
  // Callers of HIP 6 and newer mean the current form of the functions that changed their ABI.
  if (wanted == "hipGetDeviceProperties" || wanted == "hipChooseDevice")
    *function = findExport((wanted + "R0600").str());
  else
    *function = findExport(wanted);
  if (status)
    *status = *function ? symbolFound : symbolNotFound;
  return *function ? hipSuccess : recorded(hipErrorInvalidValue);
}

/// The same, under the name of CUDA's runtime interface.
WAVETILE_HIP_API hipError_t hipGetDriverEntryPoint(const char *name, void **function,
                                                   unsigned long long flags, int *status) {
  return hipGetProcAddress(name, function, 0, flags, status);
}
