//===- DecodeMemory.cpp - Operands of memory instructions -----------------===//
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
#include "runtime/emulator/Decoder.h"

#include <algorithm>

namespace wavetile::device {

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

const char *OperandDecoder::decodeScalarMemory(const EncodedInstruction &code, Record &record) {
  uint32_t low = code.words[0], high = code.words[1];
  if (isRdna() && bits(low, 5, 0) * 2 == nullEncoding)
    return "null as an address";
  record.sources[0] = Operand(OperandKind::Scalar, bits(low, 5, 0) * 2);
  if (!isRdna() || bits(low, 12, 6) != nullEncoding) // What is loaded into null goes nowhere.
    record.destination = scalarDestination(bits(low, 12, 6));
  uint32_t offset = bits(high, 20, 0), scalarOffset = bits(high, 31, 25);
  record.variant = isRdna() ? buffervariant::rdnaResource : 0;
  if (isGfx12())
    record.variant |= buffervariant::gfx12Resource;
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
    if (scalarOffset != nullEncoding)
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
  if (segment != FlatSegment && scalarBase != nullEncoding)
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
  bool hasScalarBase = segment != FlatSegment && scalarBase != (isRdna() ? nullEncoding : 127u);
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
  record.variant = buffervariant::rdnaResource | buffervariant::gfx12Resource;
  if (bits(low, 21, 21)) {
    record.variant |= buffervariant::typed;
    record.maskDestination.bits = static_cast<uint16_t>(bits(middle, 29, 23));
  }
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
  if (bits(middle, 17, 9) == nullEncoding)
    return "null as a resource";
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
  bool offsetEnable, indexEnable, isTyped = bits(low, 31, 26) == 0x3a; // MTBUF
  if (isRdna()) {
    if (bits(high, 21, 21))
      return "tfe";
    offsetEnable = bits(high, 22, 22), indexEnable = bits(high, 23, 23);
    record.variant = buffervariant::rdnaResource;
    cache = bits(low, 14, 14) | bits(low, 12, 12) << 1 | bits(low, 13, 13) << 2;
    if (bits(low, 14, 14))
      record.modifiers |= modifier::returnsValue;
  } else {
    offsetEnable = bits(low, 12, 12), indexEnable = bits(low, 13, 13);
    record.variant = 0;
    if (!isTyped && bits(low, 16, 16))
      record.modifiers |= modifier::toLds;
    if (bits(low, 14, 14))
      record.modifiers |= modifier::returnsValue;
    cache = bits(low, 14, 14) | (isTyped ? bits(high, 21, 21) << 1 | bits(high, 22, 22) << 2
                                         : bits(low, 15, 15) << 1 | bits(low, 17, 17) << 2);
    file = bits(high, 23, 23) ? firstAccumulationRow : 0;
  }
  if (isTyped) {
    record.variant |= buffervariant::typed;
    record.maskDestination.bits = static_cast<uint16_t>(bits(low, 25, 19));
  }
  record.modifiers |= cacheModifiers(cache, static_cast<InstructionClass>(record.instructionClass));
  record.modifiers |=
      (offsetEnable ? modifier::offsetEnable : 0) | (indexEnable ? modifier::indexEnable : 0);
  record.sources[0] = Operand(OperandKind::Vector, bits(high, 7, 0));
  record.sources[1] = Operand(OperandKind::Vector, bits(high, 15, 8) + file);
  record.destination = record.sources[1];
  if (isRdna() && bits(high, 20, 16) * 4 == nullEncoding)
    return "null as a resource";
  record.sources[2] = Operand(OperandKind::Scalar, bits(high, 20, 16) * 4);
  record.sources[3] = source(bits(high, 31, 24), Type::B32, 0);
  return record.sources[3].kind() == OperandKind::None ? "an unknown scalar offset" : nullptr;
}

} // namespace wavetile::device
