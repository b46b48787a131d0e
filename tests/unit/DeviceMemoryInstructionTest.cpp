//===- DeviceMemoryInstructionTest.cpp - Memory instructions of the emulator ===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceTestSupport.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace wavetile::device::test {
namespace {

/// A wave with a buffer in memory; s[2:3] is its address, s[4:7] a buffer resource for it.
class MemoryTest : public WaveUnderTest {
public:
  MemoryTest(const std::string &target, const std::string &assembly, uint32_t records,
             uint32_t flags = 0)
      : WaveUnderTest(target, assembly), words(1024) {
    std::iota(words.begin(), words.end(), 1000u);
    Allocation allocation;
    allocation.begin = address();
    allocation.end = allocation.begin + 4 * words.size();
    allocation.source = BoundsSource::Device;
    memory.add(allocation, "buffer");
    sgpr(2) = sgpr(4) = static_cast<uint32_t>(address());
    sgpr(3) = sgpr(5) = static_cast<uint32_t>(address() >> 32);
    sgpr(6) = records;
    sgpr(7) = flags ? flags : size() == 64 ? 0x27000 : 0x31027000;
  }
  uint64_t address() const { return reinterpret_cast<uint64_t>(words.data()); }
  std::vector<uint32_t> words;
};

std::string name(const std::string &target, const char *gfx9, const char *gfx11) {
  return target == "gfx1150" ? gfx11 : gfx9;
}

// --- Buffers ---

TEST(DeviceBuffer, RangeChecksGoByDwordOnGfx9) {
  MemoryTest test("gfx950", "buffer_load_dwordx4 v[4:7], v0, s[4:7], 0 offen", 4 * 10 + 2);
  for (unsigned lane = 0; lane < 64; ++lane) {
    test.vgpr(0, lane) = 4 * lane;
    for (unsigned i = 4; i < 8; ++i)
      test.vgpr(i, lane) = 7;
  }
  test.run();
  for (unsigned lane = 0; lane < 64; ++lane)
    for (unsigned i = 0; i < 4; ++i) // The tenth dword is the last whole one.
      EXPECT_EQ(test.vgpr(4 + i, lane), lane + i < 10 ? 1000 + lane + i : 0u) << lane;
}
TEST(DeviceBuffer, VectorsAreInRangeAsAWholeOnGfx11) {
  MemoryTest test("gfx1150", "buffer_load_b128 v[4:7], v0, s[4:7], 0 offen", 4 * 10);
  for (unsigned lane = 0; lane < 32; ++lane)
    test.vgpr(0, lane) = 4 * lane;
  test.run();
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 4; ++i)
      EXPECT_EQ(test.vgpr(4 + i, lane), lane + 4 <= 10 ? 1000 + lane + i : 0u) << lane;
}
TEST(DeviceBuffer, ResourcesMaySwitchChecksOffOnGfx11) {
  MemoryTest test("gfx1150", "buffer_load_b32 v4, v0, s[4:7], 0 offen", 4, 0x21027000);
  test.vgpr(0, 3) = 400;
  test.run();
  EXPECT_EQ(test.vgpr(4, 3), 1100u);
}
TEST(DeviceBuffer, MaskedLanesAreDroppedBeforeAnyOtherCheck) {
  for (const char *target : targetNames)
    for (uint32_t masked : {0x80000000u, 0xffffffffu}) {
      MemoryTest test(target,
                      name(target, "buffer_store_dwordx2", "buffer_store_b64") +
                          " v[4:5], v0, s[4:7], 0 offen offset:16\n" +
                          name(target, "buffer_load_dword", "buffer_load_b32") +
                          " v6, v0, s[4:7], 0 offen offset:16",
                      0x7ffffffe);
      for (unsigned lane = 0; lane < test.size(); ++lane) {
        test.vgpr(0, lane) = lane % 2 ? masked : 8 * lane;
        test.vgpr(4, lane) = lane, test.vgpr(5, lane) = 100 + lane;
        test.vgpr(6, lane) = 77;
      }
      test.run();
      for (unsigned lane = 0; lane < test.size(); ++lane) {
        EXPECT_EQ(test.vgpr(6, lane), lane % 2 ? 0 : lane);
        EXPECT_EQ(test.words[4 + 2 * lane], lane % 2 ? 1004 + 2 * lane : lane);
        EXPECT_EQ(test.words[5 + 2 * lane], lane % 2 ? 1005 + 2 * lane : 100 + lane);
      }
    }
}
TEST(DeviceBuffer, NarrowFormsAndHalves) {
  for (const char *target : targetNames) {
    std::string text;
    for (auto [gfx9, gfx11] : {std::pair{"ubyte v1", "u8 v1"},
                               {"sbyte v2", "i8 v2"},
                               {"ushort v3", "u16 v3"},
                               {"sshort v4", "i16 v4"},
                               {"short_d16 v5", "d16_b16 v5"},
                               {"short_d16_hi v6", "d16_hi_b16 v6"}})
      text += "buffer_load_" + name(target, gfx9, gfx11) + ", v0, s[4:7], 0 offen\n";
    text +=
        "buffer_store_" + name(target, "byte v5", "b8 v5") + ", v0, s[4:7], 0 offen offset:64\n";
    text += "buffer_store_" + name(target, "short_d16_hi v6", "d16_hi_b16 v6") +
            ", v0, s[4:7], 0 offen offset:128\n";
    MemoryTest test(target, text, 4096);
    test.words[0] = 0x8899f0f1, test.words[16] = test.words[32] = 0xeeeeeeee;
    for (unsigned i = 1; i < 7; ++i)
      test.vgpr(i, 0) = 0xabcd1234;
    test.wave->setLaneMask(scalar::Exec, 1);
    test.run();
    EXPECT_EQ(test.vgpr(1, 0), 0xf1u);
    EXPECT_EQ(test.vgpr(2, 0), 0xfffffff1u);
    EXPECT_EQ(test.vgpr(3, 0), 0xf0f1u);
    EXPECT_EQ(test.vgpr(4, 0), 0xfffff0f1u);
    EXPECT_EQ(test.vgpr(5, 0), 0xabcdf0f1u);
    EXPECT_EQ(test.vgpr(6, 0), 0xf0f11234u);
    EXPECT_EQ(test.words[16], 0xeeeeeef1u);
    EXPECT_EQ(test.words[32], 0xeeeef0f1u);
  }
}
TEST(DeviceBuffer, LoadsToLdsGoByM0AndLane) {
  MemoryTest test("gfx950",
                  "s_mov_b32 m0, 0x100\n"
                  "buffer_load_dwordx4 v0, s[4:7], 0 offen offset:32 lds\n",
                  4 * 200);
  for (unsigned lane = 0; lane < 64; ++lane)
    test.vgpr(0, lane) = 4 * (63 - lane) * 4;
  test.wave->setLaneMask(scalar::Exec, ~uint64_t(4)); // Lane 2 writes nothing.
  std::fill(test.lds.begin(), test.lds.end(), 0xcc);
  test.run();
  for (unsigned lane = 0; lane < 64; ++lane)
    for (unsigned i = 0; i < 4; ++i) {
      uint32_t got;
      std::copy_n(test.lds.data() + 0x100 + 32 + 16 * lane + 4 * i, 4,
                  reinterpret_cast<uint8_t *>(&got));
      uint32_t index = 8 + 4 * (63 - lane) + i;
      EXPECT_EQ(got, lane == 2 ? 0xcccccccc : index < 200 ? 1000 + index : 0u) << lane;
    }
}

