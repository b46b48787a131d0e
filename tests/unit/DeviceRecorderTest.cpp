//===- DeviceRecorderTest.cpp - Bounds from the allocator recorder --------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A preloaded library needs a process that starts with it: the tests on it run this program again.
//
//===----------------------------------------------------------------------===//

#include "DeviceTestSupport.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>

namespace wavetile::device::test {
namespace {

RecorderFunction recorder() {
  return reinterpret_cast<RecorderFunction>(dlsym(RTLD_DEFAULT, recorderFunctionName));
}

/// Runs the current test in a process with the recorder, if this is not one. True: it is.
bool runsWithRecorder() {
  if (recorder())
    return true;
  // AddressSanitizer replaces malloc itself, and refuses to come after a library that does.
  if (dlsym(RTLD_DEFAULT, "__asan_init")) {
    std::cout << "not run: the recorder and AddressSanitizer both replace malloc\n";
    return false;
  }
  const auto *info = testing::UnitTest::GetInstance()->current_test_info();
  std::string self(4096, 0);
  self.resize(static_cast<size_t>(readlink("/proc/self/exe", self.data(), self.size())));
  std::string command = std::string("LD_PRELOAD=") + WAVETILE_RECORDER + " " + self +
                        " --gtest_filter=" + info->test_suite_name() + "." + info->name() +
                        " > /dev/null";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  return false;
}

RecordedBounds boundsAt(const void *pointer) {
  RecordedBounds bounds;
  recorder()(reinterpret_cast<uint64_t>(pointer), &bounds);
  return bounds;
}

TEST(DeviceRecorder, KnowsExactSizesOfEveryRoute) {
  if (!runsWithRecorder())
    return;
  void *aligned = nullptr;
  ASSERT_EQ(posix_memalign(&aligned, 64, 308), 0);
  void *grown = std::realloc(std::malloc(10), 3001);
  struct Case {
    void *pointer;
    uint64_t bytes;
  } const cases[] = {
      {std::malloc(13), 13}, {std::malloc(4'000'003), 4'000'003}, {std::calloc(7, 11), 77},
      {aligned, 308},        {std::aligned_alloc(256, 512), 512}, {grown, 3001}};
  for (const Case &c : cases) {
    auto begin = reinterpret_cast<uint64_t>(c.pointer);
    for (uint64_t inside : {uint64_t(0), c.bytes / 2, c.bytes - 1}) {
      RecordedBounds bounds = boundsAt(reinterpret_cast<void *>(begin + inside));
      EXPECT_EQ(bounds.begin, begin);
      EXPECT_EQ(bounds.end, begin + c.bytes);
      EXPECT_TRUE(bounds.isHeap);
    }
    std::free(c.pointer);
    EXPECT_NE(boundsAt(c.pointer).begin, begin);
  }
}

TEST(DeviceRecorder, FollowsMappingsThatAreCutAndReplaced) {
  if (!runsWithRecorder())
    return;
  constexpr size_t page = 4096;
  auto *pages = static_cast<uint8_t *>(
      mmap(nullptr, 6 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_EQ(munmap(pages + 2 * page, page), 0);
  EXPECT_EQ(boundsAt(pages + page).end, reinterpret_cast<uint64_t>(pages + 2 * page));
  EXPECT_LE(boundsAt(pages + 2 * page).end, reinterpret_cast<uint64_t>(pages + 2 * page));
  EXPECT_EQ(boundsAt(pages + 4 * page).begin, reinterpret_cast<uint64_t>(pages + 3 * page));
  EXPECT_EQ(boundsAt(pages + 4 * page).end, reinterpret_cast<uint64_t>(pages + 6 * page));
  ASSERT_EQ(munmap(pages, 6 * page), 0);
  EXPECT_LE(boundsAt(pages + 5 * page).end, reinterpret_cast<uint64_t>(pages));
}

TEST(DeviceRecorder, AKernelThatOverrunsATensorByOneElementIsStopped) {
  if (!runsWithRecorder())
    return;
  const char *source = R"(
kernel void fill(global float *out, int n) {
  int id = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
  if (id < n)
    out[id] = id;
}
)";
  LoadedObject object("gfx950", source, "cl", "-O2 -Xclang -finclude-default-header");
  object.memory.useRecorder(recorder());
  object.memory.refuseUnknown(true); // Its bounds are known.
  constexpr uint32_t count = 77;
  void *tensor = nullptr; // As torch allocates.
  ASSERT_EQ(posix_memalign(&tensor, 64, count * sizeof(float)), 0);
  auto address = reinterpret_cast<uint64_t>(tensor);
  LaunchResult result = object.run("fill", {address, count}, {2, 1, 1}, {64, 1, 1});
  EXPECT_FALSE(result.fault) << result.fault->instruction;
  result = object.run("fill", {address, count + 1}, {2, 1, 1}, {64, 1, 1});
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, FaultKind::OutOfBounds);
  EXPECT_EQ(result.fault->address, address + count * sizeof(float));
  EXPECT_EQ(result.fault->workgroup[0], 1u);
  EXPECT_EQ(result.fault->lane, 77 - 64);
  EXPECT_EQ(object.memory.nearest(result.fault->address)->end, address + count * sizeof(float));
  std::free(tensor);
}

/// What `MemoryMap` makes of a recorder's words.
TEST(DeviceRecorder, WhatLiesBesideAnAllocationIsNobodys) {
  static uint8_t memory[8192];
  static const uint64_t begin = reinterpret_cast<uint64_t>(memory) + 64;
  MemoryMap map;
  ASSERT_TRUE(map.find(begin)); // The mapping.
  map.useRecorder([](uint64_t address, RecordedBounds *bounds) {
    *bounds = {};
    (address < begin ? bounds->nextBegin : bounds->begin) = begin;
    (address < begin ? bounds->nextEnd : bounds->end) = begin + 100;
    (address < begin ? bounds->nextIsHeap : bounds->isHeap) = true;
  });
  auto found = map.find(begin + 99);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->source, BoundsSource::Recorded);
  EXPECT_EQ(found->size(), 100u);
  EXPECT_FALSE(map.find(begin + 100));
  EXPECT_FALSE(map.find(begin - 1));
  ASSERT_TRUE(map.find(begin + 6000)); // Far away only the mapping is known.
  EXPECT_EQ(map.find(begin + 6000)->source, BoundsSource::Mapping);
  map.refuseUnknown(true);
  EXPECT_FALSE(map.find(begin + 6000));
  EXPECT_TRUE(map.find(begin));
  // The device's own allocations lie in memory that the recorder saw too: guards stay shut.
  Allocation own;
  own.begin = begin + 32, own.end = begin + 48;
  own.source = BoundsSource::Device;
  own.guard = 16;
  map.add(own, "own");
  EXPECT_TRUE(map.find(begin + 40));
  EXPECT_FALSE(map.find(begin + 48));
  EXPECT_FALSE(map.find(begin + 31));
  EXPECT_EQ(map.find(begin)->end, begin + 16);
  // Who announces names all that kernels may touch.
  map.announce(begin + 200, 16, "x");
  EXPECT_FALSE(map.find(begin));
}

} // namespace
} // namespace wavetile::device::test
