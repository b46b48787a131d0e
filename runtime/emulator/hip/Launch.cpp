//===- Launch.cpp - Kernel launches ---------------------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Report.h"
#include "runtime/emulator/hip/Device.h"
#include "runtime/emulator/hip/Kernarg.h"
#include "runtime/emulator/hip/Module.h"
#include "runtime/emulator/hip/Stream.h"

#include "llvm/Support/FormatVariadic.h"

#include <chrono>

using namespace llvm;
using namespace wavetile::device;

WAVETILE_HIP_API const char *hipGetErrorName(hipError_t error);
WAVETILE_HIP_API hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream);

/// The error that HIP returns for a fault.
static hipError_t errorOf(FaultKind kind) {
  switch (kind) {
  case FaultKind::OutOfBounds:
  case FaultKind::ReadOnly:
  case FaultKind::Misaligned:
    return hipErrorIllegalAddress;
  case FaultKind::InstructionLimit:
  case FaultKind::Stuck:
    return hipErrorLaunchTimeOut;
  case FaultKind::LdsOutOfBounds:
  case FaultKind::ScratchOutOfBounds:
  case FaultKind::BadProgramCounter:
  case FaultKind::BarrierMismatch:
  case FaultKind::Trap:
  case FaultKind::Refused:
    return hipErrorLaunchFailure;
  }
  return hipErrorLaunchFailure;
}

/// Whether the GPU could run this shape of this kernel; says why not.
static hipError_t checkShape(const LoadedKernel &loaded, const LaunchShape &shape) {
  const KernelInfo &kernel = *loaded.kernel;
  const auto &size = shape.workgroupSize;
  auto refuse = [&](hipError_t error, const std::string &reason) {
    return fail(error, "kernel " + kernel.name + " cannot be launched: " + reason);
  };
  uint64_t workItems = 1;
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (size[axis] == 0 || shape.grid[axis] == 0)
      return refuse(hipErrorInvalidConfiguration,
                    formatv("its grid is ({0}, {1}, {2}) and its workgroup ({3}, {4}, {5})",
                            shape.grid[0], shape.grid[1], shape.grid[2], size[0], size[1],
                            size[2]));
    if (size[axis] > maxWorkgroupSize)
      return refuse(hipErrorInvalidConfiguration,
                    formatv("its workgroup ({0}, {1}, {2}) is larger than {3} work-items", size[0],
                            size[1], size[2], maxWorkgroupSize));
    if (uint64_t(shape.grid[axis]) * size[axis] > UINT32_MAX)
      return refuse(
          hipErrorInvalidConfiguration,
          formatv("{0} workgroups of {1} are more work-items along one axis than 2^32 - 1",
                  shape.grid[axis], size[axis]));
    workItems *= size[axis];
  }
  if (workItems > maxWorkgroupSize)
    return refuse(
        hipErrorInvalidConfiguration,
        formatv("its workgroup has {0} work-items, more than {1}", workItems, maxWorkgroupSize));
  if (kernel.maxFlatWorkgroupSize != 0 && workItems > kernel.maxFlatWorkgroupSize)
    return refuse(
        hipErrorInvalidConfiguration,
        formatv("its workgroup has {0} work-items, but it was compiled for {1} at the most",
                workItems, kernel.maxFlatWorkgroupSize));
  if (kernel.requiredWorkgroupSize && *kernel.requiredWorkgroupSize != size)
    return refuse(
        hipErrorInvalidConfiguration,
        formatv("its workgroup is ({0}, {1}, {2}), but it was compiled for ({3}, {4}, {5})",
                size[0], size[1], size[2], (*kernel.requiredWorkgroupSize)[0],
                (*kernel.requiredWorkgroupSize)[1], (*kernel.requiredWorkgroupSize)[2]));
  uint64_t lds = uint64_t(kernel.descriptor.groupSegmentSize) + shape.dynamicLdsBytes;
  uint32_t ldsLimit = loaded.module->device->target->ldsBytes;
  if (lds > ldsLimit)
    return refuse(hipErrorLaunchOutOfResources,
                  formatv("it asks for {0} bytes of LDS ({1} static, {2} dynamic), but {3} has {4}",
                          lds, kernel.descriptor.groupSegmentSize, shape.dynamicLdsBytes,
                          loaded.module->device->target->name, ldsLimit));
  return hipSuccess;
}

