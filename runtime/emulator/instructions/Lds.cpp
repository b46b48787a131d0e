//===- Lds.cpp - LDS instructions -----------------------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An LDS address is a byte offset into the workgroup's LDS: 32 bits of a register and an offset in
// the instruction. Lanes are served in order.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/instructions/Atomics.h"
#include "runtime/emulator/instructions/LaneMemory.h"
#include "runtime/emulator/instructions/Tables.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace {

/// Where a lane's bytes are: compilers rely on the sum's wrapping around at 32 bits.
WAVETILE_INLINE uint8_t *ldsByte(const Wave &wave, uint32_t address, uint32_t offset) {
  return wave.workgroup->lds + uint32_t(address + offset);
}
WAVETILE_INLINE uint64_t ldsAddress(const Wave &wave, uint32_t address, uint32_t offset) {
  return reinterpret_cast<uint64_t>(ldsByte(wave, address, offset));
}

/// Checks that each active lane's bytes, at its address plus \p offset, lie in LDS and are aligned
/// as hardware wants it; reports them. `part`: see `reportOffsets`.
bool inLds(Wave &wave, const Record *record, uint32_t offset, AccessForm form, unsigned part = 0) {
  const uint32_t *addresses = wave.row(record->sources[0]);
  const uint32_t *active = wave.activeRow();
  uint64_t highest = 0;
  uint32_t low = 0;
  for (unsigned lane = 0; lane < wave.waveSize; ++lane) {
    uint32_t address = (addresses[lane] + offset) & active[lane];
    highest = address > highest ? address : highest;
    low |= address;
  }
  bool inside = highest + form.bytes <= wave.workgroup->ldsBytes;
  if (__builtin_expect(inside && (low & (form.alignment - 1)) == 0, 1))
    return !isObserved(wave) || wave.exec() == 0 ||
           reportOffsets(wave, record, AccessSpace::Lds, addresses, offset, wave.exec(), form,
                         part);
  for (uint64_t mask = wave.exec(); mask != 0; mask &= mask - 1) {
    int lane = __builtin_ctzll(mask);
    uint64_t address = addresses[lane] + offset;
    if (address + form.bytes > wave.workgroup->ldsBytes) {
      fail(wave, record, FaultKind::LdsOutOfBounds, lane, address, form.bytes, form.isStore());
      return false;
    }
    if (address & (form.alignment - 1)) {
      fail(wave, record, FaultKind::Misaligned, lane, address, form.bytes, form.isStore());
      return false;
    }
  }
  return true;
}

template <unsigned dwords>
WAVETILE_INLINE void readRows(Wave &wave, const uint32_t *addresses, uint32_t offset,
                              uint32_t *row) {
  const unsigned stride = wave.waveSize;
  auto one = [&](unsigned lane) {
    uint32_t values[dwords];
    __builtin_memcpy(values, ldsByte(wave, addresses[lane], offset), 4 * dwords);
    for (unsigned i = 0; i < dwords; ++i)
      row[i * stride + lane] = values[i];
  };
  if (wave.exec() == wave.allLanes())
    for (unsigned lane = 0; lane < stride; ++lane)
      one(lane);
  else
    forActive(wave.exec(), one);
}
template <unsigned dwords>
WAVETILE_INLINE void writeRows(Wave &wave, const uint32_t *addresses, uint32_t offset,
                               const uint32_t *row) {
  const unsigned stride = wave.waveSize;
  auto one = [&](unsigned lane) {
    uint32_t values[dwords];
    for (unsigned i = 0; i < dwords; ++i)
      values[i] = row[i * stride + lane];
    __builtin_memcpy(ldsByte(wave, addresses[lane], offset), values, 4 * dwords);
  };
  if (wave.exec() == wave.allLanes())
    for (unsigned lane = 0; lane < stride; ++lane)
      one(lane);
  else
    forActive(wave.exec(), one);
}

/// The destination may be the address register: addresses are copied first.
struct AddressCopy {
  alignas(64) uint32_t row[maximumWaveSize];
  AddressCopy(const Wave &wave, Operand operand) {
    const uint32_t *from = wave.row(operand);
    for (unsigned lane = 0; lane < wave.waveSize; ++lane)
      row[lane] = from[lane];
  }
};

