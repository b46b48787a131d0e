//===- Module.cpp - Loaded modules and their kernels ----------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/hip/Module.h"

#include "runtime/emulator/hip/Image.h"
#include "runtime/emulator/hip/Stream.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <atomic>

using namespace llvm;
using namespace wavetile::device;

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// The instructions of one kernel or function that the device does not implement, as text; empty if
/// there are none.
static std::string describeRefusals(const Program &program, const Twine &owner, uint64_t begin,
                                    uint64_t firstChecked, uint64_t end) {
  constexpr size_t shown = 8;
  auto refusals = program.refusals(firstChecked, end);
  if (refusals.empty())
    return {};
  std::string text =
      formatv("\n  {0} uses {1} instruction{2} that this device does not implement:", owner,
              refusals.size(), refusals.size() == 1 ? "" : "s");
  for (const Program::Refusal &refusal : ArrayRef(refusals).take_front(shown))
    text += formatv("\n    +{0:x}: {1}", refusal.address - begin, refusal.mnemonic);
  if (refusals.size() > shown)
    text += "\n    ...";
  return text;
}

/// The same for all kernels and the functions that they may call.
static std::string describeRefusals(ihipModule_t &module) {
  std::string text;
  std::vector<uint64_t> kernelBegins;
  for (const KernelInfo &kernel : module.object->kernels()) {
    text += describeRefusals(*module.program(kernel), "kernel " + kernel.name, kernel.codeBegin,
                             kernel.descriptor.entry, kernel.codeEnd);
    kernelBegins.push_back(kernel.codeBegin);
  }
  // Kernels with waves of either size may call a function: one decoding stands for both.
  const Program *program = module.programs[0] ? module.programs[0].get() : module.programs[1].get();
  if (!program)
    return text;
  for (const SymbolInfo &symbol : module.object->symbols())
    if (symbol.isFunction && !is_contained(kernelBegins, symbol.address))
      text += describeRefusals(*program, "function " + symbol.name, symbol.address, symbol.address,
                               symbol.address + symbol.size);
  return text;
}

hipError_t wavetile::device::loadModule(Runtime &runtime, const void *image,
                                        std::optional<uint64_t> bytes, const std::string &name,
                                        std::shared_ptr<ihipModule_t> &loaded) {
  auto module = std::make_shared<ihipModule_t>();
  module->device = &runtime.currentDevice();
  StringRef target = module->device->target->name;
  auto report = [&](hipError_t error, Error reason) {
    return fail(error, "cannot load " + name + ": " + toString(std::move(reason)));
  };
  auto codeObject = findCodeObject(image, bytes, target, runtime.memory);
  if (!codeObject)
    return codeObject.errorIsA<WrongProcessorError>()
               ? report(hipErrorNoBinaryForGpu, codeObject.takeError())
               : report(hipErrorInvalidImage, codeObject.takeError());
  auto object = CodeObject::load(codeObject->bytes, target, name, runtime.memory);
  if (!object)
    return object.errorIsA<WrongProcessorError>()
               ? report(hipErrorNoBinaryForGpu, object.takeError())
               : report(hipErrorInvalidImage, object.takeError());
  module->object = std::move(*object);
  ArrayRef<uint8_t> text = module->object->text();
  for (const KernelInfo &kernel : module->object->kernels()) {
    if (module->program(kernel))
      continue;
    auto program = Program::decode(text, reinterpret_cast<uint64_t>(text.data()), target,
                                   kernel.descriptor.waveSize());
    if (!program)
      return report(hipErrorInvalidImage, program.takeError());
    module->program(kernel) = std::move(*program);
  }
  if (!runtime.refusesLazily())
    if (std::string refusals = describeRefusals(*module); !refusals.empty())
      return fail(hipErrorNotSupported, "cannot load " + name + " on " + target.str() + refusals);
  for (const KernelInfo &kernel : module->object->kernels())
    module->functions.push_back(runtime.functions.insert(
        std::make_shared<ihipModuleSymbol_t>(ihipModuleSymbol_t{module, &kernel})));
  loaded = std::move(module);
  return hipSuccess;
}

