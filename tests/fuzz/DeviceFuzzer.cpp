//===- DeviceFuzzer.cpp - Broken code objects through HIP -----------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads what libFuzzer makes as a client of HIP would, and launches every kernel in it. Any error
// code and any report is right; a crash, a sanitizer's complaint or a call that does not return is
// not. The input:
//
//   byte 0     which GPU
//   byte 1     modulo 3: 0: the rest is a file for hipModuleLoad
//              1: the rest changes words of the code of a seed, six bytes each: where, what
//              2: the rest changes bytes of a seed anywhere, in the same form
//              Its high bit chooses the seed.
//   bytes 2-4  grid, workgroup and dynamic LDS
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/hip/HipTypes.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

extern "C" {
hipError_t hipSetDevice(int);
hipError_t hipMalloc(void **, size_t);
hipError_t hipMemset(void *, int, size_t);
hipError_t hipModuleLoad(hipModule_t *, const char *);
hipError_t hipModuleUnload(hipModule_t);
hipError_t hipModuleGetFunction(hipFunction_t *, hipModule_t, const char *);
hipError_t hipModuleLaunchKernel(hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned,
                                 unsigned, unsigned, hipStream_t, void **, void **);
const char *wavetileDeviceLastReport();
const char *wavetileDeviceKernelInfo(hipFunction_t);
const char *wavetileDeviceLaunchLog();
void wavetileDeviceClearLaunchLog();
}

namespace {

constexpr const char *gpus[] = {"gfx942", "gfx950", "gfx1100", "gfx1150", "gfx1151", "gfx1201"};
constexpr size_t dataBytes = 4096;

/// A code object that the compiler made, and where its code is.
struct Seed {
  std::vector<uint8_t> bytes;
  size_t codeOffset = 0, codeBytes = 0;

  explicit Seed(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), {});
    if (bytes.size() < sizeof(Elf64_Ehdr))
      std::abort();
    Elf64_Ehdr header;
    std::memcpy(&header, bytes.data(), sizeof(header));
    for (unsigned i = 0; i < header.e_phnum; ++i) {
      Elf64_Phdr segment;
      std::memcpy(&segment, bytes.data() + header.e_phoff + i * sizeof(segment), sizeof(segment));
      if (segment.p_type == PT_LOAD && segment.p_flags & PF_X)
        codeOffset = segment.p_offset, codeBytes = segment.p_filesz;
    }
  }
};

struct Client {
  std::vector<Seed> seeds; ///< Two for each GPU.
  std::vector<uint8_t *> data;
  int file = -1;

  Client() {
    // The device says on stderr what is wrong with each kernel; libFuzzer may have closed it.
    int nowhere = open("/dev/null", O_WRONLY);
    if (fcntl(STDERR_FILENO, F_GETFD) == -1)
      dup2(nowhere, STDERR_FILENO);
    std::string all;
    for (const char *gpu : gpus) {
      all += (all.empty() ? "" : ",") + std::string(gpu);
      for (const char *stem : {"/kernels-", "/hostile-"})
        seeds.emplace_back(WAVETILE_FUZZ_SEEDS + std::string(stem) + gpu);
    }
    setenv("WAVETILE_DEVICE_TARGET", all.c_str(), 1);
    setenv("WAVETILE_DEVICE_CHECKS", "all", 1);
    setenv("WAVETILE_DEVICE_DETERMINISTIC", "1", 1);
    setenv("WAVETILE_DEVICE_INSTRUCTION_LIMIT", "5000", 1);
    // Code of which one instruction in three is none would not get past the loading.
    setenv("WAVETILE_DEVICE_LAZY_REFUSE", "1", 1);
    // Wild pointers are into this very process.
    setenv("WAVETILE_DEVICE_STRICT", "1", 1);
    for (size_t i = 0; i < std::size(gpus); ++i) {
      void *memory = nullptr;
      if (hipSetDevice(static_cast<int>(i)) != hipSuccess ||
          hipMalloc(&memory, dataBytes) != hipSuccess)
        std::abort();
      data.push_back(static_cast<uint8_t *>(memory));
    }
    file = memfd_create("image", 0);
  }

