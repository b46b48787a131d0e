//===- Buffer.cpp - Buffer resources and the addresses of buffer instructions ===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/instructions/Buffer.h"

#include "runtime/emulator/instructions/Lanes.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {

BufferResource::BufferResource(const Wave &wave, const Record *record, bool isFormat) {
  const uint32_t *words = wave.scalars + record->sources[2].index();
  base = words[0] | static_cast<uint64_t>(words[1] & 0xffff) << 32;
  stride = words[1] >> 16 & 0x3fff;
  records = words[2];
  indexStride = 8u << (words[3] >> 21 & 3);
  addsLane = words[3] >> 23 & 1;
  if (record->variant & buffervariant::rdnaResource) {
    outOfBoundsSelect = words[3] >> 28 & 3;
    uint32_t swizzle = words[1] >> 30;
    elementBytes = swizzle == 0 ? 0 : swizzle == 3 ? 16 : 4;
    if (record->variant & buffervariant::gfx12Resource) {
      uint32_t scale = words[3] >> 18 & 3;
      stride *= scale == 0 ? 1 : scale == 1 ? 4 : scale == 2 ? 8 : 32;
    }
    return;
  }
  elementBytes = words[1] >> 31 ? 4 : 0;
  if (addsLane && !isFormat) // The data format's bits are more of the stride.
    stride |= (words[3] >> 15 & 15) << 14;
}

namespace {

/// What all lanes of an instruction share.
struct Addressing {
  BufferResource resource;
  const uint32_t *indices = nullptr, *offsets = nullptr;
  uint32_t constantOffset, scalarOffset;
  bool indexed, byLane, rdna, gfx12, byDword;

  Addressing(Wave &wave, const Record *record, RangeUnit unit, bool isFormat)
      : resource(wave, record, isFormat), constantOffset(record->immediate),
        scalarOffset(wave.read32(record->sources[3])),
        indexed(record->modifiers & modifier::indexEnable),
        rdna(record->variant & buffervariant::rdnaResource),
        gfx12(record->variant & buffervariant::gfx12Resource) {
    byLane = resource.addsLane;
    byDword = unit == RangeUnit::Dword && (!rdna || gfx12);
    bool offsetFromLane = record->modifiers & modifier::offsetEnable;
    const uint32_t *first = indexed || offsetFromLane ? wave.row(record->sources[0]) : nullptr;
    indices = indexed ? first : nullptr;
    offsets = offsetFromLane ? (indexed ? first + wave.waveSize : first) : nullptr;
  }

  uint64_t index(unsigned lane) const {
    return uint64_t(indices ? indices[lane] : 0) + (byLane ? lane : 0);
  }
  uint64_t offset(unsigned lane) const {
    return uint64_t(offsets ? offsets[lane] : 0) + constantOffset;
  }
  uint64_t address(unsigned lane) const {
    uint64_t at = offset(lane), i = index(lane);
    if (resource.elementBytes == 0)
      return resource.base + scalarOffset + at + i * resource.stride;
    uint64_t outside = scalarOffset;
    if (gfx12)
      at = static_cast<uint32_t>(at + scalarOffset), outside = 0;
    uint64_t record = i / resource.indexStride, element = at / resource.elementBytes;
    return resource.base + outside +
           (record * resource.stride + element * resource.elementBytes) * resource.indexStride +
           i % resource.indexStride * resource.elementBytes + at % resource.elementBytes;
  }

  /// Only the offset counts, and only against the end of the range.
  bool isRaw() const {
    if (rdna)
      return resource.outOfBoundsSelect == 3 &&
             (resource.elementBytes == 0 || resource.stride == 0);
    return !(byLane && !indexed) && (resource.stride == 0 || (!indexed && !resource.elementBytes));
  }
  /// Where the bytes of a raw range begin and end, seen from the lane's offset.
  uint64_t rawBegin(unsigned lane) const {
    if (rdna)
      return offset(lane) + scalarOffset + index(lane) * resource.stride;
    return offset(lane);
  }

