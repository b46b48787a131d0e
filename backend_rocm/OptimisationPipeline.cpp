//===- OptimisationPipeline.cpp - LLVM passes for generated kernels -------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/OptimisationPipeline.h"

#include "backend_rocm/SourceLocations.h"

#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

using namespace wavetile::rocm;

namespace {

/// A function of one block has no loop; most row kernels are that.
bool mayHaveLoops(const llvm::Module &module) {
  return llvm::any_of(module, [](const llvm::Function &function) { return function.size() > 1; });
}

llvm::FunctionPassManager functionPipeline(bool loops) {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::InstCombinePass());
  if (loops) {
    // A lowering writes loops with the test on top; with the test at the bottom
    // what does not change can move out, loads too.
    passes.addPass(llvm::SimplifyCFGPass());
    llvm::LoopPassManager loopPasses;
    loopPasses.addPass(llvm::LoopRotatePass(/*EnableHeaderDuplication=*/true));
    loopPasses.addPass(llvm::LICMPass(llvm::LICMOptions()));
    passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loopPasses),
                                                         /*UseMemorySSA=*/true));
    passes.addPass(llvm::GVNPass());
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(llvm::SimplifyCFGPass());
  }
  passes.addPass(llvm::EarlyCSEPass());
  return passes;
}

} // namespace

void wavetile::rocm::runOptimisationPipeline(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loopAnalyses;
  llvm::FunctionAnalysisManager functionAnalyses;
  llvm::CGSCCAnalysisManager graphAnalyses;
  llvm::ModuleAnalysisManager moduleAnalyses;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(moduleAnalyses);
  builder.registerCGSCCAnalyses(graphAnalyses);
  builder.registerFunctionAnalyses(functionAnalyses);
  builder.registerLoopAnalyses(loopAnalyses);
  builder.crossRegisterProxies(loopAnalyses, functionAnalyses, graphAnalyses, moduleAnalyses);

  llvm::ModulePassManager passes;
  passes.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(functionPipeline(mayHaveLoops(module))));
  passes.run(module, moduleAnalyses);
  completeSourceLocations(module);
}
