//===- TargetInfo.h - What a pass may ask about the target ------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface between target-independent passes and a backend. A pass asks
// what a GPU can do; it never learns which GPU it is. Every answer is plain
// data that a backend keeps in one table row per target, so two calls give the
// same answer and a reference stays valid for the life of the process.
//
// Units are in the names or stated: bytes, bits, lanes, 32-bit registers of one
// lane. A capability that a target lacks is `false`, an empty list or zero.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_PASSES_TARGETINFO_H
#define WAVETILE_PASSES_TARGETINFO_H

#include "ir/LdsBanks.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

namespace wavetile {

/// Element types that the matrix instructions and conversions of a target
/// distinguish, named as MLIR names its types.
enum class ElementKind : uint8_t {
  I8,
  I16,
  I32,
  I64,
  F8E4M3FN,
  F8E5M2,
  F8E4M3FNUZ,
  F8E5M2FNUZ,
  F16,
  BF16,
  TF32, // f32 in registers, multiplied with 10 bits of mantissa ("xf32")
  F32,
  F64,
};

/// Storage bits of one element of `kind` (TF32 is stored as f32).
inline unsigned elementBits(ElementKind kind) {
  switch (kind) {
  case ElementKind::I8:
  case ElementKind::F8E4M3FN:
  case ElementKind::F8E5M2:
  case ElementKind::F8E4M3FNUZ:
  case ElementKind::F8E5M2FNUZ:
    return 8;
  case ElementKind::I16:
  case ElementKind::F16:
  case ElementKind::BF16:
    return 16;
  case ElementKind::I32:
  case ElementKind::TF32:
  case ElementKind::F32:
    return 32;
  case ElementKind::I64:
  case ElementKind::F64:
    return 64;
  }
  return 0;
}

/// How one operand of a matrix instruction lies in the registers of a wave: the
/// bases of a linear map over F2 from (register, lane) to (row, column).
///
/// Element `r` of lane `l` has the index that is the XOR of `registerBases[i]`
/// for each bit i set in r and of `laneBases[j]` for each bit j set in l.
/// Rows and columns are (m, k) of A, (k, n) of B and (m, n) of the accumulator.
/// A basis {0, 0} of a lane bit says that the lanes hold copies. "Register"
/// counts elements, not 32-bit registers: several may share one.
struct MatrixOperand {
  using Basis = std::array<int32_t, 2>;

  ElementKind element;
  llvm::SmallVector<Basis, 4> registerBases;
  llvm::SmallVector<Basis, 6> laneBases;
  /// Number of 32-bit registers of a lane that the operand fills.
  unsigned registers;
  /// The operand's type in the LLVM intrinsic: `intrinsicCount` values of
  /// `intrinsicElement` (a scalar when 1), holding the elements in order from
  /// the least significant bits up.
  ElementKind intrinsicElement;
  unsigned intrinsicCount;

  unsigned elementsPerLane() const { return 1u << registerBases.size(); }
};

/// D = A * B + C on an m x n x k tile that one wave computes.
struct MatrixInstruction {
  /// Arguments that the intrinsic takes besides A, B and C.
  enum class CallForm : uint8_t {
    ThreeImmediates, // (A, B, C, i32 cbsz, i32 abid, i32 blgp), all 0
    Plain,           // (A, B, C)
    SignFlags,       // (i1 signed A, A, i1 signed B, B, C, i1 clamp)
  };

  std::string name;      // the assembler's mnemonic
  std::string intrinsic; // LLVM's name, without overload suffix
  /// The suffix for an intrinsic that LLVM overloads by type, or empty.
  std::string intrinsicOverload;
  CallForm callForm;
  unsigned m, n, k;
  MatrixOperand a, b, accumulator;
  /// Shader clock cycles that the matrix unit of one SIMD is busy.
  unsigned cycles;
};

/// An LDS read that transposes between lanes: each lane gets `bits` bits, made
/// of elements of `elementBits` bits that neighbouring lanes' rows hold.
struct TransposingLdsRead {
  unsigned bits;
  unsigned elementBits;
};

struct LdsInfo {
  unsigned bytesPerWorkgroup;
  unsigned bytesPerComputeUnit;
  unsigned allocationGranule; // bytes
  /// One entry each for 32, 64 and 128 bits a lane.
  llvm::SmallVector<LdsAccess, 3> reads;
  llvm::SmallVector<LdsAccess, 3> writes;
  llvm::SmallVector<TransposingLdsRead, 4> transposingReads;
  /// Widths in bits a lane of copies from global memory that pass no register;
  /// empty where the target has none. Lane i's datum lands at a wave-uniform
  /// base plus i times the width.
  llvm::SmallVector<unsigned, 4> directLoadBits;

