//===- WaveMatrix.cpp - Matrix instructions (RDNA) ------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// WMMA, D = A B + C of 16 rows and columns, and SWMMAC of gfx12, D += A B with a sparse A, by the
// 32 or 64 lanes of a wave. EXEC is not looked at. A wave is groups of 16 lanes; lane l of each
// works for row l % 16 of A and column l % 16 of B, C and D. `Placement` and `resultRow` say which
// k and which rows a group holds:
//
//   gfx11   Each lane has all k. The first group's are read; the others have to hold the same.
//   gfx12   The groups share the k.
//
// Integers are signed where neg_lo says so; with clamp their sums saturate.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/instructions/MatrixBlocks.h"
#include "runtime/emulator/instructions/Tables.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace {

using namespace matrixformat;
using matrixproduct::canonical;

constexpr unsigned side = 16;

enum class Family { Gfx11, Gfx12 };

/// The k of a lane's elements: `run` neighbouring ones at a time, the groups one after the other,
/// or in the order 0, 2, 1, 3.
struct Placement {
  unsigned run, groups;
  bool isSwapped;

  constexpr unsigned k(unsigned group, unsigned element) const {
    unsigned piece = isSwapped ? 2 * (group % 2) + group / 2 : group;
    return (element / run * groups + piece) * run + element % run;
  }
};
constexpr Placement placement(Family family, unsigned waveSize, unsigned bits, unsigned depth,
                              bool isSparse, bool isA) {
  if (family == Family::Gfx11)
    return {depth, 1, false};
  unsigned groups = waveSize / side;
  if (bits == 16)
    return {isSparse ? 8u : 4u, groups, false};
  // Of 4-bit elements there may be too few for the lanes of a wave of 64.
  if (bits == 4 && depth == (isSparse ? 32 : 16) && (isA || !isSparse))
    groups = 2;
  return {depth / groups, groups, groups == 4};
}

/// The row of a lane's element of C and D, of which there are 256 / waveSize.
constexpr unsigned resultRow(Family family, unsigned waveSize, unsigned group, unsigned element) {
  if (family == Family::Gfx11)
    return waveSize / side * element + group;
  return waveSize == 32 ? 8 * group + element : 8 * (group % 2) + 4 * (group / 2) + element;
}

template <unsigned bits_> struct Signed {
  using Value = int32_t;
  static constexpr unsigned bits = bits_;
  WAVETILE_INLINE static int32_t value(uint32_t raw) {
    return static_cast<int32_t>(raw << (32 - bits)) >> (32 - bits);
  }
};
template <unsigned bits_> struct Unsigned {
  using Value = int32_t;
  static constexpr unsigned bits = bits_;
  WAVETILE_INLINE static int32_t value(uint32_t raw) { return static_cast<int32_t>(raw); }
};

// --- A and B ---

/// A, of which a sparse one has half the k, and B: a[k][row], b[k][column].
template <Family family, unsigned waveSize, unsigned depth, bool isSparse, typename T>
struct Inputs {
  static constexpr unsigned depthOfA = isSparse ? depth / 2 : depth;
  alignas(64) T a[depthOfA * side];
  alignas(64) T b[depth * side];
  /// place[j][row]: the k of a sparse A's j-th stored value.
  uint8_t place[isSparse ? depthOfA * side : 1];

