//===- DeviceRacesGlobalTest.cpp - Races in global memory ------------------===//
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

constexpr const char *prelude = R"cl(
#define GROUP __builtin_amdgcn_workgroup_id_x()
#define ITEM __builtin_amdgcn_workitem_id_x()
#define WAVE __builtin_amdgcn_readfirstlane(ITEM / __builtin_amdgcn_wavefrontsize())
#define LOAD(flag, order) __opencl_atomic_load(flag, __ATOMIC_##order, 2)
#define STORE(flag, value, order) __opencl_atomic_store(flag, value, __ATOMIC_##order, 2)
#define ADD(flag, value, order) __opencl_atomic_fetch_add(flag, value, __ATOMIC_##order, 2)
#define BARRIER                                                                                    \
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");                                           \
  __builtin_amdgcn_s_barrier();                                                                    \
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup")
kernel void test(global uint *data, global atomic_int *flags, global uint *out) {
)cl";

class GlobalRaces : public testing::TestWithParam<const char *> {
protected:
  static constexpr unsigned groups = 5;

  /// 1024 words of zeros as data, five workgroups of two waves.
  std::optional<Fault> run(const std::string &body) {
    LoadedObject object(GetParam(), prelude + body + "\n}", "cl", "-O2 -cl-std=CL2.0");
    object.checks = llvm::cantFail(CheckOptions::parse("global-races"));
    data.assign(1024, 0);
    std::vector<uint32_t> flags(1024), out(1024);
    LaunchResult result = object.run("test",
                                     {reinterpret_cast<uint64_t>(data.data()),
                                      reinterpret_cast<uint64_t>(flags.data()),
                                      reinterpret_cast<uint64_t>(out.data())},
                                     {groups, 1, 1}, {2 * object.program->target().waveSize, 1, 1});
    return result.fault;
  }
  void expectSilent(const std::string &body) {
    std::optional<Fault> fault = run(body);
    EXPECT_FALSE(fault) << name(fault->kind).str() << ": " << fault->instruction << ": "
                        << fault->detail << body;
  }
  /// A race upon data[index], in this workgroup.
  void expectRace(const std::string &body, unsigned index, unsigned group,
                  const std::string &detail) {
    std::optional<Fault> fault = run(body);
    ASSERT_TRUE(fault) << body;
    EXPECT_EQ(fault->kind, FaultKind::GlobalRace) << name(fault->kind).str() << fault->detail;
    EXPECT_EQ(fault->address, reinterpret_cast<uint64_t>(&data[index])) << fault->instruction;
    EXPECT_EQ(fault->workgroup[0], group);
    EXPECT_NE(fault->detail.find(detail), std::string::npos) << fault->detail;
  }

  std::vector<uint32_t> data;
};
INSTANTIATE_TEST_SUITE_P(Targets, GlobalRaces, testing::Values("gfx950", "gfx1150"),
                         [](const auto &info) { return info.param; });

TEST_P(GlobalRaces, WritesOfTwoWorkgroups) {
  expectSilent("if (ITEM == 0) data[GROUP] = 1;");
  expectSilent("if (ITEM == 0) data[7] = 3;");
  expectRace("if (ITEM == 0) data[7] = GROUP + 1;", 7, 1, "wave 0 of workgroup (0, 0, 0) writes");
}

TEST_P(GlobalRaces, AReadOfWhatAnotherWorkgroupWrites) {
  expectSilent("if (ITEM == 0) { if (GROUP == 1) data[3] = 1; else out[GROUP] = data[4]; }");
  expectRace("if (ITEM == 0) { if (GROUP == 1) data[3] = 1; else out[GROUP] = data[3]; }", 3, 1,
             "workgroup (0, 0, 0) reads");
  expectRace("if (ITEM == 0) { if (GROUP == 0) data[3] = 1; else out[GROUP] = data[3]; }", 3, 1,
             "workgroup (0, 0, 0) writes");
}

TEST_P(GlobalRaces, NeighbouringShortsAreApart) {
  expectSilent("if (ITEM == 0) ((global ushort *)data)[GROUP] = 1;");
  expectRace("if (ITEM == 0) ((global ushort *)data)[GROUP / 2] = GROUP + 1;", 0, 1, "writes");
}

/// Whose registers have something in their upper halves, which is not stored.
TEST_P(GlobalRaces, OfShortsInARowEachCounts) {
  const std::string store = R"cl(
    __asm__ volatile("" : "+v"(value));
    if (WAVE == 0) ((global ushort *)data)[ITEM] = (ushort)value;)cl";
  expectSilent("uint value = 0xabcd0000 + (GROUP << 16);" + store);
  expectRace("uint value = ITEM & 1 ? GROUP + 1 : 0;" + store, 0, 1,
             "wave 0 of workgroup (0, 0, 0) writes");
}

