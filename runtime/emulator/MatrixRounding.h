//===- MatrixRounding.h - How matrix products are summed ------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both give the same bits where every product and sum is exact, as with small integers.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_MATRIXROUNDING_H
#define WAVETILE_RUNTIME_EMULATOR_MATRIXROUNDING_H

#include <cstdint>

namespace wavetile::device {

enum class MatrixRounding : uint8_t {
  /// Each product joins its sum by one fused multiply-add of the result's format, k ascending.
  FusedMultiplyAdd,
  /// Small formats are summed several k at once, as CDNA3 was measured to do; see
  /// docs/software-device-matrix.md.
  Hardware
};

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_MATRIXROUNDING_H
