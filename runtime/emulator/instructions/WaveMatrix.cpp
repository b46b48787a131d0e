//===- WaveMatrix.cpp - Matrix instructions (RDNA3) -----------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// D = A B + C, 16 x 16 x 16, by the 32 lanes of a wave. Lane l and lane l + 16 hold the same row of
// A and column of B, all 16 values of k; the first one's are read. Results: row 2 * i + l / 16 in
// register i, column l % 16. EXEC is not looked at.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/instructions/LaneMemory.h"
#include "runtime/emulator/instructions/MatrixFormats.h"
#include "runtime/emulator/instructions/Tables.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace {

using namespace matrixformat;
constexpr unsigned side = 16, waveSize = 32, registers = 8;

/// A or B: value[k][row of A or column of B].
template <typename T> struct Matrix {
  alignas(64) T value[side][side];

  template <typename Element> WAVETILE_INLINE explicit Matrix(Element element) {
    for (unsigned lane = 0; lane < side; ++lane)
      for (unsigned k = 0; k < side; ++k)
        value[k][lane] = element(lane, k);
  }
};

template <typename Format>
WAVETILE_INLINE Matrix<float> readFloats(Wave &wave, const Record *record, unsigned operand) {
  const uint32_t *row = wave.row(record->sources[operand]);
  // neg_lo is for the even values, neg_hi for the odd ones.
  bool negateEven = record->modifiers & modifier::negate(operand);
  bool negateOdd = record->modifiers & modifier::negateHigh(operand);
  return Matrix<float>([&](unsigned lane, unsigned k) {
    float value = Format::value(rawElement<Format>(row, waveSize, lane, k));
    return (k & 1 ? negateOdd : negateEven) ? -value : value;
  });
}

/// sum[m][n] += a[k][m] * b[k][n], k ascending, one fused multiply-add each.
WAVETILE_INLINE void accumulate(const Matrix<float> &a, const Matrix<float> &b,
                                float (&sums)[side][side]) {
  for (unsigned m = 0; m < side; ++m)
    for (unsigned k = 0; k < side; ++k)
      for (unsigned n = 0; n < side; ++n)
        sums[m][n] = __builtin_fmaf(a.value[k][m], b.value[k][n], sums[m][n]);
}

WAVETILE_INLINE unsigned resultRow(unsigned lane, unsigned index) { return 2 * index + lane / 16; }
WAVETILE_INLINE float canonical(float x) { return isNaN(x) ? floatOf(0x7fc00000) : x; }

template <typename Format> const Record *multiplyToFloat(Wave &wave, const Record *record) {
  Matrix<float> a = readFloats<Format>(wave, record, 0), b = readFloats<Format>(wave, record, 1);
  alignas(64) float sums[side][side];
  const uint32_t *c = wave.row(record->sources[2]);
  bool isConstant = record->sources[2].kind() == OperandKind::Constant;
  bool absolute = record->modifiers & modifier::negateHigh(2);
  bool negate = record->modifiers & modifier::negate(2);
  for (unsigned lane = 0; lane < waveSize; ++lane)
    for (unsigned i = 0; i < registers; ++i) {
      float value = floatOf(c[(isConstant ? 0 : i * waveSize) + lane]);
      value = absolute ? __builtin_fabsf(value) : value;
      sums[resultRow(lane, i)][lane % 16] = negate ? -value : value;
    }
  accumulate(a, b, sums);
  uint32_t *d = wave.row(record->destination);
  for (unsigned lane = 0; lane < waveSize; ++lane)
    for (unsigned i = 0; i < registers; ++i)
      d[i * waveSize + lane] = bitsOf(canonical(sums[resultRow(lane, i)][lane % 16]));
  return record + 1;
}

