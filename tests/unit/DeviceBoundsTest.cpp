//===- DeviceBoundsTest.cpp - Bounds of memory by each source -------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The recorder has a test of its own, DeviceRecorderTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "DeviceTestSupport.h"

#include <sys/mman.h>

#include <functional>
#include <string>
#include <vector>

namespace wavetile::device::test {
namespace {

const char *const source = R"(
kernel void fill(global float *out, int n) {
  int id = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
  if (id < n)
    out[id] = id;
}
kernel void sum(global const float *in, global float *out, int n) {
  float total = 0;
  for (int i = 0; i < n; ++i)
    total += in[i];
  out[0] = total;
}
)";

constexpr uint32_t count = 77;

/// How the bounds of memory become known.
struct Route {
  const char *name;
  std::function<void(MemoryMap &, uint64_t begin, uint64_t bytes)> makeKnown;
};
void addAs(BoundsSource source, MemoryMap &memory, uint64_t begin, uint64_t bytes) {
  Allocation allocation;
  allocation.begin = begin;
  allocation.end = begin + bytes;
  allocation.source = source;
  memory.add(allocation, "tensor");
}
const Route routes[] = {
    {"hipMalloc", [](MemoryMap &memory, uint64_t begin,
                     uint64_t bytes) { addAs(BoundsSource::Device, memory, begin, bytes); }},
    {"hipHostRegister",
     [](MemoryMap &memory, uint64_t begin, uint64_t bytes) {
       addAs(BoundsSource::Registered, memory, begin, bytes);
     }},
    {"announcement", [](MemoryMap &memory, uint64_t begin,
                        uint64_t bytes) { memory.announce(begin, bytes, "tensor"); }},
};

TEST(DeviceBounds, OneElementTooManyIsStoppedByEachRoute) {
  for (const char *target : {"gfx950", "gfx1150"})
    for (const Route &route : routes) {
      LoadedObject object(target, source, "cl", "-O2 -Xclang -finclude-default-header");
      object.memory.refuseUnknown(true);
      std::vector<float> tensor(2 * count, -1.0f);
      auto begin = reinterpret_cast<uint64_t>(tensor.data());
      route.makeKnown(object.memory, begin, count * sizeof(float));
      LaunchResult result = object.run("fill", {begin, count}, {2, 1, 1}, {64, 1, 1});
      EXPECT_FALSE(result.fault) << route.name;
      EXPECT_EQ(tensor[count - 1], count - 1);
      result = object.run("fill", {begin, count + 1}, {2, 1, 1}, {64, 1, 1});
      ASSERT_TRUE(result.fault) << route.name;
      EXPECT_EQ(result.fault->kind, FaultKind::OutOfBounds) << route.name;
      EXPECT_EQ(result.fault->address, begin + count * sizeof(float)) << route.name;
      EXPECT_EQ(result.fault->bytes, 4u);
      EXPECT_EQ(tensor[count], -1.0f);
      // A load of one dword past the end, whether compiled to a scalar load or not.
      std::vector<float> total(1);
      route.makeKnown(object.memory, reinterpret_cast<uint64_t>(total.data()), sizeof(float));
      result = object.run("sum", {begin, reinterpret_cast<uint64_t>(total.data()), count},
                          {1, 1, 1}, {1, 1, 1});
      EXPECT_FALSE(result.fault) << route.name;
      EXPECT_EQ(total[0], count * (count - 1) / 2.0f);
    }
}

TEST(DeviceBounds, StrictRefusesWhatOnlyAMappingKnows) {
  LoadedObject object("gfx950", source, "cl", "-O2 -Xclang -finclude-default-header");
  std::vector<float> tensor(count);
  auto begin = reinterpret_cast<uint64_t>(tensor.data());
  LaunchResult result = object.run("fill", {begin, count}, {2, 1, 1}, {64, 1, 1});
  EXPECT_FALSE(result.fault);
  object.memory.refuseUnknown(true);
  result = object.run("fill", {begin, count}, {2, 1, 1}, {64, 1, 1});
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, FaultKind::OutOfBounds);
}

/// Pages of this process with a protection, or none.
class Pages {
public:
  explicit Pages(size_t count) : bytes(count * 4096) {
    address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(address, MAP_FAILED);
  }
  ~Pages() { munmap(address, bytes); }
  uint64_t begin() const { return reinterpret_cast<uint64_t>(address); }
  /// PROT_NONE stands for memory that is mapped no more: nothing else may come to lie there.
  void protect(size_t first, size_t count, int protection) {
    mprotect(static_cast<char *>(address) + first * 4096, count * 4096, protection);
  }

private:
  void *address;
  size_t bytes;
};

TEST(DeviceBounds, WhatTheClientSaysOfItsMemoryMayBeWrong) {
  constexpr uint32_t many = 3 * 4096 / 4;
  for (const char *target : {"gfx950", "gfx1150"})
    for (const Route &route : routes) {
      if (route.name == std::string("hipMalloc"))
        continue; // The device's own memory is as the device knows it.
      LoadedObject object(target, source, "cl", "-O2 -Xclang -finclude-default-header");
      Pages pages(3);
      std::vector<float> total(1);
      route.makeKnown(object.memory, pages.begin(), many * 4);
      route.makeKnown(object.memory, reinterpret_cast<uint64_t>(total.data()), sizeof(float));
      auto fill = [&] {
        return object.run("fill", {pages.begin(), many}, {many / 64, 1, 1}, {64, 1, 1});
      };
      auto sum = [&] {
        return object.run("sum", {pages.begin(), reinterpret_cast<uint64_t>(total.data()), many},
                          {1, 1, 1}, {1, 1, 1});
      };
      EXPECT_FALSE(fill().fault) << route.name;
      pages.protect(1, 1, PROT_READ);
      LaunchResult result = fill();
      ASSERT_TRUE(result.fault) << route.name;
      EXPECT_EQ(result.fault->kind, FaultKind::ReadOnly) << route.name;
      EXPECT_FALSE(sum().fault) << route.name;
      EXPECT_EQ(total[0], many * (many - 1.0f) / 2) << route.name;
      pages.protect(1, 1, PROT_NONE);
      result = sum();
      ASSERT_TRUE(result.fault) << route.name;
      EXPECT_EQ(result.fault->kind, FaultKind::OutOfBounds) << route.name;
    }
}

} // namespace
} // namespace wavetile::device::test
