//===- MatrixBlocks.h - Matrices in the registers of 64 lanes (CDNA) ------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// D = A B + C for one or several independent blocks, by all lanes whatever EXEC says.
//
// With M rows and N columns (M = N), lane l works for row (of A) or column (of B) l % M; its group
// l / M counts the blocks first, then the pieces of k. Results: with 4 rows a register, row
// 4 * (l / M) + i % 4 + (256 / M) * (i / 4) of register i; see `resultRow`.
//
// All operands are read before any result is written, so that D may overlap A, B and C.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_MATRIXBLOCKS_H
#define WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_MATRIXBLOCKS_H

#include "runtime/emulator/instructions/LaneMemory.h"
#include "runtime/emulator/instructions/MatrixFormats.h"
#include "runtime/emulator/instructions/MatrixHardwareSums.h"
#include "runtime/emulator/instructions/MatrixProduct.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace matrixblocks {

using matrixproduct::canonical;

inline constexpr unsigned waveSize = 64;

/// The row of C and D that register \p index of lane \p lane holds.
template <unsigned M, typename T>
WAVETILE_INLINE unsigned resultRow(unsigned lane, unsigned index) {
  if constexpr (sizeof(T) == 8)
    return M == 16 ? 4 * index + lane / 16 : lane / 16;
  if constexpr (M == 4)
    return index;
  return (256 / M) * (index / 4) + 4 * (lane / M) + index % 4;
}

/// A value of A, B, C or D whose elements take one register or two.
template <typename T>
WAVETILE_INLINE T readWhole(const uint32_t *row, unsigned lane, unsigned index) {
  if constexpr (sizeof(T) == 8)
    return __builtin_bit_cast(T, row[2 * index * waveSize + lane] |
                                     static_cast<uint64_t>(row[(2 * index + 1) * waveSize + lane])
                                         << 32);
  else
    return __builtin_bit_cast(T, row[index * waveSize + lane]);
}
template <typename T>
WAVETILE_INLINE void writeWhole(uint32_t *row, unsigned lane, unsigned index, T value) {
  if constexpr (sizeof(T) == 8) {
    uint64_t bits = __builtin_bit_cast(uint64_t, value);
    row[2 * index * waveSize + lane] = static_cast<uint32_t>(bits);
    row[(2 * index + 1) * waveSize + lane] = static_cast<uint32_t>(bits >> 32);
  } else {
    row[index * waveSize + lane] = __builtin_bit_cast(uint32_t, value);
  }
}

/// A or B, taken out of registers: value[block][k][row of A or column of B].
template <unsigned M, unsigned K, unsigned blocks, typename T> struct Input {
  static constexpr unsigned pieces = waveSize / (M * blocks); ///< Of k, over the lanes.
  static constexpr unsigned depthOfLane = K / pieces;
  alignas(64) T value[blocks * K * M];

  /// `read(to, firstLane, i)` gives `step` elements from the i-th on of M neighbouring lanes, which
  /// hold `run` neighbouring k at a time.
  template <unsigned step, typename Read> WAVETILE_INLINE void gather(unsigned run, Read read) {
    for (unsigned group = 0; group < waveSize / M; ++group) {
      unsigned block = group % blocks, piece = group / blocks;
#pragma clang loop vectorize(disable) unroll(disable)
      for (unsigned i = 0; i < depthOfLane; i += step) {
        unsigned k = (i / run * pieces + piece) * run + i % run;
        read(value + (block * K + k) * M, group * M, i);
      }
    }
  }
  template <typename Format>
  WAVETILE_INLINE void gatherFormat(const uint32_t *row, unsigned run = depthOfLane) {
    if constexpr (requires { typename Format::Finite; })
      if (Format::areFinite(row, waveSize * depthOfLane))
        return gatherFormat<typename Format::Finite>(row, run);
    gather<matrixformat::elementsOfChunk<Format>>(run, [&](T *to, unsigned firstLane, unsigned i) {
      matrixformat::readChunk<Format, M>(to, M,
                                         row + i / matrixformat::elementsOfChunk<Format> *
                                                   matrixformat::registersOfChunk<Format> *
                                                   waveSize,
                                         waveSize, firstLane);
    });
  }
};

