//===- DeviceHipSupport.h - A HIP client for tests ------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Opens the software device as any HIP client would, by dlopen, and compiles
// OpenCL C kernels for it with clang.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_TESTS_UNIT_DEVICEHIPSUPPORT_H
#define WAVETILE_TESTS_UNIT_DEVICEHIPSUPPORT_H

#include "runtime/emulator/hip/HipTypes.h"

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

inline std::ostream &operator<<(std::ostream &os, hipError_t error) {
  return os << "HIP error " << static_cast<int>(error);
}

namespace wavetile::test {

/// `X(signature, name)`: what the tests call.
#define WAVETILE_TEST_HIP_FUNCTIONS(X)                                                             \
  X(const char *(hipError_t), hipGetErrorName)                                                     \
  X(const char *(hipError_t), hipGetErrorString)                                                   \
  X(hipError_t(), hipGetLastError)                                                                 \
  X(hipError_t(), hipPeekAtLastError)                                                              \
  X(hipError_t(unsigned), hipInit)                                                                 \
  X(hipError_t(int *), hipDriverGetVersion)                                                        \
  X(hipError_t(int *), hipGetDeviceCount)                                                          \
  X(hipError_t(int), hipSetDevice)                                                                 \
  X(hipError_t(int *), hipGetDevice)                                                               \
  X(hipError_t(hipDeviceProp_tR0600 *, int), hipGetDevicePropertiesR0600)                          \
  X(hipError_t(int *, int, int), hipDeviceGetAttribute)                                            \
  X(hipError_t(char *, int, int), hipDeviceGetName)                                                \
  X(hipError_t(size_t *, size_t *), hipMemGetInfo)                                                 \
  X(hipError_t(void **, size_t), hipMalloc)                                                        \
  X(hipError_t(void *), hipFree)                                                                   \
  X(hipError_t(void **, size_t, unsigned), hipHostMalloc)                                          \
  X(hipError_t(void *), hipHostFree)                                                               \
  X(hipError_t(void *, size_t, unsigned), hipHostRegister)                                         \
  X(hipError_t(void *), hipHostUnregister)                                                         \
  X(hipError_t(hipPointerAttribute_t *, const void *), hipPointerGetAttributes)                    \
  X(hipError_t(void *, hipPointer_attribute, void *), hipPointerGetAttribute)                      \
  X(hipError_t(void *, const void *, size_t, int), hipMemcpy)                                      \
  X(hipError_t(void *, size_t, const void *, size_t, size_t, size_t, int), hipMemcpy2D)            \
  X(hipError_t(void *, const void *, size_t, int, hipStream_t), hipMemcpyAsync)                    \
  X(hipError_t(void *, int, size_t), hipMemset)                                                    \
  X(hipError_t(void *, unsigned short, size_t), hipMemsetD16)                                      \
  X(hipError_t(void *, int, size_t, hipStream_t), hipMemsetD32Async)                               \
  X(hipError_t(hipStream_t *), hipStreamCreate)                                                    \
  X(hipError_t(hipStream_t), hipStreamDestroy)                                                     \
  X(hipError_t(hipStream_t), hipStreamSynchronize)                                                 \
  X(hipError_t(hipStream_t, int *), hipStreamGetDevice)                                            \
  X(hipError_t(hipEvent_t *), hipEventCreate)                                                      \
  X(hipError_t(hipEvent_t), hipEventDestroy)                                                       \
  X(hipError_t(hipEvent_t, hipStream_t), hipEventRecord)                                           \
  X(hipError_t(hipEvent_t), hipEventSynchronize)                                                   \
  X(hipError_t(float *, hipEvent_t, hipEvent_t), hipEventElapsedTime)                              \
  X(hipError_t(), hipDeviceSynchronize)                                                            \
  X(hipError_t(hipModule_t *, const char *), hipModuleLoad)                                        \
  X(hipError_t(hipModule_t *, const void *), hipModuleLoadData)                                    \
  X(hipError_t(hipModule_t), hipModuleUnload)                                                      \
  X(hipError_t(hipFunction_t *, hipModule_t, const char *), hipModuleGetFunction)                  \
  X(hipError_t(void **, size_t *, hipModule_t, const char *), hipModuleGetGlobal)                  \
  X(hipError_t(int *, hipFunction_attribute, hipFunction_t), hipFuncGetAttribute)                  \
  X(hipError_t(int *, hipFunction_t, int, size_t),                                                 \
    hipModuleOccupancyMaxActiveBlocksPerMultiprocessor)                                            \
  X(hipError_t(hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,          \
               unsigned, hipStream_t, void **, void **),                                           \
    hipModuleLaunchKernel)                                                                         \
  X(hipError_t(hipFunction_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, size_t,  \
               hipStream_t, void **, void **, hipEvent_t, hipEvent_t, uint32_t),                   \
    hipExtModuleLaunchKernel)                                                                      \
  X(hipError_t(hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,          \
               unsigned, hipStream_t, void **),                                                    \
    hipModuleLaunchCooperativeKernel)                                                              \
  X(hipError_t(hipDeviceProp_tR0000 *, int), hipGetDevicePropertiesR0000)                          \
  X(hipError_t(int *, int *), hipDeviceGetStreamPriorityRange)                                     \
  X(hipError_t(hipStream_t *, unsigned, int), hipStreamCreateWithPriority)                         \
  X(hipError_t(hipStream_t, int *), hipStreamGetPriority)                                          \
  X(hipError_t(void **, size_t, hipStream_t), hipMallocAsync)                                      \
  X(hipError_t(void *, hipStream_t), hipFreeAsync)                                                 \
  X(hipError_t(hipMemPool_t *, const hipMemPoolProps *), hipMemPoolCreate)                         \
  X(hipError_t(hipMemPool_t), hipMemPoolDestroy)                                                   \
  X(hipError_t(hipMemPool_t, hipMemPoolAttr, void *), hipMemPoolGetAttribute)                      \
  X(hipError_t(hipMemPool_t, hipMemPoolAttr, void *), hipMemPoolSetAttribute)                      \
  X(hipError_t(void **, size_t, hipMemPool_t, hipStream_t), hipMallocFromPoolAsync)                \
  X(hipError_t(hipMemPool_t *, int), hipDeviceGetDefaultMemPool)                                   \
  X(hipError_t(const hipMemcpy3DParms *), hipMemcpy3D)                                             \
  X(hipError_t(void *, size_t, unsigned short, size_t, size_t), hipMemsetD2D16)                    \
  X(hipError_t(hipStream_t *, unsigned), hipStreamCreateWithFlags)                                 \
  X(hipError_t(hipStream_t), hipStreamQuery)                                                       \
  X(hipError_t(hipStream_t, hipEvent_t, unsigned), hipStreamWaitEvent)                             \
  X(hipError_t(hipStream_t, hipHostFn_t, void *), hipLaunchHostFunc)                               \
  X(hipError_t(hipEvent_t), hipEventQuery)                                                         \
  X(hipError_t(hipEvent_t, hipStream_t, unsigned), hipEventRecordWithFlags)                        \
  X(hipError_t(hipStream_t, hipStreamCaptureMode), hipStreamBeginCapture)                          \
  X(hipError_t(hipStream_t, hipGraph_t *), hipStreamEndCapture)                                    \
  X(hipError_t(hipStream_t, hipStreamCaptureStatus *), hipStreamIsCapturing)                       \
  X(hipError_t(hipGraph_t *, unsigned), hipGraphCreate)                                            \
  X(hipError_t(hipGraph_t), hipGraphDestroy)                                                       \
  X(hipError_t(hipGraph_t, hipGraphNode_t *, size_t *), hipGraphGetNodes)                          \
  X(hipError_t(hipGraph_t, hipGraphNode_t *, size_t *), hipGraphGetRootNodes)                      \
  X(hipError_t(hipGraphNode_t, hipGraphNode_t *, size_t *), hipGraphNodeGetDependencies)           \
  X(hipError_t(hipGraphNode_t, hipGraphNodeType *), hipGraphNodeGetType)                           \
  X(hipError_t(hipGraph_t, const hipGraphNode_t *, const hipGraphNode_t *, size_t),                \
    hipGraphAddDependencies)                                                                       \
  X(hipError_t(hipGraphNode_t *, hipGraph_t, const hipGraphNode_t *, size_t,                       \
               const hipKernelNodeParams *),                                                       \
    hipGraphAddKernelNode)                                                                         \
  X(hipError_t(hipGraphNode_t *, hipGraph_t, const hipGraphNode_t *, size_t,                       \
               const hipMemsetParams *),                                                           \
    hipGraphAddMemsetNode)                                                                         \
  X(hipError_t(hipGraphNode_t *, hipGraph_t, const hipGraphNode_t *, size_t, void *, const void *, \
               size_t, int),                                                                       \
    hipGraphAddMemcpyNode1D)                                                                       \
  X(hipError_t(hipGraphNode_t *, hipGraph_t, const hipGraphNode_t *, size_t),                      \
    hipGraphAddEmptyNode)                                                                          \
  X(hipError_t(hipGraphNode_t, hipKernelNodeParams *), hipGraphKernelNodeGetParams)                \
  X(hipError_t(hipGraphExec_t, hipGraphNode_t, const hipKernelNodeParams *),                       \
    hipGraphExecKernelNodeSetParams)                                                               \
  X(hipError_t(hipGraphExec_t *, hipGraph_t, hipGraphNode_t *, char *, size_t),                    \
    hipGraphInstantiate)                                                                           \
  X(hipError_t(hipGraphExec_t, hipGraph_t, hipGraphNode_t *, hipGraphExecUpdateResult *),          \
    hipGraphExecUpdate)                                                                            \
  X(hipError_t(hipGraphExec_t, hipStream_t), hipGraphLaunch)                                       \
  X(hipError_t(hipGraphExec_t), hipGraphExecDestroy)                                               \
  X(const char *(hipFunction_t), wavetileDeviceKernelInfo)                                         \
  X(hipError_t(int, size_t), hipDeviceSetLimit)                                                    \
  X(hipError_t(size_t *, int), hipDeviceGetLimit)                                                  \
  X(hipError_t(hipCtx_t *, unsigned, int), hipCtxCreate)                                           \
  X(hipError_t(hipCtx_t *), hipCtxGetCurrent)                                                      \
  X(hipError_t(hipCtx_t *), hipCtxPopCurrent)                                                      \
  X(hipError_t(hipCtx_t), hipCtxSetCurrent)                                                        \
  X(hipError_t(void *, const void *, size_t, int), hipMemcpy_spt)                                  \
  X(hipError_t(void *, int, size_t, hipStream_t), hipMemsetAsync_spt)                              \
  X(hipError_t(hipStream_t), hipStreamSynchronize_spt)                                             \
  X(hipError_t(const void *, dim3, dim3, void **, size_t, hipStream_t), hipLaunchKernel)           \
  X(hipError_t(const void *, dim3, dim3, void **, size_t, hipStream_t, hipEvent_t, hipEvent_t,     \
               int),                                                                               \
    hipExtLaunchKernel)                                                                            \
  X(hipError_t(const void *, dim3, dim3, void **, unsigned, hipStream_t),                          \
    hipLaunchCooperativeKernel)                                                                    \
  X(hipError_t(const hipLaunchConfig_t *, const void *, void **), hipLaunchKernelExC)              \
  X(hipError_t(const HIP_LAUNCH_CONFIG *, hipFunction_t, void **, void **), hipDrvLaunchKernelEx)  \
  X(hipError_t(dim3, dim3, size_t, hipStream_t), hipConfigureCall)                                 \
  X(hipError_t(const void *, size_t, size_t), hipSetupArgument)                                    \
  X(hipError_t(const void *), hipLaunchByPtr)                                                      \
  X(hipError_t(const void *), hipIpcGetMemHandle)                                                  \
  X(hipError_t(const char *, void **, int, uint64_t, int *), hipGetProcAddress)                    \
  X(const char *(), wavetileDeviceLastReport)                                                      \
  X(const char *(), wavetileDeviceLaunchLog)                                                       \
  X(void(), wavetileDeviceClearLaunchLog)                                                          \
  X(void(const void *, size_t, const char *), wavetileDeviceAnnounceRange)                         \
  X(void(const void *), wavetileDeviceRetractRange)

/// The functions of the library under test.
class Hip {
  template <typename Signature> using Function = Signature *;

public:
#define WAVETILE_DECLARE(signature, name) Function<signature> name = nullptr;
  WAVETILE_TEST_HIP_FUNCTIONS(WAVETILE_DECLARE)
#undef WAVETILE_DECLARE

