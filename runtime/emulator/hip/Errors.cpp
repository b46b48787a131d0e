//===- Errors.cpp - Names and explanations of HIP's errors ----------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/hip/HipTypes.h"

WAVETILE_HIP_API const char *hipGetErrorName(hipError_t error) {
  switch (error) {
#define WAVETILE_HIP_ERROR(name, value, explanation)                                               \
  case name:                                                                                       \
    return #name;
#include "runtime/emulator/hip/HipErrors.def"
#undef WAVETILE_HIP_ERROR
  }
  return "hipErrorUnknown";
}

WAVETILE_HIP_API const char *hipGetErrorString(hipError_t error) {
  switch (error) {
#define WAVETILE_HIP_ERROR(name, value, explanation)                                               \
  case name:                                                                                       \
    return explanation;
#include "runtime/emulator/hip/HipErrors.def"
#undef WAVETILE_HIP_ERROR
  }
  return "unknown error";
}

WAVETILE_HIP_API hipError_t hipDrvGetErrorName(hipError_t error, const char **text) {
  if (!text)
    return hipErrorInvalidValue;
  *text = hipGetErrorName(error);
  return hipSuccess;
}

WAVETILE_HIP_API hipError_t hipDrvGetErrorString(hipError_t error, const char **text) {
  if (!text)
    return hipErrorInvalidValue;
  *text = hipGetErrorString(error);
  return hipSuccess;
}
