//===- Wave.h - The state of one wave -------------------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything that an instruction can read or change: the wave's registers, and through its
// workgroup LDS, scratch and global memory. Included by code built for several instruction sets of
// the host, so every function here is inlined or defined once elsewhere.
//
// Registers are rows: register n of lane l is `rows[n << shift | l]`, the wave size being 1 <<
// shift. Checks of definedness will keep one 64-bit word of lanes a row beside it, indexed the same
// way.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_WAVE_H
#define WAVETILE_RUNTIME_EMULATOR_WAVE_H

#include "runtime/emulator/MatrixRounding.h"
#include "runtime/emulator/Mode.h"
#include "runtime/emulator/Record.h"

#include <cstdint>
#include <cstring>

#define WAVETILE_INLINE __attribute__((always_inline)) inline

namespace wavetile::device {

struct Wave;

enum class FaultKind : uint8_t;
class AccessObservers;
class GlobalMemory;
class DecodedProgram;
struct Launch;
class InstructionProfile;
class Trace;
class WaveChecks;
class WorkgroupRaces;

inline constexpr uint32_t maximumWaveSize = 64;

/// A wave that stops while it is ready gives its turn up and goes on in the next one.
enum class WaveStatus : uint8_t { Ready, AtBarrier, Ended, Faulted };

/// The barrier of a workgroup: opens when all members have signalled. See Barriers.h.
struct BarrierState {
  uint32_t members = 0; ///< Waves that have not ended.
  uint32_t signals = 0; ///< Of the members, since the barrier opened last.
  uint32_t opened = 0;  ///< How often.
  /// The fewest barriers, but not none, at which a wave that has ended had signalled.
  uint32_t fewestOfEnded = ~0u;
  /// It opened though a wave that had met earlier ones has ended without meeting it.
  bool missed = false;
};

/// What the waves of a workgroup share.
struct Workgroup {
  Wave *waves = nullptr;
  uint32_t waveCount = 0;
  BarrierState barrier;
  bool checksBarriers = false;
  WorkgroupRaces *races = nullptr; ///< Null: races are not looked for.
  uint8_t *lds = nullptr;
  uint32_t ldsBytes = 0;
  GlobalMemory *memory = nullptr;
  const DecodedProgram *program = nullptr;
  const Launch *launch = nullptr;
  uint32_t id[3] = {};
  uint64_t *bytesLoaded = nullptr;
  uint64_t *bytesStored = nullptr;
  /// Instructions of waves that this thread of the launch has executed, by class; null: a wave
  /// without a launch.
  const uint64_t *executed = nullptr;
  MatrixRounding matrixRounding = MatrixRounding::FusedMultiplyAdd;
  InstructionProfile *profile = nullptr; ///< Of the thread that runs it; null: none is made.
  Trace *trace = nullptr;                ///< Null: its execution is not written down.
};

/// What a fault handler is told; the launch adds where the wave stands.
struct PendingFault {
  FaultKind kind{};
  const Record *record = nullptr;
  int32_t lane = -1;
  uint64_t address = 0;
  uint32_t bytes = 0;
  bool isStore = false;
  bool isAtomic = false; ///< A read-modify-write operation; then it is a store too.
  const char *detail = "";
};

/// Row pairs that operands are prepared in: four sources and a result.
inline constexpr unsigned temporaryRows = 10;
inline constexpr unsigned resultTemporary = 8;

/// What instructions read and change of a wave is `scalars`, `mode` and vector rows, and nothing
/// else: SpinProbe decides by these whether a wave runs in circles.
struct alignas(64) Wave {
  /// Bases of vector and constant operands, indexed by OperandKind.
  uint32_t *bases[2] = {};
  uint32_t shift = 0;
  uint32_t waveSize = 0;
  /// What 16-bit results keep of their register: 0 or 0xffff0000.
  uint32_t keptByHalfResult = 0;
  Mode mode;
  WaveStatus status = WaveStatus::Ready;
  const Record *pc = nullptr; ///< Where to go on; set when the wave stops.
  Workgroup *workgroup = nullptr;
  /// `scratchBytes` for each lane, whose dwords alternate: see `scratchWord`.
  uint8_t *scratch = nullptr;
  uint32_t scratchBytes = 0;
  uint32_t indexInWorkgroup = 0;
  PendingFault fault;
  /// Told of every access to memory, see AccessObserver.h. Null: checks are off.
  const AccessObservers *observers = nullptr;
  /// Definedness and waits of this wave; null if they are not checked.
  WaveChecks *checks = nullptr;
  /// Set by every instruction that reads a clock: a wave that waits for time to pass is not stuck.
  bool readsClock = false;
  /// The barrier opened since this wave last went past it.
  bool barrierOpen = false;
  /// Counted apart, for a split barrier lets a wave work between the two.
  uint32_t barriersSignalled = 0;
  uint32_t barriersPassed = 0;