  const LdsAccess &read(unsigned bits) const { return ldsAccess(reads, bits); }
  const LdsAccess &write(unsigned bits) const { return ldsAccess(writes, bits); }
};

/// The vector registers of a SIMD, in 32-bit registers of one lane.
struct RegisterInfo {
  unsigned perSimd;      // shared by the waves of a SIMD
  unsigned addressable;  // the most that one wave can name, accumulators included
  unsigned accumulators; // of these, how many only matrix instructions reach in full
  unsigned allocationGranule;
  unsigned maxWavesPerSimd;
};

/// Where instructions move data between lanes of a wave without LDS. A "row" is
/// 16 lanes.
struct CrossLaneInfo {
  bool quadPermute;        // any permutation in groups of 4 (quad_perm)
  bool rowShift;           // row_shl, row_shr by 1 to 15
  bool rowRotate;          // row_ror by 1 to 15
  bool rowMirror;          // row_mirror, row_half_mirror
  bool rowBroadcast;       // row_bcast:15 and row_bcast:31, into the next rows
  bool rowXorMask;         // row_xmask: lane ^ mask, mask below 16
  bool rowShare;           // row_share / row_newbcast: one lane of the row to all of it
  bool permuteRows;        // v_permlanex16: a lane of the other row of 16 in 32
  bool swapRows16;         // v_permlane16_swap
  bool swapHalves32;       // v_permlane32_swap
  bool ldsSwizzle;         // ds_swizzle: no LDS memory, its pipe only
  bool ldsBackwardPermute; // ds_bpermute
};

struct ArithmeticInfo {
  bool packedF32;    // v_pk_add/mul/fma_f32: two per instruction
  bool packedF16;    // v_pk_*_f16
  bool max3F32;      // three-operand max and min of f32
  bool maximum3F32;  // three-operand maximum and minimum (NaN wins)
  bool maximumF32;   // two-operand maximum and minimum (NaN wins)
  bool dualIssueF32; // VOPD
  /// How many operations of f32 take as long as one of f64.
  unsigned f32PerF64 = 1;
};

/// fp8 formats that conversion and matrix instructions of a target use.
enum class Fp8Kind : uint8_t { None, FNUZ, OCP };

struct ConversionInfo {
  bool packedBF16FromF32; // two f32 to bf16, round to nearest even
  bool packedF16FromF32;  // two f32 to f16, in the current rounding mode
  Fp8Kind fp8;            // both directions, e4m3 and e5m2
};

struct AtomicInfo {
  bool addF32;
  bool addF64;
  bool addPackedF16;
  bool addPackedBF16;
};

struct GlobalMemoryInfo {
  unsigned widestAccessBits;
  unsigned cacheLineBytes;
  /// Vector loads and stores of any width may have any byte alignment.
  bool unalignedAccess;
  /// A single base and 32-bit byte offsets, with out-of-range lanes dropped by
  /// the hardware (AMD's buffer instructions).
  bool rangeCheckedAccess;
};

struct DeviceInfo {
  unsigned computeUnits; // of the largest product of this target
  unsigned simdsPerComputeUnit;
  unsigned dies; // chiplets between which workgroups go round robin, each with its own L2
  unsigned maxClockMHz;
  unsigned memoryGBPerSecond;
};

/// Answers of one target. Implemented once per backend over its table.
class TargetInfo {
public:
  virtual ~TargetInfo() = default;

  /// The name that users write and error messages show.
  virtual llvm::StringRef name() const = 0;

  virtual unsigned waveSize() const = 0;
  virtual unsigned maxThreadsPerWorkgroup() const = 0;

  virtual const LdsInfo &lds() const = 0;
  virtual const RegisterInfo &registers() const = 0;
  virtual const CrossLaneInfo &crossLane() const = 0;
  virtual const ArithmeticInfo &arithmetic() const = 0;
  virtual const ConversionInfo &conversions() const = 0;
  virtual const AtomicInfo &atomics() const = 0;
  virtual const GlobalMemoryInfo &globalMemory() const = 0;
  virtual const DeviceInfo &device() const = 0;
  virtual llvm::ArrayRef<MatrixInstruction> matrixInstructions() const = 0;

  unsigned maxWavesPerWorkgroup() const { return maxThreadsPerWorkgroup() / waveSize(); }

  /// Waves that a SIMD can hold when each lane uses `registersPerLane` vector
  /// registers (accumulators included); 0 if one wave alone does not fit.
  unsigned wavesPerSimd(unsigned registersPerLane) const {
    const RegisterInfo &file = registers();
    if (registersPerLane > file.addressable)
      return 0;
    unsigned granule = file.allocationGranule;
    unsigned allocated = std::max(1u, (registersPerLane + granule - 1) / granule) * granule;
    return std::min(file.maxWavesPerSimd, file.perSimd / allocated);
  }

  /// The most registers a lane can use while `waves` waves share a SIMD.
  unsigned registersAtWavesPerSimd(unsigned waves) const {
    const RegisterInfo &file = registers();
    unsigned share = file.perSimd / std::max(1u, waves);
    return std::min(file.addressable, share / file.allocationGranule * file.allocationGranule);
  }

  /// Workgroups that a compute unit can hold at once, by registers and LDS;
  /// 0 if one alone does not fit.
  unsigned workgroupsPerComputeUnit(unsigned registersPerLane, unsigned ldsBytes,
                                    unsigned wavesPerWorkgroup) const {
    if (ldsBytes > lds().bytesPerWorkgroup || wavesPerWorkgroup > maxWavesPerWorkgroup())
      return 0;
    unsigned waves = wavesPerSimd(registersPerLane) * device().simdsPerComputeUnit;
    unsigned byRegisters = waves / std::max(1u, wavesPerWorkgroup);
    if (ldsBytes == 0)
      return byRegisters;
    unsigned granule = lds().allocationGranule;
    unsigned allocated = (ldsBytes + granule - 1) / granule * granule;
    return std::min(byRegisters, lds().bytesPerComputeUnit / allocated);
  }

protected:
  TargetInfo() = default;
  TargetInfo(const TargetInfo &) = default;
  TargetInfo &operator=(const TargetInfo &) = delete;
};

} // namespace wavetile

#endif // WAVETILE_PASSES_TARGETINFO_H
