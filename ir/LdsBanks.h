//===- LdsBanks.h - Bank conflicts of LDS layouts ---------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What it costs a wave to move a tile between its registers and LDS, counted by enumerating the
// words that each group of lanes touches, and the choice of a swizzle that costs least. How a GPU
// groups lanes and how many banks it has is an argument: the target table owns it.
//
// The model: LDS has banks of 4-byte words, word w in bank w % banks. A wave's access is served in
// phases, each for some of the lanes. A phase takes as many cycles as the busiest bank has
// different words to serve; lanes that read the same word share it.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_IR_LDSBANKS_H
#define WAVETILE_IR_LDSBANKS_H

#include "ir/Layout.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <cassert>
#include <cstdint>

namespace wavetile {

/// How the lanes of one wave share the LDS when they all access `bits` bits.
///
/// The lanes of one phase are a coset of the F2 span of `phaseLanes`: lanes a and b are served
/// together if and only if a ^ b is in the span. Two lanes of one phase conflict if they touch
/// different 4-byte words of one bank.
struct LdsAccess {
  unsigned bits;
  unsigned banks; // of 4 bytes each
  llvm::SmallVector<unsigned, 6> phaseLanes;

  unsigned lanesPerPhase() const { return 1u << phaseLanes.size(); }
};

/// The entry of `accesses` for `bits` bits a lane; narrower accesses than a word behave as words.
inline const LdsAccess &ldsAccess(llvm::ArrayRef<LdsAccess> accesses, unsigned bits) {
  unsigned wanted = std::max(bits, 32u);
  const LdsAccess *found =
      llvm::find_if(accesses, [&](const LdsAccess &access) { return access.bits == wanted; });
  assert(found != accesses.end() && "the target has no LDS access of this width");
  return *found;
}

/// The cost for one wave, the slowest of the workgroup, of moving a tile once.
struct LdsCost {
  /// Instructions, and elements that each moves for a lane.
  unsigned accesses = 0, vectorElements = 0;
  /// Cycles, and what they would be without conflicts.
  unsigned cycles = 0, minimum = 0;

  unsigned conflicts() const { return cycles - minimum; }
  bool operator==(const LdsCost &) const = default;
};

/// The cost of moving a tile in vectors of `vectorElements` elements, which divides the placement's
/// contiguousElements(). `access` is the entry for that width.
LdsCost ldsCost(const LdsPlacement &placement, unsigned vectorElements, unsigned elementBytes,
                const LdsAccess &access);

/// The same with the widest vectors that the placement and `accesses` have.
LdsCost ldsCost(const LdsPlacement &placement, unsigned elementBytes,
                llvm::ArrayRef<LdsAccess> accesses);

/// A register layout through which a tile in LDS is written or read, with the GPU's accesses for
/// that.
struct LdsUse {
  Layout registers;
  llvm::ArrayRef<LdsAccess> accesses;
};

/// An LDS layout with what each use of it costs.
struct LdsChoice {
  Layout layout;
  llvm::SmallVector<LdsCost, 2> costs;

  bool isConflictFree() const;
};

/// The LDS layout of a tile, plain or swizzled, elements in `order`, whose uses take the fewest
/// cycles. Among equals the one with the fewest instructions, then the simplest swizzle. It is
/// conflict-free, with the widest vectors of each use, if any swizzle of Layout::swizzled is.
LdsChoice chooseSwizzle(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<unsigned> order,
                        unsigned elementBytes, llvm::ArrayRef<LdsUse> uses, unsigned buffers = 1);

} // namespace wavetile

#endif // WAVETILE_IR_LDSBANKS_H
