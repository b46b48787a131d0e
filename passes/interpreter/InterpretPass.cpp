//===- InterpretPass.cpp - The interpreter as a pass ------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/interpreter/Interpreter.h"
#include "passes/interpreter/Values.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/raw_ostream.h"

#include <random>

namespace wavetile {
#define GEN_PASS_DECL_INTERPRET
#define GEN_PASS_DEF_INTERPRET
#include "passes/interpreter/Passes.h.inc"
} // namespace wavetile

using namespace mlir;
using namespace wavetile;
using namespace wavetile::interpreter;

static constexpr llvm::StringLiteral inputsAttrName = "tile.inputs";

namespace {

/// The elements of one tensor, in memory of their own.
class Tensor {
public:
  explicit Tensor(DenseElementsAttr elements);

  MutableArrayRef<uint8_t> getBytes() const {
    return {allocated.get(), elementBytes * size_t(type.getNumElements())};
  }
  unsigned getElementBytes() const { return elementBytes; }
  Type getElementType() const { return type.getElementType(); }

  void print(raw_ostream &os) const;

private:
  void print(raw_ostream &os, unsigned dim, size_t &position) const;

  static constexpr std::align_val_t alignment{64};
  struct Free {
    void operator()(uint8_t *bytes) const { ::operator delete(bytes, alignment); }
  };

  ShapedType type;
  unsigned elementBytes;
  std::unique_ptr<uint8_t, Free> allocated;
};

/// The arguments of one kernel, from the module's attribute.
class Inputs {
public:
  Inputs(tile::KernelOp kernel, DictionaryAttr values) : kernel(kernel), values(values) {}

  LogicalResult collect();
  const InterpreterArguments &getArguments() const { return arguments; }
  void print(raw_ostream &os) const;

private:
  LogicalResult collect(BlockArgument argument);
  FailureOr<MutableArrayRef<uint8_t>> pointer(StringRef name, Type elementType, Attribute value);

  /// Puts a value at the argument's place among those of its kind.
  template <typename T> void place(SmallVectorImpl<T> &list, unsigned number, T value) {
    auto binding = kernel.getArgAttrOfType<IntegerAttr>(number, tile::bindingAttrName);
    size_t at = binding ? binding.getInt() : list.size();
    if (list.size() <= at)
      list.resize(at + 1);
    list[at] = value;
  }

  tile::KernelOp kernel;
  DictionaryAttr values;
  llvm::MapVector<StringRef, Tensor> tensors;
  InterpreterArguments arguments;
};

} // namespace

//===----------------------------------------------------------------------===//
// Tensor
//===----------------------------------------------------------------------===//

Tensor::Tensor(DenseElementsAttr elements)
    : type(elements.getType()),
      elementBytes(llvm::divideCeil(getWidth(elements.getElementType()), 8u)),
      allocated(static_cast<uint8_t *>(
          ::operator new(elementBytes *size_t(type.getNumElements()), alignment))) {
  Allocation memory(getBytes());
  for (auto [position, value] : llvm::enumerate(elements.getValues<Attribute>()))
    memory.write(position * elementBytes, elementBytes,
                 toBits(cast<TypedAttr>(value)).getZExtValue());
}

void Tensor::print(raw_ostream &os) const {
  size_t position = 0;
  print(os, 0, position);
}

