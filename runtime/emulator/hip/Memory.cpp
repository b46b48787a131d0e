//===- Memory.cpp - Allocation, registration and pointer queries ----------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/hip/Memory.h"

#include "runtime/emulator/hip/Stream.h"

#include <algorithm>
#include <mutex>

using namespace wavetile::device;

static uint64_t addressOf(const void *pointer) { return reinterpret_cast<uint64_t>(pointer); }

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

hipError_t wavetile::device::allocate(Runtime &runtime, void **pointer, size_t bytes, HeapKind kind,
                                      const char *function) {
  if (!pointer)
    return hipErrorInvalidValue;
  *pointer = nullptr;
  if (bytes == 0)
    return hipSuccess;
  uint64_t limit = runtime.currentDevice().properties.totalGlobalMem;
  if (bytes > limit - std::min(limit, runtime.heap.bytesUsed()))
    return hipErrorOutOfMemory;
  *pointer = runtime.heap.allocate(bytes, {kind, Runtime::currentOrdinal()}, function);
  return *pointer ? hipSuccess : hipErrorOutOfMemory;
}

static hipError_t allocate(void **pointer, size_t bytes, HeapKind kind, const char *function) {
  return withDevice([&](Runtime &runtime) {
    return wavetile::device::allocate(runtime, pointer, bytes, kind, function);
  });
}

/// Frees when everything submitted has been done, as HIP does.
static hipError_t release(void *pointer, bool (*mayRelease)(HeapKind)) {
  return withDevice([&](Runtime &runtime) {
    if (!pointer)
      return hipSuccess;
    waitForStreams(runtime, allDevices);
    std::unique_lock lock(runtime.activity);
    return runtime.heap.release(pointer, mayRelease) ? hipSuccess : hipErrorInvalidValue;
  });
}

WAVETILE_HIP_API hipError_t hipMalloc(void **pointer, size_t bytes) {
  return allocate(pointer, bytes, HeapKind::Device, "hipMalloc");
}

WAVETILE_HIP_API hipError_t hipExtMallocWithFlags(void **pointer, size_t bytes, unsigned) {
  return allocate(pointer, bytes, HeapKind::Device, "hipExtMallocWithFlags");
}

WAVETILE_HIP_API hipError_t hipMallocManaged(void **pointer, size_t bytes, unsigned) {
  return allocate(pointer, bytes, HeapKind::Managed, "hipMallocManaged");
}

WAVETILE_HIP_API hipError_t hipMallocPitch(void **pointer, size_t *pitch, size_t width,
                                           size_t height) {
  if (!pitch || (height != 0 && width > SIZE_MAX / 2 / height))
    return recorded(hipErrorInvalidValue);
  *pitch = (width + 255) / 256 * 256;
  return allocate(pointer, *pitch * height, HeapKind::Device, "hipMallocPitch");
}

WAVETILE_HIP_API hipError_t hipHostMalloc(void **pointer, size_t bytes, unsigned) {
  return allocate(pointer, bytes, HeapKind::Host, "hipHostMalloc");
}

WAVETILE_HIP_API hipError_t hipHostAlloc(void **pointer, size_t bytes, unsigned) {
  return allocate(pointer, bytes, HeapKind::Host, "hipHostAlloc");
}

WAVETILE_HIP_API hipError_t hipMallocHost(void **pointer, size_t bytes) {
  return allocate(pointer, bytes, HeapKind::Host, "hipMallocHost");
}

WAVETILE_HIP_API hipError_t hipMemAllocHost(void **pointer, size_t bytes) {
  return allocate(pointer, bytes, HeapKind::Host, "hipMemAllocHost");
}

WAVETILE_HIP_API hipError_t hipExtHostAlloc(void **pointer, size_t bytes, unsigned) {
  return allocate(pointer, bytes, HeapKind::Host, "hipExtHostAlloc");
}

WAVETILE_HIP_API hipError_t hipMemAllocPitch(hipDeviceptr_t *pointer, size_t *pitch, size_t width,
                                             size_t height, unsigned) {
  return hipMallocPitch(pointer, pitch, width, height);
}

WAVETILE_HIP_API hipError_t hipMalloc3D(hipPitchedPtr *pointer, hipExtent extent) {
  if (!pointer)
    return recorded(hipErrorInvalidValue);
  size_t rows = 0;
  if (__builtin_mul_overflow(extent.height, extent.depth, &rows))
    return recorded(hipErrorInvalidValue);
  *pointer = {nullptr, 0, extent.width, extent.height};
  return hipMallocPitch(&pointer->ptr, &pointer->pitch, extent.width, rows);
}

bool wavetile::device::isDeviceMemory(HeapKind kind) { return kind != HeapKind::Host; }

WAVETILE_HIP_API hipError_t hipFree(void *pointer) { return release(pointer, isDeviceMemory); }

