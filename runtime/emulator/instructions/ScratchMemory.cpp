//===- ScratchMemory.cpp - SCRATCH instructions ---------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/instructions/AddressSpaces.h"
#include "runtime/emulator/instructions/Tables.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {

bool ScratchOffsets::find(Wave &wave, const Record *record, AccessForm form, uint32_t extra) {
  uint32_t base = record->immediate + extra;
  if (record->sources[2].kind() != OperandKind::None)
    base += wave.read32(record->sources[2]);
  uniform = record->sources[0].kind() != OperandKind::Vector;
  const uint32_t *row = uniform ? nullptr : wave.row(record->sources[0]);
  const uint32_t *active = wave.activeRow();
  uint32_t highest = 0, low = 0;
  for (unsigned lane = 0; lane < wave.waveSize; ++lane) {
    lanes[lane] = base + (row ? row[lane] : 0);
    uint32_t offset = lanes[lane] & active[lane];
    highest = offset > highest ? offset : highest;
    low |= offset;
  }
  aligned = low % 4 == 0;
  const uint64_t exec = wave.exec();
  if (exec != 0 && uint64_t(highest) + form.bytes > wave.scratchBytes)
    for (uint64_t mask = exec; mask != 0; mask &= mask - 1) {
      int lane = __builtin_ctzll(mask);
      if (uint64_t(lanes[lane]) + form.bytes <= wave.scratchBytes)
        continue;
      fail(wave, record, FaultKind::ScratchOutOfBounds, lane, lanes[lane], form.bytes,
           form.isStore());
      return false;
    }
  return !isObserved(wave) || exec == 0 ||
         reportOffsets(wave, record, AccessSpace::Scratch, lanes, 0, exec, form);
}

