//===- RegisterShadow.h - Which register bits of a wave are undefined -----===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every register has an entry: the vector rows, one that is never undefined, then the scalars. The
// entry's word says in which lanes a vector register has undefined bits, and is all ones or zero
// for a scalar one: a test of a few words says whether an instruction has anything to do with
// undefined values, which it usually has not. Which bits they are is in the plane of a row, if it
// has one; else all bits of those lanes. Scalars always have their bits.
//
// Planes and scalars are the registers of a second wave, on which the handlers that only move bits
// can run too.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_CHECKS_REGISTERSHADOW_H
#define WAVETILE_RUNTIME_EMULATOR_CHECKS_REGISTERSHADOW_H

#include "runtime/emulator/AlignedArray.h"
#include "runtime/emulator/Wave.h"

namespace wavetile::device::checks {

/// Never undefined: stands for operands that are not there.
inline constexpr uint32_t definedEntry = vectorRows;
inline constexpr uint32_t firstScalarEntry = vectorRows + 1;
inline constexpr uint32_t entryCount = firstScalarEntry + scalar::Count;

constexpr bool isScalarEntry(uint32_t entry) { return entry >= firstScalarEntry; }
constexpr uint32_t scalarEntry(uint32_t index) { return firstScalarEntry + index; }

/// Rows of the second wave beyond the vector registers: two of zeros, and a pair for each operand
/// that keeps its value.
inline constexpr uint32_t zeroRow = vectorRows;
constexpr uint32_t controlRow(unsigned operand) { return vectorRows + 2 + 2 * operand; }
inline constexpr uint32_t shadowRows = vectorRows + 2 + 2 * 4;

class RegisterShadow {
public:
  /// All registers become undefined, or all defined.
  void reset(const Wave &wave, bool undefined);

  /// The lanes of a vector row, or all ones or zero for a scalar.
  uint64_t lanes[entryCount];
  /// Where an entry's undefined bits come from; means something only where there are some.
  uint32_t origin[entryCount];
  /// What `origin` was before loads on their way to the register.
  uint32_t settledOrigin[entryCount];

  bool hasPlane(uint32_t row) const { return planeOf[row]; }
  /// The undefined bits of a vector row, lane by lane, made if it has no plane. Call `settle` after
  /// a change.
  uint32_t *plane(uint32_t row);
  /// Brings the row's word up to date with its plane, and drops a plane that is not needed.
  void settle(uint32_t row);

  /// All bits of a vector row in the lanes of \p mask become undefined or defined, as \p undefined
  /// says for each lane.
  void setLanes(uint32_t row, uint64_t mask, uint64_t undefined, uint32_t from) {
    if (planeOf[row]) [[unlikely]]
      setLanesOfPlane(row, mask, undefined);
    else
      lanes[row] = (lanes[row] & ~mask) | (undefined & mask);
    if (undefined & mask)
      origin[row] = from;
  }

  uint32_t scalarBits(uint32_t index) const { return shadow.scalars[index]; }
  void setScalar(uint32_t index, uint32_t undefinedBits, uint32_t from) {
    shadow.scalars[index] = undefinedBits;
    lanes[scalarEntry(index)] = undefinedBits ? ~uint64_t(0) : 0;
    if (undefinedBits)
      origin[scalarEntry(index)] = from;
  }
  /// A mask of lanes: a register pair in wave64.
  void setScalarMask(uint32_t index, uint64_t undefinedBits, uint32_t from) {
    setScalar(index, static_cast<uint32_t>(undefinedBits), from);
    if (shadow.waveSize == 64)
      setScalar(index + 1, static_cast<uint32_t>(undefinedBits >> 32), from);
  }
  uint64_t scalarMaskBits(uint32_t index) const { return shadow.laneMask(index); }

  /// The second wave, with EXEC as the first one has it.
  Wave &wave(uint64_t exec) {
    shadow.setLaneMask(scalar::Exec, exec);
    return shadow;
  }
  /// After the second wave's EXEC was lent out: it is always defined.
  void forgetExec() { shadow.scalars[scalar::Exec] = shadow.scalars[scalar::Exec + 1] = 0; }

private:
  void setLanesOfPlane(uint32_t row, uint64_t mask, uint64_t undefined);

  bool planeOf[vectorRows];
  Wave shadow;
  AlignedArray<uint32_t> planes;
};

} // namespace wavetile::device::checks

#endif // WAVETILE_RUNTIME_EMULATOR_CHECKS_REGISTERSHADOW_H
