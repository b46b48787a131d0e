//===- Execute.cpp - Operands, modifiers and results, a lane at a time ----===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "reference/Memory.h"
#include "reference/Reference.h"

#include <cmath>
#include <cstdlib>
#include <optional>

namespace wavetile::reference {
namespace {

bool isPair(Kind kind) {
  return kind == Kind::B64 || kind == Kind::I64 || kind == Kind::F64 || kind == Kind::PackedF32;
}
bool isHalf(Kind kind) { return kind == Kind::B16 || kind == Kind::F16 || kind == Kind::BF16; }
bool isPackedHalves(Kind kind) {
  return kind == Kind::PackedB16 || kind == Kind::PackedF16 || kind == Kind::PackedBF16;
}
std::optional<Format> formatOf(Kind kind) {
  switch (kind) {
  case Kind::F32:
  case Kind::PackedF32:
  case Kind::Mixed:
    return Format::F32;
  case Kind::F16:
  case Kind::PackedF16:
    return Format::F16;
  case Kind::BF16:
  case Kind::PackedBF16:
    return Format::BF16;
  case Kind::F64:
    return Format::F64;
  default:
    return std::nullopt;
  }
}

} // namespace

/// The first scalar register that a name means.
std::optional<unsigned> scalarNumber(const TextOperand &operand) {
  const std::string &text = operand.text;
  if (operand.kind != TextOperand::Scalar)
    return std::nullopt;
  if (text[0] == 's' && (std::isdigit(text[1]) || text[1] == '['))
    return operand.index;
  if (text == "vcc" || text == "vcc_lo")
    return scalarnumber::Vcc;
  if (text == "vcc_hi")
    return scalarnumber::Vcc + 1;
  if (text == "exec" || text == "exec_lo")
    return scalarnumber::Exec;
  if (text == "exec_hi")
    return scalarnumber::Exec + 1;
  if (text == "m0")
    return scalarnumber::M0;
  return std::nullopt;
}

namespace {

/// A constant in the operand's format.
uint64_t constantBits(const TextOperand &operand, Kind kind) {
  if (operand.kind == TextOperand::Float) {
    Format format = kind == Kind::B64 || kind == Kind::I64 || kind == Kind::F64 ? Format::F64
                    : kind == Kind::BF16 || kind == Kind::PackedBF16            ? Format::BF16
                    : isHalf(kind) || isPackedHalves(kind)                      ? Format::F16
                                                                                : Format::F32;
    bool inversePi = std::fabs(std::fabs(operand.number) - 0.15915494309189532) < 1e-6;
    double exact = inversePi ? std::copysign(0.15915494309189532, operand.number) : operand.number;
    uint64_t bits = convert(Format::F64, format, toBits(llvm::APFloat(exact)),
                            llvm::RoundingMode::NearestTiesToEven);
    if (inversePi && format == Format::BF16)
      bits = 0x3e22; // The f32 constant's upper half, not rounded.
    return kind == Kind::PackedF32 ? bits | bits << 32 : bits;
  }
  uint64_t bits = static_cast<uint64_t>(operand.integer);
  bool isLiteral = operand.text.find("0x") != std::string::npos;
  if (isLiteral && kind == Kind::F64)
    return bits << 32;
  if (isLiteral && kind == Kind::I64)
    return static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(bits)));
  if (kind == Kind::PackedF32)
    return (bits & 0xffffffff) | bits << 32;
  return isPair(kind) ? bits : bits & 0xffffffff;
}

} // namespace

std::optional<uint64_t> scalarBits(const Wave &wave, const TextOperand &operand, Kind kind) {
  if (operand.kind == TextOperand::Integer || operand.kind == TextOperand::Float)
    return constantBits(operand, kind);
  if (operand.kind == TextOperand::Null && wave.isGfx9)
    return std::nullopt; // No such register there, though LLVM prints it.
  if (operand.kind == TextOperand::Null)
    return 0;
  if (auto number = scalarNumber(operand)) {
    uint64_t low = wave.scalars[*number];
    if (kind == Kind::Mask)
      return wave.mask(*number);
    return isPair(kind) ? low | uint64_t(wave.scalars[*number + 1]) << 32 : low;
  }
  if (operand.text == "src_scc" || operand.text == "scc")
    return wave.scc;
  if (operand.text == "src_vccz" || operand.text == "vccz")
    return wave.mask(scalarnumber::Vcc) == 0;
  if (operand.text == "src_execz" || operand.text == "execz")
    return wave.exec() == 0;
  if (operand.text == "src_shared_base")
    return isPair(kind) || kind == Kind::Mask ? uint64_t(0x0001000000000000)
                                              : uint64_t(0x0001000000000000) & 0xffffffff;
  if (operand.text == "src_shared_limit")
    return isPair(kind) || kind == Kind::Mask ? uint64_t(0x00010000ffffffff)
                                              : uint64_t(0x00010000ffffffff) & 0xffffffff;
  if (operand.text == "src_private_base")
    return isPair(kind) || kind == Kind::Mask ? uint64_t(0x0002000000000000)
                                              : uint64_t(0x0002000000000000) & 0xffffffff;
  if (operand.text == "src_private_limit")
    return isPair(kind) || kind == Kind::Mask ? uint64_t(0x00020000ffffffff)
                                              : uint64_t(0x00020000ffffffff) & 0xffffffff;
  return std::nullopt;
}