template <unsigned dwords> const Record *read(Wave &wave, const Record *record) {
  if (!inLds(wave, record, record->immediate, loadForm(dwords)))
    return nullptr;
  AddressCopy addresses(wave, record->sources[0]);
  readRows<dwords>(wave, addresses.row, record->immediate, wave.row(record->destination));
  return record + 1;
}
template <unsigned dwords> const Record *write(Wave &wave, const Record *record) {
  if (!inLds(wave, record, record->immediate, storeForm(dwords)))
    return nullptr;
  writeRows<dwords>(wave, wave.row(record->sources[0]), record->immediate,
                    wave.row(record->sources[1]));
  return record + 1;
}
template <Narrow narrow, Half half> const Record *readNarrow(Wave &wave, const Record *record) {
  if (!inLds(wave, record, record->immediate, loadForm(narrow, half)))
    return nullptr;
  const uint32_t *addresses = wave.row(record->sources[0]);
  uint32_t *row = wave.row(record->destination);
  forActive(wave.exec(), [&](unsigned lane) {
    placeHalf(row[lane],
              loadNarrowValue<narrow>(ldsAddress(wave, addresses[lane], record->immediate)), half);
  });
  return record + 1;
}
template <unsigned bytes, Half half> const Record *writeNarrow(Wave &wave, const Record *record) {
  if (!inLds(wave, record, record->immediate, storeForm(bytes, half)))
    return nullptr;
  const uint32_t *addresses = wave.row(record->sources[0]), *data = wave.row(record->sources[1]);
  forActive(wave.exec(), [&](unsigned lane) {
    uint32_t value = half == Half::High ? data[lane] >> 16 : data[lane];
    if constexpr (bytes == 1)
      storeTo<uint8_t>(ldsAddress(wave, addresses[lane], record->immediate),
                       static_cast<uint8_t>(value));
    else
      storeTo<uint16_t>(ldsAddress(wave, addresses[lane], record->immediate),
                        static_cast<uint16_t>(value));
  });
  return record + 1;
}

/// Two elements at two offsets, which count elements, or 64 elements in the st64 forms.
template <unsigned dwords, unsigned step> const Record *readTwo(Wave &wave, const Record *record) {
  uint32_t first = (record->immediate & 0xff) * 4 * dwords * step;
  uint32_t second = (record->immediate >> 8) * 4 * dwords * step;
  if (!inLds(wave, record, first, loadForm(dwords)) ||
      !inLds(wave, record, second, loadForm(dwords), dwords))
    return nullptr;
  AddressCopy addresses(wave, record->sources[0]);
  uint32_t *row = wave.row(record->destination);
  readRows<dwords>(wave, addresses.row, first, row);
  readRows<dwords>(wave, addresses.row, second, row + dwords * wave.waveSize);
  return record + 1;
}
template <unsigned dwords, unsigned step> const Record *writeTwo(Wave &wave, const Record *record) {
  uint32_t first = (record->immediate & 0xff) * 4 * dwords * step;
  uint32_t second = (record->immediate >> 8) * 4 * dwords * step;
  constexpr AccessForm form = storeForm(dwords);
  constexpr AccessForm secondForm = {form.kind, form.placement, form.bytes, form.alignment, 2};
  if (!inLds(wave, record, first, form) || !inLds(wave, record, second, secondForm))
    return nullptr;
  const uint32_t *addresses = wave.row(record->sources[0]);
  writeRows<dwords>(wave, addresses, first, wave.row(record->sources[1]));
  writeRows<dwords>(wave, addresses, second, wave.row(record->sources[2]));
  return record + 1;
}

template <typename Op, typename T, bool returns>
const Record *atomic(Wave &wave, const Record *record) {
  if (!inLds(wave, record, record->immediate, atomicForm(sizeof(T), returns)))
    return nullptr;
  const unsigned stride = wave.waveSize;
  const uint32_t *addresses = wave.row(record->sources[0]), *data = wave.row(record->sources[1]);
  uint32_t *result = returns ? wave.row(record->destination) : nullptr;
  forActive(wave.exec(), [&](unsigned lane) {
    T value = data[lane], old;
    if constexpr (sizeof(T) == 8)
      value |= static_cast<uint64_t>(data[stride + lane]) << 32;
    uint8_t *target = ldsByte(wave, addresses[lane], record->immediate);
    __builtin_memcpy(&old, target, sizeof(T));
    T updated = Op::apply(old, value);
    __builtin_memcpy(target, &updated, sizeof(T));
    if constexpr (returns) {
      result[lane] = static_cast<uint32_t>(old);
      if constexpr (sizeof(T) == 8)
        result[stride + lane] = static_cast<uint32_t>(old >> 32);
    }
  });
  return record + 1;
}

