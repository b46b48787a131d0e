//===- Backend.h - What a backend implements --------------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The hooks through which the driver reaches a backend. A backend knows a set
// of targets, lowers a planned `tile` module to its own form in place, and
// turns that into a code object in memory. It creates no file and never ends
// the process.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_PASSES_BACKEND_H
#define WAVETILE_PASSES_BACKEND_H

#include "passes/TargetInfo.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace wavetile {

/// Discardable integer attribute of a `tile.program`: that many waves shall fit on
/// a SIMD at once, which bounds the registers of each.
inline constexpr llvm::StringLiteral wavesPerSimdAttrName = "tile.waves_per_simd";

/// What one kernel of a code object uses. Registers are 32-bit registers of a
/// lane; accumulator registers are part of `vectorRegisters`.
struct KernelResources {
  std::string symbol;
  unsigned vectorRegisters = 0;
  unsigned accumulatorRegisters = 0;
  unsigned scalarRegisters = 0;
  unsigned ldsBytes = 0;
  unsigned scratchBytes = 0;
  unsigned spilledVectorRegisters = 0;
  unsigned spilledScalarRegisters = 0;
  unsigned wavesPerSimd = 0; // occupancy by registers and LDS
  /// Static instruction counts by class ("mem_load_128", "valu", "valu_pk", ...).
  std::map<std::string, unsigned> instructions;
};

/// Milliseconds of each step, in order.
using StageTimes = std::vector<std::pair<std::string, double>>;

struct GeneratedCode {
  std::vector<uint8_t> codeObject;
  std::string llvmIR; // after optimisation; empty unless asked for
  StageTimes times;
};

/// Gives the text of a source line for a listing, or nothing.
using SourceLine = std::function<std::string(llvm::StringRef file, unsigned line)>;

class Backend {
public:
  virtual ~Backend() = default;

  virtual llvm::StringRef name() const = 0;
  virtual llvm::SmallVector<llvm::StringRef> targetNames() const = 0;

  /// The target that tools take if none is named.
  virtual llvm::StringRef defaultTargetName() const = 0;

  /// The table row of a target, or an error that lists the targets there are.
  virtual llvm::Expected<const TargetInfo *> target(llvm::StringRef name) const = 0;

  /// Dialects that the lowering makes.
  virtual void registerDialects(mlir::DialectRegistry &registry) const = 0;

  /// Passes on `builtin.module` that lower a planned tile module for `target`.
  virtual void addLoweringPasses(mlir::OpPassManager &passes, const TargetInfo &target) const = 0;

  /// The code object of a lowered module.
  virtual llvm::Expected<GeneratedCode> generate(mlir::ModuleOp module, const TargetInfo &target,
                                                 bool keepLLVMIR) const = 0;

  virtual llvm::Expected<std::vector<KernelResources>>
  resources(llvm::ArrayRef<uint8_t> codeObject, const TargetInfo &target) const = 0;

  /// Registers of a lane that a code object's kernels spill, by symbol; nothing if unknown.
  virtual llvm::Expected<std::map<std::string, unsigned>>
  spilledRegisters(llvm::ArrayRef<uint8_t> codeObject, const TargetInfo &target) const {
    return std::map<std::string, unsigned>();
  }

  /// An assembly listing; with `source`, source lines stand before their
  /// instructions.
  virtual llvm::Expected<std::string> disassemble(llvm::ArrayRef<uint8_t> codeObject,
                                                  const TargetInfo &target,
                                                  const SourceLine &source) const = 0;
};

} // namespace wavetile

#endif // WAVETILE_PASSES_BACKEND_H
