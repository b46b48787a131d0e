//===- DecodeOperands.cpp - Operands of scalar instructions ---------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bit positions are those of AMD's ISA documents: "AMD Instinct MI300 Instruction Set Architecture"
// for gfx9, "RDNA3 Instruction Set Architecture" for gfx11 and "RDNA4 Instruction Set Architecture"
// for gfx12, whose memory instructions but those of LDS and scalars have three words.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Apertures.h"
#include "runtime/emulator/Decoder.h"
#include "runtime/emulator/HardwareRegisters.h"

namespace wavetile::device {

// --- Sources ---

Operand OperandDecoder::scalarDestination(uint32_t encoding) const {
  if (isRdna()) {
    if (encoding == nullEncoding)
      return Operand(OperandKind::Scalar, scalar::Null);
    if (encoding == 125)
      return Operand(OperandKind::Scalar, scalar::M0);
  }
  return Operand(OperandKind::Scalar, encoding & 127);
}

Operand OperandDecoder::constant(uint64_t value, Type type) {
  return rowsOf(type) == 2 || type == Type::Mask ? constants.doubleWord(value)
                                                 : constants.word(static_cast<uint32_t>(value));
}

/// 0.5, -0.5, 1, -1, 2, -2, 4, -4, 1/(2 pi) in the type's format.
static uint64_t inlineFloat(unsigned index, Type type) {
  static constexpr uint16_t halves[] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000,
                                        0xc000, 0x4400, 0xc400, 0x3118};
  static constexpr uint32_t floats[] = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
                                        0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983};
  static constexpr uint64_t doubles[] = {
      0x3fe0000000000000, 0xbfe0000000000000, 0x3ff0000000000000,
      0xbff0000000000000, 0x4000000000000000, 0xc000000000000000,
      0x4010000000000000, 0xc010000000000000, 0x3fc45f306dc9c882};
  switch (type) {
  case Type::B16:
  case Type::F16:
  case Type::PackedB16:
  case Type::PackedF16:
    return halves[index];
  case Type::BF16:
  case Type::PackedBF16:
    return floats[index] >> 16;
  case Type::B64:
  case Type::I64:
  case Type::F64:
  case Type::ScalarB64:
    return doubles[index];
  case Type::PackedF32: // Both halves, so that op_sel_hi does not matter.
    return floats[index] | static_cast<uint64_t>(floats[index]) << 32;
  default:
    return floats[index];
  }
}

Operand OperandDecoder::source(uint32_t encoding, Type type, uint32_t literal) {
  if (encoding >= 256)
    return Operand(OperandKind::Vector, encoding - 256);
  if (encoding >= 128 && encoding <= 208) {
    int64_t value = encoding <= 192 ? static_cast<int64_t>(encoding) - 128
                                    : 192 - static_cast<int64_t>(encoding);
    uint64_t wide = static_cast<uint64_t>(value);
    if (type == Type::PackedF32)
      wide = (wide & 0xffffffff) | wide << 32;
    return constant(wide, type);
  }
  if (encoding >= 240 && encoding <= 248)
    return constant(inlineFloat(encoding - 240, type), type);
  switch (encoding) {
  case nullEncoding:
    if (isRdna())
      return constant(0, type);
    break;
  case 235:
    return constant(sharedAperture, type);
  case 236:
    return constant(sharedAperture | 0xffffffff, type);
  case 237:
    return constant(privateAperture, type);
  case 238:
    return constant(privateAperture | 0xffffffff, type);
  case 251:
    return Operand(OperandKind::Scalar, scalar::VccZero);
  case 252:
    return Operand(OperandKind::Scalar, scalar::ExecZero);
  case 253:
    return Operand(OperandKind::Scalar, scalar::Scc);
  case 255:
    if (type == Type::F64)
      return constant(static_cast<uint64_t>(literal) << 32, type);
    if (type == Type::I64)
      return constant(static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(literal))),
                      type);
    if (type == Type::PackedF32)
      return constant(literal | static_cast<uint64_t>(literal) << 32, type);
    return constant(literal, type);
  default:
    break;
  }
  if (encoding < 128)
    return scalarDestination(encoding);
  return Operand();
}

// --- Scalar ALU ---

