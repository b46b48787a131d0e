//===- VectorConvertScaled.cpp - Conversions to and from 8, 6 and 4 bits ---===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The scaled conversions of gfx950, and stochastic rounding. A value times or divided by the power
// of two that is the exponent of an f32 scale, rounded once. Formats are those of "OCP Microscaling
// Formats (MX) 1.0": fp6 is E2M3, bf6 E3M2, fp4 E2M1; the last three have no infinity and no NaN.
// Elements are packed from the lowest bit upwards; v_cvt_scalef32_2xpk16 takes them from its two
// sources in turn.
//
// Stochastic rounding adds the seed, as a fraction of the last place, and cuts. Each element of a
// pair or a block after the first has for its seed what v_prng_b32 makes of the one before.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/instructions/Float8.h"
#include "runtime/emulator/instructions/LaneMemory.h"
#include "runtime/emulator/instructions/Lanes.h"
#include "runtime/emulator/instructions/Tables.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace {

// --- Formats ---

/// Wider formats, with `decode` and `encode` on the bits in 32-bit words.
struct Float32 {
  static constexpr unsigned bits = 32;
  static double decode(uint32_t code) { return static_cast<double>(floatOf(code)); }
  static uint32_t encode(double x) {
    float result = static_cast<float>(x);
    return isNaN(result) ? 0x7fc00000 : bitsOf(result);
  }
};
struct Float16 {
  static constexpr unsigned bits = 16;
  static double decode(uint32_t code) { return static_cast<double>(fromHalf(code)); }
  static uint32_t encode(double x) { return x != x ? 0x7e00 : halfFromDouble(x); }
};
struct BFloat16 {
  static constexpr unsigned bits = 16;
  static double decode(uint32_t code) { return static_cast<double>(fromBFloat16(code & 0xffff)); }
  static uint32_t encode(double x) { return x != x ? 0x7fc0 : bfloat16From(floatRoundedToOdd(x)); }
};

/// A format of up to 8 bits. Codes above `largest` are infinities and NaNs.
template <unsigned bits_, unsigned mantissaBits, int bias, uint32_t largest, uint32_t tooLarge,
          uint32_t nan>
struct Narrow {
  static constexpr unsigned bits = bits_;
  static constexpr uint32_t signBit = 1u << (bits - 1);

  static double decode(uint32_t code) {
    uint32_t magnitude = code & (signBit - 1);
    int exponent = static_cast<int>(magnitude >> mantissaBits);
    uint32_t mantissa = magnitude & ((1u << mantissaBits) - 1);
    if (exponent == 0)
      exponent = 1;
    else
      mantissa |= 1u << mantissaBits;
    double value = mantissa * powerOfTwo(exponent - bias - static_cast<int>(mantissaBits));
    if (magnitude > largest)
      value = magnitude == tooLarge && tooLarge != nan ? doubleOf(0x7ff0000000000000)
                                                       : doubleOf(0x7ff8000000000000);
    return code & signBit ? -value : value;
  }
  /// To nearest even, or with a seed.
  static uint32_t encode(double x, const uint32_t *seed, bool saturates) {
    uint32_t sign = isNegative(x) ? signBit : 0;
    if (isNaN(x))
      return sign | nan;
    double magnitude = absolute(x);
    constexpr int smallest = 1 - bias;
    int exponent = exponentField(magnitude) - 1023;
    if (exponent < smallest)
      exponent = smallest;
    uint32_t code = tooLarge;
    if (exponent <= bias + 1 && !isInfinity(x)) {
      // In units of the last place: below 2^(mantissaBits + 1).
      double units = magnitude * powerOfTwo(static_cast<int>(mantissaBits) - exponent);
      double whole = seed ? host::floor(units + *seed * powerOfTwo(-32)) : host::roundToEven(units);
      code = (static_cast<uint32_t>(exponent - smallest) << mantissaBits) +
             static_cast<uint32_t>(static_cast<int32_t>(whole));
    } else if (!isInfinity(x)) {
      code = largest + 1;
    }
    if (code > largest)
      code = saturates && !isInfinity(x) ? largest : tooLarge;
    return sign | code;
  }
};
using Fp8 = Narrow<8, 3, 7, 0x7e, 0x7f, 0x7f>;
using Bf8 = Narrow<8, 2, 15, 0x7b, 0x7c, 0x7f>;
// Too large, infinite or NaN: the largest number.
using Fp6 = Narrow<6, 3, 1, 0x1f, 0x1f, 0x1f>;
using Bf6 = Narrow<6, 2, 3, 0x1f, 0x1f, 0x1f>;
using Fp4 = Narrow<4, 1, 1, 0x7, 0x7, 0x7>;

