//===- MemoryChecks.cpp - Undefined values in memory ----------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the handlers' reports of accesses tell: which bits of loaded values are undefined, which
// bytes become defined, and whether undefined bits are stored to global memory. Reports come before
// anything is read or written.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/checks/WaveChecks.h"

#include "runtime/emulator/GlobalMemory.h"
#include "runtime/emulator/checks/WorkgroupRaces.h"

#include <algorithm>
#include <array>
#include <type_traits>

namespace wavetile::device {

using namespace checks;

/// Where the shadow of an access's bytes is.
struct WaveChecks::Bytes {
  uint8_t *base = nullptr; ///< Global: of `begin`. LDS: of byte 0. Scratch: of lane 0's byte 0.
  uint64_t begin = 0;
  uint32_t laneStride = 0; ///< Scratch.
  bool perLane = false;    ///< Global: each lane may be in another allocation.

  /// Of one lane's first byte; null: all its bytes are defined.
  uint8_t *of(WaveChecks &checks, const MemoryAccess &access, unsigned lane) const {
    bool isGlobal = access.space == AccessSpace::Global || access.space == AccessSpace::Constant;
    if (!isGlobal)
      return base + uint64_t(lane) * laneStride +
             ((access.offsets ? access.offsets[lane] : 0) + access.offset);
    uint64_t address = access.addresses[lane];
    if (!perLane)
      return base ? base + (address - begin) : nullptr;
    auto allocation = checks.checkedWave->workgroup->memory->find(address);
    if (!allocation || !allocation->definedBits)
      return nullptr;
    return allocation->definedBits + (address - allocation->begin);
  }
  bool allDefined() const { return !base && !perLane; }

