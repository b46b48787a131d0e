//===- Floats.cpp - Floating-point instructions that are exact ===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "reference/Reference.h"

#include <algorithm>

namespace wavetile::reference {
namespace {

using enum Kind;
using llvm::RoundingMode;

struct Number {
  Format format;
  Kind kind;
  const char *suffix;
};
constexpr Number numbers[] = {
    {Format::F16, F16, "f16"}, {Format::F32, F32, "f32"}, {Format::F64, F64, "f64"}};

uint64_t negated(Format format, uint64_t bits) { return bits ^ signBit(format); }
uint64_t one(Format format) { return fromInteger(format, 1, RoundingMode::NearestTiesToEven); }
bool isZero(Format format, uint64_t bits) { return (bits & (signBit(format) - 1)) == 0; }
bool isInfinite(Format format, uint64_t bits) { return toFloat(format, bits).isInfinity(); }
uint64_t infinityOf(Format format, bool negative) {
  return toBits(llvm::APFloat::getInf(semanticsOf(format), negative));
}
/// The exponent of a finite number that is not zero, denormals included.
int exponentOf(Format format, uint64_t bits) { return ilogb(toFloat(format, bits)); }

/// v_min and v_max: a number wins over a NaN, -0 is less than +0; a signalling NaN in IEEE mode
/// gives a quiet one.
uint64_t numberExtremum(const Lane &lane, Format format, bool maximum, uint64_t a, uint64_t b) {
  const FloatRules &rules = lane.rules(format);
  if (rules.flushSources)
    a = flushed(format, a), b = flushed(format, b);
  if (lane.wave.ieee && isSignalling(format, a))
    return quieted(format, a);
  if (lane.wave.ieee && isSignalling(format, b))
    return quieted(format, b);
  if (isNaN(format, a))
    return isNaN(format, b) ? quieted(format, a) : b;
  if (isNaN(format, b))
    return a;
  int order = compare(format, a, b);
  if (order == 0)
    order = bool(a & signBit(format)) == bool(b & signBit(format)) ? 0
            : (a & signBit(format))                                ? -1
                                                                   : 1;
  return maximum == (order > 0) ? a : order == 0 ? a : b;
}
/// v_minimum and v_maximum: a NaN wins.
uint64_t nanExtremum(const Lane &lane, Format format, bool maximum, uint64_t a, uint64_t b) {
  for (uint64_t x : {a, b})
    if (isSignalling(format, x))
      return quieted(format, x);
  for (uint64_t x : {a, b})
    if (isNaN(format, x))
      return quieted(format, x);
  return numberExtremum(lane, format, maximum, a, b);
}

void addArithmetic(Meanings &table, const Number &n) {
  Format format = n.format;
  auto named = [&](const char *stem) { return std::string(stem) + n.suffix; };
  auto put = [&](const std::string &name, unsigned count, Compute compute) -> VectorMeaning & {
    VectorMeaning &meaning = table.vectors[name];
    meaning.result = n.kind;
    meaning.sources.assign(count, n.kind);
    meaning.compute = std::move(compute);
    return meaning;
  };
  auto sum = [=](Lane &l) { return add(format, l.source[0], l.source[1], l.rules(format)); };
  auto difference = [=](Lane &l, uint64_t a, uint64_t b) {
    // A NaN keeps its sign: only a number is negated.
    return add(format, a, isNaN(format, b) ? b : negated(format, b), l.rules(format));
  };
  auto fused = [=](Lane &l) {
    return fusedMultiplyAdd(format, l.source[0], l.source[1], l.source[2], l.rules(format));
  };
  auto product = [=](Lane &l) {
    return multiply(format, l.source[0], l.source[1], l.rules(format));
  };
  put(named("v_add_"), 2, sum);
  put(named("v_mul_"), 2, product);
  put(named("v_sub_"), 2, [=](Lane &l) { return difference(l, l.source[0], l.source[1]); });
  put(named("v_subrev_"), 2, [=](Lane &l) { return difference(l, l.source[1], l.source[0]); });
  bool half = format == Format::F16;
  put(named("v_fma_"), 3, fused).keepsHalf = half;
  VectorMeaning &accumulating = put(named("v_fmac_"), 3, fused);
  accumulating.accumulates = true;
  accumulating.keepsHalf = half;
  put(named("v_fmaak_"), 3, fused).keepsHalf = half;
  put(named("v_fmamk_"), 3, fused).keepsHalf = half;

  auto extremum = [=](Lane &l, bool maximum, uint64_t a, uint64_t b) {
    return numberExtremum(l, format, maximum, a, b);
  };
  for (bool maximum : {false, true}) {
    std::string stem = maximum ? "v_max" : "v_min";
    auto two = [=](Lane &l) { return extremum(l, maximum, l.source[0], l.source[1]); };
    auto three = [=](Lane &l) {
      return extremum(l, maximum, extremum(l, maximum, l.source[0], l.source[1]), l.source[2]);
    };
    auto mixed = [=](Lane &l) {
      return extremum(l, !maximum, extremum(l, maximum, l.source[0], l.source[1]), l.source[2]);
    };
    std::string other = maximum ? "min" : "max", suffix = n.suffix;
    put(stem + "_" + suffix, 2, two);
    put(stem + "_num_" + suffix, 2, two);
    put(stem + "3_" + suffix, 3, three);
    put(stem + "3_num_" + suffix, 3, three);
    put(stem + other + "_" + suffix, 3, mixed);
    put(stem + other + "_num_" + suffix, 3, mixed);

    std::string strict = maximum ? "v_maximum" : "v_minimum";
    std::string strictOther = maximum ? "minimum" : "maximum";
    auto nan = [=](Lane &l, bool wantMaximum, uint64_t a, uint64_t b) {
      return nanExtremum(l, format, wantMaximum, a, b);
    };
    put(strict + "_" + suffix, 2,
        [=](Lane &l) { return nan(l, maximum, l.source[0], l.source[1]); });
    put(strict + "3_" + suffix, 3, [=](Lane &l) {
      return nan(l, maximum, nan(l, maximum, l.source[0], l.source[1]), l.source[2]);
    });
    put(strict + strictOther + "_" + suffix, 3, [=](Lane &l) {
      return nan(l, !maximum, nan(l, maximum, l.source[0], l.source[1]), l.source[2]);
    });
  }
  auto median = [=](Lane &l) {
    uint64_t a = l.source[0], b = l.source[1], c = l.source[2];
    if (isNaN(format, a) || isNaN(format, b) || isNaN(format, c))
      return extremum(l, false, extremum(l, false, a, b), c);
    uint64_t most = extremum(l, true, extremum(l, true, a, b), c);
    if (compare(format, most, a) == 0)
      return extremum(l, true, b, c);
    return compare(format, most, b) == 0 ? extremum(l, true, a, c) : extremum(l, true, a, b);
  };
  for (const char *stem : {"v_med3_", "v_med3_num_"})
    put(named(stem), 3, median);
}

void addRounding(Meanings &table, const Number &n) {
  Format format = n.format;
  auto put = [&](const char *stem, Compute compute) {
    VectorMeaning &meaning = table.vectors[std::string(stem) + n.suffix];
    meaning.result = n.kind;
    meaning.sources = {n.kind};
    meaning.compute = std::move(compute);
  };
  auto toward = [&](const char *stem, RoundingMode mode) {
    put(stem, [=](Lane &l) {
      const FloatRules &rules = l.rules(format);
      uint64_t a = rules.flushSources ? flushed(format, l.source[0]) : l.source[0];
      return roundToIntegral(format, a, mode);
    });
  };
  toward("v_floor_", RoundingMode::TowardNegative);
  toward("v_ceil_", RoundingMode::TowardPositive);
  toward("v_trunc_", RoundingMode::TowardZero);
  toward("v_rndne_", RoundingMode::NearestTiesToEven);
  put("v_fract_", [=](Lane &l) {
    uint64_t a = l.source[0];
    if (isNaN(format, a))
      return quieted(format, a);
    if (isInfinite(format, a))
      return defaultNaN(format);
    uint64_t down = roundToIntegral(format, a, RoundingMode::TowardNegative);
    uint64_t fraction = add(format, a, negated(format, down), l.rules(format));
    return compare(format, fraction, one(format)) >= 0 ? one(format) - 1 : fraction;
  });
  put("v_frexp_mant_", [=](Lane &l) {
    uint64_t a = l.source[0];
    if (isNaN(format, a))
      return quieted(format, a);
    if (l.rules(format).flushSources)
      a = flushed(format, a);
    if (isZero(format, a) || isInfinite(format, a))
      return a;
    return toBits(
        scalbn(toFloat(format, a), -(exponentOf(format, a) + 1), RoundingMode::NearestTiesToEven));
  });
  VectorMeaning &exponent =
      table.vectors[std::string(format == Format::F16 ? "v_frexp_exp_i16_" : "v_frexp_exp_i32_") +
                    n.suffix];
  exponent.result = format == Format::F16 ? B16 : B32;
  exponent.sources = {n.kind};
  exponent.compute = [=](Lane &l) -> uint64_t {
    uint64_t a = l.rules(format).flushSources ? flushed(format, l.source[0]) : l.source[0];
    if (isNaN(format, a) || isZero(format, a) || isInfinite(format, a))
      return 0;
    return static_cast<uint32_t>(exponentOf(format, a) + 1);
  };
  VectorMeaning &scaling = table.vectors[std::string("v_ldexp_") + n.suffix];
  scaling.result = n.kind;
  scaling.sources = {n.kind, format == Format::F16 ? B16 : B32};
  scaling.compute = [=](Lane &l) {
    int power = format == Format::F16 ? static_cast<int16_t>(l.source[1])
                                      : static_cast<int32_t>(l.source[1]);
    power = std::max(-5000, std::min(5000, power));
    return scale(format, l.source[0], power, l.rules(format));
  };
}

/// v_div_fixup_f16. The f32 and f64 helpers of division are not written again: what counts is the
/// quotient that they make together, which the differential test compares with the host's.
void addHalfDivision(Meanings &table) {
  constexpr Format format = Format::F16;
  VectorMeaning &fixup = table.vectors["v_div_fixup_f16"];
  fixup.result = F16;
  fixup.sources = {F16, F16, F16};
  fixup.keepsHalf = true;
  fixup.compute = [](Lane &l) -> uint64_t {
    uint64_t quotient = l.source[0], denominator = l.source[1], numerator = l.source[2];
    uint64_t sign = (denominator ^ numerator) & signBit(format);
    if (isNaN(format, numerator))
      return quieted(format, numerator);
    if (isNaN(format, denominator))
      return quieted(format, denominator);
    bool zeroN = isZero(format, numerator), zeroD = isZero(format, denominator);
    bool infiniteN = isInfinite(format, numerator), infiniteD = isInfinite(format, denominator);
    if ((zeroN && zeroD) || (infiniteN && infiniteD))
      return defaultNaN(format) | signBit(format);
    if (zeroD || infiniteN)
      return infinityOf(format, sign != 0);
    if (infiniteD || zeroN)
      return sign;
    if (isNaN(format, quotient))
      quotient = quieted(format, quotient);
    return (quotient & ~signBit(format)) | sign;
  };
}

} // namespace

void addFloats(Meanings &table) {
  for (const Number &n : numbers) {
    addArithmetic(table, n);
    addRounding(table, n);
  }
  addHalfDivision(table);
  auto legacy = [](uint64_t a, uint64_t b, const FloatRules &rules) -> uint64_t {
    auto in = [&](uint64_t x) { return rules.flushSources ? flushed(Format::F32, x) : x; };
    if (isZero(Format::F32, in(a)) || isZero(Format::F32, in(b)))
      return 0;
    return multiply(Format::F32, a, b, rules);
  };
  for (const char *name : {"v_mul_legacy_f32", "v_mul_dx9_zero_f32"}) {
    VectorMeaning &meaning = table.vectors[name];
    meaning.result = F32;
    meaning.sources = {F32, F32};
    meaning.compute = [=](Lane &l) {
      return legacy(l.source[0], l.source[1], l.rules(Format::F32));
    };
  }
  for (const char *name : {"v_fma_mix_f32", "v_fma_mixlo_f16", "v_fma_mixhi_f16"}) {
    bool toHalf = std::string(name) != "v_fma_mix_f32";
    VectorMeaning &meaning = table.vectors[name];
    meaning.result = toHalf ? F16 : F32;
    meaning.sources = {Mixed, Mixed, Mixed};
    meaning.keepsHalf = true;
    meaning.highHalf = std::string(name) == "v_fma_mixhi_f16";
    meaning.compute = [=](Lane &l) {
      uint64_t result = fusedMultiplyAdd(Format::F32, l.source[0], l.source[1], l.source[2],
                                         l.rules(Format::F32));
      if (!toHalf)
        return result;
      return convert(Format::F32, Format::F16, result, l.rules(Format::F16).rounding);
    };
  }
}

} // namespace wavetile::reference
