//===- Memory.cpp - What memory instructions do, a byte at a time ----------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "reference/Memory.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace wavetile::reference {

int64_t offsetOf(const Statement &statement, const char *name) {
  auto found = statement.modifiers.find(name);
  return found == statement.modifiers.end() ? 0 : std::strtoll(found->second.c_str(), nullptr, 0);
}

std::optional<Transfer> transferOf(const std::string &type) {
  Transfer result;
  bool found = false;
  std::istringstream words(type);
  for (std::string word; std::getline(words, word, '_');) {
    static const std::map<std::string, Transfer> widths = {
        {"u8", {1}},       {"ubyte", {1}},       {"b8", {1}},        {"byte", {1}},
        {"i8", {1, true}}, {"sbyte", {1, true}}, {"u16", {2}},       {"ushort", {2}},
        {"b16", {2}},      {"short", {2}},       {"i16", {2, true}}, {"sshort", {2, true}},
        {"b32", {4}},      {"dword", {4}},       {"b64", {8}},       {"dwordx2", {8}},
        {"b96", {12}},     {"dwordx3", {12}},    {"b128", {16}},     {"dwordx4", {16}}};
    if (word == "d16") {
      result.keepsHalf = true;
    } else if (word == "hi") {
      result.high = true;
    } else if (auto width = widths.find(word); width != widths.end() && !found) {
      result.bytes = width->second.bytes, result.isSigned = width->second.isSigned;
      found = true;
    } else {
      return std::nullopt;
    }
  }
  return found ? std::optional(result) : std::nullopt;
}

uint64_t Bytes::read(uint64_t at, unsigned count) const {
  uint64_t value = 0;
  for (unsigned i = 0; i < count; ++i)
    value |= uint64_t(bytes[at + i]) << 8 * i;
  return value;
}
bool Bytes::write(uint64_t at, unsigned count, uint64_t value) {
  bool isFirst = true;
  for (unsigned i = 0; i < count; ++i) {
    isFirst &= written.insert(at + i).second;
    bytes[at + i] = static_cast<uint8_t>(value >> 8 * i);
  }
  return isFirst;
}

uint32_t &dataRegister(Wave &wave, const TextOperand &operand, unsigned index, unsigned lane) {
  auto &file = operand.kind == TextOperand::Accumulator ? wave.accumulators : wave.vectors;
  return file[(operand.index + index) & 255][lane];
}
uint64_t dataOf(Wave &wave, const TextOperand &operand, unsigned index, unsigned lane,
                unsigned bytes) {
  uint64_t value = dataRegister(wave, operand, index, lane);
  if (bytes == 8)
    value |= uint64_t(dataRegister(wave, operand, index + 1, lane)) << 32;
  return value;
}

bool loadElement(Wave &wave, const TextOperand &to, unsigned lane, const Transfer &transfer,
                 const Bytes &from, uint64_t at) {
  if (!from.contains(at, transfer.bytes))
    return false;
  if (transfer.bytes >= 4) {
    for (unsigned i = 0; i < transfer.registers(); ++i)
      dataRegister(wave, to, i, lane) = static_cast<uint32_t>(from.read(at + 4 * i, 4));
    return true;
  }
  uint32_t value = static_cast<uint32_t>(from.read(at, transfer.bytes));
  if (transfer.isSigned && value >> (8 * transfer.bytes - 1))
    value |= ~0u << 8 * transfer.bytes;
  uint32_t &word = dataRegister(wave, to, 0, lane);
  if (!transfer.keepsHalf)
    word = value;
  else if (transfer.high)
    word = (word & 0xffff) | value << 16;
  else
    word = (word & 0xffff0000) | (value & 0xffff);
  return true;
}

bool storeElement(Wave &wave, const TextOperand &from, unsigned lane, const Transfer &transfer,
                  Bytes &to, uint64_t at) {
  if (!to.contains(at, transfer.bytes))
    return false;
  bool isOrdered = true;
  for (unsigned i = 0; i < transfer.registers(); ++i) {
    uint32_t value = dataRegister(wave, from, i, lane) >> (transfer.high ? 16 : 0);
    isOrdered &= to.write(at + 4 * i, std::min(transfer.bytes, 4u), value);
  }
  return isOrdered;
}

bool loadToLds(Wave &wave, unsigned lane, const Transfer &transfer, const Bytes &from, uint64_t at,
               int64_t offset) {
  TextOperand first;
  first.kind = TextOperand::Vector;
  Wave values;
  values.size = wave.size;
  if (!loadElement(values, first, lane, transfer, from, at))
    return false;
  Bytes lds(wave.memory.lds);
  uint64_t to = (wave.scalars[scalarnumber::M0] & 0x3ffff) + static_cast<uint64_t>(offset) +
                (transfer.bytes > 4 ? 16 : 4) * lane;
  Transfer whole{std::max(transfer.bytes, 4u)};
  return storeElement(values, first, lane, whole, lds, to);
}

bool isMemory(const std::string &name) {
  for (const char *prefix : {"ds_", "flat_", "global_", "scratch_", "buffer_", "tbuffer_",
                             "s_load_", "s_buffer_load_", "s_prefetch_"})
    if (name.starts_with(prefix))
      return true;
  return false;
}

} // namespace wavetile::reference
