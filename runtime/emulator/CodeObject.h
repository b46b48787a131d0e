//===- CodeObject.h - A loaded AMDGPU code object -------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads a code object (an ELF shared object for amdhsa, code object version 4
// to 6), lays its segments out in host memory, applies its dynamic relocations
// and parses its kernels' descriptors and metadata.
//
// Promises: any bytes whatever give a loaded code object or an error with a
// reason, never a crash, and nothing outside the given bytes is read. Device
// addresses are host addresses: an instruction at virtual address v of the file
// is at `loadBias() + v`.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_CODEOBJECT_H
#define WAVETILE_RUNTIME_EMULATOR_CODEOBJECT_H

#include "runtime/emulator/Machine.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace wavetile::device {

/// What fills a piece of the kernel argument block.
enum class ArgumentKind : uint8_t {
  // Given by the caller.
  ByValue,
  GlobalBuffer,
  DynamicSharedPointer,
  // Hidden: filled by the runtime.
  BlockCountX,
  BlockCountY,
  BlockCountZ,
  GroupSizeX,
  GroupSizeY,
  GroupSizeZ,
  RemainderX,
  RemainderY,
  RemainderZ,
  GlobalOffsetX,
  GlobalOffsetY,
  GlobalOffsetZ,
  GridDimensions,
  DynamicLdsSize,
  PrivateBase,
  SharedBase,
  PrintfBuffer,
  HostcallBuffer,
  MultigridSync,
  /// Hidden arguments that are null on this device: queues, heap.
  Null,
};

/// One entry of a kernel's `.args`.
struct ArgumentInfo {
  ArgumentKind kind;
  uint32_t offset;
  uint32_t size;

  bool isHidden() const { return kind > ArgumentKind::DynamicSharedPointer; }
};

/// One kernel of a code object.
struct KernelInfo {
  std::string name;
  KernelDescriptor descriptor;
  /// Host addresses [codeBegin, codeEnd) of the kernel's own instructions, the preamble that loads
  /// preloaded arguments included.
  uint64_t codeBegin = 0;
  uint64_t codeEnd = 0;

  std::vector<ArgumentInfo> arguments;
  uint32_t kernargAlignment = 0;
  /// Bytes from the start of the block to the end of the last argument that a caller gives.
  uint32_t explicitKernargSize = 0;

  bool usesDynamicStack = false;
  uint32_t maxFlatWorkgroupSize = 0;
  std::optional<std::array<uint32_t, 3>> requiredWorkgroupSize;
  uint32_t sgprCount = 0;
  uint32_t vgprCount = 0;
  uint32_t agprCount = 0;
};

/// A symbol of the code object that is no kernel descriptor.
struct SymbolInfo {
  std::string name;
  uint64_t address;
  uint64_t size;
  bool isFunction;
};

/// A place in the source that an instruction comes from.
struct SourceLocation {
  std::string file;
  std::string function;
  uint32_t line = 0;
  uint32_t column = 0;
};

/// The code object is sound, but for another GPU.
class WrongProcessorError : public llvm::ErrorInfo<WrongProcessorError, llvm::StringError> {
public:
  static char ID;
  explicit WrongProcessorError(const llvm::Twine &message)
      : ErrorInfo(message, llvm::inconvertibleErrorCode()) {}
};

/// See the top of the file.
class CodeObject {
public:
  /// Loads a copy of `bytes`. `processor` is the GPU that must be able to run it ("gfx950"); `name`
  /// is what reports call it.
  static llvm::Expected<std::unique_ptr<CodeObject>> load(llvm::ArrayRef<uint8_t> bytes,
                                                          llvm::StringRef processor,
                                                          std::string name, MemoryMap &memory);

  ~CodeObject();
  CodeObject(const CodeObject &) = delete;
  CodeObject &operator=(const CodeObject &) = delete;

  llvm::StringRef name() const { return objectName; }
  /// The processor it was built for.
  llvm::StringRef processor() const { return processorName; }

  /// What `amdhsa.printf` says of the calls of printf, in the metadata's form.
  llvm::ArrayRef<std::string> printfFormats() const { return printfFormatList; }

  llvm::ArrayRef<KernelInfo> kernels() const { return kernelList; }
  const KernelInfo *findKernel(llvm::StringRef name) const;

  llvm::ArrayRef<SymbolInfo> symbols() const { return symbolList; }
  const SymbolInfo *findVariable(llvm::StringRef name) const;

  /// The executable bytes in memory, from the first executable segment to the last.
  llvm::ArrayRef<uint8_t> text() const { return textBytes; }

  /// Add to an address of the file to get the one in memory.
  uint64_t loadBias() const { return bias; }

  /// Where the instruction at this host address comes from, innermost inlined frame first. Empty
  /// without a line table.
  std::vector<SourceLocation> sourceLocations(uint64_t address) const;

private:
  struct Image;
  friend class CodeObjectReader;

  CodeObject(std::string name, MemoryMap &memory);

  std::string objectName;
  std::string processorName;
  MemoryMap &memory;
  /// The file as given: the line table is read from it when first asked for.
  std::vector<uint8_t> file;
  std::unique_ptr<Image> image;
  uint64_t bias = 0;
  llvm::ArrayRef<uint8_t> textBytes;
  std::vector<std::string> printfFormatList;
  std::vector<KernelInfo> kernelList;
  std::vector<SymbolInfo> symbolList;

  struct DebugInfo;
  mutable std::mutex debugInfoMutex;
  mutable std::unique_ptr<DebugInfo> debugInfo;
};

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_CODEOBJECT_H