  static const Hip &get() {
    static Hip hip;
    return hip;
  }

private:
  template <typename Signature>
  static void find(void *library, const char *name, Function<Signature> &function) {
    function = reinterpret_cast<Function<Signature>>(dlsym(library, name));
    if (!function)
      std::fprintf(stderr, "no %s\n", name);
  }

  Hip() {
    // Read at the first call of a HIP function.
    setenv("WAVETILE_DEVICE_TARGET", "gfx950,gfx942,gfx1150", 1);
    setenv("WAVETILE_DEVICE_DETERMINISTIC", "1", 0);
    void *library = dlopen(WAVETILE_DEVICE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      std::fprintf(stderr, "%s\n", dlerror());
      std::abort();
    }
#define WAVETILE_FIND(signature, name) find<signature>(library, #name, name);
    WAVETILE_TEST_HIP_FUNCTIONS(WAVETILE_FIND)
#undef WAVETILE_FIND
  }
};

/// What the device of each target is.
struct TargetCase {
  const char *name;
  int ordinal;
  int waveSize;
};

inline std::ostream &operator<<(std::ostream &os, const TargetCase &target) {
  return os << target.name;
}

inline constexpr TargetCase targetCases[] = {
    {"gfx950", 0, 64}, {"gfx942", 1, 64}, {"gfx1150", 2, 32}};

inline std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A code object of these OpenCL C kernels; made once for each source and target.
inline const std::string &compileKernels(const std::string &source, const std::string &target,
                                         const std::string &options = "") {
  static std::map<std::string, std::string> made;
  std::string &object = made[target + options + source];
  if (!object.empty())
    return object;
  char folder[] = "/tmp/wavetile-device-test-XXXXXX";
  if (!mkdtemp(folder)) {
    ADD_FAILURE() << "no temporary folder";
    return object;
  }
  std::string base(folder);
  std::ofstream(base + "/kernels.cl") << source;
  std::string command = std::string(WAVETILE_CLANG) +
                        " -target amdgcn-amd-amdhsa -nogpulib -x cl -cl-std=CL2.0 -O2"
                        " -gline-tables-only -mcpu=" +
                        target + " " + options + " " + base + "/kernels.cl -o " + base +
                        "/kernels.hsaco";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  object = readFile(base + "/kernels.hsaco");
  std::system(("rm -r " + base).c_str());
  return object;
}

/// A loaded module, unloaded at the end.
class Module {
public:
  explicit Module(const std::string &object) {
    error = Hip::get().hipModuleLoadData(&handle, object.data());
  }
  ~Module() {
    if (handle)
      Hip::get().hipModuleUnload(handle);
  }
  Module(const Module &) = delete;