void Tensor::print(raw_ostream &os, unsigned dim, size_t &position) const {
  if (dim == type.getRank()) {
    unsigned width = getWidth(getElementType());
    uint64_t bits = *Allocation(getBytes()).read(elementBytes * position++, elementBytes);
    os << toString(getElementType(), llvm::APInt(width, bits));
    return;
  }
  os << "[";
  for (int64_t i = 0; i < type.getDimSize(dim); ++i) {
    if (i)
      os << ", ";
    print(os, dim + 1, position);
  }
  os << "]";
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

FailureOr<MutableArrayRef<uint8_t>> Inputs::pointer(StringRef name, Type elementType,
                                                    Attribute value) {
  if (auto elements = dyn_cast<DenseElementsAttr>(value)) {
    if (elements.getElementType() != elementType)
      return kernel.emitOpError() << "takes elements of " << elementType << " for '" << name
                                  << "', not of " << elements.getElementType();
    return tensors.try_emplace(name, Tensor(elements)).first->second.getBytes();
  }
  auto text = dyn_cast<StringAttr>(value);
  if (!text)
    return kernel.emitOpError() << "takes elements or the name of a tensor for '" << name
                                << "', not " << value;

  // "x" or "x[3]".
  auto [other, rest] = text.getValue().split('[');
  uint64_t first = 0;
  if (!rest.empty() && (!rest.consume_back("]") || rest.getAsInteger(10, first)))
    return kernel.emitOpError() << "cannot read " << value << "; write \"x\" or \"x[3]\"";
  auto found = tensors.find(other);
  if (found == tensors.end())
    return kernel.emitOpError() << "has no tensor '" << other << "' before '" << name << "'";
  const Tensor &tensor = found->second;
  size_t offset = first * tensor.getElementBytes();
  if (offset > tensor.getBytes().size())
    return kernel.emitOpError() << "has no element " << first << " in '" << other << "'";
  return tensor.getBytes().drop_front(offset);
}

LogicalResult Inputs::collect(BlockArgument argument) {
  unsigned number = argument.getArgNumber();
  auto given = kernel.getArgAttrOfType<StringAttr>(number, tile::nameAttrName);
  StringAttr name =
      given ? given : StringAttr::get(kernel.getContext(), "arg" + std::to_string(number));
  Attribute value = values.get(name);
  if (!value)
    return kernel.emitOpError() << "has no value for '" << name.getValue() << "' in "
                                << inputsAttrName;

  Type type = argument.getType();
  if (auto pointerType = dyn_cast<tile::PointerType>(type)) {
    auto bytes = pointer(name.getValue(), pointerType.getElementType(), value);
    if (failed(bytes))
      return failure();
    place(arguments.pointers, number, *bytes);
    return success();
  }
  if (auto integer = dyn_cast<IntegerAttr>(value); integer && type.isIndex()) {
    place(arguments.integers, number, integer.getInt());
    return success();
  }
  if (auto real = dyn_cast<FloatAttr>(value); real && isa<FloatType>(type)) {
    place(arguments.floats, number, real.getValueAsDouble());
    return success();
  }
  return kernel.emitOpError() << "takes a number of type " << type << " for '" << name.getValue()
                              << "', not " << value;
}

LogicalResult Inputs::collect() {
  for (BlockArgument argument : kernel.getBody().getArguments())
    if (failed(collect(argument)))
      return failure();
  return success();
}

void Inputs::print(raw_ostream &os) const {
  for (const auto &[name, tensor] : tensors) {
    os << name << " = ";
    tensor.print(os);
    os << "\n";
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct Interpret : wavetile::impl::InterpretBase<Interpret> {
  using InterpretBase::InterpretBase;

  void runOnOperation() override {
    auto values = getOperation()->getAttrOfType<DictionaryAttr>(inputsAttrName);
    if (!values) {
      getOperation().emitError() << "has no '" << inputsAttrName << "' to run with";
      return signalPassFailure();
    }
    InterpreterOptions options;
    options.seed =
        seed.getNumOccurrences() || seed.hasValue() ? uint64_t(seed) : std::random_device()();
    llvm::outs() << "seed = " << options.seed << "\n";
    for (tile::KernelOp kernel : getOperation().getOps<tile::KernelOp>()) {
      Inputs inputs(kernel, values);
      if (failed(inputs.collect()) || failed(interpret(kernel, inputs.getArguments(), options)))
        return signalPassFailure();
      inputs.print(llvm::outs());
    }
    llvm::outs().flush();
    markAllAnalysesPreserved();
  }
};
} // namespace

void wavetile::registerInterpretPass() { PassRegistration<Interpret>(); }
