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

/// \p Cells holds the cells of dwords: `get(dword)` and `set(dword, cell)`. They have a member
/// `write`, which is never all ones.
template <typename Cells> class RaceShadow {
public:
  using Cell = typename Cells::Cell;

  void reset(uint32_t bytes) {
    cells.reset((bytes + 3) / 4);
    byteCells.clear();
  }

  /// Calls `body(cell, first, count)` for the cells of bytes [first, end), which stops when it
  /// returns false.
  template <typename Body> bool visit(uint32_t first, uint32_t end, Body body) {
    while (first < end) {
      uint32_t dword = first / 4, dwordEnd = 4 * dword + 4;
      Cell cell = cells.get(dword);
      bool isWhole = first == 4 * dword && end >= dwordEnd;
      if (isWhole && cell.write != splitMark) {
        bool goesOn = body(cell, first, 4u);
        cells.set(dword, cell);
        if (!goesOn)
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

  /// The cells of all dwords. One that is split has a mark for its write, which is all ones.
  Cells &wholeCells() { return cells; }

private:
  static constexpr auto splitMark = static_cast<decltype(Cell::write)>(-1);

  Cell *split(uint32_t dword) {
    if (byteCells.empty())
      byteCells.resize(4 * cells.size());
    Cell *bytes = &byteCells[4 * dword];
    Cell cell = cells.get(dword);
    if (cell.write != splitMark) {
      for (unsigned i = 0; i < 4; ++i)
        bytes[i] = cell;
      cell.write = splitMark;
      cells.set(dword, cell);
    }
    return bytes;
  }

  Cells cells;
  std::vector<Cell> byteCells; ///< Four a dword; empty until the first is needed.
};

} // namespace wavetile::device::checks

#endif // WAVETILE_RUNTIME_EMULATOR_CHECKS_RACESHADOW_H
