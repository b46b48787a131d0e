//===- DeviceMatrixHostIsaTest.cpp - The same products on every host ------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each matrix instruction runs with each build of the instructions on the same registers, special
// values among them, with either way of rounding, and must leave the same bits.
//
//===----------------------------------------------------------------------===//

#include "DeviceTestSupport.h"

#include "runtime/emulator/Instruction.h"

#include "llvm/ADT/StringRef.h"

#include <random>

namespace wavetile::device::test {
namespace {

constexpr uint32_t rowsOfTest = 240;

/// The registers after one instruction on random ones.
std::vector<uint32_t> registersAfter(const Instruction &row, const Record &record,
                                     uint32_t waveSize, MatrixRounding rounding, unsigned seed) {
  constexpr uint32_t words = rowsOfTest * 64;
  BareWave wave(waveSize, false, words / waveSize);
  uint32_t *begin = wave.registers();
  std::mt19937 random(seed);
  bool isSpecial = seed % 4 == 3;
  for (uint32_t i = 0; i < words; ++i) {
    // Near 1 as f32, f16, bf16 and bytes alike, so that sums round; sometimes anything.
    begin[i] = (static_cast<uint32_t>(random()) & 0x87878787) | 0x38383838;
    if (isSpecial && random() % 64 == 0)
      begin[i] = static_cast<uint32_t>(random()) | (random() % 2 ? 0x7f807c7c : 0);
  }
  wave->bases[1] = begin;
  wave->setLaneMask(scalar::Exec, random());
  Workgroup workgroup;
  workgroup.matrixRounding = rounding;
  wave->workgroup = &workgroup;
  row.direct(*wave, &record);
  return {begin, begin + words};
}

Record recordFor(const Instruction &row, std::mt19937 &random) {
  Record record;
  auto vector = [](uint32_t index) { return Operand(OperandKind::Vector, index); };
  record.sources[0] = vector(0), record.sources[1] = vector(40), record.sources[2] = vector(80);
  record.sources[3] = vector(160), record.maskDestination = vector(161);
  record.destination = vector(120);
  if (row.matrix.choosesFormats)
    record.immediate = matrixcontrol::pack(random() % 5, 0, random() % 5);
  bool isWave =
      llvm::StringRef(row.names).contains("wmma") || llvm::StringRef(row.names).contains("swmmac");
  record.modifiers =
      static_cast<uint32_t>(random()) &
      (isWave ? modifier::clamp | modifier::high(2) | modifier::negate(0) | modifier::negateHigh(1)
              : modifier::high(0) | modifier::highForHigh(1));
  return record;
}

TEST(DeviceMatrixHostIsa, AllBuildsGiveTheSameBits) {
  const InstructionTables *const *all = allInstructionTables();
  ASSERT_NE(all[0], nullptr);
  unsigned compared = 0;
  for (size_t t = 0; t < all[0]->count; ++t)
    for (size_t i = 0; i < all[0]->begin[t].count; ++i) {
      const Instruction &row = all[0]->begin[t].begin[i];
      if (!row.isMatrixProduct())
        continue;
      llvm::StringRef name = row.names;
      bool isCdna = name.contains("fma");
      for (uint32_t waveSize : {32u, 64u}) {
        if (isCdna && waveSize == 32)
          continue;
        for (MatrixRounding rounding : {MatrixRounding::FusedMultiplyAdd, MatrixRounding::Hardware})
          for (unsigned seed = 0; seed < 4; ++seed) {
            std::mt19937 random(seed);
            Record record = recordFor(row, random);
            std::vector<uint32_t> best = registersAfter(row, record, waveSize, rounding, seed);
            for (size_t other = 1; all[other]; ++other) {
              const Instruction &same = all[other]->begin[t].begin[i];
              ASSERT_STREQ(same.names, row.names);
              EXPECT_EQ(registersAfter(same, record, waveSize, rounding, seed), best)
                  << row.names << " on " << all[other]->hostInstructionSet << ", seed " << seed;
              ++compared;
            }
          }
      }
    }
  if (all[1])
    EXPECT_GT(compared, 800u);
}

} // namespace
} // namespace wavetile::device::test
