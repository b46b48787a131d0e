//===- InterpreterBinding.cpp - The interpreter as Python sees it -*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/extension/InterpreterBinding.h"

#include "passes/driver/Diagnostics.h"
#include "passes/driver/Driver.h"
#include "passes/interpreter/Interpreter.h"

#include "mlir/Parser/Parser.h"

#include <pybind11/stl.h>

namespace py = pybind11;

namespace wavetile {
namespace {

/// Parses and runs the module's kernel.
llvm::Error interpretText(const std::string &text, const InterpreterArguments &arguments,
                          const InterpreterOptions &options) {
  mlir::DialectRegistry registry;
  registerDialects(registry, BackendRegistry::builtin());
  mlir::MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  CollectedDiagnostics diagnostics(&context);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    return diagnostics.takeError("cannot read the module");
  auto kernels = module->getOps<tile::KernelOp>();
  if (std::distance(kernels.begin(), kernels.end()) != 1)
    return llvm::createStringError("the module must have one tile.kernel");
  if (failed(interpret(*kernels.begin(), arguments, options)))
    return diagnostics.takeError("the interpreter failed without a diagnostic");
  return llvm::Error::success();
}

void interpretModule(const std::string &text, const std::vector<py::buffer> &pointers,
                     const std::vector<int64_t> &integers, const std::vector<double> &floats,
                     uint64_t seed, const std::map<std::string, int64_t> &sizes) {
  InterpreterArguments arguments;
  std::vector<py::buffer_info> buffers;
  for (const py::buffer &pointer : pointers) {
    buffers.push_back(pointer.request(/*writable=*/true));
    const py::buffer_info &buffer = buffers.back();
    if (!PyBuffer_IsContiguous(buffer.view(), 'C'))
      throw py::value_error("the memory of a tensor must be contiguous");
    arguments.pointers.push_back(
        {static_cast<uint8_t *>(buffer.ptr), size_t(buffer.size * buffer.itemsize)});
  }
  arguments.integers.assign(integers.begin(), integers.end());
  arguments.floats.assign(floats.begin(), floats.end());
  InterpreterOptions options;
  options.seed = seed;
  for (const auto &[name, size] : sizes)
    options.sizes[name] = size;

  std::optional<llvm::Error> error;
  {
    py::gil_scoped_release release;
    error.emplace(interpretText(text, arguments, options));
  }
  if (!*error)
    return;
  std::string message = llvm::toString(std::move(*error));
  py::object type = py::module_::import("wavetile.errors").attr("CompilationError");
  py::set_error(type, message.c_str());
  throw py::error_already_set();
}

} // namespace

void addInterpreterBindings(py::module_ &module) {
  module.def("interpret", &interpretModule, py::arg("module_text"), py::arg("pointers"),
             py::arg("integers") = std::vector<int64_t>(),
             py::arg("floats") = std::vector<double>(), py::arg("seed") = 0,
             py::arg("sizes") = std::map<std::string, int64_t>());
}

} // namespace wavetile
