//===- BuilderBinding.h - The module builder as Python sees it --*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Adds to the extension module:
//
//   TileModule()                        see Builder.h
//     .type(text) -> Type, .attribute(text) -> Attribute     ValueError if not valid
//     .location(file, line, column) -> Location
//     .call_location(callee, caller) -> Location
//     .set_location(location)           of the operations made from now on
//     .create(name, operands, result_types, attributes={}, body=None) -> Operation
//         operands: values, or lists of values for an operation that takes several
//         groups. attributes: see below. body: types of the arguments of its block.
//     .value(...) -> Value              create, then its only result
//     .constant(type, number) -> Value  arith.constant of an integer or float type
//     .enter(operation), .leave()       build inside its body, and back
//     .set_attribute(name, value)       an attribute of the module
//     .verify()                         ValueError with every diagnostic
//     .races() -> [(proved, tensor, dimension, (file, line, column) of the store, the
//         same of the other access, whether that is a store too)]   see RaceAnalysis.h
//     .str(locations=False)
//   Operation: .results, .arguments (lists of Value)
//   Value, Type: str()
//
// Attribute values: Attribute, Type; bool, int (i64) and str; None (unit); a list of
// ints (array<i64>), of anything else (an array); a dict.
//
// Values and operations are valid while their module lives, which they keep alive.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_FRONTEND_EXTENSION_BUILDERBINDING_H
#define WAVETILE_FRONTEND_EXTENSION_BUILDERBINDING_H

#include <pybind11/pybind11.h>

namespace wavetile {

void addBuilderBindings(pybind11::module_ &module);

} // namespace wavetile

#endif // WAVETILE_FRONTEND_EXTENSION_BUILDERBINDING_H
