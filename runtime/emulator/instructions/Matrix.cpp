//===- Matrix.cpp - Dense matrix instructions (CDNA) ----------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MFMA: MatrixBlocks.h says where the elements are. Instructions with several blocks can read one
// block of A for several (cbsz, abid), and some B from other lanes (blgp).
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/instructions/MatrixBlocks.h"
#include "runtime/emulator/instructions/Tables.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace {

using namespace matrixformat;
using namespace matrixblocks;

// --- Lanes read in the place of others ---

/// The lane whose value of A block-broadcasting gives to \p lane: of each 2^cbsz neighbouring
/// blocks all read the abid-th.
WAVETILE_INLINE unsigned broadcastLane(unsigned lane, unsigned side, unsigned blocks,
                                       uint32_t control) {
  uint32_t receivers = 1u << matrixcontrol::broadcastSize(control);
  unsigned group = lane / side, block = group % blocks, piece = group / blocks;
  unsigned from = block / receivers * receivers + matrixcontrol::broadcastBlock(control);
  return (piece * blocks + from) * side + lane % side;
}
/// The lane whose value of B the pattern gives to \p lane: either half, all 16 on, any quarter.
WAVETILE_INLINE unsigned patternLane(unsigned lane, uint32_t pattern) {
  switch (pattern) {
  case 1:
  case 2:
    return lane % 32 + 32 * (pattern - 1);
  case 3:
    return (lane + 16) % 64;
  case 4:
  case 5:
  case 6:
  case 7:
    return lane % 16 + 16 * (pattern - 4);
  default:
    return lane;
  }
}
/// Registers whose lanes hold what other lanes hold.
template <unsigned count> struct Rearranged {
  alignas(64) uint32_t row[count * waveSize];

  template <typename Source> WAVETILE_INLINE Rearranged(const uint32_t *from, Source source) {
    for (unsigned lane = 0; lane < waveSize; ++lane) {
      unsigned other = source(lane);
      for (unsigned i = 0; i < count; ++i)
        row[i * waveSize + lane] = from[i * waveSize + other];
    }
  }
};

// --- Products ---

/// Matrix instructions are for waves of 64 lanes; the decoder sees to it.
template <unsigned M, unsigned K, unsigned blocks, typename A, typename B>
const Record *multiply(Wave &wave, const Record *record) {
  using T = typename A::Value;
  matrixproduct::RoundsToNearest rounding;
  Input<M, K, blocks, T> a, b;
  const uint32_t *left = wave.row(record->sources[0]), *right = wave.row(record->sources[1]);
  if (__builtin_expect(record->immediate != 0, 0)) {
    // The decoder lets only such pass as the instruction has.
    constexpr unsigned rows = (a.depthOfLane * A::bits + 31) / 32;
    uint32_t control = record->immediate;
    Rearranged<rows> otherLeft(
        left, [&](unsigned lane) { return broadcastLane(lane, M, blocks, control); });
    Rearranged<rows> otherRight(right, [&](unsigned lane) {
      return patternLane(lane, matrixcontrol::lanePattern(control));
    });
    a.template gatherFormat<A>(otherLeft.row);
    b.template gatherFormat<B>(otherRight.row);
  } else {
    a.template gatherFormat<A>(left);
    b.template gatherFormat<B>(right);
  }
  Operand c = record->sources[2], d = record->destination;
  if constexpr (A::group != 0)
    if (wave.workgroup->matrixRounding == MatrixRounding::Hardware) {
      addAsHardware<M, K, blocks, A::group>(matrixproduct::hardwareInput<A>(a.value),
                                            matrixproduct::hardwareInput<B>(b.value), wave, c, d);
      return record + 1;
    }
  addProducts<M, K, blocks>(a.value, b.value, wave, c, d);
  return record + 1;
}

/// f64: `blgp` negates A, B and C.
template <unsigned M, unsigned K, unsigned blocks>
const Record *multiplyDouble(Wave &wave, const Record *record) {
  matrixproduct::RoundsToNearest rounding;
  Input<M, K, blocks, double> a, b;
  const uint32_t *left = wave.row(record->sources[0]), *right = wave.row(record->sources[1]);
  uint32_t negate = matrixcontrol::lanePattern(record->immediate);
  auto gather = [](auto &input, const uint32_t *row, bool negated) {
    input.template gather<1>(input.depthOfLane, [&](double *to, unsigned firstLane, unsigned i) {
      for (unsigned m = 0; m < M; ++m) {
        double value = readWhole<double>(row, firstLane + m, i);
        to[m] = negated ? -value : value;
      }
    });
  };
  gather(a, left, negate & 1);
  gather(b, right, negate & 2);
  addProducts<M, K, blocks>(a.value, b.value, wave, record->sources[2], record->destination,
                            negate & 4);
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

/// Blocks can be broadcast where there are several; those instructions and all of f32 proper can
/// also rearrange the lanes of B.
template <unsigned M, unsigned K, unsigned blocks, typename A, typename B>
constexpr Instruction dense(const char *names, Type type) {
  MatrixShape shape;
  shape.side = M, shape.blocks = blocks;
  shape.lanePattern = blocks > 1 || std::is_same_v<A, Float32>;
  return product(names, type, shape, multiply<M, K, blocks, A, B>);
}
template <unsigned M, unsigned K, unsigned blocks>
constexpr Instruction denseDouble(const char *names) {
  MatrixShape shape;
  shape.side = M, shape.blocks = blocks;
  return product(names, Type::F64, shape, multiplyDouble<M, K, blocks>);
}

#define F32_PRODUCT(NAMES, M, K, BLOCKS, A, B) dense<M, K, BLOCKS, A, B>(NAMES, Type::F32)
#define I32_PRODUCT(NAMES, M, K, BLOCKS) dense<M, K, BLOCKS, Int8, Int8>(NAMES, Type::B32)
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

    I32_PRODUCT("v_mfma_i32_32x32x4_2b_i8", 32, 4, 2),
    I32_PRODUCT("v_mfma_i32_16x16x4_4b_i8", 16, 4, 4),
    I32_PRODUCT("v_mfma_i32_4x4x4_16b_i8", 4, 4, 16),
    I32_PRODUCT("v_mfma_i32_32x32x16_i8", 32, 16, 1),
    I32_PRODUCT("v_mfma_i32_16x16x32_i8", 16, 32, 1),
    I32_PRODUCT("v_mfma_i32_32x32x32_i8", 32, 32, 1),
    I32_PRODUCT("v_mfma_i32_16x16x64_i8", 16, 64, 1),

    denseDouble<16, 4, 1>("v_mfma_f64_16x16x4_f64"),
    denseDouble<4, 4, 4>("v_mfma_f64_4x4x4_4b_f64"),

    accumulatorMove("v_accvgpr_read_b32", matrixvariant::Read),
    accumulatorMove("v_accvgpr_write_b32", matrixvariant::Write),
    accumulatorMove("v_accvgpr_mov_b32", matrixvariant::Copy),
};

} // namespace

InstructionRows matrix() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
