//===- BufferMemory.cpp - Buffer instructions -----------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A buffer resource is four scalar registers: base address, stride, number of records and flags.
// Lanes outside its range load 0 and store nothing, before any other check: how compilers mask
// lanes. What is in range must still lie in an allocation.
//
// Range rules, offset being that of the lane without the base:
//   gfx9   raw (stride 0): a dword is in range if it ends at or before num_records; each dword of
//          a vector is looked at alone. Structured: if its index is below num_records.
//   gfx11  OOB_SELECT of the resource: 0 structured, also offset against stride; 1 index only;
//          2 only whether num_records is 0; 3 raw, a vector is in range as a whole.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/instructions/Atomics.h"
#include "runtime/emulator/instructions/LaneMemory.h"
#include "runtime/emulator/instructions/Tables.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace {

struct Resource {
  uint64_t base;
  uint32_t stride;
  uint32_t records;
  uint32_t outOfBoundsSelect;
  bool swizzled;

  Resource(const Wave &wave, Operand operand) {
    const uint32_t *words = wave.scalars + operand.index();
    base = words[0] | static_cast<uint64_t>(words[1] & 0xffff) << 32;
    stride = words[1] >> 16 & 0x3fff;
    swizzled = words[1] >> 31 != 0;
    records = words[2];
    outOfBoundsSelect = words[3] >> 28 & 3;
  }
};

/// How many of the lane's bytes are in range, from the first one on.
WAVETILE_INLINE uint32_t bytesInRange(const Resource &resource, bool rangeBySelect, bool indexed,
                                      uint64_t index, uint64_t offset, uint32_t bytes) {
  bool inRange = true;
  if (rangeBySelect) {
    switch (resource.outOfBoundsSelect) {
    case 0:
      inRange =
          index < resource.records && (resource.stride == 0 || offset + bytes <= resource.stride);
      break;
    case 1:
      inRange = index < resource.records;
      break;
    case 2:
      inRange = resource.records != 0;
      break;
    default:
      inRange = offset + index * resource.stride + bytes <= resource.records;
    }
    return inRange ? bytes : 0;
  }
  if (resource.stride != 0 && indexed)
    return index < resource.records ? bytes : 0;
  if (offset >= resource.records)
    return 0;
  uint64_t left = resource.records - offset;
  if (left >= bytes)
    return bytes;
  return bytes < 4 ? 0 : static_cast<uint32_t>(left / 4 * 4);
}

