//===- LoadedCopies.cpp - Loads of one element by several waves ------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/checks/LoadedCopies.h"

#include "llvm/ADT/STLExtras.h"

namespace wavetile::device::checks {

uint32_t LoadedCopies::with(uint32_t set, const Record *load, uint32_t wave) {
  Answer &answer = last[(reinterpret_cast<uintptr_t>(load) / sizeof(Record) + 4 * wave) % answers];
  if (answer.load == load && answer.set == set && answer.wave == wave)
    return answer.result;
  answer = {load, set, wave, 0};
  return answer.result = successor(set, load, wave);
}

uint32_t LoadedCopies::successor(uint32_t set, const Record *load, uint32_t wave) {
  if (set >= most)
    return set;
  auto [entry, isNew] = successors.try_emplace({uint64_t(set) << 32 | wave, load}, set);
  if (!isNew)
    return entry->second;
  std::vector<Load> loads = sets[set];
  auto same = llvm::find_if(loads, [&](const Load &other) { return other.record == load; });
  uint32_t bit = uint32_t(1) << wave;
  if (same == loads.end())
    loads.push_back({load, bit});
  else if (same->waves & bit)
    return set;
  else
    same->waves |= bit;
  if (sets.size() < most)
    sets.push_back(std::move(loads));
  entry->second = sets.size() < most ? static_cast<uint32_t>(sets.size() - 1) : most;
  return entry->second;
}

bool LoadedCopies::sharesAll(uint32_t set, uint32_t wave) const {
  uint32_t bit = uint32_t(1) << wave;
  return set >= most || llvm::all_of(sets[set], [&](const Load &load) {
           return (load.waves & ~bit) == 0 || load.waves & bit;
         });
}

uint32_t LoadedCopies::otherWave(uint32_t set, uint32_t wave) const {
  if (set < most)
    for (const Load &load : sets[set])
      if (uint32_t others = load.waves & ~(uint32_t(1) << wave))
        return static_cast<uint32_t>(__builtin_ctz(others));
  return wave;
}

bool LoadedCopies::holds(uint32_t set, const Record *record, uint32_t wave) const {
  return set >= most || llvm::any_of(sets[set], [&](const Load &load) {
           return load.record == record && load.waves >> wave & 1;
         });
}

} // namespace wavetile::device::checks