// --- Operands ---

/// Row `index` of a source in one lane; a scalar or a constant is the same in all.
uint32_t sourceWord(const Wave &wave, Operand operand, unsigned index, unsigned lane) {
  if (operand.kind() == OperandKind::Scalar)
    return index == 0 ? wave.read32(operand) : wave.scalars[operand.index() + index];
  return wave.row(operand)[index * wave.waveSize + lane];
}
/// Element \p index of packed ones of `bits` bits.
template <unsigned bits>
uint32_t element(const Wave &wave, Operand operand, unsigned index, unsigned lane) {
  if constexpr (bits == 32)
    return sourceWord(wave, operand, index, lane);
  unsigned first = index * bits, word = first / 32, shift = first % 32;
  uint64_t both = sourceWord(wave, operand, word, lane);
  if (shift + bits > 32)
    both |= static_cast<uint64_t>(sourceWord(wave, operand, word + 1, lane)) << 32;
  return static_cast<uint32_t>(both >> shift) & static_cast<uint32_t>((uint64_t(1) << bits) - 1);
}
/// An f32 operand with its sign modifiers.
uint32_t floatWord(const Wave &wave, const Record *record, unsigned operand, unsigned index,
                   unsigned lane) {
  uint32_t word = sourceWord(wave, record->sources[operand], index, lane);
  if (record->modifiers & modifier::absolute(operand))
    word &= 0x7fffffff;
  return record->modifiers & modifier::negate(operand) ? word ^ 0x80000000 : word;
}
/// The power of two of a scale, an f32 of which only the exponent counts; NaN for the largest.
double scaleOf(const Wave &wave, const Record *record, unsigned operand, unsigned lane) {
  uint32_t exponent = floatWord(wave, record, operand, 0, lane) >> 23 & 0xff;
  return exponent == 0xff ? doubleOf(0x7ff8000000000000)
                          : powerOfTwo(static_cast<int>(exponent) - 127);
}
/// op_sel[1:0] and op_sel[3:2] as numbers.
unsigned sourceSelect(const Record *record) {
  return (record->modifiers & modifier::high(0) ? 1 : 0) |
         (record->modifiers & modifier::high(1) ? 2 : 0);
}
unsigned resultSelect(const Record *record) {
  return (record->modifiers & modifier::high(2) ? 1 : 0) |
         (record->modifiers & modifier::highResult ? 2 : 0);
}

/// v_prng_b32: the next of a sequence of pseudo-random numbers.
constexpr uint32_t nextRandom(uint32_t a) {
  return a << 1 ^ (static_cast<int32_t>(a) < 0 ? 0xc5u : 0);
}

/// Calls \p convert for each active lane with room for `words` words of result, and writes these
/// when all of the lane's sources are read.
template <unsigned words, typename F>
const Record *eachLane(Wave &wave, const Record *record, F convert) {
  uint32_t *result = wave.row(record->destination);
  forActive(wave.exec(), [&](unsigned lane) {
    uint32_t out[words] = {};
    convert(lane, out);
    for (unsigned i = 0; i < words; ++i)
      result[i * wave.waveSize + lane] = out[i];
  });
  return record + 1;
}
template <unsigned bits> void put(uint32_t *words, unsigned index, uint32_t code) {
  unsigned first = index * bits, shift = first % 32;
  words[first / 32] |= code << shift;
  if (shift + bits > 32)
    words[first / 32 + 1] |= code >> (32 - shift);
}
/// `old` with `value` in its part number `index` of `bits` bits.
template <unsigned bits> uint32_t replaced(uint32_t old, unsigned index, uint32_t value) {
  uint32_t mask = ((1u << bits) - 1) << (index * bits);
  return (old & ~mask) | (value << (index * bits) & mask);
}

// --- To wider formats ---

