//===- Function.cpp - What there is to say of a kernel --------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/hip/Device.h"
#include "runtime/emulator/hip/Registration.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace wavetile::device;

static hipFuncAttributes attributesOf(const LoadedKernel &loaded) {
  const KernelInfo &kernel = *loaded.kernel;
  const hipDeviceProp_tR0600 &p = loaded.module->device->properties;
  size_t staticLds = kernel.descriptor.groupSegmentSize;
  hipFuncAttributes attributes = {};
  attributes.binaryVersion = attributes.ptxVersion = p.major * 10 + p.minor;
  attributes.localSizeBytes = kernel.descriptor.privateSegmentSize;
  attributes.maxDynamicSharedSizeBytes =
      static_cast<int>(p.sharedMemPerBlock - std::min(p.sharedMemPerBlock, staticLds));
  attributes.maxThreadsPerBlock =
      kernel.maxFlatWorkgroupSize ? kernel.maxFlatWorkgroupSize : maxWorkgroupSize;
  attributes.numRegs = static_cast<int>(kernel.vgprCount);
  attributes.sharedSizeBytes = staticLds;
  return attributes;
}

WAVETILE_HIP_API hipError_t hipFuncGetAttributes(hipFuncAttributes *attributes,
                                                 const void *hostFunction) {
  return withDevice([&](Runtime &runtime) {
    if (!attributes)
      return hipErrorInvalidValue;
    LoadedKernel loaded;
    if (hipError_t error = findRegisteredKernel(runtime, hostFunction, loaded))
      return error;
    *attributes = attributesOf(loaded);
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipFuncGetAttribute(int *value, hipFunction_attribute attribute,
                                                hipFunction_t function) {
  return withDevice([&](Runtime &runtime) {
    LoadedKernel loaded = findFunction(runtime, function);
    if (!loaded)
      return hipErrorInvalidHandle;
    if (!value)
      return hipErrorInvalidValue;
    hipFuncAttributes attributes = attributesOf(loaded);
    switch (attribute) {
    case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = attributes.maxThreadsPerBlock;
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = static_cast<int>(attributes.sharedSizeBytes);
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      *value = static_cast<int>(attributes.constSizeBytes);
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = static_cast<int>(attributes.localSizeBytes);
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_NUM_REGS:
      *value = attributes.numRegs;
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_PTX_VERSION:
      *value = attributes.ptxVersion;
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = attributes.binaryVersion;
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA:
      *value = attributes.cacheModeCA;
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = attributes.maxDynamicSharedSizeBytes;
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      *value = attributes.preferredShmemCarveout;
      return hipSuccess;
    }
    return hipErrorInvalidValue;
  });
}

/// The body of a function that gives a hint for a kernel, which AMD GPUs have no use for.
static hipError_t takeHint(const void *hostFunction) {
  return withDevice([&](Runtime &runtime) {
    LoadedKernel loaded;
    return findRegisteredKernel(runtime, hostFunction, loaded);
  });
}

/// All LDS may be asked for at launch without announcing it: only the request is checked.
WAVETILE_HIP_API hipError_t hipFuncSetAttribute(const void *hostFunction, int attribute,
                                                int value) {
  return withDevice([&](Runtime &runtime) {
    LoadedKernel loaded;
    if (hipError_t error = findRegisteredKernel(runtime, hostFunction, loaded))
      return error;
    switch (attribute) {
    case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return value >= 0 && value <= attributesOf(loaded).maxDynamicSharedSizeBytes
                 ? hipSuccess
                 : hipErrorInvalidValue;
    case HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return value >= -1 && value <= 100 ? hipSuccess : hipErrorInvalidValue;
    default:
      return hipErrorInvalidValue;
    }
  });
}

WAVETILE_HIP_API hipError_t hipFuncSetCacheConfig(const void *hostFunction, int) {
  return takeHint(hostFunction);
}

WAVETILE_HIP_API hipError_t hipFuncSetSharedMemConfig(const void *hostFunction, int) {
  return takeHint(hostFunction);
}

//===----------------------------------------------------------------------===//
// Names, for tools that trace
//===----------------------------------------------------------------------===//

/// Valid as long as the module is loaded; null for what is no function.
WAVETILE_HIP_API const char *hipKernelNameRef(hipFunction_t function) {
  LoadedKernel loaded = findFunction(Runtime::get(), function);
  return loaded ? loaded.kernel->name.c_str() : nullptr;
}

WAVETILE_HIP_API const char *hipKernelNameRefByPtr(const void *hostFunction, hipStream_t) {
  Runtime &runtime = Runtime::get();
  LoadedKernel loaded;
  if (runtime.ready() != hipSuccess ||
      findRegisteredKernel(runtime, hostFunction, loaded) != hipSuccess)
    return nullptr;
  return loaded.kernel->name.c_str();
}

/// Names of the numbers by which tracers know HIP's functions: this device has no tracer.
WAVETILE_HIP_API const char *hipApiName(uint32_t) { return "unknown"; }

//===----------------------------------------------------------------------===//
// What only this device tells
//===----------------------------------------------------------------------===//

static llvm::StringRef name(ArgumentKind kind) {
  switch (kind) {
  case ArgumentKind::GlobalBuffer:
    return "global_buffer";
  case ArgumentKind::DynamicSharedPointer:
    return "dynamic_shared_pointer";
  default:
    return "by_value";
  }
}

/// What the metadata says of a kernel, as JSON: name, target, lds_bytes, scratch_bytes,
/// kernarg_bytes, max_workgroup_size, and `arguments`, those that a caller gives, each with offset,
/// size and kind. Null if the function belongs to no loaded module. The text is this thread's and
/// valid until its next call.
WAVETILE_HIP_API const char *wavetileDeviceKernelInfo(hipFunction_t function) {
  static thread_local std::string text;
  LoadedKernel loaded = findFunction(Runtime::get(), function);
  if (!loaded)
    return nullptr;
  text.clear();
  llvm::raw_string_ostream os(text);
  llvm::json::OStream out(os);
  out.object([&] {
    const KernelInfo &kernel = *loaded.kernel;
    out.attribute("name", kernel.name);
    out.attribute("target", loaded.module->device->target->name);
    out.attribute("lds_bytes", kernel.descriptor.groupSegmentSize);
    out.attribute("scratch_bytes", kernel.descriptor.privateSegmentSize);
    out.attribute("kernarg_bytes", kernel.descriptor.kernargSize);
    out.attribute("max_workgroup_size", attributesOf(loaded).maxThreadsPerBlock);
    out.attributeArray("arguments", [&] {
      for (const ArgumentInfo &argument : kernel.arguments)
        if (!argument.isHidden())
          out.object([&] {
            out.attribute("offset", argument.offset);
            out.attribute("size", argument.size);
            out.attribute("kind", name(argument.kind));
          });
    });
  });
  return text.c_str();
}
