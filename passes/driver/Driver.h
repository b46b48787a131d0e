//===- Driver.h - From a tile module to a code object -----------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The whole pipeline, and the only place that knows which backends there are.
// Nothing here keeps state between calls but the table of backends; calls from
// several threads on different contexts are safe.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_PASSES_DRIVER_DRIVER_H
#define WAVETILE_PASSES_DRIVER_DRIVER_H

#include "passes/Backend.h"
#include "passes/Config.h"
#include "passes/driver/PerformanceNotes.h"
#include "runtime/LaunchPlan.h"

#include <map>

namespace wavetile {

/// Finds the backends that are linked in.
class BackendRegistry {
public:
  /// Those of this build.
  static const BackendRegistry &builtin();

  void add(std::unique_ptr<Backend> backend) { backends.push_back(std::move(backend)); }
  llvm::ArrayRef<std::unique_ptr<Backend>> all() const { return backends; }

  /// The backend that knows `target`, or an error that lists every target.
  llvm::Expected<const Backend *> find(llvm::StringRef target) const;

  /// The target that tools take if none is named: that of the first backend.
  llvm::StringRef defaultTargetName() const { return backends.front()->defaultTargetName(); }

private:
  std::vector<std::unique_ptr<Backend>> backends;
};

/// Registers the dialects that a tile module and its lowering need.
void registerDialects(mlir::DialectRegistry &registry, const BackendRegistry &backends);

struct CompileOptions {
  std::string target;
  /// Keys given here are kept; what is missing is chosen by `completeConfig`.
  Config config;
  /// Texts to keep, by stage name ("tile", "bound", "final", "llvm"), in the
  /// result's `stages`.
  std::vector<std::string> keepStages;
};

struct CompileResult {
  LaunchPlan plan;
  std::vector<uint8_t> codeObject;
  Config config; // complete
  std::map<std::string, std::string> stages;
  StageTimes times;
  std::vector<PerformanceNote> notes;
};

/// Names of the stages that `keepStages` takes, in the order they are made.
llvm::ArrayRef<llvm::StringLiteral> stageNames();

/// Fills in the Config of an unbound module from its loops, the `tile.hint`s of
/// its arguments and the target. Deterministic.
llvm::Expected<Config> completeConfig(mlir::ModuleOp module, const TargetInfo &target,
                                      const Config &given);

/// Adds the target-independent passes, from an unbound module whose
/// `tile.config` is complete to a planned one.
void addTilePasses(mlir::OpPassManager &passes, const TargetInfo &target);

/// Compiles an unbound module, which is left as it was. Diagnostics become the
/// error's text, with their locations.
llvm::Expected<CompileResult> compile(mlir::ModuleOp module, const CompileOptions &options,
                                      const BackendRegistry &backends = BackendRegistry::builtin());

} // namespace wavetile

#endif // WAVETILE_PASSES_DRIVER_DRIVER_H
