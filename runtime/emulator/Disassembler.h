//===- Disassembler.h - LLVM's disassembler for one processor -------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The objects of LLVM's MC layer that take AMDGPU machine code apart and print it.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_DISASSEMBLER_H
#define WAVETILE_RUNTIME_EMULATOR_DISASSEMBLER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace wavetile::device {

/// How many registers the operands of an instruction take, as LLVM describes it; 0: no register.
struct RegisterCounts {
  uint8_t result = 0;
  uint8_t sources[3] = {};
};

/// The registers that an instruction reads and writes, by their names in assembly, those that it
/// does not spell out included: "v[4:7]", "s2", "vcc", "exec".
struct RegisterUse {
  std::vector<std::string> reads, writes;
};

struct Disassembler {
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> assembly;
  unsigned longestInstruction = 0;     ///< In bytes.
  bool isGfx9 = false, isRdna = false; ///< Neither: a GPU that the device does not pose as.
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCInstPrinter> printer;
  /// LLVM's objects are not made for several threads.
  mutable std::mutex mutex;

  /// For a processor such as "gfx950", with features such as "+wavefrontsize64".
  static llvm::Expected<std::unique_ptr<Disassembler>> create(llvm::StringRef processor,
                                                              llvm::StringRef features = "");

  /// Takes the first instruction of \p bytes apart. False: they begin with none. For any bytes at
  /// all, which LLVM's own function is not. A run of scalar registers that does not start where
  /// its length wants it to has no name in assembly, so this is no instruction either.
  bool decode(llvm::ArrayRef<uint8_t> bytes, uint64_t address, llvm::MCInst &inst,
              uint64_t &size) const;

  /// Whether it names vector registers after v255, or on gfx9 scalar ones after s101. LLVM's tables
  /// hold those of all processors, so that it lets a run of registers go past the end.
  bool namesMissingRegister(const llvm::MCInst &inst) const;

  /// The mnemonic without the suffix of its encoding.
  llvm::StringRef mnemonic(const llvm::MCInst &inst) const;

  /// Of the results, and of the first three other operands.
  RegisterCounts countRegisters(unsigned opcode) const;

  RegisterUse registersOf(const llvm::MCInst &inst) const;

private:
  bool hasImpossibleLiteral(const uint32_t *words) const;
};

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_DISASSEMBLER_H
