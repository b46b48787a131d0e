//===- wavetile-opt.cpp - Runs passes on textual IR -------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mlir-opt for the tile dialect: every pass by its name, `--tile-pipeline` for
// all target-independent ones, `--target` for the GPU that passes ask about.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/driver/Driver.h"
#include "passes/interpreter/Interpreter.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/WithColor.h"

using namespace wavetile;

static llvm::cl::opt<std::string>
    targetName("target", llvm::cl::desc("The GPU that passes ask about"),
               llvm::cl::init(BackendRegistry::builtin().defaultTargetName().str()));

/// The target on the command line. Passes are built before main() could report.
static const TargetInfo &commandLineTarget() {
  llvm::ExitOnError exitOnError("wavetile-opt: ");
  const Backend *backend = exitOnError(BackendRegistry::builtin().find(targetName));
  return *exitOnError(backend->target(targetName));
}

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registerDialects(registry, BackendRegistry::builtin());
  registerTilePasses(commandLineTarget);
  registerInterpretPass();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::PassPipelineRegistration<>(
      "tile-pipeline", "All target-independent passes, up to the launch plan",
      [](mlir::OpPassManager &passes) { addTilePasses(passes, commandLineTarget()); });
  for (const std::unique_ptr<Backend> &backend : BackendRegistry::builtin().all()) {
    std::string name = (backend->name() + "-pipeline").str();
    const Backend *lowering = backend.get();
    mlir::registerPassPipeline(
        name, "Lowers a planned tile module",
        [lowering](mlir::OpPassManager &passes, llvm::StringRef,
                   llvm::function_ref<mlir::LogicalResult(const llvm::Twine &)>) {
          lowering->addLoweringPasses(passes, commandLineTarget());
          return mlir::success();
        },
        [](auto) {});
  }
  return mlir::failed(
      mlir::MlirOptMain(argc, argv, "Wavetile's driver of passes over textual IR\n", registry));
}
