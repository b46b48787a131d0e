//===- LauncherObject.cpp - The Python type Launcher ----------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/extension/LauncherObject.h"

#include "frontend/extension/Region.h"

#include <cstddef>
#include <new>
#include <pybind11/stl.h>
#include <structmember.h>

namespace py = pybind11;
using namespace wavetile;

namespace {

struct LauncherObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  Region *region;
};

LauncherObject *launcherOf(PyObject *self) { return reinterpret_cast<LauncherObject *>(self); }

/// Runs `function`, whose C++ exceptions become Python's here, at the only way into this file.
template <typename Function> PyObject *guarded(Function function) {
  try {
    return function();
  } catch (py::error_already_set &error) {
    error.restore();
  } catch (const py::builtin_exception &error) {
    error.set_error();
  } catch (const std::bad_alloc &) {
    PyErr_NoMemory();
  }
  return nullptr;
}

PyObject *none() { return Py_NewRef(Py_None); }

PyObject *call(PyObject *self, PyObject *const *values, size_t count, PyObject *keywords) {
  return guarded([&]() -> PyObject * {
    if (keywords && PyTuple_GET_SIZE(keywords) != 0) {
      PyErr_SetString(PyExc_TypeError, "a launcher takes its values by position");
      return nullptr;
    }
    launcherOf(self)->region->call({values, static_cast<size_t>(PyVectorcall_NARGS(count))});
    return none();
  });
}

//===----------------------------------------------------------------------===//
// Making and ending
//===----------------------------------------------------------------------===//

DeclaredKind parseKind(const std::string &text) {
  static constexpr const char *names[] = {"value", "tensor", "integer",
                                          "float", "bool",   "constexpr"};
  for (size_t index = 0; index < std::size(names); ++index)
    if (text == names[index])
      return static_cast<DeclaredKind>(index);
  throw py::value_error("no kind of parameter is called '" + text + "'");
}

std::vector<RegionParameter> parseParameters(py::handle names, py::handle kinds) {
  auto nameList = names.cast<std::vector<std::string>>();
  auto kindList = kinds.cast<std::vector<std::string>>();
  if (nameList.size() != kindList.size())
    throw py::value_error("parameter_names and parameter_kinds differ in length");
  std::vector<RegionParameter> parameters;
  for (size_t index = 0; index < nameList.size(); ++index)
    parameters.push_back({nameList[index], parseKind(kindList[index]), {}, 0});
  return parameters;
}

PyObject *create(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  static const char *names[] = {"name",    "parameter_names", "parameter_kinds", "compile",
                                "devices", "errors",          "target",          nullptr};
  PyObject *name, *parameterNames, *parameterKinds, *compile, *devices, *errors;
  const char *target = nullptr;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "UOOOOO|z:Launcher",
                                   const_cast<char **>(names), &name, &parameterNames,
                                   &parameterKinds, &compile, &devices, &errors, &target))
    return nullptr;
  return guarded([&]() -> PyObject * {
    auto borrow = [](PyObject *object) { return py::reinterpret_borrow<py::object>(object); };
    auto region = std::make_unique<Region>(
        py::handle(name).cast<std::string>(), parseParameters(parameterNames, parameterKinds),
        borrow(compile), borrow(devices), borrow(errors), target ? target : "");
    auto *self = reinterpret_cast<LauncherObject *>(type->tp_alloc(type, 0));
    if (!self)
      return nullptr;
    self->vectorcall = call;
    self->region = region.release();
    return reinterpret_cast<PyObject *>(self);
  });
}

int traverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Region *region = launcherOf(self)->region;
  return region ? region->traverse(visit, arg) : 0;
}

int clear(PyObject *self) {
  if (Region *region = launcherOf(self)->region)
    region->clear();
  return 0;
}

