//===- Linker.h - Links an AMDGPU object in memory --------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's lld, as a library, from bytes to bytes: no program is started and no
// file is created anywhere, so a process that can write nowhere links all the
// same. Needs /proc and memfd_create (Linux 3.17).
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_BACKEND_ROCM_LINKER_H
#define WAVETILE_BACKEND_ROCM_LINKER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

namespace wavetile::rocm {

/// Links one relocatable object into a code object that HIP loads. The error
/// carries lld's words. May be called from any thread; calls wait for one
/// another, because lld keeps its state in globals.
llvm::Expected<llvm::SmallVector<char, 0>> linkObject(llvm::ArrayRef<char> object);

} // namespace wavetile::rocm

#endif // WAVETILE_BACKEND_ROCM_LINKER_H
