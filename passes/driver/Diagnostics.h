//===- Diagnostics.h - MLIR diagnostics as an error -------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_PASSES_DRIVER_DIAGNOSTICS_H
#define WAVETILE_PASSES_DRIVER_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace wavetile {

/// The calls that lead to a place in a helper function, the innermost first.
std::vector<mlir::FileLineColLoc> callersOf(mlir::Location location);

/// Collects the errors that the current thread emits on a context while this
/// lives; each is a line "file:line:column: text", with lines indented below it:
/// what helps, the calls that lead there and notes.
class CollectedDiagnostics {
public:
  explicit CollectedDiagnostics(mlir::MLIRContext *context);

  /// The text so far, or `otherwise` if there is none, as an error.
  llvm::Error takeError(llvm::StringRef otherwise);

private:
  std::string text;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace wavetile

#endif // WAVETILE_PASSES_DRIVER_DIAGNOSTICS_H
