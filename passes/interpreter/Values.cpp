//===- Values.cpp - What operands are while a kernel runs -------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/interpreter/Values.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::interpreter;
using llvm::APFloat;
using llvm::APInt;

unsigned interpreter::getWidth(Type elementType) {
  return elementType.isIndex() ? 64 : elementType.getIntOrFloatBitWidth();
}

APFloat interpreter::toFloat(Type type, const APInt &bits) {
  return APFloat(cast<FloatType>(type).getFloatSemantics(), bits);
}

APInt interpreter::toBits(TypedAttr value) {
  if (auto number = dyn_cast<FloatAttr>(value))
    return number.getValue().bitcastToAPInt();
  return cast<IntegerAttr>(value).getValue();
}

std::string interpreter::toString(Type type, const Element &element) {
  if (!element)
    return "no value";
  llvm::SmallString<32> text;
  if (isa<FloatType>(type))
    toFloat(type, *element).toString(text);
  else
    element->toString(text, 10, /*Signed=*/getWidth(type) > 1);
  return std::string(text);
}

Tile::Tile(Type elementType, ArrayRef<int64_t> shape) : elementType(elementType), shape(shape) {
  size_t count = 1;
  for (int64_t size : shape)
    count *= size;
  bits.resize(count);
  defined.resize(count);
}

Tile Tile::scalar(Type elementType, const Element &element) {
  Tile tile(elementType, {});
  tile.set(0, element);
  return tile;
}

Element Tile::operator[](size_t position) const {
  if (!defined[position])
    return std::nullopt;
  return APInt(getWidth(elementType), bits[position], /*isSigned=*/false, /*implicitTrunc=*/false);
}

void Tile::set(size_t position, const Element &element) {
  defined[position] = element.has_value();
  bits[position] = element ? element->getZExtValue() : 0;
}

Tile Tile::withShape(ArrayRef<int64_t> newShape) const {
  Tile result = *this;
  result.shape.assign(newShape.begin(), newShape.end());
  return result;
}

void interpreter::forEachIndex(ArrayRef<int64_t> shape,
                               llvm::function_ref<void(ArrayRef<int64_t>, size_t)> function) {
  if (llvm::is_contained(shape, 0))
    return;
  SmallVector<int64_t, 4> index(shape.size(), 0);
  for (size_t position = 0;; ++position) {
    function(index, position);
    size_t dim = shape.size();
    while (dim > 0 && ++index[dim - 1] == shape[dim - 1])
      index[--dim] = 0;
    if (dim == 0)
      return;
  }
}

std::string interpreter::indexText(ArrayRef<int64_t> shape, size_t position) {
  if (shape.empty())
    return "";
  SmallVector<int64_t, 4> index(shape.size());
  for (size_t dim = shape.size(); dim-- > 0;) {
    index[dim] = position % shape[dim];
    position /= shape[dim];
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "[";
  llvm::interleaveComma(index, os);
  os << "]";
  return text;
}
