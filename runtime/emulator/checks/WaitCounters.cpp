//===- WaitCounters.cpp - Outstanding memory operations of a wave ---------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/checks/WaitCounters.h"

#include <algorithm>

namespace wavetile::device::checks {

const WaitModel &WaitModel::of(const TargetDescription &target) {
  // vmcnt, vscnt and lgkmcnt are called load, store and LDS counter here.
  static constexpr WaitModel gfx9 = {
      Counter::Load, Counter::Load, Counter::Lds, Counter::Lds, {63, 63, 15, 15}};
  static constexpr WaitModel gfx11 = {
      Counter::Load, Counter::Store, Counter::Lds, Counter::Lds, {63, 63, 63, 63}};
  static constexpr WaitModel gfx12 = {
      Counter::Load, Counter::Store, Counter::Lds, Counter::Scalar, {63, 63, 63, 31}};
  switch (target.encoding) {
  case Encoding::Gfx9:
    return gfx9;
  case Encoding::Gfx12:
    return gfx12;
  case Encoding::Gfx11:
    break;
  }
  return gfx11;
}

void WaitCounter::grow() {
  std::vector<PendingOperation> larger(std::max<size_t>(8, 2 * ring.size()));
  for (uint64_t i = head; i != tail; ++i)
    larger[i & (larger.size() - 1)] = std::move(at(i));
  ring = std::move(larger);
}

} // namespace wavetile::device::checks
