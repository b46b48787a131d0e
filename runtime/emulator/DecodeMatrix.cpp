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

/// Why this row cannot have these modifiers, or null.
static const char *checkMatrixControl(const Instruction &row, uint32_t cbsz, uint32_t abid,
                                      uint32_t blgp) {
  const MatrixShape &shape = row.matrix;
  if (shape.choosesFormats)
    return cbsz > 4 || blgp > 4 ? "an unknown format" : abid != 0 ? "abid" : nullptr;
  bool isDouble = row.signature.result == Type::F64; // blgp is the signs.
  if (blgp != 0 && !isDouble && !shape.lanePattern)
    return "blgp, which this instruction does not have";
  if (shape.sparse)
    return nullptr;
  if ((1u << cbsz) > shape.blocks || (isDouble && cbsz != 0))
    return "a broadcast of more blocks than there are";
  return abid >= (1u << cbsz) ? "a broadcast of a block that is none of the receivers" : nullptr;
}

/// A and B are always registers, C may be an inline constant, a sparse product's index may not.
static const char *checkMatrixSources(const Instruction &row, const Record &record) {
  auto isVector = [](Operand operand) { return operand.kind() == OperandKind::Vector; };
  bool constantC = record.sources[2].kind() == OperandKind::Constant && !row.matrix.sparse;
  if (isVector(record.sources[0]) && isVector(record.sources[1]) &&
      (isVector(record.sources[2]) || constantC))
    return nullptr;
  return "an operand that is no vector register";
}

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
    if (record.sources[3].kind() != OperandKind::Vector ||
        record.maskDestination.kind() != OperandKind::Vector)
      return "scales that are in no vector register";
    for (unsigned i = 0; i < 2; ++i) {
      record.modifiers |= bits(low, 11 + i, 11 + i) ? modifier::high(i) : 0;
      record.modifiers |= bits(high, 27 + i, 27 + i) ? modifier::highForHigh(i) : 0;
    }
    low = code.words[2], high = code.words[3];
  }
  uint32_t cbsz = bits(low, 10, 8), abid = bits(low, 14, 11), blgp = bits(high, 31, 29);
  // Bit 11 of a product that has scales says that they stand before it.
  if (code.bytes == 16)
    abid &= ~1u;
  if (const char *reason = checkMatrixControl(row, cbsz, abid, blgp))
    return reason;
  if (row.matrix.sparse && (cbsz & 3) != 0)
    abid = 0; // The first index set.
  record.immediate = matrixcontrol::pack(cbsz, abid, blgp);

  auto inFile = [&](uint32_t encoding, bool isAccumulation, Type type) {
    Operand operand = source(encoding, type, 0);
    if (operand.kind() == OperandKind::Vector && isAccumulation)
      return Operand(OperandKind::Vector, operand.index() + firstAccumulationRow);
    return operand;
  };
  bool accumulationResult = bits(low, 15, 15);
  record.sources[0] = inFile(bits(high, 8, 0), bits(high, 27, 27), Type::Any);
  record.sources[1] = inFile(bits(high, 17, 9), bits(high, 28, 28), Type::Any);
  // A sparse product's third operand is the index, which is never in AGPRs.
  record.sources[2] =
      inFile(bits(high, 26, 18), accumulationResult && !row.matrix.sparse, row.signature.result);
  record.destination = inFile(256 + bits(low, 7, 0), accumulationResult, Type::Any);
  return checkMatrixSources(row, record);
}

/// VOP3P of RDNA: A, B and C or the index in VGPRs, neg bits that say signed or unsigned for
/// integers.
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
  if (row.matrix.sparse) // op_sel names the index set.
    record.immediate = matrixcontrol::pack(0, bits(low, 12, 11), 0);
  return checkMatrixSources(row, record);
}

} // namespace wavetile::device
