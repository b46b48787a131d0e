//===- Builder.cpp - Builds one tile module ---------------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/extension/Builder.h"

#include "ir/Tile.h"
#include "passes/driver/Driver.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace wavetile {

/// Collects what is diagnosed in its lifetime, with locations.
class DiagnosticText {
public:
  explicit DiagnosticText(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          llvm::raw_string_ostream stream(text);
          if (!text.empty())
            stream << "\n";
          stream << diagnostic.getLocation() << ": " << diagnostic;
          return success();
        }) {}

  llvm::Error takeError() { return llvm::createStringError(llvm::inconvertibleErrorCode(), text); }

private:
  std::string text;
  ScopedDiagnosticHandler handler;
};

static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registerDialects(registry, BackendRegistry::builtin());
  return registry;
}

TileModule::TileModule()
    : context(makeRegistry(), MLIRContext::Threading::DISABLED), builder(&context),
      location(UnknownLoc::get(&context)) {
  // A diagnostic names a Python line; the operation would hide it.
  context.printOpOnDiagnostic(false);
  context.loadDialect<arith::ArithDialect, math::MathDialect, tile::TileDialect>();
  module = ModuleOp::create(location);
  builder.setInsertionPointToEnd(module->getBody());
}

llvm::Expected<Type> TileModule::parseType(StringRef text) {
  Type &type = types[text];
  if (!type) {
    DiagnosticText diagnostics(&context);
    type = mlir::parseType(text, &context);
    if (!type)
      return diagnostics.takeError();
  }
  return type;
}

llvm::Expected<Attribute> TileModule::parseAttribute(StringRef text) {
  Attribute &attribute = attributes[text];
  if (!attribute) {
    DiagnosticText diagnostics(&context);
    attribute = mlir::parseAttribute(text, &context);
    if (!attribute)
      return diagnostics.takeError();
  }
  return attribute;
}

Location TileModule::getFileLocation(StringRef file, unsigned line, unsigned column) {
  return FileLineColLoc::get(&context, file, line, column);
}

Operation *TileModule::create(StringRef name, ArrayRef<SmallVector<Value>> operandGroups,
                              ArrayRef<Type> results, ArrayRef<NamedAttribute> attributes,
                              ArrayRef<std::vector<Type>> bodyArguments) {
  OperationState state(location, name);
  SmallVector<int32_t> segments;
  for (const SmallVector<Value> &group : operandGroups) {
    state.addOperands(group);
    segments.push_back(group.size());
  }
  state.addTypes(results);
  state.addAttributes(attributes);
  if (segments.size() > 1 && state.name.hasTrait<OpTrait::AttrSizedOperandSegments>())
    state.addAttribute("operandSegmentSizes", builder.getDenseI32ArrayAttr(segments));
  for (const std::vector<Type> &types : bodyArguments) {
    Region *region = state.addRegion();
    Block *block = new Block;
    region->push_back(block);
    for (Type type : types)
      block->addArgument(type, location);
  }
  return builder.create(state);
}

Operation *TileModule::withResults(Operation *operation, ArrayRef<Type> results) {
  OperationState state(operation->getLoc(), operation->getName());
  state.addOperands(operation->getOperands());
  state.addAttributes(operation->getAttrs());
  state.addTypes(results);
  for (Region &region : operation->getRegions())
    state.addRegion()->takeBody(region);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(operation);
  Operation *made = builder.create(state);
  operation->erase();
  return made;
}

Value TileModule::createConstant(TypedAttr value) {
  return arith::ConstantOp::create(builder, location, value);
}

void TileModule::enter(Operation *operation, unsigned region) {
  outer.push_back(builder.saveInsertionPoint());
  builder.setInsertionPointToEnd(&operation->getRegion(region).front());
}

void TileModule::enterBeforeLoops() {
  outer.push_back(builder.saveInsertionPoint());
  Operation *parent = builder.getInsertionBlock()->getParentOp();
  while (parent && !isa<tile::ParallelOp>(parent))
    parent = parent->getParentOp();
  if (parent)
    builder.setInsertionPoint(parent);
}

bool TileModule::isBeforeLoops(Value value) {
  return isa_and_nonnull<tile::KernelOp>(value.getParentRegion()->getParentOp());
}

void TileModule::leave() {
  builder.restoreInsertionPoint(outer.back());
  outer.pop_back();
}

llvm::Error TileModule::verify() {
  DiagnosticText diagnostics(&context);
  if (failed(mlir::verify(*module)))
    return diagnostics.takeError();
  return llvm::Error::success();
}

std::string TileModule::str(bool withLocations) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  OpPrintingFlags flags;
  flags.enableDebugInfo(withLocations);
  module->print(stream, flags);
  return text;
}

} // namespace wavetile