namespace {

std::optional<uint64_t> rawBits(const Wave &wave, const TextOperand &operand, Kind kind,
                                unsigned lane) {
  if (operand.kind == TextOperand::Vector || operand.kind == TextOperand::Accumulator) {
    if (kind == Kind::Mask)
      return std::nullopt;
    const auto &file = operand.kind == TextOperand::Vector ? wave.vectors : wave.accumulators;
    uint64_t bits = file[operand.index][lane];
    if (isPair(kind) && operand.index == 255)
      return std::nullopt; // Past the last register.
    if (isPair(kind))
      bits |= uint64_t(file[(operand.index + 1) & 255][lane]) << 32;
    return bits;
  }
  auto bits = scalarBits(wave, operand, kind);
  if (bits && kind == Kind::Mask)
    return *bits >> lane & 1;
  return bits;
}

// --- DPP ---

struct Fetched {
  unsigned lane;
  bool exists;
};
unsigned number(const Statement &statement, const char *name) {
  return static_cast<unsigned>(std::strtoul(statement.modifiers.at(name).c_str(), nullptr, 0));
}
/// The lane whose source 0 this lane sees.
Fetched fetchedLane(const Wave &wave, const Statement &s, unsigned lane) {
  unsigned base = lane / 16 * 16, in = lane % 16;
  if (s.has("dpp8"))
    return {lane / 8 * 8 + s.listed("dpp8", lane % 8, 0), true};
  if (s.has("quad_perm"))
    return {lane / 4 * 4 + s.listed("quad_perm", lane % 4, 0), true};
  auto within = [&](int target) -> Fetched {
    return {target < 0 || target > 15 ? lane : base + static_cast<unsigned>(target),
            target >= 0 && target <= 15};
  };
  int signedIn = static_cast<int>(in), last = static_cast<int>(wave.size) - 1;
  int here = static_cast<int>(lane);
  if (s.has("row_shl"))
    return within(signedIn + static_cast<int>(number(s, "row_shl")));
  if (s.has("row_shr"))
    return within(signedIn - static_cast<int>(number(s, "row_shr")));
  if (s.has("row_ror"))
    return {base + (in + 16 - number(s, "row_ror")) % 16, true};
  if (s.has("wave_shl"))
    return {here < last ? lane + 1 : lane, here < last};
  if (s.has("wave_shr"))
    return {here > 0 ? lane - 1 : lane, here > 0};
  if (s.has("wave_rol"))
    return {here == last ? 0 : lane + 1, true};
  if (s.has("wave_ror"))
    return {here == 0 ? static_cast<unsigned>(last) : lane - 1, true};
  if (s.has("row_mirror"))
    return {base + 15 - in, true};
  if (s.has("row_half_mirror"))
    return {lane / 8 * 8 + 7 - lane % 8, true};
  if (s.has("row_bcast")) {
    unsigned from = number(s, "row_bcast");
    if (from == 15)
      return {lane >= 16 ? base - 1 : lane, lane >= 16};
    return {lane >= 32 ? 31 : lane, lane >= 32};
  }
  if (s.has("row_newbcast"))
    return {base + number(s, "row_newbcast"), true};
  if (s.has("row_share"))
    return {base + number(s, "row_share"), true};
  if (s.has("row_xmask"))
    return {lane ^ number(s, "row_xmask"), true};
  return {lane, true};
}
/// Comparisons of gfx11 have no suffix that says it.
bool isDpp(const Statement &s) { return s.has("dpp8") || s.has("row_mask"); }

/// Whether the lane is written, and what it sees as source 0's lane; no lane: it sees 0.
struct DppLane {
  bool written = true;
  std::optional<unsigned> from;
};
DppLane dppLane(const Wave &wave, const Statement &s, unsigned lane) {
  DppLane result;
  if (!isDpp(s)) {
    result.from = lane;
    return result;
  }
  Fetched fetched = fetchedLane(wave, s, lane);
  bool fetchInactive = s.has("fi") && number(s, "fi") == 1;
  bool usable = fetched.exists && (fetchInactive || (wave.exec() >> fetched.lane & 1));
  bool bound = s.has("dpp8") || s.has("bound_ctrl");
  if (usable)
    result.from = fetched.lane;
  else
    result.written = bound;
  if (s.has("row_mask") && !(number(s, "row_mask") >> (lane / 16) & 1))
    result.written = false;
  if (s.has("bank_mask") && !(number(s, "bank_mask") >> (lane % 16 / 4) & 1))
    result.written = false;
  return result;
}

// --- SDWA ---

uint64_t sdwaSelected(const Statement &s, unsigned source, uint64_t bits, bool signExtend) {
  std::string name = "src" + std::to_string(source) + "_sel";
  if (!s.has(name))
    return bits;
  const std::string &select = s.modifiers.at(name);
  unsigned shift = 0, width = 32;
  if (select.rfind("BYTE_", 0) == 0)
    shift = 8u * static_cast<unsigned>(select[5] - '0'), width = 8;
  else if (select.rfind("WORD_", 0) == 0)
    shift = 16u * static_cast<unsigned>(select[5] - '0'), width = 16;
  uint64_t value = (bits & 0xffffffff) >> shift & ((uint64_t(1) << width) - 1);
  if (signExtend && value >> (width - 1) & 1)
    value |= ~uint64_t(0) << width & 0xffffffff;
  return value;
}
uint32_t sdwaWritten(const Statement &s, uint32_t old, uint32_t value) {
  if (!s.has("dst_sel"))
    return value;
  const std::string &select = s.modifiers.at("dst_sel");
  unsigned shift = 0, width = 32;
  if (select.rfind("BYTE_", 0) == 0)
    shift = 8u * static_cast<unsigned>(select[5] - '0'), width = 8;
  else if (select.rfind("WORD_", 0) == 0)
    shift = 16u * static_cast<unsigned>(select[5] - '0'), width = 16;
  else
    return value;
  const std::string unused = s.has("dst_unused") ? s.modifiers.at("dst_unused") : "UNUSED_PAD";
  uint32_t field = ((1u << width) - 1) << shift, placed = value << shift & field;
  if (unused == "UNUSED_PRESERVE")
    return (old & ~field) | placed;
  if (unused == "UNUSED_SEXT" && placed >> (shift + width - 1) & 1 && shift + width < 32)
    return placed | ~0u << (shift + width);
  return placed;
}

// --- Sources ---

uint64_t withSigns(uint64_t bits, uint64_t sign, bool absolute, bool negate) {
  if (absolute)
    bits &= ~sign;
  return negate ? bits ^ sign : bits;
}

/// Which half a 16-bit source is.
bool isHighHalf(const Statement &s, const TextOperand &operand, unsigned number) {
  return operand.high ? *operand.high : s.listed("op_sel", number, 0) != 0;
}

std::optional<uint64_t> vectorSource(const Wave &wave, const Statement &s,
                                     const TextOperand &operand, Kind kind, unsigned number,
                                     unsigned lane) {
  auto raw = rawBits(wave, operand, kind, lane);
  if (!raw)
    return std::nullopt;
  uint64_t bits = *raw;
  bool isConstant = operand.kind == TextOperand::Integer || operand.kind == TextOperand::Float;
  if (s.suffix == "sdwa")
    bits = sdwaSelected(s, number, bits, operand.signExtend);
  if (kind == Kind::Mixed) {
    if (isConstant && s.listed("op_sel_hi", number, 0))
      return std::nullopt; // Which half of a constant is read is not documented.
    if (s.listed("op_sel_hi", number, 0)) {
      uint64_t half = s.listed("op_sel", number, 0) ? bits >> 16 & 0xffff : bits & 0xffff;
      bits = convert(Format::F16, Format::F32, half, llvm::RoundingMode::NearestTiesToEven);
    }
    return withSigns(bits, 0x80000000, operand.absolute, operand.negate);
  }
  if (isPackedHalves(kind)) {
    if (operand.absolute || operand.negate)
      return std::nullopt; // Which halves the signs of DPP and VOP3 change is not documented.
    uint64_t low = s.listed("op_sel", number, 0) ? bits >> 16 : bits;
    uint64_t high = s.listed("op_sel_hi", number, 1) ? bits >> 16 : bits;
    low = withSigns(low & 0xffff, 0x8000, false, s.listed("neg_lo", number, 0));
    high = withSigns(high & 0xffff, 0x8000, false, s.listed("neg_hi", number, 0));
    return low | high << 16;
  }
  if (kind == Kind::PackedF32) {
    uint64_t low = s.listed("op_sel", number, 0) ? bits >> 32 : bits & 0xffffffff;
    uint64_t high = s.listed("op_sel_hi", number, 1) ? bits >> 32 : bits & 0xffffffff;
    low = withSigns(low, 0x80000000, false, s.listed("neg_lo", number, 0));
    high = withSigns(high, 0x80000000, false, s.listed("neg_hi", number, 0));
    return low | high << 32;
  }
  if (isHalf(kind)) {
    bool isHigh = isHighHalf(s, operand, number) && s.suffix != "sdwa";
    if (isHigh && isConstant)
      return std::nullopt; // Which bits a constant has there is not documented.
    if (isHigh)
      bits >>= 16;
    bits &= 0xffff;
    return withSigns(bits, 0x8000, operand.absolute, operand.negate);
  }
  uint64_t sign = isPair(kind) ? uint64_t(1) << 63 : 0x80000000;
  if (kind == Kind::F32 && s.listed("neg_lo", number, 0))
    bits ^= sign; // A float among the halves of VOP3P.
  return kind == Kind::Mask ? bits : withSigns(bits, sign, operand.absolute, operand.negate);
}

// --- Results ---

uint64_t clamped(const Wave &wave, Format format, uint64_t bits) {
  if (isNaN(format, bits))
    return wave.dx10Clamp ? 0 : bits;
  uint64_t one = fromInteger(format, 1, llvm::RoundingMode::NearestTiesToEven);
  if (compare(format, bits, 0) <= 0)
    return 0;
  return compare(format, bits, one) > 0 ? one : bits;
}

/// mul:2, mul:4 and div:2. Hardware ignores them in IEEE mode and where denormals are kept; a
/// negative zero becomes positive.
uint64_t withOutputModifier(const Wave &wave, const Statement &s, Format format, uint64_t bits) {
  int power = s.has("div") ? -1 : s.has("mul") ? (s.modifiers.at("mul") == "4" ? 2 : 1) : 0;
  const FloatRules &rules = wave.rules(format);
  if (power == 0 || wave.ieee || !rules.flushResults)
    return bits;
  uint64_t scaled = scale(format, bits, power, rules);
  return scaled == signBit(format) ? 0 : scaled;
}

struct Write {
  bool toVector = true;
  unsigned index;
  unsigned lane;
  uint32_t value;
};

} // namespace

