//===- WholeWaves.cpp - Instructions that look at all lanes at once -------===//
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

#include <bit>
#include <cstdlib>

namespace wavetile::reference {
namespace {

using Lanes = std::array<uint32_t, 64>;

/// What each lane of a 32-bit source holds.
std::optional<Lanes> lanesOf(const Wave &wave, const TextOperand &operand) {
  if (operand.kind == TextOperand::Vector)
    return wave.vectors[operand.index];
  auto value = scalarBits(wave, operand, Kind::B32);
  if (!value)
    return std::nullopt;
  Lanes result;
  result.fill(static_cast<uint32_t>(*value));
  return result;
}
bool isActive(const Wave &wave, unsigned lane) { return wave.exec() >> lane & 1; }

Outcome readLane(Wave &wave, const Statement &s, unsigned lane) {
  auto destination = scalarNumber(s.operands[0]);
  auto source = lanesOf(wave, s.operands[1]);
  if (!destination || !source)
    return Outcome::Unreadable;
  wave.scalars[*destination] = (*source)[lane];
  return Outcome::Done;
}
std::optional<unsigned> chosenLane(const Wave &wave, const TextOperand &operand) {
  auto value = scalarBits(wave, operand, Kind::B32);
  if (!value)
    return std::nullopt;
  return static_cast<unsigned>(*value) % wave.size;
}

/// Sixteen selectors of four bits, the same for all rows, or each lane's own.
template <bool otherRow, bool ofLanes> Outcome permuteRows(Wave &wave, const Statement &s) {
  std::optional<uint64_t> low, high;
  if (!ofLanes) {
    low = scalarBits(wave, s.operands[2], Kind::B32);
    high = scalarBits(wave, s.operands[3], Kind::B32);
    if (!low || !high)
      return Outcome::Unreadable;
  }
  const Lanes source = wave.vectors[s.operands[1].index];
  Lanes choice{};
  if (ofLanes)
    choice = wave.vectors[s.operands[2].index];
  bool fetchInactive = s.listed("op_sel", 0, 0), boundControl = s.listed("op_sel", 1, 0);
  Lanes &result = wave.vectors[s.operands[0].index];
  for (unsigned lane = 0; lane < wave.size; ++lane) {
    if (!isActive(wave, lane))
      continue;
    unsigned in = lane % 16;
    uint64_t half = ofLanes ? 0 : in < 8 ? *low : *high;
    unsigned select =
        ofLanes ? choice[lane] & 15 : static_cast<unsigned>(half >> 4 * (in % 8)) & 15;
    unsigned from = (lane / 16 ^ (otherRow ? 1 : 0)) * 16 + select;
    if (fetchInactive || isActive(wave, from))
      result[lane] = source[from];
    else if (boundControl)
      result[lane] = 0;
  }
  return Outcome::Done;
}

Outcome permuteHalves(Wave &wave, const Statement &s) {
  if (wave.size == 32)
    return Outcome::Done;
  const Lanes source = wave.vectors[s.operands[1].index];
  Lanes &result = wave.vectors[s.operands[0].index];
  for (unsigned lane = 0; lane < 64; ++lane)
    if (isActive(wave, lane))
      result[lane] = source[lane ^ 32];
  return Outcome::Done;
}

void swapLanes(Wave &wave, unsigned a, unsigned b) {
  for (unsigned lane = 0; lane < wave.size; ++lane)
    if (isActive(wave, lane))
      std::swap(wave.vectors[a][lane], wave.vectors[b][lane]);
}

/// Odd groups of lanes of the first register and even ones of the second, each with its neighbour.
template <unsigned group> Outcome swapGroups(Wave &wave, const Statement &s) {
  unsigned a = s.operands[0].index, b = s.operands[1].index;
  const Lanes first = wave.vectors[a], second = wave.vectors[b];
  auto give = [&](unsigned row, unsigned to, uint32_t value, unsigned from) {
    if (!isActive(wave, to))
      return;
    if (s.has("fi") || isActive(wave, from))
      wave.vectors[row][to] = value;
    else if (s.has("bound_ctrl"))
      wave.vectors[row][to] = 0;
  };
  for (unsigned pair = 0; pair < wave.size; pair += 2 * group)
    for (unsigned even = pair, odd = pair + group; even < pair + group; ++even, ++odd) {
      give(b, even, first[odd], odd);
      give(a, odd, second[even], even);
    }
  return Outcome::Done;
}

// --- Registers in fours ---

/// The sums of differences of four windows of the first operand; bytes of the second that are 0 do
/// not count.
Outcome sumWindows(Wave &wave, const Statement &s) {
  if (s.has("clamp"))
    return Outcome::Unreadable; // DeviceInstructionTest has it.
  const TextOperand &to = s.operands[0], &windows = s.operands[1], &sums = s.operands[3];
  const Wave before = wave;
  auto reference = lanesOf(before, s.operands[2]);
  std::optional<uint64_t> all;
  if (windows.kind != TextOperand::Vector)
    all = scalarBits(before, windows, Kind::B64);
  if (!reference || sums.kind != TextOperand::Vector ||
      (!all && windows.kind != TextOperand::Vector))
    return Outcome::Unreadable;
  for (unsigned lane = 0; lane < wave.size; ++lane) {
    if (!isActive(wave, lane))
      continue;
    uint64_t bytes = all ? *all
                         : before.vectors[windows.index][lane] |
                               uint64_t(before.vectors[windows.index + 1][lane]) << 32;
    for (unsigned i = 0; i < 4; ++i) {
      uint32_t sum = before.vectors[sums.index + i][lane];
      for (unsigned shift = 0; shift < 32; shift += 8) {
        int a = bytes >> (8 * i + shift) & 0xff, b = (*reference)[lane] >> shift & 0xff;
        sum += static_cast<uint32_t>(b == 0 ? 0 : std::abs(a - b));
      }
      wave.vectors[to.index + i][lane] = sum;
    }
  }
  return Outcome::Done;
}

// --- Accumulation registers ---

Outcome moveAccumulator(Wave &wave, const Statement &s) {
  auto fileOf = [&](const TextOperand &operand) -> auto & {
    return operand.kind == TextOperand::Accumulator ? wave.accumulators : wave.vectors;
  };
  const TextOperand &to = s.operands[0], &from = s.operands[1];
  auto source = from.kind == TextOperand::Accumulator ? std::optional(wave.accumulators[from.index])
                                                      : lanesOf(wave, from);
  if (!source)
    return Outcome::Unreadable;
  for (unsigned lane = 0; lane < wave.size; ++lane)
    if (isActive(wave, lane))
      fileOf(to)[to.index][lane] = (*source)[lane];
  return Outcome::Done;
}

// --- Scalar registers that M0 chooses ---

Outcome moveScalarRelative(Wave &wave, const Statement &s, bool ofSource, bool ofDestination,
                           bool apart) {
  bool isPair = s.mnemonic.ends_with("b64");
  uint32_t m0 = wave.scalars[scalarnumber::M0];
  auto to = scalarNumber(s.operands[0]), from = scalarNumber(s.operands[1]);
  auto value = scalarBits(wave, s.operands[1], isPair ? Kind::B64 : Kind::B32);
  // Only among s0 to s99: what lies behind differs between targets.
  constexpr uint32_t end = 100;
  uint32_t bySource = ofSource ? (apart ? m0 & 0x3ff : m0) : 0;
  uint32_t byDestination = ofDestination ? (apart ? m0 >> 16 & 0x3ff : m0) : 0;
  if (!to || *to >= end || byDestination >= end || *to + byDestination >= end ||
      (ofSource && (!from || *from >= end || bySource >= end || *from + bySource >= end)) || !value)
    return Outcome::Unreadable;
  if (isPair && ((bySource | byDestination) & 1))
    return Outcome::Unreadable;
  for (unsigned i = 0; i < (isPair ? 2u : 1u); ++i)
    wave.scalars[*to + byDestination + i] =
        ofSource ? wave.scalars[*from + bySource + i] : static_cast<uint32_t>(*value >> 32 * i);
  return Outcome::Done;
}

} // namespace

void addWholeWaves(Meanings &table) {
  auto &put = table.waves;
  // Hints, waits and caches: nothing that a program sees.
  for (const char *name :
       {"s_nop", "s_waitcnt", "s_waitcnt_vmcnt", "s_waitcnt_lgkmcnt", "s_waitcnt_expcnt",
        "s_waitcnt_vscnt", "s_waitcnt_depctr", "s_wait_idle", "s_wait_event", "s_wait_alu",
        "s_wait_loadcnt", "s_wait_storecnt", "s_wait_dscnt", "s_wait_kmcnt", "s_wait_expcnt",
        "s_wait_samplecnt", "s_wait_bvhcnt", "s_wait_loadcnt_dscnt", "s_wait_storecnt_dscnt",
        "s_setprio", "s_icache_inv", "s_dcache_inv", "s_dcache_inv_vol", "s_dcache_wb",
        "s_dcache_wb_vol", "s_gl1_inv", "s_incperflevel", "s_decperflevel", "s_clause",
        "s_delay_alu", "s_set_inst_prefetch_distance", "s_wakeup",
        // Never taken without a debugger.
        "s_cbranch_cdbgsys", "s_cbranch_cdbguser", "s_cbranch_cdbgsys_or_user",
        "s_cbranch_cdbgsys_and_user", "s_version", "s_buffer_prefetch_data"})
    put[name] = [](Wave &, const Statement &) { return Outcome::Done; };
  put["v_readfirstlane_b32"] = [](Wave &wave, const Statement &s) {
    uint64_t exec = wave.exec();
    return readLane(wave, s, exec ? static_cast<unsigned>(std::countr_zero(exec)) : 0);
  };
  put["v_readlane_b32"] = [](Wave &wave, const Statement &s) {
    auto lane = chosenLane(wave, s.operands[2]);
    return lane ? readLane(wave, s, *lane) : Outcome::Unreadable;
  };
  put["v_writelane_b32"] = [](Wave &wave, const Statement &s) {
    auto value = scalarBits(wave, s.operands[1], Kind::B32);
    auto lane = chosenLane(wave, s.operands[2]);
    if (!value || !lane)
      return Outcome::Unreadable;
    wave.vectors[s.operands[0].index][*lane] = static_cast<uint32_t>(*value);
    return Outcome::Done;
  };
  put["v_permlane16_b32"] = permuteRows<false, false>;
  put["v_permlanex16_b32"] = permuteRows<true, false>;
  put["v_permlane16_var_b32"] = permuteRows<false, true>;
  put["v_permlanex16_var_b32"] = permuteRows<true, true>;
  put["v_permlane64_b32"] = permuteHalves;
  put["v_permlane16_swap_b32"] = swapGroups<16>;
  put["v_permlane32_swap_b32"] = swapGroups<32>;
  put["v_swap_b32"] = [](Wave &wave, const Statement &s) {
    swapLanes(wave, s.operands[0].index, s.operands[1].index);
    return Outcome::Done;
  };
  put["v_swap_b16"] = [](Wave &wave, const Statement &s) {
    const TextOperand &a = s.operands[0], &b = s.operands[1];
    unsigned shiftA = a.high && *a.high ? 16 : 0, shiftB = b.high && *b.high ? 16 : 0;
    for (unsigned lane = 0; lane < wave.size; ++lane) {
      if (!isActive(wave, lane))
        continue;
      uint32_t oldA = wave.vectors[a.index][lane] >> shiftA & 0xffff;
      uint32_t oldB = wave.vectors[b.index][lane] >> shiftB & 0xffff;
      auto write = [&](unsigned index, unsigned shift, uint32_t half) {
        uint32_t &word = wave.vectors[index][lane];
        word = (word & ~(0xffffu << shift)) | half << shift;
      };
      write(a.index, shiftA, oldB);
      write(b.index, shiftB, oldA);
    }
    return Outcome::Done;
  };
  put["v_swaprel_b32"] = [](Wave &wave, const Statement &s) {
    uint32_t m0 = wave.scalars[scalarnumber::M0];
    unsigned a = s.operands[0].index + (m0 >> 16 & 0x3ff), b = s.operands[1].index + (m0 & 0x3ff);
    if (a < 256 && b < 256)
      swapLanes(wave, a, b);
    return Outcome::Done;
  };
  put["v_mqsad_u32_u8"] = sumWindows;
  for (const char *name : {"v_accvgpr_mov_b32", "v_accvgpr_read_b32", "v_accvgpr_write_b32"})
    put[name] = moveAccumulator;
  for (const char *width : {"_b32", "_b64"}) {
    put[std::string("s_movreld") + width] = [](Wave &wave, const Statement &s) {
      return moveScalarRelative(wave, s, false, true, false);
    };
    put[std::string("s_movrels") + width] = [](Wave &wave, const Statement &s) {
      return moveScalarRelative(wave, s, true, false, false);
    };
  }
  put["s_movrelsd_2_b32"] = [](Wave &wave, const Statement &s) {
    return moveScalarRelative(wave, s, true, true, true);
  };
}

} // namespace wavetile::reference
