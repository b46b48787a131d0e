//===- Decoder.cpp - From machine code to records -------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Decoder.h"

#include "runtime/emulator/RegisterIndexing.h"
#include "runtime/emulator/RowNames.h"
#include "runtime/emulator/Wave.h"
#include "runtime/emulator/checks/CheckRecord.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <mutex>

namespace wavetile::device {

// --- Constants ---

Operand ConstantPool::operand(uint64_t value, unsigned words) {
  auto &known = words == 1 ? singles : doubles;
  auto [position, isNew] = known.try_emplace(value, nextRow);
  if (isNew) {
    for (unsigned i = 0; i < words; ++i)
      values.push_back(static_cast<uint32_t>(value >> (32 * i)));
    nextRow += words;
  }
  return Operand(OperandKind::Constant, position->second & 0x3fff);
}

void ConstantPool::freeze() {
  storage.resize(values.size() * waveSize + 16);
  auto begin = reinterpret_cast<uintptr_t>(storage.data());
  aligned = reinterpret_cast<uint32_t *>((begin + 63) & ~uintptr_t(63));
  for (size_t row = 0; row < values.size(); ++row)
    std::fill_n(aligned + row * waveSize, waveSize, values[row]);
}

// --- Programs ---

/// What executes in the place of an instruction that was refused.
static const Record *executeRefused(Wave &wave, const Record *record) {
  return fail(wave, record, FaultKind::Refused, -1, 0, 0, false);
}
static const Record *executeEndOfCode(Wave &wave, const Record *record) {
  return fail(wave, record, FaultKind::BadProgramCounter, -1, 0, 0, false,
              "execution ran past the end of the code");
}

// --- VGPR indexing mode ---

namespace {

/// Follows where the mode is on, and makes the records there.
class IndexingMode {
public:
  explicit IndexingMode(const OperandDecoder &operands)
      : on(operands.find("s_set_gpr_idx_on")), off(operands.find("s_set_gpr_idx_off")),
        indexed(operands.find("(indexed)")) {}

