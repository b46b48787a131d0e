//===- HipTest.cpp - Finding devices --------------------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Device.h"
#include "tests/unit/fake_hip/FakeHip.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>

using namespace wavetile;

namespace {

constexpr auto cpu = static_cast<int32_t>(TensorDevice::Cpu);
constexpr auto rocm = static_cast<int32_t>(TensorDevice::Rocm);

Devices::Options machineWithGpu() {
  Devices::Options options;
  options.softwareDevice = fakeSoftwareDevice().path;
  options.hip = fakeGpu().path;
  return options;
}

Devices::Options machineWithoutGpu() {
  Devices::Options options;
  options.softwareDevice = fakeSoftwareDevice().path;
  options.systemNames = {"libwavetile-no-such-hip.so"};
  return options;
}

/// The device for a tensor, or the error.
std::string forTensor(Devices &devices, int32_t type, int32_t ordinal = 0,
                      std::string_view target = {}) {
  std::shared_ptr<Device> device;
  if (Status status = devices.forTensor(type, ordinal, target, device))
    return status.get().message;
  return device->str();
}

std::string byDefault(Devices &devices, std::string_view target = {}) {
  std::shared_ptr<Device> device;
  if (Status status = devices.byDefault(target, device))
    return status.get().message;
  return device->str();
}

class DevicesTest : public testing::Test {
protected:
  void SetUp() override {
    fakeGpu().reset();
    fakeSoftwareDevice().reset(1);
  }
};

} // namespace

TEST_F(DevicesTest, TensorsDecideWhereAKernelRuns) {
  Devices devices(machineWithGpu());
  EXPECT_EQ(forTensor(devices, cpu), "gfx950 (software device)");
  EXPECT_EQ(forTensor(devices, rocm), "gfx950");
  EXPECT_EQ(forTensor(devices, rocm, 1), "gfx942");
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "no device 2 among 2", forTensor(devices, rocm, 2));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "CUDA", forTensor(devices, 2));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "DLPack type 8", forTensor(devices, 8));
  EXPECT_EQ(byDefault(devices), "gfx950");
}

TEST_F(DevicesTest, TheTargetChoosesAmongSoftwareDevices) {
  fakeSoftwareDevice().reset(2);
  Devices devices(machineWithoutGpu());
  EXPECT_EQ(forTensor(devices, cpu, 0, "gfx942"), "gfx942 (software device)");
  EXPECT_EQ(byDefault(devices, "gfx942"), "gfx942 (software device)");
  // Code for a GPU that is not there is refused where it is launched, by name.
  EXPECT_EQ(forTensor(devices, cpu, 0, "gfx1150"), "gfx950 (software device)");
  // A GPU's tensors are on that GPU.
  Devices withGpu(machineWithGpu());
  EXPECT_EQ(forTensor(withGpu, rocm, 0, "gfx942"), "gfx950");
}

TEST_F(DevicesTest, WithoutGpuTheSoftwareDeviceIsTheDefault) {
  Devices devices(machineWithoutGpu());
  EXPECT_EQ(byDefault(devices), "gfx950 (software device)");
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "libwavetile-no-such-hip.so", forTensor(devices, rocm));
}

TEST_F(DevicesTest, AGpuLibraryWithoutDevicesCountsAsNone) {
  fakeGpu().reset(0);
  Devices devices(machineWithGpu());
  EXPECT_EQ(byDefault(devices), "gfx950 (software device)");
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "has no device", forTensor(devices, rocm));
}

TEST_F(DevicesTest, AFailingLibraryIsAReasonNotAnError) {
  for (int call : {1, 2, 3}) { // the count, then each device's properties
    fakeGpu().reset();
    fakeGpu().failCall(call);
    Devices devices(machineWithGpu());
    EXPECT_EQ(byDefault(devices), "gfx950 (software device)");
    EXPECT_PRED_FORMAT2(testing::IsSubstring, "hipErrorOutOfMemory: out of memory",
                        devices.describe()[0].reason);
  }
}

