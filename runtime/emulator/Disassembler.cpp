//===- Disassembler.cpp - LLVM's disassembler for one processor -----------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Disassembler.h"

#include "runtime/emulator/Decoder.h"
#include "runtime/emulator/Target.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCAsmInfoELF.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"

#include <algorithm>
#include <iterator>

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUDisassembler();
}

namespace wavetile::device {

/// More than the longest instruction and a literal after it.
static constexpr unsigned decodedWords = 8;

namespace {
/// LLVM looks at as many bytes as the longest instruction has, and reads through a null pointer
/// where a literal should follow these. With enough to look at it makes a longer instruction of it,
/// which is then none.
class AnyLengthAsmInfo final : public llvm::MCAsmInfoELF {
public:
  unsigned getMaxInstLength(const llvm::MCSubtargetInfo *) const override {
    return 4 * decodedWords;
  }
};
} // namespace

llvm::Expected<std::unique_ptr<Disassembler>> Disassembler::create(llvm::StringRef processor,
                                                                   llvm::StringRef features) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
  });
  llvm::Triple triple("amdgcn-amd-amdhsa");
  std::string message;
  const llvm::Target *llvmTarget = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!llvmTarget)
    return llvm::createStringError(message);
  auto result = std::make_unique<Disassembler>();
  llvm::MCTargetOptions options;
  result->registers.reset(llvmTarget->createMCRegInfo(triple));
  std::unique_ptr<llvm::MCAsmInfo> assembly(
      llvmTarget->createMCAsmInfo(*result->registers, triple, options));
  result->assembly = std::make_unique<AnyLengthAsmInfo>();
  result->instructions.reset(llvmTarget->createMCInstrInfo());
  // LLVM makes a message or an abort of a name that it does not know.
  result->subtarget.reset(llvmTarget->createMCSubtargetInfo(triple, "", ""));
  if (!result->subtarget->isCPUStringValid(processor))
    return llvm::createStringError("LLVM does not know the processor " + processor);
  result->subtarget.reset(llvmTarget->createMCSubtargetInfo(triple, processor, features));
  const TargetDescription *known = findTarget(processor.str());
  result->isGfx9 = known && !known->isRdna();
  result->isRdna = known && known->isRdna();
  result->longestInstruction = assembly->getMaxInstLength(result->subtarget.get());
  result->context = std::make_unique<llvm::MCContext>(
      triple, result->assembly.get(), result->registers.get(), result->subtarget.get());
  result->disassembler.reset(
      llvmTarget->createMCDisassembler(*result->subtarget, *result->context));
  result->printer.reset(llvmTarget->createMCInstPrinter(triple, 0, *result->assembly,
                                                        *result->instructions, *result->registers));
  if (!result->disassembler || !result->printer)
    return llvm::createStringError("LLVM has no disassembler for " + processor);
  return result;
}

// --- Literals ---

namespace {

/// A source field of an encoding, where 255 announces a literal.
struct SourceField {
  unsigned word, shift, bits;
  uint32_t of(const uint32_t *words) const { return words[word] >> shift & ((1u << bits) - 1); }
  void set(uint32_t *words, uint32_t value) const {
    words[word] = (words[word] & ~(((1u << bits) - 1) << shift)) | value << shift;
  }
};
constexpr uint32_t announcesLiteral = 255, inlineZero = 128, inlineOne = 129;

/// All fields of an encoding that hold sources, by its first word.
llvm::SmallVector<SourceField, 6> sourceFields(uint32_t word) {
  if (word >> 31 == 0) // VOP1, VOP2, VOPC
    return {{0, 0, 9}};
  if (word >> 30 == 2) {
    if (word >> 28 == 0xb && word >> 23 != 0x17d && word >> 23 != 0x17e) // SOPK, SOPP
      return {};
    if (word >> 23 == 0x17d) // SOP1
      return {{0, 0, 8}};
    return {{0, 0, 8}, {0, 8, 8}}; // SOP2, SOPC
  }
  switch (word >> 26) {
  case 0x32: // VOPD
    return {{0, 0, 9}, {1, 0, 9}};
  case 0x33: // VOP3, VOP3P
  case 0x34:
  case 0x35:
    if (word >> 16 == 0xd3ac) // A matrix product with scales: two instructions in one.
      return {{1, 0, 9}, {1, 9, 9}, {3, 0, 9}, {3, 9, 9}, {3, 18, 9}};
    return {{1, 0, 9}, {1, 9, 9}, {1, 18, 9}};
  case 0x38: // MUBUF, MTBUF: the scalar offset.
  case 0x3a:
    return {{1, 24, 8}};
  default:
    return {};
  }
}

} // namespace

