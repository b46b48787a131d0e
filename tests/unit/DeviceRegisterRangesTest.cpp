//===- DeviceRegisterRangesTest.cpp - Runs of registers past the last one -===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// No assembler writes these, but a code object may hold any bits. Each case is an instruction whose
// run of registers ends with the last one, which is taken, and the same with the run's field made
// one step larger, which is refused. Fields are those of AMD's ISA documents.
//
//===----------------------------------------------------------------------===//

#include "DeviceCheckSupport.h"

#include <cstdio>
#include <random>

namespace wavetile::device::test {
namespace {

struct Field {
  unsigned word, lowBit, width;
};
struct Case {
  const char *target, *text;
  Field field;
  unsigned step = 1;
};

/// What is refused of a program that stands at 0.
std::vector<Program::Refusal> refusalsOf(const std::string &target,
                                         llvm::ArrayRef<uint32_t> words) {
  std::vector<uint8_t> bytes(4 * words.size());
  std::copy_n(reinterpret_cast<const uint8_t *>(words.data()), bytes.size(), bytes.data());
  return llvm::cantFail(Program::decode(bytes, 0, target))->refusals(0, bytes.size());
}

std::vector<uint32_t> wordsOf(const std::vector<uint8_t> &code) {
  std::vector<uint32_t> words(code.size() / 4);
  std::copy_n(code.data(), 4 * words.size(), reinterpret_cast<uint8_t *>(words.data()));
  return words;
}

void expectRefusedOneStepOn(llvm::ArrayRef<Case> cases) {
  for (const Case &c : cases) {
    SCOPED_TRACE(std::string(c.target) + ": " + c.text);
    std::vector<uint32_t> words = wordsOf(assemble(c.target, {c.text})[0]);
    EXPECT_TRUE(refusalsOf(c.target, words).empty());
    uint32_t mask = ((1u << c.field.width) - 1) << c.field.lowBit;
    uint32_t &word = words[c.field.word];
    uint32_t stepped = (word & mask) + (c.step << c.field.lowBit);
    ASSERT_EQ(stepped & ~mask, 0u) << "the field is full";
    word = (word & ~mask) | stepped;
    auto refusals = refusalsOf(c.target, words);
    ASSERT_FALSE(refusals.empty());
    EXPECT_EQ(refusals[0].address, 0u);
  }
}

/// Fields of 64-bit vector encodings.
constexpr Field destination{0, 0, 8}, first{1, 0, 8}, second{1, 9, 8}, third{1, 18, 8};
/// Of LDS instructions; FLAT has the first three in the same places.
constexpr Field address{1, 0, 8}, data{1, 8, 8}, data2{1, 16, 8}, result{1, 24, 8};

TEST(DeviceRegisterRanges, VectorOperandsStayInTheirFile) {
  expectRefusedOneStepOn({
      // VOP1, VOP2, VOPC, VOP3
      {"gfx950", "v_cvt_f64_f32 v[254:255], v0", {0, 17, 8}},
      {"gfx1150", "v_cvt_f64_f32 v[254:255], v0", {0, 17, 8}},
      {"gfx1150", "v_cvt_f32_f64 v0, v[254:255]", {0, 0, 8}},
      {"gfx1201", "v_add_f64 v[0:1], v[0:1], v[254:255]", {0, 9, 8}},
      {"gfx1201", "v_add_f64 v[254:255], v[0:1], v[2:3]", {0, 17, 8}},
      {"gfx1150", "v_cmp_lt_f64 vcc_lo, v[0:1], v[254:255]", {0, 9, 8}},
      {"gfx1150", "v_fma_f64 v[254:255], v[0:1], v[2:3], v[4:5]", destination},
      {"gfx1150", "v_fma_f64 v[0:1], v[254:255], v[2:3], v[4:5]", first},
      {"gfx1150", "v_fma_f64 v[0:1], v[2:3], v[254:255], v[4:5]", second},
      {"gfx950", "v_fma_f64 v[0:1], v[2:3], v[4:5], v[254:255]", third},
      {"gfx942", "v_mad_u64_u32 v[254:255], vcc, v0, v1, v[2:3]", destination},
      {"gfx942", "v_mqsad_u32_u8 v[252:255], v[0:1], v2, v[4:7]", destination, 2},
      {"gfx1100", "v_mqsad_u32_u8 v[0:3], v[4:5], v6, v[252:255]", third},
      // VOP3P
      {"gfx950", "v_pk_fma_f32 v[0:1], v[254:255], v[2:3], v[4:5]", first},
      {"gfx950", "v_pk_mul_f32 v[254:255], v[0:1], v[2:3]", destination},
      // Conversions of whole blocks
      {"gfx950", "v_cvt_scalef32_pk32_f32_fp6 v[224:255], v[0:5], v6", destination, 2},
      {"gfx950", "v_cvt_scalef32_pk32_f32_fp6 v[0:31], v[250:255], v32", first, 2},
  });
}

TEST(DeviceRegisterRanges, MatrixOperandsStayInTheirFile) {
  expectRefusedOneStepOn({
      {"gfx942", "v_mfma_f32_32x32x8_f16 v[240:255], v[0:1], v[2:3], v[0:15]", destination, 2},
      {"gfx942", "v_mfma_f32_32x32x8_f16 a[240:255], v[0:1], v[2:3], a[0:15]", destination, 2},
      {"gfx942", "v_mfma_f32_32x32x8_f16 v[0:15], v[0:1], v[2:3], v[240:255]", third, 2},
      {"gfx942", "v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[240:255]", third, 2},
      {"gfx942", "v_mfma_f32_32x32x8_f16 a[0:15], v[254:255], v[2:3], a[0:15]", first},
      {"gfx942", "v_mfma_f32_32x32x8_f16 a[0:15], a[254:255], v[2:3], a[0:15]", first},
      {"gfx942", "v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], a[254:255], a[0:15]", second},
      {"gfx950", "v_smfmac_f32_16x16x64_f16 v[252:255], v[0:3], v[8:15], v16", destination, 2},
      {"gfx950", "v_smfmac_f32_16x16x64_f16 a[0:3], v[0:3], v[248:255], v16", second, 2},
      {"gfx950", "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[248:255], v[0:7], v[0:3]", first, 2},
      {"gfx950", "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[252:255], v[0:3], v[0:3] cbsz:4 blgp:4",
       first, 2},
      {"gfx950",
       "v_mfma_scale_f32_16x16x128_f8f6f4 v[252:255], v[0:7], v[8:15], v[0:3], v16, v17",
       {2, 0, 8},
       2},
      {"gfx950",
       "v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[0:7], v[8:15], v[252:255], v16, v17",
       {3, 18, 8},
       2},
      {"gfx1100", "v_wmma_f32_16x16x16_f16 v[248:255], v[0:7], v[8:15], v[16:23]", destination},
      {"gfx1100", "v_wmma_f32_16x16x16_f16 v[0:7], v[248:255], v[8:15], v[0:7]", first},
      {"gfx1201", "v_wmma_f32_16x16x16_f16 v[0:7], v[8:11], v[252:255], v[0:7]", second},
      {"gfx1201", "v_wmma_f32_16x16x16_f16 v[0:7], v[8:11], v[12:15], v[248:255]", third},
      {"gfx1201", "v_swmmac_f32_16x16x32_f16 v[0:7], v[8:11], v[248:255], v20", second},
  });
}

TEST(DeviceRegisterRanges, LdsOperandsStayInTheirFile) {
  expectRefusedOneStepOn({
      {"gfx942", "ds_read2_b64 v[252:255], v1", result, 2},
      {"gfx942", "ds_read2_b64 a[252:255], v1", result, 2},
      {"gfx1150", "ds_load_2addr_b64 v[252:255], v1", result},
      {"gfx1150", "ds_load_b96 v[253:255], v1", result},
      {"gfx1201", "ds_load_b128 v[252:255], v1", result},
      {"gfx950", "ds_read_b64_tr_b16 v[254:255], v1", result},
      {"gfx950", "ds_write_b96 v1, v[252:254]", data, 2},
      {"gfx950", "ds_write_b96 v1, a[252:254]", data, 2},
      {"gfx1150", "ds_store_b128 v1, v[252:255]", data},
      {"gfx942", "ds_write2_b64 v1, v[2:3], v[254:255]", data2},
      {"gfx1201", "ds_store_2addr_b64 v1, v[254:255], v[2:3]", data},
      {"gfx942", "ds_add_rtn_u64 v[254:255], v1, v[2:3]", result},
      {"gfx1150", "ds_cmpstore_rtn_b64 v[0:1], v1, v[2:3], v[254:255]", data2},
  });
}

TEST(DeviceRegisterRanges, OperandsOfGlobalMemoryStayInTheirFile) {
  expectRefusedOneStepOn({
      {"gfx950", "global_load_dwordx4 v[252:255], v[0:1], off", result, 2},
      {"gfx950", "global_load_dwordx3 a[252:254], v[0:1], off", result, 2},
      {"gfx950", "global_load_dword v0, v[254:255], off", address},
      {"gfx950", "flat_store_dwordx2 v[0:1], v[254:255]", data},
      {"gfx950", "global_store_dwordx4 v[0:1], a[252:255], off", data, 2},
      {"gfx942", "global_atomic_cmpswap_x2 v[0:1], v[2:3], v[252:255], off sc0", data, 2},
      {"gfx1150", "global_load_b96 v[253:255], v[0:1], off", result},
      {"gfx1150", "scratch_store_b128 off, v[252:255], s0", data},
      {"gfx1150", "global_atomic_add_u64 v[254:255], v[0:1], v[2:3], off glc", result},
      {"gfx1201", "global_load_b128 v[252:255], v[0:1], off", {1, 0, 8}},
      {"gfx1201", "global_store_b96 v[0:1], v[253:255], off", {1, 23, 8}},
      {"gfx1201", "flat_load_b32 v0, v[254:255]", {2, 0, 8}},
      {"gfx1201", "global_load_tr_b128 v[252:255], v[0:1], off", {1, 0, 8}},
      {"gfx1201", "global_load_block v[224:255], v[0:1], off", {1, 0, 8}},
      {"gfx1201", "global_store_block v[0:1], v[224:255], off", {1, 23, 8}},
      {"gfx1201", "scratch_load_block v[224:255], off, s0", {1, 0, 8}},
  });
}

TEST(DeviceRegisterRanges, OperandsOfBuffersStayInTheirFile) {
  expectRefusedOneStepOn({
      {"gfx950", "buffer_load_dwordx4 v[252:255], off, s[0:3], 0", data, 2},
      {"gfx950", "buffer_load_dwordx3 a[252:254], off, s[0:3], 0", data, 2},
      {"gfx950", "buffer_load_dword v0, v[254:255], s[0:3], 0 idxen offen", address},
      {"gfx950", "buffer_store_format_xyz v[252:254], off, s[0:3], 0", data, 2},
      {"gfx942", "buffer_atomic_cmpswap_x2 v[252:255], off, s[0:3], 0 sc0", data, 2},
      {"gfx1150", "buffer_load_b128 v[252:255], off, s[0:3], 0", data},
      {"gfx1150", "tbuffer_load_format_xyzw v[252:255], off, s[0:3], 0 format:22", data},
      {"gfx1201", "buffer_load_b96 v[253:255], off, s[0:3], null", {1, 0, 8}},
      {"gfx1201", "buffer_load_b32 v0, v[254:255], s[0:3], null idxen offen", {2, 0, 8}},
      {"gfx1150", "buffer_load_b32 v0, off, s[100:103], 0", {1, 16, 5}},
      {"gfx942", "buffer_load_dword v0, off, s[96:99], 0", {1, 16, 5}},
      {"gfx1201", "buffer_load_b32 v0, off, s[100:103], null", {1, 9, 9}, 4},
      // The last one that there is, on RDNA, is null.
      {"gfx1150", "buffer_load_b32 v0, off, ttmp[12:15], 0", {1, 16, 5}},
      {"gfx1201", "buffer_load_b32 v0, off, ttmp[12:15], null", {1, 9, 9}, 4},
  });
}

TEST(DeviceRegisterRanges, ScalarOperandsStayInTheirFile) {
  expectRefusedOneStepOn({
      {"gfx950", "s_mov_b64 s[100:101], s[0:1]", {0, 16, 7}, 3}, // The middle of flat_scratch.
      {"gfx1150", "s_mov_b64 s[104:105], s[0:1]", {0, 16, 7}},
      {"gfx1150", "s_mov_b64 s[0:1], s[104:105]", {0, 0, 8}},
      {"gfx1201", "s_and_b64 s[0:1], s[2:3], s[104:105]", {0, 8, 8}},
      {"gfx1150", "s_mov_b64 s[0:1], vcc", {0, 0, 8}},
      {"gfx1150", "s_mov_b64 exec, s[0:1]", {0, 16, 7}},
      {"gfx942", "v_cmp_lt_f64 s[100:101], v[0:1], v[2:3]", {0, 0, 8}, 3},
      {"gfx942", "v_add_co_u32 v0, s[100:101], v1, v2", {0, 8, 7}, 3},
      {"gfx942", "v_fma_f64 v[0:1], s[100:101], v[2:3], v[4:5]", {1, 0, 9}, 3},
      {"gfx942", "s_load_dwordx4 s[96:99], s[0:1], 0x0", {0, 6, 7}, 4},
      {"gfx942", "s_load_dwordx16 s[84:99], s[0:1], 0x0", {0, 6, 7}, 4},
      {"gfx1150", "s_load_b64 s[104:105], s[0:1], 0x0", {0, 6, 7}},
      {"gfx1150", "s_load_b128 s[100:103], s[0:1], 0x0", {0, 6, 7}},
      {"gfx1150", "s_load_b256 s[96:103], s[0:1], 0x0", {0, 6, 7}, 4},
      {"gfx1201", "s_load_b96 s[100:102], s[0:1], 0x0", {0, 6, 7}, 4},
      {"gfx1201", "s_load_b512 s[88:103], s[0:1], 0x0", {0, 6, 7}, 4},
      {"gfx1201", "s_load_b512 s[88:103], s[0:1], 0x0", {0, 6, 7}, 3},
      {"gfx1201", "s_buffer_load_b32 s0, s[100:103], 0x0", {0, 0, 6}, 2},
      {"gfx1201", "s_buffer_load_b32 s0, s[100:103], 0x0", {0, 0, 6}, 1},
      // null, which has no value that could be an address.
      {"gfx1201", "s_load_b32 s0, ttmp[14:15], 0x0", {0, 0, 6}},
      {"gfx1150", "s_buffer_load_b32 s0, ttmp[12:15], 0x0", {0, 0, 6}, 2},
      {"gfx1150", "global_load_b32 v0, v1, s[104:105]", {1, 16, 7}},
      {"gfx1201", "global_load_b32 v0, v1, s[104:105]", {0, 0, 7}},
  });
}

TEST(DeviceRegisterRanges, NoInstructionOfAnyBitsIsTakenPastTheLastRegister) {
  constexpr uint32_t seed = 20261130, count = 60'000;
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  for (const TargetDescription &target : targets()) {
    std::vector<uint32_t> words;
    for (unsigned i = 0; i < count; ++i) {
      uint32_t word = random();
      // Registers near the end of their file.
      if (random() % 2)
        word |= 0xf8u << (8 * (random() % 4));
      words.push_back(word);
    }
    std::vector<uint8_t> bytes(4 * words.size());
    std::copy_n(reinterpret_cast<const uint8_t *>(words.data()), bytes.size(), bytes.data());
    auto program = llvm::cantFail(Program::decode(bytes, 0, target.name));
    const auto &decoded = static_cast<const DecodedProgram &>(*program);
    std::vector<bool> refused(words.size());
    for (const auto &refusal : program->refusals(0, bytes.size()))
      refused[refusal.address / 4] = true;
    unsigned taken = 0;
    for (size_t i = 0; i < words.size(); ++i) {
      if (refused[i] || !decoded.recordAt(4 * i))
        continue;
      ++taken;
      std::string text = program->disassemble(4 * i);
      for (llvm::StringRef rest = text; rest.contains(':');) {
        auto [before, after] = rest.split(':');
        size_t bracket = before.rfind('[');
        rest = after;
        unsigned last;
        if (bracket == llvm::StringRef::npos || bracket == 0 || after.consumeInteger(10, last))
          continue;
        char file = before[bracket - 1];
        if (file == 'v' || file == 'a' || file == 's')
          EXPECT_LE(last, file != 's'       ? 255u
                          : target.isRdna() ? 105u
                                            : 101u)
              << target.name << ": " << text;
      }
    }
    EXPECT_GT(taken, count / 10) << target.name;
  }
}

TEST(DeviceRegisterRanges, LoadsIntoNullGoNowhere) {
  for (const char *load : {"s_load_b32", "s_load_b64", "s_load_b128", "s_load_b256", "s_load_b512"})
    for (const char *target : {"gfx1150", "gfx1201"}) {
      SCOPED_TRACE(std::string(target) + " " + load);
      WaveWithMemory wave(target,
                          "s_cmp_eq_u32 s2, s2\n" + std::string(load) +
                              " null, s[0:1], 0x0\ns_wait_idle\ns_cselect_b32 s3, 7, 9\n",
                          5);
      std::fill(wave.bytes.begin(), wave.bytes.end(), uint8_t(0));
      wave.pointScalars(0);
      uint32_t before[scalar::Count];
      std::copy_n(wave.wave->scalars, scalar::Count, before);
      before[3] = 7;
      before[scalar::Scc] = 1;
      wave.run();
      for (unsigned i = 0; i < scalar::Count; ++i)
        EXPECT_EQ(wave.wave->scalars[i], before[i]) << i;
      // Nor do the checks mark anything.
      CheckedRun run =
          runChecked(target, "s_mov_b32 s9, 5\ns_cmp_eq_u32 s9, s9\n" + std::string(load) +
                                 " null, s[6:7], 0x0\ns_wait_idle\n"
                                 "s_cselect_b32 s9, 7, 9\nv_mov_b32 v2, s9\n"
                                 "global_store_b32 v1, v2, s[4:5]\n");
      ASSERT_FALSE(run.fault);
      EXPECT_EQ(run.words[0], 7u);
    }
}

} // namespace
} // namespace wavetile::device::test
