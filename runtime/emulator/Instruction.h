//===- Instruction.h - One row of the instruction tables ------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An instruction is one readable row: its mnemonics, the types of its operands and its meaning. The
// decoder reads the types to find operands and constants in the encoding; handlers made from the
// meaning execute it. A row whose name ends in "@" and a feature holds only where the feature does:
//
//   @gfx9, @gfx11,  the encoding family        @clamp   integer instructions with the clamp bit
//   @gfx12                                     @cdna, @rdna   gfx9, or gfx11 and gfx12
//   @fnuz, @ocp     the 8-bit float format
//
// Included by code built for several instruction sets of the host: no library containers here.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_INSTRUCTION_H
#define WAVETILE_RUNTIME_EMULATOR_INSTRUCTION_H

#include "runtime/emulator/Record.h"
#include "runtime/emulator/checks/GlobalRaceCell.h"
#include "runtime/emulator/checks/LdsRaceCell.h"

#include <cstddef>
#include <cstdint>

namespace wavetile::device {

enum class InstructionClass : uint8_t;

/// What an operand holds. Decides the value of inline constants and literals, the bits that `neg`
/// and `abs` change, the meaning of op_sel, and how many rows it takes.
enum class Type : uint8_t {
  None,
  B32, ///< 32 bits; `neg` and `abs` act on bit 31.
  F32,
  B16, ///< The low or high half of a register.
  F16,
  BF16,
  B64, ///< Two rows. Literals are zero-extended.
  I64, ///< Literals are sign-extended.
  F64, ///< A literal is the high word.
  PackedB16,
  PackedF16,
  PackedBF16,
  PackedF32, ///< Two rows.
  Mixed,     ///< v_fma_mix: op_sel_hi says f16 or f32; read as f32.
  Mask,      ///< A bit a lane in scalar registers.
  ScalarB32, ///< A scalar register, also where the encoding could name a vector one.
  ScalarB64,
  Any, ///< A register operand of whatever width the handler says; no constants but 0.
};

constexpr unsigned rowsOf(Type type) {
  switch (type) {
  case Type::None:
  case Type::Mask:
    return 0;
  case Type::B64:
  case Type::I64:
  case Type::F64:
  case Type::PackedF32:
  case Type::ScalarB64:
    return 2;
  default:
    return 1;
  }
}
constexpr bool is16Bit(Type type) {
  return type == Type::B16 || type == Type::F16 || type == Type::BF16;
}
constexpr bool isPacked(Type type) {
  return type == Type::PackedB16 || type == Type::PackedF16 || type == Type::PackedBF16 ||
         type == Type::PackedF32;
}

/// The types of a vector or scalar instruction's operands.
struct Signature {
  Type result = Type::None;
  Type sources[4] = {Type::None, Type::None, Type::None, Type::None};
  bool maskResult = false; ///< Also, or only, writes a bit a lane.
};

/// Which operand layout a row's instructions have, beyond what the encoding says.
enum class Shape : uint8_t {
  Alu,     ///< Scalar and vector ALU, by the signature.
  Branch,  ///< SOPP with a target.
  Control, ///< SOPP and SOPK without data: waits, barriers, ends.
  ScalarMemory,
  Lds,
  Buffer,
  Flat,   ///< FLAT, GLOBAL and SCRATCH.
  Matrix, ///< VOP3P-MAI: operands of `variant`-dependent width.
};

namespace rowflag {
inline constexpr uint16_t accumulates = 1;          ///< The last source is the destination.
inline constexpr uint16_t literalSecond = 2;        ///< fmamk: dst = src0 * K + vsrc1.
inline constexpr uint16_t literalThird = 4;         ///< fmaak: dst = src0 * vsrc1 + K.
inline constexpr uint16_t writesExec = 8;           ///< v_cmpx.
inline constexpr uint16_t destinationIsSource = 16; ///< The old destination is an extra source.
inline constexpr uint16_t keepsHalf = 32;   ///< A 16-bit result that always keeps the other half.
inline constexpr uint16_t truthTable = 64;  ///< v_bitop3: modifiers are a table, `Record::variant`.
inline constexpr uint16_t writesHigh = 128; ///< v_fma_mixhi: the result is the high half.
/// The handler reads `Record::modifiers` itself.
inline constexpr uint16_t ownModifiers = 256;
/// s_getreg and s_setreg: SIMM16 names a hardware register.
inline constexpr uint16_t hardwareRegister = 512;
inline constexpr uint16_t touchesScc = 1024;    ///< A scalar instruction whose meaning names SCC.
inline constexpr uint16_t barrierNumber = 2048; ///< Names a barrier; named ones are refused.
/// 8-bit floats: op_sel[0:1] choose a byte of the source, or op_sel[2:3] one of the result, which
/// becomes `Record::variant`.
inline constexpr uint16_t byteSelect = 4096;
/// neg_lo of the first two sources says that their integers are signed, which becomes
/// `Record::variant`. Of a float that is the third, neg_hi means abs.
inline constexpr uint16_t signednessByNeg = 8192;
} // namespace rowflag

/// What a matrix instruction multiplies: in each of `blocks`, `side` rows of A by as many columns
/// of B. All lanes of its registers are read and written, whatever EXEC says.
struct MatrixShape {
  uint8_t side = 0; ///< 0: no product.
  uint8_t blocks = 1;
  bool choosesFormats = false; ///< cbsz names the format of A, blgp that of B.
  bool sparse = false;         ///< D += A B; A holds two of four k, which SRC2 places.
  bool lanePattern = false;    ///< blgp rearranges lanes of B.
};

/// `Instruction::variant` of Shape::Matrix.
namespace matrixvariant {
enum Move : uint8_t { None = 0, Read, Write, Copy };
} // namespace matrixvariant

struct Instruction {
  const char *names = nullptr; ///< Separated by blanks.
  Handler direct = nullptr;    ///< Executes it without modifiers.
  Handler prepared = nullptr;  ///< Executes it with any; null: modifiers are refused.
  Signature signature;
  Shape shape = Shape::Alu;
  uint16_t flags = 0;
  InstructionClass instructionClass{};
  uint8_t variant = 0;
  /// 0: the hardware's bits. Else: within so many units in the last place of the true value, where
  /// the hardware's own bits are not public.
  uint8_t ulp = 0;
  MatrixShape matrix; ///< Of Shape::Matrix.

