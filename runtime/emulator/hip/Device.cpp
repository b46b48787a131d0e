//===- Device.cpp - Device queries ----------------------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/hip/Device.h"

#include "runtime/emulator/Occupancy.h"
#include "runtime/emulator/hip/Stream.h"

#include "llvm/ADT/StringRef.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <set>
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

/// Scratch that a work-item of an AMD GPU may have.
static constexpr size_t maxScratchBytes = 131056;

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
  p.memoryPoolsSupported = 1;
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

/// Gives what \p form makes of a device.
template <typename Properties, typename Form>
static hipError_t giveProperties(Properties *properties, int ordinal, Form form) {
  return withDevice([&](Runtime &runtime) {
    const Device *device = runtime.device(ordinal);
    if (!properties)
      return hipErrorInvalidValue;
    if (!device)
      return hipErrorInvalidDevice;
    *properties = form(*device);
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600 *properties,
                                                        int ordinal) {
  return giveProperties(properties, ordinal,
                        [](const Device &device) { return device.properties; });
}

/// What there is of today's properties in the structure of ROCm 5.
static hipDeviceProp_tR0000 olderForm(const Device &device) {
  const hipDeviceProp_tR0600 &p = device.properties;
  hipDeviceProp_tR0000 old = {};
  copyText(old.name, sizeof(old.name), p.name);
  copyText(old.gcnArchName, sizeof(old.gcnArchName), p.gcnArchName);
  // The number is decimal there, whatever its digits mean.
  llvm::StringRef(device.target->name).drop_front(std::strlen("gfx")).getAsInteger(10, old.gcnArch);
  old.totalGlobalMem = p.totalGlobalMem;
  old.sharedMemPerBlock = p.sharedMemPerBlock;
  old.regsPerBlock = p.regsPerBlock;
  old.warpSize = p.warpSize;
  old.maxThreadsPerBlock = p.maxThreadsPerBlock;
  std::copy(std::begin(p.maxThreadsDim), std::end(p.maxThreadsDim), old.maxThreadsDim);
  std::copy(std::begin(p.maxGridSize), std::end(p.maxGridSize), old.maxGridSize);
  old.clockRate = p.clockRate;
  old.memoryClockRate = p.memoryClockRate;
  old.memoryBusWidth = p.memoryBusWidth;
  old.totalConstMem = p.totalConstMem;
  old.major = p.major;
  old.minor = p.minor;
  old.multiProcessorCount = p.multiProcessorCount;
  old.l2CacheSize = p.l2CacheSize;
  old.maxThreadsPerMultiProcessor = p.maxThreadsPerMultiProcessor;
  old.computeMode = p.computeMode;
  old.clockInstructionRate = p.clockInstructionRate;
  old.arch = p.arch;
  old.concurrentKernels = p.concurrentKernels;
  old.pciDomainID = p.pciDomainID;
  old.pciBusID = p.pciBusID;
  old.pciDeviceID = p.pciDeviceID;
  old.maxSharedMemoryPerMultiProcessor = p.maxSharedMemoryPerMultiProcessor;
  old.canMapHostMemory = p.canMapHostMemory;
  old.integrated = p.integrated;
  old.cooperativeLaunch = p.cooperativeLaunch;
  old.memPitch = p.memPitch;
  old.textureAlignment = p.textureAlignment;
  old.texturePitchAlignment = p.texturePitchAlignment;
  old.ECCEnabled = p.ECCEnabled;
  old.isLargeBar = p.isLargeBar;
  old.asicRevision = p.asicRevision;
  old.managedMemory = p.managedMemory;
  old.directManagedMemAccessFromHost = p.directManagedMemAccessFromHost;
  old.concurrentManagedAccess = p.concurrentManagedAccess;
  old.pageableMemoryAccess = p.pageableMemoryAccess;
  old.pageableMemoryAccessUsesHostPageTables = p.pageableMemoryAccessUsesHostPageTables;
  return old;
}

WAVETILE_HIP_API hipError_t hipGetDevicePropertiesR0000(hipDeviceProp_tR0000 *properties,
                                                        int ordinal) {
  return giveProperties(properties, ordinal, olderForm);
}

/// Programs built with ROCm 6 or newer ask for R0600 by name: this is the form of older ones.
WAVETILE_HIP_API hipError_t hipGetDeviceProperties(hipDeviceProp_tR0000 *properties, int ordinal) {
  return hipGetDevicePropertiesR0000(properties, ordinal);
}

/// The device that agrees best with what the caller asks for: HIP counts the properties that it
/// has at least as much of.
static hipError_t choose(int *ordinal, size_t globalMemory, size_t lds, int warpSize, int units) {
  return withDevice([&](Runtime &runtime) {
    if (!ordinal)
      return hipErrorInvalidValue;
    int bestScore = -1;
    for (const Device &device : runtime.devices()) {
      const hipDeviceProp_tR0600 &p = device.properties;
      int score = (globalMemory != 0 && p.totalGlobalMem >= globalMemory) +
                  (lds != 0 && p.sharedMemPerBlock >= lds) +
                  (warpSize != 0 && p.warpSize == warpSize) +
                  (units != 0 && p.multiProcessorCount >= units);
      if (score > bestScore) {
        bestScore = score;
        *ordinal = device.ordinal;
      }
    }
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipChooseDeviceR0600(int *ordinal, const hipDeviceProp_tR0600 *p) {
  if (!p)
    return recorded(hipErrorInvalidValue);
  return choose(ordinal, p->totalGlobalMem, p->sharedMemPerBlock, p->warpSize,
                p->multiProcessorCount);
}

WAVETILE_HIP_API hipError_t hipChooseDeviceR0000(int *ordinal, const hipDeviceProp_tR0000 *p) {
  if (!p)
    return recorded(hipErrorInvalidValue);
  return choose(ordinal, p->totalGlobalMem, p->sharedMemPerBlock, p->warpSize,
                p->multiProcessorCount);
}

WAVETILE_HIP_API hipError_t hipChooseDevice(int *ordinal, const hipDeviceProp_tR0000 *p) {
  return hipChooseDeviceR0000(ordinal, p);
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

namespace {
/// Which devices may reach which others' memory. It is everybody's already: this only keeps the
/// books that HIP keeps.
struct Peers {
  std::mutex mutex;
  std::set<std::pair<int, int>> enabled;

  static Peers &get() {
    static auto *peers = new Peers;
    return *peers;
  }
};
} // namespace

WAVETILE_HIP_API hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags) {
  return withDevice([&](Runtime &runtime) {
    if (flags != 0)
      return hipErrorInvalidValue;
    if (!runtime.device(peer) || peer == Runtime::currentOrdinal())
      return hipErrorInvalidDevice;
    std::lock_guard lock(Peers::get().mutex);
    return Peers::get().enabled.emplace(Runtime::currentOrdinal(), peer).second
               ? hipSuccess
               : hipErrorPeerAccessAlreadyEnabled;
  });
}

WAVETILE_HIP_API hipError_t hipDeviceDisablePeerAccess(int peer) {
  return withDevice([&](Runtime &runtime) {
    if (!runtime.device(peer))
      return hipErrorInvalidDevice;
    std::lock_guard lock(Peers::get().mutex);
    return Peers::get().enabled.erase({Runtime::currentOrdinal(), peer})
               ? hipSuccess
               : hipErrorPeerAccessNotEnabled;
  });
}

WAVETILE_HIP_API hipError_t hipDeviceGetP2PAttribute(int *value, int attribute, int ordinal,
                                                     int peer) {
  return withDevice([&](Runtime &runtime) {
    // Performance rank, access, native atomics, access to arrays.
    static constexpr int values[] = {0, 1, 1, 0};
    if (!value || attribute < 0 || attribute >= static_cast<int>(std::size(values)))
      return hipErrorInvalidValue;
    if (!runtime.device(ordinal) || !runtime.device(peer) || ordinal == peer)
      return hipErrorInvalidDevice;
    *value = values[attribute];
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipDeviceGetByPCIBusId(int *ordinal, const char *text) {
  return withDevice([&](Runtime &runtime) {
    if (!ordinal || !text)
      return hipErrorInvalidValue;
    unsigned domain = 0, bus = 0, device = 0;
    if (std::sscanf(text, "%x:%x:%x", &domain, &bus, &device) != 3)
      return hipErrorInvalidValue;
    for (const Device &candidate : runtime.devices())
      if (domain == 0 && device == 0 && candidate.properties.pciBusID == static_cast<int>(bus)) {
        *ordinal = candidate.ordinal;
        return hipSuccess;
      }
    return hipErrorInvalidDevice;
  });
}

namespace {
/// hipLimit_t
enum class Limit : int { StackBytes = 0, PrintfBytes = 1, MallocHeapBytes = 2 };
} // namespace

/// A kernel's stack is as large as it was compiled for, and there is no heap: only printf's buffer
/// has a limit to set.
WAVETILE_HIP_API hipError_t hipDeviceSetLimit(int limit, size_t value) {
  return withDevice([&](Runtime &runtime) {
    if (static_cast<Limit>(limit) != Limit::PrintfBytes)
      return hipErrorUnsupportedLimit;
    constexpr size_t most = size_t(1) << 30;
    if (value == 0 || value > most)
      return hipErrorInvalidValue;
    runtime.setPrintfBytes(value);
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipDeviceGetLimit(size_t *value, int limit) {
  return withDevice([&](Runtime &runtime) {
    if (!value)
      return hipErrorInvalidValue;
    switch (static_cast<Limit>(limit)) {
    case Limit::StackBytes:
      *value = maxScratchBytes;
      return hipSuccess;
    case Limit::PrintfBytes:
      *value = runtime.printfBytes();
      return hipSuccess;
    case Limit::MallocHeapBytes:
      *value = 0;
      return hipSuccess;
    }
    return hipErrorUnsupportedLimit;
  });
}

/// Flags of hipSetDeviceFlags, which say how the host waits: it makes no difference here.
static std::atomic<unsigned> deviceFlags = 0;

WAVETILE_HIP_API hipError_t hipSetDeviceFlags(unsigned flags) {
  return withDevice([&](Runtime &) {
    deviceFlags = flags;
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipGetDeviceFlags(unsigned *flags) {
  return withDevice([&](Runtime &) {
    if (!flags)
      return hipErrorInvalidValue;
    *flags = deviceFlags;
    return hipSuccess;
  });
}

// Caches and LDS banks cannot be configured on AMD GPUs: HIP takes the hint and reports the
// default.
static hipError_t takeHint() {
  return withDevice([](Runtime &) { return hipSuccess; });
}

static hipError_t tellDefault(int *value) {
  return withDevice([&](Runtime &) {
    if (!value)
      return hipErrorInvalidValue;
    *value = 0;
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipDeviceSetCacheConfig(int) { return takeHint(); }
WAVETILE_HIP_API hipError_t hipDeviceGetCacheConfig(int *config) { return tellDefault(config); }
WAVETILE_HIP_API hipError_t hipDeviceSetSharedMemConfig(int) { return takeHint(); }
WAVETILE_HIP_API hipError_t hipDeviceGetSharedMemConfig(int *config) { return tellDefault(config); }
WAVETILE_HIP_API hipError_t hipProfilerStart() { return takeHint(); }
WAVETILE_HIP_API hipError_t hipProfilerStop() { return takeHint(); }

/// Waits for the current device. What was allocated stays: nothing of a GPU can be in disorder.
WAVETILE_HIP_API hipError_t hipDeviceReset() {
  return withDevice([](Runtime &runtime) {
    waitForStreams(runtime, Runtime::currentOrdinal());
    return runtime.lateErrors.take();
  });
}
