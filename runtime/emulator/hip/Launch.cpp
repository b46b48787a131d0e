//===- Launch.cpp - Kernel launches ---------------------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Occupancy.h"
#include "runtime/emulator/Report.h"
#include "runtime/emulator/hip/Device.h"
#include "runtime/emulator/hip/Kernarg.h"
#include "runtime/emulator/hip/LaunchServices.h"
#include "runtime/emulator/hip/Module.h"
#include "runtime/emulator/hip/ProfileLog.h"
#include "runtime/emulator/hip/Registration.h"
#include "runtime/emulator/hip/Stream.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <chrono>
#include <cstring>

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
  case FaultKind::LdsRace:
  case FaultKind::GlobalRace:
  case FaultKind::UndefinedValue:
  case FaultKind::MissingWait:
  case FaultKind::PendingOverwritten:
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
  const TargetDescription &target = *loaded.module->device->target;
  uint64_t scratch = uint64_t(kernel.descriptor.privateSegmentSize) * kernel.descriptor.waveSize();
  if (scratch > target.scratchBytesPerWave)
    return refuse(hipErrorLaunchOutOfResources,
                  formatv("it asks for {0} bytes of scratch a wave, but {1} has {2}", scratch,
                          target.name, target.scratchBytesPerWave));
  return hipSuccess;
}

/// Whether all workgroups of the launch can be resident at the same time; says why not.
static hipError_t checkCooperative(const LoadedKernel &loaded, const LaunchShape &shape) {
  const TargetDescription &target = *loaded.module->device->target;
  unsigned workItems = shape.workgroupSize[0] * shape.workgroupSize[1] * shape.workgroupSize[2];
  uint64_t resident =
      uint64_t(multiprocessors(target)) *
      residentWorkgroups(loaded.kernel->descriptor, target, workItems, shape.dynamicLdsBytes);
  uint64_t workgroups = uint64_t(shape.grid[0]) * shape.grid[1] * shape.grid[2];
  if (workgroups > resident)
    return fail(hipErrorCooperativeLaunchTooLarge,
                formatv("kernel {0} cannot be launched: {1} workgroups are to wait for each other, "
                        "but {2} holds {3} at a time",
                        loaded.kernel->name, workgroups, target.name, resident)
                    .str());
  return hipSuccess;
}

hipError_t wavetile::device::perform(Runtime &runtime, const KernelWork &work) {
  std::shared_lock lock(runtime.activity);
  const LoadedKernel &loaded = work.loaded;
  const LaunchShape &shape = work.shape;
  Launch launch;
  launch.program = loaded.module->program(*loaded.kernel).get();
  launch.kernel = &loaded.kernel->descriptor;
  std::vector<uint8_t> kernarg = work.kernarg;
  LaunchServices services;
  if (hipError_t error = services.prepare(runtime, work, kernarg))
    return error;
  launch.kernarg = kernarg;
  launch.interrupt = services.interrupt();
  launch.grid = shape.grid;
  launch.workgroupSize = shape.workgroupSize;
  launch.remainder = shape.remainder;
  launch.dynamicLdsBytes = shape.dynamicLdsBytes;
  launch.instructionLimit = runtime.instructionLimit();
  launch.threads = runtime.launchThreads();
  launch.matrixRounding = runtime.matrixRounding();
  launch.checks = runtime.checks();

  ProfiledLaunch profiled(runtime.profiles, launch, *loaded.module->object);
  runtime.memory.expireMappings();
  auto begin = std::chrono::steady_clock::now();
  LaunchResult result = run(launch, runtime.memory);
  services.finish();
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
  record.serial = runtime.log.add(record);
  profiled.write(result, record);
  return error;
}

hipError_t wavetile::device::makeKernelWork(LoadedKernel loaded, const LaunchShape &shape,
                                            void *const *parameters, void *const *extra,
                                            bool isCooperative, KernelWork &work) {
  if (hipError_t error = checkShape(loaded, shape))
    return error;
  if (isCooperative)
    if (hipError_t error = checkCooperative(loaded, shape))
      return error;
  auto kernarg = packKernarg(*loaded.kernel, shape, parameters, extra);
  if (!kernarg)
    return fail(hipErrorInvalidValue, toString(kernarg.takeError()));
  work = {std::move(loaded), shape, std::move(*kernarg), isCooperative};
  return hipSuccess;
}

hipError_t wavetile::device::perform(Runtime &runtime, const Work &work) {
  if (const auto *host = std::get_if<HostWork>(&work))
    return host->run(runtime);
  if (const auto *kernel = std::get_if<KernelWork>(&work))
    return perform(runtime, *kernel);
  if (const auto *copy = std::get_if<CopyWork>(&work))
    return perform(runtime, *copy);
  return perform(runtime, std::get<FillWork>(work));
}

//===----------------------------------------------------------------------===//
// The launch functions
//===----------------------------------------------------------------------===//

namespace {
/// A launch as a HIP function was asked for it.
struct Request {
  LaunchShape shape;
  hipStream_t stream = nullptr;
  void *const *parameters = nullptr;
  void *const *extra = nullptr;
  bool isCooperative = false;
};
} // namespace

