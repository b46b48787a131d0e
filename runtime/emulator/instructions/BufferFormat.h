//===- BufferFormat.h - Data formats of typed buffers ---------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An element has up to four components, x in the lowest bits; the name of a format lists their
// sizes from the highest bits down. gfx9 has a data format and a number format, gfx11 and gfx12
// number the sensible combinations through.
//
// Numbers: UNORM and SNORM are scaled to [0, 1] and [-1, 1], USCALED and SSCALED are integers as
// floats, FLOAT has 10, 11, 16 or 32 bits, UINT and SINT stay integers. AMD's documents do not say
// how a store rounds, nor what it does with numbers that are too large: this rounds to nearest even
// and clamps, as graphics APIs ask for.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_BUFFERFORMAT_H
#define WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_BUFFERFORMAT_H

#include "runtime/emulator/instructions/Float.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {

enum class NumberFormat : uint8_t { Unorm, Snorm, Uscaled, Sscaled, Uint, Sint, Invalid, Float };

struct BufferFormat {
  uint8_t bits[4] = {}; ///< Of x, y, z and w; 0: there is none.
  NumberFormat number = NumberFormat::Invalid;

  constexpr bool isValid() const { return bits[0] != 0 && number != NumberFormat::Invalid; }
  constexpr bool isInteger() const {
    return number == NumberFormat::Uint || number == NumberFormat::Sint;
  }
  constexpr unsigned bytes() const {
    return (bits[0] + unsigned(bits[1]) + unsigned(bits[2]) + unsigned(bits[3])) / 8;
  }
};

namespace bufferformats {

/// Component sizes by gfx9's data format.
constexpr uint8_t sizes[16][4] = {
    {},
    {8},
    {16},
    {8, 8},
    {32},
    {16, 16},
    {11, 11, 10},
    {10, 11, 11},
    {2, 10, 10, 10},
    {10, 10, 10, 2},
    {8, 8, 8, 8},
    {32, 32},
    {16, 16, 16, 16},
    {32, 32, 32},
    {32, 32, 32, 32},
    {},
};

constexpr BufferFormat ofGfx9(uint32_t dataFormat, uint32_t numberFormat) {
  BufferFormat format;
  for (unsigned i = 0; i < 4; ++i)
    format.bits[i] = sizes[dataFormat & 15][i];
  format.number = static_cast<NumberFormat>(numberFormat & 7);
  // Floats have 10, 11, 16 or 32 bits.
  if (format.number == NumberFormat::Float && (format.bits[0] == 8 || format.bits[0] == 2))
    format.number = NumberFormat::Invalid;
  if (format.number == NumberFormat::Float && format.bits[0] == 10 && format.bits[1] == 10)
    format.number = NumberFormat::Invalid;
  return format;
}

/// A run of gfx11's formats: those of one data format, in the order of `NumberFormat`.
struct Run {
  uint8_t first, dataFormat;
  const char *numbers; ///< u, s: norm; U, S: scaled; i, I: unsigned, signed; f.
};
constexpr Run runs[] = {
    {1, 1, "usUSiI"}, {7, 2, "usUSiIf"},   {14, 3, "usUSiI"}, {20, 4, "iIf"},    {23, 5, "usUSiIf"},
    {30, 6, "f"},     {31, 7, "f"},        {32, 8, "usiI"},   {36, 9, "usUSiI"}, {42, 10, "usUSiI"},
    {48, 11, "iIf"},  {51, 12, "usUSiIf"}, {58, 13, "iIf"},   {61, 14, "iIf"},
};
constexpr uint32_t numberOf(char letter) {
  const char letters[] = "usUSiI?f";
  for (uint32_t i = 0; i < 8; ++i)
    if (letters[i] == letter)
      return i;
  return 6;
}
constexpr BufferFormat ofGfx11(uint32_t code) {
  for (const Run &run : runs)
    for (unsigned i = 0; run.numbers[i] != 0; ++i)
      if (run.first + i == code)
        return ofGfx9(run.dataFormat, numberOf(run.numbers[i]));
  return {};
}

/// Conversions make a signalling NaN quiet.
WAVETILE_INLINE float wholeFloat(uint32_t half) {
  float x = fromHalf(half);
  return isNaN(x) ? quieted(x) : x;
}
/// Floats of 10 and 11 bits: no sign, 5 bits of exponent.
WAVETILE_INLINE float smallFloat(uint32_t value, unsigned bits) {
  return wholeFloat(value << (15 - bits));
}
WAVETILE_INLINE uint32_t toSmallFloat(float x, unsigned bits) {
  if (isNaN(x))
    return (31u << (bits - 5)) | 1u << (bits - 6);
  if (isNegative(x))
    return 0;
  // To f16 first would round twice: scale so that the mantissa's end is an integer's.
  const unsigned mantissa = bits - 5;
  uint32_t infinity = 31u << mantissa;
  if (x >= 65536.0f)
    return infinity;
  int exponent = exponentField(x) - 127;
  exponent = exponent < -14 ? -14 : exponent;
  double unit = 1.0;
  for (int i = exponent - static_cast<int>(mantissa); i < 0; ++i)
    unit *= 0.5;
  for (int i = exponent - static_cast<int>(mantissa); i > 0; --i)
    unit *= 2;
  uint32_t count = static_cast<uint32_t>(host::roundAsSet(static_cast<double>(x) / unit));
  uint32_t encoded = count + (static_cast<uint32_t>(exponent + 14) << mantissa);
  return encoded > infinity ? infinity : encoded;
}

WAVETILE_INLINE int64_t signExtended(uint32_t value, unsigned bits) {
  return static_cast<int64_t>(static_cast<uint64_t>(value) << (64 - bits)) >> (64 - bits);
}

} // namespace bufferformats

