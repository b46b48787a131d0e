//===- Operands.cpp - Modifiers of vector instructions --------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Applied to copies of the source rows, in the order of the hardware: DPP or SDWA picks the value,
// op_sel picks its half, abs and then neg change its sign. On the way out: omod, clamp, and the
// part of the register that is written.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/instructions/Float.h"
#include "runtime/emulator/instructions/Lanes.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace {

// --- DPP ---

/// The lane that each lane reads, and all ones where there is one.
struct LaneMap {
  static constexpr uint32_t invalid = 0xff;
  alignas(64) uint32_t from[maximumWaveSize];
  alignas(64) uint32_t valid[maximumWaveSize];

  void set(unsigned lane, uint32_t source) {
    from[lane] = source == invalid ? 0 : source;
    valid[lane] = source == invalid ? 0 : ~0u;
  }
};

/// \p control is dpp_ctrl of the second instruction word.
void dppLanes(uint32_t control, unsigned size, LaneMap &map) {
  for (unsigned lane = 0; lane < size; ++lane) {
    unsigned row = lane & ~15u, inRow = lane & 15, amount = control & 15;
    unsigned from = LaneMap::invalid;
    if (control <= 0xff) // quad_perm
      from = (lane & ~3u) | (control >> (2 * (lane & 3)) & 3);
    else if (control >= 0x101 && control <= 0x10f) // row_shl
      from = inRow + amount < 16 ? lane + amount : LaneMap::invalid;
    else if (control >= 0x111 && control <= 0x11f) // row_shr
      from = inRow >= amount ? lane - amount : LaneMap::invalid;
    else if (control >= 0x121 && control <= 0x12f) // row_ror
      from = row | ((inRow - amount) & 15);
    else if (control == 0x130) // wave_shl:1
      from = lane + 1 < size ? lane + 1 : LaneMap::invalid;
    else if (control == 0x134) // wave_rol:1
      from = (lane + 1) & (size - 1);
    else if (control == 0x138) // wave_shr:1
      from = lane > 0 ? lane - 1 : LaneMap::invalid;
    else if (control == 0x13c) // wave_ror:1
      from = (lane - 1) & (size - 1);
    else if (control == 0x140) // row_mirror
      from = row | (15 - inRow);
    else if (control == 0x141) // row_half_mirror
      from = (lane & ~7u) | (7 - (lane & 7));
    else if (control == 0x142) // row_bcast:15
      from = row >= 16 ? row - 1 : LaneMap::invalid;
    else if (control == 0x143) // row_bcast:31
      from = lane >= 32 ? 31 : LaneMap::invalid;
    else if (control >= 0x150 && control <= 0x15f) // row_newbcast, row_share
      from = row | amount;
    else if (control >= 0x160 && control <= 0x16f) // row_xmask
      from = lane ^ amount;
    map.set(lane, from);
  }
}

/// The map of every control, made once.
const LaneMap &dppMap(uint32_t control, unsigned size) {
  struct Maps {
    LaneMap of[2][512];
    Maps() {
      for (uint32_t control = 0; control < 512; ++control) {
        dppLanes(control, 32, of[0][control]);
        dppLanes(control, 64, of[1][control]);
      }
    }
  };
  static const Maps maps;
  return maps.of[size == 64][control];
}

