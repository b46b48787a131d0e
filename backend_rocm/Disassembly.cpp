//===- Disassembly.cpp - What the instructions of a code object are -------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/Disassembly.h"

#include "backend_rocm/ElfKernels.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/DebugInfo/DIContext.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrAnalysis.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"

#include <mutex>

using namespace wavetile;
using namespace wavetile::rocm;

namespace {

/// LLVM's parts that turn bytes into text.
class Decoder {
public:
  explicit Decoder(const Target &target);

  /// Decodes the instruction at the start of `bytes`; nothing if there is none.
  std::optional<DecodedInstruction> decode(llvm::ArrayRef<uint8_t> bytes, uint64_t address);

private:
  llvm::Triple triple{"amdgcn-amd-amdhsa"};
  llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> assembler;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCInstPrinter> printer;
  std::unique_ptr<llvm::MCInstrAnalysis> analysis;
};

Decoder::Decoder(const Target &target) {
  static std::once_flag initialised;
  std::call_once(initialised, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
  });
  std::string words;
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, words);
  assert(found && "this LLVM was built without AMDGPU");
  registers.reset(found->createMCRegInfo(triple));
  assembler.reset(found->createMCAsmInfo(*registers, triple, options));
  instructions.reset(found->createMCInstrInfo());
  subtarget.reset(found->createMCSubtargetInfo(triple, target.name(), target.features()));
  context =
      std::make_unique<llvm::MCContext>(triple, assembler.get(), registers.get(), subtarget.get());
  disassembler.reset(found->createMCDisassembler(*subtarget, *context));
  printer.reset(found->createMCInstPrinter(triple, assembler->getAssemblerDialect(), *assembler,
                                           *instructions, *registers));
  analysis.reset(found->createMCInstrAnalysis(instructions.get()));
}

std::optional<DecodedInstruction> Decoder::decode(llvm::ArrayRef<uint8_t> bytes, uint64_t address) {
  llvm::MCInst instruction;
  uint64_t size = 0;
  if (disassembler->getInstruction(instruction, size, bytes, address, llvm::nulls()) !=
      llvm::MCDisassembler::Success)
    return std::nullopt;
  std::string text;
  llvm::raw_string_ostream stream(text);
  printer->printInst(&instruction, address, "", *subtarget, stream);
  auto [mnemonic, operands] = llvm::StringRef(text).trim().split(' ');
  DecodedInstruction decoded{address, static_cast<unsigned>(size), mnemonic.str(),
                             operands.trim().str(), std::nullopt};
  uint64_t destination;
  if (analysis->isBranch(instruction) &&
      analysis->evaluateBranch(instruction, address, size, destination))
    decoded.branchTarget = destination;
  return decoded;
}

bool isPadding(const DecodedInstruction &instruction) {
  return instruction.mnemonic == "s_code_end" || instruction.mnemonic == "s_nop";
}

/// Source positions of a code object's instructions.
class Lines {
public:
  explicit Lines(const llvm::object::ObjectFile &object)
      : context(llvm::DWARFContext::create(object)) {}

  void annotate(DecodedKernel &kernel) {
    llvm::StringMap<unsigned> numbers;
    for (DecodedInstruction &instruction : kernel.instructions) {
      llvm::object::SectionedAddress address{instruction.address,
                                             llvm::object::SectionedAddress::UndefSection};
      auto info = context->getLineInfoForAddress(
          address, {llvm::DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath,
                    llvm::DILineInfoSpecifier::FunctionNameKind::None});
      if (!info || info->Line == 0)
        continue;
      auto [entry, isNew] = numbers.try_emplace(info->FileName, kernel.files.size());
      if (isNew)
        kernel.files.push_back(info->FileName);
      instruction.file = entry->second;
      instruction.line = info->Line;
    }
    fillGaps(kernel.instructions);
  }

private:
  /// What LLVM makes while it generates code has no line: loads of arguments,
  /// padding before a loop. It serves what follows.
  static void fillGaps(llvm::MutableArrayRef<DecodedInstruction> instructions) {
    const DecodedInstruction *next = nullptr;
    for (DecodedInstruction &instruction : llvm::reverse(instructions)) {
      if (instruction.line == 0 && next) {
        instruction.file = next->file;
        instruction.line = next->line;
      }
      if (instruction.line)
        next = &instruction;
    }
  }

