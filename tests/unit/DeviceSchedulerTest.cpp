//===- DeviceSchedulerTest.cpp - Turns of waves and workgroups ------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels that wait for each other: those that end must, and those that never will are said to be
// stuck, with the place where each wave stands.
//
//===----------------------------------------------------------------------===//

#include "DeviceTestSupport.h"

#include "runtime/emulator/Occupancy.h"

#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>

using namespace wavetile::device;
using namespace wavetile::device::test;

namespace {

class Scheduler : public testing::TestWithParam<const char *> {
protected:
  static uint64_t addressOf(void *pointer) { return reinterpret_cast<uint64_t>(pointer); }
};
INSTANTIATE_TEST_SUITE_P(Targets, Scheduler, testing::Values("gfx950", "gfx1150"),
                         [](const auto &info) { return info.param; });

/// Loops that wait, with and without the common ways of being nice about it.
constexpr const char *waiting = R"(
#define GROUP __builtin_amdgcn_workgroup_id_x()
#define ITEM __builtin_amdgcn_workitem_id_x()
typedef global atomic_int *flag_t;
int load(flag_t flag) { return __opencl_atomic_load(flag, __ATOMIC_ACQUIRE, 2); }
void store(flag_t flag, int value) { __opencl_atomic_store(flag, value, __ATOMIC_RELEASE, 2); }
int add(flag_t flag, int value) {
  return __opencl_atomic_fetch_add(flag, value, __ATOMIC_ACQ_REL, 2);
}
void meet() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
// Each workgroup waits for the next one, so the last is the first to end.
kernel void backwards(flag_t flags, global int *order, flag_t next) {
  if (ITEM == 0) {
    while (load(&flags[GROUP + 1]) == 0)
      ;
    order[GROUP] = add(next, 1);
    store(&flags[GROUP], 1);
  }
}
kernel void sleepy(flag_t flags, global int *order, flag_t next) {
  if (ITEM == 0) {
    while (load(&flags[GROUP + 1]) == 0)
      __builtin_amdgcn_s_sleep(1);
    order[GROUP] = add(next, 1);
    store(&flags[GROUP], 1);
  }
}
// Polls with an atomic that changes nothing.
kernel void polling(flag_t flags, global int *order, flag_t next) {
  if (ITEM == 0) {
    while (add(&flags[GROUP + 1], 0) == 0)
      ;
    order[GROUP] = add(next, 1);
    store(&flags[GROUP], 1);
  }
}
// All workgroups meet, `rounds` times.
kernel void meeting(flag_t arrived, global int *sums, int rounds, int groups, int size) {
  for (int i = 1; i <= rounds; ++i) {
    meet();
    if (ITEM == 0) {
      add(arrived, 1);
      while (load(arrived) < i * groups)
        ;
    }
    meet();
    sums[GROUP * size + ITEM] += i;
  }
}
// A lock that each wave takes in turn.
kernel void lock(flag_t held, global int *count) {
  if (ITEM % __builtin_amdgcn_wavefrontsize() == 0) {
    int expected = 0;
    while (!__opencl_atomic_compare_exchange_strong(held, &expected, 1, __ATOMIC_ACQUIRE,
                                                    __ATOMIC_RELAXED, 2))
      expected = 0;
    *count += 1;
    store(held, 0);
  }
}
// Counts for a long time without looking at memory.
kernel void busy(global uint *result, uint steps, uint size) {
  uint x = GROUP * size + ITEM;
  for (uint i = 0; i < steps; ++i)
    x = x * 1664525u + (x >> 13);
  result[GROUP * size + ITEM] = x;
}
kernel void waits_in_one_wave(flag_t flag, global int *result, int size) {
  if (ITEM == 0)
    while (load(flag) == 0)
      ;
  meet();
  result[GROUP * size + ITEM] = 1;
}
)";

constexpr const char *options = "-O2 -cl-std=CL2.0";

