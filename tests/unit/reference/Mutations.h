//===- Mutations.h - Faults that the fuzzer has to find -------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What could be wrong in a device like this one, planted around its handlers: the record of an
// instruction is changed before it executes, another row's handler takes its place, or the wave is
// changed before and after. So the device's own code stays as it is.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_TESTS_UNIT_REFERENCE_MUTATIONS_H
#define WAVETILE_TESTS_UNIT_REFERENCE_MUTATIONS_H

#include "reference/Fuzzer.h"

#include <vector>

namespace wavetile::reference {

/// Those that show on gfx9, with waves of 64 lanes.
std::vector<Mutation> mutationsOfGfx9();
/// Those that need what only RDNA has.
std::vector<Mutation> mutationsOfRdna();

} // namespace wavetile::reference

#endif // WAVETILE_TESTS_UNIT_REFERENCE_MUTATIONS_H
