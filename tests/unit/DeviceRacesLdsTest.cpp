//===- DeviceRacesLdsTest.cpp - Races in LDS -------------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pairs of kernels: one with exactly one race, and a twin without.
//
//===----------------------------------------------------------------------===//

#include "DeviceTestSupport.h"

using namespace wavetile::device;
using namespace wavetile::device::test;

namespace {

/// LDS instructions one by one, so that the compiler adds no wait. `own` is the byte offset of the
/// work-item's dword, `other` that of one of another wave; the LDS starts as zeros.
constexpr const char *prelude = R"cl(
#define ITEM __builtin_amdgcn_workitem_id_x()
#define WRITE(at, value) __asm__ volatile("ds_write_b32 %0, %1" :: "v"(at), "v"(value) : "memory")
#define WRITE8(at, value) __asm__ volatile("ds_write_b8 %0, %1" :: "v"(at), "v"(value) : "memory")
#define ADD(at, value) __asm__ volatile("ds_add_u32 %0, %1" :: "v"(at), "v"(value) : "memory")
#define READ(to, at) __asm__ volatile("ds_read_b32 %0, %1" : "=&v"(to) : "v"(at) : "memory")
#define WAIT __asm__ volatile("s_waitcnt lgkmcnt(0)" ::: "memory")
#define WAIT_LOADS __asm__ volatile("s_waitcnt vmcnt(0)" ::: "memory")
#define BARRIER __asm__ volatile("s_barrier" ::: "memory")
#define LOAD_TO_LDS(at, from)                                                                      \
  __asm__ volatile("s_mov_b32 m0, %0\n s_nop 0\n global_load_lds_dword %1, off" ::"s"(at), "v"(from)   \
               : "memory", "m0")
#define LOAD3_TO_LDS(at, from)                                                                     \
  __asm__ volatile("s_mov_b32 m0, %0\n s_nop 0\n global_load_lds_dwordx3 %1, off" ::"s"(at), "v"(from) \
               : "memory", "m0")
kernel void test(global uint *out, global uint *in) {
  local uint lds[512];
  uint base = (uint)(local uint *)lds, size = 4 * __builtin_amdgcn_wavefrontsize();
  uint wave = __builtin_amdgcn_readfirstlane(ITEM / __builtin_amdgcn_wavefrontsize());
  uint own = base + 4 * ITEM, other = base + (4 * ITEM ^ size), value = ITEM + 1, got = 0;
  uint zero = 0;
  WRITE(own, zero);
  WAIT;
  BARRIER;
)cl";
constexpr const char *ending = R"(
  WAIT;
  out[ITEM] = got;
}
)";

std::optional<Fault> run(const std::string &target, const std::string &body) {
  LoadedObject object(target, prelude + body + ending, "cl", "-O2 -cl-std=CL2.0");
  object.checks = llvm::cantFail(CheckOptions::parse("lds-races"));
  std::vector<uint32_t> out(256), in(256, 7);
  unsigned waveSize = object.program->target().waveSize;
  LaunchResult result = object.run(
      "test", {reinterpret_cast<uint64_t>(out.data()), reinterpret_cast<uint64_t>(in.data())},
      {1, 1, 1}, {2 * waveSize, 1, 1});
  return result.fault;
}

void expectSilent(const std::string &target, const std::string &body) {
  std::optional<Fault> fault = run(target, body);
  EXPECT_FALSE(fault) << name(fault->kind).str() << ": " << fault->instruction << ": "
                      << fault->detail << body;
}

void expectRace(const std::string &target, const std::string &body, const std::string &instruction,
                int lane, uint64_t address, const std::string &detail) {
  std::optional<Fault> fault = run(target, body);
  ASSERT_TRUE(fault) << body;
  EXPECT_EQ(fault->kind, FaultKind::LdsRace) << name(fault->kind).str() << fault->detail;
  // gfx11 has other names for the same.
  std::string text = fault->instruction;
  for (const auto &[from, to] :
       {std::pair("_load_b", "_read_b"), std::pair("_store_b", "_write_b")})
    if (size_t at = text.find(from); at != std::string::npos && text.rfind("ds_", 0) == 0)
      text.replace(at, std::string(from).size(), to);
  EXPECT_EQ(text.rfind(instruction, 0), 0u) << text;
  EXPECT_EQ(fault->lane, lane);
  EXPECT_EQ(fault->address, address);
  EXPECT_NE(fault->detail.find(detail), std::string::npos) << fault->detail;
}

class LdsRaces : public testing::TestWithParam<const char *> {
protected:
  uint64_t waveBytes() const { return std::string(GetParam()) == "gfx950" ? 256 : 128; }
};
INSTANTIATE_TEST_SUITE_P(Targets, LdsRaces, testing::Values("gfx950", "gfx1150"),
                         [](const auto &info) { return info.param; });

TEST_P(LdsRaces, ABarrierMustStandBetweenWriteAndRead) {
  expectSilent(GetParam(), "WRITE(own, value); WAIT; BARRIER; READ(got, other);");
  // Wave 1 arrives at the first barrier last, and goes on first.
  expectRace(GetParam(), "WRITE(own, value); WAIT; READ(got, other);", "ds_write_b32", 0, 0,
             "wave 1 read");
}

