//===- GlobalMemory.cpp - FLAT, GLOBAL and SCRATCH instructions -----------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One encoding, three address spaces. A global address is 64 bits in a register pair, or a scalar
// base and a 32-bit offset of each lane. A scratch address is a byte offset into the lane's own
// scratch. A flat address is global unless it lies in the aperture of LDS or of scratch.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Apertures.h"
#include "runtime/emulator/instructions/Atomics.h"
#include "runtime/emulator/instructions/LaneMemory.h"
#include "runtime/emulator/instructions/Tables.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace {

/// Turns offsets into scratch into host addresses.
bool scratchAddresses(Wave &wave, const Record *record, AccessForm form, LaneAddresses &lanes) {
  uint32_t base = record->immediate;
  if (record->sources[2].kind() != OperandKind::None)
    base += wave.read32(record->sources[2]);
  bool hasVector = record->sources[0].kind() == OperandKind::Vector;
  const uint32_t *offsets = hasVector ? wave.row(record->sources[0]) : nullptr;
  for (uint64_t mask = lanes.active; mask != 0; mask &= mask - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctzll(mask));
    uint32_t offset = base + (hasVector ? offsets[lane] : 0);
    if (offset > wave.scratchBytes || form.bytes > wave.scratchBytes - offset) {
      fail(wave, record, FaultKind::ScratchOutOfBounds, static_cast<int>(lane), offset, form.bytes,
           form.isStore());
      return false;
    }
    lanes.address[lane] =
        reinterpret_cast<uint64_t>(wave.scratch) + uint64_t(lane) * wave.scratchBytes + offset;
  }
  return !isObserved(wave) ||
         reportOffsets(wave, record, AccessSpace::Scratch, offsets, base, lanes.active, form);
}

/// Turns the lanes whose flat address is in an aperture into host addresses; the others are checked
/// as global ones.
bool flatAddresses(Wave &wave, const Record *record, AccessForm form, LaneAddresses &lanes) {
  LaneAddresses global = lanes;
  uint32_t offsets[maximumWaveSize];
  uint64_t inLds = 0, inScratch = 0;
  for (uint64_t mask = lanes.active; mask != 0; mask &= mask - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctzll(mask));
    uint64_t bit = uint64_t(1) << lane;
    uint64_t address = lanes.address[lane], aperture = address >> 32;
    uint32_t offset = static_cast<uint32_t>(address);
    bool isLds = aperture == sharedAperture >> 32, isScratch = aperture == privateAperture >> 32;
    if (!isLds && !isScratch)
      continue;
    (isLds ? inLds : inScratch) |= bit;
    offsets[lane] = offset;
    uint32_t size = isLds ? wave.workgroup->ldsBytes : wave.scratchBytes;
    if (offset > size || form.bytes > size - offset) {
      fail(wave, record, isLds ? FaultKind::LdsOutOfBounds : FaultKind::ScratchOutOfBounds,
           static_cast<int>(lane), offset, form.bytes, form.isStore());
      return false;
    }
    uint8_t *base = isLds ? wave.workgroup->lds : wave.scratch + lane * uint64_t(size);
    lanes.address[lane] = reinterpret_cast<uint64_t>(base) + offset;
  }
  global.active &= ~(inLds | inScratch);
  if (!eachLaneAccessible(wave, record, global, form.bytes, form.isStore()) ||
      !aligned(wave, record, lanes, form))
    return false;
  if (!isObserved(wave))
    return true;
  return (global.active == 0 || reportGlobal(wave, record, global, form)) &&
         (inLds == 0 || reportOffsets(wave, record, AccessSpace::Lds, offsets, 0, inLds, form)) &&
         (inScratch == 0 ||
          reportOffsets(wave, record, AccessSpace::Scratch, offsets, 0, inScratch, form));
}

