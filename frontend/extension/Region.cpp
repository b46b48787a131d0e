//===- Region.cpp - One region, called from Python ------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/extension/Region.h"

#include <pybind11/stl.h>

namespace py = pybind11;
using namespace wavetile;

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

static const char *classOf(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::Argument:
    return "ArgumentError";
  case ErrorKind::Launch:
    return "LaunchError";
  case ErrorKind::NoDevice:
    return "DeviceNotFoundError";
  case ErrorKind::Device:
    return "DeviceError";
  }
  return "DeviceError";
}

void wavetile::raise(py::handle errors, const std::string &region, const Status &status) {
  const ErrorInfo &info = status.get();
  py::object type = errors.attr(classOf(info.kind));
  py::object exception = type(region + ": " + info.message);
  if (info.kind == ErrorKind::Device) {
    exception.attr("hip_error") = info.hipError;
    exception.attr("report") = info.report;
  }
  PyErr_SetObject(type.ptr(), exception.ptr());
  throw py::error_already_set();
}

void Region::fail(const RegionParameter &parameter, const std::string &problem) const {
  raise(errors, name,
        Status::error(ErrorKind::Argument, "parameter '" + parameter.name + "' " + problem));
}

static std::string typeName(PyObject *value) { return Py_TYPE(value)->tp_name; }

/// "cpu", "hip:1", or DLPack's number.
static std::string str(const DLPackDevice &device) {
  switch (static_cast<TensorDevice>(device.type)) {
  case TensorDevice::Cpu:
    return "the CPU";
  case TensorDevice::Rocm:
    return "GPU " + std::to_string(device.ordinal);
  default:
    return "device " + std::to_string(device.ordinal) + " of DLPack type " +
           std::to_string(device.type);
  }
}

//===----------------------------------------------------------------------===//
// Reading values
//===----------------------------------------------------------------------===//

Region::Region(std::string name, std::vector<RegionParameter> parameters, py::object compile,
               py::object devices, py::object errors, std::string target)
    : name(std::move(name)), parameters(std::move(parameters)), compile(std::move(compile)),
      devicesObject(std::move(devices)), devices(devicesObject.cast<Devices *>()),
      errors(std::move(errors)), target(std::move(target)),
      takesApart(py::hasattr(this->compile, "call_structured")) {}

void Region::addTensor(RegionParameter &parameter, PyObject *value, const TensorType &type,
                       CallArguments &arguments, Placement &placement, ShapeStorage *shapes) {
  const DLPackExchangeApi *api = type.api;
  TensorArgument tensor;
  tensor.name = parameter.name.c_str();
  DLPackDevice device = {0, 0};
  switch (readTensor(value, type, tensor, device)) {
  case TensorProblem::None:
    break;
  case TensorProblem::Negated:
    fail(parameter, "is a view that is negated when read; pass x.resolve_neg()");
  case TensorProblem::Conjugated:
    fail(parameter, "is a view that is conjugated when read; pass x.resolve_conj()");
  case TensorProblem::NoMemory:
    if (!shapes)
      fail(parameter, "is a tensor without memory (meta or fake), on which nothing can run; "
                      "bind() accepts it");
    readShape(value, type, tensor, *shapes);
    arguments.addTensor(tensor);
    return;
  case TensorProblem::NotDense: {
    // PyTorch's words are kept as the cause.
    py::error_already_set cause;
    py::raise_from(cause, errors.attr("ArgumentError").ptr(),
                   (name + ": parameter '" + parameter.name + "' is not an array in memory (a " +
                    typeName(value) +
                    " that PyTorch does not export); pass a dense tensor, or where "
                    "PyTorch traces call an operator that "
                    "wavetile.torch_op makes of the kernel")
                       .c_str());
    throw py::error_already_set();
  }
  }
  if (!placement.api)
    placement = {api, device, &parameter};
  else if (placement.device != device)
    fail(parameter, "is on " + str(device) + ", but '" + placement.parameter->name + "' is on " +
                        str(placement.device) + "; a kernel runs where all its tensors are");
  arguments.addTensor(tensor);
}

/// Ends a failed conversion: a TypeError means that the value is of another kind, and anything
/// else is the value's own.
static bool notConvertible() {
  if (!PyErr_ExceptionMatches(PyExc_TypeError))
    throw py::error_already_set();
  PyErr_Clear();
  return false;
}

bool Region::addInteger(RegionParameter &parameter, PyObject *value, CallArguments &arguments) {
  py::object index = py::reinterpret_steal<py::object>(PyNumber_Index(value));
  if (!index)
    return notConvertible();
  int overflow = 0;
  int64_t number = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (overflow)
    fail(parameter, "is " + py::str(index).cast<std::string>() + ", which does not fit 64 bits");
  arguments.addInteger(number);
  return true;
}

static bool addFloat(PyObject *value, CallArguments &arguments) {
  double number = PyFloat_AsDouble(value);
  if (number == -1.0 && PyErr_Occurred())
    return notConvertible();
  arguments.addFloat(number);
  return true;
}