/// Replaces `rows` rows by what DPP fetches, and takes the lanes that it switches off from
/// `active`.
void applyDpp(Wave &wave, const Record *record, const uint32_t *source, uint32_t *target,
              unsigned rows, uint64_t &active) {
  const unsigned size = wave.waveSize;
  uint32_t word = record->immediate;
  LaneMap dpp8;
  const LaneMap *map = &dpp8;
  bool fetchInactive, zeroWhenInvalid;
  uint32_t bankMask = 15, rowMask = 15;
  if (record->modifiers & modifier::dpp8) {
    for (unsigned lane = 0; lane < size; ++lane)
      dpp8.set(lane, (lane & ~7u) | (word >> (8 + 3 * (lane & 7)) & 7));
    fetchInactive = record->modifiers & modifier::fetchInactive;
    zeroWhenInvalid = true;
  } else {
    map = &dppMap(word >> 8 & 0x1ff, size);
    fetchInactive = word >> 18 & 1;
    zeroWhenInvalid = word >> 19 & 1;
    bankMask = word >> 24 & 15;
    rowMask = word >> 28 & 15;
  }
  alignas(64) uint32_t valid[maximumWaveSize];
  const uint32_t *usable = map->valid;
  if (!fetchInactive && wave.exec() != wave.allLanes()) {
    const uint32_t *on = wave.activeRow();
    for (unsigned lane = 0; lane < size; ++lane)
      valid[lane] = map->valid[lane] & on[map->from[lane]];
    usable = valid;
  }
  for (unsigned i = 0; i < rows; ++i)
    for (unsigned lane = 0; lane < size; ++lane)
      target[i * size + lane] = source[i * size + map->from[lane]] & usable[lane];
  if (zeroWhenInvalid && rowMask == 15 && bankMask == 15)
    return;
  uint64_t off = 0;
  for (unsigned lane = 0; lane < size; ++lane) {
    bool written = (usable[lane] || zeroWhenInvalid) && (rowMask >> (lane / 16) & 1) &&
                   (bankMask >> (lane % 16 / 4) & 1);
    off |= written ? 0 : uint64_t(1) << lane;
  }
  active &= ~off;
}

// --- SDWA ---

/// Picks a byte, word or dword of each lane; `signExtended` fills the rest with its sign.
void applySdwaSelect(uint32_t select, bool signExtended, uint32_t *row, unsigned size) {
  if (select == 6)
    return;
  unsigned shift = select < 4 ? 8 * select : 16 * (select - 4), width = select < 4 ? 8 : 16;
  for (unsigned lane = 0; lane < size; ++lane) {
    uint32_t top = row[lane] << (32 - width - shift);
    row[lane] = signExtended ? static_cast<uint32_t>(static_cast<int32_t>(top) >> (32 - width))
                             : top >> (32 - width);
  }
}
uint32_t sdwaMerge(uint32_t word, uint32_t old, uint32_t value) {
  uint32_t select = word >> 8 & 7, unused = word >> 11 & 3;
  if (select == 6)
    return value;
  unsigned shift = select < 4 ? 8 * select : 16 * (select - 4), width = select < 4 ? 8 : 16;
  uint32_t mask = ((1u << width) - 1) << shift;
  uint32_t placed = value << shift & mask;
  if (unused == 2) // UNUSED_PRESERVE
    return (old & ~mask) | placed;
  if (unused == 1) { // UNUSED_SEXT: only the bits above.
    uint32_t above = shift + width < 32 ? ~0u << (shift + width) : 0;
    bool negative = placed >> (shift + width - 1) & 1;
    return placed | (negative ? above : 0);
  }
  return placed;
}

// --- Halves ---

