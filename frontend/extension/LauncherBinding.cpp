//===- LauncherBinding.cpp - The launcher as Python sees it ---------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/extension/LauncherBinding.h"

#include "frontend/extension/LauncherObject.h"
#include "frontend/extension/Region.h"
#include "runtime/Serialization.h"

#include <pybind11/stl.h>

namespace py = pybind11;
using namespace py::literals;
using namespace wavetile;

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

static Devices::Choice parseChoice(const std::string &text) {
  if (text == "auto")
    return Devices::Choice::Auto;
  if (text == "software")
    return Devices::Choice::Software;
  if (text == "hip")
    return Devices::Choice::Hip;
  throw py::value_error("WAVETILE_DEVICE is '" + text + "'; it may be auto, software or hip");
}

static std::shared_ptr<Devices> makeDevices(const std::string &choice,
                                            const std::optional<std::string> &softwareDevice,
                                            const std::optional<std::string> &hip) {
  Devices::Options options;
  options.choice = parseChoice(choice);
  options.softwareDevice = softwareDevice.value_or("");
  options.hip = hip.value_or("");
  return std::make_shared<Devices>(std::move(options));
}

static DeviceDescription defaultDevice(Devices &devices) {
  std::shared_ptr<Device> device;
  if (Status status = devices.byDefault({}, device)) {
    py::object errors = py::module_::import("wavetile.errors");
    raise(errors, "no device", status);
  }
  return device->description();
}

static void addDevices(py::module_ &module) {
  py::class_<DeviceDescription>(module, "DeviceDescription", "A GPU or the software device.")
      .def_property_readonly("kind",
                             [](const DeviceDescription &self) { return nameOf(self.kind); })
      .def_readonly("ordinal", &DeviceDescription::ordinal)
      .def_readonly("target", &DeviceDescription::target)
      .def_readonly("name", &DeviceDescription::name)
      .def_readonly("library", &DeviceDescription::library)
      .def_readonly("usable", &DeviceDescription::usable)
      .def_readonly("reason", &DeviceDescription::reason);
  py::class_<Devices, std::shared_ptr<Devices>>(module, "Devices", "What can run kernels.")
      .def(py::init(&makeDevices), "choice"_a = "auto", "software_device"_a = py::none(),
           "hip"_a = py::none())
      .def("describe", &Devices::describe)
      .def("default", &defaultDevice);
}

//===----------------------------------------------------------------------===//
// Plans and kernels
//===----------------------------------------------------------------------===//

static std::vector<std::string> guardsOf(const LaunchPlan &plan) {
  std::vector<std::string> result;
  for (const Guard &guard : plan.guards)
    result.push_back(guard.left.str() + " <= " + guard.right.str() +
                     (guard.reason.empty() ? "" : "  // " + guard.reason));
  return result;
}

static void addKernels(py::module_ &module) {
  py::class_<LaunchPlan>(module, "LaunchPlan", "What a compiled module does when launched.")
      .def_readonly("target", &LaunchPlan::target)
      .def_property_readonly("kernel_names",
                             [](const LaunchPlan &self) { return kernelNames(self); })
      .def_property_readonly("guards", &guardsOf)
      .def("to_bytes", [](const LaunchPlan &self) { return py::bytes(serialize(self)); })
      .def_static(
          "from_bytes",
          [](const py::bytes &bytes) {
            std::optional<LaunchPlan> plan = deserializeLaunchPlan(std::string_view(bytes));
            if (!plan)
              throw py::value_error("these bytes are not a launch plan of this version");
            return std::move(*plan);
          },
          "bytes"_a)
      .def("json", &toJson)
      .def("__str__", &LaunchPlan::str)
      .def(
          "__eq__", [](const LaunchPlan &self, const LaunchPlan &other) { return self == other; },
          py::is_operator());
  py::class_<CompiledKernel, std::shared_ptr<CompiledKernel>>(module, "CompiledKernel",
                                                              "A launch plan with its code.")
      .def(py::init([](const LaunchPlan &plan, const py::bytes &codeObject) {
             return std::make_shared<CompiledKernel>(plan, std::string(codeObject));
           }),
           "plan"_a, "code_object"_a)
      .def_property_readonly("plan", [](const CompiledKernel &self) { return self.plan(); })
      .def_property_readonly(
          "code_object", [](const CompiledKernel &self) { return py::bytes(self.codeObject()); })
      .def_property_readonly("kernel_names",
                             [](const CompiledKernel &self) { return kernelNames(self.plan()); });
}

//===----------------------------------------------------------------------===//
// Specialisations
//===----------------------------------------------------------------------===//

namespace {

struct IntegerView {
  std::string name;
  uint32_t index;
  IntegerFacts facts;
};

struct TensorView {
  std::string name;
  std::string dtype;
  uint32_t rank;
  bool aligned, wide;
  std::vector<IntegerView> sizes, strides;
};

struct FloatView {
  std::string name;
  uint32_t index;
};

struct ConstantView {
  std::string name;
  py::object value;
};

} // namespace

