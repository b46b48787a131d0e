//===- CodeObjectMetadata.h - The metadata note of a code object ----------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the MessagePack note that describes the kernels of a code object: their
// arguments, limits and registers. Any bytes give a description whose argument
// offsets lie inside the argument block, or an error with a reason.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_CODEOBJECTMETADATA_H
#define WAVETILE_RUNTIME_EMULATOR_CODEOBJECTMETADATA_H

#include "runtime/emulator/CodeObject.h"

namespace wavetile::device {

struct KernelMetadata {
  /// Everything but what the descriptor and the symbols say; `descriptor.kernargSize` is set.
  KernelInfo kernel;
  std::string descriptorSymbol;
};

struct ObjectMetadata {
  std::vector<KernelMetadata> kernels;
  std::vector<std::string> printfFormats;
};

llvm::Expected<ObjectMetadata> parseMetadata(llvm::StringRef note);

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_CODEOBJECTMETADATA_H