// --- Global ---

TEST(DeviceGlobal, AddressForms) {
  for (const char *target : targetNames) {
    std::string load = name(target, "global_load_dword", "global_load_b32");
    MemoryTest test(target,
                    load + " v4, v0, s[2:3] offset:-16\n" + load + " v5, v[2:3], off offset:8\n" +
                        name(target, "flat_load_dword", "flat_load_b32") + " v6, v[2:3] offset:12",
                    0);
    for (unsigned lane = 0; lane < test.size(); ++lane) {
      test.vgpr(0, lane) = 16 + 4 * lane;
      test.vgpr(2, lane) = static_cast<uint32_t>(test.address() + 4 * lane);
      test.vgpr(3, lane) = static_cast<uint32_t>((test.address() + 4 * lane) >> 32);
    }
    test.run();
    for (unsigned lane = 0; lane < test.size(); ++lane) {
      EXPECT_EQ(test.vgpr(4, lane), 1000 + lane);
      EXPECT_EQ(test.vgpr(5, lane), 1002 + lane);
      EXPECT_EQ(test.vgpr(6, lane), 1003 + lane);
    }
  }
}
TEST(DeviceGlobal, BlocksMayOverwriteTheirAddress) {
  MemoryTest test("gfx1201", "s_mov_b32 m0, 0xf\nglobal_load_block v[4:35], v[4:5], off offset:8\n",
                  0);
  for (unsigned lane = 0; lane < test.size(); ++lane) {
    test.vgpr(4, lane) = static_cast<uint32_t>(test.address() + 16 * lane);
    test.vgpr(5, lane) = static_cast<uint32_t>((test.address() + 16 * lane) >> 32);
  }
  test.run();
  for (unsigned lane = 0; lane < test.size(); ++lane)
    for (unsigned i = 0; i < 4; ++i)
      EXPECT_EQ(test.vgpr(4 + i, lane), 1002 + 4 * lane + i) << lane;
}
TEST(DeviceGlobal, ScatteredAndPartlyMaskedVectors) {
  for (const char *target : targetNames) {
    MemoryTest test(
        target,
        name(target, "global_load_dwordx4", "global_load_b128") + " v[4:7], v0, s[2:3]\n" +
            name(target, "global_store_dwordx4", "global_store_b128") + " v1, v[4:7], s[2:3]",
        0);
    uint64_t exec = 0xfff0f00ffabcdef1 & test.wave->allLanes();
    for (unsigned lane = 0; lane < test.size(); ++lane) {
      test.vgpr(0, lane) = 4 * ((lane * 37) % 200) + 1; // Any byte alignment.
      test.vgpr(1, lane) = 2048 + 16 * lane;
    }
    std::vector<uint32_t> before = test.words;
    test.wave->setLaneMask(scalar::Exec, exec);
    test.run();
    for (unsigned lane = 0; lane < test.size(); ++lane)
      for (unsigned i = 0; i < 4; ++i) {
        uint32_t expected = before[512 + 4 * lane + i];
        if (exec >> lane & 1)
          std::copy_n(reinterpret_cast<const uint8_t *>(before.data()) + test.vgpr(0, lane) + 4 * i,
                      4, reinterpret_cast<uint8_t *>(&expected));
        EXPECT_EQ(test.words[512 + 4 * lane + i], expected) << target << lane;
      }
  }
}
TEST(DeviceGlobal, AtomicsServeLanesInOrderAndReturnOldValues) {
  for (const char *target : targetNames) {
    std::string returning = std::string(target) == "gfx1150" ? " glc" : " sc0";
    MemoryTest test(
        target,
        name(target, "global_atomic_add", "global_atomic_add_u32") + " v4, v0, v1, s[2:3]" +
            returning + "\n" + name(target, "global_atomic_umax", "global_atomic_max_u32") +
            " v0, v1, s[2:3] offset:4\n" + "global_atomic_add_f32 v0, v2, s[2:3] offset:8\n" +
            name(target, "global_atomic_cmpswap", "global_atomic_cmpswap_b32") +
            " v5, v0, v[6:7], s[2:3] offset:12" + returning,
        0);
    test.words[2] = std::bit_cast<uint32_t>(0.5f);
    for (unsigned lane = 0; lane < test.size(); ++lane) {
      test.vgpr(1, lane) = 3000 + lane, test.vgpr(2, lane) = std::bit_cast<uint32_t>(1.0f);
      test.vgpr(6, lane) = 5 + lane, test.vgpr(7, lane) = lane == 0 ? 1003 : 5;
    }
    test.run();
    uint32_t sum = 1000;
    for (unsigned lane = 0; lane < test.size(); ++lane) {
      EXPECT_EQ(test.vgpr(4, lane), sum);
      sum += 3000 + lane;
      EXPECT_EQ(test.vgpr(5, lane), lane == 0 ? 1003 : lane == 1 ? 5 : 6u);
    }
    EXPECT_EQ(test.words[0], sum);
    EXPECT_EQ(test.words[1], 3000 + test.size() - 1);
    EXPECT_EQ(test.words[2], std::bit_cast<uint32_t>(0.5f + static_cast<float>(test.size())));
    EXPECT_EQ(test.words[3], 6u);
  }
}
TEST(DeviceGlobal, FlatReachesLdsThroughItsAperture) {
  MemoryTest test("gfx950",
                  "flat_store_dword v[2:3], v1\nflat_load_dword v4, v[2:3]\n"
                  "ds_read_b32 v5, v0",
                  0);
  for (unsigned lane = 0; lane < 64; ++lane) {
    test.vgpr(0, lane) = test.vgpr(2, lane) = 8 * lane;
    test.vgpr(3, lane) = 0x00010000;
    test.vgpr(1, lane) = 500 + lane;
  }
  test.run();
  for (unsigned lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(test.vgpr(4, lane), 500 + lane);
    EXPECT_EQ(test.vgpr(5, lane), 500 + lane);
  }
}

