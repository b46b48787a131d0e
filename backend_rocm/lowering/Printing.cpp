//===- Printing.cpp - tile.print and tile.assert ----------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each element becomes a call of printf by the lane that has it; `DevicePrintf`
// makes of it what the HIP runtime prints after the launch.
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/DevicePrintf.h"
#include "backend_rocm/lowering/Operations.h"

#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::rocm;

namespace {

/// Calls `emit` for each register of a tile whose element is shown, in a branch that its lane
/// takes.
class ShownElements {
public:
  ShownElements(Lowering &state, const Layout &layout, ValueRange offsets, ValueRange extents)
      : state(state), layout(layout), offsets(offsets), extents(extents) {}

  /// `emit` gets the register and the element's indices, i64, moved by the offsets. `chosen` gives
  /// a further condition, or null.
  void forEach(
      llvm::function_ref<void(unsigned, ValueRange)> emit,
      llvm::function_ref<Value(unsigned)> chosen = [](unsigned) { return Value(); });

private:
  Value isShown(ArrayRef<Value> indices);

  Lowering &state;
  const Layout &layout;
  ValueRange offsets, extents;
};

} // namespace

Value ShownElements::isShown(ArrayRef<Value> indices) {
  Value condition = state.canonicalCopy(layout);
  for (auto [at, extent] : llvm::zip_equal(indices, extents)) {
    Value isBelow = state.compare(LLVM::ICmpPredicate::slt, at, state.scalar(extent));
    condition = condition ? state.bitAnd(condition, isBelow) : isBelow;
  }
  return condition;
}

void ShownElements::forEach(llvm::function_ref<void(unsigned, ValueRange)> emit,
                            llvm::function_ref<Value(unsigned)> chosen) {
  unsigned copies = layout.replication().registerMask;
  for (unsigned reg = 0; reg < layout.registerCount(); ++reg) {
    if (reg & copies)
      continue;
    SmallVector<Value> indices;
    for (unsigned dim = 0; dim < layout.rank(); ++dim)
      indices.push_back(state.castInteger(state.coordinate(layout, reg, dim), state.indexType()));
    Value condition = isShown(indices);
    if (Value further = chosen(reg))
      condition = condition ? state.bitAnd(condition, further) : further;
    auto body = [&]() -> SmallVector<Value> {
      SmallVector<Value> moved;
      for (auto [at, offset] : llvm::zip_equal(indices, offsets))
        moved.push_back(state.castInteger(state.add(at, state.scalar(offset)), state.i64()));
      emit(reg, moved);
      return {};
    };
    if (condition)
      state.conditional(condition, {}, body);
    else
      body();
  }
}

/// `text` as a format that prints it.
static std::string escaped(StringRef text) {
  std::string format;
  for (char c : text)
    format += c == '%' ? std::string("%%") : std::string(1, c);
  return format;
}

/// " [%lld, %lld]", or "" for no dimension.
static std::string formatOfIndices(unsigned rank) {
  std::string format;
  for (unsigned dim = 0; dim < rank; ++dim)
    format += dim == 0 ? " [%lld" : ", %lld";
  return rank == 0 ? format : format + "]";
}

/// The declaration of printf, which the module has once.
static LLVM::LLVMFuncOp declarePrintf(Lowering &state) {
  Type pointer = LLVM::LLVMPointerType::get(state.builder.getContext(), ConstantSpace);
  return *LLVM::lookupOrCreateFn(state.builder, state.program->getParentOfType<ModuleOp>(),
                                 printfName, pointer, state.i32(), /*isVarArg=*/true);
}

static Value formatString(Lowering &state, StringRef text) {
  auto module = state.program->getParentOfType<ModuleOp>();
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  std::string bytes = text.str() + '\0';
  std::string name = "format";
  for (unsigned number = 0; module.lookupSymbol(name); ++number)
    name = "format_" + std::to_string(number);
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size());
  LLVM::GlobalOp::create(builder, state.loc, type, /*isConstant=*/true, LLVM::Linkage::Internal,
                         name, builder.getStringAttr(bytes), /*alignment=*/1, ConstantSpace);
  return LLVM::AddressOfOp::create(state.builder, state.loc,
                                   LLVM::LLVMPointerType::get(builder.getContext(), ConstantSpace),
                                   name);
}

static void callPrintf(Lowering &state, Value format, ValueRange arguments) {
  SmallVector<Value> all{format};
  llvm::append_range(all, arguments);
  LLVM::CallOp::create(state.builder, state.loc, declarePrintf(state), all);
}

/// A float as the f64 that printf takes.
static Value toDouble(Lowering &state, Value value, Type type) {
  return type.isF64() ? value : extendFloat(state, value, type, state.builder.getF64Type());
}

LogicalResult rocm::lowerPrint(Lowering &state, tile::PrintOp op) {
  std::string text = escaped(op.getText());
  if (op.getValues().empty()) {
    Value format = formatString(state, text + "\n");
    Value isFirst = state.compare(LLVM::ICmpPredicate::eq, state.bitOr(state.laneId, state.waveId),
                                  state.constantI32(0));
    state.conditional(isFirst, {}, [&]() -> SmallVector<Value> {
      callPrintf(state, format, {});
      return {};
    });
    return success();
  }
  const Layout &layout = Lowering::layoutOf(op.getValues().front());
  text += formatOfIndices(layout.rank());
  std::vector<SmallVector<Value>> values;
  SmallVector<Type> types;
  for (Value value : op.getValues()) {
    values.push_back(state.unpack(state.registers(value)));
    types.push_back(cast<RankedTensorType>(value.getType()).getElementType());
    text += types.size() == 1 ? ": " : ", ";
    text += isa<FloatType>(types.back())
                ? "%." + std::to_string(tile::PrintOp::getDigits(types.back())) + "g"
                : "%lld";
  }
  Value format = formatString(state, text + "\n");
  ShownElements(state, layout, op.getOffsets(), op.getExtents())
      .forEach([&](unsigned reg, ValueRange indices) {
        SmallVector<Value> arguments(indices);
        for (auto [registers, type] : llvm::zip_equal(values, types))
          arguments.push_back(isa<FloatType>(type) ? toDouble(state, registers[reg], type)
                                                   : registers[reg]);
        callPrintf(state, format, arguments);
      });
  return success();
}

/// "file.py:12: ".
static std::string placeOf(Location loc) {
  auto file = loc->findInstanceOf<FileLineColLoc>();
  return file ? file.getFilename().str() + ":" + std::to_string(file.getLine()) + ": " : "";
}

LogicalResult rocm::lowerAssert(Lowering &state, tile::AssertOp op) {
  const Layout &layout = Lowering::layoutOf(op.getCondition());
  SmallVector<Value> conditions = state.unpack(state.registers(op.getCondition()));
  Value format =
      formatString(state, escaped(placeOf(op.getLoc())) + "assertion failed" +
                              formatOfIndices(layout.rank()) + ": " + escaped(op.getText()) + "\n");
  Value yes = state.constant(state.i1(), 1);
  ShownElements(state, layout, op.getOffsets(), op.getExtents())
      .forEach(
          [&](unsigned, ValueRange indices) {
            callPrintf(state, format, indices);
            state.intrinsicVoid("llvm.trap", {});
          },
          [&](unsigned reg) { return state.bitXor(conditions[reg], yes); });
  return success();
}
