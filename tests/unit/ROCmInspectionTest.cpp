//===- ROCmInspectionTest.cpp - Listings and resources --------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/CodeGeneration.h"
#include "backend_rocm/Disassembly.h"
#include "backend_rocm/InstructionClasses.h"
#include "backend_rocm/Resources.h"

#include "tests/unit/ROCmKernels.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace wavetile;
using namespace wavetile::rocm;
using namespace wavetile::rocm::test;

namespace {

const Target &target(llvm::StringRef name) { return llvm::cantFail(findTarget(name)); }

CodeObject build(llvm::StringRef text, const Target &gpu) {
  return llvm::cantFail(compile(llvm::cantFail(parseLLVMIR(text, gpu)), gpu));
}

llvm::ArrayRef<uint8_t> bytes(const CodeObject &object) {
  return llvm::arrayRefFromStringRef(object.str());
}

TEST(ROCmInstructionClasses, ByMnemonic) {
  const std::pair<std::pair<const char *, const char *>, const char *> cases[] = {
      {{"buffer_load_dwordx4", "v[0:3], v8, s[4:7], 0 offen"}, "mem_load_128"},
      {{"buffer_load_dwordx4", "v8, s[4:7], 0 offen lds"}, "mem_load_to_lds_128"},
      {{"global_load_lds_dwordx4", "v[0:1], off"}, "mem_load_to_lds_128"},
      {{"global_load_b128", "v[0:3], v4, s[0:1]"}, "mem_load_128"},
      {{"global_load_short_d16_hi", "v0, v4, s[0:1]"}, "mem_load_16"},
      {{"global_load_d16_b16", "v0, v4, s[0:1]"}, "mem_load_16"},
      {{"global_load_ubyte_d16", "v0, v4, s[0:1]"}, "mem_load_8"},
      {{"buffer_store_dwordx3", "v[0:2], v8, s[4:7], 0 offen"}, "mem_store_96"},
      {{"global_atomic_add_f32", "v0, v1, s[0:1]"}, "mem_atomic_32"},
      {{"global_atomic_add_x2", "v0, v[2:3], s[0:1]"}, "mem_atomic_64"},
      {{"buffer_wbl2", "sc1"}, "mem_other"},
      {{"scratch_store_dwordx4", "off, v[0:3], off"}, "scratch_store_128"},
      {{"ds_read_b128", "v[0:3], v4"}, "ds_read_128"},
      {{"ds_load_b64", "v[0:1], v4"}, "ds_read_64"},
      {{"ds_read2_b64", "v[0:3], v4 offset1:1"}, "ds_read2_64"},
      {{"ds_read2st64_b32", "v[0:1], v4 offset1:1"}, "ds_read2_32"},
      {{"ds_load_2addr_b32", "v[0:1], v4 offset1:1"}, "ds_read2_32"},
      {{"ds_store_2addr_b64", "v4, v[0:1], v[2:3]"}, "ds_write2_64"},
      {{"ds_read_u16_d16_hi", "v0, v4"}, "ds_read_16"},
      {{"ds_read_b64_tr_b16", "v[0:1], v4"}, "ds_read_tr_64"},
      {{"ds_bpermute_b32", "v0, v1, v2"}, "ds_crosslane"},
      {{"ds_swizzle_b32", "v0, v1 offset:1"}, "ds_crosslane"},
      {{"v_mfma_f32_16x16x32_bf16", "v[0:3], v[4:7], v[8:11], v[0:3]"}, "matrix"},
      {{"v_wmma_f32_16x16x16_f16", "v[0:7], v[8:15], v[16:23], v[0:7]"}, "matrix"},
      {{"v_accvgpr_write_b32", "a0, v0"}, "acc_move"},
      {{"v_exp_f32_e32", "v0, v1"}, "valu_trans"},
      {{"v_add_f32_dpp", "v0, v1, v1 row_shr:1"}, "valu_crosslane"},
      {{"v_permlane32_swap_b32_e32", "v0, v1"}, "valu_crosslane"},
      {{"v_readlane_b32", "s0, v1, 63"}, "valu_readlane"},
      {{"v_dual_mul_f32", "v0, v1, v2 :: v_dual_add_f32 v3, v4, v5"}, "valu_dual"},
      {{"v_div_fixup_f32", "v0, v1, v2, v3"}, "valu_div"},
      {{"v_pk_mul_f32", "v[0:1], v[2:3], v[4:5]"}, "valu_pk"},
      {{"v_pk_add_f16", "v0, v1, v2"}, "valu"},
      {{"v_max3_f32", "v0, v1, v2, v3"}, "valu"},
      {{"s_waitcnt", "vmcnt(0)"}, "wait"},
      {{"s_wait_loadcnt", "0x0"}, "wait"},
      {{"s_barrier", ""}, "barrier"},
      {{"s_load_dwordx4", "s[0:3], s[0:1], 0x0"}, "smem"},
      {{"s_delay_alu", "instid0(VALU_DEP_1)"}, "nop"},
      {{"s_cbranch_scc1", "65520"}, "salu"},
  };
  for (const auto &[instruction, expected] : cases)
    EXPECT_EQ(instructionClass(instruction.first, instruction.second), expected)
        << instruction.first;
}

class Inspection : public testing::TestWithParam<const char *> {};

INSTANTIATE_TEST_SUITE_P(Table, Inspection, testing::Values("gfx942", "gfx950", "gfx1150"),
                         [](const auto &info) { return std::string(info.param); });

TEST_P(Inspection, CountsOfSoftmax) {
  const Target &gpu = target(GetParam());
  CodeObject object = build(softmaxKernel("softmax", gpu, 32), gpu);
  auto all = resources(bytes(object), gpu);
  ASSERT_TRUE(bool(all)) << llvm::toString(all.takeError());
  ASSERT_EQ(all->size(), 1u);
  const KernelResources &kernel = all->front();
  EXPECT_EQ(kernel.symbol, "softmax");
  // 32 elements in vectors of 8, one exponential each and one reciprocal, two
  // reductions over the wave.
  std::map<std::string, unsigned> counts = kernel.instructions;
  EXPECT_EQ(counts["mem_load_128"], 4u);
  EXPECT_EQ(counts["mem_store_128"], 4u);
  EXPECT_EQ(counts["valu_trans"], 33u);
  EXPECT_EQ(counts["ds_crosslane"], 2 * llvm::Log2_32(gpu.waveSize()));
  EXPECT_EQ(counts["barrier"], 0u);
  EXPECT_GE(kernel.vectorRegisters, 32u);
  EXPECT_EQ(kernel.scratchBytes, 0u);
  EXPECT_EQ(kernel.spilledVectorRegisters, 0u);
  EXPECT_EQ(kernel.wavesPerSimd, gpu.wavesPerSimd(kernel.vectorRegisters));
}

TEST_P(Inspection, RegistersAreThoseOfTheInstructions) {
  // The metadata's figure against the highest register that the code names.
  const Target &gpu = target(GetParam());
  CodeObject object = build(softmaxKernel("softmax", gpu, 64), gpu);
  auto kernels = llvm::cantFail(decodeKernels(bytes(object), gpu));
  unsigned highest = 0;
  for (const DecodedInstruction &instruction : kernels.front().instructions) {
    llvm::StringRef rest = instruction.operands;
    for (size_t at = 0; (at = rest.find('v', at)) != llvm::StringRef::npos; ++at) {
      if (at > 0 && llvm::isAlnum(rest[at - 1]))
        continue;
      llvm::StringRef number = rest.drop_front(at + 1);
      if (number.consume_front("["))
        number = number.split(':').second;
      unsigned value;
      if (!number.consumeInteger(10, value))
        highest = std::max(highest, value + 1);
    }
  }
  auto all = llvm::cantFail(resources(bytes(object), gpu));
  EXPECT_EQ(all.front().vectorRegisters, highest);
}

TEST_P(Inspection, LdsBoundsOccupancy) {
  const Target &gpu = target(GetParam());
  // One workgroup of 64 threads fits a compute unit: its waves are alone.
  CodeObject object = build(ldsKernel("greedy", gpu.lds().bytesPerWorkgroup), gpu);
  KernelResources kernel = llvm::cantFail(resources(bytes(object), gpu)).front();
  EXPECT_EQ(kernel.ldsBytes, gpu.lds().bytesPerWorkgroup);
  EXPECT_EQ(kernel.wavesPerSimd, 1u);
  // LDS given at launch counts as well.
  CodeObject small = build(storeKernel("small"), gpu);
  EXPECT_EQ(llvm::cantFail(resources(bytes(small), gpu)).front().wavesPerSimd,
            gpu.registers().maxWavesPerSimd);
  EXPECT_EQ(llvm::cantFail(resources(bytes(small), gpu, gpu.lds().bytesPerWorkgroup))
                .front()
                .wavesPerSimd,
            1u);
}

TEST_P(Inspection, ArgumentsArePreloadedWhereTheTargetCan) {
  const Target &gpu = target(GetParam());
  CodeObject object = build(storeKernel("store"), gpu);
  auto counts = llvm::cantFail(resources(bytes(object), gpu)).front().instructions;
  EXPECT_EQ(counts["smem"], gpu.kernelEntry().preloadsArguments ? 0u : 1u);
  CodeGenerationOptions plain;
  plain.preloadArguments = false;
  CodeObject loading =
      llvm::cantFail(compile(llvm::cantFail(parseLLVMIR(storeKernel("store"), gpu)), gpu, plain));
  EXPECT_EQ(llvm::cantFail(resources(bytes(loading), gpu)).front().instructions["smem"], 1u);
}

/// y[i] = x[i] * x[i] + n for all i below n of one wave, with a loop; lines 10
/// to 14 of kernel.py.
std::string loopKernel() {
  return R"(
declare i32 @llvm.amdgcn.workitem.id.x()
define amdgpu_kernel void @square(ptr addrspace(1) noalias %y, ptr addrspace(1) noalias %x, i32 %n)
    "amdgpu-flat-work-group-size"="64,64" !dbg !4 {
entry:
  %lane = call i32 @llvm.amdgcn.workitem.id.x(), !dbg !6
  br label %header, !dbg !6
header:
  %i = phi i32 [ %lane, %entry ], [ %next, %body ], !dbg !6
  %more = icmp slt i32 %i, %n, !dbg !6
  br i1 %more, label %body, label %exit, !dbg !6
body:
  %from = getelementptr float, ptr addrspace(1) %x, i32 %i, !dbg !7
  %v = load float, ptr addrspace(1) %from, !dbg !7
  %bias = sitofp i32 %n to float, !dbg !8
  %square = fmul contract float %v, %v, !dbg !8
  %sum = fadd contract float %square, %bias, !dbg !8
  %to = getelementptr float, ptr addrspace(1) %y, i32 %i, !dbg !9
  store float %sum, ptr addrspace(1) %to, !dbg !9
  %next = add i32 %i, 64, !dbg !6
  br label %header, !dbg !6
exit:
  ret void, !dbg !9
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_Python, file: !1, producer: "wavetile", emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "kernel.py", directory: "/src")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !DISubroutineType(types: !{})
!4 = distinct !DISubprogram(name: "square", file: !1, line: 9, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!6 = !DILocation(line: 10, column: 3, scope: !4)
!7 = !DILocation(line: 11, column: 5, scope: !4)
!8 = !DILocation(line: 12, column: 5, scope: !4)
!9 = !DILocation(line: 14, column: 5, scope: !4)
)";
}

TEST_P(Inspection, SourceLinesOfInstructions) {
  const Target &gpu = target(GetParam());
  CodeObject object = build(loopKernel(), gpu);
  auto kernels = llvm::cantFail(decodeKernels(bytes(object), gpu));
  unsigned withLine = 0, fmas = 0;
  for (const DecodedInstruction &instruction : kernels.front().instructions) {
    withLine += instruction.line != 0;
    llvm::StringRef mnemonic = instruction.mnemonic;
    if (mnemonic.starts_with("global_load") || mnemonic.starts_with("buffer_load"))
      EXPECT_EQ(instruction.line, 11u) << mnemonic.str();
    if (mnemonic.starts_with("global_store") || mnemonic.starts_with("buffer_store"))
      EXPECT_EQ(instruction.line, 14u) << mnemonic.str();
    if (mnemonic.contains("fma")) {
      ++fmas;
      EXPECT_EQ(instruction.line, 12u) << mnemonic.str();
    }
    if (instruction.line)
      EXPECT_TRUE(llvm::StringRef(kernels.front().files[instruction.file]).ends_with("kernel.py"));
  }
  EXPECT_EQ(fmas, 1u);
  // Also what LLVM hoisted out of the loop.
  EXPECT_EQ(withLine, kernels.front().instructions.size());
}

TEST_P(Inspection, ListingInterleavesTheSource) {
  const Target &gpu = target(GetParam());
  CodeObject object = build(loopKernel(), gpu);
  std::string plain = llvm::cantFail(disassemble(bytes(object), gpu));
  EXPECT_EQ(llvm::StringRef(plain).count("kernel.py"), 0u);
  EXPECT_TRUE(llvm::StringRef(plain).starts_with("square:\n"));
  std::string listing = llvm::cantFail(
      disassemble(bytes(object), gpu, [](llvm::StringRef file, unsigned line) -> std::string {
        EXPECT_TRUE(file.ends_with("kernel.py"));
        return line == 12 ? "v * v + n" : "";
      }));
  EXPECT_NE(listing.find("; kernel.py:12  v * v + n\n  "), std::string::npos) << listing;
  EXPECT_NE(listing.find("; kernel.py:14\n"), std::string::npos) << listing;
  // The loop's branch names its label.
  size_t label = listing.find("\n.L0:");
  ASSERT_NE(label, std::string::npos) << listing;
  EXPECT_NE(listing.find(" .L0 ", label), std::string::npos) << listing;
}

TEST_P(Inspection, WhatDoesNotChangeLeavesTheLoop) {
  const Target &gpu = target(GetParam());
  LLVMProgram program = llvm::cantFail(parseLLVMIR(loopKernel(), gpu));
  llvm::cantFail(optimise(program, gpu));
  std::string text = program.str();
  size_t phi = text.find("phi i32"), conversion = text.find("sitofp");
  ASSERT_NE(phi, std::string::npos) << text;
  ASSERT_NE(conversion, std::string::npos) << text;
  EXPECT_LT(conversion, phi) << text;
}

TEST(ROCmInspection, RefusesWhatIsNoCodeObject) {
  const Target &gpu = target("gfx950");
  const uint8_t junk[64] = {1, 2, 3};
  EXPECT_NE(llvm::toString(resources(junk, gpu).takeError()).find("not an AMDGPU code object"),
            std::string::npos);
  CodeObject object = build(softmaxKernel("softmax", target("gfx1150"), 16), target("gfx1150"));
  auto wrong = decodeKernels(bytes(object), gpu);
  ASSERT_FALSE(bool(wrong));
  EXPECT_EQ(llvm::toString(wrong.takeError()), "a code object for gfx1150, not for gfx950");
}

} // namespace
