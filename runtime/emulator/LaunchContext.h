//===- LaunchContext.h - What all workgroups of a launch share -------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What this header promises: from a launch, everything that is decided once: whether it can run at
// all, its arguments and dispatch packet in memory that kernels may read, and the registers that a
// wave starts with. Nothing in it changes while workgroups run.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_LAUNCHCONTEXT_H
#define WAVETILE_RUNTIME_EMULATOR_LAUNCHCONTEXT_H

#include "runtime/emulator/AccessObserver.h"
#include "runtime/emulator/AlignedArray.h"
#include "runtime/emulator/Decoder.h"
#include "runtime/emulator/Machine.h"
#include "runtime/emulator/Wave.h"

namespace wavetile::device {

class LaunchContext {
public:
  explicit LaunchContext(const Launch &launch);
  ~LaunchContext();

  /// Why the GPU would refuse this launch, or nothing.
  std::optional<Fault> refusal() const;

  /// The workgroup that is the \p index-th in linear order, x fastest.
  std::array<uint32_t, 3> workgroupAt(uint64_t index) const;

  /// The work-items of a workgroup along each axis: fewer in a last, partial one.
  std::array<uint32_t, 3> sizeOf(const std::array<uint32_t, 3> &group) const;
  uint32_t waveCountOf(const std::array<uint32_t, 3> &group) const;

  /// Gives a wave the registers and the program counter that the descriptor asks for. The wave's
  /// memory and what it belongs to are set already.
  void setUp(Wave &wave, const std::array<uint32_t, 3> &group) const;
  /// The scalar registers alone, but for EXEC. Those that no launch sets are left alone.
  void setScalars(Wave &wave, const std::array<uint32_t, 3> &group) const;

  /// A fault of this launch, with nothing but the kernel and the first instruction in it.
  Fault makeFault(FaultKind kind) const;
  /// The fault that a wave has stopped with.
  Fault faultOf(const Wave &wave, const std::array<uint32_t, 3> &group) const;

  /// Rows of vector registers that the kernel was granted, the first of two runs: VGPRs from row 0,
  /// AGPRs from row `firstAccumulationRow`.
  uint32_t vgprRows() const {
    return std::min({kernel.vgprCount, kernel.accumOffset, target.vgprCount});
  }
  uint32_t agprRows() const { return std::min(kernel.vgprCount - vgprRows(), target.agprCount); }

  const Launch &launch;
  const KernelDescriptor &kernel;
  const DecodedProgram &program;
  const TargetDescription &target;
  const uint32_t waveSize;
  const uint32_t workItems; ///< Of a full workgroup.
  const uint32_t waveCount; ///< Of a full workgroup.
  const uint32_t ldsBytes;  ///< Of a workgroup.
  const uint64_t workgroupCount;

  /// The arguments and the dispatch packet: [argumentsBegin, argumentsEnd).
  uint64_t argumentsBegin() const { return reinterpret_cast<uint64_t>(arguments.get()); }
  uint64_t argumentsEnd() const { return packetAddress + packetBytes; }
  /// Which of their bits are defined: what lies between the arguments and the packet is not.
  uint8_t *argumentsDefined() const { return definedArguments.get(); }

  /// Whom the waves' memory instructions report to.
  AccessObservers observers;

  /// A trace needs the same calls as a profile.
  bool isProfiled() const { return launch.profiled || launch.trace; }
  /// That of the workgroup, or null.
  Trace *traceOf(const std::array<uint32_t, 3> &group) const;

private:
  static constexpr uint64_t packetBytes = 64;
  void makeArguments();
  void setWorkItemIds(Wave &wave, const std::array<uint32_t, 3> &size) const;

  AlignedArray<uint8_t> arguments;
  AlignedArray<uint8_t> definedArguments;
  std::unique_ptr<Trace> trace;
  uint64_t packetAddress = 0;
};

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_LAUNCHCONTEXT_H
