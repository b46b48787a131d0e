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

// --- Registers that M0 chooses ---

Outcome moveRelative(Wave &wave, const Statement &s, bool ofSource, bool ofDestination,
                     bool apart) {
  uint32_t m0 = wave.scalars[scalarnumber::M0];
  // Sums of 32 bits, which may wrap.
  uint32_t bySource = ofSource ? (apart ? m0 & 0x3ff : m0) : 0;
  uint32_t byDestination = ofDestination ? (apart ? m0 >> 16 & 0x3ff : m0) : 0;
  if (s.suffix == "dpp" || s.suffix == "e64_dpp" || s.has("dpp8"))
    return Outcome::Unreadable; // DeviceHardwareStateTest has them.
  TextOperand from = s.operands[1];
  if (from.kind == TextOperand::Vector)
    from.index = from.index + bySource < 256 ? from.index + bySource : 0;
  auto source = lanesOf(wave, from);
  if (!source)
    return Outcome::Unreadable;
  uint32_t to = s.operands[0].index + byDestination;
  if (to >= 256)
    return Outcome::Done;
  for (unsigned lane = 0; lane < wave.size; ++lane)
    if (isActive(wave, lane))
      wave.vectors[to][lane] = (*source)[lane];
  return Outcome::Done;
}

} // namespace

void addWholeWaves(Meanings &table) {
  auto &put = table.waves;
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
  put["v_movreld_b32"] = [](Wave &wave, const Statement &s) {
    return moveRelative(wave, s, false, true, false);
  };
  put["v_movrels_b32"] = [](Wave &wave, const Statement &s) {
    return moveRelative(wave, s, true, false, false);
  };
  put["v_movrelsd_b32"] = [](Wave &wave, const Statement &s) {
    return moveRelative(wave, s, true, true, false);
  };
  put["v_movrelsd_2_b32"] = [](Wave &wave, const Statement &s) {
    return moveRelative(wave, s, true, true, true);
  };
}

} // namespace wavetile::reference