/// The host addresses of all active lanes, checked and reported. False: the wave has its fault.
WAVETILE_INLINE bool laneAddresses(Wave &wave, const Record *record, AccessForm form,
                                   LaneAddresses &lanes) {
  lanes.active = wave.exec();
  if (record->modifiers & modifier::scratch)
    return scratchAddresses(wave, record, form, lanes);
  const unsigned stride = wave.waveSize;
  uint64_t offset =
      static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(record->immediate)));
  const uint32_t *low = wave.row(record->sources[0]);
  if (record->sources[2].kind() == OperandKind::Scalar) {
    uint64_t base = wave.scalar64(record->sources[2].index()) + offset;
    for (unsigned lane = 0; lane < stride; ++lane)
      lanes.address[lane] = base + low[lane];
  } else {
    const uint32_t *high = low + stride;
    for (unsigned lane = 0; lane < stride; ++lane)
      lanes.address[lane] = (low[lane] | static_cast<uint64_t>(high[lane]) << 32) + offset;
  }
  if (record->modifiers & modifier::flat)
    return flatAddresses(wave, record, form, lanes);
  return accessible(wave, record, lanes, form.bytes, form.isStore()) &&
         (form.alignment == 1 || aligned(wave, record, lanes, form)) &&
         (!isObserved(wave) || reportGlobal(wave, record, lanes, form));
}

template <unsigned dwords> const Record *load(Wave &wave, const Record *record) {
  LaneAddresses lanes;
  if (!laneAddresses(wave, record, loadForm(dwords), lanes))
    return nullptr;
  loadDwords<dwords>(wave, wave.row(record->destination), lanes);
  countBytes(wave, lanes, 4 * dwords, false);
  return record + 1;
}
template <unsigned dwords> const Record *store(Wave &wave, const Record *record) {
  LaneAddresses lanes;
  if (!laneAddresses(wave, record, storeForm(dwords), lanes))
    return nullptr;
  storeDwords<dwords>(wave, wave.row(record->sources[1]), lanes);
  countBytes(wave, lanes, 4 * dwords, true);
  return record + 1;
}
template <Narrow narrow, Half half> const Record *load(Wave &wave, const Record *record) {
  LaneAddresses lanes;
  if (!laneAddresses(wave, record, loadForm(narrow, half), lanes))
    return nullptr;
  loadNarrow<narrow, half>(wave.row(record->destination), lanes);
  countBytes(wave, lanes, bytesOf(narrow), false);
  return record + 1;
}
template <unsigned bytes, Half half> const Record *storePart(Wave &wave, const Record *record) {
  LaneAddresses lanes;
  if (!laneAddresses(wave, record, storeForm(bytes, half), lanes))
    return nullptr;
  storeNarrow<bytes, half>(wave.row(record->sources[1]), lanes);
  countBytes(wave, lanes, bytes, true);
  return record + 1;
}

template <typename Op, typename T> const Record *atomic(Wave &wave, const Record *record) {
  LaneAddresses lanes;
  bool returns = record->modifiers & modifier::returnsValue;
  if (!laneAddresses(wave, record, atomicForm(sizeof(T), returns), lanes))
    return nullptr;
  atomics::PlainHostFloat plain(wave);
  const unsigned stride = wave.waveSize;
  const uint32_t *data = wave.row(record->sources[1]);
  uint32_t *result = returns ? wave.row(record->destination) : nullptr;
  forActive(lanes.active, [&](unsigned lane) {
    T old = atomics::update<Op>(reinterpret_cast<T *>(lanes.address[lane]),
                                wordOf<T>(data, lane, stride));
    if (returns)
      setWord<T>(result, lane, stride, old);
  });
  countBytes(wave, lanes, sizeof(T), true);
  return record + 1;
}

template <typename Op, typename T>
const Record *atomicCompareAndSwap(Wave &wave, const Record *record) {
  LaneAddresses lanes;
  bool returns = record->modifiers & modifier::returnsValue;
  if (!laneAddresses(wave, record, compareAndSwapForm(sizeof(T), returns), lanes))
    return nullptr;
  atomics::PlainHostFloat plain(wave);
  constexpr unsigned registers = sizeof(T) / 4;
  const unsigned stride = wave.waveSize;
  const uint32_t *data = wave.row(record->sources[1]);
  uint32_t *result = returns ? wave.row(record->destination) : nullptr;
  forActive(lanes.active, [&](unsigned lane) {
    T value = wordOf<T>(data, lane, stride);
    T comparison = wordOf<T>(data + registers * stride, lane, stride);
    T old =
        atomics::compareAndSwap<Op>(reinterpret_cast<T *>(lanes.address[lane]), value, comparison);
    if (returns)
      setWord<T>(result, lane, stride, old);
  });
  countBytes(wave, lanes, sizeof(T), true);
  return record + 1;
}

