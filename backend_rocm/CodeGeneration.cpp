//===- CodeGeneration.cpp - LLVM IR to an AMDGPU code object --------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/CodeGeneration.h"

#include "backend_rocm/DevicePrintf.h"
#include "backend_rocm/KernelAttributes.h"
#include "backend_rocm/Linker.h"
#include "backend_rocm/OptimisationPipeline.h"
#include "backend_rocm/Recovery.h"

#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/ROCDL/ROCDLToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/RegisterTargetPassConfigCallback.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Triple.h"

#include <cassert>
#include <chrono>
#include <mutex>
#include <optional>

using namespace wavetile;
using namespace wavetile::rocm;

char CodeGenerationError::ID = 0;

void CodeGenerationError::log(llvm::raw_ostream &os) const {
  os << "cannot " << stage << " ";
  if (kernel.empty())
    os << "a module without kernels";
  else
    os << "kernel " << kernel;
  os << " for " << target << ": " << words;
}

std::error_code CodeGenerationError::convertToErrorCode() const {
  return llvm::inconvertibleErrorCode();
}

std::string LLVMProgram::str() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, nullptr);
  return text;
}

namespace {

/// Adds the time until its end as a stage, if there is a list to add it to.
class StageTimer {
public:
  StageTimer(const char *stage, StageTimes *times)
      : stage(stage), times(times), start(Clock::now()) {}
  ~StageTimer() {
    if (times)
      times->emplace_back(stage,
                          std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  StageTimer(const StageTimer &) = delete;
  StageTimer &operator=(const StageTimer &) = delete;

private:
  using Clock = std::chrono::steady_clock;
  const char *stage;
  StageTimes *times;
  Clock::time_point start;
};

/// What LLVM says while it works on one context.
struct Diagnostics {
  std::vector<std::string> errors;
  std::vector<std::string> warnings;
};

/// Collects; LLVM's own handler would print, and end the process on an error.
class CollectingHandler : public llvm::DiagnosticHandler {
public:
  explicit CollectingHandler(Diagnostics &diagnostics) : diagnostics(diagnostics) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    if (info.getSeverity() == llvm::DS_Error)
      diagnostics.errors.push_back(text);
    else if (info.getSeverity() == llvm::DS_Warning)
      diagnostics.warnings.push_back(text);
    return true;
  }

private:
  Diagnostics &diagnostics;
};

std::string kernelNames(const llvm::Module &module) {
  std::vector<std::string> names;
  for (const llvm::Function &function : module)
    if (isKernel(function))
      names.push_back(function.getName().str());
  return llvm::join(names, ", ");
}

/// Runs one stage on a program. If LLVM was interrupted, program and machine are
/// abandoned: their destructors could meet what it left half done.
llvm::Error runStage(const char *name, LLVMProgram &program, const Target &target,
                     std::unique_ptr<llvm::TargetMachine> &machine,
                     std::vector<std::string> *warnings, llvm::function_ref<void()> work) {
  std::string kernels = kernelNames(*program.module);
  Diagnostics diagnostics;
  program.context->setDiagnosticHandler(std::make_unique<CollectingHandler>(diagnostics));
  std::optional<std::string> crash = runRecoverably(work);
  if (crash) {
    (void)program.module.release();
    (void)program.context.release();
    (void)machine.release();
    diagnostics.errors.push_back(*crash);
  } else {
    program.context->setDiagnosticHandler(std::make_unique<llvm::DiagnosticHandler>());
  }
  if (warnings)
    llvm::append_range(*warnings, diagnostics.warnings);
  if (diagnostics.errors.empty())
    return llvm::Error::success();
  program.module.reset();
  program.context.reset();
  return llvm::make_error<CodeGenerationError>(name, kernels, target.name().str(),
                                               llvm::join(diagnostics.errors, "; "));
}

} // namespace

//===----------------------------------------------------------------------===//
// Into LLVM IR
//===----------------------------------------------------------------------===//

void wavetile::rocm::registerTranslations(mlir::DialectRegistry &registry) {
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  mlir::registerROCDLDialectTranslation(registry);
}

llvm::Expected<LLVMProgram>
wavetile::rocm::translateToLLVMIR(mlir::ModuleOp module, const Target &target, StageTimes *times) {
  StageTimer timer("translate", times);
  std::vector<std::string> errors;
  mlir::ScopedDiagnosticHandler handler(module.getContext(), [&](mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error)
      return mlir::failure();
    errors.push_back(diagnostic.str());
    return mlir::success();
  });
  LLVMProgram program{std::make_unique<llvm::LLVMContext>(), nullptr};
  std::optional<std::string> crash = runRecoverably([&] {
    mlir::PassManager scopes(module.getContext());
    scopes.addPass(mlir::LLVM::createDIScopeForLLVMFuncOpPass());
    if (mlir::succeeded(scopes.run(module)))
      program.module = mlir::translateModuleToLLVMIR(module, *program.context);
  });
  if (crash) {
    (void)program.module.release();
    (void)program.context.release();
    errors.push_back(*crash);
  }
  if (program.module)
    return program;
  return llvm::make_error<CodeGenerationError>("translate", "", target.name().str(),
                                               llvm::join(errors, "; "));
}

