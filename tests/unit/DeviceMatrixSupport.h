//===- DeviceMatrixSupport.h - Integers in every matrix format ------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The codes of small integers, made from the formats' definitions, and elements put into and taken
// out of the registers of a wave one bit at a time. Products of such integers are exact in every
// order of summation, so that their expected values come from plain loops over integers.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_TESTS_UNIT_DEVICEMATRIXSUPPORT_H
#define WAVETILE_TESTS_UNIT_DEVICEMATRIXSUPPORT_H

#include "DeviceTestSupport.h"

#include <bit>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace wavetile::device::test {

enum class Element {
  F64,
  F32,
  XF32,
  F16,
  BF16,
  Fp8Fnuz,
  Bf8Fnuz,
  Fp8Ocp,
  Bf8Ocp,
  Fp6,
  Bf6,
  Fp4,
  I8,
  U8,
  I4,
  U4,
  I32
};

inline unsigned bitsOf(Element element) {
  switch (element) {
  case Element::F64:
    return 64;
  case Element::F32:
  case Element::XF32:
  case Element::I32:
    return 32;
  case Element::F16:
  case Element::BF16:
    return 16;
  case Element::Fp6:
  case Element::Bf6:
    return 6;
  case Element::Fp4:
  case Element::I4:
  case Element::U4:
    return 4;
  default:
    return 8;
  }
}
inline bool isInteger(Element element) { return element >= Element::I8; }

/// The code of an integer in a float format of the given widths.
inline uint32_t encode(int value, unsigned exponentBits, unsigned mantissaBits, int bias) {
  if (value == 0)
    return 0;
  unsigned magnitude = static_cast<unsigned>(std::abs(value));
  int exponent = std::bit_width(magnitude) - 1;
  uint32_t mantissa = (magnitude << mantissaBits >> exponent) & ((1u << mantissaBits) - 1);
  EXPECT_EQ((mantissa | 1u << mantissaBits) << exponent >> mantissaBits, magnitude);
  uint32_t sign = value < 0 ? 1u << (exponentBits + mantissaBits) : 0;
  return sign | static_cast<uint32_t>(exponent + bias) << mantissaBits | mantissa;
}
inline uint64_t code(Element element, int value) {
  switch (element) {
  case Element::F64:
    return std::bit_cast<uint64_t>(static_cast<double>(value));
  case Element::F32:
  case Element::XF32:
    return std::bit_cast<uint32_t>(static_cast<float>(value));
  case Element::F16:
    return encode(value, 5, 10, 15);
  case Element::BF16:
    return encode(value, 8, 7, 127);
  case Element::Fp8Fnuz:
    return encode(value, 4, 3, 8);
  case Element::Bf8Fnuz:
    return encode(value, 5, 2, 16);
  case Element::Fp8Ocp:
    return encode(value, 4, 3, 7);
  case Element::Bf8Ocp:
    return encode(value, 5, 2, 15);
  case Element::Fp6:
    return encode(value, 2, 3, 1);
  case Element::Bf6:
    return encode(value, 3, 2, 3);
  case Element::Fp4:
    return encode(value, 2, 1, 1);
  default:
    return static_cast<uint32_t>(value) & (~0u >> (32 - bitsOf(element)));
  }
}
/// An integer of a range all of which the format has.
inline int randomValue(std::mt19937 &random, Element element) {
  auto between = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  switch (element) {
  case Element::F64:
  case Element::F32:
  case Element::XF32:
  case Element::F16:
    return between(-255, 255);
  case Element::BF16:
    return between(-127, 127);
  case Element::Fp8Fnuz:
  case Element::Fp8Ocp:
    return between(-15, 15);
  case Element::Bf8Fnuz:
  case Element::Bf8Ocp:
  case Element::Fp6:
  case Element::Bf6:
    return between(-7, 7);
  case Element::Fp4:
    return between(-4, 4);
  case Element::I8:
    return between(-128, 127);
  case Element::U8:
    return between(0, 255);
  case Element::I4:
    return between(-8, 7);
  case Element::U4:
    return between(0, 15);
  case Element::I32:
    return between(-100000, 100000);
  }
  return 0;
}

/// Element `index` of a lane in a file of registers that begins at `firstRegister`.
template <typename Register>
void putElement(Register &&registerOf, unsigned firstRegister, unsigned bits, unsigned index,
                unsigned lane, uint64_t codeOfElement) {
  for (unsigned i = 0; i < bits; ++i) {
    unsigned position = index * bits + i;
    uint32_t &word = registerOf(firstRegister + position / 32, lane);
    uint32_t mask = 1u << (position % 32);
    word = (word & ~mask) | (codeOfElement >> i & 1 ? mask : 0);
  }
}
template <typename Register>
uint64_t getElement(Register &&registerOf, unsigned firstRegister, unsigned bits, unsigned index,
                    unsigned lane) {
  uint64_t result = 0;
  for (unsigned i = 0; i < bits; ++i) {
    unsigned position = index * bits + i;
    uint64_t bit = registerOf(firstRegister + position / 32, lane) >> (position % 32) & 1;
    result |= bit << i;
  }
  return result;
}

/// "v5" or "v[4:7]".
inline std::string registers(char file, unsigned first, unsigned count) {
  std::string name(1, file);
  if (count == 1)
    return name + std::to_string(first);
  return name + "[" + std::to_string(first) + ":" + std::to_string(first + count - 1) + "]";
}

} // namespace wavetile::device::test

#endif // WAVETILE_TESTS_UNIT_DEVICEMATRIXSUPPORT_H
