//===- MemoryPool.cpp - Stream-ordered allocation -------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pool keeps no memory: each allocation is the heap's own, between redzones, so
// that checks see its bounds. What a pool has is a count of its bytes and its
// attributes. An allocation is made at once, and freed in the stream's order.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/hip/Capture.h"
#include "runtime/emulator/hip/Memory.h"
#include "runtime/emulator/hip/Stream.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>

using namespace wavetile::device;

/// What hipMemPool_t points to.
struct ihipMemPoolHandle_t {
  int device = 0;

  std::mutex mutex;
  int reuse[3] = {1, 1, 1}; ///< The three switches of reuse, which change nothing here.
  uint64_t releaseThreshold = 0;
  uint64_t used = 0;
  uint64_t usedHigh = 0;

  void add(uint64_t bytes) {
    std::lock_guard lock(mutex);
    used += bytes;
    usedHigh = std::max(usedHigh, used);
  }
  void subtract(uint64_t bytes) {
    std::lock_guard lock(mutex);
    used -= bytes;
  }
};

namespace {
using PoolPointer = std::shared_ptr<ihipMemPoolHandle_t>;

/// All pools, and which allocation is whose.
class Pools {
public:
  static Pools &get() {
    static auto *pools = new Pools;
    return *pools;
  }

  Handles<ihipMemPoolHandle_t> handles;

  /// The pool that a device has from the start.
  hipMemPool_t defaultOf(const Device &device) {
    std::lock_guard lock(mutex);
    return state(device).standard;
  }
  hipMemPool_t currentOf(const Device &device) {
    std::lock_guard lock(mutex);
    return state(device).current;
  }
  void setCurrent(const Device &device, hipMemPool_t pool) {
    std::lock_guard lock(mutex);
    state(device).current = pool;
  }
  bool isDefault(hipMemPool_t pool) {
    std::lock_guard lock(mutex);
    return std::any_of(devices.begin(), devices.end(),
                       [&](const auto &entry) { return entry.second.standard == pool; });
  }
  /// A pool that goes away is nobody's current pool any more.
  void leave(hipMemPool_t pool) {
    std::lock_guard lock(mutex);
    for (auto &[ordinal, device] : devices)
      if (device.current == pool)
        device.current = device.standard;
  }

  void own(void *pointer, PoolPointer pool, uint64_t bytes) {
    pool->add(bytes);
    std::lock_guard lock(mutex);
    owners[pointer] = {std::move(pool), bytes};
  }
  void disown(void *pointer) {
    std::lock_guard lock(mutex);
    auto entry = owners.find(pointer);
    if (entry == owners.end())
      return;
    entry->second.pool->subtract(entry->second.bytes);
    owners.erase(entry);
  }

private:
  struct DevicePools {
    hipMemPool_t standard = nullptr;
    hipMemPool_t current = nullptr;
  };
  struct Owner {
    PoolPointer pool;
    uint64_t bytes;
  };

  DevicePools &state(const Device &device) {
    DevicePools &pools = devices[device.ordinal];
    if (!pools.standard) {
      auto pool = std::make_shared<ihipMemPoolHandle_t>();
      pool->device = device.ordinal;
      pools.standard = pools.current = handles.insert(std::move(pool));
    }
    return pools;
  }

  std::mutex mutex;
  std::unordered_map<int, DevicePools> devices;
  std::unordered_map<void *, Owner> owners;
};

/// The body of a function of a pool.
template <typename Body> hipError_t withPool(hipMemPool_t handle, Body &&body) {
  return withDevice([&](Runtime &runtime) {
    PoolPointer pool = Pools::get().handles.find(handle);
    return pool ? body(runtime, pool) : hipErrorInvalidValue;
  });
}
} // namespace

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

