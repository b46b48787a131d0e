//===- CrossLane.cpp - Instructions that move values between lanes --------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/instructions/LaneMemory.h"
#include "runtime/emulator/instructions/Lanes.h"
#include "runtime/emulator/instructions/Tables.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace {

// --- Single lanes ---

const Record *readFirstLane(Wave &wave, const Record *record) {
  uint64_t exec = wave.exec();
  unsigned lane = exec == 0 ? 0 : static_cast<unsigned>(__builtin_ctzll(exec));
  Operand source = record->sources[0];
  uint32_t value =
      source.kind() == OperandKind::Scalar ? wave.read32(source) : wave.row(source)[lane];
  wave.scalars[record->destination.index()] = value;
  return record + 1;
}
const Record *readLane(Wave &wave, const Record *record) {
  unsigned lane = wave.read32(record->sources[1]) & (wave.waveSize - 1);
  Operand source = record->sources[0];
  uint32_t value =
      source.kind() == OperandKind::Scalar ? wave.read32(source) : wave.row(source)[lane];
  wave.scalars[record->destination.index()] = value;
  return record + 1;
}
const Record *writeLane(Wave &wave, const Record *record) {
  unsigned lane = wave.read32(record->sources[1]) & (wave.waveSize - 1);
  wave.row(record->destination)[lane] = wave.read32(record->sources[0]);
  return record + 1;
}

// --- Permutations through LDS hardware ---

/// Copies of the rows, as a destination may be one of them.
struct RowCopy {
  alignas(64) uint32_t lanes[maximumWaveSize];
  explicit RowCopy(const uint32_t *row, unsigned count) {
    for (unsigned lane = 0; lane < count; ++lane)
      lanes[lane] = row[lane];
  }
};

/// Each lane fetches from the lane that its address names; lanes that are off give 0, or what they
/// have in the "fi" form.
template <bool fetchesInactive> const Record *backwardPermute(Wave &wave, const Record *record) {
  const unsigned size = wave.waveSize;
  RowCopy addresses(wave.row(record->sources[0]), size);
  RowCopy data(wave.row(record->sources[1]), size);
  uint64_t exec = wave.exec();
  uint32_t *result = wave.row(record->destination);
  forActive(exec, [&](unsigned lane) {
    unsigned from = (addresses.lanes[lane] + record->immediate) >> 2 & (size - 1);
    result[lane] = fetchesInactive || isActive(exec, from) ? data.lanes[from] : 0;
  });
  return record + 1;
}
/// Each lane sends to the lane that its address names; of several the highest wins, none gives 0.
const Record *forwardPermute(Wave &wave, const Record *record) {
  const unsigned size = wave.waveSize;
  const uint32_t *addresses = wave.row(record->sources[0]), *data = wave.row(record->sources[1]);
  uint32_t received[maximumWaveSize] = {};
  uint64_t exec = wave.exec();
  forActive(exec, [&](unsigned lane) {
    received[(addresses[lane] + record->immediate) >> 2 & (size - 1)] = data[lane];
  });
  uint32_t *result = wave.row(record->destination);
  forActive(exec, [&](unsigned lane) { result[lane] = received[lane]; });
  return record + 1;
}
/// Fixed patterns within 32 lanes: see "ds_swizzle_b32" in the ISA documents.
const Record *swizzle(Wave &wave, const Record *record) {
  RowCopy data(wave.row(record->sources[0]), wave.waveSize);
  uint32_t pattern = record->immediate & 0xffff;
  uint64_t exec = wave.exec();
  uint32_t *result = wave.row(record->destination);
  forActive(exec, [&](unsigned lane) {
    unsigned group = lane & ~31u, inGroup = lane & 31, from;
    if (pattern >= 0xe000) { // FFT: the lane's number reversed, in groups.
      unsigned mask = pattern & 31, reversed = __builtin_bitreverse8(inGroup) >> 3;
      from = reversed >> __builtin_popcount(mask) | (inGroup & mask);
    } else if (pattern >= 0xc000) { // Rotation.
      unsigned mask = pattern & 31, amount = pattern >> 5 & 31;
      unsigned turned = pattern & 0x400 ? inGroup - amount : inGroup + amount;
      from = (inGroup & mask) | (turned & ~mask & 31);
    } else if (pattern & 0x8000) // Quad permutation.
      from = (inGroup & ~3u) | (pattern >> (2 * (inGroup & 3)) & 3);
    else // And, or, xor.
      from = ((inGroup & (pattern & 31)) | (pattern >> 5 & 31)) ^ (pattern >> 10 & 31);
    unsigned source = group | from;
    result[lane] = isActive(exec, source) ? data.lanes[source] : 0;
  });
  return record + 1;
}

// --- Permutations between rows of 16 lanes ---

/// v_permlane16 and v_permlanex16: 16 selectors of 4 bits in two scalar operands, within the row or
/// from the other row of the pair. op_sel[0] fetches from lanes that are off, op_sel[1] gives 0
/// where that is not allowed; else the lane keeps its value.
template <bool otherRow> const Record *permuteRow(Wave &wave, const Record *record) {
  const unsigned size = wave.waveSize;
  RowCopy data(wave.row(record->sources[0]), size);
  uint64_t selectors = wave.read32(record->sources[1]) |
                       static_cast<uint64_t>(wave.read32(record->sources[2])) << 32;
  bool fetchInactive = record->modifiers & modifier::high(0);
  bool boundControl = record->modifiers & modifier::high(1);
  uint64_t exec = wave.exec();
  uint32_t *result = wave.row(record->destination);
  forActive(exec, [&](unsigned lane) {
    unsigned row = (lane & ~15u) ^ (otherRow ? 16u : 0u);
    unsigned from = row | (selectors >> (4 * (lane & 15)) & 15);
    if (fetchInactive || isActive(exec, from))
      result[lane] = data.lanes[from];
    else if (boundControl)
      result[lane] = 0;
  });
  return record + 1;
}
const Record *permute64(Wave &wave, const Record *record) {
  // Swaps the halves of a wave; a wave of 32 lanes keeps its values.
  const unsigned size = wave.waveSize;
  RowCopy data(wave.row(record->sources[0]), size);
  uint32_t *result = wave.row(record->destination);
  forActive(wave.exec(),
            [&](unsigned lane) { result[lane] = data.lanes[size == 64 ? lane ^ 32 : lane]; });
  return record + 1;
}

