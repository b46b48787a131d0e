//===- HostBackend.h - A second backend: the CPU -----------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_TESTS_BACKEND_HOST_HOSTBACKEND_H
#define WAVETILE_TESTS_BACKEND_HOST_HOSTBACKEND_H

#include "passes/Backend.h"

namespace wavetile {

/// Its code objects are relocatable objects for this machine, which the device library of
/// HostDevice.cpp loads.
std::unique_ptr<Backend> createHostBackend();

} // namespace wavetile

#endif // WAVETILE_TESTS_BACKEND_HOST_HOSTBACKEND_H
