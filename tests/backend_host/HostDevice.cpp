//===- HostDevice.cpp - HIP on the CPU itself --------------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The library in which the runtime finds HIP's functions when it runs code of the host
// backend: a module is an object that ORC links, a launch is a loop over the workgroups.
// It stands where the software device stands in the package, so that wrapper, launcher,
// guards and packing of arguments are those of every other target.
//
// What a program has not written of its arena is NaN, or -1. An assertion of a program that does
// not hold ends its launch; compiled code has nothing to destroy on the way.
//
//===----------------------------------------------------------------------===//

#include "runtime/Hip.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/TargetSelect.h"

#include <bit>
#include <csetjmp>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

using namespace wavetile;

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

constexpr HipError success = 0, invalidValue = 1, invalidImage = 200, notFound = 500,
                   launchFailure = 719;

HipError lastError = success;
std::string lastMessage;

HipError fail(HipError error, std::string message) {
  lastMessage = std::move(message);
  return lastError = error;
}

using Program = void (*)(const void *arguments, int64_t x, int64_t y, int64_t z, char *arena);

struct LoadedFunction {
  Program program;
  size_t arenaBytes;
};

struct LoadedModule {
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::vector<std::unique_ptr<LoadedFunction>> functions;
};

//===----------------------------------------------------------------------===//
// Functions that compiled code calls
//===----------------------------------------------------------------------===//

template <const llvm::fltSemantics &(*semantics)()> double extend(uint8_t bits) {
  llvm::APFloat value(semantics(), llvm::APInt(llvm::APFloat::getSizeInBits(semantics()), bits));
  return value.convertToDouble();
}

template <const llvm::fltSemantics &(*semantics)(), typename Bits> Bits truncate(double number) {
  llvm::APFloat value(number);
  bool lost;
  value.convert(semantics(), llvm::APFloat::rmNearestTiesToEven, &lost);
  return Bits(value.bitcastToAPInt().getZExtValue());
}

template <const llvm::fltSemantics &(*semantics)(), typename Float> Float truncateTo(double value) {
  return std::bit_cast<Float>(truncate<semantics, uint16_t>(value));
}

using llvm::APFloat;

_Float16 truncateF32ToF16(float value) { return truncateTo<APFloat::IEEEhalf, _Float16>(value); }
__bf16 truncateF32ToBF16(float value) { return truncateTo<APFloat::BFloat, __bf16>(value); }

float extendF16(_Float16 number) {
  llvm::APFloat value(APFloat::IEEEhalf(), llvm::APInt(16, std::bit_cast<uint16_t>(number)));
  return value.convertToFloat();
}

/// Where a launch goes on whose program fails.
thread_local std::jmp_buf afterProgram;

void print(const char *format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  std::vprintf(format, arguments);
  va_end(arguments);
}

/// Prints, keeps the words for the report, and ends the program.
[[noreturn]] void failAssertion(const char *format, ...) {
  std::va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  lastMessage.resize(std::vsnprintf(nullptr, 0, format, arguments));
  std::vsnprintf(lastMessage.data(), lastMessage.size() + 1, format, again);
  va_end(again);
  va_end(arguments);
  std::fputs(lastMessage.c_str(), stdout);
  std::longjmp(afterProgram, 1);
}

/// Those of the narrow formats, and those of LLVM's run-time library that this process may lack.
llvm::orc::SymbolMap runtimeFunctions(llvm::orc::LLJIT &jit) {
  llvm::orc::SymbolMap symbols;
  auto add = [&](const char *name, auto *function) {
    symbols[jit.mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(function),
                                          llvm::JITSymbolFlags::Exported};
  };
  add("wavetile_print", &print);
  add("wavetile_fail_assertion", &failAssertion);
  add("wavetile_extend_f8E4M3FN", &extend<APFloat::Float8E4M3FN>);
  add("wavetile_extend_f8E5M2", &extend<APFloat::Float8E5M2>);
  add("wavetile_extend_f8E4M3FNUZ", &extend<APFloat::Float8E4M3FNUZ>);
  add("wavetile_extend_f8E5M2FNUZ", &extend<APFloat::Float8E5M2FNUZ>);
  add("wavetile_extend_f8E8M0FNU", &extend<APFloat::Float8E8M0FNU>);
  add("wavetile_truncate_f8E4M3FN", &truncate<APFloat::Float8E4M3FN, uint8_t>);
  add("wavetile_truncate_f8E5M2", &truncate<APFloat::Float8E5M2, uint8_t>);
  add("wavetile_truncate_f8E4M3FNUZ", &truncate<APFloat::Float8E4M3FNUZ, uint8_t>);
  add("wavetile_truncate_f8E5M2FNUZ", &truncate<APFloat::Float8E5M2FNUZ, uint8_t>);
  add("wavetile_truncate_f8E8M0FNU", &truncate<APFloat::Float8E8M0FNU, uint8_t>);
  add("__truncsfhf2", &truncateF32ToF16);
  add("__truncdfhf2", &truncateTo<APFloat::IEEEhalf, _Float16>);
  add("__truncsfbf2", &truncateF32ToBF16);
  add("__truncdfbf2", &truncateTo<APFloat::BFloat, __bf16>);
  add("__extendhfsf2", &extendF16);
  return symbols;
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// HIP is given no size: an object ends with its section headers.
size_t objectBytes(const void *image) {
  llvm::ELF::Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof(header));
  return header.e_shoff + size_t(header.e_shnum) * header.e_shentsize;
}

