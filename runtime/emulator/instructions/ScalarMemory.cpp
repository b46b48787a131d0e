//===- ScalarMemory.cpp - Scalar loads ------------------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/instructions/LaneMemory.h"
#include "runtime/emulator/instructions/Tables.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace {

/// Whether these bytes may be loaded: in bounds, and aligned, as the scalar cache wants it. If not,
/// the wave has its fault.
bool mayLoad(Wave &wave, const Record *record, uint64_t address, uint32_t bytes,
             uint32_t alignment) {
  if (address % alignment != 0) {
    fail(wave, record, FaultKind::Misaligned, -1, address, bytes, false);
    return false;
  }
  GlobalMemory &memory = *wave.workgroup->memory;
  if (memory.containsAll(record, address, bytes, false) ||
      memory.check(record, address, bytes, false) == Access::Allowed)
    return true;
  fail(wave, record, FaultKind::OutOfBounds, -1, address, bytes, false);
  return false;
}

/// A register pair plus a constant plus, if there is one, a scalar offset.
uint64_t addressOf(const Wave &wave, const Record *record) {
  uint64_t address =
      wave.scalar64(record->sources[0].index()) +
      static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(record->immediate)));
  if (record->sources[1].kind() != OperandKind::None)
    address += wave.read32(record->sources[1]);
  return address;
}

/// False: the destination is null.
WAVETILE_INLINE bool hasResult(const Record *record) {
  return record->destination.kind() == OperandKind::Scalar;
}

template <unsigned dwords> const Record *scalarLoad(Wave &wave, const Record *record) {
  uint64_t address = addressOf(wave, record);
  if (!mayLoad(wave, record, address, 4 * dwords, 4))
    return nullptr;
  if (isObserved(wave) &&
      !reportScalar(wave, record, address, 4 * dwords, DataPlacement::Dwords, 4 * dwords))
    return nullptr;
  if (hasResult(record))
    __builtin_memcpy(wave.scalars + record->destination.index(),
                     reinterpret_cast<const void *>(address), 4 * dwords);
  *wave.workgroup->bytesLoaded += 4 * dwords;
  return record + 1;
}
template <Narrow narrow> const Record *scalarLoad(Wave &wave, const Record *record) {
  constexpr unsigned bytes = bytesOf(narrow);
  uint64_t address = addressOf(wave, record);
  if (!mayLoad(wave, record, address, bytes, bytes))
    return nullptr;
  if (isObserved(wave) &&
      !reportScalar(wave, record, address, bytes, loadForm(narrow, Half::All).placement, bytes))
    return nullptr;
  if (hasResult(record))
    wave.scalars[record->destination.index()] = loadNarrowValue<narrow>(address);
  *wave.workgroup->bytesLoaded += bytes;
  return record + 1;
}

/// Where a scalar load through a buffer resource reads: the resource's range counts bytes.
struct ScalarBuffer {
  uint64_t address;
  uint32_t bytesInRange; ///< From the address on.

  ScalarBuffer(const Wave &wave, const Record *record) {
    const uint32_t *resource = wave.scalars + record->sources[0].index();
    uint64_t stride = resource[1] >> 16 & 0x3fff;
    if (record->variant & buffervariant::gfx12Resource) {
      constexpr uint8_t scales[] = {1, 4, 8, 32};
      stride *= scales[resource[3] >> 18 & 3];
    }
    uint64_t size = stride == 0 ? resource[2] : resource[2] * stride;
    uint32_t offset = record->immediate;
    if (record->sources[1].kind() != OperandKind::None)
      offset += wave.read32(record->sources[1]);
    uint64_t base = resource[0] | static_cast<uint64_t>(resource[1] & 0xffff) << 32;
    address = base + offset;
    uint64_t left = offset < size ? size - offset : 0;
    bytesInRange = left > 64 ? 64 : static_cast<uint32_t>(left);
  }
};
/// Dwords that do not end within the range are 0.
template <unsigned dwords> const Record *scalarBufferLoad(Wave &wave, const Record *record) {
  const ScalarBuffer buffer(wave, record);
  unsigned inRange = buffer.bytesInRange / 4 < dwords ? buffer.bytesInRange / 4 : dwords;
  if (inRange != 0 && !mayLoad(wave, record, buffer.address, 4 * inRange, 4))
    return nullptr;
  if (isObserved(wave) &&
      !reportScalar(wave, record, buffer.address, 4 * dwords, DataPlacement::Dwords, 4 * inRange))
    return nullptr;
  for (unsigned i = 0; i < dwords && hasResult(record); ++i)
    wave.scalars[record->destination.index() + i] =
        i < inRange ? loadFrom<uint32_t>(buffer.address + 4 * i) : 0;
  *wave.workgroup->bytesLoaded += 4 * inRange;
  return record + 1;
}
template <Narrow narrow> const Record *scalarBufferLoad(Wave &wave, const Record *record) {
  constexpr unsigned bytes = bytesOf(narrow);
  const ScalarBuffer buffer(wave, record);
  unsigned inRange = buffer.bytesInRange < bytes ? 0 : bytes;
  if (inRange != 0 && !mayLoad(wave, record, buffer.address, bytes, bytes))
    return nullptr;
  if (isObserved(wave) && !reportScalar(wave, record, buffer.address, bytes,
                                        loadForm(narrow, Half::All).placement, inRange))
    return nullptr;
  if (hasResult(record))
    wave.scalars[record->destination.index()] =
        inRange ? loadNarrowValue<narrow>(buffer.address) : 0;
  *wave.workgroup->bytesLoaded += inRange;
  return record + 1;
}

constexpr Instruction load(const char *names, Handler handler) {
  return memory(names, Shape::ScalarMemory, InstructionClass::ScalarMemory, handler);
}

constexpr Instruction table[] = {
    load("s_load_dword s_load_b32", scalarLoad<1>),
    load("s_load_dwordx2 s_load_b64", scalarLoad<2>),
    load("s_load_b96", scalarLoad<3>),
    load("s_load_dwordx4 s_load_b128", scalarLoad<4>),
    load("s_load_dwordx8 s_load_b256", scalarLoad<8>),
    load("s_load_dwordx16 s_load_b512", scalarLoad<16>),
    load("s_load_i8", scalarLoad<Narrow::SignedByte>),
    load("s_load_u8", scalarLoad<Narrow::ZeroByte>),
    load("s_load_i16", scalarLoad<Narrow::SignedShort>),
    load("s_load_u16", scalarLoad<Narrow::ZeroShort>),
    load("s_buffer_load_dword s_buffer_load_b32", scalarBufferLoad<1>),
    load("s_buffer_load_dwordx2 s_buffer_load_b64", scalarBufferLoad<2>),
    load("s_buffer_load_b96", scalarBufferLoad<3>),
    load("s_buffer_load_dwordx4 s_buffer_load_b128", scalarBufferLoad<4>),
    load("s_buffer_load_dwordx8 s_buffer_load_b256", scalarBufferLoad<8>),
    load("s_buffer_load_dwordx16 s_buffer_load_b512", scalarBufferLoad<16>),
    load("s_buffer_load_i8", scalarBufferLoad<Narrow::SignedByte>),
    load("s_buffer_load_u8", scalarBufferLoad<Narrow::ZeroByte>),
    load("s_buffer_load_i16", scalarBufferLoad<Narrow::SignedShort>),
    load("s_buffer_load_u16", scalarBufferLoad<Narrow::ZeroShort>),
};

} // namespace

InstructionRows scalarMemory() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
