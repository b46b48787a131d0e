//===- DeviceRdnaTest.cpp - Kernels on RDNA in both sizes of wave ---------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whole kernels that LLVM compiles at every level of optimisation, with expected values from plain
// C++ here.
//
//===----------------------------------------------------------------------===//

#include "DeviceTestSupport.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace wavetile::device::test {
namespace {

constexpr const char *source = R"(
#define get_group_id(i) (i == 0 ? __builtin_amdgcn_workgroup_id_x() : \
                         i == 1 ? __builtin_amdgcn_workgroup_id_y() : __builtin_amdgcn_workgroup_id_z())
#define get_local_id(i) (i == 0 ? __builtin_amdgcn_workitem_id_x() : \
                         i == 1 ? __builtin_amdgcn_workitem_id_y() : __builtin_amdgcn_workitem_id_z())
void synchronise(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
kernel void shuffle(global const unsigned *in, global unsigned *out, local unsigned *memory, unsigned n) {
  unsigned i = get_group_id(0) * 96 + get_local_id(0), l = get_local_id(0);
  unsigned value = i < n ? in[i] : 0;
  memory[l] = value * 3;
  synchronise();
  unsigned other = memory[95 - l];
  if (i < n)
    out[i] = value % 3 == 0 ? other / 7 : other - value;
}
kernel void divide(global const float *in, global float *out, unsigned n) {
  unsigned i = get_group_id(0) * 96 + get_local_id(0);
  if (i < n)
    out[i] = in[i] / in[n - 1 - i] + (float)(in[i] > 2.0f ? (int)in[i] : -1);
}
kernel void groups(global unsigned *out) {
  unsigned g = get_group_id(0) + 3 * (get_group_id(1) + 2 * get_group_id(2));
  unsigned l = get_local_id(0) + 5 * (get_local_id(1) + 3 * get_local_id(2));
  out[g * 60 + l] = get_group_id(0) | get_group_id(1) << 4 | get_group_id(2) << 8 |
                    get_local_id(0) << 12 | get_local_id(1) << 16 | get_local_id(2) << 20;
}
kernel void stack(global const unsigned *in, global unsigned *out, unsigned n) {
  unsigned table[19];
  unsigned i = get_group_id(0) * 96 + get_local_id(0);
  if (i >= n)
    return;
  for (unsigned k = 0; k < 19; ++k)
    table[k] = in[i] + k * k;
  out[i] = table[in[i] % 19] ^ table[i % 19];
}
)";

struct Case {
  const char *target;
  unsigned waveSize;
  const char *level;
};
void PrintTo(const Case &c, std::ostream *out) { *out << c.target << " " << c.waveSize << c.level; }
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char *target : {"gfx1100", "gfx1150", "gfx1151", "gfx1201"})
    for (unsigned size : {32u, 64u})
      for (const char *level : {"-O0", "-O1", "-O2", "-O3"})
        all.push_back({target, size, level});
  return all;
}

class DeviceRdnaKernels : public testing::TestWithParam<Case> {};

TEST_P(DeviceRdnaKernels, GiveWhatTheSourceSays) {
  std::string options = GetParam().level;
  std::string(GetParam().level) + "";
  if (GetParam().waveSize == 64)
    options += " -mwavefrontsize64";
  LoadedObject object(GetParam().target, source, "cl", options);
  ASSERT_TRUE(object.program);
  EXPECT_EQ(object.program->waveSize(), GetParam().waveSize);

  constexpr uint32_t n = 211;
  std::mt19937 random(7);
  std::vector<uint32_t> in(n), out(n);
  for (uint32_t &word : in)
    word = random() % 100000;
  auto address = [](auto &vector) { return reinterpret_cast<uint64_t>(vector.data()); };
  std::array<uint32_t, 3> grid{3, 1, 1}, workgroup{96, 1, 1};
  auto run = [&](const char *kernel, const std::vector<uint64_t> &arguments, uint32_t lds = 0) {
    LaunchResult result = object.run(kernel, arguments, grid, workgroup, lds);
    EXPECT_FALSE(result.fault) << kernel << ": " << name(result.fault->kind).str() << " "
                               << result.fault->instruction << " " << result.fault->detail;
    return result.counters.waves;
  };

  EXPECT_EQ(run("shuffle", {address(in), address(out), uint64_t(n) << 32}, 96 * 4),
            3 * (GetParam().waveSize == 32 ? 3u : 2u));
  for (uint32_t i = 0; i < n; ++i) {
    uint32_t mirrored = i / 96 * 96 + 95 - i % 96;
    uint32_t other = mirrored < n ? in[mirrored] * 3 : 0;
    ASSERT_EQ(out[i], in[i] % 3 == 0 ? other / 7 : other - in[i]) << i;
  }

  run("stack", {address(in), address(out), n});
  for (uint32_t i = 0; i < n; ++i) {
    auto entry = [&](uint32_t k) { return in[i] + k * k; };
    ASSERT_EQ(out[i], entry(in[i] % 19) ^ entry(i % 19)) << i;
  }

  std::vector<float> numbers(n), quotients(n);
  for (float &number : numbers)
    number = static_cast<float>(random() % 2000) / 8 - 100.5f;
  run("divide", {address(numbers), address(quotients), n});
  for (uint32_t i = 0; i < n; ++i) {
    float whole = numbers[i] > 2.0f ? static_cast<float>(static_cast<int>(numbers[i])) : -1.0f;
    float expected = numbers[i] / numbers[n - 1 - i] + whole;
    // OpenCL allows a division 2.5 ulp.
    ASSERT_NEAR(quotients[i], expected, std::abs(expected) * 1e-6f + 1e-6f) << i;
  }

  grid = {3, 2, 2}, workgroup = {5, 3, 4};
  std::vector<uint32_t> ids(3 * 2 * 2 * 60);
  run("groups", {address(ids)});
  for (uint32_t i = 0; i < ids.size(); ++i) {
    uint32_t g = i / 60, l = i % 60;
    ASSERT_EQ(ids[i],
              g % 3 | g / 3 % 2 << 4 | g / 6 << 8 | l % 5 << 12 | l / 5 % 3 << 16 | l / 15 << 20)
        << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, DeviceRdnaKernels, testing::ValuesIn(cases()),
                         [](const auto &info) {
                           return std::string(info.param.target) + "_wave" +
                                  std::to_string(info.param.waveSize) + "_" +
                                  (info.param.level + 1);
                         });

} // namespace
} // namespace wavetile::device::test