/// One vector statement. Appends what it writes.
static Outcome runVector(const Wave &wave, const Statement &s, const VectorMeaning &meaning,
                         std::vector<Write> &writes, std::map<unsigned, uint64_t> &masks) {
  size_t next = 0;
  const TextOperand *destination = nullptr;
  std::optional<unsigned> maskDestination;
  bool hasMaskOperand = meaning.writesMask;
  if (meaning.result != Kind::None && next < s.operands.size())
    destination = &s.operands[next++];
  if (destination && isPair(meaning.result) && destination->index == 255)
    return Outcome::Unreadable;
  if (hasMaskOperand && meaning.writesExec && !wave.isGfx9) {
    maskDestination = scalarnumber::Exec;
    hasMaskOperand = false;
  }
  if (hasMaskOperand) {
    if (next >= s.operands.size())
      return Outcome::Unreadable;
    const TextOperand &operand = s.operands[next++];
    maskDestination = scalarNumber(operand);
    if (!maskDestination && (operand.kind != TextOperand::Null || wave.isGfx9))
      return Outcome::Unreadable;
  }
  size_t explicitSources = meaning.sources.size() - (meaning.accumulates ? 1 : 0);
  if (s.operands.size() - next != explicitSources)
    return Outcome::Unreadable;

  uint64_t mask = 0;
  for (unsigned lane = 0; lane < wave.size; ++lane) {
    if (!(wave.exec() >> lane & 1))
      continue;
    DppLane dpp = dppLane(wave, s, lane);
    if (!dpp.written)
      continue;
    Lane state{wave, s, lane};
    for (size_t i = 0; i < meaning.sources.size(); ++i) {
      const TextOperand &operand = i < explicitSources ? s.operands[next + i] : *destination;
      Kind kind = meaning.sources[i];
      std::optional<uint64_t> value;
      if (i >= explicitSources) { // The old destination: its half is the result's.
        TextOperand plain = operand;
        if (isHalf(kind) && s.listed("op_sel", static_cast<unsigned>(explicitSources), 0))
          plain.high = true;
        else if (!plain.high)
          plain.high = false;
        value = vectorSource(wave, s, plain, kind, static_cast<unsigned>(i), lane);
      } else if (i == 0 && !dpp.from) {
        TextOperand zero;
        zero.kind = TextOperand::Integer;
        zero.absolute = operand.absolute, zero.negate = operand.negate;
        value = vectorSource(wave, s, zero, kind, 0, lane);
      } else {
        value = vectorSource(wave, s, operand, kind, static_cast<unsigned>(i),
                             i == 0 ? *dpp.from : lane);
      }
      if (!value)
        return Outcome::Unreadable;
      state.source[i] = *value;
    }

    uint64_t result = 0;
    auto format = formatOf(meaning.result);
    bool clamp = s.has("clamp") && format && !meaning.isInteger;
    if (meaning.halves) {
      std::array<uint64_t, 4> both = state.source;
      bool wide = meaning.result == Kind::PackedF32;
      for (unsigned half = 0; half < 2; ++half) {
        unsigned width = wide ? 32 : 16;
        for (size_t i = 0; i < both.size(); ++i)
          state.source[i] = both[i] >> (half * width) & ((uint64_t(1) << width) - 1);
        uint64_t part = meaning.compute(state) & ((uint64_t(1) << width) - 1);
        result |= (clamp ? clamped(wave, *format, part) : part) << (half * width);
      }
    } else {
      result = meaning.compute(state);
      if (format && !isPackedHalves(meaning.result) && !meaning.isInteger)
        result = withOutputModifier(wave, s, *format, result);
      if (clamp && !isPackedHalves(meaning.result))
        result = clamped(wave, *format, result);
    }
    mask |= uint64_t(state.mask) << lane;
    if (!destination)
      continue;
    const auto &file =
        destination->kind == TextOperand::Accumulator ? wave.accumulators : wave.vectors;
    bool toVector = destination->kind == TextOperand::Vector;
    uint32_t old = file[destination->index][lane];
    if (isHalf(meaning.result)) {
      uint32_t half = static_cast<uint32_t>(result) & 0xffff;
      bool high =
          destination->high
              ? *destination->high
              : meaning.highHalf || s.listed("op_sel",
                                             static_cast<unsigned>(meaning.sources.size() -
                                                                   (meaning.accumulates ? 1 : 0)),
                                             0) != 0;
      bool keeps = !wave.isGfx9 || meaning.keepsHalf || high;
      uint32_t value = high ? (old & 0xffff) | half << 16 : (keeps ? old & 0xffff0000 : 0) | half;
      if (s.suffix == "sdwa")
        value = sdwaWritten(s, old, half);
      writes.push_back({toVector, destination->index, lane, value});
      continue;
    }
    uint32_t low = static_cast<uint32_t>(result);
    if (s.suffix == "sdwa")
      low = sdwaWritten(s, old, low);
    writes.push_back({toVector, destination->index, lane, low});
    if (isPair(meaning.result))
      writes.push_back(
          {toVector, (destination->index + 1) & 255, lane, static_cast<uint32_t>(result >> 32)});
  }
  if (meaning.writesMask) {
    if (maskDestination)
      masks[*maskDestination] = mask;
    if (meaning.writesExec)
      masks[scalarnumber::Exec] = mask;
  }
  return Outcome::Done;
}

