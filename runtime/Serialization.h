//===- Serialization.h - Launch plans as bytes and as JSON ------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bytes are for the cache and for ahead-of-time packages: little-endian, headed
// by a version, and equal for equal plans. Reading accepts exactly what writing
// makes; damaged bytes are refused and never read beyond their end. JSON is for
// people and other tools, and is not read back.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_SERIALIZATION_H
#define WAVETILE_RUNTIME_SERIALIZATION_H

#include "runtime/LaunchPlan.h"

#include <optional>
#include <string>
#include <string_view>

namespace wavetile {

std::string serialize(const LaunchPlan &plan);

/// Nothing if the bytes are not a plan written by this version.
std::optional<LaunchPlan> deserializeLaunchPlan(std::string_view bytes);

/// Indented JSON; expressions as the text of Expression::str.
std::string toJson(const LaunchPlan &plan);

} // namespace wavetile

#endif // WAVETILE_RUNTIME_SERIALIZATION_H
