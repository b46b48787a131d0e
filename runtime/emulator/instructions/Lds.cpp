//===- Lds.cpp - Loads and stores of LDS ----------------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/instructions/Lds.h"

#include "runtime/emulator/instructions/LaneCopy.h"
#include "runtime/emulator/instructions/Tables.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {

bool failInLds(Wave &wave, const Record *record, const uint32_t *addresses, uint32_t offset,
               AccessForm form) {
  for (uint64_t mask = wave.exec(); mask != 0; mask &= mask - 1) {
    int lane = __builtin_ctzll(mask);
    uint64_t address = addresses[lane] + offset;
    if (address + form.bytes > wave.workgroup->ldsBytes)
      return failAccess(wave, record, FaultKind::LdsOutOfBounds, lane, address, form);
    if (address & (form.alignment - 1))
      return failAccess(wave, record, FaultKind::Misaligned, lane, address, form);
  }
  return true;
}

namespace {

/// Loads at checked addresses. Lanes that are switched off read what lies at 0.
template <unsigned dwords>
WAVETILE_INLINE void readRows(Wave &wave, const uint32_t *addresses, uint32_t offset,
                              uint32_t *row) {
  const uint8_t *lds = wave.workgroup->lds;
  const unsigned stride = wave.waveSize;
  if (wave.exec() == wave.allLanes()) {
    loadLanes<dwords>(row, stride, nullptr,
                      [&](unsigned lane) { return lds + uint32_t(addresses[lane] + offset); });
  } else if (wave.exec() != 0) {
    const uint32_t *active = wave.activeRow();
    loadLanes<dwords>(row, stride, active, [&](unsigned lane) {
      return lds + ((addresses[lane] + offset) & active[lane]);
    });
  }
}
template <unsigned dwords>
WAVETILE_INLINE void writeRows(Wave &wave, const uint32_t *addresses, uint32_t offset,
                               const uint32_t *row) {
  uint8_t *lds = wave.workgroup->lds;
  storeLanes<dwords>(row, wave.waveSize, wave.exec(),
                     [&](unsigned lane) { return lds + uint32_t(addresses[lane] + offset); });
}

template <unsigned dwords> const Record *read(Wave &wave, const Record *record) {
  if (!accessLds(wave, record, loadForm(dwords)))
    return nullptr;
  readRows<dwords>(wave, wave.row(record->sources[0]), record->immediate,
                   wave.row(record->destination));
  return record + 1;
}
template <unsigned dwords> const Record *write(Wave &wave, const Record *record) {
  if (!accessLds(wave, record, storeForm(dwords)))
    return nullptr;
  writeRows<dwords>(wave, wave.row(record->sources[0]), record->immediate,
                    wave.row(record->sources[1]));
  return record + 1;
}
template <Narrow narrow, Half half> const Record *readNarrow(Wave &wave, const Record *record) {
  if (!accessLds(wave, record, loadForm(narrow, half)))
    return nullptr;
  const uint32_t *addresses = wave.row(record->sources[0]);
  uint32_t *row = wave.row(record->destination);
  forActive(wave.exec(), [&](unsigned lane) {
    uint64_t address = ldsAddress(wave, addresses[lane], record->immediate);
    placeHalf(row[lane], loadNarrowValue<narrow>(address), half);
  });
  return record + 1;
}
template <unsigned bytes, Half half> const Record *writeNarrow(Wave &wave, const Record *record) {
  if (!accessLds(wave, record, storeForm(bytes, half)))
    return nullptr;
  const uint32_t *addresses = wave.row(record->sources[0]), *data = wave.row(record->sources[1]);
  forActive(wave.exec(), [&](unsigned lane) {
    uint64_t address = ldsAddress(wave, addresses[lane], record->immediate);
    uint32_t value = half == Half::High ? data[lane] >> 16 : data[lane];
    if constexpr (bytes == 1)
      storeTo<uint8_t>(address, static_cast<uint8_t>(value));
    else
      storeTo<uint16_t>(address, static_cast<uint16_t>(value));
  });
  return record + 1;
}

/// Two elements at two offsets, which count elements, or 64 elements in the st64 forms.
template <unsigned dwords, unsigned step> const Record *readTwo(Wave &wave, const Record *record) {
  TwoOffsets offsets(record, 4 * dwords * step);
  AddressCopy addresses(wave, record->sources[0]);
  if (!accessLds(wave, record, addresses.row, offsets.first, loadForm(dwords)) ||
      !accessLds(wave, record, addresses.row, offsets.second, loadForm(dwords).ofPart(dwords)))
    return nullptr;
  uint32_t *row = wave.row(record->destination);
  readRows<dwords>(wave, addresses.row, offsets.first, row);
  readRows<dwords>(wave, addresses.row, offsets.second, row + dwords * wave.waveSize);
  return record + 1;
}
template <unsigned dwords, unsigned step> const Record *writeTwo(Wave &wave, const Record *record) {
  TwoOffsets offsets(record, 4 * dwords * step);
  const uint32_t *addresses = wave.row(record->sources[0]);
  if (!accessLds(wave, record, addresses, offsets.first, storeForm(dwords)) ||
      !accessLds(wave, record, addresses, offsets.second, storeForm(dwords).ofSource(2)))
    return nullptr;
  writeRows<dwords>(wave, addresses, offsets.first, wave.row(record->sources[1]));
  writeRows<dwords>(wave, addresses, offsets.second, wave.row(record->sources[2]));
  return record + 1;
}

/// The add-tid forms: M0, the offset and 4 bytes a lane.
void laneOffsets(const Wave &wave, uint32_t *offsets) {
  uint32_t base = wave.scalars[scalar::M0] & 0xffff;
  for (unsigned lane = 0; lane < wave.waveSize; ++lane)
    offsets[lane] = base + 4 * lane;
}
/// ds_read_addtid_b32.
const Record *readByLane(Wave &wave, const Record *record) {
  alignas(64) uint32_t offsets[maximumWaveSize];
  laneOffsets(wave, offsets);
  if (!accessLds(wave, record, offsets, record->immediate, loadForm(1)))
    return nullptr;
  readRows<1>(wave, offsets, record->immediate, wave.row(record->destination));
  return record + 1;
}
const Record *writeByLane(Wave &wave, const Record *record) {
  alignas(64) uint32_t offsets[maximumWaveSize];
  laneOffsets(wave, offsets);
  if (!accessLds(wave, record, offsets, record->immediate, storeForm(1)))
    return nullptr;
  writeRows<1>(wave, offsets, record->immediate, wave.row(record->sources[1]));
  return record + 1;
}

/// Transposing reads, see TransposedLoads.h. `bits` is the width of an element.
template <unsigned bytes, unsigned bits>
const Record *readTransposed(Wave &wave, const Record *record) {
  if (!accessLds(wave, record, transposedForm(bytes, bits)))
    return nullptr;
  const uint32_t *addresses = wave.row(record->sources[0]);
  TransposeBuffer buffer;
  forActive(wave.exec(), [&](unsigned lane) {
    buffer.load(lane, ldsAddress(wave, addresses[lane], record->immediate), bytes);
  });
  buffer.give<false, bytes, bits>(wave, wave.row(record->destination));
  return record + 1;
}

const Record *nothing(Wave &, const Record *record) { return record + 1; }

constexpr auto lds = InstructionClass::Lds;

constexpr Instruction table[] = {
    memory("ds_read_b32 ds_load_b32", Shape::Lds, lds, read<1>),
    memory("ds_read_b64 ds_load_b64", Shape::Lds, lds, read<2>),
    memory("ds_read_b96 ds_load_b96", Shape::Lds, lds, read<3>),
    memory("ds_read_b128 ds_load_b128", Shape::Lds, lds, read<4>),
    memory("ds_read_u8 ds_load_u8", Shape::Lds, lds, readNarrow<Narrow::ZeroByte, Half::All>),
    memory("ds_read_i8 ds_load_i8", Shape::Lds, lds, readNarrow<Narrow::SignedByte, Half::All>),
    memory("ds_read_u16 ds_load_u16", Shape::Lds, lds, readNarrow<Narrow::ZeroShort, Half::All>),
    memory("ds_read_i16 ds_load_i16", Shape::Lds, lds, readNarrow<Narrow::SignedShort, Half::All>),
    memory("ds_read_u8_d16 ds_load_u8_d16", Shape::Lds, lds,
           readNarrow<Narrow::ZeroByte, Half::Low>),
    memory("ds_read_u8_d16_hi ds_load_u8_d16_hi", Shape::Lds, lds,
           readNarrow<Narrow::ZeroByte, Half::High>),
    memory("ds_read_i8_d16 ds_load_i8_d16", Shape::Lds, lds,
           readNarrow<Narrow::SignedByte, Half::Low>),
    memory("ds_read_i8_d16_hi ds_load_i8_d16_hi", Shape::Lds, lds,
           readNarrow<Narrow::SignedByte, Half::High>),
    memory("ds_read_u16_d16 ds_load_u16_d16", Shape::Lds, lds,
           readNarrow<Narrow::ZeroShort, Half::Low>),
    memory("ds_read_u16_d16_hi ds_load_u16_d16_hi", Shape::Lds, lds,
           readNarrow<Narrow::ZeroShort, Half::High>),
    memory("ds_read2_b32 ds_load_2addr_b32", Shape::Lds, lds, readTwo<1, 1>, 1),
    memory("ds_read2_b64 ds_load_2addr_b64", Shape::Lds, lds, readTwo<2, 1>, 1),
    memory("ds_read2st64_b32 ds_load_2addr_stride64_b32", Shape::Lds, lds, readTwo<1, 64>, 1),
    memory("ds_read2st64_b64 ds_load_2addr_stride64_b64", Shape::Lds, lds, readTwo<2, 64>, 1),

    memory("ds_write_b32 ds_store_b32", Shape::Lds, lds, write<1>),
    memory("ds_write_b64 ds_store_b64", Shape::Lds, lds, write<2>),
    memory("ds_write_b96 ds_store_b96", Shape::Lds, lds, write<3>),
    memory("ds_write_b128 ds_store_b128", Shape::Lds, lds, write<4>),
    memory("ds_write_b8 ds_store_b8", Shape::Lds, lds, writeNarrow<1, Half::Low>),
    memory("ds_write_b8_d16_hi ds_store_b8_d16_hi", Shape::Lds, lds, writeNarrow<1, Half::High>),
    memory("ds_write_b16 ds_store_b16", Shape::Lds, lds, writeNarrow<2, Half::Low>),
    memory("ds_write_b16_d16_hi ds_store_b16_d16_hi", Shape::Lds, lds, writeNarrow<2, Half::High>),
    memory("ds_write2_b32 ds_store_2addr_b32", Shape::Lds, lds, writeTwo<1, 1>, 1),
    memory("ds_write2_b64 ds_store_2addr_b64", Shape::Lds, lds, writeTwo<2, 1>, 1),
    memory("ds_write2st64_b32 ds_store_2addr_stride64_b32", Shape::Lds, lds, writeTwo<1, 64>, 1),
    memory("ds_write2st64_b64 ds_store_2addr_stride64_b64", Shape::Lds, lds, writeTwo<2, 64>, 1),

    memory("ds_read_addtid_b32 ds_load_addtid_b32", Shape::Lds, lds, readByLane),
    memory("ds_write_addtid_b32 ds_store_addtid_b32", Shape::Lds, lds, writeByLane),
    memory("ds_nop", Shape::Lds, lds, nothing),

    memory("ds_read_b64_tr_b16", Shape::Lds, lds, readTransposed<8, 16>),
    memory("ds_read_b64_tr_b8", Shape::Lds, lds, readTransposed<8, 8>),
    memory("ds_read_b64_tr_b4", Shape::Lds, lds, readTransposed<8, 4>),
    memory("ds_read_b96_tr_b6", Shape::Lds, lds, readTransposed<12, 6>),
};

} // namespace

InstructionRows ldsMemory() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