/// The operand of `inst` that a field gives: the one that changes with it. -1: the field is unused.
static int operandOf(const Disassembler &llvmSide, SourceField field, uint32_t *words,
                     llvm::MCInst &inst, uint64_t &size) {
  llvm::MCInst other;
  llvm::ArrayRef<uint8_t> bytes(reinterpret_cast<const uint8_t *>(words), 4 * decodedWords);
  field.set(words, inlineOne);
  if (llvmSide.disassembler->getInstruction(other, size, bytes, 0, llvm::nulls()) !=
      llvm::MCDisassembler::Success)
    return -1;
  field.set(words, inlineZero);
  if (llvmSide.disassembler->getInstruction(inst, size, bytes, 0, llvm::nulls()) !=
          llvm::MCDisassembler::Success ||
      inst.getNumOperands() != other.getNumOperands())
    return -1;
  for (unsigned i = 0; i < inst.getNumOperands(); ++i)
    if (inst.getOperand(i).isImm() && other.getOperand(i).isImm() &&
        inst.getOperand(i).getImm() != other.getOperand(i).getImm())
      return static_cast<int>(i);
  return -1;
}

/// LLVM's decoder goes wrong, up to reading through a null pointer, over a literal where none can
/// be. So the instruction is looked at first with a constant in its place.
bool Disassembler::hasImpossibleLiteral(const uint32_t *words) const {
  for (const SourceField &field : sourceFields(words[0])) {
    if (field.of(words) != announcesLiteral)
      continue;
    uint32_t copy[decodedWords];
    std::copy_n(words, decodedWords, copy);
    for (const SourceField &other : sourceFields(words[0]))
      if (other.of(words) == announcesLiteral)
        other.set(copy, inlineZero);
    llvm::MCInst inst;
    uint64_t size = 0;
    int operand = operandOf(*this, field, copy, inst, size);
    if (operand < 0)
      continue;
    // LLVM's OPERAND_REG_IMM_INT32 to OPERAND_REG_IMM_V2FP32: registers, constants and literals.
    constexpr unsigned first = llvm::MCOI::OPERAND_FIRST_TARGET, last = first + 13;
    const llvm::MCInstrDesc &description = instructions->get(inst.getOpcode());
    if (static_cast<unsigned>(operand) >= description.getNumOperands())
      return true;
    unsigned type = description.operands()[static_cast<unsigned>(operand)].OperandType;
    if (type < first || type > last)
      return true;
  }
  return false;
}

/// LLVM's decoder crashes on v_mfma_*_f8f6f4, with scales before it or not, if a format is unknown
/// or a source is no run of vector registers of its format's length.
static bool hasImpossibleMatrixOperand(const uint32_t *words) {
  enum { LoadScale = 0x2c, Short = 0x2d, Tall = 0x2e };
  auto operation = [](uint32_t word) { return word >> 23 == 0x1a7 ? bits(word, 22, 16) : 0; };
  const uint32_t *product = operation(words[0]) == LoadScale ? words + 2 : words;
  if (operation(product[0]) != Short && operation(product[0]) != Tall)
    return false;
  static constexpr uint32_t registersOfFormat[] = {8, 8, 6, 6, 4};
  uint32_t formats[] = {bits(product[0], 10, 8), bits(product[1], 31, 29)};
  uint32_t sources[] = {bits(product[1], 8, 0), bits(product[1], 17, 9)};
  for (unsigned i = 0; i < 2; ++i)
    if (formats[i] >= std::size(registersOfFormat) || sources[i] < 256 ||
        sources[i] + registersOfFormat[formats[i]] > 512)
      return true;
  return false;
}