bool Region::isStructured(PyObject *value) {
  // The usual types first.
  if (PyLong_CheckExact(value) || PyFloat_CheckExact(value) || types.of(value).api)
    return false;
  if (PyFunction_Check(value) || PyList_Check(value) || PyDict_Check(value))
    return true;
  if (PyTuple_Check(value)) {
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(value); ++index) {
      PyObject *element = PyTuple_GET_ITEM(value, index);
      if (types.of(element).api || isStructured(element))
        return true;
    }
    return false;
  }
  return PyObject_HasAttrString(reinterpret_cast<PyObject *>(Py_TYPE(value)),
                                "__dataclass_fields__") == 1;
}

void Region::callStructured(Values values) {
  py::tuple arguments(values.size());
  for (size_t index = 0; index < values.size(); ++index)
    arguments[index] = py::reinterpret_borrow<py::object>(values[index]);
  compile.attr("call_structured")(*arguments);
}

void Region::addConstant(RegionParameter &parameter, PyObject *value, CallArguments &arguments) {
  if (parameter.lastConstant.ptr() != value) {
    if (PyObject_Hash(value) == -1) {
      PyErr_Clear();
      fail(parameter, "is a " + typeName(value) +
                          ", neither a tensor nor a number, and not a constant either since it "
                          "has no hash; pass a tensor, or a tuple instead of a list");
    }
    parameter.lastNumber = constants.numberOf(value);
    parameter.lastConstant = py::reinterpret_borrow<py::object>(value);
  }
  arguments.addConstant(parameter.lastNumber);
}

void Region::readValue(RegionParameter &parameter, PyObject *value, CallArguments &arguments,
                       Placement &placement, ShapeStorage *shapes) {
  DeclaredKind declared = parameter.declared;
  bool any = declared == DeclaredKind::Value;
  if (declared == DeclaredKind::Constexpr)
    return addConstant(parameter, value, arguments);
  // The usual types first: all of them are told by one comparison.
  if (any || declared == DeclaredKind::Tensor) {
    if (!PyLong_CheckExact(value) && !PyFloat_CheckExact(value) && !PyBool_Check(value)) {
      const TensorType &type = types.of(value);
      if (type.api)
        return addTensor(parameter, value, type, arguments, placement, shapes);
    }
    if (!any)
      fail(parameter, "must be a tensor, not " + typeName(value));
  }
  if (PyBool_Check(value)) {
    if (any || declared == DeclaredKind::Bool)
      return arguments.addBool(value == Py_True);
    if (declared == DeclaredKind::Integer)
      return arguments.addInteger(value == Py_True);
  }
  if (PyFloat_Check(value) && (any || declared == DeclaredKind::Float))
    return arguments.addFloat(PyFloat_AS_DOUBLE(value));
  // A tensor has __index__ and __float__, but they wait for the GPU.
  if (any || !types.of(value).api) {
    bool index = PyIndex_Check(value);
    bool number = index || (Py_TYPE(value)->tp_as_number && Py_TYPE(value)->tp_as_number->nb_float);
    if (index && (any || declared == DeclaredKind::Integer))
      if (addInteger(parameter, value, arguments))
        return;
    if (number && (any || declared == DeclaredKind::Float))
      if (addFloat(value, arguments))
        return;
  }
  if (any)
    return addConstant(parameter, value, arguments);
  const char *wanted = declared == DeclaredKind::Integer ? "an integer"
                       : declared == DeclaredKind::Bool  ? "a bool"
                                                         : "a number";
  fail(parameter, std::string("must be ") + wanted + ", not " + typeName(value));
}

void Region::read(Values values, CallArguments &arguments, Placement &placement,
                  ShapeStorage *shapes) {
  if (!tryRead(values, arguments, placement, shapes))
    raise(errors, name,
          Status::error(ErrorKind::Argument, "a value must be taken apart before this"));
}

