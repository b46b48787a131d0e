//===- LdsRacePass.cpp - Looks for races in LDS, the usual case -----------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cells of a lane's dwords are one host vector: the writes are its even elements, the reads its
// odd ones. All lanes' cells are tested and marked without a branch; what the tests find is left to
// LdsRaces, which has the rules. Where half a wave accesses whole blocks, their cells are one such
// vector too, for there are as many of them as dwords of a lane.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/checks/LdsRaceCell.h"
#include "runtime/emulator/instructions/LaneCopy.h"
#include "runtime/emulator/instructions/Tables.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace {

using checks::LdsRaceBlock;
using checks::LdsRaceCell;
using checks::LdsRaceEntry;
using checks::LdsRacePass;

template <unsigned dwords> using Flags = int64_t __attribute__((ext_vector_type(2 * dwords)));

template <unsigned dwords> WAVETILE_INLINE bool none(Flags<dwords> flags) {
  using Mask = bool __attribute__((ext_vector_type(2 * dwords)));
  Mask mask = __builtin_convertvector(flags, Mask);
  constexpr unsigned all = (1u << 2 * dwords) - 1;
  return (__builtin_bit_cast(uint8_t, mask) & all) == 0;
}

template <unsigned dwords> struct Cells {
  using Bits = uint64_t __attribute__((ext_vector_type(2 * dwords)));

  /// Like no cell that there is. One of 3 dwords is padded.
  Bits bits = ~uint64_t(0);
  Cells() = default;
  WAVETILE_INLINE explicit Cells(const LdsRaceCell *from) {
    __builtin_memcpy(&bits, from, 16 * dwords);
  }
  WAVETILE_INLINE void store(LdsRaceCell *to) const { __builtin_memcpy(to, &bits, 16 * dwords); }
  WAVETILE_INLINE bool operator==(const Cells &other) const {
    return none<dwords>(bits != other.bits);
  }
  WAVETILE_INLINE static Flags<dwords> isWrite() {
    Flags<dwords> result;
    for (unsigned i = 0; i < 2 * dwords; ++i)
      result[i] = i % 2 ? 0 : -1;
    return result;
  }
};

/// What the entries are compared with.
struct Bounds {
  uint64_t self, wave, many;
  uint64_t passed; ///< The least entry that is not over.
  uint64_t now;    ///< The least entry after as many barriers as this wave's.
  uint64_t later;  ///< The least entry after more.

  WAVETILE_INLINE explicit Bounds(const LdsRacePass &pass)
      : self(pass.self), wave(pass.self & LdsRaceEntry::waveMask),
        many((pass.self & ~LdsRaceEntry::waveMask) | uint64_t(LdsRaceEntry::many + 1) << 32),
        passed(uint64_t(pass.passed) << LdsRaceEntry::barrierShift),
        now(pass.self >> LdsRaceEntry::barrierShift << LdsRaceEntry::barrierShift),
        later(now + (uint64_t(1) << LdsRaceEntry::barrierShift)) {
    // No entry is 0.
    passed = passed ? passed : 1;
    now = now ? now : 1;
  }
};

/// Entries of other waves that are not over.
template <unsigned dwords>
WAVETILE_INLINE Flags<dwords> meets(const Cells<dwords> &cells, const Bounds &bounds) {
  return (cells.bits >= bounds.passed) & ((cells.bits & LdsRaceEntry::waveMask) != bounds.wave);
}

/// Whether all lanes access whole dwords of LDS.
WAVETILE_INLINE bool isWhole(const LdsRacePass &pass) {
  if (!pass.offsets)
    return pass.begin % 4 == 0 &&
           uint64_t(pass.begin) + uint64_t(4 * pass.dwords) * pass.waveSize <= pass.ldsBytes;
  alignas(64) uint32_t active[maximumWaveSize];
  Wave::expandMask(pass.lanes, active);
  uint32_t bits = 0, highest = 0;
  for (unsigned lane = 0; lane < pass.waveSize; ++lane) {
    uint32_t offset = pass.offsets[lane] & active[lane];
    bits |= offset;
    highest = offset > highest ? offset : highest;
  }
  return bits % 4 == 0 && uint64_t(highest) + 4 * pass.dwords <= pass.ldsBytes;
}

