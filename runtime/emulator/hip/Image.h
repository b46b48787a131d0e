//===- Image.h - The bytes that a client loads a module from --------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Clients hand code objects over by a pointer without a length, from a file, and
// packed with others into an offload bundle. This finds the bytes of the code
// object for one processor.
//
// Promises: what is read lies in mapped memory; anything else is an error.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_HIP_IMAGE_H
#define WAVETILE_RUNTIME_EMULATOR_HIP_IMAGE_H

#include "runtime/emulator/MemoryMap.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <optional>

namespace wavetile::device {

/// Where a code object lies.
struct CodeObjectBytes {
  llvm::ArrayRef<uint8_t> bytes;
  /// What `bytes` points into if the image was compressed.
  std::unique_ptr<llvm::SmallVector<uint8_t, 0>> decompressed;
};

/// The code object for `processor` in an ELF file or an offload bundle at `image`, which has
/// `bytes` bytes, or a length that its own headers say. A bundle may be compressed. A bundle
/// without one is a WrongProcessorError.
llvm::Expected<CodeObjectBytes> findCodeObject(const void *image, std::optional<uint64_t> bytes,
                                               llvm::StringRef processor, const MemoryMap &memory);

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_HIP_IMAGE_H