WAVETILE_HIP_API hipError_t hipHostFree(void *pointer) {
  return release(pointer, [](HeapKind kind) { return kind == HeapKind::Host; });
}

WAVETILE_HIP_API hipError_t hipFreeHost(void *pointer) { return hipHostFree(pointer); }

//===----------------------------------------------------------------------===//
// Advice: all devices share the host's memory, so there is nowhere to move it
//===----------------------------------------------------------------------===//

static hipError_t checkManaged(const void *pointer, size_t bytes) {
  return withDevice([&](Runtime &runtime) {
    return pointer && bytes != 0 && runtime.memory.isMapped(addressOf(pointer), bytes)
               ? hipSuccess
               : hipErrorInvalidValue;
  });
}

WAVETILE_HIP_API hipError_t hipMemPrefetchAsync(const void *pointer, size_t bytes, int,
                                                hipStream_t) {
  return checkManaged(pointer, bytes);
}

WAVETILE_HIP_API hipError_t hipMemPrefetchAsync_v2(const void *pointer, size_t bytes,
                                                   hipMemLocation, unsigned, hipStream_t) {
  return checkManaged(pointer, bytes);
}

WAVETILE_HIP_API hipError_t hipMemAdvise(const void *pointer, size_t bytes, int, int) {
  return checkManaged(pointer, bytes);
}

WAVETILE_HIP_API hipError_t hipMemAdvise_v2(const void *pointer, size_t bytes, int,
                                            hipMemLocation) {
  return checkManaged(pointer, bytes);
}

//===----------------------------------------------------------------------===//
// Host memory
//===----------------------------------------------------------------------===//

