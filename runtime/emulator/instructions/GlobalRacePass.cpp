//===- GlobalRacePass.cpp - Looks for races in global memory, usual case --===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cells of 16 bytes are one host vector of 16 words. They are compared with what the cells seen
// before were, and become what those became; anything else is left to GlobalRaces, which has the
// rules.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/checks/GlobalRaceCell.h"
#include "runtime/emulator/instructions/LaneCopy.h"
#include "runtime/emulator/instructions/Tables.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace {

using checks::GlobalRaceCell;
using checks::GlobalRaceCells;
using checks::GlobalRacePass;
using checks::KnownRacePage;

using Words = uint32_t __attribute__((ext_vector_type(16)));

constexpr unsigned allDwords = 15;
constexpr uint64_t groupBytes = GlobalRaceCells::bytes;

template <typename Flags> WAVETILE_INLINE uint16_t bitsOf(Flags flags) {
  using Mask = bool __attribute__((ext_vector_type(16)));
  return __builtin_bit_cast(uint16_t, __builtin_convertvector(flags, Mask));
}
WAVETILE_INLINE bool none(Words words) { return bitsOf(words != 0) == 0; }

WAVETILE_INLINE Words wordsOf(const GlobalRaceCell &cell) {
  Words words = 0;
  for (unsigned i = 0; i < 4; ++i)
    words[i] = cell.write, words[4 + i] = cell.read, words[8 + i] = cell.loads;
  return words;
}

/// Ones in the words of some of the four dwords.
struct DwordMasks {
  alignas(64) uint32_t words[16][16];
  constexpr DwordMasks() : words() {
    for (unsigned dwords = 0; dwords < 16; ++dwords)
      for (unsigned i = 0; i < 12; ++i)
        words[dwords][i] = dwords >> (i % 4) & 1 ? ~0u : 0;
  }
};
constexpr DwordMasks dwordMasks;

/// Marks cells, all of them or none.
class Marker {
public:
  WAVETILE_INLINE explicit Marker(const GlobalRacePass &pass)
      : before(wordsOf(pass.before)), after(wordsOf(pass.after)), changes(!none(before ^ after)) {}

  /// False: they are like neither of the two.
  WAVETILE_INLINE bool mark(GlobalRaceCells &cells, unsigned dwords) const {
    Words words;
    __builtin_memcpy(&words, &cells, sizeof(words));
    if (dwords == allDwords) {
      if (!none(words ^ before))
        return none(words ^ after);
      if (changes)
        __builtin_memcpy(&cells, &after, sizeof(words));
      return true;
    }
    Words mask;
    __builtin_memcpy(&mask, dwordMasks.words[dwords], sizeof(mask));
    if (!none((words ^ before) & mask))
      return none((words ^ after) & mask);
    if (changes) {
      words ^= (words ^ after) & mask;
      __builtin_memcpy(&cells, &words, sizeof(words));
    }
    return true;
  }

  /// The same of all dwords of four cells behind one another.
  WAVETILE_INLINE bool markFour(GlobalRaceCells *cells) const {
    Words different = 0;
    for (unsigned i = 0; i < 4; ++i) {
      Words words;
      __builtin_memcpy(&words, &cells[i], sizeof(words));
      different |= words ^ before;
    }
    if (!none(different))
      return false;
    for (unsigned i = 0; i < 4 && changes; ++i)
      __builtin_memcpy(&cells[i], &after, sizeof(after));
    return true;
  }

private:
  Words before, after;
  bool changes;
};

/// Which of four dwords differ.
WAVETILE_INLINE unsigned changedDwords(const void *memory, const uint8_t *stored) {
  using Mask = bool __attribute__((ext_vector_type(4)));
  Vector4 old, now;
  __builtin_memcpy(&old, memory, 16);
  __builtin_memcpy(&now, stored, 16);
  return __builtin_bit_cast(uint8_t, __builtin_convertvector(old != now, Mask)) & allDwords;
}
/// The same of fewer dwords.
WAVETILE_INLINE unsigned changedDwords(const void *memory, const uint8_t *stored, unsigned count) {
  Vector4 old = 0, now = 0;
  __builtin_memcpy(&old, memory, 4 * count);
  __builtin_memcpy(&now, stored, 4 * count);
  unsigned changed = 0;
  for (unsigned i = 0; i < count; ++i)
    changed |= static_cast<unsigned>(old[i] != now[i]) << i;
  return changed;
}

/// Which of the dwords of four cells differ.
WAVETILE_INLINE uint16_t changedOfFour(const void *memory, const uint8_t *stored) {
  Words old, now;
  __builtin_memcpy(&old, memory, sizeof(old));
  __builtin_memcpy(&now, stored, sizeof(now));
  return bitsOf(old != now);
}

WAVETILE_INLINE GlobalRaceCells *cellsOf(const GlobalRacePass &pass, uint64_t address) {
  uint64_t page = address / checks::racePageBytes;
  const KnownRacePage &known = pass.pages[page % checks::racePageSlots];
  return known.page == page ? known.cells + address % checks::racePageBytes / groupBytes : nullptr;
}