  /// Where a stored value of a sparse A is: two of each four k.
  WAVETILE_INLINE static unsigned storedIndex(Placement p, unsigned group, unsigned element) {
    return p.k(group, element / 2 * 4) / 2 + element % 2;
  }
  template <typename Format> WAVETILE_INLINE void gatherA(const uint32_t *row) {
    constexpr Placement p = placement(family, waveSize, Format::bits, depth, isSparse, true);
    constexpr unsigned step = elementsOfChunk<Format>;
    for (unsigned group = 0; group < p.groups; ++group)
      for (unsigned i = 0; i < depthOfA / p.groups; i += step) {
        unsigned j = isSparse ? storedIndex(p, group, i) : p.k(group, i);
        const uint32_t *chunk = row + i / step * registersOfChunk<Format> * waveSize;
        readChunk<Format, side>(a + j * side, side, chunk, waveSize, group * side);
      }
  }
  template <typename Format> WAVETILE_INLINE void gatherB(const uint32_t *row) {
    constexpr Placement p = placement(family, waveSize, Format::bits, depth, isSparse, false);
    constexpr unsigned step = elementsOfChunk<Format>;
    for (unsigned group = 0; group < p.groups; ++group)
      for (unsigned i = 0; i < depth / p.groups; i += step) {
        const uint32_t *chunk = row + i / step * registersOfChunk<Format> * waveSize;
        readChunk<Format, side>(b + p.k(group, i) * side, side, chunk, waveSize, group * side);
      }
  }
  /// Two bits of the index register for each stored value; `set` names one of as many as fit.
  template <unsigned bits> WAVETILE_INLINE void gatherPlaces(const uint32_t *index, unsigned set) {
    constexpr Placement p = placement(family, waveSize, bits, depth, isSparse, true);
    constexpr unsigned stored = depthOfA / p.groups;
    for (unsigned group = 0; group < p.groups; ++group)
      for (unsigned lane = 0; lane < side; ++lane) {
        uint32_t word = index[group * side + lane] >> (2 * stored * set % 32);
        for (unsigned i = 0; i < stored; ++i)
          place[storedIndex(p, group, i) * side + lane] =
              static_cast<uint8_t>(p.k(group, i / 2 * 4) + (word >> (2 * i) & 3));
      }
  }
  template <typename Sum> WAVETILE_INLINE void multiply(Sum *sums) const {
    if constexpr (isSparse)
      matrixproduct::accumulateSparse<side, side>(a, place, b, sums, depthOfA);
    else
      matrixproduct::accumulate<side, side>(a, b, sums, depth);
  }
};

/// neg_lo is for the elements in low halves of registers, neg_hi for those in high ones. A row of a
/// matrix, which is one k, came from one half.
template <unsigned count>
WAVETILE_INLINE void negateHalves(float *values, uint32_t modifiers, unsigned operand) {
  bool low = modifiers & modifier::negate(operand),
       high = modifiers & modifier::negateHigh(operand);
  if (!low && !high)
    return;
  for (unsigned k = 0; k < count; ++k)
    for (unsigned m = 0; m < side; ++m) {
      float &value = values[k * side + m];
      value = (k & 1 ? high : low) ? -value : value;
    }
}

// --- C and D ---

/// Results of 32 bits; or of 16 in the half of each register that op_sel[2] names (gfx11) or two in
/// a register (gfx12).
template <Family family, unsigned waveSize, typename Format> struct Results {
  static constexpr unsigned ofLane = side * side / waveSize;
  static constexpr bool isWhole = Format::bits == 32;
  static constexpr bool isPacked = !isWhole && family == Family::Gfx12;

  /// Runs \p body for each group's elements of one index, which are the columns of a row: where the
  /// row begins in a matrix, where the first lane's register is, and the bit there.
  template <typename Body> WAVETILE_INLINE static void forRows(uint32_t modifiers, Body body) {
    unsigned half = modifiers & modifier::high(2) ? 16 : 0;
    for (unsigned i = 0; i < ofLane; ++i)
      for (unsigned group = 0; group < waveSize / side; ++group)
        body(resultRow(family, waveSize, group, i) * side,
             (isPacked ? i / 2 : i) * waveSize + group * side,
             isWhole    ? 0
             : isPacked ? i % 2 * 16
                        : half);
  }
  WAVETILE_INLINE static void read(float *sums, Wave &wave, const Record *record, Operand c) {
    const uint32_t *row = wave.row(c);
    bool isConstant = c.kind() == OperandKind::Constant;
    // As bits, for a sign is all that changes.
    uint32_t kept = record->modifiers & modifier::negateHigh(2) ? 0x7fffffff : 0xffffffff;
    uint32_t flipped = record->modifiers & modifier::negate(2) ? 0x80000000 : 0;
    forRows(record->modifiers, [&](unsigned position, unsigned word, unsigned shift) {
      const uint32_t *from = row + (isConstant ? 0 : word);
      shift = isConstant ? 0 : shift;
#pragma clang loop vectorize(enable) unroll(disable)
      for (unsigned lane = 0; lane < side; ++lane) {
        uint32_t raw = from[lane] >> shift;
        uint32_t bits = bitsOf(Format::value(isWhole ? raw : raw & 0xffff));
        sums[position + lane] = floatOf((bits & kept) ^ flipped);
      }
    });
  }
  WAVETILE_INLINE static void write(const float *sums, Wave &wave, const Record *record) {
    uint32_t *row = wave.row(record->destination);
    forRows(record->modifiers, [&](unsigned position, unsigned word, unsigned shift) {
#pragma clang loop vectorize(enable) unroll(disable)
      for (unsigned lane = 0; lane < side; ++lane) {
        float value = canonical(sums[position + lane]);
        uint32_t &to = row[word + lane];
        if constexpr (isWhole) {
          to = bitsOf(value);
        } else {
          uint32_t bits = std::is_same_v<Format, Float16> ? halfFrom(value) : bfloat16From(value);
          to = (to & ~(0xffffu << shift)) | bits << shift;
        }
      }
    });
  }
};

