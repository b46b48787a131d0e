//===- Flat.cpp - FLAT, GLOBAL and SCRATCH instructions of the reference ---===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// After the chapter "Flat Memory Instructions" of AMD's MI300, RDNA3 and RDNA4 documents.
//
//===----------------------------------------------------------------------===//

#include "reference/Memory.h"

namespace wavetile::reference {
namespace {

bool isOff(const TextOperand &operand) { return operand.text == "off"; }

/// Where one lane's bytes are: in which memory, and at which of its bytes.
struct Place {
  std::vector<uint8_t> *memory;
  uint64_t at;
};

/// `flat_`: by the upper half of the address.
Place placeOfFlat(Wave &wave, uint64_t address, unsigned lane) {
  uint64_t aperture = address >> 32 << 32;
  if (aperture == sharedBase)
    return {&wave.memory.lds, address & 0xffffffff};
  if (aperture == privateBase)
    return {&wave.memory.scratch[lane], address & 0xffffffff};
  return {&wave.memory.global, address - wave.memory.globalAddress};
}

std::optional<Place> placeOf(Wave &wave, const Wave &before, const Statement &s,
                             const TextOperand *vector, const TextOperand *scalar, unsigned lane) {
  uint64_t address = static_cast<uint64_t>(offsetOf(s));
  bool isScratch = s.mnemonic.starts_with("scratch_");
  bool hasScalar = scalar && !isOff(*scalar) && scalar->kind != TextOperand::Null;
  if (hasScalar) {
    auto bits = scalarBits(before, *scalar, isScratch ? Kind::B32 : Kind::B64);
    if (!bits)
      return std::nullopt;
    address += isScratch ? *bits & 0xffffffff : *bits;
  }
  if (vector && !isOff(*vector)) {
    uint64_t bits = before.vectors[vector->index][lane];
    if (!isScratch && !hasScalar)
      bits |= uint64_t(before.vectors[vector->index + 1 & 255][lane]) << 32;
    address += bits;
  }
  if (isScratch)
    return Place{&wave.memory.scratch[lane], address & 0xffffffff};
  if (s.mnemonic.starts_with("flat_"))
    return placeOfFlat(wave, address, lane);
  return Place{&wave.memory.global, address - wave.memory.globalAddress};
}

/// M0 says which of 32 dwords take part.
Outcome moveBlock(Wave &wave, const Statement &s, bool isLoad) {
  const Wave before = wave;
  uint32_t chosen = wave.scalars[scalarnumber::M0];
  const TextOperand &data = s.operands[isLoad ? 0 : 1], &vector = s.operands[isLoad ? 1 : 0];
  std::set<uint64_t> written;
  for (unsigned lane = 0; lane < wave.size; ++lane) {
    if (!isActive(wave, lane))
      continue;
    auto place = placeOf(wave, before, s, &vector, &s.operands[2], lane);
    if (!place)
      return Outcome::Unreadable;
    for (unsigned i = 0; i < 32; ++i) {
      if (!(chosen >> i & 1))
        continue;
      Bytes memory(*place->memory);
      uint64_t at = place->at + 4 * i;
      if (!memory.contains(at, 4))
        return Outcome::Unreadable;
      bool isShared = !s.mnemonic.starts_with("scratch_");
      if (!isLoad && isShared && !written.insert(at).second)
        return Outcome::Unreadable;
      if (isLoad)
        dataRegister(wave, data, i, lane) = static_cast<uint32_t>(memory.read(at, 4));
      else
        memory.write(at, 4, dataRegister(wave, data, i, lane));
    }
  }
  return Outcome::Done;
}

} // namespace

Outcome executeFlat(Wave &wave, const Statement &s) {
  std::string name = s.mnemonic;
  for (const char *nothing : {"global_inv", "global_wb", "global_wbinv"})
    if (name == nothing)
      return Outcome::Done; // There are no caches.
  name.erase(0, name.find('_') + 1);
  bool toLds = name.starts_with("load_lds_"), byLane = name.find("addtid_") != std::string::npos;
  if (name == "load_block" || name == "store_block")
    return moveBlock(wave, s, name == "load_block");
  bool isAtomic = name.starts_with("atomic_"), isLoad = name.starts_with("load_");
  if (!isAtomic && !isLoad && !name.starts_with("store_"))
    return Outcome::Unknown;
  std::string type = name.substr(toLds ? 9 : isAtomic ? 7 : name.find('_') + 1);
  if (byLane)
    type.erase(0, 7);
  auto atomic = isAtomic ? atomicOf(type, false) : std::nullopt;
  auto transfer = isAtomic ? std::nullopt : transferOf(type);
  if (!atomic && !transfer)
    return Outcome::Unknown;
  auto returns = isAtomic ? returnsOld(s, wave.isGfx9) : std::optional(false);
  if (!returns)
    return Outcome::Unreadable;
  size_t next = (isLoad && !toLds) || *returns ? 1 : 0;
  const TextOperand *vector = byLane ? nullptr : &s.operands[next++];
  const TextOperand *data = nullptr;
  if (!isLoad)
    data = byLane ? &s.operands[next++] : &s.operands[next++];
  const TextOperand *scalar = next < s.operands.size() ? &s.operands[next++] : nullptr;
  if (next != s.operands.size())
    return Outcome::Unreadable;

  const Wave before = wave;
  Wave registers = wave;
  std::set<std::pair<void *, uint64_t>> written;
  for (unsigned lane = 0; lane < wave.size; ++lane) {
    if (!isActive(wave, lane))
      continue;
    auto place = placeOf(wave, before, s, vector, scalar, lane);
    if (!place)
      return Outcome::Unreadable;
    if (byLane)
      place->at += 4 * lane;
    Bytes memory(*place->memory);
    unsigned count = isAtomic ? atomic->bytes : transfer->bytes;
    if (!memory.contains(place->at, count))
      return Outcome::Unreadable;
    for (unsigned i = 0; !isLoad && i < count; ++i)
      if (!written.insert({place->memory, place->at + i}).second)
        return Outcome::Unreadable;
    if (isAtomic) {
      uint64_t old = memory.read(place->at, count), second = 0;
      if (atomic->compares)
        second = dataOf(registers, *data, count / 4, lane, count);
      memory.write(place->at, count,
                   atomic->apply(old, dataOf(registers, *data, 0, lane, count), second));
      for (unsigned i = 0; *returns && i < count / 4; ++i)
        dataRegister(wave, s.operands[0], i, lane) = static_cast<uint32_t>(old >> 32 * i);
    } else if (toLds) {
      if (!loadToLds(wave, lane, *transfer, memory, place->at, offsetOf(s)))
        return Outcome::Unreadable;
    } else if (isLoad) {
      loadElement(wave, s.operands[0], lane, *transfer, memory, place->at);
    } else {
      storeElement(registers, *data, lane, *transfer, memory, place->at);
    }
  }
  return Outcome::Done;
}

} // namespace wavetile::reference
