//===- GlobalMemory.cpp - Loads and stores of GLOBAL and FLAT instructions ===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Apertures.h"
#include "runtime/emulator/instructions/AddressSpaces.h"
#include "runtime/emulator/instructions/Tables.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {

bool FlatSpace::addresses(Wave &wave, const Record *record, AccessForm form, FlatLanes &lanes) {
  GlobalSpace::compute(wave, record, lanes);
  LaneAddresses global = lanes;
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
    lanes.offsets[lane] = offset;
    uint32_t size = isLds ? wave.workgroup->ldsBytes : wave.scratchBytes;
    if (offset > size || form.bytes > size - offset)
      return failAccess(wave, record,
                        isLds ? FaultKind::LdsOutOfBounds : FaultKind::ScratchOutOfBounds,
                        static_cast<int>(lane), offset, form);
    if (isScratch && form.isAtomic() && form.bytes > 4) {
      fail(wave, record, FaultKind::Refused, static_cast<int>(lane), offset, form.bytes, true,
           "atomics of 64 bits do not reach scratch");
      return false;
    }
    lanes.address[lane] = reinterpret_cast<uint64_t>(isLds ? wave.workgroup->lds + offset
                                                           : wave.scratchByte(lane, offset));
  }
  global.active &= ~(inLds | inScratch);
  lanes.notGlobal = inLds | inScratch;
  if (!accessible(wave, record, global, form) ||
      (form.alignment != 1 && !aligned(wave, record, lanes, form)))
    return false;
  if (!form.isAtomic()) {
    lanes.inScratch = inScratch;
    lanes.active &= ~inScratch;
  }
  if (!isObserved(wave))
    return true;
  return (global.active == 0 || reportGlobal(wave, record, global, form)) &&
         (inLds == 0 ||
          reportOffsets(wave, record, AccessSpace::Lds, lanes.offsets, 0, inLds, form)) &&
         (inScratch == 0 ||
          reportOffsets(wave, record, AccessSpace::Scratch, lanes.offsets, 0, inScratch, form));
}

namespace {

template <typename Space, unsigned dwords> const Record *load(Wave &wave, const Record *record) {
  typename Space::Lanes lanes;
  if (!Space::addresses(wave, record, loadForm(dwords), lanes))
    return nullptr;
  uint32_t *row = wave.row(record->destination);
  loadDwords<dwords>(wave, row, lanes);
  if constexpr (Space::reachesScratch)
    loadScratchDwords<dwords>(wave, row, lanes.offsets, lanes.inScratch);
  countBytes(wave, lanes, 4 * dwords, false);
  return record + 1;
}
template <typename Space, unsigned dwords> const Record *store(Wave &wave, const Record *record) {
  typename Space::Lanes lanes;
  if (!Space::addresses(wave, record, storeForm(dwords), lanes))
    return nullptr;
  const uint32_t *row = wave.row(record->sources[1]);
  storeDwords<dwords>(wave, row, lanes);
  if constexpr (Space::reachesScratch)
    storeScratchDwords<dwords>(wave, row, lanes.offsets, lanes.inScratch);
  countBytes(wave, lanes, 4 * dwords, true);
  return record + 1;
}
template <typename Space, Narrow narrow, Half half>
const Record *load(Wave &wave, const Record *record) {
  typename Space::Lanes lanes;
  if (!Space::addresses(wave, record, loadForm(narrow, half), lanes))
    return nullptr;
  uint32_t *row = wave.row(record->destination);
  loadNarrow<narrow, half>(row, lanes);
  if constexpr (Space::reachesScratch)
    loadScratchNarrow<narrow, half>(wave, row, lanes.offsets, lanes.inScratch);
  countBytes(wave, lanes, bytesOf(narrow), false);
  return record + 1;
}
template <typename Space, unsigned bytes, Half half>
const Record *storePart(Wave &wave, const Record *record) {
  typename Space::Lanes lanes;
  if (!Space::addresses(wave, record, storeForm(bytes, half), lanes))
    return nullptr;
  const uint32_t *row = wave.row(record->sources[1]);
  storeNarrow<bytes, half>(row, lanes);
  if constexpr (Space::reachesScratch)
    storeScratchNarrow<bytes, half>(wave, row, lanes.offsets, lanes.inScratch);
  countBytes(wave, lanes, bytes, true);
  return record + 1;
}

template <unsigned bytes, Narrow narrow> const Record *loadToLds(Wave &wave, const Record *record) {
  const LdsTarget target(wave, record, bytes);
  LaneAddresses lanes;
  if (!toLdsInBounds(wave, record, target) ||
      !GlobalSpace::addresses(wave, record, toLdsForm(bytes, narrow), lanes))
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

/// The add-tid forms: a scalar base, the offset and 4 bytes a lane.
void laneDwords(Wave &wave, const Record *record, LaneAddresses &lanes) {
  lanes.active = wave.exec();
  uint64_t base =
      static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(record->immediate)));
  if (record->sources[2].kind() == OperandKind::Scalar)
    base += wave.scalar64(record->sources[2].index());
  for (unsigned lane = 0; lane < wave.waveSize; ++lane)
    lanes.address[lane] = base + 4 * lane;
}
const Record *loadByLane(Wave &wave, const Record *record) {
  LaneAddresses lanes;
  laneDwords(wave, record, lanes);
  if (!accessGlobal(wave, record, loadForm(1), lanes))
    return nullptr;
  loadDwords<1>(wave, wave.row(record->destination), lanes);
  countBytes(wave, lanes, 4, false);
  return record + 1;
}
const Record *storeByLane(Wave &wave, const Record *record) {
  LaneAddresses lanes;
  laneDwords(wave, record, lanes);
  if (!accessGlobal(wave, record, storeForm(1), lanes))
    return nullptr;
  storeDwords<1>(wave, wave.row(record->sources[1]), lanes);
  countBytes(wave, lanes, 4, true);
  return record + 1;
}

