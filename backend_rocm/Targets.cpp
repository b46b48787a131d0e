//===- Targets.cpp - The table of AMD GPUs --------------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sources: LLVM 22's AMDGPU target (features, registers, counters), AMD's
// instruction set documents and matrix instruction calculator (operand
// layouts) and docs/amd-facts.md. LDS phases: runtime/LdsBankTable.h.
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/Targets.h"

#include "runtime/LdsBankTable.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <array>
#include <initializer_list>

using namespace wavetile;
using namespace wavetile::rocm;

//===----------------------------------------------------------------------===//
// Matrix operands
//===----------------------------------------------------------------------===//

namespace {

/// The type of an operand in LLVM's intrinsic.
struct IntrinsicType {
  ElementKind element;
  unsigned count;
};

enum class Side { A, B };

MatrixOperand makeOperand(ElementKind element, IntrinsicType type) {
  MatrixOperand operand{};
  operand.element = element;
  operand.intrinsicElement = type.element;
  operand.intrinsicCount = type.count;
  operand.registers = type.count * elementBits(type.element) / 32;
  return operand;
}

/// An index of an input: A is (outer, k), B is (k, outer).
MatrixOperand::Basis inputBasis(Side side, unsigned outer, unsigned k) {
  auto first = static_cast<int32_t>(side == Side::A ? outer : k);
  auto second = static_cast<int32_t>(side == Side::A ? k : outer);
  return {first, second};
}

/// MFMA inputs: lane l holds row (column) l % outer and the consecutive
/// k = perLane * (l / outer) + i.
MatrixOperand mfmaInput(Side side, ElementKind element, IntrinsicType type, unsigned outer,
                        unsigned k) {
  constexpr unsigned lanes = 64;
  MatrixOperand operand = makeOperand(element, type);
  unsigned perLane = outer * k / lanes;
  for (unsigned step = 1; step < perLane; step *= 2)
    operand.registerBases.push_back(inputBasis(side, 0, step));
  for (unsigned step = 1; step < outer; step *= 2)
    operand.laneBases.push_back(inputBasis(side, step, 0));
  for (unsigned step = perLane; step < k; step *= 2)
    operand.laneBases.push_back(inputBasis(side, 0, step));
  return operand;
}

/// MFMA results with 32-bit elements: column l % size; rows in groups of four
/// consecutive registers, the groups dealt to the lanes l / size first.
MatrixOperand mfmaResult(ElementKind element, unsigned size) {
  unsigned perLane = size * size / 64;
  MatrixOperand operand = makeOperand(element, {element, perLane});
  auto row = [](unsigned row) { return MatrixOperand::Basis{static_cast<int32_t>(row), 0}; };
  operand.registerBases = {row(1), row(2)};
  for (unsigned step = 1; step < size; step *= 2)
    operand.laneBases.push_back({0, static_cast<int32_t>(step)});
  unsigned next = 4;
  for (unsigned lane = size; lane < 64; lane *= 2, next *= 2)
    operand.laneBases.push_back(row(next));
  for (; next < size; next *= 2)
    operand.registerBases.push_back(row(next));
  return operand;
}

/// MFMA 16x16 results in f64: row 4 * i + l / 16, column l % 16.
MatrixOperand mfmaResultF64() {
  MatrixOperand operand = makeOperand(ElementKind::F64, {ElementKind::F64, 4});
  operand.registerBases = {{4, 0}, {8, 0}};
  operand.laneBases = {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {1, 0}, {2, 0}};
  return operand;
}

/// RDNA3 WMMA inputs: lane l holds all of row (column) l % 16; lanes 16 to 31
/// must hold copies of lanes 0 to 15.
MatrixOperand wmmaInput(Side side, ElementKind element, IntrinsicType type) {
  MatrixOperand operand = makeOperand(element, type);
  for (unsigned step = 1; step < 16; step *= 2) {
    operand.registerBases.push_back(inputBasis(side, 0, step));
    operand.laneBases.push_back(inputBasis(side, step, 0));
  }
  operand.laneBases.push_back({0, 0});
  return operand;
}

/// RDNA3 WMMA results: row 2 * i + l / 16, column l % 16.
MatrixOperand wmmaResult(ElementKind element) {
  MatrixOperand operand = makeOperand(element, {element, 8});
  operand.registerBases = {{2, 0}, {4, 0}, {8, 0}};
  operand.laneBases = {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {1, 0}};
  return operand;
}

//===----------------------------------------------------------------------===//
// Matrix instructions
//===----------------------------------------------------------------------===//

/// One MFMA: m = n = `size`.
struct MfmaLine {
  const char *name;      // after "v_mfma_"
  const char *intrinsic; // after "llvm.amdgcn.mfma."
  unsigned size, k;
  ElementKind a, b;
  IntrinsicType input;
  ElementKind accumulator;
  unsigned passes; // of 4 cycles
};

MatrixInstruction mfma(const MfmaLine &line) {
  MatrixInstruction instruction;
  instruction.name = std::string("v_mfma_") + line.name;
  instruction.intrinsic = std::string("llvm.amdgcn.mfma.") + line.intrinsic;
  instruction.callForm = MatrixInstruction::CallForm::ThreeImmediates;
  instruction.m = instruction.n = line.size;
  instruction.k = line.k;
  instruction.a = mfmaInput(Side::A, line.a, line.input, line.size, line.k);
  instruction.b = mfmaInput(Side::B, line.b, line.input, line.size, line.k);
  instruction.accumulator = line.accumulator == ElementKind::F64
                                ? mfmaResultF64()
                                : mfmaResult(line.accumulator, line.size);
  instruction.cycles = 4 * line.passes;
  return instruction;
}

/// One WMMA 16x16x16 of RDNA3.
struct WmmaLine {
  const char *name;      // after "v_wmma_"
  const char *intrinsic; // after "llvm.amdgcn.wmma."
  const char *overload;
  ElementKind input;
  IntrinsicType type;
  ElementKind accumulator;
  MatrixInstruction::CallForm callForm;
};

MatrixInstruction wmma(const WmmaLine &line) {
  MatrixInstruction instruction;
  instruction.name = std::string("v_wmma_") + line.name;
  instruction.intrinsic = std::string("llvm.amdgcn.wmma.") + line.intrinsic;
  instruction.intrinsicOverload = line.overload;
  instruction.callForm = line.callForm;
  instruction.m = instruction.n = instruction.k = 16;
  instruction.a = wmmaInput(Side::A, line.input, line.type);
  instruction.b = wmmaInput(Side::B, line.input, line.type);
  instruction.accumulator = wmmaResult(line.accumulator);
  instruction.cycles = 32; // from the peak rate; not measured
  return instruction;
}

using K = ElementKind;
using MatrixList = llvm::SmallVector<MatrixInstruction, 0>;

constexpr IntrinsicType halves4{K::F16, 4}, halves8{K::F16, 8}, shorts4{K::I16, 4},
    brains8{K::BF16, 8}, bytes8{K::I64, 1}, words4{K::I32, 4}, float1{K::F32, 1},
    floats2{K::F32, 2}, double1{K::F64, 1};

/// What gfx942 and gfx950 both have for 16-bit, f32 and f64.
constexpr MfmaLine cdna3Lines[] = {
    {"f32_16x16x16_f16", "f32.16x16x16f16", 16, 16, K::F16, K::F16, halves4, K::F32, 4},
    {"f32_32x32x8_f16", "f32.32x32x8f16", 32, 8, K::F16, K::F16, halves4, K::F32, 8},
    {"f32_16x16x16_bf16", "f32.16x16x16bf16.1k", 16, 16, K::BF16, K::BF16, shorts4, K::F32, 4},
    {"f32_32x32x8_bf16", "f32.32x32x8bf16.1k", 32, 8, K::BF16, K::BF16, shorts4, K::F32, 8},
    {"f32_16x16x4_f32", "f32.16x16x4f32", 16, 4, K::F32, K::F32, float1, K::F32, 8},
    {"f32_32x32x2_f32", "f32.32x32x2f32", 32, 2, K::F32, K::F32, float1, K::F32, 16},
    {"i32_16x16x32_i8", "i32.16x16x32.i8", 16, 32, K::I8, K::I8, bytes8, K::I32, 4},
    {"i32_32x32x16_i8", "i32.32x32x16.i8", 32, 16, K::I8, K::I8, bytes8, K::I32, 8},
};

constexpr MfmaLine xf32Lines[] = {
    {"f32_16x16x8_xf32", "f32.16x16x8.xf32", 16, 8, K::TF32, K::TF32, floats2, K::F32, 4},
    {"f32_32x32x4_xf32", "f32.32x32x4.xf32", 32, 4, K::TF32, K::TF32, floats2, K::F32, 8},
};

constexpr MfmaLine doubleRateLines[] = {
    {"f32_16x16x32_f16", "f32.16x16x32.f16", 16, 32, K::F16, K::F16, halves8, K::F32, 4},
    {"f32_32x32x16_f16", "f32.32x32x16.f16", 32, 16, K::F16, K::F16, halves8, K::F32, 8},
    {"f32_16x16x32_bf16", "f32.16x16x32.bf16", 16, 32, K::BF16, K::BF16, brains8, K::F32, 4},
    {"f32_32x32x16_bf16", "f32.32x32x16.bf16", 32, 16, K::BF16, K::BF16, brains8, K::F32, 8},
    {"i32_16x16x64_i8", "i32.16x16x64.i8", 16, 64, K::I8, K::I8, words4, K::I32, 4},
    {"i32_32x32x32_i8", "i32.32x32x32.i8", 32, 32, K::I8, K::I8, words4, K::I32, 8},
};

MfmaLine mfmaF64(unsigned passes) {
  return {"f64_16x16x4_f64", "f64.16x16x4f64", 16, 4, K::F64, K::F64, double1, K::F64, passes};
}

/// The four pairs of fp8 formats in both shapes; `e4m3` and `e5m2` are FNUZ or
/// OCP as the target has them, under the same instruction names.
void addFp8(MatrixList &list, ElementKind e4m3, ElementKind e5m2) {
  struct Format {
    const char *name;
    ElementKind kind;
  };
  const Format formats[] = {{"fp8", e4m3}, {"bf8", e5m2}};
  struct Shape {
    const char *name;
    unsigned size, k, passes;
  };
  for (const Shape &shape : {Shape{"16x16x32", 16, 32, 4}, Shape{"32x32x16", 32, 16, 8}}) {
    for (const Format &a : formats) {
      for (const Format &b : formats) {
        std::string pair = std::string(a.name) + "_" + b.name;
        std::string dotted = std::string(a.name) + "." + b.name;
        std::string name = std::string("f32_") + shape.name + "_" + pair;
        std::string intrinsic = std::string("f32.") + shape.name + "." + dotted;
        list.push_back(mfma({name.c_str(), intrinsic.c_str(), shape.size, shape.k, a.kind, b.kind,
                             bytes8, K::F32, shape.passes}));
      }
    }
  }
}

MatrixList gfx942Matrix() {
  MatrixList list;
  for (const MfmaLine &line : cdna3Lines)
    list.push_back(mfma(line));
  for (const MfmaLine &line : xf32Lines)
    list.push_back(mfma(line));
  list.push_back(mfma(mfmaF64(8)));
  addFp8(list, K::F8E4M3FNUZ, K::F8E5M2FNUZ);
  return list;
}

MatrixList gfx950Matrix() {
  MatrixList list;
  for (const MfmaLine &line : doubleRateLines)
    list.push_back(mfma(line));
  for (const MfmaLine &line : cdna3Lines)
    list.push_back(mfma(line));
  list.push_back(mfma(mfmaF64(16)));
  addFp8(list, K::F8E4M3FN, K::F8E5M2);
  return list;
}

MatrixList gfx1150Matrix() {
  using Form = MatrixInstruction::CallForm;
  return {wmma({"f32_16x16x16_f16",
                "f32.16x16x16.f16",
                "v8f32.v16f16",
                K::F16,
                {K::F16, 16},
                K::F32,
                Form::Plain}),
          wmma({"f32_16x16x16_bf16",
                "f32.16x16x16.bf16",
                "v8f32.v16i16",
                K::BF16,
                {K::I16, 16},
                K::F32,
                Form::Plain}),
          wmma({"i32_16x16x16_iu8",
                "i32.16x16x16.iu8",
                "v8i32.v4i32",
                K::I8,
                {K::I32, 4},
                K::I32,
                Form::SignFlags})};
}

//===----------------------------------------------------------------------===//
// LDS
//===----------------------------------------------------------------------===//

/// The accesses of the powers of two, which layouts are made of.
llvm::SmallVector<LdsAccess, 3> ldsAccesses(LdsGeneration generation, LdsOperation operation) {
  llvm::SmallVector<LdsAccess, 3> accesses;
  for (unsigned bits : {32u, 64u, 128u}) {
    LdsPhases phases = ldsPhases(generation, operation, bits);
    LdsAccess &access = accesses.emplace_back(LdsAccess{bits, phases.banks, {}});
    access.phaseLanes.append(phases.phaseLanes, phases.phaseLanes + phases.phaseDimension());
  }
  return accesses;
}
llvm::SmallVector<LdsAccess, 3> ldsReads(LdsGeneration generation) {
  return ldsAccesses(generation, LdsOperation::Read);
}
llvm::SmallVector<LdsAccess, 3> ldsWrites(LdsGeneration generation) {
  return ldsAccesses(generation, LdsOperation::Write);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

constexpr uint64_t gib2 = uint64_t(1) << 31;
constexpr uint64_t gib4 = (uint64_t(1) << 32) - 1;

constexpr RegisterInfo cdna3Registers{.perSimd = 512,
                                      .addressable = 512,
                                      .accumulators = 256,
                                      .allocationGranule = 8,
                                      .maxWavesPerSimd = 8};

constexpr CrossLaneInfo cdna3CrossLane{.quadPermute = true,
                                       .rowShift = true,
                                       .rowRotate = true,
                                       .rowMirror = true,
                                       .rowBroadcast = true,
                                       .rowXorMask = false,
                                       .rowShare = true,
                                       .permuteRows = false,
                                       .swapRows16 = false,
                                       .swapHalves32 = false,
                                       .ldsSwizzle = true,
                                       .ldsBackwardPermute = true};

constexpr AtomicInfo cdna3Atomics{
    .addF32 = true, .addF64 = true, .addPackedF16 = true, .addPackedBF16 = true};

constexpr GlobalMemoryInfo cdna3Memory{.widestAccessBits = 128,
                                       .cacheLineBytes = 128,
                                       .unalignedAccess = true,
                                       .rangeCheckedAccess = true};

constexpr BufferResourceInfo cdna3Buffer{.word3 = 0x00027000,
                                         .outOfRange = BufferResourceInfo::OutOfRange::Dword,
                                         .maxNumRecords = gib4,
                                         .maxNumRecordsOfAtomics = gib2};

constexpr KernelEntryInfo cdna3Entry{.userScalarRegisters = 16, .preloadsArguments = true};

TargetRow gfx942() {
  return {
      .name = "gfx942",
      .features = "",
      .waveSize = 64,
      .maxThreadsPerWorkgroup = 1024,
      .lds = {.bytesPerWorkgroup = 65536,
              .bytesPerComputeUnit = 65536,
              .allocationGranule = 512,
              .reads = ldsReads(LdsGeneration::Cdna3),
              .writes = ldsWrites(LdsGeneration::Cdna3),
              .transposingReads = {},
              .directLoadBits = {32}},
      .registers = cdna3Registers,
      .crossLane = cdna3CrossLane,
      .arithmetic = {.packedF32 = true,
                     .packedF16 = true,
                     .max3F32 = true,
                     .maximum3F32 = false,
                     .maximumF32 = false,
                     .dualIssueF32 = false,
                     .f32PerF64 = 2},
      .conversions = {.packedBF16FromF32 = false, .packedF16FromF32 = false, .fp8 = Fp8Kind::FNUZ},
      .atomics = cdna3Atomics,
      .globalMemory = cdna3Memory,
      .device = {.computeUnits = 304,
                 .simdsPerComputeUnit = 4,
                 .dies = 8,
                 .maxClockMHz = 2100,
                 .memoryGBPerSecond = 5300},
      .matrixInstructions = gfx942Matrix(),
      .bufferResource = cdna3Buffer,
      .kernelEntry = cdna3Entry,
      .instructions = {.bufferLoadToLds = true,
                       .globalLoadToLds = true,
                       .ldsAccess128Alignment = 16,
                       .scaledFp8Conversion = false,
                       .splitWaitCounters = false,
                       .maxVectorMemoryCount = 63,
                       .maxLdsCount = 15}};
}

TargetRow gfx950() {
  CrossLaneInfo crossLane = cdna3CrossLane;
  crossLane.swapRows16 = true;
  crossLane.swapHalves32 = true;
  return {.name = "gfx950",
          .features = "",
          .waveSize = 64,
          .maxThreadsPerWorkgroup = 1024,
          .lds = {.bytesPerWorkgroup = 163840,
                  .bytesPerComputeUnit = 163840,
                  .allocationGranule = 1280,
                  .reads = ldsReads(LdsGeneration::Cdna4),
                  .writes = ldsWrites(LdsGeneration::Cdna4),
                  .transposingReads = {{64, 16}, {64, 8}, {96, 6}, {64, 4}},
                  .directLoadBits = {32, 96, 128}},
          .registers = cdna3Registers,
          .crossLane = crossLane,
          .arithmetic = {.packedF32 = true,
                         .packedF16 = true,
                         .max3F32 = true,
                         .maximum3F32 = true,
                         .maximumF32 = false,
                         .dualIssueF32 = false,
                         .f32PerF64 = 2},
          .conversions = {.packedBF16FromF32 = true, .packedF16FromF32 = true, .fp8 = Fp8Kind::OCP},
          .atomics = cdna3Atomics,
          .globalMemory = cdna3Memory,
          .device = {.computeUnits = 256,
                     .simdsPerComputeUnit = 4,
                     .dies = 8,
                     .maxClockMHz = 2400,
                     .memoryGBPerSecond = 8000},
          .matrixInstructions = gfx950Matrix(),
          .bufferResource = cdna3Buffer,
          .kernelEntry = cdna3Entry,
          .instructions = {.bufferLoadToLds = true,
                           .globalLoadToLds = true,
                           .ldsAccess128Alignment = 16,
                           .scaledFp8Conversion = true,
                           .splitWaitCounters = false,
                           .maxVectorMemoryCount = 63,
                           .maxLdsCount = 15}};
}

/// Radeon 890M. A compute unit here is half of a work group processor: two
/// SIMDs and half of its 128 KB of LDS.
TargetRow gfx1150() {
  return {
      .name = "gfx1150",
      .features = "+wavefrontsize32",
      .waveSize = 32,
      .maxThreadsPerWorkgroup = 1024,
      .lds = {.bytesPerWorkgroup = 65536,
              .bytesPerComputeUnit = 65536,
              .allocationGranule = 1024,
              .reads = ldsReads(LdsGeneration::Rdna3),
              .writes = ldsWrites(LdsGeneration::Rdna3),
              .transposingReads = {},
              .directLoadBits = {}},
      .registers = {.perSimd = 1024,
                    .addressable = 256,
                    .accumulators = 0,
                    .allocationGranule = 16,
                    .maxWavesPerSimd = 16},
      .crossLane = {.quadPermute = true,
                    .rowShift = true,
                    .rowRotate = true,
                    .rowMirror = true,
                    .rowBroadcast = false,
                    .rowXorMask = true,
                    .rowShare = true,
                    .permuteRows = true,
                    .swapRows16 = false,
                    .swapHalves32 = false,
                    .ldsSwizzle = true,
                    .ldsBackwardPermute = true},
      .arithmetic = {.packedF32 = false,
                     .packedF16 = true,
                     .max3F32 = true,
                     .maximum3F32 = false,
                     .maximumF32 = false,
                     .dualIssueF32 = true,
                     .f32PerF64 = 32},
      .conversions = {.packedBF16FromF32 = false, .packedF16FromF32 = false, .fp8 = Fp8Kind::None},
      .atomics = {.addF32 = true, .addF64 = false, .addPackedF16 = false, .addPackedBF16 = false},
      .globalMemory = {.widestAccessBits = 128,
                       .cacheLineBytes = 128,
                       .unalignedAccess = true,
                       .rangeCheckedAccess = true},
      .device = {.computeUnits = 16,
                 .simdsPerComputeUnit = 2,
                 .dies = 1,
                 .maxClockMHz = 2900,
                 .memoryGBPerSecond = 120},
      .matrixInstructions = gfx1150Matrix(),
      .bufferResource = {.word3 = 0x31027000,
                         .outOfRange = BufferResourceInfo::OutOfRange::Access,
                         .maxNumRecords = gib4,
                         .maxNumRecordsOfAtomics = gib4},
      .kernelEntry = {.userScalarRegisters = 16, .preloadsArguments = false},
      .instructions = {.bufferLoadToLds = false,
                       .globalLoadToLds = false,
                       .ldsAccess128Alignment = 16,
                       .scaledFp8Conversion = false,
                       .splitWaitCounters = false,
                       .maxVectorMemoryCount = 63,
                       .maxLdsCount = 63}};
}

} // namespace

//===----------------------------------------------------------------------===//
// Look-up
//===----------------------------------------------------------------------===//

llvm::ArrayRef<Target> wavetile::rocm::targets() {
  static const std::array<Target, 3> table{Target(gfx942()), Target(gfx950()), Target(gfx1150())};
  return table;
}

llvm::StringRef wavetile::rocm::defaultTargetName() { return "gfx950"; }

llvm::Expected<const Target &> wavetile::rocm::findTarget(llvm::StringRef name) {
  for (const Target &target : targets())
    if (target.name() == name)
      return target;
  std::string present = llvm::join(
      llvm::map_range(targets(), [](const Target &target) { return target.name(); }), ", ");
  return llvm::createStringError("no AMD target '" + name + "'; there are " + present);
}