static hipError_t launch(Runtime &runtime, LoadedKernel loaded, const Request &request) {
  KernelWork work;
  if (hipError_t error = makeKernelWork(std::move(loaded), request.shape, request.parameters,
                                        request.extra, request.isCooperative, work))
    return error;
  return submit(runtime, request.stream, std::move(work));
}

static hipError_t launch(hipFunction_t function, const Request &request) {
  return withDevice([&](Runtime &runtime) {
    clearReport();
    LoadedKernel loaded = findFunction(runtime, function);
    if (!loaded)
      return fail(hipErrorInvalidHandle,
                  "the function of the launch is none of a loaded module: was it unloaded?");
    return launch(runtime, std::move(loaded), request);
  });
}

/// The launch of what a host function stands for.
static hipError_t launchRegistered(const void *hostFunction, const Request &request) {
  return withDevice([&](Runtime &runtime) {
    clearReport();
    LoadedKernel loaded;
    if (hipError_t error = findRegisteredKernel(runtime, hostFunction, loaded))
      return error;
    return launch(runtime, std::move(loaded), request);
  });
}

/// Records an event before and one after, if there are any.
template <typename Body>
static hipError_t betweenEvents(hipEvent_t start, hipEvent_t stop, hipStream_t stream,
                                Body &&body) {
  if (start)
    if (hipError_t error = hipEventRecord(start, stream))
      return error;
  hipError_t error = body();
  return error == hipSuccess && stop ? hipEventRecord(stop, stream) : error;
}

static LaunchShape shapeOf(dim3 grid, dim3 block, size_t ldsBytes) {
  return {{grid.x, grid.y, grid.z},
          {block.x, block.y, block.z},
          {},
          static_cast<uint32_t>(std::min<size_t>(ldsBytes, UINT32_MAX))};
}

WAVETILE_HIP_API hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned gridX,
                                                  unsigned gridY, unsigned gridZ, unsigned blockX,
                                                  unsigned blockY, unsigned blockZ,
                                                  unsigned ldsBytes, hipStream_t stream,
                                                  void **parameters, void **extra) {
  return launch(
      function,
      {{{gridX, gridY, gridZ}, {blockX, blockY, blockZ}, {}, ldsBytes}, stream, parameters, extra});
}

WAVETILE_HIP_API hipError_t hipModuleLaunchCooperativeKernel(
    hipFunction_t function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
    unsigned blockY, unsigned blockZ, unsigned ldsBytes, hipStream_t stream, void **parameters) {
  return launch(function, {{{gridX, gridY, gridZ}, {blockX, blockY, blockZ}, {}, ldsBytes},
                           stream,
                           parameters,
                           nullptr,
                           /*isCooperative=*/true});
}

/// The grid is in work-items here, and may end in a partial workgroup.
WAVETILE_HIP_API hipError_t hipExtModuleLaunchKernel(
    hipFunction_t function, uint32_t globalX, uint32_t globalY, uint32_t globalZ, uint32_t localX,
    uint32_t localY, uint32_t localZ, size_t ldsBytes, hipStream_t stream, void **parameters,
    void **extra, hipEvent_t start, hipEvent_t stop, uint32_t) {
  LaunchShape shape = shapeOf({globalX, globalY, globalZ}, {localX, localY, localZ}, ldsBytes);
  for (unsigned axis = 0; axis < 3; ++axis) {
    uint32_t size = shape.workgroupSize[axis];
    if (size == 0)
      continue; // Refused below, with its reason.
    shape.remainder[axis] = shape.grid[axis] % size;
    shape.grid[axis] = shape.grid[axis] / size + (shape.remainder[axis] != 0);
  }
  return betweenEvents(start, stop, stream,
                       [&] { return launch(function, {shape, stream, parameters, extra}); });
}

WAVETILE_HIP_API hipError_t hipLaunchKernel(const void *hostFunction, dim3 grid, dim3 block,
                                            void **parameters, size_t ldsBytes,
                                            hipStream_t stream) {
  return launchRegistered(hostFunction, {shapeOf(grid, block, ldsBytes), stream, parameters});
}

WAVETILE_HIP_API hipError_t hipExtLaunchKernel(const void *hostFunction, dim3 grid, dim3 block,
                                               void **parameters, size_t ldsBytes,
                                               hipStream_t stream, hipEvent_t start,
                                               hipEvent_t stop, int) {
  return betweenEvents(start, stop, stream, [&] {
    return hipLaunchKernel(hostFunction, grid, block, parameters, ldsBytes, stream);
  });
}

WAVETILE_HIP_API hipError_t hipLaunchCooperativeKernel(const void *hostFunction, dim3 grid,
                                                       dim3 block, void **parameters,
                                                       unsigned ldsBytes, hipStream_t stream) {
  return launchRegistered(hostFunction, {shapeOf(grid, block, ldsBytes), stream, parameters,
                                         nullptr, /*isCooperative=*/true});
}

