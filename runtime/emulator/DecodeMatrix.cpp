//===- DecodeMatrix.cpp - Operands of matrix instructions -----------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// VOP3P-MAI: A, B and C/D each come from VGPRs or AGPRs.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Decoder.h"

namespace wavetile::device {

const char *OperandDecoder::decodeMatrix(const Instruction &row, const EncodedInstruction &code,
                                         Record &record) {
  uint32_t low = code.words[0], high = code.words[1];
  using matrixvariant::Move;
  auto accumulation = [](uint32_t index) {
    return Operand(OperandKind::Vector, firstAccumulationRow + (index & 255));
  };
  if (row.variant == matrixvariant::Copy) { // A VOP1 whose registers are AGPRs.
    record.sources[0] = accumulation(bits(low, 8, 0));
    record.destination = accumulation(bits(low, 24, 17));
    return nullptr;
  }
  if (row.variant == matrixvariant::Read) {
    record.sources[0] = accumulation(bits(high, 8, 0));
    record.destination = Operand(OperandKind::Vector, bits(low, 7, 0));
    return nullptr;
  }
  if (row.variant == matrixvariant::Write) {
    record.sources[0] = source(bits(high, 8, 0), Type::B32, 0);
    record.destination = accumulation(bits(low, 7, 0));
    return record.sources[0].kind() == OperandKind::None ? "an unknown source" : nullptr;
  }
  if (isRdna())
    return decodeWaveMatrix(row, code, record);

  // The scaled forms have the scales in an instruction of their own before the product.
  if (code.bytes == 16) {
    record.sources[3] = source(bits(high, 8, 0), Type::B32, 0);
    record.maskDestination = source(bits(high, 17, 9), Type::B32, 0);
    for (unsigned i = 0; i < 2; ++i) {
      record.modifiers |= bits(low, 11 + i, 11 + i) ? modifier::high(i) : 0;
      record.modifiers |= bits(high, 27 + i, 27 + i) ? modifier::highForHigh(i) : 0;
    }
    low = code.words[2], high = code.words[3];
  }
  uint32_t cbsz = bits(low, 10, 8), abid = bits(low, 14, 11), blgp = bits(high, 31, 29);
  bool choosesFormats = row.flags & rowflag::ownModifiers;
  bool isDouble = row.signature.result == Type::F64;
  if (choosesFormats ? cbsz > 4 || blgp > 4 : cbsz != 0 || (blgp != 0 && !isDouble))
    return "a broadcast of blocks";
  // Bit 11 of the product says that scales stand before it.
  if (abid != (code.bytes == 16 ? 1u : 0u))
    return "a broadcast of blocks";
  record.variant = static_cast<uint8_t>(cbsz | blgp << 3);

  auto inFile = [&](uint32_t encoding, bool isAccumulation, Type type) {
    Operand operand = source(encoding, type, 0);
    if (operand.kind() == OperandKind::Vector && isAccumulation)
      return Operand(OperandKind::Vector, operand.index() + firstAccumulationRow);
    return operand;
  };
  bool accumulationResult = bits(low, 15, 15);
  record.sources[0] = inFile(bits(high, 8, 0), bits(high, 27, 27), Type::Any);
  record.sources[1] = inFile(bits(high, 17, 9), bits(high, 28, 28), Type::Any);
  record.sources[2] = inFile(bits(high, 26, 18), accumulationResult, row.signature.result);
  record.destination = inFile(256 + bits(low, 7, 0), accumulationResult, Type::Any);
  if (record.sources[0].kind() != OperandKind::Vector ||
      record.sources[1].kind() != OperandKind::Vector ||
      record.sources[2].kind() == OperandKind::Scalar ||
      record.sources[2].kind() == OperandKind::None)
    return "an operand that is no vector register";
  return nullptr;
}

/// VOP3P of RDNA3: A, B and C in VGPRs, neg bits that say signed or unsigned for integers.
const char *OperandDecoder::decodeWaveMatrix(const Instruction &row, const EncodedInstruction &code,
                                             Record &record) {
  uint32_t low = code.words[0], high = code.words[1];
  record.sources[0] = source(bits(high, 8, 0), Type::Any, 0);
  record.sources[1] = source(bits(high, 17, 9), Type::Any, 0);
  record.sources[2] = source(bits(high, 26, 18), row.signature.result, 0);
  record.destination = Operand(OperandKind::Vector, bits(low, 7, 0));
  for (unsigned i = 0; i < 3; ++i) {
    record.modifiers |= bits(high, 29 + i, 29 + i) ? modifier::negate(i) : 0;
    record.modifiers |= bits(low, 8 + i, 8 + i) ? modifier::negateHigh(i) : 0;
    record.modifiers |= bits(low, 11 + i, 11 + i) ? modifier::high(i) : 0;
  }
  record.modifiers |= bits(low, 15, 15) ? modifier::clamp : 0;
  if (record.sources[0].kind() != OperandKind::Vector ||
      record.sources[1].kind() != OperandKind::Vector ||
      record.sources[2].kind() == OperandKind::Scalar ||
      record.sources[2].kind() == OperandKind::None)
    return "an operand that is no vector register";
  return nullptr;
}

} // namespace wavetile::device
