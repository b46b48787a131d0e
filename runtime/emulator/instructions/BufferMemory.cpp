//===- BufferMemory.cpp - Untyped buffer instructions ---------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/instructions/Buffer.h"

#include "runtime/emulator/instructions/Atomics.h"
#include "runtime/emulator/instructions/Tables.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace {

template <unsigned dwords> const Record *load(Wave &wave, const Record *record) {
  LaneAddresses lanes;
  if (!bufferAddresses(wave, record, loadForm(dwords), RangeUnit::Dword, false, lanes))
    return nullptr;
  const unsigned stride = wave.waveSize;
  uint32_t *row = wave.row(record->destination);
  loadDwords<dwords>(wave, row, lanes);
  forActive(lanes.outside, [&](unsigned lane) {
    for (unsigned i = 0; i < dwords; ++i)
      row[i * stride + lane] = 0;
  });
  forActive(lanes.partial, [&](unsigned lane) {
    for (unsigned i = 0; i < dwords; ++i)
      row[i * stride + lane] =
          i < lanes.lengths[lane] / 4u ? loadFrom<uint32_t>(lanes.address[lane] + 4 * i) : 0;
  });
  countBytes(wave, lanes, 4 * dwords, false);
  return record + 1;
}
template <unsigned dwords> const Record *store(Wave &wave, const Record *record) {
  LaneAddresses lanes;
  if (!bufferAddresses(wave, record, storeForm(dwords), RangeUnit::Dword, false, lanes))
    return nullptr;
  const unsigned stride = wave.waveSize;
  const uint32_t *row = wave.row(record->sources[1]);
  storeDwords<dwords>(wave, row, lanes);
  forActive(lanes.partial, [&](unsigned lane) {
    for (unsigned i = 0; i < lanes.lengths[lane] / 4u; ++i)
      storeTo<uint32_t>(lanes.address[lane] + 4 * i, row[i * stride + lane]);
  });
  countBytes(wave, lanes, 4 * dwords, true);
  return record + 1;
}
template <Narrow narrow, Half half> const Record *load(Wave &wave, const Record *record) {
  LaneAddresses lanes;
  if (!bufferAddresses(wave, record, loadForm(narrow, half), RangeUnit::Whole, false, lanes))
    return nullptr;
  uint32_t *row = wave.row(record->destination);
  loadNarrow<narrow, half>(row, lanes);
  forActive(lanes.outside, [&](unsigned lane) { placeHalf(row[lane], 0, half); });
  countBytes(wave, lanes, bytesOf(narrow), false);
  return record + 1;
}
template <unsigned bytes, Half half> const Record *storePart(Wave &wave, const Record *record) {
  LaneAddresses lanes;
  if (!bufferAddresses(wave, record, storeForm(bytes, half), RangeUnit::Whole, false, lanes))
    return nullptr;
  storeNarrow<bytes, half>(wave.row(record->sources[1]), lanes);
  countBytes(wave, lanes, bytes, true);
  return record + 1;
}

/// Loads to LDS. Lanes that are out of range write zeros.
template <unsigned bytes, Narrow narrow> const Record *loadToLds(Wave &wave, const Record *record) {
  const LdsTarget target(wave, record, bytes);
  LaneAddresses lanes;
  if (!toLdsInBounds(wave, record, target) ||
      !bufferAddresses(wave, record, toLdsForm(bytes, narrow), RangeUnit::Dword, false, lanes))
    return nullptr;
  uint8_t *lds = wave.workgroup->lds;
  forActive(wave.exec(), [&](unsigned lane) {
    uint8_t value[16] = {};
    auto from = reinterpret_cast<const void *>(lanes.address[lane]);
    if (isActive(lanes.active, lane)) {
      if constexpr (bytes < 4) {
        uint32_t narrowValue = loadNarrowValue<narrow>(lanes.address[lane]);
        __builtin_memcpy(value, &narrowValue, 4);
      } else {
        __builtin_memcpy(value, from, bytes);
      }
    } else if (isActive(lanes.partial, lane)) {
      __builtin_memcpy(value, from, lanes.lengths[lane]);
    }
    __builtin_memcpy(lds + target.offset(lane), value, bytes < 4 ? 4 : bytes);
  });
  countBytes(wave, lanes, bytes, false);
  return record + 1;
}

