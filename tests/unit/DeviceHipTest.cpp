//===- DeviceHipTest.cpp - The software device as a HIP library -----------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything of HIP but launches: devices, memory, streams, events, modules.
//
//===----------------------------------------------------------------------===//

#include "DeviceHipSupport.h"

#include <elf.h>

#include <cstring>
#include <memory>
#include <random>
#include <regex>
#include <set>
#include <string_view>

using namespace wavetile::test;

static const Hip &hip = Hip::get();

namespace {
class DeviceHip : public testing::Test {
protected:
  void SetUp() override { ASSERT_EQ(hip.hipSetDevice(0), hipSuccess); }
  void TearDown() override { hip.hipSetDevice(0); }
};
} // namespace

/// The lines that a command prints.
static std::vector<std::string> linesOf(const std::string &command) {
  std::vector<std::string> lines;
  std::unique_ptr<FILE, int (*)(FILE *)> pipe(popen(command.c_str(), "r"), pclose);
  char buffer[4096];
  while (pipe && std::fgets(buffer, sizeof(buffer), pipe.get()))
    lines.push_back(std::string(buffer, std::strcspn(buffer, "\n")));
  return lines;
}

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

TEST_F(DeviceHip, ExportsNothingButHip) {
  auto lines = linesOf(std::string(WAVETILE_NM) + " -D --defined-only " WAVETILE_DEVICE_LIBRARY);
  std::regex allowed(
      "[0-9a-f]+ (T (hip|__hip|wavetileDevice|__gnu_)[A-Za-z0-9_]*@@hip_[4-7]\\.[0-6]|"
      "A hip_[4-7]\\.[0-6])");
  EXPECT_GT(lines.size(), 500u);
  std::string all;
  for (const std::string &line : lines) {
    EXPECT_TRUE(std::regex_match(line, allowed)) << line;
    all += line + "\n";
  }
  // Each with the version in which HIP first had it, which its clients ask for.
  for (const char *name :
       {"hipMalloc@@hip_4.2", "__hipRegisterFatBinary@@hip_4.2", "hipGraphLaunch@@hip_4.3",
        "hipMallocAsync@@hip_5.1", "hipGetDevicePropertiesR0600@@hip_6.0",
        "hipGetProcAddress@@hip_6.1", "wavetileDeviceLaunchLog@@hip_4.2"})
    EXPECT_NE(all.find(std::string(" T ") + name + "\n"), std::string::npos) << name;
}

TEST_F(DeviceHip, OtherNamesAreTheSameDevice) {
  for (const char *path : {WAVETILE_DEVICE_PLAIN, WAVETILE_DEVICE_6}) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    EXPECT_EQ(dlsym(library, "hipMalloc"), reinterpret_cast<void *>(hip.hipMalloc)) << path;
  }
}

TEST_F(DeviceHip, CarriesItsOwnLlvm) {
  for (const std::string &line :
       linesOf(std::string(WAVETILE_NM) + " -D --undefined-only " WAVETILE_DEVICE_LIBRARY))
    EXPECT_EQ(line.find("llvm"), std::string::npos) << line;
}

TEST_F(DeviceHip, GetProcAddressFindsWhatIsExported) {
  void *found = nullptr;
  int status = -1;
  EXPECT_EQ(hip.hipGetProcAddress("hipMalloc", &found, 70000000, 0, &status), hipSuccess);
  EXPECT_EQ(found, reinterpret_cast<void *>(hip.hipMalloc));
  EXPECT_EQ(status, 0);
  EXPECT_EQ(hip.hipGetProcAddress("hipGetDeviceProperties", &found, 70000000, 0, nullptr),
            hipSuccess);
  EXPECT_EQ(found, reinterpret_cast<void *>(hip.hipGetDevicePropertiesR0600));
  for (const char *name : {"hipNoSuchThing", "malloc", ""}) {
    EXPECT_EQ(hip.hipGetProcAddress(name, &found, 70000000, 0, &status), hipErrorInvalidValue);
    EXPECT_EQ(status, 1);
    EXPECT_EQ(found, nullptr);
  }
}

TEST_F(DeviceHip, UnsupportedFunctionsAreNamedOnce) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(hip.hipIpcGetMemHandle(nullptr), hipErrorNotSupported);
  EXPECT_EQ(hip.hipIpcGetMemHandle(nullptr), hipErrorNotSupported);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "wavetile device: hipIpcGetMemHandle is not supported\n");
}