static hipError_t load(Runtime &runtime, hipModule_t *handle, const void *image,
                       std::optional<uint64_t> bytes, const std::string &name) {
  clearReport();
  if (!handle || !image)
    return hipErrorInvalidValue;
  *handle = nullptr;
  std::shared_ptr<ihipModule_t> module;
  if (hipError_t error = loadModule(runtime, image, bytes, name, module))
    return error;
  *handle = runtime.modules.insert(std::move(module));
  return hipSuccess;
}

/// What reports call a module that came from memory.
static std::string nextName() {
  static std::atomic<unsigned> count = 0;
  return "code object #" + std::to_string(++count);
}

WAVETILE_HIP_API hipError_t hipModuleLoadData(hipModule_t *module, const void *image) {
  return withDevice(
      [&](Runtime &runtime) { return load(runtime, module, image, std::nullopt, nextName()); });
}

WAVETILE_HIP_API hipError_t hipModuleLoadDataEx(hipModule_t *module, const void *image, unsigned,
                                                int *, void **) {
  return hipModuleLoadData(module, image);
}

WAVETILE_HIP_API hipError_t hipModuleLoadFatBinary(hipModule_t *module, const void *image) {
  return hipModuleLoadData(module, image);
}

WAVETILE_HIP_API hipError_t hipModuleLoad(hipModule_t *module, const char *path) {
  return withDevice([&](Runtime &runtime) {
    if (!module || !path)
      return hipErrorInvalidValue;
    auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false,
                                        /*RequiresNullTerminator=*/false);
    if (!buffer)
      return fail(hipErrorFileNotFound,
                  "cannot read " + std::string(path) + ": " + buffer.getError().message());
    return load(runtime, module, (*buffer)->getBufferStart(), (*buffer)->getBufferSize(),
                sys::path::filename(path).str());
  });
}

WAVETILE_HIP_API hipError_t hipModuleUnload(hipModule_t handle) {
  return withDevice([&](Runtime &runtime) {
    waitForStreams(runtime, allDevices);
    std::unique_lock lock(runtime.activity);
    auto module = runtime.modules.remove(handle);
    if (!module)
      return hipErrorInvalidHandle;
    for (hipFunction_t function : module->functions)
      runtime.functions.remove(function);
    return hipSuccess;
  });
}

//===----------------------------------------------------------------------===//
// Looking into modules
//===----------------------------------------------------------------------===//

LoadedKernel wavetile::device::findFunction(Runtime &runtime, hipFunction_t function) {
  std::shared_ptr<ihipModuleSymbol_t> symbol = runtime.functions.find(function);
  if (!symbol)
    return {};
  std::shared_ptr<ihipModule_t> module = symbol->module.lock();
  return module ? LoadedKernel{module, symbol->kernel, function} : LoadedKernel{};
}

WAVETILE_HIP_API hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t handle,
                                                 const char *name) {
  return withDevice([&](Runtime &runtime) {
    clearReport();
    if (!function || !name)
      return hipErrorInvalidValue;
    *function = nullptr;
    auto module = runtime.modules.find(handle);
    if (!module)
      return hipErrorInvalidHandle;
    const KernelInfo *kernel = module->object->findKernel(name);
    if (!kernel) {
      std::string text = module->object->name().str() + " has no kernel '" + name + "'; it has";
      for (const KernelInfo &other : module->object->kernels())
        text += " " + other.name;
      return fail(hipErrorNotFound, text);
    }
    *function = module->functions[kernel - module->object->kernels().begin()];
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipModuleGetGlobal(hipDeviceptr_t *pointer, size_t *bytes,
                                               hipModule_t handle, const char *name) {
  return withDevice([&](Runtime &runtime) {
    clearReport();
    if (!name)
      return hipErrorInvalidValue;
    auto module = runtime.modules.find(handle);
    if (!module)
      return hipErrorInvalidHandle;
    const SymbolInfo *symbol = module->object->findVariable(name);
    if (!symbol)
      return fail(hipErrorNotFound,
                  module->object->name().str() + " has no variable '" + name + "'");
    if (pointer)
      *pointer = reinterpret_cast<void *>(symbol->address);
    if (bytes)
      *bytes = symbol->size;
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipModuleGetFunctionCount(unsigned *count, hipModule_t handle) {
  return withDevice([&](Runtime &runtime) {
    auto module = runtime.modules.find(handle);
    if (!module)
      return hipErrorInvalidHandle;
    if (!count)
      return hipErrorInvalidValue;
    *count = module->functions.size();
    return hipSuccess;
  });
}
