//===- DeviceRdnaInstructionTest.cpp - Single instructions of RDNA --------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expected values are worked out by hand or by code written from the pseudo-code of AMD's RDNA3 and
// RDNA4 instruction set documents, one instruction after another.
//
//===----------------------------------------------------------------------===//

#include "DeviceTestSupport.h"

#include "llvm/Object/ELFObjectFile.h"

#include <bit>
#include <cmath>
#include <functional>

namespace wavetile::device::test {
namespace {

uint32_t bitsOf(float x) { return std::bit_cast<uint32_t>(x); }
constexpr uint32_t lanePattern(unsigned lane) { return 0x01000193u * lane + 0x9e3779b9u; }

// --- Minimum and maximum of gfx12 ---

template <typename T> struct Format;
template <> struct Format<uint16_t> {
  static constexpr uint16_t infinity = 0x7c00, quiet = 0x200, sign = 0x8000;
};
template <> struct Format<uint32_t> {
  static constexpr uint32_t infinity = 0x7f800000, quiet = 0x400000, sign = 0x80000000;
};
template <> struct Format<uint64_t> {
  static constexpr uint64_t infinity = 0x7ff0000000000000, quiet = 0x8000000000000,
                            sign = 0x8000000000000000;
};
template <typename T> bool isNan(T x) { return T(x & ~Format<T>::sign) > Format<T>::infinity; }
template <typename T> bool isSignalling(T x) { return isNan(x) && !(x & Format<T>::quiet); }
template <typename T> T quiet(T x) { return x | Format<T>::quiet; }
/// The order of numbers with -0 below +0, as integers.
template <typename T> bool below(T a, T b) {
  using S = std::make_signed_t<T>;
  auto key = [](T x) {
    return x & Format<T>::sign ? static_cast<S>(~(x & ~Format<T>::sign)) : static_cast<S>(x);
  };
  return key(a) < key(b);
}
template <typename T> T number(T a, T b, bool maximum) {
  if (isNan(a) && isNan(b))
    return quiet(a);
  if (isNan(a))
    return b;
  if (isNan(b))
    return a;
  return (maximum ? below(b, a) : below(a, b)) ? a : b;
}
template <typename T> T propagating(T a, T b, bool maximum) {
  if (isSignalling(a))
    return quiet(a);
  if (isSignalling(b))
    return quiet(b);
  if (isNan(a) || isNan(b))
    return isNan(a) ? a : b;
  return (maximum ? below(b, a) : below(a, b)) ? a : b;
}
template <typename T> std::vector<T> specials() {
  using F = Format<T>;
  std::vector<T> all;
  for (T x : {T(0), T(1), F::infinity, T(F::infinity - 1), T(F::infinity | F::quiet | 5),
              T(F::infinity | 3), T(F::infinity / 2), T(F::infinity / 2 + 1)}) {
    all.push_back(x);
    all.push_back(x | F::sign);
  }
  return all;
}

/// Runs a binary instruction on every pair of specials.
template <typename T>
void checkPairs(const std::string &mnemonic, const std::function<T(T, T)> &expected) {
  constexpr unsigned words = sizeof(T) == 8 ? 2 : 1;
  std::string operands = words == 2 ? " v[0:1], v[2:3], v[4:5]" : " v0, v2, v4";
  std::vector<T> values = specials<T>();
  for (unsigned size : {32u, 64u}) {
    WaveUnderTest test("gfx1201", mnemonic + operands, size);
    for (T a : values) {
      for (unsigned lane = 0; lane < size; ++lane)
        for (unsigned word = 0; word < words; ++word) {
          test.vgpr(2 + word, lane) = static_cast<uint32_t>(uint64_t(a) >> (32 * word));
          test.vgpr(4 + word, lane) =
              static_cast<uint32_t>(uint64_t(values[lane % values.size()]) >> (32 * word));
          test.vgpr(0, lane) = 0xabcd0000;
        }
      test.restart();
      test.run();
      for (unsigned lane = 0; lane < size; ++lane) {
        uint64_t got = test.vgpr(0, lane);
        if (words == 2)
          got |= uint64_t(test.vgpr(1, lane)) << 32;
        T b = values[lane % values.size()];
        uint64_t want = sizeof(T) == 2 ? 0xabcd0000u | expected(a, b) : uint64_t(expected(a, b));
        ASSERT_EQ(got, want) << mnemonic << std::hex << " 0x" << uint64_t(a) << " 0x"
                             << uint64_t(b);
      }
    }
  }
}
TEST(DeviceGfx12Extrema, FollowIeee2019InEveryFormat) {
  auto all = [](const std::string &suffix, auto zero) {
    using T = decltype(zero);
    checkPairs<T>("v_min_num_" + suffix, [](T a, T b) { return number(a, b, false); });
    checkPairs<T>("v_max_num_" + suffix, [](T a, T b) { return number(a, b, true); });
    checkPairs<T>("v_minimum_" + suffix, [](T a, T b) { return propagating(a, b, false); });
    checkPairs<T>("v_maximum_" + suffix, [](T a, T b) { return propagating(a, b, true); });
  };
  all("f32", uint32_t(0));
  all("f16", uint16_t(0));
  all("f64", uint64_t(0));
}
TEST(DeviceGfx12Extrema, OfThreeAndPacked) {
  auto one = [](const std::string &instruction, std::vector<uint32_t> sources) {
    WaveUnderTest test("gfx1201", instruction);
    for (unsigned i = 0; i < sources.size(); ++i)
      test.vgpr(1 + i, 7) = sources[i];
    test.run();
    return test.vgpr(0, 7);
  };
  uint32_t nan = 0x7fc01234, signalling = 0x7f800001, zero = 0, minusZero = 0x80000000;
  uint32_t one1 = bitsOf(1), two = bitsOf(2), three = bitsOf(3), minusOne = bitsOf(-1);
  EXPECT_EQ(one("v_max3_num_f32 v0, v1, v2, v3", {nan, two, signalling}), two);
  EXPECT_EQ(one("v_min3_num_f32 v0, v1, v2, v3", {three, nan, two}), two);
  EXPECT_EQ(one("v_maximum3_f32 v0, v1, v2, v3", {three, nan, two}), nan);
  EXPECT_EQ(one("v_minmax_num_f32 v0, v1, v2, v3", {three, two, one1}), two);
  EXPECT_EQ(one("v_maxmin_num_f32 v0, v1, v2, v3", {three, two, one1}), one1);
  EXPECT_EQ(one("v_minimummaximum_f32 v0, v1, v2, v3", {three, two, nan}), nan);
  EXPECT_EQ(one("v_maximumminimum_f32 v0, v1, v2, v3", {one1, two, one1}), one1);
  EXPECT_EQ(one("v_med3_num_f32 v0, v1, v2, v3", {three, one1, two}), two);
  EXPECT_EQ(one("v_med3_num_f32 v0, v1, v2, v3", {nan, one1, two}), one1);
  // The largest is found with zeros equal, what is left with -0 below +0.
  EXPECT_EQ(one("v_med3_num_f32 v0, v1, v2, v3", {minusZero, zero, minusOne}), zero);
  EXPECT_EQ(one("v_med3_num_f32 v0, v1, v2, v3", {zero, minusZero, minusOne}), minusZero);
  EXPECT_EQ(one("v_pk_max_num_f16 v0, v1, v2", {0x7c013c00, 0x4000bc00}), 0x40003c00u);
  EXPECT_EQ(one("v_pk_maximum_f16 v0, v1, v2", {0x7c013c00, 0x4000bc00}), 0x7e013c00u);
  EXPECT_EQ(one("v_pk_minimum_f16 v0, v1, v2 neg_lo:[1,0]", {0x00003c00, 0x8000bc00}), 0x8000bc00u);
  EXPECT_EQ(one("v_max_num_f32_e64 v0, -|v1|, v2 clamp", {three, nan}), 0u);
}

// --- Scalar transcendentals ---

TEST(DeviceGfx12ScalarTranscendental, ModifiersAndExec) {
  WaveUnderTest test("gfx1201", "v_s_sqrt_f32 s4, s0\n"
                                "v_s_rcp_f32 s5, -s1\n"
                                "v_s_exp_f32 s6, |s2|\n"
                                "v_s_log_f32 s7, s3 clamp\n"
                                "v_s_rcp_f16 s8, s9\n"
                                "v_s_rsq_f32 s10, 4.0\n"
                                "v_s_sqrt_f16 s11, 4.0\n"
                                "v_s_exp_f16 s12, s9");
  test.wave->setLaneMask(scalar::Exec, 0);
  test.sgpr(0) = bitsOf(9);
  test.sgpr(1) = bitsOf(8);
  test.sgpr(2) = bitsOf(-3);
  test.sgpr(3) = bitsOf(1024);
  test.sgpr(9) = 0xffff4400; // 4, and a high half that does not matter
  test.sgpr(8) = 0xffffffff;
  test.run();
  EXPECT_EQ(test.sgpr(4), bitsOf(3));
  EXPECT_EQ(test.sgpr(5), bitsOf(-0.125f));
  EXPECT_EQ(test.sgpr(6), bitsOf(8));
  EXPECT_EQ(test.sgpr(7), bitsOf(1));
  EXPECT_EQ(test.sgpr(8), 0x3400u);
  EXPECT_EQ(test.sgpr(10), bitsOf(0.5f));
  EXPECT_EQ(test.sgpr(11), 0x4000u);
  EXPECT_EQ(test.sgpr(12), 0x4c00u);
}

// --- Split barriers ---

TEST(DeviceGfx12Barrier, WavesWorkBetweenSignalAndWait) {
  // Each wave publishes a value, signals, does other work, waits, and reads its neighbour's.
  const char *source = R"(
kernel void split(global unsigned *out, global unsigned *first, global unsigned *state) {
  local unsigned values[5];
  unsigned l = __builtin_amdgcn_workitem_id_x(), wave = l / WAVE;
  for (unsigned phase = 0; phase < 7; ++phase) {
    values[wave] = wave * 100 + phase;
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    unsigned isFirst = __builtin_amdgcn_s_barrier_signal_isfirst(-1);
    unsigned work = 0;
    for (unsigned i = 0; i < wave + 1; ++i)
      work += out[l] + i;
    __builtin_amdgcn_s_barrier_wait(-1);
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    out[l] = out[l] * 31 + values[(wave + 1) % 5] + work;
    if (l % WAVE == 0)
      first[phase * 5 + wave] = isFirst;
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier_signal(-1);
    __builtin_amdgcn_s_barrier_wait(-1);
  }
  if (l == 0)
    *state = __builtin_amdgcn_s_get_barrier_state(-1);
}
)";
  for (unsigned size : {32u, 64u}) {
    std::string options = "-O2 -DWAVE=" + std::to_string(size);
    if (size == 64)
      options += " -mwavefrontsize64";
    LoadedObject object("gfx1201", source, "cl", options);
    std::vector<uint32_t> out(5 * size, 1), first(35, 7);
    uint32_t state = 0;
    auto address = [](auto *pointer) { return reinterpret_cast<uint64_t>(pointer); };
    LaunchResult result =
        object.run("split", {address(out.data()), address(first.data()), address(&state)},
                   {1, 1, 1}, {5 * size, 1, 1});
    ASSERT_FALSE(result.fault) << name(result.fault->kind).str() << " " << result.fault->detail;
    for (unsigned phase = 0; phase < 7; ++phase) {
      unsigned firsts = 0;
      for (unsigned wave = 0; wave < 5; ++wave)
        firsts += first[phase * 5 + wave];
      EXPECT_EQ(firsts, 1u) << phase;
    }
    for (unsigned l = 0; l < out.size(); ++l) {
      uint32_t wave = l / size, expected = 1;
      for (unsigned phase = 0; phase < 7; ++phase) {
        uint32_t work = 0;
        for (unsigned i = 0; i < wave + 1; ++i)
          work += expected + i;
        expected = expected * 31 + (wave + 1) % 5 * 100 + phase + work;
      }
      ASSERT_EQ(out[l], expected) << l;
    }
    EXPECT_EQ(state & 1, 1u);
    EXPECT_LE(state >> 4 & 127, 5u);
  }
}
TEST(DeviceGfx12Barrier, NamedOnesAreRefusedWhenLoaded) {
  for (const char *text :
       {"s_barrier_signal 1", "s_barrier_signal_isfirst 3", "s_barrier_wait 1",
        "s_get_barrier_state s0, 2", "s_barrier_init m0", "s_barrier_join m0", "s_barrier_leave"})
    EXPECT_EQ(refusedBy("gfx1201", text).size(), 1u) << text;
}

// --- Lanes ---

/// Runs an instruction that puts v1 into v0 and says which lane each lane gets: -1: its old value,
/// -2: zero.
void checkSources(const char *target, unsigned size, const std::string &assembly,
                  const std::function<int(unsigned)> &from, uint64_t exec = ~uint64_t(0),
                  const std::function<void(WaveUnderTest &)> &prepare = {}) {
  WaveUnderTest test(target, assembly, size);
  ASSERT_EQ(test.size(), size);
  test.wave->setLaneMask(scalar::Exec, exec);
  for (unsigned lane = 0; lane < size; ++lane) {
    test.vgpr(0, lane) = ~lane;
    test.vgpr(1, lane) = lanePattern(lane);
  }
  if (prepare)
    prepare(test);
  test.run();
  for (unsigned lane = 0; lane < size; ++lane) {
    int source = exec >> lane & 1 ? from(lane) : -1;
    uint32_t expected = source == -1   ? ~lane
                        : source == -2 ? 0
                                       : lanePattern(static_cast<unsigned>(source));
    ASSERT_EQ(test.vgpr(0, lane), expected)
        << target << " " << size << " " << assembly << " lane " << lane;
  }
}
const char *const rdnaTargets[] = {"gfx1100", "gfx1150", "gfx1151", "gfx1201"};

TEST(DeviceRdnaLanes, DppInBothSizes) {
  const std::string all = " row_mask:0xf bank_mask:0xf";
  for (const char *target : rdnaTargets)
    for (unsigned size : {32u, 64u}) {
      auto check = [&](const std::string &control, const std::function<int(unsigned)> &from,
                       uint64_t exec = ~uint64_t(0)) {
        checkSources(target, size, "v_mov_b32_dpp v0, v1 " + control, from, exec);
      };
      check("row_share:5" + all, [](unsigned l) { return int((l & ~15u) + 5); });
      check("row_xmask:9" + all, [](unsigned l) { return int(l ^ 9); });
      check("row_ror:3" + all, [](unsigned l) { return int((l & ~15u) + ((l - 3) & 15)); });
      check("row_shl:4" + all, [](unsigned l) { return l % 16 < 12 ? int(l + 4) : -1; });
      check("row_shr:2 row_mask:0xf bank_mask:0xf bound_ctrl:1",
            [](unsigned l) { return l % 16 >= 2 ? int(l - 2) : -2; });
      check("row_mirror" + all, [](unsigned l) { return int(l ^ 15); });
      check("row_half_mirror" + all, [](unsigned l) { return int(l ^ 7); });
      check("quad_perm:[3,0,2,1]" + all, [](unsigned l) {
        static constexpr int from[] = {3, 0, 2, 1};
        return int(l & ~3u) + from[l & 3];
      });
      check("row_mirror row_mask:0x6 bank_mask:0x9", [](unsigned l) {
        bool row = 0x6 >> (l / 16) & 1, bank = 0x9 >> (l % 16 / 4) & 1;
        return row && bank ? int(l ^ 15) : -1;
      });
      check("dpp8:[7,1,0,2,4,3,6,5]", [](unsigned l) {
        static constexpr int from[] = {7, 1, 0, 2, 4, 3, 6, 5};
        return int(l & ~7u) + from[l & 7];
      });
      // Lanes that are off are missing, unless they are asked for.
      uint64_t some = 0xfffe'7fff'ff0f'fffd;
      check(
          "row_ror:1" + all,
          [&](unsigned l) {
            unsigned from = (l & ~15u) + ((l - 1) & 15);
            return some >> from & 1 ? int(from) : -1;
          },
          some);
      check(
          "row_ror:1 row_mask:0xf bank_mask:0xf fi:1",
          [](unsigned l) { return int((l & ~15u) + ((l - 1) & 15)); }, some);
    }
}
TEST(DeviceRdnaLanes, DppInPlaceAndScalarSecondSource) {
  for (const char *target : rdnaTargets)
    for (unsigned size : {32u, 64u}) {
      WaveUnderTest test(target, "v_add_f32_dpp v1, v1, v1 row_ror:1 row_mask:0xf bank_mask:0xf",
                         size);
      for (unsigned lane = 0; lane < size; ++lane)
        test.vgpr(1, lane) = bitsOf(float(lane));
      test.run();
      for (unsigned lane = 0; lane < size; ++lane)
        EXPECT_EQ(test.vgpr(1, lane), bitsOf(float((lane & ~15u) + ((lane - 1) & 15)) + lane));
    }
  for (const char *target : {"gfx1150", "gfx1151", "gfx1201"}) {
    WaveUnderTest test(target,
                       "v_sub_f32_e64_dpp v0, v1, s2 row_xmask:3 row_mask:0xf bank_mask:0xf\n"
                       "v_add3_u32_e64_dpp v2, v1, s2, v1 dpp8:[1,0,3,2,5,4,7,6]");
    test.sgpr(2) = bitsOf(2);
    for (unsigned lane = 0; lane < 32; ++lane)
      test.vgpr(1, lane) = bitsOf(float(lane));
    test.run();
    for (unsigned lane = 0; lane < 32; ++lane) {
      EXPECT_EQ(test.vgpr(0, lane), bitsOf(float(lane ^ 3) - 2));
      EXPECT_EQ(test.vgpr(2, lane), bitsOf(float(lane ^ 1)) + bitsOf(2) + bitsOf(float(lane)));
    }
  }
}
TEST(DeviceRdnaLanes, PermutesOfRowsAndHalves) {
  for (const char *target : rdnaTargets)
    for (unsigned size : {32u, 64u}) {
      auto selectors = [](WaveUnderTest &test) {
        test.sgpr(2) = 0x76543210, test.sgpr(3) = 0x01234567;
      };
      auto selected = [](unsigned l) { return l % 16 < 8 ? l % 8 : 7 - l % 8; };
      checkSources(
          target, size, "v_permlane16_b32 v0, v1, s2, s3",
          [&](unsigned l) { return int((l & ~15u) + selected(l)); }, ~0ull, selectors);
      checkSources(
          target, size, "v_permlanex16_b32 v0, v1, s2, s3",
          [&](unsigned l) { return int(((l & ~15u) ^ 16) + selected(l)); }, ~0ull, selectors);
      checkSources(target, size, "v_permlane64_b32 v0, v1",
                   [&](unsigned l) { return size == 64 ? int(l ^ 32) : -1; });
    }
  for (unsigned size : {32u, 64u}) {
    auto chosen = [](unsigned l) { return (l * 7 + 3) & 15; };
    auto prepare = [&](WaveUnderTest &test) {
      for (unsigned l = 0; l < size; ++l)
        test.vgpr(2, l) = chosen(l) | 0xabc0; // Only four bits count.
    };
    checkSources(
        "gfx1201", size, "v_permlane16_var_b32 v0, v1, v2",
        [&](unsigned l) { return int((l & ~15u) + chosen(l)); }, ~0ull, prepare);
    checkSources(
        "gfx1201", size, "v_permlanex16_var_b32 v0, v1, v2",
        [&](unsigned l) { return int(((l & ~15u) ^ 16) + chosen(l)); }, ~0ull, prepare);
  }
}
TEST(DeviceRdnaLanes, DsPermutesOfAWaveOf64) {
  // gfx11 executes the halves one after the other; gfx12 sees the whole wave.
  for (const char *target : rdnaTargets) {
    bool whole = std::string(target) == "gfx1201";
    auto wanted = [](unsigned l) { return (l * 11 + 5) & 63; };
    auto prepare = [&](WaveUnderTest &test) {
      for (unsigned l = 0; l < 64; ++l)
        test.vgpr(2, l) = wanted(l) * 4;
    };
    uint64_t exec = ~uint64_t(1 << 9);
    checkSources(
        target, 64, "ds_bpermute_b32 v0, v2, v1",
        [&](unsigned l) {
          unsigned from = whole ? wanted(l) : (wanted(l) & 31) + (l & 32);
          return from == 9 ? -2 : int(from);
        },
        exec, prepare);
    // 11 is odd, so every lane is sent to once, in the whole wave and in each half.
    checkSources(
        target, 64, "ds_permute_b32 v0, v2, v1",
        [&](unsigned l) {
          for (unsigned sender = 0; sender < 64; ++sender)
            if (sender != 9 &&
                (whole ? wanted(sender) == l
                       : (wanted(sender) & 31) == (l & 31) && (sender & 32) == (l & 32)))
              return int(sender);
          return -2;
        },
        exec, prepare);
  }
}
TEST(DeviceRdnaLanes, MasksArePairsInAWaveOf64) {
  for (const char *target : rdnaTargets) {
    WaveUnderTest test(target,
                       "v_cmp_lt_u32_e64 s[4:5], v1, v2\n"
                       "v_cmp_gt_u32_e32 vcc, v1, v2\n"
                       "v_cndmask_b32_e32 v3, v1, v2, vcc\n"
                       "v_add_co_u32 v4, s[6:7], v1, v5\n"
                       "v_add_co_ci_u32_e64 v6, s[8:9], v1, v2, s[6:7]\n"
                       "v_cmpx_ne_u32_e64 v1, v2\n"
                       "v_mov_b32 v7, 1",
                       64);
    auto a = [](unsigned l) { return l * 0x9e3779b1u; };
    auto b = [&](unsigned l) { return l % 5 == 0 ? a(l) : l * 0x85ebca77u; };
    for (unsigned l = 0; l < 64; ++l) {
      test.vgpr(1, l) = a(l), test.vgpr(2, l) = b(l), test.vgpr(5, l) = 0x80000000u;
      test.vgpr(7, l) = 0;
    }
    test.run();
    uint64_t lower = 0, higher = 0, carry = 0, carry2 = 0, different = 0;
    for (unsigned l = 0; l < 64; ++l) {
      uint64_t bit = uint64_t(1) << l;
      lower |= a(l) < b(l) ? bit : 0;
      higher |= a(l) > b(l) ? bit : 0;
      different |= a(l) != b(l) ? bit : 0;
      bool c = (a(l) + uint64_t(0x80000000u)) >> 32 != 0;
      carry |= c ? bit : 0;
      carry2 |= (uint64_t(a(l)) + b(l) + c) >> 32 ? bit : 0;
      EXPECT_EQ(test.vgpr(3, l), a(l) > b(l) ? b(l) : a(l));
      EXPECT_EQ(test.vgpr(4, l), a(l) + 0x80000000u);
      EXPECT_EQ(test.vgpr(6, l), a(l) + b(l) + c);
      EXPECT_EQ(test.vgpr(7, l), a(l) != b(l) ? 1u : 0u);
    }
    EXPECT_EQ(test.wave->scalar64(4), lower) << target;
    EXPECT_EQ(test.wave->scalar64(scalar::Vcc), higher);
    EXPECT_EQ(test.wave->scalar64(6), carry);
    EXPECT_EQ(test.wave->scalar64(8), carry2);
    // v_cmpx writes EXEC and nothing else.
    EXPECT_EQ(test.wave->exec(), different);
  }
}

// --- Dual instructions ---

TEST(DeviceRdnaDual, BothHalvesReadBeforeEitherWrites) {
  for (const char *target : rdnaTargets) {
    WaveUnderTest test(target, "v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v1, v0\n"
                               "v_dual_add_f32 v2, v3, v2 :: v_dual_sub_f32 v3, v2, v3\n"
                               "v_dual_fmac_f32 v4, v5, v6 :: v_dual_mul_f32 v7, v4, v7\n"
                               "v_dual_cndmask_b32 v8, v9, v10 :: v_dual_add_nc_u32 v11, v8, v9\n"
                               "v_dual_fmaak_f32 v12, v13, v14, 0x40400000 :: "
                               "v_dual_fmamk_f32 v15, v12, 0x40400000, v13");
    test.sgpr(scalar::Vcc) = 0x0f0f3355;
    auto value = [](unsigned v, unsigned l) { return float(int((v * 37 + l * 11) % 64) - 31); };
    for (unsigned v = 0; v < 16; ++v)
      for (unsigned l = 0; l < 32; ++l)
        test.vgpr(v, l) = bitsOf(value(v, l));
    test.run();
    for (unsigned l = 0; l < 32; ++l) {
      auto v = [&](unsigned n) { return value(n, l); };
      auto expect = [&](unsigned n, uint32_t bits) {
        EXPECT_EQ(test.vgpr(n, l), bits) << target << " v" << n << " lane " << l;
      };
      expect(0, bitsOf(v(1)));
      expect(1, bitsOf(v(0)));
      expect(2, bitsOf(v(3) + v(2)));
      expect(3, bitsOf(v(2) - v(3)));
      expect(4, bitsOf(v(5) * v(6) + v(4)));
      expect(7, bitsOf(v(4) * v(7)));
      expect(8, 0x0f0f3355u >> l & 1 ? bitsOf(v(10)) : bitsOf(v(9)));
      expect(11, bitsOf(v(8)) + bitsOf(v(9)));
      expect(12, bitsOf(v(13) * v(14) + 3));
      expect(15, bitsOf(v(12) * 3 + v(13)));
    }
  }
}
/// Every pair of halves gives what its two instructions give apart.
TEST(DeviceRdnaDual, EveryPairIsItsTwoInstructions) {
  for (const char *target : {"gfx1100", "gfx1201"}) {
    bool isGfx12 = std::string(target) == "gfx1201";
    std::string minimum = isGfx12 ? "min_num_f32" : "min_f32";
    std::string maximum = isGfx12 ? "max_num_f32" : "max_f32";
    std::vector<std::pair<std::string, bool>> operations = {
        {"fmac_f32", false},   {"mul_f32", false},         {"add_f32", false},
        {"sub_f32", false},    {"subrev_f32", false},      {"mul_dx9_zero_f32", false},
        {"mov_b32", false},    {"cndmask_b32", false},     {maximum, false},
        {minimum, false},      {"dot2acc_f32_f16", false}, {"add_nc_u32", true},
        {"lshlrev_b32", true}, {"and_b32", true},
    };
    auto operands = [](const std::string &operation, const char *to, const char *a, const char *b) {
      return std::string(" ") + to + ", " + a +
             (operation == "mov_b32" ? "" : std::string(", ") + b);
    };
    if (isGfx12) // There it is no instruction of its own.
      std::erase_if(operations, [](const auto &pair) { return pair.first == "dot2acc_f32_f16"; });
    auto alone = [](const std::string &operation, const std::string &text) {
      return "v_" + operation + text + (operation == "cndmask_b32" ? ", vcc_lo\n" : "\n");
    };
    std::string dual, single;
    for (const auto &[x, onlySecondX] : operations) {
      if (onlySecondX)
        continue;
      for (const auto &[y, onlySecondY] : operations) {
        std::string textX = operands(x, "v0", "v1", "v2"), textY = operands(y, "v5", "v6", "v7");
        dual += "v_dual_" + x + textX + " :: v_dual_" + y + textY + "\n";
        single += alone(x, textX) + alone(y, textY);
      }
    }
    WaveUnderTest two(target, dual), one(target, single);
    for (WaveUnderTest *test : {&two, &one}) {
      test->sgpr(scalar::Vcc) = 0x5a5a1234;
      for (unsigned v = 0; v < 8; ++v)
        for (unsigned l = 0; l < 32; ++l)
          test->vgpr(v, l) = bitsOf(1.0f + float((v * 5 + l * 3) % 17) / 16);
      test->run();
    }
    for (unsigned v = 0; v < 8; ++v)
      for (unsigned l = 0; l < 32; ++l)
        ASSERT_EQ(two.vgpr(v, l), one.vgpr(v, l)) << target << " v" << v << " lane " << l;
  }
}

// --- True16 ---

TEST(DeviceRdnaTrue16, HalvesInEveryEncoding) {
  for (const char *target : {"gfx1100", "gfx1150", "gfx1151"}) {
    WaveUnderTest test(target, "v_add_f16 v0.h, v1.l, v1.h\n"          // VOP2
                               "v_mov_b16 v2.l, v1.h\n"                // VOP1
                               "v_cmp_lt_f16_e32 vcc_lo, v1.h, v1.l\n" // VOPC
                               "v_fma_f16 v3.h, v1.h, v1.l, v200.h\n"  // VOP3
                               "v_sub_f16_e64 v4.l, -v1.h, |v200.l|\n"
                               "v_cvt_f32_f16 v5, v1.h\n"
                               "v_cvt_f16_f32 v6.h, v5\n"
                               "v_swap_b16 v7.l, v1.h\n"
                               "v_pack_b32_f16 v8, v200.h, v200.l\n"
                               "v_mul_f16_dpp v9.h, v20.h, v20.l row_xmask:1 row_mask:0xf "
                               "bank_mask:0xf\n"
                               "v_add_nc_u16 v10.h, v200.l, v200.h");
    for (unsigned l = 0; l < 32; ++l) {
      for (unsigned v : {0u, 2u, 3u, 4u, 6u, 7u, 9u, 10u})
        test.vgpr(v, l) = 0x11112222;
      test.vgpr(1, l) = 0x4200'3c00;                      // 3 and 1
      test.vgpr(20, l) = test.vgpr(200, l) = 0x4000'c400; // 2 and -4
    }
    test.run();
    for (unsigned l = 0; l < 32; ++l) {
      EXPECT_EQ(test.vgpr(0, l), 0x44002222u) << target; // 4
      EXPECT_EQ(test.vgpr(2, l), 0x11114200u);
      EXPECT_EQ(test.vgpr(3, l), 0x45002222u); // 3 * 1 + 2
      EXPECT_EQ(test.vgpr(4, l), 0x1111c700u); // -3 - 4
      EXPECT_EQ(test.vgpr(5, l), bitsOf(3));
      EXPECT_EQ(test.vgpr(6, l), 0x42002222u);
      EXPECT_EQ(test.vgpr(7, l), 0x11114200u);
      EXPECT_EQ(test.vgpr(1, l), 0x22223c00u);
      EXPECT_EQ(test.vgpr(8, l), 0xc4004000u);
      EXPECT_EQ(test.vgpr(9, l), 0xc8002222u); // -8
      EXPECT_EQ(test.vgpr(10, l), 0x04002222u);
    }
    EXPECT_EQ(test.sgpr(scalar::Vcc), 0u);
  }
}

// --- Scalars ---

TEST(DeviceRdnaScalar, FloatsOfGfx1150) {
  for (const char *target : {"gfx1150", "gfx1151", "gfx1201"}) {
    WaveUnderTest test(target, "s_add_f32 s10, s0, s1\n"
                               "s_fmac_f32 s2, s0, s1\n"
                               "s_fmaak_f32 s11, s0, s1, 0x40400000\n"
                               "s_fmamk_f32 s12, s0, 0x40400000, s1\n"
                               "s_floor_f16 s13, s3\n"
                               "s_ceil_f16 s14, s3\n"
                               "s_trunc_f32 s15, s4\n"
                               "s_rndne_f32 s16, s4\n"
                               "s_cvt_f16_f32 s17, s4\n"
                               "s_cvt_hi_f32_f16 s18, s5\n"
                               "s_cvt_pk_rtz_f16_f32 s19, s4, s0\n"
                               "s_cvt_i32_f32 s20, s4\n"
                               "s_cvt_u32_f32 s21, s4\n"
                               "s_cvt_f32_u32 s22, s6\n"
                               "s_mul_f16 s23, s5, s3\n"
                               "s_cmp_lt_f32 s4, s0\n"
                               "s_cselect_b32 s24, 1, 0\n"
                               "s_cmp_nge_f16 s5, s3\n"
                               "s_cselect_b32 s25, 1, 0\n"
                               "s_cmp_u_f32 s7, s0\n"
                               "s_cselect_b32 s26, 1, 0");
    test.sgpr(0) = bitsOf(1.5f), test.sgpr(1) = bitsOf(-4), test.sgpr(2) = bitsOf(10);
    test.sgpr(3) = 0xc100; // -2.5
    test.sgpr(4) = bitsOf(-2.5f);
    test.sgpr(5) = 0x42004400; // 3 and 4
    test.sgpr(6) = 0xffffffff, test.sgpr(7) = 0x7fc00000;
    test.run();
    const std::pair<unsigned, uint32_t> expected[] = {{10, bitsOf(-2.5f)},
                                                      {2, bitsOf(4)},
                                                      {11, bitsOf(-3)},
                                                      {12, bitsOf(0.5f)},
                                                      {13, 0xc200},
                                                      {14, 0xc000},
                                                      {15, bitsOf(-2)},
                                                      {16, bitsOf(-2)},
                                                      {17, 0xc100},
                                                      {18, bitsOf(3)},
                                                      {19, 0x3e00c100},
                                                      {20, uint32_t(-2)},
                                                      {21, 0},
                                                      {22, bitsOf(0x1p32f)},
                                                      {23, 0xc900},
                                                      {24, 1},
                                                      {25, 0},
                                                      {26, 1}};
    for (auto [index, value] : expected)
      EXPECT_EQ(test.sgpr(index), value) << target << " s" << index;
  }
}
TEST(DeviceRdnaScalar, IntegersOfGfx12) {
  WaveUnderTest test("gfx1201", "s_add_nc_u64 s[10:11], s[0:1], s[2:3]\n"
                                "s_sub_nc_u64 s[12:13], s[0:1], s[2:3]\n"
                                "s_mul_u64 s[14:15], s[0:1], s[2:3]\n"
                                "s_add_co_u32 s16, s0, s2\n"
                                "s_add_co_ci_u32 s17, s1, s3\n"
                                "s_sub_co_u32 s18, s0, s2\n"
                                "s_sub_co_ci_u32 s19, s1, s3\n"
                                "s_add_co_i32 s20, s4, 1\n"
                                "s_cselect_b32 s21, 1, 0\n"
                                "s_addk_co_i32 s5, 0xffff");
  uint64_t a = 0x0123456789abcdef, b = 0xfedcba98ffffffff;
  test.wave->setScalar64(0, a);
  test.wave->setScalar64(2, b);
  test.sgpr(4) = 0x7fffffff, test.sgpr(5) = 5;
  test.run();
  EXPECT_EQ(test.wave->scalar64(10), a + b);
  EXPECT_EQ(test.wave->scalar64(12), a - b);
  EXPECT_EQ(test.wave->scalar64(14), a * b);
  EXPECT_EQ(test.wave->scalar64(16), a + b);
  EXPECT_EQ(test.wave->scalar64(18), a - b);
  EXPECT_EQ(test.sgpr(20), 0x80000000u);
  EXPECT_EQ(test.sgpr(21), 1u);
  EXPECT_EQ(test.sgpr(5), 4u);
}
TEST(DeviceRdnaScalar, NarrowBufferLoads) {
  WaveUnderTest test("gfx1201", "s_buffer_load_i8 s10, s[0:3], 0x1\n"
                                "s_buffer_load_u8 s11, s[0:3], 0x1\n"
                                "s_buffer_load_i16 s12, s[0:3], s8 offset:0x2\n"
                                "s_buffer_load_u16 s13, s[0:3], 0x4\n"
                                "s_buffer_load_b96 s[16:18], s[0:3], 0x0\n"
                                "s_buffer_load_u8 s20, s[0:3], 0xc\n"
                                "s_wait_kmcnt 0x0");
  alignas(16) uint32_t data[] = {0x8001ff7fu, 0x1234c321u, 0x55667788u, 0x99aabbccu};
  uint64_t address = reinterpret_cast<uint64_t>(data);
  test.sgpr(0) = static_cast<uint32_t>(address),
  test.sgpr(1) = static_cast<uint32_t>(address >> 32);
  test.sgpr(2) = 12, test.sgpr(3) = 0x31027000, test.sgpr(8) = 0;
  test.run();
  EXPECT_EQ(test.sgpr(10), 0xffffffffu);
  EXPECT_EQ(test.sgpr(11), 0xffu);
  EXPECT_EQ(test.sgpr(12), 0xffff8001u);
  EXPECT_EQ(test.sgpr(13), 0xc321u);
  for (unsigned i = 0; i < 3; ++i)
    EXPECT_EQ(test.sgpr(16 + i), data[i]);
  EXPECT_EQ(test.sgpr(20), 0u); // Beyond num_records.
}
TEST(DeviceRdnaScalar, RelativeMoves) {
  for (const char *target : {"gfx1100", "gfx1201"}) {
    WaveUnderTest test(target, "s_mov_b32 m0, 3\n"
                               "v_movreld_b32 v10, v1\n"
                               "v_movrels_b32 v20, v2\n"
                               "v_movrelsd_b32 v30, v3\n"
                               "s_movreld_b32 s10, s1\n"
                               "s_movrels_b32 s20, s2\n"
                               "s_movrels_b64 s[22:23], s[2:3]\n"
                               "s_mov_b32 m0, 0x20005\n"
                               "v_movrelsd_2_b32 v40, v1\n"
                               "v_swaprel_b32 v50, v4\n"
                               "s_movrelsd_2_b32 s30, s1\n"
                               "s_mov_b32 m0, 255\n"
                               "v_movreld_b32 v2, v1\n"
                               "v_movrels_b32 v60, v2");
    auto value = [](unsigned v, unsigned l) { return v * 1000 + l; };
    for (unsigned v = 0; v < 100; ++v)
      for (unsigned l = 0; l < 32; ++l)
        test.vgpr(v, l) = value(v, l);
    for (unsigned s = 0; s < 40; ++s)
      test.sgpr(s) = s + 7000;
    test.run();
    for (unsigned l = 0; l < 32; ++l) {
      EXPECT_EQ(test.vgpr(13, l), value(1, l)) << target;
      EXPECT_EQ(test.vgpr(20, l), value(5, l));
      EXPECT_EQ(test.vgpr(33, l), value(6, l));
      EXPECT_EQ(test.vgpr(42, l), value(6, l));
      EXPECT_EQ(test.vgpr(52, l), value(9, l));
      EXPECT_EQ(test.vgpr(9, l), value(52, l));
      EXPECT_EQ(test.vgpr(2, l), value(2, l));
      EXPECT_EQ(test.vgpr(60, l), value(0, l)); // Beyond v255: v0.
    }
    EXPECT_EQ(test.sgpr(13), 7001u);
    EXPECT_EQ(test.sgpr(20), 7005u);
    EXPECT_EQ(test.sgpr(22), 7005u);
    EXPECT_EQ(test.sgpr(23), 7006u);
    EXPECT_EQ(test.sgpr(32), 7006u);
  }
}

// --- Products and conversions of RDNA ---

TEST(DeviceRdnaVector, LegacyProducts) {
  for (const char *target : {"gfx1100", "gfx1201"}) {
    WaveUnderTest test(target, "v_fma_dx9_zero_f32 v0, v1, v2, v3\n"
                               "v_mullit_f32 v4, v5, v6, v7\n"
                               "v_mul_dx9_zero_f32 v8, v1, v2");
    struct {
      float a, b, c, fused, product;
    } const cases[] = {{0, INFINITY, 3, 3, 0}, {-0.0f, NAN, -2, -2, 0}, {2, 3, 4, 10, 6}};
    float largest = 3.40282347e38f;
    struct {
      float a, b, c, expected;
    } const lit[] = {{2, 3, 1, 6},          {2, -INFINITY, 1, -largest}, {2, -largest, 1, -largest},
                     {2, NAN, 1, -largest}, {2, 3, 0, -largest},         {2, 3, NAN, -largest}};
    for (unsigned l = 0; l < 3; ++l)
      test.vgpr(1, l) = bitsOf(cases[l].a), test.vgpr(2, l) = bitsOf(cases[l].b),
                   test.vgpr(3, l) = bitsOf(cases[l].c);
    for (unsigned l = 0; l < 6; ++l)
      test.vgpr(5, l) = bitsOf(lit[l].a), test.vgpr(6, l) = bitsOf(lit[l].b),
                   test.vgpr(7, l) = bitsOf(lit[l].c);
    test.run();
    for (unsigned l = 0; l < 3; ++l) {
      EXPECT_EQ(test.vgpr(0, l), bitsOf(cases[l].fused)) << target << l;
      EXPECT_EQ(test.vgpr(8, l), bitsOf(cases[l].product));
    }
    for (unsigned l = 0; l < 6; ++l)
      EXPECT_EQ(test.vgpr(4, l), bitsOf(lit[l].expected)) << target << l;
  }
}
TEST(DeviceRdnaVector, BytesOfFloat8) {
  WaveUnderTest test("gfx1201", "v_cvt_f32_fp8_e32 v0, v9\n"
                                "v_cvt_f32_fp8_e64 v1, v9 byte_sel:1\n"
                                "v_cvt_f32_fp8_e64 v2, v9 byte_sel:2\n"
                                "v_cvt_f32_fp8_e64 v3, v9 byte_sel:3\n"
                                "v_cvt_f32_bf8_e64 v4, v9 byte_sel:2\n"
                                "v_cvt_pk_f32_fp8_e64 v[6:7], v9 op_sel:[1,0]");
  test.vgpr(9, 3) = 0xb8404838; // fp8: 1, 4, 2, -1
  test.run();
  EXPECT_EQ(test.vgpr(0, 3), bitsOf(1));
  EXPECT_EQ(test.vgpr(1, 3), bitsOf(4));
  EXPECT_EQ(test.vgpr(2, 3), bitsOf(2));
  EXPECT_EQ(test.vgpr(3, 3), bitsOf(-1));
  EXPECT_EQ(test.vgpr(4, 3), bitsOf(2));
  EXPECT_EQ(test.vgpr(6, 3), bitsOf(2));
  EXPECT_EQ(test.vgpr(7, 3), bitsOf(-1));
}
TEST(DeviceRdnaVector, CarryOfALongMultiplicationMayBeDropped) {
  for (auto [target, text] :
       {std::pair("gfx1100", "v_mad_u64_u32 v[0:1], null, v2, v3, v[4:5]"),
        std::pair("gfx1201", "v_mad_co_u64_u32 v[0:1], null, v2, v3, v[4:5]")}) {
    WaveUnderTest test(target, text);
    uint64_t a = 0xdeadbeef, b = 0xfedcba98, c = 0x8000000000000001;
    test.vgpr(2, 1) = static_cast<uint32_t>(a), test.vgpr(3, 1) = static_cast<uint32_t>(b);
    test.vgpr(4, 1) = static_cast<uint32_t>(c), test.vgpr(5, 1) = static_cast<uint32_t>(c >> 32);
    test.run();
    uint64_t expected = a * b + c;
    EXPECT_EQ(test.vgpr(0, 1), static_cast<uint32_t>(expected)) << target;
    EXPECT_EQ(test.vgpr(1, 1), static_cast<uint32_t>(expected >> 32));
  }
}

} // namespace
} // namespace wavetile::device::test
