//===- Unsupported.cpp - HIP functions that the device does not provide ---===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs that are linked with HIP want every name that they use to exist, even
// those they never call. Each of these returns hipErrorNotSupported, and the
// first call names it on stderr.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/hip/Runtime.h"

#include <atomic>
#include <cstdio>
#include <string>

using namespace wavetile::device;

static hipError_t refuse(const char *function, std::atomic<bool> &named) {
  std::string reason = std::string(function) + " is not supported";
  if (!named.exchange(true))
    return recorded(fail(hipErrorNotSupported, reason));
  return recorded(hipErrorNotSupported);
}

// The arguments are never looked at, so a function that takes none can stand for each: with C's
// calling convention the caller puts them away.
#define WAVETILE_UNSUPPORTED(name)                                                                 \
  WAVETILE_HIP_API hipError_t name() {                                                             \
    static std::atomic<bool> named = false;                                                        \
    return refuse(#name, named);                                                                   \
  }
#include "runtime/emulator/hip/UnsupportedFunctions.def"
#undef WAVETILE_UNSUPPORTED
