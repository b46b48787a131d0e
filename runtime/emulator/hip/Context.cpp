//===- Context.cpp - Contexts, which stand for devices --------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// HIP's contexts, deprecated but in use: a device has one, its primary, which
// every context function gives. Making one current makes its device current.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/hip/Stream.h"

#include <atomic>
#include <deque>
#include <vector>

using namespace wavetile::device;

/// What hipCtx_t points to.
struct ihipCtx_t {
  int device = 0;
  std::atomic<unsigned> flags = 0;
  std::atomic<unsigned> retained = 0;
};

/// The context of a device.
static ihipCtx_t *contextOf(Runtime &runtime, int device) {
  static auto *contexts = [&] {
    auto *made = new std::deque<ihipCtx_t>(runtime.devices().size());
    for (size_t i = 0; i < made->size(); ++i)
      (*made)[i].device = static_cast<int>(i);
    return made;
  }();
  return &(*contexts)[device];
}

static bool isContext(Runtime &runtime, hipCtx_t context) {
  for (const Device &device : runtime.devices())
    if (context == contextOf(runtime, device.ordinal))
      return true;
  return false;
}

/// Devices that were current before hipCtxPushCurrent and hipCtxCreate.
static thread_local std::vector<int> pushed;

static void push(hipCtx_t context) {
  pushed.push_back(Runtime::currentOrdinal());
  Runtime::currentOrdinal() = context->device;
}

WAVETILE_HIP_API hipError_t hipCtxCreate(hipCtx_t *context, unsigned flags, hipDevice_t device) {
  return withDevice([&](Runtime &runtime) {
    if (!context)
      return hipErrorInvalidValue;
    if (!runtime.device(device))
      return hipErrorInvalidDevice;
    *context = contextOf(runtime, device);
    (*context)->flags = flags;
    push(*context);
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipCtxPushCurrent(hipCtx_t context) {
  return withDevice([&](Runtime &runtime) {
    if (!isContext(runtime, context))
      return hipErrorInvalidContext;
    push(context);
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipCtxPopCurrent(hipCtx_t *context) {
  return withDevice([&](Runtime &runtime) {
    if (pushed.empty())
      return hipErrorInvalidContext;
    if (context)
      *context = contextOf(runtime, Runtime::currentOrdinal());
    Runtime::currentOrdinal() = pushed.back();
    pushed.pop_back();
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipCtxDestroy(hipCtx_t context) {
  return withDevice([&](Runtime &runtime) {
    if (!isContext(runtime, context))
      return hipErrorInvalidContext;
    if (context->device == Runtime::currentOrdinal() && !pushed.empty()) {
      Runtime::currentOrdinal() = pushed.back();
      pushed.pop_back();
    }
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipCtxSetCurrent(hipCtx_t context) {
  return withDevice([&](Runtime &runtime) {
    if (!context)
      return hipSuccess;
    if (!isContext(runtime, context))
      return hipErrorInvalidContext;
    Runtime::currentOrdinal() = context->device;
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipCtxGetCurrent(hipCtx_t *context) {
  return withDevice([&](Runtime &runtime) {
    if (!context)
      return hipErrorInvalidValue;
    *context = contextOf(runtime, Runtime::currentOrdinal());
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipCtxGetDevice(hipDevice_t *device) {
  return withDevice([&](Runtime &) {
    if (!device)
      return hipErrorInvalidValue;
    *device = Runtime::currentOrdinal();
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipCtxGetFlags(unsigned *flags) {
  return withDevice([&](Runtime &runtime) {
    if (!flags)
      return hipErrorInvalidValue;
    *flags = contextOf(runtime, Runtime::currentOrdinal())->flags;
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipDeviceSynchronize();

WAVETILE_HIP_API hipError_t hipCtxSynchronize() { return hipDeviceSynchronize(); }

/// The body of a function of a device's primary context.
template <typename Body> static hipError_t withPrimary(hipDevice_t device, Body body) {
  return withDevice([&](Runtime &runtime) {
    return runtime.device(device) ? body(*contextOf(runtime, device)) : hipErrorInvalidDevice;
  });
}

WAVETILE_HIP_API hipError_t hipDevicePrimaryCtxRetain(hipCtx_t *context, hipDevice_t device) {
  return withPrimary(device, [&](ihipCtx_t &primary) {
    if (!context)
      return hipErrorInvalidValue;
    ++primary.retained;
    *context = &primary;
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipDevicePrimaryCtxRelease(hipDevice_t device) {
  return withPrimary(device, [](ihipCtx_t &primary) {
    if (primary.retained > 0)
      --primary.retained;
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipDevicePrimaryCtxGetState(hipDevice_t device, unsigned *flags,
                                                        int *isActive) {
  return withPrimary(device, [&](ihipCtx_t &primary) {
    if (flags)
      *flags = primary.flags;
    if (isActive)
      *isActive = primary.retained > 0 || primary.device == Runtime::currentOrdinal();
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipDevicePrimaryCtxSetFlags(hipDevice_t device, unsigned flags) {
  return withPrimary(device, [&](ihipCtx_t &primary) {
    primary.flags = flags;
    return hipSuccess;
  });
}