void takeHighHalf(uint32_t *row, unsigned size) {
  for (unsigned lane = 0; lane < size; ++lane)
    row[lane] >>= 16;
}
void packHalves(uint32_t modifiers, unsigned operand, uint32_t *row, unsigned size) {
  unsigned lowShift = modifiers & modifier::high(operand) ? 16 : 0;
  unsigned highShift = modifiers & modifier::highForHigh(operand) ? 16 : 0;
  uint32_t flip = (modifiers & modifier::negate(operand) ? 0x8000u : 0) |
                  (modifiers & modifier::negateHigh(operand) ? 0x80000000u : 0);
  for (unsigned lane = 0; lane < size; ++lane) {
    uint32_t low = row[lane] >> lowShift & 0xffff, high = row[lane] >> highShift & 0xffff;
    row[lane] = (low | high << 16) ^ flip;
  }
}
/// From `source` to `row`: each word of the pair is one of the source's.
void packFloats(uint32_t modifiers, unsigned operand, const uint32_t *source, uint32_t *row,
                unsigned size) {
  const uint32_t *low = modifiers & modifier::high(operand) ? source + size : source;
  const uint32_t *high = modifiers & modifier::highForHigh(operand) ? source + size : source;
  uint32_t flipLow = modifiers & modifier::negate(operand) ? 0x80000000u : 0;
  uint32_t flipHigh = modifiers & modifier::negateHigh(operand) ? 0x80000000u : 0;
  for (unsigned lane = 0; lane < size; ++lane) {
    row[lane] = low[lane] ^ flipLow;
    row[size + lane] = high[lane] ^ flipHigh;
  }
}
/// v_fma_mix: op_sel_hi makes the source an f16, op_sel its half; neg_hi means abs.
void mixedToFloat(uint32_t modifiers, unsigned operand, uint32_t *row, unsigned size) {
  bool isHalf = modifiers & modifier::highForHigh(operand);
  unsigned shift = modifiers & modifier::high(operand) ? 16 : 0;
  uint32_t keep = modifiers & modifier::negateHigh(operand) ? 0x7fffffffu : ~0u;
  uint32_t flip = modifiers & modifier::negate(operand) ? 0x80000000u : 0;
  for (unsigned lane = 0; lane < size; ++lane) {
    uint32_t bits = isHalf ? bitsOf(fromHalf(row[lane] >> shift)) : row[lane];
    row[lane] = (bits & keep) ^ flip;
  }
}
void changeSign(Type type, uint32_t modifiers, unsigned operand, uint32_t *row, unsigned size) {
  bool abs = modifiers & modifier::absolute(operand), neg = modifiers & modifier::negate(operand);
  if (!abs && !neg)
    return;
  uint32_t sign = is16Bit(type) ? 0x8000u : 0x80000000u;
  if (rowsOf(type) == 2)
    row += size;
  for (unsigned lane = 0; lane < size; ++lane)
    row[lane] = (abs ? row[lane] & ~sign : row[lane]) ^ (neg ? sign : 0);
}

// --- Results ---

float outputScale(uint32_t modifiers) {
  switch ((modifiers & modifier::outputMask) >> modifier::outputShift) {
  case 1:
    return 2.0f;
  case 2:
    return 4.0f;
  case 3:
    return 0.5f;
  default:
    return 1.0f;
  }
}
/// How results of one type are finished.
template <typename T> struct OutputRules {
  T scale;
  bool clamp, dx10Clamp, flush;
  /// omod is for those who ask for no IEEE arithmetic: without IEEE mode, and with denormals
  /// flushed.
  OutputRules(const Mode &mode, uint32_t modifiers, bool flushesDenormals)
      : scale(static_cast<T>(outputScale(modifiers))), clamp(modifiers & modifier::clamp),
        dx10Clamp(mode.dx10Clamp), flush(flushesDenormals) {
    if (mode.ieee || !flushesDenormals)
      scale = T(1);
  }
  bool nothingToDo() const { return !flush && !clamp && scale == T(1); }

  /// Denormals, then omod, which also makes a negative zero positive, then clamp to [0, 1], where
  /// NaN becomes 0 with DX10_CLAMP.
  T apply(T x) const {
    T result = flush ? flushed(x) : x;
    if (scale != T(1)) {
      result = flushed(resultOr(result * scale, result));
      result = isZero(result) ? T(0) : result;
    }
    if (!clamp)
      return result;
    if (isNaN(result))
      return dx10Clamp ? T(0) : result;
    return result <= T(0) ? T(0) : result > T(1) ? T(1) : result;
  }
};
uint32_t finishedHalf(uint32_t bits, const OutputRules<float> &rules) {
  bits &= 0xffff;
  // The value is one of f16, but for those that are denormal there only.
  if (rules.flush && (bits & 0x7fff) < 0x400)
    bits &= 0x8000;
  if (rules.nothingToDo())
    return bits;
  uint32_t result = halfFrom(rules.apply(fromHalf(bits)));
  return rules.flush && (result & 0x7fff) < 0x400 ? result & 0x8000 : result;
}

