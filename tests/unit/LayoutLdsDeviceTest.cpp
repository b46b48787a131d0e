//===- LayoutLdsDeviceTest.cpp - Layout algebra and device agree on banks -===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler computes the cost of an LDS layout from its bases; the software device counts the
// cycles of each access from its lanes' addresses. Both go by runtime/LdsBankTable.h, and must come
// to the same for any layout.
//
//===----------------------------------------------------------------------===//

#include "LayoutTestSupport.h"
#include "ir/LdsBanks.h"
#include "runtime/LdsBankTable.h"
#include "runtime/emulator/counters/LdsCost.h"

using namespace llvm;

namespace wavetile::test {
namespace {

/// The row of the table, for the compiler.
LdsAccess accessOf(LdsGeneration generation, LdsOperation operation, unsigned bits) {
  LdsPhases row = ldsPhases(generation, operation, bits);
  LdsAccess access{bits, row.banks, {}};
  access.phaseLanes.append(row.phaseLanes, row.phaseLanes + row.phaseDimension());
  return access;
}

/// What the device counts when a wave moves all its vectors.
device::LdsCost countByDevice(const device::LdsCostModel &model, const LdsPlacement &placement,
                              unsigned wave, unsigned vectorElements, unsigned elementBytes,
                              LdsOperation operation) {
  device::LdsCost total;
  unsigned lanes = placement.registerLayout().laneCount();
  for (const auto &vector : placement.vectors(vectorElements)) {
    uint32_t offsets[64];
    for (unsigned lane = 0; lane < lanes; ++lane)
      offsets[lane] = uint32_t(placement.storage({vector[0], lane, wave}) * elementBytes);
    device::MemoryAccess access;
    access.space = device::AccessSpace::Lds;
    access.kind =
        operation == LdsOperation::Read ? device::AccessKind::Load : device::AccessKind::Store;
    access.bytes = vectorElements * elementBytes;
    access.offsets = offsets;
    access.active = lanes == 64 ? ~uint64_t(0) : (uint64_t(1) << lanes) - 1;
    device::LdsCost cost = model.of(access);
    total.cycles += cost.cycles;
    total.minimum += cost.minimum;
  }
  return total;
}

TEST(LdsBanksOfTheDevice, AgreeWithTheAlgebra) {
  Random random = seededRandom();
  unsigned withConflicts = 0, without = 0;
  for (unsigned trial = 0; trial < 400; ++trial) {
    auto generation = LdsGeneration(below(random, 4));
    auto operation = LdsOperation(below(random, 2));
    bool isRdna = generation == LdsGeneration::Rdna3 || generation == LdsGeneration::Rdna4;
    unsigned laneBits = isRdna ? 5 : 6;
    Coordinates shape = randomShape(random, 2, 6000);
    Layout lds = randomLds(random, shape);
    if (trial % 2)
      lds = lds.withPadding({int64_t(1) << below(random, 8), below(random, 9)});
    LdsPlacement placement(randomRegisters(random, shape, laneBits, 1), lds);
    unsigned elementBytes = 1u << below(random, 3);
    unsigned vectorElements = std::min<unsigned>(placement.contiguousElements(), 16 / elementBytes);
    unsigned bits = std::max(32u, vectorElements * elementBytes * 8);
    LdsCost expected =
        ldsCost(placement, vectorElements, elementBytes, accessOf(generation, operation, bits));
    device::LdsCostModel model(generation, 1u << laneBits);
    device::LdsCost slowest;
    for (unsigned wave = 0; wave < placement.registerLayout().waveCount(); ++wave) {
      device::LdsCost counted =
          countByDevice(model, placement, wave, vectorElements, elementBytes, operation);
      if (counted.cycles >= slowest.cycles)
        slowest = counted;
    }
    ASSERT_EQ(slowest.cycles, expected.cycles)
        << placement.registerLayout().str() << " in " << lds.str() << ", " << bits << " bits";
    ASSERT_EQ(slowest.minimum, expected.minimum);
    (expected.conflicts() ? withConflicts : without) += 1;
  }
  EXPECT_GT(withConflicts, 20u);
  EXPECT_GT(without, 20u);
}

} // namespace
} // namespace wavetile::test