void destroy(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  delete launcherOf(self)->region;
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject *represent(PyObject *self) {
  return PyUnicode_FromFormat("<wavetile launcher of %s>",
                              launcherOf(self)->region->getName().c_str());
}

//===----------------------------------------------------------------------===//
// Methods
//===----------------------------------------------------------------------===//

PyObject *specialise(PyObject *self, PyObject *const *values, Py_ssize_t count) {
  return guarded([&] {
    return py::cast(launcherOf(self)->region->specialise({values, static_cast<size_t>(count)}))
        .release()
        .ptr();
  });
}

PyObject *integers(PyObject *self, PyObject *const *values, Py_ssize_t count) {
  return guarded([&] {
    return py::tuple(
               py::cast(launcherOf(self)->region->integers({values, static_cast<size_t>(count)})))
        .release()
        .ptr();
  });
}

PyObject *run(PyObject *self, PyObject *const *values, Py_ssize_t count) {
  return guarded([&]() -> PyObject * {
    if (count == 0) {
      PyErr_SetString(PyExc_TypeError, "run() needs the kernel before the values");
      return nullptr;
    }
    launcherOf(self)->region->run(py::handle(values[0]).cast<std::shared_ptr<CompiledKernel>>(),
                                  {values + 1, static_cast<size_t>(count - 1)});
    return none();
  });
}

PyObject *add(PyObject *self, PyObject *arguments) {
  PyObject *specialisation, *kernel;
  if (!PyArg_ParseTuple(arguments, "OO:add", &specialisation, &kernel))
    return nullptr;
  return guarded([&] {
    launcherOf(self)->region->add(py::handle(specialisation).cast<const SpecialisationView &>(),
                                  py::handle(kernel).cast<std::shared_ptr<CompiledKernel>>());
    return none();
  });
}

PyObject *variants(PyObject *self, PyObject *specialisation) {
  return guarded([&] {
    const auto &view = py::handle(specialisation).cast<const SpecialisationView &>();
    return py::cast(launcherOf(self)->region->variants(view)).release().ptr();
  });
}

PyObject *specialisations(PyObject *self, PyObject *) {
  return guarded(
      [&] { return py::cast(launcherOf(self)->region->specialisations()).release().ptr(); });
}

PyObject *getName(PyObject *self, void *) {
  return guarded([&] { return py::cast(launcherOf(self)->region->getName()).release().ptr(); });
}

PyObject *getParameterNames(PyObject *self, void *) {
  return guarded([&] {
    std::vector<std::string> names;
    for (const RegionParameter &parameter : launcherOf(self)->region->getParameters())
      names.push_back(parameter.name);
    return py::cast(names).release().ptr();
  });
}

template <typename Function> PyCFunction fastcall(Function *function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

} // namespace

py::object wavetile::makeLauncherType() {
  static PyMethodDef methods[] = {
      {"specialise", fastcall(specialise), METH_FASTCALL,
       "specialise(*values)\n--\n\nWhat code for such a call may rely on; nothing is compiled."},
      {"integers", fastcall(integers), METH_FASTCALL,
       "integers(*values)\n--\n\nThe numbers that such a call binds, in a plan's order."},
      {"run", fastcall(run), METH_FASTCALL,
       "run(kernel, *values)\n--\n\nLaunches exactly this kernel."},
      {"add", add, METH_VARARGS,
       "add(specialisation, kernel)\n--\n\nOne more variant, tried after those before it."},
      {"variants", variants, METH_O,
       "variants(specialisation)\n--\n\nThe kernels in the order in which they are tried."},
      {"specialisations", specialisations, METH_NOARGS,
       "specialisations()\n--\n\nThose that have a variant."},
      {nullptr, nullptr, 0, nullptr}};
  static PyGetSetDef properties[] = {
      {"name", getName, nullptr, "Name of the region.", nullptr},
      {"parameter_names", getParameterNames, nullptr, "Names of its parameters.", nullptr},
      {nullptr, nullptr, nullptr, nullptr, nullptr}};
  static PyMemberDef members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(LauncherObject, vectorcall), READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr}};
  static PyType_Slot slots[] = {
      {Py_tp_doc, const_cast<char *>("The callable of one region of device code.")},
      {Py_tp_new, reinterpret_cast<void *>(create)},
      {Py_tp_dealloc, reinterpret_cast<void *>(destroy)},
      {Py_tp_traverse, reinterpret_cast<void *>(traverse)},
      {Py_tp_clear, reinterpret_cast<void *>(clear)},
      {Py_tp_repr, reinterpret_cast<void *>(represent)},
      {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
      {Py_tp_methods, methods},
      {Py_tp_getset, properties},
      {Py_tp_members, members},
      {0, nullptr}};
  static PyType_Spec spec = {"wavetile._C.Launcher", sizeof(LauncherObject), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
                             slots};
  auto type = py::reinterpret_steal<py::object>(PyType_FromSpec(&spec));
  if (!type)
    throw py::error_already_set();
  return type;
}