TEST_F(DeviceHip, ErrorsHaveNamesAndStayUntilRead) {
  EXPECT_STREQ(hip.hipGetErrorName(hipErrorIllegalAddress), "hipErrorIllegalAddress");
  EXPECT_STREQ(hip.hipGetErrorString(hipErrorOutOfMemory), "out of memory");
  EXPECT_STREQ(hip.hipGetErrorName(static_cast<hipError_t>(12345)), "hipErrorUnknown");
  hip.hipGetLastError();
  EXPECT_EQ(hip.hipSetDevice(77), hipErrorInvalidDevice);
  EXPECT_EQ(hip.hipSetDevice(0), hipSuccess);
  EXPECT_EQ(hip.hipPeekAtLastError(), hipErrorInvalidDevice);
  EXPECT_EQ(hip.hipGetLastError(), hipErrorInvalidDevice);
  EXPECT_EQ(hip.hipGetLastError(), hipSuccess);
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

TEST_F(DeviceHip, PosesAsTheNamedGpus) {
  int count = 0;
  ASSERT_EQ(hip.hipInit(0), hipSuccess);
  ASSERT_EQ(hip.hipGetDeviceCount(&count), hipSuccess);
  ASSERT_EQ(count, 3);
  struct Expected {
    const char *arch, *name;
    int wave, units, major, minor;
    size_t lds;
  };
  const Expected expected[] = {
      {"gfx950:sramecc+:xnack-", "AMD Instinct MI355X", 64, 256, 9, 5, 160 << 10},
      {"gfx942:sramecc+:xnack-", "AMD Instinct MI300X", 64, 304, 9, 4, 64 << 10},
      // HIP counts pairs of compute units here.
      {"gfx1150", "AMD Radeon 890M", 32, 8, 11, 5, 64 << 10},
  };
  for (int i = 0; i < count; ++i) {
    hipDeviceProp_tR0600 p = {};
    ASSERT_EQ(hip.hipGetDevicePropertiesR0600(&p, i), hipSuccess);
    EXPECT_STREQ(p.gcnArchName, expected[i].arch);
    EXPECT_STREQ(p.name, expected[i].name);
    EXPECT_EQ(p.warpSize, expected[i].wave);
    EXPECT_EQ(p.multiProcessorCount, expected[i].units);
    EXPECT_EQ(p.major, expected[i].major);
    EXPECT_EQ(p.minor, expected[i].minor);
    EXPECT_EQ(p.sharedMemPerBlock, expected[i].lds);
    EXPECT_EQ(p.maxThreadsPerBlock, 1024);
    char name[8] = "xxxxxxx";
    EXPECT_EQ(hip.hipDeviceGetName(name, 5, i), hipSuccess);
    EXPECT_STREQ(name, "AMD ");
    // Attributes say the same: HIP's numbers 87, 63, 74, 23 and 61.
    auto attribute = [&](int number) {
      int value = -1;
      EXPECT_EQ(hip.hipDeviceGetAttribute(&value, number, i), hipSuccess) << number;
      return value;
    };
    EXPECT_EQ(attribute(87), p.warpSize);
    EXPECT_EQ(attribute(63), p.multiProcessorCount);
    EXPECT_EQ(attribute(74), static_cast<int>(p.sharedMemPerBlock));
    EXPECT_EQ(attribute(23), p.major);
    EXPECT_EQ(attribute(61), p.minor);
  }
  int value;
  EXPECT_EQ(hip.hipDeviceGetAttribute(&value, 424242, 0), hipErrorInvalidValue);
  EXPECT_EQ(hip.hipDeviceGetAttribute(&value, 87, 3), hipErrorInvalidDevice);
  EXPECT_EQ(hip.hipDeviceGetAttribute(nullptr, 87, 0), hipErrorInvalidValue);
}

TEST_F(DeviceHip, TellsItsPropertiesInTheOlderFormToo) {
  for (int i = 0; i < 3; ++i) {
    hipDeviceProp_tR0600 now = {};
    hipDeviceProp_tR0000 old = {};
    ASSERT_EQ(hip.hipGetDevicePropertiesR0600(&now, i), hipSuccess);
    ASSERT_EQ(hip.hipGetDevicePropertiesR0000(&old, i), hipSuccess);
    EXPECT_STREQ(old.name, now.name);
    EXPECT_STREQ(old.gcnArchName, now.gcnArchName);
    EXPECT_EQ(old.gcnArch, i == 0 ? 950 : i == 1 ? 942 : 1150);
    EXPECT_EQ(old.totalGlobalMem, now.totalGlobalMem);
    EXPECT_EQ(old.warpSize, now.warpSize);
    EXPECT_EQ(old.sharedMemPerBlock, now.sharedMemPerBlock);
    EXPECT_EQ(old.maxGridSize[1], now.maxGridSize[1]);
    EXPECT_EQ(old.isLargeBar, 1);
    EXPECT_EQ(old.managedMemory, 1);
  }
}

TEST(DeviceHipEnvironment, AnUnknownTargetIsAnErrorThatListsThem) {
  // A process of its own: the environment is read once.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("WAVETILE_DEVICE_TARGET", "gfx950,gfx906", 1);
        int count = 7;
        hipError_t error = hip.hipGetDeviceCount(&count);
        std::exit(error == hipErrorNoDevice && count == 0 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "'gfx906'.*gfx942, gfx950, gfx1100, gfx1150");
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TEST_F(DeviceHip, AllocatesAlignedMemoryThatIsUndefined) {
  std::set<void *> seen;
  std::vector<void *> all;
  for (size_t bytes : {1, 255, 256, 257, 1000003}) {
    void *pointer = nullptr;
    ASSERT_EQ(hip.hipMalloc(&pointer, bytes), hipSuccess);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(pointer) % 256, 0u);
    EXPECT_TRUE(seen.insert(pointer).second);
    const auto *data = static_cast<const uint8_t *>(pointer);
    EXPECT_EQ(data[0], 0xFF);
    EXPECT_EQ(data[bytes - 1], 0xFF);
    all.push_back(pointer);
  }
  for (void *pointer : all) {
    EXPECT_EQ(hip.hipFree(pointer), hipSuccess);
    EXPECT_EQ(hip.hipFree(pointer), hipErrorInvalidValue) << "freed twice";
  }
}

TEST_F(DeviceHip, AllocationFailsCleanly) {
  void *pointer = this;
  EXPECT_EQ(hip.hipMalloc(&pointer, SIZE_MAX), hipErrorOutOfMemory);
  EXPECT_EQ(pointer, nullptr);
  EXPECT_EQ(hip.hipMalloc(&pointer, size_t(1) << 45), hipErrorOutOfMemory);
  EXPECT_EQ(hip.hipMalloc(nullptr, 16), hipErrorInvalidValue);
  EXPECT_EQ(hip.hipMalloc(&pointer, 0), hipSuccess);
  EXPECT_EQ(pointer, nullptr);
  EXPECT_EQ(hip.hipFree(nullptr), hipSuccess);
  int local = 0;
  EXPECT_EQ(hip.hipFree(&local), hipErrorInvalidValue);
}

TEST_F(DeviceHip, MemoryInfoIsTheGpusAndTheHosts) {
  size_t available = 0, total = 0;
  ASSERT_EQ(hip.hipMemGetInfo(&available, &total), hipSuccess);
  EXPECT_EQ(total, size_t(288) << 30);
  EXPECT_GT(available, 0u);
  EXPECT_LE(available, size_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE));
}

