//===- InterpreterPassesTest.cpp - Passes keep meaning ----------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs kernels before and after each pass of the pipeline, on random data of random
// extents, for each strategy and several targets. WAVETILE_TEST_SEED repeats a failure.
//
//===----------------------------------------------------------------------===//

#include "passes/driver/Driver.h"
#include "passes/interpreter/Interpreter.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <string>

#include <gtest/gtest.h>

using namespace mlir;
using namespace wavetile;
using llvm::APFloat;
using llvm::APInt;

namespace {

/// The seed of this process, printed once.
uint64_t baseSeed() {
  static const uint64_t seed = [] {
    const char *given = std::getenv("WAVETILE_TEST_SEED");
    uint64_t chosen = given ? std::strtoull(given, nullptr, 10) : std::random_device()();
    std::cout << "WAVETILE_TEST_SEED=" << chosen << std::endl;
    return chosen;
  }();
  return seed;
}

/// Numbers that are the same for a seed on every machine.
class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}

  int64_t below(int64_t bound) { return int64_t(engine() % uint64_t(bound)); }
  template <typename T> T pick(std::initializer_list<T> choices) {
    return *(choices.begin() + below(choices.size()));
  }
  /// About as many small values as there are: in [-4, 4).
  double real() { return double(engine() >> 11) * 0x1p-50 - 4.0; }

private:
  std::mt19937_64 engine;
};

//===----------------------------------------------------------------------===//
// Problems
//===----------------------------------------------------------------------===//

/// A kernel with arguments and a Config.
struct Problem {
  std::string file;
  std::map<std::string, int64_t> integers;
  std::map<std::string, double> floats;
  /// Elements of each tensor.
  std::map<std::string, int64_t> tensors;
  /// Tensors that are another one.
  std::map<std::string, std::string> same;
  Config config;
  /// Bound of |before - after| / (1 + |before|).
  double tolerance = 0;
  bool withNaN = false;
};

Config parseConfig(const std::string &text) {
  llvm::Expected<Config> config = Config::parse(text);
  if (config)
    return *config;
  ADD_FAILURE() << llvm::toString(config.takeError());
  return Config();
}

/// Rows resident, in chunks, or shared by blocks.
Config rowConfig(Random &random) {
  switch (random.below(3)) {
  case 0:
    return parseConfig("cols.strategy=resident,rows=" + std::to_string(random.pick({1, 4, 8})));
  case 1:
    return parseConfig(
        "cols.strategy=looped,cols=128,waves=" + std::to_string(random.pick({1, 2})) +
        ",rows=" + std::to_string(random.pick({1, 2, 4})));
  default:
    return parseConfig("cols.strategy=grid,cols=64,waves=1,cols.blocks=" +
                       std::to_string(random.pick({2, 4})));
  }
}

int64_t rowCount(Random &random) { return random.below(7); }
int64_t rowLength(Random &random) {
  return random.pick<int64_t>({1, 2, 7, 31, 63, 64, 65, 127, 128, 129, 200, 257, 320});
}

Problem softmax(Random &random) {
  // Rows without elements are rows.
  int64_t m = rowCount(random), n = random.below(8) ? rowLength(random) : 0,
          stride = n + random.below(9);
  int64_t first = random.below(m + 1), last = first + random.below(m - first + 1);
  return {.file = "softmax.mlir",
          .integers = {{"m", m}, {"n", n}, {"first", first}, {"last", last}, {"stride", stride}},
          .tensors = {{"x", m * stride}, {"out", m * n}},
          .config = rowConfig(random),
          .tolerance = 0x1p-8};
}

Problem rmsNorm(Random &random) {
  int64_t m = rowCount(random), n = rowLength(random);
  Problem problem{.file = "rms_norm.mlir",
                  .integers = {{"m", m}, {"n", n}},
                  .floats = {{"eps", 1e-5}},
                  .tensors = {{"x", m * n}, {"weight", n}, {"out", m * n}},
                  .config = rowConfig(random),
                  .tolerance = 1e-5};
  if (random.below(2)) {
    problem.same = {{"out", "x"}};
    problem.tensors.erase("out");
  }
  return problem;
}