/// Whether a source makes an infinite result of this lane and half a true one, not an overflow.
bool hasInfiniteSource(const Signature &signature, const PreparedOperands &operands, unsigned lane,
                       unsigned size, unsigned shift) {
  bool isUnary = signature.sources[1] == Type::None;
  for (unsigned i = 0; i < 4 && signature.sources[i] != Type::None; ++i) {
    const uint32_t *row = operands.sources[i];
    uint32_t magnitude, infinity;
    switch (signature.sources[i]) {
    case Type::F16:
    case Type::PackedF16:
      magnitude = row[lane] >> shift & 0x7fff, infinity = 0x7c00;
      break;
    case Type::F32:
    case Type::Mixed:
      magnitude = row[lane] & 0x7fffffff, infinity = 0x7f800000;
      break;
    case Type::F64:
      magnitude = row[size + lane] & 0x7fffffff, infinity = 0x7ff00000;
      break;
    default:
      continue;
    }
    if (magnitude == infinity || (isUnary && magnitude == 0)) // 1 / 0, log 0
      return true;
  }
  return false;
}
/// MODE.FP16_OVFL: what is too large is the largest number.
void clampOverflow(const Signature &signature, const PreparedOperands &operands, unsigned size) {
  for (unsigned lane = 0; lane < size; ++lane)
    for (unsigned shift = 0; shift <= (signature.result == Type::PackedF16 ? 16 : 0); shift += 16)
      if ((operands.result[lane] >> shift & 0x7fff) == 0x7c00 &&
          !hasInfiniteSource(signature, operands, lane, size, shift))
        operands.result[lane] -= 1u << shift;
}

} // namespace

void modifyOutput(const Wave &wave, uint32_t modifiers, Type type, uint32_t *row) {
  const Mode &mode = wave.mode;
  if (mode.usual && !(modifiers & (modifier::clamp | modifier::outputMask)))
    return;
  const unsigned size = wave.waveSize;
  OutputRules<float> rules(mode, modifiers, mode.flushResults32);
  OutputRules<float> rules16(mode, modifiers, mode.flushResults16_64);
  OutputRules<double> rules64(mode, modifiers, mode.flushResults16_64);
  switch (type) {
  case Type::F32:
  case Type::PackedF32:
    if (rules.nothingToDo())
      return;
    for (unsigned i = 0; i < rowsOf(type) * size; ++i)
      row[i] = bitsOf(rules.apply(floatOf(row[i])));
    return;
  case Type::F16:
  case Type::PackedF16:
    for (unsigned lane = 0; lane < size; ++lane) {
      uint32_t low = finishedHalf(row[lane], rules16);
      uint32_t high =
          type == Type::PackedF16 ? finishedHalf(row[lane] >> 16, rules16) : row[lane] >> 16;
      row[lane] = low | high << 16;
    }
    return;
  case Type::F64:
    if (rules64.nothingToDo())
      return;
    for (unsigned lane = 0; lane < size; ++lane) {
      uint64_t bits = row[lane] | static_cast<uint64_t>(row[size + lane]) << 32;
      bits = bitsOf(rules64.apply(doubleOf(bits)));
      row[lane] = static_cast<uint32_t>(bits);
      row[size + lane] = static_cast<uint32_t>(bits >> 32);
    }
    return;
  default: // The decoder lets no other type have them.
    return;
  }
}

void prepareOperands(Wave &wave, const Record *record, const Signature &signature,
                     PreparedOperands &operands) {
  const unsigned size = wave.waveSize;
  const uint32_t modifiers = record->modifiers;
  operands.activeMask = wave.exec();
  for (unsigned i = 0; i < 4 && signature.sources[i] != Type::None; ++i) {
    Type type = signature.sources[i];
    Operand operand = record->sources[i];
    uint32_t *row = wave.temporary[2 * i];
    operands.sources[i] = row;
    if (type == Type::Mask) {
      uint64_t mask = wave.readMask(operand);
      Wave::expandMask(mask, row);
      continue;
    }
    unsigned rows = rowsOf(type);
    if (type == Type::PackedF32) {
      alignas(64) uint32_t pair[2 * maximumWaveSize];
      const uint32_t *source = pair;
      if (operand.kind() == OperandKind::Scalar) {
        broadcast(wave.read32(operand), pair);
        broadcast(wave.scalars[operand.index() + 1], pair + size);
      } else {
        source = wave.row(operand);
      }
      packFloats(modifiers, i, source, row, size);
      continue;
    }
    if (operand.kind() == OperandKind::Scalar) {
      broadcast(wave.read32(operand), row);
      if (rows == 2)
        broadcast(wave.scalars[operand.index() + 1], row + size);
    } else if (i == 0 && (modifiers & (modifier::dpp | modifier::dpp8))) {
      applyDpp(wave, record, wave.row(operand), row, rows, operands.activeMask);
    } else {
      __builtin_memcpy(row, wave.row(operand), rows * size * sizeof(uint32_t));
    }
    if ((modifiers & modifier::sdwa) && i < 2) {
      uint32_t word = record->immediate >> (8 * i);
      applySdwaSelect(word >> 16 & 7, word >> 19 & 1, row, size);
    }
    if (isPacked(type))
      packHalves(modifiers, i, row, size);
    else if (type == Type::Mixed)
      mixedToFloat(modifiers, i, row, size);
    else {
      if (is16Bit(type) && (modifiers & modifier::high(i)))
        takeHighHalf(row, size);
      changeSign(type, modifiers, i, row, size);
    }
  }
  operands.result = wave.temporary[resultTemporary];
  if (operands.activeMask == wave.exec()) {
    operands.active = wave.activeRow();
    return;
  }
  // DPP's row of lanes: kept in the wave, rebuilt for the next instruction.
  Wave::expandMask(operands.activeMask, wave.execRow);
  wave.execRowValue = operands.activeMask;
  operands.active = wave.execRow;
}