/// A lane's dwords, of which `dwords` has a bit for each; false: they want a closer look.
WAVETILE_INLINE bool markLane(const GlobalRacePass &pass, const Marker &marker, uint64_t address,
                              unsigned dwords) {
  uint64_t inPage = address % checks::racePageBytes;
  if (address % 4 != 0 || inPage + pass.bytes > checks::racePageBytes)
    return false;
  GlobalRaceCells *cells = cellsOf(pass, address);
  if (!cells)
    return false;
  unsigned shifted = dwords << address % groupBytes / 4;
  if (shifted & allDwords && !marker.mark(*cells, shifted & allDwords))
    return false;
  return shifted <= allDwords || marker.mark(cells[1], shifted >> 4);
}

template <unsigned dwords> WAVETILE_INLINE uint64_t markLanes(const GlobalRacePass pass) {
  const Marker marker(pass);
  for (uint64_t mask = pass.lanes; mask != 0; mask &= mask - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctzll(mask));
    uint64_t address = pass.addresses[lane];
    unsigned touched = (1u << dwords) - 1;
    if (pass.stored) {
      const uint8_t *stored = pass.stored + uint64_t(4 * dwords) * lane;
      const void *memory = reinterpret_cast<const void *>(address);
      touched = dwords == 4 ? changedDwords(memory, stored) : changedDwords(memory, stored, dwords);
      if (touched == 0)
        continue;
    }
    if (!markLane(pass, marker, address, touched))
      return mask;
  }
  return 0;
}

uint64_t markAllLanes(const GlobalRacePass &pass) {
  switch (pass.bytes) {
  case 4:
    return markLanes<1>(pass);
  case 8:
    return markLanes<2>(pass);
  case 12:
    return markLanes<3>(pass);
  case 16:
    return markLanes<4>(pass);
  default:
    return pass.lanes;
  }
}

/// By value, so that the compiler knows that marking cells does not change it.
uint64_t markRunOf(const GlobalRacePass pass, uint64_t begin, uint64_t end) {
  const Marker marker(pass);
  const uint8_t *stored = pass.stored;
  for (uint64_t at = begin; at < end;) {
    GlobalRaceCells *cells = cellsOf(pass, at);
    if (!cells)
      return at;
    uint64_t pageEnd = (at / checks::racePageBytes + 1) * checks::racePageBytes;
    uint64_t stop = end < pageEnd ? end : pageEnd;
    while (at < stop) {
      // The usual case, four at a time.
      if (at % groupBytes == 0 && stop - at >= 4 * groupBytes) {
        constexpr uint16_t all = 0xffff;
        uint16_t changed =
            stored ? changedOfFour(reinterpret_cast<const void *>(at), stored + (at - begin)) : all;
        if (changed == 0 || (changed == all && marker.markFour(cells))) {
          at += 4 * groupBytes, cells += 4;
          continue;
        }
      }
      uint64_t next = (at / groupBytes + 1) * groupBytes;
      next = next < stop ? next : stop;
      const void *memory = reinterpret_cast<const void *>(at);
      unsigned dwords = allDwords;
      if (next - at == groupBytes) {
        if (stored)
          dwords = changedDwords(memory, stored + (at - begin));
      } else {
        if ((at | next) % 4 != 0)
          return at;
        unsigned count = static_cast<unsigned>(next - at) / 4;
        dwords = stored ? changedDwords(memory, stored + (at - begin), count) : (1u << count) - 1;
        dwords <<= at % groupBytes / 4;
      }
      if (dwords != 0 && !marker.mark(*cells, dwords))
        return at;
      at = next, ++cells;
    }
  }
  return end;
}
uint64_t markRun(const GlobalRacePass &pass, uint64_t begin, uint64_t end) {
  return markRunOf(pass, begin, end);
}

template <typename T>
WAVETILE_INLINE void layOutNarrow(const uint32_t *row, uint32_t waveSize, unsigned shift,
                                  uint8_t *stored) {
  for (unsigned base = 0; base < waveSize; base += 32) {
    T narrow[32];
    for (unsigned i = 0; i < 32; ++i)
      narrow[i] = static_cast<T>(row[base + i] >> shift);
    __builtin_memcpy(stored + base * sizeof(T), narrow, sizeof(narrow));
  }
}

template <unsigned dwords>
WAVETILE_INLINE void layOutDwords(const uint32_t *row, uint32_t waveSize, uint8_t *stored) {
  storeLanes<dwords>(row, waveSize, ~uint64_t(0),
                     [&](unsigned lane) { return stored + uint64_t(4 * dwords) * lane; });
}

void layOut(const uint32_t *row, uint32_t waveSize, uint32_t bytes, unsigned shift,
            uint8_t *stored) {
  switch (bytes) {
  case 1:
    return layOutNarrow<uint8_t>(row, waveSize, shift, stored);
  case 2:
    return layOutNarrow<uint16_t>(row, waveSize, shift, stored);
  case 4:
    return layOutDwords<1>(row, waveSize, stored);
  case 8:
    return layOutDwords<2>(row, waveSize, stored);
  case 12:
    return layOutDwords<3>(row, waveSize, stored);
  case 16:
    return layOutDwords<4>(row, waveSize, stored);
  default:
    return;
  }
}

} // namespace

checks::GlobalRacePasses globalRacePasses() { return {markAllLanes, markRun, layOut}; }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