constexpr unsigned halfWave = LdsRaceBlock::dwords;
constexpr uint64_t halfMask = 0xffffffff;

/// The blocks that half a wave's lanes from \p first on access, if these are whole and not apart;
/// else null.
template <unsigned dwords>
WAVETILE_INLINE LdsRaceCell *blocksOf(const LdsRacePass &pass, unsigned first) {
  uint32_t begin = pass.begin + first * 4 * dwords;
  if (pass.offsets) {
    begin = pass.offsets[first];
    if ((pass.lanes >> first & halfMask) != halfMask ||
        pass.offsets[first + 1] != begin + 4 * dwords)
      return nullptr;
    uint32_t different = 0;
    for (unsigned lane = 0; lane < halfWave; ++lane)
      different |= pass.offsets[first + lane] ^ (begin + lane * 4 * dwords);
    if (different != 0)
      return nullptr;
  }
  if (begin % LdsRaceBlock::bytes != 0)
    return nullptr;
  LdsRaceCell *blocks = pass.blocks + begin / LdsRaceBlock::bytes;
  bool isApart = false;
  for (unsigned i = 0; i < dwords; ++i)
    isApart |= blocks[i].write == LdsRaceBlock::apart;
  return isApart ? nullptr : blocks;
}

/// The lanes that blocks do not stand for, and their dwords, whose blocks are apart.
template <unsigned dwords> struct Apart {
  uint64_t lanes;
  const uint32_t *offsets;

  /// \p left has a bit for each half of the wave.
  WAVETILE_INLINE Apart(const LdsRacePass &pass, unsigned left)
      : lanes(pass.lanes & ((left & 1 ? halfMask : 0) | (left & 2 ? halfMask << halfWave : 0))),
        offsets(pass.offsets) {
    if (!offsets) {
      for (unsigned lane = 0; lane < pass.waveSize; ++lane)
        made[lane] = pass.begin + lane * 4 * dwords;
      offsets = made;
    }
    for (unsigned first = 0; first < pass.waveSize; first += halfWave)
      if (lanes >> first & halfMask)
        takeApart(pass, first);
  }
  template <typename Body> WAVETILE_INLINE void forLanes(Body body) const {
    for (uint64_t mask = lanes; mask != 0; mask &= mask - 1)
      body(static_cast<unsigned>(__builtin_ctzll(mask)));
  }

private:
  /// All blocks between the first and the last byte of a half's lanes, which is quicker than to
  /// look for those that have any.
  WAVETILE_INLINE void takeApart(const LdsRacePass &pass, unsigned first) const {
    alignas(64) uint32_t active[maximumWaveSize];
    Wave::expandMask(lanes >> first & halfMask, active);
    uint32_t lowest = ~0u, highest = 0;
    for (unsigned lane = 0; lane < halfWave; ++lane) {
      uint32_t low = offsets[first + lane] | ~active[lane];
      uint32_t high = offsets[first + lane] & active[lane];
      lowest = low < lowest ? low : lowest;
      highest = high > highest ? high : highest;
    }
    uint32_t at = lowest / LdsRaceBlock::bytes;
    uint32_t last = (highest + 4 * dwords - 1) / LdsRaceBlock::bytes;
    for (; at + 3 <= last; at += 4)
      if (!none<4>((Cells<4>(pass.blocks + at).bits != LdsRaceBlock::apart) & Cells<4>::isWrite()))
        takeApart(pass, at, at + 3);
    takeApart(pass, at, last);
  }
  WAVETILE_INLINE static void takeApart(const LdsRacePass &pass, uint32_t at, uint32_t last) {
    for (; at <= last; ++at)
      if (pass.blocks[at].write != LdsRaceBlock::apart)
        LdsRaceBlock::takeApart(pass.blocks[at], pass.cells + at * LdsRaceBlock::dwords);
  }

  alignas(64) uint32_t made[maximumWaveSize];
};