static Outcome runScalar(Wave &wave, const Statement &s, const ScalarMeaning &meaning) {
  ScalarLane state{wave, s, {}, wave.scc};
  size_t next = 0;
  std::optional<unsigned> destination;
  bool hasDestination = meaning.resultBits != 0;
  if (hasDestination) {
    if (s.operands.empty())
      return Outcome::Unreadable;
    destination = scalarNumber(s.operands[next++]);
    if (!destination && (s.operands[0].kind != TextOperand::Null || wave.isGfx9))
      return Outcome::Unreadable;
  }
  // Which of two results EXEC gets is not documented.
  if (destination && *destination >= scalarnumber::Exec && s.mnemonic.ends_with("exec_b64"))
    return Outcome::Unreadable;
  if (destination && *destination >= scalarnumber::Exec && s.mnemonic.ends_with("exec_b32"))
    return Outcome::Unreadable;
  size_t explicitSources = meaning.sourceBits.size() - (meaning.readsDestination ? 1 : 0);
  if (s.operands.size() - next != explicitSources)
    return Outcome::Unreadable;
  for (size_t i = 0; i < meaning.sourceBits.size(); ++i) {
    const TextOperand &operand = i < explicitSources ? s.operands[next + i] : s.operands[0];
    Kind kind = meaning.sourceBits[i] == 16   ? Kind::F16
                : meaning.sourceBits[i] == 32 ? Kind::B32
                : meaning.isSigned            ? Kind::I64
                                              : Kind::B64;
    auto value = scalarBits(wave, operand, kind);
    if (!value)
      return Outcome::Unreadable;
    state.source[i] = *value;
  }
  uint64_t result = meaning.compute(state);
  if (meaning.writesScc)
    wave.scc = state.scc;
  if (destination) {
    wave.scalars[*destination] = static_cast<uint32_t>(result);
    if (meaning.resultBits == 64)
      wave.scalars[*destination + 1] = static_cast<uint32_t>(result >> 32);
  }
  return Outcome::Done;
}

