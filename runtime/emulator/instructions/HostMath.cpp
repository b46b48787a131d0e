//===- HostMath.cpp - Operations that not every host has ------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/instructions/HostMath.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace host::software {
namespace {

using Wide = unsigned __int128;

/// A finite number as an integer times a power of two.
struct Parts {
  uint64_t significand;
  int exponent;
  bool isNegative;

  explicit Parts(double x) {
    uint64_t pattern = bits(x) & ~signBit<double>;
    int field = static_cast<int>(pattern >> 52);
    significand = (pattern & 0xfffffffffffff) | (field ? uint64_t(1) << 52 : 0);
    exponent = (field ? field : 1) - 1075;
    isNegative = bits(x) & signBit<double>;
  }
};

/// Shifted right, with the last bit set if anything was lost: "jammed".
Wide shiftRight(Wide x, int count) {
  if (count > 127)
    return x != 0;
  return x >> count | Wide((x & ((Wide(1) << count) - 1)) != 0);
}

/// ± sum * 2^exponent as the host rounds; \p sum is not 0.
double roundOnce(bool isNegative, Wide sum, int exponent) {
  uint64_t high = static_cast<uint64_t>(sum >> 64);
  int top = high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll(static_cast<uint64_t>(sum));
  double sign = isNegative ? -1.0 : 1.0;
  if (exponent + top >= -1022) {
    // 63 bits, which the conversion rounds; the factors do not.
    int shift = top - 62;
    Wide rounded = shift >= 0 ? shiftRight(sum, shift) : sum << -shift;
    int64_t significand = static_cast<int64_t>(rounded);
    double value = static_cast<double>(isNegative ? -significand : significand);
    exponent += shift;
    auto power = [](int n) {
      return __builtin_bit_cast(double, static_cast<uint64_t>(n + 1023) << 52);
    };
    int half = exponent / 2;
    return value * power(half) * power(exponent - half);
  }
  // In quarters of the smallest denormal: the addition rounds them away.
  int shift = -1076 - exponent;
  uint64_t quarters = static_cast<uint64_t>(shift >= 0 ? shiftRight(sum, shift) : sum << -shift);
  double whole = sign * (firstWhole<double> + static_cast<double>(quarters >> 2));
  double rounded = whole + sign * (static_cast<double>(quarters & 3) * 0.25);
  uint64_t pattern = static_cast<uint64_t>(magnitude(rounded) - firstWhole<double>);
  return __builtin_bit_cast(double, pattern | (isNegative ? signBit<double> : 0));
}

bool isFinite(double x) { return (bits(x) >> 52 & 0x7ff) != 0x7ff; }

} // namespace

double fusedMultiplyAdd(double a, double b, double c) {
  if (!isFinite(a) || !isFinite(b) || a == 0 || b == 0)
    return a * b + c;
  if (!isFinite(c))
    return c;
  if (c == 0)
    return a * b;
  Parts left(a), right(b), addend(c);
  // Both below 2^126, with at least 20 bits below the product's last.
  Wide product = static_cast<Wide>(left.significand) * right.significand << 20;
  Wide other = addend.significand;
  int exponent = left.exponent + right.exponent - 20;
  int shift = addend.exponent - exponent;
  if (shift < 0) {
    other = shiftRight(other, -shift);
  } else if (shift <= 73) {
    other <<= shift;
  } else {
    other <<= 73;
    product = shiftRight(product, shift - 73);
    exponent = addend.exponent - 73;
  }
  bool isNegative = left.isNegative != right.isNegative;
  if (isNegative == addend.isNegative)
    return roundOnce(isNegative, product + other, exponent);
  if (product == other)
    return c - c; // A zero whose sign depends on how the host rounds.
  return product > other ? roundOnce(isNegative, product - other, exponent)
                         : roundOnce(addend.isNegative, other - product, exponent);
}

} // namespace host::software
} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
