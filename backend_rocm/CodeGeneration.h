//===- CodeGeneration.h - LLVM IR to an AMDGPU code object ------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From a module in the LLVM dialect (or LLVM IR) to the bytes that HIP loads,
// in memory. Nothing here ends the process or prints: an LDS size over the
// limit, an instruction that the target lacks and a crash inside LLVM all come
// back as a CodeGenerationError, and the next compile starts clean.
//
// Every compile has its own LLVMContext, so any number of threads may compile
// at once.
//
// Every stage adds its wall time to a StageTimes under its name: "translate",
// "optimise", "generate" and "link".
//
// A kernel is a function with LLVM's `amdgpu_kernel` calling convention (the
// LLVM dialect's `rocdl.kernel`) and must state "amdgpu-flat-work-group-size".
// Other attributes that steer registers ("amdgpu-waves-per-eu",
// "amdgpu-agpr-alloc") are the lowering's; those that a kernel may not differ
// in are set here: no hidden arguments that it does not read, no quieting of
// NaN by maximum and minimum, f32 and f16 denormals kept. Every other function
// is inlined.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_BACKEND_ROCM_CODEGENERATION_H
#define WAVETILE_BACKEND_ROCM_CODEGENERATION_H

#include "backend_rocm/Targets.h"
#include "passes/Backend.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace mlir {
class DialectRegistry;
class ModuleOp;
} // namespace mlir

namespace wavetile::rocm {

struct CodeGenerationOptions {
  /// Let leading kernel arguments arrive in scalar registers where the target
  /// can, so that a kernel does not begin by waiting for them.
  bool preloadArguments = true;
};

/// Why a module could not be compiled, in LLVM's words.
class CodeGenerationError : public llvm::ErrorInfo<CodeGenerationError> {
public:
  static char ID;

  CodeGenerationError(std::string stage, std::string kernel, std::string target, std::string words)
      : stage(std::move(stage)), kernel(std::move(kernel)), target(std::move(target)),
        words(std::move(words)) {}

  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override;

  std::string stage;  // "translate", "optimise", "generate" or "link"
  std::string kernel; // names of the module's kernels, joined by ", "
  std::string target;
  std::string words;
};

/// An LLVM module together with the context that it lives in.
struct LLVMProgram {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;

  /// The module as text.
  std::string str() const;
};

/// What HIP loads, with how long each stage took and what LLVM warned of.
struct CodeObject {
  llvm::SmallVector<char, 0> bytes;
  StageTimes times;
  std::vector<std::string> warnings;

  llvm::StringRef str() const { return {bytes.data(), bytes.size()}; }
};

/// Adds the translations that `translateToLLVMIR` needs; for whoever makes the
/// MLIRContext.
void registerTranslations(mlir::DialectRegistry &registry);

/// Translates a module in the LLVM and ROCDL dialects. Locations become a line
/// table: every function without a debug scope gets one, in `module` itself.
llvm::Expected<LLVMProgram> translateToLLVMIR(mlir::ModuleOp module, const Target &target,
                                              StageTimes *times = nullptr);

/// Reads LLVM IR text.
llvm::Expected<LLVMProgram> parseLLVMIR(llvm::StringRef text, const Target &target);

/// Sets triple, data layout and attributes, and runs the optimisation pipeline.
/// On an error the program is empty.
llvm::Error optimise(LLVMProgram &program, const Target &target,
                     const CodeGenerationOptions &options = {}, StageTimes *times = nullptr);

/// Generates the relocatable object of an optimised program.
llvm::Expected<llvm::SmallVector<char, 0>>
generateObject(LLVMProgram program, const Target &target, StageTimes *times = nullptr,
               std::vector<std::string> *warnings = nullptr);

/// Generates and links an optimised program.
llvm::Expected<CodeObject> generateCode(LLVMProgram program, const Target &target);

/// All stages.
llvm::Expected<CodeObject> compile(LLVMProgram program, const Target &target,
                                   const CodeGenerationOptions &options = {});
llvm::Expected<CodeObject> compile(mlir::ModuleOp module, const Target &target,
                                   const CodeGenerationOptions &options = {});

} // namespace wavetile::rocm

#endif // WAVETILE_BACKEND_ROCM_CODEGENERATION_H
