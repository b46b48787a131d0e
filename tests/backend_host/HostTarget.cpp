//===- HostTarget.cpp - The CPU as a target ----------------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/backend_host/HostTarget.h"

using namespace wavetile;

namespace {

llvm::SmallVector<LdsAccess, 3> conflictFree() {
  return {{32, 64, {}}, {64, 64, {}}, {128, 64, {}}};
}

class HostTarget final : public TargetInfo {
public:
  llvm::StringRef name() const override { return host::targetName; }
  unsigned waveSize() const override { return 1; }
  unsigned maxThreadsPerWorkgroup() const override { return 1; }
  const LdsInfo &lds() const override { return ldsInfo; }
  const RegisterInfo &registers() const override { return registerInfo; }
  const CrossLaneInfo &crossLane() const override { return crossLaneInfo; }
  const ArithmeticInfo &arithmetic() const override { return arithmeticInfo; }
  const ConversionInfo &conversions() const override { return conversionInfo; }
  const AtomicInfo &atomics() const override { return atomicInfo; }
  const GlobalMemoryInfo &globalMemory() const override { return memoryInfo; }
  const DeviceInfo &device() const override { return deviceInfo; }
  llvm::ArrayRef<MatrixInstruction> matrixInstructions() const override { return {}; }

private:
  LdsInfo ldsInfo{.bytesPerWorkgroup = 1u << 20,
                  .bytesPerComputeUnit = 1u << 20,
                  .allocationGranule = 1,
                  .reads = conflictFree(),
                  .writes = conflictFree(),
                  .transposingReads = {},
                  .directLoadBits = {}};
  RegisterInfo registerInfo{.perSimd = 1u << 24,
                            .addressable = 1u << 24,
                            .accumulators = 0,
                            .allocationGranule = 1,
                            .maxWavesPerSimd = 1};
  CrossLaneInfo crossLaneInfo{};
  ArithmeticInfo arithmeticInfo{};
  ConversionInfo conversionInfo{};
  AtomicInfo atomicInfo{
      .addF32 = true, .addF64 = true, .addPackedF16 = true, .addPackedBF16 = true};
  GlobalMemoryInfo memoryInfo{.widestAccessBits = 128,
                              .cacheLineBytes = 64,
                              .unalignedAccess = true,
                              .rangeCheckedAccess = false};
  DeviceInfo deviceInfo{.computeUnits = 1,
                        .simdsPerComputeUnit = 1,
                        .dies = 1,
                        .maxClockMHz = 1000,
                        .memoryGBPerSecond = 10};
};

} // namespace

const TargetInfo &host::target() {
  static const HostTarget target;
  return target;
}
