//===- DeviceDivisionTest.cpp - Quotients of f64 ---------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM makes a division of v_div_scale, v_rcp, v_fma, v_div_fmas and v_div_fixup. Whether
// v_div_fmas_f64 rounds once or, after scaling, once more is not documented; LLVM counts on once,
// for its quotients are to be correctly rounded: the host's, also where they are denormal.
//
//===----------------------------------------------------------------------===//

#include "DeviceTestSupport.h"

#include "runtime/emulator/Target.h"

#include <bit>
#include <cmath>
#include <random>

namespace wavetile::device::test {
namespace {

const char *const kernel = R"(
define amdgpu_kernel void @divide(ptr addrspace(1) %data) {
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %group = call i32 @llvm.amdgcn.workgroup.id.x()
  %base = shl i32 %group, 6
  %i = add i32 %base, %lane
  %wide = zext i32 %i to i64
  %row = getelementptr [3 x double], ptr addrspace(1) %data, i64 %wide
  %a = load double, ptr addrspace(1) %row
  %at_b = getelementptr double, ptr addrspace(1) %row, i64 1
  %b = load double, ptr addrspace(1) %at_b
  %quotient = fdiv double %a, %b
  %result = getelementptr double, ptr addrspace(1) %row, i64 2
  store double %quotient, ptr addrspace(1) %result
  ret void
}
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
)";

constexpr uint64_t specialNumbers[] = {0x0000000000000000, 0x3ff0000000000000, 0x7ff0000000000000,
                                       0x7ff8000000000000, 0x0000000000000001, 0x000fffffffffffff,
                                       0x0010000000000000, 0x7fefffffffffffff, 0x7fd0000000000000,
                                       0x3ff0000000000001, 0x4008000000000000, 0x3fefffffffffffff,
                                       0x0360000000000000, 0x7c90000000000001};

TEST(DeviceDivision, QuotientsOfTheHost) {
  std::mt19937_64 random(16);
  struct Row {
    uint64_t a, b, quotient;
  };
  std::vector<Row> rows;
  for (uint64_t a : specialNumbers)
    for (uint64_t b : specialNumbers) // With each sign, of each.
      for (uint64_t signs = 0; signs < 4; ++signs)
        rows.push_back({a | signs << 63, b | signs >> 1 << 63, 0});
  while (rows.size() < 64 * 32) {
    Row row{random(), random(), 0};
    constexpr uint64_t exponent = uint64_t(0x7ff) << 52;
    if (rows.size() % 3 == 0) // A quotient that is neither too large nor too small.
      row.b = (row.b & ~exponent) | (row.a & exponent);
    if (rows.size() % 3 == 1) { // One that is denormal, with any number of bits.
      row.a = (row.a & ~exponent) | uint64_t(1) << 52;
      row.b = (row.b & ~exponent) | (1023 + random() % 54) << 52;
    }
    rows.push_back(row);
  }
  for (const TargetDescription &target : targets()) {
    LoadedObject object(target.name, kernel, "ll");
    Allocation allocation;
    allocation.begin = reinterpret_cast<uint64_t>(rows.data());
    allocation.end = allocation.begin + rows.size() * sizeof(Row);
    allocation.source = BoundsSource::Device;
    object.memory.add(allocation, "rows");
    LaunchResult result = object.run("divide", {allocation.begin},
                                     {static_cast<uint32_t>(rows.size() / 64), 1, 1}, {64, 1, 1});
    ASSERT_FALSE(result.fault) << target.name << " " << result.fault->detail;
    for (const Row &row : rows) {
      double a = std::bit_cast<double>(row.a), b = std::bit_cast<double>(row.b);
      double quotient = a / b;
      if (std::isnan(quotient))
        ASSERT_TRUE(std::isnan(std::bit_cast<double>(row.quotient))) << target.name;
      else
        ASSERT_EQ(row.quotient, std::bit_cast<uint64_t>(quotient))
            << target.name << std::hex << " " << row.a << " / " << row.b;
    }
  }
}

} // namespace
} // namespace wavetile::device::test