bool Region::tryRead(Values values, CallArguments &arguments, Placement &placement,
                     ShapeStorage *shapes) {
  if (values.size() != parameters.size()) {
    std::string expected = std::to_string(parameters.size());
    raise(errors, name,
          Status::error(ErrorKind::Argument,
                        "takes " + expected + " values, not " + std::to_string(values.size())));
  }
  for (size_t index = 0; index < values.size(); ++index) {
    if (takesApart && parameters[index].declared == DeclaredKind::Value &&
        isStructured(values[index]))
      return false;
    readValue(parameters[index], values[index], arguments, placement, shapes);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

std::shared_ptr<Device> Region::deviceOf(const Placement &placement) {
  std::shared_ptr<Device> device;
  if (!placement.api) {
    check(devices->byDefault(target, device));
    return device;
  }
  if (lastDevice && lastPlace == placement.device)
    return lastDevice;
  check(devices->forTensor(placement.device.type, placement.device.ordinal, target, device));
  lastPlace = placement.device;
  lastDevice = device;
  return device;
}

HipStream Region::streamOf(const Placement &placement) {
  HipStream stream = nullptr;
  if (placement.api &&
      placement.api->currentStream(placement.device.type, placement.device.ordinal, &stream) != 0)
    throw py::error_already_set();
  return stream;
}

void Region::launch(CompiledKernel &kernel, const std::shared_ptr<Device> &device, HipStream stream,
                    const CallArguments &arguments, PreparedLaunch &prepared) {
  Status status;
  if (device->kind() == DeviceKind::Software) {
    devices->announce(*device);
    py::gil_scoped_release release; // it runs the kernel here and now
    status = kernel.launch(device, stream, arguments, prepared);
  } else {
    status = kernel.launch(device, stream, arguments, prepared);
  }
  check(status);
}

void Region::compileFor(const CallArguments &arguments) {
  std::string key(arguments.key());
  py::tuple integers =
      py::cast(std::vector<int64_t>(arguments.integers().begin(), arguments.integers().end()));
  py::object result = compile(view(key), integers);
  auto append = [&](py::handle kernel) {
    if (!py::isinstance<CompiledKernel>(kernel))
      throw py::type_error(name + ": compile() must return a CompiledKernel or several, not " +
                           typeName(kernel.ptr()));
    check(launcher.add(key, kernel.cast<std::shared_ptr<CompiledKernel>>()));
  };
  if (!py::isinstance<py::list>(result) && !py::isinstance<py::tuple>(result))
    return append(result);
  for (py::handle kernel : result)
    append(kernel);
}

void Region::call(Values values) {
  CallArguments arguments;
  Placement placement;
  if (!tryRead(values, arguments, placement, nullptr))
    return callStructured(values);
  std::shared_ptr<Device> device = deviceOf(placement);
  HipStream stream = streamOf(placement);
  arguments.finish(*device);

  PreparedLaunch prepared;
  std::shared_ptr<CompiledKernel> kernel;
  check(launcher.select(arguments, *device, prepared, kernel));
  if (!kernel) {
    compileFor(arguments);
    check(launcher.select(arguments, *device, prepared, kernel));
  }
  if (!kernel)
    raise(errors, name,
          Status::error(ErrorKind::Launch, "nothing that was compiled serves this call\n" +
                                               launcher.explain(arguments, *device)));
  launch(*kernel, device, stream, arguments, prepared);
}

void Region::run(const std::shared_ptr<CompiledKernel> &kernel, Values values) {
  CallArguments arguments;
  Placement placement;
  read(values, arguments, placement, nullptr);
  std::shared_ptr<Device> device = deviceOf(placement);
  HipStream stream = streamOf(placement);
  arguments.finish(*device);

  // A launcher of its own checks the plan against the call as every other way does.
  Launcher single;
  check(single.add(arguments.key(), kernel));
  PreparedLaunch prepared;
  std::shared_ptr<CompiledKernel> chosen;
  check(single.select(arguments, *device, prepared, chosen));
  if (!chosen)
    raise(errors, name, Status::error(ErrorKind::Launch, single.explain(arguments, *device)));
  launch(*chosen, device, stream, arguments, prepared);
}

//===----------------------------------------------------------------------===//
// Specialisations
//===----------------------------------------------------------------------===//

std::shared_ptr<SpecialisationView> Region::view(std::string_view key) const {
  auto result = std::make_shared<SpecialisationView>();
  result->facts = Specialisation::decode(key);
  for (size_t index = 0; index < parameters.size(); ++index) {
    const ParameterFacts &facts = result->facts.parameters[index];
    result->names.push_back(parameters[index].name);
    result->constants.push_back(
        facts.kind == ParameterKind::Constant ? constants.valueOf(facts.index) : py::object());
  }
  return result;
}

std::shared_ptr<SpecialisationView> Region::specialise(Values values) {
  CallArguments arguments;
  Placement placement;
  ShapeStorage shapes;
  read(values, arguments, placement, &shapes);
  arguments.finish(*deviceOf(placement));
  return view(arguments.key());
}

std::vector<int64_t> Region::integers(Values values) {
  CallArguments arguments;
  Placement placement;
  ShapeStorage shapes;
  read(values, arguments, placement, &shapes);
  arguments.finish(*deviceOf(placement));
  return {arguments.integers().begin(), arguments.integers().end()};
}

void Region::add(const SpecialisationView &specialisation, std::shared_ptr<CompiledKernel> kernel) {
  check(launcher.add(specialisation.facts.key(), std::move(kernel)));
}

std::vector<std::shared_ptr<SpecialisationView>> Region::specialisations() const {
  std::vector<std::shared_ptr<SpecialisationView>> result;
  for (std::string_view key : launcher.keys())
    result.push_back(view(key));
  return result;
}

int Region::traverse(visitproc visit, void *arg) const {
  Py_VISIT(compile.ptr());
  Py_VISIT(devicesObject.ptr());
  Py_VISIT(errors.ptr());
  for (const RegionParameter &parameter : parameters)
    Py_VISIT(parameter.lastConstant.ptr());
  if (int result = types.traverse(visit, arg))
    return result;
  return constants.traverse(visit, arg);
}

void Region::clear() {
  compile = py::object();
  errors = py::object();
  types.clear();
  constants.clear();
  for (RegionParameter &parameter : parameters)
    parameter.lastConstant = py::object();
}