/// v_permlane{16,32}_swap: swaps the odd groups of the first register with the even groups of the
/// second one. Both registers are written.
template <unsigned group> const Record *swapGroups(Wave &wave, const Record *record) {
  const unsigned size = wave.waveSize;
  uint32_t *first = wave.row(record->destination), *second = wave.row(record->sources[0]);
  RowCopy oldFirst(first, size), oldSecond(second, size);
  bool fetchInactive = record->modifiers & modifier::high(0);
  bool boundControl = record->modifiers & modifier::high(1);
  uint64_t exec = wave.exec();
  auto take = [&](uint32_t &to, const RowCopy &from, unsigned lane) {
    if (fetchInactive || isActive(exec, lane))
      to = from.lanes[lane];
    else if (boundControl)
      to = 0;
  };
  forActive(exec, [&](unsigned lane) {
    if (lane & group)
      take(first[lane], oldSecond, lane - group);
    else
      take(second[lane], oldFirst, lane + group);
  });
  return record + 1;
}

/// v_swap_b32.
const Record *swapRegisters(Wave &wave, const Record *record) {
  uint32_t *first = wave.row(record->destination), *second = wave.row(record->sources[0]);
  forActive(wave.exec(), [&](unsigned lane) {
    uint32_t old = first[lane];
    first[lane] = second[lane];
    second[lane] = old;
  });
  return record + 1;
}

/// v_movreld, v_movrels, v_movrelsd: M0 is added to the destination's or the source's number.
/// Beyond the last register a read is of v0 and a write is dropped, as hardware does.
/// v_movrelsd_2: M0[9:0] to the source's, M0[25:16] to the destination's.
template <bool source, bool destination, bool apart>
const Record *moveRelative(Wave &wave, const Record *record) {
  uint32_t m0 = wave.scalars[scalar::M0];
  uint32_t sourceOffset = source ? (apart ? m0 & 0x3ff : m0) : 0;
  uint32_t destinationOffset = destination ? (apart ? m0 >> 16 & 0x3ff : m0) : 0;
  uint32_t to = record->destination.index() + destinationOffset;
  if (to >= firstAccumulationRow)
    return record + 1;
  Operand from = record->sources[0];
  alignas(64) uint32_t values[maximumWaveSize];
  if (from.kind() == OperandKind::Scalar) {
    broadcast(wave.read32(from), values);
  } else {
    if (from.kind() == OperandKind::Vector && source) {
      uint32_t index = from.index() + sourceOffset;
      from = Operand(OperandKind::Vector, index < firstAccumulationRow ? index : 0);
    }
    __builtin_memcpy(values, wave.row(from), wave.waveSize * sizeof(uint32_t));
  }
  uint32_t *result = wave.vectorRow(to);
  forActive(wave.exec(), [&](unsigned lane) { result[lane] = values[lane]; });
  return record + 1;
}

constexpr Signature toScalar{Type::ScalarB32, {Type::B32}, false};
constexpr Signature laneToScalar{Type::ScalarB32, {Type::B32, Type::B32}, false};
constexpr Signature toLane{Type::B32, {Type::B32, Type::B32}, false};
constexpr Signature rowPermutation{Type::B32, {Type::B32, Type::B32, Type::B32}, false};
constexpr Signature unary{Type::B32, {Type::B32}, false};

constexpr Instruction table[] = {
    crossLane("v_readfirstlane_b32", toScalar, readFirstLane),
    crossLane("v_readlane_b32", laneToScalar, readLane),
    crossLane("v_writelane_b32", toLane, writeLane),
    crossLane("v_permlane16_b32", rowPermutation, permuteRow<false>).with(rowflag::ownModifiers),
    crossLane("v_permlanex16_b32", rowPermutation, permuteRow<true>).with(rowflag::ownModifiers),
    crossLane("v_permlane64_b32", unary, permute64),
    crossLane("v_permlane16_swap_b32", unary, swapGroups<16>).with(rowflag::ownModifiers),
    crossLane("v_permlane32_swap_b32", unary, swapGroups<32>).with(rowflag::ownModifiers),
    crossLane("v_movreld_b32", unary, moveRelative<false, true, false>),
    crossLane("v_movrels_b32", unary, moveRelative<true, false, false>),
    crossLane("v_movrelsd_b32", unary, moveRelative<true, true, false>),
    crossLane("v_movrelsd_2_b32", unary, moveRelative<true, true, true>),
    crossLane("v_swap_b32", unary, swapRegisters),
    memory("ds_bpermute_b32", Shape::Lds, InstructionClass::Lds, backwardPermute<false>),
    memory("ds_bpermute_fi_b32", Shape::Lds, InstructionClass::Lds, backwardPermute<true>),
    memory("ds_permute_b32", Shape::Lds, InstructionClass::Lds, forwardPermute),
    memory("ds_swizzle_b32", Shape::Lds, InstructionClass::Lds, swizzle),
};

} // namespace

InstructionRows crossLane() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