/// A load that is to LDS if its lds bit says so.
template <unsigned dwords> const Record *loadOrToLds(Wave &wave, const Record *record) {
  if (record->modifiers & modifier::toLds)
    return loadToLds<4 * dwords, Narrow::Whole>(wave, record);
  return load<dwords>(wave, record);
}
template <Narrow narrow> const Record *loadOrToLds(Wave &wave, const Record *record) {
  if (record->modifiers & modifier::toLds)
    return loadToLds<bytesOf(narrow), narrow>(wave, record);
  return load<narrow, Half::All>(wave, record);
}

template <typename Op, typename T> const Record *atomic(Wave &wave, const Record *record) {
  LaneAddresses lanes;
  bool returns = record->modifiers & modifier::returnsValue;
  if (!bufferAddresses(wave, record, atomicForm(sizeof(T), returns), RangeUnit::Whole, false,
                       lanes))
    return nullptr;
  const unsigned stride = wave.waveSize;
  uint32_t *data = wave.row(record->sources[1]);
  forActive(lanes.active, [&](unsigned lane) {
    T old = atomics::update<Op>(reinterpret_cast<T *>(lanes.address[lane]),
                                wordOf<T>(data, lane, stride));
    if (returns)
      setWord<T>(data, lane, stride, old);
  });
  if (returns)
    forActive(lanes.outside, [&](unsigned lane) { setWord<T>(data, lane, stride, 0); });
  countBytes(wave, lanes, sizeof(T), true);
  return record + 1;
}

template <typename Op, typename T>
const Record *atomicCompareAndSwap(Wave &wave, const Record *record) {
  LaneAddresses lanes;
  bool returns = record->modifiers & modifier::returnsValue;
  if (!bufferAddresses(wave, record, compareAndSwapForm(sizeof(T), returns), RangeUnit::Whole,
                       false, lanes))
    return nullptr;
  constexpr unsigned registers = sizeof(T) / 4;
  const unsigned stride = wave.waveSize;
  uint32_t *data = wave.row(record->sources[1]);
  forActive(lanes.active, [&](unsigned lane) {
    T value = wordOf<T>(data, lane, stride);
    T comparison = wordOf<T>(data + registers * stride, lane, stride);
    T old =
        atomics::compareAndSwap<Op>(reinterpret_cast<T *>(lanes.address[lane]), value, comparison);
    if (returns)
      setWord<T>(data, lane, stride, old);
  });
  if (returns)
    forActive(lanes.outside, [&](unsigned lane) { setWord<T>(data, lane, stride, 0); });
  countBytes(wave, lanes, sizeof(T), true);
  return record + 1;
}

/// Cache control: this device's memory is coherent.
const Record *nothing(Wave &, const Record *record) { return record + 1; }

constexpr auto loadClass = InstructionClass::GlobalLoad;
constexpr auto storeClass = InstructionClass::GlobalStore;
constexpr auto atomicClass = InstructionClass::GlobalAtomic;

#define ATOMIC(GFX9, GFX11, OP, TYPE)                                                              \
  memory("buffer_atomic_" GFX9 " buffer_atomic_" GFX11, Shape::Buffer, atomicClass,                \
         atomic<atomics::OP, TYPE>)

