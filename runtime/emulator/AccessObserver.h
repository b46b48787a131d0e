//===- AccessObserver.h - What memory instructions tell the checks --------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What this header promises: each memory instruction reports each access that it makes, once all
// lanes' addresses are known and in bounds, and before anything is read or written: registers and
// memory still hold their old values. Definedness of memory, races and counters live from these
// reports; a wave without observers pays one comparison with null.
//
// An instruction that touches memory twice (two-address LDS forms, flat lanes in several spaces)
// makes a report for each part; `data` says which registers it concerns. Lanes are those of a
// report's masks only: EXEC may have more.
//
// Included by code built for several instruction sets of the host: no library containers here.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_ACCESSOBSERVER_H
#define WAVETILE_RUNTIME_EMULATOR_ACCESSOBSERVER_H

#include "runtime/emulator/Record.h"

#include <cstdint>

namespace wavetile::device {

struct Allocation;
struct Wave;

enum class AccessKind : uint8_t {
  Load,
  Store,
  Atomic,          ///< Without a result.
  AtomicReturning, ///< The old value goes to `result`.
  LoadToLds,       ///< Reads `space`, writes LDS.
};

enum class AccessSpace : uint8_t {
  Global,
  Lds,
  Scratch,
  Constant, ///< Global memory through the scalar cache: SMEM. One access, which is "lane" 0.
};

/// Who is meant to see an access, from the instruction's cache bits. The smallest is the default.
enum class AccessScope : uint8_t { Wave = 0, Workgroup = 1, Device = 2, System = 3 };

/// How the bytes in memory and the bits of `data` belong together.
enum class DataPlacement : uint8_t {
  Dwords,     ///< `bytes` / 4 registers, bit for bit.
  ZeroExtend, ///< Loads of 1 or 2 bytes. Stores: the low bytes of a register.
  SignExtend,
  LowHalf,    ///< Bits 15 to 0, a byte being extended to them; loads keep the others.
  HighHalf,   ///< Bits 31 to 16.
  Converted,  ///< A format conversion: all `registers` registers depend on all bytes.
  Transposed, ///< Lanes exchange elements of `elementBits` after the load, see TransposedLoads.h.
};

/// One report.
struct MemoryAccess {
  const Record *record = nullptr;
  AccessKind kind = AccessKind::Load;
  AccessSpace space = AccessSpace::Global;
  AccessScope scope = AccessScope::Wave;
  DataPlacement placement = DataPlacement::Dwords;
  uint32_t bytes = 0; ///< Of one lane in memory.

  /// Lanes that access all their bytes.
  uint64_t active = 0;
  /// Lanes that access only the first `lengths[lane]` of them: a buffer's range ends there. What a
  /// load gives them of the others is 0. Disjoint from `active`.
  uint64_t partial = 0;
  /// Lanes that access nothing and load 0: outside the range of their buffer.
  uint64_t zeroed = 0;
  /// Lanes of `active` whose load runs over the end of its allocation, within its aligned block:
  /// only the first `lengths[lane]` bytes are memory's, the others are undefined.
  uint64_t overEnd = 0;
  const uint8_t *lengths = nullptr;

  /// Global and Constant: the host addresses of the lanes.
  const uint64_t *addresses = nullptr;
  /// Lds and Scratch: lane l's access is at byte `offsets[l] + offset` of the workgroup's LDS or of
  /// the lane's own scratch. Null: at `offset` in all lanes.
  const uint32_t *offsets = nullptr;
  uint32_t offset = 0;
  /// All lanes are active and their accesses follow one another without a gap. Global and LDS;
  /// false says nothing.
  bool contiguous = false;
  /// The one allocation that holds all lanes' accesses, or null if that is not known. Global only.
  const Allocation *allocation = nullptr;

  /// Loads: the first destination register. Stores and atomics: the first source register;
  /// compare-and-swap has the new value there. Scalar for SMEM. None for LoadToLds.
  Operand data;
  /// Compare-and-swap: the first register of what is compared with. Else none.
  Operand comparison;
  /// AtomicReturning: the first destination register.
  Operand result;
  uint8_t registers = 0; ///< Registers of `data`.
  uint8_t elementBits = 0;

  /// LoadToLds: lane l of `active`, `partial` and `zeroed` writes `ldsBytes` bytes of LDS, whole
  /// dwords, from byte `ldsOffset + l * ldsStep` on; what memory did not give is 0 or a copy of the
  /// sign. The step is larger where lanes leave a dword between them.
  uint32_t ldsOffset = 0;
  uint32_t ldsStep = 0;
  uint32_t ldsBytes = 0;
};

/// One consumer of reports.
struct AccessObserver {
  /// False: the access is wrong, `fail` was called with the wave, and the instruction must not be
  /// completed.
  using Function = bool (*)(void *self, Wave &wave, const MemoryAccess &access);
  Function function = nullptr;
  void *self = nullptr;
};

/// Those of a launch or of one of its threads; `Wave::observers` names them. Called in the order in
/// which they were added.
class AccessObservers {
public:
  void add(AccessObserver observer) { list[count++] = observer; }
  bool full() const { return count == capacity; }
  bool any() const { return count != 0; }
  /// False: one of them said so.
  bool report(Wave &wave, const MemoryAccess &access) const;

private:
  static constexpr unsigned capacity = 6;
  AccessObserver list[capacity];
  unsigned count = 0;
};

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_ACCESSOBSERVER_H
