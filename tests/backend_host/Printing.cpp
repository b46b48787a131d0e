//===- Printing.cpp - tile.print and tile.assert -----------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The device library prints while the program runs, and ends a launch by not returning to it.
//
//===----------------------------------------------------------------------===//

#include "tests/backend_host/Lowering.h"

#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::host;

namespace {

/// A call of a function of the device library that takes a format as printf does.
class FormattedCall {
public:
  /// Text that is not a format.
  void addText(StringRef text) {
    for (char c : text)
      format += c == '%' ? "%%" : std::string(1, c);
  }
  void addIndices(Lowering &state, ValueRange index, ValueRange offsets);
  void addNumber(Lowering &state, Value number, Type type);
  void emit(Lowering &state, StringRef function);

private:
  std::string format;
  SmallVector<Value> arguments;
};

} // namespace

void FormattedCall::addIndices(Lowering &state, ValueRange index, ValueRange offsets) {
  for (auto [dim, at] : llvm::enumerate(index)) {
    format += dim == 0 ? " [%lld" : ", %lld";
    arguments.push_back(state.add(at, state.scalar(offsets[dim])));
  }
  if (!index.empty())
    format += "]";
}

void FormattedCall::addNumber(Lowering &state, Value number, Type type) {
  bool isFloat = isa<FloatType>(type);
  format += isFloat ? "%." + std::to_string(tile::PrintOp::getDigits(type)) + "g" : "%lld";
  arguments.push_back(isFloat ? state.convertFloat(number, type, state.builder.getF64Type())
                              : number);
}

void FormattedCall::emit(Lowering &state, StringRef function) {
  OpBuilder &builder = state.builder;
  auto module = builder.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  std::string bytes = format + "\n" + '\0';
  std::string name = "format.0";
  for (unsigned number = 1; module.lookupSymbol(name); ++number)
    name = "format." + std::to_string(number);
  OpBuilder atTop = OpBuilder::atBlockBegin(module.getBody());
  LLVM::GlobalOp::create(
      atTop, state.loc, LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size()),
      /*isConstant=*/true, LLVM::Linkage::Internal, name, builder.getStringAttr(bytes));
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  arguments.insert(arguments.begin(), LLVM::AddressOfOp::create(builder, state.loc, pointer, name));
  LLVM::LLVMFuncOp callee = *LLVM::lookupOrCreateFn(builder, module, function, pointer,
                                                    LLVM::LLVMVoidType::get(builder.getContext()),
                                                    /*isVarArg=*/true);
  LLVM::CallOp::create(builder, state.loc, callee, arguments);
}

/// Runs `body` for the indices of a tile below its extents.
static void forEachBelow(Lowering &state, RankedTensorType type, ValueRange extents,
                         Lowering::Body body) {
  state.forEach(type.getShape(), [&](ValueRange index) {
    Value isBelow;
    for (auto [at, extent] : llvm::zip_equal(index, extents))
      isBelow =
          state.both(isBelow, state.compare(arith::CmpIPredicate::slt, at, state.scalar(extent)));
    state.when(isBelow, [&] { body(index); });
  });
}

LogicalResult host::lowerPrint(Lowering &state, tile::PrintOp op) {
  ValueRange values = op.getValues();
  if (values.empty()) {
    FormattedCall call;
    call.addText(op.getText());
    call.emit(state, "wavetile_print");
    return success();
  }
  forEachBelow(state, tileType(values.front()), op.getExtents(), [&](ValueRange index) {
    FormattedCall call;
    call.addText(op.getText());
    call.addIndices(state, index, op.getOffsets());
    for (Value value : values) {
      call.addText(value == values.front() ? ": " : ", ");
      call.addNumber(state, state.element(value, index), tileType(value).getElementType());
    }
    call.emit(state, "wavetile_print");
  });
  return success();
}

LogicalResult host::lowerAssert(Lowering &state, tile::AssertOp op) {
  forEachBelow(state, tileType(op.getCondition()), op.getExtents(), [&](ValueRange index) {
    Value holds = state.element(op.getCondition(), index);
    Value fails =
        state.compare(arith::CmpIPredicate::eq, holds, state.constant(holds.getType(), 0));
    state.when(fails, [&] {
      FormattedCall call;
      if (auto file = op.getLoc()->findInstanceOf<FileLineColLoc>())
        call.addText(file.getFilename().str() + ":" + std::to_string(file.getLine()) + ": ");
      call.addText("assertion failed");
      call.addIndices(state, index, op.getOffsets());
      call.addText((": " + op.getText()).str());
      call.emit(state, "wavetile_fail_assertion");
    });
  });
  return success();
}