TEST_P(GlobalRaces, WavesOfAWorkgroupNeedABarrier) {
  expectSilent("if (GROUP == 0) { data[ITEM] = ITEM + 1; BARRIER; out[ITEM] = data[ITEM ^ "
               "__builtin_amdgcn_wavefrontsize()]; }");
  expectRace(
      "if (GROUP == 0 && ITEM % 32 == 0) { if (WAVE == 0) data[9] = 1; else out[0] = data[9]; }", 9,
      0, "wave 0 of workgroup (0, 0, 0) writes");
}

TEST_P(GlobalRaces, AFlagOrdersWhatItIsReleasedAfter) {
  const char *consumer = R"(
    if (ITEM == 0 && GROUP > 0) {
      while (LOAD(&flags[0], ACQUIRE) == 0)
        ;
      out[GROUP] = data[5];
    })";
  expectSilent(
      std::string("if (ITEM == 0 && GROUP == 0) { data[5] = 1; STORE(&flags[0], 1, RELEASE); }") +
      consumer);
  // The store of the flag does not wait for that of the data.
  expectRace(
      std::string("if (ITEM == 0 && GROUP == 0) { data[5] = 1; STORE(&flags[0], 1, RELAXED); }") +
          consumer,
      5, 1, "writes");
  // The reader may find in its cache what was there before.
  std::string careless = consumer;
  careless.replace(careless.find("ACQUIRE"), 7, "RELAXED");
  std::optional<Fault> fault =
      run("if (ITEM == 0 && GROUP == 0) { data[5] = 1; STORE(&flags[0], 1, RELEASE); }" + careless);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::GlobalRace) << fault->detail;
  EXPECT_EQ(fault->workgroup[0], 1u);
  EXPECT_NE(fault->detail.find("has not invalidated its caches"), std::string::npos)
      << fault->detail;
  // The flag comes first.
  expectRace(
      std::string("if (ITEM == 0 && GROUP == 0) { STORE(&flags[0], 1, RELEASE); data[5] = 1; }") +
          consumer,
      5, 1, "writes");
  // Nobody looks at the flag.
  expectRace("if (ITEM == 0) { if (GROUP == 0) { data[5] = 1; STORE(&flags[0], 1, RELEASE); }"
             " else out[GROUP] = data[5]; }",
             5, 1, "writes");
}

TEST_P(GlobalRaces, TheLastWorkgroupMayReadWhatTheOthersWrote) {
  const char *last = R"(
      if (before == 4)
        for (uint i = 0; i < 5; ++i)
          out[i] = data[i];
    })";
  expectSilent(
      std::string("if (ITEM == 0) { data[GROUP] = 1; int before = ADD(&flags[0], 1, ACQ_REL);") +
      last);
  expectRace(
      std::string("if (ITEM == 0) { data[GROUP] = 1; int before = ADD(&flags[0], 1, RELAXED);") +
          last,
      0, 4, "no wait between");
}

TEST_P(GlobalRaces, AllWorkgroupsMeet) {
  const char *neighbour = "out[GROUP * 128 + ITEM] = data[(GROUP + 1) % 5 * 128 + ITEM];";
  expectSilent(std::string(R"(
    data[GROUP * 128 + ITEM] = ITEM + 1;
    BARRIER;
    if (ITEM == 0) {
      ADD(&flags[0], 1, ACQ_REL);
      while (LOAD(&flags[0], ACQUIRE) < 5)
        ;
    }
    BARRIER;)") +
               neighbour);
  // Without the wait for the others the first one reads what the second is going to write.
  expectRace(std::string("data[GROUP * 128 + ITEM] = ITEM + 1; BARRIER;"
                         "if (ITEM == 0) ADD(&flags[0], 1, ACQ_REL); BARRIER;") +
                 neighbour,
             128, 1, "workgroup (0, 0, 0) reads");
}

TEST_P(GlobalRaces, AtomicsDoNotRaceWithEachOtherOrWithReads) {
  expectSilent(
      "ADD((global atomic_int *)&data[ITEM % 3], 1, RELAXED); out[GROUP * 128 + ITEM] = data[1];");
}

