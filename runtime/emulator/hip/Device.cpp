//===- Device.cpp - Device queries ----------------------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/hip/Device.h"

#include "runtime/emulator/Occupancy.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

namespace wavetile::device {

/// HIP 7.0.0.
static constexpr int hipVersion = 7'00'00000;

/// Vector registers of one multiprocessor, in registers of one lane.
static int registersPerMultiprocessor(const TargetDescription &target) {
  return simdsPerMultiprocessor * registersPerSimd(target) * target.waveSize;
}

/// The bits of hipDeviceArch_t: every one but dynamic parallelism, which AMD GPUs lack.
static constexpr uint32_t allArchFeatures = 0xFFFF;

static void copyText(char *to, size_t capacity, const std::string &text) {
  std::snprintf(to, capacity, "%s", text.c_str());
}

Device makeDevice(const TargetDescription &target, int ordinal) {
  Device device;
  device.target = &target;
  device.ordinal = ordinal;
  hipDeviceProp_tR0600 &p = device.properties;
  // Targets with ECC in the register file and page migration name both in their architecture.
  bool namesFeatures = !target.isRdna();
  copyText(p.name, sizeof(p.name), target.marketingName);
  copyText(p.gcnArchName, sizeof(p.gcnArchName),
           std::string(target.name) + (namesFeatures ? ":sramecc+:xnack-" : ""));
  copyText(p.uuid.bytes, sizeof(p.uuid.bytes), "wavetile" + std::to_string(ordinal));
  p.totalGlobalMem = target.memoryBytes;
  p.sharedMemPerBlock = target.ldsBytes;
  p.regsPerBlock = registersPerMultiprocessor(target);
  p.warpSize = target.waveSize;
  p.memPitch = INT32_MAX;
  p.maxThreadsPerBlock = maxWorkgroupSize;
  std::fill(std::begin(p.maxThreadsDim), std::end(p.maxThreadsDim), maxWorkgroupSize);
  p.maxGridSize[0] = INT32_MAX;
  p.maxGridSize[1] = p.maxGridSize[2] = UINT16_MAX;
  p.clockRate = target.clockKHz;
  p.totalConstMem = INT32_MAX;
  // gfx950 is 9.5, gfx1150 is 11.5: all but the last two digits, then the first of these.
  const char *digits = target.name + std::strlen("gfx");
  size_t count = std::strlen(digits);
  p.major = std::stoi(std::string(digits, count - 2));
  p.minor = digits[count - 2] - '0';
  p.textureAlignment = 256;
  p.texturePitchAlignment = 256;
  p.deviceOverlap = 1;
  p.multiProcessorCount = multiprocessors(target);
  p.canMapHostMemory = 1;
  p.concurrentKernels = 1;
  p.ECCEnabled = namesFeatures;
  p.pciBusID = ordinal + 1;
  p.asyncEngineCount = 1;
  p.unifiedAddressing = 1;
  p.memoryClockRate = target.memoryClockKHz;
  p.memoryBusWidth = target.memoryBusBits;
  p.l2CacheSize = target.l2Bytes;
  p.maxThreadsPerMultiProcessor = target.maxThreadsPerComputeUnit;
  p.streamPrioritiesSupported = 1;
  p.globalL1CacheSupported = 1;
  p.localL1CacheSupported = 1;
  p.sharedMemPerMultiprocessor = target.ldsBytes;
  p.regsPerMultiprocessor = registersPerMultiprocessor(target);
  p.managedMemory = 1;
  p.hostNativeAtomicSupported = 1;
  p.singleToDoublePrecisionPerfRatio = 2;
  p.pageableMemoryAccess = 1;
  p.concurrentManagedAccess = 1;
  p.canUseHostPointerForRegisteredMem = 1;
  p.cooperativeLaunch = 1;
  p.sharedMemPerBlockOptin = target.ldsBytes;
  p.pageableMemoryAccessUsesHostPageTables = 1;
  p.directManagedMemAccessFromHost = 1;
  p.maxBlocksPerMultiProcessor = target.maxThreadsPerComputeUnit / target.waveSize;
  p.hostRegisterSupported = 1;
  p.unifiedFunctionPointers = 1;
  p.maxSharedMemoryPerMultiProcessor = target.ldsBytes;
  p.clockInstructionRate = 100'000;
  p.arch = allArchFeatures;
  p.isLargeBar = 1;
  return device;
}

} // namespace wavetile::device

using namespace wavetile::device;

WAVETILE_HIP_API hipError_t hipInit(unsigned flags) {
  return withDevice([&](Runtime &) { return flags == 0 ? hipSuccess : hipErrorInvalidValue; });
}

WAVETILE_HIP_API hipError_t hipDriverGetVersion(int *version) {
  if (!version)
    return recorded(hipErrorInvalidValue);
  *version = hipVersion;
  return hipSuccess;
}

WAVETILE_HIP_API hipError_t hipRuntimeGetVersion(int *version) {
  return hipDriverGetVersion(version);
}