/// Two arguments of 32 bits.
constexpr uint64_t both(uint32_t first, uint32_t second) {
  return first | static_cast<uint64_t>(second) << 32;
}

TEST_P(Scheduler, AWorkgroupMayWaitForALaterOne) {
  LoadedObject object(GetParam(), waiting, "cl", options);
  for (const char *kernel : {"backwards", "sleepy", "polling"}) {
    constexpr unsigned groups = 97;
    std::vector<int> flags(groups + 1), order(groups, -1);
    flags[groups] = 1;
    int next = 0;
    LaunchResult result =
        object.run(kernel, {addressOf(flags.data()), addressOf(order.data()), addressOf(&next)},
                   {groups, 1, 1}, {1, 1, 1});
    ASSERT_FALSE(result.fault) << kernel << ": " << name(result.fault->kind).str();
    EXPECT_EQ(next, static_cast<int>(groups));
    for (unsigned i = 0; i < groups; ++i)
      EXPECT_EQ(order[i], static_cast<int>(groups - 1 - i)) << kernel;
  }
}

TEST_P(Scheduler, AllResidentWorkgroupsMeet) {
  LoadedObject object(GetParam(), waiting, "cl", options);
  constexpr unsigned groups = 61, size = 96;
  int arrived = 0;
  std::vector<int> sums(groups * size);
  LaunchResult result =
      object.run("meeting", {addressOf(&arrived), addressOf(sums.data()), both(5, groups), size},
                 {groups, 1, 1}, {size, 1, 1});
  ASSERT_FALSE(result.fault) << name(result.fault->kind).str();
  EXPECT_EQ(arrived, static_cast<int>(5 * groups));
  EXPECT_EQ(sums, std::vector<int>(groups * size, 15));
}

TEST_P(Scheduler, ALockIsHandedOn) {
  LoadedObject object(GetParam(), waiting, "cl", options);
  int held = 0, count = 0;
  LaunchResult result =
      object.run("lock", {addressOf(&held), addressOf(&count)}, {53, 1, 1}, {256, 1, 1});
  ASSERT_FALSE(result.fault) << name(result.fault->kind).str() << ": " << result.fault->instruction
                             << ": " << result.fault->detail;
  EXPECT_EQ(count, static_cast<int>(53 * 256 / object.program->target().waveSize));
}

TEST_P(Scheduler, MoreWorkgroupsThanTheGpuHoldsCannotWaitForALaterOne) {
  LoadedObject object(GetParam(), waiting, "cl", options);
  // LDS is the limit: one workgroup a compute unit.
  const TargetDescription &target = object.program->target();
  unsigned holds = target.computeUnits;
  std::vector<int> flags(holds + 2), order(holds + 1, -1);
  int next = 0;
  auto run = [&](unsigned groups) {
    flags[groups] = 1;
    return object.run("backwards",
                      {addressOf(flags.data()), addressOf(order.data()), addressOf(&next)},
                      {groups, 1, 1}, {1, 1, 1}, target.ldsBytes);
  };
  EXPECT_FALSE(run(holds).fault);
  EXPECT_EQ(next, static_cast<int>(holds));
  std::fill(flags.begin(), flags.end(), 0);
  LaunchResult result = run(holds + 1);
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, FaultKind::Stuck);
  EXPECT_EQ(result.fault->waves.size(), holds);
  EXPECT_EQ(next, static_cast<int>(holds));
}

