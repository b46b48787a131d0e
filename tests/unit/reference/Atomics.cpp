//===- Atomics.cpp - Read-modify-write operations of the reference ---------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// After the pseudo-code of the memory instructions in AMD's documents, and what they say of floats
// in atomics: rounding to nearest even, a signalling NaN is the result of a comparison, a quiet one
// loses to a number, -0 is less than +0.
//
//===----------------------------------------------------------------------===//

#include "reference/Memory.h"

namespace wavetile::reference {
namespace {

constexpr FloatRules plain{};

int64_t extended(uint64_t value, unsigned bits) {
  return static_cast<int64_t>(value << (64 - bits)) >> (64 - bits);
}

uint64_t extremum(Format format, bool wantsLarger, uint64_t old, uint64_t value) {
  for (uint64_t operand : {old, value})
    if (isSignalling(format, operand))
      return quieted(format, operand);
  if (isNaN(format, value))
    return old;
  if (isNaN(format, old))
    return value;
  int order = compare(format, value, old);
  if (order == 0) { // Zeros, of which one is negative, or equals.
    uint64_t sign = signBit(format);
    bool valueIsLess = (value & sign) != 0 && (old & sign) == 0;
    bool valueIsMore = (value & sign) == 0 && (old & sign) != 0;
    order = valueIsMore - valueIsLess;
  }
  return (wantsLarger ? order > 0 : order < 0) ? value : old;
}

uint64_t packedSum(Format format, uint64_t a, uint64_t b) {
  uint64_t result = 0;
  for (unsigned shift : {0u, 16u})
    result |= add(format, a >> shift & 0xffff, b >> shift & 0xffff, plain) << shift;
  return result;
}

std::optional<Atomic> floatAtomic(const std::string &name, bool isLds) {
  if (name == "pk_add_f16" || name == "pk_add_bf16") {
    Format format = name == "pk_add_f16" ? Format::F16 : Format::BF16;
    return Atomic{4, false, [=](uint64_t old, uint64_t value, uint64_t) {
                    return packedSum(format, old, value);
                  }};
  }
  if (!name.ends_with("_f32") && !name.ends_with("_f64"))
    return std::nullopt;
  Format format = name.ends_with("_f64") ? Format::F64 : Format::F32;
  unsigned bytes = format == Format::F64 ? 8 : 4;
  std::string what = name.substr(0, name.size() - 4);
  if (what == "add")
    return Atomic{bytes, false, [=](uint64_t old, uint64_t value, uint64_t) {
                    return add(format, old, value, plain);
                  }};
  bool isMaximum = what == "max" || what == "max_num";
  if (isMaximum || what == "min" || what == "min_num")
    return Atomic{bytes, false, [=](uint64_t old, uint64_t value, uint64_t) {
                    return extremum(format, isMaximum, old, value);
                  }};
  // Of ds_cmpst the comparison comes first, of the newer names the value.
  bool comparisonFirst = isLds && what == "cmpst";
  if (what == "cmpst" || what == "cmpstore" || what == "cmpswap")
    return Atomic{bytes, true, [=](uint64_t old, uint64_t first, uint64_t second) {
                    uint64_t with = comparisonFirst ? first : second;
                    return compare(format, old, with) == 0 ? comparisonFirst ? second : first : old;
                  }};
  return std::nullopt;
}

} // namespace

std::optional<bool> returnsOld(const Statement &s, bool isGfx9) {
  if (isGfx9)
    return s.has("sc0");
  if (!s.has("th"))
    return s.has("glc");
  const std::string &hint = s.modifiers.at("th");
  if (hint.find("CASCADE") != std::string::npos || hint.find("0x") != std::string::npos)
    return std::nullopt;
  return hint.find("RETURN") != std::string::npos;
}

std::optional<Atomic> atomicOf(const std::string &name, bool isLds) {
  if (auto result = floatAtomic(name, isLds))
    return result;
  std::string what = name;
  unsigned bits = 32;
  for (const char *suffix : {"_u32", "_i32", "_b32", "_u64", "_i64", "_b64", "_x2"})
    if (what.ends_with(suffix)) {
      what.resize(what.size() - std::string(suffix).size());
      bits = std::string(suffix).ends_with("32") ? 32 : 64;
      break;
    }
  bool isSigned = name.find("_i32") != std::string::npos ||
                  name.find("_i64") != std::string::npos || what == "smax" || what == "smin";
  if (what == "smax" || what == "umax")
    what = "max";
  if (what == "smin" || what == "umin")
    what = "min";
  auto isLess = [=](uint64_t a, uint64_t b) {
    return isSigned ? extended(a, bits) < extended(b, bits) : a < b;
  };
  using Apply = std::function<uint64_t(uint64_t, uint64_t, uint64_t)>;
  static const std::map<std::string, Apply> plainOnes = {
      {"add", [](uint64_t old, uint64_t value, uint64_t) { return old + value; }},
      {"sub", [](uint64_t old, uint64_t value, uint64_t) { return old - value; }},
      {"rsub", [](uint64_t old, uint64_t value, uint64_t) { return value - old; }},
      {"and", [](uint64_t old, uint64_t value, uint64_t) { return old & value; }},
      {"or", [](uint64_t old, uint64_t value, uint64_t) { return old | value; }},
      {"xor", [](uint64_t old, uint64_t value, uint64_t) { return old ^ value; }},
      {"swap", [](uint64_t, uint64_t value, uint64_t) { return value; }},
      {"wrxchg", [](uint64_t, uint64_t value, uint64_t) { return value; }},
      {"storexchg", [](uint64_t, uint64_t value, uint64_t) { return value; }},
      {"inc", [](uint64_t old, uint64_t limit, uint64_t) { return old >= limit ? 0 : old + 1; }},
      {"dec", [](uint64_t old, uint64_t limit,
                 uint64_t) { return old == 0 || old > limit ? limit : old - 1; }},
      {"csub",
       [](uint64_t old, uint64_t value, uint64_t) { return old < value ? 0 : old - value; }},
      {"sub_clamp",
       [](uint64_t old, uint64_t value, uint64_t) { return old < value ? 0 : old - value; }},
      {"cond_sub",
       [](uint64_t old, uint64_t value, uint64_t) { return old < value ? old : old - value; }},
      // Each half is written if the top bit of its own data says so, which is not stored.
      {"condxchg32",
       [](uint64_t old, uint64_t value, uint64_t) {
         uint64_t result = old;
         for (unsigned shift : {0u, 32u})
           if (value >> (shift + 31) & 1)
             result = (result & ~(uint64_t(0xffffffff) << shift)) |
                      (value & uint64_t(0x7fffffff) << shift);
         return result;
       }},
  };
  static const std::map<std::string, Apply> comparing = {
      {"mskor", [](uint64_t old, uint64_t mask, uint64_t value) { return (old & ~mask) | value; }},
      {"wrap", [](uint64_t old, uint64_t least,
                  uint64_t more) { return old >= least ? old - least : old + more; }},
      {"cmpst",
       [](uint64_t old, uint64_t with, uint64_t value) { return old == with ? value : old; }},
      {"cmpstore",
       [](uint64_t old, uint64_t value, uint64_t with) { return old == with ? value : old; }},
      {"cmpswap",
       [](uint64_t old, uint64_t value, uint64_t with) { return old == with ? value : old; }},
  };
  if (what == "max")
    return Atomic{bits / 8, false, [=](uint64_t old, uint64_t value, uint64_t) {
                    return isLess(old, value) ? value : old;
                  }};
  if (what == "min")
    return Atomic{bits / 8, false, [=](uint64_t old, uint64_t value, uint64_t) {
                    return isLess(value, old) ? value : old;
                  }};
  if (auto found = plainOnes.find(what); found != plainOnes.end())
    return Atomic{bits / 8, false, found->second};
  if (auto found = comparing.find(what); found != comparing.end())
    return Atomic{bits / 8, true, found->second};
  return std::nullopt;
}

} // namespace wavetile::reference
