//===- ScaledMatrix.cpp - Products of formats that the instruction names --===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MFMA f8f6f4 of gfx950: cbsz names the format of A, blgp that of B, and the scaled forms multiply
// each 32 neighbouring k of a row of A or column of B by a power of two. The scale of k 32 b to
// 32 b + 31 of row m is a byte of lane M b + m, which is not the lane that holds all of these
// elements: 8-bit formats lie 16 k at a time in each lane, smaller ones 32.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/instructions/MatrixBlocks.h"
#include "runtime/emulator/instructions/Tables.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace {

using namespace matrixformat;
using namespace matrixblocks;

constexpr unsigned scaledDepth = 32;
/// How many k the hardware is assumed to sum at once: those of 8 bits.
constexpr unsigned smallGroup = 16;

/// What the hardware's multiplier sees of the format with this code.
WAVETILE_INLINE matrixproduct::HardwareInput hardwareInputOf(uint32_t format, const float *values) {
  switch (format) {
  case 0:
    return matrixproduct::hardwareInput<Float8<Fp8Ocp>>(values);
  case 1:
    return matrixproduct::hardwareInput<Float8<Bf8Ocp>>(values);
  case 2:
    return matrixproduct::hardwareInput<Fp6>(values);
  case 3:
    return matrixproduct::hardwareInput<Bf6>(values);
  default:
    return matrixproduct::hardwareInput<Fp4>(values);
  }
}

/// Gathers elements of the format with this code in cbsz or blgp.
template <typename Input>
WAVETILE_INLINE void gatherSmall(Input &input, const uint32_t *row, uint32_t format) {
  switch (format) {
  case 0:
    return input.template gatherFormat<Float8<Fp8Ocp>>(row, 16);
  case 1:
    return input.template gatherFormat<Float8<Bf8Ocp>>(row, 16);
  case 2:
    return input.template gatherFormat<Fp6>(row);
  case 3:
    return input.template gatherFormat<Bf6>(row);
  default: // The decoder lets no other pass.
    return input.template gatherFormat<Fp4>(row);
  }
}

template <unsigned M, unsigned K> const Record *multiplySmall(Wave &wave, const Record *record) {
  matrixproduct::RoundsToNearest rounding;
  Input<M, K, 1, float> a, b;
  uint32_t formatA = matrixcontrol::broadcastSize(record->immediate);
  uint32_t formatB = matrixcontrol::lanePattern(record->immediate);
  gatherSmall(a, wave.row(record->sources[0]), formatA);
  gatherSmall(b, wave.row(record->sources[1]), formatB);
  Operand c = record->sources[2], d = record->destination;
  if (wave.workgroup->matrixRounding == MatrixRounding::Hardware)
    addAsHardware<M, K, 1, smallGroup>(hardwareInputOf(formatA, a.value),
                                       hardwareInputOf(formatB, b.value), wave, c, d);
  else
    addProducts<M, K, 1>(a.value, b.value, wave, c, d);
  return record + 1;
}

// --- Scales ---

/// The scales of a matrix: 2^(byte - 127), or NaN if it is 255.
template <unsigned M, unsigned K> struct Scales {
  static constexpr unsigned count = K / scaledDepth * M;
  static_assert(count == waveSize);
  /// code[piece of 32 k][row of A or column of B].
  uint32_t code[count];
  /// Whether all scaled values and the products of two are within the normal range of f32.
  bool areModerate = true;
  bool areOne = false, haveNaN = false;

  WAVETILE_INLINE Scales(const Wave &wave, const Record *record, Operand operand,
                         unsigned operandNumber) {
    // op_sel is the low bit of the byte's number, op_sel_hi the high one.
    unsigned shift = (record->modifiers & modifier::high(operandNumber) ? 8 : 0) +
                     (record->modifiers & modifier::highForHigh(operandNumber) ? 16 : 0);
    const uint32_t *row = wave.row(operand);
    uint32_t low = 255, high = 0;
    for (unsigned lane = 0; lane < count; ++lane) {
      uint32_t byte = row[lane] >> shift & 0xff;
      code[lane] = byte;
      low = byte < low ? byte : low;
      high = byte > high ? byte : high;
    }
    areOne = (low == 127) & (high == 127);
    haveNaN = high == 255;
    // The formats' own exponents are between -17 and 15.
    areModerate = low >= 127 - 44 && high <= 127 + 44;
  }
  /// The scale as T; exact as f32 if moderate, else as f64.
  template <typename T> WAVETILE_INLINE static T valueOf(uint32_t code) {
    T nan = fromBits<T>(FloatTraits<T>::defaultNaN);
    T value = fromBits<T>(static_cast<BitsOf<T>>(code + (sizeof(T) == 8 ? 1023 - 127 : 0))
                          << FloatTraits<T>::mantissaBits);
    return code == 255 ? nan : value;
  }
  /// The scales as exponents; what NaN scales becomes NaN itself.
  WAVETILE_INLINE void split(int16_t *exponents, float *values) const {
    for (unsigned i = 0; i < count; ++i)
      exponents[i] = static_cast<int16_t>(code[i] == 255 ? 0 : static_cast<int32_t>(code[i]) - 127);
    for (unsigned k = 0; k < K && haveNaN; ++k)
      for (unsigned m = 0; m < M; ++m)
        if (code[k / scaledDepth * M + m] == 255)
          values[k * M + m] = floatOf(FloatTraits<float>::defaultNaN);
  }
  template <typename T, typename From> WAVETILE_INLINE void apply(T *to, const From *values) const {
    for (unsigned k = 0; k < K; ++k)
      for (unsigned m = 0; m < M; ++m)
        to[k * M + m] =
            static_cast<T>(values[k * M + m]) * valueOf<T>(code[k / scaledDepth * M + m]);
  }
};