  hipFunction_t function(const char *name) const {
    hipFunction_t found = nullptr;
    EXPECT_EQ(Hip::get().hipModuleGetFunction(&found, handle, name), hipSuccess)
        << Hip::get().wavetileDeviceLastReport();
    return found;
  }

  hipModule_t handle = nullptr;
  hipError_t error;
};

/// Launches with one pointer for each argument.
template <typename... Arguments>
hipError_t launch(hipFunction_t function, std::array<unsigned, 3> grid,
                  std::array<unsigned, 3> block, unsigned lds, Arguments... arguments) {
  void *parameters[] = {&arguments..., nullptr};
  return Hip::get().hipModuleLaunchKernel(function, grid[0], grid[1], grid[2], block[0], block[1],
                                          block[2], lds, nullptr, parameters, nullptr);
}

/// Device memory, freed at the end.
template <typename T> class DeviceArray {
public:
  explicit DeviceArray(size_t count, T value = T()) : count(count) {
    EXPECT_EQ(Hip::get().hipMalloc(reinterpret_cast<void **>(&pointer), count * sizeof(T)),
              hipSuccess);
    std::vector<T> values(count, value);
    // Through HIP, so that the device knows that it is defined.
    EXPECT_EQ(
        Hip::get().hipMemcpy(pointer, values.data(), count * sizeof(T), hipMemcpyHostToDevice),
        hipSuccess);
  }
  ~DeviceArray() { Hip::get().hipFree(pointer); }
  DeviceArray(const DeviceArray &) = delete;

  T &operator[](size_t i) { return pointer[i]; }

  T *pointer = nullptr;
  size_t count;
};

inline std::string lastReport() { return Hip::get().wavetileDeviceLastReport(); }

} // namespace wavetile::test

#endif // WAVETILE_TESTS_UNIT_DEVICEHIPSUPPORT_H
