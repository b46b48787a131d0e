//===- ConstantTable.h - Numbers for the constants of a region --*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gives each constant value that a region was called with a number, so that keys
// hold numbers in place of Python objects. Equal means: of the same type and ==,
// through tuples too, so that 1, 1.0 and True differ; floats are equal if their
// bits are, so that 0.0 and -0.0 differ and a NaN is itself.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_FRONTEND_EXTENSION_CONSTANTTABLE_H
#define WAVETILE_FRONTEND_EXTENSION_CONSTANTTABLE_H

#include <cstdint>
#include <pybind11/pybind11.h>
#include <vector>

namespace wavetile {

class ConstantTable {
public:
  /// Throws error_already_set, with a TypeError if the value is not hashable.
  uint32_t numberOf(pybind11::handle value);
  pybind11::object valueOf(uint32_t number) const { return values[number]; }

  int traverse(visitproc visit, void *argument) const;
  void clear();

private:
  pybind11::object numbers; // dict, made when first needed
  std::vector<pybind11::object> values;
};

} // namespace wavetile

#endif // WAVETILE_FRONTEND_EXTENSION_CONSTANTTABLE_H