TEST_P(LdsRaces, ABarrierMustStandBetweenReadAndWrite) {
  expectSilent(GetParam(), "READ(got, other); WAIT; BARRIER; WRITE(own, value);");
  expectRace(GetParam(), "READ(got, other); WAIT; WRITE(own, value);", "ds_read_b32", 0,
             waveBytes(), "wave 1 wrote");
}

TEST_P(LdsRaces, AReadMayBeOutstandingAtABarrier) {
  expectSilent(GetParam(), "READ(got, other); BARRIER; WAIT; BARRIER; WRITE(own, value);");
  expectSilent(GetParam(), "READ(got, own); BARRIER; WRITE(own, value);");
  expectRace(GetParam(), "READ(got, other); BARRIER; WRITE(own, value);", "ds_write_b32", 0, 0,
             "read");
}

TEST_P(LdsRaces, AWriteMustBeOverAtTheBarrier) {
  expectSilent(GetParam(), "WRITE(own, value); WAIT; BARRIER; READ(got, other);");
  expectRace(GetParam(), "WRITE(own, value); BARRIER; READ(got, other);", "ds_read_b32", 0,
             waveBytes(), "wave 1 wrote");
}

TEST_P(LdsRaces, BarriersAreCountedWhereverTheyAre) {
  // Wave 0 passes its extra barrier before, wave 1 after.
  expectSilent(GetParam(), R"(
    if (wave == 0) { BARRIER; WRITE(own, value); WAIT; BARRIER; }
    else { BARRIER; BARRIER; READ(got, other); })");
  expectRace(GetParam(), R"(
    if (wave == 0) { BARRIER; WRITE(own, value); WAIT; BARRIER; }
    else { BARRIER; READ(got, other); WAIT; BARRIER; })",
             "ds_read_b32", 0, 0, "wave 0 wrote");
}

TEST_P(LdsRaces, NeighbouringBytesAreApart) {
  expectSilent(GetParam(), "WRITE8(base + 2 * (4 * (ITEM % 16)) + wave, value);");
  expectRace(GetParam(), "WRITE8(base + 4 * (ITEM % 16) + 1, value);", "ds_write_b8", 0, 1,
             "wave 1 wrote");
}

TEST_P(LdsRaces, AWriteThatChangesNothingIsNone) {
  expectSilent(GetParam(), "uint same = 5; WRITE(base, same);");
  expectRace(GetParam(), "uint one = wave + 1; WRITE(base, one);", "ds_write_b32", 0, 0,
             "wave 1 wrote");
}

TEST_P(LdsRaces, OfLanesThatWriteOneAddressTheLastCounts) {
  // All waves leave what the first one did, if not at every lane: Triton's reductions of rows that
  // several waves have copies of.
  expectSilent(GetParam(),
               "uint at = base + 4 * (ITEM / 8 % 4), lane = ITEM % 32; WRITE(at, lane);");
  expectRace(GetParam(),
             "uint at = base + 4 * (ITEM / 8 % 4), lane = ITEM % 32 == 31 ? wave + 77 : ITEM % 32;"
             "WRITE(at, lane);",
             "ds_write_b32", 24, 12, "wave 1 wrote");
}

TEST_P(LdsRaces, AtomicsDoNotRaceWithEachOther) {
  expectSilent(GetParam(), "ADD(base, value);");
  expectRace(GetParam(), "if (wave == 0) ADD(base, value); else WRITE(base, value);", "ds_add_u32",
             0, 0, "wave 1 wrote");
}

TEST(LdsRacesGfx950, LoadsToLdsNeedTheirOwnWaitAndABarrier) {
  // Wave 0 loads, wave 1 reads.
  expectSilent("gfx950", R"(
    if (wave == 0) { LOAD_TO_LDS(base, in + ITEM); WAIT_LOADS; }
    BARRIER; READ(got, base + 4 * (ITEM % 64));)");
  expectRace("gfx950", R"(
    if (wave == 0) { LOAD_TO_LDS(base, in + ITEM); }
    BARRIER; if (wave == 1) READ(got, base + 4 * (ITEM % 64)); WAIT_LOADS;)",
             "ds_read_b32", 0, 0, "wave 0 wrote");
}

TEST(LdsRacesGfx950, LoadsToLdsAreInNoOrderWithTheWavesOwnReads) {
  expectSilent("gfx950", R"(
    if (wave == 0) { READ(got, own); WAIT; LOAD_TO_LDS(base, in + ITEM); WAIT_LOADS; })");
  expectRace("gfx950", R"(
    if (wave == 0) { READ(got, own); LOAD_TO_LDS(base, in + ITEM); WAIT_LOADS; })",
             "global_load_lds_dword", 0, 0, "the same wave read");
}

/// Each lane writes 12 bytes of 16.
TEST(LdsRacesGfx950, LoadsOfThreeDwordsToLdsLeaveTheFourth) {
  expectSilent("gfx950", R"(
    if (wave == 0) { READ(got, base + 16 * ITEM + 12); LOAD3_TO_LDS(base, in + 3 * ITEM);
                     WAIT_LOADS; })");
  expectRace("gfx950", R"(
    if (wave == 0) { READ(got, base + 16 * 63 + 8); LOAD3_TO_LDS(base, in + 3 * ITEM);
                     WAIT_LOADS; })",
             "global_load_lds_dwordx3", 63, 16 * 63 + 8, "the same wave read");
}

} // namespace
