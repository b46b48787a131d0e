//===- GlobalRacePass.cpp - Looks for races in global memory, usual case --===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cells of 16 bytes are one host vector of 16 words, and so are those of four lines. They are
// compared with what the cells seen before were, and become what those became; anything else is
// left to GlobalRaces, which has the rules.
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
using checks::GlobalRaceLine;
using checks::GlobalRacePage;
using checks::GlobalRacePass;
using checks::KnownRacePage;

using Words = uint32_t __attribute__((ext_vector_type(16)));

constexpr unsigned allDwords = 15;
constexpr uint64_t groupBytes = GlobalRaceCells::bytes, lineBytes = GlobalRaceLine::bytes;

template <typename Flags> WAVETILE_INLINE uint16_t bitsOf(Flags flags) {
  using Mask = bool __attribute__((ext_vector_type(16)));
  return __builtin_bit_cast(uint16_t, __builtin_convertvector(flags, Mask));
}
WAVETILE_INLINE bool none(Words words) { return bitsOf(words != 0) == 0; }

WAVETILE_INLINE Vector4 vectorOf(const GlobalRaceCell &cell) {
  return {cell.write, cell.read, cell.loads, 0};
}
/// The same cell of four dwords.
WAVETILE_INLINE Words wordsOf(Vector4 cell) {
  return __builtin_shufflevector(cell, cell, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
}
/// The same cell in four lines that are not apart.
WAVETILE_INLINE Words wordsOfLines(Vector4 cell) {
  return __builtin_shufflevector(cell, cell, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3);
}
WAVETILE_INLINE bool isLike(const GlobalRaceLine &line, Vector4 cell) {
  Vector4 different;
  __builtin_memcpy(&different, &line, sizeof(different));
  different ^= cell;
  uint64_t halves[2];
  __builtin_memcpy(halves, &different, sizeof(halves));
  return (halves[0] | halves[1]) == 0;
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
      : cellBefore(vectorOf(pass.before)), cellAfter(vectorOf(pass.after)),
        before(wordsOf(cellBefore)), after(wordsOf(cellAfter)),
        linesBefore(wordsOfLines(cellBefore)), linesAfter(wordsOfLines(cellAfter)),
        changes(!none(before ^ after)) {}

  /// Whether marking some of a line's dwords would change nothing.
  WAVETILE_INLINE bool isMarked(const GlobalRaceLine &line) const {
    return isLike(line, cellAfter);
  }
  /// All of them. False: the line is like neither of the two.
  WAVETILE_INLINE bool markLine(GlobalRaceLine &line) const {
    if (!isLike(line, cellBefore))
      return isMarked(line);
    __builtin_memcpy(&line, &cellAfter, sizeof(line));
    return true;
  }
  /// Four lines behind one another. False: nothing was marked.
  WAVETILE_INLINE bool markFourLines(GlobalRaceLine *lines) const {
    Words words;
    __builtin_memcpy(&words, lines, sizeof(words));
    if (!none(words ^ linesBefore))
      return none(words ^ linesAfter);
    if (changes)
      __builtin_memcpy(lines, &linesAfter, sizeof(words));
    return true;
  }

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
  Vector4 cellBefore, cellAfter;
  Words before, after, linesBefore, linesAfter;
  bool changes;
};
static_assert(sizeof(GlobalRaceLine) == 16);

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

/// Which of a line's dwords differ.
WAVETILE_INLINE uint32_t changedOfLine(const void *memory, const uint8_t *stored) {
  return changedOfFour(memory, stored) |
         uint32_t(changedOfFour(static_cast<const uint8_t *>(memory) + 64, stored + 64)) << 16;
}

WAVETILE_INLINE GlobalRacePage *pageOf(const GlobalRacePass &pass, uint64_t address) {
  uint64_t page = address / checks::racePageBytes;
  const KnownRacePage &known = pass.pages[page % checks::racePageSlots];
  return known.number == page ? known.page : nullptr;
}

/// A lane's dwords, of which `dwords` has a bit for each; false: they want a closer look.
WAVETILE_INLINE bool markLane(const GlobalRacePass &pass, const Marker &marker, uint64_t address,
                              unsigned dwords) {
  uint64_t inPage = address % checks::racePageBytes, last = inPage + pass.bytes - 1;
  if (address % 4 != 0 || last >= checks::racePageBytes)
    return false;
  GlobalRacePage *page = pageOf(pass, address);
  if (!page)
    return false;
  uint64_t line = inPage / lineBytes, lastLine = last / lineBytes;
  if (!(page->lines[line].apart & page->lines[lastLine].apart)) {
    if (line == lastLine && marker.isMarked(page->lines[line]))
      return true;
    page->takeApart(line);
    page->takeApart(lastLine);
  }
  GlobalRaceCells *cells = &page->cells[inPage / groupBytes];
  unsigned shifted = dwords << address % groupBytes / 4;
  if (shifted & allDwords && !marker.mark(*cells, shifted & allDwords))
    return false;
  return shifted <= allDwords || marker.mark(cells[1], shifted >> 4);
}

enum class LineMark : uint8_t { Done, WantsLook, WantsDwords };

/// A whole line. `stored` is null if all of it changes.
WAVETILE_INLINE LineMark markWholeLine(const Marker &marker, GlobalRaceLine &line, uint64_t address,
                                       const uint8_t *stored) {
  uint32_t changed = ~0u;
  if (stored)
    changed = changedOfLine(reinterpret_cast<const void *>(address), stored);
  if (changed == 0 || marker.isMarked(line))
    return LineMark::Done;
  if (changed != ~0u || line.apart)
    return LineMark::WantsDwords;
  return marker.markLine(line) ? LineMark::Done : LineMark::WantsLook;
}

template <unsigned dwords> WAVETILE_INLINE uint64_t markLanes(const GlobalRacePass pass) {
  const Marker marker(pass);
  for (uint64_t mask = pass.lanes; mask != 0;) {
    unsigned lane = static_cast<unsigned>(__builtin_ctzll(mask));
    uint64_t address = pass.addresses[lane];
    const uint8_t *stored = pass.stored ? pass.stored + uint64_t(4 * dwords) * lane : nullptr;
    if (uint64_t together =
            checks::lanesOfLine(pass.addresses, mask, lane, 4 * dwords, stored != nullptr)) {
      GlobalRacePage *page = pageOf(pass, address);
      if (!page)
        return mask;
      GlobalRaceLine &line = page->lines[address % checks::racePageBytes / lineBytes];
      switch (markWholeLine(marker, line, address, stored)) {
      case LineMark::Done:
        mask &= ~together;
        continue;
      case LineMark::WantsLook:
        return mask;
      case LineMark::WantsDwords:
        break;
      }
    }
    unsigned touched = (1u << dwords) - 1;
    if (stored) {
      const void *memory = reinterpret_cast<const void *>(address);
      touched = dwords == 4 ? changedDwords(memory, stored) : changedDwords(memory, stored, dwords);
    }
    if (touched != 0 && !markLane(pass, marker, address, touched))
      return mask;
    mask &= mask - 1;
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

/// The bytes of [at, stop) in a line that is apart. \p stored holds those from `at` on, or is null
/// if all change. Returns where the first ones are that want a closer look, or `stop`.
WAVETILE_INLINE uint64_t markInLine(const Marker &marker, GlobalRacePage &page, uint64_t at,
                                    uint64_t stop, const uint8_t *stored) {
  const uint64_t begin = at;
  GlobalRaceCells *cells = &page.cells[at % checks::racePageBytes / groupBytes];
  while (at < stop) {
    const uint8_t *now = stored ? stored + (at - begin) : nullptr;
    const void *memory = reinterpret_cast<const void *>(at);
    // The usual case, four at a time.
    if (at % groupBytes == 0 && stop - at >= 4 * groupBytes) {
      constexpr uint16_t all = 0xffff;
      uint16_t changed = now ? changedOfFour(memory, now) : all;
      if (changed == 0 || (changed == all && marker.markFour(cells))) {
        at += 4 * groupBytes, cells += 4;
        continue;
      }
    }
    uint64_t next = (at / groupBytes + 1) * groupBytes;
    next = next < stop ? next : stop;
    unsigned dwords = allDwords;
    if (next - at == groupBytes) {
      if (now)
        dwords = changedDwords(memory, now);
    } else {
      if ((at | next) % 4 != 0)
        return at;
      unsigned count = static_cast<unsigned>(next - at) / 4;
      dwords = now ? changedDwords(memory, now, count) : (1u << count) - 1;
      dwords <<= at % groupBytes / 4;
    }
    if (dwords != 0 && !marker.mark(*cells, dwords))
      return at;
    at = next, ++cells;
  }
  return stop;
}

/// By value, so that the compiler knows that marking cells does not change it.
WAVETILE_INLINE uint64_t markRunOf(const GlobalRacePass pass, uint64_t begin, uint64_t end) {
  const Marker marker(pass);
  for (uint64_t at = begin; at < end;) {
    GlobalRacePage *page = pageOf(pass, at);
    if (!page)
      return at;
    uint64_t inPage = at % checks::racePageBytes;
    GlobalRaceLine &line = page->lines[inPage / lineBytes];
    const uint8_t *stored = pass.stored ? pass.stored + (at - begin) : nullptr;
    uint64_t left = end - at, lineEnd = (at / lineBytes + 1) * lineBytes;
    if (at % lineBytes == 0 && left >= lineBytes) {
      // The usual case, four at a time.
      bool hasFour = left >= 4 * lineBytes && inPage + 4 * lineBytes <= checks::racePageBytes;
      if (!stored && hasFour && marker.markFourLines(&line)) {
        at += 4 * lineBytes;
        continue;
      }
      LineMark mark = markWholeLine(marker, line, at, stored);
      if (mark == LineMark::WantsLook)
        return at;
      if (mark == LineMark::Done) {
        at = lineEnd;
        continue;
      }
    }
    uint64_t stop = end < lineEnd ? end : lineEnd;
    if ((at | stop) % 4 == 0 && marker.isMarked(line)) {
      at = stop;
      continue;
    }
    page->takeApart(inPage / lineBytes);
    at = markInLine(marker, *page, at, stop, stored);
    if (at < stop)
      return at;
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
