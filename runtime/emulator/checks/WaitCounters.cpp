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

bool WaitValues::isNone() const {
  return std::all_of(most, most + counterCount, [](uint8_t value) { return value == any; });
}

WaitValues WaitValues::of(llvm::StringRef mnemonic, uint32_t immediate, Encoding encoding) {
  WaitValues values;
  bool isGfx9 = encoding == Encoding::Gfx9;
  auto wait = [&](Counter counter, uint32_t value) {
    values.most[static_cast<unsigned>(counter)] = static_cast<uint8_t>(value);
  };
  if (mnemonic == "s_waitcnt") {
    wait(Counter::Load,
         isGfx9 ? (immediate & 15) | (immediate >> 14 & 3) << 4 : immediate >> 10 & 63);
    wait(Counter::Lds, isGfx9 ? immediate >> 8 & 15 : immediate >> 4 & 63);
  } else if (mnemonic == "s_waitcnt_vmcnt" || mnemonic == "s_wait_loadcnt") {
    wait(Counter::Load, immediate & 63);
  } else if (mnemonic == "s_waitcnt_vscnt" || mnemonic == "s_wait_storecnt") {
    wait(Counter::Store, immediate & 63);
  } else if (mnemonic == "s_waitcnt_lgkmcnt" || mnemonic == "s_wait_dscnt") {
    wait(Counter::Lds, immediate & 63);
  } else if (mnemonic == "s_wait_kmcnt") {
    wait(Counter::Scalar, immediate & 31);
  } else if (mnemonic == "s_wait_loadcnt_dscnt") {
    wait(Counter::Load, immediate >> 8 & 63);
    wait(Counter::Lds, immediate & 63);
  } else if (mnemonic == "s_wait_storecnt_dscnt") {
    wait(Counter::Store, immediate >> 8 & 63);
    wait(Counter::Lds, immediate & 63);
  } else if (mnemonic == "s_wait_idle") {
    for (Counter counter : {Counter::Load, Counter::Store, Counter::Lds, Counter::Scalar})
      wait(counter, 0);
  }
  return values;
}

llvm::StringRef name(Counter counter, Encoding encoding) {
  bool isGfx12 = encoding == Encoding::Gfx12;
  switch (counter) {
  case Counter::Load:
    return isGfx12 ? "loadcnt" : "vmcnt";
  case Counter::Store:
    return isGfx12 ? "storecnt" : "vscnt";
  case Counter::Lds:
    return isGfx12 ? "dscnt" : "lgkmcnt";
  case Counter::Scalar:
    return "kmcnt";
  case Counter::None:
    break;
  }
  return "";
}

void WaitCounter::grow() {
  std::vector<PendingOperation> larger(std::max<size_t>(8, 2 * ring.size()));
  for (uint64_t i = head; i != tail; ++i)
    larger[i & (larger.size() - 1)] = std::move(at(i));
  ring = std::move(larger);
  slots = ring.data();
  mask = ring.size() - 1;
}

} // namespace wavetile::device::checks
