//===- DeviceCountersTest.cpp - Counts of instructions and accesses -------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels written by hand, whose counts follow from their text. The set-up of each is a scalar
// load, a wait and a shift, its end an s_endpgm.
//
//===----------------------------------------------------------------------===//

#include "DeviceCountersSupport.h"

#include "runtime/emulator/Occupancy.h"

namespace wavetile::device::test {
namespace {

class Counters : public testing::TestWithParam<const char *> {
protected:
  std::string target = GetParam();
  bool isGfx9 = test::isGfx9(target);
  unsigned lanes = isGfx9 ? 64 : 32;
};
INSTANTIATE_TEST_SUITE_P(Targets, Counters, testing::ValuesIn(targetNames),
                         [](const auto &info) { return std::string(info.param); });

TEST_P(Counters, StraightCodeIsExecutedAsTheListingHasIt) {
  ProfiledKernel kernel(target,
                        "v_mov_b32 v2, 1.0\n"
                        "v_exp_f32 v3, v2\n"
                        "s_add_u32 s8, s4, 4\n"
                        "global_load_dword v4, v1, s[4:5]\nvmwait(0)\n"
                        "global_store_dword v1, v4, s[4:5] offset:2048\n"
                        "ds_write_b32 v1, v4\n"
                        "ds_read_b32 v5, v1\n"
                        "s_barrier\ns_nop 3\n",
                        {.waves = 3, .workgroups = 5});
  const ProfileReport &report = *kernel.report;
  for (const ProfiledInstruction &instruction : report.instructions()) {
    EXPECT_EQ(instruction.counts.executed, 15u)
        << kernel.object.program->disassemble(instruction.address);
    EXPECT_EQ(instruction.counts.activeLanes, 15u * lanes);
  }
  EXPECT_EQ(report.instructions().size(), 14u);
  EXPECT_EQ(report.executed(), 14u * 15u);
  using enum InstructionKind;
  EXPECT_EQ(report.executed(VectorAlu), 2u * 15u);
  EXPECT_EQ(report.executed(Transcendental), 15u);
  EXPECT_EQ(report.executed(ScalarAlu), 15u);
  EXPECT_EQ(report.executed(ScalarMemory), 15u);
  EXPECT_EQ(report.executed(VectorLoad), 15u);
  EXPECT_EQ(report.executed(VectorStore), 15u);
  EXPECT_EQ(report.executed(LdsLoad), 15u);
  EXPECT_EQ(report.executed(LdsStore), 15u);
  EXPECT_EQ(report.executed(Wait), 2u * 15u);
  EXPECT_EQ(report.executed(Barrier), 15u);
  EXPECT_EQ(report.executed(Internal), 2u * 15u); // s_nop and s_endpgm.
  EXPECT_EQ(report.executed(Branch), 0u);
}

TEST_P(Counters, LoopsAreCountedByIteration) {
  ProfiledKernel kernel(target,
                        "s_mov_b32 s8, 7\nloop:\nv_add_f32 v2, v2, v2\ns_sub_u32 s8, s8, 1\n"
                        "s_cmp_lg_u32 s8, 0\ns_cbranch_scc1 loop\n",
                        {.waves = 2});
  EXPECT_EQ(kernel.of("v_add_f32").executed, 14u);
  EXPECT_EQ(kernel.of("s_cbranch_scc1").executed, 14u);
  EXPECT_EQ(kernel.of("s_mov_b32").executed, 2u);
  EXPECT_EQ(kernel.report->executed(InstructionKind::Branch), 14u);
  EXPECT_EQ(kernel.report->executed(), 2u * (4 + 1 + 7 * 4));
}

TEST_P(Counters, CodeThatIsJumpedOverIsListedWithNoCounts) {
  ProfiledKernel kernel(target, "s_branch over\nv_sqrt_f32 v2, v2\nover:\n");
  EXPECT_EQ(kernel.of("v_sqrt_f32").executed, 0u);
  EXPECT_EQ(kernel.report->executed(InstructionKind::Transcendental), 0u);
}

TEST_P(Counters, ActiveLanesAreThoseOfExec) {
  ProfiledKernel kernel(target, "s_mov_{b} {exec}, 0x16\nv_mov_b32 v2, 2.0\n");
  EXPECT_EQ(kernel.of("v_mov_b32").activeLanes, 3u);
  EXPECT_EQ(kernel.of("v_lshlrev_b32").activeLanes, lanes);
  EXPECT_EQ(kernel.report->activeVectorLanes, lanes + 3);
  EXPECT_EQ(kernel.report->vectorLanes, 2 * lanes);
}

TEST_P(Counters, BytesAndLinesOfGlobalAccesses) {
  ProfiledKernel kernel(target,
                        "v_lshlrev_b32 v2, 7, v0\nv_lshlrev_b32 v3, 4, v0\n"
                        "global_load_dword v4, v1, s[4:5]\n"            // A dword a lane.
                        "global_load_dword v5, v1, s[4:5] offset:126\n" // Across lines.
                        "global_load_dword v6, v2, s[4:5]\n"            // A line a lane.
                        "global_load_dwordx4 v[8:11], v3, s[4:5]\n"     // All of several lines.
                        "global_load_dwordx2 v[12:13], v2, s[4:5] offset:124\n" // Two lines a lane.
                        "v_mov_b32 v7, 0\n"
                        "global_load_dword v14, v7, s[4:5] offset:4\n" // The same dword.
                        "vmwait(0)\n"
                        "global_store_byte v0, v4, s[4:5] offset:1\n");
  uint64_t l = lanes;
  std::string dword = isGfx9 ? "global_load_dword " : "global_load_b32 ";
  auto expect = [&](llvm::StringRef text, uint64_t bytes, uint64_t lines, uint64_t unaligned) {
    const InstructionCounts &counts = kernel.of(text);
    EXPECT_EQ(counts.globalBytes, bytes) << text.str();
    EXPECT_EQ(counts.lines, lines) << text.str();
    EXPECT_EQ(counts.unalignedLanes, unaligned) << text.str();
    EXPECT_EQ(counts.accessingLanes, l) << text.str();
  };
  expect(dword + "v4", 4 * l, 4 * l / 128, 0);
  expect(dword + "v5", 4 * l, 4 * l / 128 + 1, l);
  expect(dword + "v6", 4 * l, l, 0);
  expect(isGfx9 ? "global_load_dwordx4" : "global_load_b128", 16 * l, 16 * l / 128, 0);
  expect(isGfx9 ? "global_load_dwordx2" : "global_load_b64", 8 * l, l + 1, 0);
  expect(dword + "v14", 4 * l, 1, 0);
  expect(isGfx9 ? "store_byte" : "store_b8", l, 1, 0);
  EXPECT_EQ(kernel.report->global.loadedBytes, (4 + 4 + 4 + 16 + 8 + 4) * l);
  EXPECT_EQ(kernel.report->global.storedBytes, l);
  EXPECT_EQ(kernel.report->global.storedLines, 1u);
  EXPECT_EQ(kernel.report->scalar.loadedBytes, 16u);
  EXPECT_EQ(kernel.report->unalignedLanes, l);
  EXPECT_EQ(kernel.result.counters.bytesLoaded, kernel.report->global.loadedBytes + 16);
  EXPECT_EQ(kernel.result.counters.bytesStored, l);
}

TEST_P(Counters, LanesThatAreOffAskForNothing) {
  ProfiledKernel kernel(target, "s_mov_{b} {exec}, 0x40000005\n"
                                "global_load_dword v4, v1, s[4:5]\n" // Lanes 0, 2 and 30.
                                "v_lshlrev_b32 v2, 7, v0\n"
                                "ds_write_b32 v2, v0\n");
  const InstructionCounts &load = kernel.of("global_load");
  EXPECT_EQ(load.globalBytes, 12u);
  EXPECT_EQ(load.accessingLanes, 3u);
  EXPECT_EQ(load.lines, 1u);
  const InstructionCounts &write = kernel.of(isGfx9 ? "ds_write" : "ds_store");
  EXPECT_EQ(write.ldsBytes, 12u);
  // All in bank 0, all in one phase.
  EXPECT_EQ(write.ldsCycles, 3u);
  EXPECT_EQ(write.ldsConflictCycles, 2u);
}

TEST_P(Counters, BuffersCountWhatIsInTheirRange) {
  std::string word3 = isGfx9 ? "0x27000" : "0x31027000";
  ProfiledKernel kernel(target, "s_mov_b32 s8, s4\ns_mov_b32 s9, s5\ns_mov_b32 s10, 40\n"
                                "s_mov_b32 s11, " +
                                    word3 + "\n" +
                                    (isGfx9 ? "buffer_load_dword" : "buffer_load_b32") +
                                    " v4, v1, s[8:11], 0 offen\n");
  const InstructionCounts &load = kernel.of("buffer_load");
  EXPECT_EQ(load.activeLanes, lanes);
  EXPECT_EQ(load.accessingLanes, 10u);
  EXPECT_EQ(load.globalBytes, 40u);
  EXPECT_EQ(load.lines, 1u);
  EXPECT_EQ(kernel.result.counters.bytesLoaded, 16u + 40u);
}

TEST_P(Counters, ScratchIsLaidOutByDwords) {
  ProfiledKernel kernel(target,
                        "v_mov_b32 v8, 0\nv_mov_b32 v9, 0\n" +
                            std::string(isGfx9 ? "scratch_store_dwordx2" : "scratch_store_b64") +
                            " off, v[8:9], off offset:16\n");
  const InstructionCounts &store = kernel.of("scratch_store");
  EXPECT_EQ(store.scratchBytes, 8u * lanes);
  EXPECT_EQ(store.globalBytes, 0u);
  // Two dwords, each of all lanes side by side.
  EXPECT_EQ(store.lines, 2u * lanes * 4 / 128);
  EXPECT_EQ(kernel.report->executed(InstructionKind::ScratchStore), 1u);
  EXPECT_EQ(kernel.report->scratch.storedBytes, 8u * lanes);
  EXPECT_EQ(kernel.report->scratch.storedLines, 2u * lanes * 4 / 128);
  EXPECT_EQ(kernel.result.counters.bytesStored, 0u);
}

TEST_P(Counters, FlatCountsByWhereItsLanesPoint) {
  // Lane 0 to global memory, the others to LDS.
  ProfiledKernel kernel(target, "v_mov_b32 v2, s4\nv_mov_b32 v3, s5\nv_cmp_eq_u32 {vcc}, 0, v0\n"
                                "s_mov_b32 s8, 0x00010000\nv_mov_b32 v4, s8\n"
                                "v_cndmask_b32 v2, v1, v2, {vcc}\nv_cndmask_b32 v3, v4, v3, {vcc}\n"
                                "flat_load_dword v5, v[2:3]\n");
  const InstructionCounts &load = kernel.of("flat_load");
  EXPECT_EQ(load.executed, 1u);
  EXPECT_EQ(load.globalBytes, 4u);
  EXPECT_EQ(load.ldsBytes, 4u * (lanes - 1));
  EXPECT_EQ(load.lines, 1u);
  EXPECT_EQ(load.accessingLanes, lanes);
  EXPECT_EQ(kernel.report->flat, 1u);
  EXPECT_EQ(kernel.report->executed(InstructionKind::VectorLoad), 1u);
  EXPECT_EQ(kernel.result.counters.bytesLoaded, 16u + 4u);
}

TEST_P(Counters, WaitsAreCountedByTheCountersThatTheyName) {
  ProfiledKernel kernel(target, isGfx9 ? "s_waitcnt vmcnt(3)\ns_waitcnt vmcnt(0) lgkmcnt(2)\n"
                                         "s_waitcnt expcnt(0)\n"
                                       : "s_waitcnt vmcnt(3)\ns_waitcnt vmcnt(0) lgkmcnt(2)\n"
                                         "s_waitcnt_vscnt null, 0x0\n");
  using checks::Counter;
  auto waits = [&](Counter counter) {
    return kernel.report->waits[static_cast<unsigned>(counter)];
  };
  EXPECT_EQ(waits(Counter::Load), 2u);
  EXPECT_EQ(waits(Counter::Lds), 2u); // One in the set-up.
  EXPECT_EQ(waits(Counter::Store), isGfx9 ? 0u : 1u);
  EXPECT_EQ(kernel.report->executed(InstructionKind::Wait), 4u);
}

TEST(DeviceCounters, MatrixOperationsFollowTheShape) {
  struct Product {
    const char *target, *text;
    uint64_t operations;
  };
  const Product products[] = {
      {"gfx942", "v_mfma_f32_16x16x16_f16 v[8:11], v[2:3], v[4:5], 0", 2 * 16 * 16 * 16},
      {"gfx942", "v_mfma_f32_32x32x4_2b_f16 v[8:39], v[2:3], v[4:5], 0", 2 * 32 * 32 * 4 * 2},
      {"gfx942", "v_mfma_f32_4x4x4_16b_f16 v[8:11], v[2:3], v[4:5], 0", 2 * 4 * 4 * 4 * 16},
      {"gfx942", "v_mfma_f64_16x16x4_f64 v[8:15], v[2:3], v[4:5], 0", 2 * 16 * 16 * 4},
      {"gfx942", "v_smfmac_f32_16x16x32_f16 v[8:11], v[2:3], v[4:7], v1", 2 * 16 * 16 * 32},
      {"gfx950", "v_mfma_f32_32x32x16_bf16 v[8:23], v[40:43], v[44:47], 0", 2 * 32 * 32 * 16},
      {"gfx950", "v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[40:47], v[48:55], 0", 2 * 16 * 16 * 128},
      {"gfx1150", "v_wmma_f32_16x16x16_f16 v[8:15], v[40:47], v[48:55], v[8:15]", 2 * 16 * 16 * 16},
  };
  for (const Product &product : products) {
    ProfiledKernel kernel(product.target, product.text, {.waves = 2});
    EXPECT_EQ(kernel.report->executed(InstructionKind::Matrix), 2u) << product.text;
    EXPECT_EQ(kernel.report->matrixOperations, 2 * product.operations) << product.text;
    EXPECT_EQ(kernel.result.counters[InstructionClass::Matrix], 2u);
  }
}

TEST(DeviceCounters, InstructionsOfSeveralRecordsCountOnce) {
  // Each half reads what the other one writes: three records.
  ProfiledKernel dual("gfx1150", "v_dual_mov_b32 v2, v3 :: v_dual_mov_b32 v3, v2\n");
  EXPECT_EQ(dual.of("v_dual_mov_b32").executed, 1u);
  EXPECT_EQ(dual.report->executed(InstructionKind::VectorAlu), 2u); // And that of the set-up.
  EXPECT_EQ(dual.result.counters[InstructionClass::VectorAlu], 2u);
  ProfiledKernel compare("gfx942", "v_cmpx_lt_u32 s[8:9], 5, v0\nv_mov_b32 v2, v0\n");
  EXPECT_EQ(compare.of("v_cmpx").activeLanes, 64u);
  EXPECT_EQ(compare.of("v_mov_b32").activeLanes, 58u);
  EXPECT_EQ(compare.result.counters[InstructionClass::VectorAlu], 3u);
}

TEST(DeviceCounters, LoadsToLdsReadGlobalMemory) {
  ProfiledKernel kernel("gfx950", "s_mov_b32 m0, 0\nv_lshlrev_b32 v2, 4, v0\n"
                                  "global_load_lds_dwordx4 v2, s[4:5]\n"
                                  "s_waitcnt vmcnt(0)\n");
  const InstructionCounts &load = kernel.of("global_load_lds");
  EXPECT_EQ(load.globalBytes, 1024u);
  EXPECT_EQ(load.lines, 8u);
  EXPECT_EQ(load.ldsBytes, 0u);
  EXPECT_EQ(kernel.report->executed(InstructionKind::LoadToLds), 1u);
  EXPECT_EQ(kernel.result.counters.bytesLoaded, 16u + 1024u);
}

TEST_P(Counters, ClassesThatAreAlwaysCountedAreSumsOfKinds) {
  ProfiledKernel kernel(target,
                        "v_rcp_f32 v2, v1\ns_mov_b32 s8, 0\ns_cmp_eq_u32 s8, 0\n"
                        "s_cbranch_scc0 after\nafter:\nglobal_atomic_add v1, v0, s[4:5]\n"
                        "ds_write_b32 v1, v0\nds_read_b32 v2, v1\nv_nop\ns_nop 0\n"
                        "s_barrier\nvmwait(0)\n",
                        {.waves = 2, .workgroups = 3});
  const device::Counters &classes = kernel.result.counters;
  const ProfileReport &report = *kernel.report;
  using enum InstructionKind;
  auto sum = [&](std::initializer_list<InstructionKind> kinds) {
    uint64_t total = 0;
    for (InstructionKind kind : kinds)
      total += report.executed(kind);
    return total;
  };
  EXPECT_EQ(classes[InstructionClass::VectorAlu], sum({VectorAlu}));
  EXPECT_EQ(classes[InstructionClass::Transcendental], sum({Transcendental}));
  EXPECT_EQ(classes[InstructionClass::ScalarAlu], sum({ScalarAlu}));
  EXPECT_EQ(classes[InstructionClass::ScalarMemory], sum({ScalarMemory}));
  EXPECT_EQ(classes[InstructionClass::Branch], sum({Branch}));
  EXPECT_EQ(classes[InstructionClass::GlobalLoad], sum({VectorLoad, LoadToLds}));
  EXPECT_EQ(classes[InstructionClass::GlobalStore], sum({VectorStore}));
  EXPECT_EQ(classes[InstructionClass::GlobalAtomic], sum({VectorAtomic}));
  EXPECT_EQ(classes[InstructionClass::Lds], sum({LdsLoad, LdsStore, LdsAtomic, LdsPermute}));
  EXPECT_EQ(classes[InstructionClass::Wait], sum({Wait, Barrier, Message, CacheControl, Internal}));
  EXPECT_EQ(classes.bytesLoaded, report.global.loadedBytes + report.scalar.loadedBytes);
  EXPECT_EQ(classes.bytesStored, report.global.storedBytes);
  EXPECT_EQ(report.executed(VectorAtomic), 6u);
  EXPECT_EQ(report.global.storedBytes, 6u * 4 * lanes);
  EXPECT_EQ(report.executed(VectorAlu), 2u * 6); // v_nop is one.
}

TEST_P(Counters, ThreadsAddUp) {
  std::string body = "s_mov_b32 s8, 9\nloop:\nglobal_load_dword v4, v1, s[4:5]\nvmwait(0)\n"
                     "ds_write_b32 v1, v4\ns_sub_u32 s8, s8, 1\ns_cmp_lg_u32 s8, 0\n"
                     "s_cbranch_scc1 loop\n";
  ProfiledKernel one(target, body, {.waves = 3, .workgroups = 411, .threads = 1});
  ProfiledKernel many(target, body, {.waves = 3, .workgroups = 411, .threads = 4});
  EXPECT_EQ(one.of("global_load").executed, 9u * 3 * 411);
  ASSERT_EQ(one.report->instructions().size(), many.report->instructions().size());
  for (size_t i = 0; i < one.report->instructions().size(); ++i) {
    const InstructionCounts &a = one.report->instructions()[i].counts,
                            &b = many.report->instructions()[i].counts;
    EXPECT_EQ(a.executed, b.executed);
    EXPECT_EQ(a.activeLanes, b.activeLanes);
    EXPECT_EQ(a.lines, b.lines);
    EXPECT_EQ(a.ldsCycles, b.ldsCycles);
  }
}

TEST_P(Counters, NothingIsCountedUnlessAsked) {
  LoadedObject object(target, kernelText(target, "v_mov_b32 v2, v0\n"), "s", "");
  std::vector<uint32_t> words(4);
  uint64_t address = reinterpret_cast<uint64_t>(words.data());
  LaunchResult result = object.run("test", {address, address}, {1, 1, 1}, {lanes, 1, 1});
  EXPECT_FALSE(result.fault);
  EXPECT_EQ(result.profile, nullptr);
}

// Waves of a SIMD by registers: what LLVM's getOccupancyWithNumVGPRs says.
TEST(DeviceCounters, OccupancyIsLimitedByTheScarcestResource) {
  auto fit = [](const char *target, uint32_t registers, uint32_t lds, unsigned workItems) {
    KernelDescriptor kernel;
    const TargetDescription &row = *findTarget(target);
    kernel.vgprCount = registers;
    kernel.groupSegmentSize = lds;
    kernel.wave32 = row.waveSize == 32;
    return occupancy(kernel, row, workItems, 0);
  };
  struct Registers {
    uint32_t registers;
    double waves;
  };
  for (const char *target : {"gfx942", "gfx950"})
    for (Registers row : {Registers{64, 8},
                          {72, 7},
                          {80, 6},
                          {96, 5},
                          {128, 4},
                          {168, 3},
                          {256, 2},
                          {257, 1},
                          {512, 1}}) {
      Occupancy result = fit(target, row.registers, 0, 64);
      EXPECT_EQ(result.wavesPerSimd(), row.waves) << target << " " << row.registers;
      EXPECT_EQ(result.limit(),
                row.waves == 8 ? OccupancyLimit::WaveSlots : OccupancyLimit::VectorRegisters);
    }
  for (Registers row : {Registers{64, 16}, {80, 12}, {96, 10}, {128, 8}, {168, 5}, {256, 4}})
    EXPECT_EQ(fit("gfx1150", row.registers, 0, 32).wavesPerSimd(), row.waves) << row.registers;

  EXPECT_EQ(fit("gfx950", 32, 53760, 256).workgroups, 3u);
  // 43 granules of 1280 bytes, of which there are 128.
  EXPECT_EQ(fit("gfx950", 32, 54000, 256).ldsBytes, 55040u);
  EXPECT_EQ(fit("gfx950", 32, 54000, 256).workgroups, 2u);
  EXPECT_EQ(fit("gfx942", 32, 20000, 256).workgroups, 3u);
  EXPECT_EQ(fit("gfx942", 32, 33000, 256).workgroups, 1u);
  EXPECT_EQ(fit("gfx942", 32, 33000, 256).limit(), OccupancyLimit::Lds);
  // A pair of compute units has the LDS of both.
  EXPECT_EQ(fit("gfx1150", 32, 65536, 256).workgroups, 2u);
  EXPECT_EQ(fit("gfx942", 32, 65537, 256).workgroups, 0u);
  // 3 waves a SIMD do not make 4 workgroups of 4 waves.
  EXPECT_EQ(fit("gfx942", 168, 0, 1024).workgroups, 0u);
  EXPECT_EQ(fit("gfx942", 128, 0, 1024).workgroups, 1u);
}

} // namespace
} // namespace wavetile::device::test
