//===- DeviceHostIsaTest.cpp - The same bits on every host ----------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The instructions are built for several instruction sets of the host. Each vector instruction runs
// with each build on the same registers, special values among them, and must leave the same bits.
//
//===----------------------------------------------------------------------===//

#include "DeviceTestSupport.h"

#include <algorithm>
#include <cfenv>
#include <random>
#include <string>

namespace wavetile::device::test {
namespace {

constexpr unsigned words = 32 * 64; ///< In the vector registers.

/// A wave in some mode with random registers.
struct RandomWave : BareWave {
  explicit RandomWave(uint32_t waveSize, uint64_t seed)
      : BareWave(waveSize, waveSize == 64, words / waveSize) {
    static constexpr uint32_t special[] = {0,          0x80000000, 0x3f800000, 0x7f800000,
                                           0xff800000, 0x7fc00001, 0x7f800001, 1,
                                           0x807fffff, 0x7f7fffff, 0x7c003c00, 0xfc007e01,
                                           0x00018001, 0xffffffff, 0x4f000000, 0xc2fc0000};
    std::mt19937_64 random(seed);
    for (unsigned i = 0; i < words; ++i) {
      uint32_t &word = registers()[i];
      word = static_cast<uint32_t>(random());
      if (random() % 3 == 0)
        word = special[random() % std::size(special)];
      else if (random() % 3 == 0)
        word = (word & 0x807fffff) | static_cast<uint32_t>(120 + random() % 20) << 23;
    }
    Wave &wave = **this;
    wave.bases[1] = registers();
    // Every other wave in some mode of rounding, denormals, clamp and NaN.
    wave.mode.set(random() % 2 ? Mode::usualBits : static_cast<uint32_t>(random()) & 0x8003ff);
    wave.setLaneMask(scalar::Exec, random());
    wave.setLaneMask(scalar::Vcc, random());
  }
};

Record recordFor(const Instruction &row, std::mt19937_64 &random, bool modified) {
  Record record;
  record.destination = Operand(OperandKind::Vector, 24);
  record.maskDestination = Operand(OperandKind::Scalar, 20);
  record.variant = static_cast<uint8_t>(random());
  for (unsigned i = 0; i < 4; ++i) {
    Type type = row.signature.sources[i];
    if (type == Type::Mask)
      record.sources[i] = Operand(OperandKind::Scalar, scalar::Vcc);
    else if (type != Type::None)
      record.sources[i] = Operand(OperandKind::Vector, 2 * static_cast<uint32_t>(random() % 10));
  }
  if (modified)
    record.modifiers = static_cast<uint32_t>(random()) & 0xffff;
  return record;
}

/// Which word differs first, and how.
std::string firstDifference(const uint32_t *a, const uint32_t *b) {
  for (unsigned i = 0; i < words; ++i)
    if (a[i] != b[i])
      return ": word " + std::to_string(i) + " is " + std::to_string(a[i]) + " and " +
             std::to_string(b[i]);
  return "";
}

/// Runs one row of two builds on the same registers, which must then be the same.
void compareRows(const Instruction &a, const Instruction &b, unsigned round, size_t row) {
  std::mt19937_64 random(round * 1000 + row);
  bool modified = round % 2;
  Record record = recordFor(a, random, modified);
  uint32_t waveSize = round % 4 < 2 ? 64 : 32;
  RandomWave first(waveSize, round + 100 * row), second(waveSize, round + 100 * row);
  (modified ? a.prepared : a.direct)(*first, &record);
  (modified ? b.prepared : b.direct)(*second, &record);
  EXPECT_TRUE(std::equal(first.registers(), first.registers() + words, second.registers()))
      << a.names << ", round " << round << firstDifference(first.registers(), second.registers());
  EXPECT_TRUE(std::equal(std::begin(first->scalars), std::end(first->scalars), second->scalars))
      << a.names << ", round " << round;
  // Whatever it set for its own mode.
  EXPECT_EQ(std::fegetround(), FE_TONEAREST) << a.names << ", round " << round;
}

/// Compares all vector instructions with lanes of their own; returns how often.
unsigned compareBuilds(const InstructionTables &one, const InstructionTables &other) {
  unsigned compared = 0;
  EXPECT_EQ(one.count, other.count);
  for (size_t t = 0; t < one.count; ++t) {
    EXPECT_EQ(one.begin[t].count, other.begin[t].count);
    for (size_t i = 0; i < one.begin[t].count; ++i) {
      const Instruction &a = one.begin[t].begin[i], &b = other.begin[t].begin[i];
      EXPECT_STREQ(a.names, b.names);
      if (!a.prepared)
        continue;
      for (unsigned round = 0; round < 8; ++round)
        compareRows(a, b, round, i);
      compared += 8;
    }
  }
  return compared;
}

TEST(DeviceHostIsa, PlainIsAlwaysThereAndLast) {
  const InstructionTables *const *all = allInstructionTables();
  ASSERT_NE(all[0], nullptr);
  while (all[1])
    ++all;
  EXPECT_STREQ(all[0]->hostInstructionSet, "plain");
}

TEST(DeviceHostIsa, AllBuildsGiveTheSameBits) {
  const InstructionTables *const *all = allInstructionTables();
  for (const InstructionTables *const *other = all + 1; *other; ++other) {
    SCOPED_TRACE(std::string(all[0]->hostInstructionSet) + " and " + (*other)->hostInstructionSet);
    ASSERT_STRNE(all[0]->hostInstructionSet, (*other)->hostInstructionSet);
    EXPECT_GT(compareBuilds(*all[0], **other), 3000u);
  }
}

} // namespace
} // namespace wavetile::device::test
