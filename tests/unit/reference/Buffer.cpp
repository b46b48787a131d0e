//===- Buffer.cpp - Buffer instructions of the reference -------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// After the sections "Buffer Addressing" and "Range checking" of AMD's MI300, RDNA3 and RDNA4
// documents. Without formats, which DeviceBufferTest has.
//
//===----------------------------------------------------------------------===//

#include "reference/Memory.h"

namespace wavetile::reference {
namespace {

struct Resource {
  uint64_t base, stride, records, elementBytes, indexStride;
  unsigned select; ///< OOB_SELECT.
  bool addsLane;

  Resource(const Wave &wave, unsigned first) {
    auto word = [&](unsigned i) -> uint64_t { return wave.scalars[first + i]; };
    base = word(0) | (word(1) & 0xffff) << 32;
    stride = word(1) >> 16 & 0x3fff;
    records = word(2);
    indexStride = uint64_t(8) << (word(3) >> 21 & 3);
    addsLane = word(3) >> 23 & 1;
    select = word(3) >> 28 & 3;
    uint64_t swizzle = wave.isGfx9 ? word(1) >> 31 : word(1) >> 30;
    elementBytes = swizzle == 0 ? 0 : !wave.isGfx9 && swizzle == 3 ? 16 : 4;
    if (wave.isGfx9 && addsLane) // The data format's field is the stride's upper part.
      stride |= (word(3) >> 15 & 15) << 14;
    if (wave.isGfx12) {
      static constexpr uint64_t scales[] = {1, 4, 8, 32};
      stride *= scales[word(3) >> 18 & 3];
    }
  }
};

struct LaneAddress {
  uint64_t index, offset, scalarOffset;
};

uint64_t addressIn(const Resource &r, const LaneAddress &a, bool isGfx12) {
  if (r.elementBytes == 0)
    return r.base + a.scalarOffset + a.offset + a.index * r.stride;
  uint64_t offset = a.offset + (isGfx12 ? a.scalarOffset : 0);
  uint64_t outside = isGfx12 ? 0 : a.scalarOffset;
  uint64_t inGroup = a.index % r.indexStride, group = a.index / r.indexStride;
  uint64_t inElement = offset % r.elementBytes, element = offset / r.elementBytes;
  return r.base + outside + (group * r.stride + element * r.elementBytes) * r.indexStride +
         inGroup * r.elementBytes + inElement;
}

/// Whether \p count bytes, \p skipped after the lane's first, are in range.
bool isInRange(const Wave &wave, const Resource &r, const LaneAddress &a, bool indexed,
               uint64_t skipped, uint64_t count) {
  uint64_t end = a.offset + skipped + count;
  if (wave.isGfx9) {
    if (r.addsLane && !indexed)
      return true;
    bool isStructured = r.stride != 0 && (indexed || r.elementBytes != 0);
    return isStructured ? a.index < r.records : end <= r.records;
  }
  switch (r.select) {
  case 0:
    return a.index < r.records && end <= r.stride;
  case 1:
    return a.index < r.records;
  case 2:
    return r.records != 0;
  default:
    if (r.elementBytes != 0 && r.stride != 0)
      return a.index < r.records && end <= r.stride;
    return end + a.scalarOffset + a.index * r.stride <= r.records;
  }
}

} // namespace

Outcome executeBuffer(Wave &wave, const Statement &s) {
  std::string name = s.mnemonic.substr(7);
  for (const char *nothing : {"inv", "wbl2", "gl0_inv", "gl1_inv"})
    if (name == nothing)
      return Outcome::Done; // There are no caches.
  if (s.mnemonic.starts_with("tbuffer_") || name.find("format") != std::string::npos)
    return Outcome::Unknown;
  bool toLds = s.has("lds"), isAtomic = name.starts_with("atomic_");
  bool isLoad = name.starts_with("load_");
  size_t kind = name.find('_') + 1;
  auto atomic = isAtomic ? atomicOf(name.substr(kind), false) : std::nullopt;
  auto transfer = isAtomic ? std::nullopt : transferOf(name.substr(kind));
  if (!atomic && !transfer)
    return Outcome::Unknown;
  size_t next = toLds ? 0 : 1;
  if (s.operands.size() != next + 3)
    return Outcome::Unreadable;
  const TextOperand &vector = s.operands[next];
  auto first = scalarNumber(s.operands[next + 1]);
  auto scalarOffset = scalarBits(wave, s.operands[next + 2], Kind::B32);
  if (!first || !scalarOffset || s.has("tfe"))
    return Outcome::Unreadable;
  Resource resource(wave, *first);
  bool indexed = s.has("idxen"), hasOffset = s.has("offen");
  auto returns = isAtomic ? returnsOld(s, wave.isGfx9) : std::optional(false);
  if (!returns)
    return Outcome::Unreadable;

  const Wave before = wave;
  Wave registers = wave;
  Bytes memory(wave.memory.global);
  for (unsigned lane = 0; lane < wave.size; ++lane) {
    if (!isActive(wave, lane))
      continue;
    LaneAddress address{0, static_cast<uint64_t>(offsetOf(s)), *scalarOffset & 0xffffffff};
    if (indexed)
      address.index = before.vectors[vector.index][lane];
    if (hasOffset)
      address.offset += before.vectors[vector.index + (indexed ? 1 : 0) & 255][lane];
    if (resource.addsLane)
      address.index += lane;
    unsigned count = isAtomic ? atomic->bytes : transfer->bytes;
    // Vectors of gfx9 and gfx12 are cut by dword.
    bool byDword = !isAtomic && count > 4 && (wave.isGfx9 || wave.isGfx12);
    unsigned valid = 0, step = byDword ? 4 : count;
    while (valid < count && isInRange(wave, resource, address, indexed, valid, step))
      valid += step;
    uint64_t at = addressIn(resource, address, wave.isGfx12) - wave.memory.globalAddress;
    if (valid != 0 && !memory.contains(at, valid))
      return Outcome::Unreadable;
    if (isAtomic) {
      uint64_t old = valid ? memory.read(at, count) : 0;
      uint64_t second =
          atomic->compares ? dataOf(registers, s.operands[0], count / 4, lane, count) : 0;
      uint64_t value = atomic->apply(old, dataOf(registers, s.operands[0], 0, lane, count), second);
      if (valid && !memory.write(at, count, value))
        return Outcome::Unreadable;
      for (unsigned i = 0; *returns && i < count / 4; ++i)
        dataRegister(wave, s.operands[0], i, lane) = static_cast<uint32_t>(old >> 32 * i);
      continue;
    }
    if (!isLoad) {
      for (unsigned from = 0; from < valid; from += 4) {
        Transfer part = *transfer;
        part.bytes = std::min(valid - from, 4u);
        TextOperand data = s.operands[0];
        data.index += from / 4;
        if (!storeElement(registers, data, lane, part, memory, at + from))
          return Outcome::Unreadable;
      }
      continue;
    }
    std::vector<uint8_t> loaded(count); // What is out of range is 0.
    for (unsigned i = 0; i < valid; ++i)
      loaded[i] = static_cast<uint8_t>(memory.read(at + i, 1));
    if (toLds ? !loadToLds(wave, lane, *transfer, Bytes(loaded), 0, offsetOf(s))
              : !loadElement(wave, s.operands[0], lane, *transfer, Bytes(loaded), 0))
      return Outcome::Unreadable;
  }
  return Outcome::Done;
}

} // namespace wavetile::reference