TEST_P(Scheduler, WavesThatWaitForNothingAreStuck) {
  LoadedObject object(GetParam(), waiting, "cl", options);
  unsigned waveSize = object.program->target().waveSize;
  int flag = 0;
  std::vector<int> result(4 * waveSize * 2);
  object.instructionLimit = UINT64_MAX;
  LaunchResult stuck =
      object.run("waits_in_one_wave", {addressOf(&flag), addressOf(result.data()), 4 * waveSize},
                 {2, 1, 1}, {4 * waveSize, 1, 1});
  ASSERT_TRUE(stuck.fault);
  EXPECT_EQ(stuck.fault->kind, FaultKind::Stuck);
  EXPECT_EQ(stuck.fault->workgroup, (std::array<uint32_t, 3>{0, 0, 0}));
  EXPECT_EQ(stuck.fault->wave, 0u);
  ASSERT_EQ(stuck.fault->waves.size(), 8u);
  for (unsigned i = 0; i < 8; ++i) {
    const WavePosition &wave = stuck.fault->waves[i];
    EXPECT_EQ(wave.workgroup[0], i / 4);
    EXPECT_EQ(wave.wave, i % 4);
    EXPECT_EQ(wave.atBarrier, i % 4 != 0);
    if (wave.atBarrier) {
      EXPECT_EQ(object.program->disassemble(wave.instructionAddress), "s_barrier");
    }
  }
  EXPECT_EQ(result, std::vector<int>(result.size(), 0));

  // The twin whose flag is set ends.
  flag = 1;
  EXPECT_FALSE(object
                   .run("waits_in_one_wave",
                        {addressOf(&flag), addressOf(result.data()), 4 * waveSize}, {2, 1, 1},
                        {4 * waveSize, 1, 1})
                   .fault);
  EXPECT_EQ(result, std::vector<int>(result.size(), 1));
}

TEST_P(Scheduler, AHostThreadMaySetTheFlag) {
  LoadedObject object(GetParam(), waiting, "cl", options);
  std::atomic<int> flag{0};
  std::vector<int> result(64);
  std::thread host([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    flag = 1;
  });
  LaunchResult done = object.run(
      "waits_in_one_wave", {addressOf(&flag), addressOf(result.data()), 64}, {1, 1, 1}, {64, 1, 1});
  host.join();
  EXPECT_FALSE(done.fault);
}

/// What `busy` computes.
uint32_t countFor(uint32_t x, uint32_t steps) {
  for (uint32_t i = 0; i < steps; ++i)
    x = x * 1664525u + (x >> 13);
  return x;
}

TEST_P(Scheduler, WorkThatTakesManyTurnsIsNotStuck) {
  LoadedObject object(GetParam(), waiting, "cl", options);
  constexpr unsigned items = 3 * 64, steps = 30011;
  std::vector<uint32_t> result(items);
  LaunchResult done =
      object.run("busy", {addressOf(result.data()), both(steps, 64)}, {3, 1, 1}, {64, 1, 1});
  ASSERT_FALSE(done.fault);
  for (unsigned i = 0; i < items; ++i)
    EXPECT_EQ(result[i], countFor(i, steps));
}

TEST_P(Scheduler, TheInstructionLimitIsExact) {
  LoadedObject object(GetParam(), waiting, "cl", options);
  std::vector<uint32_t> result(64);
  auto run = [&](uint64_t limit) {
    object.instructionLimit = limit;
    return object.run("busy", {addressOf(result.data()), both(20011, 64)}, {1, 1, 1}, {32, 1, 1});
  };
  LaunchResult whole = run(UINT64_MAX);
  ASSERT_FALSE(whole.fault);
  uint64_t total = std::accumulate(whole.counters.instructions.begin(),
                                   whole.counters.instructions.end(), uint64_t(0));
  EXPECT_FALSE(run(total).fault);
  LaunchResult cut = run(total - 1);
  ASSERT_TRUE(cut.fault);
  EXPECT_EQ(cut.fault->kind, FaultKind::InstructionLimit);
  EXPECT_EQ(cut.fault->instruction, "s_endpgm");
}

