//===- TransposedLoads.h - Which lane's element a transposing load gives ---===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A transposing load reads each lane's bytes as a plain one does; then lanes exchange elements.
//
//   ds_read_b64_tr_b16, _b8, _b4   16 lanes hold rows of 16 columns, one lane after the other; lane
//                                  i of them gets column i
//   ds_read_b96_tr_b6              the same, a lane holding a row
//   global_load_tr_b128            8 lanes hold rows of 8 columns of 16 bits
//   global_load_tr_b64             16 lanes hold 8 rows of 16 columns of 8 bits: rows 0 to 3 in
//                                  lanes 0 to 3 and, their right halves, 4 to 7; then rows 4 to 7
//
// Included by code built for several instruction sets of the host: no library containers here.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_TRANSPOSEDLOADS_H
#define WAVETILE_RUNTIME_EMULATOR_TRANSPOSEDLOADS_H

namespace wavetile::device {

struct TransposedSource {
  unsigned lane, element;
};

/// Where element \p element of \p lane comes from. \p bytes are loaded by each lane.
__attribute__((always_inline)) constexpr TransposedSource
transposedSource(bool isGlobal, unsigned bytes, unsigned elementBits, unsigned lane,
                 unsigned element) {
  if (isGlobal && bytes == 16)
    return {(lane & ~7u) + element, lane & 7};
  unsigned group = lane & ~15u, column = lane & 15;
  if (isGlobal)
    return {group + element / 4 * 8 + column / 8 * 4 + element % 4, column % 8};
  unsigned perLane = bytes * 8 / elementBits, lanesOfRow = 16 / perLane;
  return {group + element * lanesOfRow + column / perLane, column % perLane};
}

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_TRANSPOSEDLOADS_H