  /// Whether `bytes` bytes that start `skipped` bytes into a lane's are in range.
  bool inRange(unsigned lane, uint32_t skipped, uint32_t bytes) const {
    if (isRaw())
      return rawBegin(lane) + skipped + bytes <= resource.records;
    if (!rdna)
      return (byLane && !indexed) || index(lane) < resource.records;
    if (resource.outOfBoundsSelect == 2)
      return resource.records != 0;
    return index(lane) < resource.records &&
           (resource.outOfBoundsSelect == 1 || offset(lane) + skipped + bytes <= resource.stride);
  }
  uint32_t bytesInRange(unsigned lane, uint32_t bytes) const {
    if (!byDword || bytes <= 4)
      return inRange(lane, 0, bytes) ? bytes : 0;
    uint32_t valid = 0;
    while (valid < bytes && inRange(lane, valid, 4))
      valid += 4;
    return valid;
  }
};

/// The usual case: a raw linear buffer without indices. Lanes in range from one comparison each;
/// those that are not wholly are left to be looked at.
uint64_t lanesInRawRange(Wave &wave, const Addressing &addressing, uint32_t bytes,
                         LaneAddresses &lanes) {
  const BufferResource &resource = addressing.resource;
  uint64_t common = uint64_t(addressing.constantOffset) + addressing.scalarOffset;
  uint64_t counted = addressing.rdna ? common : addressing.constantOffset;
  uint64_t needed = counted + bytes;
  uint64_t base = resource.base + common;
  const uint32_t *offsets = addressing.offsets;
  if (!offsets) {
    for (unsigned lane = 0; lane < wave.waveSize; ++lane)
      lanes.address[lane] = base;
    return needed <= resource.records ? wave.exec() : 0;
  }
  for (unsigned lane = 0; lane < wave.waveSize; ++lane)
    lanes.address[lane] = base + offsets[lane];
  if (needed > resource.records)
    return 0;
  uint32_t highest = static_cast<uint32_t>(resource.records - needed);
  uint64_t inRange = 0;
  for (unsigned from = 0; from < wave.waveSize; from += 32) {
    alignas(64) uint32_t flags[32];
    for (unsigned lane = 0; lane < 32; ++lane)
      flags[lane] = offsets[from + lane] <= highest ? ~0u : 0;
    inRange |= static_cast<uint64_t>(packMask(flags)) << from;
  }
  return inRange & wave.exec();
}

} // namespace

bool bufferAddresses(Wave &wave, const Record *record, AccessForm form, RangeUnit unit,
                     bool isFormat, LaneAddresses &lanes) {
  const uint32_t bytes = form.bytes;
  const Addressing addressing(wave, record, unit, isFormat);
  const uint64_t exec = wave.exec();
  bool isSimple = !addressing.indexed && !addressing.byLane && addressing.isRaw() &&
                  addressing.resource.elementBytes == 0;
  if (isSimple) {
    lanes.active = lanesInRawRange(wave, addressing, bytes, lanes);
  } else {
    forActive(exec, [&](unsigned lane) {
      lanes.address[lane] = addressing.address(lane);
      if (addressing.bytesInRange(lane, bytes) == bytes)
        lanes.active |= uint64_t(1) << lane;
    });
  }
  uint64_t cut = exec & ~lanes.active;
  if (__builtin_expect(cut != 0, 0)) {
    if (addressing.byDword && bytes > 4) {
      forActive(cut, [&](unsigned lane) {
        uint32_t valid = addressing.bytesInRange(lane, bytes);
        lanes.lengths[lane] = static_cast<uint8_t>(valid);
        (valid ? lanes.partial : lanes.outside) |= uint64_t(1) << lane;
      });
    } else {
      lanes.outside = cut;
    }
  }
  if (!accessible(wave, record, lanes, form))
    return false;
  for (uint64_t mask = lanes.partial; mask != 0; mask &= mask - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctzll(mask));
    LaneAddresses one;
    one.active = uint64_t(1) << lane;
    one.address[lane] = lanes.address[lane];
    AccessForm part = form;
    part.bytes = lanes.lengths[lane];
    if (!eachLaneAccessible(wave, record, one, part))
      return false;
  }
  return (form.alignment == 1 || aligned(wave, record, lanes, form)) &&
         (!isObserved(wave) || reportGlobal(wave, record, lanes, form));
}

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
