//===- ConstantTable.cpp - Numbers for the constants of a region ----------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/extension/ConstantTable.h"

#include <bit>

namespace py = pybind11;
using namespace wavetile;

/// An object that is equal exactly to those of values that count as equal.
static py::object keyOf(py::handle value) {
  py::object type = py::type::of(value);
  if (PyFloat_CheckExact(value.ptr()))
    return py::make_tuple(type, std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(value.ptr())));
  if (!PyTuple_CheckExact(value.ptr()))
    return py::make_tuple(type, value);
  py::tuple elements = py::reinterpret_borrow<py::tuple>(value);
  py::tuple keys(elements.size());
  for (size_t index = 0; index < elements.size(); ++index)
    keys[index] = keyOf(elements[index]);
  return py::make_tuple(type, keys);
}

uint32_t ConstantTable::numberOf(py::handle value) {
  if (!numbers)
    numbers = py::dict();
  py::object key = keyOf(value);
  if (PyObject *known = PyDict_GetItemWithError(numbers.ptr(), key.ptr()))
    return py::handle(known).cast<uint32_t>();
  if (PyErr_Occurred())
    throw py::error_already_set();
  auto number = static_cast<uint32_t>(values.size());
  if (PyDict_SetItem(numbers.ptr(), key.ptr(), py::int_(number).ptr()) != 0)
    throw py::error_already_set();
  values.push_back(py::reinterpret_borrow<py::object>(value));
  return number;
}

int ConstantTable::traverse(visitproc visit, void *arg) const {
  Py_VISIT(numbers.ptr());
  for (const py::object &value : values)
    Py_VISIT(value.ptr());
  return 0;
}

void ConstantTable::clear() {
  numbers = py::object();
  values.clear();
}
