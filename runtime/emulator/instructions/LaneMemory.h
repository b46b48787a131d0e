//===- LaneMemory.h - Loads and stores of all lanes of a wave -------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared by global, flat, scratch and buffer instructions: the addresses of all lanes, the check
// that the active ones may be accessed, and the copy between memory and register rows.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_LANEMEMORY_H
#define WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_LANEMEMORY_H

#include "runtime/emulator/AccessObserver.h"
#include "runtime/emulator/GlobalMemory.h"
#include "runtime/emulator/Instruction.h"
#include "runtime/emulator/Machine.h"
#include "runtime/emulator/TransposedLoads.h"
#include "runtime/emulator/Wave.h"
#include "runtime/emulator/instructions/LaneCopy.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {

struct LaneAddresses {
  alignas(64) uint64_t address[maximumWaveSize];
  uint64_t active = 0;
  uint64_t notGlobal = 0; ///< Of the active ones, those in LDS or scratch, for FLAT.
  // What `MemoryAccess` says of them.
  uint64_t partial = 0, outside = 0, overEnd = 0;
  uint8_t lengths[maximumWaveSize];
  /// The one allocation that holds the accesses of all active lanes, or null: not known.
  const Allocation *allocation = nullptr;
};

/// What an instruction does with each lane's bytes.
struct AccessForm {
  AccessKind kind;
  DataPlacement placement;
  uint32_t bytes;
  uint32_t alignment = 1; ///< What the address must be a multiple of.
  uint8_t source = 1;     ///< Which source of the record a store's or atomic's data are.
  /// Compare-and-swap: which source is compared with; `registersAfter`: those after the data.
  uint8_t comparison = 0;

  uint8_t elementBits = 0; ///< Of transposing loads.
  uint8_t registers = 0;   ///< If they do not just hold the bytes.
  /// Registers of the instruction's data, or of its result, before those of this access.
  uint8_t part = 0;

  static constexpr uint8_t registersAfter = 255, noSource = 255;

  constexpr AccessForm ofSource(uint8_t index) const {
    AccessForm copy = *this;
    copy.source = index;
    return copy;
  }
  constexpr AccessForm ofPart(unsigned first) const {
    AccessForm copy = *this;
    copy.part = static_cast<uint8_t>(first);
    return copy;
  }
  constexpr AccessForm comparedWith(uint8_t index) const {
    AccessForm copy = *this;
    copy.comparison = index;
    return copy;
  }

  constexpr bool isStore() const {
    return kind != AccessKind::Load && kind != AccessKind::LoadToLds;
  }
  constexpr bool isAtomic() const {
    return kind == AccessKind::Atomic || kind == AccessKind::AtomicReturning;
  }
};

WAVETILE_INLINE bool isActive(uint64_t mask, unsigned lane) { return mask >> lane & 1; }

/// Runs \p body for each active lane, in order.
template <typename Body> WAVETILE_INLINE void forActive(uint64_t mask, Body body) {
  for (; mask != 0; mask &= mask - 1)
    body(static_cast<unsigned>(__builtin_ctzll(mask)));
}

/// Stops the wave for what a lane would access. False, for callers to return.
bool failAccess(Wave &wave, const Record *record, FaultKind kind, int32_t lane, uint64_t address,
                AccessForm form);

/// Checks the active lanes' accesses one by one; records the fault of the first bad one, and which
/// loads run over the end of their allocation.
bool eachLaneAccessible(Wave &wave, const Record *record, LaneAddresses &lanes, AccessForm form);

/// Whether all active lanes may access their bytes. If not, the wave has its fault.
WAVETILE_INLINE bool accessible(Wave &wave, const Record *record, LaneAddresses &lanes,
                                AccessForm form) {
  if (lanes.active == 0)
    return true;
  uint64_t low = ~uint64_t(0), high = 0;
  alignas(64) uint32_t some[maximumWaveSize];
  const uint32_t *active = some;
  if (__builtin_expect(lanes.active == wave.exec(), 1))
    active = wave.activeRow();
  else
    Wave::expandMask(lanes.active, some);
  for (unsigned lane = 0; lane < wave.waveSize; ++lane) {
    uint64_t on = static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(active[lane])));
    uint64_t whenOn = lanes.address[lane] | ~on;
    low = whenOn < low ? whenOn : low;
    uint64_t elseZero = lanes.address[lane] & on;
    high = elseZero > high ? elseZero : high;
  }
  uint64_t total = high - low + form.bytes;
  GlobalMemory &memory = *wave.workgroup->memory;
  if (__builtin_expect(!memory.containsAll(record, low, total, form.isStore()), 0))
    return eachLaneAccessible(wave, record, lanes, form);
  lanes.allocation = &memory.lastOf(record);
  return true;
}