TEST_F(DeviceHip, HostMemoryHasItsOwnFunctions) {
  void *host = nullptr;
  ASSERT_EQ(hip.hipHostMalloc(&host, 100, 0), hipSuccess);
  EXPECT_EQ(hip.hipFree(host), hipErrorInvalidValue);
  hipPointerAttribute_t attributes;
  EXPECT_EQ(hip.hipPointerGetAttributes(&attributes, host), hipSuccess);
  EXPECT_EQ(attributes.type, hipMemoryTypeHost);
  EXPECT_EQ(hip.hipHostFree(host), hipSuccess);
  EXPECT_EQ(hip.hipHostFree(host), hipErrorInvalidValue);
}

TEST_F(DeviceHip, RegistersHostMemory) {
  std::vector<char> buffer(1000);
  EXPECT_EQ(hip.hipHostUnregister(buffer.data()), hipErrorHostMemoryNotRegistered);
  EXPECT_EQ(hip.hipHostRegister(buffer.data(), 1000, 0), hipSuccess);
  EXPECT_EQ(hip.hipHostRegister(buffer.data() + 999, 10, 0), hipErrorHostMemoryAlreadyRegistered);
  hipPointerAttribute_t attributes;
  EXPECT_EQ(hip.hipPointerGetAttributes(&attributes, buffer.data() + 500), hipSuccess);
  EXPECT_EQ(attributes.type, hipMemoryTypeHost);
  EXPECT_EQ(hip.hipHostUnregister(buffer.data() + 1), hipErrorHostMemoryNotRegistered);
  EXPECT_EQ(hip.hipHostUnregister(buffer.data()), hipSuccess);
  EXPECT_EQ(hip.hipHostRegister(nullptr, 10, 0), hipErrorInvalidValue);
  EXPECT_EQ(hip.hipHostRegister(reinterpret_cast<void *>(0x1000), 10, 0), hipErrorInvalidValue);
}

TEST_F(DeviceHip, PointerQueriesKnowWhatAPointerIs) {
  DeviceArray<float> array(25);
  hipPointerAttribute_t attributes;
  EXPECT_EQ(hip.hipPointerGetAttributes(&attributes, array.pointer + 3), hipSuccess);
  EXPECT_EQ(attributes.type, hipMemoryTypeDevice);
  EXPECT_EQ(attributes.devicePointer, array.pointer + 3);
  uint64_t value = 0;
  EXPECT_EQ(hip.hipPointerGetAttribute(&value, HIP_POINTER_ATTRIBUTE_RANGE_SIZE, array.pointer + 3),
            hipSuccess);
  EXPECT_EQ(value, 100u);
  // Host memory that nobody told of is its own device pointer.
  int local = 0;
  void *pointer = nullptr;
  EXPECT_EQ(hip.hipPointerGetAttribute(&pointer, HIP_POINTER_ATTRIBUTE_DEVICE_POINTER, &local),
            hipSuccess);
  EXPECT_EQ(pointer, &local);
  EXPECT_EQ(hip.hipPointerGetAttributes(&attributes, &local), hipSuccess);
  EXPECT_EQ(attributes.type, hipMemoryTypeUnregistered);
  EXPECT_EQ(hip.hipPointerGetAttribute(&pointer, HIP_POINTER_ATTRIBUTE_DEVICE_POINTER, nullptr),
            hipErrorInvalidValue);
  EXPECT_EQ(hip.hipPointerGetAttributes(&attributes, reinterpret_cast<void *>(0x1000)),
            hipErrorInvalidValue);
}

