//===- PlanVerifier.h - Whether a plan can be launched at all ---*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch evaluates a plan without looking whether it is well formed. Plans from
// a compiler that is wrong or from a damaged file are found out here, once.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_PLANVERIFIER_H
#define WAVETILE_RUNTIME_PLANVERIFIER_H

#include "runtime/LaunchPlan.h"
#include "runtime/Status.h"

#include <cstddef>

namespace wavetile {

/// How many values of each sort a launch binds.
struct BindingCounts {
  size_t pointers = 0;
  size_t integers = 0;
  size_t floats = 0;
};

/// Size in bytes of an argument in the kernarg segment.
uint32_t sizeOf(KernelArgument::Kind kind);

/// An error of kind Launch that names what the plan refers to and is not there.
Status verify(const LaunchPlan &plan, const BindingCounts &counts);

} // namespace wavetile

#endif // WAVETILE_RUNTIME_PLANVERIFIER_H
