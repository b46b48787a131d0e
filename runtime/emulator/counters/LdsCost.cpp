//===- LdsCost.cpp - Cycles and bank conflicts of LDS accesses ------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/counters/LdsCost.h"

#include <algorithm>

namespace wavetile::device {

static constexpr unsigned wordBytes = 4;
static constexpr unsigned mostBanks = 64;
/// Words of all lanes of a phase: 64 lanes of one word, which may straddle two.
static constexpr unsigned mostWords = 128;

/// The span of some lanes' numbers, as a set of lanes.
static uint64_t spanOf(const LdsPhases &row) {
  uint64_t span = 1;
  for (unsigned i = 0; i < row.phaseDimension(); ++i) {
    uint64_t moved = 0;
    for (unsigned lane = 0; lane < 64; ++lane)
      if (span >> lane & 1)
        moved |= uint64_t(1) << (lane ^ row.phaseLanes[i]);
    span |= moved;
  }
  return span;
}

LdsCostModel::LdsCostModel(LdsGeneration generation, uint32_t waveSize) {
  for (LdsOperation operation : {LdsOperation::Read, LdsOperation::Write})
    for (unsigned dwords = 1; dwords <= 4; ++dwords) {
      LdsPhases row = ldsPhases(generation, operation, 32 * dwords);
      uint64_t span = spanOf(row), seen = 0;
      Phases &phases = table[static_cast<unsigned>(operation)][dwords - 1];
      phases.banks = row.banks;
      for (unsigned lane = 0; lane < waveSize; ++lane) {
        if (seen >> lane & 1)
          continue;
        uint64_t coset = 0;
        for (unsigned other = 0; other < waveSize; ++other)
          if (span >> (lane ^ other) & 1)
            coset |= uint64_t(1) << other;
        seen |= coset;
        phases.lanes.push_back(coset);
      }
    }
}

const LdsCostModel::Phases &LdsCostModel::phasesOf(const MemoryAccess &access) const {
  bool isRead = access.kind == AccessKind::Load;
  unsigned dwords = std::clamp((access.bytes + wordBytes - 1) / wordBytes, 1u, 4u);
  return table[static_cast<unsigned>(isRead ? LdsOperation::Read : LdsOperation::Write)]
              [dwords - 1];
}

namespace {
/// The words that one phase touches.
class PhaseWords {
public:
  explicit PhaseWords(unsigned banks) : banks(banks) { std::fill_n(first, mostBanks, none); }

  /// \p shared: a word that is there already costs nothing.
  void add(uint32_t word, bool shared) {
    unsigned bank = word % banks;
    if (shared)
      for (uint32_t other = first[bank]; other != none; other = words[other].next)
        if (words[other].word == word)
          return;
    words[count] = {word, first[bank]};
    first[bank] = count++;
    busiest = std::max<unsigned>(busiest, ++ofBank[bank]);
  }
  LdsCost cost() const { return {busiest, (count + banks - 1) / banks}; }

private:
  static constexpr uint16_t none = 0xffff;
  struct Word {
    uint32_t word;
    uint16_t next;
  };
  unsigned banks;
  uint16_t count = 0;
  unsigned busiest = 0;
  uint8_t ofBank[mostBanks] = {};
  uint16_t first[mostBanks];
  Word words[mostWords];
};
} // namespace

LdsCost LdsCostModel::of(const MemoryAccess &access) const {
  bool isAtomic = access.kind == AccessKind::Atomic || access.kind == AccessKind::AtomicReturning;
  const Phases &phases = phasesOf(access);
  LdsCost total;
  for (uint64_t phase : phases.lanes) {
    PhaseWords words(phases.banks);
    for (uint64_t lanes = phase & access.active; lanes != 0; lanes &= lanes - 1) {
      unsigned lane = static_cast<unsigned>(__builtin_ctzll(lanes));
      uint32_t begin = access.offset + (access.offsets ? access.offsets[lane] : 0);
      uint32_t last = (begin + access.bytes - 1) / wordBytes;
      for (uint32_t word = begin / wordBytes; word <= last; ++word)
        words.add(word, !isAtomic);
    }
    LdsCost cost = words.cost();
    total.cycles += cost.cycles;
    total.minimum += cost.minimum;
  }
  return total;
}

LdsCost LdsCostModel::ofPermutation() const {
  uint32_t cycles = table[0][0].lanes.size();
  return {cycles, cycles};
}

} // namespace wavetile::device
