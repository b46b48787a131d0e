//===- Registration.cpp - Kernels and variables of HIP C++ programs -------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/hip/Registration.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <vector>

using namespace wavetile::device;

namespace {
/// What clang's registration hands over: a pointer to the offload bundle.
struct FatBinaryWrapper {
  uint32_t magic;
  uint32_t version;
  const void *binary;
  const void *unused;
};
constexpr uint32_t fatBinaryMagic = 0x48495046; // "HIPF"

/// A `__managed__` variable: the device's variable of its name holds a pointer to its memory.
struct ManagedVariable {
  std::string name;
  void *memory;
};

/// One registered bundle.
struct FatBinary {
  const void *image = nullptr;
  std::string name;
  std::vector<ManagedVariable> managed;
  /// A module for each device, null until it is needed.
  std::vector<std::shared_ptr<ihipModule_t>> modules;
};

/// What a host function or variable stands for.
struct Symbol {
  FatBinary *binary;
  std::string name;
};

class Registry {
public:
  static Registry &get() {
    static auto *registry = new Registry;
    return *registry;
  }

  FatBinary *addBinary(const void *image) {
    std::lock_guard lock(mutex);
    auto binary = std::make_unique<FatBinary>();
    binary->image = image;
    binary->name = "the program's code object #" + std::to_string(++count);
    return binaries.emplace_back(std::move(binary)).get();
  }

  /// Forgets a bundle and all that it brought.
  void remove(FatBinary *binary) {
    std::lock_guard lock(mutex);
    auto isOurs = [&](const auto &entry) { return entry.second.binary == binary; };
    std::erase_if(functions, isOurs);
    std::erase_if(variables, isOurs);
    std::erase_if(binaries, [&](const auto &entry) { return entry.get() == binary; });
  }

  void addFunction(FatBinary *binary, const void *host, const char *name) {
    std::lock_guard lock(mutex);
    functions[host] = {binary, name};
  }
  void addVariable(FatBinary *binary, const void *host, const char *name) {
    std::lock_guard lock(mutex);
    variables[host] = {binary, name};
  }
  void addManaged(FatBinary *binary, const void *host, const char *name, void *memory) {
    std::lock_guard lock(mutex);
    binary->managed.push_back({name, memory});
    variables[host] = {binary, name};
  }

  /// The module and the name that `host` stands for on the current device, loaded if need be.
  /// hipSuccess and a null module if it was never registered.
  hipError_t findFunction(Runtime &runtime, const void *host, std::shared_ptr<ihipModule_t> &module,
                          std::string &name) {
    return find(runtime, functions, host, module, name);
  }
  hipError_t findVariable(Runtime &runtime, const void *host, std::shared_ptr<ihipModule_t> &module,
                          std::string &name) {
    return find(runtime, variables, host, module, name);
  }

private:
  using Symbols = std::unordered_map<const void *, Symbol>;

  hipError_t find(Runtime &runtime, Symbols &symbols, const void *host,
                  std::shared_ptr<ihipModule_t> &module, std::string &name) {
    std::lock_guard lock(mutex);
    auto entry = symbols.find(host);
    if (entry == symbols.end())
      return hipSuccess;
    FatBinary &binary = *entry->second.binary;
    name = entry->second.name;
    binary.modules.resize(runtime.devices().size());
    auto &loaded = binary.modules[Runtime::currentOrdinal()];
    if (!loaded)
      if (hipError_t error = load(runtime, binary, loaded))
        return error;
    module = loaded;
    return hipSuccess;
  }

  static hipError_t load(Runtime &runtime, const FatBinary &binary,
                         std::shared_ptr<ihipModule_t> &module) {
    std::shared_ptr<ihipModule_t> loaded;
    if (hipError_t error = loadModule(runtime, binary.image, std::nullopt, binary.name, loaded))
      return error;
    for (const ManagedVariable &variable : binary.managed) {
      const SymbolInfo *symbol = loaded->object->findVariable(variable.name);
      if (symbol && symbol->size >= sizeof(void *))
        std::memcpy(reinterpret_cast<void *>(symbol->address), &variable.memory, sizeof(void *));
    }
    module = std::move(loaded);
    return hipSuccess;
  }

  std::mutex mutex;
  std::vector<std::unique_ptr<FatBinary>> binaries;
  Symbols functions;
  Symbols variables;
  unsigned count = 0;
};
} // namespace

hipError_t wavetile::device::findRegisteredFunction(Runtime &runtime, const void *hostFunction,
                                                    hipFunction_t &function) {
  std::shared_ptr<ihipModule_t> module;
  std::string name;
  if (hipError_t error = Registry::get().findFunction(runtime, hostFunction, module, name))
    return error;
  if (!module) {
    // Some callers hand a module's function to functions that want the host's.
    auto handle = static_cast<hipFunction_t>(const_cast<void *>(hostFunction));
    if (!runtime.functions.find(handle))
      return fail(hipErrorInvalidDeviceFunction, "the function of the launch was not registered");
    function = handle;
    return hipSuccess;
  }
  const KernelInfo *kernel = module->object->findKernel(name);
  if (!kernel)
    return fail(hipErrorInvalidDeviceFunction,
                module->object->name().str() + " has no kernel '" + name + "'");
  function = module->functions[kernel - module->object->kernels().begin()];
  return hipSuccess;
}