  Bytes(WaveChecks &checks, const MemoryAccess &access) {
    switch (access.space) {
    case AccessSpace::Global:
    case AccessSpace::Constant:
      perLane = !access.allocation && (access.active | access.partial) != 0;
      if (access.allocation) {
        base = access.allocation->definedBits;
        begin = access.allocation->begin;
      }
      break;
    case AccessSpace::Lds:
      base = checks.workgroup->ldsDefined.data();
      break;
    case AccessSpace::Scratch: {
      Wave &wave = *checks.checkedWave;
      size_t size = size_t(wave.scratchBytes) * wave.waveSize;
      if (checks.scratchDefined.size() != size)
        checks.scratchDefined.assign(size, checks.options.undefined ? 0 : 0xff);
      base = checks.scratchDefined.data();
      laneStride = wave.scratchBytes;
      break;
    }
    }
  }
};

namespace {

template <typename Body>
inline __attribute__((always_inline)) void forLanes(uint64_t mask, Body body) {
  if (mask == ~uint64_t(0)) {
    for (unsigned lane = 0; lane < 64; ++lane)
      body(lane);
    return;
  }
  for (; mask != 0; mask &= mask - 1)
    body(static_cast<unsigned>(__builtin_ctzll(mask)));
}

constexpr auto ones = [] {
  std::array<uint8_t, 256> bytes;
  bytes.fill(0xff);
  return bytes;
}();

inline __attribute__((always_inline)) bool allOnes(const uint8_t *bytes, size_t count) {
  for (; count >= ones.size(); bytes += ones.size(), count -= ones.size())
    if (__builtin_memcmp(bytes, ones.data(), ones.size()) != 0)
      return false;
  uint64_t all = ~uint64_t(0);
  while (count >= 8) {
    uint64_t word;
    __builtin_memcpy(&word, bytes, 8);
    all &= word;
    bytes += 8, count -= 8;
  }
  if (count >= 4) {
    uint32_t word;
    __builtin_memcpy(&word, bytes, 4);
    all &= word | uint64_t(0xffffffff) << 32;
    bytes += 4, count -= 4;
  }
  for (; count != 0; --count)
    all &= *bytes++ | ~uint64_t(0xff);
  return all == ~uint64_t(0);
}

/// The same of what an atomic accesses: launches on other threads may do so at the same time.
bool allOnesAtomically(const uint8_t *bytes, size_t count) {
  if (count == 4)
    return __atomic_load_n(reinterpret_cast<const uint32_t *>(bytes), __ATOMIC_RELAXED) == ~0u;
  if (count == 8)
    return __atomic_load_n(reinterpret_cast<const uint64_t *>(bytes), __ATOMIC_RELAXED) ==
           ~uint64_t(0);
  return allOnes(bytes, count);
}
/// Makes that defined.
void defineAtomically(uint8_t *bytes, size_t count) {
  if (count == 4)
    __atomic_store_n(reinterpret_cast<uint32_t *>(bytes), ~0u, __ATOMIC_RELAXED);
  else if (count == 8)
    __atomic_store_n(reinterpret_cast<uint64_t *>(bytes), ~uint64_t(0), __ATOMIC_RELAXED);
  else
    std::fill_n(bytes, count, uint8_t(0xff));
}

/// Calls \p body with a constant for the usual numbers of bytes, so that what it does to them is a
/// few instructions.
template <typename Body> auto withConstantBytes(uint32_t bytes, Body body) {
  switch (bytes) {
  case 4:
    return body(std::integral_constant<uint32_t, 4>());
  case 8:
    return body(std::integral_constant<uint32_t, 8>());
  case 16:
    return body(std::integral_constant<uint32_t, 16>());
  default:
    return body(bytes);
  }
}

/// Whether all bytes of the lanes of an LDS or scratch access are defined.
bool offsetsDefined(const MemoryAccess &access, const uint8_t *base, uint32_t laneStride,
                    unsigned waveSize, WorkgroupShadow &shadow) {
  if (access.contiguous) {
    uint64_t begin = uint32_t(access.offset + access.offsets[0]);
    uint64_t end = begin + uint64_t(access.bytes) * waveSize;
    if (shadow.knowsDefined(begin, end))
      return true;
    if (!allOnes(base + begin, end - begin))
      return false;
    shadow.learnDefined(begin, end);
    return true;
  }
  if (access.space == AccessSpace::Lds && shadow.knowsDefined(0, shadow.ldsDefined.size()))
    return true;
  return withConstantBytes(access.bytes, [&](auto bytes) {
    bool defined = true;
    forLanes(access.active, [&](unsigned lane) {
      uint32_t offset = (access.offsets ? access.offsets[lane] : 0) + access.offset; // May wrap.
      uint64_t at = uint64_t(lane) * laneStride + offset;
      defined &= allOnes(base + at, bytes);
    });
    return defined;
  });
}
void defineOffsets(const MemoryAccess &access, uint8_t *base, uint32_t laneStride,
                   unsigned waveSize, WorkgroupShadow &shadow) {
  if (access.contiguous) {
    uint64_t begin = uint32_t(access.offset + access.offsets[0]);
    uint64_t end = begin + uint64_t(access.bytes) * waveSize;
    if (shadow.knowsDefined(begin, end))
      return;
    std::fill(base + begin, base + end, uint8_t(0xff));
    shadow.learnDefined(begin, end);
    return;
  }
  if (access.space == AccessSpace::Lds && shadow.knowsDefined(0, shadow.ldsDefined.size()))
    return;
  withConstantBytes(access.bytes, [&](auto bytes) {
    forLanes(access.active, [&](unsigned lane) {
      uint32_t offset = (access.offsets ? access.offsets[lane] : 0) + access.offset; // May wrap.
      uint64_t at = uint64_t(lane) * laneStride + offset;
      __builtin_memset(base + at, 0xff, bytes);
    });
  });
}

unsigned lengthOf(const MemoryAccess &access, unsigned lane) {
  bool isCut = (access.partial | access.overEnd) >> lane & 1;
  return isCut ? access.lengths[lane] : access.bytes;
}

/// What the race checks say of the access that they have just seen; null: nothing.
const RacedBytes *racedBytes(const Wave &wave) {
  const WorkgroupRaces *races = wave.workgroup->races;
  return races && races->racedBytes().lanes ? &races->racedBytes() : nullptr;
}

/// The undefined bits of what a lane loads, register by register, \p undefined being those of its
/// bytes.
void placeLoaded(const MemoryAccess &access, const uint8_t *undefined, unsigned lane,
                 unsigned stride, uint32_t *words) {
  auto word = [&](unsigned i) -> uint32_t & { return words[i * stride + lane]; };
  bool any = std::any_of(undefined, undefined + access.bytes, [](uint8_t byte) { return byte; });
  uint32_t low = undefined[0] | (access.bytes > 1 ? uint32_t(undefined[1]) << 8 : 0);
  uint32_t sign = access.bytes == 1 ? 0x80 : 0x8000;
  uint32_t above = access.bytes == 1 ? 0xffffff00 : 0xffff0000;
  switch (access.placement) {
  case DataPlacement::Dwords:
    for (unsigned i = 0; i < access.registers; ++i)
      __builtin_memcpy(&word(i), undefined + 4 * i, 4);
    return;
  case DataPlacement::ZeroExtend:
    word(0) = low;
    return;
  case DataPlacement::SignExtend:
    word(0) = low | (low & sign ? above : 0);
    return;
  case DataPlacement::LowHalf:
  case DataPlacement::HighHalf: {
    // A byte may be extended by its sign here or not.
    uint32_t half = low | (access.bytes == 1 && low & sign ? 0xff00 : 0);
    word(0) = access.placement == DataPlacement::LowHalf ? half : half << 16;
    return;
  }
  case DataPlacement::Converted:
  case DataPlacement::Transposed:
    for (unsigned i = 0; i < access.registers; ++i)
      word(i) = any ? ~0u : 0;
    return;
  }
}

/// The bits of a register that a store takes.
uint32_t storedBits(const MemoryAccess &access, unsigned index, unsigned length) {
  switch (access.placement) {
  case DataPlacement::HighHalf:
    return length == 1 ? 0xff0000 : 0xffff0000;
  case DataPlacement::Converted:
    return ~0u;
  default:
    break;
  }
  unsigned left = length > 4 * index ? length - 4 * index : 0;
  return left >= 4 ? ~0u : (1u << (8 * left)) - 1;
}

OriginKind originOf(AccessSpace space) {
  return space == AccessSpace::Lds       ? OriginKind::LdsMemory
         : space == AccessSpace::Scratch ? OriginKind::ScratchMemory
                                         : OriginKind::GlobalMemory;
}

uint64_t addressOf(const MemoryAccess &access, unsigned lane) {
  if (access.addresses)
    return access.addresses[lane];
  uint32_t offset = (access.offsets ? access.offsets[lane] : 0) + access.offset; // May wrap.
  return offset;
}

} // namespace

// --- Loads ---

PendingOperation *WaveChecks::operationOf(const MemoryAccess &access) {
  return current && current->record == numberOf(access.record) ? current : nullptr;
}

/// Gives registers what was loaded into them: at once, or when the load is over. \p undefined is
/// null if it is all defined.
void WaveChecks::deliver(const MemoryAccess &access, uint32_t entry, unsigned registerCount,
                         const uint32_t *undefined, uint64_t lanes, uint32_t bits,
                         uint32_t origin) {
  unsigned size = checkedWave->waveSize;
  PendingOperation *operation = operationOf(access);
  if (!operation || operation->registers == 0) {
    for (unsigned i = 0; i < registerCount; ++i) {
      if (isScalarEntry(entry)) {
        registers.setScalar(entry + i - firstScalarEntry, undefined ? undefined[i * size] : 0,
                            origin);
        continue;
      }
      if (!undefined && bits == ~0u) {
        registers.setLanes(entry + i, lanes, 0, origin);
        continue;
      }
      uint32_t *words = registers.plane(entry + i);
      forLanes(lanes, [&](unsigned lane) {
        uint32_t loaded = undefined ? undefined[i * size + lane] : 0;
        words[lane] = (words[lane] & ~bits) | (loaded & bits);
      });
      registers.settle(entry + i);
      if (undefined)
        registers.origin[entry + i] = origin;
    }
    return;
  }
  uint32_t first = entry - operation->firstEntry;
  // A flat load's lanes in LDS are the other counter's.
  if (currentFlat && access.space == AccessSpace::Lds) {
    PendingOperation &flat = *currentFlat;
    if (flat.registers == 0) {
      flat.registers = operation->registers;
      flat.firstEntry = operation->firstEntry;
      flat.bits = operation->bits;
      std::fill_n(flat.lanes, flat.registers, 0);
      std::fill_n(flat.undefined, flat.registers, 0);
      for (unsigned i = 0; i < flat.registers; ++i)
        ++pending[flat.firstEntry + i]; // After `hold`, so the settled origin is kept.
    }
    for (unsigned i = 0; i < registerCount; ++i) {
      operation->lanes[first + i] &= ~lanes;
      flat.lanes[first + i] |= lanes;
    }
    operation = &flat;
  }
  if (!undefined)
    return;
  operation->origin = origin;
  operation->partialBits.resize(size_t(operation->registers) * size);
  for (unsigned i = 0; i < registerCount; ++i)
    forLanes(lanes, [&](unsigned lane) {
      uint32_t loaded = undefined[i * size + lane];
      operation->partialBits[(first + i) * size + lane] = loaded;
      operation->undefined[first + i] |= uint64_t(loaded != 0) << lane;
    });
}

/// Whether all bytes of the lanes of a load from global memory are defined, all of them being the
/// allocation's.
bool WaveChecks::addressesDefined(const MemoryAccess &access, const Bytes &bytes) {
  bool defined = true;
  if (!bytes.perLane && access.partial == 0) {
    withConstantBytes(access.bytes, [&](auto count) {
      forLanes(access.active, [&](unsigned lane) {
        defined &= allOnes(bytes.base + (access.addresses[lane] - bytes.begin), count);
      });
    });
    return defined;
  }
  forLanes(access.active | access.partial, [&](unsigned lane) {
    const uint8_t *shadow = bytes.of(*this, access, lane);
    defined &= !shadow || allOnes(shadow, lengthOf(access, lane));
  });
  return defined;
}

bool WaveChecks::observeLoad(const MemoryAccess &access, Operand destination) {
  if (destination.kind() == OperandKind::None)
    return true;
  uint32_t entry = destination.kind() == OperandKind::Scalar ? scalarEntry(destination.index())
                                                             : destination.index();
  uint32_t bits = access.placement == DataPlacement::LowHalf    ? 0xffffu
                  : access.placement == DataPlacement::HighHalf ? 0xffff0000u
                                                                : ~0u;
  uint64_t lanes = access.active | access.partial | access.zeroed;
  Bytes bytes(*this, access);
  uint64_t accessed = access.active | access.partial;
  bool defined = access.overEnd == 0;
  const RacedBytes *raced = racedBytes(*checkedWave);
  bool byOffset = access.space == AccessSpace::Lds || access.space == AccessSpace::Scratch;
  if (byOffset && access.partial == 0) {
    defined =
        offsetsDefined(access, bytes.base, bytes.laneStride, checkedWave->waveSize, *workgroup);
  } else if (defined && !bytes.allDefined() && options.undefined) {
    if (access.contiguous && !bytes.perLane) {
      defined = allOnes(bytes.of(*this, access, 0), size_t(access.bytes) * checkedWave->waveSize);
    } else {
      defined = addressesDefined(access, bytes);
    }
  } else if (!options.undefined) {
    defined = true;
  }
  if (defined && !raced) {
    deliver(access, entry, access.registers, nullptr, lanes, bits, 0);
    return true;
  }

  unsigned size = checkedWave->waveSize;
  std::vector<uint32_t> words(size_t(access.registers) * size);
  uint32_t origin = noOrigin;
  forLanes(accessed, [&](unsigned lane) {
    uint8_t undefined[64] = {};
    const uint8_t *shadow = bytes.of(*this, access, lane);
    unsigned length = lengthOf(access, lane);
    for (unsigned i = 0; i < length && shadow; ++i)
      undefined[i] = static_cast<uint8_t>(~shadow[i]);
    if (access.overEnd >> lane & 1)
      std::fill(undefined + length, undefined + access.bytes, uint8_t(0xff));
    bool isRaced = raced && raced->lanes >> lane & 1;
    for (unsigned i = 0; isRaced && i < access.bytes; ++i)
      undefined[i] |= raced->bytes[lane] >> i & 1 ? 0xff : 0;
    auto *first = std::find_if(undefined, undefined + access.bytes, [](uint8_t b) { return b; });
    if (first != undefined + access.bytes && origin == noOrigin) {
      uint64_t address = addressOf(access, lane) + static_cast<uint64_t>(first - undefined);
      if (access.space == AccessSpace::Lds)
        origin = workgroup->ldsOrigin[address / 4];
      if (origin == noOrigin) {
        origin = makeOrigin(isRaced ? OriginKind::RacedMemory : originOf(access.space),
                            numberOf(access.record));
        workgroup->addressOfLoad[numberOf(access.record)] = address;
      }
    }
    placeLoaded(access, undefined, lane, size, words.data());
  });
  if (access.placement == DataPlacement::Transposed) {
    // Lanes exchange what they load within groups of 16.
    for (unsigned group = 0; group < size; group += 16)
      for (unsigned i = 0; i < access.registers; ++i) {
        uint32_t *row = words.data() + i * size + group;
        bool any = std::any_of(row, row + 16, [](uint32_t word) { return word != 0; });
        std::fill_n(row, 16, any ? ~0u : 0u);
      }
  }
  deliver(access, entry, access.registers, words.data(), lanes, bits, origin);
  return true;
}

// --- Stores and atomics ---

/// Checks what goes to global memory; writes the shadow of what goes anywhere.
bool WaveChecks::observeStore(const MemoryAccess &access, Operand data) {
  uint64_t accessed = access.active | access.partial;
  uint32_t entry = data.index();
  uint64_t undefined = 0;
  for (unsigned i = 0; i < access.registers; ++i)
    undefined |= registers.lanes[entry + i];
  undefined &= accessed;
  bool isGlobal = access.space == AccessSpace::Global;
  bool isAtomic = isGlobal && access.kind != AccessKind::Store;
  unsigned size = checkedWave->waveSize;
  auto bitsOf = [&](unsigned i, unsigned lane) {
    if (!(registers.lanes[entry + i] >> lane & 1))
      return 0u;
    return registers.hasPlane(entry + i) ? registers.plane(entry + i)[lane] : ~0u;
  };
  if (undefined && isGlobal)
    for (uint64_t mask = undefined; mask != 0; mask &= mask - 1) {
      unsigned lane = static_cast<unsigned>(__builtin_ctzll(mask));
      for (unsigned i = 0; i < access.registers; ++i)
        if (uint32_t bits = bitsOf(i, lane) & storedBits(access, i, lengthOf(access, lane)))
          return reportUndefined(access.record, entry + i, bits, static_cast<int>(lane),
                                 "are stored to global memory");
    }
  Bytes bytes(*this, access);
  if (bytes.allDefined())
    return true;
  if (isGlobal && access.contiguous && !bytes.perLane && !isAtomic) {
    std::fill_n(bytes.of(*this, access, 0), size_t(access.bytes) * size, uint8_t(0xff));
    return true;
  }
  if (!isGlobal && !undefined && access.partial == 0) {
    defineOffsets(access, bytes.base, bytes.laneStride, size, *workgroup);
    return true;
  }
  if (isGlobal && !isAtomic && !bytes.perLane && access.partial == 0) {
    withConstantBytes(access.bytes, [&](auto count) {
      forLanes(accessed, [&](unsigned lane) {
        __builtin_memset(bytes.base + (access.addresses[lane] - bytes.begin), 0xff, count);
      });
    });
    return true;
  }
  if (access.space == AccessSpace::Lds && undefined)
    workgroup->forgetDefined();
  forLanes(accessed, [&](unsigned lane) {
    uint8_t *shadow = bytes.of(*this, access, lane);
    if (!shadow)
      return;
    unsigned length = lengthOf(access, lane);
    if (isAtomic) {
      defineAtomically(shadow, length);
      return;
    }
    if (!(undefined >> lane & 1) || isGlobal) {
      std::fill_n(shadow, length, uint8_t(0xff));
      return;
    }
    uint8_t stored[64];
    uint32_t from = noOrigin;
    for (unsigned i = 0; i < access.registers; ++i) {
      uint32_t bits = bitsOf(i, lane);
      if (access.placement == DataPlacement::HighHalf)
        bits >>= 16;
      if (bits && from == noOrigin)
        from = registers.origin[entry + i];
      __builtin_memcpy(stored + 4 * i, &bits, 4);
    }
    for (unsigned i = 0; i < length; ++i)
      shadow[i] = static_cast<uint8_t>(~stored[i]);
    if (access.space == AccessSpace::Lds)
      for (uint64_t at = addressOf(access, lane), end = at + length; at < end; at += 4 - at % 4)
        workgroup->ldsOrigin[at / 4] = from;
  });
  return true;
}

/// An atomic gives memory a value made of its old one and of registers; an exchange only of the
/// latter.
static bool isExchange(llvm::StringRef mnemonic) {
  return mnemonic.contains("xchg") || (mnemonic.contains("swap") && !mnemonic.contains("cmpswap"));
}

bool WaveChecks::observeAtomic(const MemoryAccess &access) {
  llvm::StringRef mnemonic = records[numberOf(access.record)].details->mnemonic;
  bool isGlobal = access.space == AccessSpace::Global;
  if (isGlobal && access.comparison.kind() != OperandKind::None)
    if (!observeStore(access, access.comparison))
      return false;
  uint64_t accessed = access.active;
  Bytes bytes(*this, access);
  uint64_t oldUndefined = 0;
  if (!bytes.allDefined())
    forLanes(accessed, [&](unsigned lane) {
      const uint8_t *shadow = bytes.of(*this, access, lane);
      bool isDefined = !shadow || (isGlobal ? allOnesAtomically(shadow, access.bytes)
                                            : allOnes(shadow, access.bytes));
      oldUndefined |= uint64_t(!isDefined) << lane;
    });
  uint32_t origin = makeOrigin(originOf(access.space), numberOf(access.record));
  if (oldUndefined)
    workgroup->addressOfLoad[numberOf(access.record)] =
        addressOf(access, static_cast<unsigned>(__builtin_ctzll(oldUndefined)));
  if (oldUndefined && isGlobal && !isExchange(mnemonic))
    return reportUndefined(access.record, "undefined bits of memory", origin,
                           __builtin_ctzll(oldUndefined), "make what an atomic stores");
  if (!observeStore(access, access.data))
    return false;
  if (oldUndefined)
    workgroup->forgetDefined();
  if (!isExchange(mnemonic))
    forLanes(oldUndefined, [&](unsigned lane) {
      std::fill_n(bytes.of(*this, access, lane), access.bytes, uint8_t(0));
    });
  return access.kind != AccessKind::AtomicReturning || returnOld(access, oldUndefined, origin);
}

/// The result of an atomic: it may be where the data were, which have been looked at by now.
bool WaveChecks::returnOld(const MemoryAccess &access, uint64_t undefined, uint32_t origin) {
  const CheckDetails &details = *records[numberOf(access.record)].details;
  PendingOperation *operation = operationOf(access);
  if (operation && operation->registers == 0 &&
      !hold(access.record, details, *operation, details.counter))
    return false;
  unsigned size = checkedWave->waveSize;
  std::vector<uint32_t> words;
  if (undefined)
    words.resize(size_t(access.registers) * size);
  forLanes(undefined, [&](unsigned lane) {
    for (unsigned i = 0; i < access.registers; ++i)
      words[i * size + lane] = ~0u;
  });
  deliver(access, access.result.index(), access.registers, undefined ? words.data() : nullptr,
          access.active | access.zeroed, ~0u, origin);
  return true;
}

// --- Loads to LDS ---

/// Calls `body(offset, bytes)` for what lanes write to LDS, once for all if they leave no gap.
template <typename Body>
static void forRuns(uint64_t lanes, uint32_t offset, uint32_t step, uint32_t written,
                    unsigned waveSize, Body body) {
  bool isWhole = lanes == (waveSize == 64 ? ~uint64_t(0) : uint64_t(0xffffffff));
  if (isWhole && step == written) {
    body(offset, step * waveSize);
    return;
  }
  forLanes(lanes, [&](unsigned lane) { body(offset + lane * step, written); });
}

void WaveChecks::observeLoadToLds(const MemoryAccess &access) {
  uint64_t lanes = access.active | access.partial | access.zeroed;
  Bytes bytes(*this, access);
  std::vector<uint8_t> defined; // Empty: all is.
  unsigned size = checkedWave->waveSize;
  uint32_t step = access.ldsStep, written = access.ldsBytes;
  bool wholeDefined = bytes.allDefined() && access.overEnd == 0;
  if (!wholeDefined && access.contiguous && access.overEnd == 0 && !bytes.perLane)
    wholeDefined = allOnes(bytes.of(*this, access, 0), size_t(access.bytes) * size);
  const RacedBytes *raced = racedBytes(*checkedWave);
  if ((!wholeDefined && options.undefined) || raced) {
    defined.assign(size_t(step) * size, 0xff);
    forLanes(access.active | access.partial, [&](unsigned lane) {
      const uint8_t *shadow = bytes.of(*this, access, lane);
      unsigned length = lengthOf(access, lane);
      uint8_t *to = defined.data() + lane * step;
      bool isOver = access.overEnd >> lane & 1;
      // The rest of the dword may be copies of the sign; a conversion mixes all bits.
      if (access.bytes < 4 || access.placement == DataPlacement::Converted) {
        bool isRaced = raced && raced->lanes >> lane & 1;
        if (isOver || isRaced || (shadow && !allOnes(shadow, length)))
          std::fill_n(to, written, uint8_t(0));
        return;
      }
      if (shadow)
        std::copy_n(shadow, length, to);
      if (isOver)
        std::fill(to + length, to + access.bytes, uint8_t(0));
      for (unsigned i = 0; raced && raced->lanes >> lane & 1 && i < access.bytes; ++i)
        to[i] &= raced->bytes[lane] >> i & 1 ? 0 : 0xff;
    });
  }
  workgroup->forgetDefined();
  PendingOperation *operation = operationOf(access);
  uint32_t origin = makeOrigin(raced ? OriginKind::RacedMemory : OriginKind::GlobalMemory,
                               numberOf(access.record));
  if (!defined.empty() && access.addresses && access.active)
    workgroup->addressOfLoad[numberOf(access.record)] =
        raced ? raced->conflict.address : access.addresses[__builtin_ctzll(access.active)];
  if (operation) {
    operation->ldsLanes = lanes;
    operation->ldsOffset = access.ldsOffset;
    operation->ldsStep = step;
    operation->ldsBytes = written;
    operation->ldsDefined = std::move(defined);
    operation->origin = origin;
    uint32_t pendingOrigin = makeOrigin(OriginKind::PendingToLds, numberOf(access.record));
    forRuns(lanes, access.ldsOffset, step, written, size, [&](uint32_t at, uint32_t bytes) {
      std::fill_n(workgroup->ldsDefined.data() + at, bytes, uint8_t(0));
      std::fill_n(workgroup->ldsOrigin.data() + at / 4, bytes / 4, pendingOrigin);
    });
    return;
  }
  forLanes(lanes, [&](unsigned lane) {
    uint8_t *to = workgroup->ldsDefined.data() + access.ldsOffset + lane * step;
    if (defined.empty())
      std::fill_n(to, written, uint8_t(0xff));
    else
      std::copy_n(defined.data() + lane * step, written, to);
  });
}

void WaveChecks::completeLds(const PendingOperation &operation) {
  uint32_t pendingOrigin = makeOrigin(OriginKind::PendingToLds, operation.record);
  uint32_t step = operation.ldsStep;
  if (operation.ldsDefined.empty()) {
    forRuns(operation.ldsLanes, operation.ldsOffset, step, operation.ldsBytes,
            checkedWave->waveSize, [&](uint32_t at, uint32_t bytes) {
              // Whoever has written here since has said what is defined.
              for (uint32_t end = at + bytes; at < end; at += 4) {
                uint32_t &origin = workgroup->ldsOrigin[at / 4];
                uint32_t isOurs = origin == pendingOrigin ? ~0u : 0;
                uint32_t defined;
                __builtin_memcpy(&defined, workgroup->ldsDefined.data() + at, 4);
                defined |= isOurs;
                __builtin_memcpy(workgroup->ldsDefined.data() + at, &defined, 4);
                origin = isOurs ? noOrigin : origin;
              }
            });
    return;
  }
  workgroup->forgetDefined();
  forLanes(operation.ldsLanes, [&](unsigned lane) {
    for (uint32_t i = 0; i < operation.ldsBytes; i += 4) {
      uint32_t at = operation.ldsOffset + lane * step + i;
      if (workgroup->ldsOrigin[at / 4] != pendingOrigin)
        continue;
      std::copy_n(operation.ldsDefined.data() + lane * step + i, 4,
                  workgroup->ldsDefined.data() + at);
      workgroup->ldsOrigin[at / 4] = operation.origin;
    }
  });
}

bool WaveChecks::observe(const MemoryAccess &access) {
  switch (access.kind) {
  case AccessKind::Load:
    return observeLoad(access, access.data);
  case AccessKind::Store:
    return observeStore(access, access.data);
  case AccessKind::Atomic:
  case AccessKind::AtomicReturning:
    return observeAtomic(access);
  case AccessKind::LoadToLds:
    observeLoadToLds(access);
    return true;
  }
  return true;
}

bool WaveChecks::observe(void *, Wave &wave, const MemoryAccess &access) {
  return !wave.checks || wave.checks->observe(access);
}

} // namespace wavetile::device
