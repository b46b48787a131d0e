//===- Driver.cpp - From a tile module to a code object ---------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/driver/Driver.h"

#include "passes/LaunchPlanBuilder.h"
#include "passes/Passes.h"
#include "passes/driver/Diagnostics.h"

#include "ir/Tile.h"

#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"

#include <chrono>

using namespace mlir;
using namespace wavetile;

//===----------------------------------------------------------------------===//
// Pipelines
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral tileStage = "tile";
static constexpr llvm::StringLiteral boundStage = "bound";
static constexpr llvm::StringLiteral finalStage = "final";
static constexpr llvm::StringLiteral llvmStage = "llvm";

llvm::ArrayRef<llvm::StringLiteral> wavetile::stageNames() {
  static constexpr llvm::StringLiteral names[] = {tileStage, boundStage, finalStage, llvmStage};
  return names;
}

/// Strategies are chosen before sizes are bound: rolling a row into a loop changes
/// what a name stands for, and no type.
static void addBindPasses(OpPassManager &passes, const TargetInfo &target) {
  passes.addPass(createSelectReductionStrategyPass(target));
  passes.addPass(createBindConfigPass(target));
  passes.addPass(createWidenDotsPass(target));
}

/// Bounds are found after tails are peeled, because a whole step needs no mask.
/// Programs are made before layouts, which belong to what one workgroup runs.
static void addBoundPasses(OpPassManager &passes, const TargetInfo &target) {
  passes.addPass(createPeelTailsPass());
  passes.addPass(createInferBoundsPass());
  passes.addPass(createPlanPass(target));
  passes.addPass(createStageOperands());
  passes.addPass(createAssignLayoutsPass(target));
  passes.addPass(createSimplifyConversions());
}

void wavetile::addTilePasses(OpPassManager &passes, const TargetInfo &target) {
  addBindPasses(passes, target);
  addBoundPasses(passes, target);
}

//===----------------------------------------------------------------------===//
// Timing
//===----------------------------------------------------------------------===//

namespace {

class Stopwatch {
public:
  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
};

/// Appends the time of each pass under its argument.
class PassTimer : public PassInstrumentation {
public:
  explicit PassTimer(StageTimes &times) : times(times) {}

  void runBeforePass(Pass *pass, Operation *) override { running.emplace_back(); }
  void runAfterPass(Pass *pass, Operation *) override { record(pass); }
  void runAfterPassFailed(Pass *pass, Operation *) override { record(pass); }

private:
  void record(Pass *pass) {
    double time = running.pop_back_val().milliseconds();
    // Adaptors that only run nested pipelines have no argument.
    if (!pass->getArgument().empty())
      times.emplace_back(pass->getArgument().str(), time);
  }

  StageTimes &times;
  llvm::SmallVector<Stopwatch> running;
};

} // namespace

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

namespace {

/// One compilation, from a copy of an unbound module.
class Compilation {
public:
  Compilation(ModuleOp module, const CompileOptions &options, const Backend &backend,
              const TargetInfo &target)
      : module(module), options(options), backend(backend), target(target),
        diagnostics(module.getContext()) {}

  llvm::Expected<CompileResult> run();

private:
  using AddPasses = llvm::function_ref<void(OpPassManager &)>;

  llvm::Error runPasses(StringRef what, AddPasses addPasses);
  bool keeps(StringRef stage) { return llvm::is_contained(options.keepStages, stage); }
  void keepText(StringRef stage);

  ModuleOp module;
  const CompileOptions &options;
  const Backend &backend;
  const TargetInfo &target;
  CollectedDiagnostics diagnostics;
  CompileResult result;
};

} // namespace

llvm::Error Compilation::runPasses(StringRef what, AddPasses addPasses) {
  PassManager passes(module.getContext(), ModuleOp::getOperationName());
  passes.addInstrumentation(std::make_unique<PassTimer>(result.times));
  addPasses(passes);
  if (failed(passes.run(module)))
    return diagnostics.takeError((what + " failed without a diagnostic").str());
  return llvm::Error::success();
}

void Compilation::keepText(StringRef stage) {
  if (!keeps(stage))
    return;
  llvm::raw_string_ostream os(result.stages[stage.str()]);
  module.print(os, OpPrintingFlags().useLocalScope());
}

llvm::Expected<CompileResult> Compilation::run() {
  keepText(tileStage);
  llvm::Expected<Config> config = completeConfig(module, target, options.config);
  if (!config)
    return config.takeError();
  result.config = std::move(*config);
  module->setAttr(tile::configAttrName, result.config.toAttribute(module.getContext()));

  if (llvm::Error error = runPasses("binding the Config",
                                    [&](OpPassManager &passes) { addBindPasses(passes, target); }))
    return std::move(error);
  keepText(boundStage);
  if (llvm::Error error = runPasses("the tile passes",
                                    [&](OpPassManager &passes) { addBoundPasses(passes, target); }))
    return std::move(error);
  keepText(finalStage);

  llvm::Expected<LaunchPlan> plan = buildLaunchPlan(module, target);
  if (!plan)
    return plan.takeError();
  result.plan = std::move(*plan);

  PerformanceNotes notes(module, target);
  if (llvm::Error error = runPasses(
          "lowering", [&](OpPassManager &passes) { backend.addLoweringPasses(passes, target); }))
    return std::move(error);
  llvm::Expected<GeneratedCode> code = backend.generate(module, target, keeps(llvmStage));
  if (!code)
    return code.takeError();
  result.codeObject = std::move(code->codeObject);
  if (keeps(llvmStage))
    result.stages[llvmStage.str()] = std::move(code->llvmIR);
  llvm::append_range(result.times, code->times);
  auto spilled = backend.spilledRegisters(result.codeObject, target);
  if (!spilled)
    return spilled.takeError();
  notes.addSpills(*spilled);
  result.notes = notes.take();
  return std::move(result);
}

static llvm::Error checkStages(llvm::ArrayRef<std::string> wanted) {
  for (const std::string &stage : wanted)
    if (!llvm::is_contained(stageNames(), stage))
      return llvm::createStringError("unknown stage '" + stage + "'; there are " +
                                     llvm::join(stageNames(), ", "));
  return llvm::Error::success();
}

llvm::Expected<CompileResult> wavetile::compile(ModuleOp module, const CompileOptions &options,
                                                const BackendRegistry &backends) {
  if (llvm::Error error = checkStages(options.keepStages))
    return std::move(error);
  llvm::Expected<const Backend *> backend = backends.find(options.target);
  if (!backend)
    return backend.takeError();
  llvm::Expected<const TargetInfo *> target = (*backend)->target(options.target);
  if (!target)
    return target.takeError();

  DialectRegistry registry;
  registerDialects(registry, backends);
  module.getContext()->appendDialectRegistry(registry);
  OwningOpRef<ModuleOp> copy = module.clone();
  return Compilation(*copy, options, **backend, **target).run();
}
