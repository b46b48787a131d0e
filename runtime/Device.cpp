//===- Device.cpp - What can run kernels ----------------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Device.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace wavetile;

const char *wavetile::nameOf(DeviceKind kind) {
  return kind == DeviceKind::Software ? "software" : "hip";
}

//===----------------------------------------------------------------------===//
// Device
//===----------------------------------------------------------------------===//

/// The characters of a fixed field that HIP may have filled to its end.
template <size_t size> static std::string fieldText(const char (&field)[size]) {
  return std::string(field, strnlen(field, size));
}

Device::Device(std::shared_ptr<const HipLibrary> hip, int ordinal,
               const HipDeviceProperties &properties)
    : library(std::move(hip)), scratch(*library) {
  about.kind = library->isSoftwareDevice() ? DeviceKind::Software : DeviceKind::Hip;
  about.ordinal = ordinal;
  // "gfx90a:sramecc+:xnack-"
  std::string architecture = fieldText(properties.gcnArchName);
  about.target = architecture.substr(0, architecture.find(':'));
  about.name = fieldText(properties.name);
  about.library = library->path();
  about.usable = true;
  for (size_t dimension = 0; dimension < 3; ++dimension)
    gridLimit[dimension] = std::max(properties.maxGridSize[dimension], 1);
  workgroupLimit = std::max(properties.maxThreadsPerBlock, 1);
}

Device::~Device() = default;

std::string Device::str() const {
  return about.target + (about.kind == DeviceKind::Software ? " (software device)" : "");
}

Status CurrentDevice::enter() {
  const HipLibrary &hip = device.hip();
  int current = 0;
  if (Status status = hip.check(hip.getDevice(&current), "hipGetDevice"))
    return status;
  if (current == device.ordinal())
    return Status::success();
  if (Status status = hip.check(hip.setDevice(device.ordinal()), "hipSetDevice"))
    return status;
  former = current;
  return Status::success();
}

CurrentDevice::~CurrentDevice() {
  if (former >= 0)
    device.hip().ignore(device.hip().setDevice(former));
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

/// Finds AMD's library, or whatever the process already uses in its place, and says `how`.
Status Devices::findHip(HipLibrary &library, std::string &how) const {
  bool found = false;
  if (Status status = HipLibrary::openLoaded(library, found))
    return status;
  if (found) {
    how = "already in this process";
    return Status::success();
  }
  if (!options.hip.empty()) {
    how = "named by WAVETILE_HIP";
    return HipLibrary::open(options.hip, library);
  }
  how = "found on this system";
  std::string problems;
  for (const std::string &name : options.systemNames) {
    Status status = HipLibrary::open(name, library);
    if (!status)
      return status;
    problems += (problems.empty() ? "" : "; ") + status.get().message;
  }
  return Status::error(ErrorKind::Device, problems);
}

void Devices::enumerate(const HipLibrary &found, const std::string &how, Source &source) {
  auto library = std::make_shared<const HipLibrary>(found);
  int count = 0;
  if (Status status = library->check(library->getDeviceCount(&count), "hipGetDeviceCount")) {
    source.problem = library->path() + " (" + how + "): " + status.get().message;
    return;
  }
  if (count == 0)
    source.problem = library->path() + " (" + how + ") has no device";
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    HipDeviceProperties properties = {};
    if (Status status = library->check(library->getDeviceProperties(&properties, ordinal),
                                       "hipGetDeviceProperties")) {
      source.problem = library->path() + " (" + how + "), device " + std::to_string(ordinal) +
                       ": " + status.get().message;
      source.devices.clear();
      return;
    }
    source.devices.push_back(std::make_shared<Device>(library, ordinal, properties));
  }
}

Devices::Source &Devices::hipSource() {
  if (hip.searched)
    return hipIsSoftware ? software : hip;
  hip.searched = true;
  if (options.choice == Choice::Software) {
    hip.problem = "not looked for: WAVETILE_DEVICE=software";
    return hip;
  }
  HipLibrary library;
  std::string how;
  if (Status status = findHip(library, how)) {
    hip.problem = status.get().message;
    return hip;
  }
  if (!library.isSoftwareDevice()) {
    enumerate(library, how, hip);
    return hip;
  }
  hip.problem = "the HIP library (" + how + ") is the software device: " + library.path();
  hipIsSoftware = true;
  software.searched = true;
  enumerate(library, how, software);
  return software;
}

