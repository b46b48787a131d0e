//===- InterpreterBinding.h - The interpreter as Python sees it -*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Adds to the extension module:
//
//   interpret(module_text, pointers, integers=[], floats=[], seed=0, sizes={})
//       Runs the kernel of a module of any stage in plain loops: what the dialect
//       means. pointers: for each tensor a writable, contiguous buffer of its memory
//       from the first element on, which the kernel changes; integers and floats: as
//       in a launch plan's lists. seed: decides the order of blocks. sizes: a dict of
//       the sizes of named dimensions, for a module without a Config. Without the
//       GIL. wavetile.errors.CompilationError with every diagnostic.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_FRONTEND_EXTENSION_INTERPRETERBINDING_H
#define WAVETILE_FRONTEND_EXTENSION_INTERPRETERBINDING_H

#include <pybind11/pybind11.h>

namespace wavetile {

void addInterpreterBindings(pybind11::module_ &module);

} // namespace wavetile

#endif // WAVETILE_FRONTEND_EXTENSION_INTERPRETERBINDING_H