  void use(const uint8_t *input, size_t size);
  void load(const std::vector<uint8_t> &image, const uint8_t *shape, uint8_t *memory);
  void launch(hipFunction_t function, const uint8_t *shape, uint8_t *memory);
};

size_t kernargBytes(hipFunction_t function) {
  const char *info = wavetileDeviceKernelInfo(function);
  const char *found = info ? std::strstr(info, "\"kernarg_bytes\":") : nullptr;
  return found ? std::strtoull(found + std::strlen("\"kernarg_bytes\":"), nullptr, 10) : 0;
}

void Client::launch(hipFunction_t function, const uint8_t *shape, uint8_t *memory) {
  static constexpr unsigned sizes[] = {1, 31, 32, 33, 64, 65, 128, 256};
  size_t bytes = std::min<size_t>(kernargBytes(function), 1 << 16);
  std::vector<uint64_t> arguments(bytes / 8 + 1, reinterpret_cast<uint64_t>(memory));
  void *extra[] = {reinterpret_cast<void *>(hipLaunchParamBufferPointer), arguments.data(),
                   reinterpret_cast<void *>(hipLaunchParamBufferSize), &bytes,
                   reinterpret_cast<void *>(hipLaunchParamEnd)};
  hipModuleLaunchKernel(function, 1 + shape[0] % 3, 1 + shape[0] / 3 % 2, 1, sizes[shape[1] % 8],
                        1 + shape[1] / 8 % 2, 1, shape[2] * 16, nullptr, nullptr, extra);
}

void Client::load(const std::vector<uint8_t> &image, const uint8_t *shape, uint8_t *memory) {
  if (ftruncate(file, 0) != 0 ||
      pwrite(file, image.data(), image.size(), 0) != static_cast<ssize_t>(image.size()))
    std::abort();
  hipModule_t module = nullptr;
  if (hipModuleLoad(&module, ("/proc/self/fd/" + std::to_string(file)).c_str()) != hipSuccess)
    return;
  hipMemset(memory, 1, dataBytes);
  // There is no such kernel, and the report names those that there are.
  hipFunction_t function = nullptr;
  hipModuleGetFunction(&function, module, "\1");
  std::string report = wavetileDeviceLastReport();
  size_t list = report.rfind("it has");
  std::istringstream names(list == std::string::npos ? "" : report.substr(list + 6));
  std::string name;
  for (unsigned i = 0; i < 6 && names >> name; ++i)
    if (hipModuleGetFunction(&function, module, name.c_str()) == hipSuccess)
      launch(function, shape, memory);
  wavetileDeviceLaunchLog();
  wavetileDeviceClearLaunchLog();
  hipModuleUnload(module);
}

void Client::use(const uint8_t *input, size_t size) {
  constexpr size_t header = 5;
  if (size < header)
    return;
  size_t gpu = input[0] % std::size(gpus);
  hipSetDevice(static_cast<int>(gpu));
  const uint8_t *rest = input + header, *end = input + size;
  std::vector<uint8_t> image(rest, end);
  unsigned kind = input[1] % 3;
  if (kind != 0) {
    const Seed &seed = seeds[2 * gpu + (input[1] >> 7)];
    image = seed.bytes;
    for (; end - rest >= 6; rest += 6) {
      size_t place = rest[0] | rest[1] << 8;
      if (kind == 1)
        place = seed.codeOffset + place * 4 % seed.codeBytes;
      else
        place %= image.size() - 3;
      std::copy_n(rest + 2, 4, image.data() + place);
    }
  }
  load(image, input + 2, data[gpu]);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size) {
  static Client client;
  client.use(input, size);
  return 0;
}
