//===- Arguments.cpp - What a kernel is given, and the claims about it -*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/interpreter/Execution.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::tile;
using namespace wavetile::interpreter;

static std::string nameOf(FunctionOpInterface function, unsigned number) {
  if (auto name = function.getArgAttrOfType<StringAttr>(number, nameAttrName))
    return name.str();
  return "argument " + std::to_string(number);
}

//===----------------------------------------------------------------------===//
// Claims
//===----------------------------------------------------------------------===//

static LogicalResult checkArgument(FunctionOpInterface function, unsigned number,
                                   const RuntimeValue &value) {
  auto align = function.getArgAttrOfType<IntegerAttr>(number, alignAttrName);
  if (auto *pointer = std::get_if<Pointer>(&value); pointer && align)
    if (pointer->alignment % align.getInt() != 0)
      return function->emitOpError()
             << "says that " << nameOf(function, number) << " is aligned to " << align.getInt()
             << " bytes, and it is to " << pointer->alignment;
  auto divisor = function.getArgAttrOfType<IntegerAttr>(number, divisorAttrName);
  if (auto *scalar = std::get_if<std::shared_ptr<const Tile>>(&value); scalar && divisor)
    if (int64_t integer = (**scalar)[0]->getSExtValue(); integer % divisor.getInt() != 0)
      return function->emitOpError() << "says that " << divisor.getInt() << " divides "
                                     << nameOf(function, number) << ", which is " << integer;
  return success();
}

LogicalResult interpreter::checkArguments(FunctionOpInterface function,
                                          ArrayRef<RuntimeValue> arguments) {
  for (auto [number, value] : llvm::enumerate(arguments))
    if (failed(checkArgument(function, number, value)))
      return failure();
  return success();
}

/// No two tensors of a `disjoint` kernel share a byte.
static LogicalResult checkDisjoint(KernelOp kernel, ArrayRef<RuntimeValue> arguments) {
  for (unsigned i = 0; i < arguments.size(); ++i)
    for (unsigned j = 0; j < i; ++j) {
      auto *a = std::get_if<Pointer>(&arguments[i]), *b = std::get_if<Pointer>(&arguments[j]);
      if (!a || !b)
        continue;
      ArrayRef<uint8_t> first = a->allocation->getBytes(), second = b->allocation->getBytes();
      if (std::less<>()(first.begin(), second.end()) && std::less<>()(second.begin(), first.end()))
        return kernel.emitOpError() << "says that tensors are disjoint, and " << nameOf(kernel, j)
                                    << " overlaps " << nameOf(kernel, i);
    }
  return success();
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

namespace {

/// Hands out the values of one kind to the kernel's arguments.
template <typename T> class Supply {
public:
  Supply(KernelOp kernel, ArrayRef<T> values, StringRef kind)
      : kernel(kernel), values(values), kind(kind) {}

  FailureOr<T> take(unsigned number) {
    auto binding = kernel.getArgAttrOfType<IntegerAttr>(number, bindingAttrName);
    size_t place = binding ? binding.getInt() : next++;
    if (place < values.size())
      return values[place];
    return kernel.emitOpError() << "needs number " << place << " of the " << kind << " for "
                                << nameOf(kernel, number) << ", and " << values.size()
                                << " are given";
  }

private:
  KernelOp kernel;
  ArrayRef<T> values;
  StringRef kind;
  size_t next = 0;
};

} // namespace

/// The memory at a pointer is as aligned as the kernel says, and no more: that a
/// buffer happens to be better aligned must not hide a wrong claim.
static FailureOr<uint64_t> alignmentOf(KernelOp kernel, unsigned number, ArrayRef<uint8_t> bytes) {
  auto type = cast<PointerType>(kernel.getArgumentTypes()[number]);
  uint64_t alignment = llvm::divideCeil(getWidth(type.getElementType()), 8u);
  if (auto claimed = kernel.getArgAttrOfType<IntegerAttr>(number, alignAttrName))
    alignment = claimed.getInt();
  if (!bytes.empty() && reinterpret_cast<uintptr_t>(bytes.data()) % alignment != 0)
    return kernel.emitOpError() << "is given memory for " << nameOf(kernel, number)
                                << " that is not aligned to " << alignment << " bytes";
  return alignment;
}

static LogicalResult run(KernelOp kernel, const InterpreterArguments &given, Session &session) {
  Supply<MutableArrayRef<uint8_t>> pointers(kernel, given.pointers, "pointers");
  Supply<int64_t> integers(kernel, given.integers, "integers");
  Supply<double> floats(kernel, given.floats, "floats");
  Frame frame(session);
  SmallVector<RuntimeValue> arguments;
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    unsigned number = argument.getArgNumber();
    if (isa<PointerType>(argument.getType())) {
      FailureOr<MutableArrayRef<uint8_t>> bytes = pointers.take(number);
      if (failed(bytes))
        return failure();
      FailureOr<uint64_t> alignment = alignmentOf(kernel, number, *bytes);
      if (failed(alignment))
        return failure();
      frame.set(argument, Pointer{&session.allocations.emplace_back(*bytes), *alignment});
    } else if (argument.getType().isIndex()) {
      FailureOr<int64_t> integer = integers.take(number);
      if (failed(integer))
        return failure();
      frame.setInteger(argument, *integer);
    } else {
      FailureOr<double> number = floats.take(argument.getArgNumber());
      if (failed(number))
        return failure();
      llvm::APFloat rounded(*number);
      bool lost;
      rounded.convert(cast<FloatType>(argument.getType()).getFloatSemantics(),
                      llvm::APFloat::rmNearestTiesToEven, &lost);
      frame.set(argument, Tile::scalar(argument.getType(), rounded.bitcastToAPInt()));
    }
    arguments.push_back(frame[argument]);
  }
  if (failed(checkArguments(kernel, arguments)) ||
      (kernel.getDisjoint() && failed(checkDisjoint(kernel, arguments))))
    return failure();
  return runBlock(frame, kernel.getBody().front());
}

LogicalResult wavetile::interpret(KernelOp kernel, const InterpreterArguments &arguments,
                                  const InterpreterOptions &options) {
  Session session(options);
  auto module = kernel->getParentOfType<ModuleOp>();
  if (auto config =
          module ? module->getAttrOfType<DictionaryAttr>(configAttrName) : DictionaryAttr())
    for (NamedAttribute entry : config)
      if (auto size = dyn_cast<IntegerAttr>(entry.getValue()))
        session.sizes.try_emplace(entry.getName(), size.getInt());
  return run(kernel, arguments, session);
}
