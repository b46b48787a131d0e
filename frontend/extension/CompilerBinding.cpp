//===- CompilerBinding.cpp - The compiler as Python sees it -----*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/extension/CompilerBinding.h"

#include "frontend/extension/Builder.h"
#include "passes/StagingCosts.h"
#include "passes/driver/Driver.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <pybind11/functional.h>
#include <pybind11/stl.h>

namespace py = pybind11;

namespace wavetile {
namespace {

[[noreturn]] void raiseCompilationError(llvm::Error error) {
  std::string message = llvm::toString(std::move(error));
  py::object type = py::module_::import("wavetile.errors").attr("CompilationError");
  py::set_error(type, message.c_str());
  throw py::error_already_set();
}

template <typename T> T valueOrCompilationError(llvm::Expected<T> value) {
  if (!value)
    raiseCompilationError(value.takeError());
  return std::move(*value);
}

Config toConfig(const std::map<std::string, ConfigValue> &entries) {
  Config config;
  for (const auto &[key, value] : entries)
    if (llvm::Error error = config.set(key, value))
      throw py::value_error(llvm::toString(std::move(error)));
  return config;
}

CompileResult compileModule(TileModule &module, const std::string &target,
                            const std::map<std::string, ConfigValue> &config,
                            const std::vector<std::string> &keepStages) {
  CompileOptions options{target, toConfig(config), keepStages};
  std::optional<llvm::Expected<CompileResult>> result;
  {
    py::gil_scoped_release release;
    result.emplace(compile(module.getModule(), options));
  }
  return valueOrCompilationError(std::move(*result));
}

llvm::ArrayRef<uint8_t> toBytes(const py::bytes &bytes) {
  std::string_view view = bytes;
  return {reinterpret_cast<const uint8_t *>(view.data()), view.size()};
}

std::pair<const Backend *, const TargetInfo *> findTarget(const std::string &name) {
  const Backend *backend = valueOrCompilationError(BackendRegistry::builtin().find(name));
  return {backend, valueOrCompilationError(backend->target(name))};
}

std::vector<KernelResources> getResources(const py::bytes &codeObject, const std::string &target) {
  auto [backend, info] = findTarget(target);
  return valueOrCompilationError(backend->resources(toBytes(codeObject), *info));
}

/// The costs of a module's text at the stage "final".
std::vector<StagingCost> getStagingCosts(const std::string &final, const std::string &target) {
  const TargetInfo *info = findTarget(target).second;
  mlir::DialectRegistry registry;
  registerDialects(registry, BackendRegistry::builtin());
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(final, &context);
  if (!module)
    throw py::value_error("this is not a module of the tile dialect");
  auto costs = stagingCosts(*module, *info);
  return {costs.begin(), costs.end()};
}

std::string
disassemble(const py::bytes &codeObject, const std::string &target,
            const std::optional<std::function<std::string(std::string, unsigned)>> &source) {
  auto [backend, info] = findTarget(target);
  SourceLine sourceLine;
  if (source)
    sourceLine = [&](llvm::StringRef file, unsigned line) { return (*source)(file.str(), line); };
  return valueOrCompilationError(backend->disassemble(toBytes(codeObject), *info, sourceLine));
}

std::vector<std::string> targetNames() {
  std::vector<std::string> names;
  for (const auto &backend : BackendRegistry::builtin().all())
    for (llvm::StringRef name : backend->targetNames())
      names.push_back(name.str());
  return names;
}

std::map<std::string, ConfigValue> parseConfig(const std::string &text) {
  llvm::Expected<Config> config = Config::parse(text);
  if (!config)
    throw py::value_error(llvm::toString(config.takeError()));
  return config->entries();
}

} // namespace

void addCompilerBindings(py::module_ &module) {
  py::class_<PerformanceNote>(module, "PerformanceNote")
      .def_readonly("message", &PerformanceNote::message)
      .def_readonly("remedy", &PerformanceNote::remedy)
      .def_readonly("file", &PerformanceNote::file)
      .def_readonly("line", &PerformanceNote::line)
      .def_readonly("column", &PerformanceNote::column)
      .def_readonly("callers", &PerformanceNote::callers);

  py::class_<CompileResult>(module, "CompileResult")
      .def_readonly("plan", &CompileResult::plan)
      .def_property_readonly("code_object",
                             [](const CompileResult &r) {
                               return py::bytes(reinterpret_cast<const char *>(r.codeObject.data()),
                                                r.codeObject.size());
                             })
      .def_property_readonly("config", [](const CompileResult &r) { return r.config.entries(); })
      .def_readonly("stages", &CompileResult::stages)
      .def_readonly("times", &CompileResult::times)
      .def_readonly("notes", &CompileResult::notes);

  py::class_<TargetInfo, std::unique_ptr<TargetInfo, py::nodelete>>(module, "TargetInfo")
      .def_property_readonly("max_waves_per_workgroup", &TargetInfo::maxWavesPerWorkgroup)
      .def_property_readonly("compute_units",
                             [](const TargetInfo &target) { return target.device().computeUnits; });

  py::class_<KernelResources>(module, "KernelResources")
      .def_readonly("symbol", &KernelResources::symbol)
      .def_readonly("vector_registers", &KernelResources::vectorRegisters)
      .def_readonly("accumulator_registers", &KernelResources::accumulatorRegisters)
      .def_readonly("scalar_registers", &KernelResources::scalarRegisters)
      .def_readonly("lds_bytes", &KernelResources::ldsBytes)
      .def_readonly("scratch_bytes", &KernelResources::scratchBytes)
      .def_readonly("spilled_vector_registers", &KernelResources::spilledVectorRegisters)
      .def_readonly("spilled_scalar_registers", &KernelResources::spilledScalarRegisters)
      .def_readonly("waves_per_simd", &KernelResources::wavesPerSimd)
      .def_readonly("instructions", &KernelResources::instructions);

  py::class_<StagingCost>(module, "StagingCost", "An access of a staging buffer, for one wave.")
      .def_readonly("is_store", &StagingCost::isStore)
      .def_readonly("bits", &StagingCost::bits)
      .def_property_readonly("accesses", [](const StagingCost &c) { return c.cost.accesses; })
      .def_property_readonly("cycles", [](const StagingCost &c) { return c.cost.cycles; })
      .def_property_readonly("conflicts", [](const StagingCost &c) { return c.cost.conflicts(); });

  py::class_<ConfigKey>(module, "ConfigKey")
      .def_property_readonly("suffix", [](const ConfigKey &k) { return k.suffix.str(); })
      .def_readonly("per_dimension", &ConfigKey::perDim)
      .def_property_readonly("values", [](const ConfigKey &k) { return k.values.str(); })
      .def_property_readonly("description", [](const ConfigKey &k) { return k.description.str(); });

  module.def("compile", &compileModule, py::arg("module"), py::arg("target"),
             py::arg("config") = std::map<std::string, ConfigValue>(),
             py::arg("keep_stages") = std::vector<std::string>());
  module.def("stage_names", [] {
    std::vector<std::string> names;
    for (llvm::StringLiteral name : stageNames())
      names.push_back(name.str());
    return names;
  });
  module.def("resources", &getResources, py::arg("code_object"), py::arg("target"));
  module.def("staging_costs", &getStagingCosts, py::arg("final"), py::arg("target"));
  module.def("disassemble", &disassemble, py::arg("code_object"), py::arg("target"),
             py::arg("source") = py::none());
  module.def("target_names", &targetNames);
  module.def(
      "target_facts", [](const std::string &name) { return findTarget(name).second; },
      py::arg("target"), py::return_value_policy::reference);
  module.def("config_keys", [] { return configKeys().vec(); });
  module.def("parse_config", &parseConfig);
  module.def("check_config",
             [](const std::map<std::string, ConfigValue> &entries) { toConfig(entries); });
  module.def("format_config", [](const std::map<std::string, ConfigValue> &entries) {
    return toConfig(entries).str();
  });
}

} // namespace wavetile
