//===- Backend.h - The AMD backend ------------------------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one thing that the driver knows of this folder.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_BACKEND_ROCM_BACKEND_H
#define WAVETILE_BACKEND_ROCM_BACKEND_H

#include "passes/Backend.h"

namespace wavetile {

std::unique_ptr<Backend> createROCmBackend();

} // namespace wavetile

#endif // WAVETILE_BACKEND_ROCM_BACKEND_H