/// Reads the attributes of an extended launch into `request`. Those that only tune are ignored, as
/// HIP does.
static hipError_t readAttributes(const hipLaunchAttribute *attributes, unsigned count,
                                 Request &request) {
  if (count != 0 && !attributes)
    return hipErrorInvalidValue;
  for (unsigned i = 0; i < count; ++i) {
    switch (attributes[i].id) {
    case hipLaunchAttributeCooperative:
      request.isCooperative = attributes[i].value.cooperative != 0;
      break;
    case hipLaunchAttributeAccessPolicyWindow:
    case hipLaunchAttributeSynchronizationPolicy:
    case hipLaunchAttributePriority:
    case hipLaunchAttributeMemSyncDomainMap:
    case hipLaunchAttributeMemSyncDomain:
      break;
    default:
      return fail(hipErrorInvalidValue,
                  formatv("launch attribute {0} is not known", int(attributes[i].id)).str());
    }
  }
  return hipSuccess;
}

WAVETILE_HIP_API hipError_t hipLaunchKernelExC(const hipLaunchConfig_t *config,
                                               const void *hostFunction, void **parameters) {
  if (!config)
    return recorded(hipErrorInvalidConfiguration);
  Request request = {shapeOf(config->gridDim, config->blockDim, config->dynamicSmemBytes),
                     config->stream, parameters};
  if (hipError_t error = readAttributes(config->attrs, config->numAttrs, request))
    return recorded(error);
  return launchRegistered(hostFunction, request);
}

WAVETILE_HIP_API hipError_t hipDrvLaunchKernelEx(const HIP_LAUNCH_CONFIG *config,
                                                 hipFunction_t function, void **parameters,
                                                 void **extra) {
  if (!config)
    return recorded(hipErrorInvalidConfiguration);
  Request request = {shapeOf({config->gridDimX, config->gridDimY, config->gridDimZ},
                             {config->blockDimX, config->blockDimY, config->blockDimZ},
                             config->sharedMemBytes),
                     config->hStream, parameters, extra};
  if (hipError_t error = readAttributes(config->attrs, config->numAttrs, request))
    return recorded(error);
  return launch(function, request);
}

//===----------------------------------------------------------------------===//
// kernel<<<...>>>(...)
//===----------------------------------------------------------------------===//

namespace {
/// What stands between the chevrons, from the caller to the kernel's stub.
struct Configuration {
  dim3 grid;
  dim3 block;
  size_t ldsBytes;
  hipStream_t stream;
  /// Arguments given one by one, for hipLaunchByPtr.
  std::vector<uint8_t> arguments;
};
} // namespace

static thread_local std::vector<Configuration> configurations;

WAVETILE_HIP_API hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t ldsBytes,
                                                       hipStream_t stream) {
  configurations.push_back({grid, block, ldsBytes, stream, {}});
  return hipSuccess;
}

WAVETILE_HIP_API hipError_t __hipPopCallConfiguration(dim3 *grid, dim3 *block, size_t *ldsBytes,
                                                      hipStream_t *stream) {
  if (configurations.empty())
    return recorded(hipErrorMissingConfiguration);
  const Configuration &latest = configurations.back();
  *grid = latest.grid;
  *block = latest.block;
  *ldsBytes = latest.ldsBytes;
  *stream = latest.stream;
  configurations.pop_back();
  return hipSuccess;
}

WAVETILE_HIP_API hipError_t hipConfigureCall(dim3 grid, dim3 block, size_t ldsBytes,
                                             hipStream_t stream) {
  return __hipPushCallConfiguration(grid, block, ldsBytes, stream);
}

WAVETILE_HIP_API hipError_t hipSetupArgument(const void *argument, size_t bytes, size_t offset) {
  if (configurations.empty())
    return recorded(hipErrorMissingConfiguration);
  constexpr size_t maxArgumentBytes = size_t(1) << 20;
  if (!argument || bytes > maxArgumentBytes || offset > maxArgumentBytes)
    return recorded(hipErrorInvalidValue);
  std::vector<uint8_t> &arguments = configurations.back().arguments;
  arguments.resize(std::max(arguments.size(), offset + bytes));
  std::memcpy(arguments.data() + offset, argument, bytes);
  return hipSuccess;
}

WAVETILE_HIP_API hipError_t hipLaunchByPtr(const void *hostFunction) {
  if (configurations.empty())
    return recorded(hipErrorMissingConfiguration);
  Configuration latest = std::move(configurations.back());
  configurations.pop_back();
  size_t bytes = latest.arguments.size();
  void *extra[] = {reinterpret_cast<void *>(hipLaunchParamBufferPointer), latest.arguments.data(),
                   reinterpret_cast<void *>(hipLaunchParamBufferSize), &bytes,
                   reinterpret_cast<void *>(hipLaunchParamEnd)};
  return launchRegistered(hostFunction, {shapeOf(latest.grid, latest.block, latest.ldsBytes),
                                         latest.stream, nullptr, bytes == 0 ? nullptr : extra});
}