/// Fills in the addresses of all active lanes and sorts them by range. False: a fault.
bool bufferAddresses(Wave &wave, const Record *record, AccessForm form, LaneAddresses &lanes) {
  const uint32_t bytes = form.bytes;
  const bool isStore = form.isStore();
  if (record->sources[2].kind() != OperandKind::Scalar) {
    fail(wave, record, FaultKind::Refused, -1, 0, 0, isStore, "no buffer resource");
    return false;
  }
  Resource resource(wave, record->sources[2]);
  bool indexed = record->modifiers & modifier::indexEnable;
  bool offsetFromLane = record->modifiers & modifier::offsetEnable;
  if (resource.swizzled) {
    fail(wave, record, FaultKind::Refused, -1, resource.base, 0, isStore,
         "swizzled buffer resources are not supported");
    return false;
  }
  const unsigned stride = wave.waveSize;
  const uint32_t *first = indexed || offsetFromLane ? wave.row(record->sources[0]) : nullptr;
  const uint32_t *indices = indexed ? first : nullptr;
  const uint32_t *offsets = offsetFromLane ? (indexed ? first + stride : first) : nullptr;
  uint64_t scalarOffset = wave.read32(record->sources[3]);
  uint64_t commonOffset = scalarOffset + record->immediate;
  uint64_t exec = wave.exec();
  bool rangeBySelect = record->variant & 0x80;
  uint64_t inRange = 0;
  // The usual case first: a raw buffer and all active lanes in range.
  if (!indexed && (!rangeBySelect || resource.outOfBoundsSelect == 3)) {
    const uint32_t *active = wave.activeRow();
    uint32_t highest = 0;
    for (unsigned lane = 0; lane < stride; ++lane) {
      uint32_t offset = offsets ? offsets[lane] : 0;
      lanes.address[lane] = resource.base + commonOffset + offset;
      uint32_t whenActive = offset & active[lane];
      highest = whenActive > highest ? whenActive : highest;
    }
    if (commonOffset + highest + bytes <= resource.records) {
      lanes.active = exec;
      return accessible(wave, record, lanes, bytes, isStore) &&
             (form.alignment == 1 || aligned(wave, record, lanes, form)) &&
             (!isObserved(wave) || reportGlobal(wave, record, lanes, form));
    }
  } else {
    for (unsigned lane = 0; lane < stride; ++lane) {
      uint64_t index = indices ? indices[lane] : 0;
      uint64_t offset = commonOffset + (offsets ? offsets[lane] : 0);
      lanes.address[lane] = resource.base + index * resource.stride + offset;
    }
  }
  for (uint64_t mask = exec; mask != 0; mask &= mask - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctzll(mask));
    uint64_t bit = uint64_t(1) << lane;
    uint64_t index = indices ? indices[lane] : 0;
    uint64_t offset = commonOffset + (offsets ? offsets[lane] : 0);
    uint32_t valid = bytesInRange(resource, rangeBySelect, indexed, index, offset, bytes);
    inRange |= valid == bytes ? bit : 0;
    lanes.outside |= valid == 0 ? bit : 0;
    if (valid != bytes && valid != 0) {
      lanes.partial |= bit;
      lanes.lengths[lane] = static_cast<uint8_t>(valid);
    }
  }
  lanes.active = inRange;
  if (!accessible(wave, record, lanes, bytes, isStore))
    return false;
  for (uint64_t mask = lanes.partial; mask != 0; mask &= mask - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctzll(mask));
    LaneAddresses one;
    one.active = uint64_t(1) << lane;
    one.address[lane] = lanes.address[lane];
    if (!eachLaneAccessible(wave, record, one, lanes.lengths[lane], isStore))
      return false;
  }
  return (form.alignment == 1 || aligned(wave, record, lanes, form)) &&
         (!isObserved(wave) || reportGlobal(wave, record, lanes, form));
}

template <unsigned dwords> const Record *load(Wave &wave, const Record *record) {
  LaneAddresses lanes;
  if (!bufferAddresses(wave, record, loadForm(dwords), lanes))
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
  if (!bufferAddresses(wave, record, storeForm(dwords), lanes))
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
  if (!bufferAddresses(wave, record, loadForm(narrow, half), lanes))
    return nullptr;
  uint32_t *row = wave.row(record->destination);
  loadNarrow<narrow, half>(row, lanes);
  forActive(lanes.outside, [&](unsigned lane) { placeHalf(row[lane], 0, half); });
  countBytes(wave, lanes, bytesOf(narrow), false);
  return record + 1;
}
template <unsigned bytes, Half half> const Record *storePart(Wave &wave, const Record *record) {
  LaneAddresses lanes;
  if (!bufferAddresses(wave, record, storeForm(bytes, half), lanes))
    return nullptr;
  storeNarrow<bytes, half>(wave.row(record->sources[1]), lanes);
  countBytes(wave, lanes, bytes, true);
  return record + 1;
}

