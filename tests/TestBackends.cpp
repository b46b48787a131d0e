//===- TestBackends.cpp - The backends of the tests' build -------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Takes the place of passes/driver/Backends.cpp. The extension module and wavetile-opt that are
// linked with it know the host as well (backend_host/) and can leave out a pass (mutants/).
// Nothing else of the compiler differs.
//
//===----------------------------------------------------------------------===//

#include "passes/driver/Driver.h"

#include "backend_rocm/Backend.h"
#include "tests/backend_host/HostBackend.h"
#include "tests/mutants/Mutants.h"

using namespace wavetile;

const BackendRegistry &BackendRegistry::builtin() {
  static const BackendRegistry registry = [] {
    BackendRegistry made;
    made.add(createROCmBackend());
    made.add(createHostBackend());
    made.add(createMutants());
    return made;
  }();
  return registry;
}
