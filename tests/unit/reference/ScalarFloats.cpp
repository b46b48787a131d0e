//===- ScalarFloats.cpp - Scalar instructions on floats -------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// gfx1150 and later: the meaning is that of the vector instruction of the same name.
//
//===----------------------------------------------------------------------===//

#include "reference/Reference.h"

namespace wavetile::reference {
namespace {

/// Computes a scalar instruction as lane 0 of \p vector.
uint64_t asVector(ScalarLane &l, const VectorMeaning &vector, unsigned firstShift = 0) {
  Lane lane{l.wave, l.statement, 0};
  for (size_t i = 0; i < l.source.size(); ++i)
    lane.source[i] = l.source[i];
  lane.source[0] >>= firstShift;
  for (size_t i = 0; i < vector.sources.size(); ++i)
    if (vector.sources[i] == Kind::F16)
      lane.source[i] &= 0xffff;
  uint64_t result = vector.compute(lane);
  if (vector.result == Kind::None)
    l.scc = lane.mask;
  return vector.result == Kind::F16 ? result & 0xffff : result;
}

void put(Meanings &table, const std::string &name, const std::string &vectorName,
         bool readsDestination = false, unsigned firstShift = 0) {
  const VectorMeaning vector = table.vectors.at(vectorName);
  ScalarMeaning &meaning = table.scalars[name];
  meaning.resultBits = vector.result == Kind::None ? 0 : 32;
  for (Kind kind : vector.sources)
    meaning.sourceBits.push_back(kind == Kind::F16 ? 16 : 32);
  meaning.writesScc = vector.result == Kind::None;
  meaning.readsDestination = readsDestination;
  meaning.compute = [=](ScalarLane &l) { return asVector(l, vector, firstShift); };
}

} // namespace

void addScalarFloats(Meanings &table) {
  for (const char *format : {"f16", "f32"}) {
    auto named = [&](const char *stem) { return std::string(stem) + format; };
    for (const char *stem : {"add_", "sub_", "mul_", "min_", "max_", "min_num_", "max_num_",
                             "minimum_", "maximum_", "ceil_", "floor_", "trunc_", "rndne_"})
      put(table, "s_" + named(stem), "v_" + named(stem));
    put(table, "s_" + named("fmac_"), "v_" + named("fmac_"), true);
    for (const char *condition :
         {"lt", "eq", "le", "gt", "lg", "ge", "o", "u", "nge", "nlg", "ngt", "nle", "neq", "nlt"}) {
      std::string name = std::string("cmp_") + condition + "_" + format;
      put(table, "s_" + name, "v_" + name);
    }
  }
  put(table, "s_fmaak_f32", "v_fmaak_f32");
  put(table, "s_fmamk_f32", "v_fmamk_f32");
  for (const char *name : {"cvt_f32_i32", "cvt_f32_u32", "cvt_i32_f32", "cvt_u32_f32",
                           "cvt_f16_f32", "cvt_f32_f16", "cvt_pk_rtz_f16_f32"})
    put(table, std::string("s_") + name, std::string("v_") + name);
  put(table, "s_cvt_hi_f32_f16", "v_cvt_f32_f16", false, 16);
  table.scalars["s_cvt_hi_f32_f16"].sourceBits = {32};
}

} // namespace wavetile::reference
