//===- LayoutTestSupport.h - Random layouts and plain enumeration ---------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the layout tests compare with: elements computed bit by bit from bases, and loops over every
// position. Random layouts come from a seed that is printed; WAVETILE_TEST_SEED repeats one.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_TESTS_UNIT_LAYOUTTESTSUPPORT_H
#define WAVETILE_TESTS_UNIT_LAYOUTTESTSUPPORT_H

#include "ir/Layout.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <gtest/gtest.h>

#include <map>
#include <ostream>
#include <random>
#include <vector>

namespace wavetile {

inline std::ostream &operator<<(std::ostream &os, const Layout &layout) {
  return os << layout.str();
}

namespace test {

using Random = std::mt19937_64;
using BasisList = llvm::SmallVector<Coordinates, 8>;

/// A generator for one test; prints what repeats it.
Random seededRandom();
unsigned below(Random &random, unsigned bound);

/// A map with random columns, of any rank.
LinearMap randomMap(Random &random, llvm::ArrayRef<unsigned> inputBits,
                    llvm::ArrayRef<unsigned> outputBits);

/// A register layout with random bases that cover the tile, some inputs replicating.
Layout randomRegisters(Random &random, llvm::ArrayRef<int64_t> shape, unsigned laneBits,
                       unsigned waveBits);
/// An LDS layout with random bases.
Layout randomLds(Random &random, llvm::ArrayRef<int64_t> shape);
/// Sizes with odd parts among them; at most `maxElements` elements.
Coordinates randomShape(Random &random, unsigned rank, int64_t maxElements);

/// XOR of the bases of the bits set.
Coordinates xorOfBases(const BasisList &bases, uint64_t bits, unsigned rank);

void forEachPosition(const Layout &layout, llvm::function_ref<void(Position)> visit);
void forEachElement(llvm::ArrayRef<int64_t> shape, llvm::function_ref<void(Coordinates)> visit);
int64_t rowMajorIndex(llvm::ArrayRef<int64_t> coordinates, llvm::ArrayRef<int64_t> shape);

/// The value, failing the test if there is an error instead.
inline Layout cantFail(llvm::Expected<Layout> layout) {
  if (!layout)
    ADD_FAILURE() << llvm::toString(layout.takeError());
  return llvm::cantFail(std::move(layout));
}

} // namespace test
} // namespace wavetile

#endif // WAVETILE_TESTS_UNIT_LAYOUTTESTSUPPORT_H