TEST_F(DeviceHip, CopiesAndFills) {
  DeviceArray<uint32_t> a(7, 0), b(7, 0);
  const uint32_t values[7] = {1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(hip.hipMemcpy(a.pointer, values, sizeof(values), hipMemcpyHostToDevice), hipSuccess);
  EXPECT_EQ(hip.hipMemcpyAsync(b.pointer, a.pointer, sizeof(values), hipMemcpyDefault, nullptr),
            hipSuccess);
  EXPECT_EQ(std::memcmp(b.pointer, values, sizeof(values)), 0);
  EXPECT_EQ(hip.hipMemset(b.pointer, 0x5A, 3), hipSuccess);
  EXPECT_EQ(b[0], 0x005A5A5Au);
  EXPECT_EQ(hip.hipMemsetD16(b.pointer, 0x1234, 3), hipSuccess);
  EXPECT_EQ(b[0], 0x12341234u);
  EXPECT_EQ(b[1], 0x00001234u);
  EXPECT_EQ(hip.hipMemsetD32Async(b.pointer + 5, -2, 2, nullptr), hipSuccess);
  EXPECT_EQ(b[4], 5u);
  EXPECT_EQ(b[6], 0xFFFFFFFEu);
  // Two rows of two out of rows of three into rows of four.
  DeviceArray<uint32_t> c(8, 0);
  EXPECT_EQ(hip.hipMemcpy2D(c.pointer, 16, a.pointer, 12, 8, 2, hipMemcpyDefault), hipSuccess);
  const uint32_t expected[8] = {1, 2, 0, 0, 4, 5, 0, 0};
  EXPECT_EQ(std::memcmp(c.pointer, expected, sizeof(expected)), 0);
}

TEST_F(DeviceHip, WildCopiesAreErrors) {
  DeviceArray<char> array(100);
  char local[200] = {};
  EXPECT_EQ(hip.hipMemcpy(array.pointer, local, 101, hipMemcpyDefault), hipErrorInvalidValue);
  EXPECT_NE(lastReport().find("runs past the end of allocation 'hipMalloc"), std::string::npos)
      << lastReport();
  EXPECT_EQ(hip.hipMemcpy(array.pointer + 99, local, 1, hipMemcpyDefault), hipSuccess);
  EXPECT_EQ(hip.hipMemcpy(local, reinterpret_cast<void *>(0x1000), 8, hipMemcpyDefault),
            hipErrorInvalidValue);
  EXPECT_EQ(hip.hipMemcpy(nullptr, local, 8, hipMemcpyDefault), hipErrorInvalidValue);
  EXPECT_EQ(hip.hipMemcpy(local, array.pointer, SIZE_MAX, hipMemcpyDefault), hipErrorInvalidValue);
  EXPECT_EQ(hip.hipMemcpy(array.pointer, local, 8, 17), hipErrorInvalidMemcpyDirection);
  EXPECT_EQ(hip.hipMemcpy2D(array.pointer, 4, local, 8, 8, 2, hipMemcpyDefault),
            hipErrorInvalidPitchValue);
  EXPECT_EQ(hip.hipMemset(reinterpret_cast<void *>(0x1000), 0, 8), hipErrorInvalidValue);
  void *freed = nullptr;
  ASSERT_EQ(hip.hipMalloc(&freed, 8), hipSuccess);
  ASSERT_EQ(hip.hipFree(freed), hipSuccess);
  EXPECT_EQ(hip.hipMemset(freed, 0, 8), hipErrorInvalidValue);
  EXPECT_NE(lastReport().find("freed"), std::string::npos) << lastReport();
}

TEST_F(DeviceHip, CopiesDoNotWriteReadOnlyMemory) {
  DeviceArray<char> array(100);
  static const char constants[200] = {1};
  void *place = const_cast<char *>(constants);
  EXPECT_EQ(hip.hipMemcpy(array.pointer, place, 100, hipMemcpyDefault), hipSuccess);
  for (bool isRegistered : {false, true}) {
    if (isRegistered)
      ASSERT_EQ(hip.hipHostRegister(place, sizeof(constants), 0), hipSuccess);
    EXPECT_EQ(hip.hipMemcpy(place, array.pointer, 100, hipMemcpyDefault), hipErrorInvalidValue);
    EXPECT_NE(lastReport().find("read-only"), std::string::npos) << lastReport();
    EXPECT_EQ(hip.hipMemset(place, 0, 8), hipErrorInvalidValue);
  }
  EXPECT_EQ(hip.hipHostUnregister(place), hipSuccess);
}

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

TEST_F(DeviceHip, StreamsAndEvents) {
  ASSERT_EQ(hip.hipSetDevice(1), hipSuccess);
  hipStream_t stream = nullptr;
  ASSERT_EQ(hip.hipStreamCreate(&stream), hipSuccess);
  int device = -1;
  EXPECT_EQ(hip.hipStreamGetDevice(stream, &device), hipSuccess);
  EXPECT_EQ(device, 1);
  hipEvent_t begin = nullptr, end = nullptr;
  ASSERT_EQ(hip.hipEventCreate(&begin), hipSuccess);
  ASSERT_EQ(hip.hipEventCreate(&end), hipSuccess);
  float milliseconds = -1;
  EXPECT_EQ(hip.hipEventElapsedTime(&milliseconds, begin, end), hipErrorInvalidHandle)
      << "not recorded yet";
  EXPECT_EQ(hip.hipEventRecord(begin, stream), hipSuccess);
  usleep(2000);
  EXPECT_EQ(hip.hipEventRecord(end, stream), hipSuccess);
  EXPECT_EQ(hip.hipEventSynchronize(end), hipSuccess);
  EXPECT_EQ(hip.hipEventElapsedTime(&milliseconds, begin, end), hipSuccess);
  EXPECT_GE(milliseconds, 2.0f);
  EXPECT_EQ(hip.hipStreamSynchronize(stream), hipSuccess);
  EXPECT_EQ(hip.hipStreamSynchronize(nullptr), hipSuccess);
  EXPECT_EQ(hip.hipStreamDestroy(stream), hipSuccess);
  EXPECT_EQ(hip.hipStreamDestroy(stream), hipErrorInvalidHandle);
  EXPECT_EQ(hip.hipStreamSynchronize(stream), hipErrorInvalidHandle);
  EXPECT_EQ(hip.hipEventDestroy(begin), hipSuccess);
  EXPECT_EQ(hip.hipEventDestroy(end), hipSuccess);
  EXPECT_EQ(hip.hipEventRecord(end, nullptr), hipErrorInvalidHandle);
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

static const char *const kernels = R"(
global int counter = 5;
constant int table[3] = {1, 2, 3};
global int *global pointer_to_counter = &counter;
kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void store(global int *out, int value) {
  local int shared[100];
  shared[__builtin_amdgcn_workitem_id_x()] = value;
  __builtin_amdgcn_s_barrier();
  out[__builtin_amdgcn_workitem_id_x()] = shared[63 - __builtin_amdgcn_workitem_id_x()];
}
kernel void count(int by) { *pointer_to_counter += by; }
)";

TEST_F(DeviceHip, ModulesAnswerQuestions) {
  for (const TargetCase &target : targetCases) {
    SCOPED_TRACE(target.name);
    ASSERT_EQ(hip.hipSetDevice(target.ordinal), hipSuccess);
    Module module(compileKernels(kernels, target.name));
    ASSERT_EQ(module.error, hipSuccess) << lastReport();
    hipFunction_t function = module.function("store");
    auto attribute = [&](hipFunction_attribute which) {
      int value = -1;
      EXPECT_EQ(hip.hipFuncGetAttribute(&value, which, function), hipSuccess);
      return value;
    };
    EXPECT_EQ(attribute(HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 64);
    EXPECT_EQ(attribute(HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES), 400);
    EXPECT_EQ(attribute(HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES), 0);
    EXPECT_GT(attribute(HIP_FUNC_ATTRIBUTE_NUM_REGS), 0);
    // 160 KB, 64 KB or the 128 KB of two compute units hold this many times 60 KB and 400 bytes.
    int resident = -1;
    EXPECT_EQ(
        hip.hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&resident, function, 64, 60 << 10),
        hipSuccess);
    EXPECT_EQ(resident, target.ordinal == 1 ? 1 : 2);
    void *counter = nullptr;
    size_t bytes = 0;
    ASSERT_EQ(hip.hipModuleGetGlobal(&counter, &bytes, module.handle, "counter"), hipSuccess);
    EXPECT_EQ(bytes, 4u);
    EXPECT_EQ(*static_cast<int *>(counter), 5);
    // A relocated pointer.
    void *pointer = nullptr;
    ASSERT_EQ(hip.hipModuleGetGlobal(&pointer, nullptr, module.handle, "pointer_to_counter"),
              hipSuccess);
    EXPECT_EQ(*static_cast<void **>(pointer), counter);
    EXPECT_EQ(hip.hipModuleGetGlobal(&pointer, nullptr, module.handle, "nothing"),
              hipErrorNotFound);
    EXPECT_EQ(hip.hipModuleGetFunction(&function, module.handle, "nothing"), hipErrorNotFound);
    EXPECT_NE(lastReport().find("it has store count"), std::string::npos) << lastReport();
  }
}

TEST_F(DeviceHip, ModulesOfAnotherTargetAreRefused) {
  Module module(compileKernels(kernels, "gfx942"));
  EXPECT_EQ(module.error, hipErrorNoBinaryForGpu);
  EXPECT_NE(lastReport().find("built for gfx942, but this device is a gfx950"), std::string::npos)
      << lastReport();
}

TEST_F(DeviceHip, HandlesDieWithTheirModule) {
  hipFunction_t function;
  {
    Module module(compileKernels(kernels, "gfx950"));
    ASSERT_EQ(module.error, hipSuccess) << lastReport();
    function = module.function("count");
  }
  int value;
  EXPECT_EQ(hip.hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_NUM_REGS, function),
            hipErrorInvalidHandle);
  EXPECT_EQ(launch(function, {1, 1, 1}, {1, 1, 1}, 0, 3), hipErrorInvalidHandle);
  EXPECT_EQ(hip.hipModuleUnload(reinterpret_cast<hipModule_t>(&value)), hipErrorInvalidHandle);
}

