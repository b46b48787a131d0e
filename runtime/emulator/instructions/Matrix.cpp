//===- Matrix.cpp - Matrix instructions (CDNA) ----------------------------===//
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
// Rounding: every product joins its sum by a fused multiply-add of the result's format, k
// ascending. The hardware sums several k at once for the small formats; that model comes beside
// this one.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/instructions/LaneMemory.h"
#include "runtime/emulator/instructions/MatrixFormats.h"
#include "runtime/emulator/instructions/Tables.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace {

using namespace matrixformat;
using Bf8O = Float8<Bf8Ocp>;
using Fp8O = Float8<Fp8Ocp>;
using Bf8F = Float8<Bf8Fnuz>;
using Fp8F = Float8<Fp8Fnuz>;

// --- The product ---

/// A piece of a row of B or C as a host vector; wider ones than the host has become several.
template <typename T, unsigned N>
using Piece __attribute__((ext_vector_type(N < 16 ? N : 64 / sizeof(T)))) = T;

template <typename V> WAVETILE_INLINE V multiplyAdd(V a, V b, V c) {
  if constexpr (std::is_integral_v<std::remove_reference_t<decltype(a[0])>>)
    return a * b + c;
  else
    return __builtin_elementwise_fma(a, b, c);
}

/// c[M][N] += a[k][M] * b[k][N]. A few rows at a time stay in registers.
template <unsigned M, unsigned N, typename T>
WAVETILE_INLINE void accumulate(const T *a, const T *b, T *c, unsigned depth) {
  // int32 products wrap: unsigned arithmetic.
  using Number = std::conditional_t<std::is_integral_v<T>, uint32_t, T>;
  using V = Piece<Number, N>;
  constexpr unsigned width = sizeof(V) / sizeof(T), pieces = N / width;
  // As many sums as the host has registers for, enough to hide the latency of an addition.
#if defined(__AVX512F__)
  constexpr unsigned atOnce = 8 / pieces;
#else
  constexpr unsigned atOnce = 4 / pieces;
#endif
  constexpr unsigned rowsAtOnce = atOnce > M ? M : atOnce < 1 ? 1 : atOnce;
  auto load = [](const T *from) {
    V value;
    __builtin_memcpy(&value, from, sizeof(V));
    return value;
  };
  for (unsigned first = 0; first < M; first += rowsAtOnce) {
    V sums[rowsAtOnce][pieces];
#pragma clang loop unroll(full)
    for (unsigned m = 0; m < rowsAtOnce; ++m)
#pragma clang loop unroll(full)
      for (unsigned n = 0; n < pieces; ++n)
        sums[m][n] = load(c + (first + m) * N + n * width);
    for (unsigned k = 0; k < depth; ++k) {
      V right[pieces];
#pragma clang loop unroll(full)
      for (unsigned n = 0; n < pieces; ++n)
        right[n] = load(b + k * N + n * width);
#pragma clang loop unroll(full)
      for (unsigned m = 0; m < rowsAtOnce; ++m) {
        V left = static_cast<Number>(a[k * M + first + m]);
#pragma clang loop unroll(full)
        for (unsigned n = 0; n < pieces; ++n)
          sums[m][n] = multiplyAdd(left, right[n], sums[m][n]);
      }
    }
#pragma clang loop unroll(full)
    for (unsigned m = 0; m < rowsAtOnce; ++m)
#pragma clang loop unroll(full)
      for (unsigned n = 0; n < pieces; ++n)
        __builtin_memcpy(c + (first + m) * N + n * width, &sums[m][n], sizeof(V));
  }
}

/// The row of C and D that register \p index of lane \p lane holds.
template <unsigned M, typename T>
WAVETILE_INLINE unsigned resultRow(unsigned lane, unsigned index) {
  if constexpr (sizeof(T) == 8)
    return M == 16 ? 4 * index + lane / 16 : lane / 16;
  if constexpr (M == 4)
    return index;
  return (256 / M) * (index / 4) + 4 * (lane / M) + index % 4;
}

template <typename T> WAVETILE_INLINE T canonical(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return isNaN(x) ? fromBits<T>(FloatTraits<T>::defaultNaN) : x;
  else
    return x;
}

