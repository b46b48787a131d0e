//===- Backend.cpp - The AMD backend ----------------------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/Backend.h"

#include "backend_rocm/CodeGeneration.h"
#include "backend_rocm/Disassembly.h"
#include "backend_rocm/ElfKernels.h"
#include "backend_rocm/Resources.h"
#include "backend_rocm/lowering/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace wavetile;

namespace {

class ROCmBackend final : public Backend {
public:
  llvm::StringRef name() const override { return "rocm"; }

  llvm::SmallVector<llvm::StringRef> targetNames() const override {
    return llvm::map_to_vector(rocm::targets(),
                               [](const rocm::Target &target) { return target.name(); });
  }

  llvm::StringRef defaultTargetName() const override { return rocm::defaultTargetName(); }

  llvm::Expected<const TargetInfo *> target(llvm::StringRef name) const override {
    llvm::Expected<const rocm::Target &> found = rocm::findTarget(name);
    if (!found)
      return found.takeError();
    return &*found;
  }

  void registerDialects(mlir::DialectRegistry &registry) const override {
    registry.insert<mlir::LLVM::LLVMDialect, mlir::ROCDL::ROCDLDialect>();
    rocm::registerTranslations(registry);
  }

  void addLoweringPasses(mlir::OpPassManager &passes, const TargetInfo &target) const override {
    passes.addPass(rocm::createTileToROCDL({target.name().str()}));
  }

  llvm::Expected<GeneratedCode> generate(mlir::ModuleOp module, const TargetInfo &target,
                                         bool keepLLVMIR) const override {
    const rocm::Target &row = rowOf(target);
    GeneratedCode result;
    llvm::Expected<rocm::LLVMProgram> program = rocm::translateToLLVMIR(module, row, &result.times);
    if (!program)
      return program.takeError();
    if (llvm::Error error = rocm::optimise(*program, row, {}, &result.times))
      return std::move(error);
    if (keepLLVMIR)
      result.llvmIR = program->str();
    llvm::Expected<rocm::CodeObject> object = rocm::generateCode(std::move(*program), row);
    if (!object)
      return object.takeError();
    result.codeObject.assign(object->bytes.begin(), object->bytes.end());
    llvm::append_range(result.times, object->times);
    return result;
  }

  llvm::Expected<std::vector<KernelResources>> resources(llvm::ArrayRef<uint8_t> codeObject,
                                                         const TargetInfo &target) const override {
    return rocm::resources(codeObject, rowOf(target));
  }

  llvm::Expected<std::map<std::string, unsigned>>
  spilledRegisters(llvm::ArrayRef<uint8_t> codeObject, const TargetInfo &target) const override {
    llvm::Expected<rocm::ElfKernels> elf = rocm::ElfKernels::parse(codeObject, rowOf(target));
    if (!elf)
      return elf.takeError();
    std::map<std::string, unsigned> spilled;
    for (const rocm::ElfKernel &kernel : elf->kernels()) {
      auto count = kernel.metadata.find(".vgpr_spill_count");
      spilled[kernel.symbol] = count == kernel.metadata.end() ? 0 : unsigned(count->second);
    }
    return spilled;
  }

  llvm::Expected<std::string> disassemble(llvm::ArrayRef<uint8_t> codeObject,
                                          const TargetInfo &target,
                                          const SourceLine &source) const override {
    return rocm::disassemble(codeObject, rowOf(target), source);
  }

private:
  /// Targets come from this backend's own table.
  static const rocm::Target &rowOf(const TargetInfo &target) {
    return static_cast<const rocm::Target &>(target);
  }
};

} // namespace

std::unique_ptr<Backend> wavetile::createROCmBackend() { return std::make_unique<ROCmBackend>(); }
