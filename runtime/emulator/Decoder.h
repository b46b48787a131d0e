//===- Decoder.h - From machine code to records ---------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's disassembler says what each instruction is called and how long it is; the operands are
// read from the bits of the encoding, whose formats AMD documents, by the types in the
// instruction's row.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_DECODER_H
#define WAVETILE_RUNTIME_EMULATOR_DECODER_H

#include "runtime/emulator/Disassembler.h"
#include "runtime/emulator/Instruction.h"
#include "runtime/emulator/Machine.h"
#include "runtime/emulator/Record.h"
#include "runtime/emulator/Target.h"

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace wavetile::device {

namespace checks {
class CheckProgram;
}

/// Values that are the same in all lanes, one row a 32-bit word, two for a 64-bit one.
class ConstantPool {
public:
  explicit ConstantPool(uint32_t waveSize) : waveSize(waveSize) {}

  Operand word(uint32_t value) { return operand(value, 1); }
  Operand doubleWord(uint64_t value) { return operand(value, 2); }
  /// The rows, aligned as vector code wants them. Call when all constants are there.
  void freeze();
  uint32_t *rows() const { return aligned; }
  /// More constants than an operand can name.
  bool overflowed() const { return nextRow > 0x3fff; }

private:
  Operand operand(uint64_t value, unsigned words);

  uint32_t waveSize;
  uint32_t nextRow = 0;
  std::unordered_map<uint64_t, uint32_t> singles, doubles;
  std::vector<uint32_t> values; ///< One value a row.
  std::vector<uint32_t> storage;
  uint32_t *aligned = nullptr;
};

/// Bits \p high to \p low of an encoding.
constexpr uint32_t bits(uint32_t word, unsigned high, unsigned low) {
  return static_cast<uint32_t>(word >> low & ((uint64_t(2) << (high - low)) - 1));
}

constexpr int32_t signExtend(uint32_t value, unsigned width) {
  return static_cast<int32_t>(value << (32 - width)) >> (32 - width);
}

/// RDNA's null among the scalar registers.
inline constexpr uint32_t nullEncoding = 124;

/// One instruction as it stands in memory.
struct EncodedInstruction {
  uint32_t words[5] = {};
  unsigned bytes = 0;
  uint64_t address = 0;
};

/// Reads operands out of encodings. Gives records, whose branch targets are still addresses.
class OperandDecoder {
public:
  OperandDecoder(const TargetDescription &target, ConstantPool &constants)
      : target(target), constants(constants) {}

  /// A jump whose distance in records is set when all records are known.
  struct BranchTarget {
    size_t record;
    uint64_t address;
  };

  /// Appends the record or records of an instruction. Otherwise the reason why not.
  const char *decode(const Instruction &row, const EncodedInstruction &code,
                     std::vector<Record> &records, std::vector<BranchTarget> &branches);

  /// Looks a row up by mnemonic, with the features of this target.
  const Instruction *find(llvm::StringRef mnemonic) const;

private:
  const char *decodeScalar(const Instruction &row, const EncodedInstruction &code, Record &record,
                           bool &isCall);
  const char *decodeScalarMemory(const EncodedInstruction &code, Record &record);
  const char *decodeVector(const Instruction &row, const EncodedInstruction &code,
                           std::vector<Record> &records);
  const char *decodeDual(const EncodedInstruction &code, std::vector<Record> &records);
  const char *decodeLds(const Instruction &row, const EncodedInstruction &code, Record &record);
  uint32_t cacheModifiers(uint32_t bits, InstructionClass instructionClass) const;
  static uint32_t cacheModifiers12(uint32_t scope, uint32_t temporalHint,
                                   InstructionClass instructionClass);
  const char *decodeFlat(const EncodedInstruction &code, Record &record);
  void decodeFlat96(const EncodedInstruction &code, Record &record);
  const char *decodeBuffer(const EncodedInstruction &code, Record &record);
  const char *decodeBuffer96(const EncodedInstruction &code, Record &record);
  const char *decodeMatrix(const Instruction &row, const EncodedInstruction &code, Record &record);
  const char *decodeWaveMatrix(const Instruction &row, const EncodedInstruction &code,
                               Record &record);

  struct VectorFields;
  const char *finishVector(const Instruction &row, VectorFields &fields,
                           std::vector<Record> &records);

  bool isRdna() const { return target.isRdna(); }
  bool isGfx12() const { return target.encoding == Encoding::Gfx12; }
  /// A scalar register by its encoding, as a destination.
  Operand scalarDestination(uint32_t encoding) const;
  /// Any 9-bit source. `literal` is the word after the instruction.
  Operand source(uint32_t encoding, Type type, uint32_t literal);
  Operand constant(uint64_t bits, Type type);

  const TargetDescription &target;
  ConstantPool &constants;
  friend class DecodedProgram;
};

/// See `Program`.
class DecodedProgram final : public Program {
public:
  DecodedProgram(const TargetDescription &target, uint32_t waveSize, llvm::ArrayRef<uint8_t> text,
                 uint64_t address);
  ~DecodedProgram() override;

  llvm::Error decodeAll();

  std::vector<Refusal> refusals(uint64_t begin, uint64_t end) const override;
  std::string disassemble(uint64_t address) const override;
  const TargetDescription &target() const override { return targetRow; }
  uint32_t waveSize() const override { return lanes; }

  /// Those of the instruction at an address, which must be one.
  RegisterUse registersAt(uint64_t address) const;

  /// The record at an address, or null.
  const Record *recordAt(uint64_t address) const;
  uint64_t addressOf(const Record *record) const;
  uint32_t *constantRows() const { return constants.rows(); }
  /// What the checks do at each record; made when first asked for.
  const checks::CheckProgram &checks() const;
  /// All records, one for each instruction or half of one.
  llvm::ArrayRef<Record> allRecords() const { return records; }
  /// Beside `allRecords`; of no meaning for the records that are only a part of an instruction.
  llvm::ArrayRef<RegisterCounts> allRegisterCounts() const { return registerCounts; }

private:
  const TargetDescription &targetRow;
  uint32_t lanes;
  std::vector<uint8_t> text;
  uint64_t address;
  std::unique_ptr<Disassembler> disassembler;
  ConstantPool constants;
  std::vector<Record> records;
  std::vector<RegisterCounts> registerCounts;
  mutable std::once_flag checksOnce;
  mutable std::unique_ptr<checks::CheckProgram> checkProgram;
  std::vector<uint32_t> offsets;      ///< Of each record's instruction in the text.
  std::vector<int32_t> recordOfDword; ///< The record that starts at a dword, or -1.
  std::vector<Refusal> refused;       ///< By address.
};

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_DECODER_H
