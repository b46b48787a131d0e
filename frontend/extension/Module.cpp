//===- Module.cpp - The extension module wavetile._C ------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// There is one extension module: two that hold the dialect must never exist in
// one process.
//
//===----------------------------------------------------------------------===//

#include "frontend/extension/BuilderBinding.h"
#include "frontend/extension/CompilerBinding.h"
#include "frontend/extension/InterpreterBinding.h"
#include "frontend/extension/LauncherBinding.h"

PYBIND11_MODULE(_C, module) {
  module.doc() = "Builds tile modules, compiles them and launches what they became.";
  wavetile::addBuilderBindings(module);
  wavetile::addLauncherBindings(module);
  wavetile::addCompilerBindings(module);
  wavetile::addInterpreterBindings(module);
}
