//===- Encodings.cpp - Which bits are an instruction ----------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "reference/Encodings.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/MC/MCAsmInfoELF.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCFixup.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"

#include <cstring>

extern "C" void LLVMInitializeAMDGPUTargetInfo();
extern "C" void LLVMInitializeAMDGPUTargetMC();
extern "C" void LLVMInitializeAMDGPUDisassembler();

namespace wavetile::reference {

namespace {
/// Longer than any instruction, for LLVM crashes where it wants a literal and no bytes are left.
class LongAsmInfo final : public llvm::MCAsmInfoELF {
public:
  unsigned getMaxInstLength(const llvm::MCSubtargetInfo *) const override { return 64; }
};
} // namespace

struct Encodings::Tools {
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  LongAsmInfo assembly;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCCodeEmitter> emitter;
};

Encodings::Encodings(const std::string &processor, const std::string &features)
    : tools(std::make_unique<Tools>()) {
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTargetMC();
  LLVMInitializeAMDGPUDisassembler();
  llvm::Triple triple("amdgcn-amd-amdhsa");
  std::string message;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, message);
  tools->registers.reset(target->createMCRegInfo(triple));
  tools->instructions.reset(target->createMCInstrInfo());
  tools->subtarget.reset(target->createMCSubtargetInfo(triple, processor, features));
  tools->context = std::make_unique<llvm::MCContext>(
      triple, &tools->assembly, tools->registers.get(), tools->subtarget.get());
  tools->disassembler.reset(target->createMCDisassembler(*tools->subtarget, *tools->context));
  tools->emitter.reset(target->createMCCodeEmitter(*tools->instructions, *tools->context));
}
Encodings::~Encodings() = default;

unsigned Encodings::sizeOf(llvm::ArrayRef<uint32_t> words) const {
  // LLVM crashes on matrix instructions of gfx950 whose operands are no vector registers.
  if (words[0] >> 23 == 0x1a7 && (words[0] >> 16 & 0x7f) >= 0x2c)
    return 0;
  // And on barriers of gfx12 with a literal.
  if (words[0] >> 23 == 0x17d && (words[0] >> 8 & 0xff) >= 0x4a && (words[0] & 0xff) == 255)
    return 0;
  llvm::SmallVector<uint32_t, 32> padded(words.begin(), words.end());
  padded.resize(32);
  llvm::ArrayRef bytes(reinterpret_cast<const uint8_t *>(padded.data()), padded.size() * 4);
  llvm::MCInst instruction;
  uint64_t size = 0;
  if (tools->disassembler->getInstruction(instruction, size, bytes, 0, llvm::nulls()) !=
          llvm::MCDisassembler::Success ||
      size == 0 || size > words.size() * 4)
    return 0;
  // LLVM's emitter crashes on what its disassembler makes of matrix instructions.
  llvm::StringRef name = tools->instructions->getName(instruction.getOpcode());
  if (name.contains("MFMA") || name.contains("MFMAC") || name.contains("WMMA") ||
      name.contains("ACCVGPR"))
    return 0;
  llvm::SmallVector<char, 32> encoded;
  llvm::SmallVector<llvm::MCFixup, 2> fixups;
  tools->emitter->encodeInstruction(instruction, encoded, fixups, *tools->subtarget);
  bool same = encoded.size() == size && std::memcmp(encoded.data(), bytes.data(), size) == 0;
  return same ? static_cast<unsigned>(size) : 0;
}

} // namespace wavetile::reference