llvm::Expected<std::unique_ptr<LoadedModule>> loadModule(const void *image) {
  llvm::InitializeNativeTarget();
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  llvm::orc::JITDylib &library = (*jit)->getMainJITDylib();
  if (llvm::Error error = library.define(llvm::orc::absoluteSymbols(runtimeFunctions(**jit))))
    return std::move(error);
  auto bytes = llvm::MemoryBuffer::getMemBufferCopy(
      llvm::StringRef(static_cast<const char *>(image), objectBytes(image)), "code object");
  if (llvm::Error error = (*jit)->addObjectFile(std::move(bytes)))
    return std::move(error);
  auto module = std::make_unique<LoadedModule>();
  module->jit = std::move(*jit);
  return module;
}

llvm::Expected<LoadedFunction *> findFunction(LoadedModule &module, const std::string &name) {
  auto program = module.jit->lookup(name);
  if (!program)
    return program.takeError();
  auto arena = module.jit->lookup(name + ".arena");
  if (!arena)
    return arena.takeError();
  module.functions.push_back(std::make_unique<LoadedFunction>(
      LoadedFunction{program->toPtr<Program>(), size_t(*arena->toPtr<const int64_t *>())}));
  return module.functions.back().get();
}

/// Whether the program of a workgroup runs to its end.
bool run(Program program, const void *arguments, int64_t x, int64_t y, int64_t z, char *arena) {
  if (setjmp(afterProgram))
    return false;
  program(arguments, x, y, z, arena);
  return true;
}

} // namespace

//===----------------------------------------------------------------------===//
// HIP
//===----------------------------------------------------------------------===//

EXPORT const char *hipGetErrorName(HipError error) {
  switch (error) {
  case success:
    return "hipSuccess";
  case invalidImage:
    return "hipErrorInvalidImage";
  case notFound:
    return "hipErrorNotFound";
  case launchFailure:
    return "hipErrorLaunchFailure";
  default:
    return "hipErrorInvalidValue";
  }
}
EXPORT const char *hipGetErrorString(HipError) { return lastMessage.c_str(); }
EXPORT HipError hipGetLastError() { return std::exchange(lastError, success); }
EXPORT HipError hipGetDeviceCount(int *count) {
  *count = 1;
  return success;
}
EXPORT HipError hipGetDevice(int *device) {
  *device = 0;
  return success;
}
EXPORT HipError hipSetDevice(int device) {
  return device == 0 ? success : fail(invalidValue, "there is one device");
}
EXPORT HipError hipGetDevicePropertiesR0600(HipDeviceProperties *properties, int) {
  std::memset(properties, 0, sizeof(*properties));
  std::strcpy(properties->name, "this CPU");
  std::strcpy(properties->gcnArchName, "host");
  properties->maxThreadsPerBlock = 1;
  for (int &limit : properties->maxThreadsDim)
    limit = 1;
  for (int &limit : properties->maxGridSize)
    limit = 2147483647;
  return success;
}
EXPORT HipError hipMalloc(void **pointer, size_t bytes) {
  *pointer = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  return *pointer || bytes == 0 ? success : fail(2, "out of memory");
}
EXPORT HipError hipFree(void *pointer) {
  std::free(pointer);
  return success;
}
EXPORT HipError hipMemsetAsync(void *pointer, int value, size_t bytes, HipStream) {
  std::memset(pointer, value, bytes);
  return success;
}
EXPORT HipError hipModuleLoadData(HipModule *module, const void *image) {
  auto loaded = loadModule(image);
  if (!loaded)
    return fail(invalidImage, llvm::toString(loaded.takeError()));
  *module = loaded->release();
  return success;
}
EXPORT HipError hipModuleUnload(HipModule module) {
  delete static_cast<LoadedModule *>(module);
  return success;
}
EXPORT HipError hipModuleGetFunction(HipFunction *function, HipModule module, const char *name) {
  auto found = findFunction(*static_cast<LoadedModule *>(module), name);
  if (!found)
    return fail(notFound, llvm::toString(found.takeError()));
  *function = *found;
  return success;
}
EXPORT HipError hipModuleLaunchKernel(HipFunction function, unsigned gridX, unsigned gridY,
                                      unsigned gridZ, unsigned blockX, unsigned blockY,
                                      unsigned blockZ, unsigned, HipStream, void **, void **extra) {
  if (!extra || extra[0] != hipLaunchParameterBuffer || blockX * blockY * blockZ != 1)
    return fail(invalidValue, "a workgroup is one work item, and arguments come in a buffer");
  const LoadedFunction &launched = *static_cast<LoadedFunction *>(function);
  std::unique_ptr<char, decltype(&std::free)> arena(
      static_cast<char *>(std::aligned_alloc(64, (launched.arenaBytes + 64) / 64 * 64)),
      &std::free);
  for (unsigned z = 0; z < gridZ; ++z)
    for (unsigned y = 0; y < gridY; ++y)
      for (unsigned x = 0; x < gridX; ++x) {
        std::memset(arena.get(), 0xff, launched.arenaBytes);
        if (!run(launched.program, extra[1], x, y, z, arena.get())) {
          std::fflush(stdout);
          return lastError = launchFailure;
        }
      }
  std::fflush(stdout);
  return success;
}
EXPORT HipError hipStreamSynchronize(HipStream) { return success; }
EXPORT HipError hipDeviceSynchronize() { return success; }

// The runtime knows a device for CPU tensors by these.
EXPORT const char *wavetileDeviceLastReport() { return lastMessage.c_str(); }
EXPORT void wavetileDeviceAnnounceRange(const void *, size_t, const char *) {}
EXPORT void wavetileDeviceRetractRange(const void *) {}