  alignas(64) uint32_t scalars[scalar::Count] = {};
  alignas(64) uint32_t execRow[maximumWaveSize] = {};
  uint64_t execRowValue = 0; ///< What EXEC was when `execRow` was made.
  alignas(64) uint32_t temporary[temporaryRows][maximumWaveSize];

  // --- Scalars ---

  WAVETILE_INLINE uint64_t scalar64(uint32_t index) const {
    return scalars[index] | static_cast<uint64_t>(scalars[index + 1]) << 32;
  }
  WAVETILE_INLINE void setScalar64(uint32_t index, uint64_t value) {
    scalars[index] = static_cast<uint32_t>(value);
    scalars[index + 1] = static_cast<uint32_t>(value >> 32);
  }
  /// A mask of lanes: a register pair in wave64, one register in wave32.
  WAVETILE_INLINE uint64_t laneMask(uint32_t index) const {
    return waveSize == 64 ? scalar64(index) : scalars[index];
  }
  WAVETILE_INLINE void setLaneMask(uint32_t index, uint64_t value) {
    scalars[index] = static_cast<uint32_t>(value);
    if (waveSize == 64)
      scalars[index + 1] = static_cast<uint32_t>(value >> 32);
  }
  WAVETILE_INLINE uint64_t exec() const { return laneMask(scalar::Exec); }
  WAVETILE_INLINE uint64_t allLanes() const { return waveSize == 64 ? ~uint64_t(0) : 0xffffffffu; }

  /// The value of a scalar or constant operand, or lane 0 of a vector one.
  WAVETILE_INLINE uint32_t read32(Operand operand) const {
    if (operand.kind() == OperandKind::Scalar) {
      uint32_t index = operand.index();
      if (__builtin_expect(index >= scalar::VccZero, 0))
        return index == scalar::VccZero ? laneMask(scalar::Vcc) == 0 : exec() == 0;
      return scalars[index];
    }
    return *row(operand);
  }
  WAVETILE_INLINE uint64_t read64(Operand operand) const {
    if (operand.kind() == OperandKind::Scalar) {
      if (__builtin_expect(operand.index() >= scalar::Scc, 0))
        return read32(operand); // One bit, whatever the width.
      return scalar64(operand.index());
    }
    const uint32_t *low = row(operand);
    return low[0] | static_cast<uint64_t>(low[waveSize]) << 32;
  }
  /// A mask of lanes that any operand may be.
  WAVETILE_INLINE uint64_t readMask(Operand operand) const {
    bool isSingle = operand.kind() == OperandKind::Scalar && waveSize == 32;
    return isSingle ? read32(operand) : read64(operand);
  }

  // --- Scratch ---

  /// Dword \p index of a lane's own scratch.
  WAVETILE_INLINE uint32_t *scratchWord(uint32_t lane, uint32_t index) const {
    return reinterpret_cast<uint32_t *>(scratch) + ((static_cast<uint64_t>(index) << shift) + lane);
  }
  WAVETILE_INLINE uint8_t *scratchByte(uint32_t lane, uint32_t offset) const {
    return reinterpret_cast<uint8_t *>(scratchWord(lane, offset / 4)) + offset % 4;
  }

  // --- Vectors ---

  /// The row of a vector or constant operand.
  WAVETILE_INLINE uint32_t *row(Operand operand) const {
    return bases[operand.bits >> 14] + (operand.index() << shift);
  }
  WAVETILE_INLINE uint32_t *vectorRow(uint32_t index) const { return bases[0] + (index << shift); }

  /// A row with all bits set for active lanes, else 0.
  WAVETILE_INLINE const uint32_t *activeRow() {
    uint64_t active = exec();
    if (__builtin_expect(active != execRowValue, 0)) {
      expandMask(active, execRow);
      execRowValue = active;
    }
    return execRow;
  }

  /// Writes a row with all bits set in the lanes of \p mask, else 0.
  WAVETILE_INLINE static void expandMask(uint64_t mask, uint32_t *row) {
    for (unsigned base = 0; base < maximumWaveSize; base += 32) {
      uint32_t half = static_cast<uint32_t>(mask >> base);
      for (unsigned lane = 0; lane < 32; ++lane)
        row[base + lane] = -((half >> lane) & 1u);
    }
  }
};

/// Lets the host answer what the waves of a workgroup wait for. Why it cannot, or null.
const char *interruptHost(const Workgroup &workgroup);

/// The clock of 100 MHz that all waves share, and notes that the wave has read a clock.
uint64_t readRealTime(Wave &wave);

/// Stops the wave with a fault; what a handler returns when something is wrong.
const Record *fail(Wave &wave, const Record *record, FaultKind kind, int32_t lane, uint64_t address,
                   uint32_t bytes, bool isStore, const char *detail = "");

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_WAVE_H