TEST_P(GlobalRaces, CopiesOfAnElementMayBeLoadedLate) {
  // Both waves load what the first one stores in place.
  const char *load = "uint at = ITEM % 32, x = data[at];";
  expectSilent(std::string(load) + "if (GROUP == 0) if (WAVE == 0 && ITEM < 32) data[at] = x + 1;");
  // Late copies may be lost, but must not decide what is stored.
  expectRace(std::string(load) + "if (GROUP == 0 && ITEM % __builtin_amdgcn_wavefrontsize() < 32) "
                                 "data[WAVE == 0 ? at : at + 32] = x + 1;",
             0, 0, "wave 0 of workgroup (0, 0, 0) writes");
  // Another wave that loads before the store, by an instruction that the storing wave has not.
  expectRace("if (GROUP == 0 && ITEM % __builtin_amdgcn_wavefrontsize() < 32) { uint at = ITEM % "
             "32; if (WAVE == 0) out[at] = "
             "data[at]; else data[at] = 1; }",
             0, 0, "wave 0 of workgroup (0, 0, 0) reads");
}

TEST_P(GlobalRaces, TheScalarCacheIsOlderThanWhatIsStored) {
  const std::string store = R"cl(
    if (GROUP == 0 && WAVE == 0) {
      data[0] = 1;
      __builtin_amdgcn_s_waitcnt(0);
)cl";
  const std::string invalidate = R"cl(__asm__ volatile("s_dcache_inv" ::: "memory");)cl";
  const std::string load = R"cl(
      ulong got, base = (ulong)__builtin_amdgcn_readfirstlane((ulong)data >> 32) << 32 |
                        (uint)__builtin_amdgcn_readfirstlane((ulong)data);
      __asm__ volatile("s_load_dwordx2 %0, %1, 0x0\n s_waitcnt lgkmcnt(0)"
                       : "=s"(got) : "s"(base) : "memory");
)cl";
  const std::string use = "out[0] = (uint)got; }", useOfTheOther = "out[0] = (uint)(got >> 32); }";
  expectSilent(store + invalidate + load + use);
  expectSilent(store + load + useOfTheOther);
  std::optional<Fault> fault = run(store + load + use);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::GlobalRace);
  EXPECT_EQ(fault->lane, 0);
  EXPECT_NE(fault->detail.find("no s_dcache_inv is between"), std::string::npos) << fault->detail;
}

TEST_P(GlobalRaces, LanesOfOneStoreThatDisagree) {
  expectSilent("if (GROUP == 0 && WAVE == 0) data[ITEM / 2] = ITEM / 2 + 1;");
  expectRace("if (GROUP == 0 && WAVE == 0) data[ITEM / 2] = ITEM + 1;", 0, 0, "lanes 0 and 1");
}

/// One workgroup zeroes, the others add once its flag is up. \p policy: of the stores of zeros.
std::optional<Fault> splitK(const std::string &policy) {
  LoadedObject object("gfx950",
                      std::string(prelude) + R"cl(
    if (GROUP == 0) {
      __asm__ volatile("global_store_dword %0, %1, off )cl" +
                          policy +
                          R"cl(" :: "v"(data + ITEM), "v"(0) : "memory");
      __asm__ volatile("s_waitcnt vmcnt(0)\n s_barrier" ::: "memory");
      if (ITEM == 0)
        __asm__ volatile("global_store_dword %0, %1, off sc1" :: "v"(flags), "v"(1) : "memory");
    } else {
      uint seen;
      do
        __asm__ volatile("global_load_dword %0, %1, off sc1\n s_waitcnt vmcnt(0)"
                     : "=&v"(seen) : "v"(flags) : "memory");
      while (seen == 0);
      ADD((global atomic_int *)&data[ITEM], 1, RELAXED);
    }
  })cl",
                      "cl", "-O2 -cl-std=CL2.0");
  object.checks = llvm::cantFail(CheckOptions::parse("all"));
  std::vector<uint32_t> data(128, 77), flags(1), out(1);
  LaunchResult result =
      object.run("test",
                 {reinterpret_cast<uint64_t>(data.data()), reinterpret_cast<uint64_t>(flags.data()),
                  reinterpret_cast<uint64_t>(out.data())},
                 {9, 1, 1}, {128, 1, 1});
  EXPECT_TRUE(result.fault || data == std::vector<uint32_t>(128, 8));
  return result.fault;
}

TEST(GlobalRacesGfx950, SplitK) {
  std::optional<Fault> fault = splitK("sc0 sc1");
  EXPECT_FALSE(fault) << fault->detail;
  // The zeros may still be in the L2 cache of the first workgroup's compute units.
  fault = splitK("");
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::GlobalRace);
  EXPECT_EQ(fault->workgroup[0], 1u);
  EXPECT_NE(fault->instruction.find("global_atomic_add"), std::string::npos) << fault->instruction;
  EXPECT_NE(fault->detail.find("did not write its caches back"), std::string::npos)
      << fault->detail;
}

