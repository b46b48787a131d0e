//===- Mutations.cpp - Faults that the fuzzer has to find -----------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "reference/Mutations.h"

#include "runtime/emulator/Instruction.h"
#include "runtime/emulator/RowNames.h"

#include <algorithm>
#include <array>

namespace wavetile::reference {
namespace {

using device::Instruction;
using device::Operand;
using device::OperandKind;
using device::Record;
namespace modifier = device::modifier;
namespace scalar = device::scalar;
using DeviceWave = device::Wave;

// --- How faults are planted ---

const Instruction &rowNamed(const char *mnemonic) {
  static const auto rows = [] {
    device::RowsByName<const Instruction *> result;
    for (uint16_t i = 1; const Instruction *row = device::instructionRow(i); ++i)
      result.add(row->names, row);
    return result;
  }();
  return *rows.find(mnemonic);
}

/// Executes the record after \p change.
template <typename F> const Record *changed(DeviceWave &wave, const Record *record, F change) {
  Record copy[2] = {*record, *record};
  change(copy[0]);
  const Record *next = copy[0].execute(wave, copy);
  return next == copy + 1 ? record + 1 : next;
}
const Record *executed(DeviceWave &wave, const Record *record) {
  return record->execute(wave, record);
}
bool isPrepared(const Record *record) {
  return record->execute == device::instructionRow(record->row)->prepared;
}
/// Executes the record with the handler of another instruction of the same types.
template <size_t n> struct Name {
  char text[n];
  constexpr Name(const char (&given)[n]) { std::copy_n(given, n, text); }
};
template <Name mnemonic> const Record *as(DeviceWave &wave, const Record *record) {
  const Instruction &other = rowNamed(mnemonic.text);
  bool prepared = isPrepared(record);
  return changed(wave, record,
                 [&](Record &r) { r.execute = prepared ? other.prepared : other.direct; });
}
/// Executes in another mode.
const Record *inMode(DeviceWave &wave, const Record *record, uint32_t bits) {
  device::Mode saved = wave.mode;
  wave.mode.set(bits);
  wave.mode.ieee = saved.ieee;
  const Record *next = executed(wave, record);
  wave.mode = saved;
  return next;
}
template <uint32_t clear> const Record *without(DeviceWave &wave, const Record *record) {
  return changed(wave, record, [](Record &r) { r.modifiers &= ~clear; });
}
template <uint32_t clear, uint32_t set>
const Record *withSecondWord(DeviceWave &wave, const Record *record) {
  return changed(wave, record, [](Record &r) { r.immediate = (r.immediate & ~clear) | set; });
}
/// Changes each active lane of the result.
template <typename F> const Record *thenEachLane(DeviceWave &wave, const Record *record, F change) {
  uint64_t active = wave.exec();
  const Record *next = executed(wave, record);
  uint32_t *row = wave.row(record->destination);
  for (unsigned lane = 0; lane < wave.waveSize; ++lane)
    if (active >> lane & 1)
      row[lane] = change(row[lane]);
  return next;
}

// --- Where they show ---

template <Name... mnemonics> bool any(const Statement &s) {
  return ((s.mnemonic == mnemonics.text) || ...);
}
template <Name name> bool has(const Statement &s) { return s.has(name.text); }
bool isVector(const Statement &s) { return s.mnemonic[0] == 'v'; }
template <unsigned operand> bool hasAbs(const Statement &s) {
  return isVector(s) && operand < s.operands.size() && s.operands[operand].absolute &&
         s.operands[operand].negate;
}

// --- The faults ---

const Record *lastLaneLeftOut(DeviceWave &wave, const Record *record) {
  uint32_t *last = wave.row(record->destination) + wave.waveSize - 1, old = *last;
  const Record *next = executed(wave, record);
  *last = old;
  return next;
}
const Record *disabledLanesToo(DeviceWave &wave, const Record *record) {
  uint64_t exec = wave.exec();
  wave.setLaneMask(scalar::Exec, wave.allLanes());
  const Record *next = executed(wave, record);
  wave.setLaneMask(scalar::Exec, exec);
  return next;
}
const Record *comparisonKeepsBits(DeviceWave &wave, const Record *record) {
  uint32_t index = record->maskDestination.index();
  uint64_t old = wave.laneMask(index), exec = wave.exec();
  const Record *next = executed(wave, record);
  wave.setLaneMask(index, wave.laneMask(index) | (old & ~exec));
  return next;
}
/// Of direct records, whose sources are as they are in registers.
const Record *tiesAwayFromZero(DeviceWave &wave, const Record *record) {
  Operand from = record->sources[0];
  if (isPrepared(record) || from.kind() == OperandKind::Scalar)
    return executed(wave, record);
  std::array<uint32_t, device::maximumWaveSize> source{};
  std::copy_n(wave.row(from), wave.waveSize, source.begin());
  uint64_t active = wave.exec();
  const Record *next = executed(wave, record);
  uint32_t *row = wave.row(record->destination);
  for (unsigned lane = 0; lane < wave.waveSize; ++lane) {
    uint32_t bits = source[lane], magnitude = bits & 0x7fffffff;
    bool isNormal = magnitude > 0x38800000 && magnitude < 0x47000000;
    row[lane] += isNormal && (bits & 0x3fff) == 0x1000 && (active >> lane & 1);
  }
  return next;
}
const Record *productIsRounded(DeviceWave &wave, const Record *record) {
  if (isPrepared(record))
    return executed(wave, record);
  changed(wave, record, [](Record &r) {
    r.execute = rowNamed("v_mul_f32").direct;
    r.destination = Operand(OperandKind::Vector, device::spareRow);
  });
  return changed(wave, record, [](Record &r) {
    r.execute = rowNamed("v_add_f32").direct;
    r.sources[0] = Operand(OperandKind::Vector, device::spareRow);
    r.sources[1] = r.sources[2];
  });
}
const Record *noCarryIntoLastLane(DeviceWave &wave, const Record *record) {
  // The mask may be a condition or a constant, which is not the wave's to change.
  Operand mask = record->sources[2];
  if (mask.kind() != OperandKind::Scalar || mask.index() >= scalar::Null)
    return executed(wave, record);
  uint64_t old = wave.laneMask(mask.index());
  wave.setLaneMask(mask.index(), old & wave.allLanes() >> 1);
  const Record *next = executed(wave, record);
  if (mask.index() != record->maskDestination.index())
    wave.setLaneMask(mask.index(), old);
  return next;
}
const Record *equalOperandsBorrow(DeviceWave &wave, const Record *record) {
  uint64_t active = wave.exec();
  const Record *next = executed(wave, record);
  const uint32_t *row = wave.row(record->destination);
  uint64_t zeros = 0;
  for (unsigned lane = 0; lane < wave.waveSize; ++lane)
    zeros |= uint64_t(row[lane] == 0) << lane;
  uint32_t index = record->maskDestination.index();
  wave.setLaneMask(index, wave.laneMask(index) | (zeros & active));
  return next;
}
const Record *withoutScc(DeviceWave &wave, const Record *record) {
  wave.scalars[scalar::Scc] = 0;
  return executed(wave, record);
}
const Record *sccOfLowWord(DeviceWave &wave, const Record *record) {
  const Record *next = executed(wave, record);
  wave.scalars[scalar::Scc] = wave.scalars[record->destination.index()] != 0;
  return next;
}
const Record *clampKeepsNaN(DeviceWave &wave, const Record *record) {
  return inMode(wave, record, device::Mode::usualBits & ~0x100u);
}
const Record *towardZero(DeviceWave &wave, const Record *record) {
  return inMode(wave, record, device::Mode::usualBits | 3u << 2);
}
const Record *flushesResults(DeviceWave &wave, const Record *record) {
  return inMode(wave, record, device::Mode::usualBits & ~0x20u);
}
const Record *oneNaN(DeviceWave &wave, const Record *record) {
  return thenEachLane(wave, record, [](uint32_t bits) {
    return (bits & 0x7fffffff) > 0x7f800000 ? 0x7fc00000u : bits;
  });
}
const Record *zerosAreNegative(DeviceWave &wave, const Record *record) {
  return thenEachLane(wave, record, [](uint32_t bits) { return bits == 0 ? 0x80000000u : bits; });
}
const Record *x86Saturation(DeviceWave &wave, const Record *record) {
  return thenEachLane(wave, record,
                      [](uint32_t bits) { return bits == 0x7fffffff ? 0x80000000u : bits; });
}
const Record *oneLaneFurther(DeviceWave &wave, const Record *record) {
  return changed(wave, record, [](Record &r) {
    if ((r.immediate >> 8 & 15) != 15)
      r.immediate += 1u << 8;
  });
}
const Record *clearsOtherHalf(DeviceWave &wave, const Record *record) {
  uint32_t kept = wave.keptByHalfResult;
  wave.keptByHalfResult = 0;
  const Record *next = without<modifier::keepHalf>(wave, record);
  wave.keptByHalfResult = kept;
  return next;
}

} // namespace

std::vector<Mutation> mutationsOfGfx9() {
  return {
      {"v_ashrrev_i32 shifts zeros in", any<"v_ashrrev_i32">, as<"v_lshrrev_b32">},
      {"v_mul_hi_i32 takes its operands for unsigned", any<"v_mul_hi_i32">, as<"v_mul_hi_u32">},
      {"bit 23 of v_mul_i32_i24 is no sign", any<"v_mul_i32_i24">, as<"v_mul_u32_u24">},
      {"s_bfe_i32 does not extend the sign", any<"s_bfe_i32">, as<"s_bfe_u32">},
      {"the last lane of v_sub_f32 is left out", any<"v_sub_f32">, lastLaneLeftOut},
      {"v_xor_b32 writes lanes that EXEC switches off", any<"v_xor_b32">, disabledLanesToo},
      {"v_cmp_lt_u32 keeps the bits of lanes that are off", any<"v_cmp_lt_u32">,
       comparisonKeepsBits},
      {"v_cvt_f16_f32 rounds ties away from zero", any<"v_cvt_f16_f32">, tiesAwayFromZero},
      {"v_fma_f32 rounds the product", any<"v_fma_f32">, productIsRounded},
      {"v_add_f64 rounds toward zero", any<"v_add_f64">, towardZero},
      {"v_mul_f32 flushes denormal results", any<"v_mul_f32">, flushesResults},
      {"v_addc_co_u32 has no carry into the last lane", any<"v_addc_co_u32">, noCarryIntoLastLane},
      {"equal operands of v_sub_co_u32 borrow", any<"v_sub_co_u32">, equalOperandsBorrow},
      {"s_addc_u32 does not add SCC", any<"s_addc_u32">, withoutScc},
      {"SCC of s_and_b64 is that of the low word", any<"s_and_b64">, sccOfLowWord},
      {"neg of an absolute value is lost", hasAbs<1>, without<modifier::negate(0)>},
      {"clamp keeps a NaN", has<"clamp">, clampKeepsNaN},
      {"neg_hi of the second source is lost", any<"v_pk_mul_f16", "v_pk_fma_f16">,
       without<modifier::negateHigh(1)>},
      {"op_sel of the third source is lost", any<"v_fma_f16", "v_mad_u16", "v_mad_i16">,
       without<modifier::high(2)>},
      {"row_mask of DPP is ignored", has<"row_mask">, withSecondWord<0, 15u << 28>},
      {"DPP always has bound_ctrl", has<"row_mask">, withSecondWord<0, 1u << 19>},
      {"row_shr fetches from one lane further", has<"row_shr">, oneLaneFurther},
      {"SDWA clears what dst_unused preserves", has<"dst_unused">,
       [](DeviceWave &wave, const Record *record) {
         bool preserves = (record->immediate >> 11 & 3) == 2;
         return preserves ? withSecondWord<3u << 11, 0>(wave, record) : executed(wave, record);
       }},
      {"sext of SDWA's second source is lost", has<"src1_sel">, withSecondWord<1u << 27, 0>},
      {"v_mad_i16 clears the other half", any<"v_mad_i16">, clearsOtherHalf},
      {"clamp of v_add_u32 does not saturate", any<"v_add_u32">, as<"v_add_u32">},
      {"v_cvt_i32_f32 saturates as x86 does", any<"v_cvt_i32_f32">, x86Saturation},
      {"v_add_f32 gives the default NaN for each", any<"v_add_f32">, oneNaN},
      {"v_max_f32 gives -0 for +0", any<"v_max_f32">, zerosAreNegative},
      {"v_cmp_lt_f32 is true of a NaN", any<"v_cmp_lt_f32">, as<"v_cmp_nge_f32">},
  };
}

std::vector<Mutation> mutationsOfRdna() {
  return {
      {"v_add_f16 clears the other half", any<"v_add_f16">, clearsOtherHalf},
      {"DPP8 fetches from lanes that are off", has<"dpp8">,
       [](DeviceWave &wave, const Record *record) {
         return changed(wave, record, [](Record &r) { r.modifiers |= modifier::fetchInactive; });
       }},
      {"row_xmask is off by one lane", has<"row_xmask">, withSecondWord<0, 1u << 8>},
      {"neg of a v_fma_mix source is lost", any<"v_fma_mix_f32">, without<modifier::negate(0)>},
      {"v_max3_i32 takes its operands for unsigned", any<"v_max3_i32">, as<"v_max3_u32">},
  };
}

} // namespace wavetile::reference