llvm::Expected<LLVMProgram> wavetile::rocm::parseLLVMIR(llvm::StringRef text,
                                                        const Target &target) {
  LLVMProgram program{std::make_unique<llvm::LLVMContext>(), nullptr};
  llvm::SMDiagnostic diagnostic;
  program.module =
      llvm::parseAssembly(llvm::MemoryBufferRef(text, "module"), diagnostic, *program.context);
  if (program.module)
    return program;
  std::string words;
  llvm::raw_string_ostream stream(words);
  diagnostic.print(nullptr, stream, /*ShowColors=*/false);
  return llvm::make_error<CodeGenerationError>("translate", "", target.name().str(), words);
}

//===----------------------------------------------------------------------===//
// Out of LLVM IR
//===----------------------------------------------------------------------===//

namespace {

constexpr const char *triple = "amdgcn-amd-amdhsa";

/// Kernels have line tables but no variables to follow: looking for them takes
/// an eighth of the time of code generation.
void skipVariableLocations(llvm::TargetMachine &machine, llvm::legacy::PassManagerBase &,
                           llvm::TargetPassConfig *passes) {
  if (machine.getTargetTriple().isAMDGCN())
    passes->disablePass(&llvm::LiveDebugValuesID);
}

std::unique_ptr<llvm::TargetMachine> createTargetMachine(const Target &target) {
  static std::once_flag initialised;
  std::call_once(initialised, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    // For inline assembly.
    LLVMInitializeAMDGPUAsmParser();
    static llvm::RegisterTargetPassConfigCallback skip(skipVariableLocations);
  });
  std::string words;
  llvm::Triple parsed(triple);
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(parsed, words);
  assert(found && "this LLVM was built without AMDGPU");
  return std::unique_ptr<llvm::TargetMachine>(
      found->createTargetMachine(parsed, target.name(), target.features(), llvm::TargetOptions(),
                                 llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Default));
}

/// Machines that no compile uses now. One learns much about its registers when it first compiles,
/// without a lock: so each serves one compile at a time, and then another.
class IdleMachines {
public:
  static IdleMachines &get() {
    static IdleMachines machines;
    return machines;
  }

  std::unique_ptr<llvm::TargetMachine> take(const Target &target) {
    {
      std::lock_guard<std::mutex> guard(lock);
      auto &idle = byTarget[target.name()];
      if (!idle.empty())
        return idle.pop_back_val();
    }
    return createTargetMachine(target);
  }

  void giveBack(const Target &target, std::unique_ptr<llvm::TargetMachine> machine) {
    std::lock_guard<std::mutex> guard(lock);
    byTarget[target.name()].push_back(std::move(machine));
  }

private:
  std::mutex lock;
  llvm::StringMap<llvm::SmallVector<std::unique_ptr<llvm::TargetMachine>, 2>> byTarget;
};