/// A component's bits as the 32 bits of a register.
WAVETILE_INLINE uint32_t loadedComponent(const BufferFormat &format, uint32_t value,
                                         unsigned bits) {
  const int64_t number = bufferformats::signExtended(value, bits);
  const double scale = static_cast<double>((uint64_t(1) << bits) - 1);
  const double signedScale = static_cast<double>((uint64_t(1) << (bits - 1)) - 1);
  switch (format.number) {
  case NumberFormat::Unorm:
    return bitsOf(static_cast<float>(value / scale));
  case NumberFormat::Snorm: {
    double quotient = static_cast<double>(number) / signedScale;
    return bitsOf(static_cast<float>(quotient < -1 ? -1 : quotient));
  }
  case NumberFormat::Uscaled:
    return bitsOf(static_cast<float>(value));
  case NumberFormat::Sscaled:
    return bitsOf(static_cast<float>(number));
  case NumberFormat::Sint:
    return static_cast<uint32_t>(number);
  case NumberFormat::Float:
    return bits == 32   ? value
           : bits == 16 ? bitsOf(bufferformats::wholeFloat(value))
                        : bitsOf(bufferformats::smallFloat(value, bits));
  default:
    return value;
  }
}

/// The bits of a component from the 32 bits of a register.
WAVETILE_INLINE uint32_t storedComponent(const BufferFormat &format, uint32_t value,
                                         unsigned bits) {
  const uint64_t mask = (uint64_t(1) << bits) - 1;
  const int64_t most = static_cast<int64_t>(mask >> 1), least = -most - 1;
  auto rounded = [&](double x, double low, double high) {
    x = x < low ? low : x > high ? high : x;
    return static_cast<uint32_t>(static_cast<uint64_t>(static_cast<int64_t>(host::roundAsSet(x))) &
                                 mask);
  };
  const float number = floatOf(value);
  const double x = isNaN(number) ? 0 : static_cast<double>(number);
  switch (format.number) {
  case NumberFormat::Unorm:
    return rounded((x < 0   ? 0
                    : x > 1 ? 1
                            : x) *
                       static_cast<double>(mask),
                   0, static_cast<double>(mask));
  case NumberFormat::Snorm:
    return rounded((x < -1  ? -1
                    : x > 1 ? 1
                            : x) *
                       static_cast<double>(most),
                   -static_cast<double>(most), static_cast<double>(most));
  case NumberFormat::Uscaled:
    return rounded(x, 0, static_cast<double>(mask));
  case NumberFormat::Sscaled:
    return rounded(x, static_cast<double>(least), static_cast<double>(most));
  case NumberFormat::Uint:
    return value > mask ? static_cast<uint32_t>(mask) : value;
  case NumberFormat::Sint: {
    int64_t integer = static_cast<int32_t>(value);
    integer = integer < least ? least : integer > most ? most : integer;
    return static_cast<uint32_t>(static_cast<uint64_t>(integer) & mask);
  }
  case NumberFormat::Float:
    return bits == 32   ? value
           : bits == 16 ? halfFrom(number)
                        : bufferformats::toSmallFloat(number, bits);
  default:
    return 0;
  }
}

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_BUFFERFORMAT_H