Problem layerNorm(Random &random) {
  int64_t m = rowCount(random), n = 1 + rowLength(random);
  return {.file = "layer_norm.mlir",
          .integers = {{"m", m}, {"n", n}},
          .floats = {{"eps", 1e-5}},
          .tensors = {{"x", m * n}, {"weight", n}, {"bias", n}, {"out", m * n}},
          .config = rowConfig(random),
          .tolerance = 0x1p-10};
}

Problem argmax(Random &random) {
  int64_t m = rowCount(random), n = rowLength(random);
  return {.file = "argmax.mlir",
          .integers = {{"m", m}, {"n", n}},
          .tensors = {{"x", m * n}, {"values", m}, {"out", m}},
          .config = rowConfig(random),
          .withNaN = true};
}

Problem overlapping(Random &random) {
  int64_t m = rowCount(random), n = rowLength(random);
  return {.file = "overlapping.mlir",
          .integers = {{"m", m}, {"n", n}},
          .tensors = {{"x", m * n}, {"shifted", m * n}},
          .same = {{"out", "x"}},
          .config = rowConfig(random)};
}

Problem matmul(Random &random) {
  int64_t m = 1 + random.below(40), n = 1 + random.below(40), k = 1 + random.below(80);
  return {.file = "matmul.mlir",
          .integers = {{"m", m}, {"n", n}, {"k", k}},
          .tensors = {{"x", m * k}, {"y", k * n}, {"out", m * n}},
          .config =
              parseConfig("rows=32,cols=32,inner=32,waves=" + std::to_string(random.pick({1, 4}))),
          .tolerance = 0x1p-7};
}

Problem onlineSoftmax(Random &random) {
  int64_t m = rowCount(random), n = rowLength(random);
  int64_t first = random.below(n), last = first + random.below(n - first) + 1;
  return {.file = "online_softmax.mlir",
          .integers = {{"m", m}, {"n", n}, {"first", first}, {"last", last}},
          .tensors = {{"x", m * n}, {"out", m * n}},
          .config = parseConfig("rows=4,part=64,waves=" + std::to_string(random.pick({1, 2}))),
          .tolerance = 0x1p-10};
}

Problem twoStageSum(Random &random) {
  int64_t n = 1 + random.below(2000);
  return {.file = "two_stage_sum.mlir",
          .integers = {{"n", n}},
          .tensors = {{"x", n}, {"out", 1}},
          .config = parseConfig("i=256,single=1,blocks=16,waves=2"),
          .tolerance = 1e-5};
}

//===----------------------------------------------------------------------===//
// Running a kernel on copies of its data
//===----------------------------------------------------------------------===//

/// One problem with its module and data.
class Runs {
public:
  Runs(Problem problem, uint64_t seed);

  ModuleOp getModule() { return *module; }
  MLIRContext *getContext() { return &context; }
  std::string takeDiagnostics() { return std::exchange(diagnostics, ""); }

  /// The elements of all tensors after a run of `module`, as numbers, or nothing
  /// after a failure, which is reported.
  using Results = std::map<std::string, std::vector<double>>;
  std::optional<Results> run(ModuleOp module, llvm::StringRef when);

  void expectEqual(const Results &before, const Results &after, llvm::StringRef when);

private:
  tile::KernelOp kernelOf(ModuleOp module) { return *module.getOps<tile::KernelOp>().begin(); }
  std::string name(tile::KernelOp kernel, unsigned number) {
    return kernel.getArgAttrOfType<StringAttr>(number, tile::nameAttrName).str();
  }
  void describeArguments();
  void makeData();
  std::vector<double> toNumbers(llvm::ArrayRef<uint8_t> bytes, Type type);

  Problem problem;
  uint64_t seed;
  MLIRContext context;
  std::string diagnostics;
  ScopedDiagnosticHandler handler;
  OwningOpRef<ModuleOp> module;
  std::map<std::string, std::vector<uint8_t>> data;
};

DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registerDialects(registry, BackendRegistry::builtin());
  return registry;
}