template <unsigned bytes, Narrow narrow> const Record *loadToLds(Wave &wave, const Record *record) {
  const LdsTarget target(wave, record, bytes);
  LaneAddresses lanes;
  if (!toLdsInBounds(wave, record, target) ||
      !laneAddresses(wave, record, toLdsForm(bytes, narrow), lanes))
    return nullptr;
  uint8_t *lds = wave.workgroup->lds;
  forActive(lanes.active, [&](unsigned lane) {
    if constexpr (bytes < 4) {
      uint32_t value = loadNarrowValue<narrow>(lanes.address[lane]);
      __builtin_memcpy(lds + target.offset(lane), &value, 4);
    } else {
      __builtin_memcpy(lds + target.offset(lane),
                       reinterpret_cast<const void *>(lanes.address[lane]), bytes);
    }
  });
  countBytes(wave, lanes, bytes, false);
  return record + 1;
}

constexpr auto loadClass = InstructionClass::GlobalLoad;
constexpr auto storeClass = InstructionClass::GlobalStore;
constexpr auto atomicClass = InstructionClass::GlobalAtomic;

/// The three spaces' spellings of one instruction, in gfx9's and gfx11's names.
#define SPACES(GFX9, GFX11)                                                                        \
  "global_" GFX9 " flat_" GFX9 " scratch_" GFX9 " global_" GFX11 " flat_" GFX11 " scratch_" GFX11
#define ATOMIC(GFX9, GFX11, OP, TYPE)                                                              \
  memory("global_atomic_" GFX9 " flat_atomic_" GFX9 " global_atomic_" GFX11 " flat_atomic_" GFX11, \
         Shape::Flat, atomicClass, atomic<atomics::OP, TYPE>)
#define LOAD(GFX9, GFX11, ...)                                                                     \
  memory(SPACES(GFX9, GFX11), Shape::Flat, loadClass, load<__VA_ARGS__>)
#define STORE(GFX9, GFX11, DWORDS)                                                                 \
  memory(SPACES(GFX9, GFX11), Shape::Flat, storeClass, store<DWORDS>)
#define STORE_NARROW(GFX9, GFX11, BYTES, HALF)                                                     \
  memory(SPACES(GFX9, GFX11), Shape::Flat, storeClass, storePart<BYTES, Half::HALF>)

