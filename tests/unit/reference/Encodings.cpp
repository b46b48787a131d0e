//===- Encodings.cpp - Which bits are an instruction ----------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "reference/Encodings.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/MC/MCFixup.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/Error.h"
#include "llvm/TargetParser/Triple.h"

#include <cstring>

namespace wavetile::reference {

Encodings::Encodings(const std::string &processor, const std::string &features)
    : disassembler(llvm::cantFail(device::Disassembler::create(processor, features))) {
  std::string message;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(llvm::Triple("amdgcn-amd-amdhsa"), message);
  emitter.reset(target->createMCCodeEmitter(*disassembler->instructions, *disassembler->context));
}

std::vector<uint32_t> Encodings::canonical(llvm::ArrayRef<uint32_t> words, unsigned &opcode,
                                           bool withAccumulators) const {
  llvm::ArrayRef bytes(reinterpret_cast<const uint8_t *>(words.data()), words.size() * 4);
  llvm::MCInst instruction;
  uint64_t size = 0;
  if (!disassembler->decode(bytes, 0, instruction, size))
    return {};
  // LLVM's emitter crashes on what its disassembler makes of matrix instructions.
  llvm::StringRef name = disassembler->instructions->getName(instruction.getOpcode());
  if (name.contains("MFMA") || name.contains("WMMA") || name.contains("MFMAC") ||
      name.contains("WMMAC") || (name.contains("ACCVGPR") && !withAccumulators))
    return {};
  // What comes after them means something else: DeviceHardwareStateTest has them.
  if (name.contains("S_SET_GPR_IDX"))
    return {};
  opcode = instruction.getOpcode();
  llvm::SmallVector<char, 32> encoded;
  llvm::SmallVector<llvm::MCFixup, 2> fixups;
  emitter->encodeInstruction(instruction, encoded, fixups, *disassembler->subtarget);
  if (encoded.size() != size)
    return {};
  std::vector<uint32_t> result(size / 4);
  std::memcpy(result.data(), encoded.data(), size);
  return result;
}

unsigned Encodings::sizeOf(llvm::ArrayRef<uint32_t> words) const {
  unsigned opcode = 0;
  std::vector<uint32_t> same = canonical(words, opcode, false);
  bool isSame = !same.empty() && llvm::ArrayRef(same) == words.take_front(same.size());
  return isSame ? static_cast<unsigned>(same.size() * 4) : 0;
}

} // namespace wavetile::reference
