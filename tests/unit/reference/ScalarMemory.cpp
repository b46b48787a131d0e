//===- ScalarMemory.cpp - Scalar loads of the reference --------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// After the chapter "Scalar Memory Operations" of AMD's MI300, RDNA3 and RDNA4 documents.
//
//===----------------------------------------------------------------------===//

#include "reference/Memory.h"

namespace wavetile::reference {

Outcome executeScalarMemory(Wave &wave, const Statement &s) {
  if (s.mnemonic.starts_with("s_prefetch_"))
    return Outcome::Done; // Changes nothing that a program sees.
  bool isBuffer = s.mnemonic.starts_with("s_buffer_");
  std::string type = s.mnemonic.substr(s.mnemonic.find("load_") + 5);
  unsigned bytes = 0;
  for (auto [name, size] : {std::pair{"dwordx8", 32}, {"dwordx16", 64}, {"b256", 32}, {"b512", 64}})
    if (type == name)
      bytes = static_cast<unsigned>(size);
  auto transfer = bytes ? Transfer{bytes} : transferOf(type);
  if (!transfer)
    return Outcome::Unknown;
  bytes = transfer->bytes;
  if (s.operands.size() != 3)
    return Outcome::Unreadable;
  auto to = scalarNumber(s.operands[0]), base = scalarNumber(s.operands[1]);
  auto added = scalarBits(wave, s.operands[2], Kind::B64);
  if (!to || !base || !added)
    return Outcome::Unreadable;
  bool isConstant = s.operands[2].kind == TextOperand::Integer;
  uint64_t offset =
      (isConstant ? *added : *added & 0xffffffff) + static_cast<uint64_t>(offsetOf(s));
  uint64_t address = wave.scalars[*base] | uint64_t(wave.scalars[*base + 1]) << 32;
  uint64_t size = ~uint64_t(0);
  if (isBuffer) {
    uint64_t stride = address >> 48 & 0x3fff;
    if (wave.isGfx12) {
      static constexpr uint64_t scales[] = {1, 4, 8, 32};
      stride *= scales[wave.scalars[*base + 3] >> 18 & 3];
    }
    address &= 0xffffffffffff;
    size = wave.scalars[*base + 2] * (stride ? stride : 1);
    offset &= 0xffffffff;
  }
  uint64_t at = address + offset - wave.memory.globalAddress;
  if ((address + offset) % std::min(bytes, 4u) != 0)
    return Outcome::Unreadable;
  Bytes memory(wave.memory.global);
  unsigned step = std::min(bytes, 4u);
  for (unsigned from = 0; from < bytes; from += 4) {
    bool isThere = !isBuffer || offset + from + step <= size;
    if (isThere && !memory.contains(at + from, step))
      return Outcome::Unreadable;
    uint32_t value = isThere ? static_cast<uint32_t>(memory.read(at + from, step)) : 0;
    if (transfer->isSigned && value >> (8 * bytes - 1))
      value |= ~0u << 8 * bytes;
    wave.scalars[*to + from / 4] = value;
  }
  return Outcome::Done;
}

Outcome executeMemory(Wave &wave, const Statement &s) {
  const std::string &name = s.mnemonic;
  if (name.starts_with("ds_"))
    return executeLds(wave, s);
  if (name.starts_with("s_"))
    return executeScalarMemory(wave, s);
  if (name.starts_with("buffer_") || name.starts_with("tbuffer_"))
    return executeBuffer(wave, s);
  return executeFlat(wave, s);
}

} // namespace wavetile::reference
