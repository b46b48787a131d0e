//===- BuilderBinding.cpp - The module builder as Python sees it -*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/extension/BuilderBinding.h"

#include "frontend/extension/Builder.h"

#include "passes/RaceAnalysis.h"

#include <pybind11/stl.h>

namespace py = pybind11;
using namespace mlir;

namespace wavetile {
namespace {

// Each names a thing inside a module that Python keeps alive along with it.
struct PyValue {
  Value value;
};
struct PyType {
  Type type;
};
struct PyAttribute {
  Attribute attribute;
};
struct PyLocation {
  Location location;
};
struct PyOperation {
  Operation *operation;
};

template <typename T> T unwrap(llvm::Expected<T> value) {
  if (!value)
    throw py::value_error(llvm::toString(value.takeError()));
  return *value;
}

void unwrap(llvm::Error error) {
  if (error)
    throw py::value_error(llvm::toString(std::move(error)));
}

/// The Python wrapper's class is compared, not tried: casts that fail cost an exception.
template <typename T> const T *dynCast(py::handle object) {
  return py::isinstance<T>(object) ? &py::cast<const T &>(object) : nullptr;
}

Attribute toAttribute(MLIRContext *context, py::handle object);

DictionaryAttr toDictionary(MLIRContext *context, const py::dict &dict) {
  SmallVector<NamedAttribute> entries;
  for (auto [key, value] : dict)
    entries.emplace_back(StringAttr::get(context, py::cast<std::string>(key)),
                         toAttribute(context, value));
  return DictionaryAttr::get(context, entries);
}

Attribute toArray(MLIRContext *context, const py::sequence &sequence) {
  bool integers = true;
  for (py::handle element : sequence)
    integers &= PyLong_CheckExact(element.ptr()) != 0;
  if (integers)
    return DenseI64ArrayAttr::get(context, py::cast<std::vector<int64_t>>(sequence));
  SmallVector<Attribute> elements;
  for (py::handle element : sequence)
    elements.push_back(toAttribute(context, element));
  return ArrayAttr::get(context, elements);
}

Attribute toAttribute(MLIRContext *context, py::handle object) {
  if (object.is_none())
    return UnitAttr::get(context);
  if (PyBool_Check(object.ptr()))
    return BoolAttr::get(context, object.ptr() == Py_True);
  if (PyLong_Check(object.ptr()))
    return IntegerAttr::get(IntegerType::get(context, 64), py::cast<int64_t>(object));
  if (PyUnicode_Check(object.ptr()))
    return StringAttr::get(context, py::cast<std::string>(object));
  if (PyDict_Check(object.ptr()))
    return toDictionary(context, py::reinterpret_borrow<py::dict>(object));
  if (PyList_Check(object.ptr()) || PyTuple_Check(object.ptr()))
    return toArray(context, py::reinterpret_borrow<py::sequence>(object));
  if (auto *attribute = dynCast<PyAttribute>(object))
    return attribute->attribute;
  if (auto *type = dynCast<PyType>(object))
    return TypeAttr::get(type->type);
  throw py::type_error("not an attribute: " + py::cast<std::string>(py::repr(object)));
}

TypedAttr toNumber(Type type, const py::object &number) {
  if (isa<FloatType>(type))
    return FloatAttr::get(type, py::cast<double>(number));
  if (isa<IntegerType, IndexType>(type)) {
    unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
    return IntegerAttr::get(type, APInt(width, py::cast<int64_t>(number), /*isSigned=*/true,
                                        /*implicitTrunc=*/true));
  }
  throw py::type_error("constants are integers or floats");
}

std::vector<Type> toTypes(const std::vector<PyType> &types) {
  std::vector<Type> result;
  for (const PyType &type : types)
    result.push_back(type.type);
  return result;
}

Operation *create(TileModule &module, const std::string &name, const py::sequence &operands,
                  const std::vector<PyType> &results, const py::dict &attributes,
                  const std::vector<std::vector<PyType>> &bodies) {
  SmallVector<SmallVector<Value>> groups;
  if (operands.size() > 0 && PyList_Check(py::object(operands[0]).ptr())) {
    for (py::handle group : operands) {
      auto &values = groups.emplace_back();
      for (py::handle value : py::reinterpret_borrow<py::sequence>(group))
        values.push_back(py::cast<const PyValue &>(value).value);
    }
  } else {
    auto &values = groups.emplace_back();
    for (py::handle value : operands)
      values.push_back(py::cast<const PyValue &>(value).value);
  }
  SmallVector<NamedAttribute> named;
  for (auto [key, value] : attributes)
    named.emplace_back(StringAttr::get(module.getContext(), py::cast<std::string>(key)),
                       toAttribute(module.getContext(), value));
  std::vector<std::vector<Type>> bodyArguments;
  for (const std::vector<PyType> &body : bodies)
    bodyArguments.push_back(toTypes(body));
  return module.create(name, groups, toTypes(results), named, bodyArguments);
}

template <typename Range> std::vector<PyValue> wrap(Range values) {
  std::vector<PyValue> result;
  for (Value value : values)
    result.push_back({value});
  return result;
}

template <typename T> std::string print(const T &thing) {
  std::string text;
  llvm::raw_string_ostream(text) << thing;
  return text;
}

/// File, line and column of an operation's own place.
py::tuple placeOf(mlir::Operation *op) {
  auto place = op->getLoc()->findInstanceOf<mlir::FileLineColLoc>();
  if (!place)
    return py::make_tuple("", 0, 0);
  return py::make_tuple(place.getFilename().str(), place.getLine(), place.getColumn());
}

py::list racesOf(mlir::ModuleOp module) {
  py::list result;
  for (tile::KernelOp kernel : module.getOps<tile::KernelOp>())
    for (const Race &race : findRaces(kernel))
      result.append(py::make_tuple(race.proved, race.tensor, race.dimension, placeOf(race.store),
                                   placeOf(race.other), llvm::isa<tile::StoreOp>(race.other)));
  return result;
}

} // namespace

void addBuilderBindings(py::module_ &module) {
  py::class_<PyType>(module, "Type").def("__str__", [](const PyType &t) { return print(t.type); });
  py::class_<PyAttribute>(module, "Attribute").def("__str__", [](const PyAttribute &a) {
    return print(a.attribute);
  });
  py::class_<PyLocation>(module, "Location").def("__str__", [](const PyLocation &l) {
    return print(l.location);
  });
  py::class_<PyValue>(module, "Value")
      .def("__str__", [](const PyValue &v) { return print(v.value); })
      .def_property_readonly("type", [](const PyValue &v) { return PyType{v.value.getType()}; });
  py::class_<PyOperation>(module, "Operation")
      .def_property_readonly("results",
                             [](const PyOperation &o) { return wrap(o.operation->getResults()); })
      .def_property_readonly(
          "arguments",
          [](const PyOperation &o) { return wrap(o.operation->getRegion(0).getArguments()); })
      .def("arguments_of", [](const PyOperation &o, unsigned region) {
        return wrap(o.operation->getRegion(region).getArguments());
      });

  using K = py::keep_alive<0, 1>;
  py::class_<TileModule>(module, "TileModule")
      .def(py::init<>())
      .def(
          "type",
          [](TileModule &m, const std::string &t) { return PyType{unwrap(m.parseType(t))}; }, K())
      .def(
          "attribute",
          [](TileModule &m, const std::string &t) {
            return PyAttribute{unwrap(m.parseAttribute(t))};
          },
          K())
      .def(
          "location",
          [](TileModule &m, const std::string &file, unsigned line, unsigned column) {
            return PyLocation{m.getFileLocation(file, line, column)};
          },
          K())
      .def(
          "call_location",
          [](TileModule &, PyLocation callee, PyLocation caller) {
            return PyLocation{CallSiteLoc::get(callee.location, caller.location)};
          },
          K())
      .def("set_location", [](TileModule &m, PyLocation l) { m.setLocation(l.location); })
      .def(
          "create",
          [](TileModule &m, const std::string &name, const py::sequence &operands,
             const std::vector<PyType> &results, const py::dict &attributes,
             const std::optional<std::vector<PyType>> &body,
             const std::vector<std::vector<PyType>> &bodies) {
            std::vector<std::vector<PyType>> all = bodies;
            if (body)
              all.push_back(*body);
            return PyOperation{create(m, name, operands, results, attributes, all)};
          },
          py::arg("name"), py::arg("operands"), py::arg("results"),
          py::arg("attributes") = py::dict(), py::arg("body") = py::none(),
          py::arg("bodies") = std::vector<std::vector<PyType>>(), K())
      .def(
          "value",
          [](TileModule &m, const std::string &name, const py::sequence &operands, PyType type,
             const py::dict &attributes) {
            return PyValue{create(m, name, operands, {type}, attributes, {})->getResult(0)};
          },
          py::arg("name"), py::arg("operands"), py::arg("type"), py::arg("attributes") = py::dict(),
          K())
      .def(
          "constant",
          [](TileModule &m, PyType type, const py::object &number) {
            return PyValue{m.createConstant(toNumber(type.type, number))};
          },
          K())
      .def(
          "with_results",
          [](TileModule &m, PyOperation o, const std::vector<PyType> &results) {
            return PyOperation{m.withResults(o.operation, toTypes(results))};
          },
          K())
      .def(
          "enter",
          [](TileModule &m, PyOperation o, unsigned region) { m.enter(o.operation, region); },
          py::arg("operation"), py::arg("region") = 0)
      .def("enter_before_loops", &TileModule::enterBeforeLoops)
      .def("is_before_loops", [](TileModule &m, PyValue v) { return m.isBeforeLoops(v.value); })
      .def("leave", &TileModule::leave)
      .def("set_attribute",
           [](TileModule &m, const std::string &name, const py::object &value) {
             m.getModule()->setAttr(name, toAttribute(m.getContext(), value));
           })
      .def("verify", [](TileModule &m) { unwrap(m.verify()); })
      .def("races", [](TileModule &m) { return racesOf(m.getModule()); })
      .def("str", &TileModule::str, py::arg("locations") = false)
      .def("__str__", [](TileModule &m) { return m.str(false); });
}

} // namespace wavetile
