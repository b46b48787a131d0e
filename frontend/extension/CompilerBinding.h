//===- CompilerBinding.h - The compiler as Python sees it -------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Adds to the extension module:
//
//   compile(module, target, config={}, keep_stages=[]) -> CompileResult
//       module: a TileModule, left as it was. config: dict of int and str. Without
//       the GIL. wavetile.errors.CompilationError with every diagnostic.
//   PerformanceNote: see PerformanceNotes.h; .message, .remedy, .file, .line, .column,
//       .callers (list of (file, line, column))
//   CompileResult: .plan (LaunchPlan), .code_object (bytes), .config (dict, complete),
//       .stages (dict of stage name to text), .times (list of (stage, milliseconds)),
//       .notes (list of PerformanceNote)
//   stage_names() -> list[str]          what keep_stages takes
//   resources(code_object, target) -> list[KernelResources]
//   KernelResources: see passes/Backend.h; .symbol, .vector_registers,
//       .accumulator_registers, .scalar_registers, .lds_bytes, .scratch_bytes,
//       .spilled_vector_registers, .spilled_scalar_registers, .waves_per_simd,
//       .instructions (dict)
//   disassemble(code_object, target, source=None) -> str
//       source: callable (file, line) -> text of that line or ""
//   target_names() -> list[str]
//   target_facts(target) -> TargetInfo  .max_waves_per_workgroup, .compute_units
//   config_keys() -> list[ConfigKey]    .suffix, .per_dimension, .values, .description
//   parse_config(text) -> dict          ValueError if a key or value is not in the table
//   check_config(dict)                  ValueError likewise
//   format_config(dict) -> str
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_FRONTEND_EXTENSION_COMPILERBINDING_H
#define WAVETILE_FRONTEND_EXTENSION_COMPILERBINDING_H

#include <pybind11/pybind11.h>

namespace wavetile {

void addCompilerBindings(pybind11::module_ &module);

} // namespace wavetile

#endif // WAVETILE_FRONTEND_EXTENSION_COMPILERBINDING_H