  constexpr bool isMatrixProduct() const { return matrix.side != 0; }
  constexpr Instruction with(uint16_t addedFlags) const {
    Instruction copy = *this;
    copy.flags |= addedFlags;
    return copy;
  }
  constexpr Instruction as(InstructionClass c) const {
    Instruction copy = *this;
    copy.instructionClass = c;
    return copy;
  }
  constexpr Instruction within(uint8_t unitsInTheLastPlace) const {
    Instruction copy = *this;
    copy.ulp = unitsInTheLastPlace;
    return copy;
  }
};

/// A table of rows.
struct InstructionRows {
  const Instruction *begin;
  size_t count;
};

/// The source rows, result row and active lanes of a vector instruction with modifiers.
struct PreparedOperands {
  const uint32_t *sources[4];
  uint32_t *result;
  const uint32_t *active;
  uint64_t activeMask;
};

/// All tables, built for one instruction set of the host.
struct InstructionTables {
  const InstructionRows *begin;
  size_t count;
  const char *hostInstructionSet;
  /// Applies DPP, SDWA, op_sel, neg and abs to copies of the sources.
  void (*prepareOperands)(Wave &wave, const Record *record, const Signature &signature,
                          PreparedOperands &operands);
  /// Applies omod, clamp, SDWA and op_sel to the result and writes it.
  void (*finishResult)(Wave &wave, const Record *record, const Signature &signature,
                       const PreparedOperands &operands);
  /// The usual cases of the checks of races.
  checks::LdsRacePasses ldsRaces;
  checks::GlobalRacePasses globalRaces;
};
/// Those for the best instruction set that this host has; null if it lacks all that were built for.
const InstructionTables *instructionTables();
/// All that this host can execute, the best first, then null.
const InstructionTables *const *allInstructionTables();
/// The rows of `instructionTables()`, counted from 1 over all tables; null for 0.
const Instruction *instructionRow(uint16_t number);
uint16_t instructionRowNumber(const Instruction &row);

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_INSTRUCTION_H
