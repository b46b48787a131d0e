//===- Region.h - One region, called from Python ----------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the Python type Launcher does: reads values, finds or has compiled what
// serves them, launches. Functions throw pybind11::error_already_set when a Python
// exception is set, and hold Python's lock but for the work on the software device.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_FRONTEND_EXTENSION_REGION_H
#define WAVETILE_FRONTEND_EXTENSION_REGION_H

#include "frontend/extension/ConstantTable.h"
#include "frontend/extension/TensorReader.h"
#include "runtime/Launcher.h"

#include <memory>
#include <optional>
#include <pybind11/pybind11.h>
#include <span>
#include <string>
#include <vector>

namespace wavetile {

/// What a region accepts for a parameter.
enum class DeclaredKind : uint8_t { Value, Tensor, Integer, Float, Bool, Constexpr };

struct RegionParameter {
  std::string name;
  DeclaredKind declared;
  // The last constant and its number: the same object needs no second look.
  pybind11::object lastConstant;
  uint32_t lastNumber = 0;
};

/// A specialisation with what only Python knows of it.
struct SpecialisationView {
  Specialisation facts;
  std::vector<std::string> names;          // of the parameters
  std::vector<pybind11::object> constants; // one per parameter, null for the others
};

/// Sets a Python exception of `errors` for the status and throws.
[[noreturn]] void raise(pybind11::handle errors, const std::string &region, const Status &status);

class Region {
public:
  using Values = std::span<PyObject *const>;

  Region(std::string name, std::vector<RegionParameter> parameters, pybind11::object compile,
         pybind11::object devices, pybind11::object errors, std::string target);

  /// Launches what serves these values, after compiling it if need be. Values that hold others
  /// (lists, dataclasses, functions) go to `compile.call_structured(*values)`, if there is one,
  /// which takes them apart and calls the launcher of such a structure.
  void call(Values values);
  /// Launches exactly this kernel.
  void run(const std::shared_ptr<CompiledKernel> &kernel, Values values);

  std::shared_ptr<SpecialisationView> specialise(Values values);
  std::vector<int64_t> integers(Values values);

  void add(const SpecialisationView &specialisation, std::shared_ptr<CompiledKernel> kernel);
  Launcher::Variants variants(const SpecialisationView &specialisation) const {
    return launcher.variants(specialisation.facts.key());
  }
  std::vector<std::shared_ptr<SpecialisationView>> specialisations() const;

  const std::string &getName() const { return name; }
  const std::vector<RegionParameter> &getParameters() const { return parameters; }

  int traverse(visitproc visit, void *argument) const;
  void clear();

private:
  /// Where the tensors of a call are.
  struct Placement {
    const DLPackExchangeApi *api = nullptr; // of the first tensor; null if there is none
    DLPackDevice device = {0, 0};
    const RegionParameter *parameter = nullptr; // whose tensor it was
  };

  void read(Values values, CallArguments &arguments, Placement &placement, ShapeStorage *shapes);
  /// False if a value is structured.
  bool tryRead(Values values, CallArguments &arguments, Placement &placement, ShapeStorage *shapes);
  void readValue(RegionParameter &parameter, PyObject *value, CallArguments &arguments,
                 Placement &placement, ShapeStorage *shapes);
  void addTensor(RegionParameter &parameter, PyObject *value, const TensorType &type,
                 CallArguments &arguments, Placement &placement, ShapeStorage *shapes);
  bool addInteger(RegionParameter &parameter, PyObject *value, CallArguments &arguments);
  void addConstant(RegionParameter &parameter, PyObject *value, CallArguments &arguments);
  /// Whether Python must take a value apart before the region can be called with it.
  bool isStructured(PyObject *value);
  void callStructured(Values values);
  std::shared_ptr<Device> deviceOf(const Placement &placement);
  HipStream streamOf(const Placement &placement);
  void compileFor(const CallArguments &arguments);
  void launch(CompiledKernel &kernel, const std::shared_ptr<Device> &device, HipStream stream,
              const CallArguments &arguments, PreparedLaunch &prepared);
  std::shared_ptr<SpecialisationView> view(std::string_view key) const;
  [[noreturn]] void fail(const RegionParameter &parameter, const std::string &problem) const;
  void check(const Status &status) const {
    if (status)
      raise(errors, name, status);
  }

  std::string name;
  std::vector<RegionParameter> parameters;
  pybind11::object compile;
  pybind11::object devicesObject; // keeps `devices`
  Devices *devices;
  pybind11::object errors;
  std::string target; // which software device runs it; empty for the first
  bool takesApart;    // `compile` can take values apart
  TensorTypes types;
  ConstantTable constants;
  Launcher launcher;
  // The device of the last call, to spare a search.
  DLPackDevice lastPlace = {0, 0};
  std::shared_ptr<Device> lastDevice;
};

} // namespace wavetile

#endif // WAVETILE_FRONTEND_EXTENSION_REGION_H