WAVETILE_HIP_API hipError_t hipMallocFromPoolAsync(void **pointer, size_t bytes,
                                                   hipMemPool_t handle, hipStream_t stream) {
  return withPool(handle, [&](Runtime &runtime, const PoolPointer &pool) {
    auto found = findStream(runtime, stream);
    if (!found)
      return hipErrorInvalidHandle;
    if (hipError_t error = refuseInCapture(*found, "hipMallocAsync"))
      return error;
    if (hipError_t error = allocate(runtime, pointer, bytes, HeapKind::Device, "hipMallocAsync"))
      return error;
    if (*pointer)
      Pools::get().own(*pointer, pool, bytes);
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipMallocAsync(void **pointer, size_t bytes, hipStream_t stream) {
  return withDevice([&](Runtime &runtime) {
    auto found = findStream(runtime, stream);
    if (!found)
      return hipErrorInvalidHandle;
    return hipMallocFromPoolAsync(pointer, bytes,
                                  Pools::get().currentOf(*runtime.device(found->device)), stream);
  });
}

WAVETILE_HIP_API hipError_t hipFreeAsync(void *pointer, hipStream_t stream) {
  return withDevice([&](Runtime &runtime) {
    clearReport();
    if (!pointer)
      return hipErrorInvalidValue;
    auto block = runtime.heap.find(reinterpret_cast<uint64_t>(pointer));
    if (!block || !isDeviceMemory(block->kind))
      return hipErrorInvalidValue;
    return submit(runtime, stream, HostWork{"hipFreeAsync", [pointer](Runtime &runtime) {
                                              std::unique_lock lock(runtime.activity);
                                              if (!runtime.heap.release(pointer, isDeviceMemory))
                                                return hipErrorInvalidValue;
                                              Pools::get().disown(pointer);
                                              return hipSuccess;
                                            }});
  });
}

//===----------------------------------------------------------------------===//
// Pools
//===----------------------------------------------------------------------===//

WAVETILE_HIP_API hipError_t hipMemPoolCreate(hipMemPool_t *handle,
                                             const hipMemPoolProps *properties) {
  return withDevice([&](Runtime &runtime) {
    if (!handle || !properties || properties->location.type != hipMemLocationTypeDevice)
      return hipErrorInvalidValue;
    if (!runtime.device(properties->location.id))
      return hipErrorInvalidDevice;
    if (properties->handleTypes != 0)
      return fail(hipErrorNotSupported,
                  "memory pools that other processes share are not supported");
    auto pool = std::make_shared<ihipMemPoolHandle_t>();
    pool->device = properties->location.id;
    *handle = Pools::get().handles.insert(std::move(pool));
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipMemPoolDestroy(hipMemPool_t handle) {
  return withPool(handle, [&](Runtime &, const PoolPointer &) {
    if (Pools::get().isDefault(handle))
      return hipErrorInvalidValue;
    Pools::get().leave(handle);
    Pools::get().handles.remove(handle);
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipMemPoolTrimTo(hipMemPool_t handle, size_t) {
  return withPool(handle, [](Runtime &, const PoolPointer &) { return hipSuccess; });
}

/// The switch that an attribute is, or null.
static int *reuseSwitch(ihipMemPoolHandle_t &pool, hipMemPoolAttr attribute) {
  return attribute >= hipMemPoolReuseFollowEventDependencies &&
                 attribute <= hipMemPoolReuseAllowInternalDependencies
             ? &pool.reuse[attribute - hipMemPoolReuseFollowEventDependencies]
             : nullptr;
}

WAVETILE_HIP_API hipError_t hipMemPoolGetAttribute(hipMemPool_t handle, hipMemPoolAttr attribute,
                                                   void *value) {
  return withPool(handle, [&](Runtime &, const PoolPointer &pool) {
    if (!value)
      return hipErrorInvalidValue;
    std::lock_guard lock(pool->mutex);
    if (const int *reuse = reuseSwitch(*pool, attribute)) {
      *static_cast<int *>(value) = *reuse;
      return hipSuccess;
    }
    auto *bytes = static_cast<uint64_t *>(value);
    switch (attribute) {
    case hipMemPoolAttrReleaseThreshold:
      *bytes = pool->releaseThreshold;
      return hipSuccess;
    case hipMemPoolAttrReservedMemCurrent:
    case hipMemPoolAttrUsedMemCurrent:
      *bytes = pool->used;
      return hipSuccess;
    case hipMemPoolAttrReservedMemHigh:
    case hipMemPoolAttrUsedMemHigh:
      *bytes = pool->usedHigh;
      return hipSuccess;
    default:
      return hipErrorInvalidValue;
    }
  });
}

WAVETILE_HIP_API hipError_t hipMemPoolSetAttribute(hipMemPool_t handle, hipMemPoolAttr attribute,
                                                   void *value) {
  return withPool(handle, [&](Runtime &, const PoolPointer &pool) {
    if (!value)
      return hipErrorInvalidValue;
    std::lock_guard lock(pool->mutex);
    if (int *reuse = reuseSwitch(*pool, attribute)) {
      *reuse = *static_cast<const int *>(value);
      return hipSuccess;
    }
    uint64_t bytes = *static_cast<const uint64_t *>(value);
    switch (attribute) {
    case hipMemPoolAttrReleaseThreshold:
      pool->releaseThreshold = bytes;
      return hipSuccess;
    case hipMemPoolAttrReservedMemHigh:
    case hipMemPoolAttrUsedMemHigh:
      // Only to start over.
      if (bytes != 0)
        return hipErrorInvalidValue;
      pool->usedHigh = pool->used;
      return hipSuccess;
    default:
      return hipErrorInvalidValue;
    }
  });
}

WAVETILE_HIP_API hipError_t hipMemPoolSetAccess(hipMemPool_t handle,
                                                const hipMemAccessDesc *descriptions,
                                                size_t count) {
  return withPool(handle, [&](Runtime &runtime, const PoolPointer &pool) {
    if (!descriptions && count != 0)
      return hipErrorInvalidValue;
    for (size_t i = 0; i < count; ++i) {
      const hipMemAccessDesc &description = descriptions[i];
      if (description.location.type != hipMemLocationTypeDevice ||
          !runtime.device(description.location.id))
        return hipErrorInvalidValue;
      // All devices can reach all memory; the pool's own must.
      if (description.location.id == pool->device && description.flags == 0)
        return hipErrorInvalidValue;
    }
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipMemPoolGetAccess(int *flags, hipMemPool_t handle,
                                                hipMemLocation *location) {
  return withPool(handle, [&](Runtime &runtime, const PoolPointer &) {
    if (!flags || !location || location->type != hipMemLocationTypeDevice ||
        !runtime.device(location->id))
      return hipErrorInvalidValue;
    constexpr int readAndWrite = 3;
    *flags = readAndWrite;
    return hipSuccess;
  });
}

/// Gives the pool of a device that \p which says.
template <typename Which> static hipError_t givePool(hipMemPool_t *pool, int ordinal, Which which) {
  return withDevice([&](Runtime &runtime) {
    const Device *device = runtime.device(ordinal);
    if (!device)
      return hipErrorInvalidDevice;
    if (!pool)
      return hipErrorInvalidValue;
    *pool = which(*device);
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t *pool, int ordinal) {
  return givePool(pool, ordinal,
                  [](const Device &device) { return Pools::get().defaultOf(device); });
}

WAVETILE_HIP_API hipError_t hipDeviceGetMemPool(hipMemPool_t *pool, int ordinal) {
  return givePool(pool, ordinal,
                  [](const Device &device) { return Pools::get().currentOf(device); });
}

WAVETILE_HIP_API hipError_t hipDeviceSetMemPool(int ordinal, hipMemPool_t handle) {
  return withPool(handle, [&](Runtime &runtime, const PoolPointer &pool) {
    const Device *device = runtime.device(ordinal);
    if (!device || pool->device != ordinal)
      return hipErrorInvalidDevice;
    Pools::get().setCurrent(*device, handle);
    return hipSuccess;
  });
}
