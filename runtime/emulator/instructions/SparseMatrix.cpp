//===- SparseMatrix.cpp - Products with a sparse A (CDNA) -----------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// SMFMAC: D += A B, of whose A two of each four neighbouring k are stored. The index register of a
// lane has two bits for each value that the lane stores: its k of the four. As it holds 32 bits,
// there may be several sets of indices; with cbsz 0 abid names the set, otherwise it is the first.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/instructions/MatrixBlocks.h"
#include "runtime/emulator/instructions/Tables.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace {

using namespace matrixformat;
using namespace matrixblocks;

/// The k of each stored value: place[j][m], as A lies in `Input<M, K / 2, ...>`.
template <unsigned M, unsigned K> struct Places {
  uint8_t value[K / 2 * M];

  WAVETILE_INLINE Places(const uint32_t *index, unsigned set) {
    constexpr unsigned pieces = waveSize / M, stored = K / 2 / pieces;
    for (unsigned lane = 0; lane < waveSize; ++lane) {
      uint32_t bits = index[lane] >> (2 * stored * set % 32);
      for (unsigned i = 0; i < stored; ++i) {
        unsigned j = lane / M * stored + i;
        value[j * M + lane % M] = static_cast<uint8_t>(j / 2 * 4 + (bits >> (2 * i) & 3));
      }
    }
  }
};

template <unsigned M, unsigned K, typename A, typename B>
const Record *multiplySparse(Wave &wave, const Record *record) {
  using T = typename A::Value;
  matrixproduct::RoundsToNearest rounding;
  Input<M, K / 2, 1, T> a;
  Input<M, K, 1, T> b;
  Result<M, 1, T> c;
  a.template gatherFormat<A>(wave.row(record->sources[0]));
  b.template gatherFormat<B>(wave.row(record->sources[1]));
  Places<M, K> places(wave.row(record->sources[2]),
                      matrixcontrol::broadcastBlock(record->immediate));
  c.read(wave, record->destination);
  bool asHardware = false;
  if constexpr (A::group != 0) {
    asHardware = wave.workgroup->matrixRounding == MatrixRounding::Hardware;
    if (asHardware)
      matrixproduct::HardwareProduct<M, K / 2, K, A::group>::add(
          matrixproduct::hardwareInput<A>(a.value), matrixproduct::hardwareInput<B>(b.value),
          places.value, c.value);
  }
  if (!asHardware)
    matrixproduct::accumulateSparse<M, M>(a.value, places.value, b.value, c.value, K / 2);
  c.write(wave, record->destination);
  return record + 1;
}

template <unsigned M, unsigned K, typename A, typename B>
constexpr Instruction sparse(const char *names, Type type) {
  MatrixShape shape;
  shape.side = M, shape.sparse = true;
  return product(names, type, shape, multiplySparse<M, K, A, B>);
}

#define F32_PRODUCT(NAMES, M, K, A, B) sparse<M, K, A, B>(NAMES, Type::F32)
#define I32_PRODUCT(NAMES, M, K) sparse<M, K, Int8, Int8>(NAMES, Type::B32)
/// The four pairings of fp8 and bf8 in the formats of both families.
#define FLOAT8_PRODUCTS(SHAPE, M, K, FEATURE, FP8, BF8)                                            \
  F32_PRODUCT("v_smfmac_f32_" SHAPE "_fp8_fp8" FEATURE, M, K, FP8, FP8),                           \
      F32_PRODUCT("v_smfmac_f32_" SHAPE "_fp8_bf8" FEATURE, M, K, FP8, BF8),                       \
      F32_PRODUCT("v_smfmac_f32_" SHAPE "_bf8_fp8" FEATURE, M, K, BF8, FP8),                       \
      F32_PRODUCT("v_smfmac_f32_" SHAPE "_bf8_bf8" FEATURE, M, K, BF8, BF8)

constexpr Instruction table[] = {
    F32_PRODUCT("v_smfmac_f32_16x16x32_f16", 16, 32, Float16, Float16),
    F32_PRODUCT("v_smfmac_f32_32x32x16_f16", 32, 16, Float16, Float16),
    F32_PRODUCT("v_smfmac_f32_16x16x64_f16", 16, 64, Float16, Float16),
    F32_PRODUCT("v_smfmac_f32_32x32x32_f16", 32, 32, Float16, Float16),
    F32_PRODUCT("v_smfmac_f32_16x16x32_bf16", 16, 32, BFloat16, BFloat16),
    F32_PRODUCT("v_smfmac_f32_32x32x16_bf16", 32, 16, BFloat16, BFloat16),
    F32_PRODUCT("v_smfmac_f32_16x16x64_bf16", 16, 64, BFloat16, BFloat16),
    F32_PRODUCT("v_smfmac_f32_32x32x32_bf16", 32, 32, BFloat16, BFloat16),

    I32_PRODUCT("v_smfmac_i32_16x16x64_i8", 16, 64),
    I32_PRODUCT("v_smfmac_i32_32x32x32_i8", 32, 32),
    I32_PRODUCT("v_smfmac_i32_16x16x128_i8", 16, 128),
    I32_PRODUCT("v_smfmac_i32_32x32x64_i8", 32, 64),

    FLOAT8_PRODUCTS("16x16x64", 16, 64, "@fnuz", Fp8F, Bf8F),
    FLOAT8_PRODUCTS("32x32x32", 32, 32, "@fnuz", Fp8F, Bf8F),
    FLOAT8_PRODUCTS("16x16x64", 16, 64, "@ocp", Fp8O, Bf8O),
    FLOAT8_PRODUCTS("32x32x32", 32, 32, "@ocp", Fp8O, Bf8O),
    FLOAT8_PRODUCTS("16x16x128", 16, 128, "@ocp", Fp8O, Bf8O),
    FLOAT8_PRODUCTS("32x32x64", 32, 64, "@ocp", Fp8O, Bf8O),
};

} // namespace

InstructionRows sparseMatrix() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