// --- Reports to the checks, see AccessObserver.h ---

WAVETILE_INLINE bool isObserved(const Wave &wave) {
  return __builtin_expect(wave.observers != nullptr, 0);
}
/// Reports accesses to global memory. False: the wave has its fault.
bool reportGlobal(Wave &wave, const Record *record, const LaneAddresses &lanes, AccessForm form);
/// Reports accesses of the lanes of \p active to LDS or scratch at `offsets[lane] + offset`.
bool reportOffsets(Wave &wave, const Record *record, AccessSpace space, const uint32_t *offsets,
                   uint32_t offset, uint64_t active, AccessForm form);
/// Reports a load through the scalar cache into `record->destination`.
bool reportScalar(Wave &wave, const Record *record, uint64_t address, uint32_t bytes,
                  DataPlacement placement, uint32_t inRange);

/// Whether all active lanes' addresses are multiples of the form's alignment, as atomics and loads
/// to LDS need. If not, the wave has its fault.
bool aligned(Wave &wave, const Record *record, const LaneAddresses &lanes, AccessForm form);

/// Loads to LDS: lane l writes `bytes`, at least a dword, at `base + step * l`. M0 has 18 bits.
struct LdsTarget {
  uint32_t base, step, bytes;
  WAVETILE_INLINE LdsTarget(const Wave &wave, const Record *record, uint32_t loaded)
      : base((wave.scalars[scalar::M0] & 0x3ffff) + record->immediate),
        step(loaded <= 4    ? 4
             : loaded == 12 ? 16
                            : loaded),
        bytes(loaded < 4 ? 4 : loaded) {}
  WAVETILE_INLINE uint32_t offset(unsigned lane) const { return base + step * lane; }
};
/// Whether all active lanes of a load to LDS write inside LDS. If not, the wave has its fault.
bool toLdsInBounds(Wave &wave, const Record *record, const LdsTarget &target);

/// Counts the bytes that lanes accessed in global memory.
WAVETILE_INLINE void countBytes(const Wave &wave, const LaneAddresses &lanes, uint32_t bytes,
                                bool isStore) {
  uint64_t whole = lanes.active & ~lanes.notGlobal;
  uint64_t total = static_cast<uint64_t>(__builtin_popcountll(whole)) * bytes;
  for (uint64_t mask = lanes.partial; mask != 0; mask &= mask - 1)
    total += lanes.lengths[__builtin_ctzll(mask)];
  *(isStore ? wave.workgroup->bytesStored : wave.workgroup->bytesLoaded) += total;
}

/// How a loaded value of less than a dword meets its register.
enum class Narrow : uint8_t { Whole, ZeroByte, SignedByte, ZeroShort, SignedShort };
/// Which half of the register it goes to; the other one is kept.
enum class Half : uint8_t { All, Low, High };

template <typename T> WAVETILE_INLINE T loadFrom(uint64_t address) {
  T value;
  __builtin_memcpy(&value, reinterpret_cast<const void *>(address), sizeof(T));
  return value;
}
template <typename T> WAVETILE_INLINE void storeTo(uint64_t address, T value) {
  __builtin_memcpy(reinterpret_cast<void *>(address), &value, sizeof(T));
}

/// A lane's 32- or 64-bit word in register rows.
template <typename T>
WAVETILE_INLINE T wordOf(const uint32_t *row, unsigned lane, unsigned stride) {
  T value = row[lane];
  if constexpr (sizeof(T) == 8)
    value |= static_cast<uint64_t>(row[stride + lane]) << 32;
  return value;
}
template <typename T>
WAVETILE_INLINE void setWord(uint32_t *row, unsigned lane, unsigned stride, T value) {
  row[lane] = static_cast<uint32_t>(value);
  if constexpr (sizeof(T) == 8)
    row[stride + lane] = static_cast<uint32_t>(value >> 32);
}

