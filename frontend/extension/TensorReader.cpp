//===- TensorReader.cpp - Tensors as a launch needs them ------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/extension/TensorReader.h"

#include <algorithm>

namespace py = pybind11;
using namespace wavetile;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// The table of a type, or null if it has none that can be read.
static const DLPackExchangeApi *exchangeApiOf(py::handle type) {
  py::object capsule = py::getattr(type, dlpackAttribute, py::none());
  if (!PyCapsule_IsValid(capsule.ptr(), dlpackCapsule))
    return nullptr;
  auto *api =
      static_cast<const DLPackExchangeApi *>(PyCapsule_GetPointer(capsule.ptr(), dlpackCapsule));
  while (api && api->major != dlpackMajor)
    api = api->previous;
  return api && api->view && api->currentStream ? api : nullptr;
}

const TensorType &TensorTypes::of(PyObject *object) {
  auto *type = reinterpret_cast<PyObject *>(Py_TYPE(object));
  for (const TensorType &entry : entries)
    if (entry.type.ptr() == type)
      return entry;
  TensorType entry;
  entry.type = py::reinterpret_borrow<py::object>(type);
  entry.api = exchangeApiOf(entry.type);
  if (entry.api) {
    entry.isNegated = py::getattr(entry.type, "is_neg", py::object());
    entry.isConjugated = py::getattr(entry.type, "is_conj", py::object());
  }
  TensorType &slot = entries[next];
  next = (next + 1) % entries.size();
  slot = std::move(entry);
  return slot;
}

int TensorTypes::traverse(visitproc visit, void *arg) const {
  for (const TensorType &entry : entries) {
    Py_VISIT(entry.type.ptr());
    Py_VISIT(entry.isNegated.ptr());
    Py_VISIT(entry.isConjugated.ptr());
  }
  return 0;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// Calls a method without arguments that gives a bool.
static bool ask(py::handle method, PyObject *object) {
  PyObject *arguments[] = {object};
  py::object answer =
      py::reinterpret_steal<py::object>(PyObject_Vectorcall(method.ptr(), arguments, 1, nullptr));
  if (!answer)
    throw py::error_already_set();
  return answer.ptr() == Py_True;
}

static bool hasElements(const DLPackTensor &tensor) {
  return std::find(tensor.sizes, tensor.sizes + tensor.rank, 0) == tensor.sizes + tensor.rank;
}

static DataType typeOf(const DLPackTensor &tensor) {
  return {tensor.type.code, tensor.type.bits, tensor.type.lanes};
}

TensorProblem wavetile::readTensor(PyObject *object, const TensorType &type,
                                   TensorArgument &argument, DLPackDevice &device) {
  DLPackTensor tensor;
  if (type.api->view(object, &tensor) != 0) {
    bool meta = false;
    {
      py::error_scope original; // asking must not replace it
      meta = py::getattr(object, "is_meta", py::none()).ptr() == Py_True;
    }
    if (!meta)
      return TensorProblem::NotDense;
    PyErr_Clear();
    return TensorProblem::NoMemory;
  }
  // DLPack has no word for a view that its library computes lazily, and hands out its memory.
  // Both questions cost a call of a Python method; nothing cheaper is exact.
  if (typeOf(tensor).isComplex() && type.isConjugated && ask(type.isConjugated, object))
    return TensorProblem::Conjugated;
  if (type.isNegated && ask(type.isNegated, object))
    return TensorProblem::Negated;
  if (!tensor.data && hasElements(tensor))
    return TensorProblem::NoMemory;
  argument.data = static_cast<const char *>(tensor.data) + tensor.byteOffset;
  argument.type = typeOf(tensor);
  argument.rank = tensor.rank;
  argument.sizes = tensor.sizes;
  argument.strides = tensor.strides;
  device = tensor.device;
  return TensorProblem::None;
}

/// The numbers of a tuple of integers, kept in `storage`.
static const int64_t *keep(py::handle tuple, ShapeStorage &storage) {
  std::vector<int64_t> &numbers = storage.emplace_back();
  for (py::handle number : tuple)
    numbers.push_back(number.cast<int64_t>());
  return numbers.data();
}

void wavetile::readShape(PyObject *object, const TensorType &type, TensorArgument &argument,
                         ShapeStorage &storage) {
  py::handle tensor(object);
  py::object shape = tensor.attr("shape");
  argument.data = nullptr;
  argument.rank = static_cast<int32_t>(py::len(shape));
  argument.sizes = keep(shape, storage);
  argument.strides = keep(tensor.attr("stride")(), storage);
  // The same element type with memory behind it, for DLPack's numbers.
  py::object sample = tensor.attr("new_empty")(py::make_tuple(0), py::arg("device") = "cpu");
  DLPackTensor view;
  if (type.api->view(sample.ptr(), &view) != 0)
    throw py::error_already_set();
  argument.type = typeOf(view);
}
