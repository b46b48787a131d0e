//===- SoftFloat.cpp - IEEE arithmetic without the host's -----------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "reference/SoftFloat.h"

#include "llvm/ADT/APSInt.h"

#include <initializer_list>
#include <optional>

using llvm::APFloat;
using llvm::APInt;
using llvm::RoundingMode;

namespace wavetile::reference {

unsigned widthOf(Format format) {
  return format == Format::F64 ? 64 : format == Format::F32 ? 32 : 16;
}
const llvm::fltSemantics &semanticsOf(Format format) {
  switch (format) {
  case Format::F16:
    return APFloat::IEEEhalf();
  case Format::BF16:
    return APFloat::BFloat();
  case Format::F32:
    return APFloat::IEEEsingle();
  case Format::F64:
    break;
  }
  return APFloat::IEEEdouble();
}

static unsigned mantissaBits(Format format) {
  return APFloat::semanticsPrecision(semanticsOf(format)) - 1;
}
uint64_t signBit(Format format) { return uint64_t(1) << (widthOf(format) - 1); }
static uint64_t infinity(Format format) {
  return signBit(format) - (uint64_t(1) << mantissaBits(format));
}
static uint64_t quietBit(Format format) { return uint64_t(1) << (mantissaBits(format) - 1); }

APFloat toFloat(Format format, uint64_t bits) {
  return APFloat(semanticsOf(format), APInt(widthOf(format), bits, false, true));
}
uint64_t toBits(const APFloat &value) { return value.bitcastToAPInt().getZExtValue(); }

bool isNaN(Format format, uint64_t bits) {
  return (bits & (signBit(format) - 1)) > infinity(format);
}
bool isSignalling(Format format, uint64_t bits) {
  return isNaN(format, bits) && !(bits & quietBit(format));
}
uint64_t quieted(Format format, uint64_t bits) { return bits | quietBit(format); }
uint64_t defaultNaN(Format format) { return infinity(format) | quietBit(format); }
uint64_t flushed(Format format, uint64_t bits) {
  uint64_t magnitude = bits & (signBit(format) - 1);
  return magnitude >> mantissaBits(format) == 0 ? bits & signBit(format) : bits;
}

/// The first NaN among the operands, quieted.
static std::optional<uint64_t> nanOf(Format format, std::initializer_list<uint64_t> operands) {
  for (uint64_t operand : operands)
    if (isNaN(format, operand))
      return quieted(format, operand);
  return std::nullopt;
}
static uint64_t finished(Format format, const APFloat &value, const FloatRules &rules) {
  uint64_t bits = value.isNaN() ? defaultNaN(format) : toBits(value);
  return rules.flushResults ? flushed(format, bits) : bits;
}
static APFloat source(Format format, uint64_t bits, const FloatRules &rules) {
  return toFloat(format, rules.flushSources ? flushed(format, bits) : bits);
}

uint64_t add(Format format, uint64_t a, uint64_t b, const FloatRules &rules) {
  if (auto nan = nanOf(format, {a, b}))
    return *nan;
  APFloat sum = source(format, a, rules);
  sum.add(source(format, b, rules), rules.rounding);
  return finished(format, sum, rules);
}
uint64_t multiply(Format format, uint64_t a, uint64_t b, const FloatRules &rules) {
  if (auto nan = nanOf(format, {a, b}))
    return *nan;
  APFloat product = source(format, a, rules);
  product.multiply(source(format, b, rules), rules.rounding);
  return finished(format, product, rules);
}
uint64_t fusedMultiplyAdd(Format format, uint64_t a, uint64_t b, uint64_t c,
                          const FloatRules &rules) {
  if (auto nan = nanOf(format, {a, b, c}))
    return *nan;
  APFloat result = source(format, a, rules);
  result.fusedMultiplyAdd(source(format, b, rules), source(format, c, rules), rules.rounding);
  return finished(format, result, rules);
}
uint64_t roundToIntegral(Format format, uint64_t a, RoundingMode mode) {
  if (auto nan = nanOf(format, {a}))
    return *nan;
  APFloat value = toFloat(format, a);
  bool negative = value.isNegative();
  value.roundToIntegral(mode);
  if (value.isZero() && value.isNegative() != negative)
    value.changeSign();
  return toBits(value);
}
uint64_t convert(Format from, Format to, uint64_t bits, RoundingMode mode) {
  if (isNaN(from, bits)) {
    uint64_t payload = bits & ((uint64_t(1) << mantissaBits(from)) - 1);
    unsigned have = mantissaBits(from), want = mantissaBits(to);
    payload = want >= have ? payload << (want - have) : payload >> (have - want);
    return (bits & signBit(from) ? signBit(to) : 0) | infinity(to) | quietBit(to) | payload;
  }
  APFloat value = toFloat(from, bits);
  bool lost = false;
  value.convert(semanticsOf(to), mode, &lost);
  return toBits(value);
}
uint64_t toInteger(Format format, uint64_t a, unsigned width, bool isSigned, RoundingMode mode) {
  if (isNaN(format, a))
    return 0;
  llvm::APSInt result(width, !isSigned);
  bool exact = false;
  // What does not fit becomes the nearest value that does.
  toFloat(format, a).convertToInteger(result, mode, &exact);
  return result.getZExtValue();
}
uint64_t fromInteger(Format format, int64_t value, RoundingMode mode) {
  APFloat result(semanticsOf(format));
  result.convertFromAPInt(APInt(64, static_cast<uint64_t>(value)), true, mode);
  return toBits(result);
}
uint64_t fromUnsigned(Format format, uint64_t value, RoundingMode mode) {
  APFloat result(semanticsOf(format));
  result.convertFromAPInt(APInt(64, value), false, mode);
  return toBits(result);
}
uint64_t scale(Format format, uint64_t a, int n, const FloatRules &rules) {
  if (auto nan = nanOf(format, {a}))
    return *nan;
  return finished(format, scalbn(source(format, a, rules), n, rules.rounding), rules);
}
int compare(Format format, uint64_t a, uint64_t b) {
  switch (toFloat(format, a).compare(toFloat(format, b))) {
  case APFloat::cmpLessThan:
    return -1;
  case APFloat::cmpEqual:
    return 0;
  case APFloat::cmpGreaterThan:
    return 1;
  case APFloat::cmpUnordered:
    break;
  }
  return 2;
}

} // namespace wavetile::reference
