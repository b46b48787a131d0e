//===- MatrixChecks.cpp - Definedness of matrix products ------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// D = A B + C: an undefined bit of a lane's A makes a row of D undefined, one of a lane's B a
// column, one of C its own element. EXEC is not looked at. The layouts are those of
// instructions/MatrixBlocks.h and instructions/WaveMatrix.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/checks/CheckFunctions.h"
#include "runtime/emulator/checks/WaveChecks.h"

#include <algorithm>

namespace wavetile::device::checks {
namespace {

/// Where an element of D is.
struct Place {
  unsigned block, row, column;
};

bool isOfRdna(const CheckDetails &details) {
  return details.mnemonic.starts_with("v_wmma") || details.mnemonic.starts_with("v_swmmac");
}

/// The element that register \p index of a lane holds; of register pairs (f64) and of halves,
/// \p index counts elements.
Place placeOf(const CheckDetails &details, unsigned waveSize, unsigned lane, unsigned index) {
  unsigned size = details.matrix.side;
  if (isOfRdna(details)) {
    unsigned groups = waveSize / 16, group = lane / 16;
    if (!details.rowsInOrder)
      return {0, groups * index + group, lane % 16};
    return {0, groups == 2 ? 8 * group + index : 8 * (group % 2) + 4 * (group / 2) + index,
            lane % 16};
  }
  if (details.signature.result == Type::F64)
    return size == 16 ? Place{0, 4 * index + lane / 16, lane % 16}
                      : Place{lane / 4 % 4, lane / 16, lane % 4};
  if (size == 4)
    return {lane / 4, index, lane % 4};
  unsigned perBlock = size * size / 64;
  unsigned inBlock = index % perBlock;
  return {index / perBlock, (256 / size) * (inBlock / 4) + 4 * (lane / size) + inBlock % 4,
          lane % size};
}

/// A bit for each lane in which any of some vector registers has undefined bits.
uint64_t lanesOf(const WaveChecks &checks, Operand operand, unsigned registers) {
  uint64_t some = 0;
  if (operand.kind() == OperandKind::Scalar)
    return checks.registers.lanes[scalarEntry(operand.index())];
  if (operand.kind() != OperandKind::Vector)
    return 0;
  for (unsigned i = 0; i < registers; ++i)
    some |= checks.registers.lanes[operand.index() + i];
  return some;
}

/// Which rows of A (or columns of B) lanes with undefined bits hold, a word a block.
void rowsOf(const CheckDetails &details, uint64_t lanes, uint32_t (&rows)[16]) {
  unsigned size = details.matrix.side;
  if (isOfRdna(details) && !details.rowsInOrder)
    lanes &= 0xffff; // gfx11 reads what the first 16 lanes have of A and B.
  for (; lanes != 0; lanes &= lanes - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctzll(lanes));
    rows[lane / size % details.matrix.blocks] |= 1u << (lane % size);
  }
}

bool checkProduct(WaveChecks &checks, const Record *record, const CheckDetails &details,
                  uint64_t ofA, uint64_t ofB) {
  RegisterShadow &registers = checks.registers;
  unsigned waveSize = checks.wave().waveSize;
  uint32_t rows[16] = {}, columns[16] = {};
  rowsOf(details, ofA, rows);
  rowsOf(details, ofB, columns);
  uint32_t control = details.signature.result == Type::F64 ? 0 : record->immediate;
  if (!details.matrix.sparse && !details.matrix.choosesFormats && control != 0) {
    // Blocks of A, or lanes of B, stand in for others: any of them may.
    for (unsigned block = 1; block < 16; ++block)
      rows[0] |= rows[block];
    std::fill(rows + 1, rows + 16, rows[0]);
    bool anyColumn = std::any_of(columns, columns + 16, [](uint32_t bits) { return bits != 0; });
    std::fill(columns, columns + 16, anyColumn ? ~0u : 0u);
  }
  Operand c = details.matrix.sparse ? record->destination : record->sources[2];
  uint32_t origin = 0;
  auto originOf = [&](Operand operand, unsigned count) {
    for (unsigned i = 0; i < count && operand.kind() == OperandKind::Vector; ++i)
      if (registers.lanes[operand.index() + i])
        origin = registers.origin[operand.index() + i];
  };
  originOf(c, details.registersOfC);
  originOf(record->sources[1], details.registersOfB);
  originOf(record->sources[0], details.registersOfA);
  bool isDouble = details.signature.result == Type::F64;
  bool isHalf = is16Bit(details.signature.result);
  bool isPackedHalf = isHalf && details.rowsInOrder;
  uint32_t first = record->destination.index();
  bool hasC = c.kind() == OperandKind::Vector;
  unsigned shift = record->modifiers & modifier::high(2) ? 16 : 0;
  auto isUndefined = [&](unsigned lane, unsigned element) {
    Place place = placeOf(details, waveSize, lane, element);
    return (rows[place.block] >> place.row & 1) || (columns[place.block] >> place.column & 1);
  };
  for (unsigned i = 0; i < details.registersOfC; ++i) {
    uint32_t results[maximumWaveSize];
    // C may be D: this register of C is not needed after this.
    const uint32_t *added = hasC ? registers.plane(c.index() + i) : nullptr;
    for (unsigned lane = 0; lane < waveSize; ++lane) {
      uint32_t old = added ? added[lane] : 0;
      if (isPackedHalf)
        results[lane] = (isUndefined(lane, 2 * i) || (old & 0xffff) ? 0xffffu : 0) |
                        (isUndefined(lane, 2 * i + 1) || old >> 16 ? 0xffff0000u : 0);
      else if (isHalf)
        results[lane] = isUndefined(lane, i) || (old >> shift & 0xffff) ? 0xffffu << shift : 0;
      else
        results[lane] = isUndefined(lane, isDouble ? i / 2 : i) || old ? ~0u : 0;
    }
    if (hasC)
      registers.settle(c.index() + i);
    uint32_t *words = registers.plane(first + i);
    uint32_t kept = isHalf && !isPackedHalf ? ~(0xffffu << shift) : 0;
    for (unsigned lane = 0; lane < waveSize; ++lane)
      words[lane] = (words[lane] & kept) | results[lane];
    registers.settle(first + i);
    registers.origin[first + i] = origin;
  }
  return true;
}

} // namespace

bool checkMatrix(WaveChecks &checks, const Record *record, const CheckRecord *check) {
  const CheckDetails &details = *check->details;
  uint64_t ofA = lanesOf(checks, record->sources[0], details.registersOfA) |
                 lanesOf(checks, record->sources[3], 1) |
                 (details.matrix.sparse ? lanesOf(checks, record->sources[2], 1) : 0);
  uint64_t ofB = lanesOf(checks, record->sources[1], details.registersOfB) |
                 lanesOf(checks, record->maskDestination, 1);
  uint64_t ofC =
      details.matrix.sparse ? 0 : lanesOf(checks, record->sources[2], details.registersOfC);
  uint64_t ofD = lanesOf(checks, record->destination, details.registersOfC);
  if ((ofA | ofB | ofC | ofD) == 0) [[likely]]
    return true;
  for (unsigned i = 0; i < details.registersOfC; ++i)
    if (!checks.mayWrite(record, record->destination.index() + i, ~uint64_t(0), ~0u))
      return false;
  return checkProduct(checks, record, details, ofA & checks.wave().allLanes(),
                      ofB & checks.wave().allLanes());
}

} // namespace wavetile::device::checks