/// `count` elements from the group that op_sel chooses. The scale is the second operand.
template <typename From, typename To, unsigned count>
const Record *widen(Wave &wave, const Record *record) {
  constexpr unsigned words = (count * To::bits + 31) / 32;
  constexpr bool isSingleHalf = count == 1 && To::bits == 16;
  constexpr unsigned groups = count >= 32 ? 1 : 32 / (From::bits * count);
  return eachLane<words>(wave, record, [&](unsigned lane, uint32_t *out) {
    double scale = scaleOf(wave, record, 1, lane);
    unsigned group = sourceSelect(record) & (groups - 1);
    for (unsigned i = 0; i < count; ++i) {
      uint32_t code = element<From::bits>(wave, record->sources[0], group * count + i, lane);
      put<To::bits>(out, i, To::encode(From::decode(code) * scale));
    }
    if (isSingleHalf)
      out[0] = replaced<16>(wave.row(record->destination)[lane],
                            record->modifiers & modifier::highResult ? 1 : 0, out[0]);
  });
}

// --- To narrower formats ---

/// How sources and seed are given.
enum class Narrowing {
  TwoFloats,    ///< Two f32 operands, then the scale.
  Packed,       ///< A packed operand, then the scale.
  SeededOne,    ///< One value, a seed, the scale.
  SeededPacked, ///< Packed ones, a seed, the scale.
  TwoVectors    ///< Two vectors of f32, in turn, then the scale.
};
template <typename From, typename To, unsigned count, Narrowing kind>
const Record *narrow(Wave &wave, const Record *record) {
  constexpr bool hasSeed = kind == Narrowing::SeededOne || kind == Narrowing::SeededPacked;
  constexpr unsigned scaleOperand = kind == Narrowing::Packed ? 1 : 2;
  constexpr unsigned resultBits = count * To::bits, words = (resultBits + 31) / 32;
  const bool saturates = wave.mode.float16Overflow;
  return eachLane<words>(wave, record, [&](unsigned lane, uint32_t *out) {
    double scale = scaleOf(wave, record, scaleOperand, lane);
    uint32_t seed = hasSeed ? sourceWord(wave, record->sources[1], 0, lane) : 0;
    for (unsigned i = 0; i < count; ++i) {
      uint32_t code;
      if constexpr (kind == Narrowing::TwoFloats)
        code = floatWord(wave, record, i, 0, lane);
      else if constexpr (kind == Narrowing::TwoVectors)
        code = sourceWord(wave, record->sources[i & 1], i / 2, lane);
      else if constexpr (kind == Narrowing::SeededOne && From::bits == 16)
        code = element<16>(wave, record->sources[0], sourceSelect(record) & 1, lane);
      else if constexpr (kind == Narrowing::SeededOne)
        code = floatWord(wave, record, 0, 0, lane);
      else
        code = element<From::bits>(wave, record->sources[0], i, lane);
      put<To::bits>(out, i,
                    To::encode(From::decode(code) / scale, hasSeed ? &seed : nullptr, saturates));
      seed = nextRandom(seed);
    }
    uint32_t old = wave.row(record->destination)[lane];
    if (resultBits == 8)
      out[0] = replaced<8>(old, resultSelect(record), out[0]);
    else if (resultBits == 16)
      out[0] = replaced<16>(old, record->modifiers & modifier::highResult ? 1 : 0, out[0]);
  });
}

/// The same without a scale, of f32.
template <typename To> const Record *narrowSeeded(Wave &wave, const Record *record) {
  const bool saturates = wave.mode.float16Overflow;
  return eachLane<1>(wave, record, [&](unsigned lane, uint32_t *out) {
    uint32_t seed = sourceWord(wave, record->sources[1], 0, lane);
    double value = Float32::decode(floatWord(wave, record, 0, 0, lane));
    uint32_t code = To::encode(value, &seed, saturates);
    out[0] = replaced<8>(wave.row(record->destination)[lane], resultSelect(record), code);
  });
}
/// FNUZ: the only NaN, which is also what is too large, is the code of negative zero.
template <unsigned mantissaBits, int bias> struct NarrowFnuz {
  static uint32_t encode(double x, const uint32_t *seed, bool saturates) {
    constexpr uint32_t special = 0x100;
    uint32_t code =
        Narrow<8, mantissaBits, bias, 0x7f, special, special>::encode(x, seed, saturates);
    return code & special ? 0x80 : (code & 0x7f) == 0 ? 0 : code;
  }
};

