//===- Mutants.h - The compiler with a part of it left out -------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_TESTS_MUTANTS_MUTANTS_H
#define WAVETILE_TESTS_MUTANTS_MUTANTS_H

#include "passes/Backend.h"

namespace wavetile {

/// A backend without targets, which is asked for dialects like the others and uses that to see
/// the passes of every context. WAVETILE_MUTANT names what it leaves out; see Mutants.cpp.
std::unique_ptr<Backend> createMutants();

} // namespace wavetile

#endif // WAVETILE_TESTS_MUTANTS_MUTANTS_H
