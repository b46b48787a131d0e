//===- Disassembly.h - What the instructions of a code object are -*- C++ -*-=//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decodes the kernels of a code object with LLVM's disassembler, with the
// source line of each instruction where the code object has a line table, and
// prints them. Works on any code object for a target of the table, whoever
// built it.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_BACKEND_ROCM_DISASSEMBLY_H
#define WAVETILE_BACKEND_ROCM_DISASSEMBLY_H

#include "backend_rocm/Targets.h"
#include "passes/Backend.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace wavetile::rocm {

struct DecodedInstruction {
  uint64_t address; // in the code object
  unsigned bytes;
  std::string mnemonic; // with its encoding suffix, "v_add_f32_e32"
  std::string operands; // as LLVM prints them
  std::optional<uint64_t> branchTarget;
  /// The source position; that of the next instruction that has one if the line
  /// table names none, and line 0 without a line table. `file` is an index into
  /// the kernel's `files`.
  unsigned file = 0;
  unsigned line = 0;
};

struct DecodedKernel {
  std::string symbol;
  /// Where a wave enters: after the 256 bytes for firmware that cannot preload
  /// arguments, if the kernel has them. `instructions` begins here and ends
  /// before the padding.
  uint64_t entry;
  std::vector<DecodedInstruction> instructions;
  std::vector<std::string> files;
};

/// The kernels in order of address.
llvm::Expected<std::vector<DecodedKernel>> decodeKernels(llvm::ArrayRef<uint8_t> codeObject,
                                                         const Target &target);

/// An assembly listing of all kernels. With `source`, each run of instructions
/// of one source line stands below it.
llvm::Expected<std::string> disassemble(llvm::ArrayRef<uint8_t> codeObject, const Target &target,
                                        const SourceLine &source = nullptr);

} // namespace wavetile::rocm

#endif // WAVETILE_BACKEND_ROCM_DISASSEMBLY_H
