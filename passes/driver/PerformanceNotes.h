//===- PerformanceNotes.h - What is legal and slow --------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a kernel's author may want to know of a compiled kernel, at a place of the
// source: accesses of which each lane's elements are moved one by one, products on
// slow matrix instructions, f64 on targets that hardly have it, and registers that
// are spilled to memory.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_PASSES_DRIVER_PERFORMANCENOTES_H
#define WAVETILE_PASSES_DRIVER_PERFORMANCENOTES_H

#include "passes/Backend.h"

#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace wavetile {

struct PerformanceNote {
  std::string message, remedy;
  std::string file;
  unsigned line = 0, column = 0;
  /// The calls that lead there, the innermost first: file, line and column.
  std::vector<std::tuple<std::string, unsigned, unsigned>> callers;
};

class PerformanceNotes {
public:
  /// Looks at a planned module with layouts, which is about to be lowered.
  PerformanceNotes(mlir::ModuleOp module, const TargetInfo &target);

  /// Adds what is known of the registers of its kernels, by their symbols.
  void addSpills(const std::map<std::string, unsigned> &spilledRegisters);

  std::vector<PerformanceNote> take() { return std::move(notes); }

private:
  void addAccess(mlir::Operation *op);
  void addProduct(mlir::Operation *op);
  void addDouble(mlir::Operation *op);
  void add(mlir::Operation *op, std::string message, std::string remedy);

  const TargetInfo &target;
  std::vector<PerformanceNote> notes;
  /// For each kernel the place of its first reduction or product.
  std::map<std::string, PerformanceNote> places;
  bool saidDouble = false;
};

} // namespace wavetile

#endif // WAVETILE_PASSES_DRIVER_PERFORMANCENOTES_H