// --- Products ---

template <Family family, unsigned waveSize, unsigned depth, bool isSparse, typename A, typename B,
          typename C>
WAVETILE_INLINE void multiplyFloats(Wave &wave, const Record *record) {
  matrixproduct::RoundsToNearest rounding;
  Inputs<family, waveSize, depth, isSparse, float> inputs;
  inputs.template gatherA<A>(wave.row(record->sources[0]));
  inputs.template gatherB<B>(wave.row(record->sources[1]));
  negateHalves<inputs.depthOfA>(inputs.a, record->modifiers, 0);
  negateHalves<depth>(inputs.b, record->modifiers, 1);
  alignas(64) float sums[side * side];
  using Sums = Results<family, waveSize, C>;
  if constexpr (isSparse)
    inputs.template gatherPlaces<A::bits>(wave.row(record->sources[2]),
                                          matrixcontrol::broadcastBlock(record->immediate));
  Sums::read(sums, wave, record, isSparse ? record->destination : record->sources[2]);
  if (wave.workgroup->matrixRounding == MatrixRounding::Hardware)
    matrixproduct::HardwareProduct<side, inputs.depthOfA, depth, A::group>::add(
        matrixproduct::hardwareInput<A>(inputs.a), matrixproduct::hardwareInput<B>(inputs.b),
        inputs.place, sums);
  else
    inputs.multiply(sums);
  Sums::write(sums, wave, record);
}

template <Family family, unsigned waveSize, unsigned depth, bool isSparse, unsigned bits>
WAVETILE_INLINE void multiplyIntegers(Wave &wave, const Record *record) {
  Inputs<family, waveSize, depth, isSparse, int32_t> inputs;
  const uint32_t *left = wave.row(record->sources[0]), *right = wave.row(record->sources[1]);
  if (record->modifiers & modifier::negate(0))
    inputs.template gatherA<Signed<bits>>(left);
  else
    inputs.template gatherA<Unsigned<bits>>(left);
  if (record->modifiers & modifier::negate(1))
    inputs.template gatherB<Signed<bits>>(right);
  else
    inputs.template gatherB<Unsigned<bits>>(right);
  if constexpr (isSparse)
    inputs.template gatherPlaces<bits>(wave.row(record->sources[2]),
                                       matrixcontrol::broadcastBlock(record->immediate));
  alignas(64) int32_t products[side * side] = {};
  inputs.multiply(products);
  Operand c = isSparse ? record->destination : record->sources[2];
  const uint32_t *rowC = wave.row(c);
  bool isConstant = c.kind() == OperandKind::Constant;
  bool clamp = record->modifiers & modifier::clamp;
  using Sums = Results<family, waveSize, Float32>;
  Sums::forRows(0, [&](unsigned position, unsigned word, unsigned) {
    for (unsigned lane = 0; lane < side; ++lane) {
      int64_t sum = static_cast<int32_t>(rowC[(isConstant ? 0 : word) + lane]);
      sum += products[position + lane];
      if (clamp)
        sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
      products[position + lane] = static_cast<int32_t>(sum);
    }
  });
  uint32_t *rowD = wave.row(record->destination);
  Sums::forRows(0, [&](unsigned position, unsigned word, unsigned) {
    __builtin_memcpy(rowD + word, products + position, side * sizeof(uint32_t));
  });
}

template <Family family, unsigned depth, bool isSparse, typename A, typename B, typename C>
const Record *floatHandler(Wave &wave, const Record *record) {
  if (wave.waveSize == 64)
    multiplyFloats<family, 64, depth, isSparse, A, B, C>(wave, record);
  else
    multiplyFloats<family, 32, depth, isSparse, A, B, C>(wave, record);
  return record + 1;
}
template <Family family, unsigned depth, bool isSparse, unsigned bits>
const Record *integerHandler(Wave &wave, const Record *record) {
  if (wave.waveSize == 64)
    multiplyIntegers<family, 64, depth, isSparse, bits>(wave, record);
  else
    multiplyIntegers<family, 32, depth, isSparse, bits>(wave, record);
  return record + 1;
}

// --- Rows ---