/// Compare and swap: gfx9 has the comparison first (`cmpst`), gfx11 the new value (`cmpstore`).
template <typename T, bool returns, bool comparisonFirst>
const Record *compareAndSwap(Wave &wave, const Record *record) {
  constexpr AccessForm plain = atomicForm(sizeof(T), returns);
  constexpr AccessForm form = {plain.kind,      plain.placement,         plain.bytes,
                               plain.alignment, comparisonFirst ? 2 : 1, comparisonFirst ? 1 : 2};
  if (!inLds(wave, record, record->immediate, form))
    return nullptr;
  const unsigned stride = wave.waveSize;
  const uint32_t *addresses = wave.row(record->sources[0]);
  const uint32_t *expected = wave.row(record->sources[comparisonFirst ? 1 : 2]);
  const uint32_t *data = wave.row(record->sources[comparisonFirst ? 2 : 1]);
  uint32_t *result = returns ? wave.row(record->destination) : nullptr;
  auto word = [&](const uint32_t *row, unsigned lane) {
    T value = row[lane];
    if constexpr (sizeof(T) == 8)
      value |= static_cast<uint64_t>(row[stride + lane]) << 32;
    return value;
  };
  forActive(wave.exec(), [&](unsigned lane) {
    T old, comparison = word(expected, lane), value = word(data, lane);
    uint8_t *target = ldsByte(wave, addresses[lane], record->immediate);
    __builtin_memcpy(&old, target, sizeof(T));
    if (old == comparison)
      __builtin_memcpy(target, &value, sizeof(T));
    if constexpr (returns) {
      result[lane] = static_cast<uint32_t>(old);
      if constexpr (sizeof(T) == 8)
        result[stride + lane] = static_cast<uint32_t>(old >> 32);
    }
  });
  return record + 1;
}

/// Transposing reads: each 16 lanes load a block of 16 columns, row after row, in pieces of 64 bits
/// a lane; lane i gets column i. `bits` is the width of an element.
template <unsigned bits> const Record *readTransposed(Wave &wave, const Record *record) {
  if (!inLds(wave, record, record->immediate, {AccessKind::Load, DataPlacement::Transposed, 8, 8}))
    return nullptr;
  constexpr unsigned elements = 64 / bits; // A lane's, which is also the number of rows.
  constexpr unsigned lanesOfRow = 16 / elements;
  const uint32_t *addresses = wave.row(record->sources[0]);
  uint64_t loaded[maximumWaveSize] = {};
  uint64_t exec = wave.exec();
  forActive(exec, [&](unsigned lane) {
    __builtin_memcpy(&loaded[lane], ldsByte(wave, addresses[lane], record->immediate), 8);
  });
  const unsigned stride = wave.waveSize;
  uint32_t *row = wave.row(record->destination);
  constexpr uint64_t mask = (uint64_t(1) << bits) - 1;
  forActive(exec, [&](unsigned lane) {
    unsigned group = lane & ~15u, column = lane & 15;
    uint64_t result = 0;
    for (unsigned k = 0; k < elements; ++k) {
      uint64_t source = loaded[group + k * lanesOfRow + column / elements];
      result |= (source >> (bits * (column % elements)) & mask) << (bits * k);
    }
    row[lane] = static_cast<uint32_t>(result);
    row[stride + lane] = static_cast<uint32_t>(result >> 32);
  });
  return record + 1;
}
/// The same for elements of 6 bits, 16 of them in 96 bits a lane.
const Record *readTransposed6(Wave &wave, const Record *record) {
  if (!inLds(wave, record, record->immediate, {AccessKind::Load, DataPlacement::Transposed, 12, 4}))
    return nullptr;
  const uint32_t *addresses = wave.row(record->sources[0]);
  unsigned __int128 loaded[maximumWaveSize] = {};
  uint64_t exec = wave.exec();
  forActive(exec, [&](unsigned lane) {
    __builtin_memcpy(&loaded[lane], ldsByte(wave, addresses[lane], record->immediate), 12);
  });
  const unsigned stride = wave.waveSize;
  uint32_t *row = wave.row(record->destination);
  forActive(exec, [&](unsigned lane) {
    unsigned group = lane & ~15u, column = lane & 15;
    unsigned __int128 result = 0;
    for (unsigned k = 0; k < 16; ++k)
      result |= (loaded[group + k] >> (6 * column) & 63) << (6 * k);
    for (unsigned i = 0; i < 3; ++i)
      row[i * stride + lane] = static_cast<uint32_t>(result >> (32 * i));
  });
  return record + 1;
}