TEST_F(DevicesTest, TheChoiceIsKept) {
  Devices::Options options = machineWithGpu();
  options.choice = Devices::Choice::Software;
  Devices software(options);
  EXPECT_EQ(byDefault(software), "gfx950 (software device)");
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "WAVETILE_DEVICE=software", forTensor(software, rocm));
  EXPECT_EQ(fakeGpu().log(), ""); // not even asked

  options.choice = Devices::Choice::Hip;
  Devices hip(options);
  EXPECT_EQ(byDefault(hip), "gfx950");
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "WAVETILE_DEVICE=hip", forTensor(hip, cpu));

  options = machineWithoutGpu();
  options.choice = Devices::Choice::Hip;
  Devices none(options);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "WAVETILE_DEVICE=hip, but no GPU can be used",
                      byDefault(none));
}

TEST_F(DevicesTest, RefusesAnotherLibraryAsSoftwareDevice) {
  Devices::Options options = machineWithoutGpu();
  options.softwareDevice = fakeGpu().path;
  Devices devices(options);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "is not Wavetile's software device",
                      byDefault(devices));
  options.softwareDevice = "libm.so.6";
  Devices incomplete(options);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "has no function hipGetErrorName",
                      byDefault(incomplete));
}

TEST_F(DevicesTest, ASoftwareDeviceInPlaceOfHipIsCalledThat) {
  Devices::Options options;
  options.hip = fakeSoftwareDevice().path;
  Devices devices(options);
  EXPECT_EQ(byDefault(devices), "gfx950 (software device)");
  EXPECT_EQ(forTensor(devices, rocm), "gfx950 (software device)");
  EXPECT_EQ(forTensor(devices, cpu), "gfx950 (software device)");
  std::vector<DeviceDescription> descriptions = devices.describe();
  ASSERT_EQ(descriptions.size(), 2u);
  EXPECT_FALSE(descriptions[0].usable);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "is the software device", descriptions[0].reason);
  EXPECT_TRUE(descriptions[1].usable);
}

TEST_F(DevicesTest, DescribesEveryDeviceWithAReason) {
  Devices devices(machineWithGpu());
  std::vector<DeviceDescription> descriptions = devices.describe();
  ASSERT_EQ(descriptions.size(), 3u);
  EXPECT_EQ(descriptions[1].target, "gfx942");
  EXPECT_EQ(descriptions[1].ordinal, 1);
  EXPECT_EQ(descriptions[1].name, "Fake Instinct");
  EXPECT_EQ(descriptions[1].kind, DeviceKind::Hip);
  EXPECT_EQ(descriptions[2].kind, DeviceKind::Software);
  for (const DeviceDescription &description : descriptions) {
    EXPECT_TRUE(description.usable);
    EXPECT_NE(description.reason, "");
  }
}

TEST_F(DevicesTest, SaysOnceThatTheSoftwareDeviceRuns) {
  Devices devices(machineWithGpu());
  std::shared_ptr<Device> gpu, software;
  ASSERT_FALSE(devices.forTensor(rocm, 0, {}, gpu));
  ASSERT_FALSE(devices.forTensor(cpu, 0, {}, software));
  testing::internal::CaptureStderr();
  devices.announce(*gpu);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  testing::internal::CaptureStderr();
  devices.announce(*software);
  devices.announce(*software);
  std::string text = testing::internal::GetCapturedStderr();
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "software device, which executes gfx950 code", text);
  EXPECT_EQ(text.find("wavetile:"), text.rfind("wavetile:"));
}

/// In a process of its own, since a library that was found stays.
static void useLibraryOfTheProcess() {
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("wavetile-hip-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  std::filesystem::path copy = folder / "libamdhip64.so";
  std::filesystem::copy_file(fakeGpu().path, copy);
  bool loaded = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr;
  std::filesystem::remove_all(folder);
  // The options name other libraries; the one in the process wins.
  Devices::Options options = machineWithGpu();
  options.hip = "libwavetile-no-such-hip.so";
  Devices devices(options);
  std::vector<DeviceDescription> descriptions = devices.describe();
  std::exit(loaded && descriptions[0].library == copy ? 0 : 1);
}

TEST_F(DevicesTest, UsesTheLibraryThatIsLoadedAlready) {
  EXPECT_EXIT(useLibraryOfTheProcess(), testing::ExitedWithCode(0), "");
}
