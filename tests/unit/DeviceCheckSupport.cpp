//===- DeviceCheckSupport.cpp - Kernels with one fault each ---------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceCheckSupport.h"

#include <numeric>
#include <regex>

namespace wavetile::device::test {

static void replaceAll(std::string &text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

/// From gfx9's spelling to the target's.
static std::string forTarget(const std::string &target, std::string text) {
  bool isGfx9 = target.starts_with("gfx9"), isGfx12 = target.starts_with("gfx12");
  replaceAll(text, "{vcc}", isGfx9 ? "vcc" : "vcc_lo");
  replaceAll(text, "{exec}", isGfx9 ? "exec" : "exec_lo");
  replaceAll(text, "{b}", isGfx9 ? "b64" : "b32");
  replaceAll(text, "{s10}", isGfx9 ? "s[10:11]" : "s10");
  replaceAll(text, "{s12}", isGfx9 ? "s[12:13]" : "s12");
  std::regex vm("vmwait\\((\\d+)\\)"), lgkm("lgkmwait\\((\\d+)\\)"), km("kmwait\\((\\d+)\\)");
  text = std::regex_replace(text, lgkm, isGfx12 ? "s_wait_dscnt $1" : "s_waitcnt lgkmcnt($1)");
  text = std::regex_replace(text, km, isGfx12 ? "s_wait_kmcnt $1" : "s_waitcnt lgkmcnt($1)");
  text = std::regex_replace(text, vm, isGfx12 ? "s_wait_loadcnt $1" : "s_waitcnt vmcnt($1)");
  if (isGfx9)
    return text;
  for (auto [gfx9, rdna] : {std::pair{"_load_dwordx2", "_load_b64"},
                            {"_load_dwordx4", "_load_b128"},
                            {"_load_dword ", "_load_b32 "},
                            {"_store_dwordx2", "_store_b64"},
                            {"_store_dword ", "_store_b32 "},
                            {"_store_short ", "_store_b16 "},
                            {"_store_byte ", "_store_b8 "},
                            {"_load_short_d16 ", "_load_d16_b16 "},
                            {"_load_short_d16_hi ", "_load_d16_hi_b16 "},
                            {"ds_read_b32", "ds_load_b32"},
                            {"ds_write_b32", "ds_store_b32"},
                            {"v_add_u32 ", "v_add_nc_u32 "},
                            {"v_sub_u32 ", "v_sub_nc_u32 "},
                            {"atomic_add ", "atomic_add_u32 "},
                            {"v_cvt_pkrtz_f16_f32 ", "v_cvt_pk_rtz_f16_f32 "}})
    replaceAll(text, gfx9, rdna);
  return text;
}

std::string kernelText(const std::string &target, const std::string &body) {
  bool isGfx9 = target.starts_with("gfx9");
  std::string waveSize = isGfx9 ? "64" : "32";
  return ".amdgcn_target \"amdgcn-amd-amdhsa--" + target + "\"\n.text\n.globl test\n.p2align 8\n" +
         ".type test,@function\ntest:\n" +
         forTarget(target, "s_load_dwordx4 s[4:7], s[0:1], 0x0\nkmwait(0)\n"
                           "v_lshlrev_b32 v1, 2, v0\n" +
                               body) +
         "\ns_endpgm\n.rodata\n.p2align 6\n.amdhsa_kernel test\n"
         ".amdhsa_next_free_vgpr 96\n.amdhsa_next_free_sgpr 60\n"
         ".amdhsa_group_segment_fixed_size 4096\n.amdhsa_private_segment_fixed_size 64\n"
         ".amdhsa_user_sgpr_kernarg_segment_ptr 1\n.amdhsa_kernarg_size 16\n" +
         (isGfx9 ? ".amdhsa_accum_offset 64\n.amdhsa_enable_private_segment 1\n"
                 : ".amdhsa_wavefront_size32 1\n.amdhsa_enable_private_segment 1\n") +
         ".end_amdhsa_kernel\n.amdgpu_metadata\namdhsa.version: [1, 2]\namdhsa.kernels:\n"
         "  - .name: test\n    .symbol: test.kd\n    .kernarg_segment_size: 16\n"
         "    .kernarg_segment_align: 8\n    .group_segment_fixed_size: 4096\n"
         "    .private_segment_fixed_size: 64\n    .wavefront_size: " +
         waveSize +
         "\n    .sgpr_count: 60\n    .vgpr_count: 96\n    .max_flat_workgroup_size: 64\n"
         ".end_amdgpu_metadata\n";
}

CheckedRun runChecked(const std::string &target, const std::string &body,
                      const CheckOptions &checks) {
  LoadedObject object(target, kernelText(target, body), "s", "");
  CheckedRun run;
  if (!object.program)
    return run;
  run.words.resize(256);
  std::iota(run.words.begin(), run.words.end(), 0u);
  std::vector<uint32_t> unwritten(256, ~0u);
  std::vector<uint8_t> definedBits(1024, 0);
  auto add = [&](std::vector<uint32_t> &words, uint8_t *bits, const char *name) {
    Allocation allocation;
    allocation.begin = reinterpret_cast<uint64_t>(words.data());
    allocation.end = allocation.begin + 4 * words.size();
    allocation.source = BoundsSource::Device;
    allocation.definedBits = bits;
    object.memory.add(allocation, name);
    return allocation.begin;
  };
  object.checks = checks;
  uint64_t written = add(run.words, nullptr, "written");
  uint64_t other = add(unwritten, definedBits.data(), "unwritten");
  uint32_t lanes = object.program->waveSize();
  run.fault = object.run("test", {written, other}, {1, 1, 1}, {lanes, 1, 1}).fault;
  return run;
}

void expectFault(const std::vector<const char *> &targets, const std::string &faulty,
                 const std::string &silent, const ExpectedFault &expected) {
  for (const char *target : targets) {
    SCOPED_TRACE(target);
    CheckedRun run = runChecked(target, faulty);
    ASSERT_TRUE(run.fault) << "nothing was found in\n" << faulty;
    EXPECT_EQ(name(run.fault->kind), name(expected.kind)) << run.fault->detail;
    EXPECT_NE(run.fault->instruction.find(expected.instruction), std::string::npos)
        << run.fault->instruction;
    EXPECT_EQ(run.fault->lane, expected.lane) << run.fault->detail;
    EXPECT_NE(run.fault->detail.find(expected.detail), std::string::npos) << run.fault->detail;
    CheckedRun twin = runChecked(target, silent);
    EXPECT_FALSE(twin.fault) << name(twin.fault->kind).str() << " at " << twin.fault->instruction
                             << ": " << twin.fault->detail << "\n"
                             << silent;
  }
}

} // namespace wavetile::device::test