WAVETILE_HIP_API hipError_t hipGetDeviceCount(int *count) {
  if (!count)
    return recorded(hipErrorInvalidValue);
  *count = 0;
  return withDevice([&](Runtime &runtime) {
    *count = static_cast<int>(runtime.devices().size());
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipSetDevice(int ordinal) {
  return withDevice([&](Runtime &runtime) {
    if (!runtime.device(ordinal))
      return hipErrorInvalidDevice;
    Runtime::currentOrdinal() = ordinal;
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipGetDevice(int *ordinal) {
  return withDevice([&](Runtime &) {
    if (!ordinal)
      return hipErrorInvalidValue;
    *ordinal = Runtime::currentOrdinal();
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipDeviceGet(hipDevice_t *device, int ordinal) {
  return withDevice([&](Runtime &runtime) {
    if (!device)
      return hipErrorInvalidValue;
    if (!runtime.device(ordinal))
      return hipErrorInvalidDevice;
    *device = ordinal;
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600 *properties,
                                                        int ordinal) {
  return withDevice([&](Runtime &runtime) {
    const Device *device = runtime.device(ordinal);
    if (!properties)
      return hipErrorInvalidValue;
    if (!device)
      return hipErrorInvalidDevice;
    *properties = device->properties;
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipDeviceGetName(char *name, int length, hipDevice_t ordinal) {
  return withDevice([&](Runtime &runtime) {
    const Device *device = runtime.device(ordinal);
    if (!device)
      return hipErrorInvalidDevice;
    if (!name || length <= 0)
      return hipErrorInvalidValue;
    copyText(name, length, device->properties.name);
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipDeviceGetUuid(hipUUID *uuid, hipDevice_t ordinal) {
  return withDevice([&](Runtime &runtime) {
    const Device *device = runtime.device(ordinal);
    if (!device)
      return hipErrorInvalidDevice;
    if (!uuid)
      return hipErrorInvalidValue;
    *uuid = device->properties.uuid;
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipDeviceTotalMem(size_t *bytes, hipDevice_t ordinal) {
  return withDevice([&](Runtime &runtime) {
    const Device *device = runtime.device(ordinal);
    if (!device)
      return hipErrorInvalidDevice;
    if (!bytes)
      return hipErrorInvalidValue;
    *bytes = device->properties.totalGlobalMem;
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipDeviceComputeCapability(int *major, int *minor,
                                                       hipDevice_t ordinal) {
  return withDevice([&](Runtime &runtime) {
    const Device *device = runtime.device(ordinal);
    if (!device)
      return hipErrorInvalidDevice;
    if (!major || !minor)
      return hipErrorInvalidValue;
    *major = device->properties.major;
    *minor = device->properties.minor;
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipDeviceGetPCIBusId(char *text, int length, int ordinal) {
  return withDevice([&](Runtime &runtime) {
    const Device *device = runtime.device(ordinal);
    if (!device)
      return hipErrorInvalidDevice;
    char id[16];
    std::snprintf(id, sizeof(id), "0000:%02x:00.0", device->properties.pciBusID);
    if (!text || length < static_cast<int>(sizeof("0000:00:00.0")))
      return hipErrorInvalidValue;
    copyText(text, length, id);
    return hipSuccess;
  });
}

/// The value of an attribute, by HIP's number for it. False for one that HIP has not, or that names
/// a limit of images, which this device does not have.
static bool attributeValue(const hipDeviceProp_tR0600 &p, int attribute, int &value) {
  switch (attribute) {
#define WAVETILE_DEVICE_ATTRIBUTE(number, expression)                                              \
  case number:                                                                                     \
    value = static_cast<int>(std::min<size_t>(expression, INT32_MAX));                             \
    return true;
#include "runtime/emulator/hip/DeviceAttributes.def"
#undef WAVETILE_DEVICE_ATTRIBUTE
  }
  return false;
}

WAVETILE_HIP_API hipError_t hipDeviceGetAttribute(int *value, int attribute, int ordinal) {
  return withDevice([&](Runtime &runtime) {
    const Device *device = runtime.device(ordinal);
    if (!device)
      return hipErrorInvalidDevice;
    if (!value || !attributeValue(device->properties, attribute, *value))
      return hipErrorInvalidValue;
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipMemGetInfo(size_t *available, size_t *total) {
  return withDevice([&](Runtime &runtime) {
    if (!available || !total)
      return hipErrorInvalidValue;
    *total = runtime.currentDevice().properties.totalGlobalMem;
    uint64_t hostBytes = uint64_t(sysconf(_SC_AVPHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE));
    uint64_t used = std::min<uint64_t>(runtime.heap.bytesUsed(), *total);
    *available = std::min<uint64_t>(*total - used, hostBytes);
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipDeviceCanAccessPeer(int *canAccess, int ordinal, int peer) {
  return withDevice([&](Runtime &runtime) {
    if (!canAccess)
      return hipErrorInvalidValue;
    if (!runtime.device(ordinal) || !runtime.device(peer))
      return hipErrorInvalidDevice;
    // All devices share the host's memory.
    *canAccess = ordinal != peer;
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipDeviceGetStreamPriorityRange(int *least, int *greatest) {
  return withDevice([&](Runtime &) {
    if (least)
      *least = 1;
    if (greatest)
      *greatest = -1;
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipSetDeviceFlags(unsigned) {
  return withDevice([](Runtime &) { return hipSuccess; });
}

WAVETILE_HIP_API hipError_t hipDeviceSynchronize() {
  return withDevice([](Runtime &) { return hipSuccess; });
}
