//===- RaceShadow.h - What is remembered of bytes that may race ------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cell for each dword of a piece of memory. A dword of which only some bytes were accessed at a
// time has a cell for each byte instead: waves may write neighbouring bytes.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_CHECKS_RACESHADOW_H
#define WAVETILE_RUNTIME_EMULATOR_CHECKS_RACESHADOW_H

#include <cstdint>
#include <vector>

namespace wavetile::device::checks {

/// The last write and the last read, coded as the check wants; 0: none.
struct RaceCell {
  uint32_t write = 0;
  uint32_t read = 0;

  /// 0 if they are alike.
  uint32_t difference(const RaceCell &other) const {
    return (write ^ other.write) | (read ^ other.read);
  }
};

/// \p Cell has the members of RaceCell, of some unsigned type, and perhaps more.
template <typename Cell> class RaceShadow {
public:
  void reset(uint32_t bytes) {
    cells.assign((bytes + 3) / 4, Cell());
    byteCells.clear();
  }

  /// Calls `body(cell, first, count)` for the cells of bytes [first, end), which stops when it
  /// returns false.
  template <typename Body> bool visit(uint32_t first, uint32_t end, Body body) {
    while (first < end) {
      uint32_t dword = first / 4, dwordEnd = 4 * dword + 4;
      Cell &cell = cells[dword];
      bool isWhole = first == 4 * dword && end >= dwordEnd;
      if (isWhole && cell.write != splitMark) {
        if (!body(cell, first, 4u))
          return false;
        first = dwordEnd;
        continue;
      }
      Cell *bytes = split(dword);
      for (; first < end && first < dwordEnd; ++first)
        if (!body(bytes[first % 4], first, 1u))
          return false;
    }
    return true;
  }

  /// Makes the cells of so many dwords from byte \p first on into \p after, if all of them are
  /// like \p before, which is not split. False: some are not, and nothing was changed.
  bool replace(uint32_t first, uint32_t dwords, const Cell &before, const Cell &after) {
    Cell *begin = &cells[first / 4];
    uint32_t difference = 0;
    for (uint32_t i = 0; i < dwords; ++i)
      difference |= begin[i].difference(before);
    if (difference != 0)
      return false;
    for (uint32_t i = 0; i < dwords; ++i)
      begin[i] = after;
    return true;
  }

  /// The cells of all dwords. One that is split has a mark for its write, which is all ones.
  Cell *wholeCells() { return cells.data(); }

private:
  static constexpr auto splitMark = static_cast<decltype(Cell::write)>(-1);

  Cell *split(uint32_t dword) {
    if (byteCells.empty())
      byteCells.resize(4 * cells.size());
    Cell *bytes = &byteCells[4 * dword];
    Cell &cell = cells[dword];
    if (cell.write != splitMark) {
      for (unsigned i = 0; i < 4; ++i)
        bytes[i] = cell;
      cell.write = splitMark;
    }
    return bytes;
  }

  std::vector<Cell> cells;
  std::vector<Cell> byteCells; ///< Four a dword; empty until the first is needed.
};

} // namespace wavetile::device::checks

#endif // WAVETILE_RUNTIME_EMULATOR_CHECKS_RACESHADOW_H
