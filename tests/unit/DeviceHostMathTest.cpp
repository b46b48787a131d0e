//===- DeviceHostMathTest.cpp - Arithmetic without the host's help ---------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What HostMath.h makes of IEEE addition and multiplication, against LLVM's APFloat in all four
// rounding modes: fused multiply-add, rounding to integers, f16.
//
//===----------------------------------------------------------------------===//

// The build that never uses instructions of the host.
#define WAVETILE_HOST_ISA plain
#include "runtime/emulator/instructions/HostMath.h"

#include "DeviceTestSupport.h"
#include "reference/SoftFloat.h"

#include "llvm/ADT/APFloat.h"

#include <random>

namespace wavetile::device::test {
namespace {

namespace software = plain::host::software;
using llvm::RoundingMode;
using reference::Format;

struct RoundingPair {
  Rounding host;
  RoundingMode reference;
};
constexpr RoundingPair roundings[] = {
    {Rounding::NearestEven, RoundingMode::NearestTiesToEven},
    {Rounding::Up, RoundingMode::TowardPositive},
    {Rounding::Down, RoundingMode::TowardNegative},
    {Rounding::TowardZero, RoundingMode::TowardZero},
};

/// The host rounds so for as long as this lives.
struct HostRounding {
  HostFloatControl control;
  explicit HostRounding(Rounding rounding) { setHostRounding(rounding); }
};

template <typename T> constexpr Format formatOf = sizeof(T) == 4 ? Format::F32 : Format::F64;
template <typename T> using BitsOf = software::Bits<T>;

template <typename T> T fromBits(uint64_t bits) {
  return __builtin_bit_cast(T, static_cast<BitsOf<T>>(bits));
}

/// Numbers of all sizes, many of them with few bits, near each other or special.
template <typename T> uint64_t randomBits(std::mt19937_64 &random) {
  constexpr unsigned mantissa = software::Layout<T>::mantissaBits;
  constexpr unsigned width = 8 * sizeof(T);
  constexpr uint64_t exponents = (uint64_t(1) << (width - 1 - mantissa)) - 1, bias = exponents / 2;
  uint64_t bits = random(), sign = bits >> 63, fraction = bits & ((uint64_t(1) << mantissa) - 1);
  uint64_t exponent = random() & exponents;
  const uint64_t special[] = {0, 1, exponents - 1, exponents, bias, bias + mantissa};
  switch (random() % 4) {
  case 0:
    exponent = special[random() % std::size(special)];
    break;
  case 1:
    exponent = bias - 8 + random() % (mantissa + 12);
    break;
  default:
    break;
  }
  if (random() % 3 == 0)
    fraction &= ~uint64_t(0) << (random() % (mantissa + 1));
  if (random() % 8 == 0)
    fraction = random() % 2 ? (uint64_t(1) << mantissa) - 1 : 0;
  fraction &= (uint64_t(1) << mantissa) - 1;
  return sign << (width - 1) | exponent << mantissa | fraction;
}

template <typename T> bool same(uint64_t got, uint64_t want) {
  bool bothNaN = reference::isNaN(formatOf<T>, got) && reference::isNaN(formatOf<T>, want);
  return got == want || bothNaN;
}

template <typename T> void checkFused(const RoundingPair &rounding, std::mt19937_64 &random) {
  for (unsigned i = 0; i < 20000; ++i) {
    uint64_t a = randomBits<T>(random), b = randomBits<T>(random), c = randomBits<T>(random);
    reference::FloatRules rules{rounding.reference, false, false};
    // Every third sum nearly cancels.
    if (i % 3 == 0)
      c = (reference::multiply(formatOf<T>, a, b, {}) ^ reference::signBit(formatOf<T>)) +
          random() % 3;
    uint64_t want = reference::fusedMultiplyAdd(formatOf<T>, a, b, c, rules), got;
    {
      HostRounding host(rounding.host);
      got = software::bits(
          software::fusedMultiplyAdd(fromBits<T>(a), fromBits<T>(b), fromBits<T>(c)));
    }
    ASSERT_TRUE(same<T>(got, want))
        << std::hex << a << " * " << b << " + " << c << " is " << got << ", not " << want;
  }
}

TEST(DeviceHostMath, FusedMultiplyAddIsRoundedOnce) {
  std::mt19937_64 random(1);
  for (const RoundingPair &rounding : roundings) {
    checkFused<float>(rounding, random);
    checkFused<double>(rounding, random);
  }
}

template <typename T> void checkIntegral(const RoundingPair &rounding, std::mt19937_64 &random) {
  struct Function {
    T (*function)(T);
    RoundingMode mode;
  };
  const Function functions[] = {
      {[](T x) { return software::truncate(x); }, RoundingMode::TowardZero},
      {[](T x) { return software::floor(x); }, RoundingMode::TowardNegative},
      {[](T x) { return software::ceil(x); }, RoundingMode::TowardPositive},
      {[](T x) { return software::roundToEven(x); }, RoundingMode::NearestTiesToEven},
      {[](T x) { return software::roundAsSet(x); }, rounding.reference},
  };
  for (unsigned i = 0; i < 20000; ++i) {
    uint64_t a = randomBits<T>(random);
    for (const Function &function : functions) {
      uint64_t want = reference::roundToIntegral(formatOf<T>, a, function.mode), got;
      {
        HostRounding host(rounding.host);
        got = software::bits(function.function(fromBits<T>(a)));
      }
      ASSERT_TRUE(same<T>(got, want)) << std::hex << a << " becomes " << got << ", not " << want
                                      << ", mode " << static_cast<int>(function.mode);
    }
  }
}

TEST(DeviceHostMath, RoundsToIntegers) {
  std::mt19937_64 random(2);
  for (const RoundingPair &rounding : roundings) {
    checkIntegral<float>(rounding, random);
    checkIntegral<double>(rounding, random);
  }
}

TEST(DeviceHostMath, ConvertsToAndFromHalves) {
  std::mt19937_64 random(3);
  for (const RoundingPair &rounding : roundings)
    for (unsigned i = 0; i < 50000; ++i) {
      uint64_t a = randomBits<float>(random);
      uint64_t want = reference::convert(Format::F32, Format::F16, a, rounding.reference);
      HostRounding host(rounding.host);
      ASSERT_EQ(software::toHalf(fromBits<float>(a)), want) << std::hex << a;
    }
  for (unsigned half = 0; half < 0x10000; ++half) {
    uint64_t want = reference::convert(Format::F16, Format::F32, half, RoundingMode::TowardZero);
    uint32_t got = software::bits(software::fromHalf(static_cast<uint16_t>(half)));
    ASSERT_TRUE(same<float>(got, want)) << std::hex << half;
  }
}

} // namespace
} // namespace wavetile::device::test