/// bf16 is the upper half of f32: a carry out of the significand makes the exponent one larger.
const Record *narrowToBFloat16(Wave &wave, const Record *record) {
  return eachLane<1>(wave, record, [&](unsigned lane, uint32_t *out) {
    uint32_t seed = sourceWord(wave, record->sources[1], 0, lane);
    uint32_t word = floatWord(wave, record, 0, 0, lane);
    bool isFinite = (word & 0x7f800000) != 0x7f800000;
    float value = floatOf(isFinite ? (word + (seed >> 16)) & 0xffff0000 : word);
    out[0] = replaced<16>(wave.row(record->destination)[lane],
                          record->modifiers & modifier::highResult ? 1 : 0, bfloat16From(value));
  });
}
const Record *narrowToFloat16(Wave &wave, const Record *record) {
  return eachLane<1>(wave, record, [&](unsigned lane, uint32_t *out) {
    using Half = Narrow<16, 10, 15, 0x7bff, 0x7c00, 0x7e00>;
    uint32_t seed = sourceWord(wave, record->sources[1], 0, lane);
    double value = Float32::decode(floatWord(wave, record, 0, 0, lane));
    uint32_t code = Half::encode(value, &seed, wave.mode.float16Overflow);
    out[0] = replaced<16>(wave.row(record->destination)[lane],
                          record->modifiers & modifier::highResult ? 1 : 0, code);
  });
}

// --- Rows ---

constexpr Instruction row(const char *names, Signature signature, Handler handler) {
  return crossLane(names, signature, handler).with(rowflag::ownModifiers);
}
constexpr Signature unaryScaled{Type::Any, {Type::B32, Type::F32}, false};
constexpr Signature blockScaled{Type::Any, {Type::Any, Type::F32}, false};
constexpr Signature twoFloats{Type::Any, {Type::F32, Type::F32, Type::F32}, false};
constexpr Signature seededFloat{Type::Any, {Type::F32, Type::B32, Type::F32}, false};
constexpr Signature seededBits{Type::Any, {Type::B32, Type::B32, Type::F32}, false};
constexpr Signature seededPair{Type::Any, {Type::B64, Type::B32, Type::F32}, false};
constexpr Signature seededBlock{Type::Any, {Type::Any, Type::B32, Type::F32}, false};
constexpr Signature twoBlocks{Type::Any, {Type::Any, Type::Any, Type::F32}, false};
constexpr Signature seededOnly{Type::Any, {Type::F32, Type::B32}, false};

#define SCALED_8(NAME, FORMAT)                                                                     \
  row("v_cvt_scalef32_pk_f32_" NAME, unaryScaled, widen<FORMAT, Float32, 2>),                      \
      row("v_cvt_scalef32_pk_f16_" NAME, unaryScaled, widen<FORMAT, Float16, 2>),                  \
      row("v_cvt_scalef32_pk_bf16_" NAME, unaryScaled, widen<FORMAT, BFloat16, 2>),                \
      row("v_cvt_scalef32_f32_" NAME, unaryScaled, widen<FORMAT, Float32, 1>),                     \
      row("v_cvt_scalef32_f16_" NAME, unaryScaled, widen<FORMAT, Float16, 1>),                     \
      row("v_cvt_scalef32_pk_" NAME "_f32", twoFloats,                                             \
          narrow<Float32, FORMAT, 2, Narrowing::TwoFloats>),                                       \
      row("v_cvt_scalef32_pk_" NAME "_f16", unaryScaled,                                           \
          narrow<Float16, FORMAT, 2, Narrowing::Packed>),                                          \
      row("v_cvt_scalef32_pk_" NAME "_bf16", unaryScaled,                                          \
          narrow<BFloat16, FORMAT, 2, Narrowing::Packed>),                                         \
      row("v_cvt_scalef32_sr_" NAME "_f32", seededFloat,                                           \
          narrow<Float32, FORMAT, 1, Narrowing::SeededOne>),                                       \
      row("v_cvt_scalef32_sr_" NAME "_f16", seededBits,                                            \
          narrow<Float16, FORMAT, 1, Narrowing::SeededOne>),                                       \
      row("v_cvt_scalef32_sr_" NAME "_bf16", seededBits,                                           \
          narrow<BFloat16, FORMAT, 1, Narrowing::SeededOne>)