/// LLVM decodes selections of SDWA that its printer crashes on.
static bool hasImpossibleSelection(llvm::StringRef opcode, const uint32_t *words) {
  if (!opcode.contains("_sdwa"))
    return false;
  constexpr uint32_t wholeDword = 6, preserveUnused = 2;
  bool isComparison = bits(words[0], 31, 25) == 0x3e;
  bool destination =
      bits(words[1], 10, 8) <= wholeDword && bits(words[1], 12, 11) <= preserveUnused;
  return !(isComparison || destination) || bits(words[1], 18, 16) > wholeDword ||
         bits(words[1], 26, 24) > wholeDword;
}

/// LLVM knows gfx9's encoding of v_fma_mix on RDNA too, which has images there.
static bool isVectorOfGfx9(llvm::StringRef opcode, const uint32_t *words) {
  return words[0] >> 26 == 0x34 && opcode.starts_with("V_");
}

/// The word of the constant of v_fmamk, v_fmaak and their kind, which is no operand that might be a
/// literal but part of the instruction; 0 if there is none.
static unsigned wordOfConstant(const uint32_t *words, bool isGfx9) {
  if (words[0] >> 31 == 0)
    return isGfx9 ? llvm::is_contained({0x17u, 0x18u, 0x24u, 0x25u}, bits(words[0], 30, 25))
                  : llvm::is_contained({0x2cu, 0x2du, 0x37u, 0x38u}, bits(words[0], 30, 25));
  if (isGfx9)
    return 0;
  if (words[0] >> 30 == 2)
    return llvm::is_contained({0x45u, 0x46u}, bits(words[0], 29, 23));
  bool isDual = words[0] >> 26 == 0x32;
  return isDual && (llvm::is_contained({1u, 2u}, bits(words[0], 25, 22)) ||
                    llvm::is_contained({1u, 2u}, bits(words[0], 21, 17)))
             ? 2
             : 0;
}

bool Disassembler::decode(llvm::ArrayRef<uint8_t> bytes, uint64_t address, llvm::MCInst &inst,
                          uint64_t &size) const {
  // Past the end LLVM sees zeros: an instruction that needs them is none.
  uint32_t words[decodedWords] = {};
  std::copy_n(bytes.begin(), std::min<size_t>(bytes.size(), sizeof(words)),
              reinterpret_cast<uint8_t *>(words));
  // LLVM takes a constant of 128 to 255 for the code of an inline one, or crashes.
  constexpr uint32_t placeholder = 0x1000;
  unsigned constantAt = wordOfConstant(words, isGfx9);
  uint32_t constant = words[constantAt];
  bool isReplaced = constantAt != 0 && constant >= 128 && constant < 256;
  if (isReplaced)
    words[constantAt] = placeholder;
  if (hasImpossibleMatrixOperand(words) || hasImpossibleLiteral(words))
    return false;
  llvm::ArrayRef<uint8_t> padded(reinterpret_cast<const uint8_t *>(words), sizeof(words));
  llvm::SmallString<64> remarks;
  llvm::raw_svector_ostream remarkStream(remarks);
  bool isDecoded = disassembler->getInstruction(inst, size, padded, address, remarkStream) ==
                       llvm::MCDisassembler::Success &&
                   !remarks.str().contains("scalar reg isn't aligned") && size != 0 &&
                   size % 4 == 0 && size <= std::min<size_t>(bytes.size(), longestInstruction) &&
                   !hasImpossibleSelection(instructions->getName(inst.getOpcode()), words) &&
                   !(isRdna && isVectorOfGfx9(instructions->getName(inst.getOpcode()), words));
  for (llvm::MCOperand &operand : inst)
    if (isReplaced && operand.isImm() && operand.getImm() == placeholder)
      operand.setImm(constant);
  return isDecoded;
}

/// The registers of a file that a run of them must not reach.
static llvm::BitVector registersFrom(const llvm::MCRegisterInfo &registers, llvm::StringRef file,
                                     unsigned first) {
  llvm::BitVector result(registers.getNumRegs());
  for (unsigned reg = 1; reg < registers.getNumRegs(); ++reg) {
    auto [rest, last] = llvm::StringRef(registers.getName(reg)).rsplit(file);
    unsigned number;
    result[reg] = !last.consumeInteger(10, number) && number >= first;
  }
  return result;
}

