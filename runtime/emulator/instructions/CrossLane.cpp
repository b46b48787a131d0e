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

/// Each lane fetches from the lane that its address names; lanes that are off give 0 unless they
/// are asked as well. gfx11 executes the halves of a wave of 64 lanes one after the other:
/// `ofHalf`.
template <bool ofHalf, bool fetchInactive>
const Record *backwardPermute(Wave &wave, const Record *record) {
  const unsigned size = wave.waveSize, within = ofHalf ? 32 : size;
  RowCopy addresses(wave.row(record->sources[0]), size);
  RowCopy data(wave.row(record->sources[1]), size);
  uint64_t exec = wave.exec();
  uint32_t *result = wave.row(record->destination);
  forActive(exec, [&](unsigned lane) {
    unsigned from =
        ((addresses.lanes[lane] + record->immediate) >> 2 & (within - 1)) | (lane & ~(within - 1));
    result[lane] = fetchInactive || isActive(exec, from) ? data.lanes[from] : 0;
  });
  return record + 1;
}
/// Each lane sends to the lane that its address names; of several the highest wins, none gives 0.
template <bool ofHalf> const Record *forwardPermute(Wave &wave, const Record *record) {
  const unsigned within = ofHalf ? 32 : wave.waveSize;
  const uint32_t *addresses = wave.row(record->sources[0]), *data = wave.row(record->sources[1]);
  uint32_t received[maximumWaveSize] = {};
  uint64_t exec = wave.exec();
  forActive(exec, [&](unsigned lane) {
    unsigned to =
        ((addresses[lane] + record->immediate) >> 2 & (within - 1)) | (lane & ~(within - 1));
    received[to] = data[lane];
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
/// v_permlane16_var and v_permlanex16_var of gfx12: each lane has its own selector in a VGPR.
/// op_sel as above.
template <bool otherRow> const Record *permuteRowByLane(Wave &wave, const Record *record) {
  const unsigned size = wave.waveSize;
  RowCopy data(wave.row(record->sources[0]), size);
  RowCopy selectors(wave.row(record->sources[1]), size);
  bool fetchInactive = record->modifiers & modifier::high(0);
  bool boundControl = record->modifiers & modifier::high(1);
  uint64_t exec = wave.exec();
  uint32_t *result = wave.row(record->destination);
  forActive(exec, [&](unsigned lane) {
    unsigned from = ((lane & ~15u) ^ (otherRow ? 16u : 0u)) | (selectors.lanes[lane] & 15);
    if (fetchInactive || isActive(exec, from))
      result[lane] = data.lanes[from];
    else if (boundControl)
      result[lane] = 0;
  });
  return record + 1;
}
/// v_permlane64: swaps the halves of a wave of 64 lanes; does nothing in one of 32.
const Record *permute64(Wave &wave, const Record *record) {
  const unsigned size = wave.waveSize;
  if (size != 64)
    return record + 1;
  RowCopy data(wave.row(record->sources[0]), size);
  uint32_t *result = wave.row(record->destination);
  forActive(wave.exec(), [&](unsigned lane) { result[lane] = data.lanes[lane ^ 32]; });
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

/// v_swap_b16: the halves are op_sel's.
const Record *swapHalves(Wave &wave, const Record *record) {
  uint32_t *first = wave.row(record->destination), *second = wave.row(record->sources[0]);
  unsigned firstShift = record->modifiers & modifier::highResult ? 16 : 0;
  unsigned secondShift = record->modifiers & modifier::high(0) ? 16 : 0;
  forActive(wave.exec(), [&](unsigned lane) {
    uint32_t a = first[lane] >> firstShift & 0xffff, b = second[lane] >> secondShift & 0xffff;
    first[lane] = (first[lane] & ~(0xffffu << firstShift)) | b << firstShift;
    second[lane] = (second[lane] & ~(0xffffu << secondShift)) | a << secondShift;
  });
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
    crossLane("v_permlane16_var_b32", toLane, permuteRowByLane<false>).with(rowflag::ownModifiers),
    crossLane("v_permlanex16_var_b32", toLane, permuteRowByLane<true>).with(rowflag::ownModifiers),
    crossLane("v_permlane64_b32", unary, permute64),
    crossLane("v_permlane16_swap_b32", unary, swapGroups<16>).with(rowflag::ownModifiers),
    crossLane("v_permlane32_swap_b32", unary, swapGroups<32>).with(rowflag::ownModifiers),
    crossLane("v_swap_b16", {Type::B16, {Type::B16}, false}, swapHalves)
        .with(rowflag::ownModifiers),
    crossLane("v_swap_b32", unary, swapRegisters),
    memory("ds_bpermute_b32@gfx11", Shape::Lds, InstructionClass::Lds,
           backwardPermute<true, false>),
    memory("ds_bpermute_b32", Shape::Lds, InstructionClass::Lds, backwardPermute<false, false>),
    memory("ds_bpermute_fi_b32", Shape::Lds, InstructionClass::Lds, backwardPermute<false, true>),
    memory("ds_permute_b32@gfx11", Shape::Lds, InstructionClass::Lds, forwardPermute<true>),
    memory("ds_permute_b32", Shape::Lds, InstructionClass::Lds, forwardPermute<false>),
    memory("ds_swizzle_b32", Shape::Lds, InstructionClass::Lds, swizzle),
};

} // namespace

InstructionRows crossLane() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
