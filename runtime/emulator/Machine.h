//===- Machine.h - The device's processor, seen from outside --------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What this header promises: given the bytes of a code object's .text, the description of a kernel
// and a launch, `run` executes the AMDGPU machine code on the CPU and gives the results that the
// named GPU would give. Every memory access is checked before it is made; what is wrong comes back
// as a Fault, and the process lives on. Nothing here knows HIP: `hip/` turns HIP calls into these.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_MACHINE_H
#define WAVETILE_RUNTIME_EMULATOR_MACHINE_H

#include "runtime/emulator/MatrixRounding.h"
#include "runtime/emulator/MemoryMap.h"

#include "runtime/emulator/checks/Options.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace wavetile::device {

class InstructionProfile;
struct TargetDescription;
struct TraceRequest;

/// What the amdhsa kernel descriptor says, already taken apart.
struct KernelDescriptor {
  std::string name;
  /// Address of the first instruction. With kernel argument preload this is the entry that expects
  /// the preloaded SGPRs to be set up (descriptor entry + 256).
  uint64_t entry = 0;
  /// The whole of the kernel's code, for refusing instructions: [entry, end). Zero: unknown.
  uint64_t end = 0;

  uint32_t groupSegmentSize = 0;   ///< Static LDS bytes.
  uint32_t privateSegmentSize = 0; ///< Scratch bytes of a work-item.
  uint32_t kernargSize = 0;

  // SGPRs set up at start, in the order of the architecture.
  bool enablePrivateSegmentBuffer = false;
  bool enableDispatchPtr = false;
  bool enableQueuePtr = false;
  bool enableKernargSegmentPtr = false;
  bool enableDispatchId = false;
  bool enableFlatScratchInit = false;
  bool enablePrivateSegmentSize = false;
  uint32_t kernargPreloadLength = 0; ///< In dwords.
  uint32_t kernargPreloadOffset = 0; ///< In dwords.
  uint32_t userSgprCount = 0;        ///< As the descriptor states it, preloaded ones included.
  bool enableWorkgroupIdX = true;
  bool enableWorkgroupIdY = false;
  bool enableWorkgroupIdZ = false;
  bool enableWorkgroupInfo = false;
  bool enablePrivateSegment = false;

  /// RDNA: the waves may be on both compute units of a pair, each of which has a cache of its own.
  bool workgroupProcessorMode = false;
  uint32_t workItemIdMode = 0; ///< 0: x; 1: x, y; 2: x, y, z. Packed into v0 on all our targets.

  bool wave32 = false;
  uint32_t waveSize() const { return wave32 ? 32 : 64; }
  uint32_t floatRoundMode32 = 0;
  uint32_t floatRoundMode16_64 = 0;
  uint32_t floatDenormMode32 = 3; ///< 0: flush sources and results; 3: keep both.
  uint32_t floatDenormMode16_64 = 3;
  bool dx10Clamp = true;
  bool ieeeMode = true;
  bool float16Overflow = false; ///< MODE.FP16_OVFL
  /// The MODE register at the start.
  uint32_t modeBits() const {
    return floatRoundMode32 | floatRoundMode16_64 << 2 | floatDenormMode32 << 4 |
           floatDenormMode16_64 << 6 | uint32_t(dx10Clamp) << 8 | uint32_t(ieeeMode) << 9 |
           uint32_t(float16Overflow) << 23;
  }

  uint32_t vgprCount = 512;   ///< Granted VGPRs, AGPRs of unified files included.
  uint32_t accumOffset = 256; ///< First AGPR in a unified register file.
  uint32_t sgprCount = 128;
};

/// Instructions by what executes them.
enum class InstructionClass : uint8_t {
  ScalarAlu,
  ScalarMemory,
  Branch,
  Wait, ///< s_waitcnt and its like, s_nop, s_barrier, s_endpgm: no data.
  VectorAlu,
  Transcendental,
  Matrix,
  Lds,
  GlobalLoad, ///< global, flat and buffer loads.
  GlobalStore,
  GlobalAtomic,
  Scratch,
  Part, ///< A record that goes on with an instruction, which its first record is counted for.
  Count
};

/// The plural name used in tables: "scalar ALU", "LDS". Empty for Part.
llvm::StringRef name(InstructionClass);

/// What one launch executed, in instructions of a wave.
struct Counters {
  std::array<uint64_t, static_cast<size_t>(InstructionClass::Count)> instructions{};
  uint64_t bytesLoaded = 0;
  uint64_t bytesStored = 0;
  uint64_t waves = 0;
  uint64_t workgroups = 0;

  uint64_t &operator[](InstructionClass c) { return instructions[static_cast<size_t>(c)]; }
  uint64_t operator[](InstructionClass c) const { return instructions[static_cast<size_t>(c)]; }
  Counters &operator+=(const Counters &other);
};