/// A machine for the time of one stage. `machine` may be emptied by who does not trust it any more.
struct BorrowedMachine {
  explicit BorrowedMachine(const Target &target)
      : target(target), machine(IdleMachines::get().take(target)) {}
  ~BorrowedMachine() {
    if (machine)
      IdleMachines::get().giveBack(target, std::move(machine));
  }
  BorrowedMachine(const BorrowedMachine &) = delete;
  BorrowedMachine &operator=(const BorrowedMachine &) = delete;

  llvm::TargetMachine *operator->() const { return machine.get(); }
  llvm::TargetMachine &operator*() const { return *machine; }

  const Target &target;
  std::unique_ptr<llvm::TargetMachine> machine;
};

llvm::Error invalidModule(const llvm::Module &module, const Target &target, std::string words) {
  return llvm::make_error<CodeGenerationError>("optimise", kernelNames(module), target.name().str(),
                                               std::move(words));
}

} // namespace

llvm::Error wavetile::rocm::optimise(LLVMProgram &program, const Target &target,
                                     const CodeGenerationOptions &options, StageTimes *times) {
  StageTimer timer("optimise", times);
  BorrowedMachine machine(target);
  llvm::Module &module = *program.module;
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
  std::string words;
  llvm::raw_string_ostream stream(words);
  if (llvm::verifyModule(module, &stream))
    return invalidModule(module, target, words);
  expandPrintf(module);
  if (llvm::Error error = setKernelAttributes(module, target, options.preloadArguments))
    return invalidModule(module, target, llvm::toString(std::move(error)));
  return runStage("optimise", program, target, machine.machine, nullptr,
                  [&] { runOptimisationPipeline(module, *machine); });
}

llvm::Expected<llvm::SmallVector<char, 0>>
wavetile::rocm::generateObject(LLVMProgram program, const Target &target, StageTimes *times,
                               std::vector<std::string> *warnings) {
  StageTimer timer("generate", times);
  BorrowedMachine machine(target);
  llvm::SmallVector<char, 0> object;
  auto work = [&] {
    llvm::raw_svector_ostream stream(object);
    llvm::legacy::PassManager passes;
    bool unsupported =
        machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile,
                                     /*DisableVerify=*/true);
    assert(!unsupported && "AMDGPU emits objects");
    (void)unsupported;
    passes.run(*program.module);
  };
  if (llvm::Error error = runStage("generate", program, target, machine.machine, warnings, work))
    return std::move(error);
  return object;
}

llvm::Expected<CodeObject> wavetile::rocm::generateCode(LLVMProgram program, const Target &target) {
  CodeObject result;
  std::string kernels = kernelNames(*program.module);
  auto object = generateObject(std::move(program), target, &result.times, &result.warnings);
  if (!object)
    return object.takeError();
  auto linked = [&] {
    StageTimer timer("link", &result.times);
    return linkObject(*object);
  }();
  if (!linked)
    return llvm::make_error<CodeGenerationError>("link", kernels, target.name().str(),
                                                 llvm::toString(linked.takeError()));
  result.bytes = std::move(*linked);
  return result;
}

llvm::Expected<CodeObject> wavetile::rocm::compile(LLVMProgram program, const Target &target,
                                                   const CodeGenerationOptions &options) {
  StageTimes times;
  if (llvm::Error error = optimise(program, target, options, &times))
    return std::move(error);
  auto result = generateCode(std::move(program), target);
  if (result)
    result->times.insert(result->times.begin(), times.begin(), times.end());
  return result;
}

llvm::Expected<CodeObject> wavetile::rocm::compile(mlir::ModuleOp module, const Target &target,
                                                   const CodeGenerationOptions &options) {
  StageTimes times;
  auto program = translateToLLVMIR(module, target, &times);
  if (!program)
    return program.takeError();
  auto result = compile(std::move(*program), target, options);
  if (result)
    result->times.insert(result->times.begin(), times.begin(), times.end());
  return result;
}
