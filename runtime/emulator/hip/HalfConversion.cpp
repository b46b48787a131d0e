//===- HalfConversion.cpp - Conversions of f16 that HIP exports -----------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Host code of HIP programs that was compiled without F16C converts by these two
// functions, which libamdhip64 has always exported.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/hip/HipTypes.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"

using namespace llvm;

WAVETILE_HIP_API float __gnu_h2f_ieee(unsigned short half) {
  APFloat value(APFloat::IEEEhalf(), APInt(16, half));
  bool losesInfo;
  value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &losesInfo);
  return value.convertToFloat();
}

WAVETILE_HIP_API unsigned short __gnu_f2h_ieee(float single) {
  APFloat value(single);
  bool losesInfo;
  value.convert(APFloat::IEEEhalf(), APFloat::rmNearestTiesToEven, &losesInfo);
  return static_cast<unsigned short>(value.bitcastToAPInt().getZExtValue());
}
