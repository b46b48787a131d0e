//===- Target.h - The GPUs that the software device poses as --------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One row a GPU. Code of the device asks for a feature, never for a name.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_TARGET_H
#define WAVETILE_RUNTIME_EMULATOR_TARGET_H

#include "runtime/LdsBankTable.h"
#include "runtime/emulator/MatrixRounding.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace wavetile::device {

/// Families whose instruction formats are the same, bit for bit.
enum class Encoding : uint8_t { Gfx9, Gfx11, Gfx12 };

/// The 8-bit floating point formats that conversions and matrix instructions work with.
enum class Float8 : uint8_t { None, Fnuz, Ocp };

struct TargetDescription {
  const char *name;
  const char *marketingName;
  Encoding encoding;
  Float8 float8;
  uint32_t waveSize; ///< The one that kernels have unless their descriptor says otherwise.
  uint32_t ldsBytes; ///< The most of a workgroup.
  /// Workgroups are given LDS in multiples of this.
  uint32_t ldsGranule;
  LdsGeneration ldsGeneration;
  /// Scratch, the most of a wave: what the field WAVESIZE of COMPUTE_TMPRING_SIZE can say.
  uint32_t scratchBytesPerWave;
  uint32_t vgprCount; ///< Architectural VGPRs of a wave.
  uint32_t agprCount;
  /// Vector registers of `waveSize` lanes that the waves of one SIMD share.
  uint32_t simdVgprCount;
  /// A wave is given registers in multiples of this.
  uint32_t vgprGranule;
  uint32_t computeUnits;
  uint32_t clockKHz;
  uint32_t memoryClockKHz;
  uint32_t memoryBusBits;
  uint32_t l2Bytes;
  uint64_t memoryBytes;
  uint32_t maxThreadsPerComputeUnit;
  /// How matrix products are summed unless a launch says otherwise.
  MatrixRounding matrixRounding = MatrixRounding::FusedMultiplyAdd;
  /// 16-bit results clear the other half of their register; otherwise they keep it.
  bool clearsHighHalf;

  /// RDNA: scalar operands, true16 and DPP as of gfx11, waves of 32 or 64 lanes.
  bool isRdna() const { return encoding != Encoding::Gfx9; }
  /// Stores say who is meant to see them. gfx11's do not: an atomic store is like any other.
  bool storesCarryScope() const { return encoding != Encoding::Gfx11; }
  /// What a workgroup stores is seen by others only after its L2 cache has been written back, or if
  /// it was stored for them (sc1): each group of compute units has one.
  bool devicesHaveSeveralL2Caches() const { return encoding == Encoding::Gfx9; }
  bool allowsWaveSize(uint32_t size) const { return size == waveSize || (isRdna() && size == 64); }
};

/// The row of \p name ("gfx950"; a feature suffix such as ":sramecc+" is ignored), or null.
const TargetDescription *findTarget(llvm::StringRef name);

/// All rows.
llvm::ArrayRef<TargetDescription> targets();

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_TARGET_H
