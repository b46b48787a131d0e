//===- KernelAttributes.cpp - What every kernel promises LLVM -------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/KernelAttributes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/CallingConv.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

using namespace wavetile::rocm;

namespace {

/// An input that LLVM hands to every kernel unless an attribute says that the
/// kernel does not read it. `reader` is the intrinsic that reads it, or
/// not_intrinsic if nothing that Wavetile emits ever does.
struct HiddenInput {
  const char *attribute;
  llvm::Intrinsic::ID reader;
};

constexpr HiddenInput hiddenInputs[] = {
    {"amdgpu-no-workgroup-id-x", llvm::Intrinsic::amdgcn_workgroup_id_x},
    {"amdgpu-no-workgroup-id-y", llvm::Intrinsic::amdgcn_workgroup_id_y},
    {"amdgpu-no-workgroup-id-z", llvm::Intrinsic::amdgcn_workgroup_id_z},
    {"amdgpu-no-workitem-id-x", llvm::Intrinsic::amdgcn_workitem_id_x},
    {"amdgpu-no-workitem-id-y", llvm::Intrinsic::amdgcn_workitem_id_y},
    {"amdgpu-no-workitem-id-z", llvm::Intrinsic::amdgcn_workitem_id_z},
    {"amdgpu-no-dispatch-ptr", llvm::Intrinsic::amdgcn_dispatch_ptr},
    {"amdgpu-no-dispatch-id", llvm::Intrinsic::amdgcn_dispatch_id},
    {"amdgpu-no-queue-ptr", llvm::Intrinsic::amdgcn_queue_ptr},
    {"amdgpu-no-implicitarg-ptr", llvm::Intrinsic::amdgcn_implicitarg_ptr},
    {"amdgpu-no-lds-kernel-id", llvm::Intrinsic::amdgcn_lds_kernel_id},
    {"amdgpu-no-cluster-id-x", llvm::Intrinsic::amdgcn_cluster_id_x},
    {"amdgpu-no-cluster-id-y", llvm::Intrinsic::amdgcn_cluster_id_y},
    {"amdgpu-no-cluster-id-z", llvm::Intrinsic::amdgcn_cluster_id_z},
    {"amdgpu-no-completion-action", llvm::Intrinsic::not_intrinsic},
    {"amdgpu-no-default-queue", llvm::Intrinsic::not_intrinsic},
    {"amdgpu-no-flat-scratch-init", llvm::Intrinsic::not_intrinsic},
    {"amdgpu-no-heap-ptr", llvm::Intrinsic::not_intrinsic},
    {"amdgpu-no-hostcall-ptr", llvm::Intrinsic::not_intrinsic},
    {"amdgpu-no-multigrid-sync-arg", llvm::Intrinsic::not_intrinsic},
};

bool isRead(const llvm::Module &module, llvm::Intrinsic::ID intrinsic) {
  if (intrinsic == llvm::Intrinsic::not_intrinsic)
    return false;
  const llvm::Function *reader = llvm::Intrinsic::getDeclarationIfExists(&module, intrinsic);
  return reader && !reader->use_empty();
}

/// Marks the leading arguments that fit. LLVM counts registers itself and stops
/// at the first that does not; it needs them to be plain scalars.
void preload(llvm::Function &kernel) {
  for (llvm::Argument &argument : kernel.args()) {
    llvm::Type *type = argument.getType();
    if (argument.hasByRefAttr() ||
        !(type->isPointerTy() || type->isIntegerTy() || type->isFloatingPointTy()))
      break;
    argument.addAttr(llvm::Attribute::InReg);
  }
}

} // namespace

bool wavetile::rocm::isKernel(const llvm::Function &function) {
  return function.getCallingConv() == llvm::CallingConv::AMDGPU_KERNEL && !function.isDeclaration();
}

llvm::Error wavetile::rocm::setKernelAttributes(llvm::Module &module, const Target &target,
                                                bool preloadArguments) {
  // Version 5 is what every ROCm since 6.0 loads; 6 only adds generic targets.
  constexpr uint32_t codeObjectVersion = 500;
  if (!module.getModuleFlag("amdhsa_code_object_version"))
    module.addModuleFlag(llvm::Module::Error, "amdhsa_code_object_version", codeObjectVersion);

  llvm::SmallVector<const char *> unread;
  for (const HiddenInput &input : hiddenInputs)
    if (!isRead(module, input.reader))
      unread.push_back(input.attribute);
  bool readsImplicit = isRead(module, llvm::Intrinsic::amdgcn_implicitarg_ptr);

  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    for (const char *attribute : unread)
      function.addFnAttr(attribute);
    function.addFnAttr("amdgpu-ieee", "false");
    function.addFnAttr(llvm::Attribute::NoUnwind);
    if (!isKernel(function)) {
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
      function.addFnAttr(llvm::Attribute::AlwaysInline);
      continue;
    }
    if (!function.hasFnAttribute("amdgpu-flat-work-group-size"))
      return llvm::createStringError("kernel " + function.getName() +
                                     " does not state \"amdgpu-flat-work-group-size\"");
    function.addFnAttr("uniform-work-group-size", "true");
    if (!readsImplicit)
      function.addFnAttr("amdgpu-implicitarg-num-bytes", "0");
    // Without this LLVM reserves half of a wave's share of the registers for
    // accumulators and copies matrix results into and out of them; with it they
    // only hold what other registers cannot.
    if (target.registers().accumulators > 0 && !function.hasFnAttribute("amdgpu-agpr-alloc"))
      function.addFnAttr("amdgpu-agpr-alloc", "0");
    function.setLinkage(llvm::GlobalValue::ExternalLinkage);
    function.setVisibility(llvm::GlobalValue::ProtectedVisibility);
    if (preloadArguments && target.kernelEntry().preloadsArguments)
      preload(function);
  }
  return llvm::Error::success();
}