hipError_t wavetile::device::findRegisteredKernel(Runtime &runtime, const void *hostFunction,
                                                  LoadedKernel &loaded) {
  hipFunction_t function = nullptr;
  if (hipError_t error = findRegisteredFunction(runtime, hostFunction, function))
    return error;
  loaded = findFunction(runtime, function);
  return loaded ? hipSuccess : hipErrorInvalidDeviceFunction;
}

hipError_t wavetile::device::findRegisteredVariable(Runtime &runtime, const void *host,
                                                    void *&address, size_t &bytes) {
  std::shared_ptr<ihipModule_t> module;
  std::string name;
  if (hipError_t error = Registry::get().findVariable(runtime, host, module, name))
    return error;
  const SymbolInfo *symbol = module ? module->object->findVariable(name) : nullptr;
  if (!symbol)
    return fail(hipErrorInvalidSymbol,
                module ? module->object->name().str() + " has no variable '" + name + "'"
                       : "the variable was not registered");
  address = reinterpret_cast<void *>(symbol->address);
  bytes = symbol->size;
  return hipSuccess;
}

//===----------------------------------------------------------------------===//
// What clang's generated code calls
//===----------------------------------------------------------------------===//

WAVETILE_HIP_API void **__hipRegisterFatBinary(const void *data) {
  const auto *wrapper = static_cast<const FatBinaryWrapper *>(data);
  if (!wrapper || wrapper->magic != fatBinaryMagic || !wrapper->binary) {
    fail(hipErrorInvalidImage, "a program registers something that is no offload bundle");
    return nullptr;
  }
  return reinterpret_cast<void **>(Registry::get().addBinary(wrapper->binary));
}

WAVETILE_HIP_API void __hipUnregisterFatBinary(void **handle) {
  if (handle)
    Registry::get().remove(reinterpret_cast<FatBinary *>(handle));
}

WAVETILE_HIP_API void __hipRegisterFunction(void **handle, const void *hostFunction, char *,
                                            const char *name, unsigned, void *, void *, void *,
                                            void *, int *) {
  if (handle && name)
    Registry::get().addFunction(reinterpret_cast<FatBinary *>(handle), hostFunction, name);
}

WAVETILE_HIP_API void __hipRegisterVar(void **handle, void *hostVariable, char *, char *name, int,
                                       size_t, int, int) {
  if (handle && name)
    Registry::get().addVariable(reinterpret_cast<FatBinary *>(handle), hostVariable, name);
}

/// The host reaches the variable through `*pointer`, which gets the memory that both sides use.
WAVETILE_HIP_API void __hipRegisterManagedVar(void *handle, void **pointer, void *initialValue,
                                              const char *name, size_t bytes, unsigned) {
  if (!handle || !pointer || !name)
    return;
  Runtime &runtime = Runtime::get();
  *pointer = runtime.heap.allocate(std::max<size_t>(bytes, 1), {HeapKind::Managed}, name);
  if (!*pointer) {
    fail(hipErrorOutOfMemory, std::string("no memory for the managed variable ") + name);
    return;
  }
  std::memcpy(*pointer, initialValue, bytes);
  Registry::get().addManaged(static_cast<FatBinary *>(handle), pointer, name, *pointer);
}

static void refuseImages(const char *name) {
  static std::atomic<bool> named = false;
  if (!named.exchange(true))
    fail(hipErrorNotSupported, std::string(name) + " is not supported: the device has no images");
}

WAVETILE_HIP_API void __hipRegisterTexture(void **, void *, char *, char *, int, int, int) {
  refuseImages("__hipRegisterTexture");
}

WAVETILE_HIP_API void __hipRegisterSurface(void **, void *, char *, char *, int, int) {
  refuseImages("__hipRegisterSurface");
}

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

WAVETILE_HIP_API hipError_t hipGetSymbolAddress(void **address, const void *symbol) {
  return withDevice([&](Runtime &runtime) {
    size_t bytes = 0;
    return address ? findRegisteredVariable(runtime, symbol, *address, bytes)
                   : hipErrorInvalidValue;
  });
}

WAVETILE_HIP_API hipError_t hipGetSymbolSize(size_t *bytes, const void *symbol) {
  return withDevice([&](Runtime &runtime) {
    void *address = nullptr;
    return bytes ? findRegisteredVariable(runtime, symbol, address, *bytes) : hipErrorInvalidValue;
  });
}

WAVETILE_HIP_API hipError_t hipGetFuncBySymbol(hipFunction_t *function, const void *symbol) {
  return withDevice([&](Runtime &runtime) {
    return function ? findRegisteredFunction(runtime, symbol, *function) : hipErrorInvalidValue;
  });
}
