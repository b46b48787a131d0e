//===- LayoutSupportTest.cpp - Random layouts and plain enumeration -------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayoutTestSupport.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

#include <cstdlib>
#include <iostream>
#include <string>

using namespace llvm;

namespace wavetile::test {

Random seededRandom() {
  const char *given = std::getenv("WAVETILE_TEST_SEED");
  uint64_t seed = given ? std::stoull(given) : std::random_device()();
  std::cerr << "WAVETILE_TEST_SEED=" << seed << " ("
            << testing::UnitTest::GetInstance()->current_test_info()->name() << ")\n";
  return Random(seed);
}

unsigned below(Random &random, unsigned bound) { return random() % bound; }

LinearMap randomMap(Random &random, ArrayRef<unsigned> inputBits, ArrayRef<unsigned> outputBits) {
  LinearMap map(inputBits, outputBits);
  uint64_t all = (uint64_t(1) << map.totalOutputBits()) - 1;
  for (unsigned input = 0; input < map.inputCount(); ++input)
    for (unsigned bit = 0; bit < map.inputBits(input); ++bit)
      map.setColumn(input, bit, random() & all);
  return map;
}

/// A basis of the packed points of `bits` bits in random order, by random row operations.
static std::vector<uint64_t> randomBasis(Random &random, unsigned bits) {
  std::vector<uint64_t> basis;
  for (unsigned bit = 0; bit < bits; ++bit)
    basis.push_back(uint64_t(1) << bit);
  for (unsigned step = 0; bits > 1 && step < bits; ++step) {
    unsigned a = below(random, bits), b = below(random, bits);
    if (a != b)
      basis[a] ^= basis[b];
  }
  std::shuffle(basis.begin(), basis.end(), random);
  return basis;
}

static Coordinates unpack(uint64_t packed, ArrayRef<int64_t> shape) {
  Coordinates point;
  for (int64_t size : shape) {
    unsigned bits = countr_zero(uint64_t(size));
    point.push_back(packed & ((uint64_t(1) << bits) - 1));
    packed >>= bits;
  }
  return point;
}

static unsigned totalAtomBits(ArrayRef<int64_t> shape) {
  unsigned bits = 0;
  for (int64_t size : shape)
    bits += countr_zero(uint64_t(size));
  return bits;
}

static SmallVector<unsigned, 4> randomOrder(Random &random, unsigned rank) {
  SmallVector<unsigned, 4> order;
  for (unsigned dim = 0; dim < rank; ++dim)
    order.push_back(dim);
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

Layout randomRegisters(Random &random, ArrayRef<int64_t> shape, unsigned laneBits,
                       unsigned waveBits) {
  BasisList lists[3];
  unsigned atomBits = totalAtomBits(shape);
  // Dense layouts cover little with each lane bit; half of the time permute coordinate bits only.
  std::vector<uint64_t> columns = randomBasis(random, atomBits);
  if (below(random, 2))
    for (unsigned bit = 0; bit < atomBits; ++bit)
      columns[bit] = uint64_t(1) << bit;
  for (uint64_t column : columns) {
    unsigned to = below(random, 3);
    bool full =
        (to == 1 && lists[1].size() == laneBits) || (to == 2 && lists[2].size() == waveBits);
    lists[full ? 0 : to].push_back(unpack(column, shape));
  }
  // Lanes and waves left over hold copies, at times of other elements than their neighbours.
  while (lists[1].size() < laneBits || lists[2].size() < waveBits) {
    uint64_t column = below(random, 2) ? 0 : random() & ((uint64_t(1) << atomBits) - 1);
    lists[lists[1].size() < laneBits ? 1 : 2].push_back(unpack(column, shape));
  }
  if (below(random, 3) == 0)
    lists[0].push_back(unpack(random() & ((uint64_t(1) << atomBits) - 1), shape));
  for (BasisList &list : lists)
    std::shuffle(list.begin(), list.end(), random);
  return cantFail(
      Layout::fromBases(shape, lists[0], lists[1], lists[2], randomOrder(random, shape.size())));
}

Layout randomLds(Random &random, ArrayRef<int64_t> shape) {
  BasisList offsets;
  for (uint64_t column : randomBasis(random, totalAtomBits(shape)))
    offsets.push_back(unpack(column, shape));
  return cantFail(Layout::ldsFromBases(shape, offsets, 1, {}, randomOrder(random, shape.size())));
}

Coordinates randomShape(Random &random, unsigned rank, int64_t maxElements) {
  Coordinates shape;
  int64_t elements = 1;
  for (unsigned dim = 0; dim < rank; ++dim) {
    int64_t size = (int64_t(1) << below(random, 5)) * (1 + 2 * below(random, 3));
    shape.push_back(elements * size <= maxElements ? size : 1);
    elements *= shape.back();
  }
  std::shuffle(shape.begin(), shape.end(), random);
  return shape;
}

Coordinates xorOfBases(const BasisList &bases, uint64_t bits, unsigned rank) {
  Coordinates result(rank, 0);
  for (unsigned bit = 0; bit < bases.size(); ++bit)
    for (unsigned dim = 0; dim < rank; ++dim)
      if (bits >> bit & 1)
        result[dim] ^= bases[bit][dim];
  return result;
}

void forEachPosition(const Layout &layout, function_ref<void(Position)> visit) {
  for (unsigned wave = 0; wave < layout.waveCount(); ++wave)
    for (unsigned lane = 0; lane < layout.laneCount(); ++lane)
      for (unsigned reg = 0; reg < layout.registerCount(); ++reg)
        visit({reg, lane, wave});
}

void forEachElement(ArrayRef<int64_t> shape, function_ref<void(Coordinates)> visit) {
  Coordinates at(shape.size(), 0);
  while (true) {
    visit(at);
    unsigned dim = shape.size();
    while (dim && ++at[dim - 1] == shape[dim - 1])
      at[--dim] = 0;
    if (dim == 0)
      return;
  }
}

int64_t rowMajorIndex(ArrayRef<int64_t> coordinates, ArrayRef<int64_t> shape) {
  int64_t index = 0;
  for (auto [coordinate, size] : zip_equal(coordinates, shape))
    index = index * size + coordinate;
  return index;
}

/// The generator itself: layouts with copies, with swizzles and with repetition do come up.
TEST(LayoutSupport, RandomLayoutsVary) {
  Random random = seededRandom();
  unsigned replicated = 0, repeated = 0, overlapping = 0;
  for (unsigned trial = 0; trial < 200; ++trial) {
    Layout layout = randomRegisters(random, randomShape(random, 2, 600), 4, 1);
    replicated += layout.isReplicated();
    repeated += layout.repetitionCount() > 1;
    overlapping += !layout.addsRegisters();
  }
  EXPECT_GT(replicated, 20u);
  EXPECT_GT(repeated, 20u);
  EXPECT_GT(overlapping, 20u);
}

} // namespace wavetile::test
