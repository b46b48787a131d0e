//===- Memory.h - What memory instructions do, a byte at a time ------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pieces that the memory instructions of the reference share. What a mnemonic moves is read from
// its name; where to is computed by each family: LDS, FLAT, buffers, scalar loads. Whatever no
// document orders, such as two lanes that store to one byte, is unreadable.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_TESTS_UNIT_REFERENCE_MEMORY_H
#define WAVETILE_TESTS_UNIT_REFERENCE_MEMORY_H

#include "reference/Reference.h"

#include <random>
#include <set>

namespace wavetile::reference {

/// Where the flat address space has LDS and scratch: the Linux driver's choice.
inline constexpr uint64_t sharedBase = 0x0001000000000000, privateBase = 0x0002000000000000;

/// What one lane's element is and which part of its registers it fills.
struct Transfer {
  unsigned bytes = 4;
  bool isSigned = false;  ///< A narrow load is sign-extended.
  bool keepsHalf = false; ///< d16: the other half of the register stays.
  bool high = false;      ///< The upper half.
  unsigned registers() const { return bytes < 4 ? 1 : bytes / 4; }
};
/// From "ubyte_d16_hi", "d16_hi_u8", "dwordx3", "b96"; nothing: it is none.
std::optional<Transfer> transferOf(const std::string &type);

/// One of the three memories, as one instruction sees it.
class Bytes {
public:
  explicit Bytes(std::vector<uint8_t> &bytes) : bytes(bytes) {}
  bool contains(uint64_t at, unsigned count) const {
    return at <= bytes.size() && count <= bytes.size() - at;
  }
  uint64_t read(uint64_t at, unsigned count) const;
  /// False if this instruction has written one of the bytes before.
  bool write(uint64_t at, unsigned count, uint64_t value);

private:
  std::vector<uint8_t> &bytes;
  std::set<uint64_t> written;
};

uint32_t &dataRegister(Wave &wave, const TextOperand &operand, unsigned index, unsigned lane);
uint64_t dataOf(Wave &wave, const TextOperand &operand, unsigned index, unsigned lane,
                unsigned bytes);
/// Moves one lane's element. False: out of memory, or in no order.
bool loadElement(Wave &wave, const TextOperand &to, unsigned lane, const Transfer &transfer,
                 const Bytes &from, uint64_t at);
bool storeElement(Wave &wave, const TextOperand &from, unsigned lane, const Transfer &transfer,
                  Bytes &to, uint64_t at);

/// A load to LDS: from M0 and the offset on, a dword (16 bytes if it is more) for each lane.
bool loadToLds(Wave &wave, unsigned lane, const Transfer &transfer, const Bytes &from, uint64_t at,
               int64_t offset);

/// A read-modify-write operation.
struct Atomic {
  unsigned bytes = 4;
  bool compares = false; ///< Has a second operand.
  /// What memory holds afterwards; \p first and \p second in the order of the DS document's DATA0
  /// and DATA1, or of the registers of global memory.
  std::function<uint64_t(uint64_t old, uint64_t first, uint64_t second)> apply;
};
/// From "add_u32", "smax_x2", "pk_add_f16"; nothing: it is none.
std::optional<Atomic> atomicOf(const std::string &name, bool isLds);

/// Whether an atomic gives the old value; nothing where the text does not say it: LLVM prints
/// cascades of gfx12 without it, and values that no document has as numbers.
std::optional<bool> returnsOld(const Statement &statement, bool isGfx9);

/// Makes the address registers of an instruction point into memory, each lane at its own 32 bytes.
/// False: this encoding cannot, or no document says what it does.
bool pointIntoMemory(Wave &wave, const Statement &statement, std::mt19937_64 &random);
bool isMemory(const std::string &mnemonic);
Outcome executeMemory(Wave &wave, const Statement &statement);

Outcome executeLds(Wave &wave, const Statement &statement);
Outcome executeFlat(Wave &wave, const Statement &statement);
Outcome executeBuffer(Wave &wave, const Statement &statement);
Outcome executeScalarMemory(Wave &wave, const Statement &statement);

/// The value of "offset:0x10", "offset0:3" and their like.
int64_t offsetOf(const Statement &statement, const char *name = "offset");
inline bool isActive(const Wave &wave, unsigned lane) { return wave.exec() >> lane & 1; }

} // namespace wavetile::reference

#endif // WAVETILE_TESTS_UNIT_REFERENCE_MEMORY_H