/// Results of 16 bits, in the half of each register that op_sel[2] names; the other half stays.
template <typename Format> const Record *multiplyToHalf(Wave &wave, const Record *record) {
  constexpr bool isHalf = std::is_same_v<Format, Float16>;
  Matrix<float> a = readFloats<Format>(wave, record, 0), b = readFloats<Format>(wave, record, 1);
  alignas(64) float sums[side][side];
  const uint32_t *c = wave.row(record->sources[2]);
  bool isConstant = record->sources[2].kind() == OperandKind::Constant;
  unsigned shift = record->modifiers & modifier::high(2) ? 16 : 0;
  bool negate = record->modifiers & modifier::negate(2);
  for (unsigned lane = 0; lane < waveSize; ++lane)
    for (unsigned i = 0; i < registers; ++i) {
      uint32_t word = c[(isConstant ? 0 : i * waveSize) + lane];
      float value = Format::value((isConstant ? word : word >> shift) & 0xffff);
      sums[resultRow(lane, i)][lane % 16] = negate ? -value : value;
    }
  accumulate(a, b, sums);
  uint32_t *d = wave.row(record->destination);
  for (unsigned lane = 0; lane < waveSize; ++lane)
    for (unsigned i = 0; i < registers; ++i) {
      float value = canonical(sums[resultRow(lane, i)][lane % 16]);
      uint32_t bits = isHalf ? halfFrom(value) : bfloat16From(value);
      uint32_t &word = d[i * waveSize + lane];
      word = (word & ~(0xffffu << shift)) | bits << shift;
    }
  return record + 1;
}

/// Integers of 8 or 4 bits; neg_lo says signed. With clamp the sum saturates.
template <unsigned bits> const Record *multiplyIntegers(Wave &wave, const Record *record) {
  auto read = [&](unsigned operand) {
    const uint32_t *row = wave.row(record->sources[operand]);
    bool isSigned = record->modifiers & modifier::negate(operand);
    return Matrix<int32_t>([=](unsigned lane, unsigned k) {
      uint32_t word = row[k * bits / 32 * waveSize + lane];
      uint32_t top = word << (32 - bits - k * bits % 32);
      return isSigned ? static_cast<int32_t>(top) >> (32 - bits)
                      : static_cast<int32_t>(top >> (32 - bits));
    });
  };
  Matrix<int32_t> a = read(0), b = read(1);
  const uint32_t *c = wave.row(record->sources[2]);
  bool isConstant = record->sources[2].kind() == OperandKind::Constant;
  bool clamp = record->modifiers & modifier::clamp;
  uint32_t results[registers][waveSize];
  for (unsigned lane = 0; lane < waveSize; ++lane)
    for (unsigned i = 0; i < registers; ++i) {
      int64_t sum = static_cast<int32_t>(c[(isConstant ? 0 : i * waveSize) + lane]);
      for (unsigned k = 0; k < side; ++k)
        sum += int64_t(a.value[k][resultRow(lane, i)]) * b.value[k][lane % 16];
      if (clamp)
        sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
      results[i][lane] = static_cast<uint32_t>(sum);
    }
  __builtin_memcpy(wave.row(record->destination), results, sizeof(results));
  return record + 1;
}

constexpr Instruction product(const char *names, Type type, Handler handler) {
  Instruction row = memory(names, Shape::Matrix, InstructionClass::Matrix, handler);
  row.signature = {type, {Type::Any, Type::Any, type}, false};
  return row;
}

constexpr Instruction table[] = {
    product("v_wmma_f32_16x16x16_f16", Type::F32, multiplyToFloat<Float16>),
    product("v_wmma_f32_16x16x16_bf16", Type::F32, multiplyToFloat<BFloat16>),
    product("v_wmma_f16_16x16x16_f16", Type::F16, multiplyToHalf<Float16>),
    product("v_wmma_bf16_16x16x16_bf16", Type::BF16, multiplyToHalf<BFloat16>),
    product("v_wmma_i32_16x16x16_iu8", Type::B32, multiplyIntegers<8>),
    product("v_wmma_i32_16x16x16_iu4", Type::B32, multiplyIntegers<4>),
};

} // namespace

InstructionRows waveMatrix() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
