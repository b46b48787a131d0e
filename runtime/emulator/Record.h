//===- Record.h - A decoded instruction -----------------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Code is taken apart once, when it is loaded: each machine instruction becomes a record of 32
// bytes with a direct pointer to the function that executes it. Records of one program lie in one
// array in the order of their addresses, so that "the next instruction" is the next record.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_RECORD_H
#define WAVETILE_RUNTIME_EMULATOR_RECORD_H

#include <cstdint>

namespace wavetile::device {

struct Record;
struct Wave;

/// Executes one record for all lanes of a wave. Returns the record to go on with, or null if the
/// wave stops here; `Wave::status` then says why.
using Handler = const Record *(*)(Wave &, const Record *);

/// Where the value of an operand is. Vector and constant operands are rows of a lane each; a
/// constant row holds the same value in every lane, and is made when the code is loaded.
enum class OperandKind : uint16_t { Vector = 0, Constant = 1, Scalar = 2, None = 3 };

struct Operand {
  uint16_t bits = static_cast<uint16_t>(OperandKind::None) << 14;

  constexpr Operand() = default;
  constexpr Operand(OperandKind kind, uint32_t index)
      : bits(static_cast<uint16_t>(static_cast<uint32_t>(kind) << 14 | index)) {}

  constexpr OperandKind kind() const { return static_cast<OperandKind>(bits >> 14); }
  constexpr uint32_t index() const { return bits & 0x3fff; }
  constexpr bool operator==(const Operand &) const = default;
};

/// Vector register rows: VGPRs, then AGPRs, then one row that only decoding hands out.
inline constexpr uint32_t firstAccumulationRow = 256;
inline constexpr uint32_t spareRow = 512;
inline constexpr uint32_t vectorRows = 513;

/// Scalar registers by their encoding on gfx9; other encodings are renumbered when decoded.
namespace scalar {
inline constexpr uint32_t Vcc = 106;
/// gfx12 has the workgroup's x in Ttmp9, y and z in the halves of Ttmp7, the wave's number in the
/// workgroup in bits 25 to 29 of Ttmp8.
inline constexpr uint32_t Ttmp7 = 115;
inline constexpr uint32_t Ttmp8 = 116;
inline constexpr uint32_t Ttmp9 = 117;
inline constexpr uint32_t M0 = 124;
inline constexpr uint32_t Exec = 126;
inline constexpr uint32_t Null = 128; ///< Written and never read: a read decodes to a constant 0.
inline constexpr uint32_t Scc = 130;
inline constexpr uint32_t VccZero = 131;
inline constexpr uint32_t ExecZero = 132;
inline constexpr uint32_t Count = 136;
} // namespace scalar

/// Operand modifiers, packed. `operand` is 0 to 2.
namespace modifier {
constexpr uint32_t negate(unsigned operand) { return 1u << operand; }
constexpr uint32_t absolute(unsigned operand) { return 1u << (3 + operand); }
/// op_sel: the half of a 16-bit source, or the half of a packed source that makes the low result.
constexpr uint32_t high(unsigned operand) { return 1u << (6 + operand); }
/// op_sel[3]: the result goes to the high half.
inline constexpr uint32_t highResult = 1u << 9;
/// op_sel_hi: the half of a packed source that makes the high result.
constexpr uint32_t highForHigh(unsigned operand) { return 1u << (10 + operand); }
constexpr uint32_t negateHigh(unsigned operand) { return 1u << (13 + operand); }
inline constexpr uint32_t clamp = 1u << 16;
/// Output modifier: 1: times 2, 2: times 4, 3: divided by 2.
constexpr uint32_t outputShift = 17;
inline constexpr uint32_t outputMask = 3u << outputShift;
/// `Record::immediate` holds the second word of a DPP, DPP8 or SDWA instruction.
inline constexpr uint32_t dpp = 1u << 19;
inline constexpr uint32_t dpp8 = 1u << 20;
inline constexpr uint32_t sdwa = 1u << 21;
/// DPP8 that reads lanes which EXEC switches off.
inline constexpr uint32_t fetchInactive = 1u << 22;
/// A 16-bit result that keeps the other half of its register on every target.
inline constexpr uint32_t keepHalf = 1u << 23;

// Memory instructions.
inline constexpr uint32_t returnsValue = 1u << 0; ///< Atomics: glc or sc0.
inline constexpr uint32_t toLds = 1u << 1;        ///< Loads to LDS.
inline constexpr uint32_t offsetEnable = 1u << 2; ///< Buffer: offen.
inline constexpr uint32_t indexEnable = 1u << 3;  ///< Buffer: idxen.
inline constexpr uint32_t scratch = 1u << 4;      ///< FLAT encoding, scratch segment.
inline constexpr uint32_t flat = 1u << 5;         ///< FLAT encoding, address decides.
inline constexpr uint32_t highHalf = 1u << 6;     ///< True16: the high half of the data register.
/// Two bits: an `AccessScope`.
inline constexpr uint32_t scopeShift = 8;
/// Three bits as encoded, low to high: sc0 sc1 nt on gfx9, glc slc dlc on gfx11, TH on gfx12.
inline constexpr uint32_t cachePolicyShift = 10;
} // namespace modifier

/// `Record::immediate` of matrix instructions: cbsz, abid and blgp of CDNA, whose meaning depends
/// on the instruction. Sparse ones: abid is the number of the index set, also on RDNA.
namespace matrixcontrol {
constexpr uint32_t pack(uint32_t cbsz, uint32_t abid, uint32_t blgp) {
  return cbsz | abid << 3 | blgp << 7;
}
constexpr uint32_t broadcastSize(uint32_t immediate) { return immediate & 7; }
constexpr uint32_t broadcastBlock(uint32_t immediate) { return immediate >> 3 & 15; }
constexpr uint32_t lanePattern(uint32_t immediate) { return immediate >> 7 & 7; }
} // namespace matrixcontrol

/// `Record::variant` of buffer instructions, and of scalar loads through a buffer resource.
namespace buffervariant {
inline constexpr uint8_t rdnaResource =
    1; ///< The resource is laid out as gfx11's, with OOB_SELECT.
/// gfx12: each dword of a vector is in range or not by itself, the scalar offset is part of what a
/// swizzled resource rearranges, and strides have a scale.
inline constexpr uint8_t gfx12Resource = 2;
/// MTBUF: `Record::maskDestination` holds the format of the instruction.
inline constexpr uint8_t typed = 4;
} // namespace buffervariant

struct Record {
  Handler execute = nullptr;
  Operand destination;
  Operand sources[4];
  /// The carry or comparison result of vector instructions. MTBUF: the bits are the format.
  Operand maskDestination;
  /// Branches: records to go on from this one, signed. Memory: the byte offset, signed.
  /// Vector ALU: the second word of DPP and SDWA. Scalar ALU with SIMM16: that, sign-extended.
  /// Matrix: see `matrixcontrol`.
  uint32_t immediate = 0;
  uint32_t modifiers = 0;
  uint8_t instructionClass = 0;
  /// What the instruction's row wants to tell its handler.
  uint8_t variant = 0;
  /// The row that it was made from, as `instructionRow` counts; 0: none.
  uint16_t row = 0;
};
static_assert(sizeof(Record) == 32);

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_RECORD_H
