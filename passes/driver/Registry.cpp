//===- Registry.cpp - Finding a backend -------------------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/driver/Driver.h"

#include "ir/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringExtras.h"

using namespace wavetile;

llvm::Expected<const Backend *> BackendRegistry::find(llvm::StringRef target) const {
  llvm::SmallVector<llvm::StringRef> names;
  for (const std::unique_ptr<Backend> &backend : backends) {
    llvm::SmallVector<llvm::StringRef> known = backend->targetNames();
    if (llvm::is_contained(known, target))
      return backend.get();
    llvm::append_range(names, known);
  }
  return llvm::createStringError("unknown target '" + target + "'; there are " +
                                 llvm::join(names, ", "));
}

void wavetile::registerDialects(mlir::DialectRegistry &registry, const BackendRegistry &backends) {
  registry.insert<tile::TileDialect, mlir::arith::ArithDialect, mlir::math::MathDialect>();
  for (const std::unique_ptr<Backend> &backend : backends.all())
    backend->registerDialects(registry);
}