/// What becomes of the cells of a lane that loads.
template <unsigned dwords>
WAVETILE_INLINE Cells<dwords> afterRead(const Cells<dwords> &cells, const Bounds &bounds) {
  Flags<dwords> isOther = (cells.bits & LdsRaceEntry::waveMask) != bounds.wave;
  typename Cells<dwords>::Bits mark = bounds.self;
  mark = ((cells.bits >= bounds.now) & isOther) ? bounds.many : mark;
  Cells<dwords> after;
  after.bits = ((cells.bits >= bounds.later) | Cells<dwords>::isWrite()) ? cells.bits : mark;
  return after;
}

/// Marks the cells of four lanes, if all are like `before`.
template <unsigned dwords>
WAVETILE_INLINE bool markFour(LdsRaceCell *const (&at)[4], const Cells<dwords> &before,
                              const Cells<dwords> &after, bool changes) {
  typename Cells<dwords>::Bits different = 0;
  for (LdsRaceCell *cells : at)
    different |= Cells<dwords>(cells).bits ^ before.bits;
  if (!none<dwords>(different != 0))
    return false;
  for (unsigned i = 0; i < 4 && changes; ++i)
    after.store(at[i]);
  return true;
}

/// By value, so that the compiler knows that marking cells does not change it.
template <unsigned dwords> WAVETILE_INLINE bool markReads(const LdsRacePass pass) {
  const Bounds bounds(pass);
  const Flags<dwords> isWrite = Cells<dwords>::isWrite();
  Flags<dwords> met = 0;
  unsigned left = 0;
  for (unsigned half = 0; half * halfWave < pass.waveSize; ++half) {
    if (LdsRaceCell *blocks = blocksOf<dwords>(pass, half * halfWave)) {
      Cells<dwords> cells(blocks);
      met |= meets(cells, bounds) & isWrite;
      afterRead(cells, bounds).store(blocks);
    } else {
      left |= 1u << half;
    }
  }
  if (left == 0)
    return none<dwords>(met);
  Apart<dwords> apart(pass, left);
  // What became of the lane before: cells like its become the same, and most are.
  Cells<dwords> before, after;
  bool changes = true;
  for (unsigned group = 0; group < pass.waveSize; group += 4) {
    unsigned lanes = apart.lanes >> group & 15;
    if (lanes == 0)
      continue;
    LdsRaceCell *at[4];
    for (unsigned i = 0; i < 4; ++i)
      at[i] = pass.cells + apart.offsets[group + i] / 4;
    if (lanes == 15 && markFour(at, before, after, changes))
      continue;
    for (; lanes != 0; lanes &= lanes - 1) {
      LdsRaceCell *one = at[__builtin_ctz(lanes)];
      before = Cells<dwords>(one);
      met |= meets(before, bounds) & isWrite;
      after = afterRead(before, bounds);
      after.store(one);
      changes = !(before == after);
    }
  }
  return none<dwords>(met);
}

/// The dwords that lanes of a store are about to change, for four lanes at a time: registers are
/// rows, and a lane's bytes in memory lie together.
template <unsigned dwords> struct Stored {
  Vector4 data[4] = {};

  WAVETILE_INLINE Stored(const LdsRacePass &pass, unsigned group) {
    if (pass.addresses) {
      for (unsigned i = 0; i < 4; ++i)
        if (pass.known >> (group + i) & 1)
          __builtin_memcpy(&data[i], reinterpret_cast<const void *>(pass.addresses[group + i]),
                           4 * dwords);
      return;
    }
    for (unsigned i = 0; i < dwords; ++i)
      data[i] = loadVector(pass.data + i * pass.waveSize + group);
    transpose(data);
  }
  /// Whether any of the four does.
  WAVETILE_INLINE bool anyChanged(const LdsRacePass &pass, const Apart<dwords> &apart,
                                  unsigned group) const {
    if (pass.addresses && (~pass.known >> group & apart.lanes >> group & 15) != 0)
      return true;
    Vector4 different = 0;
    for (unsigned i = 0; i < 4; ++i) {
      if (!(apart.lanes >> (group + i) & 1))
        continue;
      Vector4 old = {};
      __builtin_memcpy(&old, pass.lds + apart.offsets[group + i], 4 * dwords);
      different |= old ^ data[i];
    }
    return (different[0] | different[1] | different[2] | different[3]) != 0;
  }
  WAVETILE_INLINE Flags<dwords> changed(const LdsRacePass &pass, unsigned lane,
                                        uint32_t offset) const {
    Vector4 old = {};
    __builtin_memcpy(&old, pass.lds + offset, 4 * dwords);
    using Wide = int64_t __attribute__((ext_vector_type(4)));
    Wide each = __builtin_convertvector(old != data[lane % 4], Wide);
    if (pass.addresses && !(pass.known >> lane & 1))
      each = -1;
    if constexpr (dwords == 1)
      return __builtin_shufflevector(each, each, 0, 0);
    else if constexpr (dwords == 2)
      return __builtin_shufflevector(each, each, 0, 0, 1, 1);
    else if constexpr (dwords == 3)
      return __builtin_shufflevector(each, each, 0, 0, 1, 1, 2, 2);
    else
      return __builtin_shufflevector(each, each, 0, 0, 1, 1, 2, 2, 3, 3);
  }
};