const char *OperandDecoder::decodeScalar(const Instruction &row, const EncodedInstruction &code,
                                         Record &record, bool &isCall) {
  uint32_t word = code.words[0], literal = code.words[1];
  const Signature &signature = row.signature;
  uint32_t destination = bits(word, 22, 16);
  unsigned count = 0;
  auto add = [&](uint32_t encoding) {
    record.sources[count] = source(encoding, signature.sources[count], literal);
    bool known = record.sources[count].kind() != OperandKind::None;
    ++count;
    return known;
  };
  bool known = true;
  if (bits(word, 31, 23) == 0x17d) { // SOP1
    if (signature.sources[0] != Type::None)
      known = add(bits(word, 7, 0));
    else
      record.immediate = bits(word, 7, 0);  // The number of a message.
  } else if (bits(word, 31, 23) == 0x17e) { // SOPC
    known = add(bits(word, 7, 0));
    if (signature.sources[1] != Type::None)
      known &= add(bits(word, 15, 8));
    else
      record.immediate = bits(word, 15, 8); // s_set_gpr_idx_on
  } else if (bits(word, 31, 28) == 0xb) {   // SOPK
    uint32_t immediate = static_cast<uint32_t>(signExtend(bits(word, 15, 0), 16));
    record.immediate = immediate;
    if (row.flags & rowflag::hardwareRegister) {
      HardwareRegister which = hardwareRegister(target, immediate & 63);
      if (!(signature.result != Type::None ? isReadable(which) : isWritable(which)))
        return "a hardware register that is not modelled";
      record.variant = static_cast<uint8_t>(which);
      record.sources[1] = row.flags & rowflag::literalSecond
                              ? constants.word(literal)
                              : source(destination, Type::B32, literal);
      record.destination = scalarDestination(destination);
      return nullptr;
    }
    isCall = row.instructionClass == InstructionClass::Branch;
    if (!isCall) {
      if (signature.result == Type::None)
        known = add(destination);
      record.sources[count++] = constants.word(immediate);
    }
  } else { // SOP2
    known = add(bits(word, 7, 0));
    if (row.flags & rowflag::literalSecond) { // dst = src0 * K + src1
      record.sources[1] = constants.word(literal);
      count = 2;
    }
    known &= add(bits(word, 15, 8));
    if (row.flags & rowflag::literalThird)
      record.sources[count++] = constants.word(literal);
  }
  if (!known)
    return "an operand that scalar instructions cannot have";
  uint32_t barrier = bits(word, 7, 0); // 129 to 192 are the constants 1 to 64.
  if (row.flags & rowflag::barrierNumber && barrier > 128 && barrier <= 192)
    return "a named barrier";
  if (row.flags & rowflag::destinationIsSource)
    add(destination);
  record.destination = scalarDestination(destination);
  return nullptr;
}

// --- All ---

const char *OperandDecoder::decode(const Instruction &row, const EncodedInstruction &code,
                                   std::vector<Record> &records,
                                   std::vector<BranchTarget> &branches) {
  uint32_t word = code.words[0];
  if (row.shape == Shape::Alu && bits(word, 31, 30) != 2)
    return decodeVector(row, code, records);
  Record record;
  record.execute = row.direct;
  record.row = instructionRowNumber(row);
  record.instructionClass = static_cast<uint8_t>(row.instructionClass);
  record.variant = row.variant;
  const char *reason = nullptr;
  bool isBranch = false;
  switch (row.shape) {
  case Shape::Alu:
    reason = decodeScalar(row, code, record, isBranch);
    break;
  case Shape::Branch:
    isBranch = true;
    record.immediate = static_cast<uint32_t>(signExtend(bits(word, 15, 0), 16));
    break;
  case Shape::Control:
    record.immediate = bits(word, 15, 0);
    if (!isRdna() && bits(word, 31, 26) == 0x38) // MUBUF: buffer_wbl2, buffer_inv
      record.modifiers |= cacheModifiers(bits(word, 15, 14), row.instructionClass);
    if (row.flags & rowflag::barrierNumber && record.immediate != 0xffff)
      reason = "a named barrier";
    break;
  case Shape::ScalarMemory:
    reason = decodeScalarMemory(code, record);
    break;
  case Shape::Lds:
    reason = decodeLds(row, code, record);
    break;
  case Shape::Buffer:
    reason = decodeBuffer(code, record);
    break;
  case Shape::Flat:
    reason = decodeFlat(code, record);
    break;
  case Shape::Matrix:
    reason = decodeMatrix(row, code, record);
    break;
  }
  if (reason)
    return reason;
  if (isBranch) {
    int64_t distance = static_cast<int32_t>(record.immediate);
    branches.push_back({records.size(), code.address + 4 + static_cast<uint64_t>(distance * 4)});
  }
  records.push_back(record);
  return nullptr;
}

} // namespace wavetile::device
