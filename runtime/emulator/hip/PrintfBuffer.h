//===- PrintfBuffer.h - printf that is read after the launch --------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The buffer behind hidden_printf_buffer. A kernel reserves room in it for each
// call of printf and stores the arguments there; the format is in the code
// object's metadata. OpenCL's printf works so, and HIP's with
// -mprintf-kind=buffered. What does not fit any more is lost, as on a GPU.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_HIP_PRINTFBUFFER_H
#define WAVETILE_RUNTIME_EMULATOR_HIP_PRINTFBUFFER_H

#include "runtime/emulator/hip/SharedMemory.h"

#include "llvm/ADT/ArrayRef.h"

#include <memory>
#include <string>

namespace wavetile::device {

/// See the top of the file.
class PrintfBuffer {
public:
  /// With room for `bytes`. Null if there is no memory for it.
  static std::unique_ptr<PrintfBuffer> create(MemoryMap &map, size_t bytes);

  /// What the kernel gets.
  uint64_t address() const { return memory->address(); }

  /// Prints what the kernel left, with the formats of its code object.
  void print(llvm::ArrayRef<std::string> formats) const;

private:
  explicit PrintfBuffer(std::unique_ptr<SharedMemory> memory) : memory(std::move(memory)) {}

  std::unique_ptr<SharedMemory> memory;
};

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_HIP_PRINTFBUFFER_H
