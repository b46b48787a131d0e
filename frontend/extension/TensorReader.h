//===- TensorReader.h - Tensors as a launch needs them ----------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads PyTorch tensors through the table of C functions that their type offers,
// without an allocation. Tensors whose memory does not hold their values as they
// are (lazily negated or conjugated views) and tensors without memory are refused.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_FRONTEND_EXTENSION_TENSORREADER_H
#define WAVETILE_FRONTEND_EXTENSION_TENSORREADER_H

#include "frontend/extension/DLPack.h"
#include "runtime/Specialisation.h"

#include <array>
#include <deque>
#include <pybind11/pybind11.h>
#include <vector>

namespace wavetile {

/// What is known of a Python type: whether its objects are tensors, and how to read them.
struct TensorType {
  pybind11::object type;
  const DLPackExchangeApi *api = nullptr; // null: not a tensor
  pybind11::object isNegated;             // the unbound methods; null if it has none
  pybind11::object isConjugated;
};

/// Remembers the last few types: a call often alternates between Tensor and Parameter.
class TensorTypes {
public:
  /// The entry of an object's type, valid until the next call.
  const TensorType &of(PyObject *object);

  int traverse(visitproc visit, void *argument) const;
  void clear() { entries = {}; }

private:
  std::array<TensorType, 4> entries;
  size_t next = 0;
};

/// Sizes and strides of tensors that have no memory which could hold them.
using ShapeStorage = std::deque<std::vector<int64_t>>;

enum class TensorProblem : uint8_t {
  None,
  Negated,
  Conjugated,
  NoMemory, // meta and fake tensors
  NotDense, // sparse and other tensors that are no array in memory; a Python exception is set
};

/// Reads `object`, whose type is `type`. `argument.name` is left alone.
/// Throws pybind11::error_already_set if a method of the tensor raises.
TensorProblem readTensor(PyObject *object, const TensorType &type, TensorArgument &argument,
                         DLPackDevice &device);

/// Reads dtype, sizes and strides by way of Python attributes; the address is null. For tensors
/// without memory. Throws pybind11::error_already_set.
void readShape(PyObject *object, const TensorType &type, TensorArgument &argument,
               ShapeStorage &storage);

} // namespace wavetile

#endif // WAVETILE_FRONTEND_EXTENSION_TENSORREADER_H