// --- LDS ---

TEST(DeviceLds, TwoAddressFormsAndStrides) {
  for (const char *target : targetNames) {
    MemoryTest test(target,
                    name(target, "ds_write2_b32", "ds_store_2addr_b32") +
                        " v0, v1, v2 offset0:3 offset1:1\n" +
                        name(target, "ds_write2st64_b64", "ds_store_2addr_stride64_b64") +
                        " v0, v[2:3], v[4:5] offset0:2 offset1:5\n" +
                        name(target, "ds_read2_b64", "ds_load_2addr_b64") +
                        " v[8:11], v0 offset0:128 offset1:0",
                    0);
    test.wave->setLaneMask(scalar::Exec, 2);
    test.vgpr(0, 1) = 64;
    for (unsigned i = 1; i < 6; ++i)
      test.vgpr(i, 1) = 0x100 + i;
    test.run();
    auto at = [&](unsigned offset) {
      uint32_t word;
      std::copy_n(test.lds.data() + offset, 4, reinterpret_cast<uint8_t *>(&word));
      return word;
    };
    EXPECT_EQ(at(64 + 12), 0x101u);
    EXPECT_EQ(at(64 + 4), 0x102u);
    EXPECT_EQ(at(64 + 1024), 0x102u);
    EXPECT_EQ(at(64 + 1028), 0x103u);
    EXPECT_EQ(at(64 + 2560), 0x104u);
    EXPECT_EQ(test.vgpr(8, 1), 0x102u);
    EXPECT_EQ(test.vgpr(9, 1), 0x103u);
    EXPECT_EQ(test.vgpr(10, 1), 0u);
    EXPECT_EQ(test.vgpr(11, 1), 0x102u);
  }
}
TEST(DeviceLds, TransposingReadsGiveColumns) {
  // Row k of a block of 16 columns lies at 32 * k bytes (16-bit elements) or 16 * k (8-bit).
  MemoryTest test("gfx950", "ds_read_b64_tr_b16 v[4:5], v0\nds_read_b64_tr_b8 v[6:7], v1", 0);
  for (unsigned i = 0; i < 2048; ++i)
    test.lds[i] = static_cast<uint8_t>(i * 7 + i / 256);
  for (unsigned lane = 0; lane < 64; ++lane)
    test.vgpr(0, lane) = test.vgpr(1, lane) = 8 * lane;
  test.run();
  for (unsigned lane = 0; lane < 64; ++lane) {
    unsigned group = lane / 16, column = lane % 16;
    for (unsigned k = 0; k < 4; ++k)
      for (unsigned byte = 0; byte < 2; ++byte)
        EXPECT_EQ(test.vgpr(4 + k / 2, lane) >> (16 * (k % 2) + 8 * byte) & 0xff,
                  test.lds[128 * group + 32 * k + 2 * column + byte]);
    for (unsigned k = 0; k < 8; ++k)
      EXPECT_EQ(test.vgpr(6 + k / 4, lane) >> (8 * (k % 4)) & 0xff,
                test.lds[128 * group + 16 * k + column]);
  }
}

