//===- Coverage.h - What the device makes of every instruction there is ----===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What this header promises: every instruction that LLVM's disassembler knows for a processor, in
// every encoding, with what the device does with it. Nothing is listed by hand: the walk tries all
// opcodes of all encodings on the disassembler, and then gives what it found to the device's
// decoder, as if it stood in a code object.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_COVERAGE_H
#define WAVETILE_RUNTIME_EMULATOR_COVERAGE_H

#include "runtime/emulator/Evidence.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace wavetile::device {

struct Disassembler;

enum class Support : uint8_t {
  Exact,       ///< The hardware's bits.
  Approximate, ///< Within `ulp` of the true value; the hardware's own bits are not public.
  LeftOut,     ///< Refused, and meant to be: `why` says for what reason.
  Missing      ///< Refused, for nobody has written it yet, or not this encoding of it.
};

struct CoveredInstruction {
  std::string mnemonic; ///< Without the suffix of the encoding.
  std::string encoding; ///< "VOP3", "VOP2 SDWA", "DS".
  Support support = Support::Missing;
  unsigned ulp = 0;
  std::string why; ///< What is left out, or what the decoder says.
  /// A few encodings that the device takes, if it takes any.
  std::vector<std::vector<uint32_t>> examples;
};

/// Names instructions as the list does.
class InstructionNames {
public:
  /// Fails if LLVM does not know the processor.
  static llvm::Expected<std::unique_ptr<InstructionNames>> create(llvm::StringRef processor);
  ~InstructionNames();

  /// An instruction, or both halves of a dual one.
  struct Decoded {
    unsigned bytes = 0; ///< 0: no instruction.
    std::string encoding;
    std::vector<std::string> mnemonics;
  };
  Decoded decode(llvm::ArrayRef<uint32_t> words) const;

private:
  explicit InstructionNames(std::unique_ptr<Disassembler> disassembler);
  std::unique_ptr<Disassembler> disassembler;
};

/// All instructions of a processor such as "gfx950", sorted by encoding and mnemonic. For one that
/// LLVM knows and the device does not, all of them are missing. Fails if LLVM does not know it.
llvm::Expected<std::vector<CoveredInstruction>> instructionCoverage(llvm::StringRef processor);

/// The page docs/software-device-coverage.md, of all targets of the device.
llvm::Expected<std::string> coveragePage(const Evidence &evidence);

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_COVERAGE_H
