//===- Reference.h - A second, plain implementation of the GPU ------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What one instruction does to a wave, written again: from the text of the instruction, a lane at a
// time, with LLVM's APFloat for numbers. For tests only; nothing of the device's own code is used,
// so that a fault would have to be made twice to go unseen.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_TESTS_UNIT_REFERENCE_REFERENCE_H
#define WAVETILE_TESTS_UNIT_REFERENCE_REFERENCE_H

#include "reference/SoftFloat.h"
#include "reference/Statement.h"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace wavetile::reference {

/// Scalar registers that have names, by the number that gfx9 encodes them with.
namespace scalarnumber {
inline constexpr unsigned Vcc = 106, M0 = 124, Exec = 126, Count = 128;
} // namespace scalarnumber

/// What memory instructions reach, all of it.
struct MemoryBytes {
  uint64_t globalAddress = 0;
  std::vector<uint8_t> global, lds;
  std::vector<std::vector<uint8_t>> scratch; ///< Of each lane.
};

struct Wave {
  unsigned size = 64;
  bool isGfx9 = true, isGfx12 = false;
  bool fnuz = false; ///< The 8-bit formats are FNUZ.
  bool ieee = true, dx10Clamp = true;
  FloatRules rules32, rules16And64;

  std::vector<std::array<uint32_t, 64>> vectors, accumulators;
  std::array<uint32_t, scalarnumber::Count> scalars{};
  bool scc = false;
  MemoryBytes memory;

  Wave() : vectors(256), accumulators(256) {}
  uint64_t mask(unsigned scalar) const {
    return size == 64 ? scalars[scalar] | uint64_t(scalars[scalar + 1]) << 32 : scalars[scalar];
  }
  void setMask(unsigned scalar, uint64_t value) {
    scalars[scalar] = static_cast<uint32_t>(value);
    if (size == 64)
      scalars[scalar + 1] = static_cast<uint32_t>(value >> 32);
  }
  uint64_t exec() const { return mask(scalarnumber::Exec); }
  const FloatRules &rules(Format format) const {
    return format == Format::F32 ? rules32 : rules16And64;
  }
};

/// How an operand's bits are found and what its modifiers change.
enum class Kind : uint8_t {
  None,
  B32,
  F32,
  B16,
  F16,
  BF16,
  B64,
  I64,
  F64,
  PackedB16,
  PackedF16,
  PackedBF16,
  PackedF32,
  Mixed,
  Mask
};

/// A lane while an instruction is computed.
struct Lane {
  const Wave &wave;
  const Statement &statement;
  unsigned index;
  std::array<uint64_t, 4> source{};
  bool mask = false; ///< The bit beside the result: a carry, a comparison.

  const FloatRules &rules(Format format) const { return wave.rules(format); }
};

using Compute = std::function<uint64_t(Lane &)>;

struct VectorMeaning {
  Kind result = Kind::None; ///< None: only the mask.
  std::vector<Kind> sources;
  Compute compute;
  bool writesMask = false;
  bool accumulates = false; ///< The old destination is the last source.
  bool writesExec = false;
  bool halves = false;    ///< `compute` sees one half of packed operands at a time.
  bool keepsHalf = false; ///< A 16-bit result that keeps the other half on gfx9 too.
  bool highHalf = false;  ///< Writes the high half.
  bool isInteger = false; ///< clamp saturates: `compute` looks for it itself.
};

struct ScalarLane {
  Wave &wave;
  const Statement &statement;
  std::array<uint64_t, 3> source{};
  bool scc = false;
};
struct ScalarMeaning {
  unsigned resultBits = 0;
  std::vector<unsigned> sourceBits;
  std::function<uint64_t(ScalarLane &)> compute;
  bool writesScc = false;
  bool readsDestination = false;
  bool isSigned = false; ///< 64-bit literals are sign-extended.
};

enum class Outcome { Done, Unknown, Unreadable };
/// What an instruction does that looks at all lanes at once.
using WaveMeaning = std::function<Outcome(Wave &, const Statement &)>;

/// The meanings of all vector and scalar instructions by mnemonic.
struct Meanings {
  std::map<std::string, VectorMeaning> vectors;
  std::map<std::string, ScalarMeaning> scalars;
  std::map<std::string, WaveMeaning> waves;
};
const Meanings &meanings(bool isGfx9, bool fnuz);

void addIntegers(Meanings &table);
void addPacked(Meanings &table);
void addFloats(Meanings &table);
void addConversions(Meanings &table, bool fnuz);
void addComparisons(Meanings &table);
void addScalars(Meanings &table);
void addSpecials(Meanings &table);
void addScalarFloats(Meanings &table); ///< After the vector instructions that they are like.
void addWholeWaves(Meanings &table);

/// The first scalar register that a name means.
std::optional<unsigned> scalarNumber(const TextOperand &operand);
/// A scalar or a constant; nothing for what has no documented value.
std::optional<uint64_t> scalarBits(const Wave &wave, const TextOperand &operand, Kind kind);

/// Executes the statements of one line on \p wave: reads of all come before writes of any.
Outcome execute(Wave &wave, const std::vector<Statement> &statements);

} // namespace wavetile::reference

#endif // WAVETILE_TESTS_UNIT_REFERENCE_REFERENCE_H
