//===- HostBackend.cpp - Hooks and code generation ---------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/backend_host/HostBackend.h"

#include "tests/backend_host/HostTarget.h"
#include "tests/backend_host/Lowering.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

#include <mutex>

using namespace wavetile;

//===----------------------------------------------------------------------===//
// From LLVM IR to an object
//===----------------------------------------------------------------------===//

/// Instructions that are faster and not exact: vcvtneps2bf16 flushes denormals.
static constexpr llvm::StringLiteral features = "-avx512bf16,-avxneconvert";

static llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createMachine() {
  static std::once_flag initialised;
  std::call_once(initialised, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    // For inline assembly.
    llvm::InitializeNativeTargetAsmParser();
  });
  llvm::Triple triple(llvm::sys::getProcessTriple());
  std::string words;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, words);
  if (!target)
    return llvm::createStringError(words);
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, llvm::sys::getHostCPUName(), features, llvm::TargetOptions(), llvm::Reloc::PIC_,
      std::nullopt, llvm::CodeGenOptLevel::None));
}

/// The least: programs run for a moment, and each is compiled for that.
static void optimise(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PassBuilder builder(&machine);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::FunctionPassManager simplification;
  simplification.addPass(llvm::EarlyCSEPass());
  simplification.addPass(llvm::SimplifyCFGPass());
  llvm::ModulePassManager passes;
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(simplification)));
  passes.run(module, modules);
}

namespace {

/// Keeps LLVM's errors; its own handler ends the process. Instructions by name are what makes them.
class ErrorHandler : public llvm::DiagnosticHandler {
public:
  explicit ErrorHandler(std::string &errors) : errors(errors) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() != llvm::DS_Error)
      return true;
    llvm::raw_string_ostream stream(errors);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    stream << (errors.empty() ? "" : "; ");
    info.print(printer);
    return true;
  }

private:
  std::string &errors;
};

} // namespace

static llvm::Expected<GeneratedCode> generateObject(mlir::ModuleOp source, bool keepLLVMIR) {
  std::string errors;
  llvm::LLVMContext context;
  context.setDiagnosticHandler(std::make_unique<ErrorHandler>(errors));
  std::unique_ptr<llvm::Module> module = mlir::translateModuleToLLVMIR(source, context);
  if (!module)
    return llvm::createStringError("the module does not translate to LLVM IR");
  auto machine = createMachine();
  if (!machine)
    return machine.takeError();
  module->setTargetTriple((*machine)->getTargetTriple());
  module->setDataLayout((*machine)->createDataLayout());
  optimise(*module, **machine);
  GeneratedCode result;
  if (keepLLVMIR) {
    llvm::raw_string_ostream os(result.llvmIR);
    module->print(os, nullptr);
  }
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return llvm::createStringError("this LLVM emits no objects for the host");
  passes.run(*module);
  if (!errors.empty())
    return llvm::createStringError("cannot generate code for host: " + errors);
  result.codeObject.assign(object.begin(), object.end());
  return result;
}

//===----------------------------------------------------------------------===//
// Hooks
//===----------------------------------------------------------------------===//

namespace {

class HostBackend final : public Backend {
public:
  llvm::StringRef name() const override { return "host"; }
  llvm::SmallVector<llvm::StringRef> targetNames() const override { return {host::targetName}; }
  llvm::StringRef defaultTargetName() const override { return host::targetName; }

  llvm::Expected<const TargetInfo *> target(llvm::StringRef name) const override {
    if (name == host::targetName)
      return &host::target();
    return llvm::createStringError("no host target '" + name + "'");
  }

  void registerDialects(mlir::DialectRegistry &registry) const override {
    registry.insert<mlir::LLVM::LLVMDialect, mlir::scf::SCFDialect, mlir::func::FuncDialect,
                    mlir::cf::ControlFlowDialect, mlir::vector::VectorDialect>();
    mlir::registerBuiltinDialectTranslation(registry);
    mlir::registerLLVMDialectTranslation(registry);
  }

  void addLoweringPasses(mlir::OpPassManager &passes, const TargetInfo &) const override {
    passes.addPass(host::createTileToLoops());
    passes.addPass(mlir::createSCFToControlFlowPass());
    // What LLVM has no intrinsic for, the C library has.
    passes.addPass(mlir::createConvertMathToLLVMPass({.approximateLog1p = false}));
    passes.addPass(mlir::createConvertMathToLibmPass());
    passes.addPass(mlir::createArithToLLVMConversionPass());
    passes.addPass(mlir::createConvertControlFlowToLLVMPass());
    passes.addPass(mlir::createConvertFuncToLLVMPass());
    passes.addPass(mlir::createReconcileUnrealizedCastsPass());
  }

  llvm::Expected<GeneratedCode> generate(mlir::ModuleOp module, const TargetInfo &,
                                         bool keepLLVMIR) const override {
    return generateObject(module, keepLLVMIR);
  }

  /// A CPU has no resources of a launch to speak of; the kernels are named all the same.
  llvm::Expected<std::vector<KernelResources>> resources(llvm::ArrayRef<uint8_t> codeObject,
                                                         const TargetInfo &) const override {
    llvm::StringRef bytes(reinterpret_cast<const char *>(codeObject.data()), codeObject.size());
    auto object = llvm::object::ObjectFile::createObjectFile({bytes, "code object"});
    if (!object)
      return object.takeError();
    std::vector<KernelResources> kernels;
    for (const llvm::object::SymbolRef &symbol : (*object)->symbols()) {
      auto type = symbol.getType();
      auto name = symbol.getName();
      if (!type || !name)
        return !type ? type.takeError() : name.takeError();
      if (*type == llvm::object::SymbolRef::ST_Function)
        kernels.push_back({.symbol = name->str()});
    }
    return kernels;
  }

  llvm::Expected<std::string> disassemble(llvm::ArrayRef<uint8_t>, const TargetInfo &,
                                          const SourceLine &) const override {
    return llvm::createStringError("the host backend has no listing");
  }
};

} // namespace

std::unique_ptr<Backend> wavetile::createHostBackend() { return std::make_unique<HostBackend>(); }