static hipError_t execute(Runtime &runtime, const LoadedKernel &loaded, const LaunchShape &shape,
                          ArrayRef<uint8_t> kernarg) {
  Launch launch;
  launch.program = loaded.module->program(*loaded.kernel).get();
  launch.kernel = &loaded.kernel->descriptor;
  launch.kernarg = kernarg;
  launch.grid = shape.grid;
  launch.workgroupSize = shape.workgroupSize;
  launch.dynamicLdsBytes = shape.dynamicLdsBytes;
  launch.instructionLimit = runtime.instructionLimit();
  launch.threads = runtime.launchThreads();
  launch.matrixRounding = runtime.matrixRounding();

  runtime.memory.expireMappings();
  auto begin = std::chrono::steady_clock::now();
  LaunchResult result = run(launch, runtime.memory);
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  hipError_t error = hipSuccess;
  if (result.fault)
    error = fail(errorOf(result.fault->kind), formatFault(*result.fault, *loaded.kernel,
                                                          *loaded.module->object, runtime.memory));

  LaunchRecord record;
  record.device = loaded.module->device->ordinal;
  record.target = loaded.module->device->target->name;
  record.kernel = loaded.kernel->name;
  record.codeObject = loaded.module->object->name().str();
  record.grid = shape.grid;
  record.workgroupSize = shape.workgroupSize;
  record.ldsBytes = loaded.kernel->descriptor.groupSegmentSize + shape.dynamicLdsBytes;
  record.result = hipGetErrorName(error);
  record.seconds = seconds.count();
  record.counters = result.counters;
  runtime.log.add(std::move(record));
  return error;
}

static hipError_t launch(hipFunction_t function, const LaunchShape &shape, hipStream_t stream,
                         void *const *parameters, void *const *extra) {
  return onStream(stream, [&](Runtime &runtime) {
    LoadedKernel loaded = findFunction(runtime, function);
    if (!loaded)
      return fail(hipErrorInvalidHandle,
                  "the function of the launch is none of a loaded module: was it unloaded?");
    if (hipError_t error = checkShape(loaded, shape))
      return error;
    auto kernarg = packKernarg(*loaded.kernel, shape, parameters, extra);
    if (!kernarg)
      return fail(hipErrorInvalidValue, toString(kernarg.takeError()));
    return execute(runtime, loaded, shape, *kernarg);
  });
}

WAVETILE_HIP_API hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned gridX,
                                                  unsigned gridY, unsigned gridZ, unsigned blockX,
                                                  unsigned blockY, unsigned blockZ,
                                                  unsigned ldsBytes, hipStream_t stream,
                                                  void **parameters, void **extra) {
  LaunchShape shape = {{gridX, gridY, gridZ}, {blockX, blockY, blockZ}, {}, ldsBytes};
  return launch(function, shape, stream, parameters, extra);
}

WAVETILE_HIP_API hipError_t hipModuleLaunchCooperativeKernel(
    hipFunction_t function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
    unsigned blockY, unsigned blockZ, unsigned ldsBytes, hipStream_t stream, void **parameters) {
  // Workgroups run one after the other, so one that waits for another would wait for ever.
  if (uint64_t(gridX) * gridY > 1 || gridZ > 1)
    return recorded(fail(hipErrorNotSupported,
                         "cooperative launches of more than one workgroup are not supported"));
  return hipModuleLaunchKernel(function, gridX, gridY, gridZ, blockX, blockY, blockZ, ldsBytes,
                               stream, parameters, nullptr);
}

/// The grid is in work-items here, and may end in a partial workgroup.
WAVETILE_HIP_API hipError_t hipExtModuleLaunchKernel(
    hipFunction_t function, uint32_t globalX, uint32_t globalY, uint32_t globalZ, uint32_t localX,
    uint32_t localY, uint32_t localZ, size_t ldsBytes, hipStream_t stream, void **parameters,
    void **extra, hipEvent_t start, hipEvent_t stop, uint32_t) {
  LaunchShape shape = {{globalX, globalY, globalZ}, {localX, localY, localZ}, {}, 0};
  shape.dynamicLdsBytes = static_cast<uint32_t>(std::min<size_t>(ldsBytes, UINT32_MAX));
  for (unsigned axis = 0; axis < 3; ++axis) {
    uint32_t size = shape.workgroupSize[axis];
    if (size == 0)
      continue; // Refused below, with its reason.
    if (shape.grid[axis] % size != 0)
      return recorded(fail(hipErrorNotSupported,
                           "launches that end in a partial workgroup are not supported: " +
                               std::to_string(shape.grid[axis]) + " work-items in workgroups of " +
                               std::to_string(size)));
    shape.grid[axis] /= size;
  }
  if (start)
    if (hipError_t error = hipEventRecord(start, stream))
      return error;
  hipError_t error = launch(function, shape, stream, parameters, extra);
  if (error == hipSuccess && stop)
    error = hipEventRecord(stop, stream);
  return error;
}
