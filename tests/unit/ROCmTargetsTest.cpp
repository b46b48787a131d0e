//===- ROCmTargetsTest.cpp - The table of AMD GPUs ------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/CodeGeneration.h"
#include "backend_rocm/Disassembly.h"
#include "backend_rocm/Targets.h"

#include "tests/unit/ROCmKernels.h"

#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

#include <map>
#include <set>

using namespace wavetile;
using namespace wavetile::rocm;
using namespace wavetile::rocm::test;

namespace {

const Target &target(llvm::StringRef name) { return llvm::cantFail(findTarget(name)); }

const MatrixInstruction *find(const Target &target, llvm::StringRef name) {
  for (const MatrixInstruction &instruction : target.matrixInstructions())
    if (instruction.name == name)
      return &instruction;
  return nullptr;
}

TEST(ROCmTargets, AbsentTargetListsThosePresent) {
  for (llvm::StringRef name : {"gfx942", "gfx950", "gfx1150"})
    EXPECT_EQ(target(name).name(), name);
  auto absent = findTarget("gfx1201");
  ASSERT_FALSE(bool(absent));
  EXPECT_EQ(llvm::toString(absent.takeError()),
            "no AMD target 'gfx1201'; there are gfx942, gfx950, gfx1150");
}

TEST(ROCmTargets, WavesByRegisters) {
  // Figures of llc for these register counts.
  struct Row {
    const char *target;
    std::map<unsigned, unsigned> waves;
  };
  const Row rows[] = {
      {"gfx942",
       {{1, 8},
        {64, 8},
        {65, 7},
        {72, 7},
        {80, 6},
        {96, 5},
        {128, 4},
        {168, 3},
        {169, 2},
        {256, 2},
        {257, 1},
        {512, 1},
        {513, 0}}},
      {"gfx950", {{64, 8}, {128, 4}, {168, 3}, {256, 2}, {512, 1}}},
      {"gfx1150", {{64, 16}, {65, 12}, {80, 12}, {96, 10}, {128, 8}, {168, 5}, {256, 4}, {257, 0}}},
  };
  for (const Row &row : rows)
    for (auto [registers, waves] : row.waves)
      EXPECT_EQ(target(row.target).wavesPerSimd(registers), waves)
          << row.target << " " << registers;
}

TEST(ROCmTargets, RegistersForWavesIsTheInverse) {
  for (const Target &gpu : targets()) {
    for (unsigned waves = 1; waves <= gpu.registers().maxWavesPerSimd; ++waves) {
      unsigned registers = gpu.registersAtWavesPerSimd(waves);
      EXPECT_GE(gpu.wavesPerSimd(registers), waves) << gpu.name().str();
      if (registers < gpu.registers().addressable)
        EXPECT_LT(gpu.wavesPerSimd(registers + 1), waves) << gpu.name().str();
    }
  }
}

TEST(ROCmTargets, WorkgroupsByLds) {
  // The allocation granule of 1,280 bytes counts: 3 times 54,000 is under
  // 160 KiB, but 3 times 55,040 is not.
  EXPECT_EQ(target("gfx950").workgroupsPerComputeUnit(32, 52480, 4), 3u);
  EXPECT_EQ(target("gfx950").workgroupsPerComputeUnit(32, 54000, 4), 2u);
  EXPECT_EQ(target("gfx950").workgroupsPerComputeUnit(32, 163840, 4), 1u);
  EXPECT_EQ(target("gfx950").workgroupsPerComputeUnit(32, 163841, 4), 0u);
  EXPECT_EQ(target("gfx942").workgroupsPerComputeUnit(32, 20000, 4), 3u);
  EXPECT_EQ(target("gfx942").workgroupsPerComputeUnit(32, 33000, 4), 1u);
  // By registers: 4 SIMDs of 4 waves hold 4 groups of 4.
  EXPECT_EQ(target("gfx942").workgroupsPerComputeUnit(128, 0, 4), 4u);
  EXPECT_EQ(target("gfx942").workgroupsPerComputeUnit(512, 0, 16), 0u);
}

TEST(ROCmTargets, LdsPhasesByLane) {
  // The lanes that are served with lane 0.
  auto phase = [](const LdsAccess &access, unsigned waveSize) {
    std::set<unsigned> lanes{0};
    for (unsigned generator : access.phaseLanes) {
      std::set<unsigned> more = lanes;
      for (unsigned lane : lanes)
        more.insert(lane ^ generator);
      lanes = more;
    }
    EXPECT_LT(*lanes.rbegin(), waveSize);
    EXPECT_EQ(lanes.size(), access.lanesPerPhase());
    return lanes;
  };
  using Lanes = std::set<unsigned>;
  const LdsInfo &cdna4 = target("gfx950").lds();
  EXPECT_EQ(phase(cdna4.read(128), 64),
            (Lanes{0, 1, 2, 3, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25, 26, 27}));
  EXPECT_EQ(cdna4.read(128).banks, 64u);
  EXPECT_EQ(cdna4.write(128).banks, 32u);
  EXPECT_EQ(phase(target("gfx942").lds().read(128), 64), (Lanes{0, 1, 2, 3, 20, 21, 22, 23}));
  for (const Target &gpu : targets()) {
    for (unsigned bits : {32u, 64u, 128u}) {
      // A phase without conflicts uses every bank once.
      const LdsAccess &read = gpu.lds().read(bits), &write = gpu.lds().write(bits);
      EXPECT_EQ(phase(read, gpu.waveSize()).size() * bits / 32, read.banks);
      EXPECT_EQ(phase(write, gpu.waveSize()).size() * bits / 32, write.banks);
    }
    EXPECT_EQ(gpu.lds().read(16).bits, 32u);
  }
}

//===----------------------------------------------------------------------===//
// Matrix operands
//===----------------------------------------------------------------------===//

using Formula = MatrixOperand::Basis (*)(int lane, int i);

struct OperandFormula {
  const char *target, *instruction;
  Formula a, accumulator;
};

constexpr Formula result16 = [](int l, int i) {
  return MatrixOperand::Basis{4 * (l / 16) + i, l % 16};
};
constexpr Formula result32 = [](int l, int i) {
  return MatrixOperand::Basis{8 * (i / 4) + 4 * (l / 32) + i % 4, l % 32};
};

// The formulas of docs/amd-facts.md, section 2.
const OperandFormula formulas[] = {
    {"gfx942", "v_mfma_f32_16x16x16_f16",
     [](int l, int i) { return MatrixOperand::Basis{l % 16, 4 * (l / 16) + i}; }, result16},
    {"gfx942", "v_mfma_f32_32x32x8_bf16",
     [](int l, int i) { return MatrixOperand::Basis{l % 32, 4 * (l / 32) + i}; }, result32},
    {"gfx950", "v_mfma_f32_16x16x32_bf16",
     [](int l, int i) { return MatrixOperand::Basis{l % 16, 8 * (l / 16) + i}; }, result16},
    {"gfx950", "v_mfma_f32_32x32x16_f16",
     [](int l, int i) { return MatrixOperand::Basis{l % 32, 8 * (l / 32) + i}; }, result32},
    {"gfx942", "v_mfma_f32_32x32x16_fp8_bf8",
     [](int l, int i) { return MatrixOperand::Basis{l % 32, 8 * (l / 32) + i}; }, result32},
    {"gfx950", "v_mfma_f32_16x16x4_f32",
     [](int l, int) { return MatrixOperand::Basis{l % 16, l / 16}; }, result16},
    {"gfx942", "v_mfma_f64_16x16x4_f64",
     [](int l, int) { return MatrixOperand::Basis{l % 16, l / 16}; },
     [](int l, int i) { return MatrixOperand::Basis{4 * i + l / 16, l % 16}; }},
    {"gfx1150", "v_wmma_f32_16x16x16_bf16",
     [](int l, int i) { return MatrixOperand::Basis{l % 16, i}; },
     [](int l, int i) { return MatrixOperand::Basis{2 * i + l / 16, l % 16}; }},
};

TEST(ROCmTargets, MatrixOperandsByFormula) {
  for (const OperandFormula &formula : formulas) {
    const Target &gpu = target(formula.target);
    const MatrixInstruction *found = find(gpu, formula.instruction);
    ASSERT_TRUE(found) << formula.instruction;
    for (unsigned lane = 0; lane < gpu.waveSize(); ++lane) {
      for (unsigned i = 0; i < found->a.elementsPerLane(); ++i) {
        MatrixOperand::Basis a = formula.a(lane, i);
        EXPECT_EQ(indexOf(found->a, i, lane), a) << formula.instruction;
        // B is laid out as A, with rows for columns.
        EXPECT_EQ(indexOf(found->b, i, lane), (MatrixOperand::Basis{a[1], a[0]}))
            << formula.instruction;
      }
      for (unsigned i = 0; i < found->accumulator.elementsPerLane(); ++i)
        EXPECT_EQ(indexOf(found->accumulator, i, lane), formula.accumulator(lane, i))
            << formula.instruction;
    }
  }
}

/// How many lanes hold each element.
void expectCovers(const MatrixOperand &operand, unsigned waveSize, unsigned rows, unsigned columns,
                  const std::string &what) {
  std::map<MatrixOperand::Basis, unsigned> holders;
  for (unsigned lane = 0; lane < waveSize; ++lane)
    for (unsigned i = 0; i < operand.elementsPerLane(); ++i)
      ++holders[indexOf(operand, i, lane)];
  EXPECT_EQ(holders.size(), rows * columns) << what;
  unsigned copies = waveSize * operand.elementsPerLane() / (rows * columns);
  for (auto [index, count] : holders) {
    EXPECT_LT(index[0], static_cast<int>(rows)) << what;
    EXPECT_LT(index[1], static_cast<int>(columns)) << what;
    EXPECT_EQ(count, copies) << what;
  }
  EXPECT_EQ(1u << operand.laneBases.size(), waveSize) << what;
  EXPECT_EQ(operand.elementsPerLane() * elementBits(operand.element), operand.registers * 32)
      << what;
  EXPECT_EQ(operand.intrinsicCount * elementBits(operand.intrinsicElement), operand.registers * 32)
      << what;
}

TEST(ROCmTargets, MatrixOperandsCoverTheirTiles) {
  for (const Target &gpu : targets()) {
    std::set<std::string> names;
    for (const MatrixInstruction &i : gpu.matrixInstructions()) {
      std::string what = gpu.name().str() + " " + i.name;
      EXPECT_TRUE(names.insert(i.name).second) << what;
      expectCovers(i.a, gpu.waveSize(), i.m, i.k, what + " A");
      expectCovers(i.b, gpu.waveSize(), i.k, i.n, what + " B");
      expectCovers(i.accumulator, gpu.waveSize(), i.m, i.n, what + " accumulator");
    }
  }
}

TEST(ROCmTargets, Fp8FormatsAreTheTargets) {
  EXPECT_EQ(find(target("gfx942"), "v_mfma_f32_16x16x32_fp8_bf8")->a.element,
            ElementKind::F8E4M3FNUZ);
  EXPECT_EQ(find(target("gfx942"), "v_mfma_f32_16x16x32_fp8_bf8")->b.element,
            ElementKind::F8E5M2FNUZ);
  EXPECT_EQ(find(target("gfx950"), "v_mfma_f32_16x16x32_fp8_bf8")->a.element,
            ElementKind::F8E4M3FN);
  EXPECT_EQ(find(target("gfx950"), "v_mfma_f32_16x16x32_fp8_bf8")->b.element, ElementKind::F8E5M2);
}

TEST(ROCmTargets, LLVMKnowsEveryMatrixInstruction) {
  for (const Target &gpu : targets()) {
    for (const MatrixInstruction &instruction : gpu.matrixInstructions()) {
      std::string what = gpu.name().str() + " " + instruction.name;
      auto program = parseLLVMIR(matrixKernel("matrix", gpu, instruction), gpu);
      ASSERT_TRUE(bool(program)) << what << ": " << llvm::toString(program.takeError());
      auto object = compile(std::move(*program), gpu);
      ASSERT_TRUE(bool(object)) << what << ": " << llvm::toString(object.takeError());
      auto kernels = decodeKernels(llvm::arrayRefFromStringRef(object->str()), gpu);
      ASSERT_TRUE(bool(kernels)) << what << ": " << llvm::toString(kernels.takeError());
      unsigned count = 0;
      for (const DecodedInstruction &decoded : kernels->front().instructions)
        count += llvm::StringRef(decoded.mnemonic).starts_with(instruction.name);
      EXPECT_EQ(count, 1u) << what;
    }
  }
}

} // namespace