namespace {

template <unsigned dwords>
WAVETILE_INLINE void loadRows(Wave &wave, uint32_t *row, const ScratchOffsets &offsets) {
  const unsigned stride = wave.waveSize;
  if (offsets.uniform && offsets.aligned && wave.exec() != 0) {
    const uint32_t *active = wave.activeRow();
    const uint32_t *from = wave.scratchWord(0, offsets.lanes[0] / 4);
    for (unsigned i = 0; i < dwords * stride; ++i)
      row[i] = (from[i] & active[i & (stride - 1)]) | (row[i] & ~active[i & (stride - 1)]);
    return;
  }
  loadScratchDwords<dwords>(wave, row, offsets.lanes, wave.exec());
}
template <unsigned dwords>
WAVETILE_INLINE void storeRows(Wave &wave, const uint32_t *row, const ScratchOffsets &offsets) {
  const unsigned stride = wave.waveSize;
  if (offsets.uniform && offsets.aligned && wave.exec() != 0) {
    const uint32_t *active = wave.activeRow();
    uint32_t *to = wave.scratchWord(0, offsets.lanes[0] / 4);
    for (unsigned i = 0; i < dwords * stride; ++i)
      to[i] = (row[i] & active[i & (stride - 1)]) | (to[i] & ~active[i & (stride - 1)]);
    return;
  }
  storeScratchDwords<dwords>(wave, row, offsets.lanes, wave.exec());
}

template <unsigned dwords> const Record *load(Wave &wave, const Record *record) {
  ScratchOffsets offsets;
  if (!offsets.find(wave, record, loadForm(dwords)))
    return nullptr;
  loadRows<dwords>(wave, wave.row(record->destination), offsets);
  return record + 1;
}
template <unsigned dwords> const Record *store(Wave &wave, const Record *record) {
  ScratchOffsets offsets;
  if (!offsets.find(wave, record, storeForm(dwords)))
    return nullptr;
  storeRows<dwords>(wave, wave.row(record->sources[1]), offsets);
  return record + 1;
}
template <Narrow narrow, Half half> const Record *load(Wave &wave, const Record *record) {
  ScratchOffsets offsets;
  if (!offsets.find(wave, record, loadForm(narrow, half)))
    return nullptr;
  loadScratchNarrow<narrow, half>(wave, wave.row(record->destination), offsets.lanes, wave.exec());
  return record + 1;
}
template <unsigned bytes, Half half> const Record *storePart(Wave &wave, const Record *record) {
  ScratchOffsets offsets;
  if (!offsets.find(wave, record, storeForm(bytes, half)))
    return nullptr;
  storeScratchNarrow<bytes, half>(wave, wave.row(record->sources[1]), offsets.lanes, wave.exec());
  return record + 1;
}

template <unsigned bytes, Narrow narrow> const Record *loadToLds(Wave &wave, const Record *record) {
  const LdsTarget target(wave, record, bytes);
  ScratchOffsets offsets;
  if (!toLdsInBounds(wave, record, target) || !offsets.find(wave, record, toLdsForm(bytes, narrow)))
    return nullptr;
  forActive(wave.exec(), [&](unsigned lane) {
    uint32_t value = 0;
    readScratch(wave, lane, offsets.lanes[lane], &value, bytes);
    value = loadNarrowValue<narrow>(reinterpret_cast<uint64_t>(&value));
    __builtin_memcpy(wave.workgroup->lds + target.offset(lane), &value, 4);
  });
  return record + 1;
}

/// Block forms: a dword for each bit of M0, to or from the register of its number.
template <bool isStore> const Record *block(Wave &wave, const Record *record) {
  const uint32_t chosen = wave.scalars[scalar::M0];
  ScratchOffsets offsets[32];
  // All of them before a result is written: the offset may be among the results.
  for (uint32_t bits = chosen; bits != 0; bits &= bits - 1) {
    unsigned i = static_cast<unsigned>(__builtin_ctz(bits));
    if (!offsets[i].find(wave, record, (isStore ? storeForm(1) : loadForm(1)).ofPart(i), 4 * i))
      return nullptr;
  }
  for (uint32_t bits = chosen; bits != 0; bits &= bits - 1) {
    unsigned i = static_cast<unsigned>(__builtin_ctz(bits));
    if constexpr (isStore)
      storeRows<1>(wave, wave.row(record->sources[1]) + i * wave.waveSize, offsets[i]);
    else
      loadRows<1>(wave, wave.row(record->destination) + i * wave.waveSize, offsets[i]);
  }
  return record + 1;
}

constexpr auto scratch = InstructionClass::Scratch;
#define LOAD(NAMES, ...) memory(NAMES, Shape::Flat, scratch, load<__VA_ARGS__>)
#define STORE(NAMES, DWORDS) memory(NAMES, Shape::Flat, scratch, store<DWORDS>)
#define STORE_NARROW(NAMES, BYTES, HALF)                                                           \
  memory(NAMES, Shape::Flat, scratch, storePart<BYTES, Half::HALF>)

constexpr Instruction table[] = {
    LOAD("scratch_load_dword scratch_load_b32", 1),
    LOAD("scratch_load_dwordx2 scratch_load_b64", 2),
    LOAD("scratch_load_dwordx3 scratch_load_b96", 3),
    LOAD("scratch_load_dwordx4 scratch_load_b128", 4),
    LOAD("scratch_load_ubyte scratch_load_u8", Narrow::ZeroByte, Half::All),
    LOAD("scratch_load_sbyte scratch_load_i8", Narrow::SignedByte, Half::All),
    LOAD("scratch_load_ushort scratch_load_u16", Narrow::ZeroShort, Half::All),
    LOAD("scratch_load_sshort scratch_load_i16", Narrow::SignedShort, Half::All),
    LOAD("scratch_load_ubyte_d16 scratch_load_d16_u8", Narrow::ZeroByte, Half::Low),
    LOAD("scratch_load_ubyte_d16_hi scratch_load_d16_hi_u8", Narrow::ZeroByte, Half::High),
    LOAD("scratch_load_sbyte_d16 scratch_load_d16_i8", Narrow::SignedByte, Half::Low),
    LOAD("scratch_load_sbyte_d16_hi scratch_load_d16_hi_i8", Narrow::SignedByte, Half::High),
    LOAD("scratch_load_short_d16 scratch_load_d16_b16", Narrow::ZeroShort, Half::Low),
    LOAD("scratch_load_short_d16_hi scratch_load_d16_hi_b16", Narrow::ZeroShort, Half::High),

    STORE("scratch_store_dword scratch_store_b32", 1),
    STORE("scratch_store_dwordx2 scratch_store_b64", 2),
    STORE("scratch_store_dwordx3 scratch_store_b96", 3),
    STORE("scratch_store_dwordx4 scratch_store_b128", 4),
    STORE_NARROW("scratch_store_byte scratch_store_b8", 1, Low),
    STORE_NARROW("scratch_store_byte_d16_hi scratch_store_d16_hi_b8", 1, High),
    STORE_NARROW("scratch_store_short scratch_store_b16", 2, Low),
    STORE_NARROW("scratch_store_short_d16_hi scratch_store_d16_hi_b16", 2, High),

    memory("scratch_load_block", Shape::Flat, scratch, block<false>),
    memory("scratch_store_block", Shape::Flat, scratch, block<true>),
    memory("scratch_load_lds_dword", Shape::Flat, scratch, loadToLds<4, Narrow::Whole>),
    memory("scratch_load_lds_ubyte", Shape::Flat, scratch, loadToLds<1, Narrow::ZeroByte>),
    memory("scratch_load_lds_sbyte", Shape::Flat, scratch, loadToLds<1, Narrow::SignedByte>),
    memory("scratch_load_lds_ushort", Shape::Flat, scratch, loadToLds<2, Narrow::ZeroShort>),
    memory("scratch_load_lds_sshort", Shape::Flat, scratch, loadToLds<2, Narrow::SignedShort>),
};

} // namespace

InstructionRows scratchMemory() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
