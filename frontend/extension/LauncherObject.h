//===- LauncherObject.h - The Python type Launcher --------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A type written against CPython rather than with pybind11, because a call through
// the vectorcall protocol costs 10 ns and one through a pybind11 method 200.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_FRONTEND_EXTENSION_LAUNCHEROBJECT_H
#define WAVETILE_FRONTEND_EXTENSION_LAUNCHEROBJECT_H

#include <pybind11/pybind11.h>

namespace wavetile {

/// Makes the type. What it takes and returns must be registered with pybind11 before it is used.
pybind11::object makeLauncherType();

} // namespace wavetile

#endif // WAVETILE_FRONTEND_EXTENSION_LAUNCHEROBJECT_H
