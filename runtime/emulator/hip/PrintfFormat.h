//===- PrintfFormat.h - printf of kernels ---------------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formats what a kernel prints. Kernels hand arguments over in two ways: as a
// message of 64-bit words (HIP), or as pieces whose sizes the code object's
// metadata tells (OpenCL).
//
// Promises: whatever a kernel hands over, nothing outside of it is read, and a
// format is never given to the host's printf as it came.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_HIP_PRINTFFORMAT_H
#define WAVETILE_RUNTIME_EMULATOR_HIP_PRINTFFORMAT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace wavetile::device {

/// The arguments of one call of printf, taken one after the other. Nothing: there are no more.
class PrintfArguments {
public:
  virtual ~PrintfArguments() = default;
  virtual std::optional<uint64_t> integer() = 0;
  virtual std::optional<double> floatingPoint() = 0;
  virtual std::optional<std::string> string() = 0;
  /// The next argument is a vector of this many elements; the next calls take them.
  virtual void beginVector(unsigned elements) = 0;
};

/// Arguments in 64-bit words; strings lie in place, ended by a zero and padded to whole words.
class MessageArguments final : public PrintfArguments {
public:
  explicit MessageArguments(llvm::ArrayRef<uint64_t> words) : words(words) {}
  std::optional<uint64_t> integer() override;
  std::optional<double> floatingPoint() override;
  std::optional<std::string> string() override;
  void beginVector(unsigned) override {}

private:
  llvm::ArrayRef<uint64_t> words;
};

/// Arguments in pieces of known sizes; strings lie in place, ended by a zero if there is room.
class SizedArguments final : public PrintfArguments {
public:
  SizedArguments(llvm::ArrayRef<uint8_t> bytes, llvm::ArrayRef<unsigned> sizes)
      : bytes(bytes), sizes(sizes) {}
  std::optional<uint64_t> integer() override;
  std::optional<double> floatingPoint() override;
  std::optional<std::string> string() override;
  void beginVector(unsigned elements) override;

private:
  std::optional<llvm::ArrayRef<uint8_t>> next();

  llvm::ArrayRef<uint8_t> bytes;
  llvm::ArrayRef<unsigned> sizes;
  llvm::ArrayRef<uint8_t> vector; ///< What is left of the vector that was begun.
  unsigned elementBytes = 0;
};

/// What printf prints for `format`; it ends where arguments run out.
std::string formatPrintf(llvm::StringRef format, PrintfArguments &arguments);

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_HIP_PRINTFFORMAT_H
