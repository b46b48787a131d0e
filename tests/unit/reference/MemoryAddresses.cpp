//===- MemoryAddresses.cpp - Registers that point into memory --------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "reference/Memory.h"

#include <algorithm>
#include <numeric>

namespace wavetile::reference {
namespace {

constexpr unsigned slotBytes = 32;

/// A slot of its own for each lane, in any order.
class Slots {
public:
  Slots(const Wave &wave, std::mt19937_64 &random, bool isAligned)
      : order(wave.size), random(random), isAligned(isAligned) {
    std::iota(order.begin(), order.end(), 0u);
    if (random() % 3 != 0) // Else as coalesced accesses are.
      std::shuffle(order.begin(), order.end(), random);
  }
  /// Where a lane's at most 16 bytes are.
  uint64_t at(unsigned lane) { return order[lane] * slotBytes + (isAligned ? 0 : random() % 17); }

private:
  std::vector<unsigned> order;
  std::mt19937_64 &random;
  bool isAligned;
};

void setScalar(Wave &wave, unsigned number, uint64_t value, bool isPair) {
  wave.scalars[number] = static_cast<uint32_t>(value);
  if (isPair)
    wave.scalars[number + 1] = static_cast<uint32_t>(value >> 32);
}
void setVector(Wave &wave, unsigned number, unsigned lane, uint64_t value, bool isPair) {
  wave.vectors[number][lane] = static_cast<uint32_t>(value);
  if (isPair)
    wave.vectors[number + 1 & 255][lane] = static_cast<uint32_t>(value >> 32);
}

void fillAgain(std::vector<uint8_t> &bytes, size_t size) {
  size_t had = bytes.size();
  bytes.resize(std::max(size, had));
  for (size_t i = had; i < bytes.size(); ++i)
    bytes[i] = static_cast<uint8_t>(bytes[i - had] + i / had);
}

bool pointLds(Wave &wave, const Statement &s, std::mt19937_64 &random) {
  const std::string &name = s.mnemonic;
  if (name == "ds_swizzle_b32" || name.find("permute") != std::string::npos)
    return true;
  uint64_t furthest = static_cast<uint64_t>(offsetOf(s));
  for (const char *offset : {"offset0", "offset1"}) {
    bool isWide =
        name.find("st64_") != std::string::npos || name.find("stride64") != std::string::npos;
    unsigned step = (isWide ? 64 : 1) * (name.ends_with("b64") ? 8 : 4);
    furthest = std::max(furthest, static_cast<uint64_t>(offsetOf(s, offset)) * step);
  }
  fillAgain(wave.memory.lds, (furthest / 64 + 1) * 64 + wave.size * slotBytes + 64);
  wave.scalars[scalarnumber::M0] = random() % 64 * 4;
  if (name.find("addtid") != std::string::npos)
    return true;
  if (name == "ds_append" || name == "ds_consume") {
    wave.scalars[scalarnumber::M0] += static_cast<uint32_t>(-offsetOf(s) & 3);
    return true;
  }
  bool isLoad = (name.starts_with("ds_read") || name.starts_with("ds_load"));
  bool isStore = name.starts_with("ds_write") || name.starts_with("ds_store_");
  size_t operand = isLoad || name.find("_rtn") != std::string::npos ? 1 : 0;
  bool isNarrowOrWhole = (isLoad || isStore) && !s.has("offset0") && !s.has("offset1") &&
                         name.find('2') != 7 && name.find("2addr") == std::string::npos;
  // The sum with the offset is what must be aligned.
  uint64_t toAlign = !isLoad && !isStore ? static_cast<uint64_t>(-offsetOf(s)) & 7 : 0;
  if (operand >= s.operands.size() || s.operands[operand].kind != TextOperand::Vector)
    return false;
  Slots slots(wave, random, !isNarrowOrWhole);
  for (unsigned lane = 0; lane < wave.size; ++lane)
    setVector(wave, s.operands[operand].index, lane, slots.at(lane) + toAlign, false);
  return true;
}

bool pointFlat(Wave &wave, const Statement &s, std::mt19937_64 &random) {
  const std::string &name = s.mnemonic;
  bool isScratch = name.starts_with("scratch_"),
       isAtomic = name.find("atomic") != std::string::npos;
  bool toLds = name.find("load_lds") != std::string::npos;
  bool isBlock = name.ends_with("_block"), byLane = name.find("addtid") != std::string::npos;
  wave.scalars[scalarnumber::M0] = static_cast<uint32_t>(
      isBlock ? random() & random() : random() % 64 * 4 | (toLds ? random() << 18 : 0));
  if (toLds)
    fillAgain(wave.memory.lds, 8192 + 64 * 16 + 512);
  bool isLoad = name.find("_load_") != std::string::npos;
  size_t operand = 0;
  if (isLoad && !toLds)
    operand = 1;
  else if (isAtomic && s.operands.size() > (name.starts_with("flat_") ? 2u : 3u))
    operand = 1;
  int64_t offset = offsetOf(s);
  // The memory that this is in, and how far into it the lanes' slots begin.
  uint64_t base = wave.memory.globalAddress + 64;
  bool isFlat = name.starts_with("flat_"), inLds = false;
  if (isFlat && random() % 4 == 0 && name.find("64") == std::string::npos &&
      name.find("pk_") == std::string::npos)
    inLds = true, base = sharedBase;
  else if (isFlat && !isAtomic && random() % 4 == 0)
    base = privateBase;
  if (isScratch)
    base = 0;
  const TextOperand *vector = byLane ? nullptr : &s.operands[operand];
  const TextOperand *scalar = nullptr;
  if (s.operands.size() > 1 && s.operands.back().kind != TextOperand::Vector &&
      s.operands.back().kind != TextOperand::Accumulator)
    scalar = &s.operands.back();
  bool hasVector = vector && vector->kind == TextOperand::Vector;
  bool hasScalar = scalar && scalar->text != "off" && scalar->kind != TextOperand::Null;
  uint64_t bias = random() % 2 ? random() & 0xffffffff : random() & 0xff8;
  if (isScratch)
    bias &= 0xffffff8;
  if (hasVector && hasScalar)
    bias -= std::min<uint64_t>(bias, wave.size * slotBytes + 64); // Offsets of lanes have 32 bits.
  else
    bias = 0;
  if (scalar && scalar->kind == TextOperand::Null)
    return false; // gfx9 has no such register.
  if (hasScalar) {
    auto number = scalarNumber(*scalar);
    if (!number || *number >= scalarnumber::Exec)
      return false;
    uint64_t value = base - static_cast<uint64_t>(offset) - bias;
    if (isScratch && !hasVector)
      value += random() % 128 * 4;
    setScalar(wave, *number, value, !isScratch);
    if (*number + !isScratch >= scalarnumber::M0 && *number <= scalarnumber::M0 &&
        (toLds || isBlock))
      return false;
  }
  // Stores of all lanes to one address have no order; those of a lane to its scratch do.
  Slots slots(wave, random, isAtomic || (isFlat && inLds) || isBlock || toLds);
  for (unsigned lane = 0; hasVector && lane < wave.size; ++lane) {
    uint64_t at = isBlock ? lane * 128 : slots.at(lane);
    if (isScratch || base == privateBase)
      at = isBlock ? random() % 64 * 4 : random() % 960;
    if (hasScalar)
      setVector(wave, vector->index, lane, at + bias, false);
    else
      setVector(wave, vector->index, lane, base - static_cast<uint64_t>(offset) + at, !isScratch);
  }
  return true;
}

bool pointBuffer(Wave &wave, const Statement &s, std::mt19937_64 &random) {
  const std::string &name = s.mnemonic;
  size_t next = s.has("lds") ? 0 : 1;
  if (s.operands.size() != next + 3)
    return true; // A cache instruction.
  bool isAtomic = name.find("atomic") != std::string::npos;
  auto resource = scalarNumber(s.operands[next + 1]);
  const TextOperand &scalar = s.operands[next + 2];
  if (!resource || *resource + 3 >= scalarnumber::M0)
    return false;
  int64_t offset = offsetOf(s);
  if (s.has("lds")) {
    wave.scalars[scalarnumber::M0] = static_cast<uint32_t>(random() % 64 * 4 | random() << 18);
    fillAgain(wave.memory.lds, 4096 + 64 * 16 + 512);
  }
  uint64_t scalarOffset = random() % 64 * 8;
  auto number = scalarNumber(scalar);
  if (number && *number == scalarnumber::M0 && s.has("lds"))
    return false;
  if (number && *number >= *resource && *number < *resource + 4)
    return false; // One register for two things.
  bool isAligned = isAtomic || s.has("lds");
  if (number) {
    if (*number >= scalarnumber::Exec)
      return false;
    setScalar(wave, *number, scalarOffset, false);
  } else if (auto bits = scalarBits(wave, scalar, Kind::B32)) {
    scalarOffset = *bits & 0xffffffff;
  } else {
    return false;
  }
  // Its lanes lie behind the allocation's first bytes, so that offsets may be more than needed.
  uint64_t stride = random() % 2 ? slotBytes + random() % 3 * 4 : 0;
  unsigned swizzle = stride && !isAligned && random() % 4 == 0 ? 1 : 0;
  uint64_t base = wave.memory.globalAddress + 64 - scalarOffset - static_cast<uint64_t>(offset);
  if (swizzle)
    base = wave.memory.globalAddress + 64;
  uint64_t records = 0;
  if (isAligned) {
    stride &= ~uint64_t(7);
    base += (-(base + scalarOffset + static_cast<uint64_t>(offset))) & 7;
  }
  if (random() % 8 == 0)
    records = random() % 2 ? 0xffffffff : 0;
  else
    records =
        stride && s.has("idxen") ? random() % 80 : static_cast<uint64_t>(offset) + random() % 2400;
  uint32_t select = static_cast<uint32_t>(random() % 4);
  uint32_t last = wave.isGfx9 ? 0x27000u : 0x27000u | select << 28;
  last |= static_cast<uint32_t>(random() % 4) << 21;
  if (random() % 8 == 0 && !isAligned)
    last |= 1u << 23, last &= ~0x78000u;
  setScalar(wave, *resource, base & 0xffffffffffff, true);
  wave.scalars[*resource + 1] |=
      static_cast<uint32_t>(stride) << 16 | (swizzle ? wave.isGfx9 ? 1u << 31 : 1u << 30 : 0);
  wave.scalars[*resource + 2] = static_cast<uint32_t>(records);
  wave.scalars[*resource + 3] = last;
  const TextOperand &vector = s.operands[next];
  if (vector.kind != TextOperand::Vector)
    return true;
  Slots slots(wave, random, true);
  for (unsigned lane = 0; lane < wave.size; ++lane) {
    unsigned row = vector.index;
    uint64_t slot = slots.at(lane);
    uint64_t within = isAligned ? random() % 3 * 8 : random() % 17;
    if (s.has("idxen")) {
      setVector(wave, row, lane, stride ? slot / slotBytes : 0, false);
      row = (row + 1) & 255;
      if (stride)
        slot = 0;
    }
    if (s.has("offen"))
      setVector(wave, row, lane, random() % 16 == 0 ? 0xffffffff : slot + within, false);
  }
  return true;
}

bool pointScalarMemory(Wave &wave, const Statement &s, std::mt19937_64 &random) {
  if (s.mnemonic.starts_with("s_prefetch_"))
    return true;
  if (s.operands.size() != 3)
    return false;
  bool isBuffer = s.mnemonic.starts_with("s_buffer_"), isByte = s.mnemonic.ends_with("8");
  auto base = scalarNumber(s.operands[1]), offset = scalarNumber(s.operands[2]);
  if (!base || *base + 3 >= scalarnumber::M0)
    return false;
  uint64_t added = static_cast<uint64_t>(offsetOf(s));
  if (offset) {
    uint64_t value = random() % 2 ? random() % 512 * 4 : random() & 0xfffffffc;
    if (isBuffer)
      value = random() % 512 * 4;
    setScalar(wave, *offset, value, false);
    added += value;
  } else {
    added += static_cast<uint64_t>(s.operands[2].integer);
  }
  unsigned unit = isByte ? 1 : 4;
  uint64_t at = wave.memory.globalAddress + 64 + random() % 256 * unit;
  if (isBuffer)
    added &= 0xffffffff;
  uint64_t address = at - added;
  setScalar(wave, *base, isBuffer ? address & 0xffffffffffff : address, true);
  if (isBuffer) {
    bool hasStride = random() % 2;
    uint64_t size = random() % 4 ? added + random() % 96 : random() & 0xffffffff;
    if (hasStride)
      wave.scalars[*base + 1] |= 16u << 16, size /= 16;
    wave.scalars[*base + 2] = static_cast<uint32_t>(size);
    wave.scalars[*base + 3] = 0x27000;
  }
  // Overlapping registers spoil each other's value.
  auto check = scalarBits(wave, s.operands[2], Kind::B64);
  return check.has_value();
}

} // namespace

bool pointIntoMemory(Wave &wave, const Statement &s, std::mt19937_64 &random) {
  const std::string &name = s.mnemonic;
  if (name.starts_with("ds_"))
    return pointLds(wave, s, random);
  if (name.starts_with("s_"))
    return pointScalarMemory(wave, s, random);
  if (name.starts_with("buffer_") || name.starts_with("tbuffer_"))
    return pointBuffer(wave, s, random);
  if (name == "global_inv" || name == "global_wb" || name == "global_wbinv")
    return true;
  return pointFlat(wave, s, random);
}

} // namespace wavetile::reference
