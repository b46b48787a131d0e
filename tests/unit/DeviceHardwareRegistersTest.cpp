//===- DeviceHardwareRegistersTest.cpp - Fields of MODE -------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// s_setreg, s_getreg, s_round_mode and s_denorm_mode against arithmetic on a copy of the register,
// after the pseudo-code of AMD's documents: value << offset under the mask of the field.
//
//===----------------------------------------------------------------------===//

#include "DeviceTestSupport.h"

#include "runtime/emulator/Target.h"

#include <random>

namespace wavetile::device::test {
namespace {

/// The bits of MODE that say how floats are computed: FP_ROUND, FP_DENORM, FP16_OVFL, and but on
/// gfx12 DX10_CLAMP and IEEE.
uint32_t floatBits(const TargetDescription &target) {
  uint32_t both = target.encoding == Encoding::Gfx12 ? 0 : 3u << 8;
  return 0xff | both | 1u << 23;
}
struct Field {
  unsigned offset, size;
  uint32_t mask() const { return static_cast<uint32_t>((uint64_t(1) << size) - 1) << offset; }
  std::string text() const {
    return "hwreg(HW_REG_MODE, " + std::to_string(offset) + ", " + std::to_string(size) + ")";
  }
};
Field randomField(std::mt19937_64 &random) {
  unsigned offset = static_cast<unsigned>(random() % 32);
  return {offset, 1 + static_cast<unsigned>(random() % (32 - offset))};
}

/// A write and a read of one field each; the value is in s0 to s15, what was read in s16 to s31.
struct Access {
  Field written, read;
  bool isImmediate;
  uint32_t value;
};
constexpr unsigned accesses = 16, programs = 18;

TEST(DeviceHardwareRegisters, FieldsOfModeAreWrittenAndRead) {
  std::mt19937_64 random(4);
  for (const TargetDescription &target : targets()) {
    std::vector<std::vector<Access>> lists(programs);
    std::vector<std::string> texts;
    for (std::vector<Access> &list : lists) {
      std::string text = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 32), 0x3f0\n";
      for (unsigned i = 0; i < accesses; ++i) {
        Access access{randomField(random), randomField(random), i % 2 == 0,
                      static_cast<uint32_t>(random())};
        if (i >= 12) // Of all bits.
          access.written = {0, 32}, access.value = i == 12 ? 0 : i == 13 ? ~0u : access.value;
        // No bit of MODE that says anything else.
        access.value &= floatBits(target) >> access.written.offset;
        text += access.isImmediate
                    ? "s_setreg_imm32_b32 " + access.written.text() + ", " +
                          std::to_string(access.value) + "\n"
                    : "s_setreg_b32 " + access.written.text() + ", s" + std::to_string(i) + "\n";
        text += "s_getreg_b32 s" + std::to_string(16 + i) + ", " + access.read.text() + "\n";
        list.push_back(access);
      }
      texts.push_back(text);
    }
    std::vector<std::vector<uint8_t>> codes = assemble(target.name, texts);
    for (unsigned i = 0; i < programs; ++i) {
      WaveUnderTest test(target.name, codes[i]);
      for (unsigned round = 0; round < 3; ++round) {
        for (unsigned k = 0; k < accesses; ++k)
          if (!lists[i][k].isImmediate) {
            lists[i][k].value =
                static_cast<uint32_t>(random()) & (floatBits(target) >> lists[i][k].written.offset);
            test.sgpr(k) =
                lists[i][k].value | (lists[i][k].written.size < 32 ? ~0u << lists[i][k].written.size
                                                                   : 0); // Bits that do not count.
          }
        test.restart();
        test.run();
        uint32_t mode = 0x3f0;
        for (unsigned k = 0; k < accesses; ++k) {
          const auto &[written, read, isImmediate, value] = lists[i][k];
          mode = (mode & ~written.mask()) | (value << written.offset & written.mask());
          uint32_t known = floatBits(target) >> read.offset & (read.mask() >> read.offset);
          ASSERT_EQ(test.sgpr(16 + k) & known, mode >> read.offset & known)
              << target.name << " " << read.text() << " after " << written.text() << " = " << value;
        }
      }
    }
  }
}

TEST(DeviceHardwareRegisters, RoundingAndDenormalModes) {
  std::mt19937_64 random(5);
  std::string text;
  for (unsigned i = 0; i < 16; ++i)
    for (const char *name : {"s_round_mode", "s_denorm_mode"}) {
      unsigned to = 20 + 2 * i + (name[2] == 'd');
      text += std::string("s_setreg_b32 hwreg(HW_REG_MODE, 0, 32), s0\n") + name + " " +
              std::to_string(i) + "\ns_getreg_b32 s" + std::to_string(to) +
              ", hwreg(HW_REG_MODE, 0, 24)\n";
    }
  for (const TargetDescription &target : targets()) {
    if (!target.isRdna())
      continue;
    WaveUnderTest test(target.name, text);
    for (unsigned round = 0; round < 20; ++round) {
      uint32_t before = static_cast<uint32_t>(random()) & floatBits(target);
      test.sgpr(0) = before;
      test.restart();
      test.run();
      for (unsigned i = 0; i < 16; ++i) {
        ASSERT_EQ(test.sgpr(20 + 2 * i), (before & ~0xfu) | i) << target.name;
        ASSERT_EQ(test.sgpr(21 + 2 * i), (before & ~0xf0u) | i << 4) << target.name;
      }
    }
  }
}

} // namespace
} // namespace wavetile::device::test
