//===- DecodeOperands.cpp - Operands of scalar and memory instructions ----===//
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

#include "runtime/emulator/AccessObserver.h"
#include "runtime/emulator/Apertures.h"
#include "runtime/emulator/Decoder.h"

#include <algorithm>

namespace wavetile::device {

static int32_t signExtend(uint32_t value, unsigned width) {
  return static_cast<int32_t>(value << (32 - width)) >> (32 - width);
}

// --- Sources ---

Operand OperandDecoder::scalarDestination(uint32_t encoding) const {
  if (isRdna()) {
    if (encoding == 124)
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
  case 124:
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

/// Cache bits that mean the same in every memory format of a family: the modifiers that say how far
/// an access reaches, and the bits themselves. \p bits: sc0 sc1 nt, or glc slc dlc.
uint32_t OperandDecoder::cacheModifiers(uint32_t bits, InstructionClass instructionClass) const {
  AccessScope scope = AccessScope::Wave;
  bool isAtomic = instructionClass == InstructionClass::GlobalAtomic;
  if (isRdna()) {
    // A load past the nearest cache; atomics are done in L2. Stores say nothing.
    bool isLoad = instructionClass == InstructionClass::GlobalLoad ||
                  instructionClass == InstructionClass::ScalarMemory;
    if (isAtomic || (isLoad && bits & 5))
      scope = AccessScope::Device;
  } else if (isAtomic) {
    scope = bits & 2 ? AccessScope::System : AccessScope::Device;
  } else {
    scope = static_cast<AccessScope>(bits & 3);
  }
  return static_cast<uint32_t>(scope) << modifier::scopeShift | bits << modifier::cachePolicyShift;
}

/// The same for gfx12. \p scope: the compute unit, the shader engine, the device, the system;
/// \p temporalHint is the th field.
uint32_t OperandDecoder::cacheModifiers12(uint32_t scope, uint32_t temporalHint,
                                          InstructionClass instructionClass) {
  uint32_t least = instructionClass == InstructionClass::GlobalAtomic
                       ? static_cast<uint32_t>(AccessScope::Device)
                       : 0;
  return std::max(scope, least) << modifier::scopeShift | temporalHint
                                                              << modifier::cachePolicyShift;
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
  } else if (bits(word, 31, 23) == 0x17e) { // SOPC
    known = add(bits(word, 7, 0)) && add(bits(word, 15, 8));
  } else if (bits(word, 31, 28) == 0xb) { // SOPK
    uint32_t immediate = static_cast<uint32_t>(signExtend(bits(word, 15, 0), 16));
    record.immediate = immediate;
    if (row.flags & rowflag::hardwareRegister) {
      enum { Mode = 1, XccId = 20 };
      uint32_t hardwareRegister = immediate & 63;
      bool reads = signature.result != Type::None;
      if (hardwareRegister != Mode && !(reads && hardwareRegister == XccId))
        return "a hardware register other than MODE";
      record.sources[1] = row.flags & rowflag::literalSecond ? constants.word(literal)
                                                             : scalarDestination(destination);
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
    record.sources[count++] = scalarDestination(destination);
  record.destination = scalarDestination(destination);
  return nullptr;
}

const char *OperandDecoder::decodeScalarMemory(const EncodedInstruction &code, Record &record) {
  uint32_t low = code.words[0], high = code.words[1];
  record.sources[0] = Operand(OperandKind::Scalar, bits(low, 5, 0) * 2);
  record.destination = scalarDestination(bits(low, 12, 6));
  uint32_t offset = bits(high, 20, 0), scalarOffset = bits(high, 31, 25);
  // glc, and dlc on gfx11; scope and th on gfx12.
  record.modifiers |=
      isGfx12()
          ? cacheModifiers12(bits(low, 22, 21), bits(low, 24, 23), InstructionClass::ScalarMemory)
          : cacheModifiers(isRdna() ? bits(low, 14, 14) | bits(low, 13, 13) << 2
                                    : bits(low, 16, 16),
                           InstructionClass::ScalarMemory);
  if (isRdna()) {
    record.immediate = static_cast<uint32_t>(isGfx12() ? signExtend(bits(high, 23, 0), 24)
                                                       : signExtend(offset, 21));
    if (scalarOffset != 124)
      record.sources[1] = scalarDestination(scalarOffset);
    return nullptr;
  }
  bool hasImmediate = bits(low, 17, 17), hasScalar = bits(low, 14, 14);
  if (hasImmediate)
    record.immediate = static_cast<uint32_t>(signExtend(offset, 21));
  if (hasScalar)
    record.sources[1] = scalarDestination(scalarOffset);
  else if (!hasImmediate)
    record.sources[1] = scalarDestination(offset & 127);
  return nullptr;
}

// --- Memory ---

const char *OperandDecoder::decodeLds(const Instruction &row, const EncodedInstruction &code,
                                      Record &record) {
  uint32_t low = code.words[0], high = code.words[1];
  if (!isGfx12() && bits(low, isRdna() ? 17 : 16, isRdna() ? 17 : 16))
    return "GDS";
  uint32_t file = !isRdna() && bits(low, 25, 25) ? firstAccumulationRow : 0;
  record.immediate = bits(low, 15, 0);
  record.variant = row.variant;
  record.sources[0] = Operand(OperandKind::Vector, bits(high, 7, 0));
  record.sources[1] = Operand(OperandKind::Vector, bits(high, 15, 8) + file);
  record.sources[2] = Operand(OperandKind::Vector, bits(high, 23, 16) + file);
  record.destination = Operand(OperandKind::Vector, bits(high, 31, 24) + file);
  return nullptr;
}

/// Segments of the FLAT encoding.
enum { FlatSegment = 0, ScratchSegment = 1, GlobalSegment = 2 };

/// VFLAT, VGLOBAL and VSCRATCH of gfx12.
void OperandDecoder::decodeFlat96(const EncodedInstruction &code, Record &record) {
  uint32_t low = code.words[0], middle = code.words[1], high = code.words[2];
  uint32_t segment = bits(low, 25, 24), scalarBase = bits(low, 6, 0);
  record.immediate = static_cast<uint32_t>(signExtend(bits(high, 31, 8), 24));
  if (bits(middle, 20, 20)) // TH_ATOMIC_RETURN
    record.modifiers |= modifier::returnsValue;
  record.modifiers |= cacheModifiers12(bits(middle, 19, 18), bits(middle, 22, 20),
                                       static_cast<InstructionClass>(record.instructionClass));
  if (segment == FlatSegment)
    record.modifiers |= modifier::flat;
  if (segment == ScratchSegment) {
    record.modifiers |= modifier::scratch;
    record.instructionClass = static_cast<uint8_t>(InstructionClass::Scratch);
  }
  if (segment != ScratchSegment || bits(middle, 17, 17))
    record.sources[0] = Operand(OperandKind::Vector, bits(high, 7, 0));
  record.sources[1] = Operand(OperandKind::Vector, bits(middle, 30, 23));
  if (segment != FlatSegment && scalarBase != 124)
    record.sources[2] = scalarDestination(scalarBase);
  record.destination = Operand(OperandKind::Vector, bits(middle, 7, 0));
}

const char *OperandDecoder::decodeFlat(const EncodedInstruction &code, Record &record) {
  if (isGfx12()) {
    decodeFlat96(code, record);
    return nullptr;
  }
  uint32_t low = code.words[0], high = code.words[1];
  uint32_t segment = isRdna() ? bits(low, 17, 16) : bits(low, 15, 14);
  uint32_t scalarBase = bits(high, 22, 16);
  bool topBit = bits(high, 23, 23);
  uint32_t file = !isRdna() && topBit ? firstAccumulationRow : 0;
  bool hasScalarBase = segment != FlatSegment && scalarBase != (isRdna() ? 124u : 127u);
  // A flat offset is unsigned on gfx9: bit 12 belongs to the other segments.
  uint32_t offset = bits(low, 12, 0);
  record.immediate = segment == FlatSegment && !isRdna()
                         ? bits(low, 11, 0)
                         : static_cast<uint32_t>(signExtend(offset, 13));
  if (bits(low, isRdna() ? 14 : 16, isRdna() ? 14 : 16))
    record.modifiers |= modifier::returnsValue;
  uint32_t cache = isRdna() ? bits(low, 14, 14) | bits(low, 15, 15) << 1 | bits(low, 13, 13) << 2
                            : bits(low, 16, 16) | bits(low, 25, 25) << 1 | bits(low, 17, 17) << 2;
  record.modifiers |= cacheModifiers(cache, static_cast<InstructionClass>(record.instructionClass));
  if (segment == FlatSegment)
    record.modifiers |= modifier::flat;
  if (segment == ScratchSegment) {
    record.modifiers |= modifier::scratch;
    record.instructionClass = static_cast<uint8_t>(InstructionClass::Scratch);
  }
  bool hasVectorAddress = segment != ScratchSegment || (isRdna() ? topBit : bits(low, 13, 13));
  if (hasVectorAddress)
    record.sources[0] = Operand(OperandKind::Vector, bits(high, 7, 0));
  record.sources[1] = Operand(OperandKind::Vector, bits(high, 15, 8) + file);
  if (hasScalarBase)
    record.sources[2] = scalarDestination(scalarBase);
  record.destination = Operand(OperandKind::Vector, bits(high, 31, 24) + file);
  return nullptr;
}

/// VBUFFER of gfx12.
const char *OperandDecoder::decodeBuffer96(const EncodedInstruction &code, Record &record) {
  uint32_t low = code.words[0], middle = code.words[1], high = code.words[2];
  if (bits(low, 22, 22))
    return "tfe";
  // Range checks go by the resource's OOB_SELECT.
  record.variant = 0x80;
  record.immediate = bits(high, 31, 8);
  if (bits(middle, 20, 20)) // TH_ATOMIC_RETURN
    record.modifiers |= modifier::returnsValue;
  record.modifiers |= (bits(middle, 30, 30) ? modifier::offsetEnable : 0) |
                      (bits(middle, 31, 31) ? modifier::indexEnable : 0) |
                      cacheModifiers12(bits(middle, 19, 18), bits(middle, 22, 20),
                                       static_cast<InstructionClass>(record.instructionClass));
  record.sources[0] = Operand(OperandKind::Vector, bits(high, 7, 0));
  record.sources[1] = Operand(OperandKind::Vector, bits(middle, 7, 0));
  record.destination = record.sources[1];
  record.sources[2] = Operand(OperandKind::Scalar, bits(middle, 17, 9));
  record.sources[3] = source(bits(low, 6, 0), Type::B32, 0);
  return nullptr;
}

const char *OperandDecoder::decodeBuffer(const EncodedInstruction &code, Record &record) {
  if (isGfx12())
    return decodeBuffer96(code, record);
  uint32_t low = code.words[0], high = code.words[1];
  record.immediate = bits(low, 11, 0);
  uint32_t file = 0, cache;
  bool offsetEnable, indexEnable;
  if (isRdna()) {
    if (bits(high, 21, 21))
      return "tfe";
    offsetEnable = bits(high, 22, 22), indexEnable = bits(high, 23, 23);
    // Range checks go by the resource's OOB_SELECT.
    record.variant = 0x80;
    cache = bits(low, 14, 14) | bits(low, 12, 12) << 1 | bits(low, 13, 13) << 2;
    if (bits(low, 14, 14))
      record.modifiers |= modifier::returnsValue;
  } else {
    offsetEnable = bits(low, 12, 12), indexEnable = bits(low, 13, 13);
    if (bits(low, 16, 16))
      record.modifiers |= modifier::toLds;
    if (bits(low, 14, 14))
      record.modifiers |= modifier::returnsValue;
    cache = bits(low, 14, 14) | bits(low, 15, 15) << 1 | bits(low, 17, 17) << 2;
    file = bits(high, 23, 23) ? firstAccumulationRow : 0;
  }
  record.modifiers |= cacheModifiers(cache, static_cast<InstructionClass>(record.instructionClass));
  record.modifiers |=
      (offsetEnable ? modifier::offsetEnable : 0) | (indexEnable ? modifier::indexEnable : 0);
  record.sources[0] = Operand(OperandKind::Vector, bits(high, 7, 0));
  record.sources[1] = Operand(OperandKind::Vector, bits(high, 15, 8) + file);
  record.destination = record.sources[1];
  record.sources[2] = Operand(OperandKind::Scalar, bits(high, 20, 16) * 4);
  record.sources[3] = source(bits(high, 31, 24), Type::B32, 0);
  return record.sources[3].kind() == OperandKind::None ? "an unknown scalar offset" : nullptr;
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
