//===- DeviceRandomFunction.h - Random functions in LLVM IR ---------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function of a few inputs that uses integer and floating-point operations of several widths.
// What targets are free to choose never reaches a result: every floating-point value that is looked
// at as bits has its NaNs replaced first.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_TESTS_UNIT_DEVICERANDOMFUNCTION_H
#define WAVETILE_TESTS_UNIT_DEVICERANDOMFUNCTION_H

#include <cstdint>
#include <string>

namespace wavetile::device::test {

/// Words of 32 bits that a random function reads, and that it writes.
inline constexpr unsigned randomInputs = 8, randomOutputs = 4;
/// Bytes of memory of its own for atomics, aligned so.
inline constexpr unsigned randomMemoryBytes = 16;

/// `define <linkage> void @name(ptr %in, ptr %out, ptr %memory)` for host and device, the pointers
/// being to what belongs to one element. The same text for both.
std::string randomFunction(const std::string &name, uint64_t seed);
} // namespace wavetile::device::test

#endif // WAVETILE_TESTS_UNIT_DEVICERANDOMFUNCTION_H