/// A value of C or D, whose elements take one register or two.
template <typename T>
WAVETILE_INLINE T readResult(const uint32_t *row, unsigned stride, unsigned lane, unsigned index) {
  if constexpr (sizeof(T) == 8)
    return __builtin_bit_cast(T, row[2 * index * stride + lane] |
                                     static_cast<uint64_t>(row[(2 * index + 1) * stride + lane])
                                         << 32);
  else
    return __builtin_bit_cast(T, row[index * stride + lane]);
}
template <typename T>
WAVETILE_INLINE void writeResult(uint32_t *row, unsigned stride, unsigned lane, unsigned index,
                                 T value) {
  if constexpr (sizeof(T) == 8) {
    uint64_t bits = __builtin_bit_cast(uint64_t, value);
    row[2 * index * stride + lane] = static_cast<uint32_t>(bits);
    row[(2 * index + 1) * stride + lane] = static_cast<uint32_t>(bits >> 32);
  } else {
    row[index * stride + lane] = __builtin_bit_cast(uint32_t, value);
  }
}

/// The matrices of one instruction, taken out of registers: a[block][k][m], b[block][k][n],
/// c[block][m][n].
template <unsigned M, unsigned K, unsigned blocks, typename T> struct Operands {
  static constexpr unsigned size = 64;
  static constexpr unsigned pieces = size / (M * blocks); ///< Of k, over the lanes.
  static constexpr unsigned depthOfLane = K / pieces;
  static constexpr unsigned resultsOfLane = M * M * blocks / size;
  alignas(64) T a[blocks * K * M];
  alignas(64) T b[blocks * K * M];
  alignas(64) T c[blocks * M * M];

  // The inner loops go over neighbouring lanes, whose values are neighbours in rows and matrices:
  // they become vector code, and are kept as they are for that.

  /// `element(lane, i)` is the lane's i-th value.
  template <typename Element> WAVETILE_INLINE static void gather(T *to, Element element) {
    for (unsigned group = 0; group < size / M; ++group) {
      unsigned block = group % blocks, piece = group / blocks;
      T *from = to + (block * K + piece * depthOfLane) * M;
#pragma clang loop vectorize(disable) unroll(disable)
      for (unsigned i = 0; i < depthOfLane; ++i)
#pragma clang loop vectorize(enable) unroll(disable)
        for (unsigned m = 0; m < M; ++m)
          from[i * M + m] = element(group * M + m, i);
    }
  }
  /// Where register `index` of a lane lies in c.
  WAVETILE_INLINE static unsigned position(unsigned lane, unsigned index) {
    constexpr unsigned perBlock = M == 4 && sizeof(T) == 4 ? resultsOfLane : M * M / size;
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
  /// Runs \p body for each row piece of c: M lanes that hold neighbouring columns in register i.
  template <typename Body> WAVETILE_INLINE void forRows(Body body) {
#pragma clang loop vectorize(disable) unroll(disable)
    for (unsigned i = 0; i < resultsOfLane; ++i)
#pragma clang loop vectorize(disable) unroll(disable)
      for (unsigned firstLane = 0; firstLane < size; firstLane += M)
        body(firstLane, i, c + position(firstLane, i));
  }
  WAVETILE_INLINE void readC(Wave &wave, Operand operand) {
    const uint32_t *row = wave.row(operand);
    bool isConstant = operand.kind() == OperandKind::Constant;
    forRows([&](unsigned firstLane, unsigned i, T *values) {
#pragma clang loop vectorize(enable) unroll(disable)
      for (unsigned m = 0; m < M; ++m)
        values[m] = readResult<T>(row, size, firstLane + m, isConstant ? 0 : i);
    });
  }
  WAVETILE_INLINE void multiply() {
    for (unsigned block = 0; block < blocks; ++block)
      accumulate<M, M>(a + block * K * M, b + block * K * M, c + block * M * M, K);
  }
  WAVETILE_INLINE void writeD(Wave &wave, Operand operand) {
    uint32_t *row = wave.row(operand);
    forRows([&](unsigned firstLane, unsigned i, const T *values) {
#pragma clang loop vectorize(enable) unroll(disable)
      for (unsigned m = 0; m < M; ++m)
        writeResult<T>(row, size, firstLane + m, i, canonical(values[m]));
    });
  }
};

/// Matrix instructions are for waves of 64 lanes; the decoder sees to it.
template <unsigned M, unsigned K, unsigned blocks, typename A, typename B>
const Record *multiply(Wave &wave, const Record *record) {
  using T = typename A::Value;
  Operands<M, K, blocks, T> operands;
  const uint32_t *left = wave.row(record->sources[0]), *right = wave.row(record->sources[1]);
  operands.gather(operands.a, [&](unsigned lane, unsigned i) {
    return A::value(rawElement<A>(left, 64, lane, i));
  });
  operands.gather(operands.b, [&](unsigned lane, unsigned i) {
    return B::value(rawElement<B>(right, 64, lane, i));
  });
  operands.readC(wave, record->sources[2]);
  operands.multiply();
  operands.writeD(wave, record->destination);
  return record + 1;
}

/// f64: `blgp` negates A, B and C.
template <unsigned M, unsigned K, unsigned blocks>
const Record *multiplyDouble(Wave &wave, const Record *record) {
  Operands<M, K, blocks, double> operands;
  const uint32_t *left = wave.row(record->sources[0]), *right = wave.row(record->sources[1]);
  unsigned negate = record->variant >> 3;
  operands.gather(operands.a, [&](unsigned lane, unsigned i) {
    double value = readResult<double>(left, 64, lane, i);
    return negate & 1 ? -value : value;
  });
  operands.gather(operands.b, [&](unsigned lane, unsigned i) {
    double value = readResult<double>(right, 64, lane, i);
    return negate & 2 ? -value : value;
  });
  operands.readC(wave, record->sources[2]);
  if (negate & 4)
    for (double &value : operands.c)
      value = -value;
  operands.multiply();
  operands.writeD(wave, record->destination);
  return record + 1;
}

// --- Formats chosen by the instruction, with scales ---

/// The scale of a lane's elements: 2^(byte - 127), NaN for 255.
double scaleOf(const Wave &wave, Operand operand, unsigned lane, unsigned byte) {
  uint32_t word =
      operand.kind() == OperandKind::Scalar ? wave.read32(operand) : wave.row(operand)[lane];
  uint32_t code = word >> (8 * byte) & 0xff;
  return code == 255 ? __builtin_nan("") : powerOfTwo(static_cast<int>(code) - 127);
}

/// Gathers elements of a format that the instruction chooses. The common one has vector code.
template <typename Matrices, typename T>
WAVETILE_INLINE void gatherSmall(T *to, const uint32_t *row, unsigned format) {
  if (format == Fp8)
    Matrices::gather(to, [&](unsigned lane, unsigned i) {
      return Fp8O::value(rawElement<Fp8O>(row, 64, lane, i));
    });
  else
    Matrices::gather(
        to, [&](unsigned lane, unsigned i) { return smallElement(row, 64, lane, i, format); });
}

template <unsigned M, unsigned K> const Record *multiplySmall(Wave &wave, const Record *record) {
  using Matrices = Operands<M, K, 1, float>;
  Matrices operands;
  gatherSmall<Matrices>(operands.a, wave.row(record->sources[0]), record->variant & 7);
  gatherSmall<Matrices>(operands.b, wave.row(record->sources[1]), record->variant >> 3);
  operands.readC(wave, record->sources[2]);
  operands.multiply();
  operands.writeD(wave, record->destination);
  return record + 1;
}

/// As above, each lane's elements times its scale. Scaled values may lie outside f32's range, so
/// they are held in f64; each step still rounds to f32.
template <unsigned M, unsigned K> const Record *multiplyScaled(Wave &wave, const Record *record) {
  Operands<M, K, 1, float> results;
  Operands<M, K, 1, double> values;
  auto scaleByte = [&](unsigned operand) {
    return (record->modifiers & modifier::high(operand) ? 1u : 0u) |
           (record->modifiers & modifier::highForHigh(operand) ? 2u : 0u);
  };
  auto gatherScaled = [&](double *to, unsigned operand, unsigned format, Operand scales) {
    double scaleOfLane[64];
    for (unsigned lane = 0; lane < 64; ++lane)
      scaleOfLane[lane] = scaleOf(wave, scales, lane, scaleByte(operand));
    const uint32_t *row = wave.row(record->sources[operand]);
    gatherSmall<decltype(values)>(to, row, format);
    for (unsigned k = 0; k < K; ++k)
      for (unsigned m = 0; m < M; ++m)
        to[k * M + m] *= scaleOfLane[k / values.depthOfLane * M + m];
  };
  gatherScaled(values.a, 0, record->variant & 7, record->sources[3]);
  gatherScaled(values.b, 1, record->variant >> 3, record->maskDestination);
  results.readC(wave, record->sources[2]);
  for (unsigned k = 0; k < K; ++k)
    for (unsigned m = 0; m < M; ++m)
      for (unsigned n = 0; n < M; ++n) {
        float &sum = results.c[m * M + n];
        sum = static_cast<float>(
            __builtin_fma(values.a[k * M + m], values.b[k * M + n], static_cast<double>(sum)));
      }
  results.writeD(wave, record->destination);
  return record + 1;
}

// --- Moves between VGPRs and AGPRs ---

const Record *moveAccumulator(Wave &wave, const Record *record) {
  const uint32_t *active = wave.activeRow();
  uint32_t *target = wave.row(record->destination);
  Operand source = record->sources[0];
  if (source.kind() == OperandKind::Scalar) {
    uint32_t value = wave.read32(source);
    for (unsigned lane = 0; lane < wave.waveSize; ++lane)
      target[lane] ^= (target[lane] ^ value) & active[lane];
    return record + 1;
  }
  const uint32_t *from = wave.row(source);
  for (unsigned lane = 0; lane < wave.waveSize; ++lane)
    target[lane] ^= (target[lane] ^ from[lane]) & active[lane];
  return record + 1;
}

constexpr Instruction accumulatorMove(const char *names, matrixvariant::Move move) {
  Instruction row = memory(names, Shape::Matrix, InstructionClass::VectorAlu, moveAccumulator);
  row.variant = move;
  row.signature = {Type::B32, {Type::B32}, false};
  return row;
}
/// `type` is that of C and D.
constexpr Instruction product(const char *names, Type type, Handler handler) {
  Instruction row = memory(names, Shape::Matrix, InstructionClass::Matrix, handler);
  row.signature = {type, {Type::Any, Type::Any, type}, false};
  return row;
}

#define F32_PRODUCT(NAMES, M, K, BLOCKS, A, B)                                                     \
  product(NAMES, Type::F32, multiply<M, K, BLOCKS, A, B>)
#define I32_PRODUCT(NAMES, M, K, BLOCKS)                                                           \
  product(NAMES, Type::B32, multiply<M, K, BLOCKS, Int8, Int8>)
/// The four pairings of fp8 and bf8 in both families of formats.
#define FLOAT8_PRODUCTS(SHAPE, M, K)                                                               \
  F32_PRODUCT("v_mfma_f32_" SHAPE "_fp8_fp8@ocp", M, K, 1, Fp8O, Fp8O),                            \
      F32_PRODUCT("v_mfma_f32_" SHAPE "_fp8_bf8@ocp", M, K, 1, Fp8O, Bf8O),                        \
      F32_PRODUCT("v_mfma_f32_" SHAPE "_bf8_fp8@ocp", M, K, 1, Bf8O, Fp8O),                        \
      F32_PRODUCT("v_mfma_f32_" SHAPE "_bf8_bf8@ocp", M, K, 1, Bf8O, Bf8O),                        \
      F32_PRODUCT("v_mfma_f32_" SHAPE "_fp8_fp8@fnuz", M, K, 1, Fp8F, Fp8F),                       \
      F32_PRODUCT("v_mfma_f32_" SHAPE "_fp8_bf8@fnuz", M, K, 1, Fp8F, Bf8F),                       \
      F32_PRODUCT("v_mfma_f32_" SHAPE "_bf8_fp8@fnuz", M, K, 1, Bf8F, Fp8F),                       \
      F32_PRODUCT("v_mfma_f32_" SHAPE "_bf8_bf8@fnuz", M, K, 1, Bf8F, Bf8F)

constexpr Instruction table[] = {
    F32_PRODUCT("v_mfma_f32_32x32x1_2b_f32", 32, 1, 2, Float32, Float32),
    F32_PRODUCT("v_mfma_f32_16x16x1_4b_f32", 16, 1, 4, Float32, Float32),
    F32_PRODUCT("v_mfma_f32_4x4x1_16b_f32", 4, 1, 16, Float32, Float32),
    F32_PRODUCT("v_mfma_f32_32x32x2_f32", 32, 2, 1, Float32, Float32),
    F32_PRODUCT("v_mfma_f32_16x16x4_f32", 16, 4, 1, Float32, Float32),
    F32_PRODUCT("v_mfma_f32_32x32x4_xf32", 32, 4, 1, XFloat32, XFloat32),
    F32_PRODUCT("v_mfma_f32_16x16x8_xf32", 16, 8, 1, XFloat32, XFloat32),

    F32_PRODUCT("v_mfma_f32_32x32x4_2b_f16", 32, 4, 2, Float16, Float16),
    F32_PRODUCT("v_mfma_f32_16x16x4_4b_f16", 16, 4, 4, Float16, Float16),
    F32_PRODUCT("v_mfma_f32_4x4x4_16b_f16", 4, 4, 16, Float16, Float16),
    F32_PRODUCT("v_mfma_f32_32x32x8_f16", 32, 8, 1, Float16, Float16),
    F32_PRODUCT("v_mfma_f32_16x16x16_f16", 16, 16, 1, Float16, Float16),
    F32_PRODUCT("v_mfma_f32_32x32x16_f16", 32, 16, 1, Float16, Float16),
    F32_PRODUCT("v_mfma_f32_16x16x32_f16", 16, 32, 1, Float16, Float16),

    F32_PRODUCT("v_mfma_f32_32x32x4_2b_bf16", 32, 4, 2, BFloat16, BFloat16),
    F32_PRODUCT("v_mfma_f32_16x16x4_4b_bf16", 16, 4, 4, BFloat16, BFloat16),
    F32_PRODUCT("v_mfma_f32_4x4x4_16b_bf16", 4, 4, 16, BFloat16, BFloat16),
    F32_PRODUCT("v_mfma_f32_32x32x8_bf16", 32, 8, 1, BFloat16, BFloat16),
    F32_PRODUCT("v_mfma_f32_16x16x16_bf16", 16, 16, 1, BFloat16, BFloat16),
    F32_PRODUCT("v_mfma_f32_32x32x16_bf16", 32, 16, 1, BFloat16, BFloat16),
    F32_PRODUCT("v_mfma_f32_16x16x32_bf16", 16, 32, 1, BFloat16, BFloat16),

    FLOAT8_PRODUCTS("16x16x32", 16, 32),
    FLOAT8_PRODUCTS("32x32x16", 32, 16),
    product("v_mfma_f32_16x16x128_f8f6f4", Type::F32, multiplySmall<16, 128>)
        .with(rowflag::ownModifiers),
    product("v_mfma_f32_32x32x64_f8f6f4", Type::F32, multiplySmall<32, 64>)
        .with(rowflag::ownModifiers),
    product("v_mfma_scale_f32_16x16x128_f8f6f4", Type::F32, multiplyScaled<16, 128>)
        .with(rowflag::ownModifiers),
    product("v_mfma_scale_f32_32x32x64_f8f6f4", Type::F32, multiplyScaled<32, 64>)
        .with(rowflag::ownModifiers),

    I32_PRODUCT("v_mfma_i32_32x32x4_2b_i8", 32, 4, 2),
    I32_PRODUCT("v_mfma_i32_16x16x4_4b_i8", 16, 4, 4),
    I32_PRODUCT("v_mfma_i32_4x4x4_16b_i8", 4, 4, 16),
    I32_PRODUCT("v_mfma_i32_32x32x16_i8", 32, 16, 1),
    I32_PRODUCT("v_mfma_i32_16x16x32_i8", 16, 32, 1),
    I32_PRODUCT("v_mfma_i32_32x32x32_i8", 32, 32, 1),
    I32_PRODUCT("v_mfma_i32_16x16x64_i8", 16, 64, 1),

    product("v_mfma_f64_16x16x4_f64", Type::F64, multiplyDouble<16, 4, 1>),
    product("v_mfma_f64_4x4x4_4b_f64", Type::F64, multiplyDouble<4, 4, 4>),

    accumulatorMove("v_accvgpr_read_b32", matrixvariant::Read),
    accumulatorMove("v_accvgpr_write_b32", matrixvariant::Write),
    accumulatorMove("v_accvgpr_mov_b32", matrixvariant::Copy),
};

} // namespace

InstructionRows matrix() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