static TensorView tensorView(const SpecialisationView &view, const std::string &name,
                             const TensorFacts &tensor) {
  TensorView result{name, tensor.type.str(), tensor.rank, tensor.aligned, tensor.wide, {}, {}};
  auto entry = [&](const char *what, uint32_t dimension, uint32_t index) {
    return IntegerView{name + "." + what + "(" + std::to_string(dimension) + ")", index,
                       view.facts.integers[index]};
  };
  for (uint32_t dimension = 0; dimension < tensor.rank; ++dimension) {
    uint32_t size = tensor.firstInteger + dimension;
    result.sizes.push_back(entry("size", dimension, size));
    result.strides.push_back(entry("stride", dimension, size + tensor.rank));
  }
  return result;
}

static py::list parametersOf(const SpecialisationView &view) {
  py::list result;
  for (size_t position = 0; position < view.names.size(); ++position) {
    const ParameterFacts &facts = view.facts.parameters[position];
    const std::string &name = view.names[position];
    switch (facts.kind) {
    case ParameterKind::Tensor:
      result.append(tensorView(view, name, view.facts.tensors[facts.index]));
      break;
    case ParameterKind::Integer:
    case ParameterKind::Bool:
      result.append(IntegerView{name, facts.index, view.facts.integers[facts.index]});
      break;
    case ParameterKind::Float:
      result.append(FloatView{name, facts.index});
      break;
    case ParameterKind::Constant:
      result.append(ConstantView{name, view.constants[position]});
      break;
    }
  }
  return result;
}

static std::vector<IntegerView> integersOf(const SpecialisationView &view) {
  std::vector<IntegerView> result, scalars;
  for (size_t position = 0; position < view.names.size(); ++position) {
    const ParameterFacts &facts = view.facts.parameters[position];
    const std::string &name = view.names[position];
    if (facts.kind == ParameterKind::Tensor) {
      TensorView tensor = tensorView(view, name, view.facts.tensors[facts.index]);
      result.insert(result.end(), tensor.sizes.begin(), tensor.sizes.end());
      result.insert(result.end(), tensor.strides.begin(), tensor.strides.end());
    } else if (facts.kind == ParameterKind::Integer || facts.kind == ParameterKind::Bool) {
      scalars.push_back({name, facts.index, view.facts.integers[facts.index]});
    }
  }
  result.insert(result.end(), scalars.begin(), scalars.end());
  return result;
}

static bool mayOverlap(const SpecialisationView &view, size_t first, size_t second) {
  size_t count = view.facts.tensors.size();
  if (first >= count || second >= count)
    throw py::index_error("there are " + std::to_string(count) + " tensors");
  return view.facts.mayOverlap(first, second);
}

static void addSpecialisations(py::module_ &module) {
  py::class_<IntegerView>(module, "IntegerSpecialisation", "What is guarded about one integer.")
      .def_readonly("name", &IntegerView::name)
      .def_readonly("index", &IntegerView::index)
      .def_property_readonly("constant",
                             [](const IntegerView &self) { return self.facts.constant; })
      .def_property_readonly("representative",
                             [](const IntegerView &self) { return self.facts.representative; })
      .def_property_readonly("divisor", [](const IntegerView &self) { return self.facts.divisor; })
      .def_property_readonly("fits_int32",
                             [](const IntegerView &self) { return self.facts.fitsInt32; })
      .def_property_readonly("is_bool", [](const IntegerView &self) { return self.facts.isBool; });
  py::class_<TensorView>(module, "TensorSpecialisation", "What is guarded about one tensor.")
      .def_readonly("name", &TensorView::name)
      .def_readonly("dtype", &TensorView::dtype)
      .def_readonly("rank", &TensorView::rank)
      .def_readonly("aligned", &TensorView::aligned)
      .def_readonly("wide", &TensorView::wide)
      .def_readonly("sizes", &TensorView::sizes)
      .def_readonly("strides", &TensorView::strides);
  py::class_<FloatView>(module, "FloatSpecialisation", "A floating-point parameter.")
      .def_readonly("name", &FloatView::name)
      .def_readonly("index", &FloatView::index);
  py::class_<ConstantView>(module, "ConstantSpecialisation", "A value that the code has built in.")
      .def_readonly("name", &ConstantView::name)
      .def_readonly("value", &ConstantView::value);
  py::class_<SpecialisationView, std::shared_ptr<SpecialisationView>>(
      module, "Specialisation", "What the guard says about one call, and nothing else.")
      .def_property_readonly("target",
                             [](const SpecialisationView &self) { return self.facts.target; })
      .def_property_readonly(
          "device", [](const SpecialisationView &self) { return nameOf(self.facts.device); })
      .def_property_readonly("parameters", &parametersOf)
      .def_property_readonly("integers", &integersOf)
      .def("may_overlap", &mayOverlap, "first"_a, "second"_a)
      .def_property_readonly("text",
                             [](const SpecialisationView &self) { return self.facts.str(); })
      .def("__str__", [](const SpecialisationView &self) { return self.facts.str(); })
      .def(
          "__eq__",
          [](const SpecialisationView &self, const SpecialisationView &other) {
            return self.names == other.names && self.facts.key() == other.facts.key();
          },
          py::is_operator())
      .def("__hash__", [](const SpecialisationView &self) {
        return std::hash<std::string_view>()(self.facts.key());
      });
}

void wavetile::addLauncherBindings(py::module_ &module) {
  addDevices(module);
  addKernels(module);
  addSpecialisations(module);
  module.add_object("Launcher", makeLauncherType());
}
