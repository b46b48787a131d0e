//===- Occupancy.cpp - Occupancy and attributes of functions --------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Occupancy.h"

#include "runtime/emulator/hip/Device.h"
#include "runtime/emulator/hip/Module.h"
#include "runtime/emulator/hip/Registration.h"

#include <algorithm>

using namespace wavetile::device;

/// The kernel of a module's function.
static hipError_t find(Runtime &runtime, hipFunction_t function, LoadedKernel &loaded) {
  loaded = findFunction(runtime, function);
  return loaded ? hipSuccess : hipErrorInvalidHandle;
}

/// The kernel that a host function stands for.
static hipError_t find(Runtime &runtime, const void *hostFunction, LoadedKernel &loaded) {
  return findRegisteredKernel(runtime, hostFunction, loaded);
}

template <typename Function>
static hipError_t maxActive(int *workgroups, Function function, int workgroupSize,
                            size_t ldsBytes) {
  return withDevice([&](Runtime &runtime) {
    LoadedKernel loaded;
    if (hipError_t error = find(runtime, function, loaded))
      return error;
    if (!workgroups || workgroupSize <= 0)
      return hipErrorInvalidValue;
    *workgroups = residentWorkgroups(loaded.kernel->descriptor, *loaded.module->device->target,
                                     workgroupSize, ldsBytes);
    return hipSuccess;
  });
}

template <typename Function>
static hipError_t maxPotential(int *gridSize, int *workgroupSize, Function function,
                               size_t ldsBytes, int limit) {
  return withDevice([&](Runtime &runtime) {
    LoadedKernel loaded;
    if (hipError_t error = find(runtime, function, loaded))
      return error;
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

WAVETILE_HIP_API hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *workgroups, hipFunction_t function, int workgroupSize, size_t ldsBytes, unsigned) {
  return maxActive(workgroups, function, workgroupSize, ldsBytes);
}

WAVETILE_HIP_API hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
    int *workgroups, hipFunction_t function, int workgroupSize, size_t ldsBytes) {
  return maxActive(workgroups, function, workgroupSize, ldsBytes);
}

WAVETILE_HIP_API hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *workgroups, const void *function, int workgroupSize, size_t ldsBytes, unsigned) {
  return maxActive(workgroups, function, workgroupSize, ldsBytes);
}

WAVETILE_HIP_API hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int *workgroups,
                                                                         const void *function,
                                                                         int workgroupSize,
                                                                         size_t ldsBytes) {
  return maxActive(workgroups, function, workgroupSize, ldsBytes);
}

WAVETILE_HIP_API hipError_t hipModuleOccupancyMaxPotentialBlockSize(int *gridSize,
                                                                    int *workgroupSize,
                                                                    hipFunction_t function,
                                                                    size_t ldsBytes, int limit) {
  return maxPotential(gridSize, workgroupSize, function, ldsBytes, limit);
}

WAVETILE_HIP_API hipError_t hipModuleOccupancyMaxPotentialBlockSizeWithFlags(int *gridSize,
                                                                             int *workgroupSize,
                                                                             hipFunction_t function,
                                                                             size_t ldsBytes,
                                                                             int limit, unsigned) {
  return maxPotential(gridSize, workgroupSize, function, ldsBytes, limit);
}

WAVETILE_HIP_API hipError_t hipOccupancyMaxPotentialBlockSize(int *gridSize, int *workgroupSize,
                                                              const void *function, size_t ldsBytes,
                                                              int limit) {
  return maxPotential(gridSize, workgroupSize, function, ldsBytes, limit);
}
