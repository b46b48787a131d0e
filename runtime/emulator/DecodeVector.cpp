//===- DecodeVector.cpp - Operands of vector instructions -----------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// VOP1, VOP2, VOPC, VOP3, VOP3P and VOPD, with a literal, DPP, DPP8 or SDWA word after them.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Decoder.h"

namespace wavetile::device {

namespace {
/// Encodings of src0 that announce a second word.
constexpr uint32_t sdwaWord = 249, dppWord = 250, dpp8Word = 233, dpp8FetchWord = 234;
enum class VectorFormat { Short, Vop3, Vop3p };
} // namespace

/// An instruction's fields before its row's types give them a meaning.
struct OperandDecoder::VectorFields {
  VectorFormat format = VectorFormat::Short;
  uint32_t sources[3] = {};
  uint32_t destination = 0;
  /// VOP3B's and SDWA's scalar destination; VCC otherwise.
  uint32_t scalarDestination = scalar::Vcc;
  uint32_t modifiers = 0;
  uint32_t literal = 0;
  uint32_t secondWord = 0; ///< DPP, DPP8 or SDWA.
  bool isComparison = false;
  /// VOP3: the bits that v_bitop3 takes for its table.
  uint32_t absBits = 0, negBits = 0, outputBits = 0;
};

/// Reads the word after a 32-bit encoding whose src0 announces it.
static void readDppWord(uint32_t word, bool withSigns, uint32_t &src0, uint32_t &modifiers) {
  src0 = 256 + bits(word, 7, 0);
  modifiers |= modifier::dpp;
  if (!withSigns)
    return;
  modifiers |= bits(word, 20, 20) ? modifier::negate(0) : 0;
  modifiers |= bits(word, 21, 21) ? modifier::absolute(0) : 0;
  modifiers |= bits(word, 22, 22) ? modifier::negate(1) : 0;
  modifiers |= bits(word, 23, 23) ? modifier::absolute(1) : 0;
}
static void readDpp8Word(uint32_t word, bool fetchInactive, uint32_t &src0, uint32_t &modifiers) {
  src0 = 256 + bits(word, 7, 0);
  modifiers |= modifier::dpp8 | (fetchInactive ? modifier::fetchInactive : 0);
}

const char *OperandDecoder::decodeVector(const Instruction &row, const EncodedInstruction &code,
                                         std::vector<Record> &records) {
  uint32_t word = code.words[0], second = code.words[1];
  VectorFields fields;
  fields.isComparison = row.signature.maskResult && row.signature.result == Type::None;

  if (word >> 31 == 0) { // VOP1, VOP2, VOPC
    fields.sources[0] = bits(word, 8, 0);
    fields.sources[1] = 256 + bits(word, 16, 9);
    fields.destination = bits(word, 24, 17);
    fields.literal = second;
    fields.secondWord = second;
    if (fields.sources[0] == sdwaWord && !isRdna()) {
      fields.modifiers |= modifier::sdwa;
      fields.sources[0] = bits(second, 7, 0) + (bits(second, 23, 23) ? 0 : 256);
      if (bits(second, 31, 31))
        fields.sources[1] -= 256;
      for (unsigned i = 0; i < 2; ++i) {
        fields.modifiers |= bits(second >> (8 * i), 20, 20) ? modifier::negate(i) : 0;
        fields.modifiers |= bits(second >> (8 * i), 21, 21) ? modifier::absolute(i) : 0;
      }
      if (fields.isComparison) {
        if (bits(second, 15, 15))
          fields.scalarDestination = bits(second, 14, 8);
      } else {
        fields.modifiers |= bits(second, 13, 13) ? modifier::clamp : 0;
        fields.modifiers |= bits(second, 15, 14) << modifier::outputShift;
      }
    } else if (fields.sources[0] == dppWord) {
      readDppWord(second, true, fields.sources[0], fields.modifiers);
    } else if (isRdna() && (fields.sources[0] == dpp8Word || fields.sources[0] == dpp8FetchWord)) {
      readDpp8Word(second, fields.sources[0] == dpp8FetchWord, fields.sources[0], fields.modifiers);
    }
    return finishVector(row, fields, records);
  }

  if (isRdna() && bits(word, 31, 26) == 0x32)
    return decodeDual(code, records);

  // VOP3 and VOP3P
  fields.format = VectorFormat::Vop3;
  if (isRdna() ? bits(word, 31, 24) == 0xcc : bits(word, 31, 23) == 0x1a7)
    fields.format = VectorFormat::Vop3p;
  fields.destination = bits(word, 7, 0);
  fields.sources[0] = bits(second, 8, 0);
  fields.sources[1] = bits(second, 17, 9);
  fields.sources[2] = bits(second, 26, 18);
  fields.literal = code.words[2];
  fields.secondWord = code.words[2];
  fields.negBits = bits(second, 31, 29);
  fields.outputBits = bits(second, 28, 27);
  fields.absBits = bits(word, 10, 8);
  fields.modifiers |= bits(word, 15, 15) ? modifier::clamp : 0;
  for (unsigned i = 0; i < 3; ++i)
    fields.modifiers |= fields.negBits >> i & 1 ? modifier::negate(i) : 0;
  if (fields.format == VectorFormat::Vop3p) {
    for (unsigned i = 0; i < 3; ++i) {
      fields.modifiers |= bits(word, 11 + i, 11 + i) ? modifier::high(i) : 0;
      fields.modifiers |= fields.absBits >> i & 1 ? modifier::negateHigh(i) : 0;
    }
    uint32_t selectHigh = fields.outputBits | bits(word, 14, 14) << 2;
    for (unsigned i = 0; i < 3; ++i)
      fields.modifiers |= selectHigh >> i & 1 ? modifier::highForHigh(i) : 0;
  } else if (row.signature.maskResult && row.signature.result != Type::None) { // VOP3B
    fields.scalarDestination = bits(word, 14, 8);
    fields.modifiers |= fields.outputBits << modifier::outputShift;
  } else {
    for (unsigned i = 0; i < 3; ++i) {
      fields.modifiers |= fields.absBits >> i & 1 ? modifier::absolute(i) : 0;
      fields.modifiers |= bits(word, 11 + i, 11 + i) ? modifier::high(i) : 0;
    }
    fields.modifiers |= bits(word, 14, 14) ? modifier::highResult : 0;
    fields.modifiers |= fields.outputBits << modifier::outputShift;
    if (fields.isComparison) {
      fields.scalarDestination = fields.destination;
      fields.modifiers &= ~(modifier::clamp | modifier::highResult);
    }
  }
  if (isRdna() && fields.sources[0] == dppWord)
    readDppWord(fields.secondWord, false, fields.sources[0], fields.modifiers);
  else if (isRdna() && (fields.sources[0] == dpp8Word || fields.sources[0] == dpp8FetchWord))
    readDpp8Word(fields.secondWord, fields.sources[0] == dpp8FetchWord, fields.sources[0],
                 fields.modifiers);
  return finishVector(row, fields, records);
}

/// The bits of `modifiers` that mean something for an operand of this type, without the neutral
/// choice of halves.
static uint32_t relevantModifiers(const Signature &signature, uint32_t modifiers) {
  constexpr uint32_t whole = modifier::dpp | modifier::dpp8 | modifier::sdwa |
                             modifier::fetchInactive | modifier::clamp | modifier::outputMask |
                             modifier::highResult | modifier::keepHalf;
  uint32_t result = modifiers & whole;
  for (unsigned i = 0; i < 3; ++i) {
    Type type = signature.sources[i];
    if (type == Type::None || type == Type::Mask)
      continue;
    result |= modifiers & modifier::negate(i);
    if (type == Type::Mixed || isPacked(type)) {
      result |= modifiers & (modifier::high(i) | modifier::negateHigh(i));
      // Neutral: the high half makes the high result.
      result |= (modifiers ^ modifier::highForHigh(i)) & modifier::highForHigh(i);
      continue;
    }
    result |= modifiers & modifier::absolute(i);
    if (is16Bit(type))
      result |= modifiers & modifier::high(i);
  }
  return result;
}

const char *OperandDecoder::finishVector(const Instruction &rowGiven, VectorFields &fields,
                                         std::vector<Record> &records) {
  const Instruction *row = &rowGiven;
  const Signature &signature = row->signature;
  Record record;
  record.instructionClass = static_cast<uint8_t>(row->instructionClass);
  record.variant = row->variant;
  record.immediate = fields.secondWord;
  uint32_t modifiers = fields.modifiers;
  bool isShort = fields.format == VectorFormat::Short;
  bool halvesInRegisterNumber = isShort && isRdna() && !(modifiers & modifier::sdwa);

  if (row->flags & rowflag::truthTable) {
    record.variant =
        static_cast<uint8_t>(fields.outputBits << 6 | fields.absBits << 3 | fields.negBits);
    modifiers &= modifier::high(0) | modifier::high(1) | modifier::high(2) | modifier::highResult;
  }
  if (row->flags & rowflag::byteSelect) {
    // Of a source op_sel[0] is the high bit of the choice, of a result op_sel[3].
    bool ofResult = row->flags & rowflag::keepsHalf;
    uint32_t low = ofResult ? modifier::high(2) : modifier::high(1);
    uint32_t high = ofResult ? modifier::highResult : modifier::high(0);
    record.variant = static_cast<uint8_t>((modifiers & low ? 1 : 0) | (modifiers & high ? 2 : 0));
    modifiers &= ~(low | high);
  }
  if (row->flags & rowflag::signednessByNeg) {
    record.variant = static_cast<uint8_t>(fields.negBits & 3);
    modifiers &= ~(modifier::negate(0) | modifier::negate(1));
    if (signature.sources[2] == Type::F32)
      modifiers |= modifiers & modifier::negateHigh(2) ? modifier::absolute(2) : 0;
    else
      modifiers &= ~modifier::negate(2);
  }
  // Packed operations have a choice of halves in VOP3P only.
  if (fields.format != VectorFormat::Vop3p)
    for (unsigned i = 0; i < 3; ++i)
      modifiers |= modifier::highForHigh(i);

  // Integer clamping is an operation of its own.
  if (modifiers & modifier::clamp && signature.result != Type::None &&
      !(row->flags & rowflag::ownModifiers)) {
    Type result = signature.result;
    bool isFloat = result == Type::F32 || result == Type::F16 || result == Type::F64 ||
                   result == Type::PackedF16 || result == Type::PackedF32;
    if (!isFloat) {
      llvm::StringRef name = llvm::StringRef(row->names).split(' ').first.split('@').first;
      row = find((name + "@clamp").str());
      if (!row)
        return "clamp";
      modifiers &= ~modifier::clamp;
    }
  }

  // Sources.
  unsigned given = 0; // Operands taken from the encoding so far.
  for (unsigned i = 0; i < 4 && signature.sources[i] != Type::None; ++i) {
    Type type = signature.sources[i];
    bool isLast = i == 3 || signature.sources[i + 1] == Type::None;
    if ((row->flags & rowflag::literalSecond && i == 1) ||
        (row->flags & rowflag::literalThird && i == 2)) {
      record.sources[i] = constants.word(fields.literal);
      continue;
    }
    if (row->flags & rowflag::accumulates && isLast) {
      uint32_t index = fields.destination;
      if (halvesInRegisterNumber && is16Bit(type)) {
        modifiers |= index & 128 ? modifier::high(i) : 0;
        index &= 127;
      } else if (is16Bit(type) && modifiers & modifier::highResult) {
        modifiers |= modifier::high(i);
      }
      record.sources[i] = Operand(OperandKind::Vector, index);
      continue;
    }
    if (type == Type::Mask && (isShort || i == 3)) {
      record.sources[i] = Operand(OperandKind::Scalar, scalar::Vcc);
      continue;
    }
    uint32_t encoding = fields.sources[given++];
    if (halvesInRegisterNumber && is16Bit(type) && encoding >= 256) {
      modifiers |= (encoding & 128) ? modifier::high(i) : 0;
      encoding &= ~128u;
    }
    // A constant of v_fma_mix is in the format that op_sel_hi chooses.
    bool isHalf = type == Type::Mixed && modifiers & modifier::highForHigh(i);
    record.sources[i] = source(encoding, isHalf ? Type::F16 : type, fields.literal);
    if (record.sources[i].kind() == OperandKind::None)
      return "an operand of a kind that is not supported";
    if (modifiers & modifier::high(i) && !is16Bit(type) && !isPacked(type) && type != Type::Mixed &&
        !(row->flags & rowflag::ownModifiers))
      return "op_sel of a whole operand";
  }

  // These exchange registers of lanes: nothing else can be their source.
  llvm::StringRef names = row->names;
  bool ofRegisters = names.starts_with("v_swap") || names.starts_with("v_permlane");
  if (ofRegisters && (record.sources[0].kind() != OperandKind::Vector ||
                      (names.contains("_var_") && record.sources[1].kind() != OperandKind::Vector)))
    return "an operand that it cannot have";

  // Results.
  if (signature.result == Type::ScalarB32 || signature.result == Type::ScalarB64) {
    record.destination = scalarDestination(fields.destination & 127);
  } else if (signature.result != Type::None) {
    uint32_t index = fields.destination;
    if (halvesInRegisterNumber && is16Bit(signature.result)) {
      modifiers |= index & 128 ? modifier::highResult : 0;
      index &= 127;
    }
    record.destination = Operand(OperandKind::Vector, index);
    if (row->flags & rowflag::writesHigh)
      modifiers |= modifier::highResult;
    if (row->flags & rowflag::keepsHalf)
      modifiers |= modifier::keepHalf;
    if (modifiers & modifier::highResult && !is16Bit(signature.result) &&
        !(row->flags & rowflag::ownModifiers))
      return "op_sel of a whole result";
  }
  bool writesExec = row->flags & rowflag::writesExec;
  if (signature.maskResult) {
    uint32_t destination = fields.scalarDestination;
    record.maskDestination = writesExec && isRdna() ? Operand(OperandKind::Scalar, scalar::Exec)
                                                    : scalarDestination(destination);
  }

  // Handlers.
  record.row = instructionRowNumber(*row);
  if (row->flags & rowflag::ownModifiers) {
    record.modifiers = modifiers;
    record.execute = row->direct;
  } else {
    bool plain = relevantModifiers(signature, modifiers) == 0;
    bool mixed = signature.sources[0] == Type::Mixed;
    record.modifiers = modifiers;
    record.execute = plain && !mixed ? row->direct : row->prepared;
    if (!record.execute)
      return "modifiers that it cannot have";
  }
  records.push_back(record);

  if (writesExec && !isRdna()) { // There v_cmpx writes both EXEC and its scalar destination.
    const Instruction *move = find("s_mov_b64");
    Record copy;
    copy.execute = move->direct;
    copy.row = instructionRowNumber(*move);
    copy.instructionClass = record.instructionClass;
    copy.sources[0] = record.maskDestination;
    copy.destination = Operand(OperandKind::Scalar, scalar::Exec);
    records.push_back(copy);
  }
  return nullptr;
}

// --- VOPD ---

const char *OperandDecoder::decodeDual(const EncodedInstruction &code,
                                       std::vector<Record> &records) {
  static constexpr const char *operations[] = {
      "v_fmac_f32", "v_fmaak_f32",  "v_fmamk_f32",        "v_mul_f32",        "v_add_f32",
      "v_sub_f32",  "v_subrev_f32", "v_mul_dx9_zero_f32", "v_mov_b32",        "v_cndmask_b32",
      "v_max_f32",  "v_min_f32",    "v_dot2acc_f32_f16",  "v_dot2c_f32_bf16", nullptr,
      nullptr,      "v_add_nc_u32", "v_lshlrev_b32",      "v_and_b32"};
  uint32_t low = code.words[0], high = code.words[1];
  uint32_t operationX = bits(low, 25, 22), operationY = bits(low, 21, 17);
  if (operationY >= std::size(operations) || !operations[operationX] || !operations[operationY])
    return "an unknown half";
  VectorFields x, y;
  x.sources[0] = bits(low, 8, 0), x.sources[1] = 256 + bits(low, 16, 9);
  y.sources[0] = bits(high, 8, 0), y.sources[1] = 256 + bits(high, 16, 9);
  x.destination = bits(high, 31, 24);
  y.destination = bits(high, 23, 17) << 1 | (~x.destination & 1);
  x.literal = y.literal = code.words[2];

  size_t first = records.size();
  // gfx12 has other minima and maxima.
  auto findHalf = [&](llvm::StringRef name) {
    if (isGfx12() && (name == "v_max_f32" || name == "v_min_f32"))
      return find((name.drop_back(4) + "_num_f32").str());
    return find(name);
  };
  const Instruction *rowX = findHalf(operations[operationX]);
  const Instruction *rowY = findHalf(operations[operationY]);
  if (!rowX || !rowY)
    return "an unknown half";
  if (const char *reason = finishVector(*rowX, x, records))
    return reason;
  if (const char *reason = finishVector(*rowY, y, records))
    return reason;

  // Both halves read before either writes. One after the other does it, unless each reads what the
  // other writes: then the first one's result waits in the spare row.
  auto reads = [](const Record &reader, Operand written) {
    for (const Operand &source : reader.sources)
      if (source == written)
        return true;
    return false;
  };
  Record &recordX = records[first], &recordY = records[first + 1];
  if (!reads(recordY, recordX.destination))
    return nullptr;
  if (!reads(recordX, recordY.destination)) {
    std::swap(recordX, recordY);
    return nullptr;
  }
  Operand result = recordX.destination, spare(OperandKind::Vector, spareRow);
  recordX.destination = spare;
  Record move;
  const Instruction &moveRow = *find("v_mov_b32");
  move.execute = moveRow.direct;
  move.row = instructionRowNumber(moveRow);
  move.instructionClass = recordX.instructionClass;
  move.sources[0] = spare;
  move.destination = result;
  records.push_back(move);
  return nullptr;
}

} // namespace wavetile::device