/// If the lanes' addresses follow one another in steps of \p bytes.
WAVETILE_INLINE bool isContiguous(const LaneAddresses &lanes, unsigned count, uint32_t bytes) {
  uint64_t first = lanes.address[0], different = 0;
  for (unsigned lane = 0; lane < count; ++lane)
    different |= lanes.address[lane] ^ (first + uint64_t(lane) * bytes);
  return different == 0;
}

/// Loads `dwords` registers for each active lane.
template <unsigned dwords>
WAVETILE_INLINE void loadDwords(const Wave &wave, uint32_t *row, const LaneAddresses &lanes) {
  const unsigned stride = wave.waveSize;
  if (lanes.active == wave.allLanes() && isContiguous(lanes, stride, 4 * dwords)) {
    alignas(64) uint32_t block[dwords * 32];
    for (unsigned base = 0; base < stride; base += 32) {
      __builtin_memcpy(block, reinterpret_cast<const void *>(lanes.address[base]), sizeof(block));
      for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned i = 0; i < dwords; ++i)
          row[i * stride + base + lane] = block[dwords * lane + i];
    }
    return;
  }
  if (lanes.active == wave.allLanes()) {
    loadLanes<dwords>(row, stride, nullptr, [&](unsigned lane) {
      return reinterpret_cast<const void *>(lanes.address[lane]);
    });
    return;
  }
  if (lanes.active == 0)
    return;
  // Lanes that are off load what the first active one loads.
  uint64_t any = lanes.address[__builtin_ctzll(lanes.active)];
  alignas(64) uint32_t active[maximumWaveSize];
  Wave::expandMask(lanes.active, active);
  loadLanes<dwords>(row, stride, active, [&](unsigned lane) {
    return reinterpret_cast<const void *>(active[lane] ? lanes.address[lane] : any);
  });
}
template <unsigned dwords>
WAVETILE_INLINE void storeDwords(const Wave &wave, const uint32_t *row,
                                 const LaneAddresses &lanes) {
  const unsigned stride = wave.waveSize;
  if (lanes.active == wave.allLanes() && isContiguous(lanes, stride, 4 * dwords)) {
    alignas(64) uint32_t block[dwords * 32];
    for (unsigned base = 0; base < stride; base += 32) {
      for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned i = 0; i < dwords; ++i)
          block[dwords * lane + i] = row[i * stride + base + lane];
      __builtin_memcpy(reinterpret_cast<void *>(lanes.address[base]), block, sizeof(block));
    }
    return;
  }
  storeLanes<dwords>(row, stride, lanes.active,
                     [&](unsigned lane) { return reinterpret_cast<void *>(lanes.address[lane]); });
}

constexpr uint32_t bytesOf(Narrow narrow) {
  return narrow == Narrow::ZeroByte || narrow == Narrow::SignedByte ? 1 : 2;
}
constexpr DataPlacement placementOf(Half half, bool isSigned = false) {
  return half == Half::Low    ? DataPlacement::LowHalf
         : half == Half::High ? DataPlacement::HighHalf
         : isSigned           ? DataPlacement::SignExtend
                              : DataPlacement::ZeroExtend;
}

