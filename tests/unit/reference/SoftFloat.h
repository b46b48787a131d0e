//===- SoftFloat.h - IEEE arithmetic without the host's -------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's APFloat with AMD's rules around it: an operand that is a NaN is the result, the first one
// of several, made quiet; an invalid operation gives the positive quiet NaN; denormals are flushed
// as MODE says.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_TESTS_UNIT_REFERENCE_SOFTFLOAT_H
#define WAVETILE_TESTS_UNIT_REFERENCE_SOFTFLOAT_H

#include "llvm/ADT/APFloat.h"

#include <cstdint>
#include <vector>

namespace wavetile::reference {

enum class Format : uint8_t { F16, BF16, F32, F64 };

unsigned widthOf(Format format);
const llvm::fltSemantics &semanticsOf(Format format);

/// What MODE says about numbers of one format.
struct FloatRules {
  llvm::RoundingMode rounding = llvm::RoundingMode::NearestTiesToEven;
  bool flushSources = false;
  bool flushResults = false;
};

llvm::APFloat toFloat(Format format, uint64_t bits);
uint64_t toBits(const llvm::APFloat &value);

bool isNaN(Format format, uint64_t bits);
bool isSignalling(Format format, uint64_t bits);
uint64_t quieted(Format format, uint64_t bits);
uint64_t defaultNaN(Format format);
uint64_t signBit(Format format);
/// A denormal becomes a zero of its sign.
uint64_t flushed(Format format, uint64_t bits);

/// a + b, a * b, a * b + c.
uint64_t add(Format format, uint64_t a, uint64_t b, const FloatRules &rules);
uint64_t multiply(Format format, uint64_t a, uint64_t b, const FloatRules &rules);
uint64_t fusedMultiplyAdd(Format format, uint64_t a, uint64_t b, uint64_t c,
                          const FloatRules &rules);
/// To an integral value.
uint64_t roundToIntegral(Format format, uint64_t a, llvm::RoundingMode mode);
/// A NaN keeps its sign and the upper bits of its payload.
uint64_t convert(Format from, Format to, uint64_t bits, llvm::RoundingMode mode);
/// Toward zero, saturated; NaN gives 0.
uint64_t toInteger(Format format, uint64_t a, unsigned width, bool isSigned,
                   llvm::RoundingMode mode = llvm::RoundingMode::TowardZero);
uint64_t fromInteger(Format format, int64_t value, llvm::RoundingMode mode);
uint64_t fromUnsigned(Format format, uint64_t value, llvm::RoundingMode mode);
/// a * 2^n.
uint64_t scale(Format format, uint64_t a, int n, const FloatRules &rules);

/// -1, 0, 1, or 2 if unordered.
int compare(Format format, uint64_t a, uint64_t b);

} // namespace wavetile::reference

#endif // WAVETILE_TESTS_UNIT_REFERENCE_SOFTFLOAT_H
