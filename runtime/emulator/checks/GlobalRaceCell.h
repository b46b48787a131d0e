//===- GlobalRaceCell.h - The last accesses of dwords of global memory ----===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How GlobalRaces lays out what it knows of dwords, and the usual case of an access: cells that are
// all alike become alike. That is one pass over them, which is code built for each instruction set
// of the host: no library containers here.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_CHECKS_GLOBALRACECELL_H
#define WAVETILE_RUNTIME_EMULATOR_CHECKS_GLOBALRACECELL_H

#include <cstdint>

namespace wavetile::device::checks {

/// What is known of a dword, or of a byte of one whose bytes were accessed apart.
struct GlobalRaceCell {
  uint32_t write = 0; ///< The last write, coded as GlobalRaces wants; 0: none.
  uint32_t read = 0;  ///< The last read.
  /// What the waves of the last reader's workgroup loaded it by, since a barrier was last between
  /// two of the loads.
  uint32_t loads = 0;

  bool operator==(const GlobalRaceCell &) const = default;
};

/// The cells of 16 aligned bytes of memory, in a line of the host's cache.
struct alignas(64) GlobalRaceCells {
  static constexpr unsigned dwords = 4, bytes = 16;
  uint32_t write[dwords], read[dwords], loads[dwords];
  uint32_t zero[dwords]; ///< So that all of it can be compared.

  GlobalRaceCell get(uint32_t dword) const { return {write[dword], read[dword], loads[dword]}; }
  void set(uint32_t dword, const GlobalRaceCell &cell) {
    write[dword] = cell.write, read[dword] = cell.read, loads[dword] = cell.loads;
  }
};

/// The dwords of 128 aligned bytes of memory. While they are all alike, as they are where waves
/// access runs of bytes, one cell stands for them.
struct GlobalRaceLine {
  static constexpr unsigned dwords = 32, bytes = 4 * dwords;
  static constexpr unsigned cells = dwords / GlobalRaceCells::dwords;

  GlobalRaceCell cell;
  /// Not 0: the dwords have cells of their own, until the launch ends.
  uint32_t apart = 0;
};

inline constexpr uint64_t racePageBytes = 4096;

/// What is known of a page.
struct alignas(64) GlobalRacePage {
  GlobalRaceLine lines[racePageBytes / GlobalRaceLine::bytes];
  /// Those of lines that are not apart mean nothing.
  GlobalRaceCells cells[racePageBytes / GlobalRaceCells::bytes];

  /// Gives the dwords of a line cells of their own if they have none.
  __attribute__((always_inline)) void takeApart(uint64_t line) {
    if (lines[line].apart)
      return;
    GlobalRaceCells filled;
    for (unsigned i = 0; i < GlobalRaceCells::dwords; ++i) {
      filled.write[i] = lines[line].cell.write, filled.read[i] = lines[line].cell.read;
      filled.loads[i] = lines[line].cell.loads, filled.zero[i] = 0;
    }
    for (unsigned i = 0; i < GlobalRaceLine::cells; ++i)
      cells[line * GlobalRaceLine::cells + i] = filled;
    lines[line].apart = 1;
  }
};

/// A page that was accessed lately; `GlobalRaces` has as many as `racePageSlots`, page p at
/// p % racePageSlots.
struct KnownRacePage {
  uint64_t number = ~uint64_t(0);
  GlobalRacePage *page = nullptr;
};
inline constexpr uint64_t racePageSlots = 256;

/// The lanes from \p lane on that access a line together, in order or in any order; 0 if they do
/// not.
__attribute__((always_inline)) inline uint64_t lanesOfLine(const uint64_t *addresses,
                                                           uint64_t lanes, unsigned lane,
                                                           uint32_t bytes, bool isInOrder) {
  if (bytes != 4 && bytes != 8 && bytes != 16)
    return 0;
  unsigned count = GlobalRaceLine::bytes / bytes;
  uint64_t all = (uint64_t(1) << count) - 1, together = all << lane;
  uint64_t begin = addresses[lane] / GlobalRaceLine::bytes * GlobalRaceLine::bytes;
  if (lane % count != 0 || (lanes & together) != together ||
      addresses[lane + 1] - begin >= GlobalRaceLine::bytes)
    return 0;
  uint64_t outside = 0, covered = 0, disorder = 0;
  for (unsigned i = 0; i < count; ++i) {
    uint64_t offset = addresses[lane + i] - begin;
    outside |= offset & ~uint64_t(GlobalRaceLine::bytes - bytes); // Not a part of the line.
    covered |= uint64_t(1) << (offset / bytes & 31);
    disorder |= offset ^ i * bytes;
  }
  return outside == 0 && covered == all && !(isInOrder && disorder) ? together : 0;
}

/// Accesses of which cells like `before` become like `after`, and those like `after` stay.
struct GlobalRacePass {
  const KnownRacePage *pages = nullptr;
  GlobalRaceCell before, after;
  /// Stores: what they write, the lanes' bytes behind one another; dwords that do not change are
  /// left alone. Null: all are changed, or it is a load.
  const uint8_t *stored = nullptr;
  // Of accesses of lanes:
  const uint64_t *addresses = nullptr;
  uint64_t lanes = 0;
  uint32_t bytes = 0; ///< Of a lane.
};

struct GlobalRacePasses {
  /// Accesses of the lanes, in their order. Returns the mask of those left, of which the first
  /// wants a closer look, or all that access its line together; 0: all is done.
  uint64_t (*lanes)(const GlobalRacePass &pass);
  /// The bytes of [begin, end); `stored` holds those from `begin` on. Returns where the first ones
  /// are that want a closer look, at the whole line if it begins there and ends before `end`, else
  /// at those of the same 16 aligned bytes; `end` if all is done.
  uint64_t (*run)(const GlobalRacePass &pass, uint64_t begin, uint64_t end);
  /// Lays out what lanes store: `bytes` bytes of each from `row` on, or of 1 or 2 the bits from
  /// \p shift on.
  void (*layOut)(const uint32_t *row, uint32_t waveSize, uint32_t bytes, unsigned shift,
                 uint8_t *stored);
};

} // namespace wavetile::device::checks

#endif // WAVETILE_RUNTIME_EMULATOR_CHECKS_GLOBALRACECELL_H
