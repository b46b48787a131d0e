//===- Conversions.cpp - Conversions between formats ===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "reference/Reference.h"

#include <algorithm>
#include <cmath>

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

uint64_t input(const Lane &l, Format format, unsigned i = 0) {
  return l.rules(format).flushSources ? flushed(format, l.source[i]) : l.source[i];
}
uint64_t saturated(uint64_t bits, Format format, int64_t low, int64_t high) {
  if (isNaN(format, bits))
    return 0;
  APFloat value = toFloat(format, bits);
  bool lost = false;
  value.convert(APFloat::IEEEdouble(), RoundingMode::TowardZero, &lost);
  double clipped = std::clamp(value.convertToDouble(), double(low), double(high));
  return static_cast<uint64_t>(static_cast<int64_t>(clipped));
}
uint64_t pair(uint64_t low, uint64_t high) { return (low & 0xffff) | (high & 0xffff) << 16; }

void addIntegers(Adder &put) {
  for (Format format : {Format::F32, Format::F64}) {
    bool isDouble = format == Format::F64;
    Kind kind = isDouble ? F64 : F32;
    std::string suffix = isDouble ? "f64" : "f32";
    put("v_cvt_" + suffix + "_i32", kind, {B32}, [=](Lane &l) {
      return fromInteger(format, static_cast<int32_t>(l.source[0]), l.rules(format).rounding);
    });
    put("v_cvt_" + suffix + "_u32", kind, {B32}, [=](Lane &l) {
      return fromUnsigned(format, l.source[0] & 0xffffffff, l.rules(format).rounding);
    });
    put("v_cvt_i32_" + suffix, B32, {kind},
        [=](Lane &l) { return saturated(input(l, format), format, INT32_MIN, INT32_MAX); });
    put("v_cvt_u32_" + suffix, B32, {kind},
        [=](Lane &l) { return saturated(input(l, format), format, 0, UINT32_MAX); });
  }
  for (unsigned byte = 0; byte < 4; ++byte)
    put("v_cvt_f32_ubyte" + std::to_string(byte), F32, {B32}, [=](Lane &l) {
      return fromUnsigned(Format::F32, l.source[0] >> 8 * byte & 0xff, nearest);
    });
  for (const char *name : {"v_cvt_flr_i32_f32", "v_cvt_floor_i32_f32"})
    put(name, B32, {F32}, [](Lane &l) {
      uint64_t a = input(l, Format::F32);
      return saturated(
          isNaN(Format::F32, a) ? a : roundToIntegral(Format::F32, a, RoundingMode::TowardNegative),
          Format::F32, INT32_MIN, INT32_MAX);
    });
  for (const char *name : {"v_cvt_rpi_i32_f32", "v_cvt_nearest_i32_f32"})
    put(name, B32, {F32}, [](Lane &l) -> uint64_t {
      uint64_t a = input(l, Format::F32);
      if (isNaN(Format::F32, a))
        return 0;
      double x = toFloat(Format::F32, a).convertToFloat();
      return static_cast<uint64_t>(static_cast<int64_t>(
          std::clamp(std::floor(x + 0.5), double(INT32_MIN), double(INT32_MAX))));
    });
  put("v_cvt_f16_i16", F16, {B16}, [](Lane &l) {
    return fromInteger(Format::F16, static_cast<int16_t>(l.source[0]),
                       l.rules(Format::F16).rounding);
  });
  put("v_cvt_f16_u16", F16, {B16}, [](Lane &l) {
    return fromUnsigned(Format::F16, l.source[0], l.rules(Format::F16).rounding);
  });
  put("v_cvt_i16_f16", B16, {F16},
      [](Lane &l) { return saturated(input(l, Format::F16), Format::F16, -32768, 32767); });
  put("v_cvt_u16_f16", B16, {F16},
      [](Lane &l) { return saturated(input(l, Format::F16), Format::F16, 0, 65535); });
  put("v_cvt_i32_i16", B32, {B16},
      [](Lane &l) -> uint64_t { return static_cast<uint32_t>(static_cast<int16_t>(l.source[0])); });
  put("v_cvt_u32_u16", B32, {B16}, [](Lane &l) { return l.source[0]; });
  auto clip = [](int64_t x, int64_t low, int64_t high) {
    return static_cast<uint64_t>(std::clamp(x, low, high));
  };
  put("v_cvt_pk_i16_i32", B32, {B32, B32}, [=](Lane &l) {
    return pair(clip(static_cast<int32_t>(l.source[0]), -32768, 32767),
                clip(static_cast<int32_t>(l.source[1]), -32768, 32767));
  });
  put("v_cvt_pk_u16_u32", B32, {B32, B32}, [=](Lane &l) {
    return pair(clip(static_cast<uint32_t>(l.source[0]), 0, 65535),
                clip(static_cast<uint32_t>(l.source[1]), 0, 65535));
  });
  put("v_cvt_pk_i16_f32", B32, {F32, F32}, [](Lane &l) {
    return pair(saturated(l.source[0], Format::F32, -32768, 32767),
                saturated(l.source[1], Format::F32, -32768, 32767));
  });
  put("v_cvt_pk_u16_f32", B32, {F32, F32}, [](Lane &l) {
    return pair(saturated(l.source[0], Format::F32, 0, 65535),
                saturated(l.source[1], Format::F32, 0, 65535));
  });
}

