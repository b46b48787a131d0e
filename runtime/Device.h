//===- Device.h - What can run kernels --------------------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Device is one GPU, or the software device; Devices finds them. Where a kernel
// runs is decided by its tensors: CPU tensors on the software device, HIP tensors
// on their GPU, and never by a copy. At most one HIP library besides the software
// device is used: the one in the process, else the path given, else the system's.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_DEVICE_H
#define WAVETILE_RUNTIME_DEVICE_H

#include "runtime/Hip.h"
#include "runtime/ScratchPool.h"

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wavetile {

enum class DeviceKind : uint8_t { Software, Hip };

/// "software" or "hip".
const char *nameOf(DeviceKind kind);

struct DeviceDescription {
  DeviceKind kind = DeviceKind::Software;
  int ordinal = 0;
  std::string target;  // "gfx950", without features; empty if there is no device
  std::string name;    // what HIP calls it
  std::string library; // the file of its HIP library; empty if there is none
  bool usable = false;
  std::string reason; // why it is used or not, a sentence for `wavetile info`
};

class Device {
public:
  Device(std::shared_ptr<const HipLibrary> hip, int ordinal, const HipDeviceProperties &properties);
  Device(const Device &) = delete;
  ~Device();

  const HipLibrary &hip() const { return *library; }
  const DeviceDescription &description() const { return about; }
  const std::string &target() const { return about.target; }
  DeviceKind kind() const { return about.kind; }
  int ordinal() const { return about.ordinal; }
  /// "gfx950" or "gfx950 (software device)", for messages.
  std::string str() const;

  /// Largest number of workgroups per grid dimension, and of work items in a workgroup.
  const std::array<uint32_t, 3> &maximumGrid() const { return gridLimit; }
  uint32_t maximumWorkgroup() const { return workgroupLimit; }

private:
  std::shared_ptr<const HipLibrary> library; // before `scratch`, which needs it to the end
  DeviceDescription about;
  std::array<uint32_t, 3> gridLimit;
  uint32_t workgroupLimit;

public:
  /// Held while a plan is launched: keeps the steps of two plans apart, and guards `scratch`.
  std::mutex mutex;
  ScratchPool scratch;
};

/// Makes a device current for a scope, as HIP's calls need, and puts the former one back.
class CurrentDevice {
public:
  explicit CurrentDevice(const Device &device) : device(device) {}
  CurrentDevice(const CurrentDevice &) = delete;
  ~CurrentDevice();
  Status enter();

private:
  const Device &device;
  int former = -1;
};

/// The types of device that DLPack numbers and that matter here.
enum class TensorDevice : int32_t { Cpu = 1, Cuda = 2, CudaHost = 3, Rocm = 10, RocmHost = 11 };

class Devices {
public:
  enum class Choice : uint8_t { Auto, Software, Hip };
  struct Options {
    Choice choice = Choice::Auto;
    std::string softwareDevice; // path of the software device's library
    std::string hip;            // path of a HIP library to use, or empty
    // Where HIP is looked for when neither the process nor `hip` has one.
    std::vector<std::string> systemNames = {"libamdhip64.so.7", "libamdhip64.so.6",
                                            "libamdhip64.so"};
  };

  explicit Devices(Options options) : options(std::move(options)) {}

  /// The device for a tensor with this DLPack device. Every software device can reach host memory:
  /// a CPU tensor gets the first that is a `target`, or the first if none is or `target` is empty.
  Status forTensor(int32_t type, int32_t ordinal, std::string_view target,
                   std::shared_ptr<Device> &device);

  /// Where a kernel without tensors runs: the first GPU unless there is none or the choice is
  /// the software device, which is chosen among several as for a CPU tensor.
  Status byDefault(std::string_view target, std::shared_ptr<Device> &device);

  /// Everything found, with the reasons for what is not used.
  std::vector<DeviceDescription> describe();

  /// To be called before a launch: says once on stderr that the software device is in use.
  void announce(const Device &device);

private:
  /// One HIP library, looked for once, and its devices.
  struct Source {
    bool searched = false;
    std::string problem; // why there is no device
    std::vector<std::shared_ptr<Device>> devices;
  };

  /// The GPUs; the software device if that is what this process has loaded as its HIP, so that
  /// tensors of a PyTorch which runs on it run there too.
  Source &hipSource();
  Source &softwareSource();
  Status findHip(HipLibrary &library, std::string &how) const;
  static void enumerate(const HipLibrary &library, const std::string &how, Source &source);
  static Status pick(Source &source, const char *what, int32_t ordinal,
                     std::shared_ptr<Device> &device);
  Status pickSoftware(const char *what, std::string_view target, std::shared_ptr<Device> &device);

  const Options options;
  std::mutex mutex;
  Source hip, software;
  bool hipIsSoftware = false;
  bool announced = false;
};

} // namespace wavetile

#endif // WAVETILE_RUNTIME_DEVICE_H
