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

#include <functional>
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

} // namespace
} // namespace wavetile::device::test