enum class FaultKind : uint8_t {
  OutOfBounds,    ///< Global memory outside every allocation, or over the end of one.
  ReadOnly,       ///< A store to memory that kernels may not write.
  Misaligned,     ///< Misaligned for its kind of instruction.
  LdsOutOfBounds, ///< Beyond the LDS of the workgroup.
  ScratchOutOfBounds,
  BadProgramCounter,  ///< A jump to somewhere that is not an instruction of the code object.
  BarrierMismatch,    ///< Some waves of a workgroup wait at a barrier that others never reach.
  Stuck,              ///< All waves that are left wait for what never comes.
  LdsRace,            ///< Two waves access LDS with no barrier in between.
  GlobalRace,         ///< The same in global memory, with nothing that orders the two.
  UndefinedValue,     ///< A value that was never defined decides something.
  MissingWait,        ///< The same of one that a load has yet to deliver.
  PendingOverwritten, ///< A register is written that a load has yet to write.
  Trap,               ///< s_trap: llvm.trap or an assertion.
  InstructionLimit,   ///< The launch's budget of instructions is used up.
  Refused             ///< An instruction that this device does not implement was reached.
};

/// A short name for reports: "out of bounds".
llvm::StringRef name(FaultKind);

/// Where one wave of a stuck launch stands.
struct WavePosition {
  std::array<uint32_t, 3> workgroup{};
  uint32_t wave = 0;
  uint64_t instructionAddress = 0;
  bool atBarrier = false; ///< It waits at the barrier there; otherwise it runs in circles.
};

/// The first thing that went wrong in a launch. Addresses and lanes are those of the first active
/// lane at fault.
struct Fault {
  FaultKind kind = FaultKind::OutOfBounds;
  std::string kernel;
  uint64_t instructionAddress = 0;
  std::string instruction; ///< Disassembly, without comment.
  std::array<uint32_t, 3> workgroup{};
  uint32_t wave = 0;
  int32_t lane = -1;    ///< -1: a scalar instruction.
  uint64_t address = 0; ///< What was accessed: a global, LDS or scratch address.
  uint32_t bytes = 0;   ///< Size of the access of one lane.
  bool isStore = false;
  bool isAtomic = false; ///< A read-modify-write operation; then it is a store too.
  std::string detail;    ///< One more sentence where the fields do not say it all.
  /// FaultKind::Stuck: all waves that are left, by workgroup in linear order.
  std::vector<WavePosition> waves;
};

/// Code taken apart once, when a code object is loaded: one record an instruction.
class Program {
public:
  virtual ~Program() = default;

  /// Decodes \p text, which is at \p address in the memory that kernels see, for a target such as
  /// "gfx950" and for kernels whose waves have \p waveSize lanes (0: as the target has them by
  /// itself). Instructions that the device lacks do not fail here: `refusals` names them.
  /// Fails for a target that is not known, or whose waves cannot have this size.
  static llvm::Expected<std::unique_ptr<Program>> decode(llvm::ArrayRef<uint8_t> text,
                                                         uint64_t address, llvm::StringRef target,
                                                         uint32_t waveSize = 0);

  struct Refusal {
    uint64_t address;
    std::string mnemonic;
  };
  /// The instructions in [begin, end) that cannot be executed. A loader refuses each kernel for
  /// which this is not empty, by name, and leaves padding between kernels alone.
  virtual std::vector<Refusal> refusals(uint64_t begin, uint64_t end) const = 0;

  /// The text of the instruction at \p address, as llvm-objdump prints it; empty if there is none.
  virtual std::string disassemble(uint64_t address) const = 0;

  virtual const TargetDescription &target() const = 0;
  /// Lanes of a wave of the kernels that it was decoded for.
  virtual uint32_t waveSize() const = 0;
};

/// A launch of one kernel.
struct Launch {
  const Program *program = nullptr;
  const KernelDescriptor *kernel = nullptr;
  /// Kernel arguments with hidden ones, `kernargSize` bytes or more. Copied before the start.
  llvm::ArrayRef<uint8_t> kernarg;
  std::array<uint32_t, 3> grid{1, 1, 1};          ///< In workgroups.
  std::array<uint32_t, 3> workgroupSize{1, 1, 1}; ///< In work-items.
  /// Work-items of the last workgroup along each axis, which may be partial; 0: it is full.
  std::array<uint32_t, 3> remainder{};
  uint32_t dynamicLdsBytes = 0;
  /// What the host does when a wave interrupts it: answers hostcalls. Gives the reason why it
  /// cannot, valid as long as the launch, or null. May be called by several threads at a time.
  std::function<const char *()> interrupt;
  /// Wave instructions that the launch may execute before it is stopped with a fault.
  uint64_t instructionLimit = UINT64_MAX;
  /// Threads that may execute it, the caller's included. With one the order of all instructions is
  /// always the same; results depend on it only if the kernel orders itself by atomics.
  unsigned threads = 1;
  /// How matrix products are summed. Empty: as the target's row says.
  std::optional<MatrixRounding> matrixRounding;
  CheckOptions checks;
  /// Counts what each instruction does: `LaunchResult::profile`.
  bool profiled = false;
  /// A workgroup whose execution is written down, see counters/Trace.h; null: none.
  const TraceRequest *trace = nullptr;
};

struct LaunchResult {
  std::optional<Fault> fault; ///< Empty: the launch ended as it should.
  Counters counters;
  std::shared_ptr<const InstructionProfile> profile; ///< If the launch asked for it.
};

/// Executes all workgroups, started in linear order (x fastest), and returns when all have ended.
/// Thread-safe: everything that changes lives in the call.
LaunchResult run(const Launch &launch, const MemoryMap &memory);

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_MACHINE_H
