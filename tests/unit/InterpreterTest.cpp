//===- InterpreterTest.cpp - The interpreter's C++ interface ----*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/interpreter/Interpreter.h"

#include "mlir/Parser/Parser.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

using namespace mlir;
using namespace wavetile;

namespace {

/// Kernels on f32 tensors.
class InterpreterTest : public ::testing::Test {
protected:
  InterpreterTest()
      : handler(&context, [&](Diagnostic &diagnostic) { message += diagnostic.str(); }) {
    context.loadDialect<tile::TileDialect>();
  }

  LogicalResult run(llvm::StringRef text, const InterpreterArguments &arguments,
                    const InterpreterOptions &options = {}) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return failure();
    return interpret(*module->getOps<tile::KernelOp>().begin(), arguments, options);
  }

  static llvm::MutableArrayRef<uint8_t> bytes(llvm::MutableArrayRef<float> floats) {
    return {reinterpret_cast<uint8_t *>(floats.data()), floats.size() * sizeof(float)};
  }

  MLIRContext context;
  std::string message;
  ScopedDiagnosticHandler handler;
};

/// x + eps in `n` elements, by blocks of the named dimension `i`.
constexpr llvm::StringLiteral addNumber = R"(
!t = tensor<?xf32, #tile.dims<[i]>>
tile.kernel @add(%eps: f32, %x: !tile.pointer<f32>, %n: index, %out: !tile.pointer<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.view %x sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  %o = tile.view %out sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  tile.parallel (%c0) to (%n) dims ["i"] {
  ^bb0(%begin: index, %extent: index):
    %a = tile.load %v[%begin] dims [0] extents(%extent) : !tile.view<1 x f32> -> !t
    %e = tile.full %eps : f32 -> !t
    %b = arith.addf %a, %e : !t
    tile.store %b, %o[%begin] dims [0] extents(%extent) : !t, !tile.view<1 x f32>
  }
  tile.return
})";

TEST_F(InterpreterTest, TakesArgumentsInTheOrderOfTheirKind) {
  float x[] = {1, 2, 3, 4, 5}, out[] = {0, 0, 0, 0, 0};
  InterpreterOptions options;
  options.sizes["i"] = 2;
  // The float is rounded to f32, once.
  ASSERT_TRUE(succeeded(run(addNumber, {{bytes(x), bytes(out)}, {4}, {0.1}}, options))) << message;
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(out[i], x[i] + 0.1f);
  EXPECT_EQ(out[4], 0);
}

TEST_F(InterpreterTest, WritesThroughOverlappingBuffers) {
  float x[] = {1, 2, 3, 4};
  InterpreterOptions options;
  options.sizes["i"] = 4;
  llvm::MutableArrayRef<float> all(x);
  ASSERT_TRUE(
      succeeded(run(addNumber, {{bytes(all), bytes(all.drop_front())}, {3}, {10}}, options)))
      << message;
  EXPECT_EQ(std::vector<float>(x, x + 4), (std::vector<float>{1, 11, 12, 13}));
}

TEST_F(InterpreterTest, EmptyTensorsRunNothing) {
  InterpreterOptions options;
  options.sizes["i"] = 4;
  EXPECT_TRUE(succeeded(run(addNumber, {{{}, {}}, {0}, {1}}, options))) << message;
}

TEST_F(InterpreterTest, MissingArgumentsAreErrors) {
  float x[] = {1};
  EXPECT_TRUE(failed(run(addNumber, {{bytes(x)}, {1}, {1}})));
  EXPECT_NE(message.find("needs number 1 of the pointers for argument 3, and 1 are given"),
            std::string::npos)
      << message;
}

TEST_F(InterpreterTest, SizesMustBeGiven) {
  float x[] = {1};
  EXPECT_TRUE(failed(run(addNumber, {{bytes(x), bytes(x)}, {1}, {1}})));
  EXPECT_NE(message.find("has dimension 'i', whose size is not given"), std::string::npos)
      << message;
}

TEST_F(InterpreterTest, ReachesNoFurtherThanItsBuffers) {
  float x[] = {1, 2, 3, 4};
  InterpreterOptions options;
  options.sizes["i"] = 8;
  llvm::MutableArrayRef<float> all(x);
  EXPECT_TRUE(failed(run(addNumber, {{bytes(all), bytes(all.drop_back())}, {4}, {1}}, options)));
  EXPECT_NE(message.find("'tile.store' op reaches element [3] of its view, at byte 12 of a tensor "
                         "of 12"),
            std::string::npos)
      << message;
}

TEST_F(InterpreterTest, FunctionsAreRoundedOnceFromDouble) {
  for (auto [name, expected] :
       std::initializer_list<std::pair<const char *, double>>{{"exp", std::exp(0.75)},
                                                              {"exp2", std::exp2(0.75)},
                                                              {"log", std::log(0.75)},
                                                              {"log2", std::log2(0.75)},
                                                              {"sqrt", std::sqrt(0.75)},
                                                              {"rsqrt", 1 / std::sqrt(0.75)},
                                                              {"sin", std::sin(0.75)},
                                                              {"cos", std::cos(0.75)},
                                                              {"tanh", std::tanh(0.75)},
                                                              {"erf", std::erf(0.75)},
                                                              {"floor", 0.0},
                                                              {"ceil", 1.0},
                                                              {"trunc", 0.0},
                                                              {"roundeven", 1.0},
                                                              {"absf", 0.75}}) {
    std::string text = addNumber.str();
    size_t at = text.find("arith.addf %a, %e");
    text.replace(at, 17, std::string("math.") + name + " %a");
    float x[] = {0.75f}, out[] = {-1};
    InterpreterOptions options;
    options.sizes["i"] = 1;
    ASSERT_TRUE(succeeded(run(text, {{bytes(x), bytes(out)}, {1}, {0}}, options))) << message;
    EXPECT_EQ(out[0], float(expected)) << name;
  }
}

} // namespace