const Meanings &meanings(bool isGfx9, bool fnuz) {
  static std::map<std::pair<bool, bool>, Meanings> tables;
  Meanings &table = tables[{isGfx9, fnuz}];
  if (table.vectors.empty()) {
    addIntegers(table);
    addFloats(table);
    addPacked(table); // From the meanings of one value so far.
    addConversions(table, fnuz);
    addComparisons(table);
    addSpecials(table);
    addScalars(table);
    addScalarFloats(table);
    addWholeWaves(table);
  }
  return table;
}

/// v_movrel is a v_mov_b32 of registers that M0 chooses: sums of 32 bits, which may wrap. A write
/// behind the last register is dropped, a read is of v0. False: dropped.
static bool chooseRegisters(const Wave &wave, Statement &s) {
  bool apart = s.mnemonic.find("_2_") != std::string::npos;
  bool ofSource = s.mnemonic.starts_with("v_movrels");
  bool ofDestination = s.mnemonic != "v_movrels_b32";
  uint32_t m0 = wave.scalars[scalarnumber::M0];
  TextOperand &to = s.operands[0], &from = s.operands[1];
  if (ofDestination)
    to.index += apart ? m0 >> 16 & 0x3ff : m0;
  if (ofSource && from.kind == TextOperand::Vector) {
    from.index += apart ? m0 & 0x3ff : m0;
    from.index = from.index < 256 ? from.index : 0;
  }
  s.mnemonic = "v_mov_b32";
  return to.index < 256;
}