/// C, then D: value[block][row][column].
template <unsigned M, unsigned blocks, typename T> struct Result {
  static constexpr unsigned ofLane = M * M * blocks / waveSize;
  alignas(64) T value[blocks * M * M];

  /// Where register `index` of a lane lies.
  WAVETILE_INLINE static unsigned position(unsigned lane, unsigned index) {
    constexpr unsigned perBlock = M * M / waveSize;
    unsigned column = lane % M, block, row;
    if constexpr (M == 4) {
      block = lane / 4 % blocks;
      row = resultRow<M, T>(lane, index);
    } else {
      block = index / perBlock;
      row = resultRow<M, T>(lane, index % perBlock);
    }
    return (block * M + row) * M + column;
  }
  /// Runs \p body for each row piece: M lanes that hold neighbouring columns in register i.
  template <typename Body> WAVETILE_INLINE void forRows(Body body) {
#pragma clang loop vectorize(disable) unroll(disable)
    for (unsigned i = 0; i < ofLane; ++i)
#pragma clang loop vectorize(disable) unroll(disable)
      for (unsigned firstLane = 0; firstLane < waveSize; firstLane += M)
        body(firstLane, i, value + position(firstLane, i));
  }
  WAVETILE_INLINE void read(Wave &wave, Operand operand) {
    const uint32_t *row = wave.row(operand);
    bool isConstant = operand.kind() == OperandKind::Constant;
    forRows([&](unsigned firstLane, unsigned i, T *values) {
#pragma clang loop vectorize(enable) unroll(disable)
      for (unsigned m = 0; m < M; ++m)
        values[m] = readWhole<T>(row, firstLane + m, isConstant ? 0 : i);
    });
  }
  WAVETILE_INLINE void write(Wave &wave, Operand operand) {
    uint32_t *row = wave.row(operand);
    forRows([&](unsigned firstLane, unsigned i, const T *values) {
#pragma clang loop vectorize(enable) unroll(disable)
      for (unsigned m = 0; m < M; ++m)
        writeWhole<T>(row, firstLane + m, i, canonical(values[m]));
    });
  }
};

/// C or D where they are: row m of a block of 32-bit results is M neighbouring lanes of a register.
template <unsigned M> WAVETILE_INLINE unsigned placeOfRow(unsigned block, unsigned m) {
  if constexpr (M == 4)
    return m * waveSize + M * block;
  constexpr unsigned pieces = waveSize / M;
  unsigned index = M * M / waveSize * block + m / (4 * pieces) * 4 + m % 4;
  return index * waveSize + m / 4 % pieces * M;
}
/// D = a b + C without a copy of C, whose rows are read before those of D are written: not for C
/// and D that overlap otherwise than wholly.
template <unsigned M, unsigned K, unsigned blocks, typename T>
WAVETILE_INLINE void addInPlace(const T *a, const T *b, Wave &wave, Operand c, Operand d) {
  const uint32_t *from = wave.row(c);
  uint32_t *to = wave.row(d);
  bool isConstant = c.kind() == OperandKind::Constant;
  for (unsigned block = 0; block < blocks; ++block)
    matrixproduct::accumulateRows<M, M>(
        a + block * K * M, b + block * K * M, K,
        [=](unsigned m, unsigned n) {
          return from + (isConstant ? 0 : placeOfRow<M>(block, m) + n);
        },
        [=](unsigned m, unsigned n) { return to + placeOfRow<M>(block, m) + n; });
}
/// Whether `addInPlace` may be used.
template <unsigned M, unsigned blocks> WAVETILE_INLINE bool canAddInPlace(Operand c, Operand d) {
  constexpr uint32_t count = M * M * blocks / waveSize;
  uint32_t distance = c.index() < d.index() ? d.index() - c.index() : c.index() - d.index();
  return (c.kind() != OperandKind::Vector) | (distance == 0) | (distance >= count);
}

/// D = a b + C; with \p negateC of what C holds negated.
template <unsigned M, unsigned K, unsigned blocks, typename T>
WAVETILE_INLINE void addProducts(const T *a, const T *b, Wave &wave, Operand c, Operand d,
                                 bool negateC = false) {
  if constexpr (sizeof(T) == 4)
    if (canAddInPlace<M, blocks>(c, d))
      return addInPlace<M, K, blocks>(a, b, wave, c, d);
  Result<M, blocks, T> sums;
  sums.read(wave, c);
  if (negateC)
    for (T &value : sums.value)
      value = -value;
  for (unsigned block = 0; block < blocks; ++block)
    matrixproduct::accumulate<M, M>(a + block * K * M, b + block * K * M,
                                    sums.value + block * M * M, K);
  sums.write(wave, d);
}
/// The same as the hardware rounds it.
template <unsigned M, unsigned K, unsigned blocks, unsigned group>
WAVETILE_INLINE void addAsHardware(matrixproduct::HardwareInput a, matrixproduct::HardwareInput b,
                                   Wave &wave, Operand c, Operand d) {
  Result<M, blocks, float> sums;
  sums.read(wave, c);
  for (unsigned block = 0; block < blocks; ++block) {
    matrixproduct::HardwareProduct<M, K, K, group>::add(a, b, nullptr, sums.value + block * M * M);
    a.values += K * M, b.values += K * M;
  }
  sums.write(wave, d);
}

/// A row of a product's table; \p type is that of C and D.
constexpr Instruction product(const char *names, Type type, MatrixShape shape, Handler handler) {
  Instruction row = memory(names, Shape::Matrix, InstructionClass::Matrix, handler);
  row.signature = {type, {Type::Any, Type::Any, type}, false};
  row.matrix = shape;
  return row;
}

} // namespace matrixblocks
} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_MATRIXBLOCKS_H
