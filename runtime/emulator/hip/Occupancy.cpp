//===- Occupancy.cpp - Occupancy and attributes of functions --------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Occupancy.h"

#include "runtime/emulator/hip/Device.h"
#include "runtime/emulator/hip/Module.h"

#include <algorithm>

using namespace wavetile::device;

WAVETILE_HIP_API hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *workgroups, hipFunction_t function, int workgroupSize, size_t ldsBytes, unsigned) {
  return withDevice([&](Runtime &runtime) {
    LoadedKernel loaded = findFunction(runtime, function);
    if (!loaded)
      return hipErrorInvalidHandle;
    if (!workgroups || workgroupSize <= 0)
      return hipErrorInvalidValue;
    *workgroups = residentWorkgroups(loaded.kernel->descriptor, *loaded.module->device->target,
                                     workgroupSize, ldsBytes);
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
    int *workgroups, hipFunction_t function, int workgroupSize, size_t ldsBytes) {
  return hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(workgroups, function,
                                                                     workgroupSize, ldsBytes, 0);
}

WAVETILE_HIP_API hipError_t hipModuleOccupancyMaxPotentialBlockSize(int *gridSize,
                                                                    int *workgroupSize,
                                                                    hipFunction_t function,
                                                                    size_t ldsBytes, int limit) {
  return withDevice([&](Runtime &runtime) {
    LoadedKernel loaded = findFunction(runtime, function);
    if (!loaded)
      return hipErrorInvalidHandle;
    if (!gridSize || !workgroupSize)
      return hipErrorInvalidValue;
    const Device &device = *loaded.module->device;
    unsigned largest = maxWorkgroupSize;
    if (loaded.kernel->maxFlatWorkgroupSize != 0)
      largest = std::min(largest, loaded.kernel->maxFlatWorkgroupSize);
    if (limit > 0)
      largest = std::min<unsigned>(largest, limit);
    // The size that keeps most work-items resident; of equals, the largest.
    unsigned best = 0, bestResident = 0;
    for (unsigned size = device.properties.warpSize; size <= largest;
         size += device.properties.warpSize) {
      unsigned resident =
          size * residentWorkgroups(loaded.kernel->descriptor, *device.target, size, ldsBytes);
      if (resident >= bestResident) {
        best = size;
        bestResident = resident;
      }
    }
    if (bestResident == 0)
      return hipErrorLaunchOutOfResources;
    *workgroupSize = best;
    *gridSize = bestResident / best * device.properties.multiProcessorCount;
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipModuleOccupancyMaxPotentialBlockSizeWithFlags(int *gridSize,
                                                                             int *workgroupSize,
                                                                             hipFunction_t function,
                                                                             size_t ldsBytes,
                                                                             int limit, unsigned) {
  return hipModuleOccupancyMaxPotentialBlockSize(gridSize, workgroupSize, function, ldsBytes,
                                                 limit);
}

WAVETILE_HIP_API hipError_t hipFuncGetAttribute(int *value, hipFunction_attribute attribute,
                                                hipFunction_t function) {
  return withDevice([&](Runtime &runtime) {
    LoadedKernel loaded = findFunction(runtime, function);
    if (!loaded)
      return hipErrorInvalidHandle;
    if (!value)
      return hipErrorInvalidValue;
    const KernelInfo &kernel = *loaded.kernel;
    const Device &device = *loaded.module->device;
    switch (attribute) {
    case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = kernel.maxFlatWorkgroupSize ? kernel.maxFlatWorkgroupSize : maxWorkgroupSize;
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = kernel.descriptor.groupSegmentSize;
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = kernel.descriptor.privateSegmentSize;
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_NUM_REGS:
      *value = kernel.vgprCount;
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_PTX_VERSION:
    case HIP_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = device.properties.major * 10 + device.properties.minor;
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = static_cast<int>(device.properties.sharedMemPerBlock -
                                std::min<size_t>(device.properties.sharedMemPerBlock,
                                                 kernel.descriptor.groupSegmentSize));
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    case HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      *value = 0;
      return hipSuccess;
    }
    return hipErrorInvalidValue;
  });
}
