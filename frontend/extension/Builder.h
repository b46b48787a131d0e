//===- Builder.h - Builds one tile module -----------------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A module with a context of its own, an insertion point and a current source
// location, for a frontend that knows operations by name. Types and attributes
// are given as text, parsed once each. Nothing is checked until `verify`.
//
// One object serves one thread at a time; objects share nothing.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_FRONTEND_EXTENSION_BUILDER_H
#define WAVETILE_FRONTEND_EXTENSION_BUILDER_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace wavetile {

class TileModule {
public:
  TileModule();

  mlir::MLIRContext *getContext() { return &context; }
  mlir::ModuleOp getModule() { return *module; }

  llvm::Expected<mlir::Type> parseType(llvm::StringRef text);
  llvm::Expected<mlir::Attribute> parseAttribute(llvm::StringRef text);

  mlir::Location getFileLocation(llvm::StringRef file, unsigned line, unsigned column);
  void setLocation(mlir::Location newLocation) { location = newLocation; }
  mlir::Location getLocation() const { return location; }

  /// Makes an operation at the insertion point. For each entry of `bodyArguments` the
  /// operation gets a region of one block with arguments of these types.
  /// Operands that come in several groups get `operandSegmentSizes`.
  mlir::Operation *create(llvm::StringRef name,
                          llvm::ArrayRef<llvm::SmallVector<mlir::Value>> operandGroups,
                          llvm::ArrayRef<mlir::Type> results,
                          llvm::ArrayRef<mlir::NamedAttribute> attributes,
                          llvm::ArrayRef<std::vector<mlir::Type>> bodyArguments);

  /// Puts in the place of an operation without results one that has these, with its regions.
  mlir::Operation *withResults(mlir::Operation *operation, llvm::ArrayRef<mlir::Type> results);

  mlir::Value createConstant(mlir::TypedAttr value);

  /// Moves the insertion point to the end of a region of the operation, or to just before
  /// the top-level loop in which it is; and back to where it was.
  void enter(mlir::Operation *operation, unsigned region = 0);
  void enterBeforeLoops();
  void leave();

  /// Whether a value of the kernel is there before its loops run.
  static bool isBeforeLoops(mlir::Value value);

  /// Fails with all diagnostics if the module breaks a rule of the dialect.
  llvm::Error verify();

  std::string str(bool withLocations);

private:
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::OpBuilder builder;
  mlir::Location location;
  std::vector<mlir::OpBuilder::InsertPoint> outer;
  llvm::StringMap<mlir::Type> types;
  llvm::StringMap<mlir::Attribute> attributes;
};

} // namespace wavetile

#endif // WAVETILE_FRONTEND_EXTENSION_BUILDER_H
