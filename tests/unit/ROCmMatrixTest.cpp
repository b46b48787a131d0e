//===- ROCmMatrixTest.cpp - Matrix instructions on the device -------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operand layouts of the table against the software device: matrices of
// small integers, which every element type holds exactly, placed by the bases
// and multiplied by each instruction.
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/CodeGeneration.h"

#include "tests/unit/DeviceHipSupport.h"
#include "tests/unit/ROCmKernels.h"

#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"

#include <cstring>
#include <random>

using namespace wavetile;
using namespace wavetile::rocm;
using namespace wavetile::rocm::test;
using wavetile::test::DeviceArray;
using wavetile::test::Hip;
using wavetile::test::lastReport;
using wavetile::test::launch;
using wavetile::test::Module;
using wavetile::test::TargetCase;
using wavetile::test::targetCases;

namespace {

const llvm::fltSemantics *semantics(ElementKind kind) {
  switch (kind) {
  case ElementKind::F8E4M3FN:
    return &llvm::APFloat::Float8E4M3FN();
  case ElementKind::F8E5M2:
    return &llvm::APFloat::Float8E5M2();
  case ElementKind::F8E4M3FNUZ:
    return &llvm::APFloat::Float8E4M3FNUZ();
  case ElementKind::F8E5M2FNUZ:
    return &llvm::APFloat::Float8E5M2FNUZ();
  case ElementKind::F16:
    return &llvm::APFloat::IEEEhalf();
  case ElementKind::BF16:
    return &llvm::APFloat::BFloat();
  case ElementKind::TF32:
  case ElementKind::F32:
    return &llvm::APFloat::IEEEsingle();
  case ElementKind::F64:
    return &llvm::APFloat::IEEEdouble();
  default:
    return nullptr;
  }
}

uint64_t encode(ElementKind kind, int value) {
  const llvm::fltSemantics *format = semantics(kind);
  if (!format)
    return static_cast<uint64_t>(value);
  llvm::APFloat number(static_cast<double>(value));
  bool losesInformation;
  number.convert(*format, llvm::APFloat::rmNearestTiesToEven, &losesInformation);
  EXPECT_FALSE(losesInformation);
  return number.bitcastToAPInt().getZExtValue();
}

double decode(ElementKind kind, uint64_t bits) {
  const llvm::fltSemantics *format = semantics(kind);
  if (!format)
    return static_cast<int32_t>(bits);
  llvm::APFloat number(*format, llvm::APInt(elementBits(kind), bits));
  bool losesInformation;
  number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
                 &losesInformation);
  return number.convertToDouble();
}

struct Matrix {
  Matrix(unsigned rows, unsigned columns) : columns(columns), values(rows * columns) {}
  int &at(MatrixOperand::Basis index) { return values[index[0] * columns + index[1]]; }

  unsigned columns;
  std::vector<int> values;
};

/// One operand in device memory, lane by lane.
class Operand {
public:
  Operand(const MatrixOperand &layout, unsigned waveSize)
      : layout(layout), bytes(layout.registers * 4 * waveSize) {}

  void fill(Matrix &matrix) {
    forEach([&](size_t offset, unsigned size, MatrixOperand::Basis index) {
      uint64_t bits = encode(layout.element, matrix.at(index));
      std::memcpy(bytes.pointer + offset, &bits, size);
    });
  }

  void compare(Matrix &matrix, const std::string &what) {
    forEach([&](size_t offset, unsigned size, MatrixOperand::Basis index) {
      uint64_t bits = 0;
      std::memcpy(&bits, bytes.pointer + offset, size);
      EXPECT_EQ(decode(layout.element, bits), matrix.at(index))
          << what << " at " << index[0] << ", " << index[1];
    });
  }

  uint8_t *pointer() { return bytes.pointer; }

private:
  template <typename Visit> void forEach(Visit visit) {
    unsigned size = elementBits(layout.element) / 8;
    size_t offset = 0;
    for (unsigned lane = 0; offset < bytes.count; ++lane)
      for (unsigned i = 0; i < layout.elementsPerLane(); ++i, offset += size)
        visit(offset, size, indexOf(layout, i, lane));
  }

  const MatrixOperand &layout;
  DeviceArray<uint8_t> bytes;
};

void multiply(const MatrixInstruction &i, const Target &gpu, unsigned seed) {
  std::string what = gpu.name().str() + " " + i.name + ", seed " + std::to_string(seed);
  auto program = parseLLVMIR(matrixKernel("matrix", gpu, i), gpu);
  ASSERT_TRUE(bool(program)) << what;
  auto object = compile(std::move(*program), gpu);
  ASSERT_TRUE(bool(object)) << what << llvm::toString(object.takeError());
  Module module(object->str().str());
  ASSERT_EQ(module.error, hipSuccess) << what << ": " << lastReport();

  std::mt19937 random(seed);
  std::uniform_int_distribution<int> small(-4, 4);
  Matrix a(i.m, i.k), b(i.k, i.n), c(i.m, i.n), d(i.m, i.n);
  for (Matrix *matrix : {&a, &b, &c})
    for (int &value : matrix->values)
      value = small(random);
  for (int row = 0; row < static_cast<int>(i.m); ++row)
    for (int column = 0; column < static_cast<int>(i.n); ++column) {
      int sum = c.at({row, column});
      for (int k = 0; k < static_cast<int>(i.k); ++k)
        sum += a.at({row, k}) * b.at({k, column});
      d.at({row, column}) = sum;
    }

  Operand left(i.a, gpu.waveSize()), right(i.b, gpu.waveSize()),
      accumulator(i.accumulator, gpu.waveSize());
  left.fill(a);
  right.fill(b);
  accumulator.fill(c);
  ASSERT_EQ(launch(module.function("matrix"), {1, 1, 1}, {gpu.waveSize(), 1, 1}, 0, left.pointer(),
                   right.pointer(), accumulator.pointer()),
            hipSuccess)
      << what << ": " << lastReport();
  ASSERT_EQ(Hip::get().hipDeviceSynchronize(), hipSuccess) << what << ": " << lastReport();
  accumulator.compare(d, what);
}

class MatrixOnDevice : public testing::TestWithParam<TargetCase> {};

TEST_P(MatrixOnDevice, IntegersAreExact) {
  const Target &gpu = llvm::cantFail(findTarget(GetParam().name));
  ASSERT_EQ(Hip::get().hipSetDevice(GetParam().ordinal), hipSuccess);
  unsigned seed = std::random_device()();
  for (const MatrixInstruction &instruction : gpu.matrixInstructions())
    multiply(instruction, gpu, seed++);
}

INSTANTIATE_TEST_SUITE_P(Table, MatrixOnDevice, testing::ValuesIn(targetCases),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
