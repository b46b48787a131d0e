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

static uint32_t bits(uint32_t word, unsigned high, unsigned low) {
  return word >> low & ((1u << (high - low + 1)) - 1);
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
  return "an unknown matrix instruction";
}

} // namespace wavetile::device