constexpr Instruction table[] = {
    memory("buffer_load_dword buffer_load_b32", Shape::Buffer, loadClass, loadOrToLds<1>),
    memory("buffer_load_dwordx2 buffer_load_b64", Shape::Buffer, loadClass, load<2>),
    memory("buffer_load_dwordx3 buffer_load_b96", Shape::Buffer, loadClass, loadOrToLds<3>),
    memory("buffer_load_dwordx4 buffer_load_b128", Shape::Buffer, loadClass, loadOrToLds<4>),
    memory("buffer_load_ubyte buffer_load_u8", Shape::Buffer, loadClass,
           loadOrToLds<Narrow::ZeroByte>),
    memory("buffer_load_sbyte buffer_load_i8", Shape::Buffer, loadClass,
           loadOrToLds<Narrow::SignedByte>),
    memory("buffer_load_ushort buffer_load_u16", Shape::Buffer, loadClass,
           loadOrToLds<Narrow::ZeroShort>),
    memory("buffer_load_sshort buffer_load_i16", Shape::Buffer, loadClass,
           loadOrToLds<Narrow::SignedShort>),
    memory("buffer_load_ubyte_d16 buffer_load_d16_u8", Shape::Buffer, loadClass,
           load<Narrow::ZeroByte, Half::Low>),
    memory("buffer_load_ubyte_d16_hi buffer_load_d16_hi_u8", Shape::Buffer, loadClass,
           load<Narrow::ZeroByte, Half::High>),
    memory("buffer_load_sbyte_d16 buffer_load_d16_i8", Shape::Buffer, loadClass,
           load<Narrow::SignedByte, Half::Low>),
    memory("buffer_load_sbyte_d16_hi buffer_load_d16_hi_i8", Shape::Buffer, loadClass,
           load<Narrow::SignedByte, Half::High>),
    memory("buffer_load_short_d16 buffer_load_d16_b16", Shape::Buffer, loadClass,
           load<Narrow::ZeroShort, Half::Low>),
    memory("buffer_load_short_d16_hi buffer_load_d16_hi_b16", Shape::Buffer, loadClass,
           load<Narrow::ZeroShort, Half::High>),

    memory("buffer_store_dword buffer_store_b32", Shape::Buffer, storeClass, store<1>),
    memory("buffer_store_dwordx2 buffer_store_b64", Shape::Buffer, storeClass, store<2>),
    memory("buffer_store_dwordx3 buffer_store_b96", Shape::Buffer, storeClass, store<3>),
    memory("buffer_store_dwordx4 buffer_store_b128", Shape::Buffer, storeClass, store<4>),
    memory("buffer_store_byte buffer_store_b8", Shape::Buffer, storeClass, storePart<1, Half::Low>),
    memory("buffer_store_byte_d16_hi buffer_store_d16_hi_b8", Shape::Buffer, storeClass,
           storePart<1, Half::High>),
    memory("buffer_store_short buffer_store_b16", Shape::Buffer, storeClass,
           storePart<2, Half::Low>),
    memory("buffer_store_short_d16_hi buffer_store_d16_hi_b16", Shape::Buffer, storeClass,
           storePart<2, Half::High>),

    WAVETILE_MEMORY_ATOMICS(ATOMIC),
    ATOMIC("csub", "csub_u32 buffer_atomic_sub_clamp_u32", SubtractClamped, uint32_t),
    memory("buffer_atomic_cmpswap buffer_atomic_cmpswap_b32", Shape::Buffer, atomicClass,
           atomicCompareAndSwap<atomics::CompareBits, uint32_t>),
    memory("buffer_atomic_cmpswap_x2 buffer_atomic_cmpswap_b64", Shape::Buffer, atomicClass,
           atomicCompareAndSwap<atomics::CompareBits, uint64_t>),
    memory("buffer_atomic_cmpswap_f32", Shape::Buffer, atomicClass,
           atomicCompareAndSwap<atomics::CompareFloats, uint32_t>),

    memory("buffer_wbl2", Shape::Control, InstructionClass::Wait, nothing),
    memory("buffer_inv buffer_gl0_inv buffer_gl1_inv buffer_wbinvl1 "
           "buffer_wbinvl1_vol",
           Shape::Control, InstructionClass::Wait, nothing),
};

} // namespace

InstructionRows bufferMemory() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
