//===- Device.h - The properties of the GPU that the device poses as ------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_HIP_DEVICE_H
#define WAVETILE_RUNTIME_EMULATOR_HIP_DEVICE_H

#include "runtime/emulator/hip/Runtime.h"

namespace wavetile::device {

/// The largest workgroup of every target.
inline constexpr uint32_t maxWorkgroupSize = 1024;

/// A device with the properties that HIP reports for the named GPU.
Device makeDevice(const TargetDescription &target, int ordinal);

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_HIP_DEVICE_H