TEST_F(DeviceHip, BundlesGiveTheCodeObjectOfTheDevice) {
  // What clang-offload-bundler makes: a magic, a count, then offset, size and id of each.
  const char magic[] = "__CLANG_OFFLOAD_BUNDLE__";
  std::pair<std::string, std::string> entries[] = {
      {"host-x86_64-unknown-linux-gnu-", ""},
      {"hipv4-amdgcn-amd-amdhsa--gfx942", compileKernels(kernels, "gfx942")},
      {"hipv4-amdgcn-amd-amdhsa--gfx950:xnack-", compileKernels(kernels, "gfx950")}};
  std::string header(magic, sizeof(magic) - 1), body;
  auto number = [&](uint64_t value) {
    header.append(reinterpret_cast<const char *>(&value), sizeof(value));
  };
  number(std::size(entries));
  for (const auto &[id, object] : entries) {
    number(4096 + body.size());
    number(object.size());
    number(id.size());
    header += id;
    body += object;
  }
  header.resize(4096);
  Module module(header + body);
  EXPECT_EQ(module.error, hipSuccess) << lastReport();
  hip.hipSetDevice(2);
  Module none(header + body);
  EXPECT_EQ(none.error, hipErrorNoBinaryForGpu);
  EXPECT_NE(lastReport().find("gfx1150"), std::string::npos) << lastReport();
}