/// Scaled values may lie outside f32's range: they are held in f64, and each step rounds to f32.
/// That is a rounding of the exact sum, for a product has at most 8 bits.
template <unsigned M, unsigned K>
__attribute__((noinline)) void addWide(const float *a, const float *b, const Scales<M, K> &scalesA,
                                       const Scales<M, K> &scalesB, float *c) {
  double left[K * M], right[K * M];
  scalesA.apply(left, a);
  scalesB.apply(right, b);
  for (unsigned k = 0; k < K; ++k)
    for (unsigned m = 0; m < M; ++m)
      for (unsigned n = 0; n < M; ++n) {
        float &sum = c[m * M + n];
        sum = static_cast<float>(
            host::fusedMultiplyAdd(left[k * M + m], right[k * M + n], static_cast<double>(sum)));
      }
}

template <unsigned M, unsigned K> const Record *multiplyScaled(Wave &wave, const Record *record) {
  matrixproduct::RoundsToNearest rounding;
  Input<M, K, 1, float> a, b;
  uint32_t formatA = matrixcontrol::broadcastSize(record->immediate);
  uint32_t formatB = matrixcontrol::lanePattern(record->immediate);
  gatherSmall(a, wave.row(record->sources[0]), formatA);
  gatherSmall(b, wave.row(record->sources[1]), formatB);
  Scales<M, K> scalesA(wave, record, record->sources[3], 0);
  Scales<M, K> scalesB(wave, record, record->maskDestination, 1);
  Operand c = record->sources[2], d = record->destination;
  if (wave.workgroup->matrixRounding == MatrixRounding::Hardware) {
    matrixproduct::HardwareInput inputA = hardwareInputOf(formatA, a.value);
    matrixproduct::HardwareInput inputB = hardwareInputOf(formatB, b.value);
    int16_t exponentsA[Scales<M, K>::count], exponentsB[Scales<M, K>::count];
    scalesA.split(exponentsA, a.value), scalesB.split(exponentsB, b.value);
    inputA.scales = exponentsA, inputB.scales = exponentsB;
    addAsHardware<M, K, 1, smallGroup>(inputA, inputB, wave, c, d);
  } else if (scalesA.areModerate & scalesB.areModerate) {
    if (!scalesA.areOne)
      scalesA.apply(a.value, a.value);
    if (!scalesB.areOne)
      scalesB.apply(b.value, b.value);
    addProducts<M, K, 1>(a.value, b.value, wave, c, d);
  } else {
    Result<M, 1, float> sums;
    sums.read(wave, c);
    addWide<M, K>(a.value, b.value, scalesA, scalesB, sums.value);
    sums.write(wave, d);
  }
  return record + 1;
}

constexpr Instruction chosen(const char *names, uint8_t side, Handler handler) {
  MatrixShape shape;
  shape.side = side, shape.choosesFormats = true;
  return product(names, Type::F32, shape, handler);
}
constexpr Instruction table[] = {
    chosen("v_mfma_f32_16x16x128_f8f6f4", 16, multiplySmall<16, 128>),
    chosen("v_mfma_f32_32x32x64_f8f6f4", 32, multiplySmall<32, 64>),
    chosen("v_mfma_scale_f32_16x16x128_f8f6f4", 16, multiplyScaled<16, 128>),
    chosen("v_mfma_scale_f32_32x32x64_f8f6f4", 32, multiplyScaled<32, 64>),
};

} // namespace

InstructionRows scaledMatrix() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