constexpr Instruction waveProduct(const char *names, Type type, bool isSparse, Handler handler) {
  MatrixShape shape;
  shape.side = side, shape.sparse = isSparse;
  return matrixblocks::product(names, type, shape, handler);
}
template <Family family, unsigned depth, bool isSparse, typename A, typename B, typename C>
constexpr Instruction floats(const char *names) {
  constexpr Type type = C::bits == 32                ? Type::F32
                        : std::is_same_v<C, Float16> ? Type::F16
                                                     : Type::BF16;
  return waveProduct(names, type, isSparse, floatHandler<family, depth, isSparse, A, B, C>);
}
template <Family family, unsigned depth, bool isSparse, unsigned bits>
constexpr Instruction integers(const char *names) {
  return waveProduct(names, Type::B32, isSparse, integerHandler<family, depth, isSparse, bits>);
}

constexpr Family older = Family::Gfx11, newer = Family::Gfx12;
using Fp8 = Float8<Fp8Ocp>;
using Bf8 = Float8<Bf8Ocp>;

constexpr Instruction table[] = {
    floats<older, 16, false, Float16, Float16, Float32>("v_wmma_f32_16x16x16_f16@gfx11"),
    floats<older, 16, false, BFloat16, BFloat16, Float32>("v_wmma_f32_16x16x16_bf16@gfx11"),
    floats<older, 16, false, Float16, Float16, Float16>("v_wmma_f16_16x16x16_f16@gfx11"),
    floats<older, 16, false, BFloat16, BFloat16, BFloat16>("v_wmma_bf16_16x16x16_bf16@gfx11"),
    integers<older, 16, false, 8>("v_wmma_i32_16x16x16_iu8@gfx11"),
    integers<older, 16, false, 4>("v_wmma_i32_16x16x16_iu4@gfx11"),

    floats<newer, 16, false, Float16, Float16, Float32>("v_wmma_f32_16x16x16_f16@gfx12"),
    floats<newer, 16, false, BFloat16, BFloat16, Float32>("v_wmma_f32_16x16x16_bf16@gfx12"),
    floats<newer, 16, false, Float16, Float16, Float16>("v_wmma_f16_16x16x16_f16@gfx12"),
    floats<newer, 16, false, BFloat16, BFloat16, BFloat16>("v_wmma_bf16_16x16x16_bf16@gfx12"),
    floats<newer, 16, false, Fp8, Fp8, Float32>("v_wmma_f32_16x16x16_fp8_fp8"),
    floats<newer, 16, false, Fp8, Bf8, Float32>("v_wmma_f32_16x16x16_fp8_bf8"),
    floats<newer, 16, false, Bf8, Fp8, Float32>("v_wmma_f32_16x16x16_bf8_fp8"),
    floats<newer, 16, false, Bf8, Bf8, Float32>("v_wmma_f32_16x16x16_bf8_bf8"),
    integers<newer, 16, false, 8>("v_wmma_i32_16x16x16_iu8@gfx12"),
    integers<newer, 16, false, 4>("v_wmma_i32_16x16x16_iu4@gfx12"),
    integers<newer, 32, false, 4>("v_wmma_i32_16x16x32_iu4"),

    floats<newer, 32, true, Float16, Float16, Float32>("v_swmmac_f32_16x16x32_f16"),
    floats<newer, 32, true, BFloat16, BFloat16, Float32>("v_swmmac_f32_16x16x32_bf16"),
    floats<newer, 32, true, Float16, Float16, Float16>("v_swmmac_f16_16x16x32_f16"),
    floats<newer, 32, true, BFloat16, BFloat16, BFloat16>("v_swmmac_bf16_16x16x32_bf16"),
    floats<newer, 32, true, Fp8, Fp8, Float32>("v_swmmac_f32_16x16x32_fp8_fp8"),
    floats<newer, 32, true, Fp8, Bf8, Float32>("v_swmmac_f32_16x16x32_fp8_bf8"),
    floats<newer, 32, true, Bf8, Fp8, Float32>("v_swmmac_f32_16x16x32_bf8_fp8"),
    floats<newer, 32, true, Bf8, Bf8, Float32>("v_swmmac_f32_16x16x32_bf8_bf8"),
    integers<newer, 32, true, 8>("v_swmmac_i32_16x16x32_iu8"),
    integers<newer, 32, true, 4>("v_swmmac_i32_16x16x32_iu4"),
    integers<newer, 64, true, 4>("v_swmmac_i32_16x16x64_iu4"),
};

} // namespace

InstructionRows waveMatrix() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