TEST_P(Scheduler, ResultsDoNotDependOnTheNumberOfThreads) {
  LoadedObject object(GetParam(), waiting, "cl", options);
  constexpr unsigned groups = 37, items = groups * 64, steps = 3001;
  for (unsigned threads : {1u, 2u, 5u}) {
    object.threads = threads;
    object.checks.globalRaces = false; // They are looked for on one thread.
    std::vector<uint32_t> result(items);
    LaunchResult done =
        object.run("busy", {addressOf(result.data()), both(steps, 64)}, {groups, 1, 1}, {64, 1, 1});
    ASSERT_FALSE(done.fault);
    EXPECT_EQ(done.counters.workgroups, groups);
    for (unsigned i = 0; i < items; ++i)
      ASSERT_EQ(result[i], countFor(i, steps));
    int arrived = 0;
    std::vector<int> sums(items);
    done = object.run("meeting", {addressOf(&arrived), addressOf(sums.data()), both(3, groups), 64},
                      {groups, 1, 1}, {64, 1, 1});
    ASSERT_FALSE(done.fault) << name(done.fault->kind).str();
    EXPECT_EQ(sums, std::vector<int>(items, 6));
    int held = 0, count = 0;
    done = object.run("lock", {addressOf(&held), addressOf(&count)}, {groups, 1, 1}, {256, 1, 1});
    ASSERT_FALSE(done.fault);
    EXPECT_EQ(count, static_cast<int>(groups * 256 / object.program->target().waveSize));
    int flag = 0;
    done = object.run("waits_in_one_wave", {addressOf(&flag), addressOf(result.data()), 64},
                      {groups, 1, 1}, {64, 1, 1});
    ASSERT_TRUE(done.fault);
    EXPECT_EQ(done.fault->kind, FaultKind::Stuck);
    EXPECT_EQ(done.fault->workgroup[0], 0u);
  }
}

TEST_P(Scheduler, TheFirstFaultInLinearOrderIsReported) {
  // Later workgroups fault sooner.
  LoadedObject object(GetParam(), R"(
kernel void faults(global uint *result, uint steps, uint first) {
  uint group = __builtin_amdgcn_workgroup_id_x(), x = group + 1;
  for (uint i = 0; i < steps * (40 - group); ++i)
    x = x * 1664525u + (x >> 13);
  if (group >= first)
    *(volatile global uint *)(ulong)(group + 1) = x;
  result[group] = x;
})",
                      "cl", options);
  for (unsigned threads : {1u, 2u, 5u})
    for (unsigned first : {0u, 7u, 39u}) {
      object.threads = threads;
      object.checks.globalRaces = false;
      std::vector<uint32_t> result(40);
      LaunchResult done = object.run("faults", {addressOf(result.data()), both(1001, first)},
                                     {40, 1, 1}, {1, 1, 1});
      ASSERT_TRUE(done.fault);
      EXPECT_EQ(done.fault->kind, FaultKind::OutOfBounds);
      EXPECT_EQ(done.fault->workgroup[0], first);
      EXPECT_EQ(done.fault->address, first + 1);
      for (unsigned i = 0; i < first; ++i)
        EXPECT_NE(result[i], 0u);
    }
}

TEST_P(Scheduler, EveryWaveMeetsTheBarriersOfItsWorkgroup) {
  // `missing` waves end after `met` barriers, the others meet three.
  auto run = [&](unsigned missing, unsigned met) {
    LoadedObject object(GetParam(), R"cl(
kernel void barriers(global int *out, uint missing, uint met) {
  uint wave = __builtin_amdgcn_readfirstlane(__builtin_amdgcn_workitem_id_x() /
                                             __builtin_amdgcn_wavefrontsize());
  uint count = wave < missing ? met : 3;
  for (uint i = 0; i < count; ++i)
    __builtin_amdgcn_s_barrier();
})cl",
                        "cl", options);
    return object
        .run("barriers", {0, both(missing, met)}, {1, 1, 1},
             {4 * object.program->target().waveSize, 1, 1})
        .fault;
  };
  EXPECT_FALSE(run(0, 0));
  // Leaving early is what programs do.
  EXPECT_FALSE(run(2, 0));
  std::optional<Fault> fault = run(2, 2);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::BarrierMismatch);
  EXPECT_EQ(fault->instruction, "s_barrier");
  EXPECT_EQ(fault->wave, 2u);
}

} // namespace
