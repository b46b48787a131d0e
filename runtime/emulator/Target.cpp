//===- Target.cpp - The table of GPUs -------------------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Target.h"

namespace wavetile::device {

// Clocks, memory and caches as the vendor's specifications of the named product say; registers of a
// SIMD as LLVM's GPU features do.
static constexpr TargetDescription table[] = {
    {.name = "gfx942",
     .marketingName = "AMD Instinct MI300X",
     .encoding = Encoding::Gfx9,
     .float8 = Float8::Fnuz,
     .waveSize = 64,
     .ldsBytes = 64 << 10,
     .vgprCount = 256,
     .agprCount = 256,
     .simdVgprCount = 512,
     .vgprGranule = 8,
     .computeUnits = 304,
     .clockKHz = 2100000,
     .memoryClockKHz = 1300000,
     .memoryBusBits = 8192,
     .l2Bytes = 4 << 20,
     .memoryBytes = 192ull << 30,
     .maxThreadsPerComputeUnit = 2048,
     .matrixRounding = MatrixRounding::Hardware,
     .clearsHighHalf = true},
    {.name = "gfx950",
     .marketingName = "AMD Instinct MI355X",
     .encoding = Encoding::Gfx9,
     .float8 = Float8::Ocp,
     .waveSize = 64,
     .ldsBytes = 160 << 10,
     .vgprCount = 256,
     .agprCount = 256,
     .simdVgprCount = 512,
     .vgprGranule = 8,
     .computeUnits = 256,
     .clockKHz = 2400000,
     .memoryClockKHz = 2000000,
     .memoryBusBits = 8192,
     .l2Bytes = 4 << 20,
     .memoryBytes = 288ull << 30,
     .maxThreadsPerComputeUnit = 2048,
     .clearsHighHalf = true},
    {.name = "gfx1100",
     .marketingName = "AMD Radeon RX 7900 XTX",
     .encoding = Encoding::Gfx11,
     .float8 = Float8::None,
     .waveSize = 32,
     .ldsBytes = 64 << 10,
     .vgprCount = 256,
     .agprCount = 0,
     .simdVgprCount = 1536,
     .vgprGranule = 24,
     .computeUnits = 96,
     .clockKHz = 2500000,
     .memoryClockKHz = 1250000,
     .memoryBusBits = 384,
     .l2Bytes = 6 << 20,
     .memoryBytes = 24ull << 30,
     .maxThreadsPerComputeUnit = 2048,
     .clearsHighHalf = false},
    {.name = "gfx1150",
     .marketingName = "AMD Radeon 890M",
     .encoding = Encoding::Gfx11,
     .float8 = Float8::None,
     .waveSize = 32,
     .ldsBytes = 64 << 10,
     .vgprCount = 256,
     .agprCount = 0,
     .simdVgprCount = 1024,
     .vgprGranule = 16,
     .computeUnits = 16,
     .clockKHz = 2900000,
     .memoryClockKHz = 1000000,
     .memoryBusBits = 128,
     .l2Bytes = 2 << 20,
     .memoryBytes = 32ull << 30,
     .maxThreadsPerComputeUnit = 2048,
     .clearsHighHalf = false},
    {.name = "gfx1151",
     .marketingName = "AMD Radeon 8060S",
     .encoding = Encoding::Gfx11,
     .float8 = Float8::None,
     .waveSize = 32,
     .ldsBytes = 64 << 10,
     .vgprCount = 256,
     .agprCount = 0,
     .simdVgprCount = 1536,
     .vgprGranule = 24,
     .computeUnits = 40,
     .clockKHz = 2900000,
     .memoryClockKHz = 1000000,
     .memoryBusBits = 256,
     .l2Bytes = 2 << 20,
     .memoryBytes = 96ull << 30,
     .maxThreadsPerComputeUnit = 2048,
     .clearsHighHalf = false},
    {.name = "gfx1201",
     .marketingName = "AMD Radeon RX 9070 XT",
     .encoding = Encoding::Gfx12,
     .float8 = Float8::Ocp,
     .waveSize = 32,
     .ldsBytes = 64 << 10,
     .vgprCount = 256,
     .agprCount = 0,
     .simdVgprCount = 1536,
     .vgprGranule = 24,
     .computeUnits = 64,
     .clockKHz = 2970000,
     .memoryClockKHz = 1250000,
     .memoryBusBits = 256,
     .l2Bytes = 8 << 20,
     .memoryBytes = 16ull << 30,
     .maxThreadsPerComputeUnit = 2048,
     .clearsHighHalf = false},
};

llvm::ArrayRef<TargetDescription> targets() { return table; }

const TargetDescription *findTarget(llvm::StringRef name) {
  llvm::StringRef processor = name.split(':').first;
  for (const TargetDescription &target : table)
    if (processor == target.name)
      return &target;
  return nullptr;
}

} // namespace wavetile::device