constexpr auto lds = InstructionClass::Lds;

#define ATOMIC(GFX9, GFX11, OP, TYPE)                                                              \
  memory("ds_" GFX9 " ds_" GFX11, Shape::Lds, lds, atomic<atomics::OP, TYPE, false>)
#define ATOMIC_RETURNING(GFX9, GFX11, OP, TYPE)                                                    \
  memory("ds_" GFX9 " ds_" GFX11, Shape::Lds, lds, atomic<atomics::OP, TYPE, true>)
/// Both forms of an atomic whose name ends in its type.
#define ATOMICS(NAME, TYPES, OP, TYPE)                                                             \
  ATOMIC(NAME "_" TYPES, NAME "_" TYPES, OP, TYPE),                                                \
      ATOMIC_RETURNING(NAME "_rtn_" TYPES, NAME "_rtn_" TYPES, OP, TYPE)

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

    ATOMICS("add", "u32", Add, uint32_t),
    ATOMICS("sub", "u32", Subtract, uint32_t),
    ATOMICS("rsub", "u32", ReverseSubtract, uint32_t),
    ATOMICS("inc", "u32", Increment, uint32_t),
    ATOMICS("dec", "u32", Decrement, uint32_t),
    ATOMICS("min", "i32", MinimumSigned, uint32_t),
    ATOMICS("max", "i32", MaximumSigned, uint32_t),
    ATOMICS("min", "u32", MinimumUnsigned, uint32_t),
    ATOMICS("max", "u32", MaximumUnsigned, uint32_t),
    ATOMICS("and", "b32", And, uint32_t),
    ATOMICS("or", "b32", Or, uint32_t),
    ATOMICS("xor", "b32", Xor, uint32_t),
    ATOMICS("add", "f32", AddFloat, uint32_t),
    ATOMICS("min", "f32", MinimumFloat, uint32_t),
    ATOMICS("max", "f32", MaximumFloat, uint32_t),
    ATOMICS("add", "u64", Add, uint64_t),
    ATOMICS("sub", "u64", Subtract, uint64_t),
    ATOMICS("min", "i64", MinimumSigned, uint64_t),
    ATOMICS("max", "i64", MaximumSigned, uint64_t),
    ATOMICS("min", "u64", MinimumUnsigned, uint64_t),
    ATOMICS("max", "u64", MaximumUnsigned, uint64_t),
    ATOMICS("and", "b64", And, uint64_t),
    ATOMICS("or", "b64", Or, uint64_t),
    ATOMICS("xor", "b64", Xor, uint64_t),
    ATOMICS("add", "f64", AddFloat, uint64_t),
    ATOMICS("pk_add", "f16", AddPackedHalf, uint32_t),
    ATOMICS("pk_add", "bf16", AddPackedBFloat16, uint32_t),
    ATOMIC_RETURNING("wrxchg_rtn_b32", "storexchg_rtn_b32", Exchange, uint32_t),
    ATOMIC_RETURNING("wrxchg_rtn_b64", "storexchg_rtn_b64", Exchange, uint64_t),
    memory("ds_cmpst_b32", Shape::Lds, lds, compareAndSwap<uint32_t, false, true>, 1),
    memory("ds_cmpst_rtn_b32", Shape::Lds, lds, compareAndSwap<uint32_t, true, true>, 1),
    memory("ds_cmpst_b64", Shape::Lds, lds, compareAndSwap<uint64_t, false, true>, 1),
    memory("ds_cmpst_rtn_b64", Shape::Lds, lds, compareAndSwap<uint64_t, true, true>, 1),
    memory("ds_cmpstore_b32", Shape::Lds, lds, compareAndSwap<uint32_t, false, false>, 1),
    memory("ds_cmpstore_rtn_b32", Shape::Lds, lds, compareAndSwap<uint32_t, true, false>, 1),
    memory("ds_cmpstore_b64", Shape::Lds, lds, compareAndSwap<uint64_t, false, false>, 1),
    memory("ds_cmpstore_rtn_b64", Shape::Lds, lds, compareAndSwap<uint64_t, true, false>, 1),

    memory("ds_read_b64_tr_b16", Shape::Lds, lds, readTransposed<16>),
    memory("ds_read_b64_tr_b8", Shape::Lds, lds, readTransposed<8>),
    memory("ds_read_b64_tr_b4", Shape::Lds, lds, readTransposed<4>),
    memory("ds_read_b96_tr_b6", Shape::Lds, lds, readTransposed6),
};

} // namespace

InstructionRows ldsMemory() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
