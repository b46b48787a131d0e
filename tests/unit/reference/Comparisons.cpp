//===- Comparisons.cpp - Vector comparisons ===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "reference/Reference.h"

namespace wavetile::reference {
namespace {

using enum Kind;

void add(Meanings &table, const std::string &condition, const std::string &suffix,
         const std::vector<Kind> &sources, const std::function<bool(Lane &)> &holds) {
  for (bool writesExec : {false, true}) {
    VectorMeaning &meaning =
        table.vectors[(writesExec ? "v_cmpx_" : "v_cmp_") + condition + "_" + suffix];
    meaning.sources = sources;
    meaning.writesMask = true;
    meaning.writesExec = writesExec;
    meaning.compute = [holds](Lane &lane) -> uint64_t {
      lane.mask = holds(lane);
      return 0;
    };
  }
}

void addIntegerComparisons(Meanings &table, const char *suffix, Kind kind, unsigned width,
                           bool isSigned) {
  auto order = [=](Lane &lane) {
    uint64_t a = lane.source[0] << (64 - width), b = lane.source[1] << (64 - width);
    if (a == b)
      return 0;
    bool less = isSigned ? static_cast<int64_t>(a) < static_cast<int64_t>(b) : a < b;
    return less ? -1 : 1;
  };
  std::vector<Kind> both{kind, kind};
  add(table, "f", suffix, both, [](Lane &) { return false; });
  add(table, "t", suffix, both, [](Lane &) { return true; });
  add(table, "lt", suffix, both, [=](Lane &l) { return order(l) < 0; });
  add(table, "eq", suffix, both, [=](Lane &l) { return order(l) == 0; });
  add(table, "le", suffix, both, [=](Lane &l) { return order(l) <= 0; });
  add(table, "gt", suffix, both, [=](Lane &l) { return order(l) > 0; });
  add(table, "ne", suffix, both, [=](Lane &l) { return order(l) != 0; });
  add(table, "ge", suffix, both, [=](Lane &l) { return order(l) >= 0; });
}

void addFloatComparisons(Meanings &table, const char *suffix, Kind kind, Format format) {
  enum { Less = 1, Equal = 2, Greater = 4, Unordered = 8 };
  auto relation = [=](Lane &lane) -> unsigned {
    const FloatRules &rules = lane.rules(format);
    auto in = [&](uint64_t bits) { return rules.flushSources ? flushed(format, bits) : bits; };
    switch (compare(format, in(lane.source[0]), in(lane.source[1]))) {
    case -1:
      return Less;
    case 0:
      return Equal;
    case 1:
      return Greater;
    default:
      return Unordered;
    }
  };
  struct Condition {
    const char *name;
    unsigned holds;
  };
  for (const Condition &c : {Condition{"f", 0},
                             {"lt", Less},
                             {"eq", Equal},
                             {"le", Less | Equal},
                             {"gt", Greater},
                             {"lg", Less | Greater},
                             {"ge", Greater | Equal},
                             {"o", Less | Equal | Greater},
                             {"u", Unordered},
                             {"nge", Less | Unordered},
                             {"nlg", Equal | Unordered},
                             {"ngt", Less | Equal | Unordered},
                             {"nle", Greater | Unordered},
                             {"neq", Less | Greater | Unordered},
                             {"nlt", Greater | Equal | Unordered},
                             {"tru", 15},
                             {"t", 15}})
    add(table, c.name, suffix, {kind, kind},
        [=](Lane &lane) { return (relation(lane) & c.holds) != 0; });

  // v_cmp_class: -inf, -normal, ... from bit 2 on; the first two tell the NaNs apart.
  add(table, "class", suffix, {kind, format == Format::F16 ? B16 : B32}, [=](Lane &lane) {
    llvm::APFloat value = toFloat(format, lane.source[0]);
    unsigned bit;
    if (value.isNaN())
      bit = isSignalling(format, lane.source[0]) ? 0 : 1;
    else {
      unsigned magnitude = value.isInfinity() ? 0 : value.isZero() ? 3 : value.isDenormal() ? 2 : 1;
      bit = value.isNegative() ? 2 + magnitude : 9 - magnitude;
    }
    return (lane.source[1] >> bit & 1) != 0;
  });
}

} // namespace

void addComparisons(Meanings &table) {
  addIntegerComparisons(table, "i16", B16, 16, true);
  addIntegerComparisons(table, "u16", B16, 16, false);
  addIntegerComparisons(table, "i32", B32, 32, true);
  addIntegerComparisons(table, "u32", B32, 32, false);
  addIntegerComparisons(table, "i64", I64, 64, true);
  addIntegerComparisons(table, "u64", B64, 64, false);
  addFloatComparisons(table, "f16", F16, Format::F16);
  addFloatComparisons(table, "f32", F32, Format::F32);
  addFloatComparisons(table, "f64", F64, Format::F64);
}

} // namespace wavetile::reference