bool Disassembler::namesMissingRegister(const llvm::MCInst &inst) const {
  // LLVM has one table of registers for all processors. gfx9 has flat_scratch in the place of s102.
  static const llvm::BitVector vectors = registersFrom(*registers, "VGPR", firstAccumulationRow);
  static const llvm::BitVector scalars = registersFrom(*registers, "SGPR", 102);
  return llvm::any_of(inst, [&](const llvm::MCOperand &operand) {
    return operand.isReg() &&
           (vectors[operand.getReg().id()] || (isGfx9 && scalars[operand.getReg().id()]));
  });
}

llvm::StringRef Disassembler::mnemonic(const llvm::MCInst &inst) const {
  const char *text = printer->getMnemonic(inst).first;
  llvm::StringRef name = llvm::StringRef(text ? text : "").split(' ').first;
  for (llvm::StringRef suffix : {"_dpp8", "_dpp", "_sdwa", "_e64", "_e32"})
    name.consume_back(suffix);
  return name;
}

RegisterCounts Disassembler::countRegisters(unsigned opcode) const {
  const llvm::MCInstrDesc &description = instructions->get(opcode);
  unsigned mode = subtarget->getHwMode(llvm::MCSubtargetInfo::HwMode_RegInfo);
  auto count = [&](const llvm::MCOperandInfo &operand) -> uint8_t {
    int16_t kind = instructions->getOpRegClassID(operand, mode);
    if (kind < 0)
      return 0;
    return static_cast<uint8_t>((registers->getRegClass(kind).getSizeInBits() + 31) / 32);
  };
  RegisterCounts result;
  unsigned sources = 0;
  for (unsigned i = 0; i < description.getNumOperands() && sources < 3; ++i) {
    if (i < description.getNumDefs())
      result.result = std::max(result.result, count(description.operands()[i]));
    else if (uint8_t taken = count(description.operands()[i]))
      result.sources[sources++] = taken;
  }
  return result;
}

/// A register as assembly spells it, from LLVM's name for it: "VGPR4_VGPR5" is "v[4:5]".
static std::string spelling(llvm::StringRef name) {
  // Registers whose encoding differs between targets.
  for (llvm::StringRef variant : {"_gfxpre11", "_gfx11plus", "_gfx9plus", "_vi", "_ci"})
    name.consume_back(variant);
  struct File {
    llvm::StringRef prefix, letter;
  };
  for (File file : {File{"VGPR", "v"}, {"AGPR", "a"}, {"SGPR", "s"}, {"TTMP", "ttmp"}}) {
    llvm::StringRef rest = name;
    unsigned first, last;
    if (!rest.consume_front(file.prefix) || rest.consumeInteger(10, first))
      continue;
    std::string number = std::to_string(first);
    if (rest == "_LO16" || rest == "_HI16")
      return (file.letter + number + (rest == "_LO16" ? ".l" : ".h")).str();
    if (rest.rsplit(file.prefix).second.getAsInteger(10, last))
      return (file.letter + number).str();
    return (file.letter + "[" + number + ":" + std::to_string(last) + "]").str();
  }
  name.consume_front("SRC_");
  return name.starts_with("SGPR_NULL") ? "null" : name.lower();
}

RegisterUse Disassembler::registersOf(const llvm::MCInst &inst) const {
  const llvm::MCInstrDesc &description = instructions->get(inst.getOpcode());
  RegisterUse use;
  auto add = [&](std::vector<std::string> &list, llvm::MCRegister reg) {
    std::string name = spelling(registers->getName(reg));
    // LLVM has all of floating point depend on it.
    if (name != "mode" && !llvm::is_contained(list, name))
      list.push_back(std::move(name));
  };
  for (unsigned i = 0; i < inst.getNumOperands(); ++i)
    if (inst.getOperand(i).isReg() && inst.getOperand(i).getReg())
      add(i < description.getNumDefs() ? use.writes : use.reads, inst.getOperand(i).getReg());
  for (llvm::MCPhysReg reg : description.implicit_uses())
    add(use.reads, reg);
  for (llvm::MCPhysReg reg : description.implicit_defs())
    add(use.writes, reg);
  return use;
}

} // namespace wavetile::device