// --- Whole kernels ---

/// Softmax of a row by one workgroup of several waves: permutations, LDS, barriers, exp2, division.
TEST(DeviceKernel, SoftmaxOverSeveralWaves) {
  for (const char *target : targetNames) {
    unsigned waveSize = findTarget(target)->waveSize, items = 256, columns = 1003;
    std::string source = "#define WAVE " + std::to_string(waveSize) + "\n" + R"(
float as_f(int x) { return __builtin_bit_cast(float, x); }
kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void softmax(global const float *in, global float *out, long n) {
  local float parts[2][16];
  uint id = __builtin_amdgcn_workitem_id_x();
  uint row = __builtin_amdgcn_workgroup_id_x();
  in += row * n, out += row * n;
  float high = -__builtin_inff();
  for (uint i = id; i < n; i += 256)
    high = __builtin_fmaxf(high, in[i]);
  for (uint d = WAVE / 2; d > 0; d /= 2)
    high = __builtin_fmaxf(high, as_f(__builtin_amdgcn_ds_bpermute((id ^ d) * 4, __builtin_bit_cast(int, high))));
  if (id % WAVE == 0)
    parts[0][id / WAVE] = high;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  high = parts[0][0];
  for (uint i = 1; i < 256 / WAVE; ++i)
    high = __builtin_fmaxf(high, parts[0][i]);
  float sum = 0;
  for (uint i = id; i < n; i += 256)
    sum += __builtin_amdgcn_exp2f((in[i] - high) * 1.44269504f);
  for (uint d = WAVE / 2; d > 0; d /= 2)
    sum += as_f(__builtin_amdgcn_ds_bpermute((id ^ d) * 4, __builtin_bit_cast(int, sum)));
  if (id % WAVE == 0)
    parts[1][id / WAVE] = sum;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  sum = 0;
  for (uint i = 0; i < 256 / WAVE; ++i)
    sum += parts[1][i];
  for (uint i = id; i < n; i += 256)
    out[i] = __builtin_amdgcn_exp2f((in[i] - high) * 1.44269504f) / sum;
}
)";
    LoadedObject object(target, source, "cl", "-O2 -Xclang -finclude-default-header");
    unsigned rows = 3;
    std::vector<float> in(rows * columns), out(rows * columns, NAN);
    for (size_t i = 0; i < in.size(); ++i)
      in[i] = static_cast<float>((i * 7919) % 1000) / 50 - 10;
    LaunchResult result = object.run(
        "softmax",
        {reinterpret_cast<uint64_t>(in.data()), reinterpret_cast<uint64_t>(out.data()), columns},
        {rows, 1, 1}, {items, 1, 1});
    ASSERT_FALSE(result.fault) << result.fault->instruction << " " << result.fault->detail;
    EXPECT_EQ(result.counters.waves, rows * items / waveSize);
    EXPECT_EQ(result.counters.bytesStored, rows * columns * 4);
    for (unsigned row = 0; row < rows; ++row) {
      double high = -INFINITY, sum = 0;
      for (unsigned i = 0; i < columns; ++i)
        high = std::max<double>(high, in[row * columns + i]);
      for (unsigned i = 0; i < columns; ++i)
        sum += std::exp(in[row * columns + i] - high);
      for (unsigned i = 0; i < columns; ++i) {
        double expected = std::exp(in[row * columns + i] - high) / sum;
        EXPECT_NEAR(out[row * columns + i], expected, 4e-6 * expected) << target;
      }
    }
  }
}