// The forms of the usual instructions.
constexpr AccessForm loadForm(unsigned dwords) {
  return {AccessKind::Load, DataPlacement::Dwords, 4 * dwords};
}
constexpr AccessForm storeForm(unsigned dwords) {
  return {AccessKind::Store, DataPlacement::Dwords, 4 * dwords};
}
constexpr AccessForm loadForm(Narrow narrow, Half half) {
  bool isSigned = narrow == Narrow::SignedByte || narrow == Narrow::SignedShort;
  return {AccessKind::Load, placementOf(half, isSigned), bytesOf(narrow)};
}
/// Stores of a byte or short: the low bits of the register or of its high half.
constexpr AccessForm storeForm(unsigned bytes, Half half) {
  return {AccessKind::Store,
          half == Half::High ? DataPlacement::HighHalf : DataPlacement::ZeroExtend, bytes};
}
constexpr AccessForm atomicForm(unsigned bytes, bool returns) {
  return {returns ? AccessKind::AtomicReturning : AccessKind::Atomic, DataPlacement::Dwords, bytes,
          bytes};
}
constexpr AccessForm compareAndSwapForm(unsigned bytes, bool returns) {
  return atomicForm(bytes, returns).comparedWith(AccessForm::registersAfter);
}
constexpr AccessForm transposedForm(unsigned bytes, uint8_t elementBits) {
  AccessForm form = {AccessKind::Load, DataPlacement::Transposed, bytes, bytes == 12 ? 4 : 8u};
  form.elementBits = elementBits;
  return form;
}
constexpr AccessForm toLdsForm(unsigned bytes, Narrow narrow) {
  bool isSigned = narrow == Narrow::SignedByte || narrow == Narrow::SignedShort;
  return {AccessKind::LoadToLds,
          bytes >= 4 ? DataPlacement::Dwords
          : isSigned ? DataPlacement::SignExtend
                     : DataPlacement::ZeroExtend,
          bytes, bytes < 4 ? bytes : 4};
}
template <Narrow narrow> WAVETILE_INLINE uint32_t loadNarrowValue(uint64_t address) {
  switch (narrow) {
  case Narrow::ZeroByte:
    return loadFrom<uint8_t>(address);
  case Narrow::SignedByte:
    return static_cast<uint32_t>(static_cast<int32_t>(loadFrom<int8_t>(address)));
  case Narrow::ZeroShort:
    return loadFrom<uint16_t>(address);
  case Narrow::SignedShort:
    return static_cast<uint32_t>(static_cast<int32_t>(loadFrom<int16_t>(address)));
  case Narrow::Whole:
    break;
  }
  return loadFrom<uint32_t>(address);
}
WAVETILE_INLINE void placeHalf(uint32_t &target, uint32_t value, Half half) {
  target = half == Half::All   ? value
           : half == Half::Low ? (target & 0xffff0000) | (value & 0xffff)
                               : (target & 0xffff) | value << 16;
}
template <Narrow narrow, Half half>
WAVETILE_INLINE void loadNarrow(uint32_t *row, const LaneAddresses &lanes) {
  forActive(lanes.active, [&](unsigned lane) {
    placeHalf(row[lane], loadNarrowValue<narrow>(lanes.address[lane]), half);
  });
}
template <unsigned bytes, Half half>
WAVETILE_INLINE void storeNarrow(const uint32_t *row, const LaneAddresses &lanes) {
  forActive(lanes.active, [&](unsigned lane) {
    uint32_t value = half == Half::High ? row[lane] >> 16 : row[lane];
    if constexpr (bytes == 1)
      storeTo<uint8_t>(lanes.address[lane], static_cast<uint8_t>(value));
    else
      storeTo<uint16_t>(lanes.address[lane], static_cast<uint16_t>(value));
  });
}

/// What transposing loads have read, until it is given to the lanes that get it.
class TransposeBuffer {
public:
  WAVETILE_INLINE void load(unsigned lane, uint64_t address, unsigned bytes) {
    __builtin_memcpy(&loaded[lane], reinterpret_cast<const void *>(address), bytes);
  }
  template <bool isGlobal, unsigned bytes, unsigned bits>
  WAVETILE_INLINE void give(const Wave &wave, uint32_t *row) const {
    constexpr unsigned elements = bytes * 8 / bits;
    constexpr Value mask = (Value(1) << bits) - 1;
    forActive(wave.exec(), [&](unsigned lane) {
      Value result = 0;
      for (unsigned i = 0; i < elements; ++i) {
        TransposedSource source = transposedSource(isGlobal, bytes, bits, lane, i);
        result |= (loaded[source.lane] >> (bits * source.element) & mask) << (bits * i);
      }
      for (unsigned i = 0; i < bytes / 4; ++i)
        row[i * wave.waveSize + lane] = static_cast<uint32_t>(result >> (32 * i));
    });
  }

private:
  using Value = unsigned __int128;
  Value loaded[maximumWaveSize] = {};
};

/// A row of a memory table.
constexpr Instruction memory(const char *names, Shape shape, InstructionClass instructionClass,
                             Handler handler, uint8_t variant = 0) {
  Instruction row;
  row.names = names;
  row.direct = handler;
  row.shape = shape;
  row.instructionClass = instructionClass;
  row.variant = variant;
  return row;
}

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_LANEMEMORY_H
