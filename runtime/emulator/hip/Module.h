//===- Module.h - Loaded modules and their kernels ------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_HIP_MODULE_H
#define WAVETILE_RUNTIME_EMULATOR_HIP_MODULE_H

#include "runtime/emulator/CodeObject.h"
#include "runtime/emulator/Machine.h"
#include "runtime/emulator/hip/Runtime.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

/// What hipFunction_t points to: one for each kernel of a module, until that is unloaded.
struct ihipModuleSymbol_t {
  std::weak_ptr<ihipModule_t> module;
  const wavetile::device::KernelInfo *kernel = nullptr;
};

/// What hipModule_t points to.
struct ihipModule_t {
  const wavetile::device::Device *device = nullptr;
  std::unique_ptr<wavetile::device::CodeObject> object;
  /// The code, decoded once for each size of wave that its kernels have: 32 lanes, 64 lanes.
  std::unique_ptr<wavetile::device::Program> programs[2];
  std::unique_ptr<wavetile::device::Program> &program(const wavetile::device::KernelInfo &kernel) {
    return programs[kernel.descriptor.wave32 ? 0 : 1];
  }
  /// One for each of the object's kernels, in their order.
  std::vector<hipFunction_t> functions;
};

namespace wavetile::device {

/// A kernel with the module that keeps it alive.
struct LoadedKernel {
  std::shared_ptr<ihipModule_t> module;
  const KernelInfo *kernel = nullptr;
  hipFunction_t handle = nullptr;

  explicit operator bool() const { return kernel != nullptr; }
};

/// Loads the code object for the current device from an image of `bytes` bytes, or of the length
/// that its own headers say. `name` is what reports call it. Otherwise an error, its reason
/// printed.
hipError_t loadModule(Runtime &runtime, const void *image, std::optional<uint64_t> bytes,
                      const std::string &name, std::shared_ptr<ihipModule_t> &module);

/// The kernel behind a handle. Empty if it is none of ours or its module was unloaded.
LoadedKernel findFunction(Runtime &runtime, hipFunction_t function);

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_HIP_MODULE_H