/// What half a wave's blocks become.
enum class BlockWrite : uint8_t { Done, Meets, WantsLanes };

/// Marks the blocks that half a wave's lanes from \p first on store, if all of their dwords change
/// or none does.
template <unsigned dwords>
WAVETILE_INLINE BlockWrite markBlockWrites(const LdsRacePass &pass, const Bounds &bounds,
                                           unsigned first) {
  using Block = uint32_t __attribute__((ext_vector_type(LdsRaceBlock::dwords)));
  using Mask = bool __attribute__((ext_vector_type(LdsRaceBlock::dwords)));
  LdsRaceCell *blocks = pass.addresses ? nullptr : blocksOf<dwords>(pass, first);
  if (!blocks)
    return BlockWrite::WantsLanes;
  alignas(64) uint32_t stored[dwords * LdsRaceBlock::dwords];
  for (unsigned lane = 0; lane < halfWave; lane += 4) {
    Vector4 data[4] = {};
    for (unsigned i = 0; i < dwords; ++i)
      data[i] = loadVector(pass.data + i * pass.waveSize + first + lane);
    transpose(data);
    for (unsigned i = 0; i < 4; ++i)
      __builtin_memcpy(stored + (lane + i) * dwords, &data[i], 4 * dwords);
  }
  const uint8_t *memory = pass.lds + (blocks - pass.blocks) * LdsRaceBlock::bytes;
  for (unsigned i = 0; i < dwords; ++i) {
    Block old, now;
    __builtin_memcpy(&old, memory + i * LdsRaceBlock::bytes, LdsRaceBlock::bytes);
    __builtin_memcpy(&now, stored + i * LdsRaceBlock::dwords, LdsRaceBlock::bytes);
    uint32_t changed = __builtin_bit_cast(uint32_t, __builtin_convertvector(old != now, Mask));
    if (changed == 0)
      continue;
    if (changed != ~0u)
      return BlockWrite::WantsLanes;
    // The entry that this one meets must stay, for the closer look.
    if (!none<1>(meets(Cells<1>(blocks + i), bounds)))
      return BlockWrite::Meets;
    blocks[i].write = bounds.self;
  }
  return BlockWrite::Done;
}