void flushSources(const Wave &wave, const Signature &signature, PreparedOperands &operands) {
  const Mode &mode = wave.mode;
  const unsigned size = wave.waveSize;
  for (unsigned i = 0; i < 4 && signature.sources[i] != Type::None; ++i) {
    Type type = signature.sources[i];
    // prepareOperands made copies of all.
    uint32_t *row = const_cast<uint32_t *>(operands.sources[i]);
    bool is32 = type == Type::F32 || type == Type::PackedF32 || type == Type::Mixed;
    if (is32 && mode.flushSources32) {
      for (unsigned k = 0; k < rowsOf(type) * size; ++k)
        row[k] = bitsOf(flushed(floatOf(row[k])));
    } else if ((type == Type::F16 || type == Type::PackedF16) && mode.flushSources16_64) {
      for (unsigned lane = 0; lane < size; ++lane) {
        uint32_t bits = row[lane];
        bits = (bits & 0x7c00) == 0 ? bits & 0xffff8000 : bits;
        bool high = type == Type::PackedF16 && (bits & 0x7c000000) == 0;
        row[lane] = high ? bits & 0x8000ffff : bits;
      }
    } else if (type == Type::F64 && mode.flushSources16_64) {
      for (unsigned lane = 0; lane < size; ++lane)
        if ((row[size + lane] & 0x7ff00000) == 0) {
          row[lane] = 0;
          row[size + lane] &= 0x80000000;
        }
    }
  }
}

void finishResult(Wave &wave, const Record *record, const Signature &signature,
                  const PreparedOperands &operands) {
  const unsigned size = wave.waveSize;
  uint32_t *row = operands.result;
  if (wave.mode.float16Overflow &&
      (signature.result == Type::F16 || signature.result == Type::PackedF16))
    clampOverflow(signature, operands, size);
  modifyOutput(wave, record->modifiers, signature.result, row);
  uint32_t *target = wave.row(record->destination);
  const uint32_t *active = operands.active;
  // v_cvt_pk_f32_fp8 and its like write whole pairs: their encoding selects of the source only.
  if (record->modifiers & modifier::sdwa && rowsOf(signature.result) == 1) {
    for (unsigned lane = 0; lane < size; ++lane)
      if (active[lane])
        target[lane] = sdwaMerge(record->immediate, target[lane], row[lane]);
    return;
  }
  if (is16Bit(signature.result)) {
    uint32_t kept = record->modifiers & modifier::keepHalf ? 0xffff0000 : wave.keptByHalfResult;
    unsigned shift = 0;
    if (record->modifiers & modifier::highResult)
      kept = 0xffff, shift = 16;
    for (unsigned lane = 0; lane < size; ++lane) {
      uint32_t merged = (target[lane] & kept) | (row[lane] & 0xffff) << shift;
      target[lane] = blend(active[lane], merged, target[lane]);
    }
    return;
  }
  unsigned rows = rowsOf(signature.result);
  for (unsigned i = 0; i < rows; ++i)
    for (unsigned lane = 0; lane < size; ++lane)
      target[i * size + lane] = blend(active[lane], row[i * size + lane], target[i * size + lane]);
}

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
