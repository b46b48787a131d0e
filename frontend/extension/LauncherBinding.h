//===- LauncherBinding.h - The launcher as Python sees it -------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Adds to the extension module (all types are final, none keeps global state):
//
//   Devices(choice="auto", software_device=None, hip=None)
//       What can run kernels. `choice` is "auto", "software" or "hip" (the value
//       of WAVETILE_DEVICE), `software_device` the path of the software device's
//       library, `hip` the path in WAVETILE_HIP. Nothing is loaded before it is
//       needed. One object per process is enough; ValueError for another choice.
//     .describe() -> list[DeviceDescription]   every device found, usable or not
//     .default() -> DeviceDescription          where a kernel without tensors runs
//                                              and whose target is compiled for
//   DeviceDescription: .kind ("software" | "hip"), .ordinal, .target ("gfx950"),
//       .name, .library (path), .usable (bool), .reason (why it is or is not used)
//
//   Launcher(name, parameter_names, parameter_kinds, compile, devices, errors)
//       The callable of one region (a top-level loop): `launcher(*values)`,
//       positional only, returns None. One value per parameter. A kind is
//         "value"      whatever comes: a tensor, bool, int, float, or else constant
//         "tensor", "integer", "float", "bool"   that, else errors.ArgumentError
//         "constexpr"  a constant of any hashable type, compared by type and ==
//       An int is taken for "float"; a bool for "integer"; __index__ for "integer".
//       `compile(specialisation, integers) -> CompiledKernel | list | tuple of them`
//       is called when no variant serves: `specialisation` is all that the code may
//       rely on, `integers` (a tuple in the order of LaunchPlan.h) the numbers of
//       this call, to choose a Config by. Its exceptions pass through unchanged.
//       `errors` is a module or object with the exception classes
//         ArgumentError(message)  a value that the region cannot take
//         LaunchError(message)    no variant serves, a grid above the limits
//         DeviceNotFoundError(message)   nothing can run it
//         DeviceError(message)    HIP failed; gets the attributes `hip_error` (HIP's
//                                 name of the error or "") and `report` (what the
//                                 software device found, or "")
//     .specialise(*values) -> Specialisation    without compiling; meta and fake
//                                 tensors are allowed: aligned, without overlap,
//                                 on the default device if no other tensor says
//     .integers(*values) -> tuple[int, ...]     the numbers such a call binds
//     .add(specialisation, kernel)              one more variant, tried last
//     .variants(specialisation) -> list[CompiledKernel]
//     .specialisations() -> list[Specialisation]
//     .run(kernel, *values)       launches exactly this variant (the tuner's way)
//     .name, .parameter_names
//
//   Specialisation: what the guard says about one call, and nothing else.
//     .target: str, .device: "software" | "hip"
//     .parameters: list of, in parameter order,
//         TensorSpecialisation   .name .dtype ("bf16", "f8e4m3fn", "i64", "u8", "bool")
//                                .rank .sizes .strides (lists of IntegerSpecialisation)
//                                .aligned (to 16 bytes) .wide (a byte offset passes 2^31,
//                                or a size or stride does)
//         IntegerSpecialisation  see below (integer and bool parameters)
//         FloatSpecialisation    .name .index (into the floats of a plan)
//         ConstantSpecialisation .name .value (the Python object)
//     .integers: list[IntegerSpecialisation] in the order of LaunchPlan.h
//     .may_overlap(i, j) -> bool   tensor parameters by their place among the tensors
//     .text: str, the same in every process; constants are left out. The part of a
//         cache's key that comes from here (add your own form of the constants).
//     ==, hash
//   IntegerSpecialisation:
//     .index           its place in `integers`
//     .name            "x.size(0)", "x.stride(1)" or the parameter's name
//     .constant        0 or 1 if the value is guarded to be that (sizes: 1; strides: 0
//                      or 1), else None
//     .representative  index of the first integer that always has the same value; its
//                      own if there is none before it. One kernel argument each.
//     .divisor         a number that divides it: 16 for scalars; for strides and for the
//                      size of a dimension of stride 1, 16 bytes in elements; else 1
//     .fits_int32      bool
//     .is_bool         it is a bool parameter (0 or 1, never a constant)
//
//   CompiledKernel(plan: LaunchPlan, code_object: bytes)
//     .plan, .code_object, .kernel_names (list[str])
//   LaunchPlan: .target, .kernel_names, .guards (list[str]), .to_bytes(), .json(), str(), ==
//     LaunchPlan.from_bytes(bytes)   ValueError if they are not a plan of this version
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_FRONTEND_EXTENSION_LAUNCHERBINDING_H
#define WAVETILE_FRONTEND_EXTENSION_LAUNCHERBINDING_H

#include <pybind11/pybind11.h>

namespace wavetile {

void addLauncherBindings(pybind11::module_ &module);

} // namespace wavetile

#endif // WAVETILE_FRONTEND_EXTENSION_LAUNCHERBINDING_H
