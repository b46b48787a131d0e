//===- MatrixProduct.h - Sums of products for matrix instructions ---------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matrices taken out of registers: a[k][m], b[k][n], c[m][n]. What these functions promise: C gets
// the products of A and B, k ascending, each by one fused multiply-add (integers wrap).
// Neighbouring n lie in one host vector, so that the order of additions is that of the definition.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_MATRIXPRODUCT_H
#define WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_MATRIXPRODUCT_H

#include "runtime/emulator/instructions/Float.h"

#include <type_traits>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace matrixproduct {

/// Matrix instructions round to nearest even and keep denormals, whatever the wave's MODE says. For
/// as long as this lives the host does so too.
class RoundsToNearest {
public:
#if defined(__x86_64__)
  WAVETILE_INLINE RoundsToNearest() : saved(_mm_getcsr()) {
    if (__builtin_expect((saved & controlBits) != 0, 0))
      _mm_setcsr(saved & ~controlBits);
  }
  WAVETILE_INLINE ~RoundsToNearest() {
    if (__builtin_expect((saved & controlBits) != 0, 0))
      _mm_setcsr(saved);
  }

private:
  /// Flush to zero, the rounding mode, denormals are zero.
  static constexpr unsigned controlBits = 0xe040;
  unsigned saved;

public:
#else
  RoundsToNearest() = default;

private:
  HostFloatControl control;

public:
#endif
  RoundsToNearest(const RoundsToNearest &) = delete;
  RoundsToNearest &operator=(const RoundsToNearest &) = delete;
};

/// A piece of a row of B or C as a host vector; wider ones than the host has become several.
template <typename T, unsigned N>
using Piece __attribute__((ext_vector_type(N < 16 ? N : 64 / sizeof(T)))) = T;

template <typename V> WAVETILE_INLINE V multiplyAdd(V a, V b, V c) {
  if constexpr (std::is_integral_v<std::remove_reference_t<decltype(a[0])>>)
    return a * b + c;
  else
    return host::fusedMultiplyAddVector(a, b, c);
}

/// NaN results are AMD's default NaN.
template <typename T> WAVETILE_INLINE T canonical(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return isNaN(x) ? fromBits<T>(FloatTraits<T>::defaultNaN) : x;
  else
    return x;
}

template <typename V> WAVETILE_INLINE V canonicalPiece(V values) {
  using T = std::remove_reference_t<decltype(values[0])>;
  if constexpr (std::is_floating_point_v<T>)
    return values == values ? values : static_cast<V>(fromBits<T>(FloatTraits<T>::defaultNaN));
  else
    return values;
}

template <typename V, typename T> WAVETILE_INLINE V loadPiece(const T *from) {
  V value;
  __builtin_memcpy(&value, from, sizeof(V));
  return value;
}

/// Rows m of C plus the products a[k][M] * b[k][N]. A few rows at a time stay in registers:
/// `readRow(m, n)` points to C's values from column n on, `writeRow(m, n)` to where they go.
template <unsigned M, unsigned N, typename T, typename ReadRow, typename WriteRow>
WAVETILE_INLINE void accumulateRows(const T *a, const T *b, unsigned depth, ReadRow readRow,
                                    WriteRow writeRow) {
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
  for (unsigned first = 0; first < M; first += rowsAtOnce) {
    V sums[rowsAtOnce][pieces];
#pragma clang loop unroll(full)
    for (unsigned m = 0; m < rowsAtOnce; ++m)
#pragma clang loop unroll(full)
      for (unsigned n = 0; n < pieces; ++n)
        sums[m][n] = loadPiece<V>(readRow(first + m, n * width));
    for (unsigned k = 0; k < depth; ++k) {
      V right[pieces];
#pragma clang loop unroll(full)
      for (unsigned n = 0; n < pieces; ++n)
        right[n] = loadPiece<V>(b + k * N + n * width);
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
      for (unsigned n = 0; n < pieces; ++n) {
        V sum = canonicalPiece(sums[m][n]);
        __builtin_memcpy(writeRow(first + m, n * width), &sum, sizeof(V));
      }
  }
}
/// c[M][N] += a[k][M] * b[k][N].
template <unsigned M, unsigned N, typename T>
WAVETILE_INLINE void accumulate(const T *a, const T *b, T *c, unsigned depth) {
  auto row = [=](unsigned m, unsigned n) { return c + m * N + n; };
  accumulateRows<M, N>(a, b, depth, row, row);
}

/// c[M][N] += a[j][M] * b[place[j][M]][N], j ascending: a sparse A, of whose row m the j-th stored
/// value stands at that k. What is not stored is not multiplied, so that an infinity of B does not
/// meet a zero.
template <unsigned M, unsigned N, typename T>
WAVETILE_INLINE void accumulateSparse(const T *a, const uint8_t *place, const T *b, T *c,
                                      unsigned depth) {
  using Number = std::conditional_t<std::is_integral_v<T>, uint32_t, T>;
  using V = Piece<Number, N>;
  constexpr unsigned width = sizeof(V) / sizeof(T);
  for (unsigned m = 0; m < M; ++m)
    for (unsigned n = 0; n < N; n += width) {
      V sum = loadPiece<V>(c + m * N + n);
      for (unsigned j = 0; j < depth; ++j)
        sum = multiplyAdd(static_cast<V>(static_cast<Number>(a[j * M + m])),
                          loadPiece<V>(b + place[j * M + m] * N + n), sum);
      __builtin_memcpy(c + m * N + n, &sum, sizeof(V));
    }
}

} // namespace matrixproduct
} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_MATRIXPRODUCT_H
