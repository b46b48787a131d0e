//===- Values.h - What operands are while a kernel runs ---------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles hold the bits of each element and whether it has a value; a scalar is a
// tile without dimensions. Tiles are never changed once made.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_PASSES_INTERPRETER_VALUES_H
#define WAVETILE_PASSES_INTERPRETER_VALUES_H

#include "passes/interpreter/Memory.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"

#include <memory>
#include <optional>
#include <variant>

namespace wavetile::interpreter {

/// The bits of an element, or nothing if it has no value.
using Element = std::optional<llvm::APInt>;

/// The width in bits of an element type: 64 for `index`.
unsigned getWidth(mlir::Type elementType);

llvm::APFloat toFloat(mlir::Type type, const llvm::APInt &bits);
llvm::APInt toBits(mlir::TypedAttr value);

/// An element for a message: `1.5`, `-3`, or `no value`.
std::string toString(mlir::Type type, const Element &element);

class Tile {
public:
  /// A tile whose elements have no value yet.
  Tile(mlir::Type elementType, llvm::ArrayRef<int64_t> shape);

  static Tile scalar(mlir::Type elementType, const Element &element);

  mlir::Type getElementType() const { return elementType; }
  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  size_t size() const { return bits.size(); }

  Element operator[](size_t position) const;
  void set(size_t position, const Element &element);

  /// The operation whose result has no value although it might have been meant to,
  /// for a note of the error where such an element is used.
  mlir::Operation *getCulprit() const { return culprit; }
  void setCulprit(mlir::Operation *op) { culprit = op; }

  /// This tile with the same elements, in the same order, in another shape.
  Tile withShape(llvm::ArrayRef<int64_t> newShape) const;

private:
  mlir::Type elementType;
  llvm::SmallVector<int64_t, 4> shape;
  std::vector<uint64_t> bits;
  std::vector<bool> defined;
  mlir::Operation *culprit = nullptr;
};

/// Calls `function(index, position)` for each element in row-major order.
void forEachIndex(llvm::ArrayRef<int64_t> shape,
                  llvm::function_ref<void(llvm::ArrayRef<int64_t>, size_t)> function);

/// "[1, 2]", or "" for a scalar.
std::string indexText(llvm::ArrayRef<int64_t> shape, size_t position);

struct Pointer {
  Allocation *allocation;
  /// What is known of the address: a number of bytes that divides it.
  uint64_t alignment;
};

struct View {
  Pointer pointer;
  mlir::Type elementType;
  llvm::SmallVector<int64_t, 4> sizes, strides;
};

/// A staging buffer, one tile for each of its buffers. Waves see what others wrote,
/// and may overwrite what others read, only after a barrier.
struct Staging {
  struct Buffer {
    std::shared_ptr<const Tile> tile;
    mlir::Operation *writtenSinceBarrier = nullptr, *readSinceBarrier = nullptr;
  };
  std::vector<Buffer> buffers;
};

using RuntimeValue =
    std::variant<std::shared_ptr<const Tile>, Pointer, View, std::shared_ptr<Staging>>;

} // namespace wavetile::interpreter

#endif // WAVETILE_PASSES_INTERPRETER_VALUES_H
