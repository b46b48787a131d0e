//===- Specials.cpp - Instructions for one purpose: cubes, sums, division -===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// After the pseudo-code of AMD's MI300, RDNA3 and RDNA4 instruction set documents.
//
//===----------------------------------------------------------------------===//

#include "reference/Reference.h"

#include <algorithm>
#include <cstdlib>

namespace wavetile::reference {
namespace {

using enum Kind;
using llvm::APFloat;
using llvm::RoundingMode;
constexpr auto nearest = RoundingMode::NearestTiesToEven;

struct Adder {
  Meanings &table;
  VectorMeaning &operator()(const std::string &name, Kind result, std::vector<Kind> sources,
                            Compute compute) {
    VectorMeaning &meaning = table.vectors[name];
    meaning.result = result;
    meaning.sources = std::move(sources);
    meaning.compute = std::move(compute);
    return meaning;
  }
};

uint64_t absolute(Format format, uint64_t x) { return x & ~signBit(format); }
uint64_t single(double x) { return toBits(APFloat(static_cast<float>(x))); }
bool isZero(Format format, uint64_t x) { return absolute(format, x) == 0; }
bool isInfinite(Format format, uint64_t x) { return toFloat(format, x).isInfinity(); }

// --- Cube maps ---

enum class Axis { X, Y, Z };
Axis majorAxis(uint64_t x, uint64_t y, uint64_t z) {
  auto atLeast = [](uint64_t a, uint64_t b) {
    int order = compare(Format::F32, absolute(Format::F32, a), absolute(Format::F32, b));
    return order == 0 || order == 1;
  };
  if (atLeast(z, x) && atLeast(z, y))
    return Axis::Z;
  return atLeast(y, x) ? Axis::Y : Axis::X;
}
bool isBelowZero(uint64_t x) { return compare(Format::F32, x, 0) == -1; }
uint64_t flipped(uint64_t x) { return x ^ signBit(Format::F32); }
/// What is passed on is quieted as by any operation.
uint64_t passed(uint64_t x) { return isNaN(Format::F32, x) ? quieted(Format::F32, x) : x; }

void addCubes(Adder &put) {
  put("v_cubeid_f32", F32, {F32, F32, F32}, [](Lane &l) {
    switch (majorAxis(l.source[0], l.source[1], l.source[2])) {
    case Axis::Z:
      return single(isBelowZero(l.source[2]) ? 5 : 4);
    case Axis::Y:
      return single(isBelowZero(l.source[1]) ? 3 : 2);
    case Axis::X:
      break;
    }
    return single(isBelowZero(l.source[0]) ? 1 : 0);
  });
  put("v_cubema_f32", F32, {F32, F32, F32}, [](Lane &l) {
    Axis axis = majorAxis(l.source[0], l.source[1], l.source[2]);
    return multiply(Format::F32, l.source[static_cast<size_t>(axis)], single(2),
                    l.rules(Format::F32));
  });
  put("v_cubesc_f32", F32, {F32, F32, F32}, [](Lane &l) {
    uint64_t x = l.source[0], y = l.source[1], z = l.source[2];
    switch (majorAxis(x, y, z)) {
    case Axis::Z:
      return passed(isBelowZero(z) ? flipped(x) : x);
    case Axis::Y:
      return passed(x);
    case Axis::X:
      break;
    }
    return passed(isBelowZero(x) ? z : flipped(z));
  });
  put("v_cubetc_f32", F32, {F32, F32, F32}, [](Lane &l) {
    uint64_t x = l.source[0], y = l.source[1], z = l.source[2];
    if (majorAxis(x, y, z) != Axis::Y)
      return passed(flipped(y));
    return passed(isBelowZero(y) ? flipped(z) : z);
  });
}

// --- Products that are 0 if a factor is ---

void addLegacyProducts(Adder &put) {
  auto fused = [](Lane &l) -> uint64_t {
    const FloatRules &rules = l.rules(Format::F32);
    auto in = [&](unsigned i) {
      return rules.flushSources ? flushed(Format::F32, l.source[i]) : l.source[i];
    };
    if (isZero(Format::F32, in(0)) || isZero(Format::F32, in(1)))
      return in(2); // As it is.
    return fusedMultiplyAdd(Format::F32, l.source[0], l.source[1], l.source[2], rules);
  };
  put("v_fma_dx9_zero_f32", F32, {F32, F32, F32}, fused);
  put("v_fma_legacy_f32", F32, {F32, F32, F32}, fused);
  for (const char *name : {"v_fmac_dx9_zero_f32", "v_fmac_legacy_f32"})
    put(name, F32, {F32, F32, F32}, fused).accumulates = true;
  put("v_mullit_f32", F32, {F32, F32, F32}, [](Lane &l) -> uint64_t {
    constexpr uint64_t lowest = 0xff7fffff;
    uint64_t b = l.source[1], c = l.source[2];
    bool isLowest = isNaN(Format::F32, b) || compare(Format::F32, b, lowest) <= 0;
    if (isLowest || isNaN(Format::F32, c) || compare(Format::F32, c, 0) <= 0)
      return lowest;
    return multiply(Format::F32, l.source[0], b, l.rules(Format::F32));
  });
}

// --- Halves whose product is rounded first (gfx9) ---

void addUnfusedHalves(Adder &put) {
  auto unfused = [](Lane &l, unsigned a, unsigned b, unsigned c) {
    const FloatRules &rules = l.rules(Format::F16);
    uint64_t product = multiply(Format::F16, l.source[a], l.source[b], rules);
    return add(Format::F16, product, l.source[c], rules);
  };
  auto inOrder = [=](Lane &l) { return unfused(l, 0, 1, 2); };
  put("v_mad_f16", F16, {F16, F16, F16}, inOrder).keepsHalf = true;
  put("v_mad_legacy_f16", F16, {F16, F16, F16}, inOrder);
  put("v_madak_f16", F16, {F16, F16, F16}, inOrder).keepsHalf = true;
  put("v_madmk_f16", F16, {F16, F16, F16}, inOrder).keepsHalf = true;
  VectorMeaning &accumulating = put("v_mac_f16", F16, {F16, F16, F16}, inOrder);
  accumulating.accumulates = true;
  accumulating.keepsHalf = true;
  put("v_fma_legacy_f16", F16, {F16, F16, F16}, [](Lane &l) {
    return fusedMultiplyAdd(Format::F16, l.source[0], l.source[1], l.source[2],
                            l.rules(Format::F16));
  });
  VectorMeaning fixup = put.table.vectors.at("v_div_fixup_f16");
  fixup.keepsHalf = false;
  put.table.vectors["v_div_fixup_legacy_f16"] = fixup;
}

// --- Division ---

int exponentField(Format format, uint64_t x) {
  return format == Format::F64 ? static_cast<int>(x >> 52 & 0x7ff)
                               : static_cast<int>(x >> 23 & 0xff);
}
bool isDenormal(Format format, uint64_t x) { return toFloat(format, x).isDenormal(); }
uint64_t divided(Format format, uint64_t a, uint64_t b) {
  APFloat result = toFloat(format, a);
  (void)result.divide(toFloat(format, b), nearest);
  return toBits(result);
}

uint64_t divisionScale(Lane &l, Format format) {
  bool isDouble = format == Format::F64;
  uint64_t value = l.source[0], denominator = l.source[1], numerator = l.source[2];
  int far = isDouble ? 768 : 96, tiny = isDouble ? 53 : 23, power = isDouble ? 128 : 64;
  auto scaled = [&](int by) { return scale(format, value, by, l.rules(format)); };
  auto one = fromInteger(format, 1, nearest);
  l.mask = false;
  if (isZero(format, numerator) || isZero(format, denominator))
    return defaultNaN(format);
  bool isDenominator = value == denominator, isNumerator = value == numerator;
  if (exponentField(format, numerator) - exponentField(format, denominator) >= far) {
    l.mask = true;
    return isDenominator ? scaled(power) : value;
  }
  if (isDenormal(format, denominator))
    return scaled(power);
  bool tinyReciprocal = isDenormal(format, divided(format, one, denominator));
  bool tinyQuotient = isDenormal(format, divided(format, numerator, denominator));
  if (tinyReciprocal && tinyQuotient) {
    l.mask = true;
    return isDenominator ? scaled(-power) : value;
  }
  if (tinyReciprocal)
    return scaled(-power);
  if (tinyQuotient) {
    l.mask = true;
    return isNumerator ? scaled(power) : value;
  }
  return exponentField(format, numerator) <= tiny ? scaled(power) : value;
}

uint64_t divisionFixup(Lane &l, Format format) {
  bool isDouble = format == Format::F64;
  uint64_t quotient = l.source[0], denominator = l.source[1], numerator = l.source[2];
  uint64_t sign = (denominator ^ numerator) & signBit(format);
  uint64_t infinity = toBits(APFloat::getInf(semanticsOf(format)));
  if (isNaN(format, numerator))
    return quieted(format, numerator);
  if (isNaN(format, denominator))
    return quieted(format, denominator);
  bool zeroN = isZero(format, numerator), zeroD = isZero(format, denominator);
  bool infiniteN = isInfinite(format, numerator), infiniteD = isInfinite(format, denominator);
  if ((zeroN && zeroD) || (infiniteN && infiniteD))
    return defaultNaN(format) | signBit(format);
  if (zeroD || infiniteN)
    return infinity | sign;
  if (infiniteD || zeroN)
    return sign;
  int distance = exponentField(format, numerator) - exponentField(format, denominator);
  if (distance < (isDouble ? -1075 : -150))
    return sign;
  // The steps before overflowed, or made a NaN of an infinity.
  if (exponentField(format, quotient) == (isDouble ? 2047 : 255))
    return infinity | sign;
  return absolute(format, quotient) | sign;
}

/// a * b + c times a power of two, rounded once: 113 bits of which the last says whether there were
/// more are enough to round again.
uint64_t divisionMultiplyAdd(Lane &l) {
  constexpr Format format = Format::F32;
  uint64_t sum = fusedMultiplyAdd(format, l.source[0], l.source[1], l.source[2], l.rules(format));
  if (!(l.wave.mask(scalarnumber::Vcc) >> l.index & 1))
    return sum;
  std::vector<APFloat> values;
  for (unsigned i = 0; i < 3; ++i) {
    values.push_back(toFloat(format, l.source[i]));
    if (!values.back().isFinite())
      return sum;
    bool lost = false;
    values.back().convert(APFloat::IEEEquad(), nearest, &lost);
  }
  APFloat &exact = values[0];
  if (exact.fusedMultiplyAdd(values[1], values[2], RoundingMode::TowardZero) & APFloat::opInexact)
    exact = APFloat(APFloat::IEEEquad(), exact.bitcastToAPInt() | 1);
  int power = exponentField(format, l.source[2]) > 127 ? 64 : -64;
  exact = scalbn(exact, power, RoundingMode::TowardZero);
  bool lost = false;
  exact.convert(semanticsOf(format), l.rules(format).rounding, &lost);
  return toBits(exact);
}

void addDivision(Adder &put) {
  for (Format format : {Format::F32, Format::F64}) {
    Kind kind = format == Format::F64 ? F64 : F32;
    std::string suffix = format == Format::F64 ? "f64" : "f32";
    put("v_div_scale_" + suffix, kind, {kind, kind, kind}, [=](Lane &l) {
      return divisionScale(l, format);
    }).writesMask = true;
    put("v_div_fixup_" + suffix, kind, {kind, kind, kind},
        [=](Lane &l) { return divisionFixup(l, format); });
  }
  // Not that of f64: whether hardware rounds once there is not known, and for what v_div_scale
  // gives it does not matter, which the differential test compares with the host's quotients.
  put("v_div_fmas_f32", F32, {F32, F32, F32}, divisionMultiplyAdd);
}

// --- Conversions ---

uint64_t normalised(Format format, uint64_t bits, double largest, bool isSigned) {
  if (isNaN(format, bits))
    return 0;
  double x;
  {
    APFloat value = toFloat(format, bits);
    bool lost = false;
    value.convert(APFloat::IEEEdouble(), nearest, &lost);
    x = value.convertToDouble();
  }
  x = std::clamp(x, isSigned ? -1.0 : 0.0, 1.0);
  // Exact in a double, but for f32, whose product may round: 24 and 16 bits do fit.
  APFloat product(x * largest);
  (void)product.roundToIntegral(nearest);
  return static_cast<uint64_t>(static_cast<int64_t>(product.convertToDouble()));
}
uint64_t pair(uint64_t low, uint64_t high) { return (low & 0xffff) | (high & 0xffff) << 16; }

void addNormalised(Adder &put) {
  for (bool isSigned : {false, true}) {
    double largest = isSigned ? 32767 : 65535;
    std::string to = isSigned ? "i16" : "u16";
    put("v_cvt_norm_" + to + "_f16", B16, {F16},
        [=](Lane &l) { return normalised(Format::F16, l.source[0], largest, isSigned); });
    for (Format format : {Format::F16, Format::F32}) {
      Kind kind = format == Format::F16 ? F16 : F32;
      std::string from = format == Format::F16 ? "f16" : "f32";
      for (const char *stem : {"v_cvt_pknorm_", "v_cvt_pk_norm_"})
        put(stem + to + "_" + from, B32, {kind, kind}, [=](Lane &l) {
          return pair(normalised(format, l.source[0], largest, isSigned),
                      normalised(format, l.source[1], largest, isSigned));
        });
    }
  }
  put("v_cvt_off_f32_i4", F32, {B32}, [](Lane &l) {
    int index = static_cast<int>(l.source[0] & 15);
    return single((index >= 8 ? index - 16 : index) / 16.0);
  });
  auto byteOf = [](uint64_t bits) -> uint64_t {
    if (isNaN(Format::F32, bits))
      return 0;
    uint64_t rounded = roundToIntegral(Format::F32, bits, nearest);
    return static_cast<uint64_t>(
        std::clamp(double(toFloat(Format::F32, rounded).convertToFloat()), 0.0, 255.0));
  };
  auto insert = [=](Lane &l) {
    unsigned shift = 8 * (l.source[1] & 3);
    return (l.source[2] & ~(uint64_t(0xff) << shift)) | byteOf(l.source[0]) << shift;
  };
  put("v_cvt_pk_u8_f32", B32, {F32, B32, B32}, insert);
  put("v_cvt_pkaccum_u8_f32", B32, {F32, B32, B32}, insert).accumulates = true;
  put("v_sat_pk_u8_i16", B16, {B32}, [](Lane &l) {
    auto saturated = [](uint64_t half) {
      return static_cast<uint64_t>(std::clamp<int>(static_cast<int16_t>(half), 0, 255));
    };
    return saturated(l.source[0] & 0xffff) | saturated(l.source[0] >> 16 & 0xffff) << 8;
  });
}

// --- Sums of differences ---

uint64_t sumOfDifferences(uint64_t a, uint64_t b, uint64_t sum, bool masked) {
  for (unsigned shift = 0; shift < 32; shift += 8) {
    int x = static_cast<int>(a >> shift & 0xff), y = static_cast<int>(b >> shift & 0xff);
    if (!masked || y != 0)
      sum += static_cast<uint64_t>(std::abs(x - y));
  }
  return sum;
}
void addSums(Adder &put) {
  for (bool masked : {false, true}) {
    put(masked ? "v_mqsad_pk_u16_u8" : "v_qsad_pk_u16_u8", B64, {B64, B32, B64}, [=](Lane &l) {
      uint64_t result = 0;
      for (unsigned i = 0; i < 4; ++i)
        result |= (sumOfDifferences(l.source[0] >> 8 * i, l.source[1],
                                    l.source[2] >> 16 * i & 0xffff, masked) &
                   0xffff)
                  << 16 * i;
      return result;
    });
  }
}

// --- Dot products ---

void addFloatDots(Adder &put) {
  auto dot = [](Lane &l, Format format) {
    const FloatRules &rules = l.rules(Format::F32);
    uint64_t sum = l.source[2];
    for (unsigned shift : {0u, 16u}) {
      auto part = [&](unsigned i) {
        return convert(format, Format::F32, l.source[i] >> shift & 0xffff, nearest);
      };
      sum = fusedMultiplyAdd(Format::F32, part(0), part(1), sum, rules);
    }
    return sum;
  };
  for (const char *name : {"v_dot2_f32_f16", "v_dot2c_f32_f16", "v_dot2acc_f32_f16"})
    put(name, F32, {PackedF16, PackedF16, F32}, [=](Lane &l) {
      return dot(l, Format::F16);
    }).accumulates = std::string(name) != "v_dot2_f32_f16";
  for (const char *name : {"v_dot2_f32_bf16", "v_dot2c_f32_bf16", "v_dot2acc_f32_bf16"})
    put(name, F32, {PackedBF16, PackedBF16, F32}, [=](Lane &l) {
      return dot(l, Format::BF16);
    }).accumulates = std::string(name) != "v_dot2_f32_bf16";
  auto narrow = [=](Lane &l, Format format) {
    l.source[2] = convert(format, Format::F32, l.source[2], nearest);
    return convert(Format::F32, format, dot(l, format), nearest);
  };
  put("v_dot2_f16_f16", F16, {PackedF16, PackedF16, F16},
      [=](Lane &l) { return narrow(l, Format::F16); });
  put("v_dot2_bf16_bf16", BF16, {PackedBF16, PackedBF16, BF16},
      [=](Lane &l) { return narrow(l, Format::BF16); });
}

const llvm::fltSemantics &float8(bool bf8) {
  return bf8 ? APFloat::Float8E5M2() : APFloat::Float8E4M3FN();
}
void addByteDots(Adder &put) {
  for (unsigned width : {8u, 4u})
    put(width == 8 ? "v_dot4_i32_iu8" : "v_dot8_i32_iu4", B32, {B32, B32, B32}, [=](Lane &l) {
      int64_t sum = static_cast<int32_t>(l.source[2]);
      auto part = [&](unsigned i, unsigned shift) {
        int64_t value = static_cast<int64_t>(l.source[i] >> shift & ((1u << width) - 1));
        bool isSigned = l.statement.listed("neg_lo", i, 0);
        return isSigned && value >> (width - 1) ? value - (int64_t(1) << width) : value;
      };
      for (unsigned shift = 0; shift < 32; shift += width)
        sum += part(0, shift) * part(1, shift);
      if (l.statement.has("clamp"))
        sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
      return static_cast<uint64_t>(static_cast<uint32_t>(sum));
    }).isInteger = true;
  for (bool bfA : {false, true})
    for (bool bfB : {false, true}) {
      std::string name =
          std::string("v_dot4_f32_") + (bfA ? "bf8" : "fp8") + "_" + (bfB ? "bf8" : "fp8");
      put(name, F32, {B32, B32, F32}, [=](Lane &l) {
        // neg_lo has been applied; neg_hi means abs, and comes first.
        bool negative = l.statement.listed("neg_lo", 2, 0),
             bare = l.statement.listed("neg_hi", 2, 0);
        uint64_t sum = bare ? absolute(Format::F32, l.source[2]) : l.source[2];
        if (bare && negative)
          sum ^= signBit(Format::F32);
        auto part = [&](unsigned i, unsigned shift, bool bf8) {
          APFloat value(float8(bf8), llvm::APInt(8, l.source[i] >> shift & 0xff));
          if (value.isNaN())
            return defaultNaN(Format::F32) |
                   (l.source[i] >> shift & 0x80 ? signBit(Format::F32) : 0);
          bool lost = false;
          value.convert(APFloat::IEEEsingle(), nearest, &lost);
          return toBits(value);
        };
        for (unsigned shift = 0; shift < 32; shift += 8)
          sum = fusedMultiplyAdd(Format::F32, part(0, shift, bfA), part(1, shift, bfB), sum,
                                 l.rules(Format::F32));
        return sum;
      });
    }
}

// --- Integers ---

void addIntegerExtras(Adder &put) {
  auto dot16 = [](bool isSigned) {
    return [=](Lane &l) -> uint64_t {
      auto part = [&](unsigned i, unsigned shift) {
        uint64_t half = l.source[i] >> shift & 0xffff;
        return isSigned ? int64_t(static_cast<int16_t>(half)) : static_cast<int64_t>(half);
      };
      int64_t sum = isSigned ? int64_t(static_cast<int32_t>(l.source[2]))
                             : static_cast<int64_t>(l.source[2] & 0xffffffff);
      for (unsigned shift : {0u, 16u})
        sum += part(0, shift) * part(1, shift);
      if (l.statement.has("clamp"))
        sum = isSigned ? std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX)
                       : std::min<int64_t>(sum, UINT32_MAX);
      return static_cast<uint32_t>(sum);
    };
  };
  put("v_dot2_i32_i16", B32, {PackedB16, PackedB16, B32}, dot16(true)).isInteger = true;
  put("v_dot2_u32_u16", B32, {PackedB16, PackedB16, B32}, dot16(false)).isInteger = true;
  VectorMeaning &accumulating =
      put("v_dot2c_i32_i16", B32, {PackedB16, PackedB16, B32}, dot16(true));
  accumulating.isInteger = true;
  accumulating.accumulates = true;
  put("v_prng_b32", B32, {B32}, [](Lane &l) -> uint64_t {
    uint32_t x = static_cast<uint32_t>(l.source[0]);
    return x << 1 ^ (x >> 31 ? 0xc5u : 0);
  });
}

} // namespace

void addSpecials(Meanings &table) {
  Adder put{table};
  addCubes(put);
  addLegacyProducts(put);
  addUnfusedHalves(put);
  addDivision(put);
  addNormalised(put);
  addSums(put);
  addFloatDots(put);
  addByteDots(put);
  addIntegerExtras(put);
}

} // namespace wavetile::reference