constexpr Instruction table[] = {
    LOAD("load_dword", "load_b32", 1),
    LOAD("load_dwordx2", "load_b64", 2),
    LOAD("load_dwordx3", "load_b96", 3),
    LOAD("load_dwordx4", "load_b128", 4),
    LOAD("load_ubyte", "load_u8", Narrow::ZeroByte, Half::All),
    LOAD("load_sbyte", "load_i8", Narrow::SignedByte, Half::All),
    LOAD("load_ushort", "load_u16", Narrow::ZeroShort, Half::All),
    LOAD("load_sshort", "load_i16", Narrow::SignedShort, Half::All),
    LOAD("load_ubyte_d16", "load_d16_u8", Narrow::ZeroByte, Half::Low),
    LOAD("load_ubyte_d16_hi", "load_d16_hi_u8", Narrow::ZeroByte, Half::High),
    LOAD("load_sbyte_d16", "load_d16_i8", Narrow::SignedByte, Half::Low),
    LOAD("load_sbyte_d16_hi", "load_d16_hi_i8", Narrow::SignedByte, Half::High),
    LOAD("load_short_d16", "load_d16_b16", Narrow::ZeroShort, Half::Low),
    LOAD("load_short_d16_hi", "load_d16_hi_b16", Narrow::ZeroShort, Half::High),

    STORE("store_dword", "store_b32", 1),
    STORE("store_dwordx2", "store_b64", 2),
    STORE("store_dwordx3", "store_b96", 3),
    STORE("store_dwordx4", "store_b128", 4),
    STORE_NARROW("store_byte", "store_b8", 1, Low),
    STORE_NARROW("store_byte_d16_hi", "store_d16_hi_b8", 1, High),
    STORE_NARROW("store_short", "store_b16", 2, Low),
    STORE_NARROW("store_short_d16_hi", "store_d16_hi_b16", 2, High),

    ATOMIC("add", "add_u32", Add, uint32_t),
    ATOMIC("sub", "sub_u32", Subtract, uint32_t),
    ATOMIC("smin", "min_i32", MinimumSigned, uint32_t),
    ATOMIC("umin", "min_u32", MinimumUnsigned, uint32_t),
    ATOMIC("smax", "max_i32", MaximumSigned, uint32_t),
    ATOMIC("umax", "max_u32", MaximumUnsigned, uint32_t),
    ATOMIC("and", "and_b32", And, uint32_t),
    ATOMIC("or", "or_b32", Or, uint32_t),
    ATOMIC("xor", "xor_b32", Xor, uint32_t),
    ATOMIC("inc", "inc_u32", Increment, uint32_t),
    ATOMIC("dec", "dec_u32", Decrement, uint32_t),
    ATOMIC("swap", "swap_b32", Exchange, uint32_t),
    ATOMIC("add_x2", "add_u64", Add, uint64_t),
    ATOMIC("sub_x2", "sub_u64", Subtract, uint64_t),
    ATOMIC("smin_x2", "min_i64", MinimumSigned, uint64_t),
    ATOMIC("umin_x2", "min_u64", MinimumUnsigned, uint64_t),
    ATOMIC("smax_x2", "max_i64", MaximumSigned, uint64_t),
    ATOMIC("umax_x2", "max_u64", MaximumUnsigned, uint64_t),
    ATOMIC("and_x2", "and_b64", And, uint64_t),
    ATOMIC("or_x2", "or_b64", Or, uint64_t),
    ATOMIC("xor_x2", "xor_b64", Xor, uint64_t),
    ATOMIC("swap_x2", "swap_b64", Exchange, uint64_t),
    ATOMIC("add_f32", "add_f32", AddFloat, uint32_t),
    ATOMIC("min_f32", "min_f32", MinimumFloat, uint32_t),
    ATOMIC("max_f32", "max_f32", MaximumFloat, uint32_t),
    ATOMIC("add_f64", "add_f64", AddFloat, uint64_t),
    ATOMIC("min_f64", "min_f64", MinimumFloat, uint64_t),
    ATOMIC("max_f64", "max_f64", MaximumFloat, uint64_t),
    ATOMIC("pk_add_f16", "pk_add_f16", AddPackedHalf, uint32_t),
    ATOMIC("pk_add_bf16", "pk_add_bf16", AddPackedBFloat16, uint32_t),
    memory("global_atomic_cmpswap flat_atomic_cmpswap global_atomic_cmpswap_b32 "
           "flat_atomic_cmpswap_b32",
           Shape::Flat, atomicClass, atomicCompareAndSwap<atomics::CompareBits, uint32_t>),
    memory("global_atomic_cmpswap_x2 flat_atomic_cmpswap_x2 global_atomic_cmpswap_b64 "
           "flat_atomic_cmpswap_b64",
           Shape::Flat, atomicClass, atomicCompareAndSwap<atomics::CompareBits, uint64_t>),

    memory("global_load_lds_dword", Shape::Flat, loadClass, loadToLds<4, Narrow::Whole>),
    memory("global_load_lds_dwordx3", Shape::Flat, loadClass, loadToLds<12, Narrow::Whole>),
    memory("global_load_lds_dwordx4", Shape::Flat, loadClass, loadToLds<16, Narrow::Whole>),
    memory("global_load_lds_ubyte", Shape::Flat, loadClass, loadToLds<1, Narrow::ZeroByte>),
    memory("global_load_lds_sbyte", Shape::Flat, loadClass, loadToLds<1, Narrow::SignedByte>),
    memory("global_load_lds_ushort", Shape::Flat, loadClass, loadToLds<2, Narrow::ZeroShort>),
    memory("global_load_lds_sshort", Shape::Flat, loadClass, loadToLds<2, Narrow::SignedShort>),
};

} // namespace

InstructionRows globalMemory() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
