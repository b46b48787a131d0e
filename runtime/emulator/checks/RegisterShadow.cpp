//===- RegisterShadow.cpp - Which register bits of a wave are undefined ---===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/checks/RegisterShadow.h"

#include "runtime/emulator/checks/Origin.h"

#include <algorithm>
#include <array>
#include <new>

namespace wavetile::device::checks {

/// The origins of registers that were never written.
static constexpr std::array<uint32_t, entryCount> neverWritten = [] {
  std::array<uint32_t, entryCount> origins{};
  for (uint32_t entry = 0; entry < entryCount; ++entry)
    origins[entry] = makeOrigin(OriginKind::NeverWritten, entry);
  return origins;
}();

void RegisterShadow::reset(const Wave &wave, bool undefined) {
  if (!planes || shadow.waveSize != wave.waveSize) {
    planes = allocateAligned<uint32_t>(size_t(shadowRows) * wave.waveSize);
    std::fill_n(planes.get() + size_t(vectorRows) * wave.waveSize,
                size_t(shadowRows - vectorRows) * wave.waveSize, 0u);
  }
  new (&shadow) Wave;
  shadow.bases[0] = planes.get();
  shadow.bases[1] = wave.bases[1];
  shadow.shift = wave.shift;
  shadow.waveSize = wave.waveSize;
  shadow.keptByHalfResult = wave.keptByHalfResult;
  shadow.workgroup = wave.workgroup;
  uint64_t all = undefined ? wave.allLanes() : 0;
  std::fill_n(lanes, firstScalarEntry, all);
  std::fill_n(lanes + firstScalarEntry, scalar::Count, undefined ? ~uint64_t(0) : 0);
  std::fill_n(shadow.scalars, scalar::Count, undefined ? ~0u : 0u);
  std::copy(neverWritten.begin(), neverWritten.end(), origin);
  std::fill_n(planeOf, vectorRows, false);
  lanes[definedEntry] = 0;
  lanes[spareRow] = 0;
  for (uint32_t index : {scalar::Exec, scalar::Exec + 1, scalar::Null, scalar::Null + 1})
    setScalar(index, 0, 0);
}

uint32_t *RegisterShadow::plane(uint32_t row) {
  uint32_t *words = shadow.vectorRow(row);
  if (!planeOf[row]) {
    Wave::expandMask(lanes[row], shadow.temporary[0]);
    std::copy_n(shadow.temporary[0], shadow.waveSize, words);
    planeOf[row] = true;
  }
  return words;
}

void RegisterShadow::settle(uint32_t row) {
  const uint32_t *words = shadow.vectorRow(row);
  uint64_t some = 0;
  uint32_t partial = 0;
  for (unsigned lane = 0; lane < shadow.waveSize; ++lane) {
    some |= uint64_t(words[lane] != 0) << lane;
    partial |= words[lane] + 1 > 1 ? 1 : 0;
  }
  lanes[row] = some;
  planeOf[row] = partial != 0;
}

void RegisterShadow::setLanesOfPlane(uint32_t row, uint64_t mask, uint64_t undefined) {
  uint32_t *words = shadow.vectorRow(row);
  for (unsigned lane = 0; lane < shadow.waveSize; ++lane)
    if (mask >> lane & 1)
      words[lane] = -static_cast<uint32_t>(undefined >> lane & 1);
  settle(row);
}

} // namespace wavetile::device::checks