/// Block forms: a dword for each bit of M0, to or from the register of its number.
template <bool isStore> const Record *block(Wave &wave, const Record *record) {
  const AccessForm form = isStore ? storeForm(1) : loadForm(1);
  const uint32_t chosen = wave.scalars[scalar::M0];
  LaneAddresses lanes[32];
  // All of them before a result is written: the address may be among the results.
  for (uint32_t bits = chosen; bits != 0; bits &= bits - 1) {
    unsigned i = static_cast<unsigned>(__builtin_ctz(bits));
    GlobalSpace::compute(wave, record, lanes[i], 4 * i);
    if (!accessGlobal(wave, record, form.ofPart(i), lanes[i]))
      return nullptr;
  }
  for (uint32_t bits = chosen; bits != 0; bits &= bits - 1) {
    unsigned i = static_cast<unsigned>(__builtin_ctz(bits));
    if constexpr (isStore)
      storeDwords<1>(wave, wave.row(record->sources[1]) + i * wave.waveSize, lanes[i]);
    else
      loadDwords<1>(wave, wave.row(record->destination) + i * wave.waveSize, lanes[i]);
    countBytes(wave, lanes[i], 4, isStore);
  }
  return record + 1;
}

/// Transposing loads of gfx12, see TransposedLoads.h.
template <unsigned bytes, unsigned bits>
const Record *loadTransposed(Wave &wave, const Record *record) {
  if (wave.exec() == 0)
    return record + 1;
  if (wave.exec() != wave.allLanes() || wave.waveSize != 32)
    return fail(wave, record, FaultKind::Refused, -1, 0, bytes, false,
                "transposing loads want a wave of 32 lanes, all of them on");
  AccessForm form = {AccessKind::Load, DataPlacement::Transposed, bytes};
  form.elementBits = bits;
  LaneAddresses lanes;
  if (!GlobalSpace::addresses(wave, record, form, lanes))
    return nullptr;
  TransposeBuffer buffer;
  forActive(lanes.active, [&](unsigned lane) { buffer.load(lane, lanes.address[lane], bytes); });
  buffer.give<true, bytes, bits>(wave, wave.row(record->destination));
  countBytes(wave, lanes, bytes, false);
  return record + 1;
}

constexpr auto loadClass = InstructionClass::GlobalLoad;
constexpr auto storeClass = InstructionClass::GlobalStore;

/// One instruction in both spaces, in gfx9's and gfx11's names.
#define LOAD(GFX9, GFX11, ...)                                                                     \
  memory("global_" GFX9 " global_" GFX11, Shape::Flat, loadClass, load<GlobalSpace, __VA_ARGS__>), \
      memory("flat_" GFX9 " flat_" GFX11, Shape::Flat, loadClass, load<FlatSpace, __VA_ARGS__>)
#define STORE(GFX9, GFX11, DWORDS)                                                                 \
  memory("global_" GFX9 " global_" GFX11, Shape::Flat, storeClass, store<GlobalSpace, DWORDS>),    \
      memory("flat_" GFX9 " flat_" GFX11, Shape::Flat, storeClass, store<FlatSpace, DWORDS>)
#define STORE_NARROW(GFX9, GFX11, BYTES, HALF)                                                     \
  memory("global_" GFX9 " global_" GFX11, Shape::Flat, storeClass,                                 \
         storePart<GlobalSpace, BYTES, Half::HALF>),                                               \
      memory("flat_" GFX9 " flat_" GFX11, Shape::Flat, storeClass,                                 \
             storePart<FlatSpace, BYTES, Half::HALF>)

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

    memory("global_load_addtid_b32", Shape::Flat, loadClass, loadByLane),
    memory("global_store_addtid_b32", Shape::Flat, storeClass, storeByLane),
    memory("global_load_block", Shape::Flat, loadClass, block<false>),
    memory("global_store_block", Shape::Flat, storeClass, block<true>),
    memory("global_load_tr_b128", Shape::Flat, loadClass, loadTransposed<16, 16>),
    memory("global_load_tr_b64", Shape::Flat, loadClass, loadTransposed<8, 8>),

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
