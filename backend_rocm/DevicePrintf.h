//===- DevicePrintf.h - printf in a kernel ----------------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A call of printf becomes a record in the buffer that HIP gives a kernel which
// wants one, with the format in the code object's metadata; HIP prints it after
// the launch ("buffered" printf of HIP C++). No device library is needed. What
// does not fit into the buffer, a megabyte unless the host sets another limit, is
// lost.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_BACKEND_ROCM_DEVICEPRINTF_H
#define WAVETILE_BACKEND_ROCM_DEVICEPRINTF_H

#include "llvm/ADT/StringRef.h"

namespace llvm {
class Module;
}

namespace wavetile::rocm {

/// The function that a kernel calls, with a constant string and then i64 and f64.
inline constexpr llvm::StringLiteral printfName = "printf";

/// Replaces all calls of printf in a module.
void expandPrintf(llvm::Module &module);

} // namespace wavetile::rocm

#endif // WAVETILE_BACKEND_ROCM_DEVICEPRINTF_H
