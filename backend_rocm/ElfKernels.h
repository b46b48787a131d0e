//===- ElfKernels.h - The kernels that a code object holds ------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds kernels in an AMDGPU ELF file by their descriptors ("NAME.kd"), with
// their code and their metadata. The bytes must outlive the object.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_BACKEND_ROCM_ELFKERNELS_H
#define WAVETILE_BACKEND_ROCM_ELFKERNELS_H

#include "backend_rocm/Targets.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace wavetile::rocm {

struct ElfKernel {
  std::string symbol; // without ".kd"
  uint64_t address;   // of the code's first byte
  uint64_t entry;     // where a wave enters
  llvm::ArrayRef<uint8_t> code;
  /// The unsigned integers of the kernel's metadata by key (".vgpr_count").
  std::map<std::string, uint64_t> metadata;
};

class ElfKernels {
public:
  /// Fails if the bytes are no code object for `target`.
  static llvm::Expected<ElfKernels> parse(llvm::ArrayRef<uint8_t> codeObject, const Target &target);

  const llvm::object::ELF64LEObjectFile &object() const { return *file; }
  /// In order of address.
  const std::vector<ElfKernel> &kernels() const { return found; }

private:
  std::unique_ptr<llvm::object::ELF64LEObjectFile> file;
  std::vector<ElfKernel> found;
};

} // namespace wavetile::rocm

#endif // WAVETILE_BACKEND_ROCM_ELFKERNELS_H
