//===- HostTarget.h - The CPU as a target ------------------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What passes are told of a CPU: a workgroup is one wave of one lane, which has as
// many registers as it likes and none of a GPU's instructions.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_TESTS_BACKEND_HOST_HOSTTARGET_H
#define WAVETILE_TESTS_BACKEND_HOST_HOSTTARGET_H

#include "passes/TargetInfo.h"

namespace wavetile::host {

inline constexpr llvm::StringLiteral targetName = "host";

const TargetInfo &target();

} // namespace wavetile::host

#endif // WAVETILE_TESTS_BACKEND_HOST_HOSTTARGET_H