TEST_F(DeviceHip, BundlesMayBeCompressed) {
  char folder[] = "/tmp/wavetile-device-test-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  std::string base(folder);
  for (const char *target : {"gfx942", "gfx950"})
    std::ofstream(base + "/" + target, std::ios::binary) << compileKernels(kernels, target);
  std::string bundler = std::string(WAVETILE_CLANG) + "-offload-bundler";
  std::string bundles[3];
  for (int version : {2, 3}) {
    std::string command = "COMPRESSED_BUNDLE_FORMAT_VERSION=" + std::to_string(version) + " " +
                          bundler +
                          " -compress -type=o -targets=host-x86_64-unknown-linux-gnu,"
                          "hipv4-amdgcn-amd-amdhsa--gfx942,hipv4-amdgcn-amd-amdhsa--gfx950"
                          " -input=/dev/null -input=" +
                          base + "/gfx942 -input=" + base + "/gfx950 -output=" + base + "/bundle";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    std::string bundle = bundles[version - 2] = readFile(base + "/bundle");
    ASSERT_EQ(bundle.substr(0, 4), "CCOB");
    ASSERT_EQ(bundle[4], version);
    for (int ordinal : {0, 1}) {
      hip.hipSetDevice(ordinal);
      Module module(bundle);
      EXPECT_EQ(module.error, hipSuccess) << lastReport();
      module.function("count");
    }
    hip.hipSetDevice(2);
    EXPECT_EQ(Module(bundle).error, hipErrorNoBinaryForGpu);
    hip.hipSetDevice(0);
    // Damaged in every way, it is an error with a reason.
    for (size_t bytes : {5u, 9u, 20u, 31u, 100u}) {
      std::string damaged = bundle.substr(0, bytes) + std::string(bundle.size() - bytes, '\xAA');
      EXPECT_EQ(Module(damaged).error, hipErrorInvalidImage);
      EXPECT_NE(lastReport(), "");
    }
  }
  std::system(("rm -r " + base).c_str());
}

TEST_F(DeviceHip, FilesThatAreNoModules) {
  hipModule_t module = nullptr;
  EXPECT_EQ(hip.hipModuleLoad(&module, "/no/such/file"), hipErrorFileNotFound);
  EXPECT_EQ(hip.hipModuleLoad(&module, "/etc/passwd"), hipErrorInvalidImage);
  EXPECT_EQ(hip.hipModuleLoad(&module, "/bin/ls"), hipErrorInvalidImage);
  EXPECT_EQ(hip.hipModuleLoadData(&module, nullptr), hipErrorInvalidValue);
  const char zeros[64] = {};
  EXPECT_EQ(hip.hipModuleLoadData(&module, zeros), hipErrorInvalidImage);
  EXPECT_EQ(module, nullptr);
}