Outcome execute(Wave &wave, const std::vector<Statement> &statements) {
  const Meanings &table = meanings(wave.isGfx9, wave.fnuz);
  std::vector<Write> writes;
  std::map<unsigned, uint64_t> masks;
  for (const Statement &given : statements) {
    Statement chosen;
    bool chooses = given.mnemonic.starts_with("v_movrel");
    if (chooses && !chooseRegisters(wave, chosen = given))
      return Outcome::Done;
    const Statement &statement = chooses ? chosen : given;
    if (auto scalar = table.scalars.find(statement.mnemonic); scalar != table.scalars.end())
      return runScalar(wave, statement, scalar->second);
    if (auto whole = table.waves.find(statement.mnemonic); whole != table.waves.end())
      return whole->second(wave, statement);
    if (isMemory(statement.mnemonic))
      return executeMemory(wave, statement);
    auto vector = table.vectors.find(statement.mnemonic);
    if (vector == table.vectors.end())
      return Outcome::Unknown;
    Outcome outcome = runVector(wave, statement, vector->second, writes, masks);
    if (outcome != Outcome::Done)
      return outcome;
  }
  for (const Write &write : writes)
    (write.toVector ? wave.vectors : wave.accumulators)[write.index][write.lane] = write.value;
  for (auto [scalar, mask] : masks)
    wave.setMask(scalar, mask);
  return Outcome::Done;
}

} // namespace wavetile::reference
