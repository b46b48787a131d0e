//===- Lds.cpp - DS instructions of the reference --------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// After the chapter "DS Instructions" of AMD's MI300, RDNA3 and RDNA4 documents.
//
//===----------------------------------------------------------------------===//

#include "reference/Memory.h"

#include <bit>
#include <cstdlib>
#include <numeric>
#include <sstream>

namespace wavetile::reference {
namespace {

bool consume(std::string &name, const char *prefix) {
  if (!name.starts_with(prefix))
    return false;
  name.erase(0, std::string(prefix).size());
  return true;
}

/// What follows the kind of access in a name.
struct LdsName {
  enum Kind { Load, Store, Exchange, Atomic, None } kind = None;
  std::string type;
  bool two = false, stride64 = false, byLane = false, returns = true;
};
LdsName nameOf(std::string name) {
  LdsName result;
  consume(name, "ds_");
  if (consume(name, "read2st64_") || consume(name, "load_2addr_stride64_"))
    return {LdsName::Load, name, true, true};
  if (consume(name, "read2_") || consume(name, "load_2addr_"))
    return {LdsName::Load, name, true};
  if (consume(name, "write2st64_") || consume(name, "store_2addr_stride64_"))
    return {LdsName::Store, name, true, true};
  if (consume(name, "write2_") || consume(name, "store_2addr_"))
    return {LdsName::Store, name, true};
  if (consume(name, "wrxchg2st64_rtn_") || consume(name, "storexchg_2addr_stride64_rtn_"))
    return {LdsName::Exchange, name, true, true};
  if (consume(name, "wrxchg2_rtn_") || consume(name, "storexchg_2addr_rtn_"))
    return {LdsName::Exchange, name, true};
  if (consume(name, "read_addtid_") || consume(name, "load_addtid_"))
    return {LdsName::Load, name, false, false, true};
  if (consume(name, "write_addtid_") || consume(name, "store_addtid_"))
    return {LdsName::Store, name, false, false, true};
  std::string rest = name;
  if ((consume(rest, "read_") || consume(rest, "load_")) && transferOf(rest))
    return {LdsName::Load, rest};
  if ((consume(rest, "write_") || consume(rest, "store_")) && transferOf(rest))
    return {LdsName::Store, rest};
  size_t returning = name.find("_rtn");
  if (returning != std::string::npos)
    name.erase(returning, 4);
  if (!atomicOf(name, true))
    return {};
  result.kind = LdsName::Atomic;
  result.type = name;
  result.returns = returning != std::string::npos;
  return result;
}

// --- Between lanes ---

/// "swizzle(SWAP,16)" and their like: the lane of 32 that lane \p in reads.
std::optional<unsigned> swizzled(const std::string &text, unsigned in) {
  std::vector<std::string> parts;
  size_t open = text.find('(');
  if (text.rfind("swizzle(", 0) != 0 || text.back() != ')')
    return std::nullopt;
  std::istringstream list(text.substr(open + 1, text.size() - open - 2));
  for (std::string part; std::getline(list, part, ',');)
    parts.push_back(part);
  auto number = [&](size_t i) {
    return static_cast<unsigned>(std::strtoul(parts.at(i).c_str(), nullptr, 0));
  };
  if (parts[0] == "QUAD_PERM")
    return in / 4 * 4 + number(1 + in % 4);
  if (parts[0] == "SWAP")
    return in ^ number(1);
  if (parts[0] == "REVERSE")
    return in ^ (number(1) - 1);
  if (parts[0] == "BROADCAST")
    return in / number(1) * number(1) + number(2);
  if (parts[0] == "BITMASK_PERM") { // One letter a bit of the lane, the highest first.
    unsigned lane = 0;
    size_t quote = parts[1].find('"');
    std::string letters = parts[1].substr(quote == std::string::npos ? 0 : quote + 1, 5);
    for (unsigned bit = 0; bit < 5; ++bit) {
      char letter = letters[4 - bit];
      unsigned own = in >> bit & 1;
      lane |= (letter == '0' ? 0 : letter == '1' ? 1 : letter == 'p' ? own : own ^ 1) << bit;
    }
    return lane;
  }
  return std::nullopt;
}

/// Lanes that are off read as 0.
Outcome swizzle(Wave &wave, const Statement &s) {
  const auto source = wave.vectors[s.operands[1].index];
  std::string how = s.has("offset") ? s.modifiers.at("offset") : "swizzle(BITMASK_PERM,\"00000\")";
  for (unsigned lane = 0; lane < wave.size; ++lane) {
    auto from = swizzled(how, lane % 32);
    if (!from)
      return Outcome::Unreadable;
    unsigned whole = lane / 32 * 32 + *from;
    if (isActive(wave, lane))
      dataRegister(wave, s.operands[0], 0, lane) = isActive(wave, whole) ? source[whole] : 0;
  }
  return Outcome::Done;
}

/// Lanes are those of 64 on gfx9, of each half of 32 elsewhere.
Outcome permute(Wave &wave, const Statement &s, bool backward, bool fetchInactive) {
  const auto addresses = wave.vectors[s.operands[1].index];
  std::array<uint32_t, 64> data{}, result{};
  for (unsigned lane = 0; lane < wave.size; ++lane)
    data[lane] = dataRegister(wave, s.operands[2], 0, lane);
  unsigned group = wave.isGfx9 ? 64 : 32;
  for (unsigned lane = 0; lane < wave.size; ++lane) {
    uint32_t address = addresses[lane] + static_cast<uint32_t>(offsetOf(s));
    unsigned other = lane / group * group + address / 4 % group;
    if (backward)
      result[lane] = fetchInactive || isActive(wave, other) ? data[other] : 0;
    else if (isActive(wave, lane))
      result[other] = data[lane];
  }
  for (unsigned lane = 0; lane < wave.size; ++lane)
    if (isActive(wave, lane))
      dataRegister(wave, s.operands[0], 0, lane) = result[lane];
  return Outcome::Done;
}

// --- Memory ---

/// Where one lane's first or second element is.
uint64_t addressOf(const Wave &wave, const Statement &s, const LdsName &name, unsigned lane,
                   unsigned element, unsigned bytes) {
  if (name.byLane)
    return (wave.scalars[scalarnumber::M0] & 0xffff) + static_cast<uint64_t>(offsetOf(s)) +
           4 * lane;
  const TextOperand &operand = s.operands[name.kind == LdsName::Store || !name.returns ? 0 : 1];
  uint64_t address = wave.vectors[operand.index][lane];
  if (!name.two)
    return address + static_cast<uint64_t>(offsetOf(s));
  uint64_t step = bytes * (name.stride64 ? 64 : 1);
  return address + step * static_cast<uint64_t>(offsetOf(s, element ? "offset1" : "offset0"));
}

/// Adds the number of active lanes to a word, or subtracts it; all of them get what it was.
Outcome countLanes(Wave &wave, const Statement &s, bool adds) {
  Bytes lds(wave.memory.lds);
  uint64_t at = wave.scalars[scalarnumber::M0] + static_cast<uint64_t>(offsetOf(s));
  if (!lds.contains(at, 4) || wave.exec() == 0)
    return Outcome::Unreadable;
  uint64_t old = lds.read(at, 4), count = static_cast<uint64_t>(std::popcount(wave.exec()));
  lds.write(at, 4, adds ? old + count : old - count);
  for (unsigned lane = 0; lane < wave.size; ++lane)
    if (isActive(wave, lane))
      dataRegister(wave, s.operands[0], 0, lane) = static_cast<uint32_t>(old);
  return Outcome::Done;
}

} // namespace

Outcome executeLds(Wave &wave, const Statement &s) {
  if (s.mnemonic == "ds_swizzle_b32")
    return swizzle(wave, s);
  if (s.mnemonic == "ds_permute_b32" || s.mnemonic == "ds_bpermute_b32" ||
      s.mnemonic == "ds_bpermute_fi_b32")
    return permute(wave, s, s.mnemonic != "ds_permute_b32", s.mnemonic == "ds_bpermute_fi_b32");
  if (s.mnemonic == "ds_nop")
    return Outcome::Done;
  if (s.has("gds"))
    return Outcome::Unreadable;
  if (s.mnemonic == "ds_append" || s.mnemonic == "ds_consume")
    return countLanes(wave, s, s.mnemonic == "ds_append");
  LdsName name = nameOf(s.mnemonic);
  if (name.kind == LdsName::None)
    return Outcome::Unknown;
  const Wave before = wave; // All lanes read their registers before any writes.
  Wave registers = before;
  Bytes lds(wave.memory.lds);
  for (unsigned lane = 0; lane < wave.size; ++lane) {
    if (!isActive(wave, lane))
      continue;
    if (name.kind == LdsName::Atomic) {
      Atomic atomic = *atomicOf(name.type, true);
      uint64_t at = addressOf(before, s, name, lane, 0, atomic.bytes);
      if (!lds.contains(at, atomic.bytes))
        return Outcome::Unreadable;
      size_t data = name.returns ? 2 : 1;
      uint64_t old = lds.read(at, atomic.bytes);
      uint64_t second =
          atomic.compares ? dataOf(registers, s.operands[data + 1], 0, lane, atomic.bytes) : 0;
      uint64_t value =
          atomic.apply(old, dataOf(registers, s.operands[data], 0, lane, atomic.bytes), second);
      if (!lds.write(at, atomic.bytes, value))
        return Outcome::Unreadable;
      for (unsigned i = 0; name.returns && i < atomic.bytes / 4; ++i)
        dataRegister(wave, s.operands[0], i, lane) = static_cast<uint32_t>(old >> 32 * i);
      continue;
    }
    Transfer transfer = *transferOf(name.type);
    std::vector<uint32_t> loaded;
    for (unsigned element = 0; element < (name.two ? 2u : 1u); ++element) {
      uint64_t at = addressOf(before, s, name, lane, element, transfer.bytes);
      if (!lds.contains(at, transfer.bytes))
        return Outcome::Unreadable;
      size_t data = (name.kind == LdsName::Exchange ? 2 : name.byLane ? 0 : 1) + element;
      TextOperand to = s.operands[0];
      to.index += element * transfer.registers();
      if (name.kind != LdsName::Store && !loadElement(wave, to, lane, transfer, lds, at))
        return Outcome::Unreadable;
      if (name.kind != LdsName::Load &&
          !storeElement(registers, s.operands[data], lane, transfer, lds, at))
        return Outcome::Unreadable;
    }
  }
  return Outcome::Done;
}

} // namespace wavetile::reference