/// Where a device has several L2 caches, what one workgroup stores and tells of must be written
/// back for others to see it.
class WriteBacks : public GlobalRaces {
protected:
  /// Workgroup 0 does this with `data + 5`, and raises a flag with \p policy; the others wait for
  /// it and read.
  std::string kernel(const std::string &producer) const {
    return R"cl(
    if (ITEM == 0 && GROUP == 0) {
      uint one = 1;
      __asm__ volatile(")cl" +
           producer + R"cl(\nglobal_store_dword %1, %2, off sc1"
                       :: "v"(data + 5), "v"(flags), "v"(one) : "memory");
    }
    if (ITEM == 0 && GROUP > 0) {
      uint seen, got;
      do
        __asm__ volatile("global_load_dword %0, %1, off sc1\n s_waitcnt vmcnt(0)"
                         : "=&v"(seen) : "v"(flags) : "memory");
      while (seen == 0);
      __asm__ volatile("buffer_inv sc1\n global_load_dword %0, %1, off\n s_waitcnt vmcnt(0)"
                       : "=&v"(got) : "v"(data + 5) : "memory");
      out[GROUP] = got;
    })cl";
  }
  void expectUnwritten(const std::string &producer) {
    std::optional<Fault> fault = run(kernel(producer));
    ASSERT_TRUE(fault) << producer;
    EXPECT_EQ(fault->kind, FaultKind::GlobalRace) << fault->detail;
    EXPECT_EQ(fault->workgroup[0], 1u);
    EXPECT_NE(fault->detail.find("did not write its caches back"), std::string::npos)
        << fault->detail;
  }
};
INSTANTIATE_TEST_SUITE_P(Targets, WriteBacks, testing::Values("gfx942", "gfx950"),
                         [](const auto &info) { return info.param; });

TEST_P(WriteBacks, AReleaseNeedsOne) {
  expectSilent(kernel("global_store_dword %0, %2, off\\n buffer_wbl2 sc1\\n s_waitcnt vmcnt(0)"));
  expectSilent(kernel("global_store_dword %0, %2, off\\n s_waitcnt vmcnt(0)\\n"
                      "buffer_wbl2 sc0 sc1\\n s_waitcnt vmcnt(0)"));
  // It is stored for the whole device.
  expectSilent(kernel("global_store_dword %0, %2, off sc1\\n s_waitcnt vmcnt(0)"));
  expectUnwritten("global_store_dword %0, %2, off\\n s_waitcnt vmcnt(0)");
}

TEST_P(WriteBacks, MustBeOverAndOfTheDevice) {
  const std::string store = "global_store_dword %0, %2, off\\n s_waitcnt vmcnt(0)\\n";
  expectUnwritten(store + "buffer_wbl2 sc1");
  expectUnwritten(store + "buffer_wbl2 sc0\\n s_waitcnt vmcnt(0)");
  expectUnwritten("buffer_wbl2 sc1\\n s_waitcnt vmcnt(0)\\n" + store);
}

TEST_P(WriteBacks, AnotherWaveMayMakeThem) {
  const std::string begin = R"cl(
    if (GROUP == 0) {
      uint one = 1;
      if (ITEM == 64)
        __asm__ volatile("global_store_dword %0, %1, off\n s_waitcnt vmcnt(0)"
                         :: "v"(data + 5), "v"(one) : "memory");
      __asm__ volatile("s_barrier" ::: "memory");
    })cl";
  expectSilent(begin + kernel("buffer_wbl2 sc1\\n s_waitcnt vmcnt(0)"));
  std::optional<Fault> fault = run(begin + kernel("s_nop 0"));
  ASSERT_TRUE(fault);
  EXPECT_NE(fault->detail.find("wave 1 of workgroup (0, 0, 0) writes before it, and did not"),
            std::string::npos)
      << fault->detail;
}

/// gfx12 has one L2 cache.
TEST(GlobalRacesGfx1201, ReleasesForTheDeviceNeedNoWriteBack) {
  LoadedObject object("gfx1201", std::string(prelude) + R"cl(
    if (ITEM == 0 && GROUP == 0) { data[5] = 1; STORE(&flags[0], 1, RELEASE); }
    if (ITEM == 0 && GROUP > 0) {
      while (LOAD(&flags[0], ACQUIRE) == 0)
        ;
      out[GROUP] = data[5];
    }
  })cl",
                      "cl", "-O2 -cl-std=CL2.0");
  object.checks = llvm::cantFail(CheckOptions::parse("all"));
  std::vector<uint32_t> data(8), flags(1), out(3);
  LaunchResult result =
      object.run("test",
                 {reinterpret_cast<uint64_t>(data.data()), reinterpret_cast<uint64_t>(flags.data()),
                  reinterpret_cast<uint64_t>(out.data())},
                 {3, 1, 1}, {32, 1, 1});
  EXPECT_FALSE(result.fault) << result.fault->detail;
  EXPECT_EQ(out, (std::vector<uint32_t>{0, 1, 1}));
}

} // namespace
