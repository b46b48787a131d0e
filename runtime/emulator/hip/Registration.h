//===- Registration.h - Kernels and variables of HIP C++ programs ---------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program that clang compiles from HIP C++ registers its offload bundle, and
// the host's stand-in for each kernel and variable, before main. What is
// registered is loaded for a device when it is first used there.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_HIP_REGISTRATION_H
#define WAVETILE_RUNTIME_EMULATOR_HIP_REGISTRATION_H

#include "runtime/emulator/hip/Module.h"
#include "runtime/emulator/hip/Runtime.h"

namespace wavetile::device {

/// The current device's kernel for a host function, or for a hipFunction_t. Otherwise an error,
/// its reason printed.
hipError_t findRegisteredKernel(Runtime &runtime, const void *hostFunction, LoadedKernel &loaded);

/// The same as a handle.
hipError_t findRegisteredFunction(Runtime &runtime, const void *hostFunction,
                                  hipFunction_t &function);

/// The current device's variable for a host symbol.
hipError_t findRegisteredVariable(Runtime &runtime, const void *symbol, void *&address,
                                  size_t &bytes);

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_HIP_REGISTRATION_H
