//===- Mutants.cpp - The compiler with a part of it left out -----*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR tells the handler of a context of each pass that it is about to run, and the handler
// decides whether it does. WAVETILE_MUTANT is one of
//
//   <pass>              the pass is skipped: tile-peel-tails
//   looped, grid,       a Config that asks for this strategy is taken to ask for another
//   resident
//   row-waves           a row lies in one wave, however many the block has
//   row-lanes           a row lies in all lanes of a wave, however short it is
//
// This is in no program but those of the tests.
//
//===----------------------------------------------------------------------===//

#include "tests/mutants/Mutants.h"

#include "passes/Passes.h"
#include "passes/RowDims.h"

#include "ir/Tile.h"

#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Process.h"

using namespace mlir;
using namespace wavetile;

static constexpr StringLiteral strategyPass = "tile-select-reduction-strategy";

/// What a Config gets in place of the strategy, or nothing if this is no strategy.
static StringRef substituteFor(StringRef strategy) {
  return llvm::StringSwitch<StringRef>(strategy)
      .Case("looped", "resident")
      .Case("grid", "looped")
      .Case("resident", "looped")
      .Default("");
}

/// Whether `mutant` is about how a row is walked.
static bool isAboutRows(StringRef mutant) {
  return !substituteFor(mutant).empty() || mutant == "row-waves" || mutant == "row-lanes";
}

/// Of the rows that a Config gives the strategy, by name or by not naming another.
static void replaceStrategy(Operation *module, StringRef strategy) {
  auto config = module->getAttrOfType<DictionaryAttr>(tile::configAttrName);
  if (!config)
    return;
  Builder builder(module->getContext());
  NamedAttrList entries(config);
  module->walk([&](tile::ParallelOp loop) {
    for (const auto &[name, dim] : getNamedDims(loop)) {
      std::string key = (name.getValue() + ".strategy").str();
      auto given = config.getAs<StringAttr>(key);
      if (dim.kind == NamedDim::Kind::Row && (given ? given.getValue() : "resident") == strategy)
        entries.set(key, builder.getStringAttr(substituteFor(strategy)));
    }
  });
  module->setAttr(tile::configAttrName, entries.getDictionary(module->getContext()));
}

static void spreadRowsOtherwise(Operation *module, StringRef mutant) {
  Builder builder(module->getContext());
  module->walk([&](tile::ParallelOp loop) {
    if (mutant == "row-waves" && loop->hasAttr(rowWavesAttrName))
      loop->setAttr(rowWavesAttrName, builder.getI64IntegerAttr(1));
    if (mutant == "row-lanes" && loop->hasAttr(rowLanesAttrName))
      loop->setAttr(rowLanesAttrName, builder.getI64IntegerAttr(64));
  });
}

/// Runs a pass, or what the mutant does in its place.
static void runPass(StringRef mutant, llvm::function_ref<void()> transform,
                    const tracing::Action &action) {
  const auto *execution = dyn_cast<PassExecutionAction>(&action);
  StringRef name = execution ? execution->getPass().getArgument() : "";
  if (!name.empty() && name == mutant)
    return;
  bool mutates = execution && name == strategyPass && isAboutRows(mutant);
  if (mutates)
    replaceStrategy(execution->getOp(), mutant);
  transform();
  if (mutates)
    spreadRowsOtherwise(execution->getOp(), mutant);
}

namespace {

class Mutants final : public Backend {
public:
  llvm::StringRef name() const override { return "mutants"; }
  llvm::SmallVector<llvm::StringRef> targetNames() const override { return {}; }
  llvm::StringRef defaultTargetName() const override { return ""; }

  void registerDialects(DialectRegistry &registry) const override {
    std::optional<std::string> mutant = llvm::sys::Process::GetEnv("WAVETILE_MUTANT");
    if (!mutant || mutant->empty())
      return;
    registry.addExtension(+[](MLIRContext *context, tile::TileDialect *) {
      context->registerActionHandler(
          [name = *llvm::sys::Process::GetEnv("WAVETILE_MUTANT")](
              llvm::function_ref<void()> transform, const tracing::Action &action) {
            runPass(name, transform, action);
          });
    });
  }

  // Nothing finds these by a target.
  llvm::Expected<const TargetInfo *> target(llvm::StringRef) const override { return noTarget(); }
  void addLoweringPasses(OpPassManager &, const TargetInfo &) const override {}
  llvm::Expected<GeneratedCode> generate(ModuleOp, const TargetInfo &, bool) const override {
    return noTarget();
  }
  llvm::Expected<std::vector<KernelResources>> resources(llvm::ArrayRef<uint8_t>,
                                                         const TargetInfo &) const override {
    return noTarget();
  }
  llvm::Expected<std::string> disassemble(llvm::ArrayRef<uint8_t>, const TargetInfo &,
                                          const SourceLine &) const override {
    return noTarget();
  }

private:
  static llvm::Error noTarget() { return llvm::createStringError("mutants have no target"); }
};

} // namespace

std::unique_ptr<Backend> wavetile::createMutants() { return std::make_unique<Mutants>(); }