void addFloatFormats(Adder &put) {
  put("v_cvt_f64_f32", F64, {F32},
      [](Lane &l) { return convert(Format::F32, Format::F64, input(l, Format::F32), nearest); });
  put("v_cvt_f32_f64", F32, {F64}, [](Lane &l) {
    uint64_t result =
        convert(Format::F64, Format::F32, input(l, Format::F64), l.rules(Format::F32).rounding);
    return l.rules(Format::F32).flushResults ? flushed(Format::F32, result) : result;
  });
  put("v_cvt_f16_f32", F16, {F32}, [](Lane &l) {
    uint64_t result =
        convert(Format::F32, Format::F16, input(l, Format::F32), l.rules(Format::F16).rounding);
    return l.rules(Format::F16).flushResults ? flushed(Format::F16, result) : result;
  });
  put("v_cvt_f32_f16", F32, {F16},
      [](Lane &l) { return convert(Format::F16, Format::F32, input(l, Format::F16), nearest); });
  put("v_cvt_f32_bf16", F32, {BF16},
      [](Lane &l) { return convert(Format::BF16, Format::F32, l.source[0], nearest); });
  auto both = [](Format to, RoundingMode mode) {
    return [=](Lane &l) {
      return pair(convert(Format::F32, to, l.source[0], mode),
                  convert(Format::F32, to, l.source[1], mode));
    };
  };
  for (const char *name : {"v_cvt_pkrtz_f16_f32", "v_cvt_pk_rtz_f16_f32"})
    put(name, B32, {F32, F32}, both(Format::F16, RoundingMode::TowardZero));
  put("v_cvt_pk_f16_f32", B32, {F32, F32}, both(Format::F16, nearest));
  put("v_cvt_pk_bf16_f32", B32, {F32, F32}, both(Format::BF16, nearest));
}

const llvm::fltSemantics &float8Semantics(bool bf8, bool fnuz) {
  if (fnuz)
    return bf8 ? APFloat::Float8E5M2FNUZ() : APFloat::Float8E4M3FNUZ();
  return bf8 ? APFloat::Float8E5M2() : APFloat::Float8E4M3FN();
}

void addFloat8(Adder &put, bool fnuz) {
  for (bool bf8 : {false, true}) {
    const llvm::fltSemantics &format = float8Semantics(bf8, fnuz);
    std::string suffix = bf8 ? "bf8" : "fp8";
    auto wide = [&format, fnuz](uint64_t byte) {
      APFloat value(format, llvm::APInt(8, byte & 0xff));
      // The only NaN of FNUZ formats has no sign, though its bits are those of -0 elsewhere.
      if (value.isNaN())
        return defaultNaN(Format::F32) | (byte & 0x80 && !fnuz ? signBit(Format::F32) : 0);
      bool lost = false;
      value.convert(APFloat::IEEEsingle(), nearest, &lost);
      return toBits(value);
    };
    put("v_cvt_f32_" + suffix, F32, {B32}, [=](Lane &l) {
      // op_sel picks the byte in VOP3, a selection in SDWA.
      unsigned byte = l.statement.listed("op_sel", 0, 0) * 2 + l.statement.listed("op_sel", 1, 0);
      if (l.statement.has("byte_sel"))
        byte = static_cast<unsigned>(std::stoul(l.statement.modifiers.at("byte_sel")));
      return wide(l.source[0] >> 8 * byte);
    });
    put("v_cvt_pk_f32_" + suffix, B64, {B16},
        [=](Lane &l) { return wide(l.source[0]) | uint64_t(wide(l.source[0] >> 8)) << 32; });
  }
}

} // namespace

void addConversions(Meanings &table, bool fnuz) {
  Adder put{table};
  addIntegers(put);
  addFloatFormats(put);
  addFloat8(put, fnuz);
}

} // namespace wavetile::reference