#define SCALED_6(NAME, FORMAT)                                                                     \
  row("v_cvt_scalef32_pk32_f32_" NAME, blockScaled, widen<FORMAT, Float32, 32>),                   \
      row("v_cvt_scalef32_pk32_f16_" NAME, blockScaled, widen<FORMAT, Float16, 32>),               \
      row("v_cvt_scalef32_pk32_bf16_" NAME, blockScaled, widen<FORMAT, BFloat16, 32>),             \
      row("v_cvt_scalef32_2xpk16_" NAME "_f32", twoBlocks,                                         \
          narrow<Float32, FORMAT, 32, Narrowing::TwoVectors>),                                     \
      row("v_cvt_scalef32_pk32_" NAME "_f16", blockScaled,                                         \
          narrow<Float16, FORMAT, 32, Narrowing::Packed>),                                         \
      row("v_cvt_scalef32_pk32_" NAME "_bf16", blockScaled,                                        \
          narrow<BFloat16, FORMAT, 32, Narrowing::Packed>),                                        \
      row("v_cvt_scalef32_sr_pk32_" NAME "_f32", seededBlock,                                      \
          narrow<Float32, FORMAT, 32, Narrowing::SeededPacked>),                                   \
      row("v_cvt_scalef32_sr_pk32_" NAME "_f16", seededBlock,                                      \
          narrow<Float16, FORMAT, 32, Narrowing::SeededPacked>),                                   \
      row("v_cvt_scalef32_sr_pk32_" NAME "_bf16", seededBlock,                                     \
          narrow<BFloat16, FORMAT, 32, Narrowing::SeededPacked>)

constexpr Instruction table[] = {
    SCALED_8("fp8", Fp8),
    SCALED_8("bf8", Bf8),
    SCALED_6("fp6", Fp6),
    SCALED_6("bf6", Bf6),
    row("v_cvt_scalef32_pk_f32_fp4", unaryScaled, widen<Fp4, Float32, 2>),
    row("v_cvt_scalef32_pk_f16_fp4", unaryScaled, widen<Fp4, Float16, 2>),
    row("v_cvt_scalef32_pk_bf16_fp4", unaryScaled, widen<Fp4, BFloat16, 2>),
    row("v_cvt_scalef32_pk_fp4_f32", twoFloats, narrow<Float32, Fp4, 2, Narrowing::TwoFloats>),
    row("v_cvt_scalef32_pk_fp4_f16", unaryScaled, narrow<Float16, Fp4, 2, Narrowing::Packed>),
    row("v_cvt_scalef32_pk_fp4_bf16", unaryScaled, narrow<BFloat16, Fp4, 2, Narrowing::Packed>),
    row("v_cvt_scalef32_sr_pk_fp4_f32", seededPair,
        narrow<Float32, Fp4, 2, Narrowing::SeededPacked>),
    row("v_cvt_scalef32_sr_pk_fp4_f16", seededBits,
        narrow<Float16, Fp4, 2, Narrowing::SeededPacked>),
    row("v_cvt_scalef32_sr_pk_fp4_bf16", seededBits,
        narrow<BFloat16, Fp4, 2, Narrowing::SeededPacked>),

    row("v_cvt_sr_fp8_f32@ocp", seededOnly, narrowSeeded<Fp8>),
    row("v_cvt_sr_bf8_f32@ocp", seededOnly, narrowSeeded<Bf8>),
    row("v_cvt_sr_fp8_f32@fnuz", seededOnly, narrowSeeded<NarrowFnuz<3, 8>>),
    row("v_cvt_sr_bf8_f32@fnuz", seededOnly, narrowSeeded<NarrowFnuz<2, 16>>),
    row("v_cvt_sr_bf16_f32", seededOnly, narrowToBFloat16),
    row("v_cvt_sr_f16_f32", seededOnly, narrowToFloat16),
    // A step of a shift register with feedback.
    vector<U32(U32)>("v_prng_b32", [](uint32_t a) { return nextRandom(a); }),
};

} // namespace

InstructionRows vectorConvertScaled() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
