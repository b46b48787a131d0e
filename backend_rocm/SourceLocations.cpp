//===- SourceLocations.cpp - A source line for every instruction ----------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/SourceLocations.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

using namespace wavetile::rocm;

namespace {

bool hasLine(const llvm::Instruction &instruction) {
  const llvm::DebugLoc &location = instruction.getDebugLoc();
  return location && location.getLine() != 0;
}

/// The location of the first user that has one.
llvm::DebugLoc locationOfUser(const llvm::Instruction &instruction) {
  for (const llvm::User *user : instruction.users())
    if (const auto *other = llvm::dyn_cast<llvm::Instruction>(user); other && hasLine(*other))
      return other->getDebugLoc();
  return {};
}

void complete(llvm::Function &function) {
  llvm::DISubprogram *scope = function.getSubprogram();
  if (!scope)
    return;
  // Users come after what they use, so go backwards: what has just been given a
  // line passes it on to its operands.
  llvm::DebugLoc neighbour =
      llvm::DILocation::get(function.getContext(), scope->getLine(), 0, scope);
  for (llvm::BasicBlock *block : llvm::post_order(&function)) {
    for (llvm::Instruction &instruction : llvm::reverse(*block)) {
      if (!hasLine(instruction)) {
        llvm::DebugLoc location = locationOfUser(instruction);
        instruction.setDebugLoc(location ? location : neighbour);
      }
      neighbour = instruction.getDebugLoc();
    }
  }
}

} // namespace

void wavetile::rocm::completeSourceLocations(llvm::Module &module) {
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      complete(function);
}