namespace {
/// A file with these bytes, for as long as it lives.
class TemporaryFile {
public:
  explicit TemporaryFile(const std::string &bytes) {
    int descriptor = mkstemp(path.data());
    EXPECT_GE(descriptor, 0);
    EXPECT_EQ(write(descriptor, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    close(descriptor);
  }
  ~TemporaryFile() { unlink(path.c_str()); }

  std::string path = "/tmp/wavetile-device-test-XXXXXX";
};
} // namespace

TEST_F(DeviceHip, TruncatedModulesAreErrors) {
  std::string object = compileKernels(kernels, "gfx950");
  for (size_t bytes = 0; bytes < object.size(); bytes += 61) {
    TemporaryFile file(object.substr(0, bytes));
    hipModule_t module = nullptr;
    EXPECT_NE(hip.hipModuleLoad(&module, file.path.c_str()), hipSuccess) << bytes << " bytes";
    EXPECT_NE(lastReport(), "");
  }
  TemporaryFile whole(object);
  hipModule_t module = nullptr;
  EXPECT_EQ(hip.hipModuleLoad(&module, whole.path.c_str()), hipSuccess);
  EXPECT_EQ(hip.hipModuleUnload(module), hipSuccess);
}

TEST_F(DeviceHip, CorruptModulesNeverCrash) {
  const std::string object = compileKernels(kernels, "gfx950");
  unsigned seed = std::random_device()();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  int refused = 0;
  testing::internal::CaptureStderr(); // 2000 reasons.
  for (int i = 0; i < 2000; ++i) {
    std::string corrupt = object;
    // Half of the damage goes to the headers and the notes in front.
    size_t range = i % 2 ? object.size() : 0xc00;
    for (unsigned n = 1 + random() % 8; n > 0; --n)
      corrupt[random() % range] = static_cast<char>(random());
    TemporaryFile file(corrupt);
    hipModule_t module = nullptr;
    if (hip.hipModuleLoad(&module, file.path.c_str()) == hipSuccess)
      EXPECT_EQ(hip.hipModuleUnload(module), hipSuccess);
    else
      ++refused;
  }
  testing::internal::GetCapturedStderr();
  EXPECT_GT(refused, 200);
}

/// Sets a word of the first kernel's descriptor; which kernel that is does not matter.
static bool setDescriptorWord(std::string &object, size_t offset, uint32_t word) {
  Elf64_Ehdr header;
  std::memcpy(&header, object.data(), sizeof(header));
  auto section = [&](size_t index) {
    Elf64_Shdr read;
    std::memcpy(&read, object.data() + header.e_shoff + index * sizeof(read), sizeof(read));
    return read;
  };
  const char *names = object.data() + section(header.e_shstrndx).sh_offset;
  for (size_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr descriptors = section(i);
    if (std::string_view(names + descriptors.sh_name) != ".rodata")
      continue;
    std::memcpy(object.data() + descriptors.sh_offset + offset, &word, sizeof(word));
    return true;
  }
  return false;
}

/// A launch would copy as many bytes as the descriptor says.
TEST_F(DeviceHip, HugeArgumentsAreRefused) {
  std::string object = compileKernels(kernels, "gfx950");
  ASSERT_TRUE(setDescriptorWord(object, 8, 1 << 30)); // kernarg_size
  hipModule_t module = nullptr;
  EXPECT_NE(hip.hipModuleLoadData(&module, object.data()), hipSuccess);
  EXPECT_NE(lastReport().find("1073741824 bytes of arguments"), std::string::npos) << lastReport();
}

/// More than COMPUTE_TMPRING_SIZE can say; the memory for it is never asked of the host.
TEST_F(DeviceHip, HugeScratchIsRefused) {
  std::string object = compileKernels("kernel void one(global int *x) { *x = 1; }", "gfx950");
  ASSERT_TRUE(setDescriptorWord(object, 4, 1 << 24)); // private_segment_fixed_size
  hipModule_t module = nullptr;
  ASSERT_EQ(hip.hipModuleLoadData(&module, object.data()), hipSuccess);
  hipFunction_t one = nullptr;
  ASSERT_EQ(hip.hipModuleGetFunction(&one, module, "one"), hipSuccess);
  DeviceArray<int> x(1);
  void *parameters[] = {&x.pointer};
  EXPECT_EQ(hip.hipModuleLaunchKernel(one, 1, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr),
            hipErrorLaunchOutOfResources);
  EXPECT_NE(lastReport().find("1073741824 bytes of scratch a wave"), std::string::npos)
      << lastReport();
  EXPECT_EQ(hip.hipModuleUnload(module), hipSuccess);
}

//===----------------------------------------------------------------------===//
// Memory pools and strided memory
//===----------------------------------------------------------------------===//

static uint64_t poolBytes(hipMemPool_t pool, hipMemPoolAttr attribute) {
  uint64_t bytes = ~uint64_t(0);
  EXPECT_EQ(hip.hipMemPoolGetAttribute(pool, attribute, &bytes), hipSuccess);
  return bytes;
}

TEST_F(DeviceHip, PoolsCountWhatTheyGaveOut) {
  hipMemPoolProps properties = {};
  properties.allocType = 1;
  properties.location = {hipMemLocationTypeDevice, 1};
  hipMemPool_t pool = nullptr;
  ASSERT_EQ(hip.hipMemPoolCreate(&pool, &properties), hipSuccess);
  hipStream_t stream = nullptr;
  ASSERT_EQ(hip.hipStreamCreate(&stream), hipSuccess);
  void *first = nullptr, *second = nullptr;
  ASSERT_EQ(hip.hipMallocFromPoolAsync(&first, 1001, pool, stream), hipSuccess);
  ASSERT_EQ(hip.hipMallocFromPoolAsync(&second, 97, pool, stream), hipSuccess);
  EXPECT_EQ(poolBytes(pool, hipMemPoolAttrUsedMemCurrent), 1098u);
  ASSERT_EQ(hip.hipFreeAsync(first, stream), hipSuccess);
  EXPECT_EQ(hip.hipFreeAsync(first, stream), hipErrorInvalidValue) << "freed twice";
  ASSERT_EQ(hip.hipStreamSynchronize(stream), hipSuccess);
  EXPECT_EQ(poolBytes(pool, hipMemPoolAttrUsedMemCurrent), 97u);
  EXPECT_EQ(poolBytes(pool, hipMemPoolAttrUsedMemHigh), 1098u);
  uint64_t zero = 0, one = 1;
  EXPECT_EQ(hip.hipMemPoolSetAttribute(pool, hipMemPoolAttrUsedMemHigh, &zero), hipSuccess);
  EXPECT_EQ(poolBytes(pool, hipMemPoolAttrUsedMemHigh), 97u);
  EXPECT_EQ(hip.hipMemPoolSetAttribute(pool, hipMemPoolAttrUsedMemHigh, &one),
            hipErrorInvalidValue);
  ASSERT_EQ(hip.hipFreeAsync(second, stream), hipSuccess);
  EXPECT_EQ(hip.hipMemPoolDestroy(pool), hipSuccess);
  EXPECT_EQ(hip.hipMallocFromPoolAsync(&first, 16, pool, stream), hipErrorInvalidValue);
  hipMemPool_t standard = nullptr;
  ASSERT_EQ(hip.hipDeviceGetDefaultMemPool(&standard, 0), hipSuccess);
  EXPECT_EQ(hip.hipMemPoolDestroy(standard), hipErrorInvalidValue);
  uint64_t before = poolBytes(standard, hipMemPoolAttrUsedMemCurrent);
  ASSERT_EQ(hip.hipMallocAsync(&first, 33, stream), hipSuccess);
  EXPECT_EQ(poolBytes(standard, hipMemPoolAttrUsedMemCurrent), before + 33);
  ASSERT_EQ(hip.hipFreeAsync(first, stream), hipSuccess);
  ASSERT_EQ(hip.hipStreamDestroy(stream), hipSuccess);
}

TEST_F(DeviceHip, CopiesBlocksOfThreeDimensions) {
  // A block of 5 x 4 x 3 bytes at (2, 1, 1) of a volume of 11 x 7 x 5, to (1, 2, 0) of 8 x 6 x 4.
  uint8_t from[5][7][11], to[4][6][8] = {};
  for (int i = 0; i < 5 * 7 * 11; ++i)
    (&from[0][0][0])[i] = static_cast<uint8_t>(i);
  hipMemcpy3DParms parameters = {};
  parameters.srcPtr = {from, 11, 11, 7};
  parameters.srcPos = {2, 1, 1};
  parameters.dstPtr = {to, 8, 8, 6};
  parameters.dstPos = {1, 2, 0};
  parameters.extent = {5, 4, 3};
  parameters.kind = hipMemcpyDefault;
  ASSERT_EQ(hip.hipMemcpy3D(&parameters), hipSuccess) << lastReport();
  for (int z = 0; z < 4; ++z)
    for (int y = 0; y < 6; ++y)
      for (int x = 0; x < 8; ++x) {
        bool inside = x >= 1 && x < 6 && y >= 2 && z < 3;
        ASSERT_EQ(to[z][y][x], inside ? from[z + 1][y - 1][x + 1] : 0) << x << y << z;
      }
  parameters.extent.width = 12;
  EXPECT_EQ(hip.hipMemcpy3D(&parameters), hipErrorInvalidPitchValue);
  EXPECT_EQ(hip.hipMemcpy3D(nullptr), hipErrorInvalidValue);
}

TEST_F(DeviceHip, FillsRowsOfHalfWords) {
  DeviceArray<uint16_t> data(7 * 13, 1);
  ASSERT_EQ(hip.hipMemsetD2D16(data.pointer, 26, 0xabcd, 5, 7), hipSuccess) << lastReport();
  for (int i = 0; i < 7 * 13; ++i)
    ASSERT_EQ(data[i], i % 13 < 5 ? 0xabcd : 1) << i;
  EXPECT_EQ(hip.hipMemsetD2D16(data.pointer, 26, 0, 14, 7), hipErrorInvalidPitchValue);
  EXPECT_EQ(hip.hipMemsetD2D16(data.pointer, 26, 0, 13, 8), hipErrorInvalidValue);
}

TEST_F(DeviceHip, StreamsHavePriorities) {
  int least = 0, greatest = 0, priority = 77;
  ASSERT_EQ(hip.hipDeviceGetStreamPriorityRange(&least, &greatest), hipSuccess);
  EXPECT_GT(least, greatest);
  for (auto [asked, expected] : {std::pair(greatest, greatest), {0, 0}, {least + 5, least}}) {
    hipStream_t stream = nullptr;
    ASSERT_EQ(hip.hipStreamCreateWithPriority(&stream, 1, asked), hipSuccess);
    EXPECT_EQ(hip.hipStreamGetPriority(stream, &priority), hipSuccess);
    EXPECT_EQ(priority, expected);
    ASSERT_EQ(hip.hipStreamDestroy(stream), hipSuccess);
  }
}

//===----------------------------------------------------------------------===//
// Contexts, and default streams of threads
//===----------------------------------------------------------------------===//

TEST_F(DeviceHip, ContextsStandForDevices) {
  hipCtx_t second = nullptr, found = nullptr;
  int device = -1;
  ASSERT_EQ(hip.hipCtxCreate(&second, 0, 2), hipSuccess);
  ASSERT_EQ(hip.hipGetDevice(&device), hipSuccess);
  EXPECT_EQ(device, 2);
  ASSERT_EQ(hip.hipCtxGetCurrent(&found), hipSuccess);
  EXPECT_EQ(found, second);
  ASSERT_EQ(hip.hipCtxPopCurrent(&found), hipSuccess);
  EXPECT_EQ(found, second);
  ASSERT_EQ(hip.hipGetDevice(&device), hipSuccess);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(hip.hipCtxPopCurrent(&found), hipErrorInvalidContext);
  EXPECT_EQ(hip.hipCtxSetCurrent(reinterpret_cast<hipCtx_t>(&device)), hipErrorInvalidContext);
  EXPECT_EQ(hip.hipCtxCreate(&second, 0, 3), hipErrorInvalidDevice);
}

TEST_F(DeviceHip, FunctionsOfThePerThreadDefaultStream) {
  DeviceArray<uint8_t> from(257), to(257, 9);
  for (int i = 0; i < 257; ++i)
    from[i] = static_cast<uint8_t>(3 * i);
  ASSERT_EQ(hip.hipMemcpy_spt(to.pointer, from.pointer, 257, hipMemcpyDefault), hipSuccess);
  for (int i = 0; i < 257; ++i)
    ASSERT_EQ(to[i], from[i]);
  ASSERT_EQ(hip.hipMemsetAsync_spt(to.pointer, 5, 256, nullptr), hipSuccess);
  ASSERT_EQ(hip.hipStreamSynchronize_spt(nullptr), hipSuccess);
  EXPECT_EQ(to[255], 5);
  EXPECT_EQ(to[256], from[256]);
}