TEST(DeviceKernel, EachLaneHasItsOwnScratch) {
  const char *source = R"(
kernel void scratch(global uint *out, uint a) {
  uint id = __builtin_amdgcn_workitem_id_x();
  volatile uint table[17];
  for (uint i = 0; i < 17; ++i)
    table[i] = id * 100 + i;
  out[id] = table[(id + a) % 17];
}
)";
  for (const char *target : targetNames) {
    LoadedObject object(target, source, "cl", "-O1 -Xclang -finclude-default-header");
    std::vector<uint32_t> out(160);
    LaunchResult result =
        object.run("scratch", {reinterpret_cast<uint64_t>(out.data()), 5}, {1, 1, 1}, {160, 1, 1});
    ASSERT_FALSE(result.fault) << result.fault->instruction << " " << result.fault->detail;
    for (unsigned id = 0; id < 160; ++id)
      EXPECT_EQ(out[id], id * 100 + (id + 5) % 17);
  }
}

TEST(DeviceKernel, CallsAndReturns) {
  const char *source = R"(
__attribute__((noinline)) uint twice(uint x) { return x < 100 ? x * 2 : x - 1; }
__attribute__((noinline)) uint more(uint x) { return twice(x) + twice(x + 7); }
kernel void calls(global uint *out) {
  uint id = __builtin_amdgcn_workitem_id_x();
  out[id] = more(id);
}
)";
  auto twice = [](uint32_t x) { return x < 100 ? x * 2 : x - 1; };
  for (const char *target : targetNames) {
    LoadedObject object(target, source, "cl", "-O1 -Xclang -finclude-default-header");
    std::vector<uint32_t> out(128);
    LaunchResult result =
        object.run("calls", {reinterpret_cast<uint64_t>(out.data())}, {1, 1, 1}, {128, 1, 1});
    ASSERT_FALSE(result.fault) << result.fault->instruction << " " << result.fault->detail;
    for (unsigned id = 0; id < 128; ++id)
      EXPECT_EQ(out[id], twice(id) + twice(id + 7));
  }
}

TEST(DeviceKernel, ALaunchEndsAtItsInstructionLimit) {
  LoadedObject object("gfx950", "kernel void forever(global volatile int *p) { while (*p == 0); }",
                      "cl");
  object.instructionLimit = 10'000;
  int zero = 0;
  LaunchResult result =
      object.run("forever", {reinterpret_cast<uint64_t>(&zero)}, {1, 1, 1}, {64, 1, 1});
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, FaultKind::InstructionLimit);
}

} // namespace
} // namespace wavetile::device::test
