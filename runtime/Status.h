//===- Status.h - Success, or what went wrong at run time -------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Status is one pointer: null for success, which costs a launch nothing.
// Whoever calls turns the kinds of error into exception classes of its own.
// This header depends on nothing but the standard library.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_STATUS_H
#define WAVETILE_RUNTIME_STATUS_H

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace wavetile {

enum class ErrorKind : uint8_t {
  Argument, // a value that a kernel cannot take
  Launch,   // a launch that the plan or the hardware does not allow
  NoDevice, // nothing that could run it
  Device,   // HIP or the software device failed
};

struct ErrorInfo {
  ErrorKind kind;
  std::string message;
  /// HIP's name of the error ("hipErrorOutOfMemory"), or empty.
  std::string hipError;
  /// What the software device found, or empty.
  std::string report;
};

class [[nodiscard]] Status {
public:
  static Status success() { return Status(); }
  static Status error(ErrorKind kind, std::string message) {
    return error({kind, std::move(message), {}, {}});
  }
  static Status error(ErrorInfo info) {
    Status status;
    status.info = std::make_unique<ErrorInfo>(std::move(info));
    return status;
  }

  /// True if something went wrong, so that `if (Status status = f()) return status;` reads as
  /// it does with llvm::Error.
  explicit operator bool() const { return info != nullptr; }
  const ErrorInfo &get() const { return *info; }

private:
  std::unique_ptr<ErrorInfo> info;
};

} // namespace wavetile

#endif // WAVETILE_RUNTIME_STATUS_H
