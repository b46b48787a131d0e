//===- Targets.h - The table of AMD GPUs ------------------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One complete row per AMD GPU. A row is all that the rest of Wavetile knows
// of a GPU: passes see it as a TargetInfo, the lowering and code generation
// also ask what is AMD's own (buffer descriptors, kernel arguments, the names
// that LLVM uses). No code outside this file pair compares a target's name.
//
// Rows live as long as the process and never change; every function here may
// be called from any thread.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_BACKEND_ROCM_TARGETS_H
#define WAVETILE_BACKEND_ROCM_TARGETS_H

#include "passes/TargetInfo.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <utility>

namespace wavetile::rocm {

/// How a range-checked (raw) buffer descriptor is written and behaves.
struct BufferResourceInfo {
  /// What a load outside `num_records` gives 0 for and a store drops.
  enum class OutOfRange : uint8_t {
    Dword,  // each 32-bit part of the access by itself
    Access, // the whole access, as soon as part of it is outside
  };

  uint32_t word3; // the last word: formats, and that raw offsets are checked
  OutOfRange outOfRange;
  uint64_t maxNumRecords; // bytes
  /// Largest num_records with which an atomic outside is dropped; beyond it the
  /// access faults.
  uint64_t maxNumRecordsOfAtomics;
};

/// What a kernel's descriptor and entry look like.
struct KernelEntryInfo {
  /// Scalar registers that can hold user data when a wave starts.
  unsigned userScalarRegisters;
  /// Leading `inreg` arguments arrive in scalar registers.
  bool preloadsArguments;
};

/// Instructions that the lowering may pick beyond what TargetInfo tells passes.
struct InstructionInfo {
  bool bufferLoadToLds;           // buffer_load ... lds
  bool globalLoadToLds;           // global_load_lds
  unsigned ldsAccess128Alignment; // bytes that ds_read_b128 and ds_write_b128 need
  bool scaledFp8Conversion;       // v_cvt_scalef32_*
  bool splitWaitCounters;         // s_wait_loadcnt and its kind instead of s_waitcnt
  unsigned maxVectorMemoryCount;  // the largest vmcnt that a wait can name
  unsigned maxLdsCount;           // the largest lgkmcnt that a wait can name
};

/// One row of the table.
struct TargetRow {
  std::string name;     // LLVM's processor name
  std::string features; // LLVM's feature string, "+wavefrontsize32" and the like
  unsigned waveSize;
  unsigned maxThreadsPerWorkgroup;
  LdsInfo lds;
  RegisterInfo registers;
  CrossLaneInfo crossLane;
  ArithmeticInfo arithmetic;
  ConversionInfo conversions;
  AtomicInfo atomics;
  GlobalMemoryInfo globalMemory;
  DeviceInfo device;
  llvm::SmallVector<MatrixInstruction, 0> matrixInstructions;
  BufferResourceInfo bufferResource;
  KernelEntryInfo kernelEntry;
  InstructionInfo instructions;
};

/// A row, seen through the interface that passes use.
class Target final : public TargetInfo {
public:
  explicit Target(TargetRow row) : row(std::move(row)) {}

  llvm::StringRef name() const override { return row.name; }
  unsigned waveSize() const override { return row.waveSize; }
  unsigned maxThreadsPerWorkgroup() const override { return row.maxThreadsPerWorkgroup; }
  const LdsInfo &lds() const override { return row.lds; }
  const RegisterInfo &registers() const override { return row.registers; }
  const CrossLaneInfo &crossLane() const override { return row.crossLane; }
  const ArithmeticInfo &arithmetic() const override { return row.arithmetic; }
  const ConversionInfo &conversions() const override { return row.conversions; }
  const AtomicInfo &atomics() const override { return row.atomics; }
  const GlobalMemoryInfo &globalMemory() const override { return row.globalMemory; }
  const DeviceInfo &device() const override { return row.device; }
  llvm::ArrayRef<MatrixInstruction> matrixInstructions() const override {
    return row.matrixInstructions;
  }

  llvm::StringRef features() const { return row.features; }
  const BufferResourceInfo &bufferResource() const { return row.bufferResource; }
  const KernelEntryInfo &kernelEntry() const { return row.kernelEntry; }
  const InstructionInfo &instructions() const { return row.instructions; }

private:
  TargetRow row;
};

/// The row that tools take if none is named.
llvm::StringRef defaultTargetName();

/// Every target, in the order of the table.
llvm::ArrayRef<Target> targets();

/// The row of `name`, or an error that names it and lists the rows present.
llvm::Expected<const Target &> findTarget(llvm::StringRef name);

} // namespace wavetile::rocm

#endif // WAVETILE_BACKEND_ROCM_TARGETS_H