/// Loads to LDS. Lane l's bytes go to M0 + instruction offset + bytes * l; out of range: zeros.
template <unsigned bytes, Narrow narrow> const Record *loadToLds(Wave &wave, const Record *record) {
  constexpr uint32_t step = bytes < 4 ? 4 : bytes;
  LaneAddresses lanes;
  if (!toLdsInBounds(wave, record, step) ||
      !bufferAddresses(wave, record, toLdsForm(bytes, narrow), lanes))
    return nullptr;
  uint64_t base = uint64_t(wave.scalars[scalar::M0]) + record->immediate;
  uint8_t *lds = wave.workgroup->lds;
  for (uint64_t mask = wave.exec(); mask != 0; mask &= mask - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctzll(mask));
    uint64_t offset = base + uint64_t(step) * lane;
    uint8_t value[16] = {};
    if (isActive(lanes.active, lane)) {
      if constexpr (bytes < 4) {
        uint32_t narrowValue = loadNarrowValue<narrow>(lanes.address[lane]);
        __builtin_memcpy(value, &narrowValue, 4);
      } else {
        __builtin_memcpy(value, reinterpret_cast<const void *>(lanes.address[lane]), bytes);
      }
    } else if (isActive(lanes.partial, lane)) {
      __builtin_memcpy(value, reinterpret_cast<const void *>(lanes.address[lane]),
                       lanes.lengths[lane]);
    }
    __builtin_memcpy(lds + offset, value, step);
  }
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
  if (!bufferAddresses(wave, record, atomicForm(sizeof(T), returns), lanes))
    return nullptr;
  const unsigned stride = wave.waveSize;
  uint32_t *data = wave.row(record->sources[1]);
  auto giveBack = [&](unsigned lane, T old) {
    if (!returns)
      return;
    data[lane] = static_cast<uint32_t>(old);
    if constexpr (sizeof(T) == 8)
      data[stride + lane] = static_cast<uint32_t>(old >> 32);
  };
  forActive(lanes.active, [&](unsigned lane) {
    T value = data[lane];
    if constexpr (sizeof(T) == 8)
      value |= static_cast<uint64_t>(data[stride + lane]) << 32;
    giveBack(lane, atomics::update<Op>(reinterpret_cast<T *>(lanes.address[lane]), value));
  });
  forActive(lanes.outside, [&](unsigned lane) { giveBack(lane, 0); });
  countBytes(wave, lanes, sizeof(T), true);
  return record + 1;
}

const Record *atomicCompareAndSwap(Wave &wave, const Record *record) {
  LaneAddresses lanes;
  bool returns = record->modifiers & modifier::returnsValue;
  if (!bufferAddresses(wave, record, compareAndSwapForm(4, returns), lanes))
    return nullptr;
  const unsigned stride = wave.waveSize;
  uint32_t *data = wave.row(record->sources[1]);
  forActive(lanes.active, [&](unsigned lane) {
    uint32_t old = atomics::compareAndSwap<atomics::CompareBits>(
        reinterpret_cast<uint32_t *>(lanes.address[lane]), data[lane], data[stride + lane]);
    if (returns)
      data[lane] = old;
  });
  if (returns)
    forActive(lanes.outside, [&](unsigned lane) { data[lane] = 0; });
  countBytes(wave, lanes, 4, true);
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

    ATOMIC("add", "add_u32", Add, uint32_t),
    ATOMIC("sub", "sub_u32", Subtract, uint32_t),
    ATOMIC("smin", "min_i32", MinimumSigned, uint32_t),
    ATOMIC("umin", "min_u32", MinimumUnsigned, uint32_t),
    ATOMIC("smax", "max_i32", MaximumSigned, uint32_t),
    ATOMIC("umax", "max_u32", MaximumUnsigned, uint32_t),
    ATOMIC("and", "and_b32", And, uint32_t),
    ATOMIC("or", "or_b32", Or, uint32_t),
    ATOMIC("xor", "xor_b32", Xor, uint32_t),
    ATOMIC("swap", "swap_b32", Exchange, uint32_t),
    ATOMIC("add_x2", "add_u64", Add, uint64_t),
    ATOMIC("add_f32", "add_f32", AddFloat, uint32_t),
    ATOMIC("add_f64", "add_f64", AddFloat, uint64_t),
    ATOMIC("pk_add_f16", "pk_add_f16", AddPackedHalf, uint32_t),
    ATOMIC("pk_add_bf16", "pk_add_bf16", AddPackedBFloat16, uint32_t),
    memory("buffer_atomic_cmpswap buffer_atomic_cmpswap_b32", Shape::Buffer, atomicClass,
           atomicCompareAndSwap),

    memory("buffer_wbl2 buffer_inv buffer_gl0_inv buffer_gl1_inv buffer_wbinvl1 "
           "buffer_wbinvl1_vol",
           Shape::Control, InstructionClass::Wait, nothing),
};

} // namespace

InstructionRows bufferMemory() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