Devices::Source &Devices::softwareSource() {
  // HIP first: once the software device is loaded, the system's search finds it under HIP's name.
  hipSource();
  if (software.searched)
    return software;
  software.searched = true;
  if (options.choice == Choice::Hip) {
    software.problem = "not used: WAVETILE_DEVICE=hip";
    return software;
  }
  if (options.softwareDevice.empty()) {
    software.problem = "this installation has no software device";
    return software;
  }
  HipLibrary library;
  if (Status status = HipLibrary::open(options.softwareDevice, library))
    software.problem = status.get().message;
  else if (!library.isSoftwareDevice())
    software.problem = options.softwareDevice + " is not Wavetile's software device";
  else
    enumerate(library, "part of Wavetile", software);
  return software;
}

Status Devices::pick(Source &source, const char *what, int32_t ordinal,
                     std::shared_ptr<Device> &device) {
  if (source.devices.empty())
    return Status::error(ErrorKind::NoDevice, std::string(what) + ": " + source.problem);
  if (ordinal < 0 || static_cast<size_t>(ordinal) >= source.devices.size())
    return Status::error(ErrorKind::NoDevice, std::string(what) + ": no device " +
                                                  std::to_string(ordinal) + " among " +
                                                  std::to_string(source.devices.size()));
  device = source.devices[ordinal];
  return Status::success();
}

Status Devices::pickSoftware(const char *what, std::string_view target,
                             std::shared_ptr<Device> &device) {
  Source &source = softwareSource();
  auto found = std::find_if(source.devices.begin(), source.devices.end(),
                            [&](const auto &candidate) { return candidate->target() == target; });
  int32_t ordinal =
      found == source.devices.end() ? 0 : static_cast<int32_t>(found - source.devices.begin());
  return pick(source, what, ordinal, device);
}

Status Devices::forTensor(int32_t type, int32_t ordinal, std::string_view target,
                          std::shared_ptr<Device> &device) {
  std::lock_guard lock(mutex);
  switch (static_cast<TensorDevice>(type)) {
  case TensorDevice::Cpu:
  case TensorDevice::CudaHost:
  case TensorDevice::RocmHost:
    return pickSoftware("CPU tensors run on the software device, which cannot be used", target,
                        device);
  case TensorDevice::Rocm:
    return pick(hipSource(), "the tensors' GPU cannot be used", ordinal, device);
  case TensorDevice::Cuda:
    return Status::error(ErrorKind::Argument,
                         "the tensors are on a CUDA device; kernels run on AMD GPUs and, for CPU "
                         "tensors, on the software device");
  }
  return Status::error(ErrorKind::Argument,
                       "the tensors are on a device that cannot run kernels (DLPack type " +
                           std::to_string(type) + "); use CPU or HIP tensors");
}

Status Devices::byDefault(std::string_view target, std::shared_ptr<Device> &device) {
  std::lock_guard lock(mutex);
  if (options.choice == Choice::Hip)
    return pick(hipSource(), "WAVETILE_DEVICE=hip, but no GPU can be used", 0, device);
  if (options.choice == Choice::Auto && !hipSource().devices.empty())
    return pick(hipSource(), "GPU", 0, device);
  return pickSoftware("the software device cannot be used", target, device);
}

std::vector<DeviceDescription> Devices::describe() {
  std::lock_guard lock(mutex);
  std::vector<DeviceDescription> result;
  auto append = [&](DeviceKind kind, Source &source, const char *reason) {
    if (source.devices.empty()) {
      DeviceDescription absent;
      absent.kind = kind;
      absent.reason = source.problem;
      result.push_back(absent);
    }
    for (const std::shared_ptr<Device> &device : source.devices) {
      result.push_back(device->description());
      result.back().reason = reason;
    }
  };
  hipSource();
  append(DeviceKind::Hip, hip, "runs kernels on HIP tensors");
  append(DeviceKind::Software, softwareSource(), "runs kernels on CPU tensors");
  return result;
}

void Devices::announce(const Device &device) {
  if (device.kind() != DeviceKind::Software)
    return;
  std::lock_guard lock(mutex);
  if (std::exchange(announced, true))
    return;
  std::fprintf(stderr,
               "wavetile: running on the software device, which executes %s code on the CPU "
               "(`wavetile info` says why)\n",
               device.target().c_str());
}