  std::unique_ptr<llvm::DWARFContext> context;
};

} // namespace

llvm::Expected<std::vector<DecodedKernel>>
wavetile::rocm::decodeKernels(llvm::ArrayRef<uint8_t> codeObject, const Target &target) {
  auto elf = ElfKernels::parse(codeObject, target);
  if (!elf)
    return elf.takeError();
  Decoder decoder(target);
  Lines lines(elf->object());
  std::vector<DecodedKernel> kernels;
  for (const ElfKernel &found : elf->kernels()) {
    DecodedKernel kernel{found.symbol, found.entry, {}, {}};
    uint64_t offset = found.entry - found.address;
    while (offset < found.code.size()) {
      auto instruction = decoder.decode(found.code.drop_front(offset), found.address + offset);
      if (!instruction)
        return llvm::createStringError(llvm::formatv("{0} has no instruction of {1} at {2:x}",
                                                     found.symbol, target.name(),
                                                     found.address + offset));
      offset += instruction->bytes;
      kernel.instructions.push_back(std::move(*instruction));
    }
    while (!kernel.instructions.empty() && isPadding(kernel.instructions.back()))
      kernel.instructions.pop_back();
    lines.annotate(kernel);
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

//===----------------------------------------------------------------------===//
// Listing
//===----------------------------------------------------------------------===//

namespace {

class Listing {
public:
  Listing(llvm::raw_ostream &os, const SourceLine &source) : os(os), source(source) {}

  void print(const DecodedKernel &kernel) {
    nameLabels(kernel);
    os << kernel.symbol << ":\n";
    for (const DecodedInstruction &instruction : kernel.instructions) {
      if (auto label = labels.find(instruction.address); label != labels.end())
        os << label->second << ":\n";
      if (source)
        printSource(kernel, instruction);
      std::string operands = instruction.operands;
      if (instruction.branchTarget)
        if (auto label = labels.find(*instruction.branchTarget); label != labels.end())
          operands = label->second;
      std::string text = instruction.mnemonic + (operands.empty() ? "" : " " + operands);
      os << llvm::formatv("  {0,-62} // {1:x}\n", text, instruction.address);
    }
    os << "\n";
  }

private:
  void nameLabels(const DecodedKernel &kernel) {
    labels.clear();
    llvm::DenseMap<uint64_t, bool> targets;
    for (const DecodedInstruction &instruction : kernel.instructions)
      if (instruction.branchTarget)
        targets[*instruction.branchTarget] = true;
    for (const DecodedInstruction &instruction : kernel.instructions)
      if (targets.contains(instruction.address))
        labels[instruction.address] = ".L" + std::to_string(labels.size());
    file = line = ~0u;
  }

  void printSource(const DecodedKernel &kernel, const DecodedInstruction &instruction) {
    if (instruction.line == 0 || (instruction.file == file && instruction.line == line))
      return;
    file = instruction.file;
    line = instruction.line;
    llvm::StringRef path = kernel.files[file];
    os << "; " << llvm::sys::path::filename(path) << ":" << line;
    std::string text = source(path, line);
    if (!text.empty())
      os << "  " << text;
    os << "\n";
  }

  llvm::raw_ostream &os;
  const SourceLine &source;
  llvm::DenseMap<uint64_t, std::string> labels;
  unsigned file = ~0u, line = ~0u;
};

} // namespace

llvm::Expected<std::string> wavetile::rocm::disassemble(llvm::ArrayRef<uint8_t> codeObject,
                                                        const Target &target,
                                                        const SourceLine &source) {
  auto kernels = decodeKernels(codeObject, target);
  if (!kernels)
    return kernels.takeError();
  std::string text;
  llvm::raw_string_ostream os(text);
  Listing listing(os, source);
  for (const DecodedKernel &kernel : *kernels)
    listing.print(kernel);
  return text;
}
