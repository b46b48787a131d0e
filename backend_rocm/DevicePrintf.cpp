//===- DevicePrintf.cpp - printf in a kernel ------------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/DevicePrintf.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/AMDGPUEmitPrintf.h"

using namespace llvm;

/// What LLVM calls for room in the buffer: a pointer to that many bytes, or null if it is full. The
/// buffer begins with two words, the bytes used and the size of the whole; it is told to kernels
/// where code objects of version 5 and later have that hidden argument.
static void defineAllocation(Function &function) {
  constexpr uint64_t headerBytes = 8, bufferArgument = 72;
  LLVMContext &context = function.getContext();
  IRBuilder<> builder(BasicBlock::Create(context, "entry", &function));
  BasicBlock *entry = builder.GetInsertBlock();
  BasicBlock *loop = BasicBlock::Create(context, "try", &function);
  BasicBlock *reserve = BasicBlock::Create(context, "reserve", &function);
  BasicBlock *done = BasicBlock::Create(context, "done", &function);
  BasicBlock *full = BasicBlock::Create(context, "full", &function);
  SyncScope::ID agent = context.getOrInsertSyncScopeID("agent");
  Value *wanted = function.getArg(0);
  Type *i32 = builder.getInt32Ty();
  auto *result = cast<PointerType>(function.getReturnType());

  Value *arguments = builder.CreateIntrinsic(Intrinsic::amdgcn_implicitarg_ptr, {});
  Value *slot = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), arguments, bufferArgument);
  Value *buffer = builder.CreateLoad(PointerType::get(context, /*global*/ 1), slot);
  Value *size = builder.CreateLoad(i32, builder.CreateConstInBoundsGEP1_64(i32, buffer, 1));
  LoadInst *used = builder.CreateLoad(i32, buffer);
  used->setAtomic(AtomicOrdering::Monotonic, agent);
  builder.CreateBr(loop);

  builder.SetInsertPoint(loop);
  PHINode *offset = builder.CreatePHI(i32, 2);
  offset->addIncoming(used, entry);
  Value *end = builder.CreateAdd(offset, wanted);
  Value *fits = builder.CreateICmpULE(builder.CreateAdd(end, builder.getInt32(headerBytes)), size);
  builder.CreateCondBr(fits, reserve, full);

  builder.SetInsertPoint(reserve);
  Value *exchanged =
      builder.CreateAtomicCmpXchg(buffer, offset, end, MaybeAlign(4), AtomicOrdering::Monotonic,
                                  AtomicOrdering::Monotonic, agent);
  offset->addIncoming(builder.CreateExtractValue(exchanged, 0), reserve);
  builder.CreateCondBr(builder.CreateExtractValue(exchanged, 1), done, loop);

  builder.SetInsertPoint(done);
  Value *place = builder.CreateAdd(offset, builder.getInt32(headerBytes));
  Value *pointer = builder.CreateInBoundsGEP(builder.getInt8Ty(), buffer,
                                             builder.CreateZExt(place, builder.getInt64Ty()));
  builder.CreateRet(builder.CreatePointerBitCastOrAddrSpaceCast(pointer, result));

  builder.SetInsertPoint(full);
  builder.CreateRet(ConstantPointerNull::get(result));
}

void wavetile::rocm::expandPrintf(Module &module) {
  Function *printf = module.getFunction(printfName);
  if (!printf)
    return;
  while (!printf->use_empty()) {
    auto *call = cast<CallInst>(printf->user_back());
    // LLVM writes to the end of a block that has no terminator, and leaves another such block.
    BasicBlock *before = call->getParent();
    BasicBlock *after = before->splitBasicBlock(call);
    before->getTerminator()->eraseFromParent();
    IRBuilder<> builder(before);
    builder.SetCurrentDebugLocation(call->getDebugLoc());
    SmallVector<Value *> arguments(call->args());
    Value *result = emitAMDGPUPrintfCall(builder, arguments, /*IsBuffered=*/true);
    builder.CreateBr(after);
    call->replaceAllUsesWith(result);
    call->eraseFromParent();
  }
  printf->eraseFromParent();
  if (Function *allocate = module.getFunction("__printf_alloc"))
    defineAllocation(*allocate);
}