template <unsigned dwords> WAVETILE_INLINE bool markWrites(const LdsRacePass pass) {
  const Bounds bounds(pass);
  const Flags<dwords> isWrite = Cells<dwords>::isWrite();
  unsigned left = 0;
  for (unsigned half = 0; half * halfWave < pass.waveSize; ++half) {
    BlockWrite marked = markBlockWrites<dwords>(pass, bounds, half * halfWave);
    if (marked == BlockWrite::Meets)
      return false;
    left |= static_cast<unsigned>(marked == BlockWrite::WantsLanes) << half;
  }
  if (left == 0)
    return true;
  Apart<dwords> apart(pass, left);
  Cells<dwords> before, after; // Of a lane that changed all of its dwords.
  for (unsigned group = 0; group < pass.waveSize; group += 4) {
    if ((apart.lanes >> group & 15) == 0)
      continue;
    Stored<dwords> stored(pass, group);
    if (!stored.anyChanged(pass, apart, group))
      continue;
    for (unsigned lane = group; lane < group + 4; ++lane) {
      if (!(apart.lanes >> lane & 1))
        continue;
      uint32_t offset = apart.offsets[lane];
      Flags<dwords> isChanged = stored.changed(pass, lane, offset);
      if (none<dwords>(isChanged))
        continue;
      LdsRaceCell *at = pass.cells + offset / 4;
      Cells<dwords> cells(at);
      bool isWhole = none<dwords>(~isChanged);
      if (isWhole && cells == before) {
        after.store(at);
        continue;
      }
      Cells<dwords> old = cells;
      // The entry that this one meets must stay, for the closer look.
      if (!none<dwords>(meets(cells, bounds) & isChanged))
        return false;
      typename Cells<dwords>::Bits mark = bounds.self;
      cells.bits = (isChanged & isWrite) ? mark : cells.bits;
      cells.store(at);
      if (isWhole)
        before = old, after = cells;
    }
  }
  return true;
}

/// What becomes of cells when the wave's writes of them are not over at its barrier. \p split gets
/// flags of those whose bytes have cells of their own.
template <unsigned dwords>
WAVETILE_INLINE Cells<dwords> afterUnfinished(Cells<dwords> cells, const Bounds &bounds,
                                              Flags<dwords> &split) {
  const Flags<dwords> isWrite = Cells<dwords>::isWrite();
  Flags<dwords> isSplit = cells.bits == ~uint64_t(0);
  split |= isSplit & isWrite;
  typename Cells<dwords>::Bits wave = cells.bits & LdsRaceEntry::waveMask, mark = bounds.self;
  Flags<dwords> isOwn = (wave == bounds.wave) | (wave == (bounds.many & LdsRaceEntry::waveMask));
  cells.bits = (isOwn & isWrite & ~isSplit) ? mark : cells.bits;
  return cells;
}

template <unsigned dwords> WAVETILE_INLINE bool markUnfinished(const LdsRacePass pass) {
  const Bounds bounds(pass);
  Flags<dwords> split = 0;
  unsigned left = 0;
  for (unsigned half = 0; half * halfWave < pass.waveSize; ++half) {
    if (LdsRaceCell *blocks = blocksOf<dwords>(pass, half * halfWave))
      afterUnfinished(Cells<dwords>(blocks), bounds, split).store(blocks);
    else
      left |= 1u << half;
  }
  if (left == 0)
    return true;
  Apart<dwords> apart(pass, left);
  Cells<dwords> before, after;
  apart.forLanes([&](unsigned lane) {
    LdsRaceCell *at = pass.cells + apart.offsets[lane] / 4;
    Cells<dwords> cells(at);
    if (cells == before) {
      after.store(at);
      return;
    }
    before = cells;
    after = afterUnfinished(cells, bounds, split);
    after.store(at);
  });
  return none<dwords>(split);
}

/// Calls `body<n>()` for the n dwords of a lane, if all lanes access whole ones.
template <typename Body> WAVETILE_INLINE bool byDwords(const LdsRacePass &pass, Body body) {
  if (!isWhole(pass))
    return false;
  switch (pass.dwords) {
  case 1:
    return body.template operator()<1>();
  case 2:
    return body.template operator()<2>();
  case 3:
    return body.template operator()<3>();
  case 4:
    return body.template operator()<4>();
  default:
    return false;
  }
}

bool markAllReads(const LdsRacePass &pass) {
  return byDwords(pass, [&]<unsigned dwords>() { return markReads<dwords>(pass); });
}
bool markAllWrites(const LdsRacePass &pass) {
  return byDwords(pass, [&]<unsigned dwords>() { return markWrites<dwords>(pass); });
}
bool markAllUnfinished(const LdsRacePass &pass) {
  return byDwords(pass, [&]<unsigned dwords>() { return markUnfinished<dwords>(pass); });
}

} // namespace

checks::LdsRacePasses ldsRacePasses() { return {markAllReads, markAllWrites, markAllUnfinished}; }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