WAVETILE_HIP_API hipError_t hipHostRegister(void *pointer, size_t bytes, unsigned) {
  return withDevice([&](Runtime &runtime) {
    uint64_t begin = addressOf(pointer);
    if (!pointer || bytes == 0 || bytes > UINT64_MAX - begin)
      return hipErrorInvalidValue;
    if (runtime.memory.overlapsKnown(begin, bytes))
      return hipErrorHostMemoryAlreadyRegistered;
    if (!runtime.memory.isMapped(begin, bytes))
      return hipErrorInvalidValue;
    Allocation allocation;
    allocation.begin = begin;
    allocation.end = begin + bytes;
    allocation.source = BoundsSource::Registered;
    // What lies between two blocks of the host's allocator at the least.
    allocation.guard = 8;
    runtime.memory.add(allocation, "registered host memory");
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipHostUnregister(void *pointer) {
  return withDevice([&](Runtime &runtime) {
    auto allocation = runtime.memory.findKnown(addressOf(pointer));
    if (!allocation || allocation->source != BoundsSource::Registered ||
        allocation->begin != addressOf(pointer))
      return hipErrorHostMemoryNotRegistered;
    waitForStreams(runtime, allDevices);
    std::unique_lock lock(runtime.activity);
    runtime.memory.forget(allocation->begin);
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipHostGetDevicePointer(void **device, void *host, unsigned) {
  return withDevice([&](Runtime &runtime) {
    auto allocation = runtime.memory.findKnown(addressOf(host));
    if (!device || !allocation || allocation->freed)
      return hipErrorInvalidValue;
    *device = host;
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipHostGetFlags(unsigned *flags, void *host) {
  return withDevice([&](Runtime &runtime) {
    auto allocation = runtime.memory.findKnown(addressOf(host));
    if (!flags || !allocation || allocation->freed)
      return hipErrorInvalidValue;
    constexpr unsigned mapped = 2;
    *flags = mapped;
    return hipSuccess;
  });
}

//===----------------------------------------------------------------------===//
// Announced ranges
//===----------------------------------------------------------------------===//

/// Says that kernels may touch [pointer, pointer + bytes) until it is retracted, and what reports
/// shall call it. A launcher announces the tensors of a launch before it and retracts them after.
/// While anything is announced, memory of which only the mapping is known is off limits. Ranges may
/// overlap and repeat.
WAVETILE_HIP_API void wavetileDeviceAnnounceRange(const void *pointer, size_t bytes,
                                                  const char *name) {
  uint64_t begin = addressOf(pointer);
  Runtime::get().memory.announce(begin, std::min<uint64_t>(bytes, UINT64_MAX - begin),
                                 name ? name : "");
}

/// Takes back this thread's latest announcement of a range that begins at `pointer`.
WAVETILE_HIP_API void wavetileDeviceRetractRange(const void *pointer) {
  Runtime::get().memory.retract(addressOf(pointer));
}

//===----------------------------------------------------------------------===//
// Pointer queries
//===----------------------------------------------------------------------===//

namespace {
/// What there is to say of a pointer.
struct PointerInfo {
  hipMemoryType type = hipMemoryTypeUnregistered;
  std::optional<Allocation> allocation;
  bool isManaged = false;
  int device = 0;
};
} // namespace

/// Nothing for a pointer to no memory at all.
static std::optional<PointerInfo> lookUp(Runtime &runtime, const void *pointer) {
  PointerInfo info;
  uint64_t address = addressOf(pointer);
  info.allocation = runtime.memory.findKnown(address);
  if (info.allocation && info.allocation->freed)
    return std::nullopt;
  if (!info.allocation)
    return address != 0 && runtime.memory.isMapped(address, 1) ? std::optional(info) : std::nullopt;
  auto block = runtime.heap.find(info.allocation->begin);
  auto kind = block ? std::optional(block->kind) : std::nullopt;
  if (block)
    info.device = block->device;
  bool isHost = info.allocation->source == BoundsSource::Registered || kind == HeapKind::Host;
  info.isManaged = kind == HeapKind::Managed;
  info.type = isHost           ? hipMemoryTypeHost
              : info.isManaged ? hipMemoryTypeManaged
                               : hipMemoryTypeDevice;
  return info;
}

WAVETILE_HIP_API hipError_t hipPointerGetAttributes(hipPointerAttribute_t *attributes,
                                                    const void *pointer) {
  return withDevice([&](Runtime &runtime) {
    auto info = lookUp(runtime, pointer);
    if (!attributes || !info)
      return hipErrorInvalidValue;
    constexpr int noDevice = -2;
    *attributes = {};
    attributes->type = info->type;
    attributes->device = info->allocation ? info->device : noDevice;
    attributes->devicePointer = attributes->hostPointer = const_cast<void *>(pointer);
    attributes->isManaged = info->isManaged;
    return hipSuccess;
  });
}

static hipError_t pointerAttribute(Runtime &runtime, void *data, int attribute,
                                   hipDeviceptr_t pointer) {
  auto info = lookUp(runtime, pointer);
  if (!data || !info)
    return hipErrorInvalidValue;
  switch (attribute) {
  case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE:
    *static_cast<unsigned *>(data) = info->type;
    return hipSuccess;
  case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER:
  case HIP_POINTER_ATTRIBUTE_HOST_POINTER:
    *static_cast<void **>(data) = pointer;
    return hipSuccess;
  case HIP_POINTER_ATTRIBUTE_IS_MANAGED:
    *static_cast<bool *>(data) = info->isManaged;
    return hipSuccess;
  case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    *static_cast<int *>(data) = info->device;
    return hipSuccess;
  case HIP_POINTER_ATTRIBUTE_MAPPED:
    *static_cast<bool *>(data) = true;
    return hipSuccess;
  case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR:
  case HIP_POINTER_ATTRIBUTE_RANGE_SIZE:
    if (!info->allocation)
      return hipErrorInvalidValue;
    *static_cast<uint64_t *>(data) = attribute == HIP_POINTER_ATTRIBUTE_RANGE_SIZE
                                         ? info->allocation->size()
                                         : info->allocation->begin;
    return hipSuccess;
  }
  return fail(hipErrorNotSupported,
              "pointer attribute " + std::to_string(attribute) + " is not supported");
}

WAVETILE_HIP_API hipError_t hipPointerGetAttribute(void *data, hipPointer_attribute attribute,
                                                   hipDeviceptr_t pointer) {
  return withDevice(
      [&](Runtime &runtime) { return pointerAttribute(runtime, data, attribute, pointer); });
}

WAVETILE_HIP_API hipError_t hipDrvPointerGetAttributes(unsigned count,
                                                       hipPointer_attribute *attributes,
                                                       void **data, hipDeviceptr_t pointer) {
  return withDevice([&](Runtime &runtime) {
    if (!attributes || !data)
      return hipErrorInvalidValue;
    for (unsigned i = 0; i < count; ++i)
      if (hipError_t error = pointerAttribute(runtime, data[i], attributes[i], pointer))
        return error;
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipMemGetAddressRange(hipDeviceptr_t *base, size_t *bytes,
                                                  hipDeviceptr_t pointer) {
  return withDevice([&](Runtime &runtime) {
    auto allocation = runtime.memory.findKnown(addressOf(pointer));
    if (!allocation || allocation->freed)
      return hipErrorNotFound;
    if (base)
      *base = reinterpret_cast<void *>(allocation->begin);
    if (bytes)
      *bytes = allocation->size();
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipMemPtrGetInfo(void *pointer, size_t *bytes) {
  return withDevice([&](Runtime &runtime) {
    auto allocation = runtime.memory.findKnown(addressOf(pointer));
    if (!bytes || !allocation || allocation->freed)
      return hipErrorInvalidValue;
    *bytes = allocation->size();
    return hipSuccess;
  });
}
