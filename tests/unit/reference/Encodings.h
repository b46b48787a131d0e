//===- Encodings.h - Which bits are an instruction ------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM decodes more than it encodes: register pairs that begin at an odd register, bits that mean
// nothing. An encoding counts if LLVM makes the same bits of what it read.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_TESTS_UNIT_REFERENCE_ENCODINGS_H
#define WAVETILE_TESTS_UNIT_REFERENCE_ENCODINGS_H

#include "runtime/emulator/Disassembler.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/MC/MCCodeEmitter.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace wavetile::reference {

class Encodings {
public:
  /// \p features is LLVM's list, such as "+wavefrontsize64".
  explicit Encodings(const std::string &processor, const std::string &features = "");

  /// The size in bytes of the instruction that \p words begin with, or 0: none, or none that an
  /// assembler would write so.
  unsigned sizeOf(llvm::ArrayRef<uint32_t> words) const;

  /// The same instruction as an assembler would write it; empty if none would. \p opcode is LLVM's.
  /// Moves of accumulation registers only if \p withAccumulators: LLVM crashes on some random bits.
  std::vector<uint32_t> canonical(llvm::ArrayRef<uint32_t> words, unsigned &opcode,
                                  bool withAccumulators = true) const;

private:
  std::unique_ptr<device::Disassembler> disassembler;
  std::unique_ptr<llvm::MCCodeEmitter> emitter;
};

} // namespace wavetile::reference

#endif // WAVETILE_TESTS_UNIT_REFERENCE_ENCODINGS_H
