//===- Backends.cpp - The backends of this build ----------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only file that names a backend. A program that defines this function itself
// is linked with the backends that it lists instead.
//
//===----------------------------------------------------------------------===//

#include "passes/driver/Driver.h"

#include "backend_rocm/Backend.h"

using namespace wavetile;

const BackendRegistry &BackendRegistry::builtin() {
  static const BackendRegistry registry = [] {
    BackendRegistry made;
    made.add(createROCmBackend());
    return made;
  }();
  return registry;
}
