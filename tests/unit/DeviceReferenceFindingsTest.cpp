//===- DeviceReferenceFindingsTest.cpp - What random instructions found ---===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instructions on which the device and the reference disagreed (DeviceReferenceTest.cpp), each with
// the value that AMD's documents give it.
//
//===----------------------------------------------------------------------===//

#include "DeviceTestSupport.h"

#include "runtime/emulator/Disassembler.h"

#include "llvm/ADT/STLExtras.h"

namespace wavetile::device::test {
namespace {

/// A condition as a source is one bit, also where 64 are read.
TEST(DeviceReferenceFindings, ConditionsAreOneBitOf64) {
  for (bool isZero : {false, true}) {
    WaveUnderTest test("gfx942", "s_nor_b64 s[2:3], src_vccz, 0\n"
                                 "s_mov_b64 s[4:5], src_execz\n"
                                 "s_cmp_lg_u32 0, 1\n"
                                 "s_mov_b64 s[6:7], src_scc\n");
    test.wave->setLaneMask(scalar::Vcc, isZero ? 0 : 2);
    for (unsigned i = 2; i < 8; ++i)
      test.sgpr(i) = 0x55555555;
    test.run();
    EXPECT_EQ(test.sgpr(2), isZero ? 0xfffffffeu : 0xffffffffu);
    EXPECT_EQ(test.sgpr(3), 0xffffffffu);
    EXPECT_EQ(test.sgpr(4), 0u);
    EXPECT_EQ(test.sgpr(5), 0u);
    EXPECT_EQ(test.sgpr(6), 1u);
    EXPECT_EQ(test.sgpr(7), 0u);
  }
}
/// As a mask it is lane 0's bit.
TEST(DeviceReferenceFindings, ConditionsAreMasksOfOneLane) {
  for (bool isZero : {false, true}) {
    WaveUnderTest test("gfx942", "v_cndmask_b32_e64 v0, v1, v2, src_vccz");
    test.wave->setLaneMask(scalar::Vcc, isZero ? 0 : 2);
    for (unsigned lane = 0; lane < test.size(); ++lane)
      test.vgpr(1, lane) = 1, test.vgpr(2, lane) = 2;
    test.run();
    for (unsigned lane = 0; lane < test.size(); ++lane)
      EXPECT_EQ(test.vgpr(0, lane), lane == 0 && isZero ? 2u : 1u) << lane;
  }
}

/// op_sel picks the half of a scalar source too, for which assembly has no name:
/// v_cndmask_b16 v1.l, s5, v2.l, vcc_lo.
TEST(DeviceReferenceFindings, OpSelPicksTheHalfOfAScalar) {
  for (uint32_t half : {0u, 1u}) {
    std::string first = std::to_string(0xd65d0001 | half << 11);
    WaveUnderTest test("gfx1150", ".long " + first + "\n.long 0x01aa0405");
    test.sgpr(5) = 0x7c00fc00;
    test.wave->setLaneMask(scalar::Vcc, 0);
    test.vgpr(1, 0) = 0xabcd1234;
    test.run();
    EXPECT_EQ(test.vgpr(1, 0), half ? 0xabcd7c00u : 0xabcdfc00u);
  }
}

/// The product with 65535 is not rounded before it becomes an integer: 32799.4995 is 32799.
TEST(DeviceReferenceFindings, NormalisedNumbersAreRoundedOnce) {
  for (const char *target : {"gfx942", "gfx1201"}) {
    WaveUnderTest test(target, "v_cvt_norm_u16_f16 v0, 0x3801\n");
    test.run();
    EXPECT_EQ(test.vgpr(0, 0) & 0xffff, 32799u) << target;
  }
}

/// Instructions with op_sel leave the other half of their destination alone, also on gfx9.
TEST(DeviceReferenceFindings, SignedAdditionKeepsTheOtherHalf) {
  WaveUnderTest test("gfx942", "v_add_i16 v0, v1, v2\nv_sub_i16 v3, v1, v2 op_sel:[0,0,1]\n");
  test.vgpr(0, 0) = test.vgpr(3, 0) = 0xabcd1234;
  test.vgpr(1, 0) = 5;
  test.vgpr(2, 0) = 7;
  test.run();
  EXPECT_EQ(test.vgpr(0, 0), 0xabcd000cu);
  EXPECT_EQ(test.vgpr(3, 0), 0xfffe1234u);
}

/// What was written to null does not come back, also where the destination is a source.
TEST(DeviceReferenceFindings, NullIsZeroAsAnOldDestination) {
  for (const char *target : {"gfx1100", "gfx1201"}) {
    WaveUnderTest test(target, "s_mov_b32 null, 0x7fffffff\n"
                               "s_addk_i32 null, 1\n" // Would overflow.
                               "s_cselect_b32 s2, 1, 0\n");
    test.sgpr(2) = 7;
    test.run();
    EXPECT_EQ(test.sgpr(2), 0u) << target;
  }
}

/// LLVM takes the constant of v_fmamk for the code of an inline one: 240 for 0.5, and crashes on
/// the last of these.
TEST(DeviceReferenceFindings, ConstantsOfFmamkAreNoCodes) {
  auto disassembler = cantFail(Disassembler::create("gfx1201"));
  for (uint32_t constant = 0; constant < 300; ++constant) {
    uint32_t words[] = {0x58040501, constant}; // v_fmamk_f32 v2, v1, constant, v2
    llvm::ArrayRef<uint8_t> bytes(reinterpret_cast<const uint8_t *>(words), sizeof(words));
    llvm::MCInst inst;
    uint64_t size = 0;
    ASSERT_TRUE(disassembler->decode(bytes, 0, inst, size));
    EXPECT_EQ(size, 8u);
    EXPECT_TRUE(llvm::any_of(inst, [&](const llvm::MCOperand &operand) {
      return operand.isImm() && operand.getImm() == constant;
    })) << constant;
    words[0] = 0x6f746100; // v_fmamk_f16 with operands that are none.
    disassembler->decode(bytes, 0, inst, size);
  }
}

} // namespace
} // namespace wavetile::device::test