  /// Looks at the records of one instruction, from \p first on. Otherwise the reason why it cannot
  /// stand here.
  const char *take(const Instruction &row, uint64_t offset, std::vector<Record> &records,
                   size_t first);
  /// Whether a jump to this place would be into the mode.
  bool contains(uint64_t offset) const {
    return llvm::any_of(regions, [&](auto &r) { return offset > r.first && offset <= r.second; });
  }

private:
  const Instruction *on, *off, *indexed;
  bool isOn = false;
  std::vector<std::pair<uint64_t, uint64_t>> regions;
};

const char *IndexingMode::take(const Instruction &row, uint64_t offset,
                               std::vector<Record> &records, size_t first) {
  if (&row == on) {
    isOn = true;
    regions.push_back({offset, offset});
    return nullptr;
  }
  if (!isOn)
    return nullptr;
  regions.back().second = offset;
  if (&row == off) {
    isOn = false;
    return nullptr;
  }
  if (const char *reason = refusalUnderRegisterIndexing(row, records[first])) {
    isOn = !leavesCode(row);
    return reason;
  }
  if (row.shape != Shape::Alu || row.prepared == nullptr)
    return nullptr;
  Record before;
  before.execute = indexed->direct;
  before.row = instructionRowNumber(*indexed);
  before.instructionClass = static_cast<uint8_t>(indexed->instructionClass);
  records.insert(records.begin() + static_cast<std::ptrdiff_t>(first), before);
  return nullptr;
}

} // namespace

DecodedProgram::DecodedProgram(const TargetDescription &target, uint32_t waveSize,
                               llvm::ArrayRef<uint8_t> text, uint64_t address)
    : targetRow(target), lanes(waveSize), text(text.begin(), text.end()), address(address),
      constants(waveSize) {}
DecodedProgram::~DecodedProgram() = default;

llvm::Error DecodedProgram::decodeAll() {
  // Halves of registers decode whether or not the compiler was told to name them.
  llvm::StringRef waveFeature =
      lanes == 64 ? "+wavefrontsize64,+real-true16" : "+wavefrontsize32,+real-true16";
  auto created = Disassembler::create(targetRow.name, targetRow.isRdna() ? waveFeature : "");
  if (!created)
    return created.takeError();
  disassembler = std::move(*created);

  OperandDecoder operands(targetRow, constants);
  IndexingMode indexing(operands);
  llvm::DenseMap<unsigned, const Instruction *> rowOfOpcode;
  llvm::DenseMap<unsigned, RegisterCounts> registersOfOpcode;
  std::vector<OperandDecoder::BranchTarget> branches;
  recordOfDword.assign(text.size() / 4 + 1, -1);
  records.reserve(text.size() / 6);
  auto append = [&](uint64_t offset, size_t firstRecord) {
    recordOfDword[offset / 4] = static_cast<int32_t>(firstRecord);
    offsets.resize(records.size(), static_cast<uint32_t>(offset));
  };
  auto refuse = [&](uint64_t offset, std::string what) {
    size_t first = records.size();
    Record record;
    record.execute = executeRefused;
    records.push_back(record);
    append(offset, first);
    registerCounts.resize(records.size());
    refused.push_back({address + offset, std::move(what)});
  };

  for (uint64_t offset = 0; offset + 4 <= text.size();) {
    llvm::MCInst inst;
    uint64_t size = 0;
    llvm::ArrayRef<uint8_t> rest = llvm::ArrayRef(text).drop_front(offset);
    if (!disassembler->decode(rest, address + offset, inst, size)) {
      uint32_t word;
      std::copy_n(rest.begin(), 4, reinterpret_cast<uint8_t *>(&word));
      refuse(offset, "unknown encoding 0x" + llvm::utohexstr(word, true));
      offset += 4;
      continue;
    }
    auto [position, isNew] = rowOfOpcode.try_emplace(inst.getOpcode(), nullptr);
    if (isNew) {
      // The halves of a dual instruction are read from its bits; the first one's row stands for it.
      llvm::StringRef mnemonic = disassembler->mnemonic(inst);
      bool isDual = mnemonic.consume_front("v_dual_");
      position->second = operands.find(isDual ? ("v_" + mnemonic).str() : mnemonic.str());
      registersOfOpcode[inst.getOpcode()] = disassembler->countRegisters(inst.getOpcode());
    }
    if (!position->second) {
      refuse(offset, disassembler->mnemonic(inst).str());
      offset += size;
      continue;
    }
    EncodedInstruction code;
    std::copy_n(rest.begin(), size, reinterpret_cast<uint8_t *>(code.words));
    code.bytes = static_cast<unsigned>(size);
    code.address = address + offset;
    size_t first = records.size();
    const char *reason = disassembler->namesMissingRegister(inst)
                             ? "a register past the last one"
                             : operands.decode(*position->second, code, records, branches);
    if (!reason)
      reason = indexing.take(*position->second, offset, records, first);
    if (reason) {
      llvm::erase_if(branches, [&](const auto &branch) { return branch.record >= first; });
      records.resize(first);
      refuse(offset, (disassembler->mnemonic(inst) + " (" + reason + ")").str());
    } else {
      for (size_t part = first + 1; part < records.size(); ++part)
        records[part].instructionClass = static_cast<uint8_t>(InstructionClass::Part);
      append(offset, first);
      registerCounts.resize(records.size(), registersOfOpcode.lookup(inst.getOpcode()));
    }
    offset += size;
  }
  // What runs if the last instruction does not end the program.
  Record end;
  end.execute = executeEndOfCode;
  records.push_back(end);
  registerCounts.resize(records.size());
  offsets.push_back(static_cast<uint32_t>(text.size()));
  if (constants.overflowed())
    return llvm::createStringError("the code uses more than 16384 different constants");
  constants.freeze();

  for (const OperandDecoder::BranchTarget &branch : branches) {
    const Record *to = recordAt(branch.address);
    Record &record = records[branch.record];
    if (indexing.contains(branch.address - address)) {
      record.execute = executeRefused;
      refused.push_back({addressOf(&record), "a jump into VGPR indexing mode"});
      continue;
    }
    if (to)
      record.immediate = static_cast<uint32_t>(to - &record);
    else
      record.immediate = static_cast<uint32_t>(&records.back() - &record);
  }
  llvm::sort(refused, [](const Refusal &a, const Refusal &b) { return a.address < b.address; });
  return llvm::Error::success();
}

const Record *DecodedProgram::recordAt(uint64_t at) const {
  uint64_t offset = at - address;
  if (at < address || offset % 4 != 0 || offset / 4 >= recordOfDword.size())
    return nullptr;
  int32_t index = recordOfDword[offset / 4];
  return index < 0 ? nullptr : &records[static_cast<size_t>(index)];
}

const checks::CheckProgram &DecodedProgram::checks() const {
  std::call_once(checksOnce,
                 [this] { checkProgram = std::make_unique<checks::CheckProgram>(*this); });
  return *checkProgram;
}

uint64_t DecodedProgram::addressOf(const Record *record) const {
  return address + offsets[static_cast<size_t>(record - records.data())];
}

std::vector<Program::Refusal> DecodedProgram::refusals(uint64_t begin, uint64_t end) const {
  std::vector<Refusal> result;
  for (const Refusal &refusal : refused)
    if (refusal.address >= begin && refusal.address < end)
      result.push_back(refusal);
  return result;
}

std::string DecodedProgram::disassemble(uint64_t at) const {
  if (at < address || at - address >= text.size())
    return "";
  std::lock_guard<std::mutex> lock(disassembler->mutex);
  llvm::MCInst inst;
  uint64_t size = 0;
  auto rest = llvm::ArrayRef(text).drop_front(at - address);
  if (!disassembler->decode(rest, at, inst, size))
    return "";
  std::string result;
  llvm::raw_string_ostream stream(result);
  disassembler->printer->printInst(&inst, at, "", *disassembler->subtarget, stream);
  llvm::StringRef trimmed = llvm::StringRef(result).trim();
  std::string line = trimmed.str();
  std::replace(line.begin(), line.end(), '\t', ' ');
  return line;
}

RegisterUse DecodedProgram::registersAt(uint64_t at) const {
  std::lock_guard<std::mutex> lock(disassembler->mutex);
  llvm::MCInst inst;
  uint64_t size = 0;
  if (!disassembler->decode(llvm::ArrayRef(text).drop_front(at - address), at, inst, size))
    return {};
  return disassembler->registersOf(inst);
}

llvm::Expected<std::unique_ptr<Program>> Program::decode(llvm::ArrayRef<uint8_t> text,
                                                         uint64_t address,
                                                         llvm::StringRef targetName,
                                                         uint32_t waveSize) {
  const TargetDescription *target = findTarget(targetName);
  if (!target) {
    std::string known;
    for (const TargetDescription &row : targets())
      known += (known.empty() ? "" : ", ") + std::string(row.name);
    return llvm::createStringError("the software device does not know the target '" + targetName +
                                   "'; it knows " + known);
  }
  if (!instructionTables())
    return llvm::createStringError(
        "WAVETILE_DEVICE_ISA names no instruction set of this processor: it "
        "may be 'plain', or 'avx2' or 'avx512' if the processor has it");
  if (waveSize == 0)
    waveSize = target->waveSize;
  if (!target->allowsWaveSize(waveSize))
    return llvm::createStringError("waves of " + std::to_string(waveSize) + " lanes are not for " +
                                   target->name);
  auto program = std::make_unique<DecodedProgram>(*target, waveSize, text, address);
  if (llvm::Error error = program->decodeAll())
    return std::move(error);
  return program;
}

// For handlers, which do not see this class.
const Record *recordAt(const DecodedProgram &program, uint64_t address) {
  return program.recordAt(address);
}
uint64_t addressOf(const DecodedProgram &program, const Record *record) {
  return program.addressOf(record);
}

// --- Rows by name ---

const Instruction *OperandDecoder::find(llvm::StringRef mnemonic) const {
  static const RowsByName<const Instruction *> *byName = [] {
    auto *rows = new RowsByName<const Instruction *>;
    const InstructionTables &tables = *instructionTables();
    for (size_t t = 0; t < tables.count; ++t)
      for (size_t i = 0; i < tables.begin[t].count; ++i)
        rows->add(tables.begin[t].begin[i].names, &tables.begin[t].begin[i]);
    return rows;
  }();
  const char *features[] = {isGfx12()  ? "@gfx12"
                            : isRdna() ? "@gfx11"
                                       : "@gfx9",
                            isRdna() ? "@rdna" : "@cdna",
                            target.float8 == Float8::Fnuz  ? "@fnuz"
                            : target.float8 == Float8::Ocp ? "@ocp"
                                                           : "@none",
                            ""};
  for (const char *feature : features)
    if (const Instruction *row = byName->find((mnemonic + feature).str()))
      return row;
  return nullptr;
}

} // namespace wavetile::device
