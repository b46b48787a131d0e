//===- Packed.cpp - Packed instructions and dot products ===//
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

/// An instruction on both halves of packed operands, by the meaning that one half has elsewhere.
void addHalves(Meanings &table, const std::string &packed, const std::string &single, Kind kind) {
  VectorMeaning meaning = table.vectors.at(single);
  meaning.result = kind;
  meaning.sources.assign(meaning.sources.size(), kind);
  meaning.halves = true;
  meaning.keepsHalf = false;
  table.vectors[packed] = meaning;
}

int64_t field(uint64_t bits, unsigned index, unsigned width, bool isSigned) {
  uint64_t value = bits >> (index * width) & ((uint64_t(1) << width) - 1);
  return isSigned ? static_cast<int64_t>(value << (64 - width)) >> (64 - width)
                  : static_cast<int64_t>(value);
}

/// The integer dot product of two words cut into fields, and an addend; clamp saturates the sum.
void addIntegerDot(Meanings &table, const char *name, unsigned width, bool isSigned,
                   bool accumulates = false) {
  VectorMeaning &meaning = table.vectors[name];
  meaning.result = B32;
  meaning.sources = {B32, B32, B32};
  meaning.accumulates = accumulates;
  meaning.isInteger = true;
  meaning.compute = [=](Lane &l) -> uint64_t {
    int64_t sum = field(l.source[2], 0, 32, isSigned);
    for (unsigned i = 0; i < 32 / width; ++i)
      sum += field(l.source[0], i, width, isSigned) * field(l.source[1], i, width, isSigned);
    if (l.statement.has("clamp"))
      sum = isSigned ? std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX)
                     : std::clamp<int64_t>(sum, 0, UINT32_MAX);
    return static_cast<uint32_t>(sum);
  };
}

} // namespace

void addPacked(Meanings &table) {
  for (const char *stem :
       {"add_u16", "sub_u16", "add_i16", "sub_i16", "mul_lo_u16", "min_u16", "max_u16", "min_i16",
        "max_i16", "lshlrev_b16", "lshrrev_b16", "ashrrev_i16", "mad_u16", "mad_i16"})
    addHalves(table, std::string("v_pk_") + stem, std::string("v_") + stem, PackedB16);
  for (const char *stem :
       {"add_f16", "mul_f16", "fma_f16", "min_f16", "max_f16", "min_num_f16", "max_num_f16",
        "minimum_f16", "maximum_f16", "minimum3_f16", "maximum3_f16"})
    addHalves(table, std::string("v_pk_") + stem, std::string("v_") + stem, PackedF16);
  addHalves(table, "v_pk_fmac_f16", "v_fmac_f16", PackedF16);
  for (const char *stem : {"add_f32", "mul_f32", "fma_f32"})
    addHalves(table, std::string("v_pk_") + stem, std::string("v_") + stem, PackedF32);
  VectorMeaning &move = table.vectors["v_pk_mov_b32"];
  move.result = PackedF32;
  move.sources = {B64, B64};
  move.isInteger = true;
  move.compute = [](Lane &l) {
    auto chosen = [&](unsigned i) {
      return l.source[i] >> (l.statement.listed("op_sel", i, 0) ? 32 : 0) & 0xffffffff;
    };
    return chosen(0) | chosen(1) << 32;
  };

  addIntegerDot(table, "v_dot4_i32_i8", 8, true);
  addIntegerDot(table, "v_dot4c_i32_i8", 8, true, true);
  addIntegerDot(table, "v_dot4_u32_u8", 8, false);
  addIntegerDot(table, "v_dot8_i32_i4", 4, true);
  addIntegerDot(table, "v_dot8c_i32_i4", 4, true, true);
  addIntegerDot(table, "v_dot8_u32_u4", 4, false);
}

} // namespace wavetile::reference