Runs::Runs(Problem given, uint64_t seed)
    : problem(std::move(given)), seed(seed), context(makeRegistry()),
      handler(&context, [&](Diagnostic &diagnostic) {
        llvm::raw_string_ostream os(diagnostics);
        os << diagnostic.getLocation() << ": " << diagnostic.str() << "\n";
        for (Diagnostic &note : diagnostic.getNotes())
          os << note.getLocation() << ": note: " << note.str() << "\n";
      }) {
  context.printOpOnDiagnostic(false);
  module = parseSourceFile<ModuleOp>(std::string(WAVETILE_INTERPRETER_MODULES "/") + problem.file,
                                     &context);
  EXPECT_TRUE(bool(module)) << diagnostics;
  tile::KernelOp kernel = kernelOf(*module);
  kernel.setDisjoint(problem.same.empty());
  describeArguments();
  makeData();
}

/// Says what a launcher's guard may say of arguments, some of the time.
void Runs::describeArguments() {
  Random random(seed);
  Builder builder(&context);
  tile::KernelOp kernel = kernelOf(*module);
  for (auto [number, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    if (type.isIndex()) {
      int64_t value = problem.integers.at(name(kernel, number));
      kernel.setArgAttr(number, tile::hintAttrName, builder.getI64IntegerAttr(value));
      if (value % 16 == 0 && random.below(2))
        kernel.setArgAttr(number, tile::divisorAttrName, builder.getI64IntegerAttr(16));
    } else if (isa<tile::PointerType>(type) && random.below(2)) {
      kernel.setArgAttr(number, tile::alignAttrName, builder.getI64IntegerAttr(16));
    }
  }
}

void Runs::makeData() {
  Random random(seed);
  tile::KernelOp kernel = kernelOf(*module);
  for (auto [number, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    auto pointer = dyn_cast<tile::PointerType>(type);
    std::string key = name(kernel, number);
    if (!pointer || !problem.tensors.count(key))
      continue;
    unsigned bytes = pointer.getElementType().getIntOrFloatBitWidth() / 8;
    std::vector<uint8_t> &memory = data[key];
    for (int64_t i = 0; i < problem.tensors.at(key); ++i) {
      uint64_t bits = 0;
      if (auto floatType = dyn_cast<FloatType>(pointer.getElementType())) {
        // Few values, so that some are equal, where that matters.
        APFloat value(problem.withNaN ? std::floor(random.real()) : random.real());
        if (problem.withNaN && random.below(200) == 0)
          value = APFloat::getNaN(APFloat::IEEEdouble());
        bool lost;
        value.convert(floatType.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
        bits = value.bitcastToAPInt().getZExtValue();
      }
      for (unsigned byte = 0; byte < bytes; ++byte)
        memory.push_back(uint8_t(bits >> (8 * byte)));
    }
  }
}

std::vector<double> Runs::toNumbers(llvm::ArrayRef<uint8_t> bytes, Type type) {
  unsigned size = type.getIntOrFloatBitWidth() / 8;
  std::vector<double> numbers;
  for (size_t i = 0; i < bytes.size(); i += size) {
    uint64_t bits = 0;
    for (unsigned byte = 0; byte < size; ++byte)
      bits |= uint64_t(bytes[i + byte]) << (8 * byte);
    APInt integer(8 * size, bits);
    if (auto floatType = dyn_cast<FloatType>(type)) {
      APFloat value(floatType.getFloatSemantics(), integer);
      bool lost;
      value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
      numbers.push_back(value.convertToDouble());
    } else {
      numbers.push_back(double(integer.getSExtValue()));
    }
  }
  return numbers;
}

std::optional<Runs::Results> Runs::run(ModuleOp module, llvm::StringRef when) {
  std::map<std::string, std::vector<uint8_t>> memory = data;
  tile::KernelOp kernel = kernelOf(module);
  InterpreterArguments arguments;
  std::map<std::string, Type> types;
  for (auto [number, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    std::string key = name(kernel, number);
    if (auto pointer = dyn_cast<tile::PointerType>(type)) {
      auto same = problem.same.find(key);
      if (same != problem.same.end())
        key = same->second;
      arguments.pointers.push_back(memory.at(key));
      types[key] = pointer.getElementType();
    } else if (type.isIndex()) {
      arguments.integers.push_back(problem.integers.at(key));
    } else {
      arguments.floats.push_back(problem.floats.at(key));
    }
  }
  InterpreterOptions options;
  options.seed = seed;
  if (failed(interpret(kernel, arguments, options))) {
    ADD_FAILURE() << when.str() << ":\n" << takeDiagnostics();
    return std::nullopt;
  }
  Results results;
  for (const auto &[key, bytes] : memory)
    results[key] = toNumbers(bytes, types.at(key));
  return results;
}

void Runs::expectEqual(const Results &before, const Results &after, llvm::StringRef when) {
  for (const auto &[name, numbers] : before)
    for (size_t i = 0; i < numbers.size(); ++i) {
      double a = numbers[i], b = after.at(name)[i];
      if ((std::isnan(a) && std::isnan(b)) || a == b ||
          std::abs(a - b) <= problem.tolerance * (1 + std::abs(a)))
        continue;
      ADD_FAILURE() << when.str() << ": " << name << "[" << i << "] is " << b << ", not " << a;
      return;
    }
}

//===----------------------------------------------------------------------===//
// After each pass
//===----------------------------------------------------------------------===//

/// Runs the module after each pass that came to its end.
class Checker : public PassInstrumentation {
public:
  Checker(Runs &runs, Runs::Results before) : runs(runs), before(std::move(before)) {}

  void runAfterPass(Pass *pass, Operation *op) override {
    auto module = dyn_cast<ModuleOp>(op);
    if (!module || ::testing::Test::HasFailure())
      return;
    std::string when = "after " + pass->getArgument().str();
    if (std::optional<Runs::Results> after = runs.run(module, when))
      runs.expectEqual(before, *after, when);
    if (::testing::Test::HasFailure())
      module.dump();
  }

private:
  Runs &runs;
  Runs::Results before;
};

const TargetInfo &findTarget(llvm::StringRef name) {
  llvm::ExitOnError exitOnError;
  const Backend *backend = exitOnError(BackendRegistry::builtin().find(name));
  return *exitOnError(backend->target(name));
}

void checkPasses(Problem problem, const TargetInfo &target, uint64_t seed) {
  std::string text = problem.file + " on " + target.name().str() + " with " + problem.config.str();
  for (const auto &[name, value] : problem.integers)
    text += ", " + name + " = " + std::to_string(value);
  SCOPED_TRACE(text);
  Config given = problem.config;
  bool overlaps = !problem.same.empty();
  Runs runs(std::move(problem), seed);
  llvm::Expected<Config> config = completeConfig(runs.getModule(), target, given);
  ASSERT_TRUE(bool(config)) << llvm::toString(config.takeError());
  runs.getModule()->setAttr(tile::configAttrName, config->toAttribute(runs.getContext()));
  std::optional<Runs::Results> before = runs.run(runs.getModule(), "before any pass");
  if (!before)
    return;

  PassManager passes(runs.getContext(), ModuleOp::getOperationName());
  addTilePasses(passes, target);
  passes.addInstrumentation(std::make_unique<Checker>(runs, std::move(*before)));
  if (succeeded(passes.run(runs.getModule())))
    return;
  // Where tensors overlap a Config may be refused, but not change the meaning.
  std::string diagnostics = runs.takeDiagnostics();
  EXPECT_TRUE(overlaps && diagnostics.find("tensors may overlap") != std::string::npos)
      << config->str() << ":\n"
      << diagnostics;
}

class PassesKeepMeaning : public ::testing::TestWithParam<Problem (*)(Random &)> {};

TEST_P(PassesKeepMeaning, OnRandomData) {
  for (uint64_t repetition = 0; repetition < 12 && !HasFailure(); ++repetition) {
    uint64_t seed = baseSeed() + repetition;
    SCOPED_TRACE("WAVETILE_TEST_SEED=" + std::to_string(baseSeed()) + ", repetition " +
                 std::to_string(repetition));
    Random random(seed);
    const TargetInfo &target = findTarget(random.pick({"gfx942", "gfx950", "gfx1150"}));
    checkPasses(GetParam()(random), target, seed);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, PassesKeepMeaning,
                         ::testing::Values(&softmax, &rmsNorm, &layerNorm, &argmax, &overlapping,
                                           &matmul, &onlineSoftmax, &twoStageSum));

} // namespace
